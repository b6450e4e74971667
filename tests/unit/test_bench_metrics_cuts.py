"""Cuts against nltk and by hand; text that is dropped never helps; cohesion and perplexity under models of few words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from nltk.metrics.segmentation import pk as nltk_pk
from nltk.metrics.segmentation import windowdiff as nltk_windowdiff

from qchunker.bench.metrics.cohesion import (
    PairPerplexity,
    boundary_clarity,
    chunk_pairs,
    chunk_stickiness,
    pair_perplexities,
    stickiness,
)
from qchunker.bench.metrics.cuts import Cuts, CutScore, cut_score, cuts_of, pk, true_cuts, window_diff, window_size
from qchunker.bench.metrics.perplexity import CompletedChunk, completion_perplexity, control_text
from qchunker.errors import ConfigError, InputError, ScoringError
from qchunker.models.causal_lm import Logprobs
from qchunker.models.fake import UnigramLM
from qchunker.scoring.logical_independence import independence_at, logical_independence
from qchunker.types import Span

ZH = "储罐应每年检测一次。检测由有资质的单位进行。\n\n阀门每月检查一次，检查结果应记录。泵每周润滑。\n甲醇易燃，遇明火会爆炸。操作人员应佩戴防毒面具。"
EN = "Tanks are tested once a year. A certified body does it.\n\nValves are checked monthly; results are logged. Pumps are oiled.\nMethanol is flammable and may explode. Operators wear masks."


def marks(cuts: Cuts) -> str:
    """One sign per gap between two units, as nltk takes boundaries."""
    return "".join("1" if gap in cuts.positions else "0" for gap in range(1, cuts.length))


def drawn(rng: np.random.Generator, length: int) -> Cuts:
    count = int(rng.integers(0, max(1, length // 4)))
    return Cuts(length, tuple(sorted(rng.choice(np.arange(1, length), size=count, replace=False).tolist())))


@pytest.mark.parametrize("seed", range(60))
def test_pk_and_window_diff_equal_nltk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    length = int(rng.integers(2, 90))
    true, found = drawn(rng, length), drawn(rng, length)
    for k in {1, window_size(true), length - 1}:
        assert pk(true, found, k) == pytest.approx(nltk_pk(marks(true), marks(found), k=k), abs=1e-12)
        assert window_diff(true, found, k) == pytest.approx(nltk_windowdiff(marks(true), marks(found), k), abs=1e-12)
    assert pk(true, found) == pk(true, found, window_size(true))
    assert pk(true, true) == window_diff(found, found) == 0


def test_cut_metrics_by_hand() -> None:
    true, found = Cuts(12, (4, 8)), Cuts(12, (4, 9, 11))
    assert window_size(true) == 2
    # Pairs two apart, of ten: cuts of the true segments lie between pairs 2, 3, 6 and 7, found ones 2, 3, 7, 8 and 9.
    assert pk(true, found) == 3 / 10
    assert window_diff(true, found) == 3 / 10
    assert window_diff(true, Cuts(12, (4, 7, 8))) == 2 / 10
    assert pk(true, Cuts(12, (4, 7, 8))) == 1 / 10
    assert cut_score(true, found) == CutScore(1 / 3, 1 / 2, 2 / 5)
    assert cut_score(true, found, tolerance=1) == CutScore(2 / 3, 1, 4 / 5)
    assert cut_score(Cuts(9, (4, 5)), Cuts(9, (5, 6)), tolerance=1) == CutScore(1, 1, 1)
    assert cut_score(Cuts(9, (4,)), Cuts(9, (3, 5)), tolerance=1) == CutScore(1 / 2, 1, 2 / 3)
    assert cut_score(Cuts(9, ()), Cuts(9, ())) == CutScore(1, 1, 1)
    assert cut_score(Cuts(9, (4,)), Cuts(9, ())) == cut_score(Cuts(9, ()), Cuts(9, (4,))) == CutScore(0, 0, 0)
    assert [window_size(Cuts(n, (1,) if n > 1 else ())) for n in (2, 3, 4, 6, 40)] == [1, 1, 1, 2, 10]


def most_pairs(true: tuple[int, ...], found: tuple[int, ...], tolerance: int) -> int:
    """By trying all ways."""
    if not true:
        return 0
    near = [cut for cut in found if abs(cut - true[0]) <= tolerance]
    used = [1 + most_pairs(true[1:], tuple(c for c in found if c != cut), tolerance) for cut in near]
    return max([most_pairs(true[1:], found, tolerance), *used])


@pytest.mark.parametrize("seed", range(60))
def test_no_pairing_of_cuts_has_more_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, found = drawn(rng, 24), drawn(rng, 24)
    for tolerance in (0, 1, 3, 6):
        right = most_pairs(true.positions, found.positions, tolerance)
        measured = cut_score(true, found, tolerance)
        if true.positions and found.positions:
            assert measured[:2] == (right / len(found.positions), right / len(true.positions))


@pytest.mark.parametrize("text", [ZH, EN])
def test_cuts_do_not_depend_on_who_owns_white_space(text: str) -> None:
    places = [at for at in range(1, len(text)) if text[at - 1] in "。.\n" and not text[at].isspace()]
    true = true_cuts(text, places)
    assert true.length == len("".join(text.split()))
    keeping = cuts_of(text, [Span(a, b) for a, b in pairwise([0, *places, len(text)])])
    pieces = [(a, text[a:b]) for a, b in pairwise([0, *places, len(text)])]
    dropping = cuts_of(text, [Span(a, a + len(piece.rstrip())) for a, piece in pieces])
    assert keeping == dropping == true
    assert true_cuts(text, [len(text[:at].rstrip()) for at in places]) == true
    assert pk(true, keeping) == window_diff(true, dropping) == 0
    assert cut_score(true, keeping) == CutScore(1, 1, 1)


def test_lost_text_is_an_error_and_its_ends_are_wrong_cuts() -> None:
    text = "abcdefghij klmnopqrst"
    true = true_cuts(text, [10])
    kept = cuts_of(text, [Span(0, 10), Span(11, 21)])
    lost = cuts_of(text, [Span(0, 10), Span(13, 21)])
    assert kept == Cuts(20, (10,)) == true
    assert lost == Cuts(20, (10, 12), (Span(10, 12),))
    assert cut_score(true, lost) == CutScore(0, 0, 0)
    # Windows over six units, of which 5-10 to 11-16 hold unit 10 or 11.
    assert pk(true, lost, 5) == window_diff(true, lost, 5) == 7 / 15
    assert cuts_of(text, []) == Cuts(20, (), (Span(0, 20),))
    assert pk(true, cuts_of(text, [])) == 1
    # Chunks that overlap are cut where the later one starts.
    assert cuts_of(text, [Span(0, 14), Span(9, 21)]) == Cuts(20, (9,))


@pytest.mark.parametrize("text", [ZH, EN])
@pytest.mark.parametrize("seed", range(40))
def test_dropping_text_never_raises_a_score(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = [at for at in range(1, len(text)) if text[at - 1] in "。.\n" and not text[at].isspace()]
    true = true_cuts(text, places[1::2])
    edges = sorted({0, len(text), *rng.choice(np.arange(1, len(text)), size=5).tolist(), *places[: seed % 4]})
    spans = [Span(a, b) for a, b in pairwise(edges)]
    whole = cuts_of(text, spans)
    at = int(rng.integers(len(spans)))
    start, end = spans[at]
    middle = int(rng.integers(start, end))
    for kept in ([], [Span(start, middle)], [Span(middle, end)]):
        less = cuts_of(text, [*spans[:at], *kept, *spans[at + 1 :]])
        for measure in (pk, window_diff):
            assert measure(true, less) >= measure(true, whole)
        for tolerance in (0, 3):
            before, after = cut_score(true, whole, tolerance), cut_score(true, less, tolerance)
            assert all(b <= a + 1e-12 for a, b in zip(before, after, strict=True))
    right = [Span(a, b) for a, b in pairwise([0, *places[1::2], len(text)])]
    less = cuts_of(text, [span for number, span in enumerate(right) if number != seed % len(right)])
    assert pk(true, less) > 0 < window_diff(true, less)
    assert max(cut_score(true, less)) < 1


def test_impossible_cuts_are_refused() -> None:
    for spans in ([Span(0, 99)], [Span(-1, 2)], [Span(3, 1)]):
        with pytest.raises(InputError):
            cuts_of("text", spans)
    with pytest.raises(InputError):
        true_cuts("text", [5])
    with pytest.raises(ScoringError):
        cuts_of(" \n", [])
    with pytest.raises(ScoringError):
        pk(Cuts(9, ()), Cuts(8, ()))
    with pytest.raises(ScoringError):
        pk(Cuts(1, ()), Cuts(1, ()))
    for positions in ((0,), (9,), (4, 4), (5, 3)):
        with pytest.raises(ScoringError):
            cut_score(Cuts(9, (4,)), Cuts(9, positions))
    for k in (0, 9):
        with pytest.raises(ConfigError):
            window_diff(Cuts(9, ()), Cuts(9, ()), k)
    with pytest.raises(ConfigError):
        cut_score(Cuts(9, ()), Cuts(9, ()), -1)


def sentences(text: str) -> list[Span]:
    ends = [at + 1 for at, char in enumerate(text) if char in "。." or char == "\n"]
    return [Span(a, b) for a, b in pairwise([0, *ends]) if text[a:b].strip()]


@pytest.mark.parametrize("text", [ZH, EN])
def test_boundary_clarity_is_logical_independence(text: str) -> None:
    spans = sentences(text)
    clarity = boundary_clarity(text, spans, UnigramLM())
    independence = independence_at(text, pairwise(spans), UnigramLM())
    assert clarity.boundaries == tuple(independence[pair] for pair in pairwise(spans))
    assert clarity.value == logical_independence(clarity.boundaries)
    nll = boundary_clarity(text, spans, UnigramLM(), form="nll")
    assert all(
        min(1, a) - 1e-9 <= b <= max(1, a) + 1e-9 for a, b in zip(clarity.boundaries, nll.boundaries, strict=True)
    )


def test_the_two_forms_of_the_ratio_are_different_numbers() -> None:
    pair = PairPerplexity(math.exp(2.2), math.exp(2.5))
    assert round(pair.ratio(), 3) == 0.741
    assert round(pair.ratio("nll"), 2) == 0.88
    with pytest.raises(ScoringError):
        PairPerplexity(2.0, 1.0).ratio("nll")
    with pytest.raises(ConfigError):
        pair.ratio("mean")


def test_stickiness_by_hand() -> None:
    a, b, c, d = (Span(at, at + 1) for at in range(4))
    edges = {(a, b): 0.9, (b, c): 0.85, (c, d): 0.1, (a, c): 0.8}
    found = stickiness(edges, 0.8)
    assert (found.n_edges, found.n_pairs) == (2, 4)
    assert found.value == pytest.approx(1.5)  # degrees 1, 2, 1
    assert stickiness(edges, 0.05).value == pytest.approx(-sum(h / 8 * math.log2(h / 8) for h in (2, 2, 3, 1)))
    assert stickiness(edges, 0.95) == (0.0, 0, 4)
    assert math.copysign(1, stickiness(edges, 0.95).value) == 1
    # Both directions of a pair are edges of their own.
    assert stickiness({(a, b): 1.0, (b, a): 1.0, (b, c): 1.0}, 0.5).value == pytest.approx(
        -(2 / 6 * math.log2(2 / 6) + 3 / 6 * math.log2(3 / 6) + 1 / 6 * math.log2(1 / 6))
    )


@pytest.mark.parametrize("text", [ZH, EN])
def test_stickiness_reads_a_bounded_window(text: str) -> None:
    spans = sentences(text)
    assert chunk_pairs(spans, window=1, complete=False) == list(pairwise(spans))
    assert chunk_pairs(spans, window=None) == chunk_pairs(spans, window=len(spans))
    assert len(chunk_pairs(spans, window=None)) == len(spans) * (len(spans) - 1)
    assert set(chunk_pairs(spans, window=2, complete=False)) < set(chunk_pairs(spans, window=2))
    later = chunk_stickiness(text, spans, UnigramLM(), complete=False, window=None, threshold=0.1)
    both = chunk_stickiness(text, spans, UnigramLM(), window=None, threshold=0.1)
    assert both.n_pairs == 2 * later.n_pairs
    assert both.n_edges > later.n_edges
    assert 0 < both.value <= math.log2(len(spans))
    read = pair_perplexities(text, chunk_pairs(spans, window=None), UnigramLM())
    assert both == stickiness({pair: 1 - found.ratio() for pair, found in read.items()}, 0.1)
    assert pair_perplexities(text, chunk_pairs(spans), UnigramLM())[spans[0], spans[1]] == read[spans[0], spans[1]]


def test_the_cost_of_stickiness_grows_linearly() -> None:
    costs = []
    for n in (40, 80):
        text, lm = "".join(f"Unit {at} is made of steel {at * 7}. " for at in range(n)), UnigramLM()
        spans = sentences(text)
        chunk_stickiness(text, spans, lm, window=3, threshold=0.1)
        costs.append(lm.tokens_read)
    assert costs[1] < 2.2 * costs[0]


def test_chunks_that_repeat_each_other_stick_together() -> None:
    sticky = "the tank holds methanol at nine bar. " * 6
    loose = "alpha beta gamma. delta epsilon zeta. eta theta iota. kappa lambda mu. nu xi omicron. pi rho sigma. "
    of = {text: chunk_stickiness(text, sentences(text), UnigramLM(), threshold=0.9) for text in (sticky, loose)}
    assert of[sticky].n_edges > 0 == of[loose].n_edges
    assert of[sticky].value > 2 > 0 == of[loose].value
    clarity = {text: boundary_clarity(text, sentences(text), UnigramLM()).value for text in (sticky, loose)}
    assert clarity[sticky] < clarity[loose]


def test_impossible_cohesion_is_refused() -> None:
    with pytest.raises(ScoringError):
        boundary_clarity("one.", [Span(0, 4)], UnigramLM())
    with pytest.raises(ScoringError):
        chunk_stickiness("one.", [Span(0, 4)], UnigramLM())
    with pytest.raises(ConfigError):
        chunk_pairs([Span(0, 1)], window=0)


class WordLM:
    """A character costs 1 nat where its context has it already, else 3; a sign of its own for each request."""

    id = "characters"
    languages = frozenset({"en", "zh"})

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, str]] = []

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        self.asked += zip(contexts, texts, strict=True)
        return [
            np.array([-1.0 if char in (context or "") + text[:at] else -3.0 for at, char in enumerate(text)])
            for text, context in zip(texts, contexts, strict=True)
        ]

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return sum(map(len, texts))


COMPLETED = [
    (ZH, "该阀门每月检查一次", "（阀门：储罐的安全阀，见第三章）该阀门每月检查一次"),
    (ZH, "阀门每月检查一次，检查结果应记录。", "阀门（指安全阀）每月检查一次，检查结果应记录在表二。"),
    (EN, "Valves are checked monthly; results are logged.", "Section 3: Valves are checked monthly; results (of Table 2) are logged."),
    (EN, "Pumps are oiled.", "Pumps (see 4.1) are oiled."),
]  # fmt: skip


@pytest.mark.parametrize(("document", "original", "completed"), COMPLETED)
def test_the_control_is_the_original_with_text_of_equal_length_from_elsewhere(
    document: str, original: str, completed: str
) -> None:
    document = f"{document}\n{original}\n" + document.replace("检", "测")
    start = document.index(original)
    chunk = CompletedChunk(document, start, start + len(original), completed)
    control = control_text(chunk)
    assert len(control) == len(completed)
    assert control == control_text(chunk)
    assert len({control_text(chunk, seed) for seed in range(20)}) > 5
    for seed in range(20):
        at, left = 0, control_text(chunk, seed)
        for char in original:  # the original is in it, in order
            at = left.index(char, at) + 1
    found = completion_perplexity([chunk], WordLM())[0]
    assert all(value > 0 and math.isfinite(value) for value in found)
    assert found.kept_share > 0.6


def test_kept_words_are_read_over_the_same_tokens_in_each_text() -> None:
    document = "Tank T-1 holds methanol. It is tested yearly. Pumps are oiled each week by the operators of the plant."
    original = "It is tested yearly."
    completed = "Tank T-1: It is tested yearly (by TUV)."
    start = document.index(original)
    lm = WordLM()
    chunk = CompletedChunk(document, start, start + len(original), completed, (Span(0, 24),))
    found = completion_perplexity([chunk], lm)[0]
    control = control_text(chunk)
    kept = ["It is tested yearly", "."]
    texts = [text for _, text in lm.asked]
    assert texts[:3] == [original, completed, control]
    assert texts[3:] == [kept[0]] * 3
    assert [context for context, _ in lm.asked[3:]] == [None, "Tank T-1: ", control[: control.index(kept[0])]]
    assert found.kept_share == len(kept[0]) / len(original)
    assert "methanol" not in control
    values = [float(np.exp(-np.mean(one))) for one in lm.token_logprobs(texts[:3], [None] * 3)]
    assert found[:3] == pytest.approx(values)
    alone = lm.token_logprobs([kept[0]], [None])[0]
    assert found.kept_original == pytest.approx(float(np.exp(-alone.mean())))
    assert found.kept_completed < found.kept_original


def test_a_chunk_that_was_not_completed_has_the_same_numbers() -> None:
    chunk = CompletedChunk(ZH, 0, 10, ZH[:10])
    found = completion_perplexity([chunk], UnigramLM())[0]
    assert len(set(found[:6])) == 1
    assert found.kept_share == 1
    assert completion_perplexity([], UnigramLM()) == []


def test_completions_without_a_control_are_errors() -> None:
    whole = CompletedChunk("short text", 0, 10, "short text, and much more")
    with pytest.raises(ScoringError):
        completion_perplexity([whole], UnigramLM())
    with pytest.raises(ScoringError):
        completion_perplexity([CompletedChunk(EN, 0, 20, "完全不同")], UnigramLM())
    with pytest.raises(ScoringError):
        completion_perplexity([CompletedChunk("a   b", 1, 3, "x")], UnigramLM())
    with pytest.raises(InputError):
        completion_perplexity([CompletedChunk("ab", 0, 3, "abc")], UnigramLM())
    covered = CompletedChunk(EN, 0, 20, EN[:20] + " and so on", (Span(15, len(EN)),))
    with pytest.raises(ScoringError):
        control_text(covered)
