"""Heading paths of every kind of source, numbered headings in plain text, and pages."""

from __future__ import annotations

import pytest
from promises import (
    block_with,
    blocks_of,
    case,
    chunk_with,
    cut,
    headings,
    sizes,
    texts,
)

from qchunker import CHUNKERS, ChunkingConfig, from_text, lint

methods = pytest.mark.parametrize("method", CHUNKERS)
HANDBOOK = ("Plant handbook", "Part II", "Storage", "Cold storage")


# case 29
@methods
def test_headings_in_a_row_all_stand_in_the_path(method: str) -> None:
    document = case("consecutive_headings.md")
    assert headings(document) == [*HANDBOOK, "Disposal", "Part III"]
    assert block_with(document, "Keep below 4 degrees.").heading_path == HANDBOOK
    paths = {block.heading_path for block in document.blocks if block.kind == "heading"}
    assert ("Plant handbook", "Part II", "Disposal") in paths
    assert ("Plant handbook", "Part III") in paths
    together = " ".join(texts(cut(document, method, sizes(700))))
    assert "Disposal" in together
    assert "Part III" in together


@pytest.mark.parametrize("target", [30, 200, 700])
def test_the_chunk_under_headings_in_a_row_has_the_whole_path(target: int) -> None:
    partition = cut(case("consecutive_headings.md"), "structure", sizes(target, min_chars=0, max_chars=2000))
    holder = chunk_with(partition, "Keep below 4 degrees.")
    assert holder.heading_path == HANDBOOK
    assert all(title in holder.embedding_text for title in HANDBOOK)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.html", "<h1>A</h1><h2>B</h2><h4>C</h4><p>Body here.</p><h2>D</h2><h1>E</h1><p>Last body.</p>"),
        ("x.md", "# A\n## B\n#### C\nBody here.\n## D\n# E\nLast body."),
        ("x.md", "A\n=\n\nB\n-\n\n#### C ####\n\nBody here.\n\nD\n---\nE\n===\nLast body."),
        ("x.md", "# A\r\n## B\r\n#### C\r\nBody here.\r\n## D\r\n# E\r\nLast body.\r\n"),
    ],
)
def test_skipped_and_returning_levels_give_the_right_path(name: str, text: str) -> None:
    document = from_text(text, name)
    assert block_with(document, "Body here.").heading_path == ("A", "B", "C")
    assert block_with(document, "Last body.").heading_path == ("E",)
    (sibling,) = [block for block in document.blocks if block.kind == "heading" and block.heading_path[-1] == "D"]
    assert sibling.heading_path == ("A", "D")


# case 30
@methods
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.md", "# Notice\n\n## Gate closed until Monday\n"),
        ("x.md", "Notice\n===\n\nGate closed until Monday\n---"),
        ("x.html", "<h1>Notice</h1><h2>Gate closed until Monday</h2>"),
        ("x.txt", "Notice\n\nGate closed until Monday\n"),
        ("x.txt", "第一章 Notice\n\n第一条 Gate closed until Monday"),
    ],
)
def test_a_document_of_headings_alone_gives_chunks(method: str, name: str, text: str) -> None:
    for minimum in (0, 40):
        partition = cut(from_text(text, name), method, sizes(700, min_chars=minimum))
        together = " ".join(texts(partition))
        assert "Notice" in together
        assert "Gate closed until Monday" in together


@methods
def test_the_case_file_of_headings_alone_gives_a_chunk(method: str) -> None:
    together = " ".join(texts(cut(case("headings_only.md"), method, ChunkingConfig())))
    assert "Gate closed until Monday" in together


# cases 32 and 33
def test_the_title_of_a_heading_of_many_runs_is_its_plain_text() -> None:
    document = case("inline_heading.md")
    assert headings(document)[:3] == ["2.4.0 - June LTS", "C#", "F#"]
    for words, title in {
        "Fixed the pressure rounding.": ("2.4.0 - June LTS",),
        "Use the typed client.": ("2.4.0 - June LTS", "C#"),
        "Use the script host.": ("2.4.0 - June LTS", "F#"),
    }.items():
        assert block_with(document, words).kind == "paragraph"
        assert block_with(document, words).heading_path == title


