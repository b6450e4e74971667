"""Guarded reading of zip containers (DOCX, PPTX, XLSX, EPUB); nothing is ever written to disk."""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from urllib.parse import unquote
from xml.etree import ElementTree

from qchunker.errors import ParseError
from qchunker.types import Source

MAX_ENTRIES = 50_000
MAX_TOTAL_BYTES = 1 << 30
MAX_PART_BYTES = 512 << 20
MAX_RATIO = 250
RATIO_EXEMPT_BYTES = 16 << 20

_PIECE_BYTES = 1 << 20
_ZIP_START = b"PK\x03\x04"
_OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BOMB_HINT = "the file would unpack to far more than its own size; check where it comes from"
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, lzma.LZMAError)


class Archive:
    """The parts of one zip container.

    Refuses archives that claim too many entries, too many bytes, or an absurd compression ratio,
    and XML that declares entities, so that a small file cannot fill the memory.
    """

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.kind = kind
        if source.data.startswith(_OLE_START):
            hint = "remove the password, or save an old binary format anew"
            raise ParseError(source.name, f"not a {kind} file, or one that is encrypted", hint=hint)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(source.data))
        except _READ_ERRORS as error:
            is_damaged = source.data.startswith(_ZIP_START)
            reason = f"the {kind} file is truncated or damaged" if is_damaged else f"not a {kind} file"
            raise ParseError(source.name, reason) from error
        self._infos = {info.filename: info for info in self._zip.infolist()}
        self._check_directory()

    def _check_directory(self) -> None:
        infos = self._zip.infolist()
        total = sum(info.file_size for info in infos)
        packed = max(1, len(self.source.data))
        if len(infos) > MAX_ENTRIES:
            raise ParseError(self.source.name, f"zip bomb: {len(infos)} entries", hint=_BOMB_HINT)
        if total > MAX_TOTAL_BYTES or (total > RATIO_EXEMPT_BYTES and total > MAX_RATIO * packed):
            reason = f"zip bomb: {packed} bytes claim to hold {total}"
            raise ParseError(self.source.name, reason, hint=_BOMB_HINT)
        if any(info.flag_bits & 1 for info in infos):
            raise ParseError(self.source.name, "encrypted", hint="remove the password first")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def read(self, name: str) -> bytes:
        """The bytes of one part.

        Raises:
            ParseError: if the part is missing, damaged or too large.
        """
        info = self._infos.get(name)
        if info is None:
            raise ParseError(self.source.name, f"not a {self.kind} file: it has no part {name!r}")
        if info.file_size > MAX_PART_BYTES:
            raise ParseError(
                self.source.name, f"part {name!r} is too large: {info.file_size} bytes", hint="split the file"
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ParseError(self.source.name, f"part {name!r} is compressed in an unusual way", hint=_BOMB_HINT)
        try:
            return self._read_bounded(info)
        except _READ_ERRORS as error:
            raise ParseError(self.source.name, f"part {name!r} is damaged: {error}") from error

    def _read_bounded(self, info: zipfile.ZipInfo) -> bytes:
        """Read in pieces, so that a part that lies about its size is stopped early."""
        pieces, size = [], 0
        with self._zip.open(info) as part:
            while piece := part.read(_PIECE_BYTES):
                pieces.append(piece)
                size += len(piece)
                if size > info.file_size:
                    raise zipfile.BadZipFile("it is longer than the directory says")
        return b"".join(pieces)

    def read_markup(self, name: str) -> bytes:
        """The bytes of one XML or XHTML part, which must not declare entities."""
        data = self.read(name)
        # Without zero bytes a UTF-16 declaration reads like an ASCII one.
        plain = data.replace(b"\0", b"")
        if b"<!ENTITY" in plain or b"<!ATTLIST" in plain:
            raise ParseError(self.source.name, f"part {name!r} declares XML entities", hint=_BOMB_HINT)
        return data

    def xml(self, name: str) -> ElementTree.Element:
        """The root element of one XML part."""
        markup = self.read_markup(name)
        try:
            return ElementTree.fromstring(markup)  # noqa: S314 - no entities get here
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise ParseError(self.source.name, f"part {name!r} is not valid XML: {error}") from error

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Relationship id -> (last word of its type, name of the target part)."""
        folder, file = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{file}.rels")
        if rels not in self:
            return {}
        found = {}
        for node in self.xml(rels):
            if node.get("TargetMode") != "External":
                kind = node.get("Type", "").rsplit("/", 1)[-1]
                found[node.get("Id", "")] = (kind, resolve(folder, node.get("Target", "")))
        return found

    def properties(self) -> dict[str, str]:
        """Title, author and the like of an Office file."""
        if "docProps/core.xml" not in self:
            return {}
        names = {"title": "title", "creator": "author", "subject": "subject", "created": "created_at"}
        root = self.xml("docProps/core.xml")
        found = {names.get(local(node), ""): (node.text or "").strip() for node in root}
        return {name: value for name, value in found.items() if name and value}


def resolve(folder: str, target: str) -> str:
    """The name of a part from the folder of the part that points to it."""
    path = unquote(target.split("#")[0])
    return path.lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))


def local(node: ElementTree.Element) -> str:
    """The tag of an element without its namespace."""
    return node.tag.rsplit("}", 1)[-1]


def attribute(node: ElementTree.Element, name: str, default: str = "") -> str:
    """The attribute of that name, in whatever namespace."""
    for key, value in node.attrib.items():
        if key.rsplit("}", 1)[-1] == name:
            return value
    return default


def relation_id(node: ElementTree.Element) -> str:
    """The ``r:id`` of a slide or sheet, which may have an ``id`` without namespace as well."""
    return next((value for key, value in node.attrib.items() if key.endswith("}id")), "")
