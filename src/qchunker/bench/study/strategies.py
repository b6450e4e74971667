"""Across methods: do the methods with the better direct score retrieve better, at equal mean length?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from qchunker.bench.correlation import (
    best_weight_closed_form,
    best_weight_on_grid,
    best_weight_p,
    correlate,
    partial_correlation,
    pearson,
)
from qchunker.bench.methods import METHODS
from qchunker.bench.study.candidates import Candidate
from qchunker.bench.study.sections import Section
from qchunker.bench.tables import Results, cells_at, values_over_seeds
from qchunker.config import ScoringConfig
from qchunker.errors import ScoringError
from qchunker.models.load import Models
from qchunker.pipeline import score
from qchunker.types import Span

Tell = Callable[[str, int, int], None]
Row = dict[str, Any]
CHUNKSCORE = ("li", "sd", "value", "li_corrected", "sd_corrected", "corrected")
GRID = 101
_LEAST = 4


def direct_scores(
    results: Results,
    methods: Sequence[str],
    target: int,
    sections: Sequence[Section],
    candidates: Mapping[str, Candidate],
    models: Models,
    config: ScoringConfig,
    tell: Tell = lambda *_: None,
) -> list[Row]:
    """A row per method and section: ChunkScore, raw and corrected for chance, and every candidate.

    The sections are cut with the size that gave the method its mean length on the whole set.

    Args:
        results: of a run with these methods.
        methods: of the run.
        target: mean length.
        sections: the same for all methods.
        candidates: other scores by name.
        models: embedder and language model; without the latter, raw and corrected SD only.
        config: of ChunkScore.
        tell: is told of every section.
    """
    rows: list[Row] = []
    total = len(methods) * len(sections)
    for method in methods:
        knob = cells_at(results, method, target)[0]["knob"]
        for section in sections:
            tell(f"{method} at {target}", len(rows), total)
            pieces = METHODS[method].cut(section.document, knob, 0, models)
            spans = [
                Span(piece.start, piece.end)
                for piece in pieces
                if section.document.text[piece.start : piece.end].strip()
            ]
            found = score(section.document, spans, models, config)
            row: Row = {"method": method, "target": target, "section": section.document.id, "n_chunks": len(spans),
                        "reason": found.reason, "signature": found.signature}  # fmt: skip
            values = {name: getattr(found, name) for name in CHUNKSCORE}
            if found.reason is None:
                values |= {name: one(section, spans) for name, one in candidates.items()}
            rows.append(
                row | {"scores": {name: None if isnan(value) else float(value) for name, value in values.items()}}
            )
    return rows


def table_of(rows: Sequence[Row], results: Results, metrics: Sequence[str]) -> list[Row]:
    """A row per method and target: the mean of every score over the sections that all methods have, and the metrics.

    A section in which a score could not be had for one method is left out of that score for all of them.
    """
    names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
    known = {(row["method"], row["target"], row["section"]): row["scores"] for row in rows}
    keys = list(dict.fromkeys((row["method"], row["target"]) for row in rows))
    made = []
    for target in dict.fromkeys(target for _, target in keys):
        methods = [method for method, one in keys if one == target]
        sections = list(dict.fromkeys(section for _, at, section in known if at == target))
        for method in methods:
            scores: dict[str, float] = {}
            for name in names:
                held = [
                    section for section in sections
                    if all(known.get((one, target, section), {}).get(name) is not None for one in methods)
                ]  # fmt: skip
                if held:
                    scores[name] = float(np.mean([known[method, target, section][name] for section in held]))
            values = {
                f"{metric} ({retriever})": float(values_over_seeds(results, method, target, retriever, metric).mean())
                for retriever in results["spec"]["retrievers"]
                for metric in metrics
            }
            spread = float(
                np.mean([cell["sd_chars"] / cell["mean_chars"] for cell in cells_at(results, method, target)])
            )
            made.append({"method": method, "target": target, "spread": spread, "scores": scores, "metrics": values})
    return made


def correlations(table: Sequence[Row]) -> list[Row]:
    """Of every score with every metric over the methods of one target, with what a reader needs to doubt it."""
    found = []
    for target in dict.fromkeys(row["target"] for row in table):
        rows = [row for row in table if row["target"] == target]
        for name in rows[0]["scores"]:
            for metric in rows[0]["metrics"]:
                x, y = _columns(rows, name, metric)
                if len(x) < _LEAST:
                    continue
                try:
                    one = correlate(x, y)
                    partial = partial_correlation(x, y, [row["spread"] for row in rows if name in row["scores"]])
                except ScoringError:
                    continue  # the same for all methods
                found.append({"target": target, "score": name, "metric": metric, "n": one.n, "pearson": one.pearson,
                              "spearman": one.spearman, "low": one.left_out.low, "high": one.left_out.high, "p": one.p,
                              "given_spread": partial})  # fmt: skip
    return found


def weights(table: Sequence[Row], metric: str) -> list[Row]:
    """Per target, the weight of LI at which ChunkScore follows a metric best: on the grid, in closed form, and its p.

    Source: QChunker 4.5 and Fig. 2. The p-value chooses the weight anew for every permutation.
    """
    found = []
    for target in dict.fromkeys(row["target"] for row in table):
        rows = [row for row in table if row["target"] == target and {"li", "sd"} <= row["scores"].keys()]
        if len(rows) < _LEAST:
            continue
        li, sd = ([row["scores"][name] for row in rows] for name in ("li", "sd"))
        wanted = [row["metrics"][metric] for row in rows]
        try:
            grid, closed = best_weight_on_grid(li, sd, wanted), best_weight_closed_form(li, sd, wanted)
            p = best_weight_p(li, sd, wanted)
        except ScoringError:
            continue
        curve = [_pearson_at(at / (GRID - 1), li, sd, wanted) for at in range(GRID)]
        found.append({"target": target, "metric": metric, "n": len(rows), "grid": grid.weight, "closed": closed.weight,
                      "pearson": grid.correlation, "p": p, "curve": curve})  # fmt: skip
    return found


def _pearson_at(weight: float, li: Sequence[float], sd: Sequence[float], wanted: Sequence[float]) -> float:
    return pearson([weight * one + (1 - weight) * other for one, other in zip(li, sd, strict=True)], wanted)


def _columns(rows: Sequence[Row], name: str, metric: str) -> tuple[list[float], list[float]]:
    held = [row for row in rows if name in row["scores"]]
    return [row["scores"][name] for row in held], [row["metrics"][metric] for row in held]
