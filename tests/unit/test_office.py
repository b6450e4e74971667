"""PDF, DOCX, PPTX, XLSX and EPUB made here, in Chinese and English, read back."""

from __future__ import annotations

import datetime
import io
import re
import time
import zipfile
from typing import Any

import docx as python_docx
import openpyxl  # type: ignore[import-untyped]
import pptx as python_pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.cidfonts import UnicodeCIDFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from qchunker.errors import ParseError, UnsupportedFormatError
from qchunker.parsing.docx_numbering import spell
from qchunker.parsing.epub import parse_epub
from qchunker.parsing.office import DOCX, PDF, PPTX, XLSX, Extracted, extract
from qchunker.parsing.pdf import Hint, clean
from qchunker.types import Source

CHINESE_FONT = "STSong-Light"


def _pdf(pages: list[list[str]]) -> Extracted:
    pdfmetrics.registerFont(UnicodeCIDFont(CHINESE_FONT))
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    for lines in pages:
        for place, line in enumerate(lines):
            canvas.setFont(CHINESE_FONT if re.search(r"[^\x00-\x7f]", line) else "Helvetica", 11)
            canvas.drawString(72, 780 - 14 * place, line)
        canvas.showPage()
    canvas.save()
    return extract(Source("a.pdf", buffer.getvalue()), PDF)


def _saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _kinds(extracted: Extracted) -> list[str]:
    return [note.kind for note in extracted.notes]


def _page_of(extracted: Extracted, words: str) -> int:
    place = extracted.text.index(words)
    return max(page for page, start in enumerate(extracted.page_starts, 1) if start <= place)


class TestPdf:
    def test_chinese_and_english_text_with_line_breaks(self) -> None:
        found = _pdf([["第一章 总则", "本标准规定了泵的要求，", "适用于 3.5 MPa 以下。"], ["The valve is open."]])
        assert found.markup == "plain"
        # Whether the layout parts the lines into paragraphs depends on the fonts of the machine.
        lines = [line for line in found.text.splitlines() if line]
        assert lines == ["第一章 总则", "本标准规定了泵的要求，", "适用于 3.5 MPa 以下。", "The valve is open."]
        assert found.page_starts == (0, found.text.index("The"))

    def test_furniture_goes_sentences_continue_and_blank_pages_count(self) -> None:
        head = "ACME Manual Rev 3"
        found = _pdf(
            [
                [head, "The relief valve opens at 9", "Page 4 of 60"],
                [head, "bar and closes at 7 bar.", "Page 5 of 60"],
                [],
                [head, "Store spares dry.", "Page 7 of 60"],
            ]
        )
        assert found.text == "The relief valve opens at 9\nbar and closes at 7 bar.\n\nStore spares dry."
        assert [_page_of(found, words) for words in ("relief", "bar and", "Store")] == [1, 2, 4]
        furniture = [note for note in found.notes if note.kind == "furniture"]
        assert [(note.page, "3 pages" in note.message) for note in furniture] == [(1, True), (1, True)]
        assert "blank_page" in _kinds(found)

    def test_words_broken_at_line_ends(self) -> None:
        found = _pdf(
            [
                [
                    "The specification is well-known here.",
                    "A valve is well-",
                    "known when its spec-",
                    "ification is read.",
                ],
                [
                    "We use an on-the-",
                    "fly test, and the fly test is short.",
                    "It is a pre- and post-",
                    "processing step.",
                ],
            ]
        )
        assert "is well-known when its specification is read" in found.text
        assert "on-the-fly test" in found.text
        assert "hyphenation" in _kinds(found)

    def test_contents_pages_go_and_lists_with_leaders_stay(self) -> None:
        contents = [f"{n}.1 Part {word} {'. ' * 20}{n}" for n, word in enumerate(["one", "two", "three", "four"], 1)]
        prices = [f"{word} {'.' * 20} {price}" for word, price in (("Tea", 90), ("Pie", 12), ("Cake", 45))]
        found = _pdf([["Contents", *contents], ["Body text.", "More of it.", "And more."], prices, ["End."]])
        assert found.text == "Contents\nBody text.\nMore of it.\nAnd more.\n\nTea ... 90\nPie ... 12\nCake ... 45\nEnd."
        assert "dropped_text" in _kinds(found)

    def test_layout_headings_get_blank_lines(self) -> None:
        hints = [
            [
                Hint("Scope", "Scope", True),
                Hint("This part", "ends here", False),
                Hint("of the text", "", False),
            ]
        ]
        found = clean(["Intro words\r\nScope\r\nThis part\r\nof the text"], hints)
        assert found.text == "Intro words\n\nScope\n\nThis part\nof the text"

    def test_columns_read_straight_across_are_noted(self) -> None:
        lines = [f"the left spec- moved {word} to the berth" for word in ("one", "two", "three")]
        assert [note.kind for note in clean(["\n".join(lines)], [[]]).notes] == ["columns"]

    def test_page_offsets_survive_joined_words(self) -> None:
        pages = [f"Some spec\x02ification {word} ends." for word in ("one", "two", "three")]
        found = clean(pages, [[], [], []])
        assert [found.text[start : start + 4] for start in found.page_starts] == ["Some"] * 3
        assert all(note.span and found.text[slice(*note.span)] == "specification" for note in found.notes)


