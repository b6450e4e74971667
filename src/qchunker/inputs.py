"""What the caller names - files, folders, patterns, JSONL, standard input - to sources, in a stable order."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from qchunker.errors import InputError, ParseError
from qchunker.parsing import SUFFIXES
from qchunker.parsing.encoding import clean_text
from qchunker.types import Source


class FileInput(NamedTuple):
    """A file to be read when its turn comes."""

    name: str
    path: Path


class TextInput(NamedTuple):
    """A text that is already decoded, with the id its owner gave it."""

    name: str
    text: str
    doc_id: str


class BadInput(NamedTuple):
    """Something in the input that cannot become a document."""

    name: str
    error: InputError


Input = FileInput | TextInput | BadInput | Source


def expand_paths(paths: Iterable[str]) -> tuple[list[FileInput], list[str]]:
    """Files of the given files, folders and patterns: each once, folders sorted, hidden ones left out.

    Returns:
        the files, and the names of files in folders that no parser reads.

    Raises:
        InputError: if a path does not exist or a pattern matches nothing.
    """
    files: dict[str, FileInput] = {}
    skipped: list[str] = []
    for given in paths:
        path = Path(given)
        try:
            exists, is_folder = path.exists(), path.is_dir()
        except (OSError, ValueError) as error:
            raise InputError(f"{given}: not a path: {error}") from error
        if is_folder:
            for found in _walk(path):
                if found.suffix.lower() in SUFFIXES and found.is_file():
                    files.setdefault(_identity(found), FileInput(_name(found), found))
                else:
                    skipped.append(_name(found))
        elif exists:
            files.setdefault(_identity(path), FileInput(_name(path), path))
        else:
            matches = [found for found in sorted(glob.glob(given, recursive=True)) if os.path.exists(found)]
            if not matches:
                raise InputError(f"{given}: no such file, folder or pattern", hint="check the spelling")
            more, also_skipped = expand_paths(matches)
            skipped.extend(also_skipped)
            for item in more:
                files.setdefault(_identity(item.path), item)
    return list(files.values()), skipped


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(parent, name)


def _refuse(error: OSError) -> None:
    """A folder that cannot be read is no empty folder."""
    raise InputError(f"{error.filename}: cannot be read: {error.strerror}", hint="check its permissions") from error


def _identity(path: Path) -> str:
    """The same for all names of one file; links that lead in circles are taken as they are."""
    return os.path.realpath(path)


def _name(path: Path) -> str:
    # Names may hold bytes that are no text; they are shown, never used to open the file.
    return os.fsencode(Path(os.path.normpath(path)).as_posix()).decode("utf-8", "replace")


def read_jsonl(lines: Iterable[str], name: str, seen: set[str] | None = None) -> Iterator[TextInput | BadInput]:
    """Documents of rows ``{doc_id, text, source?}``. A bad row is reported by its line, the others are kept.

    ``seen`` holds the ids so far, of all files of a run; two rows of one id stay two documents.
    """
    seen = set() if seen is None else seen
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            row = json.loads(line.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            yield BadInput(where, ParseError(where, f"not JSON: {error}", hint="each line is one JSON object"))
            continue
        problem = _row_problem(row)
        if problem:
            yield BadInput(where, ParseError(where, problem, hint="rows are {doc_id, text}"))
            continue
        doc_id, _ = clean_text(str(row["doc_id"]))
        unique = next(name for name in _variants(doc_id) if name not in seen)
        seen.add(unique)
        source, _ = clean_text(str(row.get("source") or unique))
        yield TextInput(source, row["text"], unique)


def _variants(doc_id: str) -> Iterator[str]:
    yield doc_id
    yield from (f"{doc_id}#{number}" for number in count(2))


def _row_problem(row: Any) -> str:
    if not isinstance(row, dict):
        return "the row is not an object"
    for field, kinds in (("doc_id", (str, int)), ("text", (str,))):
        if not isinstance(row.get(field), kinds) or isinstance(row[field], bool):
            return f"{field!r} is missing or not {' or '.join(kind.__name__ for kind in kinds)}"
    if "chunk_id" in row and "start" in row:
        return "this is a chunk, not a document; qchunker review and qchunker complete read chunks"
    return "" if row["text"].strip() else "'text' is empty"
