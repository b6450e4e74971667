"""Does a score follow the results? Correlation over a handful of methods, with what makes it doubtful.

Over nine methods a high correlation is weak evidence, and weaker when a weight was chosen to make it high: report the
number of methods, the range when each is left out, and a permutation p; for a chosen weight the one that chooses it
anew for every permutation. Source: QChunker 4.5 for the weight.

Shapes: all arguments are flat, one value per method, in the same order. What has no correlation (fewer than three
values, a constant, a value that is not finite) is a ``ScoringError`` that says which; nothing returns nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qchunker.bench.metrics.packages import bench_package
from qchunker.errors import ConfigError, ScoringError

Floats = npt.NDArray[np.float64]
Values = Sequence[float] | Floats

DRAWS = 9_999
EXACT_UP_TO = 8
"""Values of which all permutations are tried: 8 have 40320."""

_LEAST = 3
_SAME = 1e-12
_ROWS_AT_ONCE = 50_000


class LeaveOneOut(NamedTuple):
    """Lowest and highest correlation when one value is left out."""

    low: float
    high: float


class BestWeight(NamedTuple):
    """The weight of x, from 0 to 1, and the correlation of weight * x + (1 - weight) * y with the target."""

    weight: float
    correlation: float


class Correlation(NamedTuple):
    """A correlation with what a reader needs to doubt it.

    Args:
        pearson: linear.
        spearman: of ranks.
        left_out: range of ``pearson`` when one value is left out.
        p: two-sided, of ``pearson`` under permutations.
        is_exact: whether all permutations were tried.
        n: number of values.
    """

    pearson: float
    spearman: float
    left_out: LeaveOneOut
    p: float
    is_exact: bool
    n: int


def correlate(x: Values, y: Values, *, draws: int = DRAWS, seed: int = 0) -> Correlation:
    """All that there is to say about two scores.

    Raises:
        ScoringError: if there are fewer than four values, lengths differ, one side is constant or becomes constant when
            a value is left out, or a value is not finite.
    """
    return Correlation(
        pearson(x, y),
        spearman(x, y),
        leave_one_out(x, y),
        permutation_p(x, y, draws=draws, seed=seed),
        len(x) <= EXACT_UP_TO,
        len(x),
    )


def pearson(x: Values, y: Values) -> float:
    """Linear correlation, -1 to 1.

    Raises:
        ScoringError: if there are fewer than three values, lengths differ, one side is constant, or a value is not
            finite.
    """
    first, second = _standard(x, "x"), _standard(y, "y")
    _check_lengths(first, second)
    return _bounded(float(first @ second))


def spearman(x: Values, y: Values) -> float:
    """Correlation of ranks; equal values share the mean of their ranks. Raises as ``pearson``."""
    _check_lengths(_standard(x, "x"), _standard(y, "y"))
    ranks = bench_package("scipy.stats", "ranking").rankdata
    return pearson(ranks(x), ranks(y))


def leave_one_out(x: Values, y: Values, measure: Callable[[Values, Values], float] = pearson) -> LeaveOneOut:
    """Range of a correlation when each value is left out in turn: how much a single method decides.

    Raises:
        ScoringError: as ``pearson``, also if there are fewer than four values, or one side is constant without one.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    measure(first, second)
    if len(first) <= _LEAST:
        raise ScoringError(f"{len(first)} values are too few to leave one out")
    without = [measure(np.delete(first, at), np.delete(second, at)) for at in range(len(first))]
    return LeaveOneOut(min(without), max(without))


def permutation_p(x: Values, y: Values, *, draws: int = DRAWS, seed: int = 0) -> float:
    """Two-sided p of Pearson: how often the values of y in another order correlate as much.

    Exact for up to eight values, never below one over the number of permutations. Beyond that from random orders, where
    the given one counts as one of them.

    Raises: as ``pearson``; ConfigError: if draws is below 1.
    """
    observed = abs(pearson(x, y))
    first, second = _standard(x, "x"), _standard(y, "y")
    return _p_of(second, observed, lambda orders: np.abs(orders @ first), draws, seed)


def best_weight_p(x: Values, y: Values, target: Values, *, draws: int = DRAWS, seed: int = 0) -> float:
    """How often the best weight for another order of the target reaches the correlation that the best weight reaches.

    One-sided, for a weight is chosen to make the correlation high. It is chosen anew for every order, as it was for the
    given one; a p without that is too low. Exact and random orders as in ``permutation_p``.

    Raises: as ``best_weight_closed_form``; ConfigError: if draws is below 1.
    """
    observed = best_weight_closed_form(x, y, target).correlation
    basis = _basis(x, y)
    return _p_of(_standard(target, "target"), observed, lambda orders: _best(orders, basis)[1], draws, seed)


def partial_correlation(x: Values, y: Values, covariate: Values) -> float:
    """Pearson of x and y with what the covariate explains of each taken away, such as the spread of chunk lengths.

    Raises:
        ScoringError: as ``pearson``, also if the covariate explains one of them wholly, or there are fewer than four
            values.
    """
    if len(x) <= _LEAST:
        raise ScoringError(f"{len(x)} values are too few to correlate them beside a covariate")
    both, first, second = pearson(x, y), pearson(x, covariate), pearson(y, covariate)
    left = (1 - first**2) * (1 - second**2)
    if min(1 - first**2, 1 - second**2) < _SAME:
        raise ScoringError("the covariate explains one of both wholly, so nothing of it is left to correlate")
    return _bounded((both - first * second) / math.sqrt(left))


