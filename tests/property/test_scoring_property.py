"""What holds for every text and every set of vectors that is scored."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qchunker
from qchunker import Models, ScoringConfig
from qchunker.models.batching import batches_by_length
from qchunker.models.cache import cache_key
from qchunker.models.causal_lm import Ids, Logprobs, plan_passes, run_passes
from qchunker.models.fake import HashingEmbedder, UnigramLM
from qchunker.scoring.random_partitions import random_partitions
from qchunker.scoring.semantic_dispersion import gram_matrix, semantic_dispersion
from qchunker.types import Span

SOME = settings(max_examples=250)

ids = st.lists(st.integers(1, 3), min_size=1, max_size=14).map(tuple)
contexts = st.lists(st.integers(1, 3), max_size=9).map(tuple)
requests = st.lists(st.tuples(ids, contexts), min_size=1, max_size=12)


def toy(prefix: Ids) -> float:
    """The value of the last token of a sequence: another one for every other sequence."""
    return float(int.from_bytes(hashlib.sha256(repr(prefix).encode()).digest()[:6], "big"))


def toy_forward(sequences: Sequence[Ids]) -> list[Logprobs]:
    return [np.array([toy(sequence[: t + 1]) for t in range(1, len(sequence))]) for sequence in sequences]


def one_by_one(text: Ids, context: Ids, neutral: int, piece: int, window: int) -> list[float]:
    """What a text means, token by token: after the neutral token and what stands before its piece."""
    values = []
    for t in range(len(text)):
        start = t - t % piece
        before = text[:start] if start else context
        values.append(toy((neutral, *before[max(0, len(before) - window) :], *text[start : t + 1])))
    return values


@SOME
@given(requests=requests, piece=st.integers(1, 6), window=st.integers(1, 12), neutral=st.integers(0, 2))
def test_plan_passes_equals_running_every_text_alone(
    requests: list[tuple[Ids, Ids]], piece: int, window: int, neutral: int
) -> None:
    texts, before = [text for text, _ in requests], [context for _, context in requests]
    passes = plan_passes(texts, before, neutral, piece, window)
    found = run_passes(passes, toy_forward, "toy")
    assert len(found) == len(texts)
    for text, context, values in zip(texts, before, found, strict=True):
        assert values.tolist() == one_by_one(text, context, neutral, piece, window)
        alone = plan_passes([text], [context], neutral, piece, window)
        assert values.tolist() == run_passes(alone, toy_forward, "toy")[0].tolist()
    assert passes.cost == sum(map(len, passes.sequences))
    assert max(map(len, passes.sequences)) <= window + piece + 1
    for i, one in enumerate(passes.sequences):
        assert not any(other[: len(one)] == one for j, other in enumerate(passes.sequences) if i != j)
    # Every sequence is there for a reason: without it, some answer is missing.
    assert {sequence for answers in passes.answers for sequence, _, _ in answers} == set(range(len(passes.sequences)))


@SOME
@given(text=ids, context=contexts, piece=st.integers(1, 6))
def test_from_the_second_piece_on_the_context_does_not_matter(text: Ids, context: Ids, piece: int) -> None:
    alone, after = run_passes(plan_passes([text, text], [(), context], 0, piece), toy_forward, "toy")
    assert alone[piece:].tolist() == after[piece:].tolist()
    if context:
        assert (alone[:piece] != after[:piece]).all()


@SOME
@given(lengths=st.lists(st.integers(1, 50), max_size=30), budget=st.integers(1, 120))
def test_batches_hold_everything_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(batches_by_length(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


parts = st.lists(st.one_of(st.none(), st.text(alphabet="a1:-0é", max_size=4)), max_size=4)


@SOME
@given(one=parts, other=parts)
def test_keys_are_equal_only_for_equal_parts(one: list[str | None], other: list[str | None]) -> None:
    assert (cache_key(*one) == cache_key(*other)) == (one == other)


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    k, d = draw(st.integers(1, 12)), draw(st.integers(2, 12))
    rows = np.random.RandomState(draw(st.integers(0, 2**31))).standard_normal((k, d))
    if draw(st.booleans()) and k > 1:
        rows[-1] = rows[0]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@SOME
@given(rows=matrices(), ridge=st.sampled_from([1e-6, 1e-3, 0.1, 1.0]))
def test_dispersion_has_its_forms_bounds_and_invariances(rows: np.ndarray, ridge: float) -> None:
    k = len(rows)
    value = semantic_dispersion(rows, ridge)
    gram = gram_matrix(rows)
    # Hadamard, and the ridge below everything. An eigenvalue of 1e-6 beside 1 is known to 1e-10 of its size.
    assert math.log(ridge) - 1e-9 <= value
    assert value <= np.log(np.diag(gram) + ridge).mean() + 1e-9
    assert value <= math.log(gram.diagonal().max() + ridge) + 1e-9
    assert value == pytest.approx(np.log(np.linalg.eigvalsh(gram + ridge * np.eye(k))).mean(), abs=1e-8)
    assert semantic_dispersion(rows[::-1], ridge) == pytest.approx(value, abs=1e-8)
    assert semantic_dispersion(rows + 3.0, ridge) == pytest.approx(value, abs=1e-7)
    assert semantic_dispersion(2 * rows, 4 * ridge) == pytest.approx(value + 2 * math.log(2), abs=1e-8)
    if k > 1:  # Han
        without = [semantic_dispersion(np.delete(rows, i, axis=0), ridge) for i in range(k)]
        assert np.mean(without) >= value - 1e-8


pieces = st.sampled_from(
    ["The valve opens. ", "Oil it. ", "阀门关闭。", "记录当班人员姓名。", "Stop!\n", "a", "长", "valve pump seal ", "\n\n", " ", "9.5 bar; ", "“好。”"]
)  # fmt: skip


@st.composite
def cut_texts(draw: st.DrawFn) -> tuple[str, list[Span]]:
    """A text, and chunks of it without white space at their ends."""
    text = "".join(draw(st.lists(pieces, min_size=3, max_size=25)))
    places = [i for i, char in enumerate(text) if not char.isspace()]
    if len(places) < 2:
        return "a b", [Span(0, 1), Span(2, 3)]
    n_cuts = draw(st.integers(1, min(8, len(places) - 1)))
    cuts = sorted(draw(st.sets(st.integers(1, len(places) - 1), min_size=n_cuts, max_size=n_cuts)))
    bounds = [0, *cuts, len(places)]
    return text, [Span(places[a], places[b - 1] + 1) for a, b in pairwise(bounds)]


@SOME
@given(case=cut_texts(), seed=st.integers(0, 100))
def test_every_draw_covers_and_keeps_number_and_limits(case: tuple[str, list[Span]], seed: int) -> None:
    text, spans = case
    lengths = [end - start for start, end in spans]
    draws, unit = random_partitions(text, spans, 4, seed)
    assert unit in ("sentence", "word")
    assert random_partitions(text, spans, 4, seed) == (draws, unit)
    for draw in draws:
        assert len(draw) == len(spans)
        at = 0
        for start, end in draw:
            assert at <= start < end
            assert not text[at:start].strip()
            assert min(lengths) <= end - start <= max(lengths)
            at = end
        assert not text[at:].strip()


@settings(max_examples=120)
@given(case=cut_texts(), config=st.sampled_from([ScoringConfig(draws=0), ScoringConfig(draws=8, li_sample=16)]))
def test_every_partition_that_covers_has_a_score(case: tuple[str, list[Span]], config: ScoringConfig) -> None:
    text, spans = case
    models = Models(HashingEmbedder(), UnigramLM())
    result = qchunker.score(qchunker.from_text(text), spans, models, config)
    assert result.reason is None
    assert len(result.boundaries) == len(spans) - 1
    assert all(0 < value < math.inf for value in result.boundaries)
    assert result.li == pytest.approx(np.mean(result.boundaries), rel=1e-12)
    assert result.sd <= math.log(1 + config.ridge) + 1e-6
    assert result.value == pytest.approx(0.3 * result.li + 0.7 * result.sd, abs=1e-12)
    assert np.shape(result.gram) == (len(spans), len(spans))
