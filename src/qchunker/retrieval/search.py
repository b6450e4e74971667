"""Dense, BM25 and hybrid search over a snapshot: score, fuse, drop what says the same, diversify.

Everything is exact: every record is scored. Equal scores are ordered by id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from qchunker.config import SearchConfig
from qchunker.errors import ConfigError, InputError, ModelOutputError
from qchunker.indexing.question_tokens import question_tokens
from qchunker.indexing.records import ROLES
from qchunker.indexing.snapshot import Snapshot
from qchunker.models.embedder import Embedder, Vectors
from qchunker.retrieval.diversity import maximal_marginal_relevance, without_near_duplicates
from qchunker.retrieval.expansion import related
from qchunker.retrieval.filters import Filter, allowed
from qchunker.retrieval.fusion import reciprocal_rank_fusion, standardised_fusion
from qchunker.retrieval.hits import Hit

MAX_QUESTION_CHARS = 20_000
"""Longer than any question; every token of it would be looked up."""
_DIGITS = 6
_MOST_COMPARED = 2_048
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


class Reranker(Protocol):
    """Reads the question with each text, and says how well they fit."""

    @property
    def id(self) -> str:
        """Name and version."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One number per text, higher is better."""


class _Scores(NamedTuple):
    """Of all records, (N,) each; what was not asked for is None."""

    fused: Floats
    dense: Floats | None
    bm25: Floats | None


def checked_question(question: object) -> str:
    """The question as text that can be encoded.

    Raises:
        InputError: if it is no text, or too long to be a question.
    """
    if not isinstance(question, str):
        raise InputError(f"the question must be text, got {type(question).__name__}")
    if len(question) > MAX_QUESTION_CHARS:
        what = f"the question has {len(question):,} characters, more than {MAX_QUESTION_CHARS:,}"
        raise InputError(what, hint="ask in fewer words")
    return question.encode("utf-8", "replace").decode()  # half characters have no meaning


def search(
    snapshot: Snapshot,
    question: str,
    embedder: Embedder,
    k: int = 6,
    *,
    config: SearchConfig | None = None,
    wanted: Filter | None = None,
    reranker: Reranker | None = None,
) -> list[Hit]:
    """The records that fit a question best, the best first; fewer than ``k`` where there are no more.

    Args:
        snapshot: of the index.
        question: in any words; a blank one finds nothing.
        embedder: that the index was made with.
        k: hits at most, at least 1.
        config: how scores are fused, what is dropped, and what comes with the hits.
        wanted: which records are looked at.
        reranker: orders the best candidates anew.

    Raises:
        ConfigError: if ``k`` is below 1. InputError: if the question is no text, or longer than
            ``MAX_QUESTION_CHARS``.
        ModelError: if the embedder or the reranker fails.
    """
    config = config or SearchConfig()
    if not isinstance(config, SearchConfig):
        raise ConfigError("config", f"must be a SearchConfig, got {config!r:.60}")
    if wanted is not None and not isinstance(wanted, Filter):
        raise ConfigError("wanted", f"must be a Filter, got {wanted!r:.60}")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ConfigError("k", f"must be a whole number of at least 1, got {k!r}")
    question = checked_question(question)
    mask = allowed(snapshot, wanted)
    if not question.strip() or not mask.any():
        return []
    scores = _scores(snapshot, question, embedder, config, mask)
    candidates = _best(snapshot, scores.fused, mask, max(config.candidates, 4 * k))
    order = candidates
    final = scores.fused
    reranked: dict[int, float] = {}
    if reranker is not None:
        texts = [str(snapshot.payload(int(at))["embedding_text"]) for at in candidates]
        values = [float(value) for value in reranker.scores(question, texts)]
        if len(values) != len(texts) or not np.isfinite(values).all():
            raise ModelOutputError(reranker.id, f"gave no {len(texts)} finite scores")
        reranked = dict(zip(map(int, candidates), values, strict=True))
        final = np.full(len(snapshot), -np.inf)
        final[candidates] = values
        order = np.array(sorted(map(int, candidates), key=lambda at: (-reranked[at], snapshot.ids[at])), dtype=np.int64)
    chosen = _diverse(snapshot, order, final, k, config)
    hits = [_hit(snapshot, at, scores, final, mask, reranked) for at in chosen]
    return [replace(hit, related=related(snapshot, at, config)) for at, hit in zip(chosen, hits, strict=True)]


