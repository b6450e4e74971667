"""The usual recursive splitter, with spans: paragraphs, lines, sentences, clauses, words, graphemes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qchunker.chunking.assemble import assemble, join_small
from qchunker.chunking.packing import BLOCK, CUT_NAMES, Piece, Unit, record_units, text_units
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.types import Document, Partition

_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[^\S\n\r]*(?:\r\n|\n|\r)\s*")


def recursive(document: Document, config: ChunkingConfig) -> Partition:
    """Cut at blank lines; go down to finer separators only inside a paragraph that is too long; fill greedily."""
    measure = Measure.of_config(config)
    room = max(1, int((config.target - measure.overhead) * (1 - config.overlap)))
    records = record_units(document, room, measure)
    pieces = list(_filled(records or _units(document.text, room, measure), room))
    return assemble(document, join_small(document, pieces, config, measure), config, measure, "recursive")


def _units(text: str, limit: int, measure: Measure) -> Iterator[Unit]:
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    for gap in _BLANK_LINE.finditer(text, start, end):
        stop = start + len(text[start : gap.start()].rstrip())
        if stop > start:
            yield from text_units(text, start, stop, BLOCK, limit, measure)
        start = gap.end()
    if start < end:
        yield from text_units(text, start, end, BLOCK, limit, measure)


def _filled(units: Iterable[Unit], limit: int) -> Iterator[Piece]:
    """Pieces filled from left to right."""
    first: Unit | None = None
    size, end, cut = 0, 0, "start"
    for unit in units:
        # In characters the white space between units counts too.
        gap = unit.start - end if first is not None else 0
        if first is not None and size + gap + unit.size > limit:
            yield Piece(first.start, end, cut)
            first = None
            cut = CUT_NAMES[unit.strength]
        if first is None:
            first, size, gap = unit, 0, 0
        size += gap + unit.size
        end = unit.end
    if first is not None:
        yield Piece(first.start, end, cut)
