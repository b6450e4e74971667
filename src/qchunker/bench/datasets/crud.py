"""CRUD-RAG: Chinese news, with questions over one to three articles (Apache-2.0 by its badge).

Published form: ``split_merged.json``, whose ``questanswer_1doc``, ``_2docs`` and ``_3docs`` hold event, news1 to news3,
questions and answers. The articles of its questions are the documents: the larger collection leaves them out on
purpose. Prepared form: ``docs.jsonl`` and ``questions.jsonl``, with the documents that hold each answer.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from qchunker.bench.dataset import (
    TOKENS,
    BenchQuestion,
    BenchSet,
    document_of,
    field_of,
    missing_file,
    read_json,
)
from qchunker.bench.datasets.prepared import has_prepared, prepared
from qchunker.types import Document

WHERE = "github.com/IAAR-Shanghai/CRUD_RAG: data/crud_split/split_merged.json"
LICENCE = "Apache-2.0 (badge)"
BUDGETS = (356, 712, 1424)
TASKS = ("questanswer_1doc", "questanswer_2docs", "questanswer_3docs")


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder; of the published file, ``split`` is one of the three tasks.

    Raises:
        InputError: if its files are missing or broken.
    """
    if has_prepared(path):
        documents, questions = prepared(path, split)
        questions = tuple(
            BenchQuestion(one.id, one.text, one.cluster, (), one.answers, one.documents) for one in questions
        )
    elif (file := path / "split_merged.json").is_file():
        documents, questions = _published(file, split)
    else:
        raise missing_file("crud", path, ["split_merged.json", "docs.jsonl and questions.jsonl"], WHERE)
    return BenchSet("crud", documents, questions, LICENCE, TOKENS, BUDGETS, primary="hit_1424")


def _published(file: Path, split: str | None) -> tuple[tuple[Document, ...], tuple[BenchQuestion, ...]]:
    data = read_json(file)
    texts: dict[str, str] = {}
    questions = []
    for task in TASKS if split is None else (split,):
        for item in field_of(data, task, str(file), list):
            where = f"{file}, {task} {item.get('ID') if isinstance(item, dict) else item!r:.40}"
            news = [item[name] for name in ("news1", "news2", "news3") if isinstance(item, dict) and item.get(name)]
            held = {f"crud-{hashlib.sha256(text.encode()).hexdigest()[:10]}": text for text in news}
            texts |= held
            questions.append(
                BenchQuestion(f"{task}-{field_of(item, 'ID', where)}", _text(item, "questions", where),
                              str(item.get("event") or item["ID"]), (), (_text(item, "answers", where),),
                              frozenset(held))
            )  # fmt: skip
    return tuple(document_of(doc_id, text) for doc_id, text in texts.items()), tuple(questions)


def _text(item: dict[str, Any], name: str, where: str) -> str:
    """Some files have a list of one text."""
    value = item.get(name)
    return str(field_of({name: value[0]} if isinstance(value, list) and value else item, name, where))
