"""What one question is worth to a ranking of chunks: every metric that its set allows, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qchunker.bench.dataset import CHARACTERS, BenchQuestion, BenchSet
from qchunker.bench.metrics.ranking import ndcg_at_k, ranks_of, recall_at_k, reciprocal_rank
from qchunker.bench.metrics.spans import (
    ChunkSpan,
    answer_in_budget,
    answer_is_whole,
    evidence_overlap,
    gold_ranks,
    precision_omega,
    recall_at_budget,
)

Values = dict[str, float]
Held = Mapping[str, Sequence[ChunkSpan]]
"""All chunks by their document."""


def judged(question: BenchQuestion, ranked: Sequence[ChunkSpan], held: Held, data: BenchSet, k: int) -> Values:
    """The metrics of one question; a question that finds nothing scores 0 and stays.

    With evidence: ``recall``, ``precision``, ``iou`` of the first five chunks, ``precision_omega``, ``recall_N`` within
    N characters and their mean, and the ranks of chunks that hold a stretch of evidence whole: ``found_at_k``, ``mrr``,
    ``ndcg``. With answers: ``hit_N`` within N approximate tokens (in a document that is known to answer it), their
    mean, ``answer_recall_N`` (in any), ``mrr``, ``whole`` (the cuts left the answer in one piece), ``document_at_k``.

    Args:
        question: with evidence or answers.
        ranked: chunks, best first.
        held: all chunks by document.
        data: the set, with its budgets.
        k: chunks that rank metrics look at.
    """
    values: Values = {}
    if question.evidence:
        values |= _of_evidence(question, ranked, held, data, k)
    if question.answers:
        values |= _of_answers(question, ranked, held, data, k)
    return values


def metric_names(data: BenchSet, k: int) -> list[str]:
    """Metrics that all questions of a set have."""
    names = [list(judged(question, (), {}, data, k)) for question in data.questions]
    return [name for name in names[0] if all(name in others for others in names)] if names else []


def _of_evidence(question: BenchQuestion, ranked: Sequence[ChunkSpan], held: Held, data: BenchSet, k: int) -> Values:
    gold = question.evidence
    overlap = evidence_overlap(ranked, gold)
    of_documents = [chunk for doc_id in dict.fromkeys(one.doc_id for one in gold) for chunk in held.get(doc_id, ())]
    values = {"recall": overlap.recall, "precision": overlap.precision, "iou": overlap.iou,
              "precision_omega": precision_omega(of_documents, gold)}  # fmt: skip
    if data.budget_unit == CHARACTERS:
        recalls = {f"recall_{budget}": recall_at_budget(ranked, gold, budget) for budget in data.budgets}
        values |= recalls | {"recall_mean": sum(recalls.values()) / len(recalls)}
    ranks = gold_ranks(ranked, gold)
    return values | {
        f"found_at_{k}": recall_at_k(ranks, k),
        "mrr": reciprocal_rank(ranks, k),
        "ndcg": ndcg_at_k(ranks, k),
    }


def _of_answers(question: BenchQuestion, ranked: Sequence[ChunkSpan], held: Held, data: BenchSet, k: int) -> Values:
    if data.budget_unit == CHARACTERS:
        return {}  # with evidence at hand, an answer string that also stands elsewhere tells less
    values: Values = {}
    for budget in data.budgets:
        hits = [answer_in_budget(ranked, answer, question.documents, budget) for answer in question.answers]
        values[f"answer_recall_{budget}"] = max(hit.anywhere for hit in hits)
        if question.documents:
            values[f"hit_{budget}"] = max(hit.hit for hit in hits)
            values["mrr"] = max(hit.reciprocal_rank for hit in hits)  # of the largest budget
    kind = "hit" if question.documents else "answer_recall"
    values[f"{kind}_mean"] = sum(values[f"{kind}_{budget}"] for budget in data.budgets) / len(data.budgets)
    if question.documents:
        chunks = [chunk for doc_id in sorted(question.documents) for chunk in held.get(doc_id, ())]
        values["whole"] = max(answer_is_whole(chunks, answer, question.documents) for answer in question.answers)
        documents = dict.fromkeys(chunk.doc_id for chunk in ranked[:k])
        ranks = ranks_of(documents, question.documents)
        values[f"document_at_{k}"] = float(any(rank is not None for rank in ranks))
    return values
