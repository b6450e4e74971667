"""Where methods that weigh sentences may cut, and the partition at the places they choose.

All of them cut between the same units: sentences, headings with what they head, whole tables and code. So no method
loses text, and what differs between them is their choice alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from qchunker.chunking.assemble import assemble, join_small
from qchunker.chunking.packing import CUT_NAMES, GLUED, ITEM, LINE, Piece, Unit, pack
from qchunker.chunking.sizes import Measure
from qchunker.chunking.units import document_units
from qchunker.config import ChunkingConfig
from qchunker.types import Document, Partition, Span


class CutPoints:
    """The units of a document, and partitions of it between them. A cut is the number of the unit behind it.

    Args:
        document: to be cut.
        config: sizes. What chunks aim at is their target less what the overlap takes of it.
    """

    def __init__(self, document: Document, config: ChunkingConfig) -> None:
        self.document, self.config = document, config
        self.measure = Measure.of_config(config)
        self.units, self._rooms = _without_furniture(document, *document_units(document, config, self.measure))
        self.aim = max(1, int((config.target - self.measure.overhead) * (1 - config.overlap)))
        self._sums = list(accumulate((unit.size for unit in self.units), initial=0))
        # For each unit the first one of those that are not parted from it.
        self._openings: list[int] = []
        for number, unit in enumerate(self.units):
            self._openings.append(self._openings[-1] if number and unit.strength == GLUED else number)

    @property
    def candidates(self) -> list[int]:
        """Units that a chunk may begin with, besides the first."""
        return [number for number, opening in enumerate(self._openings) if number and number == opening]

    def size(self, first: int, stop: int) -> int:
        """Size of the units ``[first, stop)``."""
        return self._sums[stop] - self._sums[first]

    def room(self, first: int) -> int:
        """The most that a chunk which begins with a unit may hold."""
        return self._rooms[first]

    def span(self, first: int, stop: int) -> Span:
        """Where the units ``[first, stop)`` stand."""
        return Span(self.units[first].start, self.units[stop - 1].end)

    def text(self, first: int, stop: int) -> str:
        """What a model reads of the units ``[first, stop)``."""
        start, end = self.span(first, stop)
        return self.document.without_furniture(start, end) or self.document.text[start:end]

    def nearest(self, place: int, numbers: Sequence[int]) -> int:
        """Which of some units starts nearest to a place of the text."""
        index = bisect_left(numbers, place, key=lambda number: self.units[number].start)
        return min(numbers[max(0, index - 1) : index + 1], key=lambda number: abs(self.units[number].start - place))

    def packed(self, first: int, stop: int, most: int) -> list[int]:
        """Cuts by the rules: pieces of about equal length of at most ``most``, the first unit included."""
        return [first + begin for begin, _ in pack(self.units[first:stop], most)]

    def merged(self, cuts: Iterable[int], joins: Callable[[int, int], bool] | None = None) -> list[int]:
        """The cuts that are left when pieces take in the next one, from left to right, while both fit into the aim.

        Args:
            cuts: in any order; the first unit is always one.
            joins: tells, by two sizes, whether they are to be joined; by default any two that fit are.

        Source: Meta-Chunking (dynamic merging). A first piece over the aim is kept as it is; no piece is ever empty.
        """
        kept: list[int] = []
        size = 0
        for start, stop in pairwise([*self._starts(cuts), len(self.units)]):
            more = self.size(start, stop)
            if kept and size + more <= self.aim and (joins is None or joins(size, more)):
                size += more
            else:
                kept.append(start)
                size = more
        return kept

    def without_small(self, cuts: Iterable[int]) -> list[int]:
        """The cuts that are left when what is under half of the aim is joined to its neighbour, if both fit into it."""
        return self.merged(cuts, lambda size, more: 2 * min(size, more) < self.aim)

    def pieces(self, cuts: Iterable[int]) -> list[Piece]:
        """The pieces between some cuts. What is over the limit is cut by the rules, what is tiny is joined."""
        made = [
            Piece(*self.span(first, last), self._cut_name(first))
            for start, stop in pairwise([*self._starts(cuts), len(self.units)])
            for first, last in self._within_limit(start, stop)
        ]
        return join_small(self.document, made, self.config, self.measure)

    def partition(self, cuts: Iterable[int], method: str, settings: str) -> Partition:
        """The chunks between some cuts.

        Args:
            cuts: first units of chunks, in any order.
            method: for the signature ...
            settings: ... with everything that decided, such as ``lm=...``.
        """
        made = assemble(self.document, self.pieces(cuts), self.config, self.measure, method)
        return replace(made, signature=f"{made.signature} {settings}")

    def _starts(self, cuts: Iterable[int]) -> list[int]:
        return sorted({0, *(self._openings[cut] for cut in cuts)})

    def _within_limit(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        room = min(self._rooms[start:stop])
        if self.size(start, stop) + self.units[start].extra <= room:
            yield start, stop
        else:
            yield from ((start + first, start + last) for first, last in pack(self.units[start:stop], room))

    def _cut_name(self, number: int) -> str:
        if number == 0:
            return "start"
        unit = self.units[number]
        kind = self.document.blocks_in(unit.start, unit.end)[0].kind
        return "row" if kind in ("table", "record") and unit.strength in (ITEM, LINE) else CUT_NAMES[unit.strength]


def _without_furniture(document: Document, units: list[Unit], rooms: list[int]) -> tuple[list[Unit], list[int]]:
    """The units, with running headers and page numbers in the one before: they are no sentences."""
    if not document.has_furniture:
        return units, rooms
    kept: list[Unit] = []
    kept_rooms: list[int] = []
    waiting: Unit | None = None
    for unit, room in zip(units, rooms, strict=True):
        if document.blocks_in(unit.start, unit.end)[0].kind == "furniture":
            if kept:
                kept[-1] = kept[-1]._replace(end=unit.end, size=kept[-1].size + unit.size)
            else:
                waiting = unit if waiting is None else waiting._replace(end=unit.end, size=waiting.size + unit.size)
            continue
        if waiting is not None:
            unit, waiting = unit._replace(start=waiting.start, size=waiting.size + unit.size), None
        kept.append(unit)
        kept_rooms.append(room)
    return (kept, kept_rooms) if kept else (units, rooms)
