"""Nothing lost, nothing added, nothing changed."""

from __future__ import annotations

import json

import pytest
from promises import CASES, SENTENCE_AWARE, assert_blocks, blocks_of, case, case_text, cut, headings, sizes, texts

from qchunker import CHUNKERS, Document, Partition, chunk, from_text
from qchunker.errors import ParseError

methods = pytest.mark.parametrize("method", CHUNKERS)
sentence_aware = pytest.mark.parametrize("method", SENTENCE_AWARE)
TEXT_CASES = sorted(path.name for path in CASES.iterdir() if path.suffix in {".txt", ".md", ".html", ".csv", ".yaml"})


def rebuilt(partition: Partition) -> str:
    """The source, put together again from chunks and the white space between them."""
    parts, at = [], 0
    for start, end in partition.spans:
        gap = partition.document.text[at:start]
        assert not gap.strip()
        parts += [gap, partition.document.text[start:end]]
        at = end
    return "".join(parts) + partition.document.text[at:]


@methods
@pytest.mark.parametrize("name", TEXT_CASES)
@pytest.mark.parametrize("limit", [10, 60, 300, 700])
def test_every_case_file_is_kept_whole_at_every_size(method: str, name: str, limit: int) -> None:
    document = case(name)
    assert_blocks(document)
    for overlap in (0, limit // 4):
        partition = cut(document, method, sizes(limit, overlap))
        assert rebuilt(partition) == document.text


@pytest.mark.parametrize("name", [name for name in TEXT_CASES if not name.endswith("html")])
def test_the_text_of_a_text_format_is_the_source_itself(name: str) -> None:
    assert case(name).text == case_text(name).removeprefix("\ufeff")


# case 16
@methods
@pytest.mark.parametrize("limit", [13, 20, 30, 60])
def test_the_last_sentence_is_in_the_last_chunk(method: str, limit: int) -> None:
    partition = cut(from_text("Ana cut tin. Ben cut tape. Cho cut wire. Dov cut pipe."), method, sizes(limit))
    assert partition.spans[-1].end == len(partition.document.text)
    assert method == "fixed" or texts(partition)[-1].endswith("Dov cut pipe.")


# case 17
@sentence_aware
@pytest.mark.parametrize("target", [160, 200, 300])
def test_pieces_under_the_minimum_are_joined_to_a_neighbour(method: str, target: int) -> None:
    paragraph = "The relief valve is tested once in every quarter. " * 8
    text = f"Ok.\n\n{paragraph}\n\nNo."
    partition = cut(from_text(text), method, sizes(target, min_chars=40, max_chars=2 * target))
    assert min(len(piece) for piece in texts(partition)) >= 40
    assert texts(partition)[0].startswith("Ok.")
    assert texts(partition)[-1].endswith("No.")
    assert partition.spans[-1].end <= len(text)


# case 18
@methods
def test_blank_lines_between_paragraphs_stay(method: str) -> None:
    partition = cut(case("md_whitespace.md"), method, sizes(700))
    assert "priming.\n\nSecond" in "".join(piece.text for piece in partition.chunks)
    assert rebuilt(partition) == case_text("md_whitespace.md")


# case 20
@pytest.mark.parametrize("indent", ["", "   "])
@pytest.mark.parametrize("fence", ["```", "~~~", "`````"])
def test_the_body_of_a_fence_keeps_its_indentation(indent: str, fence: str) -> None:
    body = "pump:\n  mode: auto\n  limits:\n\t- low: 2\n    - high: 9\u00a0bar\n"
    text = f"# Guide\n\nSome prose before.\n\n{indent}{fence}yaml\n{body}{indent}{fence}\n\nSome prose after.\n"
    document = from_text(text, "guide.md")
    (code,) = blocks_of(document, "code")
    assert body in code
    for target in (30, 60):
        partition = cut(document, "structure", sizes(target, max_chars=200, min_chars=0))
        assert [piece.text for piece in partition.chunks if body in piece.text], "the fence was cut"


def test_the_fence_of_the_case_file_is_one_block() -> None:
    (code,) = blocks_of(case("md_whitespace.md"), "code")
    assert code == "```yaml\npump:\n  mode: auto\n  limits:\n\t- low: 2\n    - high: 9\u00a0bar\n```"


# case 21
def test_an_item_of_a_nested_list_keeps_its_indentation_and_brings_its_parents() -> None:
    document = case("nested_list.md")
    items = blocks_of(document, "list_item", "quote")
    assert any("   - valve V1" in item for item in items)
    partition = cut(document, "structure", sizes(25, max_chars=300, min_chars=0))
    for child, parents in {
        "valve V1": ["1. Close feed"],
        "valve V2": ["1. Close feed"],
        "wait 30 s": ["1. Close feed", "- valve V2"],
        "log time": ["1. Close feed", "- valve V2"],
        "Still part of V2.": ["1. Close feed", "- valve V2"],
        "Note: wear gloves.": ["2. Drain line"],
    }.items():
        (holder,) = [piece for piece in partition.chunks if child in piece.text]
        for parent in parents:
            assert parent in holder.embedding_text, f"{child} without {parent}: {holder.embedding_text!r}"


@pytest.mark.parametrize(
    "inner", ["> Wear gloves.", "```\n   wear(gloves)\n   ```", "| Wear | gloves |\n   |---|---|\n   | 1 | 2 |"]
)
def test_what_stands_inside_an_item_brings_the_text_of_the_item(inner: str) -> None:
    document = from_text(f"1. Open the feed valve\n\n   {inner}\n\n2. Next step\n", "x.md")
    partition = cut(document, "structure", sizes(25, max_chars=300, min_chars=0))
    (holder,) = [piece for piece in partition.chunks if "loves" in piece.text]
    assert "1. Open the feed valve" in holder.embedding_text


@pytest.mark.parametrize(
    "inner", ["<blockquote>Wear gloves.</blockquote>", "<pre>wear(gloves)</pre>", "<p>Wear gloves.</p>"]
)
def test_what_stands_inside_an_item_of_a_page_brings_the_text_of_the_item(inner: str) -> None:
    document = from_text(f"<ol><li>Open the feed valve{inner}</li><li>Next step</li></ol>", "x.html")
    partition = cut(document, "structure", sizes(25, max_chars=300, min_chars=0))
    (holder,) = [piece for piece in partition.chunks if "loves" in piece.text]
    assert "1. Open the feed valve" in holder.embedding_text


def test_an_indented_item_of_a_plain_text_list_brings_its_parent() -> None:
    document = from_text("The list of what to do:\n\n1. Close feed\n   - valve V1\n   - valve V2\n2. Drain line\n")
    partition = cut(document, "structure", sizes(30, max_chars=300, min_chars=0))
    (holder,) = [piece for piece in partition.chunks if "valve V2" in piece.text]
    assert "1. Close feed" in holder.embedding_text


def test_levels_of_a_list_with_blank_lines_are_kept() -> None:
    document = case("md_whitespace.md")
    levels = {
        document.text[block.start : block.end].strip().splitlines()[0]: block.level
        for block in document.blocks
        if block.kind == "list_item"
    }
    assert levels == {"- Start": 1, "- Open inlet": 2, "- Check gauge": 3, "- Stop": 1}
    partition = cut(document, "structure", sizes(20, max_chars=300, min_chars=0))
    (deepest,) = [piece for piece in partition.chunks if "Check gauge" in piece.text]
    assert "- Start" in deepest.embedding_text
    assert "- Open inlet" in deepest.embedding_text


# case 22
@sentence_aware
@pytest.mark.parametrize(
    ("sentences", "limit"),
    [
        (["Text 1.", "Text 2.", "Text 3."], 8),
        (["文字一。", "文字二。", "文字三。"], 5),
        (["Is it on?", "Stop it!", "Wait now."], 10),
        (["他问：“好吗？”", "她说：“不好。”", "“走吧！”"], 9),
        (["(See here.)", "(Or there.)"], 12),
    ],
)
def test_closing_punctuation_stays_with_its_sentence(method: str, sentences: list[str], limit: int) -> None:
    joiner = "" if ord(sentences[0][0]) > 0x2000 else " "
    assert texts(cut(from_text(joiner.join(sentences)), method, sizes(limit))) == sentences


# case 24
@methods
@pytest.mark.parametrize("text", ["one,,two,", ",one,,two", "one;;two;", "a\n\n\n\nb\n\n", "一，，二，", "x。。y。"])
@pytest.mark.parametrize("limit", [1, 3, 4, 5, 100])
def test_runs_of_separators_and_trailing_ones_stay(method: str, text: str, limit: int) -> None:
    partition = cut(from_text(text), method, sizes(limit))
    assert "".join("".join(texts(partition)).split()) == "".join(text.split())


@methods
@pytest.mark.parametrize("text", [",,,,", "....", "。。。", "---", "|||", "- - -", "……"])
def test_a_text_of_separators_alone_is_one_chunk(method: str, text: str) -> None:
    assert texts(cut(from_text(text), method, sizes(100))) == [text]


# case 26
@sentence_aware
@pytest.mark.parametrize("word", ["펌프를", "점검하고", "valve", "Prüfung"])
def test_words_of_a_long_line_are_neither_glued_nor_cut(method: str, word: str) -> None:
    given = [f"{word}{number}" for number in range(120)]
    partition = cut(from_text(" ".join(given)), method, sizes(60))
    assert [found for piece in texts(partition) for found in piece.split(" ")] == given


# case 28
@methods
def test_a_comment_in_a_fence_takes_no_prose_with_it(method: str) -> None:
    document = case("embedded_hash.md")
    assert headings(document) == ["Backup job", "Restore"]
    together = " ".join(texts(cut(document, method, sizes(60, min_chars=0))))
    for line in document.text.splitlines():
        assert line in together or method == "fixed"


# cases 108, 109, 113 on the chunkers there are
@methods
@pytest.mark.parametrize("limit", [1, 5, 12, 100])
@pytest.mark.parametrize("key", ["one", "two", "stopwords", "dots", "same"])
def test_tiny_documents_are_chunked_without_error(method: str, key: str, limit: int) -> None:
    text = json.loads(case_text("tiny_docs.json"))[key]
    partition = cut(from_text(text), method, sizes(limit))
    assert 1 <= len(partition.chunks) <= len(text)
    assert limit < 100 or texts(partition) == [text]


# case 112
@methods
def test_an_empty_document_has_no_chunks(method: str) -> None:
    assert chunk(Document("", ()), method).chunks == ()
    assert chunk(Document(" \n\t ", ()), method).chunks == ()


@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000\n", "\f\f"])
@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.html", "x.csv"])
def test_an_empty_text_is_a_named_error_not_an_empty_success(text: str, name: str) -> None:
    with pytest.raises(ParseError, match=name):
        from_text(text, name)


# case 114
@methods
@pytest.mark.parametrize("minimum", [0, 1, 24, 1000])
def test_lines_shorter_than_the_minimum_raise_nothing(method: str, minimum: int) -> None:
    text = "A\nB\n\nLong enough line here.\nC"
    for limit in (1, 10, 30, 700):
        assert rebuilt(cut(from_text(text), method, sizes(limit, min_chars=minimum))) == text


# case 120 and 121
@methods
@pytest.mark.parametrize("limit", [10, 40, 200])
def test_words_that_spell_special_tokens_are_plain_text(method: str, limit: int) -> None:
    document = case("special_tokens.txt")
    partition = cut(document, method, sizes(limit))
    assert rebuilt(partition) == case_text("special_tokens.txt")
