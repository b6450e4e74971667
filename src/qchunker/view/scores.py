"""Rows of ``qchunker score -o`` for the views: checked, and small enough for a page."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qchunker.errors import InputError

Row = Mapping[str, Any]

_NUMBERS = ("li", "sd", "value", "li_corrected", "sd_corrected", "corrected", "corrected_se")
_MOST_GRAM = 2.0
_MOST_CELLS = 120
"""Cells in a row of the picture; more chunks share a cell."""


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """The numbers of one document. ``boundaries`` is empty, or has one value for each chunk but the first."""

    numbers: Mapping[str, float | None]
    boundaries: tuple[float, ...]
    gram: tuple[tuple[float, ...], ...]
    n_chunks: int
    notes: tuple[str, ...]
    signature: str
    reason: str | None

    @property
    def summary(self) -> str:
        """One line for the terminal."""
        if self.reason is not None:
            return f"no score: {self.reason}"
        names = {"li": "LI", "sd": "SD", "value": "score"}
        raw = [f"{title} {self.numbers[name]:.3f}" for name, title in names.items() if self.numbers[name] is not None]
        corrected = self.numbers["corrected"]
        return ", ".join(raw) + ("" if corrected is None else f"; {corrected:+.2f} standard deviations from chance")


def scores_of(rows: Sequence[Row], chunks: str) -> list[Row]:
    """The rows that are about one file of chunks, where the rows name files and this one is among them.

    A file may have been renamed since; what it is made of tells in ``read_scores``.
    """
    named = [row for row in rows if row.get("chunks") == chunks]
    return named or list(rows)


def read_scores(
    rows: Sequence[Row], n_chunks: Mapping[str, int], made_of: Callable[[str], str]
) -> dict[str, DocumentScore]:
    """Scores by document id.

    Args:
        rows: of one file of chunks.
        n_chunks: of every document that is shown.
        made_of: the hash of a document's text and cuts, by its id.

    Raises:
        InputError: if a field holds what it should not, two rows are about one document, or a row is about another
            chunking.
    """
    found: dict[str, DocumentScore] = {}
    others = ""
    for number, row in enumerate(rows, 1):
        doc_id = row.get("doc_id")
        if not isinstance(doc_id, str) or doc_id not in n_chunks:
            continue
        same = row.get("made_of") == made_of(doc_id)
        if not same and row.get("made_of") is not None:
            others = f"score row {number}: these scores are of another chunking of {doc_id!r}, or another text"
            continue
        if doc_id in found:
            if same:
                continue  # the same chunks in two files
            raise InputError(f"score row {number}: {doc_id!r} is scored twice", hint="score one file of chunks")
        if not same and row.get("n_chunks") != n_chunks[doc_id]:
            there = f"{row.get('n_chunks')} chunks, not {n_chunks[doc_id]}"
            raise InputError(f"score row {number}: these scores are of another chunking: {there}")
        score = _read(row, number)
        if score.n_chunks != n_chunks[doc_id]:
            # Scored without its blank or repeated chunks: the total holds, the places do not.
            score = dataclasses.replace(score, boundaries=(), gram=())
        found[doc_id] = score
    if others and not found:
        raise InputError(others, hint="score these chunks")
    if rows and not found:
        raise InputError("none of the scores is about these documents", hint="score these chunks first")
    return found


def _read(row: Row, number: int) -> DocumentScore:
    n_chunks: int = row["n_chunks"]
    boundaries = _floats(row.get("boundaries") or (), f"score row {number}: boundaries")
    if boundaries and len(boundaries) != n_chunks - 1:
        raise InputError(f"score row {number}: {len(boundaries)} boundaries between {n_chunks} chunks")
    gram = row.get("gram") or ()
    if not isinstance(gram, list | tuple):
        raise InputError(f"score row {number}: gram must be a list of lists")
    matrix = tuple(_floats(line, f"score row {number}: gram") for line in gram)
    if any(len(line) != len(matrix) for line in matrix) or len(matrix) not in (0, n_chunks):
        raise InputError(f"score row {number}: gram must have {n_chunks} rows and columns")
    if any(abs(value) > _MOST_GRAM for line in matrix for value in line):
        raise InputError(f"score row {number}: gram must hold products of unit vectors")
    notes = row.get("notes") or ()
    return DocumentScore(
        {name: None if row.get(name) is None else _floats([row[name]], f"score row {number}: {name}")[0]
         for name in _NUMBERS},
        boundaries, matrix, n_chunks,
        tuple(str(note) for note in notes) if isinstance(notes, list | tuple) else (str(notes),),
        str(row.get("signature") or ""),
        None if row.get("reason") is None else str(row["reason"]),
    )  # fmt: skip


def _floats(values: Any, where: str) -> tuple[float, ...]:
    good = isinstance(values, list | tuple) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) for value in values
    )
    if not good:
        raise InputError(f"{where} must be numbers")
    return tuple(float(value) for value in values)


def score_data(score: DocumentScore) -> dict[str, Any]:
    """A score for the page; a large Gram matrix is averaged over blocks of chunks."""
    per_cell = max(1, math.ceil(len(score.gram) / _MOST_CELLS))
    matrix = np.array(score.gram)
    if per_cell > 1:
        edges = np.arange(0, len(matrix), per_cell)
        sums = np.add.reduceat(np.add.reduceat(matrix, edges, axis=0), edges, axis=1)
        widths = np.diff([*edges, len(matrix)])
        matrix = sums / np.outer(widths, widths)
    return {
        **score.numbers,
        "gram": np.round(matrix, 4).tolist(),
        "per_cell": per_cell,
        "n_chunks": score.n_chunks,
        "notes": list(score.notes),
        "signature": score.signature,
        "reason": score.reason,
    }
