"""Plain text: underlined and wiki headings, titles, contents, nested lists, fences, tables, columns."""

from __future__ import annotations

import pytest

from qchunker import Document, from_text

BODY = "The relief valve opens at nine bar and closes again when the pressure has fallen to seven bar."


def headings(document: Document) -> list[tuple[str, ...]]:
    return [block.heading_path for block in document.blocks if block.kind == "heading"]


@pytest.mark.parametrize("mark", list("=-~*^#"))
def test_a_line_under_a_title_makes_it_a_heading(mark: str) -> None:
    document = from_text(f"Safety valves\n{mark * 13}\n\n{BODY}\n\nStorage\n{mark * 7}\n{BODY}\n")
    assert headings(document) == [("Safety valves",), ("Storage",)]
    assert document.blocks[-1].heading_path == ("Storage",)


def test_marks_under_titles_nest_by_first_use() -> None:
    document = from_text(f"*****\nValves\n*****\n\nRelief\n======\n\n{BODY}\n\nPumps\n*****\n\n{BODY}\n")
    assert headings(document) == [("Valves",), ("Valves", "Relief"), ("Pumps",)]


def test_wiki_headings_nest_by_their_marks() -> None:
    document = from_text(f" = Valves = \n\n {BODY}\n\n = = Relief = = \n\n {BODY}\n\n== Storage ==\n\n{BODY}\n")
    assert headings(document) == [("Valves",), ("Valves", "Relief"), ("Valves", "Storage")]


def test_wiki_headings_need_no_blank_lines() -> None:
    document = from_text(f" = Valves = \n {BODY}\n = = Relief = = \n {BODY}\n {BODY}\n = = = Springs = = = \n {BODY}\n")
    assert headings(document) == [("Valves",), ("Valves", "Relief"), ("Valves", "Relief", "Springs")]
    assert [block.kind for block in document.blocks].count("paragraph") >= 3


@pytest.mark.parametrize("line", ["x = y", "a == b", "= 5 apples", "== not closed", "total ===== 12"])
def test_signs_of_equality_make_no_heading(line: str) -> None:
    document = from_text(f"{BODY}\n{line}\n{BODY}\n")
    assert headings(document) == []


@pytest.mark.parametrize(
    "turn", ["AUDIENCE: Booo —", "SPEAKER: (Laughs.)", "(Cross-talk.)", "Q: And then?", "主持人：（笑）"]
)
def test_turns_of_a_conversation_are_no_headings(turn: str) -> None:
    document = from_text(f"{BODY}\n\n{turn}\n\n{BODY}\n\n{turn}\n\n{BODY}\n")
    assert headings(document) == []


def test_the_title_of_a_document_stands_above_its_chapters() -> None:
    document = from_text(f"Supply Agreement\n\nChapter 1 Scope\n\n{BODY}\n\n第二章 储存\n\n{BODY}\n")
    assert headings(document)[1:] == [("Supply Agreement", "Chapter 1 Scope"), ("Supply Agreement", "第二章 储存")]


def test_a_number_stands_only_under_its_own_prefix() -> None:
    document = from_text(f"3.3 Options\n\n{BODY}\n\n3.7.3 Specific\n\n{BODY}\n")
    assert headings(document) == [("3.3 Options",), ("3.7.3 Specific",)]


def test_entries_of_a_table_of_contents_are_no_headings() -> None:
    entries = "   1. Scope\n\n      1.1 Terms\n\n      1.2 Signs\n\n   2. Use\n\n"
    document = from_text(f"Table of Contents\n\n{entries}1. Scope\n\n{BODY}\n\n1.1 Terms\n\n{BODY}\n")
    assert headings(document) == [("Table of Contents",), ("1. Scope",), ("1. Scope", "1.1 Terms")]


def test_items_belong_to_the_item_they_are_indented_under() -> None:
    document = from_text("- Close feed\n  - valve V1\n  - valve V2\n- Drain\n")
    assert [block.level for block in document.blocks] == [1, 2, 2, 1]
    assert [block.header for block in document.blocks] == [None, (0, 12), (0, 12), None]


def test_a_closed_fence_is_code_and_an_open_one_is_text() -> None:
    assert [b.kind for b in from_text(f"{BODY}\n\n```\n# no heading\n\nx = 1\n```\n\n{BODY}\n").blocks] == [
        "paragraph",
        "code",
        "paragraph",
    ]
    assert "code" not in {b.kind for b in from_text(f"{BODY}\n\n```\n{BODY}\n").blocks}


@pytest.mark.parametrize(
    "rows", ["Gas | ppm\nNH3 | 25\nCl2 | 0.5", "| Gas | ppm |\n|---|---|\n| NH3 | 25 |", "Gas\tppm\nNH3\t25"]
)
def test_aligned_rows_are_a_table_with_a_header(rows: str) -> None:
    document = from_text(f"{BODY}\n\n{rows}\n\n{BODY}\n")
    table = document.blocks[1]
    assert table.kind == "table"
    assert document.text[table.start : table.end] == rows
    assert table.header is not None
    assert document.text[slice(*table.header)].startswith(rows.splitlines()[0])


def test_long_lines_are_paragraphs_of_their_own() -> None:
    document = from_text(f"{BODY * 2}\n{BODY * 3}\n")
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph"]


def test_a_chapter_that_is_spelled_out_is_one_heading() -> None:
    document = from_text(
        f"1.6 Signs\n\n{BODY}\n\nCHAPTER\n\nTWENTY-ONE\n\nTHE ARCHIVE\n\n{BODY}\n\n2.1 Areas\n\n{BODY}\n"
    )
    assert headings(document)[1:] == [
        ("CHAPTER TWENTY-ONE THE ARCHIVE",),
        ("CHAPTER TWENTY-ONE THE ARCHIVE", "2.1 Areas"),
    ]


def test_a_bare_number_is_a_heading_only_where_it_goes_on_counting() -> None:
    document = from_text(
        f"1.2 Export\n\n{BODY}\n\n1. Precision\nMost of the conversions lose digits, as the manual of the package says.\n\n3. Separator\n\n{BODY}\n\n2 Imports\n\n{BODY}\n"
    )
    assert headings(document) == [("1.2 Export",), ("2 Imports",)]
