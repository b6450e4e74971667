"""Every input ends, in time and memory linear in its length, in a bounded number of chunks."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from promises import SENTENCE_AWARE, case, case_text, cut, ends_within, most_chunks, sizes, tokens, words

from qchunker import CHUNKERS, ChunkingConfig, chunk, from_text, lint
from qchunker.batch import chunk_all
from qchunker.errors import ParseError
from qchunker.inputs import read_jsonl
from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Partition

methods = pytest.mark.parametrize("method", CHUNKERS)


# case 40
@methods
@pytest.mark.parametrize(("limit", "overlap"), [(200, 60), (200, 150), (50, 49), (7, 3)])
def test_chinese_without_spaces_ends_with_any_overlap(method: str, limit: int, overlap: int) -> None:
    document = case("cjk_no_space.txt")
    with ends_within(60):
        partition = cut(document, method, sizes(limit, overlap))
    assert len(partition.chunks) <= most_chunks(method, len(document.text), limit, overlap)


# case 41
@methods
@pytest.mark.parametrize("counter", [words, tokens, lambda text: -(-len(text) // 4)])
def test_a_long_address_ends_and_gets_no_space(method: str, counter: object) -> None:
    document = case("long_url.txt")
    with ends_within(60):
        partition = cut(document, method, sizes(40, 10, tokenizer=counter))
    assert "".join("".join(piece.text.split()) for piece in partition.chunks) == "".join(document.text.split())


# case 44
@methods
@pytest.mark.parametrize("overlap", [0, 1, 2, 5, 9])
def test_a_sentence_end_near_the_start_does_not_stop_the_window(method: str, overlap: int) -> None:
    with ends_within(60):
        partition = cut(from_text("Go. " + "word " * 30), method, sizes(10, overlap, tokenizer=words))
    assert len(partition.chunks) <= most_chunks(method, 31, 10, overlap)


# case 45
@methods
def test_an_early_space_before_an_unbroken_run_ends(method: str) -> None:
    document = case("early_space.txt")
    with ends_within(60):
        partition = cut(document, method, sizes(1600, 320))
    # 5010 characters in windows of 1600 - 320 are four, and one more may start at the space.
    assert len(partition.chunks) <= 5


# case 46
@methods
def test_an_overlap_over_half_the_size_on_short_lines_ends(method: str) -> None:
    document = case("short_lines.txt")
    with ends_within(60):
        partition = cut(document, method, sizes(40, 30))
    assert len(partition.chunks) <= most_chunks(method, len(document.text), 40, 30)


# case 48
@methods
@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.html"])
@pytest.mark.parametrize(
    "character", ["a", "长", "\u0301", "👍", "-", "#", "`", "[", "*", "|", ".", "。", "<", ">", "(", "&", "1"]
)
def test_a_long_run_without_any_separator_ends(method: str, name: str, character: str) -> None:
    text = "x" + character * 20_000
    with ends_within(60):
        partition = cut(from_text(text, name), method, sizes(1000))
    assert len(partition.chunks) <= most_chunks(method, len(partition.document.text), 1000)


@methods
def test_150_000_letters_are_cut_to_the_size(method: str) -> None:
    with ends_within(60):
        partition = cut(from_text("a" * 150_000, "x.md"), method, sizes(1000))
    assert len(partition.chunks) == 150
    assert not any(piece.oversize for piece in partition.chunks)


@pytest.mark.parametrize(
    "text",
    [
        "> " * 1_500 + "x", "- " * 1_500 + "x", "".join(" " * depth + "- x\n" for depth in range(400)), "[" * 3_000 + "](" * 3_000, "*a_ " * 3_000,
        "`" * 3_000 + " " + "`" * 4_999, "<div>" * 1_500 + "x", "![" * 3_000, "# x\n" * 3_000, "| a " * 1_500 + "|\n" + "|---" * 1_500 + "|\n",
        "a\n-\n" * 1_500, "&" * 3_000, "<!--" * 1_500, "~~~\n" * 1_501, "---\n" * 1_500, "---\nx: y\n" * 2_000, "\\" * 9_999,
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["x.md", "x.html", "x.txt", "x.csv"])
def test_nested_and_repeated_marks_end(text: str, name: str) -> None:
    with ends_within(60):
        try:
            document = from_text(text, name)
        except ParseError as error:
            # A page or table without content is refused, and the error says what to do.
            assert name.endswith(("html", "csv"))
            assert error.hint
            return
        for method in SENTENCE_AWARE:
            cut(document, method, sizes(1000))


# cases 13 and 172
@methods
@pytest.mark.parametrize(
    "line",
    ["The valve is opened at nine bar and closed\n", "阀门在九巴时打开并在七巴时关闭，随后记录\n", "key: value\n"],
)
def test_a_blank_line_far_away_does_not_square_the_time(method: str, line: str) -> None:
    text = line * (600_000 // len(line)) + "\n\nEnd of it."
    with ends_within(60):
        partition = cut(from_text(text), method, sizes(1000))
    assert len(partition.chunks) <= most_chunks(method, len(text), 1000)


# case 173
def test_megabytes_of_mixed_text_take_bounded_memory() -> None:
    part = "# Pumps\n\nOil the pump once a week. 每周给泵加油一次，并记录姓名。\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n"
    text = part * (1_000_000 // len(part))
    with ends_within(60):
        document = from_text(text, "x.md")
        tracemalloc.start()
        partition = chunk(document, "structure")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 200 * len(text)
    assert partition.chunks[-1].end == len(text.rstrip())


def test_documents_are_read_one_by_one() -> None:
    read: list[int] = []

    def rows() -> object:
        for number in range(1000):
            read.append(number)
            yield json.dumps({"doc_id": str(number), "text": f"Pump {number} is oiled."})

    results = chunk_all(read_jsonl(rows(), "rows"), "structure")  # type: ignore[arg-type]
    assert isinstance(next(results), Partition)
    assert len(read) <= 2


# case X7
@methods
def test_many_short_sentences_take_linear_time(method: str) -> None:
    text = "Go on now. " * 30_000
    with ends_within(60):
        partition = cut(from_text(text), method, sizes(50, tokenizer=words))
    assert len(partition.chunks) <= most_chunks(method, 90_000, 50)


@pytest.mark.parametrize(
    "text",
    ["." * 150_000, ". " * 100_000, "\"." * 100_000, "e.g. " * 100_000, "a.b" * 100_000, "“。" * 100_000, ", " * 100_000, "\u200b" * 150_000,
     "\n" * 150_000 + "x", " " * 150_000 + "x", "1." * 100_000, "(" * 150_000, "… " * 100_000, "\n- " * 100_000, "第一条" * 100_000],
)  # fmt: skip
def test_sentences_of_hostile_text_take_linear_time(text: str) -> None:
    with ends_within(60):
        sentence_spans(text)
        clause_spans(text)


@pytest.mark.parametrize(
    "line",
    [
        "第一条 ",
        "1.1 Title\n",
        "1. item\n\n",
        "Short title\n\n",
        "A | b\n",
        "a\tb\n",
        "x     y     z\n",
        "Page 4 of 60\n\f",
        "```\n",
        "（一）",
    ],
)
def test_plain_text_of_hostile_lines_takes_linear_time(line: str) -> None:
    text = line * (150_000 // len(line))
    with ends_within(60):
        document = from_text(text)
        lint(document)
        cut(document, "structure", ChunkingConfig())


# case 61
@methods
def test_a_limit_of_one_still_ends(method: str) -> None:
    text = case_text("cjk_sentences.txt")
    with ends_within(60):
        partition = cut(from_text(text), method, sizes(1))
    assert all(len(piece.text) == 1 for piece in partition.chunks if not piece.oversize)
