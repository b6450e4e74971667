"""Semantic dispersion against the reference, its other forms, and its known biases (E2-E5, E9, E10, E12-E14, E16)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest

from qchunker.errors import ScoringError
from qchunker.scoring.semantic_dispersion import RIDGE, centred, gram_matrix, semantic_dispersion

Rows = npt.NDArray[np.float64]

# Seed, chunks, dimensions, unit rows, ridge, and what shared/bench/chunkscore_ref.py gives for them.
REFERENCE = [
    (0, 1, 8, True, 1e-3, -0.5563697828320431),
    (1, 2, 3, True, 1e-3, -0.19625378396905763),
    (2, 5, 16, True, 1e-3, -0.18752139175120963),
    (3, 12, 40, False, 1e-3, 3.4743909011588747),
    (4, 7, 7, True, 1e-3, -1.5996994395757267),
    (5, 16, 16, False, 1e-2, 1.4169539630767547),
    (6, 9, 4, True, 1e-3, -4.40930915792575),
    (7, 30, 10, True, 0.1, -1.3036496216589222),
    (8, 40, 39, False, 1e-3, 2.374477503115629),
    (9, 10, 768, True, 1e-6, -0.009718773620123218),
]

SHAPES = [(1, 5), (2, 2), (4, 30), (6, 6), (9, 10), (10, 9), (25, 8)]


def unit(rows: Rows) -> Rows:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def random_rows(seed: int, k: int, d: int, *, is_unit: bool = True) -> Rows:
    """RandomState, because NumPy promises never to change its numbers."""
    rows: Rows = np.random.RandomState(seed).standard_normal((k, d))
    return unit(rows) if is_unit else rows


def axes(n: int) -> Rows:
    """Orthonormal rows, each with mean 0, so that centring changes nothing."""
    rows = np.zeros((n, n + 1))
    for i in range(n):
        rows[i, : i + 1], rows[i, i + 1] = 1.0, -(i + 1)
    return unit(rows)


def equally_similar(k: int, rho: float) -> Rows:
    """Unit rows with mean 0, every two of them with cosine rho."""
    common, *own = axes(k + 1)
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * np.stack(own)


def pooled(sentences: Rows, cuts: Sequence[int]) -> Rows:
    """What an encoder that averages its sentences gives for the chunks between the cuts."""
    bounds = [0, *cuts, len(sentences)]
    return unit(np.stack([sentences[a:b].mean(axis=0) for a, b in pairwise(bounds)]))


def gaussian_sentences(rng: np.random.Generator, n: int, rho: float, d: int = 768) -> Rows:
    """Sentences with expected cosine rho: a common direction and a random one each."""
    common, *own = unit(rng.normal(size=(n + 1, d)))
    return math.sqrt(rho) * common + math.sqrt(1 - rho) * np.stack(own)


@pytest.mark.parametrize(("seed", "k", "d", "is_unit", "ridge", "wanted"), REFERENCE)
def test_semantic_dispersion_equals_the_reference(
    seed: int, k: int, d: int, is_unit: bool, ridge: float, wanted: float
) -> None:
    assert semantic_dispersion(random_rows(seed, k, d, is_unit=is_unit), ridge) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_semantic_dispersion_equals_mean_log_eigenvalue(k: int, d: int, ridge: float) -> None:
    rows = random_rows(k * d, k, d)
    sigma = np.cov(rows, bias=True) * d + ridge * np.eye(k)  # NumPy's covariance takes the mean of every row away
    eigenvalues = np.linalg.eigvalsh(sigma)
    assert semantic_dispersion(rows, ridge) == pytest.approx(np.log(eigenvalues).mean(), abs=1e-9)


@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_semantic_dispersion_is_the_log_volume(k: int, d: int) -> None:
    rows = random_rows(k + d, k, d)
    columns = (rows - rows.mean(axis=1, keepdims=True)).T
    stacked = np.vstack([columns, math.sqrt(RIDGE) * np.eye(k)])  # one column per chunk
    heights = np.abs(np.diag(np.linalg.qr(stacked, mode="r")))  # of the parallelepiped, one edge after the other
    assert semantic_dispersion(rows) == pytest.approx(2 / k * np.log(heights).sum(), abs=1e-9)


@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_semantic_dispersion_is_the_entropy(k: int, d: int) -> None:
    """Of a Gaussian in K dimensions, by the chain rule: each coordinate given the ones before it."""
    rows = random_rows(k + d, k, d)
    rows_centred = rows - rows.mean(axis=1, keepdims=True)
    sigma = rows_centred @ rows_centred.T + RIDGE * np.eye(k)
    entropy = 0.0
    for i in range(k):
        before, cross = sigma[:i, :i], sigma[:i, i]
        variance = sigma[i, i] - cross @ np.linalg.solve(before, cross) if i else sigma[i, i]
        entropy += math.log(2 * math.pi * math.e * variance) / 2
    assert semantic_dispersion(rows) == pytest.approx(2 / k * entropy - math.log(2 * math.pi * math.e), abs=1e-9)


def test_the_entropy_of_one_chunk_is_that_of_a_bell_curve() -> None:
    """-∫ p log p, summed up, without any formula for it."""
    rows = random_rows(3, 1, 12)
    variance = math.exp(semantic_dispersion(rows))
    x = np.linspace(-12, 12, 200_001) * math.sqrt(variance)
    p = np.exp(-(x**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    p_log_p = np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0)
    entropy = -p_log_p.sum() * (x[1] - x[0])
    assert semantic_dispersion(rows) == pytest.approx(2 * entropy - math.log(2 * math.pi * math.e), abs=1e-9)


@pytest.mark.parametrize(
    ("rows", "ridge", "wanted"),
    [
        # One chunk: the log of its squared length after centring.
        ([[3.0, -3.0]], 1e-3, math.log(18.001)),
        ([[1.0, 0.0, 0.0, 0.0]], 1e-3, math.log(0.751)),  # 1 - 1/4 is left of a unit vector along an axis
        ([[2.0, 2.0, 2.0]], 1e-3, math.log(0.001)),  # nothing is left
        # Two: orthogonal, the same, opposite, at cosine 0.5.
        ([[1, -1, 0, 0], [0, 0, 1, -1]], 1e-3, math.log(2.001)),
        ([[1, -1, 0, 0], [1, -1, 0, 0]], 1e-3, (math.log(4.001) + math.log(0.001)) / 2),
        ([[1, -1, 0, 0], [-1, 1, 0, 0]], 1e-3, (math.log(4.001) + math.log(0.001)) / 2),
        ([[1, -1, 0], [1, 0, -1]], 1e-3, (math.log(3.001) + math.log(1.001)) / 2),
        # Three. Sigma + 1 = [[3, 0, 2], [0, 3, 2], [2, 2, 5]], determinant 3·(15-4) - 2·6 = 21.
        ([[1, -1, 0, 0], [0, 0, 1, -1], [1, -1, 1, -1]], 1.0, math.log(21) / 3),
        # The features' means do not count: the same three, moved.
        ([[6, 4, 5, 5], [-3, -3, -2, -4], [1, -1, 1, -1]], 1.0, math.log(21) / 3),
        # More chunks than dimensions: eigenvalues 6, 0, 0.
        ([[1, -1], [1, -1], [-1, 1]], 0.5, (math.log(6.5) + 2 * math.log(0.5)) / 3),
    ],
)
def test_hand_computed_dispersion(rows: list[list[float]], ridge: float, wanted: float) -> None:
    assert semantic_dispersion(rows, ridge) == pytest.approx(wanted, abs=1e-9)


def test_hand_computed_gram_matrix() -> None:
    rows = [[6, 4, 5, 5], [-3, -3, -2, -4], [1, -1, 1, -1]]
    assert gram_matrix(rows).tolist() == [[2, 0, 2], [0, 2, 2], [2, 2, 4]]
    assert centred(rows).tolist() == [[1, -1, 0, 0], [0, 0, 1, -1], [1, -1, 1, -1]]


def test_single_precision_is_computed_in_double() -> None:
    rows = random_rows(4, 6, 64).astype(np.float32)
    assert gram_matrix(rows).dtype == np.float64
    assert semantic_dispersion(rows) == semantic_dispersion(rows.astype(np.float64))


@pytest.mark.parametrize("rows", [[], np.zeros((0, 5)), np.zeros((3, 0)), [1.0, 2.0], np.zeros((2, 2, 2))])
def test_no_chunk_has_no_dispersion(rows: npt.ArrayLike) -> None:
    with pytest.raises(ScoringError, match="no chunk"):
        semantic_dispersion(rows)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_refused(value: float) -> None:
    rows = random_rows(0, 3, 4)
    rows[1, 2] = value
    with pytest.raises(ScoringError, match="not finite"):
        semantic_dispersion(rows)


@pytest.mark.parametrize("ridge", [0.0, -1e-3, math.nan])
def test_a_ridge_that_is_not_above_0_is_refused(ridge: float) -> None:
    with pytest.raises(ScoringError, match="ridge"):
        semantic_dispersion(random_rows(0, 3, 4), ridge)


def test_e1_one_chunk_has_the_largest_dispersion_there_is() -> None:
    assert semantic_dispersion(axes(1)) == pytest.approx(math.log(1.001), abs=1e-12)
    for seed in range(20):
        rows = random_rows(seed, 2 + seed, 30)
        assert semantic_dispersion(rows) < math.log(1.001)
    # Equality is for orthogonal chunks only.
    assert semantic_dispersion(axes(7)) == pytest.approx(math.log(1.001), abs=1e-9)


@pytest.mark.parametrize(
    ("rho", "k", "wanted"),
    [
        *[(0.6, 1, 0.001), (0.6, 2, -0.222), (0.6, 3, -0.346), (0.6, 5, -0.486), (0.6, 10, -0.637), (0.6, 20, -0.742)],
        *[(0.6, 50, -0.827), (0.9, 2, -0.825), (0.9, 10, -1.843)],
    ],
)
def test_e2_dispersion_falls_with_the_number_of_chunks(rho: float, k: int, wanted: float) -> None:
    value = semantic_dispersion(equally_similar(k, rho))
    # Half a unit of the table's last digit, and a little, because -1.8425 is between two of them.
    assert value == pytest.approx(wanted, abs=5.1e-4)
    assert value > semantic_dispersion(equally_similar(k + 1, rho))
    assert value > math.log(1 - rho + RIDGE)
    closed = ((k - 1) * math.log(1 - rho + RIDGE) + math.log(1 + (k - 1) * rho + RIDGE)) / k
    assert value == pytest.approx(closed, abs=1e-9)


def without_each(rows: Rows) -> list[float]:
    return [semantic_dispersion(np.delete(rows, i, axis=0)) for i in range(len(rows))]


def test_e3_leaving_a_chunk_out_raises_dispersion_on_average() -> None:
    """Han's inequality: so some chunk can always be left out without loss, for any set at all."""
    for seed in range(200):
        k = 2 + seed % 12
        rows = random_rows(seed, k, 3 + seed % 17)
        assert np.mean(without_each(rows)) >= semantic_dispersion(rows) - 1e-9


