"""Markdown to blocks with exact spans (CommonMark with tables, footnotes and front matter)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyromark

from qchunker.parsing import headings
from qchunker.parsing.encoding import decode
from qchunker.parsing.heading_stack import HeadingStack
from qchunker.parsing.markdown_events import OPTIONS, ByteBlock, block_positions
from qchunker.types import Block, Document, Note, Source, Span

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?=\S)(?:[^\r\n]*\r?\n)*?(?:---|\.\.\.)[ \t]*(?=\r?\n|\Z)")
_LONE_RETURN = re.compile(r"\r(?!\n)")  # a line end as well, of the same width as the one that everybody knows
_META_LINE = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]+(\S[^\r\n]*)", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^\n]*")
_HTML_TABLE = re.compile(r"\s*<table\b", re.IGNORECASE)
_HTML_HEADER = re.compile(r"<(thead|tr)\b", re.IGNORECASE)
_INLINE_MARKUP = re.compile(r"[*_`\[\]<>&\\!\n\r\t]|  ")
_CLOSED = re.compile(r"[ \t]#+$|^#+$")


def parse_markdown(source: Source) -> Document:
    """Parse Markdown (CommonMark with tables, footnotes and front matter).

    ``Document.text`` is the decoded source itself, front matter and markup included.

    Raises:
        ParseError: if the file is empty or not text.
    """
    text, encoding, notes = decode(source)
    return markdown_document(text, source.name, "text/markdown", notes, {"encoding": encoding})


def markdown_document(
    text: str,
    name: str,
    media_type: str = "text/markdown",
    notes: Sequence[Note] = (),
    metadata: dict[str, str] | None = None,
    page_starts: Sequence[int] = (),
) -> Document:
    """The document of a Markdown text that is already decoded."""
    source, text = text, _LONE_RETURN.sub("\n", text) if "\r" in text else text
    front = _FRONT_MATTER.match(text)
    body_start = front.end() if front else 0
    meta = dict(metadata or {})
    blocks: list[Block] = []
    if front:
        blocks.append(Block("front_matter", 0, body_start))
        meta.update({key.lower(): value.strip().strip("\"'") for key, value in _META_LINE.findall(front.group())})
    blocks.extend(_Placer(text, body_start).blocks(block_positions(text[body_start:])))
    return Document(source, tuple(blocks), name, media_type, tuple(notes), meta, tuple(page_starts))


class _Placer:
    """Turns byte blocks into blocks: code points, trimmed spans, heading paths, and a paragraph over every gap.

    Markup without visible text (link definitions, for example) belongs to no block of the parser, but it is part
    of the source and must not be lost.
    """

    def __init__(self, text: str, shift: int) -> None:
        self.text = text
        self.shift = shift
        self.stack = HeadingStack()
        self.done: list[Block] = []
        self.at = shift  # up to where the text lies in blocks
        self.items: dict[int, tuple[int, int]] = {}  # spans of list items, by the byte where the item starts

    def blocks(self, found: list[ByteBlock]) -> list[Block]:
        text = self.text
        point = _converter(text, self.shift)
        numbered = all(block.kind != "heading" for block in found)
        for kind, first_byte, end_byte, level, header_byte, header_end_byte in found:
            start = point(first_byte)
            header = Span(start, point(header_end_byte)) if kind == "table" else None
            start, end = _trim(text, start, point(end_byte))
            if start == end:
                continue
            if kind == "list_item":
                self.items[first_byte] = (start, end)
                header = self._item_line(header_byte) if header_byte >= 0 else None
            elif kind == "table" and header is not None:
                start = self._first_header_row(start)
                header = Span(start, _trim(text, start, header.end)[1])
            elif kind == "code":
                header = self._fence_line(start, end)
            elif kind == "html" and _HTML_TABLE.match(text, start):
                kind = "table"
                header = _html_header(text, start, end)
            self._fill_gap(start)
            if kind == "heading":
                self._heading(start, end, level, _plain_title(text[start:end]))
            elif not (numbered and kind == "paragraph" and self._numbered_heading(start, end)):
                self._add(kind, start, end, level, header)
        self._fill_gap(len(text))
        return self.done

    def _add(self, kind: str, start: int, end: int, level: int = 0, header: Span | None = None) -> None:
        self.done.append(Block(kind, start, end, self.stack.path, level, header))
        self.at = end

    def _heading(self, start: int, end: int, level: int, title: str) -> None:
        if title:
            self.stack.push(level, headings.heading_title(title))
        else:
            self.stack.close(level)
        self._add("heading", start, end, level)

    def _numbered_heading(self, start: int, end: int) -> bool:
        """In a document without any markup for headings, a paragraph of one line may be a numbered one."""
        if end - start > headings.MAX_HEADING_CHARS:
            return False
        line = self.text[start:end]
        found = headings.numbering(line)
        if found is None or found.weak or not headings.numbered_title(line, found):
            return False
        self._heading(start, end, found.rank, line)
        return True

    def _fill_gap(self, end: int) -> None:
        if end > self.at and not self.text[self.at : end].isspace():
            start, end = _trim(self.text, self.at, end)
            self._add("paragraph", max(start, self.at), end)

    def _item_line(self, first_byte: int) -> Span | None:
        """The first line of a list item: what its sub-items need."""
        if first_byte not in self.items:
            return None
        start, end = self.items[first_byte]
        return Span(start, min(end, _line_end(self.text, start)))

    def _fence_line(self, start: int, end: int) -> Span | None:
        opening = _FENCE.match(self.text, start, end)
        return Span(start, start + len(opening.group().rstrip())) if opening else None

    def _first_header_row(self, start: int) -> int:
        """Where a table starts whose first header rows the parser took for the end of a paragraph."""
        text, above = self.text, self.done[-1] if self.done else None
        if above is None or above.kind != "paragraph" or text[above.end : start].strip(" \t") not in ("\n", "\r\n"):
            return start
        lines = text[above.start : above.end].splitlines(keepends=True)
        n_cells = text[start : _line_end(text, start)].count("|")
        taken = 0
        while taken < len(lines) and lines[-1 - taken].count("|") == n_cells > 1:
            taken += 1
        if taken == 0:
            return start
        first = above.end - sum(map(len, lines[len(lines) - taken :]))
        self.done.pop()
        self.at = above.start
        if taken < len(lines):
            self._add("paragraph", *_trim(text, above.start, first))
        return first


def _converter(text: str, shift: int) -> Callable[[int], int]:
    """A function from byte offset to code point; cheap for offsets that come mostly in order."""
    if text.isascii():
        return shift.__add__
    data = text.encode("utf-8", "surrogatepass") if shift == 0 else text[shift:].encode("utf-8", "surrogatepass")
    last_byte, last_point = 0, shift

    def at(offset: int) -> int:
        nonlocal last_byte, last_point
        if offset >= last_byte:
            last_point += len(data[last_byte:offset].decode("utf-8", "surrogatepass"))
        else:
            last_point -= len(data[offset:last_byte].decode("utf-8", "surrogatepass"))
        last_byte = offset
        return last_point

    return at


def _html_header(text: str, start: int, end: int) -> Span | None:
    """The head of an HTML table, else its first row."""
    opening = _HTML_HEADER.search(text, start, end)
    if opening is None:
        return None
    closing = re.compile(f"</{opening[1]}\\s*>", re.IGNORECASE).search(text, opening.end(), end)
    return Span(opening.start(), closing.end()) if closing else None


def _plain_title(markup: str) -> str:
    """The text of a heading without its markup."""
    line = markup.strip()
    if line.startswith("#") and _INLINE_MARKUP.search(line) is None:
        return line.strip("#").strip() if line.endswith("#") and _CLOSED.search(line) else line.lstrip("#").strip()
    words: list[str] = []
    for event in pyromark.events(markup, options=OPTIONS):
        if type(event) is dict:
            words.extend(str(value) for key, value in event.items() if key in ("Text", "Code"))
        else:
            words.append(" ")
    return " ".join("".join(words).split())


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Without blank lines in front and white space behind; the first line keeps its indentation."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    line = start
    while line > 0 and text[line - 1] in " \t":
        line -= 1
    return (line if line == 0 or text[line - 1] in "\n\r" else start), end


def _line_end(text: str, start: int) -> int:
    found = text.find("\n", start)
    stop = found if found >= 0 else len(text)
    return start + len(text[start:stop].rstrip())
