"""ChunkScore of partitions (QChunker 3.3.3), raw and corrected for chance.

Coverage is a precondition, never a part of the score: leaving text out would raise semantic dispersion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from qchunker.config import ScoringConfig
from qchunker.errors import ScoringError
from qchunker.models.causal_lm import CausalLM
from qchunker.models.embedder import Embedder, Vectors
from qchunker.scoring.logical_independence import Progress, independence_at, logical_independence
from qchunker.scoring.perplexity import Floats
from qchunker.scoring.random_partitions import random_partitions
from qchunker.scoring.semantic_dispersion import gram_matrix, semantic_dispersion
from qchunker.types import Span

_EMBEDDED_AT_ONCE = 256
_GRAM_CHUNKS = 2000

Spans = tuple[Span, ...]
Boundary = tuple[Span, Span]


class Corrected(NamedTuple):
    """A number in standard deviations from its mean over random partitions, and the standard error of that."""

    value: float = math.nan
    error: float = math.nan


@dataclass(slots=True)
class Score:
    """The numbers of one partition; nan where there is none, and then ``reason`` says why."""

    li: float = math.nan
    sd: float = math.nan
    value: float = math.nan
    boundaries: tuple[float, ...] = ()
    gram: tuple[tuple[float, ...], ...] = ()
    li_corrected: Corrected = field(default_factory=Corrected)
    sd_corrected: Corrected = field(default_factory=Corrected)
    corrected: Corrected = field(default_factory=Corrected)
    unit: str = ""
    reason: str | None = None


@dataclass(slots=True)
class _Chance:
    """Random partitions to compare with, and the boundaries of them to read, as pairs of (draw, boundary)."""

    draws: list[Spans]
    unit: str
    sample: list[tuple[int, int]]
    is_complete: bool


def chunk_score(li: float, sd: float, li_weight: float = 0.3) -> float:
    """The weighted sum of logical independence and semantic dispersion.

    Range: as its parts, dimensionless. The part that differs more between partitions decides their order.
    Source: QChunker 3.3.3, docs/equations.md#cs-1.
    """
    return li_weight * li + (1 - li_weight) * sd


def unscorable(text: str, spans: Sequence[Span]) -> str | None:
    """Why a partition has no score, or None (docs/equations.md#cs-2).

    Raises:
        ScoringError: if there is no chunk, or a chunk is blank or outside the text.
    """
    if not spans:
        raise ScoringError("a partition without chunks")
    for before, after in pairwise(spans):
        if after.start < before.end:
            return f"the chunks overlap or are not sorted at {after.start}: score the partition without its overlap"
    at = 0
    for span in spans:
        if not 0 <= span.start < span.end <= len(text) or not text[span.start : span.end].strip():
            raise ScoringError(f"the chunk {span.start}-{span.end} is blank or outside the document")
        if text[at : span.start].strip():
            return f"no chunk holds the text at {at}-{span.start}; leaving text out would raise the score"
        at = span.end
    if text[at:].strip():
        return f"no chunk holds the text at {at}-{len(text)}; leaving text out would raise the score"
    if len(spans) == 1:
        return "one chunk: no inner boundary, and the dispersion of one chunk is the largest there is"
    return None


def score_partitions(
    text: str,
    partitions: Sequence[Spans],
    embedder: Embedder,
    lm: CausalLM | None,
    config: ScoringConfig,
    progress: Progress | None = None,
) -> list[Score]:
    """Scores of partitions of one text, sharing all work that they have in common.

    Args:
        text: of the document.
        partitions: each sorted and disjoint, holding every character that is not white space.
        embedder: for semantic dispersion.
        lm: for logical independence; None leaves it, and the value, out.
        config: weights, draws and seed.
        progress: told how far it is.

    Raises:
        ScoringError: if a chunk is blank.
        ModelError: if a model fails.
    """
    scores = [Score(reason=unscorable(text, spans)) for spans in partitions]
    good = [i for i, score in enumerate(scores) if score.reason is None]
    chances = {i: _chance(text, partitions[i], config, lm is not None) for i in good}
    independence = {}
    if lm is not None:
        independence = independence_at(text, boundaries_to_read(partitions, chances), lm, progress)
    vectors = _Vectors(text, embedder, progress, sum(map(len, partitions_to_embed(partitions, chances))))
    for i in good:
        _fill(scores[i], partitions[i], vectors.of(partitions[i]), independence, config)
        if chances[i].draws:
            dispersions = [semantic_dispersion(vectors.of(draw), config.ridge) for draw in chances[i].draws]
            _correct(scores[i], len(partitions[i]), chances[i], np.array(dispersions), independence, config)
    return scores


def plan(
    text: str, partitions: Sequence[Spans], config: ScoringConfig, *, with_lm: bool
) -> tuple[set[Boundary], set[Span]]:
    """The boundaries that the language model would read and the spans that would be embedded."""
    good = [i for i, spans in enumerate(partitions) if unscorable(text, spans) is None]
    chances = {i: _chance(text, partitions[i], config, with_lm) for i in good}
    embedded = {span for spans in partitions_to_embed(partitions, chances) for span in spans}
    return set(boundaries_to_read(partitions, chances)) if with_lm else set(), embedded


def boundaries_to_read(partitions: Sequence[Spans], chances: dict[int, _Chance]) -> Iterator[Boundary]:
    """All inner boundaries of the partitions, and the sampled ones of their random partitions."""
    for i, chance in chances.items():
        yield from pairwise(partitions[i])
        for draw, boundary in chance.sample:
            yield chance.draws[draw][boundary], chance.draws[draw][boundary + 1]


def partitions_to_embed(partitions: Sequence[Spans], chances: dict[int, _Chance]) -> Iterator[Spans]:
    """The partitions, and all random ones."""
    for i, chance in chances.items():
        yield partitions[i]
        yield from chance.draws


class _Vectors:
    """Unit vectors of spans, in pieces, so that memory does not grow with the number of random partitions."""

    def __init__(self, text: str, embedder: Embedder, progress: Progress | None, total: int) -> None:
        self._text = text
        self._embedder = embedder
        self._progress = progress
        self._total = total
        self._done = 0

    def of(self, spans: Spans) -> Vectors:
        rows = []
        for start in range(0, len(spans), _EMBEDDED_AT_ONCE):
            part = spans[start : start + _EMBEDDED_AT_ONCE]
            rows.append(self._embedder.encode([self._text[slice(*span)] for span in part]))
            self._done += len(part)
            if self._progress is not None:
                self._progress("embedding", self._done, self._total)
        return np.concatenate(rows)


def _fill(
    score: Score, spans: Spans, vectors: Vectors, independence: dict[Boundary, float], config: ScoringConfig
) -> None:
    score.sd = semantic_dispersion(vectors, config.ridge)
    if len(spans) <= _GRAM_CHUNKS:
        score.gram = tuple(map(tuple, gram_matrix(vectors).tolist()))
    if independence:
        score.boundaries = tuple(independence[boundary] for boundary in pairwise(spans))
        score.li = logical_independence(score.boundaries)
        score.value = chunk_score(score.li, score.sd, config.li_weight)


def _chance(text: str, spans: Spans, config: ScoringConfig, with_lm: bool) -> _Chance:
    if not config.draws:
        return _Chance([], "", [], is_complete=False)
    draws, unit = random_partitions(text, spans, config.draws, config.seed)
    n_boundaries = len(spans) - 1
    complete = [(draw, boundary) for draw in range(len(draws)) for boundary in range(n_boundaries)]
    if not with_lm:
        return _Chance(draws, unit, [], is_complete=False)
    if config.li_sample is None or len(complete) <= config.li_sample:
        return _Chance(draws, unit, complete, is_complete=True)
    # The same boundary, counted from the start, in two different draws: their difference tells how much it varies.
    rng = np.random.default_rng([config.seed, n_boundaries])
    n_pairs = config.li_sample // 2
    counted = ((np.arange(n_pairs) + rng.random(n_pairs)) * n_boundaries / n_pairs).astype(np.int64).tolist()
    pairs = [rng.choice(len(draws), size=2, replace=False).tolist() for _ in counted]
    sample = [(draw, boundary) for boundary, pair in zip(counted, pairs, strict=True) for draw in pair]
    return _Chance(draws, unit, sample, is_complete=False)


def _correct(
    score: Score,
    n_chunks: int,
    chance: _Chance,
    dispersions: Floats,
    independence: dict[Boundary, float],
    config: ScoringConfig,
) -> None:
    """Fill in the corrected numbers (docs/equations.md#ch-2 and #ch-3)."""
    score.unit = chance.unit
    score.sd_corrected = _standardised(score.sd, float(dispersions.mean()), float(dispersions.var(ddof=1)))
    if not chance.sample:
        return
    values = np.array(
        [independence[chance.draws[draw][i], chance.draws[draw][i + 1]] for draw, i in chance.sample], dtype=np.float64
    )
    if chance.is_complete:
        means = values.reshape(len(chance.draws), n_chunks - 1).mean(axis=1)
        totals = config.li_weight * means + (1 - config.li_weight) * dispersions
        score.li_corrected = _standardised(score.li, float(means.mean()), float(means.var(ddof=1)))
        score.corrected = _standardised(score.value, float(totals.mean()), float(totals.var(ddof=1)))
        return
    pairs = values.reshape(-1, 2)
    mean, error = float(pairs.mean()), _sampling_error(pairs, n_chunks - 1)
    variance = float(((pairs[:, 0] - pairs[:, 1]) ** 2).mean() / 2) / (n_chunks - 1)
    score.li_corrected = _standardised(score.li, mean, variance, error)
    weight = config.li_weight
    score.corrected = _standardised(
        score.value,
        chunk_score(mean, float(dispersions.mean()), weight),
        weight**2 * variance + (1 - weight) ** 2 * float(dispersions.var(ddof=1)),
        weight * error,
    )


def _sampling_error(pairs: Floats, n_boundaries: int) -> float:
    """Standard error of the mean of a sample that is spread evenly over the boundaries (pairs: (n, 2))."""
    if n_boundaries <= len(pairs):
        # Every boundary is in the sample, so only the difference between draws is left.
        variance = float(((pairs[:, 0] - pairs[:, 1]) ** 2).mean() / 4)
    else:
        # Neighbours differ by what lies between them too: the usual estimate for a systematic sample.
        variance = float((np.diff(pairs.mean(axis=1)) ** 2).mean() / 2)
    return math.sqrt(variance / len(pairs))


def _standardised(value: float, mean: float, variance: float, error: float = 0.0) -> Corrected:
    """Nothing varies where there is only one way to cut; then there is nothing to compare with."""
    spread = math.sqrt(variance)
    if spread <= 1e-9:
        return Corrected()
    return Corrected((value - mean) / spread, error / spread)
