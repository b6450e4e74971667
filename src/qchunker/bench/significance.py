"""Is a difference between two methods more than luck? Never a mean without an interval.

Questions about the same document, or the same event, stand or fall together, so where clusters are given they are what
is drawn anew. Every method is judged on the same questions, in the same order; a question without a value is an error
of the caller and is never left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qchunker.bench.metrics.packages import bench_package
from qchunker.errors import ConfigError, ScoringError

Floats = npt.NDArray[np.float64]

DRAWS = 10_000
LEVEL = 0.95
_COUNTS_AT_ONCE = 2_000_000
_MOST_KEPT = 30_000_000

_Counts = npt.NDArray[np.unsignedinteger]


class Estimate(NamedTuple):
    """A mean with what is known about it.

    Args:
        mean: over all questions.
        low: end of the interval; nan if there is a single cluster, which tells nothing about others.
        high: its other end.
        n: number of questions.
        n_clusters: of the documents or events that they are about; n where none are given.
    """

    mean: float
    low: float
    high: float
    n: int
    n_clusters: int


class Comparison(NamedTuple):
    """Two methods on the same questions.

    Args:
        a: mean of the first.
        b: mean of the second.
        difference: b - a; positive where the second is higher.
        low: end of the interval of the difference.
        high: its other end.
        p_bootstrap: two-sided, from the paired bootstrap; at least one over the number of draws.
        p_t: two-sided, from the paired t-test.
        n: number of questions.
        n_clusters: of the documents or events that they are about; n where none are given.
        detectable: the smallest true difference that this comparison would find four times in five.

    With a single cluster ``low``, ``high``, both p-values and ``detectable`` are nan.
    """

    a: float
    b: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_t: float
    n: int
    n_clusters: int
    detectable: float


def estimate(
    values: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """Mean of one value per question, with a percentile interval of the bootstrap over clusters.

    The interval is too narrow for few clusters: with ten it holds the true mean about nine times in ten.

    Args:
        values: one per question.
        clusters: of each question; None where questions are independent.
        level: of the interval.
        draws: of the bootstrap.
        seed: the same seed gives the same numbers.

    Raises:
        ScoringError: if there is no value or one is not finite.
        ConfigError: if lengths differ or an option is impossible.
    """
    checked = _checked("values", values)
    index = _cluster_index(clusters, len(checked))
    n_clusters = int(index.max()) + 1
    low, high = _interval(_bootstrap_means(checked, index, draws, seed), level) if n_clusters > 1 else (math.nan,) * 2
    return Estimate(float(checked.mean()), low, high, len(checked), n_clusters)


def compare(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 0,
) -> Comparison:
    """The second method against the first, question by question.

    Args:
        a: values of the first, one per question.
        b: values of the second, in the same order.
        clusters: of each question; None where questions are independent.
        level: of the interval.
        draws: of the bootstrap.
        seed: the same seed gives the same numbers.

    Raises: as ``estimate``.
    """
    first, second = _checked("a", a), _checked("b", b)
    if len(first) != len(second):
        hint = "judge both on the same questions"
        raise ConfigError("b", f"has {len(second)} values, a has {len(first)}", hint=hint)
    index = _cluster_index(clusters, len(first))
    n_clusters = int(index.max()) + 1
    differences = second - first
    known = partial(
        Comparison,
        float(first.mean()),
        float(second.mean()),
        float(differences.mean()),
        n=len(first),
        n_clusters=n_clusters,
    )
    if n_clusters == 1:
        return known(low=math.nan, high=math.nan, p_bootstrap=math.nan, p_t=math.nan, detectable=math.nan)
    means = _bootstrap_means(differences, index, draws, seed)
    low, high = _interval(means, level)
    return known(
        low=low,
        high=high,
        p_bootstrap=_two_sided(means),
        p_t=_t_test(differences, index),
        detectable=minimal_detectable_effect(float(means.std())),
    )


def paired_t_test(
    a: Sequence[float] | Floats, b: Sequence[float] | Floats, clusters: Sequence[Hashable] | None = None
) -> float:
    """Two-sided p of the paired t-test.

    With clusters the standard error is that of the cluster sums, with one degree of freedom less than clusters; where
    each question is its own cluster this is the plain test. Differences that are all equal give 1 if they are zero and
    0 if they are not.

    Raises: as ``compare``; ScoringError also if there is a single cluster.
    """
    first, second = _checked("a", a), _checked("b", b)
    if len(first) != len(second):
        raise ConfigError("b", f"has {len(second)} values, a has {len(first)}", hint="judge both on the same questions")
    index = _cluster_index(clusters, len(first))
    if not index.max():
        raise ScoringError("a single pair, or a single cluster, has no t-test")
    return _t_test(second - first, index)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values of several methods, each against the same one, corrected for their number (Holm, 1979).

    Compare what comes back with the level itself: it is never below the given p.

    Raises:
        ScoringError: if a p-value does not lie within 0 to 1.
    """
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise ScoringError(f"{name}: {p} is no p-value", hint="leave the comparison out, and say so")
    corrected: dict[str, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[name]))
        corrected[name] = highest
    return {name: corrected[name] for name in p_values}