def test_an_empty_heading_ends_the_section_before_it_and_adds_no_title() -> None:
    document = case("inline_heading.md")
    assert block_with(document, "Text under an empty heading.").heading_path == ("2.4.0 - June LTS",)
    assert all(all(block.heading_path) for block in document.blocks)
    assert sum(block.kind == "heading" for block in document.blocks) == 4


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# C#", "C#"),
        ("# F# ##", "F#"),
        ("# A ###########", "A"),
        ("# A #b", "A #b"),
        ("# A \\#", "A #"),
        ("#  wide   inside  ", "wide inside"),
        ("# **bold** and `code` and ~~no~~", "bold and code and ~~no~~"),
        ("# ![alt](a.png) picture", "alt picture"),
        ("# a &amp; b &lt;", "a & b <"),
        ("# [a](b) [c][d]", "a [c][d]"),
        ("   # three spaces", "three spaces"),
        ("# 储存 **规范**", "储存 规范"),
        ("Wrapped\ntitle\n=====", "Wrapped title"),
        ("# a <b>c</b>", "a c"),
    ],
)
def test_titles_are_plain_text_without_markup(line: str, title: str) -> None:
    document = from_text(f"{line}\n\nBody of the section.\n", "x.md")
    assert headings(document) == [title]
    assert block_with(document, "Body of the section.").heading_path == (title,)


@pytest.mark.parametrize("line", ["#hashtag", "####### seven", "\\# escaped", "    # indented", "a # b", "#\u00a0nbsp"])
def test_lines_that_only_look_like_headings_are_text(line: str) -> None:
    assert headings(from_text(f"Before.\n\n{line}\n\nAfter.\n", "x.md")) == []


# cases 36, 37 and 38
def test_sections_of_a_page_have_the_path_of_their_own_headings() -> None:
    document = case("nested_headers.html")
    for words, path in {
        "Intro.": ("Chapter 1",),
        "Body A.": ("Chapter 1", "Section 1.1"),
        "Body B.": ("Chapter 1", "Section 1.1", "Detail"),
        "Body C.": ("Chapter 1", "Section 1.2"),
        "Body D.": ("Chapter 2",),
    }.items():
        assert block_with(document, words).heading_path == path


@pytest.mark.parametrize("target", [12, 20, 60])
def test_the_title_is_in_the_indexed_text_of_every_chunk_under_it(target: int) -> None:
    partition = cut(case("nested_headers.html"), "structure", sizes(target, max_chars=200, min_chars=0))
    for words, path in {
        "Body A.": ("Chapter 1", "Section 1.1"),
        "Body B.": ("Chapter 1", "Section 1.1", "Detail"),
        "Body C.": ("Chapter 1", "Section 1.2"),
        "Body D.": ("Chapter 2",),
    }.items():
        holder = chunk_with(partition, words)
        assert holder.heading_path == path
        assert all(holder.embedding_text.count(title) == 1 for title in path)


def test_the_heading_that_opened_a_chunk_is_known_by_text_level_and_span() -> None:
    document = case("nested_headers.html")
    partition = cut(document, "structure", sizes(20, max_chars=200, min_chars=0))
    holder = chunk_with(partition, "Body B.")
    (opener,) = [
        block for block in document.blocks if block.kind == "heading" and block.heading_path == holder.heading_path
    ]
    assert document.text[opener.start : opener.end] == "Detail"
    assert opener.level == 3


def test_every_part_of_a_long_section_carries_its_title() -> None:
    body = "The seals are changed after two years of work. " * 40
    partition = cut(from_text(f"# Pumps\n\n## Seals\n\n{body}", "x.md"), "structure", sizes(300, 45))
    assert len(partition.chunks) > 5
    for piece in partition.chunks:
        assert piece.heading_path == ("Pumps", "Seals")
        assert "Pumps" in piece.embedding_text
        assert "Seals" in piece.embedding_text


# case 86
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_deeper_heading_is_not_taken_for_one_of_the_first_level(newline: str) -> None:
    text = newline.join(["# One", "a b c.", "## Two", "d e f.", "### Three", "g h i.", "# Four", "j k l."])
    document = from_text(text, "x.md")
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2, 3, 1]
    levels = [block.level for block in case("consecutive_headings.md").blocks if block.kind == "heading"]
    assert levels == [1, 2, 3, 4, 3, 2]