def test_e3_twelve_chunks_lose_dispersion_to_any_one_of_them() -> None:
    rows = equally_similar(12, 0.6)
    assert semantic_dispersion(rows) == pytest.approx(-0.6686, abs=5e-5)
    assert min(without_each(rows)) > semantic_dispersion(rows) + 0.01
    full, fewer = [], []
    for seed in range(10):
        rows = gaussian_sentences(np.random.default_rng(seed), 12, 0.6)
        full.append(semantic_dispersion(rows))
        fewer.append(float(np.mean(without_each(rows))))
        assert min(without_each(rows)) > full[-1]
    assert np.mean(full) == pytest.approx(-0.677, abs=0.01)
    assert np.mean(fewer) == pytest.approx(-0.661, abs=0.01)


def test_e4_merging_is_u_shaped() -> None:
    numbers = [1, 2, 4, 8, 20, 40]
    exact = []
    for k in numbers:
        n = 40 // k
        rho = 0.3 / (0.3 + 0.7 / n)  # similarity of means over n sentences
        rows = pooled(equally_similar(40, 0.3), range(n, 40, n))
        assert gram_matrix(rows)[0, -1] == pytest.approx(1 if k == 1 else rho, abs=1e-9)
        exact.append(semantic_dispersion(rows))
    assert exact[0] > exact[1] > exact[2] < exact[3] < exact[4] < exact[5]
    simulated = [
        [
            semantic_dispersion(pooled(gaussian_sentences(np.random.default_rng(seed), 40, 0.3), range(n, 40, n)))
            for n in (40 // k for k in numbers)
        ]
        for seed in range(10)
    ]
    assert np.mean(simulated, axis=0) == pytest.approx([0, -0.81, -0.94, -0.78, -0.48, -0.31], abs=0.02)
    assert exact == pytest.approx([0.001, -0.805, -0.936, -0.780, -0.472, -0.283], abs=5e-4)


def topic_ends(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(sorted(rng.choice(np.arange(1, 12), size=2, replace=False).tolist()))


def document_with_topics(rng: np.random.Generator, cuts: Sequence[int]) -> Rows:
    """Twelve sentences: a common direction (0.3), one of 3 topics (0.4), and noise (0.3)."""
    topic = np.searchsorted(cuts, np.arange(12), side="right")
    common, topics, noise = (unit(rng.normal(size=(n, 768))) for n in (1, 3, 12))
    return math.sqrt(0.3) * common + math.sqrt(0.4) * topics[topic] + math.sqrt(0.3) * noise


def test_e5_true_topics_have_the_largest_dispersion() -> None:
    """At equal K, among all 55 contiguous partitions; topics of any length, from one sentence on."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        true_cuts = topic_ends(rng)
        sentences = document_with_topics(rng, true_cuts)
        best = max(combinations(range(1, 12), 2), key=lambda cuts: semantic_dispersion(pooled(sentences, cuts)))
        assert best == true_cuts


def test_e5_more_cuts_keep_the_true_ones_and_fewer_chunks_win_without_reason() -> None:
    """Topics of four sentences each; with topics of one sentence, four chunks need not keep all true cuts."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        sentences = document_with_topics(rng, (4, 8))
        best = {
            k: max((semantic_dispersion(pooled(sentences, cuts)), cuts) for cuts in combinations(range(1, 12), k - 1))
            for k in (2, 3, 4)
        }
        assert {4, 8} < set(best[4][1])
        # Across K the number of chunks decides, not the topics.
        assert semantic_dispersion(pooled(sentences, ())) > best[2][0] > best[3][0]


def test_e9_a_duplicate_costs() -> None:
    twins = equally_similar(1, 0.6)[[0, 0]]
    assert semantic_dispersion(twins) == pytest.approx(-3.1071, abs=5e-5)
    assert semantic_dispersion(twins) == pytest.approx((math.log(2.001) + math.log(0.001)) / 2, abs=1e-9)
    for k, before, after in [(5, -0.486, -1.585), (10, -0.637, -1.177), (20, -0.742, -1.010), (50, -0.827, -0.934)]:
        rows = equally_similar(k, 0.6)
        assert semantic_dispersion(rows) == pytest.approx(before, abs=5e-4)
        rows[1] = rows[0]
        assert semantic_dispersion(rows) == pytest.approx(after, abs=5e-4)
        assert (after - before) * k == pytest.approx(-5.4, abs=0.15)


def test_e9_chunks_nearer_than_the_ridge_count_as_duplicates() -> None:
    same = semantic_dispersion(equally_similar(2, 1.0))
    assert semantic_dispersion(equally_similar(2, 1 - RIDGE / 10)) == pytest.approx(same, abs=0.06)
    assert semantic_dispersion(equally_similar(2, 0.9)) > same + 2


def test_e10_overlap_lowers_dispersion() -> None:
    values = []
    for seed in range(20):
        sentences = gaussian_sentences(np.random.default_rng(seed), 180, 0.3)
        values.append(
            [
                semantic_dispersion(
                    unit(np.stack([sentences[max(0, 30 * i - shared) : 30 * i + 30].mean(axis=0) for i in range(6)]))
                )
                for shared in (0, 4, 9, 15)  # of 30 sentences
            ]
        )
        assert values[-1] == sorted(values[-1], reverse=True)
    assert np.mean(values, axis=0) == pytest.approx([-1.92, -2.06, -2.19, -2.37], abs=0.04)


def test_e12_more_chunks_than_dimensions() -> None:
    for k, d in [(10, 9), (9, 9), (40, 6), (100, 20)]:
        rows = random_rows(k, k, d)
        cut = rows - rows.mean(axis=1, keepdims=True)
        eigenvalues = np.linalg.eigvalsh(cut @ cut.T + RIDGE * np.eye(k))
        at_floor = int(np.isclose(eigenvalues, RIDGE, rtol=1e-9, atol=1e-12).sum())
        assert at_floor == k - (d - 1)
        # The identity of determinants, from the small side and from the large one.
        small = np.linalg.slogdet(RIDGE * np.eye(d) + cut.T @ cut)[1] + (k - d) * math.log(RIDGE)
        assert semantic_dispersion(rows) == pytest.approx(small / k, abs=1e-9)
        assert semantic_dispersion(rows) == pytest.approx(np.log(eigenvalues).mean(), abs=1e-9)
        assert semantic_dispersion(rows) <= (k - d + 1) / k * math.log(RIDGE) + (d - 1) / k * math.log(k + RIDGE)


def test_e12_a_corpus_scored_as_one_document_sinks_to_the_floor() -> None:
    rng = np.random.default_rng(0)
    values = [semantic_dispersion(gaussian_sentences(rng, k, 0.5)) for k in (100, 768, 2000, 4000)]
    assert values == sorted(values, reverse=True)
    assert values == pytest.approx([-0.72, -1.60, -4.24, -5.42], abs=0.02)


def test_e12_memory_is_bounded_by_the_dimensions() -> None:
    """The Gram matrix of these would take 20 GB."""
    rows = random_rows(0, 50_000, 3)
    assert semantic_dispersion(rows) == pytest.approx(math.log(RIDGE), abs=0.01)


@pytest.mark.parametrize(
    ("ridge", "ten", "twins"),
    [(1e-6, -0.639, -6.56), (1e-3, -0.637, -3.11), (1e-2, -0.617, -1.95), (0.1, -0.437, -0.78), (1.0, 0.503, 0.55)],
)
def test_e13_the_ridge_sets_the_cost_of_duplicates(ridge: float, ten: float, twins: float) -> None:
    assert semantic_dispersion(equally_similar(10, 0.6), ridge) == pytest.approx(ten, abs=5e-4)
    assert semantic_dispersion(equally_similar(1, 0.6)[[0, 0]], ridge) == pytest.approx(twins, abs=5e-3)
    constant = np.ones((4, 8))
    assert semantic_dispersion(constant, ridge) == pytest.approx(math.log(ridge), abs=1e-9)  # the lower bound


def test_e14_scaling_adds_and_shifting_changes_nothing() -> None:
    for k, d in [(1, 9), (6, 40), (12, 12), (30, 7)]:
        rows = random_rows(k, k, d, is_unit=False)
        value = semantic_dispersion(rows)
        # Exactly 2 log s when the ridge grows along, and nearly so at a fixed one.
        assert semantic_dispersion(10 * rows, 100 * RIDGE) == pytest.approx(value + 2 * math.log(10), abs=1e-9)
        shifts = np.linspace(-3, 3, k)[:, None]
        assert semantic_dispersion(rows + shifts) == pytest.approx(value, abs=1e-9)
    rows = random_rows(1, 6, 40)
    assert semantic_dispersion(10 * rows) - semantic_dispersion(rows) == pytest.approx(4.605, abs=0.01)


def test_e14_the_order_of_the_chunks_does_not_matter() -> None:
    for k, d in [(5, 20), (20, 5)]:
        rows = random_rows(k, k, d)
        shuffled = rows[np.random.RandomState(1).permutation(k)]
        assert semantic_dispersion(shuffled) == pytest.approx(semantic_dispersion(rows), abs=1e-9)


def test_e16_unequal_numbers_of_chunks_do_not_compare() -> None:
    """The proof says: more distinct, larger dispersion. Here every two chunks are more distinct, and it falls."""
    few, many = equally_similar(2, 0.6), equally_similar(20, 0.5)
    assert gram_matrix(many).max(where=~np.eye(20, dtype=bool), initial=-1) < gram_matrix(few)[0, 1] - 0.05
    assert semantic_dispersion(many) < semantic_dispersion(few) - 0.1
    # At equal K and equal length the statement holds.
    assert semantic_dispersion(equally_similar(20, 0.5)) > semantic_dispersion(equally_similar(20, 0.6))


def test_e16_unequal_lengths_do_not_compare() -> None:
    near, far = equally_similar(4, 0.9), equally_similar(4, 0.1)
    assert semantic_dispersion(near) < semantic_dispersion(far)
    assert semantic_dispersion(5 * near) > semantic_dispersion(far)  # long vectors buy dispersion
