"""The cells of one line of a table, as places of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.types import Span

_PIPE = re.compile(r"(?<!\\)\|")
_CSV_CELL = re.compile(r'\s*+(?:"((?:[^"]|"")*+)"|([^,"]*+))\s*+(,|\Z)')  # possessive: linear in white space


def row_cells(text: str, line: Span) -> list[Span]:
    """The cells of one line of a table, between pipes or of CSV; without white space and quotes around them.

    Cells that hold doubled quotes are empty: their text is not a stretch of the document.
    """
    piece = text[line.start : line.end]
    if _PIPE.search(piece):
        edges = [match.start() for match in _PIPE.finditer(piece)]
        inner = piece.strip()
        starts = [-1, *edges] if not inner.startswith("|") else edges
        stops = [*edges, len(piece)] if not inner.endswith("|") else edges
        stops = stops[1:] if inner.startswith("|") else stops
        spans = [Span(line.start + start + 1, line.start + stop) for start, stop in zip(starts, stops, strict=False)]
        return [trimmed(text, span) for span in spans]
    if "\t" in piece:
        at, spans = line.start, []
        for part in piece.split("\t"):
            spans.append(trimmed(text, Span(at, at + len(part))))
            at += len(part) + 1
        return spans
    return list(_csv_cells(text, line))


def _csv_cells(text: str, line: Span) -> Iterator[Span]:
    at = line.start
    while at <= line.end:
        match = _CSV_CELL.match(text, at, line.end)
        if match is None:
            return
        if match[1] is not None:
            yield Span(match.start(1), match.start(1) if '""' in match[1] else match.end(1))
        else:
            yield trimmed(text, Span(match.start(2), match.end(2)))
        if match[3] != ",":
            return
        at = match.end()


def trimmed(text: str, span: Span) -> Span:
    """The stretch without white space at its edges."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, max(start, span.start + len(piece.rstrip())))
