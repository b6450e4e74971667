"""Pairs as rows, for files and for an index, and what a run is to be reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from qchunker.qa.pairs import QAResult

Row = dict[str, Any]


def pair_rows(result: QAResult) -> list[Row]:
    """One row per pair, every field present; ``qchunker index --qa`` takes them."""
    document = result.document
    spans = {group.number: [group.start, group.end] for group in result.groups}
    return [
        {
            "qa_id": pair.id,
            "doc_id": document.id,
            "source": document.source,
            "question": pair.question,
            "answer": pair.answer,
            "full_answer": pair.full_answer,
            "variants": list(pair.variants),
            "summary": pair.summary or None,
            "start": pair.start,
            "end": pair.end,
            "evidence": [list(span) for span in pair.evidence],
            "group": pair.group,
            "group_span": spans.get(pair.group),
            "page": pair.page,
            "heading_path": list(pair.heading_path),
            "origin": pair.origin,
            "support": pair.support,
            "signature": result.signature,
        }
        for pair in result.pairs
    ]


def document_report(result: QAResult) -> Row:
    """What came of one document: counts, refusals with their reasons, coverage, and what is missing."""
    document = result.document
    return {
        "doc_id": document.id,
        "source": document.source,
        "groups": len(result.groups),
        "sentences": result.n_sentences,
        "pairs": len(result.pairs),
        "coverage": round(result.coverage, 4),
        "counts": dict(sorted(result.counts.items())),
        "origins": dict(sorted(Counter(pair.origin for pair in result.pairs).items())),
        "refused": dict(sorted(result.reasons.items())),
        "refusals": [one._asdict() for one in result.refused],
        "uncovered": [list(span) for span in result.uncovered],
        "failed": [one._asdict() for one in result.failed],
    }


def total_report(reports: Sequence[Row]) -> Row:
    """The sums over all documents."""
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    origins: Counter[str] = Counter()
    for one in reports:
        counts.update(one["counts"])
        refused.update(one["refused"])
        origins.update(one["origins"])
    n_sentences = sum(one["sentences"] for one in reports)
    n_uncovered = sum(len(one["uncovered"]) for one in reports)
    return {
        "documents": len(reports),
        "groups": sum(one["groups"] for one in reports),
        "sentences": n_sentences,
        "pairs": sum(one["pairs"] for one in reports),
        "coverage": round(1 - n_uncovered / n_sentences, 4) if n_sentences else 1.0,
        "counts": dict(sorted(counts.items())),
        "origins": dict(sorted(origins.items())),
        "refused": dict(sorted(refused.items())),
        "failed_groups": sum(len(one["failed"]) for one in reports),
    }
