"""Positions: every chunk is the slice of the source that it says it is, and no two claim the same character."""

from __future__ import annotations

import pytest
from promises import (
    SENTENCE_AWARE,
    blocks_of,
    case,
    case_text,
    cut,
    ends_within,
    most_chunks,
    sizes,
    texts,
    tokens,
    utf8_bytes,
    words,
)

from qchunker import CHUNKERS, from_text

methods = pytest.mark.parametrize("method", CHUNKERS)
sentence_aware = pytest.mark.parametrize("method", SENTENCE_AWARE)


# case 1
@methods
@pytest.mark.parametrize("limit", [20, 45, 60])
@pytest.mark.parametrize("sentence", ["Valve check passed. ", "阀门已检查。", "Go! ", "Valve check passed.\n"])
def test_repeated_sentences_get_positions_of_their_own(method: str, limit: int, sentence: str) -> None:
    document = from_text(sentence * 6)
    starts = [start for start, _ in cut(document, method, sizes(limit)).spans]
    assert starts == sorted(set(starts))


# case 2
@sentence_aware
def test_the_one_row_that_differs_is_found_on_its_own_line(method: str) -> None:
    partition = cut(case("repeat_rows.txt"), method, sizes(60, 20))
    # Rows of 25 characters and a line end; the tenth has 22. Two rows do not fit beside the overlap.
    line_starts = [*range(0, 235, 26), 257, 283, 309, 335]
    assert [start for start, _ in partition.spans] == line_starts
    assert [piece.start for piece in partition.chunks if "Valve 8" in piece.text] == [234]


@methods
def test_rows_that_look_alike_are_covered_once_with_and_without_overlap(method: str) -> None:
    for overlap in (0, 10, 20, 50):
        partition = cut(case("repeat_rows.txt"), method, sizes(60, overlap))
        assert "".join("".join(texts(partition)).split()) == "".join(case_text("repeat_rows.txt").split())


# case 4
@methods
def test_a_chunk_that_repeats_an_earlier_one_starts_where_it_stands(method: str) -> None:
    partition = cut(from_text("pump pump"), method, sizes(4))
    assert partition.spans[0] == (0, 4)
    assert partition.spans[1].start == 5
    assert 5 in [start for start, _ in cut(from_text("pump pump"), method, sizes(4, 3)).spans]


# cases 5 and 6
@methods
@pytest.mark.parametrize("counter", [words, tokens, utf8_bytes])
def test_an_overlap_counted_in_tokens_gives_positions_in_characters(method: str, counter: object) -> None:
    text = ("Pump seven moves ninety litres every minute of the day. " * 30).strip()
    assert len(text.split()) == 300
    partition = cut(from_text(text), method, sizes(20, 10, tokenizer=counter))
    assert all(start >= 0 for start, _ in partition.spans)
    for piece in partition.chunks:
        if piece.lead_in is not None:
            assert counter(text[piece.lead_in.start : piece.lead_in.end]) <= 10  # type: ignore[operator]


@sentence_aware
def test_an_overlap_counted_in_tokens_is_really_there(method: str) -> None:
    text = "Oil the pump now. " * 75
    partition = cut(from_text(text), method, sizes(20, 10, tokenizer=words))
    assert len(partition.chunks) <= most_chunks(method, 300, 20, 10)
    # Ten words hold two of these sentences, and two are repeated.
    assert all(piece.lead_in is not None for piece in partition.chunks[1:])
    assert {text[lead.start : lead.end] for lead in (piece.lead_in for piece in partition.chunks[1:]) if lead} == {
        "Oil the pump now. Oil the pump now."
    }


# case 8
@methods
@pytest.mark.parametrize("overlap", [0, 1, 2, 4])
def test_odd_white_space_between_overlapped_words_moves_no_position(method: str, overlap: int) -> None:
    document = case("odd_spacing.txt")
    assert document.text == case_text("odd_spacing.txt")
    partition = cut(document, method, sizes(5, overlap, tokenizer=words, min_chars=0))
    assert " ".join(texts(partition)).split() == document.text.split()