def _scores(
    snapshot: Snapshot, question: str, embedder: Embedder, config: SearchConfig, mask: npt.NDArray[np.bool_]
) -> _Scores:
    dense = bm25 = None
    if config.dense_weight > 0:
        dense = dense_scores(snapshot, embedder.encode([question])[0], config.dense_roles)
    if config.bm25_weight > 0:
        bm25 = snapshot.bm25.scores(question_tokens(question))
    weighted = [(scores, weight) for scores, weight in ((dense, config.dense_weight), (bm25, config.bm25_weight))
                if scores is not None]  # fmt: skip
    if len(weighted) == 1:
        return _Scores(weighted[0][0], dense, bm25)
    if config.fusion == "rrf":
        rankings = [_ranked(snapshot, scores, mask, config.candidates) for scores, _ in weighted]
        ranks = reciprocal_rank_fusion(rankings, config.rrf_k, [weight for _, weight in weighted])
        place = {id_: at for at, id_ in enumerate(snapshot.ids)} if ranks else {}
        fused = np.zeros(len(snapshot))
        for id_, value in ranks.items():
            fused[place[id_]] = value
        return _Scores(fused, dense, bm25)
    fused = np.full(len(snapshot), -np.inf)
    fused[mask] = standardised_fusion([scores[mask] for scores, _ in weighted], [weight for _, weight in weighted])
    return _Scores(fused, dense, bm25)


def dense_scores(snapshot: Snapshot, vector: Vectors, roles: Sequence[str]) -> Floats:
    """The highest cosine of a question with the vectors of each record that stand for one of ``roles``; (N,).

    Records without such a vector get -1.
    """
    # Products of equal vectors differ in their last bits, which must not order them.
    if vector.shape != snapshot.vectors.shape[1:] or not np.isfinite(vector).all():
        raise ModelOutputError("embedder", "gave no finite vector of the question")
    cosines = np.asarray(np.round((snapshot.vectors @ vector).astype(np.float64), _DIGITS), dtype=np.float64)
    if len(cosines) == len(snapshot):
        return cosines  # one vector each: the text
    kept = np.isin(snapshot.vector_roles, [ROLES.index(role) for role in roles])
    best = np.full(len(snapshot), -1.0)
    np.maximum.at(best, snapshot.vector_records[kept], cosines[kept])
    return best


def _ranked(snapshot: Snapshot, scores: Floats, mask: npt.NDArray[np.bool_], n: int) -> list[str]:
    found = _best(snapshot, np.where(scores > 0, scores, -np.inf), mask, n)
    return [snapshot.ids[at] for at in found if scores[at] > 0]


def _best(snapshot: Snapshot, scores: Floats, mask: npt.NDArray[np.bool_], n: int) -> Positions:
    """The ``n`` best records that are allowed, the best first, equal ones by id."""
    places = np.flatnonzero(mask)
    if len(places) > n:
        least = np.partition(scores[places], len(places) - n)[len(places) - n]
        places = places[scores[places] >= least]
    ordered = sorted(map(int, places), key=lambda at: (-scores[at], snapshot.ids[at]))
    return np.array(ordered[:n], dtype=np.int64)


def _diverse(snapshot: Snapshot, order: Positions, scores: Floats, k: int, config: SearchConfig) -> list[int]:
    """At most ``k`` of the candidates: none that says what a better one says, and unlike each other."""
    vectors = snapshot.body_vectors(order)
    kept = list(range(len(order)))
    if config.duplicate_cosine < 1:
        # Each is compared with all before it; who asks for more than these wants everything.
        first, rest = kept[:_MOST_COMPARED], kept[_MOST_COMPARED:]
        _, dropped = without_near_duplicates(vectors, first, threshold=config.duplicate_cosine)
        # Two versions of a text that differ in a number contradict each other, and both must be seen.
        kept = [
            at for at in first
            if at not in dropped or _figures(snapshot, order[at]) != _figures(snapshot, order[dropped[at]])
        ] + rest  # fmt: skip
    if config.relevance_weight < 1:
        ids = [snapshot.ids[int(order[at])] for at in kept]
        pool = kept[: config.mmr_pool]
        chosen = maximal_marginal_relevance(
            scores[order[pool]], vectors[pool], ids=ids[: len(pool)], top_k=k, relevance_weight=config.relevance_weight
        )
        kept = [pool[at] for at in chosen]
    return [int(order[at]) for at in kept[:k]]


def _figures(snapshot: Snapshot, record: np.int64) -> Counter[str]:
    return Counter(_NUMBER.findall(str(snapshot.payload(int(record))["embedding_text"])))


def _hit(
    snapshot: Snapshot,
    at: int,
    scores: _Scores,
    final: Floats,
    mask: npt.NDArray[np.bool_],
    reranked: dict[int, float],
) -> Hit:
    dense, bm25 = (None if of is None else float(of[at]) for of in (scores.dense, scores.bm25))
    return Hit(
        row=snapshot.payload(at),
        score=float(final[at]),
        dense=dense,
        bm25=bm25,
        dense_rank=_rank(scores.dense, at, mask),
        bm25_rank=_rank(scores.bm25, at, mask) if bm25 else None,
        rerank=reranked.get(at),
    )


def _rank(scores: Floats | None, at: int, mask: npt.NDArray[np.bool_]) -> int | None:
    return None if scores is None else 1 + int(np.count_nonzero(scores[mask] > scores[at]))
