"""The form in which the paper's own sets are published: texts, and questions with answers but without their places.

Texts: JSONL files of {contents} (or text, content), a JSON list of texts, or .txt files. Questions: a JSON list or
JSONL of {question, answer}. Where an answer stands is not known, so that it may stand in any document.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qchunker.bench.dataset import TOKENS, BenchQuestion, BenchSet, document_of, field_of, read_json, read_json_lines
from qchunker.errors import InputError

BUDGETS = (356, 712, 1424)
_TEXT_FIELDS = ("contents", "text", "content", "raw_corpus")


def read(name: str, texts: list[Path], questions: Path, licence: str) -> BenchSet:
    """A set out of files of texts and one of questions.

    Raises:
        InputError: if a file is broken.
    """
    documents = []
    for file in texts:
        for number, text in enumerate(_texts(file)):
            if text.strip():
                documents.append(document_of(f"{file.stem}-{number}", text))
    asked = []
    for number, row in enumerate(_rows(questions)):
        where = f"{questions}, question {number + 1}"
        answer = field_of(row, "answer", where)
        asked.append(BenchQuestion(f"{name}-{number:04}", field_of(row, "question", where), f"{name}-{number:04}", (),
                                   (answer,)))  # fmt: skip
    return BenchSet(name, tuple(documents), tuple(asked), licence, TOKENS, BUDGETS, primary="answer_recall_1424")


def _texts(file: Path) -> Iterator[str]:
    if file.suffix == ".txt":
        try:
            yield file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file}: cannot be read: {error}") from error
        return
    for number, row in enumerate(_rows(file)):
        if isinstance(row, str):
            yield row
            continue
        name = next((one for one in _TEXT_FIELDS if isinstance(row, dict) and row.get(one)), _TEXT_FIELDS[0])
        yield field_of(row, name, f"{file}, text {number + 1}")


def _rows(file: Path) -> Iterator[Any]:
    if file.suffix == ".jsonl":
        yield from read_json_lines(file)
        return
    rows = read_json(file)
    if not isinstance(rows, list):
        raise InputError(f"{file}: must be a list, got {type(rows).__name__}")
    yield from rows
