"""Tables as runs of lines with column separators, whatever the parser made of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from qchunker.types import Document, Span

_ROW = re.compile(r"^(?:[^\n|]*\||[ ]*[^\s|][^\n|\t]*\t)[^\n]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:+=-]*$")
_LEAD_CHARS = 300
_NUMERIC = re.compile(r"\$?\s*\(?[-+]?[\d.,]+\s*[%)]?\)?|[-—–]+")


class TableRun(NamedTuple):
    """A table.

    Args:
        start: of the first line.
        end: of the last line.
        header: the lines above the first row of values.
        rows: the spans of the rows below.
        lead: the text right above, where captions and units stand.
    """

    start: int
    end: int
    header: Span
    rows: tuple[Span, ...]
    lead: Span

    def rows_in(self, chunk: Span) -> tuple[Span, ...]:
        """The rows that start in a chunk."""
        first = bisect_left(self.rows, chunk.start, key=lambda row: row.start)
        return self.rows[first : bisect_left(self.rows, chunk.end, key=lambda row: row.start)]


def table_runs(document: Document) -> list[TableRun]:
    """Every run of two or more lines with column separators, in order."""
    text = document.text
    runs: list[list[Span]] = []
    lines: list[Span] = []
    code = [(block.start, block.end) for block in document.blocks if block.kind == "code"]
    starts = [start for start, _ in code]
    for match in _ROW.finditer(text):
        place = bisect_right(starts, match.start()) - 1
        if place >= 0 and match.start() < code[place][1]:
            continue
        line = Span(*match.span())
        if lines and line.start != lines[-1].end + 1:
            runs.append(lines)
            lines = []
        lines.append(line)
    if lines:
        runs.append(lines)
    before = [0, *(run[-1].end for run in runs)]
    return [_table(text, run, low) for run, low in zip(runs, before, strict=False) if len(run) > 1]


def cells(row: str) -> list[str]:
    """The cells of a row, without the separators at its ends."""
    separator = "|" if "|" in row else "\t"
    return [cell.strip() for cell in row.strip().strip("|").split(separator)]


def is_number(cell: str) -> bool:
    """Whether a cell holds nothing but a number, an amount or a dash."""
    return bool(_NUMERIC.fullmatch(cell.strip()))


def _table(text: str, lines: list[Span], low: int) -> TableRun:
    width = max(len(cells(text[line.start : line.end])) for line in lines[:4])
    header_end = 1
    if len(cells(text[lines[0].start : lines[0].end])) == 1 < width and len(lines) > 2:
        header_end = 2  # a title in the first row
    while header_end < len(lines) - 1 and _RULE.match(text, *lines[header_end]):
        header_end += 1
    rows = [line for line in lines[header_end:] if not _RULE.match(text, *line)]
    above = max(low, lines[0].start - _LEAD_CHARS)
    return TableRun(
        lines[0].start, lines[-1].end, Span(lines[0].start, lines[header_end - 1].end), tuple(rows),
        Span(above, lines[0].start),
    )  # fmt: skip
