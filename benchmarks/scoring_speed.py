"""How fast scoring is: against the direct implementation, across libraries, and for many chunks.

    python benchmarks/scoring_speed.py TEXT_FILE

The direct implementation reads, for every chunk, the pair with the one before and the chunk alone, one by one, with
nothing kept. All columns of a comparison are measured in one run, in turn; ratios are what counts. Needs
`qchunker models fetch smollm2-135m`; transformers is compared where it is installed.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from machine import versions

import qchunker
from qchunker.models.fetch import weights_path
from qchunker.models.load import FETCHABLE, load_lm
from qchunker.scoring.logical_independence import independence_at
from qchunker.scoring.semantic_dispersion import semantic_dispersion
from qchunker.sentences import sentence_spans
from qchunker.types import Span

Spans = tuple[Span, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--chars", type=int, default=4000)
    parser.add_argument("--passes", type=int, default=3)
    arguments = parser.parse_args()
    text = arguments.text.read_text(encoding="utf-8")[: arguments.chars]
    lm = load_lm("smollm2-135m:f32")
    config = qchunker.ChunkingConfig(target_chars=400, overlap_ratio=0)
    spans = qchunker.chunk(qchunker.from_text(text), "sentence", config).spans
    report: dict[str, Any] = {
        "machine": versions(["openvino", "transformers", "torch", "numpy"]),
        "characters": len(text),
        "chunks": len(spans),
    }
    _compare(report, "one partition", text, [spans], lm, arguments.passes)
    _compare(report, "20 candidates", text, _candidates(text, spans), lm, 1)
    report["libraries"] = _libraries(text, arguments.passes)
    report["dispersion"] = {f"K={k}, d=512": _dispersion(k) for k in (500, 5000)}
    print(json.dumps(report, indent=1))


def _candidates(text: str, spans: Spans) -> list[Spans]:
    """Twenty partitions: every second cut is common to all, the others have two places each."""
    sentences = [start for start, _ in sentence_spans(text) if text[start:].strip()]
    rng = np.random.default_rng(0)
    cuts = [span.start for span in spans[1:]]
    found = []
    for _ in range(20):
        moved = []
        for i, cut in enumerate(cuts):
            after = next((start for start in sentences if start > cut), cut)
            fits = i + 1 == len(cuts) or after < cuts[i + 1]
            moved.append(after if i % 2 and fits and rng.random() < 0.5 else cut)
        edges = [spans[0].start, *moved, spans[-1].end]
        found.append(tuple(_trimmed(text, a, b) for a, b in pairwise(edges)))
    return found


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def _direct(text: str, candidates: list[Spans], lm: Any) -> None:
    for spans in candidates:
        for before, chunk in pairwise(spans):
            lm.token_logprobs([text[slice(*chunk)]], [text[slice(*before)]])
            lm.token_logprobs([text[slice(*chunk)]], [None])


def _ours(text: str, candidates: list[Spans], lm: Any) -> None:
    independence_at(text, {pair for spans in candidates for pair in pairwise(spans)}, lm)


def _compare(report: dict[str, Any], name: str, text: str, candidates: list[Spans], lm: Any, passes: int) -> None:
    ours, direct = [], []
    for _ in range(passes):
        ours.append(_seconds(lambda: _ours(text, candidates, lm)))
        direct.append(_seconds(lambda: _direct(text, candidates, lm)))
    report[name] = {"ours_s": median(ours), "direct_s": median(direct), "ratio": median(direct) / median(ours)}


def _libraries(text: str, passes: int) -> dict[str, float]:
    """Tokens per second of the same weights, reading 250 tokens at a time."""
    path = weights_path("smollm2-135m", FETCHABLE["smollm2-135m"].weights)
    models: dict[str, Any] = {"openvino f32": load_lm("smollm2-135m:f32"), "openvino default": load_lm("smollm2-135m")}
    try:
        from qchunker.models.transformers_lm import TransformersLM

        models |= {f"transformers {p}": TransformersLM(str(path), precision=p) for p in ("f32", "bf16")}
    except qchunker.QChunkerError as error:
        print("left out:", error)
    pieces = [text[i : i + 1000] for i in range(0, 3000, 1000)]
    speeds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(passes):
        for name, model in models.items():
            none: list[str | None] = [None] * len(pieces)
            tokens = model.token_cost(pieces, none)
            speeds[name].append(tokens / _seconds(lambda model=model, none=none: model.token_logprobs(pieces, none)))
    return {f"{name}: {models[name].id}": round(median(values), 1) for name, values in speeds.items()}


def _dispersion(k: int) -> dict[str, float]:
    rows = np.random.default_rng(0).normal(size=(k, 512)).astype(np.float32)
    seconds = min(_seconds(lambda: semantic_dispersion(rows)) for _ in range(3))
    tracemalloc.start()
    semantic_dispersion(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds": round(seconds, 3), "peak_mb": round(peak / 1e6, 1)}


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
