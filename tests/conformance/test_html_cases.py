"""Web pages: all text a reader sees, in order, once; nothing that a reader does not see."""

from __future__ import annotations

import pytest
from promises import assert_blocks, block_with, blocks_of, case, cut, headings, sizes, texts

from qchunker import CHUNKERS, from_text

methods = pytest.mark.parametrize("method", CHUNKERS)


# case 34
@methods
def test_loose_text_in_divisions_is_kept_in_order_and_once(method: str) -> None:
    document = case("div_text.html")
    assert_blocks(document)
    assert headings(document) == ["Filters"]
    expected = [
        "Loose sentence one.",
        "Loose sentence two.",
        "Deep sentence three.",
        "Para four with flush() and",
        "tail five.",
    ]
    assert [document.text.count(sentence) for sentence in expected] == [1] * 5
    places = [document.text.index(sentence) for sentence in expected]
    assert places == sorted(places)
    assert "hidden six" not in document.text
    assert block_with(document, "Loose sentence one.").heading_path == ()
    assert block_with(document, "tail five.").heading_path == ("Filters",)
    assert len(blocks_of(document, "table")) == 1
    together = "".join(texts(cut(document, method, sizes(60, min_chars=0))))
    assert "".join(together.split()) == "".join(document.text.split())


@pytest.mark.parametrize(
    "element", ["div", "main", "section", "article", "body", "span", "td", "center", "font", "custom-tag", "details"]
)
def test_text_directly_inside_an_element_is_kept(element: str) -> None:
    markup = f"<{element}>First loose words. <b>Bold words.</b><p>A paragraph.</p>Last loose words.</{element}>"
    if element == "td":
        markup = f"<table><tr>{markup}</tr></table>"
    document = from_text(f"<html><body>{markup}</body></html>", "x.html")
    assert " ".join(document.text.split()) == "First loose words. Bold words. A paragraph. Last loose words."


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>bad()</script>", "<style>p{bad:1}</style>", "<noscript>bad</noscript>", "<template>bad</template>", "<!-- bad -->",
        "<p hidden>bad</p>", "<p style='display: none'>bad</p>", "<nav>bad</nav>", "<iframe>bad</iframe>", "<p onclick='bad()'></p>",
        "<svg><text>bad</text></svg>", "<textarea>bad</textarea>",
    ],
)  # fmt: skip
def test_what_a_reader_does_not_see_is_left_out(hidden: str) -> None:
    document = from_text(f"<body><p>Before it.</p>{hidden}<p>After it.</p></body>", "x.html")
    assert document.text.split() == ["Before", "it.", "After", "it."]


def test_inline_elements_do_not_break_words_and_blocks_do() -> None:
    document = from_text("<p>H<sub>2</sub>O is <em>wa</em>ter.<br>Next line.</p><div>One</div><div>Two</div>", "x.html")
    assert document.text.splitlines()[:2] == ["H2O is water.", "Next line."]
    assert blocks_of(document, "paragraph")[1:] == ["One", "Two"]


def test_preformatted_text_keeps_its_white_space() -> None:
    document = from_text("<p>Run:</p><pre><code>if x:\n    y()\n\n    z()</code></pre><p>Done.</p>", "x.html")
    assert blocks_of(document, "code") == ["if x:\n    y()\n\n    z()"]


def test_lists_in_lists_keep_their_levels() -> None:
    markup = "<ul><li>One<ul><li>Inner<ol><li>Deep</li></ol></li></ul></li><li>Two</li></ul>"
    document = from_text(markup, "x.html")
    levels = [(document.text[block.start : block.end].strip(), block.level) for block in document.blocks]
    assert levels == [("- One", 1), ("- Inner", 2), ("1. Deep", 3), ("- Two", 1)]
    partition = cut(document, "structure", sizes(8, max_chars=100, min_chars=0))
    (deep,) = [piece for piece in partition.chunks if "Deep" in piece.text]
    assert "One" in deep.embedding_text
    assert "Inner" in deep.embedding_text


def test_headings_inside_divisions_and_with_markup_are_found() -> None:
    markup = (
        "<div><header><h1>Top <em>title</em></h1></header><div><h2><a href='#x'>Sub</a></h2><p>Body.</p></div></div>"
    )
    document = from_text(markup, "x.html")
    assert headings(document) == ["Top title", "Sub"]
    assert block_with(document, "Body.").heading_path == ("Top title", "Sub")


@pytest.mark.parametrize(
    "markup",
    [
        "<p>One<p>Two<p>Three",
        "<div><p>One</div><p>Two</p></b>Three",
        "One<br><br>Two<hr>Three",
        "<p>One</p>Two&nbsp;<h1>Three",
    ],
)
def test_broken_markup_loses_no_text(markup: str) -> None:
    assert from_text(markup, "x.html").text.split() == ["One", "Two", "Three"]
