"""The form in which sets are prepared: ``docs.jsonl`` ({doc_id, text}) and ``questions.jsonl``.

A question has ``qid`` and ``question``, and what answers it: ``refs``, the [start, end) in the document ``doc_id``; or
``gold``, such places by document; or ``answer``. ``event`` or ``doc_id`` name its cluster. ``split`` is optional.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qchunker.bench.dataset import BenchQuestion, document_of, field_of, read_json_lines
from qchunker.bench.metrics.spans import GoldSpan
from qchunker.errors import InputError
from qchunker.types import Document

DOCUMENTS, QUESTIONS = "docs.jsonl", "questions.jsonl"


def has_prepared(path: Path) -> bool:
    """Whether the folder holds a set in this form."""
    return (path / DOCUMENTS).is_file() and (path / QUESTIONS).is_file()


def prepared(path: Path, split: str | None) -> tuple[tuple[Document, ...], tuple[BenchQuestion, ...]]:
    """Documents and questions of a split; None for all.

    Raises:
        InputError: naming file and field, if something is missing or broken.
    """
    where = str(path / DOCUMENTS)
    documents = tuple(
        document_of(field_of(row, "doc_id", where), field_of(row, "text", where))
        for row in _of_split(path / DOCUMENTS, split)
    )
    where = str(path / QUESTIONS)
    questions = tuple(_question(row, f"{where}, {row.get('qid')}") for row in _of_split(path / QUESTIONS, split))
    if not documents or not questions:
        raise InputError(f"{path}: no documents or questions of the split {split!r}", hint="leave split out for all")
    return documents, questions


def _of_split(path: Path, split: str | None) -> Iterator[dict[str, Any]]:
    return (row for row in read_json_lines(path) if split is None or row.get("split", split) == split)


def _question(row: dict[str, Any], where: str) -> BenchQuestion:
    gold = [(field_of(row, "doc_id", where), pair) for pair in row.get("refs") or ()]
    of_documents = row.get("gold") or {}
    if not isinstance(of_documents, dict):
        raise InputError(f"{where}: gold must be an object of places by document")
    answer = row.get("answer")
    if answer is not None and not (isinstance(answer, str) and answer.strip()):
        raise InputError(f"{where}: answer must be text")
    return BenchQuestion(
        field_of(row, "qid", where),
        field_of(row, "question", where),
        str(row.get("event") or row.get("doc_id") or row["qid"]),
        tuple(_span(doc_id, pair, where) for doc_id, pair in gold),
        (answer,) if answer else (),
        frozenset(of_documents) or frozenset(doc_id for doc_id, _ in gold),
    )


def _span(doc_id: str, pair: Any, where: str) -> GoldSpan:
    if not (isinstance(pair, list) and len(pair) == 2 and all(type(one) is int for one in pair)):
        raise InputError(f"{where}: a reference must be [start, end), got {pair!r:.60}")
    return GoldSpan(doc_id, *pair)
