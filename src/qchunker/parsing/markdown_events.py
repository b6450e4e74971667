"""Where the blocks of a Markdown text are, in bytes, by the events of a CommonMark parser (pyromark)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyromark

OPTIONS = pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
# The end of a rule; bounds keep the search linear, and starting with the mark itself keeps it fast.
_RULE_OF_UNDERSCORES = re.compile(rb"_[ \t]{0,9}_[ \t]{0,9}_[ \t_]{0,80}(?:[\r\n]|\Z)")
_RULE_OF_STARS = re.compile(rb"\*[ \t]{0,9}\*[ \t]{0,9}\*[ \t*]{0,80}(?:[\r\n]|\Z)")
_UNDERLINED_DEFINITION = re.compile(
    rb"\]:[^\r\n]{0,999}\r?\n(?:[^\r\n]{1,999}\r?\n){0,3}[ \t]{0,9}(?:=+|-+)[ \t]{0,99}(?:[\r\n]|\Z)"
)
_FENCE_WITH_TICKS = re.compile(rb"```[^\n\r`]*`")
# Most events of a text are of these kinds, and none of them changes the block structure.
_INLINE = frozenset({"TableCell", "Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript"})
_INLINE_ENDS = _INLINE | {"Link", "Image", "Paragraph", "HtmlBlock", "TableHead", "TableRow"}
_LEAVES = {"Paragraph": "paragraph", "HtmlBlock": "html"}
_CONTAINERS = {"BlockQuote": "quote", "FootnoteDefinition": "paragraph", "Table": "table", "CodeBlock": "code"}


class ByteBlock(NamedTuple):
    """A block in the byte offsets of the parser; ``header`` holds what its parts need to be understood."""

    kind: str
    start: int
    end: int
    level: int = 0
    header_start: int = -1
    header_end: int = -1


def block_positions(text: str) -> list[ByteBlock]:
    """Blocks in document order. Only the outermost structure counts, but list items are told apart."""
    return read_events(_without_inline_markup(text))


def read_events(text: str) -> list[ByteBlock]:
    """Blocks of a text as it is."""
    return _Reader().read(pyromark.events_with_range(text, options=OPTIONS))


def _without_inline_markup(text: str) -> str:
    """The text with inline markup overwritten by letters of the same width, so that block positions stay.

    Links, emphasis and code spans make most of a parser's events and no blocks. Halves the time of parsing.
    What could also mark a block is left: brackets where there are footnotes or an underlined link definition,
    underscores, stars and backticks where a line could be a rule or a fence that depends on them.
    """
    data = text.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        return text
    inline = b"&" if b"[^" in data or _UNDERLINED_DEFINITION.search(data) else b"[]&"
    if _RULE_OF_UNDERSCORES.search(data) is None:
        inline += b"_"
    if _RULE_OF_STARS.search(data) is None:
        data = data.replace(b"**", b"xx")
    if _FENCE_WITH_TICKS.search(data) is None:
        data = data.replace(b"```", b"\0\0\0").replace(b"`", b"x").replace(b"\0\0\0", b"```")
    return data.translate(bytes.maketrans(inline, b"x" * len(inline))).decode("utf-8", "surrogatepass")


class _Reader:
    """Turns parser events into drafts. ``items`` holds, per open list item, where its own text goes on."""

    def __init__(self) -> None:
        self.drafts: list[ByteBlock] = []
        self.items: list[int] = []
        self.parents: list[tuple[int, int]] = []
        self.inside: str | None = None  # the container whose inner events are skipped
        self.depth = 0
        self.in_heading = False
        self.header = (-1, -1)

    def read(self, events: Iterable[tuple[Any, Any]]) -> list[ByteBlock]:
        for event, where in events:
            if type(event) is str:
                if event == "Rule" and self.inside is None and not self.items:
                    self.drafts.append(ByteBlock("rule", where["start"], where["end"]))
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
            self.drafts.append(ByteBlock(_LEAVES[name], start, end))

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
            self.drafts.append(ByteBlock("heading", start, end, level))
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
        self.drafts.append(ByteBlock(_CONTAINERS[name], start, end, len(self.items), *header))
        if self.items:
            self.items[-1] = end

    def _leave_item(self, end: int) -> None:
        """Emit the text of the innermost item up to ``end``."""
        if not self.items:
            return
        start = self.items[-1]
        if start < end:
            # Text that goes on after a nested list needs its own item, a new item the one around it.
            parent = (
                self.parents[-1]
                if self.parents[-1][0] >= 0
                else self.parents[-2]
                if len(self.parents) > 1
                else (-1, -1)
            )
            self.drafts.append(ByteBlock("list_item", start, end, len(self.items), *parent))
            if self.parents[-1][0] < 0:
                self.parents[-1] = (start, end)
        self.items[-1] = end
