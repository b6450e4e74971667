"""Does ChunkScore rank chunking strategies as retrieval does? Strategies at equal mean length, scored and searched.

    python benchmarks/strategies.py --bench FOLDER --set chroma --out results [--parts cut,scores,report]

FOLDER holds data/<set>/docs.jsonl ({doc_id, text}) and score.py, which prints retrieval metrics of a chunks file.
Semantic dispersion is computed on many sections of the texts, logical independence on a few of them, because a language
model has to read those. Needs the models (qchunker models fetch smollm2-135m gemma3-270m) and the peers in
requirements.txt; peers that are not installed are left out. Each part writes files of its own, so parts can be run in
turn or at the same time once ``cut`` is done, and what a run that dies has finished is on disk.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from cutters import OWN, Spans, cutters, matched_knob, works

import qchunker
from qchunker.comparison import bootstrap_interval, score_row
from qchunker.models.load import load_models
from qchunker.scoring.logical_independence import independence_at, logical_independence
from qchunker.scoring.random_partitions import random_partitions
from qchunker.scoring.semantic_dispersion import semantic_dispersion
from qchunker.types import Document

LANGUAGES = {"chroma": "en", "drcd": "zh"}
TARGETS = {"chroma": 400, "drcd": 180}
PRIMARY = {"chroma": "recall_4000c", "drcd": "recall_2000c"}
SECTIONS = {"chroma": (7000, 20), "drcd": (2500, 120)}  # characters, number: raw dispersion
CHANCE_SECTIONS = {"chroma": (3500, 3), "drcd": (1400, 8)}  # dispersion against random partitions
LM_SECTIONS = {"chroma": (3500, 12), "drcd": (1400, 12)}  # the language model reads these
CORRECTED: dict[str, tuple[int, Sequence[str]]] = {"chroma": (12, ()), "drcd": (12, OWN)}  # of those, and of strategies
SPREAD_SECTIONS = {"chroma": (1800, 2), "drcd": (900, 2)}  # it reads all random partitions of these
SCORES = ("li", "sd", "value", "li_corrected", "sd_corrected", "corrected")
DRAWS = 32
LI_SAMPLE = 16
LISTED = 10
AROUND = 90
_MANY_TEXTS = 10


class Study:
    """One set of texts, its strategies with their sizes, and where results go."""

    def __init__(self, bench: Path, name: str, out: Path) -> None:
        self.bench, self.name, self.out = bench, name, out
        lines = (bench / "data" / name / "docs.jsonl").read_text(encoding="utf-8").splitlines()
        self.texts = {row["doc_id"]: row["text"] for row in map(json.loads, lines)}
        self.cutters = {key: cut for key, cut in cutters(LANGUAGES[name]).items() if works(key, cut)}
        out.mkdir(parents=True, exist_ok=True)
        if not self.path("knobs").exists():
            target = TARGETS[name]
            self.write("knobs", {key: matched_knob(cut, self.texts, target) for key, cut in self.cutters.items()})
        self.knobs: dict[str, int] = self.read("knobs")

    def path(self, what: str) -> Path:
        return self.out / f"{self.name}-{what}.json"

    def write(self, what: str, value: Any) -> None:
        self.path(what).write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")

    def read(self, what: str) -> Any:
        return json.loads(self.path(what).read_text(encoding="utf-8")) if self.path(what).exists() else {}

    def rows(self, what: str) -> list[dict[str, Any]]:
        path = self.path(what).with_suffix(".jsonl")
        return [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []

    def cut(self, key: str, text: str) -> Spans:
        return self.cutters[key](text, self.knobs[key])

    def sections(self, sizes: dict[str, tuple[int, int]]) -> list[Document]:
        return [Document(text, (), source="section") for text in _sections(self.texts, *sizes[self.name])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(TARGETS), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"default: {','.join(PARTS)}")
    arguments = parser.parse_args()
    study = Study(arguments.bench, arguments.set, arguments.out)
    for part in arguments.parts.split(","):
        PARTS[part](study)


def _say(*what: object) -> None:
    print(*what, flush=True)


def _sections(texts: dict[str, str], size: int, number: int) -> list[str]:
    """Sections of about ``size`` characters, cut at line ends, spread over all texts: evenly over few texts too."""
    found = []
    for text in texts.values():
        found.append([])
        at = 0
        while len(text) - at > size // 2:
            end = text.find("\n", at + size)
            end = len(text) if end < 0 or end > at + 2 * size else end
            found[-1].append(text[at : min(end, at + 2 * size)].strip())
            at = end
    if len(texts) <= min(number, _MANY_TEXTS):
        share = -(-number // len(texts))
        spread = [[part[len(part) * (2 * i + 1) // (2 * share)] for part in found] for i in range(share)]
        return list(chain.from_iterable(spread))[:number]
    flat = list(chain.from_iterable(found))
    return flat[:: max(1, len(flat) // number)][:number]


# Parts of the study.


def _cut(study: Study) -> None:
    """Chunks files of all strategies, and their mean lengths."""
    found = {}
    for key in study.cutters:
        lengths = []
        with study.path(key).with_suffix(".jsonl").open("w", encoding="utf-8") as file:
            for doc_id, text in study.texts.items():
                for start, end in study.cut(key, text):
                    lengths.append(end - start)
                    row = {"doc_id": doc_id, "start": start, "end": end, "text": text[start:end]}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
        found[key] = {"knob": study.knobs[key], "mean_chars": np.mean(lengths), "sd_chars": np.std(lengths)}
        _say(key, found[key])
    study.write("lengths", found)


def _retrieval(study: Study) -> None:
    found: dict[str, Any] = {key: {} for key in study.cutters}
    for key in study.cutters:
        for embedder in ("bm25", "use"):
            result = study.path(f"{key}.{embedder}")
            command = [sys.executable, str(study.bench / "score.py"), "--split", "dev", "--set", study.name]
            command += ["--chunks", str(study.path(key).with_suffix(".jsonl")), "--embedder", embedder]
            if not result.exists():
                subprocess.run([*command, "--out", str(result)], check=True, capture_output=True)
            found[key][embedder] = json.loads(result.read_text(encoding="utf-8"))["metrics"][PRIMARY[study.name]]
            _say(key, embedder, found[key][embedder])
        study.write("retrieval", found)


def _score(study: Study, what: str, documents: Sequence[Document], draws: int, lm: str, keys: Any = ()) -> None:
    """One row of scores for every document and strategy, with the chunks and the text, for ``boundaries``."""
    models = load_models(lm=lm, text=documents[0].text)
    config = qchunker.ScoringConfig(draws=draws, li_sample=LI_SAMPLE)
    with study.path(what).with_suffix(".jsonl").open("w", encoding="utf-8") as file:
        for document in documents:
            for key in keys or study.cutters:
                spans = study.cut(key, document.text)
                row = score_row(qchunker.score(document, spans, models, config), document, key, spans, with_gram=False)
                file.write(json.dumps(row | {"spans": spans, "text": document.text}, ensure_ascii=False) + "\n")
                file.flush()
                _say(what, key, *(row[field] for field in SCORES))


def _dispersion(study: Study) -> None:
    """Dispersion alone needs no language model, so it can be had from more text."""
    _score(study, "dispersion", study.sections(SECTIONS), 0, "none")
    _score(study, "dispersion-chance", study.sections(CHANCE_SECTIONS), DRAWS, "none")


def _scores(study: Study) -> None:
    _score(study, "scores", study.sections(LM_SECTIONS), 0, "auto")


def _corrected(study: Study) -> None:
    """Against random partitions, of which the language model has to read far more."""
    number, keys = CORRECTED[study.name]
    _score(study, "corrected", study.sections(LM_SECTIONS)[:number], DRAWS, "auto", keys)


def _spread(study: Study) -> None:
    """Over random partitions read in full: LI against SD, and the spread of LI against what sampling estimates."""
    documents = study.sections(SPREAD_SECTIONS)
    models = load_models(text=documents[0].text)
    found = []
    for document in documents:
        draws, unit = random_partitions(document.text, study.cut("structure", document.text), DRAWS, 0)
        read = independence_at(document.text, (pair for draw in draws for pair in pairwise(draw)), models.lm)
        values = np.array([[read[pair] for pair in pairwise(draw)] for draw in draws])
        means = np.array([logical_independence(row.tolist()) for row in values])
        texts = [[document.text[slice(*span)] for span in draw] for draw in draws]
        dispersions = np.array([semantic_dispersion(models.embedder.encode(chunks)) for chunks in texts])
        # What the sampled mode expects: the variance between draws at one place, as if places were independent.
        sampled = float(values.var(axis=0, ddof=1).mean() / values.shape[1])
        found.append({
            "chars": len(document.text), "n_chunks": len(draws[0]), "unit": unit,
            "distinct_draws": len(set(draws)), "li_sd": float(means.std(ddof=1)),
            "dispersion_sd": float(dispersions.std(ddof=1)), "li_and_sd": _pearson(means, dispersions),
            "variance_complete": float(means.var(ddof=1)), "variance_sampled": sampled,
            "ratio": float(means.var(ddof=1)) / sampled,
            "ratio_interval": _ratio_interval(values), "boundary_sd": float(values.std()),
        })  # fmt: skip
        _say(found[-1])
        study.write("spread", found)


def _ratio_interval(values: np.ndarray) -> list[float]:
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(2000):
        drawn = values[rng.integers(0, len(values), len(values))]
        ratios.append(drawn.mean(axis=1).var(ddof=1) / (drawn.var(axis=0, ddof=1).mean() / values.shape[1]))
    return [float(bound) for bound in np.percentile(ratios, (2.5, 97.5))]


def _boundaries(study: Study) -> None:
    """The boundaries of lowest and of highest independence, to be read by a person."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in study.rows("scores"):
        if row["chunks"] in ("structure", "fixed"):
            for (before, chunk), li in zip(pairwise(row["spans"]), row["boundaries"], strict=True):
                left = row["text"][before[0] : before[1]][-AROUND:]
                right = row["text"][chunk[0] : chunk[1]][:AROUND]
                size = [before[1] - before[0], chunk[1] - chunk[0]]
                entry = {"li": li, "chunks": row["chunks"], "left": left, "right": right, "chars": size}
                found.setdefault((row["doc_id"], chunk[0]), entry)
    ordered = sorted(found.values(), key=lambda entry: entry["li"])
    lengths = [entry["chars"][1] for entry in ordered]
    values = [entry["li"] for entry in ordered]
    length = _pearson(_ranks(lengths), _ranks(values)) if values else None
    lowest, highest = ordered[:LISTED], ordered[::-1][:LISTED]
    study.write("boundaries", {"n": len(ordered), "length_and_li": length, "lowest": lowest, "highest": highest})


