"""What tables and records answer: their columns, and the things that their rows are about."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

from qchunker.debate.offline.outlining.wording import listing, locate, phrase, render
from qchunker.types import Span

_RULE_LINE = re.compile(r"[\s|:+=\-–—]+\Z")
_WIDE = re.compile(r"\t|\s{3,}")
_CELL = 30
_LINE = 2000
_MAX_COLUMNS = 4
_FIRST_CELLS = 2
_INDEX = re.compile(r"(?:序号|序號|编号|編號|no\.?|nr\.?|#|id|备注|備註|remarks?|notes?)\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[\d.,\s%-]*\Z")


class TableQuestion(NamedTuple):
    """A question with the words it is made from."""

    text: str
    evidence: Span


def cells(line: str) -> list[str]:
    """The cells of one line of a table, cleaned."""
    line = line[:_LINE]
    if "|" in line:
        parts = line.strip().removeprefix("|").removesuffix("|").split("|")
    elif _WIDE.search(line.strip()):
        parts = _WIDE.split(line.strip())
    else:
        try:
            parts = next(csv.reader([line.replace("\0", "")]), [])
        except csv.Error:
            parts = []
    return [phrase(part) for part in parts]


def header_question(text: str, header: Span, heading: str, language: str) -> TableQuestion | None:
    """What a table tells about each of its rows."""
    line_end = text.find("\n", header.start, header.end)
    line_end = header.end if line_end < 0 else line_end
    names = list(dict.fromkeys(name for name in cells(text[header.start : line_end]) if _is_name(name)))
    if len(names) > 2:
        names = [name for name in names if not _INDEX.match(name)]
    if not names:
        return None
    evidence = locate(text, text[header.start : min(line_end, header.start + _LINE)].strip(), header.start, line_end)
    if len(names) == 1:
        return TableQuestion(render(language, "listed", names[0]), evidence)
    columns = listing(names[1 : _MAX_COLUMNS + 1], language)
    if not names[0][0].isalnum():
        return TableQuestion(render(language, "entries", columns), evidence)
    if heading:
        return TableQuestion(render(language, "columns_of", columns, names[0], heading), evidence)
    return TableQuestion(render(language, "columns", columns, names[0]), evidence)


def rows_question(text: str, header: Span, lines: Sequence[Span], language: str) -> TableQuestion | None:
    """What some rows of a table tell, named by their first cells."""
    line_end = text.find("\n", header.start, header.end)
    names = cells(text[header.start : header.end if line_end < 0 else line_end])
    lines = [line for line in lines if line.start >= header.end]
    if sum(map(_is_name, names)) < 2 or not lines:
        return None
    rows = [cells(text[line.start : line.end]) for line in (lines[0], lines[-1])]
    # Rows that bear a mere number are named by what stands behind it.
    place = next((at for at in range(_FIRST_CELLS) if all(_names_row(row[at : at + 1]) for row in rows)), None)
    if place is None:
        return None
    others = [name for at, name in enumerate(names) if at > place and _is_name(name)]
    if not others:
        return None
    columns, found = listing(others[:_MAX_COLUMNS], language), [row[place] for row in rows]
    evidence = Span(lines[0].start, lines[-1].end)
    if len(set(found)) == 1:
        return TableQuestion(render(language, "row", columns, found[0]), evidence)
    return TableQuestion(render(language, "rows", columns, *found), evidence)


def lines_of(text: str, span: Span) -> list[Span]:
    """The lines of a table that hold cells."""
    lines = []
    at = span.start
    while at < span.end:
        end = text.find("\n", at, span.end)
        end = span.end if end < 0 else end
        if text[at:end].strip() and not _RULE_LINE.match(text[at:end]):
            lines.append(Span(at, end))
        at = end + 1
    return lines


def _names_row(cell: Sequence[str]) -> bool:
    """Whether a cell names its row; a mere number does only where it is long, such as a date."""
    return bool(cell) and (_is_name(cell[0]) or 4 <= len(cell[0]) <= _CELL)


def _is_name(cell: str) -> bool:
    return 0 < len(cell) <= _CELL and not _NUMBER.match(cell)
