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
    names = [name for name in cells(text[header.start : header.end if line_end < 0 else line_end]) if _is_name(name)]
    lines = [line for line in lines if line.start >= header.end]
    if len(names) < 2 or not lines:
        return None
    found = [cell for line in (lines[0], lines[-1]) if (cell := _first_cell(text[line.start : line.end]))]
    if len(found) < 2:
        return None
    columns = listing(names[1 : _MAX_COLUMNS + 1], language)
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


def _first_cell(line: str) -> str:
    """What names a row; nothing where that is a mere number."""
    cell = next(iter(cells(line)), "")
    return cell if _is_name(cell) or 4 <= len(cell) <= _CELL else ""


def _is_name(cell: str) -> bool:
    return 0 < len(cell) <= _CELL and not _NUMBER.match(cell)
