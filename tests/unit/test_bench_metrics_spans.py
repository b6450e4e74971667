"""Evidence in what was retrieved: against the original scorer on real chunks, by hand, and with text dropped."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qchunker.bench.metrics.ranking import hit_at_k, ndcg_at_k, ranks_of, recall_at_k, reciprocal_rank
from qchunker.bench.metrics.spans import (
    AnswerHit,
    ChunkSpan,
    GoldSpan,
    Overlap,
    answer_in_budget,
    answer_in_text,
    answer_is_whole,
    approximate_tokens,
    coverage,
    evidence_overlap,
    gold_ranks,
    precision_omega,
    recall_at_budget,
    trimmed_chunks,
    with_reach,
)
from qchunker.errors import ConfigError, InputError, ScoringError

BENCH = Path(os.environ.get("QCHUNKER_BENCH", Path(__file__).parents[3] / "shared" / "bench"))
FIELDS = ("doc_id", "start", "end", "text")
SETS = {"chroma": (30, 400), "drcd": (60, 120), "crud": (30, 60)}
"""Questions to compare on, and the length of chunks."""


@pytest.fixture(scope="module")
def scorer() -> Iterator[Any]:
    """The original scorer, imported from its folder and forgotten afterwards."""
    if not (BENCH / "score.py").is_file():
        pytest.skip(f"no {BENCH}; set QCHUNKER_BENCH")
    names, environment = ("common", "embed", "score"), dict(os.environ)
    held = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(BENCH))
    try:
        yield importlib.import_module("score")
    finally:
        sys.path.remove(str(BENCH))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(held)
        os.environ.clear()
        os.environ.update(environment)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def subset(name: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The first questions of a set, and the documents that they are about, with some others."""
    data = BENCH / "data" / name
    questions = [row for row in rows_of(data / "questions.jsonl") if row["split"] == "dev"][: SETS[name][0]]
    wanted = {doc_id for row in questions for doc_id in (row["gold"] if name == "crud" else [row["doc_id"]])}
    documents = {row["doc_id"]: row["text"] for row in rows_of(data / "docs.jsonl")}
    others = [doc_id for doc_id in documents if doc_id not in wanted][: 20 if name != "chroma" else 0]
    return {doc_id: documents[doc_id] for doc_id in [*wanted, *others]}, questions