# case 9
@methods
def test_positions_count_code_points_whatever_the_size_counts(method: str) -> None:
    text = "aä🚨b" * 20
    partition = cut(from_text(text), method, sizes(5, tokenizer=lambda part: len(part)))
    assert partition.spans[0].start == 0
    assert partition.spans[-1].end == 80
    assert partition.spans == cut(from_text(text), method, sizes(5)).spans
    assert [start for start, _ in partition.spans] == list(range(0, 80, 5))
    cut(from_text(text), method, sizes(5, tokenizer=utf8_bytes))


# case 10
@methods
@pytest.mark.parametrize("limit", range(3, 10))
def test_no_cut_falls_inside_a_character_made_of_many_bytes(method: str, limit: int) -> None:
    document = case("emoji_boundary.txt")
    partition = cut(document, method, sizes(limit, tokenizer=lambda part: (len(part.encode()) + 1) // 2))
    for start, end in partition.spans:
        for at in (start, end):
            around = document.text[max(0, at - 1) : at + 1]
            assert "\u200d" not in around, "cut beside a joiner"
            assert document.text[at : at + 1] not in {"🏻", "🏽"}, "cut before a skin tone"
            assert around != "🇯🇵", "cut inside a flag"


# case 12
@methods
def test_line_ends_of_two_characters_count_as_two(method: str) -> None:
    document = case("crlf.md")
    assert document.text == case_text("crlf.md")
    for limit in (20, 60, 700):
        cut(document, method, sizes(limit, min_chars=0))
    lines = {
        document.text[block.start : block.end].split()[-1]: document.text.count("\n", 0, block.start) + 1
        for block in document.blocks
        if block.kind == "heading"
    }
    assert lines == {"Alpha": 4, "Beta": 8, "=====": 16}


# case 13
@methods
def test_two_megabytes_of_rows_that_look_alike_take_no_more_than_linear_time(method: str) -> None:
    rows = case_text("repeat_rows.txt") + "\n"
    text = rows * (2_000_000 // len(rows))
    with ends_within(60):
        partition = cut(from_text(text), method, sizes(2000, 200))
    assert len(partition.chunks) <= most_chunks(method, len(text), 2000, 200)


# case 14
@methods
def test_an_overlap_over_paragraph_breaks_is_a_true_span_of_the_source(method: str) -> None:
    document = from_text("alpha\n\nbravo\n\ncharlie")
    partition = cut(document, method, sizes(5, 2))
    for piece in partition.chunks:
        lead = piece.lead_in
        assert lead is None or piece.embedding_text == document.text[lead.start : piece.end]
    whole_words = cut(document, method, sizes(7))
    assert texts(whole_words)[0] in ("alpha", "alpha\n\nbravo"[:7].strip())


# case 25
@methods
def test_a_chunk_of_short_lines_keeps_its_line_ends(method: str) -> None:
    text = "close the valve\nopen the drain\nlog the time"
    assert texts(cut(from_text(text), method, sizes(100))) == [text]


# case 116
@methods
def test_each_chunk_tells_its_real_overlap(method: str) -> None:
    text = "A" * 26 + "\n\n" + "B" * 10
    document = from_text(text)
    for piece in cut(document, method, sizes(26, 5)).chunks:
        start = piece.lead_in.start if piece.lead_in else piece.start
        path = " > ".join(piece.embedded_path)
        assert piece.embedding_text == (f"{path}\n" if path else "") + text[start : piece.end]


# case 177
@methods
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 20])
def test_text_is_never_normalised(method: str, limit: int) -> None:
    text = case_text("zero_width.txt").removeprefix("\ufeff")
    document = case("zero_width.txt")
    assert document.text == text
    assert "ﬁlter" in document.text
    assert "Cafe\u0301" in document.text
    cut(document, method, sizes(limit))


# case 100
@methods
@pytest.mark.parametrize("limit", [12, 30, 80, 700])
def test_chunks_are_contiguous_and_in_the_order_of_the_source(method: str, limit: int) -> None:
    document = case("legal_zh.txt")
    partition = cut(document, method, sizes(limit))
    assert "".join("".join(texts(partition)).split()) == "".join(document.text.split())
    assert blocks_of(document, "heading")
