"""The structure-aware chunker: headings, then blocks, then sentences; tables and code whole.

Source: structure-aware chunking (headings > paragraphs > sentences, overlap, atomic tables and code).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.chunking.assemble import assemble, fitted_path, join_small
from qchunker.chunking.packing import (
    CLAUSE,
    CUT_NAMES,
    GLUED,
    ITEM,
    LINE,
    Piece,
    Unit,
    pack,
    text_units,
)
from qchunker.chunking.prose import prose_units
from qchunker.chunking.sizes import Measure
from qchunker.chunking.strength import strength_before
from qchunker.config import ChunkingConfig
from qchunker.types import ATOMIC_KINDS, Block, Document, Partition

# Under this the exact search for units costs nothing and cuts better.
_MIN_PROSE_LIMIT = 100
_RULE_LINE = re.compile(r"^[ \t]*[|+][-=+|: \t]*-[-=+|: \t]*$", re.MULTILINE)
_GRID_RULES = 2


def structure(document: Document, config: ChunkingConfig) -> Partition:
    """Cut along the structure of the document.

    A section (a heading with its body) that fits into the target is one chunk; a longer one is packed from its
    blocks into pieces of about equal length, and only a block that is too long itself is cut: prose at
    sentences, tables and code (over the hard limit only) between rows and lines. Headings stay with the body
    below them. Pieces under ``min_chars`` are joined to a neighbour.

    Time and memory are linear in the text.
    """
    measure = Measure.of_config(config)
    cutter = Cutter(document, config, measure)
    pieces = [
        piece for section in _sections(document.blocks, config.merge_headings) for piece in cutter.pieces(section)
    ]
    return assemble(document, join_small(document, pieces, config, measure), config, measure, "structure")


def _sections(blocks: tuple[Block, ...], merge: bool) -> Iterator[tuple[Block, ...]]:
    """Runs of blocks that a chunk may not reach across: a heading, deeper ones that follow at once, the body."""
    if merge:
        if blocks:
            yield blocks
        return
    start = 0
    only_headings = False
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            deeper = only_headings and block.level > blocks[index - 1].level
            if index > start and not deeper:
                yield blocks[start:index]
                start = index
            only_headings = True
        elif block.kind != "furniture":
            if blocks[start].kind == "front_matter" and index > start:
                yield blocks[start:index]
                start = index
            only_headings = False
    if start < len(blocks):
        yield blocks[start:]


class Cutter:
    """Cuts sections of one document."""

    def __init__(self, document: Document, config: ChunkingConfig, measure: Measure) -> None:
        self.document = document
        self.text = document.text
        self.config = config
        self.measure = measure
        self.limit = config.limit - measure.overhead
        self._prefixes: dict[tuple[str, ...], int] = {}

    def pieces(self, section: tuple[Block, ...]) -> Iterator[Piece]:
        start, end = section[0].start, section[-1].end
        cut = "heading" if section[0].kind == "heading" and start > 0 else "start" if start == 0 else "block"
        path = section[-1].heading_path
        whole = self.measure.span(self.text, start, end)
        prefix = self.prefix(path)
        if whole <= min(self.config.target, self.limit - prefix) and section[0].kind != "record":
            yield Piece(start, end, cut)
            return
        room = max(1, self.limit - prefix)
        # A block of up to the target stays whole; where there is a choice, room is left for the lead-in.
        packed = min(room, max(1, int(self.config.target * (1 - self.config.overlap))))
        units = self._units(section, min(self.config.target, room), room, packed)
        for first, stop in pack(units, packed):
            name = cut if first == 0 else CUT_NAMES[units[first].strength]
            if units[first].strength == ITEM and self._is_row(units[first].start):
                name = "row"
            yield Piece(units[first].start, units[stop - 1].end, name)

    def prefix(self, path: tuple[str, ...]) -> int:
        """Size of the headings that stand in front of a piece of this section."""
        if path not in self._prefixes:
            shown = " > ".join(fitted_path(path, self.limit, self.measure))
            self._prefixes[path] = self.measure.span(shown, 0, len(shown)) + 1 if shown else 0
        return self._prefixes[path]

    def _is_row(self, start: int) -> bool:
        blocks = self.document.blocks_in(start, start + 1)
        return bool(blocks) and blocks[0].kind in ("table", "record")

    def _units(self, section: tuple[Block, ...], target: int, room: int, packed: int) -> list[Unit]:
        text, span = self.text, self.measure.span
        units: list[Unit] = []
        at = glued_from = section[0].start
        for index, block in enumerate(section):
            kind, start, end = block[:3]
            strength = strength_before(self.text, section, index)
            if strength != GLUED:
                glued_from = start
            lead = span(text, glued_from, start) if glued_from < start else 0
            size = span(text, start, end)
            header = self.header_size(block, room) if block.header is not None else 0
            if kind in ATOMIC_KINDS:
                whole, part = room - lead, target - header
            elif kind == "record":
                whole, part = room - header, target
            else:
                # A block that fits by itself is not cut for the sake of what it is glued to, unless that is a heading.
                if lead and size <= target < size + lead and section[index - 1].kind != "heading":
                    strength, glued_from, lead = ITEM, start, 0
                whole = min(target, room - lead)
                part = target - lead if lead < target // 2 else target
            # White space between blocks counts with the block behind it.
            gap = span(text, at, start) if at < start else 0
            if size <= whole:
                units.append(Unit(start, end, strength, size + gap, header if kind == "record" else 0))
            elif kind in ATOMIC_KINDS:
                units.extend(self.parts(block, strength, max(1, part), header))
            elif self.measure.in_characters and part >= _MIN_PROSE_LIMIT and kind != "record":
                before = units[-1].size if units and units[-1].size < packed // 3 else 0
                units.extend(prose_units(text, start, end, strength, min(packed, part + lead), before))
            else:
                units.extend(text_units(text, start, end, strength, max(1, part), self.measure))
            at = end
        return units

    def header_size(self, block: Block, room: int) -> int:
        """Size of what a part of this block must repeat; nothing when that would crowd out the part itself."""
        if block.header is None or block.kind == "list_item":
            return 0
        size = self.measure.span(self.text, *block.header) + 1
        return size if size <= room // 2 else 0

    def parts(self, block: Block, strength: int, limit: int, header: int) -> Iterator[Unit]:
        """A table or code block that is too long, as parts of whole rows or lines."""
        rows = list(self._rows(block, limit))
        before = block.start
        for begin, stop in pack(rows, limit):
            start, end = rows[begin].start, rows[stop - 1].end
            yield Unit(start, end, strength, self.measure.span(self.text, before, end) + header)
            strength = ITEM if block.kind == "table" else LINE
            before = end

    def _rows(self, block: Block, limit: int) -> Iterator[Unit]:
        """Rows of a table or lines of code; the header rows and the first row stay together."""
        at = before = block.start
        header_end = block.header.end if block.header and block.header.start == block.start else block.start
        strength = GLUED
        # In a grid the rows end at rules; in code a blank line is the better place.
        grid = block.kind == "table" and len(_RULE_LINE.findall(self.text, block.start, block.end)) > _GRID_RULES
        for line in self.text[block.start : block.end].splitlines(keepends=True):
            start, at = at, at + len(line)
            end = start + len(line.rstrip())
            if end > start:
                gap = self.measure.span(self.text, before, start) if before < start else 0
                first, *more = text_units(self.text, start, end, strength, limit, self.measure)
                yield first._replace(size=first.size + gap)
                yield from more
                rule = not grid or _RULE_LINE.match(self.text, start) is not None
                strength = GLUED if end <= header_end else LINE if rule else CLAUSE
                before = end
            elif strength == LINE:
                strength = ITEM
