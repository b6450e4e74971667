"""The study as sections of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from qchunker.bench.document import Plot, Section, Table
from qchunker.bench.plots import lines, points
from qchunker.bench.study.strategies import GRID

_SURE = 0.05
Row = Mapping[str, Any]


def study_sections(study: Mapping[str, Any], *, with_plots: bool = True) -> list[Section]:
    """Across methods and within documents, set by set, then the mixtures."""
    sections = [section for one in study["sets"] for section in _of_set(one, with_plots)]
    if study["pooled"]:
        names = ", ".join(one["name"] for one in study["sets"])
        text = f"All sections of {names} together; the metric at each set's smallest budget, and the reciprocal rank."
        sections.append(Section("Within documents, all sets", [text], [_within_table(study["pooled"], [])]))
    return [*sections, _mixture_section(study)] if study["mixtures"] else sections


def _of_set(found: Row, with_plots: bool) -> Iterator[Section]:
    about = (
        f"Language model: {found['lm']}. A score is the mean over sections that every method cut; a metric the mean "
        "over all questions of the set."
    )
    yield Section(f"Direct scores on {found['name']}", [about, f"`{found['signature']}`"])
    for target in dict.fromkeys(row["target"] for row in found["table"]):
        rows = [row for row in found["table"] if row["target"] == target]
        yield Section(
            f"Methods at {target} characters", [], [_method_table(rows)], _plots(found, rows, target, with_plots), 3
        )
        agreed = [row for row in found["correlations"] if row["target"] == target]
        yield Section(
            f"Correlation over methods, {target} characters", [_CORRELATION], [_correlation_table(agreed)], level=3
        )
        best = [row for row in found["weights"] if row["target"] == target]
        if best:
            yield Section(f"The weight of LI, {target} characters", [_WEIGHT], [_weight_table(best)], level=3)
    text = (
        f"{found['n_within']} sections, random partitions of each into as many chunks of about {found['target']} "
        "characters; rank correlation within a section, mean over sections. p by signs of the sections, corrected for "
        "the number of scores (Holm). Gain: the partition with the best score against the mean one; the oracle knows "
        "the questions."
    )
    yield Section(
        f"Within documents of {found['name']}", [text], [_within_table(found["within"], found["gains"])], level=3
    )
    if found["completion"]:
        yield _completion_section(found, with_plots)
    if found["within_lm"]:
        text = f"{found['n_within_lm']} sections that a language model read too."
        yield Section(f"Within documents of {found['name']}, with a language model", [text],
                      [_within_table(found["within_lm"], [])], level=3)  # fmt: skip


_CORRELATION = (
    "Pearson with its range when one method is left out and p by permutation, Spearman, and Pearson given the spread "
    "of lengths. Over so few methods a correlation says little, and a wide range that it is made by one of them."
)
_WEIGHT = (
    "The weight of LI in ChunkScore that follows each metric best, on the grid of .01 and in closed form. Its p "
    "chooses the weight anew for every permutation. The paper finds .3."
)


def _method_table(rows: Sequence[Row]) -> Table:
    names = list(rows[0]["scores"])
    header = ["method", "spread", *names, *rows[0]["metrics"]]
    return Table(header, [
        [row["method"], f"{row['spread']:.2f}", *(_number(row["scores"].get(name)) for name in names),
         *(f"{value:.3f}" for value in row["metrics"].values())]
        for row in rows
    ])  # fmt: skip


def _correlation_table(rows: Sequence[Row]) -> Table:
    header = ["score and metric", "n", "Pearson [leave one out]", "p", "Spearman", "given the spread"]
    return Table(header, [
        [f"{row['score']} and {row['metric']}", str(row["n"]), _marked(f"{row['pearson']:+.2f}", row["p"])
         + f" [{row['low']:+.2f}, {row['high']:+.2f}]", f"{row['p']:.3f}", f"{row['spearman']:+.2f}",
         f"{row['given_spread']:+.2f}"]
        for row in rows
    ])  # fmt: skip


def _weight_table(rows: Sequence[Row]) -> Table:
    header = ["metric", "n", "weight on the grid", "in closed form", "Pearson there", "p", "Pearson at .3"]
    return Table(header, [
        [row["metric"], str(row["n"]), f"{row['grid']:.2f}", f"{row['closed']:.3f}", f"{row['pearson']:+.2f}",
         f"{row['p']:.3f}", f"{row['curve'][30]:+.2f}"]
        for row in rows
    ])  # fmt: skip


def _within_table(rows: Sequence[Row], gains: Sequence[Row]) -> Table:
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    names = list(dict.fromkeys(row["score"] for row in (*rows, *gains)))
    header = ["score"]
    for metric in metrics:
        header += [f"{metric}: rho [95 %]", "p"] + ([f"{metric}: gain [95 %]"] if gains else [])
    made = []
    for name in names:
        cells = [name]
        for metric in metrics:
            row = next((one for one in rows if (one["score"], one["metric"]) == (name, metric)), None)
            rho = f"{row['rho']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]" if row else ""
            cells += [_marked(rho, row["p_holm"] if row else 1.0), f"{row['p_holm']:.3f}" if row else ""]
            if gains:
                one = next(one for one in gains if (one["score"], one["metric"]) == (name, metric))
                cells.append(f"{one['gain']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]")
        made.append(cells)
    return Table(header, made)


def _completion_section(found: Row, with_plots: bool) -> Section:
    rows = [row for row in found["perplexities"] if "left_out" not in row]
    text = (
        f"{len(rows)} chunks that completion adds something to. Perplexity per token, paired by chunk, below 0 is "
        "easier to read. Longer text has a lower perplexity whatever it says, so the control has other text of its "
        "document in the same places, equally long."
    )
    table = Table(["difference", "before", "after", "after - before [95 %]", "p"], [
        [one["what"], f"{one['a']:.1f}", f"{one['b']:.1f}",
         _marked(f"{one['difference']:+.2f} [{one['low']:+.2f}, {one['high']:+.2f}]", one["p_bootstrap"]),
         f"{one['p_bootstrap']:.3f}"]
        for one in found["completion"]
    ])  # fmt: skip
    places = [at / max(1, len(rows) - 1) for at in range(len(rows))]
    curves = {name: (places, sorted(row[name] for row in rows)) for name in ("original", "completed", "control")}
    plots = [Plot("Perplexity of all chunks, lowest first", lines(curves, "share of chunks", "perplexity"))]
    return Section(f"Perplexity before and after completion on {found['name']}", [text], [table],
                   plots if with_plots else [], 3)  # fmt: skip


def _mixture_section(study: Mapping[str, Any]) -> Section:
    header = ["fitted on", "tested on", "metric", "rho [95 %]", "p", "weights"]
    rows = [
        [one["fitted_on"], one["tested_on"], one["metric"], _marked(f"{one['rho']:+.3f}", one["p"])
         + f" [{one['low']:+.3f}, {one['high']:+.3f}]", f"{one['p']:.3f}",
         ", ".join(f"{name} {weight:+.2f}" for name, weight in one["weights"].items())]
        for one in study["mixtures"]
    ]  # fmt: skip
    text = "Ridge regression on ranks within sections of one set, read on another; nothing was chosen on the other."
    return Section("A mixture of scores", [text], [Table(header, rows)])


def _plots(found: Row, rows: Sequence[Row], target: int, with_plots: bool) -> list[Plot]:
    if not with_plots:
        return []
    metric = next(iter(rows[0]["metrics"]))
    name = "value" if all("value" in row["scores"] for row in rows) else "sd"
    data = [(row["method"], row["scores"][name], row["metrics"][metric]) for row in rows if name in row["scores"]]
    plots = [Plot(f"{name} and {metric}, a point per method", points(data, name, metric))] if data else []
    curves = {row["metric"]: (_GRID, row["curve"]) for row in found["weights"] if row["target"] == target}
    if curves:
        plots.append(Plot("Pearson of ChunkScore with each metric over the weight of LI",
                          lines(curves, "weight of LI", "Pearson")))  # fmt: skip
    return plots


_GRID = [at / (GRID - 1) for at in range(GRID)]


def _marked(text: str, p: float) -> str:
    return f"**{text}**" if text and p < _SURE else text


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
