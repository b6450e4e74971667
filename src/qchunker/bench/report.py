"""The report of runs: lengths, what each method reaches, and its difference from the baseline, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from qchunker.bench.document import Plot, Section, Table
from qchunker.bench.plots import intervals
from qchunker.bench.tables import Lengths, Results, Row, lengths_of, rows_of
from qchunker.errors import ConfigError

OF_CUTS = frozenset({"precision_omega", "whole"})
"""Metrics that no retriever takes part in."""

FEWEST_CLUSTERS = 20
FEW_CLUSTERS = f"Fewer than {FEWEST_CLUSTERS} clusters: intervals are too narrow, and nothing can be concluded."
LEVEL = 0.05
"""Of the corrected p-value at which a difference is marked."""


def sections_of(results: Sequence[Results], metrics: Sequence[str] = (), *, with_plots: bool = True) -> list[Section]:
    """Sections of one or more results, in their order.

    Args:
        results: of runs.
        metrics: shown besides each set's primary one.
        with_plots: whether plots are drawn; they need the extra ``bench``.
    """
    known = {name for one in results for name in one["metrics"]}
    unknown = next((name for name in metrics if name not in known), None)
    if unknown is not None:
        raise ConfigError("metric", f"unknown: {unknown!r}", hint=f"known: {', '.join(sorted(known))}")
    return [section for one in results for section in _sections(one, metrics, with_plots)]


def _sections(results: Results, metrics: Sequence[str], with_plots: bool) -> Iterator[Section]:
    data, spec = results["set"], results["spec"]
    primary = data["primary"]
    wanted = list(dict.fromkeys([primary, *(one for one in metrics if one in results["metrics"])]))
    lengths, rows = list(lengths_of(results)), list(rows_of(results, wanted))
    yield Section(name_of(results), [_about(results), f"`{results['signature']}`"])
    for target in spec["targets"]:
        at_target = [one for one in lengths if one.target == target]
        notes = [note for one in at_target for note in _doubts(one)]
        yield Section(f"Chunks of {target} characters", notes, [_length_table(at_target, data)], level=3)
        for metric in wanted:
            found = [row for row in rows if (row.target, row.metric) == (target, metric)]
            if metric in OF_CUTS:
                found = [row for row in found if row.retriever == spec["retrievers"][0]]
            plots = [_plot(found, metric, spec["baseline"])] if with_plots and len(spec["methods"]) > 1 else []
            yield Section(
                f"{metric}, {target} characters", _verdict(found, spec), _metric_tables(found, spec), plots, 3
            )


def name_of(results: Results) -> str:
    """Name of the set, its language, and how much of it where that is not all."""
    data, asked = results["set"], results["spec"].get("documents")
    part = f", {data['documents']} documents" if asked else ""
    return f"{data['name']} ({data['language']}{part})"


def _about(results: Results) -> str:
    data, spec = results["set"], results["spec"]
    notes = "".join(f" {note}." for note in data["notes"])
    return (
        f"{data['documents']:,} documents of {data['characters']:,} characters, {len(results['questions']):,} "
        f"questions in {len(set(results['clusters'])):,} clusters. Seeds {', '.join(map(str, spec['seeds']))}. "
        f"Retrieved text is read within {', '.join(map(str, data['budgets']))} {data['budget_unit']}; "
        f"judged by {data['primary']}. Licence: {data['licence']}.{notes}"
    )


def _doubts(lengths: Lengths) -> Iterator[str]:
    if not lengths.matched:
        yield (
            f"**{lengths.method}** has a mean length of {lengths.mean_chars:.0f}, too far from {lengths.target}: "
            "do not compare it."
        )
    if lengths.coverage < 1:
        yield (
            f"**{lengths.method}** leaves {1 - lengths.coverage:.2%} of the text in no chunk; it is ranked "
            "like chunks, and counts for nothing."
        )


def _length_table(lengths: Sequence[Lengths], data: Results) -> Table:
    budget = sorted(data["budgets"])[-1] if "mean" not in data["primary"] else data["budgets"][-1]
    unit = "characters" if data["budget_unit"] == "characters" else "tokens"
    header = [
        "method",
        "mean length ± sd",
        "embedded",
        "chunks",
        f"chunks in {budget} {unit}",
        "s per 100,000 characters",
    ]
    rows = [
        [one.method, f"{one.mean_chars:.0f} ± {one.sd_chars:.0f}", f"{one.text_chars:.0f}", f"{one.n_chunks:,.0f}",
         f"{budget / one.text_chars:.1f}", f"{one.seconds:.2g}"]
        for one in lengths
    ]  # fmt: skip
    return Table(header, rows)


def _metric_tables(rows: Sequence[Row], spec: Results) -> list[Table]:
    """A table per retriever; one where no retriever takes part."""
    names = dict.fromkeys(row.retriever for row in rows)
    of_cuts = rows[0].metric in OF_CUTS
    rest = ["value [95 %]", f"difference from {spec['baseline']} [95 %]", "p"]
    return [
        Table(["method" if of_cuts else name, *rest], [shown(row) for row in rows if row.retriever == name])
        for name in names
    ]


def shown(row: Row) -> list[str]:
    """A method's value with its interval, its difference with interval, and the corrected p."""
    value = f"{row.value.mean:.3f} [{row.value.low:.3f}, {row.value.high:.3f}]"
    found = row.against
    if found is None:
        return [row.method, value, "", ""]
    difference = f"{found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    if row.p_holm is None or isnan(row.p_holm):
        return [row.method, value, difference, ""]
    return [row.method, value, f"**{difference}**" if row.p_holm < LEVEL else difference, f"{row.p_holm:.3f}"]


def _verdict(rows: Sequence[Row], spec: Results) -> list[str]:
    """Which methods differ from the baseline, and in which direction, after correction."""
    said = []
    for retriever in dict.fromkeys(row.retriever for row in rows):
        found = [row for row in rows if row.retriever == retriever and row.against and row.p_holm is not None]
        sure = [row for row in found if row.p_holm is not None and row.p_holm < LEVEL]
        better = [row.method for row in sure if row.against and row.against.difference > 0]
        worse = [row.method for row in sure if row.against and row.against.difference < 0]
        parts = ([f"better: {', '.join(better)}"] if better else []) + ([f"worse: {', '.join(worse)}"] if worse else [])
        smallest = max((row.against.detectable for row in found if row.against), default=0.0)
        seen = f" (found from about {smallest:.3f} on)" if smallest else ""
        name = "" if rows[0].metric in OF_CUTS else f"{retriever}: "
        said.append(f"{name}{'; '.join(parts) or 'no difference'}{seen}")
    if rows and rows[0].value.n_clusters == 1:
        return ["All questions are of one cluster, which tells nothing about others."]
    few = [FEW_CLUSTERS] if rows and rows[0].value.n_clusters < FEWEST_CLUSTERS else []
    return [
        *few,
        f"Against {spec['baseline']}, p corrected for the number of methods (Holm), intervals not. "
        + ". ".join(said)
        + ".",
    ]


def _plot(rows: Sequence[Row], metric: str, baseline: str) -> Plot:
    methods = list(dict.fromkeys(row.method for row in rows if row.against is not None))
    found = {(row.method, row.retriever): row.against for row in rows}
    retrievers = list(dict.fromkeys(row.retriever for row in rows))
    data = []
    for method in methods:
        against = {name: found[method, name] for name in retrievers}
        data.append((method, {name: (one.difference, one.low, one.high) for name, one in against.items() if one}))
    caption = f"{metric}: difference from {baseline}, 95 % intervals"
    return Plot(caption, intervals(data, True, f"{metric} - {baseline}"))
