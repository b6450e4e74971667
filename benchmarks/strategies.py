"""Does ChunkScore rank chunking strategies as retrieval does? Strategies at equal mean length, scored and searched.

    python benchmarks/strategies.py --bench FOLDER --set chroma --out results

FOLDER holds data/<set>/docs.jsonl ({doc_id, text}) and score.py, which prints retrieval metrics of a chunks file.
Semantic dispersion is computed on many sections of the texts, logical independence on a few of them, because a language
model has to read those. Needs the models (qchunker models fetch smollm2-135m gemma3-270m) and the peers in
requirements.txt; peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import peers

import qchunker
from qchunker.comparison import bootstrap_interval, score_row
from qchunker.models.load import Models, load_models
from qchunker.scoring.random_partitions import random_partitions
from qchunker.sentences import sentence_spans
from qchunker.types import Document, Span

LANGUAGES = {"chroma": "en", "drcd": "zh"}
TARGETS = {"chroma": 400, "drcd": 180}
PRIMARY = {"chroma": "recall_4000c", "drcd": "recall_2000c"}
SECTION_CHARS = {"chroma": (7000, 40), "drcd": (2500, 120)}  # characters, sections for dispersion
LM_CHARS = {"chroma": (3500, 4), "drcd": (1400, 4)}  # characters, sections for the language model
OWN = ("structure", "fixed", "recursive", "sentence")
LI_SAMPLE = 16

Spans = tuple[Span, ...]
Cutter = Callable[[str, int], Spans]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(TARGETS), required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    name, out = arguments.set, arguments.out
    out.mkdir(parents=True, exist_ok=True)
    texts = _texts(arguments.bench, name)
    cutters = {key: cutter for key, cutter in _cutters(LANGUAGES[name]).items() if _works(key, cutter)}
    knobs = {key: _matched_knob(cutter, texts, TARGETS[name]) for key, cutter in cutters.items()}
    results: dict[str, Any] = {key: {"knob": knobs[key]} for key in cutters}
    for key, cutter in cutters.items():
        results[key] |= _retrieval(arguments.bench, name, texts, cutter, knobs[key], out / f"{name}-{key}.jsonl")
        _say(key, results[key])
    dispersion = load_models(lm="none")
    sections = _sections(texts, *SECTION_CHARS[name])
    for key, cutter in cutters.items():
        results[key]["dispersion"] = _dispersion(sections, cutter, knobs[key], dispersion)
        _say(key, results[key]["dispersion"])
    _write(out, name, results)
    _score_sections(texts, name, cutters, knobs, results, out)
    results["correlations"] = _correlations({key: value for key, value in results.items() if "scores" in value}, name)
    _write(out, name, results)


def _write(out: Path, name: str, results: dict[str, Any]) -> None:
    (out / f"{name}.json").write_text(json.dumps(results, ensure_ascii=False, indent=1), encoding="utf-8")


def _say(*what: object) -> None:
    print(*what, flush=True)


def _texts(bench: Path, name: str) -> dict[str, str]:
    lines = (bench / "data" / name / "docs.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["doc_id"]: row["text"] for row in map(json.loads, lines)}


def _sections(texts: dict[str, str], size: int, number: int) -> list[str]:
    """Sections of about ``size`` characters, cut at line ends, spread evenly over all texts."""
    found = []
    for text in texts.values():
        at = 0
        while len(text) - at > size // 2:
            end = text.find("\n", at + size)
            end = len(text) if end < 0 or end > at + 2 * size else end
            found.append(text[at : min(end, at + 2 * size)].strip())
            at = end
    step = max(1, len(found) // number)
    return found[::step][:number]


# Strategies: each a function from text and size to spans.


def _cutters(language: str) -> dict[str, Cutter]:
    cutters: dict[str, Cutter] = {method: _own(method) for method in OWN}
    cutters["random"] = _random
    cutters["valley"] = _Valley()
    names = {
        "langchain": peers.langchain_recursive_zh if language == "zh" else peers.langchain_recursive,
        "semchunk": peers.semchunk,
        "text-splitter": peers.text_splitter("TextSplitter"),
        "chonkie": peers.chonkie_recursive_zh if language == "zh" else peers.chonkie_recursive,
    }
    return cutters | {name: _peer(maker, language) for name, maker in names.items()}


def _own(method: str) -> Cutter:
    def cut(text: str, size: int) -> Spans:
        config = qchunker.ChunkingConfig(target_chars=size, max_chars=2 * size, min_chars=0, overlap_ratio=0)
        return qchunker.chunk(qchunker.from_text(text), method, config).spans

    return cut


def _random(text: str, size: int) -> Spans:
    """A random partition of the sentences with lengths like those of the sentence chunker."""
    spans = _own("sentence")(text, size)
    return random_partitions(text, spans, 2, seed=7).draws[0] if len(spans) > 1 else spans


class _Valley:
    """Cuts where neighbouring sentences are least alike (the percentile splitter of several frameworks)."""

    def __init__(self) -> None:
        self._embedder = load_models(lm="none").embedder
        self._known: dict[str, tuple[list[Span], np.ndarray]] = {}

    def __call__(self, text: str, size: int) -> Spans:
        if text not in self._known:
            sentences = [Span(*span) for span in sentence_spans(text) if text[slice(*span)].strip()]
            vectors = self._embedder.encode([text[slice(*span)] for span in sentences])
            self._known[text] = sentences, (vectors[:-1] * vectors[1:]).sum(axis=1)
        sentences, alike = self._known[text]
        n_cuts = min(len(alike), max(1, round(len(text) / size)) - 1)
        cuts = sorted(np.argsort(alike, kind="stable")[:n_cuts] + 1)
        edges = [0, *map(int, cuts), len(sentences)]
        return tuple(_trimmed(text, sentences[a].start, sentences[b - 1].end) for a, b in pairwise(edges))


def _peer(maker: Any, language: str) -> Cutter:
    def cut(text: str, size: int) -> Spans:
        tool = maker(size, language)
        at, spans = 0, []
        for piece in tool.pieces(tool.run(text)):
            body = piece.text.strip()
            if not body:
                continue
            start = text.find(body, at if piece.start is None else max(at, piece.start))
            spans.append(_trimmed(text, at if start < 0 else start, (at if start < 0 else start) + len(body)))
            at = spans[-1].end
        return tuple(spans)

    return cut


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def _works(name: str, cutter: Cutter) -> bool:
    try:
        return len(cutter("One sentence here. Another one there. " * 40, 200)) > 1
    except ImportError as error:
        _say("left out:", name, error)
        return False


def _matched_knob(cutter: Cutter, texts: dict[str, str], target: int) -> int:
    """The size at which the mean chunk length is nearest to the target, by bisection."""
    sample = [text[:60_000] for text in list(texts.values())[:: max(1, len(texts) // 30)]]
    low, high, best = target // 3, target * 4, (float("inf"), target)
    for _ in range(9):
        size = (low + high) // 2
        lengths = [span.end - span.start for text in sample for span in cutter(text, size)]
        mean = sum(lengths) / len(lengths)
        best = min(best, (abs(mean - target), size))
        low, high = (size, high) if mean < target else (low, size)
    return best[1]


# Retrieval and scores.


def _retrieval(bench: Path, name: str, texts: dict[str, str], cutter: Cutter, knob: int, path: Path) -> dict[str, Any]:
    lengths = []
    with path.open("w", encoding="utf-8") as file:
        for doc_id, text in texts.items():
            for start, end in cutter(text, knob):
                lengths.append(end - start)
                row = {"doc_id": doc_id, "start": start, "end": end, "text": text[start:end]}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    found: dict[str, Any] = {"mean_chars": float(np.mean(lengths)), "sd_chars": float(np.std(lengths))}
    for embedder in ("use", "bm25"):
        result = path.with_suffix(f".{embedder}.json")
        command = [sys.executable, str(bench / "score.py"), "--chunks", str(path), "--set", name, "--split", "dev"]
        subprocess.run([*command, "--embedder", embedder, "--out", str(result)], check=True, capture_output=True)
        report = json.loads(result.read_text(encoding="utf-8"))
        found[embedder] = report.get("metrics", report)[PRIMARY[name]]["mean"]
    return found


def _dispersion(sections: Sequence[str], cutter: Cutter, knob: int, models: Models) -> dict[str, Any]:
    config = qchunker.ScoringConfig(draws=0)
    scores = [qchunker.score(_document(text), cutter(text, knob), models, config) for text in sections]
    values = [score.sd for score in scores if score.reason is None]
    return {"n": len(values), "sd": float(np.mean(values)), "interval": bootstrap_interval(values)}


def _score_sections(
    texts: dict[str, str],
    name: str,
    cutters: dict[str, Cutter],
    knobs: dict[str, int],
    results: dict[str, Any],
    out: Path,
) -> None:
    """Raw scores of all strategies; corrected ones too, in Chinese only of our own (its model is slow)."""
    sections = [_document(text) for text in _sections(texts, *LM_CHARS[name])]
    models = load_models(text=sections[0].text)
    with (out / f"{name}-scores.jsonl").open("w", encoding="utf-8") as file:
        for document in sections:
            for keys, draws in ((OWN, 32), ([key for key in cutters if key not in OWN], 32 if name == "chroma" else 0)):
                partitions = [cutters[key](document.text, knobs[key]) for key in keys]
                config = qchunker.ScoringConfig(draws=draws, li_sample=LI_SAMPLE)
                for key, spans, score in zip(
                    keys, partitions, qchunker.score_all(document, partitions, models, config), strict=True
                ):
                    row = score_row(score, document, key, with_gram=False) | {"spans": spans, "text": document.text}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    file.flush()
                    results[key].setdefault("scores", []).append({k: v for k, v in row.items() if k != "text"})
                    _say(key, score.li, score.sd, score.corrected)


def _document(text: str) -> Document:
    return Document(text, (), source="section")


# Agreement between scores and retrieval over strategies.


def _correlations(results: dict[str, Any], name: str) -> dict[str, Any]:
    columns = {"sd_many": [row["dispersion"]["sd"] for row in results.values()]}
    for field in ("li", "sd", "value", "corrected"):
        means = [[score[field] for score in row["scores"] if score[field] is not None] for row in results.values()]
        if all(means):
            columns[field] = [float(np.mean(values)) for values in means]
    found = {}
    for metric in ("use", "bm25"):
        target = [row[metric] for row in results.values()]
        for field, values in columns.items():
            found[f"{field} and {metric}"] = _agreement(values, target)
    return {"strategies": list(results), **found}


def _agreement(x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    def pearson(a: Sequence[float], b: Sequence[float]) -> float:
        return float(np.corrcoef(a, b)[0, 1])

    def ranks(values: Sequence[float]) -> list[float]:
        return [sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
                for value in values]  # fmt: skip

    without = [pearson([*x[:i], *x[i + 1 :]], [*y[:i], *y[i + 1 :]]) for i in range(len(x))]
    rng = np.random.default_rng(0)
    real = pearson(x, y)
    chance = [abs(pearson(x, rng.permutation(y))) >= abs(real) for _ in range(5000)]
    return {
        "n": len(x), "pearson": real, "spearman": pearson(ranks(x), ranks(y)),
        "leave_one_out": [min(without), max(without)], "permutation_p": float(np.mean(chance)),
    }  # fmt: skip


if __name__ == "__main__":
    main()
