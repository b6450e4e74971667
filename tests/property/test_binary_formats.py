"""P1 for formats whose text is extracted: whatever the words, they come out, and every one lies in a chunk."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas
from test_lossless import assert_covers, assert_partition

from qchunker import CHUNKERS, ChunkingConfig, Document, Source, parse

# What XML may hold, without the marks that HTML folds as white space.
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co", "Zl", "Zp", "Zs", "Cf"]),
    min_size=1,
    max_size=30,
)
paragraphs = st.lists(st.lists(words, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=8)
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATIONS = '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>'


def _zip(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def assert_lossless(document: Document, texts: list[str]) -> None:
    assert _letters(document.text) == _letters("".join(texts))
    assert_covers(document.text, [(block.start, block.end) for block in document.blocks])
    for method in CHUNKERS:
        assert_partition(document, method, ChunkingConfig(target_chars=60))


@given(paragraphs)
def test_a_word_document(texts: list[str]) -> None:
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in texts)
    main = f"<w:document {WORD}><w:body>{body}</w:body></w:document>"
    assert_lossless(parse(Source("x.docx", _zip({"_rels/.rels": RELATIONS, "word/document.xml": main}))), texts)


@given(paragraphs)
def test_a_book(texts: list[str]) -> None:
    body = "".join(f"<p>{escape(text)}</p>" for text in texts)
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="p.opf"/></container>',
        "p.opf": '<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>',
        "a.xhtml": f"<html><head><title/></head><body>{body}</body></html>",
    }
    assert_lossless(parse(Source("x.epub", _zip(parts))), texts)


@settings(max_examples=20)  # each starts a process
@given(
    st.lists(
        st.lists(st.text("abc储存 |&<", min_size=1, max_size=12).filter(str.strip), min_size=2, max_size=3),
        min_size=2,
        max_size=30,
    )
)
def test_a_workbook(rows: list[list[str]]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    document = parse(Source("x.xlsx", buffer.getvalue()))
    assert_lossless(document, ["Sheet", *("".join(row) for row in rows)])


@settings(max_examples=20)
@given(st.lists(st.text("abcdefg", min_size=3, max_size=9), min_size=1, max_size=40))
def test_a_page_of_pdf(lines: list[str]) -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    for place, line in enumerate(lines):
        canvas.drawString(72, 760 - 17 * place, f"{line} valve {place} opens.")
    canvas.save()
    document = parse(Source("x.pdf", buffer.getvalue()))
    for place, line in enumerate(lines):
        assert f"{line} valve {place} opens." in document.text
    assert_covers(document.text, [(block.start, block.end) for block in document.blocks])
    for method in CHUNKERS:
        assert_partition(document, method, ChunkingConfig(target_chars=60))
