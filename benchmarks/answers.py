"""Answers without a language model: how often their sentences hold the evidence.

    python benchmarks/answers.py --bench FOLDER --set chroma

FOLDER as for segmentation.py. The documents of the set are chunked and indexed by the defaults; every development
question is asked. A sentence is right where it overlaps the evidence (chroma, drcd) or has the answer in its words
(crud). ``any``: a sentence is right, ``first``: the first one is, ``share``: of the sentences that are right;
unanswered questions count as wrong in the first two.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from retrieval import _rows, indexed
from segmentation import SIZES, RememberingEmbedder

import qchunker
from qchunker.answering.answer import Answer
from qchunker.answering.extract import extracted
from qchunker.indexing.snapshot import Snapshot
from qchunker.pipeline import DEBATE
from qchunker.retrieval.search import search
from qchunker.rows import chunk_rows


def snapshot_of_set(data: Path, set_: str, embedder: RememberingEmbedder) -> Snapshot:
    rows = []
    for row in _rows(data / set_ / "docs.jsonl"):
        result = qchunker.chunk(qchunker.from_text(row["text"], doc_id=row["doc_id"]), method=DEBATE)
        rows += [json.loads(json.dumps(one)) for one in chunk_rows(result)]
    return indexed(rows, embedder, sentences=False)


def right_sentences(question: dict[str, Any], answer: Answer, set_: str) -> list[bool]:
    return [_is_right(question, answer, at, set_) for at in range(len(answer.sentences))]


def _is_right(question: dict[str, Any], answer: Answer, at: int, set_: str) -> bool:
    sentence = answer.sentences[at]
    if set_ == "crud":
        return _words(question["answer"]) in _words(sentence.text)
    row = answer.hits[sentence.hits[0] - 1].row
    span = sentence.span or (0, 0)
    refs = [question["answer_span"]] if set_ == "drcd" else question["refs"]
    return row["doc_id"] == question["doc_id"] and any(span[0] < end and start < span[1] for start, end in refs)


def _words(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def measured(
    questions: list[dict[str, Any]], snapshot: Snapshot, embedder: RememberingEmbedder, set_: str
) -> dict[str, float]:
    answers = [
        extracted(one["question"], search(snapshot, one["question"], embedder, 6), embedder, snapshot.bm25)
        for one in questions
    ]
    right = [right_sentences(question, answer, set_) for question, answer in zip(questions, answers, strict=True)]
    given = [one for one in right if one]
    return {
        "answered": len(given) / len(right),
        "first": float(np.mean([bool(one) and one[0] for one in right])),
        "any": float(np.mean([any(one) for one in right])),
        "share": float(np.mean([np.mean(one) for one in given])),
        "sentences": float(np.mean([len(one) for one in given])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(SIZES), required=True)
    arguments = parser.parse_args()
    data, embedder = arguments.bench / "data", RememberingEmbedder()
    questions = [row for row in _rows(data / arguments.set / "questions.jsonl") if row.get("split", "dev") == "dev"]
    found = measured(questions, snapshot_of_set(data, arguments.set, embedder), embedder, arguments.set)
    print(
        f"{arguments.set}: {len(questions)} questions;",
        ", ".join(f"{name} {value:.3f}" for name, value in found.items()),
    )


if __name__ == "__main__":
    main()
