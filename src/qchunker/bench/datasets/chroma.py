"""Chroma's chunking evaluation: long English texts, questions, and the exact excerpts that answer them (MIT).

Published form: ``questions_df.csv`` (question, references, corpus_id) and ``corpora/*.md``; prepared form:
``docs.jsonl`` and ``questions.jsonl``.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from qchunker.bench.dataset import BenchQuestion, BenchSet, document_of, missing_file
from qchunker.bench.datasets.prepared import has_prepared, prepared
from qchunker.bench.metrics.spans import GoldSpan
from qchunker.errors import InputError
from qchunker.types import Document

WHERE = "github.com/brandonstarxel/chunking_evaluation, folder evaluation_framework/general_evaluation_data"
LICENCE = "MIT"
BUDGETS = (2000, 4000, 8000)


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder.

    Raises:
        InputError: if its files are missing or broken.
    """
    if has_prepared(path):
        documents, questions = prepared(path, split)
    elif (path / "questions_df.csv").is_file():
        documents, questions = _published(path)
    else:
        raise missing_file(
            "chroma", path, ["questions_df.csv and corpora/*.md", "docs.jsonl and questions.jsonl"], WHERE
        )
    # Every question of a long text is a cluster of its own: the texts are too few to resample.
    questions = tuple(BenchQuestion(one.id, one.text, one.id, one.evidence, one.answers) for one in questions)
    return BenchSet("chroma", documents, questions, LICENCE, budgets=BUDGETS, primary="recall_4000")


def _published(path: Path) -> tuple[tuple[Document, ...], tuple[BenchQuestion, ...]]:
    texts = {file.stem: _text(file) for file in sorted((path / "corpora").glob("*.md"))}
    questions = []
    csv.field_size_limit(1 << 24)
    for number, row in enumerate(csv.DictReader(io.StringIO(_text(path / "questions_df.csv")))):
        where = f"{path / 'questions_df.csv'}, question {number + 1}"
        try:
            corpus, references = row["corpus_id"], json.loads(row["references"])
            gold = tuple(GoldSpan(corpus, int(one["start_index"]), int(one["end_index"])) for one in references)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{where}: needs question, references and corpus_id: {error}") from error
        questions.append(BenchQuestion(f"chroma-{number:04}", row["question"], corpus, gold))
    return tuple(document_of(name, text) for name, text in texts.items()), tuple(questions)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:  # offsets count every character
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
