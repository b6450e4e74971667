"""Which chunks are retrieved for a question: the same few retrievers for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from qchunker.config import SearchConfig
from qchunker.indexing.bm25 import BM25
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.indexing.question_tokens import question_tokens
from qchunker.models.embedder import Embedder
from qchunker.retrieval.fusion import standardised_fusion

DEPTH = 200
"""Chunks of a ranking that are kept."""

Scores = npt.NDArray[np.float64]
Ranking = npt.NDArray[np.int64]


def _hybrid(dense: Scores, bm25: Scores) -> Scores:
    default = SearchConfig()
    weights = default.dense_weight, default.bm25_weight
    return np.stack([standardised_fusion(pair, weights) for pair in zip(dense, bm25, strict=True)])


RETRIEVERS: Mapping[str, Callable[[Scores, Scores], Scores]] = {
    "dense": lambda dense, bm25: dense,
    "bm25": lambda dense, bm25: bm25,
    "hybrid": _hybrid,
}
"""Out of cosines and BM25 scores, each (questions, chunks), the scores that chunks are ranked by."""


def rankings(
    texts: Sequence[str], questions: Sequence[str], names: Sequence[str], embedder: Embedder, depth: int = DEPTH
) -> dict[str, Ranking]:
    """Places of the best chunks for every question, best first; equal scores in the order of the chunks.

    Args:
        texts: of the chunks, as they are embedded.
        questions: as they are asked.
        names: keys of ``RETRIEVERS``.
        embedder: for cosines.
        depth: chunks per question.

    Shapes: gives (questions, min(depth, chunks)) for each name.
    """
    dense = bm25 = np.zeros((len(questions), len(texts)))
    if set(names) != {"bm25"}:
        # In double precision, so that sums in another order do not change ranks.
        dense = embedder.encode(questions).astype(np.float64) @ embedder.encode(texts).astype(np.float64).T
    if set(names) != {"dense"}:
        index = BM25.build(lexical_tokens(text) for text in texts)
        bm25 = np.stack([index.scores(question_tokens(question)) for question in questions])
    return {name: _best(RETRIEVERS[name](dense, bm25), depth) for name in names}


def _best(scores: Scores, depth: int) -> Ranking:
    return np.argsort(-scores, axis=1, kind="stable")[:, :depth].astype(np.int64)
