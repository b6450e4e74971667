"""What a search finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Related(NamedTuple):
    """A record that comes with a hit.

    ``kind`` is ``chunk`` (a pair was made from it), ``limits``, ``limited_by``, ``before``, ``behind`` or ``section``.
    """

    kind: str
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a search found, with why.

    Args:
        row: the record: a chunk row, or a question-answer pair, as it was indexed.
        score: what the hits are ordered by. Fused scores are comparable within one search only.
        dense: cosine of the question and the record; None where the search did not ask for it.
        bm25: BM25 score; likewise.
        dense_rank: place of the record among all by ``dense`` alone, from 1.
        bm25_rank: likewise; None for a score of 0.
        rerank: score of the reranker, if there was one.
        related: records that come with it.
    """

    row: Mapping[str, Any]
    score: float
    dense: float | None = None
    bm25: float | None = None
    dense_rank: int | None = None
    bm25_rank: int | None = None
    rerank: float | None = None
    related: tuple[Related, ...] = field(default=())

    @property
    def id(self) -> str:
        return str(self.row["record_id"])

    @property
    def text(self) -> str:
        """What a reader, or a language model, is given: the completed text where there is one."""
        if self.row.get("record") == "qa":
            return f"{self.row['question']}\n{self.row['answer']}"
        return str(self.row.get("completed_text") or self.row.get("text") or self.row["embedding_text"])

    @property
    def source(self) -> str:
        return str(self.row.get("source") or self.row["doc_id"])
