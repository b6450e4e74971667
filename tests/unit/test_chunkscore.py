"""ChunkScore through the public functions: what has no score, the two parts, and the correction for chance."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import qchunker
from qchunker import ChunkingConfig, ChunkScore, Models, ScoringConfig, Span
from qchunker.errors import ConfigError, ScoringError
from qchunker.models.causal_lm import Logprobs
from qchunker.models.embedder import Vectors
from qchunker.models.fake import HashingEmbedder, UnigramLM
from qchunker.scoring.chunkscore import Score, chunk_score, score_partitions
from qchunker.scoring.random_partitions import random_partitions

RAW = ScoringConfig(draws=0)
PUMPS = "The pump runs. Oil it weekly. The valve opens at nine bar. Close it by hand. Crew logs are kept."

# A long sentence, a short one, and as long a one again: the first three chunks of every random partition, so that the
# limits of length, which come from the partition that is scored, are the same for all of them.
ENGLISH = """\
Before the plant is started for the first time, and again after every repair that opened the pipes, the foreman walks \
along the line with the drawing in hand, compares every flange, every gasket and every valve with what the drawing says, \
and signs for each of them, since a single forgotten plug has more than once flooded the hall with hot water, and \
nobody wants to see that happen again in this plant.
Sign it.
After the plant has been shut down for the season, and before the first frost is expected by the weather office, the \
foreman drains the whole line from the lowest point, opens every vent that the drawing shows, and signs for each of them, \
since water that stays behind in a bend of the pipe freezes, and a burst pipe in the wall of the hall costs more than \
all of the others together in a single year.
The pump is oiled every week.
The oil is of the kind that the maker names.
Worn seals of the pump are replaced at once.
A pump that leaks is stopped by the crew.
The pressure of the line is read at noon.
It must not be above nine bar.
At ten bar the relief valve opens by itself.
A valve that sticks is opened by hand.
The gauge is checked against a second gauge.
The crew writes the pressure into the log.
Invoices are paid within thirty days.
The clerk checks the amount and the tax.
Two people sign for large amounts.
The ledger is closed at the end of the month.
An audit looks at the ledger every spring.
Receipts are kept for ten years.
The river behind the hall is home to otters.
Salmon come up the river in autumn.
Nobody may fish there without a permit.
The bank of the river is mown twice a year.
Herons nest in the old willows.
Visitors stay on the marked path.
"""
CHINESE = """\
装置首次开车之前，以及每次打开管道的检修之后，班长应当手持图纸沿管线逐一核对每个法兰、每个垫片和每个阀门，确认与图纸一致并逐项签字，因为一个遗漏的堵头曾经不止一次使厂房积满热水，谁也不希望再次发生这样的事故。
签字。
装置季节性停车之后，以及气象部门预报的首次霜冻之前，班长应当从最低点将整条管线排空，打开图纸标明的每个排气口，并逐项签字确认，因为留在弯头里的水会结冰，而厂房墙内一根冻裂的管道造成的损失比其他所有损失加起来还要大。
泵每周加油一次。
油品应当符合制造厂的规定。
泵的密封件磨损后立即更换。
泄漏的泵由当班人员停车。
每天中午记录管线压力。
压力不得超过九巴。
压力达到十巴时安全阀自动开启。
卡住的阀门用手打开。
压力表与另一块表核对。
当班人员将压力记入日志。
发票在三十天内付款。
会计核对金额和税款。
大额付款由两人签字。
账簿在月底结清。
每年春季对账簿进行审计。
收据保存十年。
厂房后面的河里有水獭。
秋天鲑鱼沿河而上。
没有许可证不得钓鱼。
河岸每年割草两次。
苍鹭在老柳树上筑巢。
参观者应当走标明的小路。
"""
_SIZES = {"en": (1, 1, 1, 4, 3, 5, 4, 2, 4), "zh": (1, 1, 1, 4, 3, 5, 4, 2, 4)}


class RememberingEmbedder:
    id = "remembering"

    def __init__(self) -> None:
        self._model, self._known = HashingEmbedder(), dict[str, npt.NDArray[np.float32]]()

    def encode(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._model.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])


class RememberingLM:
    id = "remembering"
    languages = frozenset({"en", "zh"})

    def __init__(self) -> None:
        self._model, self._known = UnigramLM(), dict[tuple[str, str | None], Logprobs]()

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        requests = list(zip(texts, contexts, strict=True))
        new = [request for request in dict.fromkeys(requests) if request not in self._known]
        if new:
            found = self._model.token_logprobs([text for text, _ in new], [context for _, context in new])
            self._known.update(zip(new, found, strict=True))
        return [self._known[request] for request in requests]

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return 0


MODELS = Models(RememberingEmbedder(), RememberingLM())


def fake_models() -> Models:
    return Models(HashingEmbedder(), UnigramLM())


def document(text: str = PUMPS) -> qchunker.Document:
    return qchunker.from_text(text)


def cut_at(text: str, *cuts: int) -> list[tuple[int, int]]:
    bounds = [0, *cuts, len(text)]
    return list(zip(bounds, bounds[1:], strict=False))  # noqa: RUF007


def lines_as_chunks(text: str, sizes: Sequence[int]) -> tuple[Span, ...]:
    """So many lines each; the first and the third one are of several."""
    ends = [i + 1 for i, char in enumerate(text) if char == "\n" and text[i - 1] in ".。"]
    spans, at, line = [], 0, 0
    for size in sizes:
        line += size
        spans.append(Span(at, ends[line - 1] - 1))
        at = ends[line - 1]
    assert line == len(ends)
    return tuple(spans)


def assert_no_number(result: ChunkScore) -> None:
    numbers = (result.li, result.sd, result.value, result.li_corrected, result.sd_corrected, result.corrected)
    assert all(math.isnan(number) for number in (*numbers, result.corrected_se))
    assert (result.boundaries, result.gram) == ((), ())


def test_e1_one_chunk_is_unscorable_with_a_reason() -> None:
    for config in (RAW, ScoringConfig()):
        models = fake_models()
        result = qchunker.score(document(), [(0, len(PUMPS))], models, config)
        assert result.n_chunks == 1
        assert result.reason is not None
        assert "one chunk" in result.reason
        assert_no_number(result)
        assert isinstance(models.lm, UnigramLM)
        assert models.lm.tokens_read == 0  # and nothing is read for it
    partition = qchunker.chunk(document(), "structure")
    assert len(partition.chunks) == 1
    assert qchunker.score(document(), partition, fake_models()).reason is not None


def test_e1_one_chunk_does_not_keep_the_others_from_a_score() -> None:
    halves = cut_at(PUMPS, 29)
    results = qchunker.score_all(document(), [[(0, len(PUMPS))], halves], fake_models())
    assert [result.reason is None for result in results] == [False, True]
    assert results[1] == qchunker.score(document(), halves, fake_models())


def test_e3_leaving_text_out_is_refused() -> None:
    whole = cut_at(PUMPS, 15, 30, 58, 77)
    full = qchunker.score(document(), whole, fake_models(), RAW)
    assert full.reason is None
    for left_out in range(5):
        kept = whole[:left_out] + whole[left_out + 1 :]
        result = qchunker.score(document(), kept, fake_models(), RAW)
        assert result.reason is not None
        start, end = whole[left_out]
        assert f"no chunk holds the text at {start}-{end}" in result.reason
        assert_no_number(result)
    # The number that is refused would be larger for some chunk (Han).
    vectors = HashingEmbedder().encode([PUMPS[slice(*span)] for span in whole])
    without = [qchunker.scoring.semantic_dispersion.semantic_dispersion(np.delete(vectors, i, 0)) for i in range(5)]
    assert max(without) > full.sd


def test_e3_one_letter_left_out_is_refused_and_white_space_is_not() -> None:
    assert qchunker.score(document(), [(0, 14), (15, len(PUMPS))], fake_models(), RAW).reason is None
    for spans in ([(0, 13), (14, len(PUMPS))], [(1, 14), (14, len(PUMPS))], [(0, 14), (14, len(PUMPS) - 1)]):
        assert "no chunk holds" in str(qchunker.score(document(), spans, fake_models(), RAW).reason)


class OddLM(UnigramLM):
    """Says that a chunk after any other is twice as hard, unless it starts with "Oil"."""

    id = "odd"

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        return [
            np.full(3, math.log(0.1 if context is None or text.startswith("Oil") else 0.05))
            for text, context in zip(texts, contexts, strict=True)
        ]


def test_e7_values_above_one_are_kept_and_counted() -> None:
    spans = [(0, 14), (15, 29), (30, 58), (59, len(PUMPS))]
    result = qchunker.score(document(), spans, Models(HashingEmbedder(), OddLM()), RAW)
    assert result.boundaries == pytest.approx([1, 2, 2], rel=1e-12)
    assert result.li == pytest.approx(5 / 3, rel=1e-12)
    assert result.li_above_one == sum(value > 1 for value in result.boundaries)
    assert result.replace(boundaries=(0.5, 1.0, 1.5, 2.0)).li_above_one == 2
    assert result.value == pytest.approx(0.3 * 5 / 3 + 0.7 * result.sd, rel=1e-12)


def test_e10_overlap_lowers_dispersion_and_is_refused() -> None:
    sentences = PUMPS.replace(". ", ".|").split("|")
    plain = HashingEmbedder().encode(sentences)
    shared = [sentences[0], *[f"{a[-8:]} {b}" for a, b in zip(sentences, sentences[1:], strict=False)]]  # noqa: RUF007
    dispersion = qchunker.scoring.semantic_dispersion.semantic_dispersion
    assert dispersion(HashingEmbedder().encode(shared)) < dispersion(plain) - 0.05
    for spans in ([(0, 30), (29, len(PUMPS))], [(0, 50), (15, len(PUMPS))]):
        result = qchunker.score(document(), spans, fake_models(), RAW)
        assert result.reason is not None
        assert "overlap" in result.reason
        assert_no_number(result)


def test_e10_a_partition_with_overlap_in_its_index_text_is_scored_without_it() -> None:
    text = " ".join([PUMPS] * 4)
    config = ChunkingConfig(target_chars=100, min_chars=0, overlap_ratio=0.6)
    partition = qchunker.chunk(document(text), "structure", config)
    assert any(chunk.lead_in for chunk in partition.chunks)
    result = qchunker.score(document(text), partition, fake_models(), RAW)
    plain = qchunker.score(document(text), [(chunk.start, chunk.end) for chunk in partition.chunks], fake_models(), RAW)
    assert result.reason is None
    assert (result.sd, result.boundaries) == (plain.sd, plain.boundaries)


@pytest.mark.parametrize(
    "spans",
    [
        [],
        [(0, 0), (0, len(PUMPS))],
        [(0, 14), (14, 15), (15, len(PUMPS))],
        [(0, 14), (15, 15), (15, len(PUMPS))],
        [(0, 14), (14, len(PUMPS) + 1)],
        [(-3, 14), (14, len(PUMPS))],
        [(14, 0), (14, len(PUMPS))],
    ],
)
def test_e11_blank_chunks_are_refused(spans: list[tuple[int, int]]) -> None:
    for config in (RAW, ScoringConfig()):
        with pytest.raises(ScoringError, match=r"without chunks|blank or outside"):
            qchunker.score(document(), spans, fake_models(), config)


@pytest.mark.parametrize("blank", ["\n\n", "\u3000", "\t \u00a0"])
def test_e11_every_kind_of_white_space_is_blank(blank: str) -> None:
    text = f"The pump runs.{blank}Oil it."
    with pytest.raises(ScoringError, match="blank"):
        qchunker.score(document(text), [(0, 14), (14, 14 + len(blank)), (14 + len(blank), len(text))], fake_models())


def test_e15_weight_of_the_two_parts() -> None:
    base = chunk_score(0.9, -0.5)
    assert base == pytest.approx(0.3 * 0.9 - 0.7 * 0.5, abs=1e-15)
    assert chunk_score(0.9, -0.4) - base == pytest.approx(0.07, abs=1e-12)
    assert chunk_score(0.9 + 0.7 / 3, -0.5) - base == pytest.approx(0.07, abs=1e-12)
    assert chunk_score(0.9 + 0.2333, -0.5) - base == pytest.approx(chunk_score(0.9, -0.4) - base, abs=1e-4)
    assert chunk_score(0.9, -0.5, 0.0) == -0.5
    assert chunk_score(0.9, -0.5, 1.0) == 0.9
    spans = cut_at(PUMPS, 30, 58)
    for weight in (0.0, 0.3, 0.5, 1.0):
        result = qchunker.score(document(), spans, fake_models(), ScoringConfig(draws=0, li_weight=weight))
        assert result.value == pytest.approx(weight * result.li + (1 - weight) * result.sd, abs=1e-12)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_with_all_weight_on_one_part_the_corrected_score_is_that_part(weight: float) -> None:
    given = lines_as_chunks(ENGLISH, _SIZES["en"])
    config = ScoringConfig(li_weight=weight, li_sample=None, draws=8)
    result = qchunker.score(document(ENGLISH), given, MODELS, config)
    part = result.li_corrected if weight else result.sd_corrected
    assert result.corrected == pytest.approx(part, rel=1e-9)
    assert result.corrected_se == 0


def test_without_a_language_model_there_is_dispersion_only() -> None:
    spans = lines_as_chunks(ENGLISH, _SIZES["en"])
    both = qchunker.score(document(ENGLISH), spans, MODELS)
    result = qchunker.score(document(ENGLISH), spans, Models(MODELS.embedder))
    assert (result.sd, result.sd_corrected) == (both.sd, both.sd_corrected)
    assert all(math.isnan(x) for x in (result.li, result.value, result.li_corrected, result.corrected))
    assert result.reason is None
    assert any("without a language model" in note for note in result.notes)


def test_a_score_tells_what_it_is_about() -> None:
    spans = [(0, 14), (15, 58), (59, len(PUMPS))]
    result = qchunker.score(document(), spans, fake_models(), RAW)
    lengths = [14, 43, len(PUMPS) - 59]
    assert (result.document_id, result.n_chunks, result.draws) == (document().id, 3, 0)
    assert result.mean_chars == pytest.approx(np.mean(lengths))
    assert result.sd_chars == pytest.approx(np.std(lengths))
    assert len(result.boundaries) == 2
    vectors = HashingEmbedder().encode([PUMPS[slice(*span)] for span in spans]).astype(float)
    rows = vectors - vectors.mean(axis=1, keepdims=True)
    assert np.array(result.gram) == pytest.approx(rows @ rows.T, abs=1e-12)
    for part in ("embedder=hashing-64", "lm=unigram", "li_weight=0.3", "ridge=0.001", "draws=0", "seed=0"):
        assert part in result.signature
    assert all(math.isnan(x) for x in (result.li_corrected, result.sd_corrected, result.corrected))


@pytest.mark.parametrize(
    "wrong",
    [
        *[{"li_weight": -0.1}, {"li_weight": 1.1}, {"li_weight": math.nan}, {"ridge": 0.0}, {"ridge": math.inf}],
        *[{"ridge": math.nan}, {"draws": -1}, {"draws": 1}, {"li_sample": 7}, {"seed": -1}],
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ScoringConfig(**wrong)  # type: ignore[arg-type]


def test_one_way_to_cut_has_no_corrected_score_and_a_note() -> None:
    result = qchunker.score(document("One two."), [(0, 3), (4, 8)], fake_models())
    assert result.reason is None
    assert not math.isnan(result.value)
    assert all(math.isnan(x) for x in (result.li_corrected, result.sd_corrected, result.corrected))
    assert any("the same" in note for note in result.notes)


def test_progress_ends_where_it_says() -> None:
    told: dict[str, list[tuple[int, int]]] = {}
    qchunker.score(
        document(ENGLISH),
        lines_as_chunks(ENGLISH, _SIZES["en"]),
        MODELS,
        progress=lambda what, done, total: told.setdefault(what, []).append((done, total)),
    )
    assert set(told) == {"reading boundaries", "embedding"}
    for steps in told.values():
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1]


class Chance(NamedTuple):
    """Corrected numbers of many random partitions, each against random partitions of its own."""

    sd: npt.NDArray[np.float64]
    li: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]


_N_FRESH = 220
_DRAWS = 24


@cache
def fresh_draws(language: str) -> Chance:
    text = ENGLISH if language == "en" else CHINESE
    given = lines_as_chunks(text, _SIZES[language])
    lengths = [end - start for start, end in given]
    fresh, unit = random_partitions(text, given, _N_FRESH, seed=987_654)
    assert unit == "sentence"
    assert len(set(fresh)) > 0.9 * _N_FRESH
    numbers = []
    for seed, partition in enumerate(fresh):
        chunks = [end - start for start, end in partition]
        # So it was drawn from the very partitions that it is compared with.
        assert (min(chunks), max(chunks)) == (min(lengths), max(lengths))
        config = ScoringConfig(draws=_DRAWS, li_sample=None, seed=seed)
        result = qchunker.score(document(text), partition, MODELS, config)
        assert result.corrected_se == 0
        numbers.append((result.sd_corrected, result.li_corrected, result.corrected))
    return Chance(*np.array(numbers).T)


@pytest.mark.parametrize("part", Chance._fields)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_corrected_score_of_a_random_partition_has_mean_0_and_variance_1(language: str, part: str) -> None:
    values = getattr(fresh_draws(language), part)
    n = len(values)
    assert n >= 200
    # Mean and variance of the reference are themselves estimated from few draws; that widens the spread.
    variance = (1 + 1 / _DRAWS) * (_DRAWS - 1) / (_DRAWS - 3)
    assert abs(values.mean()) < 4 * math.sqrt(variance / n)
    kurtosis = ((values - values.mean()) ** 4).mean() / values.var() ** 2
    assert values.var(ddof=1) == pytest.approx(variance, abs=4 * variance * math.sqrt((kurtosis - 1) / n))


def sampled_and_exact(text: str, given: Sequence[Span], n_seeds: int) -> tuple[list[Score], list[Score]]:
    """The same draws, all of their boundaries read or 32 of them."""
    scores = [
        [
            score_partitions(text, [tuple(given)], MODELS.embedder, MODELS.lm, ScoringConfig(li_sample=n, seed=seed))[0]
            for seed in range(n_seeds)
        ]
        for n in (32, None)
    ]
    return scores[0], scores[1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_sampled_correction_agrees_with_the_exact_one(language: str) -> None:
    text = ENGLISH if language == "en" else CHINESE
    sampled, exact = sampled_and_exact(text, lines_as_chunks(text, _SIZES[language]), 60)
    for one, other in zip(sampled, exact, strict=True):
        assert (one.li, one.sd, one.value) == (other.li, other.sd, other.value)
        assert one.sd_corrected == other.sd_corrected
        assert other.corrected.error == 0
    difference = np.array([a.corrected.value - b.corrected.value for a, b in zip(sampled, exact, strict=True)])
    errors = np.array([score.corrected.error for score in sampled])
    # On average within 0.15 standard deviations of chance, and spread as told, give or take a half.
    assert abs(difference.mean()) < 0.15
    assert 0.5 < difference.std(ddof=1) / math.sqrt((errors**2).mean()) < 1.5


def test_sampled_correction_has_no_drift_where_positions_do_not_divide() -> None:
    """Ten boundaries and 16 pairs: some positions count twice, and always the same ones, the first among them."""
    sampled, exact = sampled_and_exact(ENGLISH, lines_as_chunks(ENGLISH, (1, 1, 1, 1, 3, 2, 3, 4, 2, 3, 4)), 60)
    difference = np.array([a.corrected.value - b.corrected.value for a, b in zip(sampled, exact, strict=True)])
    assert abs(difference.mean()) < 4 * difference.std(ddof=1) / math.sqrt(len(difference))


_PROGRAM = """
import qchunker
from qchunker import ScoringConfig
import sys
sys.path.insert(0, {folder!r})
from test_chunkscore import CHINESE, ENGLISH, MODELS, _SIZES, lines_as_chunks
for text, language in ((ENGLISH, "en"), (CHINESE, "zh")):
    for config in (ScoringConfig(), ScoringConfig(li_sample=None, draws=4)):
        spans = lines_as_chunks(text, _SIZES[language])
        result = qchunker.score(qchunker.from_text(text), spans, MODELS, config)
        numbers = (result.li, result.sd, result.value, result.li_corrected, result.sd_corrected, result.corrected)
        flat = [x for row in result.gram for x in row]
        print(*[x.hex() for x in (*numbers, result.corrected_se, *result.boundaries, *flat)], result.signature)