# case 98
def test_clause_titles_are_headings_and_sentences_that_start_with_a_number_are_not() -> None:
    document = case("clauses.txt")
    assert headings(document) == [
        "9.2.7.1 General",
        "9.2.8 Bending check",
        "Article 5 — Term",
        "Section 2.1 Scope",
        "Chapter 3 Pumps",
        "§ 4 Haftung",
        "Annex B (normative) Forms",
        "Appendix C",
    ]
    for words, title in {
        "The hose shall be checked when new.": "9.2.7.1 General",
        "9.2.7.2 applies only to coated hoses.": "9.2.7.1 General",
        "The check in 9.2.7.3": "9.2.7.1 General",
        "3.5 tonnes": "9.2.8 Bending check",
        "7.4 kV": "9.2.8 Bending check",
        "2024. The year": "9.2.8 Bending check",
        "This Agreement lasts one year.": "Article 5 — Term",
        "Article 5 does not limit": "Article 5 — Term",
        "Section 2.1 covers pumps.": "Section 2.1 Scope",
    }.items():
        block = block_with(document, words)
        assert block.kind != "heading"
        assert block.heading_path[-1:] == (title,), words


@pytest.mark.parametrize("target", [60, 120, 700])
def test_a_clause_title_is_not_parted_from_its_body(target: int) -> None:
    partition = cut(case("clauses.txt"), "structure", sizes(target, max_chars=1400))
    holder = chunk_with(partition, "9.2.7.1 General")
    assert "The hose shall be checked when new." in holder.text


# cases 98 and X9: the forms themselves
@pytest.mark.parametrize(
    "line",
    [
        "第3章 储存", "第 3 章 储存", "第３章　储存", "第三章", "第八条 范围", "第十二条之一 禁止烟火", "第一编 总则", "第2节 阀门",
        "一、总则", "（一）总则", "附录 A", "附录A 术语", "附录 A（资料性）术语", "附件2 表格", "A.1 一般术语", "3.2 储存", "３．２ 储存",
        "7.4.2 气瓶储存", "Appendix A", "Appendix C Forms", "Annex B", "Annex B (normative) Forms", "Chapter 3", "Chapter 3 Pumps",
        "CHAPTER III PUMPS", "Article 5", "Article 5 — Term", "Section 2.1 Scope", "Part II Storage", "§ 4", "§ 4 Haftung", "§4a Haftung",
        "7.4 Valves", "7.4.2 Valve seats", "A.1 Terms", "Schedule 1 Fees", "Clause 9 Notices",
    ],
)  # fmt: skip
def test_every_numbered_form_is_a_heading(line: str) -> None:
    text = f"前言在此。\n\n{line}\n\n本部分规定了仓库的一般要求，仓库应当保持干燥并且每天通风两次。\n"
    document = from_text(text)
    assert blocks_of(document, "heading") == [line]
    assert block_with(document, "仓库应当保持干燥").heading_path == (" ".join(line.split()),)


@pytest.mark.parametrize(
    "line",
    [
        "3.5 吨为额定载荷。", "3.5 吨", "3.5吨的载荷", "第八条规定的情形除外。", "第八条规定的情形除外", "第八条和第九条不适用于夜间",
        "第三章的规定适用", "附录中的表格仅供参考。", "附录中的表格", "7.4 kV was measured at the terminal.", "7.4 kV", "3.5 tonnes is the rated load of the hoist.",
        "2024. The year was dry.", "2024年5月1日", "2024-05-01", "1,000.50", "192.168.4.7", "Article 5 does not limit Article 9.",
        "Section 2.1 covers pumps.", "9.2.7.2 applies only to coated hoses.", "The check in 9.2.7.3 follows the listed class.",
        "0.5 MPa 以下", "25.4 mm", "12.5%", "v2.4.1",
    ],
)  # fmt: skip
def test_quantities_dates_and_references_are_not_headings(line: str) -> None:
    text = f"前言在此。\n\n{line}\n\n本部分规定了仓库的一般要求，仓库应当保持干燥并且每天通风两次。\n"
    assert blocks_of(from_text(text), "heading") == []