class TestDocx:
    def test_structure(self) -> None:
        document = python_docx.Document()
        document.core_properties.title = "测试"
        document.sections[0].header.paragraphs[0].text = "ACME confidential"
        document.add_heading("第一章 总则", 1)
        document.add_paragraph("R&D needs < 5 ppm <tag>\tnow")
        document.add_paragraph("# no heading")
        document.add_paragraph("first", style="List Bullet")
        document.add_paragraph("step", style="List Number")
        document.add_heading("Scope", 2)
        found = extract(Source("a.docx", _saved(document)), DOCX)
        assert found.markup == "markdown"
        assert found.metadata["title"] == "测试"
        assert found.text.split("\n\n") == [
            *(
                "# 第一章 总则",
                "R&D needs < 5 ppm <tag>\tnow",
                "\\# no heading",
                "- first",
                "1. step",
                "## Scope",
            ),
        ]
        assert any("ACME confidential" in note.message for note in found.notes)

    def test_tables_with_merged_nested_and_framed_cells(self) -> None:
        document = python_docx.Document()
        table = document.add_table(3, 3)
        for row in range(3):
            for column in range(3):
                table.cell(row, column).text = f"r{row}c{column}"
        table.cell(1, 0).merge(table.cell(2, 0)).text = "a|b"
        table.cell(1, 1).merge(table.cell(1, 2)).text = "合并"
        inner = table.cell(2, 2).add_table(1, 2)
        inner.cell(0, 0).text, inner.cell(0, 1).text = "x", "y"
        document.add_table(1, 1).cell(0, 0).text = "A framed warning."
        found = extract(Source("a.docx", _saved(document)), DOCX)
        assert found.text == (
            "| r0c0 | r0c1 | r0c2 |\n| --- | --- | --- |\n"
            "| a\\|b | 合并 | 合并 |\n| a\\|b | r2c1 | r2c2 x, y |\n\nA framed warning."
        )

    def test_footnotes_text_boxes_revisions_and_pages(self) -> None:
        word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        body = (
            "<w:p><w:r><w:t>Main</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
            "<w:p><w:ins><w:r><w:t>kept</w:t></w:r></w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
            "<w:sdt><w:sdtContent><w:p><w:r><w:t>field</w:t><w:br/><w:t>two</w:t></w:r></w:p></w:sdtContent></w:sdt>"
            "<w:p><w:r><w:lastRenderedPageBreak/><w:t>Page two</w:t></w:r></w:p>"
            "<w:p><w:pPr><w:outlineLvl w:val='1'/></w:pPr><w:r><w:t>Outline</w:t></w:r></w:p>"
            "<w:p><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>"
        )
        notes = "<w:footnote w:id='2'><w:p><w:r><w:t>A &amp; B</w:t></w:r></w:p></w:footnote>"
        relation = "<Relationship Id='r1' Type='x/footnotes' Target='footnotes.xml'/>"
        data = _zip(
            {
                "word/document.xml": f"<w:document {word}><w:body>{body}</w:body></w:document>",
                "word/footnotes.xml": f"<w:footnotes {word}>{notes}</w:footnotes>",
                "word/_rels/document.xml.rels": f"<Relationships>{relation}</Relationships>",
            }
        )
        found = extract(Source("a.docx", data), DOCX)
        assert found.text.split("\n\n") == [
            *("Main[^2]", "kept", "field\ntwo", "Page two", "## Outline", "Boxed", "[^2]: A & B"),
        ]
        assert found.page_starts == (0, found.text.index("Page two"))

    @pytest.mark.parametrize(
        ("number", "number_format", "expected"),
        [
            (10, "chineseCounting", "十"),
            (21, "chineseCountingThousand", "二十一"),
            (105, "chineseCounting", "一百零五"),
            (4, "lowerRoman", "iv"),
            (28, "upperLetter", "BB"),
            (3, "decimalEnclosedCircle", "③"),
            (7, "decimalZero", "07"),
            (7, "unknown", "7"),
        ],
    )
    def test_automatic_numbers(self, number: int, number_format: str, expected: str) -> None:
        assert spell(number, number_format) == expected


