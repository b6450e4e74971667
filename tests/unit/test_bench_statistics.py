"""Intervals, tests and correlations against scipy, the yardstick's comparison, tables by hand, and their own promises."""

from __future__ import annotations

import importlib
import math
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from qchunker.bench.correlation import (
    best_weight_closed_form,
    best_weight_on_grid,
    best_weight_p,
    correlate,
    leave_one_out,
    partial_correlation,
    pearson,
    permutation_p,
    spearman,
)
from qchunker.bench.significance import compare, estimate, holm, minimal_detectable_effect, paired_t_test
from qchunker.errors import ConfigError, ScoringError

BENCH = Path(os.environ.get("QCHUNKER_BENCH", Path(__file__).parents[3] / "shared" / "bench"))


def paired(seed: int, n: int, n_clusters: int, shift: float = 0.0) -> tuple[Any, Any, list[str]]:
    """Values of two methods that share what is hard about a question, with clusters of uneven sizes."""
    rng = np.random.default_rng(seed)
    clusters = [*range(n_clusters), *rng.integers(0, n_clusters, size=n - n_clusters)]
    hard = rng.normal(size=n_clusters)[clusters] + rng.normal(size=n)
    values = (hard + rng.normal(size=n), hard + rng.normal(size=n) + rng.normal(size=n_clusters)[clusters] / 2 + shift)
    return *values, [f"事件{cluster}" for cluster in clusters]


@pytest.mark.parametrize("seed", range(3))
def test_a_comparison_equals_that_of_the_yardstick(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (BENCH / "compare.py").is_file():
        pytest.skip(f"no {BENCH}; set QCHUNKER_BENCH")
    monkeypatch.syspath_prepend(str(BENCH))
    names = ("common", "embed", "score", "compare")
    held = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    environment = dict(os.environ)
    try:
        a, b, clusters = paired(seed, 120, 35, shift=0.1)
        rows = [
            {
                "set": "",
                "split": "",
                "embedder": "",
                "per_question": {"qid": [], "cluster": clusters, "m": one.tolist()},
            }
            for one in (a, b)
        ]
        wanted = importlib.import_module("compare").paired(*rows)["m"]
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(held)
        os.environ.clear()
        os.environ.update(environment)
    found = compare(a, b, clusters, seed=1)
    ours = (found.a, found.b, found.difference, found.low, found.high, found.p_bootstrap)
    assert ours == pytest.approx([wanted[name] for name in ("a", "b", "diff", "lo", "hi", "p")], abs=1e-9)
    assert found.detectable == pytest.approx(wanted["mde"], rel=0.001)
    assert (found.n, found.n_clusters) == (120, 35)


@pytest.mark.parametrize("seed", range(10))
def test_the_t_test_equals_scipy_where_questions_are_independent(seed: int) -> None:
    a, b, clusters = paired(seed, 12 + seed, 12)
    wanted = stats.ttest_rel(b, a).pvalue
    assert paired_t_test(a, b) == compare(a, b).p_t == pytest.approx(wanted)
    assert paired_t_test(a, b, list(range(len(a)))) == pytest.approx(wanted)
    assert paired_t_test(a.tolist(), b.tolist(), clusters) == compare(a, b, clusters).p_t


def test_clusters_widen_intervals() -> None:
    a, b, _ = paired(1, 40, 40)
    same = np.repeat([a, b], 10, axis=1)
    clusters = np.repeat(np.arange(40), 10).tolist()
    alone, together = compare(same[0], same[1]), compare(same[0], same[1], clusters)
    one_each = compare(a, b)
    assert together.high - together.low > 2.5 * (alone.high - alone.low)
    assert together.low == pytest.approx(one_each.low)
    assert together.p_t == pytest.approx(one_each.p_t)
    assert (together.n, together.n_clusters) == (400, 40)


def test_intervals_cover_as_often_as_they_say() -> None:
    covered = {0.95: 0, 0.8: 0}
    for seed in range(400):
        values = np.random.default_rng(seed).exponential(size=60)
        for level in covered:
            found = estimate(values, level=level, draws=400, seed=seed)
            covered[level] += found.low <= 1.0 <= found.high
    assert 0.90 < covered[0.95] / 400 < 0.97
    assert 0.74 < covered[0.8] / 400 < 0.85


def test_intervals_over_clusters_cover_and_intervals_over_questions_do_not() -> None:
    covered = [0, 0]
    for seed in range(200):
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(30), 6)
        values = rng.normal(size=30)[clusters] + 0.3 * rng.normal(size=180)
        for at, given in enumerate((clusters.tolist(), None)):
            found = estimate(values, given, draws=400)
            covered[at] += found.low <= 0 <= found.high
    assert covered[0] > 180 > 150 > covered[1]


