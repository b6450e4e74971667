"""Random partitions of a text: what ChunkScore is by chance (docs/equations.md#ch-1).

A partition is drawn uniformly from all contiguous partitions of the text into the same number of chunks, each within
the same limits of length, that cut only between sentences and lines or where the given partition does. Where that
leaves no choice, words take the place of sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qchunker.sentences import sentence_spans
from qchunker.types import Span

_FEWEST_WAYS = 8
_FEWEST_NATS_PER_CHUNK = 0.25
"""With less choice than this between sentences, the draws would be near copies; then words are used."""

_STRETCH = {"sentence": 256, "word": 32}
"""Chunks that are cut anew together; longer documents are cut in stretches, so that time stays linear."""

_LINE_END = re.compile(r"\n")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

_Counts = npt.NDArray[np.float64]
_Places = npt.NDArray[np.int64]


class RandomPartitions(NamedTuple):
    """Partitions drawn from ``unit`` boundaries: ``sentence`` or ``word``."""

    draws: list[tuple[Span, ...]]
    unit: str


def random_partitions(
    text: str, spans: Sequence[Span], n_draws: int, seed: int, limits: tuple[int, int] | None = None
) -> RandomPartitions:
    """Partitions of the same text into as many chunks, none shorter or longer than the shortest and longest given.

    Args:
        text: of the document.
        spans: the partition to imitate: sorted, disjoint, two chunks or more.
        n_draws: how many.
        seed: the same seed gives the same draws.
        limits: shortest and longest chunk instead of those of ``spans``.

    Time: linear in the text. The same partition may be drawn twice, and ``spans`` itself too.
    """
    spans = [_trimmed(text, *span) for span in spans]
    lengths = [span.end - span.start for span in spans]
    limits = limits or (min(lengths), max(lengths))
    for unit in ("sentence", "word"):
        stretches = [
            _Cuts.count(_units(text, part, unit), len(part), *limits) for part in _stretches(spans, _STRETCH[unit])
        ]
        log_ways = sum(stretch.total for stretch in stretches)
        if unit == "word" or log_ways >= max(math.log(_FEWEST_WAYS), _FEWEST_NATS_PER_CHUNK * len(spans)):
            break
    rng = np.random.default_rng([seed, len(spans), *limits])
    draws = [tuple(span for stretch in stretches for span in stretch.draw(rng)) for _ in range(n_draws)]
    return RandomPartitions(draws, unit)


def _stretches(spans: Sequence[Span], size: int) -> Iterator[Sequence[Span]]:
    for start in range(0, len(spans), size):
        yield spans[start : start + size]


def _units(text: str, part: Sequence[Span], unit: str) -> list[Span]:
    """What is never cut in a draw. The cuts of the partition itself are kept, so a draw always exists."""
    if unit == "word":
        return [
            Span(span.start + word.start(), span.start + word.end())
            for span in part
            for word in _WORD.finditer(text[span.start : span.end])
        ]
    first, end = part[0].start, part[-1].end
    sentences = (first + sentence.end for sentence in sentence_spans(text[first:end]))
    lines = (first + line.end() for line in _LINE_END.finditer(text[first:end]))
    cuts = sorted({first, end, *sentences, *lines, *(span.start for span in part)})
    return [_trimmed(text, start, stop) for start, stop in pairwise(cuts) if text[start:stop].strip()]


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


class _Cuts:
    """The number of ways to cut units into chunks, and fair draws from them."""

    def __init__(self, units: Sequence[Span], first: _Places, last: _Places, log_ways: list[_Counts]) -> None:
        self.units = units
        self.first = first
        self.last = last
        self.log_ways = log_ways

    @classmethod
    def count(cls, units: Sequence[Span], n_chunks: int, least: int, most: int) -> _Cuts:
        """``log_ways[k][i]`` is the logarithm of the number of ways to cut ``units[i:]`` into k chunks in the limits.

        A chunk that starts at unit i may end before any unit of ``first[i]`` to ``last[i]``.
        """
        n = len(units)
        starts = np.array([unit.start for unit in units], dtype=np.int64)
        ends = np.array([unit.end for unit in units], dtype=np.int64)
        first = np.maximum(np.searchsorted(ends, starts + least) + 1, np.arange(1, n + 1))
        last = np.searchsorted(ends, starts + most, side="right")
        row = np.full(n + 2, -np.inf)  # the last place is never reached; it closes the last sum
        row[n] = 0.0
        log_ways = [row]
        possible = first <= last
        edges = np.column_stack([np.minimum(first, n + 1), last + 1]).ravel()
        for _ in range(n_chunks):
            sums = np.logaddexp.reduceat(row, edges)[::2]
            row = np.full(n + 2, -np.inf)
            row[:n] = np.where(possible, sums, -np.inf)
            log_ways.append(row)
        return cls(units, first, last, log_ways)

    @property
    def total(self) -> float:
        """Logarithm of the number of all ways; minus infinity if there is none."""
        return float(self.log_ways[-1][0])

    def draw(self, rng: np.random.Generator) -> Iterator[Span]:
        at = 0
        for remaining in range(len(self.log_ways) - 2, -1, -1):
            first, last = int(self.first[at]), int(self.last[at])
            logs = self.log_ways[remaining][first : last + 1]
            shares = np.cumsum(np.exp(logs - logs.max()))
            chosen = first + int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))
            yield Span(self.units[at].start, self.units[chosen - 1].end)
            at = chosen
