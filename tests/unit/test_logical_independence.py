"""Perplexity and logical independence: the reference, tables by hand, and known biases (E6, E7, E8, E14)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from qchunker.errors import ScoringError
from qchunker.models.causal_lm import Ids, Logprobs, plan_passes, run_passes
from qchunker.models.fake import UnigramLM
from qchunker.scoring.logical_independence import (
    boundary_independence,
    boundary_requests,
    independence_at,
    logical_independence,
)
from qchunker.scoring.perplexity import perplexity
from qchunker.types import Span

# Seed, tokens of each chunk, and what shared/bench/chunkscore_ref.py gives for the log-probabilities below.
REFERENCE = [
    (10, [5, 3, 8], 0.845214966684307),
    (20, [1, 1], 0.46305303601718373),
    (30, [40, 17, 1, 96, 250], 0.8603936220891752),
    (40, [3, 3, 3, 3, 3, 3, 3], 1.931838170999127),
]


class TableLM:
    """Gives the log-probabilities of a table by (context, text), and writes down what it is asked."""

    id = "table"
    languages = frozenset({"en"})

    def __init__(self, table: dict[tuple[str | None, str], Logprobs]) -> None:
        self.table = table
        self.asked: list[tuple[str | None, str]] = []

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        requests = list(zip(contexts, texts, strict=True))
        self.asked += requests
        return [self.table[request] for request in requests]

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return sum(map(len, texts))


def logs(*probabilities: float) -> Logprobs:
    return np.log(np.array(probabilities))


def reference_logprobs(seed: int, n: int) -> Logprobs:
    return -np.random.RandomState(seed).exponential(2.0, n)


def spans_of(*chunks: str) -> tuple[str, list[Span]]:
    text, spans = "".join(chunks), []
    for chunk in chunks:
        start = spans[-1].end if spans else 0
        spans.append(Span(start, start + len(chunk)))
    return text, spans


@pytest.mark.parametrize(("seed", "counts", "wanted"), REFERENCE)
def test_logical_independence_equals_the_reference(seed: int, counts: list[int], wanted: float) -> None:
    text, spans = spans_of(*[chr(97 + i) * 2 for i in range(len(counts))])
    chunks = [text[slice(*span)] for span in spans]
    table: dict[tuple[str | None, str], Logprobs] = {
        (None, chunk): reference_logprobs(seed * 100 + 2 * i, counts[i]) for i, chunk in enumerate(chunks)
    }
    table |= {
        (chunks[i - 1], chunks[i]): reference_logprobs(seed * 100 + 2 * i + 1, counts[i]) for i in range(1, len(chunks))
    }
    values = independence_at(text, pairwise(spans), TableLM(table))
    assert logical_independence([values[pair] for pair in pairwise(spans)]) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("probabilities", "wanted"),
    [
        ([0.25, 0.25], 4.0),
        ([1.0], 1.0),
        ([0.5, 0.125], 4.0),  # the inverse geometric mean: 1/sqrt(1/16)
        ([0.1, 0.1, 0.1, 0.1], 10.0),
        ([1.0, 1.0, 1 / 27], 3.0),
    ],
)
def test_hand_computed_perplexity(probabilities: list[float], wanted: float) -> None:
    assert perplexity(logs(*probabilities)) == pytest.approx(wanted, rel=1e-12)


def test_hand_computed_independence_of_two_chunks() -> None:
    text, spans = spans_of("ab", "cd")
    lm = TableLM({(None, "ab"): logs(0.5), (None, "cd"): logs(0.1, 0.1), ("ab", "cd"): logs(0.2, 0.2)})
    # Perplexity 5 after the first chunk, 10 alone.
    values = independence_at(text, [(spans[0], spans[1])], lm)
    assert values == {(spans[0], spans[1]): pytest.approx(0.5, rel=1e-12)}
    assert logical_independence(list(values.values())) == pytest.approx(0.5, rel=1e-12)


def test_hand_computed_independence_of_three_chunks() -> None:
    text, spans = spans_of("a", "b", "c")
    lm = TableLM(
        {
            (None, "a"): logs(0.3),
            (None, "b"): logs(0.1),
            ("a", "b"): logs(0.2),  # 5 / 10
            (None, "c"): logs(0.125, 0.125),
            ("b", "c"): logs(0.5, 0.03125),  # 8 / 8: the same product
        }
    )
    values = independence_at(text, pairwise(spans), lm)
    assert [values[pair] for pair in pairwise(spans)] == pytest.approx([0.5, 1.0], rel=1e-12)
    assert logical_independence([values[pair] for pair in pairwise(spans)]) == pytest.approx(0.75, rel=1e-12)


def test_the_mean_over_boundaries_is_the_arithmetic_one() -> None:
    assert logical_independence([1.0, 4.0]) == 2.5  # a geometric mean would be 2
    assert logical_independence([0.1] * 10) == 0.1  # and nothing is lost in adding up


def test_different_numbers_of_tokens_are_refused() -> None:
    with pytest.raises(ScoringError, match="different tokens: 2 after a text, 3 alone"):
        boundary_independence(logs(0.5, 0.5), logs(0.5, 0.5, 0.5))


def test_no_boundary_is_refused() -> None:
    with pytest.raises(ScoringError, match="no inner boundary"):
        logical_independence([])


def test_no_token_is_refused() -> None:
    with pytest.raises(ScoringError, match="no token"):
        perplexity(logs())
    with pytest.raises(ScoringError, match="no token"):
        boundary_independence(logs(), logs())


@pytest.mark.parametrize("value", [-math.inf, math.inf, math.nan])
def test_log_probabilities_that_are_not_finite_are_refused(value: float) -> None:
    bad = np.array([-1.0, value, -2.0])
    good = np.array([-1.0, -1.0, -2.0])
    for conditional, unconditional in [(bad, good), (good, bad)]:
        with pytest.raises(ScoringError, match="not finite"):
            boundary_independence(conditional, unconditional)


def test_independence_is_the_information_per_token() -> None:
    """log LI = -PMI / n, with PMI = log p(b | a) - log p(b) in nats."""
    alone, after = reference_logprobs(1, 37), reference_logprobs(2, 37)
    information = float(after.sum() - alone.sum())
    assert math.log(boundary_independence(after, alone)) == pytest.approx(-information / 37, abs=1e-12)


def test_only_the_inner_boundaries_are_read_and_each_text_once() -> None:
    text, spans = spans_of("aa", "bb", "cc")
    table: dict[tuple[str | None, str], Logprobs] = {(None, chunk): logs(0.5) for chunk in ("aa", "bb", "cc")}
    lm = TableLM(table | {("aa", "bb"): logs(0.5), ("bb", "cc"): logs(0.25)})
    told: list[tuple[str, int, int]] = []
    independence_at(text, [*pairwise(spans), *pairwise(spans)], lm, lambda *args: told.append(args))
    assert sorted(lm.asked, key=str) == [("aa", "bb"), ("bb", "cc"), (None, "bb"), (None, "cc")]
    assert told[-1][1:] == (4, 4)


def test_requests_that_start_together_are_in_one_batch() -> None:
    pairs = [(Span(10 * i, 10 * i + a), Span(10 * i + a, 10 * i + 12)) for i in range(80) for a in (3, 6)]
    batches = list(boundary_requests(pairs))
    assert len(batches) > 1
    starts = [{(before or chunk).start for before, chunk in batch} for batch in batches]
    assert not any(one & other for i, one in enumerate(starts) for other in starts[i + 1 :])
    requests = [request for batch in batches for request in batch]
    assert len(requests) == len(set(requests))
    assert set(requests) == {(None, chunk) for _, chunk in pairs} | set(pairs)


@pytest.mark.parametrize(("n", "wanted"), [(50, 0.670), (100, 0.819), (178, 0.894), (356, 0.945), (800, 0.975)])
def test_e6_longer_chunks_look_more_independent(n: int, wanted: float) -> None:
    """20 nats that the context saves weigh less over more tokens; how they are spread does not matter."""
    alone = reference_logprobs(n, n) - 20  # so that no probability gets above 1
    evenly = alone + 20 / n
    at_once = alone.copy()
    at_once[0] += 20
    for after in (evenly, at_once):
        assert boundary_independence(after, alone) == pytest.approx(math.exp(-20 / n), rel=1e-9)
        assert boundary_independence(after, alone) == pytest.approx(wanted, abs=5.1e-4)


def test_e6_a_long_chunk_looks_more_independent_to_a_model_too() -> None:
    before = "The relief valve of the pump opens at nine bar. "
    short = "The relief valve opens. "
    long = short + " ".join(f"word{i} other{i}" for i in range(60))
    values = []
    for chunk in (short, long):
        text, (first, second) = spans_of(before, chunk)
        values.append(independence_at(text, [(first, second)], UnigramLM())[first, second])
    assert values[0] < values[1] < 1


def test_e7_values_above_one_are_not_clamped() -> None:
    assert boundary_independence(logs(0.01, 0.01), logs(0.5, 0.5)) == pytest.approx(50, rel=1e-12)
    assert logical_independence([50.0, 1.0]) == 25.5
    assert boundary_independence(np.full(3, -40.0), np.full(3, -1.0)) == pytest.approx(math.exp(39), rel=1e-12)


def test_e7_a_copied_chunk_is_near_0() -> None:
    text, (first, second) = spans_of("valve pump seal gauge ", "valve pump seal gauge ")
    assert independence_at(text, [(first, second)], UnigramLM())[first, second] < 0.2


class WordLM:
    """A model over words, whose sequences a test can see: the probability of a word is 1 / (words before it + 1)."""

    id = "words"
    languages = frozenset({"en"})

    def __init__(self) -> None:
        self.sequences: list[Ids] = []
        self._ids: dict[str, int] = {}

    def ids(self, text: str) -> Ids:
        return tuple(self._ids.setdefault(word, len(self._ids) + 1) for word in text.split())

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        passes = plan_passes([self.ids(text) for text in texts], [self.ids(text or "") for text in contexts], 0)
        self.sequences += passes.sequences
        return run_passes(passes, lambda batch: [-np.log(np.arange(2.0, len(ids) + 1)) for ids in batch], self.id)

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return 0


def test_e8_first_token_follows_the_neutral_token() -> None:
    lm = WordLM()
    (alone,), (after,) = lm.token_logprobs(["c d"], [None]), lm.token_logprobs(["c d"], ["a b"])
    # neutral c d: c is the second of the sequence; neutral a b c d: c is the fourth.
    assert np.exp(alone) == pytest.approx([1 / 2, 1 / 3])
    assert np.exp(after) == pytest.approx([1 / 4, 1 / 5])
    assert lm.sequences == [(0, *lm.ids("c d")), (0, *lm.ids("a b c d"))]


def test_e8_one_token_has_a_perplexity_and_an_independence() -> None:
    lm = WordLM()
    text, (first, second) = spans_of("a b ", "c")
    assert perplexity(lm.token_logprobs(["c"], [None])[0]) == pytest.approx(2)
    assert independence_at(text, [(first, second)], lm)[first, second] == pytest.approx(4 / 2)


def test_e8_both_values_are_over_the_same_tokens() -> None:
    """Also where the texts, tokenised together, would make other tokens: "ab" and "c" are not "abc"."""
    lm = UnigramLM()
    for context, text in [("ab", "c"), ("The valve", "s open. 阀门"), ("阀", "门"), ("a", " b"), ("9.", "5 bar")]:
        alone, after = lm.token_logprobs([text, text], [None, context])
        assert alone.shape == after.shape
        assert perplexity(after) / perplexity(alone) == boundary_independence(after, alone)
    assert lm.token_logprobs(["c"], ["ab"])[0].shape == (1,)
    assert lm.token_cost(["c"], ["ab"]) == 3  # neutral, ab, c


def test_e14_the_order_of_the_chunks_matters_for_independence() -> None:
    def value(*chunks: str) -> float:
        text, spans = spans_of(*chunks)
        values = independence_at(text, pairwise(spans), UnigramLM())
        return logical_independence(list(values.values()))

    pump, again, tax = "The pump runs. ", "The pump stops and the pump runs. ", "Taxes fall due in May. "
    assert value(pump, again, tax) < value(pump, tax, again) - 0.05