# case 100 and X9
def test_a_chinese_law_has_its_outline() -> None:
    document = case("legal_zh.txt")
    assert headings(document) == [
        "第一编 总则", "第 3 章 储存", "第十二条", "第十二条之一", "附录 A（资料性）术语", "A.1 一般术语",
    ]  # fmt: skip
    assert block_with(document, "仓库应当干燥").heading_path == ("第一编 总则", "第 3 章 储存", "第十二条")
    assert block_with(document, "禁止烟火").heading_path == ("第一编 总则", "第 3 章 储存", "第十二条之一")
    assert block_with(document, "第八条规定的").heading_path[-1] == "第十二条之一"
    assert block_with(document, "易燃品").kind == "list_item"
    assert block_with(document, "氧化剂").kind == "list_item"
    assert block_with(document, "附录中的表格").heading_path[-2:] == ("附录 A（资料性）术语", "A.1 一般术语")


def test_an_article_that_begins_with_a_reference_to_another_is_an_article() -> None:
    document = from_text("第八条　仓库应当每日通风。\n\n第九条　第八条规定的通风不适用于冷库。\n")
    assert headings(document) == ["第八条", "第九条"]
    assert block_with(document, "不适用于冷库").heading_path == ("第九条",)


# case 101
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_numbered_titles_are_headings_and_runs_of_items_are_a_list(newline: str) -> None:
    text = "1. Section one\n\n1.1 Sub\n\n1. buy bolts\n2. buy nuts".replace("\n", newline)
    document = from_text(text)
    assert headings(document) == ["1. Section one", "1.1 Sub"]
    assert blocks_of(document, "list_item") == ["1. buy bolts", "2. buy nuts"]
    assert block_with(document, "buy nuts").heading_path == ("1. Section one", "1.1 Sub")


@pytest.mark.parametrize(
    "items",
    [
        "1. buy bolts\n2. buy nuts\n3. buy oil",
        "1. Buy bolts\n2. Buy nuts\n3. Buy oil",
        "1、买螺栓\n2、买螺母\n3、买油",
        "（1）买螺栓；\n（2）买螺母；\n（3）买油。",
        "1) bolts\n2) nuts\n3) oil",
        "a) bolts\nb) nuts\nc) oil",
        "- bolts\n- nuts\n- oil",
        "1. Buy bolts\n\n2. Buy nuts\n\n3. Buy oil",
    ],
)
def test_a_run_of_items_is_a_list(items: str) -> None:
    document = from_text(
        f"What the shop has to get before the work can start on Monday:\n\n{items}\n\nThen the work starts.\n"
    )
    assert blocks_of(document, "list_item") == [line for line in items.split("\n") if line]
    assert not any(block.kind == "heading" and block.start >= document.text.index(items) for block in document.blocks)


# case 102
def test_a_title_wrapped_over_two_lines_is_one_title() -> None:
    document = case("wrapped_heading.txt")
    assert headings(document) == [
        "4.18.020 Regional harbour office—General manager and duties.",
        "4.18.300 Yearly look at the board—Renewal or closing.",
    ]
    assert blocks_of(document, "heading")[0] == ("4.18.020 Regional harbour office—Gen-\neral manager and duties.")
    assert block_with(document, "The manager signs contracts.").heading_path[-1].startswith("4.18.020")
    assert block_with(document, "Reviews happen yearly.").heading_path[-1].startswith("4.18.300")
    partition = cut(document, "structure", sizes(700, min_chars=0))
    assert len(partition.chunks) == 2


# case 104
@pytest.mark.parametrize("gap", [5, 8, 20])
def test_two_columns_side_by_side_are_reported(gap: int) -> None:
    assert [note.kind for note in lint(case("two_column_raw.txt"))].count("columns") == 1
    rows = ["The crew checked every winch", "and then the crew came back ", "to the pier for the night.  "]
    text = "\n".join(row + " " * gap + "moved the ship to the berth." for row in rows)
    assert [note.kind for note in lint(from_text(text))].count("columns") == 1
    assert not any(note.kind == "columns" for note in lint(from_text("\n".join(rows))))


