"""Cuts of the qchunker method against other chunkers at equal mean length: evidence precision and recall.

    python benchmarks/segmentation.py --bench FOLDER --set chroma --out results [--sizes 400,480,800] [--only NAMES]

FOLDER holds data/<set>/docs.jsonl ({doc_id, text}) and score.py, which prints retrieval metrics of a chunks file.
Every difference is paired per question, averaged over the sizes, with a 95 % interval and a p-value from a bootstrap
over the clusters that score.py names. ``shuffled`` has the lengths of the qchunker cuts in random order: it tells what
the cuts are worth apart from their lengths. Finished scores are kept and not computed again.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from cutters import Cutter, Spans, cutters, matched_knob, works

import qchunker
from qchunker.config import ChunkingConfig, SegmentationConfig
from qchunker.debate.offline.segmenter import Segmentation
from qchunker.models.embedder import Vectors
from qchunker.models.local_embedders import UniversalSentenceEncoder

LANGUAGES = {"chroma": "en", "drcd": "zh", "crud": "zh"}
SIZES = {"chroma": (400, 480, 800), "drcd": (200,), "crud": (200,)}
METRICS = {
    "chroma": ("precision_omega", "recall_4000c", "recall_mean"),
    "drcd": ("precision_omega", "recall_2000c", "recall_mean"),
    "crud": ("hit_1424t", "hit_mean"),
}
LEFT_OUT = {"random", "valley"}
TOLERANCE = 0.03
DRAWS = 10_000
OURS = "qchunker"


class RememberingEmbedder:
    """The encoder with a memory, because the sizes are searched by trial."""

    def __init__(self) -> None:
        self._inner = UniversalSentenceEncoder()
        self.id = self._inner.id
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known.update(zip(new, self._inner.encode(new), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(len(texts), 512)


def ours(embedder: RememberingEmbedder, **weights: float) -> Cutter:
    """The qchunker method with other weights."""

    def cut(text: str, size: int) -> Spans:
        config = ChunkingConfig(target_chars=size, max_chars=2 * size, min_chars=0, overlap_ratio=0)
        made = Segmentation(qchunker.from_text(text), config, SegmentationConfig(**weights), embedder)  # type: ignore[arg-type]
        cuts = made.best()
        assert cuts is not None
        return made.partition(cuts).spans

    return cut


def shuffled(text: str, spans: Spans) -> Spans:
    """Chunks of the same lengths in another order, at the same number of characters."""
    lengths = [after.start - before.start for before, after in pairwise(spans)] + [len(text) - spans[-1].start]
    random.Random(0).shuffle(lengths)
    edges = [spans[0].start]
    for length in lengths:
        edges.append(edges[-1] + length)
    return tuple(qchunker.Span(a, b) for a, b in pairwise(edges))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(SIZES), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", help="mean lengths, default: those of the set")
    parser.add_argument("--only", help="names of chunkers, default: all")
    parser.add_argument("--weights", action="append", default=[], metavar="NAME:WEIGHT=VALUE,...",
                        help="one more variant of the qchunker method")  # fmt: skip
    arguments = parser.parse_args()
    sizes = tuple(map(int, arguments.sizes.split(","))) if arguments.sizes else SIZES[arguments.set]
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = (arguments.bench / "data" / arguments.set / "docs.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {row["doc_id"]: row["text"] for row in map(json.loads, lines)}
    embedder = RememberingEmbedder()
    found: dict[str, Cutter] = {OURS: ours(embedder)}
    for variant in arguments.weights:
        name, _, values = variant.partition(":")
        found[name] = ours(embedder, **{key: float(value) for key, value in (v.split("=") for v in values.split(","))})
    found |= {name: cut for name, cut in cutters(LANGUAGES[arguments.set]).items() if name not in LEFT_OUT}
    wanted = set(arguments.only.split(",")) if arguments.only else set(found) | {"shuffled"}
    results = {
        name: [_result(arguments, texts, name, cut, size) for size in sizes]
        for name, cut in found.items()
        if name in wanted and works(name, cut)
    }
    if "shuffled" in wanted:
        results["shuffled"] = [_shuffled_result(arguments, texts, size) for size in sizes]
    print_results(results, METRICS[arguments.set])


def _result(arguments: Any, texts: dict[str, str], name: str, cut: Cutter, size: int) -> dict[str, Any]:
    chunks = arguments.out / f"{arguments.set}-{size}-{name}.jsonl"
    if not chunks.exists():
        knob = matched_knob(cut, texts, size)
        _write(chunks, texts, {doc_id: cut(text, knob) for doc_id, text in texts.items()})
    return scored(arguments, chunks)


def _shuffled_result(arguments: Any, texts: dict[str, str], size: int) -> dict[str, Any]:
    chunks = arguments.out / f"{arguments.set}-{size}-shuffled.jsonl"
    spans: dict[str, list[qchunker.Span]] = {}
    for row in map(json.loads, (arguments.out / f"{arguments.set}-{size}-{OURS}.jsonl").open(encoding="utf-8")):
        spans.setdefault(row["doc_id"], []).append(qchunker.Span(row["start"], row["end"]))
    _write(chunks, texts, {doc_id: shuffled(texts[doc_id], tuple(found)) for doc_id, found in spans.items()})
    return scored(arguments, chunks)


def _write(path: Path, texts: dict[str, str], spans: dict[str, Spans]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for doc_id, found in spans.items():
            for start, end in found:
                row = {"doc_id": doc_id, "start": start, "end": end, "text": texts[doc_id][start:end]}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def scored(arguments: Any, chunks: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for retriever in ("use", "bm25"):
        result = chunks.with_suffix(f".{retriever}.json")
        if not result.exists() or result.stat().st_mtime < chunks.stat().st_mtime:
            command = [sys.executable, str(arguments.bench / "score.py"), "--split", "dev", "--set", arguments.set]
            command += ["--chunks", str(chunks), "--embedder", retriever, "--out", str(result)]
            subprocess.run(command, check=True, capture_output=True)
        found[retriever] = json.loads(result.read_text(encoding="utf-8"))
    print(chunks.stem, found["use"]["chars_mean"], "±", found["use"]["chars_sd"], flush=True)
    return found


def print_results(results: dict[str, list[dict[str, Any]]], metrics: Sequence[str]) -> None:
    lengths = {name: np.mean([one["use"]["chars_mean"] for one in found]) for name, found in results.items()}
    for name, length in lengths.items():
        if abs(length / lengths[OURS] - 1) > TOLERANCE:
            print(f"{name}: mean length {length:.1f} is not within 3 % of {lengths[OURS]:.1f}")
    for metric in metrics:
        retrievers = ("use",) if metric == "precision_omega" else ("use", "bm25", "pooled")
        for retriever in retrievers:
            print(f"\n{metric}, {retriever}; difference of {OURS} from each, averaged over sizes")
            base, cluster = _values(results[OURS], metric, retriever)
            for name, found in results.items():
                other, _ = _values(found, metric, retriever)
                low, high, p = _paired(base - other, cluster)
                share = f"{base.mean() / other.mean() - 1:+.1%}"
                print(f"  {name:22} {other.mean():.4f}  {base.mean() - other.mean():+.4f} [{low:+.4f}, {high:+.4f}] "
                      f"p={p:.4f} {share}")  # fmt: skip


def _values(found: list[dict[str, Any]], metric: str, retriever: str) -> tuple[np.ndarray, list[str]]:
    names = ("use", "bm25") if retriever == "pooled" else (retriever,)
    values = np.mean([one[name]["per_question"][metric] for one in found for name in names], axis=0)
    return values, found[0]["use"]["per_question"]["cluster"]


def _paired(differences: np.ndarray, cluster: list[str]) -> tuple[float, float, float]:
    places = {name: place for place, name in enumerate(dict.fromkeys(cluster))}
    index = np.array([places[name] for name in cluster])
    sums, sizes = np.bincount(index, weights=differences), np.bincount(index)
    drawn = np.random.default_rng(0).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=DRAWS)
    means = (drawn @ sums) / (drawn @ sizes)
    p = min(1.0, max(2 * min(float((means <= 0).mean()), float((means >= 0).mean())), 1 / DRAWS))
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high), p


if __name__ == "__main__":
    main()
