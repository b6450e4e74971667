"""EPUB: its chapters in reading order, read like web pages."""

from __future__ import annotations

import posixpath
import re
from xml.etree import ElementTree

from qchunker.errors import ParseError
from qchunker.parsing.archive import Archive, local, resolve
from qchunker.parsing.html import pages_document
from qchunker.types import Document, Note, Source

MEDIA_TYPE = "application/epub+zip"
CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
_EMPTY_ELEMENT = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)([A-Za-z][\w:-]*)((?:\s[^<>]*?)?)/>"
)
_ENCODING = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*encoding=["']([\w.-]+)""")


def parse_epub(source: Source) -> Document:
    """Parse a book. ``Document.text`` is the extracted text, as for HTML.

    Raises:
        ParseError: if the file is broken, protected, exceeds a limit, or has no text.
    """
    archive = Archive(source, "EPUB")
    package = _package_part(archive)
    root = archive.xml(package)
    parts = _spine(root, posixpath.dirname(package))
    _refuse_encrypted(archive, parts)
    notes = [Note("dropped_text", f"chapter {part!r} is listed but missing") for part in parts if part not in archive]
    chapters = [_as_html(_decode(archive, part)) for part in parts if part in archive]
    return pages_document(chapters, source.name, MEDIA_TYPE, notes, _metadata(root))


def _as_html(markup: str) -> str:
    """XHTML as HTML: there ``<title/>`` and ``<script/>`` would swallow everything after them."""
    return _EMPTY_ELEMENT.sub(r"<\1\2></\1>", markup)


def _package_part(archive: Archive) -> str:
    for node in archive.xml(CONTAINER).iter():
        if local(node) == "rootfile":
            return resolve("", node.get("full-path", ""))
    raise ParseError(archive.source.name, "not an EPUB file: its container names no package")


def _spine(root: ElementTree.Element, folder: str) -> list[str]:
    items = {node.get("id", ""): node for node in root.iter() if local(node) == "item"}
    found = []
    for node in root.iter():
        item = items.get(node.get("idref", "")) if local(node) == "itemref" else None
        if item is not None and "nav" not in item.get("properties", "").split():
            found.append(resolve(folder, item.get("href", "")))
    return list(dict.fromkeys(found))


def _refuse_encrypted(archive: Archive, chapters: list[str]) -> None:
    if ENCRYPTION not in archive:
        return
    # Obfuscated fonts are listed here too, and do no harm.
    references = (node for node in archive.xml(ENCRYPTION).iter() if local(node) == "CipherReference")
    if {resolve("", node.get("URI", "")) for node in references} & set(chapters):
        raise ParseError(archive.source.name, "encrypted", hint="the book has digital rights management")


def _decode(archive: Archive, part: str) -> str:
    data = archive.read_markup(part)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    match = _ENCODING.match(data)
    encoding = match.group(1).decode("ascii") if match else "utf-8-sig"
    try:
        return data.decode(encoding, "replace")
    except (LookupError, UnicodeError):
        return data.decode("utf-8-sig", "replace")


def _metadata(root: ElementTree.Element) -> dict[str, str]:
    names = {"title": "title", "creator": "author", "language": "language", "subject": "subject"}
    found: dict[str, str] = {}
    for node in root.iter():
        name = names.get(local(node))
        if name and (node.text or "").strip() and name not in found:
            found[name] = (node.text or "").strip()
    return found
