"""Web pages: what is kept, what is left out, and how structure comes through."""

from __future__ import annotations

import pytest

from qchunker import Document, from_text, parse
from qchunker.errors import ParseError
from qchunker.types import Source


def page(markup: str) -> Document:
    return from_text(markup, "x.html")


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


@pytest.mark.parametrize(
    "markup",
    [
        "<main><p>Kept.</p></main><p>Beside.</p>",
        "<body><nav>Home</nav><p>Kept.</p><footer role=contentinfo>Imprint</footer></body>",
        "<body><div class='navheader other'>Next</div><p>Kept.</p><aside>Ads</aside></body>",
        "<body><p>Kept.</p><p hidden>no</p><p style='display: none'>no</p><p aria-hidden=true>no</p></body>",
        "<body><article><p>Kept.</p></article><div>Comments</div></body>",
        "<body><p>Kept.<a class=headerlink href=#x>¶</a></p></body>",
    ],
)
def test_what_stands_beside_the_content_is_left_out_and_noted(markup: str) -> None:
    document = page(markup)
    assert document.text == "Kept."
    assert [note.kind for note in document.notes] == ["dropped_text"]


@pytest.mark.parametrize(
    "markup",
    [
        "<form><p>Kept.</p></form>",
        "<main><aside>Kept.</aside></main>",
        "<p>Kept.<script>no()</script><style>no</style><noscript>no</noscript><template>no</template></p>",
        "<p onclick='no()'>Ke<b>pt</b>.</p>",
        "<p>Kept.<img src=x alt=no onerror='no()'></p>",
    ],
)
def test_markup_around_text_takes_nothing_away(markup: str) -> None:
    document = page(markup)
    assert document.text == "Kept."
    assert document.notes == ()


def test_inline_elements_add_no_space_and_blocks_do() -> None:
    assert page("<p>umount<b>(8)</b> and <i>x</i><br>y</p>").text == "umount(8) and x\ny"
    document = page(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>umount<b>(8)</b></td><td><p>x</p><p>y|z</p></td></tr></table>"
    )
    assert document.text == "| a | b |\n|---|---|\n| umount(8) | x y\\|z |"


def test_a_description_brings_its_term() -> None:
    document = page("<dl><dt>PGHOST</dt><dd>The host.<p>More.</p></dd><dt>PGPORT</dt><dd>The port.</dd></dl>")
    assert document.text == "PGHOST\n  The host.\n  More.\nPGPORT\n  The port."
    headers = [block.header and document.text[slice(*block.header)] for block in document.blocks]
    assert headers == [None, "PGHOST", "  The host.", None, "PGPORT"]


def test_the_title_of_a_note_is_no_heading() -> None:
    document = page("<h1>Valves</h1><div class='note admonition'><h3>Note</h3><p>Careful.</p></div><p>Body.</p>")
    assert [kind for kind, _ in blocks(document)] == ["heading", "paragraph", "paragraph", "paragraph"]
    assert document.blocks[-1].heading_path == ("Valves",)


def test_a_table_for_layout_is_walked_through() -> None:
    assert page("<table><tr><td><img src=x></td><td>Tip: oil it.</td></tr></table>").text == "Tip: oil it."
    nested = page("<table><tr><td><h2>Left</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>")
    assert blocks(nested) == [("heading", "Left"), ("paragraph", "One."), ("paragraph", "Two.")]


def test_spanning_cells_are_bounded() -> None:
    document = page(
        "<table><tr><th colspan=99999999>a</th></tr>" + "<tr><td rowspan=65534>b</td><td>c</td></tr>" * 3 + "</table>"
    )
    assert len(document.text) < 100_000


def test_deep_nesting_is_read() -> None:
    assert page("<div>" * 3000 + "Deep." + "</div>" * 3000).text == "Deep."


def test_a_selector_chooses_the_content() -> None:
    markup = b"<div class='main__doc'><h1>A</h1><p>One.</p></div><div class='main__doc'>Two.</div><p>Other.</p>"
    assert parse(Source("x.html", markup), selector=".main__doc").text == "A\n\nOne.\n\nTwo."
    for selector in (".none", "p:::"):
        with pytest.raises(ParseError, match="selector"):
            parse(Source("x.html", markup), selector=selector)


def test_the_declared_encoding_counts() -> None:
    markup = "<html><head><meta charset=gb2312></head><body><p>仓库应当干燥。</p></body></html>"
    assert parse(Source("x.html", markup.encode("gb18030"))).text == "仓库应当干燥。"


def test_numbered_headings_are_found_where_a_page_marks_none() -> None:
    document = page("<p>第一章 总则</p><p>本章适用于仓库。</p>")
    assert document.blocks[1].heading_path == ("第一章 总则",)
