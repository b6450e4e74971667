"""EPUB -> Markdown: the chapters in reading order, headings, lists, tables and code kept."""

from __future__ import annotations

import posixpath
import re
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree

from qchunker.errors import ParseError
from qchunker.parsing.archive import Archive, local, resolve
from qchunker.parsing.markdown_text import heading, paragraph, table
from qchunker.types import Note

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
_SKIPPED = frozenset({"head", "script", "style", "nav", "template", "svg"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "aside", "header", "footer", "main", "figure", "figcaption"}
    | {"dl", "dt", "dd", "hr", "address", "center"}
)
_HEADING = re.compile(r"h[1-6]$")
_ENCODING = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*encoding=["']([\w.-]+)""")


class Book(NamedTuple):
    """Markdown of a book, what was left out, and its title and author."""

    text: str
    notes: tuple[Note, ...]
    metadata: dict[str, str]


def read_epub(archive: Archive) -> Book:
    """Turn a book into Markdown.

    Raises:
        ParseError: if the package is broken or its chapters are encrypted.
    """
    package = _package_part(archive)
    root = archive.xml(package)
    chapters = _spine(root, posixpath.dirname(package))
    _refuse_encrypted(archive, chapters)
    blocks: list[str] = []
    notes: list[Note] = []
    for part in chapters:
        if part not in archive:
            notes.append(Note("dropped_text", f"chapter {part!r} is listed but missing"))
            continue
        reader = _ChapterReader()
        reader.feed(_decode(archive, part))
        reader.close()
        blocks.extend(reader.finish())
    return Book("\n\n".join(blocks), tuple(notes), _metadata(root))


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
    return found


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
    except LookupError:
        return data.decode("utf-8-sig", "replace")


def _metadata(root: ElementTree.Element) -> dict[str, str]:
    names = {"title": "title", "creator": "author", "language": "language", "subject": "subject"}
    found: dict[str, str] = {}
    for node in root.iter():
        name = names.get(local(node))
        if name and (node.text or "").strip() and name not in found:
            found[name] = (node.text or "").strip()
    return found


class _ChapterReader(HTMLParser):
    """Collects Markdown blocks from one XHTML chapter; linear, and at ease with broken markup."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks: list[str] = []
        self._text: list[str] = []
        self._skipped: list[str] = []
        self._lists: list[str] = []
        self._marker = ""
        self._quotes = 0
        self._level = 0
        self._pre = False
        self._rows: list[list[str]] | None = None
        self._table_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self._skipped.append(tag)
        elif self._skipped:
            return
        elif tag == "br":
            self._text.append("\n")
        elif tag == "table":
            self._open_table()
        elif self._rows is not None:
            self._open_cell(tag, self._rows)
        elif tag in ("ul", "ol"):
            self._flush()
            self._lists.append("-" if tag == "ul" else "1.")
        else:
            self._open_block(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # XHTML writes <script/> and <p/>; only a pair would have content to skip.
        if tag not in _SKIPPED:
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
        elif tag == "table" and self._rows is not None:
            self._close_table()
        elif self._rows is not None:
            return
        elif tag in ("ul", "ol"):
            self._flush()
            if self._lists:
                self._lists.pop()
        elif tag in _BLOCKS or tag in ("li", "pre", "blockquote") or _HEADING.match(tag):
            self._flush()
            self._quotes -= tag == "blockquote" and self._quotes > 0

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if self._rows is not None:
            if self._rows and self._rows[-1]:
                self._rows[-1][-1] += data
            elif data.strip():
                self._text.append(data)
            return
        self._text.append(data if self._pre else re.sub(r"[ \t\r\n\f]+", " ", data))

    def finish(self) -> list[str]:
        """All blocks of the chapter."""
        if self._rows is not None:
            self._table_depth = 1
            self._close_table()
        self._flush()
        return self._blocks

    def _open_block(self, tag: str) -> None:
        if not (tag in _BLOCKS or tag in ("li", "pre", "blockquote") or _HEADING.match(tag)):
            return
        self._flush()
        self._level = int(tag[1]) if _HEADING.match(tag) else 0
        self._pre = tag == "pre"
        self._quotes += tag == "blockquote"
        if tag == "li":
            depth = max(0, len(self._lists) - 1)
            self._marker = "  " * depth + (self._lists[-1] if self._lists else "-") + " "

    def _open_table(self) -> None:
        self._table_depth += 1
        if self._rows is None:
            self._flush()
            self._rows = []

    def _open_cell(self, tag: str, rows: list[list[str]]) -> None:
        if self._table_depth > 1 or tag not in ("tr", "td", "th"):
            if rows and rows[-1]:
                rows[-1][-1] += " "
        elif tag == "tr":
            rows.append([])
        else:
            if not rows:
                rows.append([])
            rows[-1].append("")

    def _close_table(self) -> None:
        self._table_depth -= 1
        if self._table_depth == 0 and self._rows is not None:
            block, self._rows = table(self._rows), None
            self._flush()
            if block:
                self._blocks.append(block)

    def _flush(self) -> None:
        """End the current block."""
        text, self._text = "".join(self._text), []
        level, is_code = self._level, self._pre
        self._level, self._pre = 0, False
        if not text.strip():
            return
        if level:
            block = heading(level, text)
        elif is_code:
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            block = f"{fence}\n" + text.strip("\n") + f"\n{fence}"
        elif self._marker:
            block, self._marker = self._marker + " ".join(text.split()), ""
        else:
            block = paragraph(text)
        if self._quotes:
            block = "\n".join(f"{'> ' * self._quotes}{line}" for line in block.split("\n"))
        self._blocks.append(block)
