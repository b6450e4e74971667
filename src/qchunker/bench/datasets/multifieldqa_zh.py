"""MultiFieldQA (Chinese) of LongBench: long documents of many fields, one question and short answers each.

Published form: ``multifieldqa_zh.jsonl`` with ``input``, ``context``, ``answers`` and ``_id``. All contexts are pooled
into one collection, so a question must find its document too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from qchunker.bench.dataset import (
    TOKENS,
    BenchQuestion,
    BenchSet,
    document_of,
    field_of,
    missing_file,
    read_json_lines,
)
from qchunker.errors import InputError

FILE = "multifieldqa_zh.jsonl"
WHERE = "huggingface.co/datasets/THUDM/LongBench: data.zip"
BUDGETS = (356, 712, 1424)


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder; it has no splits.

    Raises:
        InputError: if its file is missing or broken.
    """
    file = path / FILE
    if not file.is_file():
        raise missing_file("multifieldqa_zh", path, [FILE], WHERE)
    texts: dict[str, str] = {}
    questions = []
    for number, row in enumerate(read_json_lines(file), 1):
        where = f"{file}, row {number}"
        text = field_of(row, "context", where)
        doc_id = f"mfqa-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
        texts[doc_id] = text
        answers = tuple(field_of(row, "answers", where, list))
        if not answers or not all(isinstance(one, str) and one.strip() for one in answers):
            raise InputError(f"{where}: answers must be texts")
        name = str(row.get("_id") or number)
        questions.append(BenchQuestion(name, field_of(row, "input", where), doc_id, (), answers, frozenset({doc_id})))
    documents = tuple(document_of(doc_id, text) for doc_id, text in texts.items())
    return BenchSet("multifieldqa_zh", documents, tuple(questions), "MIT (code)", TOKENS, BUDGETS, primary="hit_1424")
