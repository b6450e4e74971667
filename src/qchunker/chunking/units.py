"""The smallest stretches that chunks are made of where meaning decides: sentences, headings, whole tables and code."""

from __future__ import annotations

from collections.abc import Iterator

from qchunker.chunking.packing import GLUED, HEADING, LINE, SENTENCE, Unit, text_units
from qchunker.chunking.sizes import Measure
from qchunker.chunking.strength import strength_before
from qchunker.chunking.structure import Cutter
from qchunker.config import ChunkingConfig
from qchunker.sentences import sentence_spans
from qchunker.types import ATOMIC_KINDS, Block, Document

_LINE_BREAKS = "\n\r\x85\u2028\u2029"


def document_units(document: Document, config: ChunkingConfig, measure: Measure) -> tuple[list[Unit], list[int]]:
    """Units of a document in order, and for each the room that a chunk which starts there has.

    A table or code block that fits into a chunk is one unit, a longer one its rows or lines; a sentence that fits into
    no chunk is cut at clauses, words or graphemes.
    """
    cutter = Cutter(document, config, measure)
    units: list[Unit] = []
    rooms: list[int] = []
    at = 0
    for index, block in enumerate(document.blocks):
        room = max(1, cutter.limit - cutter.prefix(block.heading_path))
        gap = measure.span(document.text, at, block.start) if at < block.start else 0
        first, *more = _units_of(cutter, block, _strength(document, index), room)
        units.append(first._replace(size=first.size + gap))
        units.extend(more)
        rooms.extend([room] * (1 + len(more)))
        at = block.end
    return units, rooms


def _strength(document: Document, index: int) -> int:
    block, before = document.blocks[index], document.blocks[index - 1] if index else None
    if before is not None and before.kind == block.kind == "heading" and block.level <= before.level:
        return HEADING  # the one before has no body
    if before is not None and block.kind == "record" and block.header == (before.start, before.end):
        return GLUED  # a header stays with its first record
    return strength_before(document.text, document.blocks, index)


def _units_of(cutter: Cutter, block: Block, strength: int, room: int) -> Iterator[Unit]:
    text, measure = cutter.text, cutter.measure
    size = measure.span(text, block.start, block.end)
    header = cutter.header_size(block, room) if block.header is not None else 0
    if block.kind in ATOMIC_KINDS and size > room:
        for unit in cutter.parts(block, strength, max(1, min(cutter.config.target, room) - header), header):
            inside = unit.start > block.start
            yield unit._replace(size=unit.size - header, extra=header if inside else 0)
    elif block.kind in ATOMIC_KINDS or block.kind in ("heading", "furniture", "record"):
        if size <= room:
            yield Unit(block.start, block.end, strength, size, header if block.kind == "record" else 0)
        else:
            yield from text_units(text, block.start, block.end, strength, room, measure)
    else:
        yield from _sentences(text, block, strength, room, measure)


def _sentences(text: str, block: Block, strength: int, room: int, measure: Measure) -> Iterator[Unit]:
    before = block.start
    for start, end in sentence_spans(text, block.start, block.end):
        if before > block.start:
            broken = any(char in _LINE_BREAKS for char in text[before:start])
            strength = LINE if broken else SENTENCE
        size = measure.span(text, before, end)
        if size <= room:
            yield Unit(start, end, strength, size)
        else:
            yield from text_units(text, start, end, strength, room, measure)
        before = end