class TestPptx:
    def test_titles_lists_tables_charts_notes_and_blank_slides(self) -> None:
        deck = python_pptx.Presentation()
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = "概述 Q&A"
        frame = slide.placeholders[1].text_frame
        frame.text = "first"
        nested = frame.add_paragraph()
        nested.text, nested.level = "nested", 1
        slide.notes_slide.notes_text_frame.text = "备注 notes"
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = "Numbers"
        table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
        for row in range(2):
            for column in range(2):
                table.cell(row, column).text = f"r{row}|c{column}"
        slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.text = "grouped"
        chart = CategoryChartData()  # type: ignore[no-untyped-call]
        chart.categories = ["E", "W"]
        chart.add_series("S1", (1, 2))  # type: ignore[no-untyped-call]
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), chart)
        found = extract(Source("a.pptx", _saved(deck)), PPTX)
        assert found.text.split("\n\n") == [
            *("## 概述 Q&A", "- first\n  - nested", "Notes:", "备注 notes", "## Numbers"),
            *("| r0\\|c0 | r0\\|c1 |\n| --- | --- |\n| r1\\|c0 | r1\\|c1 |", "grouped"),
            "|  | S1 |\n| --- | --- |\n| E | 1 |\n| W | 2 |",
        ]
        numbers = found.text.index("## Numbers")
        assert found.page_starts == (0, numbers, numbers)
        assert _kinds(found) == ["blank_page"]


class TestXlsx:
    def test_sheets_dates_titles_and_cells(self) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "价格表"
        sheet.append(["2024 价格"])
        sheet.append(["编号", "day", "at", "hour", "part|name", "price"])
        sheet.append(["007", datetime.date(2024, 3, 5), datetime.datetime(2024, 3, 5, 13, 30), datetime.time(8, 15)])
        sheet["E3"], sheet["F3"] = "a < b\n# c", 12.5
        book.create_sheet("Second")["B2"] = "offset"
        book.create_sheet("Empty")
        found = extract(Source("a.xlsx", _saved(book)), XLSX)
        assert found.text == (
            "## 价格表\n\n2024 价格\n\n| 编号 | day | at | hour | part\\|name | price |\n"
            "| --- | --- | --- | --- | --- | --- |\n"
            "| 007 | 2024-03-05 | 2024-03-05 13:30:00 | 08:15:00 | a < b # c | 12.5 |\n\n"
            "## Second\n\n| offset |\n| --- |"
        )

    def test_sheet_of_far_apart_cells_is_noted_never_lost_silently(self) -> None:
        book = openpyxl.Workbook()
        book.active["A1"], book.active["C7"], book.active["A1048576"] = "a", "b", "c"
        with pytest.raises(ParseError, match="far apart"):
            extract(Source("a.xlsx", _saved(book)), XLSX)
        book.create_sheet("Next")["A1"] = "ok"
        found = extract(Source("a.xlsx", _saved(book)), XLSX)
        assert found.text == "## Next\n\n| ok |\n| --- |"
        assert _kinds(found) == ["dropped_text"]

    def test_many_cells_in_reasonable_time(self) -> None:
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("big")
        for row in range(5000):
            sheet.append([f"row {row}", row, row * 1.5, "中文"])
        data = _saved(book)
        start = time.perf_counter()
        found = extract(Source("a.xlsx", data), XLSX)
        assert found.text.count("\n") == 5002
        assert time.perf_counter() - start < 20


