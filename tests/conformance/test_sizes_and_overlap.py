"""Sizes: the limit holds for the text that is embedded. Overlap: kept apart from the chunk, at whole words."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
import types
import warnings

import pytest
from promises import (
    SENTENCE_AWARE,
    blocks_of,
    case,
    case_text,
    chunk_with,
    cut,
    ends_within,
    sizes,
    texts,
    tokens,
    utf8_bytes,
    words,
)

from qchunker import CHUNKERS, ChunkingConfig, Partition, from_text
from qchunker.errors import ConfigError, InputError
from qchunker.tokens import token_counter

methods = pytest.mark.parametrize("method", CHUNKERS)
sentence_aware = pytest.mark.parametrize("method", SENTENCE_AWARE)


def largest(partition: Partition) -> int:
    return max(len(piece.embedding_text) for piece in partition.chunks)


# case 42
@pytest.mark.parametrize("overlap", [1.0, 1.2, -0.1, -1, 10, math.inf, math.nan])
def test_an_overlap_of_the_size_or_more_is_refused_at_construction(overlap: float) -> None:
    with pytest.raises(ValueError, match="overlap_ratio") as caught:
        ChunkingConfig(target_chars=10, overlap_ratio=overlap)
    assert str(overlap) in str(caught.value)
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_of_nothing_is_refused_at_construction(size: int) -> None:
    with pytest.raises(ValueError, match=f"target_chars.*{size}"):
        ChunkingConfig(target_chars=size)
    with pytest.raises(ValueError, match="max_chars"):
        ChunkingConfig(max_chars=size)


def test_a_limit_below_the_target_is_refused_with_both_values() -> None:
    with pytest.raises(ValueError, match=r"max 20 < target 30"):
        ChunkingConfig(target_chars=30, max_chars=20)
    with pytest.raises(ValueError, match=r"min_chars.*-1"):
        ChunkingConfig(min_chars=-1)


@methods
def test_a_counter_whose_special_tokens_fill_the_limit_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match=r"limit of 2 tokens.* 2 special tokens"):
        cut(from_text("Some words."), method, sizes(2, tokenizer=lambda text: 2 + words(text)))


# case 49
@methods
def test_no_overlap_means_no_overlap(method: str) -> None:
    partition = cut(from_text("a" * 30), method, sizes(10, 0))
    assert partition.spans == ((0, 10), (10, 20), (20, 30))
    assert all(piece.lead_in is None for piece in partition.chunks)


# case 50
@methods
@pytest.mark.parametrize("limit", [40, 128, 512])
def test_a_file_of_long_flat_lines_keeps_to_the_limit_in_tokens(method: str, limit: int) -> None:
    partition = cut(case("flat_yaml.yaml"), method, sizes(limit, tokenizer=tokens))
    assert len(partition.chunks) > 5
    assert not any(piece.oversize for piece in partition.chunks)


# case 52
@methods
@pytest.mark.parametrize("text", ["Check the seal and log it now. " * 100, "检查密封并记录。" * 375, "x" * 3000])
def test_the_size_counts_the_overlap(method: str, text: str) -> None:
    partition = cut(from_text(text), method, sizes(1000, 150))
    assert largest(partition) <= 1000
    # Where the text offers no place to cut, a chunk may fill the size without overlap.
    assert max(len(piece) for piece in texts(partition)) <= 850 or text == "x" * 3000
    assert 3 <= len(partition.chunks) <= 8
    assert not any(piece.oversize for piece in partition.chunks)


@sentence_aware
@pytest.mark.parametrize("unit", ["Oil pump seven on every Monday.", "每周一给七号泵加油并记录当班人员姓名和时间。"])
@pytest.mark.parametrize("gap", ["\n\n", "\n", "\r\n\r\n", "\n\n\n\n"])
def test_white_space_between_pieces_that_just_fit_does_not_shatter_them(method: str, unit: str, gap: str) -> None:
    limit = 3 * len(unit) + 1
    partition = cut(from_text(gap.join([unit] * 40)), method, sizes(limit))
    # Two fit with the white space between them, three only without: twenty chunks, not one for each unit.
    assert len(partition.chunks) < 30
    assert max(piece.text.count(unit) for piece in partition.chunks) == 2


@sentence_aware
@pytest.mark.parametrize("target", [150, 300, 700])
@pytest.mark.parametrize("overlap", [0, 0.15])
def test_a_limit_as_small_as_the_target_shatters_no_section(method: str, target: int, overlap: float) -> None:
    sentence = "The relief valve {:02d} is tested once in every quarter of the year by the crew."
    body = "\n\n".join(sentence.format(number) for number in range(60))
    config = ChunkingConfig(target_chars=target, max_chars=target, overlap_ratio=overlap)
    partition = cut(from_text(f"# Title of the section\n\n{body}\n", "x.md"), method, config)
    assert "valve 00" in partition.chunks[0].text, "the heading was parted from its body"
    # No piece has to be less than half full.
    room = target * (1 - overlap) - len("Title of the section")
    assert len(partition.chunks) <= 2 * len(body) / room + 1


# case 53
@methods
@pytest.mark.parametrize("limit", range(4, 16))
def test_the_heading_path_counts_for_the_limit(method: str, limit: int) -> None:
    partition = cut(case("nested_headers.html"), method, sizes(limit, tokenizer=words, min_chars=0))
    assert not any(piece.oversize for piece in partition.chunks)


@methods
@pytest.mark.parametrize("limit", [50, 100, 150])
def test_a_heading_path_longer_than_the_limit_leaves_room_for_the_body(method: str, limit: int) -> None:
    title = "A very long title about the storage of dangerous goods in cold rooms below the ground"
    text = "".join(f"{'#' * depth} {title} {depth}\n\n" for depth in range(1, 7)) + "Keep the door shut. " * 40
    partition = cut(from_text(text, "x.md"), method, sizes(limit, 10))
    assert not any(piece.oversize for piece in partition.chunks)
    # The path may take a third of the limit at most.
    assert len(partition.chunks) <= 4 * len(text) // limit


# case 54
@methods
def test_the_limit_holds_with_the_special_tokens_of_the_counter(method: str) -> None:
    text = "Open the valve and wait for ten seconds more. " * 60

    def counter(part: str) -> int:
        found = 2 + tokens(part)
        if found > 512:
            warnings.warn(f"{found} > 512", UserWarning, stacklevel=1)
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        partition = cut(from_text(text), method, sizes(512, 60, tokenizer=counter))
    assert tokens(text) == 600
    assert [counter(piece.embedding_text) for piece in partition.chunks if piece.oversize] == []
    assert len(partition.chunks) in (2, 3)


# case 56
@methods
@pytest.mark.parametrize("limit", [60, 90, 200])
def test_tables_with_tight_cells_are_not_padded_over_the_limit(method: str, limit: int) -> None:
    text = "|a|b|\n|-|-|\n" + "".join(f"|{number}|a much longer cell {number}|\n" for number in range(40))
    partition = cut(from_text(text, "x.md"), method, sizes(limit))
    assert not any(piece.oversize for piece in partition.chunks)
    assert all(line in text for piece in partition.chunks for line in piece.embedding_text.splitlines())


# case 57
@methods
def test_one_long_line_is_cut_to_the_limit(method: str) -> None:
    for text in (case_text("one_line.json"), case_text("one_line.json").rstrip() * 5):
        partition = cut(from_text(text, "data.json"), method, sizes(500))
        assert largest(partition) <= 500
        assert not any(piece.oversize for piece in partition.chunks)


# case 58
@methods
@pytest.mark.parametrize("limit", [60, 300])
def test_a_chinese_page_without_spaces_is_not_one_word(method: str, limit: int) -> None:
    partition = cut(case("cjk_no_space.txt"), method, sizes(limit))
    assert largest(partition) <= limit
    assert len(partition.chunks) >= 3150 // limit
    # A counter that takes the page for few words makes few chunks, never an endless or empty result.
    cut(case("cjk_no_space.txt"), method, sizes(limit, tokenizer=words))


# case 60
@methods
def test_metadata_that_is_not_embedded_takes_no_room(method: str) -> None:
    document = from_text("Keep the door shut. " * 60)
    noted = dataclasses.replace(document, metadata={"note": "x" * 2000})
    partition = cut(noted, method, sizes(512))
    assert partition.spans == cut(document, method, sizes(512)).spans
    assert not any("xxx" in piece.embedding_text for piece in partition.chunks)


def test_front_matter_takes_no_room_in_the_chunks_of_the_body() -> None:
    text = f"---\ntitle: x\nnote: {'word ' * 400}\n---\n# Start\n\nBody text here.\n"
    partition = cut(from_text(text, "x.md"), "structure", sizes(512, min_chars=0))
    body = chunk_with(partition, "Body text here.")
    assert "word" not in body.embedding_text
    assert not any(piece.oversize for piece in partition.chunks)


# case 61
@methods
@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("第{}条 范围\n\n", "当事人应当按照约定履行自己的义务。"),
        ("Article {} Scope\n\n", "The parties keep the terms. "),
    ],
)
@pytest.mark.parametrize("limit", [100, 700])
def test_a_law_with_a_long_tail_without_headings_keeps_to_the_limit(
    method: str, title: str, sentence: str, limit: int
) -> None:
    numerals = "一二三四五六七八九" if "条" in title else "123456789"
    head = "".join(title.format(number) + sentence + "\n\n" for number in numerals)
    text = head + sentence * (60_000 // len(sentence))
    partition = cut(from_text(text), method, sizes(limit))
    assert not any(piece.oversize for piece in partition.chunks)


# case 62
@methods
def test_the_intro_of_a_chapter_is_not_repeated_under_its_articles(method: str) -> None:
    intro = "".join(f"The intro tells fact number {number:02d} of it. " for number in range(24))
    assert 850 < len(intro) < 950
    articles = "".join(f"## Article {n}\n\nArticle {n} has words of its own. It binds all.\n\n" for n in range(1, 6))
    partition = cut(from_text(f"# Chapter 1 Rules\n\n{intro}\n\n{articles}", "law.md"), method, sizes(300))
    for number in range(24):
        fact = f"number {number:02d} "
        assert sum(piece.text.count(fact) for piece in partition.chunks) <= 1
    if method == "structure":
        last = chunk_with(partition, "Article 5 has words")
        assert "Chapter 1 Rules" in last.embedding_text
        assert "The intro" not in last.embedding_text


# case 68
@methods
@pytest.mark.parametrize("limit", [4, 30, 100])
def test_sizes_in_bytes_never_cut_a_character(method: str, limit: int) -> None:
    partition = cut(case("cjk_no_space.txt"), method, sizes(limit, tokenizer=utf8_bytes))
    assert not any(piece.oversize for piece in partition.chunks)
    assert all(utf8_bytes(piece.embedding_text) <= limit for piece in partition.chunks)


# case 117
@pytest.mark.parametrize("method", ["structure"])
def test_there_is_no_overlap_across_headings(method: str) -> None:
    body = "The crew checks the pump twice a day. The crew logs the result at once as well. "
    assert len(body.strip()) == 79
    text = "".join(f"# Part {number}\n\n{body}\n\n" for number in range(5))
    partition = cut(from_text(text, "x.md"), method, sizes(200, 40))
    assert len(partition.chunks) == 5
    assert [piece.lead_in for piece in partition.chunks] == [None] * 5


@sentence_aware
def test_there_is_overlap_inside_a_long_section(method: str) -> None:
    text = "# Part\n\n" + "The crew checks the pump. " * 40
    partition = cut(from_text(text, "x.md"), method, sizes(200, 60))
    leads = [text[piece.lead_in.start : piece.lead_in.end] for piece in partition.chunks[1:] if piece.lead_in]
    assert len(leads) == len(partition.chunks) - 1
    assert set(leads) <= {"The crew checks the pump.", "The crew checks the pump. The crew checks the pump."}


# case 118
@methods
@pytest.mark.parametrize("overlap", [5, 13, 29, 31, 45])
def test_the_overlap_starts_at_a_sentence_or_else_at_a_word(method: str, overlap: int) -> None:
    text = "Ventilation runs constantly. " * 9
    partition = cut(from_text(text), method, sizes(60, overlap))
    for piece in partition.chunks:
        if piece.lead_in is not None:
            at = piece.lead_in.start
            assert piece.lead_in.end - at <= overlap
            # A whole chunk may be repeated too; the fixed chunker starts chunks anywhere.
            assert at == 0 or text[at - 1] == " " or at in [start for start, _ in partition.spans]


@sentence_aware
def test_an_overlap_too_short_for_a_sentence_repeats_whole_words(method: str) -> None:
    text = "Ventilation runs constantly. " * 9
    partition = cut(from_text(text), method, sizes(60, 13))
    leads = {text[piece.lead_in.start : piece.lead_in.end] for piece in partition.chunks if piece.lead_in}
    assert leads == {"constantly."}


# case 5: a share of nothing and a share of nearly all
@methods
@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("target", [1, 2, 10, 100])
def test_every_overlap_below_one_ends_and_keeps_the_limit(method: str, ratio: float, target: int) -> None:
    config = ChunkingConfig(target_chars=target, max_chars=target, overlap_ratio=ratio)
    with ends_within(60):
        cut(from_text("Pumps run. 泵在运行。 " * 12), method, config)


# cases 120 and 121
def test_the_tiktoken_counter_takes_special_tokens_for_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    class Encoding:
        def encode(self, _text: str, **_kwargs: object) -> list[int]:
            raise ValueError("special token in the text")

        def encode_ordinary(self, text: str) -> list[int]:
            return [0] * tokens(text)

    stub = types.SimpleNamespace(
        list_encoding_names=lambda: ["stub"],
        get_encoding=lambda _name: Encoding(),
        encoding_for_model=lambda _name: Encoding(),
    )
    monkeypatch.setitem(sys.modules, "tiktoken", stub)
    text = case_text("special_tokens.txt")
    assert token_counter("tiktoken:stub")(text) == tokens(text)
    for method in CHUNKERS:
        cut(case("special_tokens.txt"), method, sizes(20, tokenizer="tiktoken:stub"))


@pytest.mark.parametrize("name", ["", "tiktoken", "tiktoken:", "words", "hf:"])
def test_an_unknown_counter_is_a_named_error(name: str) -> None:
    with pytest.raises(InputError, match="tokenizer"):
        token_counter(name)


# case X8
@sentence_aware
def test_overlap_is_kept_apart_from_the_text_of_the_chunk(method: str) -> None:
    text = "Close the valve now. " * 30
    partition = cut(from_text(text), method, sizes(100, 25))
    second = partition.chunks[1]
    assert second.lead_in is not None
    assert text[second.start : second.end] == second.text
    assert second.embedding_text == text[second.lead_in.start : second.lead_in.end] + " " + second.text
    assert len(second.embedding_text) <= 100


# a block that cannot be kept under the limit says so
@methods
def test_what_cannot_be_cut_is_over_the_limit_with_a_reason(method: str) -> None:
    family = "👨\u200d👩\u200d👧\u200d👦"
    partition = cut(from_text(f"a {family} b"), method, sizes(3))
    (over,) = [piece for piece in partition.chunks if family in piece.text]
    assert over.oversize
    assert [piece.oversize for piece in partition.chunks if piece is not over] == [None] * (len(partition.chunks) - 1)


def test_a_fence_over_the_limit_is_cut_between_lines_and_repeats_its_opening_line() -> None:
    lines = [f"set_{number:02d} = open(valve_{number:02d})" for number in range(40)]
    text = "# Code\n\n```py\n" + "\n".join(lines) + "\n```\n"
    document = from_text(text, "x.md")
    assert len(blocks_of(document, "code")) == 1
    partition = cut(document, "structure", sizes(300, min_chars=0))
    for piece in partition.chunks:
        assert all(
            re.fullmatch(r"# Code||```(py)?|set_\d\d = open\(valve_\d\d\)", line) for line in piece.text.splitlines()
        )
        assert "```py" in piece.embedding_text