def minimal_detectable_effect(standard_error: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest true difference that a two-sided test at ``alpha`` finds with this probability.

    2.8 standard errors of the difference for the usual options; normal approximation.

    Raises:
        ConfigError: if alpha or power do not lie between 0 and 1.
    """
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise ConfigError(name, f"must lie between 0 and 1, got {value}", hint="0.05 and 0.8 are usual")
    normal = NormalDist()
    return (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) * standard_error


def _bootstrap_means(values: Floats, index: npt.NDArray[np.int64], draws: int, seed: int) -> Floats:
    """Means over clusters drawn with replacement."""
    if draws < 1:
        raise ConfigError("draws", f"must be 1 or above, got {draws}", hint="10000 is usual")
    sums, sizes = np.bincount(index, weights=values), np.bincount(index)
    n_clusters = len(sums)
    is_small = n_clusters * draws <= _MOST_KEPT
    drawn = _kept_draws(n_clusters, draws, seed) if is_small else _draws(n_clusters, draws, seed)
    return np.concatenate(
        [(counts @ sums) / (counts @ sizes) for counts in (piece.astype(np.float64) for piece in drawn)]
    )


@lru_cache(maxsize=2)
def _kept_draws(n_clusters: int, draws: int, seed: int) -> tuple[_Counts, ...]:
    """Drawing takes most of the time, and all metrics and methods of a set share it."""
    return tuple(_draws(n_clusters, draws, seed))


def _draws(n_clusters: int, draws: int, seed: int) -> Iterator[_Counts]:
    """How often each cluster is drawn, (n, n_clusters) at a time, so that memory stays small."""
    rng = np.random.default_rng(seed)
    chances = np.full(n_clusters, 1 / n_clusters)
    step = max(1, _COUNTS_AT_ONCE // n_clusters)
    narrow: type[np.unsignedinteger] = np.uint16 if n_clusters < 1 << 16 else np.uint32
    for at in range(0, draws, step):
        yield rng.multinomial(n_clusters, chances, size=min(step, draws - at)).astype(narrow)


def _interval(means: Floats, level: float) -> tuple[float, float]:
    if not 0 < level < 1:
        raise ConfigError("level", f"must lie between 0 and 1, got {level}", hint="0.95 is usual")
    low, high = np.quantile(means, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def _two_sided(means: Floats) -> float:
    """Twice the share of draws on the other side of 0; draws cannot show that it is smaller than one of them."""
    shares = float((means <= 0).mean()), float((means >= 0).mean())
    return min(1.0, max(2 * min(shares), 1 / len(means)))


def _t_test(differences: Floats, index: npt.NDArray[np.int64]) -> float:
    mean, n = differences.mean(), len(differences)
    if (differences == differences[0]).all():
        return float(differences[0] == 0)
    residuals = np.bincount(index, weights=differences - mean)
    n_clusters = len(residuals)
    error = math.sqrt(n_clusters / (n_clusters - 1) * float(residuals @ residuals)) / n
    if not error:
        return float(mean == 0)
    t = bench_package("scipy.stats", "the t-test").t
    return float(2 * t.sf(abs(mean) / error, n_clusters - 1))


def _checked(name: str, values: Sequence[float] | Floats) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not found.size:
        raise ScoringError(f"{name}: no value to take the mean of")
    if not np.isfinite(found).all():
        raise ScoringError(
            f"{name}: {int((~np.isfinite(found)).sum())} of {found.size} values are not finite",
            hint="give a failed question its lowest score; leaving it out would change what the mean is of",
        )
    return found


def _cluster_index(clusters: Sequence[Hashable] | None, n: int) -> npt.NDArray[np.int64]:
    """The number of the cluster of each value, in order of first appearance."""
    if clusters is None:
        return np.arange(n)
    if len(clusters) != n:
        raise ConfigError("clusters", f"has {len(clusters)} names for {n} values", hint="name the cluster of each")
    places = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    return np.array([places[name] for name in clusters], dtype=np.int64)
