"""Lines of the form "name: value", of which several stand together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.debate.offline.outlining.tables import lines_of
from qchunker.debate.offline.outlining.wording import plain
from qchunker.qa.cells import row_cells, trimmed
from qchunker.qa.offline.place import Found, Pages
from qchunker.qa.offline.quantities import asked_zh
from qchunker.types import Block, Span

_FEWEST = 2  # lines that make a list of properties
_LONGEST_VALUE = 160
_LINE = re.compile(
    r"^[ \t]*(?:[-*+•·][ \t]+|\d{1,2}[.)、][ \t]*)?(?P<mark>\*\*|__|"
    r"`)?(?P<name>[^\s:：*_`|][^:：\n|。；;？?！!]{0,30}?)[ \t]*"
    r"(?:(?P=mark)[:：]|[:：](?P=mark))[ \t]*(?P<value>[^\n]+?)[ \t]*$",
    re.MULTILINE,
)
_BARE_LINE = re.compile(
    r"^[ \t]*(?:[-*+•·][ \t]+|\d{1,2}[.)、][ \t]*)?(?P<name>[^\s:：*_`|][^:：\n|。；;？?！!]{0,30}?)[ \t]*[:：][ \t]*"
    r"(?P<value>[^\n]+?)[ \t]*$",
    re.MULTILINE,
)
# Lines that say something of the others.
_ASIDE = re.compile(
    r"(?:notes?|remarks?|comments?|warning|caution|important|tips?|hint|units?|注意|警告|提示|说明|說明|备注|備註|注|单位|單位)\Z",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"(?:examples?|e\.g|see(?: also)?|q|a|question|answer|step \d+|"
    r"示例|例如|例|問|答|问|如下|以下|包括|步骤|参见|https?|file|ftp|"
    r"mailto)\Z|.*\b(?:is|are|was|must|should|can|if|when|"
    r"that|which|following|as|for example|to|and|or|the|of|in|with)\Z|\W*\d|.*[,，、]",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"//|\w+://|www\.")
_PROSE_END = re.compile(r"[.。!！?？;；:：,，]\s*\Z")


class _Line(NamedTuple):
    name: str
    value: Span
    line: Span


def key_values(pages: Pages) -> Iterator[Found]:
    """A question for each property of something that a heading names."""
    for section, blocks in pages.bodies():
        about = pages.about(section)
        if not about:
            continue
        for run in _runs(pages, blocks):
            names = Counter(line.name.casefold() for line in run)
            for line in run:
                problem = "vague" if _ASIDE.match(line.name) else None
                if names[line.name.casefold()] > 1:
                    problem = "ambiguous"
                question = _question(line.name, pages.text[slice(*line.value)], about, pages.language)
                yield Found(question, line.value, (line.line,), "key_value", problem)


def _runs(pages: Pages, blocks: Sequence[Block]) -> Iterator[list[_Line]]:
    """Lines that stand together; where most of what stands there is something else, none."""
    run: list[_Line] = []
    for block in blocks:
        lines = _table_lines(pages, block) if block.kind == "table" else _text_lines(pages, block)
        if lines:
            run += lines
        else:
            yield from _checked(pages, run)
            run = []
    yield from _checked(pages, run)


def _checked(pages: Pages, run: list[_Line]) -> Iterator[list[_Line]]:
    own = [line for line in run if not _ASIDE.match(line.name)]
    in_prose = sum(_PROSE_END.search(pages.text[slice(*line.value)]) is not None for line in own)
    if len(own) >= _FEWEST and 2 * in_prose < len(own):
        yield [line for line in run if _PROSE_END.search(pages.text[slice(*line.value)]) is None]


def _text_lines(pages: Pages, block: Block) -> list[_Line]:
    if block.kind not in ("paragraph", "list_item"):
        return []
    text, found = pages.text, []
    for match in _LINE.finditer(text, block.start, block.end):
        found.append(match)
    matches = found or list(_BARE_LINE.finditer(text, block.start, block.end))
    n_lines = text[block.start : block.end].count("\n") + 1
    if len(matches) < n_lines:
        return []  # wrapped prose with a colon in it
    made = []
    for match in matches:
        name, value = plain(match["name"]), trimmed(text, Span(*match.span("value")))
        if _NO_NAME.match(name) or not 0 < value.end - value.start <= _LONGEST_VALUE or len(name) < 2:
            return []
        if _ADDRESS.match(text, value.start, value.end) or (name[-1:].isdigit() and text[value.start].isdigit()):
            return []  # an address, a time
        made.append(_Line(name, value, trimmed(text, Span(*match.span()))))
    return made


def _table_lines(pages: Pages, block: Block) -> list[_Line]:
    """The rows of a table of two columns without names."""
    if block.header is not None:
        return []
    text, made = pages.text, []
    for line in lines_of(text, Span(block.start, block.end)):
        row = row_cells(text, line)
        if len(row) != 2 or any(cell.end <= cell.start for cell in row):
            return []
        name = plain(text[slice(*row[0])]).rstrip(":：")
        if not 1 < len(name) <= 30 or _NO_NAME.match(name) or row[1].end - row[1].start > _LONGEST_VALUE:
            return []
        made.append(_Line(name, row[1], line))
    return made


def _question(name: str, value: str, about: str, language: str) -> str:
    if language != "en":
        return f"{about}的{name}{asked_zh(name, value)}？"
    return f"What is the {name} ({about})?"
