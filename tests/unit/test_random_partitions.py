"""Random partitions: they cover, keep K and the limits, are uniform, and the same for the same seed."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest

from qchunker.scoring.random_partitions import random_partitions
from qchunker.types import Span

ENGLISH = (
    "The relief valve opens at nine bar. Close it by hand. Oil the pump every week, and write down who did it. "
    "Leaks are reported at once. The seal lasts for two years. Do not mix the oils. A gauge that sticks is replaced. "
    "The crew of the night shift checks the tank.\nThe log is kept for ten years. Nobody works alone."
)
CHINESE = (
    "安全阀在压力达到九巴时开启。操作人员应当手动关闭。泵每周加油一次，并记录当班人员姓名。发现泄漏应当立即报告。"
    "密封件使用两年后更换。不同油品不得混用。压力表卡住时应当更换！夜班人员检查储罐。\n记录保存十年。任何人不得单独作业。"
)

Partition = tuple[Span, ...]


def cut(text: str, units: Sequence[str], sizes: Sequence[int]) -> Partition:
    """Chunks of so many units each, without the white space around them."""
    spans, at, unit = [], 0, 0
    places = []
    for piece in units:
        start = text.index(piece, at)
        at = start + len(piece)
        places.append(Span(start, at))
    for size in sizes:
        spans.append(Span(places[unit].start, places[unit + size - 1].end))
        unit += size
    assert unit == len(units)
    return tuple(spans)


def sentences_of(text: str) -> list[str]:
    parts, at = [], 0
    for i, char in enumerate(text):
        if char in ".。！":
            parts.append(text[at : i + 1].strip())
            at = i + 1
    return parts


def all_partitions(text: str, units: Sequence[str], given: Partition) -> list[Partition]:
    """By trying all of them."""
    lengths = [end - start for start, end in given]
    found = []
    for cuts in combinations(range(1, len(units)), len(given) - 1):
        sizes = [b - a for a, b in pairwise((0, *cuts, len(units)))]
        partition = cut(text, units, sizes)
        if all(min(lengths) <= end - start <= max(lengths) for start, end in partition):
            found.append(partition)
    return found


def chance_of_a_larger_chi_square(value: float, freedom: int) -> float:
    """Wilson and Hilferty's approximation; it is off by less than 0.001 here."""
    z = ((value / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return math.erfc(z / math.sqrt(2)) / 2


def assert_imitates(text: str, given: Partition, draw: Partition) -> None:
    assert len(draw) == len(given)
    at = 0
    for start, end in draw:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        at = end
    assert not text[at:].strip()
    lengths = [end - start for start, end in given]
    assert all(min(lengths) <= end - start <= max(lengths) for start, end in draw)


def test_the_chi_square_helper_knows_the_table() -> None:
    for value, freedom, wanted in [(18.307, 10, 0.05), (63.691, 40, 0.01), (149.449, 100, 0.001)]:
        assert chance_of_a_larger_chi_square(value, freedom) == pytest.approx(wanted, abs=5e-4)
    assert chance_of_a_larger_chi_square(100, 10) < 1e-10


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("sizes", [(2, 3, 4, 1), (1, 9), (1, 4, 2, 1, 2), (1, 1, 1, 1, 1, 1, 4)])
def test_draws_are_uniform_over_all_partitions(text: str, sizes: tuple[int, ...]) -> None:
    units = sentences_of(text)
    assert len(units) == 10
    given = cut(text, units, sizes)
    possible = all_partitions(text, units, given)
    draws, unit = random_partitions(text, given, 60 * max(len(possible), 50), seed=3)
    assert unit == "sentence"
    counts = Counter(draws)
    assert set(counts) == set(possible)
    expected = len(draws) / len(possible)
    chi_square = sum((counts[partition] - expected) ** 2 / expected for partition in possible)
    assert chance_of_a_larger_chi_square(chi_square, len(possible) - 1) > 1e-4


def test_draws_between_words_are_uniform_too() -> None:
    """Nine words in one sentence, three chunks."""
    text = "oil the pump and then the valve every week"
    units = text.split()
    given = cut(text, units, (1, 5, 3))
    possible = all_partitions(text, units, given)
    draws, unit = random_partitions(text, given, 60 * len(possible), seed=4)
    assert unit == "word"
    assert len(possible) > 5
    counts = Counter(draws)
    assert set(counts) == set(possible)
    expected = len(draws) / len(possible)
    chi_square = sum((counts[partition] - expected) ** 2 / expected for partition in possible)
    assert chance_of_a_larger_chi_square(chi_square, len(possible) - 1) > 1e-4


@pytest.mark.parametrize("text", [ENGLISH * 3, CHINESE * 3], ids=["en", "zh"])
@pytest.mark.parametrize("sizes", [(6, 9, 8, 7), (1, 29), (3,) * 10, (1,) * 30, (2, 1) * 10])
def test_every_draw_covers_and_keeps_number_and_limits(text: str, sizes: tuple[int, ...]) -> None:
    units = sentences_of(text)
    given = cut(text, units, sizes)
    draws, _ = random_partitions(text, given, 50, seed=0)
    assert len(draws) == 50
    for draw in draws:
        assert_imitates(text, given, draw)


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_words_are_used_when_sentences_leave_no_choice(text: str) -> None:
    units = sentences_of(text)
    given = cut(text, units, (1,) * 10)  # as many chunks as sentences: one way
    draws, unit = random_partitions(text, given, 40, seed=0)
    assert unit == "word"
    assert len(set(draws)) > 30
    for draw in draws:
        assert_imitates(text, given, draw)
    inside = {end for draw in draws for _, end in draw} - {end for _, end in given}
    assert inside
    if text is ENGLISH:  # no draw cuts a word
        assert all(not (text[end - 1].isalnum() and text[end : end + 1].isalnum()) for end in inside)


def test_with_choice_draws_cut_at_sentences_lines_and_the_given_cuts_only() -> None:
    units = sentences_of(ENGLISH)
    chunks = cut(ENGLISH, units, (2, 3, 4, 1))
    middle = ENGLISH.index("every week")
    given = (Span(chunks[0].start, chunks[0].end), Span(chunks[1].start, middle - 1), Span(middle, chunks[2].end))
    given += (chunks[3],)
    draws, unit = random_partitions(ENGLISH, given, 400, seed=1)
    assert unit == "sentence"
    allowed = {ENGLISH.index(piece) for piece in units} | {middle}
    starts = {start for draw in draws for start, _ in draw}
    assert starts <= allowed
    assert middle in starts
    assert len(starts) == len(allowed)


def test_where_there_is_one_way_it_is_drawn() -> None:
    draws, unit = random_partitions("a b", [Span(0, 1), Span(2, 3)], 5, seed=0)
    assert draws == [(Span(0, 1), Span(2, 3))] * 5
    assert unit == "word"


def test_the_same_seed_gives_the_same_draws_and_another_one_others() -> None:
    given = cut(ENGLISH, sentences_of(ENGLISH), (2, 3, 4, 1))
    first = random_partitions(ENGLISH, given, 30, seed=7)
    assert random_partitions(ENGLISH, given, 30, seed=7) == first
    assert random_partitions(ENGLISH, given, 60, seed=7).draws[:30] == first.draws
    assert random_partitions(ENGLISH, given, 30, seed=8).draws != first.draws


_PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from test_random_partitions import ENGLISH, CHINESE, cut, sentences_of
from qchunker.scoring.random_partitions import random_partitions
for text in (ENGLISH, CHINESE):
    for sizes in ((2, 3, 4, 1), (1,) * 10):
        given = cut(text, sentences_of(text), sizes)
        print([[(*span,) for span in draw] for draw in random_partitions(text, given, 10, 5).draws])
"""


def test_draws_do_not_depend_on_the_process() -> None:
    program = _PROGRAM.format(folder=os.path.dirname(__file__))
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 4


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_long_document_is_cut_in_stretches(language: str) -> None:
    """2,000 sentences, 600 chunks: stretches of 256, 256 and 88 chunks are cut anew, each for itself."""
    pattern = "Valve {} is shut now." if language == "en" else "第{}号阀门现已关闭。"
    units = [pattern.format(1000 + i) for i in range(2000)]
    text = (" " if language == "en" else "").join(units)
    sizes = [(2, 3, 4, 5, 3, 3)[i % 6] for i in range(600)]
    assert sum(sizes) == 2000
    given = cut(text, units, sizes)
    started = time.perf_counter()
    draws, unit = random_partitions(text, given, 8, seed=0)
    assert time.perf_counter() - started < 10
    assert unit == "sentence"
    assert len(set(draws)) == 8
    for draw in draws:
        assert_imitates(text, given, draw)
        # What belongs to a stretch stays in it, and inside it is cut anew.
        assert (draw[255].end, draw[256].start) == (given[255].end, given[256].start)
        assert (draw[511].end, draw[512].start) == (given[511].end, given[512].start)
        for first, last in ((0, 256), (256, 512), (512, 600)):
            assert draw[first:last] != given[first:last]


def test_long_documents_without_choice_between_sentences_are_cut_between_words_in_stretches_of_32() -> None:
    units = [f"Valve {1000 + i} is shut now." for i in range(100)]
    text = " ".join(units)
    given = cut(text, units, (1,) * 100)
    # All chunks are of one length, so that not even words leave a choice.
    draws, unit = random_partitions(text, given, 3, seed=0)
    assert (draws, unit) == ([given] * 3, "word")
    # One chunk of another length, and they do.
    given = (*given[:-2], Span(given[-2].start, given[-2].end - len(" now.")), Span(given[-2].end - 4, given[-1].end))
    draws, unit = random_partitions(text, given, 20, seed=0)
    assert unit == "word"
    for draw in draws:
        assert_imitates(text, given, draw)
        assert [draw[i].start for i in (32, 64, 96)] == [given[i].start for i in (32, 64, 96)]
    assert len(set(draws)) > 15


def test_white_space_at_the_ends_of_chunks_does_not_matter() -> None:
    text = "aaaa bbb. cccc ddd. eeee fff. gggg hhh. "
    given = [Span(10 * i, 10 * i + 10) for i in range(4)]
    draws, _ = random_partitions(text, given, 3, seed=0)
    assert [len(draw) for draw in draws] == [len(given)] * 3


def test_many_sentences_in_many_chunks_leave_choice() -> None:
    """256 chunks, 255 of 30 sentences and a last one of 2: there are exp(88.8) ways, so sentences will do."""
    units = [f"Valve {10000 + i} is shut." for i in range(255 * 30 + 2)]
    text, length = " ".join(units), len(units[0]) + 1
    bounds = [*range(0, 255 * 30 + 1, 30), len(units)]
    given = tuple(Span(a * length, b * length - 1) for a, b in pairwise(bounds))
    assert random_partitions(text, given, 2, seed=0).unit == "sentence"
