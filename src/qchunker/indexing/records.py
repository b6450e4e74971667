"""From chunks and question-answer pairs to what a store keeps: entries with vectors, tokens and a payload."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from qchunker.config import VECTOR_ROLES
from qchunker.errors import InputError
from qchunker.indexing.entry import Entry
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.models.embedder import Embedder, Vectors
from qchunker.sentences import sentence_spans

Row = Mapping[str, Any]
BODY, QUESTION, SENTENCE, ANSWER, VARIANT = ROLES = VECTOR_ROLES
"""What a vector of a record stands for. ``question`` is what a chunk answers; ``variant`` is a wording of the question
of a question-answer pair, the first one its own."""

CHUNK, QA = "chunk", "qa"
_CELL_END = re.compile(r'("[^"]*")|,')
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
        rows: with ``qa_id``, ``doc_id``, ``question`` and ``answer``; ``full_answer``, ``summary``, ``variants``,
            ``source``, ``start``, ``end`` and others are optional. All fields stay in the payload.
        embedder: for the vectors.

    Raises:
        InputError: if a field is missing or blank.
    """
    records, wanted = [], []
    for given in rows:
        row = _well_formed(given, "a question-answer pair")
        for name in ("qa_id", "doc_id", "question", "answer"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise InputError(f"question-answer pair {row.get('qa_id')!r}: {name} is missing or blank")
        text = f"{row['question']}\n{row['answer']}"
        record = dict(row) | {"record": QA, "record_id": f"{row['doc_id']}#{row['qa_id']}", "embedding_text": text}
        records.append(record)
        place = len(records) - 1
        wanted.append((place, BODY, text))
        wanted.append((place, ANSWER, row["answer"]))
        wordings = [row["question"], *(words for words in row.get("variants") or () if words.strip())]
        wanted.extend((place, VARIANT, words) for words in wordings)
    return list(_entries(records, wanted, embedder))


_MOST = 1 << 53


def _is_position(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_path(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _are_links(value: object) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(one, Mapping) and isinstance(one.get("kind"), str) and isinstance(one.get("target"), str)
        for one in value
    )


# What a field must be where it is given and not null.
_FIELDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "doc_id": ("text", lambda value: isinstance(value, str) and bool(value)),
    "chunk_id": ("text", lambda value: isinstance(value, str) and bool(value)),
    "source": ("text", lambda value: isinstance(value, str)),
    "start": ("a whole number", _is_position),
    "end": ("a whole number", _is_position),
    "page": ("a whole number", lambda value: _is_position(value) and int(str(value)) < 1 << 31),
    "text": ("text", lambda value: isinstance(value, str)),
    "completed_text": ("text", lambda value: isinstance(value, str)),
    "embedding_text": ("text", lambda value: isinstance(value, str)),
    "question": ("text", lambda value: isinstance(value, str)),
    "summary": ("text", lambda value: isinstance(value, str)),
    "full_answer": ("text", lambda value: isinstance(value, str)),
    "heading_path": ("a list of texts", _is_path),
    "variants": ("a list of texts", _is_path),
    "links": ("a list of {kind, target}", _are_links),
    "metadata": ("an object", lambda value: isinstance(value, Mapping)),
}


def _well_formed(row: object, name: str) -> dict[str, Any]:
    """The row with fields of the right types; nothing that a search would stumble over comes into an index.

    Raises:
        InputError: naming the field.
    """
    if not isinstance(row, Mapping):
        raise InputError(f"{name}: the row is no object but {type(row).__name__}")
    name = f"{name} {row.get('chunk_id') or row.get('qa_id') or ''}".rstrip()
    for field, (what, holds) in _FIELDS.items():
        if row.get(field) is not None and not holds(row[field]):
            raise InputError(f"{name}: {field} must be {what}, got {row[field]!r:.60}")
    made = {key: value for key, value in row.items() if value is not None or key not in ("metadata", "links")}
    made["metadata"] = {str(key): str(value) for key, value in (row.get("metadata") or {}).items()}
    try:
        json.dumps(made, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: cannot be stored: {error}") from error
    return made


def _checked(chunk: Row) -> dict[str, Any]:
    row = _well_formed(chunk, "a chunk")
    text = row.get("embedding_text") or row.get("completed_text") or row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the chunk {row.get('chunk_id')!r} has no text", hint="give the texts with --documents")
    for name in ("doc_id", "start", "end"):
        if row.get(name) is None:
            raise InputError(f"a chunk lacks {name}", hint="rows are {doc_id, start, end, text}")
    # Ids of other tools may be numbers that start anew in every document.
    given = row.get("chunk_id") or f"{row['start']}-{row['end']}"
    record_id = given if given.startswith(row["doc_id"]) else f"{row['doc_id']}:{given}"
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
            tokens=" ".join(lexical_tokens(lexical_text(record))) if is_body else "",
            payload=json.dumps(record, ensure_ascii=False) if is_body else "",
        )


def lexical_text(record: Row) -> str:
    """The text of a record as its words are found; the cells of a CSV line are parted, so that ``A-17,300`` is two."""
    text = str(record["embedding_text"])
    if record.get("kind") != "record":
        return text
    return _CELL_END.sub(lambda match: match[1] or ", ", text)


def _encoded(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """A vector per text; equal texts are encoded once."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    vectors = embedder.encode(list(rows))
    return np.ascontiguousarray(vectors[[rows[text] for text in texts]]) if texts else vectors