# case 105
@methods
def test_page_furniture_is_kept_in_the_text_and_left_out_of_what_is_embedded(method: str) -> None:
    document = case("page_furniture.txt")
    assert blocks_of(document, "furniture") == [
        "ACME Manual   Rev 3", "Page 4 of 60", "ACME Manual   Rev 3", "Page 5 of 60", "ACME Manual   Rev 3", "Page 7 of 60",
    ]  # fmt: skip
    partition = cut(document, method, sizes(700))
    embedded = "\n".join(piece.embedding_text for piece in partition.chunks)
    assert "ACME" not in embedded
    assert " of 60" not in embedded
    assert "Store spares dry." in embedded
    assert any(note.kind == "furniture" for note in document.notes)


def test_a_sentence_over_a_page_break_is_joined_in_what_is_embedded() -> None:
    partition = cut(case("page_furniture.txt"), "structure", sizes(700))
    (holder,) = [piece for piece in partition.chunks if "relief valve" in piece.text]
    assert "The relief valve opens at 9 bar and closes at 7 bar." in " ".join(holder.embedding_text.split())


@methods
@pytest.mark.parametrize("limit", [60, 100, 700])
def test_no_chunk_is_left_with_nothing_to_embed(method: str, limit: int) -> None:
    for piece in cut(case("page_furniture.txt"), method, sizes(limit)).chunks:
        assert piece.embedding_text.strip(), f"only furniture: {piece.text!r}"


# case 106
@methods
def test_blank_pages_count(method: str) -> None:
    document = case("page_furniture.txt")
    assert document.page_at(block_with(document, "The relief valve").start) == 4
    assert document.page_at(block_with(document, "bar and closes").start) == 5
    assert document.page_at(block_with(document, "Store spares dry.").start) == 7
    partition = cut(document, method, sizes(30, min_chars=0))
    assert chunk_with(partition, "Store spares").page == 7


def test_form_feeds_count_pages_where_none_are_printed() -> None:
    document = from_text("First page has this.\n\f\n\fThird page has that.\n\n\fFourth page ends it.\n\f")
    assert document.page_at(block_with(document, "First page").start) == 1
    assert document.page_at(block_with(document, "Third page").start) == 3
    assert document.page_at(block_with(document, "Fourth page").start) == 4
    assert from_text("No pages here.").page_at(0) is None


@methods
@pytest.mark.parametrize("gap", ["\n\f", "\f", "\n\n\f", "\f\n"])
def test_a_chunk_has_the_page_on_which_it_starts(method: str, gap: str) -> None:
    pages = ["".join(f"Row {row} of page {page} is here.\n" for row in range(12)).strip() for page in range(1, 5)]
    text = gap.join(pages)
    partition = cut(from_text(text), method, sizes(100, min_chars=0))
    for piece in partition.chunks:
        first = piece.end - len(piece.text.lstrip())
        assert piece.page == 1 + text.count("\f", 0, first), piece.text


# an exception and its rule: case X12
@pytest.mark.parametrize("method", ["structure", "sentence", "recursive"])
def test_a_rule_and_its_exception_are_linked(method: str) -> None:
    partition = cut(case("exception_clause.txt"), method, sizes(70))
    rule, exception = partition.chunks
    assert rule.text.startswith("8.3 ")
    assert exception.text.startswith("8.4 ")
    (limited,) = rule.links
    (limits,) = exception.links
    assert (limited.kind, limited.target) == ("limited_by", exception.id)
    assert (limits.kind, limits.target) == ("limits", rule.id)
    (evidence,) = limits.evidence
    assert "Clause 8.3 does not apply" in partition.document.text[slice(*evidence)]


@pytest.mark.parametrize(
    "text",
    [
        "第八条 仓库应当每日通风两次并做好记录。\n\n第九条 第八条的规定不适用于冷库，冷库另行通风。",
        "8.3 Either party may end this agreement by notice.\n\n8.4 Notwithstanding Section 8.3, no notice is given in May.",
        "8.3 Either party may end this agreement by notice.\n\n8.4 The preceding clause does not apply in the month of May.",
    ],
)
def test_exceptions_in_other_words_are_linked_too(text: str) -> None:
    partition = cut(from_text(text), "structure", sizes(70, min_chars=0))
    kinds = [(link.kind, piece.start) for piece in partition.chunks for link in piece.links]
    assert [kind for kind, _ in kinds] == ["limited_by", "limits"]
