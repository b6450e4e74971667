"""How much of a question some text speaks of, in words that matter."""

from __future__ import annotations

from collections.abc import Iterable

from qchunker.indexing.bm25 import BM25


def coverage(wanted: Iterable[str], text_tokens: Iterable[str], bm25: BM25) -> float:
    """Share of the wanted tokens that a text has, rare ones counting more; 0 for no wanted token."""
    has = set(text_tokens)
    total = found = 0.0
    for token in wanted:
        weight = bm25.idf(token)
        total += weight
        found += weight if token in has else 0.0
    return found / total if total else 0.0