def best_weight_closed_form(x: Values, y: Values, target: Values) -> BestWeight:
    """The weight from 0 to 1 for which weight * x + (1 - weight) * y correlates most with the target.

    With covariances c and variances v, weight / (1 - weight) = (c_xt v_y - c_yt c_xy) / (c_yt v_x - c_xt c_xy) where
    both sides of the fraction are positive; else the better of 0 and 1.

    Raises:
        ScoringError: as ``pearson``, also if x and y move together wholly, so that no weight is better than another.
    """
    t = _standard(target, "target")
    basis = _basis(x, y)
    _check_lengths(basis.x, t)
    weights, correlations = _best(t[None, :], basis)
    return BestWeight(float(weights[0]), _bounded(float(correlations[0])))


def best_weight_on_grid(x: Values, y: Values, target: Values, step: float = 0.01) -> BestWeight:
    """The same by trying all weights 0, step, ..., 1, as the paper does; of equals the lowest. Raises as it does.

    Raises:
        ConfigError: if 1 is not a multiple of the step.
    """
    count = round(1 / step) if step > 0 else 0
    if not count or abs(count * step - 1) > 1e-9:
        raise ConfigError("step", f"1 is not a multiple of {step}", hint="0.01 is that of the paper")
    basis = _basis(x, y)
    t = _standard(target, "target")
    _check_lengths(basis.x, t)
    weights = np.arange(count + 1) / count
    mixed = weights[:, None] * basis.x + (1 - weights)[:, None] * basis.y
    values = mixed @ t / np.linalg.norm(mixed, axis=1)
    best = int(np.argmax(values >= values.max() - _SAME))
    return BestWeight(float(weights[best]), _bounded(float(values[best])))


class _Basis(NamedTuple):
    """x and y without their means, and their variances and covariance, as sums."""

    x: Floats
    y: Floats
    v_x: float
    v_y: float
    c_xy: float


def _basis(x: Values, y: Values) -> _Basis:
    if abs(pearson(x, y)) > 1 - _SAME:
        raise ScoringError("x and y move together wholly, so no weight is better than another")
    first, second = _centred(x, "x"), _centred(y, "y")
    return _Basis(first, second, float(first @ first), float(second @ second), float(first @ second))


def _best(targets: Floats, basis: _Basis) -> tuple[Floats, Floats]:
    """Best weight, and the correlation it reaches, for each row of targets (m, n), whose rows are centred and unit."""
    c_xt, c_yt = targets @ basis.x, targets @ basis.y
    of_x = c_xt * basis.v_y - c_yt * basis.c_xy
    of_y = c_yt * basis.v_x - c_xt * basis.c_xy
    inside = (of_x > 0) & (of_y > 0)
    # The correlation has one peak on each side of the plane; where that is outside, an end is best.
    x_is_better = c_xt / math.sqrt(basis.v_x) > c_yt / math.sqrt(basis.v_y)
    weights = np.where(inside, of_x / np.where(inside, of_x + of_y, 1.0), x_is_better.astype(np.float64))
    rest = 1 - weights
    norms = np.sqrt(weights**2 * basis.v_x + rest**2 * basis.v_y + 2 * weights * rest * basis.c_xy)
    return weights, (weights * c_xt + rest * c_yt) / norms


def _p_of(values: Floats, observed: float, statistic: Callable[[Floats], Floats], draws: int, seed: int) -> float:
    """Share of orders of the values with a statistic at least as large as the observed one."""
    if len(values) <= EXACT_UP_TO:
        orders = np.array(list(permutations(range(len(values)))))
        return float((statistic(values[orders]) >= observed - _SAME).mean())
    if draws < 1:
        raise ConfigError("draws", f"must be 1 or above, got {draws}", hint="9999 is usual")
    rng = np.random.default_rng(seed)
    as_large = 0
    for at in range(0, draws, _ROWS_AT_ONCE):
        rows = np.tile(values, (min(_ROWS_AT_ONCE, draws - at), 1))
        as_large += int((statistic(rng.permuted(rows, axis=1)) >= observed - _SAME).sum())
    return (as_large + 1) / (draws + 1)


def _centred(values: Values, name: str) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or len(found) < _LEAST:
        raise ScoringError(f"{name}: {found.size} values are too few for a correlation")
    if not np.isfinite(found).all():
        raise ScoringError(f"{name}: {int((~np.isfinite(found)).sum())} of {found.size} values are not finite")
    centred: Floats = found - found.mean()
    if np.abs(centred).max() <= _SAME * np.abs(found).max():
        raise ScoringError(f"{name}: all values are equal, so nothing can follow them")
    return centred


def _standard(values: Values, name: str) -> Floats:
    """Without the mean and of length 1, so that the product of two is their correlation."""
    centred = _centred(values, name)
    # Divided by the largest first: squares of tiny numbers vanish.
    centred = centred / np.abs(centred).max()
    standard: Floats = centred / np.linalg.norm(centred)
    return standard


def _check_lengths(first: Floats, second: Floats) -> None:
    if len(first) != len(second):
        raise ScoringError(f"{len(first)} values against {len(second)}: each method needs both")


def _bounded(value: float) -> float:
    return min(1.0, max(-1.0, value))