def test_a_difference_that_is_there_is_found_at_the_detectable_size() -> None:
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=100)
        shift = minimal_detectable_effect(0.1)
        found += compare(np.zeros(100), noise + shift, draws=500).p_bootstrap < 0.05
    assert 0.72 < found / 200 < 0.88
    assert minimal_detectable_effect(1.0) == pytest.approx(2.8016, abs=1e-4)


def test_the_same_seed_gives_the_same_numbers_and_order_of_methods_turns_the_sign() -> None:
    a, b, clusters = paired(5, 50, 20, shift=0.3)
    assert compare(a, b, clusters) == compare(a, b, clusters)
    assert compare(a, b, clusters, seed=1) != compare(a, b, clusters, seed=2)
    turned = compare(b, a, clusters)
    straight = compare(a, b, clusters)
    assert turned.difference == -straight.difference
    assert (turned.low, turned.high) == pytest.approx((-straight.high, -straight.low))
    assert turned.p_bootstrap == straight.p_bootstrap
    # Drawing in pieces is drawing at once.
    many = np.random.default_rng(0).normal(size=3000)
    assert estimate(many, draws=700).low == pytest.approx(drawn_at_once(many, 700), abs=1e-12)


def drawn_at_once(values: Any, draws: int) -> float:
    n = len(values)
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=draws)
    return float(np.percentile(weights @ values / n, 2.5))


def test_equal_methods_and_single_clusters() -> None:
    values = [0.0, 1.0, 0.5]
    same = compare(values, values)
    assert same[2:8] == (0, 0, 0, 1, 1, 3)
    assert compare(values, [value + 0.25 for value in values]).p_t == 0
    assert compare(values, values).detectable == 0
    one = compare(values, [1, 1, 1], ["d"] * 3)
    assert (one.difference, one.n, one.n_clusters) == (0.5, 3, 1)
    assert all(map(math.isnan, (one.low, one.high, one.p_bootstrap, one.p_t, one.detectable)))
    found = estimate([0.5])
    assert (found.mean, found.n, found.n_clusters) == (0.5, 1, 1)
    assert math.isnan(found.low) and math.isnan(found.high)  # noqa: PT018
    assert estimate([1, 1, 1])[:3] == (1, 1, 1)
    with pytest.raises(ScoringError):
        paired_t_test([1.0], [2.0])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_that_are_no_numbers_are_refused_and_not_dropped(bad: float) -> None:
    good, broken = [0.1, 0.2, 0.3], [0.1, bad, 0.3]
    for call in (
        lambda: estimate(broken),
        lambda: compare(good, broken),
        lambda: compare(broken, good),
        lambda: paired_t_test(broken, good),
        lambda: holm({"a": 0.1, "b": bad}),
        lambda: pearson(good, broken),
        lambda: spearman(broken, good),
        lambda: permutation_p(good, broken),
        lambda: best_weight_closed_form(good, [3, 1, 2], broken),
    ):
        with pytest.raises(ScoringError) as raised:
            call()
        assert "finite" in str(raised.value) or "p-value" in str(raised.value)


