"""Chunks and documents as rows, and rows in files: JSON lines, Parquet, Markdown. Written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from qchunker.debate.offline.segmenter import Boundary
from qchunker.errors import ConfigError, InputError, MissingExtraError, OutputError
from qchunker.types import Chunk, Document, Partition, Review, Span

Row = dict[str, Any]
_SHOWN_CHARS = 40
Writer = Callable[[Sequence[Row]], None]


def chunk_rows(partition: Partition) -> list[Row]:
    """One row per chunk, every field present; ``refused`` only where something was."""
    return [
        _chunk_row(chunk, partition) | ({"refused": [one._asdict() for one in chunk.refused]} if chunk.refused else {})
        for chunk in partition.chunks
    ]


def _chunk_row(chunk: Chunk, partition: Partition) -> Row:
    document = partition.document
    return {
        "chunk_id": chunk.id,
        "doc_id": document.id,
        "source": document.source,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "kind": chunk.kind,
        "heading_path": list(chunk.heading_path),
        "page": chunk.page,
        "cut": chunk.cut,
        "lead_in": list(chunk.lead_in) if chunk.lead_in is not None else None,
        "context": _pairs(chunk.context),
        "question": chunk.question,
        "completed_text": chunk.completed_text,
        "added": [
            {
                "text": one.text,
                "kind": one.kind,
                "evidence": _pairs(one.evidence),
                "at": one.at,
                "is_embedded": one.is_embedded,
            }
            | ({} if one.until is None else {"until": one.until})
            for one in chunk.added
        ],
        "links": [
            {"kind": link.kind, "target": link.target, "evidence": _pairs(link.evidence)} for link in chunk.links
        ],
        "embedding_text": chunk.embedding_text,
        "oversize": chunk.oversize,
        "method": partition.method,
        "signature": partition.signature,
    }


def review_rows(document: Document, reviews: Sequence[Review]) -> list[Row]:
    """One row per chunk: what it lacks, and where its document says it."""
    return [
        {
            "doc_id": document.id,
            "start": one.start,
            "end": one.end,
            "needs_completion": one.needs_completion,
            "missing": [
                {"kind": gap.kind, "surface": list(gap.surface), "text": gap.text, "evidence": _pairs(gap.evidence),
                 "necessity": gap.necessity}
                for gap in one.missing
            ],
        }
        for one in reviews
    ]  # fmt: skip


def boundary_rows(partition: Partition, boundaries: Sequence[Boundary]) -> list[Row]:
    """One row per possible cut: where it is, whether a chunk starts there, and the weighted evidence."""
    text, doc_id = partition.document.text, partition.document.id
    return [
        {"doc_id": doc_id, "start": one.start, "is_cut": one.is_cut, "total": round(one.total, 4)}
        | {name: round(value, 4) for name, value in one.evidence.items()}
        | {"after": " ".join(text[one.start : one.start + _SHOWN_CHARS].split())}
        for one in boundaries
    ]


def document_row(document: Document) -> Row:
    """The text that all spans point into, with its blocks."""
    return {
        "doc_id": document.id,
        "source": document.source,
        "media_type": document.media_type,
        "metadata": dict(document.metadata),
        "text": document.text,
        "blocks": [
            {
                "kind": block.kind,
                "start": block.start,
                "end": block.end,
                "heading_path": list(block.heading_path),
                "level": block.level,
                "header": list(block.header) if block.header is not None else None,
                "page": document.page_at(block.start),
            }
            for block in document.blocks
        ],
    }


def _pairs(spans: Sequence[Span]) -> list[list[int]]:
    return [list(span) for span in spans]


def read_rows(path: str, needed: Sequence[str]) -> list[Row]:
    """Rows of a JSON lines file.

    Raises:
        InputError: if the file cannot be read, a line is not an object, or a needed field is missing.
    """
    rows: list[Row] = []
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    rows.append(_checked(_parsed(line, f"{path}:{number}"), needed, f"{path}:{number}"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not JSON lines: {error}", hint="one JSON object per line, in UTF-8") from error
    return rows


def _parsed(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"{where}: not JSON: {reason}", hint="one JSON object per line, in UTF-8") from error


def _checked(row: Any, needed: Sequence[str], where: str) -> Row:
    if not isinstance(row, dict):
        raise InputError(f"{where}: the row is not an object")
    missing = [field for field in needed if field not in row]
    if missing:
        raise InputError(f"{where}: the row lacks {', '.join(missing)}")
    for name in {"start", "end"}.intersection(needed):
        if type(row[name]) is not int:
            raise InputError(f"{where}: {name} is {row[name]!r}, not a whole number")
    return row


@contextmanager
def open_rows(path: str | None, stream: IO[str], option: str = "output") -> Iterator[Writer]:
    """A function that takes rows and writes them to ``path``, or to ``stream`` when there is no path or it is ``-``.

    The file appears under its name when everything is written; a run that dies leaves the old one.

    Raises:
        ConfigError: if the ending of the path is not .jsonl, .parquet or .md.
        MissingExtraError: if Parquet is asked for and pyarrow is not installed.
        OutputError: if the file cannot be written.
    """
    if path is None or path == "-":
        yield lambda rows: stream.writelines(_line(row) for row in rows)
        return
    openers = _OPENERS if option == "output" else {".jsonl": _open_jsonl}
    opener = openers.get(Path(path).suffix.lower())
    if opener is None:
        raise ConfigError(option, f"{path}: unknown ending", hint=f"use {', '.join(openers)}")
    with _whole_file(path) as temporary, opener(temporary) as write:
        yield write


@contextmanager
def _whole_file(path: str) -> Iterator[str]:
    """A temporary name beside ``path`` that takes its place when the body ends well."""
    folder = Path(path).parent
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{Path(path).name}.", dir=folder)
        os.close(handle)
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


@contextmanager
def _open_jsonl(path: str) -> Iterator[Writer]:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        yield lambda rows: file.writelines(_line(row) for row in rows)


@contextmanager
def _open_markdown(path: str) -> Iterator[Writer]:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        yield lambda rows: file.writelines(_markdown(rows))


def _markdown(rows: Sequence[Row]) -> Iterator[str]:
    """Chunks for reading, each in a fence that its own text cannot close."""
    for index, row in enumerate(rows):
        if index == 0:
            yield f"# {row.get('source') or row['doc_id']}\n\n"
        path = " > ".join(row.get("heading_path") or ()) or "(no heading)"
        yield f"## {row.get('chunk_id', index)}\n\n{path}\n\n"
        if row.get("question"):
            yield f"*{' '.join(str(row['question']).split())}*\n\n"
        text = row.get("completed_text") or row.get("text", "")
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        yield f"{fence}text\n{text}\n{fence}\n\n"


@contextmanager
def _open_parquet(path: str) -> Iterator[Writer]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "writing Parquet") from error
    pair = pyarrow.list_(pyarrow.int64())
    text, texts, pairs = pyarrow.string(), pyarrow.list_(pyarrow.string()), pyarrow.list_(pair)
    link = pyarrow.struct([("kind", text), ("target", text), ("evidence", pairs)])
    added = pyarrow.struct(
        [("text", text), ("kind", text), ("evidence", pairs), ("at", pyarrow.int64()), ("is_embedded", pyarrow.bool_())]
    )
    special = {
        "start": pyarrow.int64(), "end": pyarrow.int64(), "page": pyarrow.int64(), "heading_path": texts,
        "lead_in": pair, "context": pairs, "links": pyarrow.list_(link), "added": pyarrow.list_(added),
    }  # fmt: skip
    schema = pyarrow.schema([(name, special.get(name, text)) for name in CHUNK_FIELDS])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        yield lambda rows: writer.write_table(pyarrow.Table.from_pylist(list(rows), schema=schema))


_MAX_GAP_CHARS = 5_000_000
CHUNK_FIELDS = (
    "chunk_id", "doc_id", "source", "start", "end", "text", "kind", "heading_path", "page", "cut", "lead_in", "context",
    "question", "completed_text", "added", "links", "embedding_text", "oversize", "method", "signature",
)  # fmt: skip
_OPENERS = {".jsonl": _open_jsonl, ".parquet": _open_parquet, ".md": _open_markdown}


def texts_of_chunks(rows: Sequence[Row]) -> list[Row]:
    """Document rows rebuilt from chunk rows that carry their text; what lies between chunks is unknown and blank.

    Raises:
        InputError: if a row has no text.
    """
    parts: dict[str, list[str]] = {}
    lengths: dict[str, int] = {}
    sources: dict[str, str] = {}
    order = {doc_id: place for place, doc_id in enumerate(dict.fromkeys(row["doc_id"] for row in rows))}
    for row in sorted(rows, key=lambda row: (order[row["doc_id"]], row["start"], row["end"])):
        if "text" not in row:
            raise InputError("the chunks carry no text", hint="give the texts with --documents")
        doc_id, length = row["doc_id"], lengths.get(row["doc_id"], 0)
        gap = row["start"] - length
        if not isinstance(row["text"], str) or gap > _MAX_GAP_CHARS:
            raise InputError(f"{doc_id}: a chunk without text, or far outside", hint="give the texts with --documents")
        piece = "\n" * gap + row["text"] if gap >= 0 else row["text"][-gap:]
        parts.setdefault(doc_id, []).append(piece)
        lengths[doc_id] = length + len(piece)
        sources.setdefault(doc_id, row.get("source") or str(doc_id))
    return [{"doc_id": key, "source": sources[key], "text": "".join(pieces)} for key, pieces in parts.items()]


def write_text(path: str, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        OutputError: if the file cannot be written.
    """
    with _whole_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
