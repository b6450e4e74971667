"""Markdown to blocks, by a CommonMark parser that reports source positions (pyromark)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pyromark

from qchunker.parsing import headings
from qchunker.parsing.blocks import cover_gaps
from qchunker.parsing.encoding import decode
from qchunker.parsing.outline import HeadingStack
from qchunker.types import Block, Document, Note, Source, Span

_OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?=\S)(?:.*\r?\n)*?(?:---|\.\.\.)[ \t]*(?=\r?\n|\Z)")
_META_LINE = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]+(\S.*?)[ \t]*\r?$", re.MULTILINE)
_HTML_TABLE = re.compile(r"\s*<table\b", re.IGNORECASE)
_HTML_HEADER = re.compile(r"<thead\b.*?</thead>|<tr\b.*?</tr>", re.IGNORECASE | re.DOTALL)
_RULE_OF_UNDERSCORES = re.compile(rb"_[ \t]*_[ \t]*_[ \t_]*(?:[\r\n]|\Z)")
_RULE_OF_STARS = re.compile(rb"\*[ \t]*\*[ \t]*\*[ \t*]*(?:[\r\n]|\Z)|\*\*[ \t]+\S|\x00")
_FENCE_WITH_TICKS = re.compile(rb"```[^\n\r`]*`|\x00")
# Most events of a text are of these kinds, and none of them changes the block structure.
_INLINE = frozenset({"TableCell", "Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript"})
_INLINE_ENDS = _INLINE | {"Link", "Image", "Paragraph", "HtmlBlock", "TableHead", "TableRow"}
_INLINE_MARKUP = re.compile(r"[*_`\[\]<>&\\!\n\r\t]|  ")
_CLOSED = re.compile(r"[ \t]#+$|^#+$")
_LEAVES = {"Paragraph": "paragraph", "HtmlBlock": "html"}
_CONTAINERS = {"BlockQuote": "quote", "FootnoteDefinition": "paragraph", "Table": "table", "CodeBlock": "code"}


class _Draft(NamedTuple):
    """A block in the byte offsets of the parser."""

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""
    header_start: int = -1
    header_end: int = -1


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
    front = _FRONT_MATTER.match(text)
    body_start = front.end() if front else 0
    meta = dict(metadata or {})
    blocks: list[Block] = []
    if front:
        blocks.append(Block("front_matter", 0, body_start))
        meta.update({key.lower(): value.strip("\"'") for key, value in _META_LINE.findall(front.group())})
    drafts = _in_code_points(_drafts(text[body_start:]), text, body_start)
    if not any(draft.kind == "heading" for draft in drafts):
        drafts = [_numbered_heading(draft, text) for draft in drafts]
    blocks.extend(_place(drafts, page_starts))
    return Document(text, tuple(cover_gaps(text, blocks)), name, media_type, tuple(notes), meta)


def _drafts(text: str) -> list[_Draft]:
    """Blocks in document order. Only the outermost structure counts, but list items are told apart."""
    return _Reader().read(pyromark.events_with_range(_without_inline_markup(text), options=_OPTIONS))


def _without_inline_markup(text: str) -> str:
    """The text with inline markup overwritten by letters of the same width, so that block positions stay.

    Links, emphasis and code spans make most of a parser's events and no blocks. Halves the time of parsing.
    What could also mark a block is left: brackets where there are footnotes, underscores and backticks where a
    line could be a rule or a fence that depends on them.
    """
    data = text.encode("utf-8", "surrogatepass")
    inline = b"&" if b"[^" in data else b"[]&"
    if _RULE_OF_UNDERSCORES.search(data) is None:
        inline += b"_"
    if _RULE_OF_STARS.search(data) is None:
        data = data.replace(b"**", b"xx")
    if _FENCE_WITH_TICKS.search(data) is None:
        data = data.replace(b"```", b"\x00\x00\x00").replace(b"`", b"x").replace(b"\x00\x00\x00", b"```")
    return data.translate(bytes.maketrans(inline, b"x" * len(inline))).decode("utf-8", "surrogatepass")


class _Reader:
    """Turns parser events into drafts. ``items`` holds, per open list item, where its own text goes on."""

    def __init__(self) -> None:
        self.drafts: list[_Draft] = []
        self.items: list[int] = []
        self.parents: list[tuple[int, int]] = []
        self.inside: str | None = None  # the container whose inner events are skipped
        self.depth = 0
        self.in_heading = False
        self.header = (-1, -1)

    def read(self, events: Iterable[tuple[Any, Any]]) -> list[_Draft]:
        for event, where in events:
            if type(event) is str:
                if event == "Rule" and self.inside is None and not self.items:
                    self.drafts.append(_Draft("rule", where["start"], where["end"]))
            elif (tag := event.get("Start")) is not None:
                if type(tag) is not str or tag not in _INLINE:
                    self._start(tag, where["start"], where["end"])
            elif (tag := event.get("End")) is not None:
                if type(tag) is not str or tag not in _INLINE_ENDS:
                    self._end(tag, where["start"], where["end"])
        return self.drafts

    def _start(self, tag: Any, start: int, end: int) -> None:
        name = tag if type(tag) is str else next(iter(tag))
        if self.inside is not None:
            if name == self.inside:
                self.depth += 1
            elif self.inside == "Table":
                self._table_row(name, start)
            return
        if name in _CONTAINERS:
            self._leave_item(start)
            self.inside, self.depth, self.header = name, 1, (-1, -1)
        elif name == "Item":
            self.items.append(start)
            self.parents.append((-1, -1))
        elif name == "List":
            self._leave_item(start)
        elif name == "Heading" and not self.items:
            self.in_heading = True
        elif name in _LEAVES and not self.items:
            self.drafts.append(_Draft(_LEAVES[name], start, end))

    def _table_row(self, name: str, start: int) -> None:
        # The header reaches to the first row, so that it holds the delimiter line as well.
        if name == "TableHead":
            self.header = (start, -1)
        elif name == "TableRow" and self.header[1] < 0:
            self.header = (self.header[0], start)

    def _end(self, tag: Any, start: int, end: int) -> None:
        name = tag if type(tag) is str else next(iter(tag))
        if name == self.inside:
            self.depth -= 1
            if self.depth == 0:
                self.inside = None
                self._container(name, start, end)
        elif self.inside is not None:
            return
        elif name == "Heading" and self.in_heading:
            level = int(tag["Heading"][1])
            self.drafts.append(_Draft("heading", start, end, level))
            self.in_heading = False
        elif name == "Item":
            self._leave_item(end)
            self.items.pop()
            self.parents.pop()
            if self.items:
                self.items[-1] = end

    def _container(self, name: str, start: int, end: int) -> None:
        header = self.header
        if name == "Table" and header[1] < 0:
            header = (start, end)
        self.drafts.append(_Draft(_CONTAINERS[name], start, end, 0, "", *header))
        if self.items:
            self.items[-1] = end

    def _leave_item(self, end: int) -> None:
        """Emit the text of the innermost item up to ``end``."""
        if not self.items:
            return
        start = self.items[-1]
        if start < end:
            # Text that goes on after a nested list needs its own item, a new item the one around it.
            parent = self.parents[-1] if self.parents[-1][0] >= 0 else self.parents[-2] if len(self.parents) > 1 else (-1, -1)
            self.drafts.append(_Draft("list_item", start, end, len(self.items), "", *parent))
            if self.parents[-1][0] < 0:
                self.parents[-1] = (start, end)
        self.items[-1] = end


def _in_code_points(drafts: list[_Draft], text: str, shift: int) -> list[_Draft]:
    """Convert byte offsets of ``text[shift:]`` to code points of ``text``, and trim white space."""
    at = _converter(text, shift)
    done: list[_Draft] = []
    for kind, start, end, level, title, header_start, header_end in drafts:
        start, end = _trim(text, at(start), at(end))
        if start == end:
            continue
        if kind == "heading":
            title = _plain_title(text[start:end])
        elif header_start >= 0:
            header_start, header_end = _trim(text, at(header_start), at(header_end))
            if kind == "table":
                start, header_start = _with_first_header_row(done, text, start, header_start)
            elif kind == "list_item":
                header_end = min(header_end, _line_end(text, header_start))
        elif kind == "code":
            header_start, header_end = _fence_line(text, start, end)
        elif kind == "html" and _HTML_TABLE.match(text, start):
            kind = "table"
            row = _HTML_HEADER.search(text, start, end)
            header_start, header_end = row.span() if row else (-1, -1)
        done.append(_Draft(kind, start, end, level, title, header_start, header_end))
    return done


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


def _plain_title(markup: str) -> str:
    """The text of a heading without its markup."""
    line = markup.strip()
    if line.startswith("#") and _INLINE_MARKUP.search(line) is None:
        return line.strip("#").strip() if line.endswith("#") and _CLOSED.search(line) else line.lstrip("#").strip()
    words: list[str] = []
    for event in pyromark.events(markup, options=_OPTIONS):
        if type(event) is dict:
            words.extend(value for key, value in event.items() if key in ("Text", "Code"))
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


def _fence_line(text: str, start: int, end: int) -> tuple[int, int]:
    if text[start:end].lstrip()[:3] not in ("```", "~~~"):
        return -1, -1
    return start, min(end, _line_end(text, start))


def _with_first_header_row(done: list[_Draft], text: str, start: int, header_start: int) -> tuple[int, int]:
    """Take rows above a table that the parser saw as a paragraph: tables with two header rows."""
    if not done or done[-1].kind != "paragraph" or text[done[-1].end : start].strip(" \t") not in ("\n", "\r\n"):
        return start, header_start
    above = done[-1]
    lines = text[above.start : above.end].splitlines(keepends=True)
    n_cells = text[start : _line_end(text, start)].count("|")
    taken = 0
    while taken < len(lines) and lines[-1 - taken].count("|") == n_cells > 1:
        taken += 1
    if taken == 0:
        return start, header_start
    first = above.end - sum(map(len, lines[len(lines) - taken :]))
    done.pop()
    if taken < len(lines):
        done.append(above._replace(end=len(text[:first].rstrip())))
    return first, first


def _numbered_heading(draft: _Draft, text: str) -> _Draft:
    """In a document without any markup for headings, a paragraph of one line may be a numbered one."""
    if draft.kind != "paragraph" or draft.end - draft.start > headings.MAX_HEADING_CHARS:
        return draft
    line = text[draft.start : draft.end]
    found = headings.numbering(line)
    if found is None or found.weak or not headings.numbered_title(line, found):
        return draft
    return draft._replace(kind="heading", level=found.rank, title=headings.heading_title(line))


def _place(drafts: list[_Draft], page_starts: Sequence[int]) -> list[Block]:
    stack = HeadingStack()
    blocks: list[Block] = []
    for draft in drafts:
        page = bisect_right(page_starts, draft.start) if page_starts else None
        if draft.kind == "heading":
            path = stack.push(draft.level, headings.heading_title(draft.title)) if draft.title else stack.path
            blocks.append(Block("heading", draft.start, draft.end, path, draft.level, None, page))
        else:
            header = Span(draft.header_start, draft.header_end) if draft.header_start >= 0 else None
            blocks.append(Block(draft.kind, draft.start, draft.end, stack.path, draft.level, header, page))
    return blocks