"""


def test_scores_do_not_depend_on_the_process() -> None:
    program = _PROGRAM.format(folder=os.path.dirname(__file__))
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "31337")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 4
    assert "nan" not in outputs[0]


def test_scores_do_not_depend_on_what_else_is_scored() -> None:
    one, other = lines_as_chunks(ENGLISH, _SIZES["en"]), lines_as_chunks(ENGLISH, (1, 1, 1, 1, 3, 2, 3, 4, 2, 3, 4))
    together = qchunker.score_all(document(ENGLISH), [one, other, one], MODELS)
    assert together[0] == together[2] == qchunker.score(document(ENGLISH), one, MODELS)
    assert together[1] == qchunker.score(document(ENGLISH), other, MODELS)


def test_chunks_with_white_space_at_their_ends_are_scored() -> None:
    text = "aaaa bbb. cccc ddd. eeee fff. gggg hhh.\n\nEnd."
    spans = [(0, 10), (10, 20), (20, 30), (30, 40), (40, 45)]
    assert qchunker.score(document(text), spans, fake_models()).reason is None
    text = "aaaa bbb. cccc ddd. eeee fff. gggg hhh. "
    assert qchunker.score(document(text), [(10 * i, 10 * i + 10) for i in range(4)], fake_models()).reason is None
