"""Few passes over many texts: what is run, what it costs, and that the numbers are as if every text were run alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from qchunker.config import ScoringConfig
from qchunker.errors import ModelOutputError, ScoringError
from qchunker.models.batching import batches_by_length
from qchunker.models.causal_lm import BATCH_TOKENS, PIECE_TOKENS, Ids, Logprobs, plan_passes, run_passes
from qchunker.models.fake import HashingEmbedder, UnigramLM
from qchunker.scoring.chunkscore import plan, score_partitions
from qchunker.scoring.logical_independence import boundary_requests
from qchunker.types import Span

LANGUAGES = ["en", "zh"]
RAW = ScoringConfig(draws=0)
_WORDS = "valve pump seal pressure oil gasket bearing leak flow pipe tank crew shift record gauge bolt".split()
_CHARS = "阀门压力泵油封记录当班人员应当关闭检查温度仓库干燥储存"


def text_of(language: str, n_units: int) -> tuple[str, list[Span]]:
    """Words or characters, and where they are; a word is a token, and so is the space before it."""
    rng = random.Random(n_units)
    units = [rng.choice(_WORDS if language == "en" else _CHARS) for _ in range(n_units)]
    text, places = (" " if language == "en" else "").join(units), []
    at = 0
    for unit in units:
        places.append(Span(at, at + len(unit)))
        at += len(unit) + (language == "en")
    return text, places


def cut(places: Sequence[Span], sizes: Sequence[int]) -> tuple[Span, ...]:
    bounds = np.cumsum([0, *sizes]).tolist()
    assert bounds[-1] == len(places)
    return tuple(Span(places[a].start, places[b - 1].end) for a, b in pairwise(bounds))


def n_tokens(text: str) -> int:
    return UnigramLM().token_logprobs([text], [None])[0].size


def cost_ratio(language: str, sizes: Sequence[int]) -> float:
    """Tokens read for one partition, per token of the document; sizes are in tokens."""
    units = [max(1, size // 2) if language == "en" else size for size in sizes]
    text, places = text_of(language, sum(units))
    lm = UnigramLM()
    score_partitions(text, [cut(places, units)], HashingEmbedder(), lm, RAW)
    return lm.tokens_read / n_tokens(text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sizes", [[12] * 100, [30] * 40, [178] * 20, [700] * 12, [1000] * 8, [40, 400] * 8, [100, 20]])
def test_one_partition_costs_about_twice_its_document(language: str, sizes: list[int]) -> None:
    assert cost_ratio(language, sizes) <= 2.1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("n_pieces", [2, 3, 5])
def test_chunks_of_whole_pieces_cost_about_twice_their_document(language: str, n_pieces: int) -> None:
    assert cost_ratio(language, [n_pieces * PIECE_TOKENS] * 5) <= 2.1


@pytest.mark.parametrize("size", [PIECE_TOKENS + 1, 1100, 1500, 2 * PIECE_TOKENS + 1, 2500, 5000])
def test_longer_chunks_cost_less_than_thrice_their_document(size: int) -> None:
    """The last piece, however short, is read after a whole piece before it: just above 1,024 tokens this is worst."""
    assert cost_ratio("zh", [size] * 10) <= 3.0


@pytest.mark.parametrize("size", [PIECE_TOKENS + 1, 1100, 1500])
def test_longer_chunks_cost_about_twice_their_document(size: int) -> None:
    assert cost_ratio("zh", [size] * 10) <= 2.1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [40, 150])
def test_twenty_candidates_that_share_half_of_their_cuts_cost_five_documents_at_most(language: str, size: int) -> None:
    """Every other cut is the same in all; the others lie at one of two places."""
    rng = random.Random(1)
    text, places = text_of(language, 20 * size)
    candidates = []
    for _ in range(20):
        cuts = [size * i + (rng.choice((-size // 6, size // 6)) if i % 2 else 0) for i in range(1, 20)]
        bounds = [0, *cuts, 20 * size]
        candidates.append(cut(places, np.diff(bounds).tolist()))
    assert len(set(candidates)) == 20
    lm = UnigramLM()
    scores = score_partitions(text, candidates, HashingEmbedder(), lm, RAW)
    assert lm.tokens_read <= 5 * n_tokens(text)
    # And they are the numbers of each one scored alone.
    for candidate, score in zip(candidates[:5], scores, strict=False):
        assert score_partitions(text, [candidate], HashingEmbedder(), UnigramLM(), RAW) == [score]


@pytest.mark.parametrize("config", [RAW, ScoringConfig(), ScoringConfig(draws=4, li_sample=None)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_plan_is_what_is_then_read_and_embedded(language: str, config: ScoringConfig) -> None:
    text, places = text_of(language, 300)
    partitions = [cut(places, [30] * 10), cut(places, [50, 10] * 5), cut(places, [300])]
    boundaries, spans = plan(text, partitions, config, with_lm=True)
    planned = sum(
        UnigramLM().token_cost(
            [text[slice(*chunk)] for _, chunk in batch],
            [text[slice(*before)] if before else None for before, _ in batch],
        )
        for batch in boundary_requests(boundaries)
    )

    class Listening(HashingEmbedder):
        def __init__(self) -> None:
            self.heard: set[str] = set()

        def encode(self, texts: Sequence[str]) -> np.ndarray:
            self.heard.update(texts)
            return super().encode(texts)

    lm, embedder = UnigramLM(), Listening()
    score_partitions(text, partitions, embedder, lm, config)
    assert lm.tokens_read == planned
    assert embedder.heard == {text[slice(*span)] for span in spans}
    assert plan(text, partitions, config, with_lm=False)[0] == set()


def test_cost_is_what_is_then_read() -> None:
    texts = ["a b", "a b", "a b c", "d " * 1500, "门" * 1025, "x"]
    contexts = [None, "a b", "a b", "e " * 700, "a", "d " * 3000]
    lm = UnigramLM()
    cost = lm.token_cost(texts, contexts)
    assert lm.tokens_read == 0
    lm.token_logprobs(texts, contexts)
    assert lm.tokens_read == cost


def test_no_text_costs_nothing() -> None:
    assert UnigramLM().token_cost([], []) == 0
    assert UnigramLM().token_logprobs([], []) == []


def test_a_text_without_tokens_is_refused() -> None:
    with pytest.raises(ScoringError, match="without tokens"):
        plan_passes([(1,), ()], [(), (2,)], 0)
    with pytest.raises(ScoringError, match="without tokens"):
        UnigramLM().token_logprobs([""], ["a"])


def test_a_pass_over_a_pair_answers_for_both_chunks() -> None:
    one, two, three = (1, 2, 3), (4, 5), (6,)
    passes = plan_passes([one, two, two, three], [(), (), one, two], 0)
    # Alone, `one` is the beginning of `one two`, and `two` of `two three`.
    assert passes.sequences == [(0, 1, 2, 3, 4, 5), (0, 4, 5, 6)]
    assert passes.answers == [[(0, 1, 4)], [(1, 1, 3)], [(0, 4, 6)], [(1, 3, 4)]]
    assert passes.cost == 10


def test_long_texts_are_read_in_pieces() -> None:
    ids, context = tuple(range(1, 8)), (11, 12, 13, 14)
    passes = plan_passes([ids], [context], 0, piece=3, window=3)
    windows = [(0, 12, 13, 14, 1, 2, 3), (0, 1, 2, 3, 4, 5, 6), (0, 4, 5, 6, 7)]
    assert sorted(passes.sequences) == sorted(windows)
    assert [passes.sequences[sequence][first:last] for sequence, first, last in passes.answers[0]] == [
        (1, 2, 3),
        (4, 5, 6),
        (7,),
    ]


def test_batches_stay_within_the_budget_and_lose_nothing() -> None:
    lengths = [5, 3000, 1, 5000, 2000, 2000, 100, 100, 100]
    batches = list(batches_by_length(lengths, 4096))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= 4096
    assert [3] in batches
    assert list(batches_by_length([], 10)) == []


def test_a_model_is_called_with_batches_of_bounded_size() -> None:
    sizes: list[int] = []

    def forward(sequences: Sequence[Ids]) -> list[Logprobs]:
        sizes.append(len(sequences) * max(map(len, sequences)))
        return [np.zeros(len(ids) - 1) for ids in sequences]

    texts = [tuple(range(i, i + 300 + i)) for i in range(1, 60)]
    run_passes(plan_passes(texts, [()] * 59, 0), forward, "model")
    assert len(sizes) > 2
    assert max(sizes) <= BATCH_TOKENS


def test_a_wrong_number_of_values_is_an_error_of_the_model() -> None:
    passes = plan_passes([(1, 2)], [()], 0)
    with pytest.raises(ModelOutputError, match="gave 3 log-probabilities for 2 tokens"):
        run_passes(passes, lambda batch: [np.zeros(len(ids)) for ids in batch], "model")
