"""Within documents: of many partitions of one section into as many chunks, does a score know which will be found best?

The rest of the set stays as it is, so that all partitions compete with the same other chunks. Sections are equal in
what they count: a rank correlation in each, then their mean, with an interval over the sections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from qchunker.bench.correlation import spearman
from qchunker.bench.dataset import BenchSet
from qchunker.bench.judge import judged
from qchunker.bench.methods import sizes_of
from qchunker.bench.metrics.spans import ChunkSpan
from qchunker.bench.significance import estimate
from qchunker.bench.study.candidates import Candidate, Spans
from qchunker.bench.study.sections import Floats, Section
from qchunker.errors import ScoringError
from qchunker.models.embedder import Embedder
from qchunker.pipeline import chunk
from qchunker.scoring.random_partitions import random_partitions
from qchunker.types import Span

Tell = Callable[[str, int, int], None]
BACKGROUND = "sentence"
"""Chunker of the text around a section, and of the partition whose limits of length the random ones keep."""

_DEPTH = 200


def partitions_of(section: Section, size: int, number: int, seed: int) -> list[Spans]:
    """Random partitions of a section into as many chunks as the sentence chunker makes; none where there is no choice.

    Chunks have from half to twice the size, and each partition comes once.
    """
    spans = chunk(section.document, BACKGROUND, sizes_of(size)).spans
    if len(spans) < 3:
        return []
    drawn = random_partitions(section.document.text, spans, 2 * number, seed, (size // 2, 2 * size))
    distinct = list(dict.fromkeys(drawn.draws))[:number] if drawn.unit == "sentence" else []
    return list(distinct) if len(distinct) >= number // 2 else []


def scored(
    sections: Sequence[Section],
    data: BenchSet,
    size: int,
    number: int,
    candidates: Mapping[str, Candidate],
    embedder: Embedder,
    tell: Tell = lambda *_: None,
) -> list[dict[str, Any]]:
    """For every section the scores and the metrics of its partitions.

    Args:
        sections: that questions are about.
        data: the set that they are from.
        size: mean length of chunks.
        number: of partitions.
        candidates: scores by name.
        embedder: dense retrieval.
        tell: is told of every section.

    Gives rows with ``doc_id``, ``n_chunks``, ``scores`` (name to one number per partition) and ``metrics`` (name to
    the same, the mean over the section's questions).
    """
    around = [
        ChunkSpan(document.id, start, end, document.text[start:end])
        for document in data.documents
        for start, end in chunk(document, BACKGROUND, sizes_of(size)).spans
    ]
    vectors = embedder.encode([one.text for one in around]).astype(np.float64)
    rows = []
    for at, section in enumerate(sections):
        tell("partitions", at, len(sections))
        drawn = partitions_of(section, size, number, seed=at)
        if drawn and section.questions:
            found = _metrics(section, drawn, data, around, vectors, embedder)
            scores = {name: [float(score(section, spans)) for spans in drawn] for name, score in candidates.items()}
            rows.append({"doc_id": section.doc_id, "n_chunks": len(drawn[0]), "scores": scores, "metrics": found})
    return rows


def _metrics(
    section: Section, drawn: Sequence[Spans], data: BenchSet, around: Sequence[ChunkSpan], vectors: Floats,
    embedder: Embedder,
) -> dict[str, list[float]]:  # fmt: skip
    end = section.offset + len(section.document.text)
    outside = [
        at for at, one in enumerate(around)
        if one.doc_id != section.doc_id or one.end <= section.offset or one.start >= end
    ]  # fmt: skip
    others = [around[at] for at in outside]
    asked = embedder.encode([one.text for one in section.questions]).astype(np.float64)
    of_others = asked @ vectors[outside].T
    best = np.argsort(-of_others, axis=1, kind="stable")[:, :_DEPTH]
    found: dict[str, list[float]] = {}
    for spans in drawn:
        own = [_placed(section, span) for span in spans]
        of_own = asked @ embedder.encode([one.text for one in own]).astype(np.float64).T
        values = []
        for number, question in enumerate(section.questions):
            chunks = [*own, *(others[at] for at in best[number])]
            scores = np.concatenate([of_own[number], of_others[number, best[number]]])
            ranked = [chunks[at] for at in np.argsort(-scores, kind="stable")[:_DEPTH]]
            values.append(judged(question, ranked, {section.doc_id: own}, data, 8))
        for name in values[0]:
            found.setdefault(name, []).append(float(np.mean([one[name] for one in values])))
    return found


def _placed(section: Section, span: Span) -> ChunkSpan:
    start, end = section.offset + span.start, section.offset + span.end
    return ChunkSpan(section.doc_id, start, end, section.document.text[slice(*span)])


def agreement(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Mean rank correlation within sections of every score with every metric, with its interval over sections.

    A section in which a score or a metric is the same for all partitions says nothing of it and is counted apart.
    """
    found = []
    for metric in metrics:
        for name in rows[0]["scores"] if rows else ():
            values = [rho for row in rows if (rho := _rho(row["scores"][name], row["metrics"][metric])) is not None]
            if len(values) > 1:
                mean = estimate(values)
                found.append({"score": name, "metric": metric, "rho": mean.mean, "low": mean.low, "high": mean.high,
                              "p": _p_of(values), "sections": len(values),
                              "silent": len(rows) - len(values)})  # fmt: skip
    return found


def gains(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """What choosing the best partition by each score gains over the mean partition, with the gain of an oracle."""
    found = []
    for metric in metrics:
        for name in (*rows[0]["scores"], "oracle") if rows else ():
            values = []
            for row in rows:
                of_metric = np.array(row["metrics"][metric])
                scores = of_metric if name == "oracle" else np.array(row["scores"][name])
                chosen = of_metric[scores == scores.max()].mean()
                values.append(float(chosen - of_metric.mean()))
            mean = estimate(values)
            found.append({"score": name, "metric": metric, "gain": mean.mean, "low": mean.low, "high": mean.high})
    return found


def fitted(
    rows: Sequence[Mapping[str, Any]], metric: str, names: Sequence[str], ridge: float = 1.0
) -> dict[str, float]:
    """Weights of a mixture of scores that follows a metric best: ridge regression on ranks within sections.

    Ranks are scaled to mean 0 and deviation 1 within each section, so that sections weigh the same.
    """
    x, y = [], []
    for row in rows:
        target = _standard(row["metrics"][metric])
        if target is not None:
            x.append(np.stack([_or_zero(row["scores"][name]) for name in names], axis=1))
            y.append(target)
    features, wanted = np.concatenate(x), np.concatenate(y)
    gram = features.T @ features / len(features) + ridge / len(x) * np.eye(len(names))
    weights = np.linalg.solve(gram, features.T @ wanted / len(features))
    return dict(zip(names, weights.tolist(), strict=True))


def mixed(rows: Sequence[Mapping[str, Any]], weights: Mapping[str, float], name: str) -> list[dict[str, Any]]:
    """The rows with one more score, the mixture."""
    made = []
    for row in rows:
        total = sum(weight * _or_zero(row["scores"][one]) for one, weight in weights.items())
        made.append({**row, "scores": {name: np.asarray(total).tolist()}})
    return made


def _rho(scores: Sequence[float], metric: Sequence[float]) -> float | None:
    try:
        return spearman(scores, metric)
    except ScoringError:
        return None  # one of the two is the same for all partitions


def _p_of(values: Sequence[float]) -> float:
    """Two-sided p of a mean of 0, by the signs of all sections drawn anew."""
    data = np.array(values)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(9_999, len(data)))
    at_least = np.abs((signs * data).mean(axis=1)) >= abs(data.mean()) - 1e-12
    return float((1 + at_least.sum()) / (1 + len(signs)))


def _or_zero(values: Sequence[float]) -> Floats:
    found = _standard(values)
    return np.zeros(len(values)) if found is None else found


def _standard(values: Sequence[float]) -> Floats | None:
    """Ranks with mean 0 and deviation 1; None where all are the same."""
    order = np.unique(np.round(values, 12), return_inverse=True)[1].astype(np.float64)
    counts = np.bincount(order.astype(int))
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[order.astype(int)]
    deviation = float(ranks.std())
    return None if deviation == 0 else (ranks - ranks.mean()) / deviation
