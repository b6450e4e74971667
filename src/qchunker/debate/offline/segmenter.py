"""The text segmenter by rules: the best partition by evidence, or the best of several drawn with noise.

Source: docs/equations.md#seg-1 and #seg-2; QChunker 3.2.2 (candidates under an outline, one is selected).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qchunker.chunking.assemble import assemble, join_small
from qchunker.chunking.packing import CUT_NAMES, HEADING, ITEM, LINE, Piece, Unit
from qchunker.chunking.sizes import Measure
from qchunker.chunking.units import document_units
from qchunker.config import ChunkingConfig, SegmentationConfig
from qchunker.debate.offline import evidence
from qchunker.debate.offline.programme import Programme, best_cuts, best_cuts_into, partition_score
from qchunker.models.embedder import Embedder
from qchunker.types import Document, Partition

Choose = Callable[[list[Partition]], Partition]
"""Takes one of several partitions of a document."""

TARGET_CHARS = 500
TARGET_CHARS_ZH = 180
_NOISE = 0.5
"""Scale of the noise; about a third of the weight of a paragraph."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """The weighted evidence for one possible cut, for people who ask why; ``is_cut``: a chunk starts here."""

    start: int
    evidence: dict[str, float]
    is_cut: bool

    @property
    def total(self) -> float:
        return sum(self.evidence.values())


class Segmentation:
    """Units, limits and evidence of one document: everything that partitions of it are made from.

    Args:
        document: to be cut.
        config: sizes.
        weights: of the evidence.
        embedder: for the distance in meaning; not used where its weight is 0.
    """

    def __init__(
        self,
        document: Document,
        config: ChunkingConfig,
        weights: SegmentationConfig,
        embedder: Embedder | None,
    ) -> None:
        self.document, self.config, self.weights = document, config, weights
        self.measure = Measure.of_config(config)
        self.units, rooms = document_units(document, config, self.measure)
        self.programme = Programme(
            [unit.size for unit in self.units],
            [unit.extra for unit in self.units],
            rooms,
            config.target,
            weights.length,
            _leaves(document, self.units),
            weights.torn,
        )
        self.terms = _terms(document.text, self.units, weights, embedder)
        self.evidence: list[float] = sum(self.terms.values(), np.zeros(len(self.units))).tolist()

    def best(self, n_chunks: int | None = None) -> list[int] | None:
        """First units of the chunks of the best partition; into ``n_chunks`` where that is given and possible."""
        if n_chunks is None:
            return best_cuts(self.programme, self.evidence)
        return best_cuts_into(self.programme, self.evidence, n_chunks)

    def sample(self, n: int, n_chunks: int | None = None) -> list[list[int]]:
        """Different partitions: the best one first, then best ones under seeded Gumbel noise (docs/equations.md#seg-2).

        Fewer than ``n`` where there are no more.
        """
        rng = np.random.default_rng(self.weights.seed)
        found: dict[tuple[int, ...], None] = {}
        first = self.best(n_chunks)
        if first is not None:
            found[tuple(first)] = None
        for _ in range(4 * n):
            if len(found) >= n:
                break
            noise = rng.gumbel(scale=_NOISE, size=(2, len(self.units)))
            noisy = (np.array(self.evidence) + noise[0] - noise[1]).tolist()
            cuts = (
                best_cuts(self.programme, noisy)
                if n_chunks is None
                else best_cuts_into(self.programme, noisy, n_chunks)
            )
            if cuts is not None:
                found[tuple(cuts)] = None
        return [list(cuts) for cuts in found]

    def score(self, cuts: Sequence[int]) -> float:
        """The evidence of a partition less its length penalties."""
        return partition_score(self.programme, self.evidence, cuts)

    def partition(self, cuts: Sequence[int]) -> Partition:
        """The chunks of a partition, with their headings and what they repeat."""
        pieces = [
            Piece(self.units[start].start, self.units[stop - 1].end, self._cut_name(start))
            for start, stop in zip(cuts, [*cuts[1:], len(self.units)], strict=True)
        ]
        pieces = join_small(self.document, pieces, self.config, self.measure)
        return assemble(self.document, pieces, self.config, self.measure, "qchunker")

    def _cut_name(self, index: int) -> str:
        if index == 0:
            return "start"
        unit = self.units[index]
        block = self.document.blocks_in(unit.start, unit.end)[0]
        inside = block.kind in ("table", "record") and unit.strength in (ITEM, LINE)
        return "row" if inside else CUT_NAMES[unit.strength]

    def explain(self, partition: Partition) -> list[Boundary]:
        """The evidence at every possible cut, in order."""
        starts = {chunk.start for chunk in partition.chunks}
        return [
            Boundary(unit.start, {name: float(term[index]) for name, term in self.terms.items()}, unit.start in starts)
            for index, unit in enumerate(self.units)
            if index
        ]


def segment(
    document: Document,
    config: ChunkingConfig,
    weights: SegmentationConfig,
    embedder: Embedder | None,
    choose: Choose | None = None,
) -> Partition:
    """The best partition of a document, or of several drawn ones the one that ``choose`` takes.

    Those that it chooses from have the same number of chunks, because scores compare only then.
    """
    made = Segmentation(document, config, weights, embedder)
    best = made.best() or [0]
    if choose is None or weights.paths == 1:
        return made.partition(best)
    return choose([made.partition(cuts) for cuts in made.sample(weights.paths, len(best))])


def sizes_for(config: ChunkingConfig, *, chinese: bool) -> ChunkingConfig:
    """The sizes in force: what the caller left open depends on the language (docs/adr/0006).

    The limit leaves room for tables that are whole; prose is kept near the target by its penalty.
    """
    target = TARGET_CHARS_ZH if chinese else TARGET_CHARS
    by_default = config.target_chars is None and config.tokenizer is None
    return replace(
        config,
        target_chars=config.target_chars or min(target, config.max_chars or target),
        max_chars=config.max_chars or (2 * TARGET_CHARS if by_default else None),
        overlap_ratio=0 if config.overlap_ratio is None else config.overlap_ratio,
    )


def _leaves(document: Document, units: Sequence[Unit]) -> list[int]:
    """For each unit, the first behind it where a section starts that does not belong to what a chunk there is about.

    A chunk that starts with a heading may go on to the next of the same or a deeper level, one that starts inside a
    section may not. The text before the first heading belongs to anything.
    """
    leaves, ahead = [len(units)] * len(units), list[tuple[int, int]]()  # (level, unit) of headings, the nearest last
    for index in range(len(units) - 1, 0, -1):
        unit = units[index]
        level = document.blocks_in(unit.start, unit.end)[0].level if unit.strength == HEADING else None
        if level is None:
            leaves[index] = ahead[-1][1] if ahead else len(units)
            continue
        while ahead and ahead[-1][0] >= level:
            ahead.pop()
        leaves[index] = ahead[-1][1] if ahead else len(units)
        ahead.append((level, index))
    return leaves


def _terms(
    text: str, units: Sequence[Unit], weights: SegmentationConfig, embedder: Embedder | None
) -> dict[str, evidence.Numbers]:
    none = np.zeros(len(units))  # rounded below: other threads of the same library may sum in another order
    meaning = evidence.embedding(text, units, embedder) if embedder is not None and weights.embedding else none
    terms = {
        "structure": evidence.structure(units, weights),
        "embedding": weights.embedding * meaning,
        "lexical": weights.lexical * evidence.lexical(text, units) if weights.lexical else none,
        "cue": -weights.cue * evidence.cue(text, units) if weights.cue else none,
    }
    return {name: np.round(term, 6) for name, term in terms.items()}