def test_impossible_options_are_refused() -> None:
    with pytest.raises(ScoringError):
        estimate([])
    with pytest.raises(ConfigError):
        compare([1, 2], [1, 2, 3])
    with pytest.raises(ConfigError):
        paired_t_test([1, 2], [1, 2, 3])
    with pytest.raises(ConfigError):
        estimate([1, 2], ["a"])
    with pytest.raises(ConfigError):
        estimate([1, 2], level=1.0)
    with pytest.raises(ConfigError):
        estimate([1, 2], draws=0)
    with pytest.raises(ConfigError):
        minimal_detectable_effect(1.0, power=1.0)


def test_holm_by_hand() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert holm({"a": 0.5, "b": 0.6}) == {"a": 1.0, "b": 1.0}
    assert holm({"only": 0.04}) == {"only": 0.04}
    assert holm({}) == {}
    assert list(holm({"z": 0.2, "a": 0.1})) == ["z", "a"]
    with pytest.raises(ScoringError):
        holm({"a": 1.5})


@pytest.mark.parametrize("seed", range(20))
def test_correlations_equal_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 20))
    x, y = rng.normal(size=n) * 10.0 ** rng.integers(-6, 6), rng.integers(0, 4, size=n).astype(float)
    if len(set(y)) == 1:
        y[0] += 1
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert pearson(x, x) == pytest.approx(1)
    assert pearson(x, -x) == pytest.approx(-1)


