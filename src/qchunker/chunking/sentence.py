"""Whole sentences, packed up to the target without regard to headings."""

from __future__ import annotations

from collections.abc import Iterator

from qchunker.chunking.assemble import assemble, join_small
from qchunker.chunking.packing import CUT_NAMES, SENTENCE, Piece, Unit, pack, record_units, text_units
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.sentences import sentence_spans
from qchunker.types import Document, Partition


def sentence(document: Document, config: ChunkingConfig) -> Partition:
    """Pack sentences into pieces of about equal length; a sentence over the target is cut at clauses or words."""
    measure = Measure.of_config(config)
    room = max(1, int((config.target - measure.overhead) * (1 - config.overlap)))
    units = record_units(document, room, measure) or list(_units(document.text, room, measure))
    pieces = [
        Piece(units[first].start, units[stop - 1].end, CUT_NAMES[units[first].strength] if first else "start")
        for first, stop in pack(units, room)
    ]
    return assemble(document, join_small(document, pieces, config, measure), config, measure, "sentence")


def _units(text: str, limit: int, measure: Measure) -> Iterator[Unit]:
    before = 0
    for start, end in sentence_spans(text):
        size = measure.span(text, before, end)
        if size <= limit:
            yield Unit(start, end, SENTENCE, size)
        else:
            yield from text_units(text, start, end, SENTENCE, limit, measure)
        before = end
