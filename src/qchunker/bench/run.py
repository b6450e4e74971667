"""A run: every method at every length, once per seed, each result on disk as soon as it is there.

The same command goes on where it was stopped, and gives the same numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qchunker.bench.dataset import BenchSet
from qchunker.bench.datasets import load_set
from qchunker.bench.equalise import Size, equal_size
from qchunker.bench.judge import judged, metric_names
from qchunker.bench.lost import blinded, lost_texts
from qchunker.bench.methods import CUTS_ONLY, FILE_PREFIX, METHODS, Piece, chunks_of_file
from qchunker.bench.metrics.spans import ChunkSpan, coverage, trimmed_chunks, with_reach
from qchunker.bench.retrievers import rankings
from qchunker.bench.spec import Spec
from qchunker.chunking import LLM_METHODS, LM_METHODS
from qchunker.errors import InputError, OutputError
from qchunker.models.load import Models
from qchunker.pipeline import DEBATE
from qchunker.types import Document
from qchunker.version import __version__

Tell = Callable[[str, int, int], None]
"""What is being done, how much is done, and how much there is."""

SHIFTS = (0.0, -0.05, 0.05, -0.1, 0.1)
"""By which the target length of each seed differs, as a share of it."""

_VERSION = 1


class Cell(NamedTuple):
    """One method at one length with one seed."""

    method: str
    target: int
    seed: int

    @property
    def shifted(self) -> int:
        """The mean length that is aimed at."""
        return round(self.target * (1 + SHIFTS[self.seed % len(SHIFTS)]))


Result = dict[str, Any]
"""Of a cell: ``method``, ``target``, ``seed``, ``knob``, ``mean_chars``, ``sd_chars``, ``n_chunks``, ``coverage``,
``text_chars``, ``seconds``, ``signature``, and ``values``: retriever to metric to one number per question."""


def data_of(spec: Spec) -> BenchSet:
    """The set of a spec, with its budgets and as many questions as it wants.

    Raises:
        InputError: if its files are missing or broken, or have no question.
    """
    data = load_set(spec.set, Path(spec.path), spec.split)
    if spec.budgets:
        data = replace(data, budgets=tuple(sorted(set(spec.budgets))))
    data = data.sampled(spec.questions, spec.documents)
    if not data.questions:
        raise InputError(f"the set {data.name!r} has no question", hint="of so few documents, none may be answered")
    return data


def cells_of(spec: Spec) -> list[Cell]:
    """Every cell; chunks of files are what they are at every length, so they have one for each."""
    return [Cell(method, target, seed) for target in spec.targets for seed in spec.seeds for method in spec.methods]


def run(spec: Spec, folder: Path, models: Models, tell: Tell = lambda *_: None) -> dict[str, Any]:
    """All results of a spec.

    Args:
        spec: what is measured.
        folder: of the run, where finished cells are kept.
        models: embedder, language model and model that is asked, as the methods need them.
        tell: is told of every step.

    Raises:
        InputError: if the data or a file of chunks is broken. MissingModelError, ModelError: if a model is missing or
            fails. OutputError: if the folder cannot be written.
    """
    data = data_of(spec)
    metrics = metric_names(data, spec.k)
    cells = cells_of(spec)
    results = []
    for number, cell in enumerate(cells):
        tell(f"{cell.method} at {cell.target}, seed {cell.seed}", number, len(cells))
        signature = _signature(spec, data, _needed(cell.method, models))
        kept = folder / "cells" / f"{_key(signature, cell, spec)}.json"
        result = _finished(kept, cell, spec, metrics, len(data.questions))
        if result is None:
            result = _measured(cell, spec, data, metrics, models) | {"signature": signature}
            write_json(kept, result)
        results.append(result)
    tell("done", len(cells), len(cells))
    return described(spec, data, models, metrics, _primary(data, metrics)) | {"cells": results}


def described(spec: Spec, data: BenchSet, models: Models, metrics: Sequence[str], primary: str) -> dict[str, Any]:
    """Everything about results but the cells. Where the data lies is not a part of them."""
    plain = {name: value for name, value in asdict(spec).items() if name != "path"}
    return {
        "version": _VERSION, "signature": _signature(spec, data, models), "spec": plain,
        "spec_signature": spec.signature,
        "set": {"name": data.name, "language": data.language, "fingerprint": data.fingerprint, "licence": data.licence,
                "documents": len(data.documents), "characters": sum(len(one.text) for one in data.documents),
                "budget_unit": data.budget_unit, "budgets": list(data.budgets), "primary": primary,
                "notes": list(data.notes)},
        "metrics": list(metrics),
        "questions": [question.id for question in data.questions],
        "clusters": [question.cluster for question in data.questions],
    }  # fmt: skip


def chunks_of(cell: Cell, spec: Spec, data: BenchSet, models: Models) -> tuple[list[Piece], Size]:
    """The chunks of a cell and the size that they were made with, 0 for those of a file."""
    if cell.method.startswith(FILE_PREFIX):
        pieces = chunks_of_file(Path(spec.path) / cell.method.removeprefix(FILE_PREFIX), data)
        return pieces, Size(0, sum(one.end - one.start for one in pieces) / len(pieces), 0)
    method, made = METHODS[cell.method], dict[int, list[Piece]]()

    def lengths(documents: Sequence[Document], size: int) -> list[int]:
        pieces = [piece for document in documents for piece in method.cut(document, size, cell.seed, models)]
        if len(documents) == len(data.documents):
            made[size] = pieces
        return [piece.end - piece.start for piece in pieces]

    size = equal_size(lengths, data.documents, cell.shifted, spec.tolerance, is_costly=method.is_costly)
    return made[size.knob], size


def _measured(cell: Cell, spec: Spec, data: BenchSet, metrics: Sequence[str], models: Models) -> Result:
    start = time.monotonic()
    pieces, size = chunks_of(cell, spec, data, models)
    seconds = time.monotonic() - start
    chunks = spans_of(pieces, spec, data)
    values = values_of(chunks, data, spec, metrics, models)
    return facts_of(cell, size, chunks, data) | {"seconds": round(seconds, 2), "values": values}


def spans_of(pieces: Sequence[Piece], spec: Spec, data: BenchSet) -> list[ChunkSpan]:
    """Chunks as they are judged: without white space at their ends, and answering for text that is lost beside them."""
    spans = (piece.as_span(data.texts[piece.doc_id], spec.texts) for piece in pieces)
    return with_reach(trimmed_chunks(spans, data.texts), data.texts)


def facts_of(cell: Cell, size: Size, chunks: Sequence[ChunkSpan], data: BenchSet) -> Result:
    """Everything about the chunks of a cell but what they are worth."""
    lengths = np.array([chunk.end - chunk.start for chunk in chunks])
    return {
        "method": cell.method, "target": cell.target, "seed": cell.seed, "shifted": cell.shifted, "knob": size.knob,
        "mean_chars": float(lengths.mean()), "sd_chars": float(lengths.std()), "n_chunks": len(chunks),
        "text_chars": float(np.mean([len(chunk.text) for chunk in chunks])),
        "coverage": coverage(chunks, data.texts),
    }  # fmt: skip


def values_of(
    chunks: Sequence[ChunkSpan], data: BenchSet, spec: Spec, metrics: Sequence[str], models: Models
) -> dict[str, dict[str, list[float]]]:
    """Retriever to metric to one number per question."""
    held: dict[str, list[ChunkSpan]] = defaultdict(list)
    for chunk in chunks:
        held[chunk.doc_id].append(chunk)
    asked = [question.text for question in data.questions]
    lost = lost_texts(chunks, data.texts)
    texts = [*(chunk.text for chunk in chunks), *lost]
    chunks = [*chunks, *map(blinded, lost)]
    ranked = rankings(texts, asked, spec.retrievers, models.embedder)
    found: dict[str, dict[str, list[float]]] = {}
    for name, places in ranked.items():
        rows = [
            judged(question, [chunks[at] for at in row], held, data, spec.k)
            for question, row in zip(data.questions, places, strict=True)
        ]
        found[name] = {metric: [round(row[metric], 6) for row in rows] for metric in metrics}
    return found


def _primary(data: BenchSet, metrics: Sequence[str]) -> str:
    """What the set is judged by; with other budgets, or answers of several kinds, the nearest there is."""
    means = [one for one in metrics if one.endswith("_mean")]
    return data.primary if data.primary in metrics else (means or list(metrics))[-1]


def _signature(spec: Spec, data: BenchSet, models: Models) -> str:
    lm = "none" if models.lm is None else models.lm.id
    llm = "none" if models.llm is None else models.llm.id
    return (
        f"qchunker={__version__} bench={_VERSION} set={data.name}@{data.fingerprint} n={len(data.questions)} "
        f"texts={spec.texts} embedder={models.embedder.id} lm={lm} llm={llm} k={spec.k} "
        f"budgets={','.join(map(str, data.budgets))} tolerance={spec.tolerance:g}"
    )


def _needed(method: str, models: Models) -> Models:
    """The models that a method's results depend on."""
    lm = models.lm if method in LM_METHODS else None
    return replace(models, lm=lm, llm=models.llm if method in (DEBATE, CUTS_ONLY, *LLM_METHODS) else None)