def cut(documents: dict[str, str], size: int, seed: int) -> list[dict[str, Any]]:
    """Chunks of uneven size that overlap now and then; to some of their texts something is added."""
    rng, rows = np.random.default_rng(seed), []
    for doc_id, text in documents.items():
        at = 0
        while at < len(text):
            end = min(len(text), at + int(rng.integers(size // 2, size * 3 // 2)))
            start = max(0, at - (30 if rng.random() < 0.3 else 0))
            added = " 标题 Title > 章节 " if rng.random() < 0.4 else ""
            rows.append({"doc_id": doc_id, "start": start, "end": end, "text": added + text[start:end] + "\n"})
            at = end
    return rows


def ranked_for(question: str, chunks: Sequence[Any], text_of: Callable[[Any], str], n: int = 60) -> list[int]:
    asked = set(zip(question.lower(), question.lower()[1:], strict=False))
    shared = [len(asked & set(zip((t := text_of(c).lower()), t[1:], strict=False))) for c in chunks]
    return sorted(range(len(chunks)), key=lambda at: (-shared[at], at))[:n]


@pytest.mark.parametrize("name", SETS)
def test_every_number_equals_that_of_the_original_scorer(name: str, scorer: Any, tmp_path: Path) -> None:
    documents, questions = subset(name)
    rows = cut(documents, SETS[name][1], seed=len(name))
    path = tmp_path / "chunks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    theirs = scorer.load_chunks(path, documents, set(documents))
    ours = trimmed_chunks([ChunkSpan(row["doc_id"], row["start"], row["end"], row["text"]) for row in rows], documents)
    assert [(one.doc_id, one.start, one.end, one.text) for one in ours] == [
        tuple(map(one.get, FIELDS)) for one in theirs
    ]
    assert coverage(ours[::2], documents) == pytest.approx(scorer.coverage(theirs[::2], documents), abs=1e-12)
    ours = with_reach(ours, documents)
    by_doc = defaultdict(list)
    for one in theirs:
        by_doc[one["doc_id"]].append(one)
        one["tokens"], one["norm"] = scorer.approx_tokens(one["text"]), scorer.norm(one["text"])
        assert approximate_tokens(one["text"]) == one["tokens"]
    found = []
    for number, question in enumerate(questions):
        order = ranked_for(question["question"], theirs, lambda one: str(one["text"]))[25 * (number % 3 == 0) :]
        ranked, plain = [theirs[at] for at in order], [ours[at] for at in order]
        if name == "crud":
            wanted = scorer.crud_question(question, ranked, by_doc)
            measured = answer_numbers(question, plain, ours)
        else:
            wanted = scorer.chroma_question(question, ranked, by_doc[question["doc_id"]])
            measured = span_numbers(question, plain, ours)
        assert measured == pytest.approx(wanted, abs=1e-9)
        found.append(wanted)
    spread = {metric: len({round(row[metric], 6) for row in found}) for metric in found[0]}
    assert min(spread.values()) > 1, "a number that is the same for all questions compares nothing"


def answer_numbers(question: dict[str, Any], ranked: list[ChunkSpan], chunks: list[ChunkSpan]) -> dict[str, float]:
    gold = set(question["gold"])
    hits = {tokens: answer_in_budget(ranked, question["answer"], gold, tokens) for tokens in (1424, 712, 356)}
    return {
        **{f"hit_{tokens}t": hit.hit for tokens, hit in hits.items()},
        "mrr_1424t": hits[1424].reciprocal_rank,
        "any_1424t": hits[1424].anywhere,
        "hit_mean": sum(hit.hit for hit in hits.values()) / 3,
        "whole": answer_is_whole(chunks, question["answer"], gold),
        "doc_recall8": hit_at_k(ranks_of([chunk.doc_id for chunk in ranked], gold), 8),
    }


def span_numbers(question: dict[str, Any], ranked: list[ChunkSpan], chunks: list[ChunkSpan]) -> dict[str, float]:
    gold = [GoldSpan(question["doc_id"], start, end) for start, end in question["refs"]]
    recalls = {f"recall_{budget}c": recall_at_budget(ranked, gold, budget) for budget in (2000, 4000, 8000)}
    return {
        **evidence_overlap(ranked, gold)._asdict(),
        **recalls,
        "recall_mean": sum(recalls.values()) / 3,
        "precision_omega": precision_omega(chunks, gold),
    }


def test_numbers_by_hand() -> None:
    gold = [GoldSpan("d", 10, 20), GoldSpan("d", 40, 50), GoldSpan("e", 0, 20)]
    ranked = [ChunkSpan("d", 0, 15, "x" * 15), ChunkSpan("f", 0, 30, "x" * 30), ChunkSpan("d", 12, 45, "x" * 40)]
    assert evidence_overlap(ranked, gold) == Overlap(15 / 40, 15 / 78, 15 / (78 + 25))
    assert evidence_overlap(ranked, gold, k=1) == Overlap(5 / 40, 5 / 15, 5 / 50)
    assert evidence_overlap([], gold) == Overlap(0, 0, 0)
    # 15 + 30 are spent; of the third text 7 stand before its span, and 13 - 7 characters of the span fit.
    assert recall_at_budget(ranked, gold, 58) == (5 + 3) / 40
    assert recall_at_budget(ranked, gold, 0) == 0
    assert recall_at_budget(ranked, gold, 10_000) == 15 / 40
    # Chunks that touch: 0-15, 12-45 and, for it borders on the second, 50-60; missed: 45-50 and all of e.
    chunks = [*ranked, ChunkSpan("d", 50, 60, "x"), ChunkSpan("d", 80, 90, "x")]
    assert precision_omega(chunks, gold) == 15 / (45 + 5 + 10 + 20)
    assert precision_omega([], gold) == 0


@pytest.mark.parametrize(
    ("answer", "text", "is_in"),
    [
        ("4万", "共20.4万元", False),
        ("4万", "共 4 万元", True),
        ("20", "20.4", False),
        ("20", "到20。4人", True),
        ("20", "1,20 或 120", False),
        ("20", "1,20 或 120 与 20", True),
        ("第20条", "第２０条", True),
        ("KL-20", "the kl-20 pump", True),
        ("安全 阀", "安全\n阀", True),
        ("500万元", "1500万元", False),
        ("(a+b)", "if (A+B) > 0", True),
    ],
)  # fmt: skip
def test_answers_in_texts(answer: str, text: str, is_in: bool) -> None:
    assert answer_in_text(answer, text) is is_in


def test_an_answer_must_be_whole_within_the_budget() -> None:
    chunks = [
        ChunkSpan("a", 0, 9, "甲乙丙丁"),
        ChunkSpan("b", 0, 9, "答案在此 the end"),
        ChunkSpan("c", 0, 9, "答案在此"),
    ]
    assert answer_in_budget(chunks, "答案在此", {"b"}, 8) == AnswerHit(1, 0.5, 1)
    assert answer_in_budget(chunks, "答案在此", {"b"}, 7) == AnswerHit(0, 0, 0)
    assert answer_in_budget(chunks, "答案在此", {"c"}, 13) == AnswerHit(0, 0, 1)
    assert answer_in_budget(chunks, "答案在此", {"c"}, 14) == AnswerHit(1, 1 / 3, 1)
    assert answer_in_budget(chunks, "丁答案", {"b"}, 99) == AnswerHit(0, 0, 0)
    assert answer_is_whole(chunks, "答案在此", {"b"}) == 1
    assert answer_is_whole(chunks, "答案在此", {"a"}) == 0


def test_questions_without_an_answer_are_errors_and_not_dropped() -> None:
    for gold in ([], [GoldSpan("d", 3, 3)]):
        for measure in (evidence_overlap, precision_omega, gold_ranks):
            with pytest.raises(ScoringError):
                measure([], gold)
        with pytest.raises(ScoringError):
            recall_at_budget([], gold, 100)
    for answer in ("", " \n"):
        with pytest.raises(ScoringError):
            answer_in_text(answer, "text")
        with pytest.raises(ScoringError):
            answer_in_budget([], answer, {"a"}, 9)
    with pytest.raises(ScoringError):
        coverage([], {"d": " "})
    for chunk in (ChunkSpan("x", 0, 1, "a"), ChunkSpan("d", 0, 9, "a"), ChunkSpan("d", 2, 1, "a")):
        with pytest.raises(InputError):
            trimmed_chunks([chunk], {"d": "text"})


def test_ranking_by_hand() -> None:
    ranks = ranks_of(["a", "b", "b", "c", "a"], ["c", "x", "a", "c"])
    assert ranks == (4, None, 1)
    assert recall_at_k(ranks, 1) == recall_at_k(ranks, 3) == 1 / 3
    assert recall_at_k(ranks, 4) == recall_at_k(ranks, 1000) == 2 / 3
    assert reciprocal_rank(ranks) == 1
    assert reciprocal_rank(ranks_of("zzc", "c"), 2) == 0
    assert reciprocal_rank(ranks_of("zzc", "c")) == 1 / 3
    assert hit_at_k(ranks, 1) == 1
    assert hit_at_k((None, 4), 3) == 0
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert ndcg_at_k(ranks, 10) == pytest.approx((1 + 1 / math.log2(5)) / ideal)
    assert ndcg_at_k(ranks, 3) == pytest.approx(1 / ideal)
    assert ndcg_at_k(ranks, 2) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert ndcg_at_k((1,), 1) == recall_at_k((1,), 1) == 1
    assert ndcg_at_k((None, None), 5) == 0


def test_ndcg_equals_a_plain_sum_and_stays_below_1() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        ranked = rng.permutation(20)[: rng.integers(1, 20)].tolist()
        relevant = rng.choice(30, size=rng.integers(1, 8), replace=False).tolist()
        k = int(rng.integers(1, 25))
        gains = [float(item in relevant) for item in ranked[:k]]
        gain = sum(g / math.log2(place + 2) for place, g in enumerate(gains))
        ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))
        assert ndcg_at_k(ranks_of(ranked, relevant), k) == pytest.approx(gain / ideal)
        shared_ranks = [int(rank) for rank in rng.integers(1, 4, size=5)]
        assert 0 <= ndcg_at_k(shared_ranks, k) <= 1
    assert ndcg_at_k((1, 1, 1), 5) == 1
    assert ndcg_at_k((2, 2), 2) == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


def test_impossible_rankings_are_refused() -> None:
    for measure in (recall_at_k, ndcg_at_k, hit_at_k):
        with pytest.raises(ScoringError):
            measure((), 3)
        with pytest.raises(ConfigError):
            measure((1,), 0)
    with pytest.raises(ScoringError):
        reciprocal_rank(())


def test_ranks_of_evidence_are_of_the_evidence_and_not_of_the_chunks() -> None:
    gold = [GoldSpan("d", 0, 10), GoldSpan("d", 20, 30), GoldSpan("d", 90, 95)]
    ranked = [ChunkSpan("e", 0, 99, ""), ChunkSpan("d", 5, 30, ""), ChunkSpan("d", 0, 10, "")]
    assert gold_ranks(ranked, gold) == (3, 2, None)
    assert gold_ranks(ranked, gold, share=0.5) == (2, 2, None)


def dropped_chunks(chunks: list[ChunkSpan]) -> list[ChunkSpan]:
    return [chunk for at, chunk in enumerate(chunks) if at % 4 != 1]


def dropped_tails(chunks: list[ChunkSpan]) -> list[ChunkSpan]:
    return [
        ChunkSpan(c.doc_id, c.start, c.start + (n := max(1, (c.end - c.start) * 7 // 10)), c.text[:n]) for c in chunks
    ]


def dropped_heads(chunks: list[ChunkSpan]) -> list[ChunkSpan]:
    return [ChunkSpan(c.doc_id, c.start + (n := (c.end - c.start) * 3 // 10), c.end, c.text[n:]) for c in chunks]


def planted(language: str) -> tuple[dict[str, str], list[tuple[str, GoldSpan, str]]]:
    """Documents of sentences about numbered things, and a question about each sentence."""
    documents, questions = {}, []
    for d in range(12):
        text = ""
        for s in range(40):
            name, value = f"{chr(65 + d)}{s * 7 + d}", f"{(d * 41 + s * 13) % 900 + 100}"
            sentence = {"zh": f"设备{name}的压力是{value}巴。", "en": f"The pressure of unit {name} is {value} bar. "}[
                language
            ]
            questions.append((name, GoldSpan(f"d{d}", len(text), len(text) + len(sentence.rstrip())), value))
            text += sentence
        documents[f"d{d}"] = text
    return documents, questions


def measured(
    chunks: list[ChunkSpan], questions: list[tuple[str, GoldSpan, str]], documents: dict[str, str]
) -> Counter[str]:
    means: Counter[str] = Counter()
    chunks = with_reach(trimmed_chunks(chunks, documents), documents)
    for name, gold, value in questions:
        word = re.compile(rf"{name}(?!\d)")
        ranked = sorted(chunks, key=lambda c: (not word.search(c.text), c.doc_id != gold.doc_id, c.start))[:30]
        hit = answer_in_budget(ranked, value, {gold.doc_id}, 60)
        ranks = gold_ranks(ranked, [gold])
        numbers = {
            **evidence_overlap(ranked, [gold])._asdict(),
            "omega": precision_omega(chunks, [gold]),
            "recall_budget": recall_at_budget(ranked, [gold], 200),
            **hit._asdict(),
            "whole": answer_is_whole(chunks, value, {gold.doc_id}),
            "in_context": float(any(answer_in_text(value, chunk.text) for chunk in ranked[:3])),
            "recall_at_k": recall_at_k(ranks, 5),
            "mrr": reciprocal_rank(ranks),
            "ndcg": ndcg_at_k(ranks, 10),
        }
        means.update({metric: number / len(questions) for metric, number in numbers.items()})
    return means


@pytest.mark.parametrize("drop", [dropped_chunks, dropped_tails, dropped_heads])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_chunker_that_drops_text_scores_lower(
    language: str, drop: Callable[[list[ChunkSpan]], list[ChunkSpan]]
) -> None:
    documents, questions = planted(language)
    size = {"zh": 45, "en": 100}[language]
    whole = [
        ChunkSpan(doc_id, at, min(at + size, len(text)), text[at : at + size])
        for doc_id, text in documents.items()
        for at in range(0, len(text), size)
    ]
    assert coverage(whole, documents) == 1
    assert coverage(drop(whole), documents) < 0.8
    full, less = measured(whole, questions, documents), measured(drop(whole), questions, documents)
    assert {metric for metric in full if less[metric] >= full[metric]} == set()


def test_lost_text_is_charged_to_the_chunks_beside_it() -> None:
    documents = {"d": "0123456789 0123456789 0123456789", "e": "abc"}
    chunks = [
        ChunkSpan("d", 2, 10, ""),
        ChunkSpan("d", 11, 17, ""),
        ChunkSpan("d", 14, 18, ""),
        ChunkSpan("d", 22, 32, ""),
    ]
    chunks = [chunk._replace(text=documents["d"][chunk.start : chunk.end]) for chunk in chunks]
    charged = with_reach(chunks, documents)
    assert [chunk.charged for chunk in charged] == [(0, 10), (11, 17), (14, 22), (18, 32)]
    gold = [GoldSpan("d", 16, 20)]
    assert precision_omega(chunks, gold) == 2 / (7 + 2)
    assert precision_omega(charged, gold) == 2 / (32 - 11)
    assert evidence_overlap(charged[2:], gold) == Overlap(0.5, 2 / (8 + 14), 2 / (8 + 14 + 2))
    assert recall_at_budget(charged, gold, 99) == recall_at_budget(chunks, gold, 99) == 0.5
