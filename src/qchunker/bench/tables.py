"""Results as rows: what each method reaches, and how sure its difference from the baseline is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from qchunker.bench.run import Result
from qchunker.bench.significance import Comparison, Estimate, compare, estimate, holm
from qchunker.errors import InputError

Results = Mapping[str, Any]
T = TypeVar("T")
Floats = npt.NDArray[np.float64]


class Lengths(NamedTuple):
    """The chunks of one method at one target, over its seeds.

    Args:
        method: its name.
        target: mean length that all methods are brought to.
        mean_chars: that came out.
        sd_chars: spread of the lengths.
        text_chars: mean length of what is embedded and charged to the budget.
        n_chunks: over all documents.
        coverage: share of the text that is in some chunk.
        seconds: to chunk 100,000 characters, with the search for the size.
        matched: whether the mean length is within the tolerance for every seed.
    """

    method: str
    target: int
    mean_chars: float
    sd_chars: float
    text_chars: float
    n_chunks: float
    coverage: float
    seconds: float
    matched: bool


class Row(NamedTuple):
    """One method at one target, by one metric and one retriever, averaged over its seeds.

    Args:
        method: its name.
        target: mean length in characters.
        retriever: that ranked its chunks.
        metric: name of the metric.
        value: with its interval.
        against: its difference from the baseline; None for the baseline itself.
        p_holm: of that difference, the larger p of bootstrap and t-test, corrected for the number of methods; None for
            the baseline, and where a single cluster tells nothing.
    """

    method: str
    target: int
    retriever: str
    metric: str
    value: Estimate
    against: Comparison | None
    p_holm: float | None


def lengths_of(results: Results) -> Iterator[Lengths]:
    """A row per method and target, in the order of the spec."""
    spec, characters = results["spec"], results["set"]["characters"]
    for target in spec["targets"]:
        for method in spec["methods"]:
            cells = cells_at(results, method, target)
            off = max(abs(cell["mean_chars"] - cell["shifted"]) / cell["shifted"] for cell in cells)
            yield Lengths(
                method, target, _mean(cells, "mean_chars"), _mean(cells, "sd_chars"), _mean(cells, "text_chars"),
                _mean(cells, "n_chunks"), _mean(cells, "coverage"), _mean(cells, "seconds") / characters * 100_000,
                off <= spec["tolerance"],
            )  # fmt: skip


def rows_of(results: Results, metrics: Sequence[str] | None = None) -> Iterator[Row]:
    """A row per target, retriever, metric and method.

    Args:
        results: of a run.
        metrics: that are wanted; by default the set's primary one.
    """
    spec = results["spec"]
    for target in spec["targets"]:
        for retriever in spec["retrievers"]:
            for metric in metrics or [results["set"]["primary"]]:
                yield from _compared(results, target, retriever, metric)


def values_over_seeds(results: Results, method: str, target: int, retriever: str, metric: str) -> Floats:
    """One value per question, averaged over the seeds.

    Shapes: (questions,).
    Raises: InputError: if the results have no such metric, retriever, method or target.
    """
    cells = cells_at(results, method, target)
    try:
        return np.asarray(np.mean([cell["values"][retriever][metric] for cell in cells], axis=0))
    except KeyError as error:
        known = ", ".join(results["metrics"])
        raise InputError(f"the results have no {error}", hint=f"metrics: {known}") from error


def cells_at(results: Results, method: str, target: int) -> list[Result]:
    """The cells of a method at a target, one per seed.

    Raises:
        InputError: if there is none.
    """
    found = [cell for cell in results["cells"] if (cell["method"], cell["target"]) == (method, target)]
    if not found:
        raise InputError(f"the results have no method {method!r} at {target} characters")
    return found


def paired(first: Results, second: Results, method: str, target: int, retriever: str, metric: str) -> Comparison:
    """The same method in two results, question by question.

    Raises:
        InputError: if they are of different data or questions, or lack the method.
    """
    for name in ("name", "fingerprint"):
        if first["set"][name] != second["set"][name]:
            raise InputError(
                f"the {name} of the sets differ: {first['set'][name]} and {second['set'][name]}",
                hint="compare results of the same data",
            )
    if first["questions"] != second["questions"]:
        raise InputError("the questions differ", hint="run both with the same questions")
    a, b = (values_over_seeds(one, method, target, retriever, metric) for one in (first, second))
    return compare(a, b, first["clusters"])


def corrected_p(comparisons: Mapping[T, Comparison]) -> dict[T, float]:
    """The larger p of bootstrap and t-test, corrected for the number of comparisons; nothing where one has no p.

    The bootstrap alone is too sure where clusters are few.
    """
    found = {str(at): max(one.p_bootstrap, one.p_t) for at, one in enumerate(comparisons.values())}
    if not found or any(map(isnan, found.values())):
        return {}
    return dict(zip(comparisons, holm(found).values(), strict=True))


def _compared(results: Results, target: int, retriever: str, metric: str) -> Iterator[Row]:
    spec, clusters = results["spec"], results["clusters"]
    values = {name: values_over_seeds(results, name, target, retriever, metric) for name in spec["methods"]}
    base = values[spec["baseline"]]
    against = {name: compare(base, found, clusters) for name, found in values.items() if name != spec["baseline"]}
    corrected = corrected_p(against)
    for name, found in values.items():
        yield Row(name, target, retriever, metric, estimate(found, clusters), against.get(name), corrected.get(name))


def _mean(cells: Sequence[Result], name: str) -> float:
    return float(np.mean([cell[name] for cell in cells]))
