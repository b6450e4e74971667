"""DRCD: Wikipedia paragraphs in traditional Chinese, with questions and answers in them (CC BY-SA 3.0).

Published form: ``DRCD_*.json`` (data, paragraphs, qas, as SQuAD); an article is its paragraphs, one per line, and the
evidence is the sentence that holds the answer. Prepared form: ``docs.jsonl`` and ``questions.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qchunker.bench.dataset import BenchQuestion, BenchSet, document_of, field_of, missing_file, read_json
from qchunker.bench.datasets.prepared import has_prepared, prepared
from qchunker.bench.metrics.spans import GoldSpan
from qchunker.errors import InputError
from qchunker.sentences import sentence_spans
from qchunker.types import Document

WHERE = "github.com/DRCKnowledgeTeam/DRCD: DRCD_training.json, DRCD_dev.json, DRCD_test.json"
LICENCE = "CC BY-SA 3.0"
BUDGETS = (500, 1000, 2000)


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder; of the published files, ``split`` is training, dev or test.

    Raises:
        InputError: if its files are missing or broken.
    """
    if has_prepared(path):
        documents, questions = prepared(path, split)
    elif (file := path / f"DRCD_{split or 'dev'}.json").is_file():
        documents, questions = _published(file)
    else:
        raise missing_file("drcd", path, ["DRCD_dev.json", "docs.jsonl and questions.jsonl"], WHERE)
    return BenchSet("drcd", documents, questions, LICENCE, budgets=BUDGETS, primary="recall_2000")


def _published(file: Path) -> tuple[tuple[Document, ...], tuple[BenchQuestion, ...]]:
    documents: list[Document] = []
    questions: list[BenchQuestion] = []
    for article in field_of(read_json(file), "data", str(file), list):
        doc_id, where = field_of(article, "id", str(file)), f"{file}, article {article.get('id')}"
        paragraphs = field_of(article, "paragraphs", where, list)
        texts = [field_of(one, "context", where) for one in paragraphs]
        documents.append(document_of(doc_id, "\n".join(texts)))
        at = 0
        for paragraph, text in zip(paragraphs, texts, strict=True):
            questions.extend(_questions(paragraph, text, at, doc_id, where))
            at += len(text) + 1
    return tuple(documents), tuple(questions)


def _questions(paragraph: Any, text: str, at: int, doc_id: str, where: str) -> Iterator[BenchQuestion]:
    sentences = sentence_spans(text)
    for asked in field_of(paragraph, "qas", where, list):
        place = f"{where}, question {asked.get('id')}"
        answers = field_of(asked, "answers", place, list)
        first = answers[0] if answers else {}
        start, answer = field_of(first, "answer_start", place, int), field_of(first, "text", place)
        if text[start : start + len(answer)] != answer:
            raise InputError(f"{place}: the answer is not at {start}")
        held = [span for span in sentences if span[0] < start + len(answer) and start < span[1]]
        gold = GoldSpan(doc_id, at + held[0][0], at + held[-1][1])
        yield BenchQuestion(
            field_of(asked, "id", place), field_of(asked, "question", place), doc_id, (gold,), (answer,)
        )