# Agreement between scores and retrieval over strategies.


def _report(study: Study) -> None:
    lengths, retrieval = study.read("lengths"), study.read("retrieval")
    table = {}
    for key in study.cutters:
        table[key] = dict(lengths.get(key, {})) | retrieval.get(key, {})
        for what, fields in _FIELDS.items():
            rows = [row for row in study.rows(what) if row["chunks"] == key and row["reason"] is None]
            for field in fields:
                values = [row[field] for row in rows if row[field] is not None]
                if values:
                    name = f"{what}.{field}" if what.startswith("dispersion") else field
                    mean = {"n": len(values), "mean": float(np.mean(values)), "interval": bootstrap_interval(values)}
                    table[key].setdefault(name, mean)
            if what == "scores":
                table[key]["n_chunks"] = [row["n_chunks"] for row in rows]
    signatures = sorted({row["signature"] for what in _FIELDS for row in study.rows(what)})
    study.write("report", {"strategies": table, "agreement": dict(_agreements(table)), "signatures": signatures})


_FIELDS = {
    "corrected": ("li_corrected", "sd_corrected", "corrected"),
    "scores": SCORES,
    "dispersion": ("sd",),
    "dispersion-chance": ("sd_corrected",),
}


def _agreements(table: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    names = dict.fromkeys(name for row in table.values() for name, value in row.items() if "interval" in str(value))
    for name in names:
        for metric in ("use", "bm25"):
            both = [(row[name]["mean"], row[metric]["mean"]) for row in table.values() if name in row and metric in row]
            if len(both) > 3:
                x, y = zip(*both, strict=True)
                yield f"{name} and {metric}", _agreement(x, y)


def _agreement(x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(x)}
    for name, a, b in (("pearson", x, y), ("spearman", _ranks(x), _ranks(y))):
        without = [_pearson([*a[:i], *a[i + 1 :]], [*b[:i], *b[i + 1 :]]) for i in range(len(a))]
        rng = np.random.default_rng(0)
        real = _pearson(a, b)
        chance = [abs(_pearson(a, rng.permutation(b))) >= abs(real) - 1e-12 for _ in range(5000)]
        found[name] = {"value": real, "leave_one_out": [min(without), max(without)], "p": float(np.mean(chance))}
    return found


def _pearson(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    return [sum(other < value for other in values) + (values.count(value) - 1) / 2 for value in values]


PARTS: dict[str, Callable[[Study], None]] = {
    "cut": _cut, "retrieval": _retrieval, "dispersion": _dispersion, "scores": _scores,
    "corrected": _corrected, "spread": _spread, "boundaries": _boundaries, "report": _report,
}  # fmt: skip


if __name__ == "__main__":
    main()