def _key(signature: str, cell: Cell, spec: Spec) -> str:
    """Everything that a cell depends on; the content of a file of chunks too."""
    parts = [signature, *map(str, cell), ",".join(spec.retrievers)]
    if cell.method.startswith(FILE_PREFIX):
        parts.append(_digest(Path(spec.path) / cell.method.removeprefix(FILE_PREFIX)))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}", hint="name a file in the set's folder"
        ) from error


def _finished(path: Path, cell: Cell, spec: Spec, metrics: Sequence[str], n: int) -> Result | None:
    """A cell that is there and whole; one that is damaged, or of something else, is measured again."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        own = tuple(result[name] for name in Cell._fields) == cell
        whole = all(len(result["values"][name][metric]) == n for name in spec.retrievers for metric in metrics)
        numbers = all(
            isinstance(result[name], int | float) for name in ("mean_chars", "sd_chars", "coverage", "seconds")
        )
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    return dict(result) if own and whole and numbers else None


def name_of(results: dict[str, Any]) -> str:
    """Hash of a result without the time that it took: other data, chunks or numbers have another name."""
    cells = [{name: value for name, value in cell.items() if name != "seconds"} for cell in results["cells"]]
    text = json.dumps([results["signature"], results["spec"], cells], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def write_json(path: Path, value: Any) -> None:
    """Write a file whole or not at all.

    Raises:
        OutputError: if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False, suffix=".part") as file:
            json.dump(value, file, ensure_ascii=False, separators=(",", ":"))
        os.replace(file.name, path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