def _zip(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def _book(chapters: dict[str, str], spine: list[str]) -> dict[str, str]:
    items = "".join(f'<item id="{n}" href="{name.replace(" ", "%20")}"/>' for n, name in enumerate(chapters))
    order = "".join(f'<itemref idref="{list(chapters).index(name)}"/>' for name in spine)
    meta = '<metadata xmlns:dc="dc"><dc:title>书 &amp; Book</dc:title><dc:creator>李四</dc:creator></metadata>'
    return {
        "META-INF/container.xml": '<container><rootfile full-path="O/p.opf"/></container>',
        "O/p.opf": f"<package>{meta}<manifest>{items}</manifest><spine>{order}</spine></package>",
        **{
            f"O/{name}": f"<html><head><title>T</title></head><body>{body}</body></html>"
            for name, body in chapters.items()
        },
    }


class TestEpub:
    def test_chapters_in_reading_order(self) -> None:
        chapters = {
            "b.xhtml": "<h1>Chapter 2</h1><blockquote><p>quote</p></blockquote><p># no<br/>heading</p>",
            "a a.xhtml": "<h1>第一章 A &amp; B</h1><p>R&amp;D &lt; 5 <b>bold</b></p>"
            "<script/><a id='x'/><ul><li>one<ul><li>two</li></ul></li></ul><ol><li>n</li></ol>"
            "<pre>code\n  x</pre>"
            "<table><tr><th>H1</th><th>H2</th></tr><tr><td>a|b</td><td>c</td></tr></table>",
        }
        document = parse_epub(Source("a.epub", _zip(_book(chapters, ["a a.xhtml", "b.xhtml"]))))
        assert [(block.kind, document.text[block.start : block.end]) for block in document.blocks] == [
            ("heading", "第一章 A & B"),
            ("paragraph", "R&D < 5 bold"),
            ("list_item", "- one"),
            ("list_item", "  - two"),
            ("list_item", "1. n"),
            ("code", "code\n  x"),
            ("table", "| H1 | H2 |\n|---|---|\n| a\\|b | c |"),
            ("heading", "Chapter 2"),
            ("quote", "quote"),
            ("paragraph", "# no\nheading"),
        ]
        assert document.blocks[-1].heading_path == ("Chapter 2",)
        assert document.metadata == {"title": "书 & Book", "author": "李四"}

    def test_missing_chapter_is_noted(self) -> None:
        parts = _book({"a.xhtml": "<p>text</p>", "b.xhtml": "<p>more</p>"}, ["a.xhtml", "b.xhtml"])
        del parts["O/b.xhtml"]
        document = parse_epub(Source("a.epub", _zip(parts)))
        assert document.text == "text"
        assert [note.kind for note in document.notes] == ["dropped_text"]

    def test_broken_markup_loses_no_words(self) -> None:
        parts = _book({"a.xhtml": "loose<p>one<p>two<table><tr><td>cell<p>three</div>four"}, ["a.xhtml"])
        text = parse_epub(Source("a.epub", _zip(parts))).text
        assert all(word in text for word in ("loose", "one", "two", "cell", "three", "four"))


def test_unknown_media_type() -> None:
    with pytest.raises(UnsupportedFormatError):
        extract(Source("a.doc", b"x"), "application/msword")
