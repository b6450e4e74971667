"""From chunks and question-answer pairs to what a store keeps: entries with vectors, tokens and a payload."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from qchunker.errors import InputError
from qchunker.indexing.entry import Entry
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.models.embedder import Embedder, Vectors
from qchunker.sentences import sentence_spans

Row = Mapping[str, Any]
BODY, QUESTION, SENTENCE, ANSWER, VARIANT = ROLES = ("body", "question", "sentence", "answer", "variant")
"""What a vector of a record stands for. ``question`` is what a chunk answers; ``variant`` is a wording of the question
of a question-answer pair, the first one its own."""

CHUNK, QA = "chunk", "qa"
_LEAST_SENTENCE = 8  # characters; shorter ones say nothing


def chunk_entries(rows: Sequence[Row], embedder: Embedder, *, sentences: bool = False) -> list[Entry]:
    """Entries of the chunks of one document: a vector of the text and, where there is one, of its question.

    Args:
        rows: of chunks, as ``rows.chunk_rows`` makes them; those of other tools need ``doc_id``, ``start``, ``end`` and
            ``text``.
        embedder: for the vectors.
        sentences: whether every sentence gets a vector too, so that a chunk can be found by its best one.

    Raises:
        InputError: if a row has no text.
    """
    records, wanted = [], []
    for row in rows:
        record = _checked(row)
        records.append(record)
        place = len(records) - 1
        wanted.append((place, BODY, record["embedding_text"]))
        if record.get("question"):
            wanted.append((place, QUESTION, record["question"]))
        if sentences:
            text = record["text"]
            found = [text[start:end] for start, end in sentence_spans(text) if end - start >= _LEAST_SENTENCE]
            wanted.extend((place, SENTENCE, sentence) for sentence in found if len(found) > 1)
    return list(_entries(records, wanted, embedder))


def qa_entries(rows: Sequence[Row], embedder: Embedder) -> list[Entry]:
    """Entries of question-answer pairs of one document: vectors of both together, of the answer, of every wording.

    Args:
        rows: with ``qa_id``, ``doc_id``, ``question`` and ``answer``; ``summary``, ``variants``, ``source``, ``start``
            and ``end`` are optional. All fields stay in the payload.
        embedder: for the vectors.

    Raises:
        InputError: if a field is missing or blank.
    """
    records, wanted = [], []
    for row in rows:
        for name in ("qa_id", "doc_id", "question", "answer"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise InputError(f"question-answer pair {row.get('qa_id')!r}: {name} is missing or blank")
        text = f"{row['question']}\n{row.get('summary') or row['answer']}"
        record = dict(row) | {"record": QA, "record_id": row["qa_id"], "embedding_text": text}
        records.append(record)
        place = len(records) - 1
        wanted.append((place, BODY, text))
        wanted.append((place, ANSWER, row["answer"]))
        wordings = [row["question"], *(words for words in row.get("variants") or () if words.strip())]
        wanted.extend((place, VARIANT, words) for words in wordings)
    return list(_entries(records, wanted, embedder))


def _checked(row: Row) -> dict[str, Any]:
    text = row.get("embedding_text") or row.get("completed_text") or row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the chunk {row.get('chunk_id')!r} has no text", hint="give the texts with --documents")
    record_id = row.get("chunk_id") or f"{row['doc_id']}:{row['start']}-{row['end']}"
    body = row.get("text") or text
    return dict(row) | {"record": CHUNK, "record_id": str(record_id), "embedding_text": text, "text": body}


def _entries(
    records: Sequence[dict[str, Any]], wanted: Sequence[tuple[int, str, str]], embedder: Embedder
) -> Iterator[Entry]:
    """One entry per wanted vector; those of one record stand together, the body first."""
    vectors = _encoded([text for _, _, text in wanted], embedder)
    counts: dict[tuple[int, str], int] = {}
    for (place, role, _), vector in zip(wanted, vectors, strict=True):
        record = records[place]
        number = counts[place, role] = counts.get((place, role), -1) + 1
        is_body = role == BODY
        yield Entry(
            id=record["record_id"] if is_body else f"{record['record_id']}#{role}-{number}",
            record_id=record["record_id"],
            doc_id=record["doc_id"],
            role=role,
            vector=vector,
            tokens=" ".join(lexical_tokens(record["embedding_text"])) if is_body else "",
            payload=json.dumps(record, ensure_ascii=False) if is_body else "",
        )


def _encoded(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """A vector per text; equal texts are encoded once."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    vectors = embedder.encode(list(rows))
    return np.ascontiguousarray(vectors[[rows[text] for text in texts]]) if texts else vectors
