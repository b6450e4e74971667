"""GutenQA: books of Project Gutenberg with 30 questions each, of LumberChunker (MIT).

Published form: ``GutenQA.parquet`` (Book ID, Chunk ID, Chunk) and ``questions.parquet`` (Book ID, Question, Answer,
Chunk Must Contain). A book is its passages, one after the other. What a chunk must contain is looked for without
regard to white space and to the form of quotation marks; a question whose passage is not in its book has no evidence,
is counted in the notes, and stays out for every method.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qchunker.alignment import FoldedText
from qchunker.bench.dataset import BenchQuestion, BenchSet, document_of, field_of, missing_file
from qchunker.bench.metrics.spans import GoldSpan
from qchunker.errors import InputError, MissingExtraError

WHERE = "huggingface.co/datasets/LumberChunker/GutenQA"


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder; ``split`` is the name of one book, None all of them.

    Raises:
        InputError: if its files are missing or broken.
        MissingExtraError: if pyarrow is not installed.
    """
    passages, asked = path / "GutenQA.parquet", path / "questions.parquet"
    if not passages.is_file() or not asked.is_file():
        raise missing_file("gutenqa", path, [passages.name + " and " + asked.name], WHERE)
    parts: dict[str, list[tuple[int, str]]] = {}
    for row in _rows(passages, split):
        where = f"{passages}, book {row.get('Book ID')}"
        parts.setdefault(_id(row), []).append((field_of(row, "Chunk ID", where, int), field_of(row, "Chunk", where)))
    texts = {doc_id: "\n\n".join(text for _, text in sorted(found)) for doc_id, found in parts.items()}
    folded = {doc_id: FoldedText(text) for doc_id, text in texts.items()}
    questions, lost = [], 0
    for number, row in enumerate(_rows(asked, split)):
        where, doc_id = f"{asked}, question {number + 1}", _id(row)
        wanted = field_of(row, "Chunk Must Contain", where)
        span = folded[doc_id].find(wanted) if doc_id in folded else None
        if span is None:
            lost += 1
            continue
        answer = field_of(row, "Answer", where)
        questions.append(BenchQuestion(f"guten-{number:04}", field_of(row, "Question", where), doc_id,
                                       (GoldSpan(doc_id, *span),), (answer,), frozenset({doc_id})))  # fmt: skip
    notes = (f"{lost} questions whose passage is in no book",) if lost else ()
    documents = tuple(document_of(doc_id, text) for doc_id, text in texts.items())
    return BenchSet("gutenqa", documents, tuple(questions), "MIT", primary="recall_4000", notes=notes)


def _id(row: dict[str, Any]) -> str:
    return f"book-{row.get('Book ID')}"


def _rows(file: Path, book: str | None) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet") from error
    try:
        rows = pyarrow.parquet.read_table(file).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    return (row for row in rows if book is None or row.get("Book Name") == book)