def test_ranks_share_their_mean_and_leaving_one_out_shows_what_one_decides() -> None:
    assert spearman([1, 2, 2, 9], [1, 3, 2, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    x, y = [0.0, 1, 0, 1, 20], [1.0, 0, 0, 1, 20]
    assert pearson(x, y) > 0.99
    assert leave_one_out(x, y).low == pytest.approx(0, abs=1e-9)
    assert leave_one_out(x, y).high > 0.99
    assert leave_one_out(x, y, spearman).low == pytest.approx(0, abs=1e-9)


def test_permutations_are_counted_exactly_for_few_values() -> None:
    assert permutation_p([1, 2, 3], [1, 2, 3]) == 2 / 6
    assert permutation_p([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(8 / 24)
    assert permutation_p(range(8), range(8)) == 2 / math.factorial(8)
    assert permutation_p([0, 0, 1], [1, 5, 2]) == 1
    assert permutation_p([0, 0, 1], [1, 2, 5]) == 1 / 3
    x = np.random.default_rng(1).normal(size=8)
    exact = stats.permutation_test((x,), lambda one: stats.pearsonr(one, np.arange(8.0)).statistic,
                                   permutation_type="pairings", n_resamples=2000, rng=1)  # fmt: skip
    assert permutation_p(x, np.arange(8.0)) == pytest.approx(exact.pvalue, abs=0.05)


@pytest.mark.parametrize("n", [7, 12])
def test_p_of_random_data_is_uniform(n: int) -> None:
    rng = np.random.default_rng(n)
    values = [permutation_p(rng.normal(size=n), rng.exponential(size=n), draws=499, seed=s) for s in range(400)]
    assert stats.kstest(values, "uniform").pvalue > 0.01
    tuned = [best_weight_p(*rng.normal(size=(3, n)), draws=199, seed=seed) for seed in range(200)]
    assert stats.kstest(tuned, "uniform").pvalue > 0.01


@pytest.mark.parametrize("seed", range(150))
def test_the_closed_form_is_the_best_of_the_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    x, y = rng.normal(size=n) * rng.choice([0.05, 1, 30]), rng.normal(size=n)
    target = rng.normal() * x + rng.normal() * y + rng.normal(size=n)
    closed, grid = best_weight_closed_form(x, y, target), best_weight_on_grid(x, y, target)
    assert abs(closed.weight - grid.weight) <= 0.01 + 1e-9
    assert closed.correlation >= grid.correlation - 1e-9
    assert closed.correlation == pytest.approx(pearson(closed.weight * x + (1 - closed.weight) * y, target), abs=1e-9)
    fine = best_weight_on_grid(x, y, target, step=0.001)
    assert abs(closed.weight - fine.weight) <= 0.001 + 1e-9


def test_a_planted_weight_is_found() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 200))
    planted = 0.3 * x + 0.7 * y
    assert best_weight_closed_form(x, y, planted).weight == pytest.approx(0.3)
    assert best_weight_closed_form(x, y, planted).correlation == pytest.approx(1)
    assert best_weight_on_grid(x, y, planted).weight == 0.3
    assert best_weight_closed_form(x, y, x - y).weight == 1
    assert best_weight_closed_form(x, y, -x).weight == best_weight_on_grid(x, y, -x).weight == 0
    weights = [best_weight_on_grid(x, y, w * x + (1 - w) * y).weight for w in (0.0, 0.25, 0.5, 1.0)]
    assert all(a < b for a, b in pairwise(weights))
    for step in (0.0, -1.0, 0.3):
        with pytest.raises(ConfigError):
            best_weight_on_grid(x, y, planted, step)


def test_a_covariate_takes_its_part_away() -> None:
    rng = np.random.default_rng(0)
    spread = rng.normal(size=300)
    score, result = spread + 0.3 * rng.normal(size=300), spread + 0.3 * rng.normal(size=300)
    assert pearson(score, result) > 0.85
    assert abs(partial_correlation(score, result, spread)) < 0.15
    left = [np.polyval(np.polyfit(spread, one, 1), spread) - one for one in (score, result)]
    assert partial_correlation(score, result, spread) == pytest.approx(pearson(*left))
    with pytest.raises(ScoringError):
        partial_correlation(score, result, 2 * score + 1)


def test_a_report_has_all_numbers() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=9)
    found = correlate(x, x + rng.normal(size=9))
    assert found.n == 9
    assert not found.is_exact
    assert correlate(x[:7], x[:7] ** 3).is_exact
    assert found.left_out.low <= found.pearson <= found.left_out.high
    assert 0 < found.p <= 1
    assert correlate(x, x**3, seed=4) == correlate(x, x**3, seed=4)


@pytest.mark.parametrize(
    ("x", "y", "word"),
    [
        ([1, 2], [1, 2], "few"),
        ([1, 1, 1], [1, 2, 3], "equal"),
        ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], "equal"),
        ([1, 2, 3], [7, 7, 7], "equal"),
        ([1, 2, 3, 4], [1, 2, 3], "against"),
        ([], [], "few"),
    ],
)
def test_what_has_no_correlation_says_why(x: list[float], y: list[float], word: str) -> None:
    for measure in (pearson, spearman, permutation_p, leave_one_out, correlate):
        with pytest.raises(ScoringError) as raised:
            measure(x, y)
        assert word in str(raised.value)


def test_weights_of_what_moves_together_and_single_deciders_are_refused() -> None:
    x = [1.0, 2, 4, 9]
    with pytest.raises(ScoringError):
        best_weight_closed_form(x, [2 * value for value in x], [1, 2, 3, 5])
    with pytest.raises(ScoringError):
        best_weight_on_grid(x, [-value for value in x], [1, 2, 3, 5])
    with pytest.raises(ScoringError):
        best_weight_closed_form(x, [1, 0, 1, 0], [1, 2, 3])
    with pytest.raises(ScoringError):
        leave_one_out([0, 0, 0, 1], [1, 2, 3, 4])
    with pytest.raises(ScoringError):
        leave_one_out([1, 2, 3], [1, 3, 2])
    with pytest.raises(ScoringError):
        partial_correlation([1, 2, 3], [1, 3, 2], [2, 1, 3])
    with pytest.raises(ConfigError):
        permutation_p(range(9), range(9), draws=0)
