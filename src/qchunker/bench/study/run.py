"""The whole study over results of runs: across methods, within documents, and mixtures fitted on another set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from qchunker.bench.dataset import CHARACTERS, BenchSet
from qchunker.bench.methods import CUTS_ONLY, FILE_PREFIX
from qchunker.bench.report import name_of
from qchunker.bench.run import data_of, write_json
from qchunker.bench.significance import holm
from qchunker.bench.spec import Spec
from qchunker.bench.study import completion, strategies, within
from qchunker.bench.study.candidates import CANDIDATES, lm_candidates
from qchunker.bench.study.sections import sections_of
from qchunker.bench.tables import Results
from qchunker.config import ScoringConfig
from qchunker.errors import ConfigError
from qchunker.models.load import Models
from qchunker.pipeline import DEBATE

Tell = Callable[[str, int, int], None]
Study = dict[str, Any]
POOLED = ("smallest budget", "mrr")
"""Names under which the metrics of several sets are put together."""

_VERSION = 1


@dataclass(frozen=True, slots=True)
class StudyConfig:
    """How much is read.

    Args:
        sections: of every set, that all methods cut and every direct score reads.
        section_chars: about their length, at least six chunks; the language model reads for the first length only.
        within_sections: of every set, that are cut at random.
        partitions: random ones of each.
        lm_partitions: sections and partitions that a language model reads too; (0, 0) leaves it out.
        completed: chunks of every set whose perplexity is read before and after completion.
        draws: random partitions that ChunkScore is corrected by.
        li_sample: boundaries of them that the language model reads.
    """

    sections: int = 12
    section_chars: int = 3000
    within_sections: int = 60
    partitions: int = 32
    lm_partitions: tuple[int, int] = (8, 12)
    completed: int = 40
    draws: int = 32
    li_sample: int = 16

    def __post_init__(self) -> None:
        for name, least in (("sections", 1), ("section_chars", 200), ("within_sections", 1), ("partitions", 8)):
            if getattr(self, name) < least:
                raise ConfigError(name, f"must be at least {least}, got {getattr(self, name)}")


def study(
    runs: Sequence[tuple[Spec, Results]], models: Callable[[str], Models], config: StudyConfig, folder: Path,
    tell: Tell = lambda *_: None,
) -> Study:  # fmt: skip
    """Everything about the direct scores of some results.

    Args:
        runs: specs with their results, one per set.
        models: embedder and language model for a text, so that Chinese gets one that knows it.
        config: how much is read.
        folder: where finished parts are kept.
        tell: is told of every step.
    """
    sets = [_of_set(spec, results, models, config, folder, tell) for spec, results in runs]
    return {
        "version": _VERSION,
        "config": _plain(config),
        "sets": sets,
        "pooled": _pooled(sets),
        "mixtures": _mixtures(sets),
    }


def _of_set(
    spec: Spec, results: Results, models: Callable[[str], Models], config: StudyConfig, folder: Path, tell: Tell
) -> dict[str, Any]:
    data = data_of(spec)
    loaded = models(data.documents[0].text)
    lm = {} if loaded.lm is None else lm_candidates(loaded.lm)
    lm_id = "none" if loaded.lm is None else loaded.lm.id
    parts = [results["signature"], json.dumps(_plain(config)), loaded.embedder.id, lm_id, *spec.methods]
    key = "\0".join([*parts, *map(str, spec.targets)])
    keep = _Kept(folder, hashlib.sha256(key.encode()).hexdigest()[:16])
    metrics = [results["set"]["primary"], "mrr"]
    # The same cuts twice would count twice; what completion adds is no matter of cuts.
    both = {DEBATE, CUTS_ONLY} <= set(spec.methods)
    methods = [name for name in spec.methods if not name.startswith(FILE_PREFIX) and not (both and name == DEBATE)]
    table: list[dict[str, Any]] = []
    for target in spec.targets:
        rows = keep(f"direct-{target}", partial(_direct, results, data, methods, target, loaded, lm, config, tell))
        table += strategies.table_of(rows, results, metrics)
    budget_metrics = _within_metrics(data)
    target = spec.targets[0]
    drawn = keep("within", partial(_within, data, target, loaded, config, tell))
    read = keep("within-lm", partial(_within_lm, data, target, loaded, lm, config, tell)) if lm else []
    easier = keep("completion", partial(_completion, data, target, loaded, config, tell)) if lm else []
    agreed = within.agreement(drawn, budget_metrics)
    return {
        "name": name_of(results), "signature": results["signature"], "target": target,
        "lm": lm_id, "metrics": metrics, "within_metrics": budget_metrics,
        "table": table, "correlations": strategies.correlations(table),
        "weights": [one for name in table[0]["metrics"] for one in strategies.weights(table, name)],
        "within": _corrected(agreed), "gains": within.gains(drawn, budget_metrics), "n_within": len(drawn),
        "within_lm": _corrected(within.agreement(read, budget_metrics)), "n_within_lm": len(read), "rows": drawn,
        "completion": completion.differences(easier), "perplexities": easier,
    }  # fmt: skip


def _direct(
    results: Results, data: BenchSet, methods: Sequence[str], target: int, loaded: Models, lm: Mapping[str, Any],
    config: StudyConfig, tell: Tell,
) -> list[dict[str, Any]]:  # fmt: skip
    sections = sections_of(data, max(config.section_chars, 6 * target), config.sections, loaded.embedder)
    scoring = ScoringConfig(draws=config.draws, li_sample=config.li_sample)
    if target != results["spec"]["targets"][0]:
        loaded, lm = replace(loaded, lm=None), {}  # it reads for one length, which takes long enough
    extra = {name: one for name, one in lm.items() if name in ("boundary clarity", "low stickiness")}
    candidates = {name: one for name, one in CANDIDATES.items() if name != "SD"} | extra
    return strategies.direct_scores(results, methods, target, sections, candidates, loaded, scoring, tell)


def _within(data: BenchSet, target: int, loaded: Models, config: StudyConfig, tell: Tell) -> list[dict[str, Any]]:
    sections = sections_of(data, config.section_chars, config.within_sections, loaded.embedder, least_questions=1)
    return within.scored(sections, data, target, config.partitions, CANDIDATES, loaded.embedder, tell)


def _within_lm(
    data: BenchSet, target: int, loaded: Models, lm: Mapping[str, Any], config: StudyConfig, tell: Tell
) -> list[dict[str, Any]]:
    number, partitions = config.lm_partitions
    sections = sections_of(data, config.section_chars, number, loaded.embedder, least_questions=1)
    # Stickiness reads every pair of several chunks, which would take longer than all else together.
    read = {name: one for name, one in lm.items() if name != "low stickiness"}
    return within.scored(sections, data, target, partitions, {**CANDIDATES, **read}, loaded.embedder, tell)


def _completion(data: BenchSet, target: int, loaded: Models, config: StudyConfig, tell: Tell) -> list[dict[str, Any]]:
    chunks = completion.completed_chunks(data, target, config.completed, loaded)
    return [] if loaded.lm is None else completion.perplexities(chunks, loaded.lm, tell)


def _within_metrics(data: BenchSet) -> list[str]:
    """The smallest budget, at which partitions differ most, and the rank."""
    smallest = min(data.budgets)
    has_places = data.budget_unit == CHARACTERS
    first = (
        f"recall_{smallest}"
        if has_places
        else f"hit_{smallest}"
        if data.questions[0].documents
        else f"answer_recall_{smallest}"
    )
    return [first, "mrr"] if has_places or data.questions[0].documents else [first]


def _corrected(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """p-values corrected for the number of scores that were tried, per metric."""
    for metric in dict.fromkeys(row["metric"] for row in rows):
        found = holm({row["score"]: row["p"] for row in rows if row["metric"] == metric})
        for row in rows:
            if row["metric"] == metric:
                row["p_holm"] = found[row["score"]]
    return rows


def _pooled(sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Agreement within the sections of all sets together; recall or hit at the smallest budget, and the rank."""
    if len(sets) < 2:
        return []
    rows = []
    for one in sets:
        named = dict(zip(POOLED, one["within_metrics"], strict=False))
        rows += [{**row, "metrics": {name: row["metrics"][metric] for name, metric in named.items()}}
                 for row in one["rows"]]  # fmt: skip
    metrics = [name for name in POOLED if all(name in row["metrics"] for row in rows)]
    return _corrected(within.agreement(rows, metrics))


def _mixtures(sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A mixture of all scores that need no language model, fitted on each set and tested on the others."""
    found = []
    for fitted_on in sets:
        for kind, metric in enumerate(fitted_on["within_metrics"]):
            if len(fitted_on["rows"]) < 5:
                continue
            weights = within.fitted(fitted_on["rows"], metric, list(CANDIDATES))
            for tested_on in sets:
                if tested_on is fitted_on or kind >= len(tested_on["within_metrics"]) or not tested_on["rows"]:
                    continue
                other = tested_on["within_metrics"][kind]
                agreed = within.agreement(within.mixed(tested_on["rows"], weights, "mixture"), [other])
                found += [{"fitted_on": fitted_on["name"], "tested_on": tested_on["name"], "weights": weights} | one
                          for one in agreed]  # fmt: skip
    return found


class _Kept:
    """Parts of the study on disk, made once."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder / "study" / key

    def __call__(self, name: str, make: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        path = self._folder / f"{name}.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = None
        if isinstance(found, list):
            return found
        made = make()
        write_json(path, made)
        return made


def _plain(config: StudyConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in StudyConfig.__slots__}
