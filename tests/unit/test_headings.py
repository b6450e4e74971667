"""Numbered headings of both languages, and lines that only look like them."""

from __future__ import annotations

import pytest

from qchunker import from_text

FORMS = [
    "第3章",
    "第 3 章  储存",
    "第三章总则",
    "第八条",
    "第八条 定义",
    "第十二条之一　责任",
    "第二编 分则",
    "第一节 中国市场",
    "一、总则",
    "十二、附加条款",
    "（一）总体要求",
    "(二) 适用范围",
    "7.4 Pumps",
    "7.4 安全要求",
    "7.4安全要求",
    "7.4 年度审核",
    "7.4 人员要求",
    "7.4.2 Pressure test",
    "9.2.7.1 General",
    "Article 5",
    "Article 5 — Term",
    "ARTICLE V",
    "Section 2.1 Scope",
    "Section 2.1: Scope of supply",
    "Chapter 3 Pumps",
    "Chapter IV",
    "CHAPTER 3",
    "Part II General provisions",
    "Appendix A",
    "Appendix C Forms",
    "Annex B (normative) Forms",
    "附录 A",
    "附录A 术语",
    "附录 A（资料性）术语",
    "附件1：报价单",
    "§ 4",
    "§ 4 Haftung",
    "A.1 Terms",
    "A.1 一般术语",
    "７．４　安全距离",
    "第８条　责任",
    "３．１ 范围",
]

TRAPS = [
    # cross-references
    "第八条规定的情形除外。",
    "第八条规定的情形",
    "第三章所述方法",
    "第八条和第九条",
    "第三条第二款",
    "第五章中的图表",
    "Article 5 does not limit Article 9.",
    "Section 2.1 covers pumps",
    "Section 4 and Annex B",
    "Chapter 3 describes the pump",
    "附录中的表格仅供参考。",
    "附录 A 给出了术语",
    "§ 4 applies to all parts",
    "9.2.7.2 applies only to coated hoses.",
    # quantities
    "3.5 吨以下的起重机",
    "3.5吨",
    "12.5 万元",
    "2.5 小时",
    "3.5 tonnes is the rated load",
    "7.4 kV was measured at the terminal",
    "7.4 MPa",
    "2.5 GHz",
    "3.5%",
    # dates and times
    "2024年3月5日",
    "2024.05.01",
    "2024. The year was dry.",
    "March 5, 2024",
    "5 March 2024",
    # list items
    "- valve",
    "（一）易燃品；",
    "a) the pump",
    "① 关阀",
    # dialogue
    "“先救人。”",
    "张三说：",
    "He said:",
    # table rows and contents lines
    "3.1   12.5   88.2",
    "| 7.4 | Pumps |",
    "1.2 Scope ........ 7",
    "第一章 总则……3",
    # code and addresses
    "7.4 = x + 1",
    "x = 7.4;",
    "192.168.1.1 Gateway",
    "https://a.example/7.4",
    # sentences that start with a number
    "8.3 Either party may end this agreement with thirty days' notice.",
    "8.3 任何一方均可提前三十日书面通知对方终止本协议。",
    "一、二号机组同时检修",
    "Part 2 of the kit",
    "8.2 a pump",
]

BODY_EN = "The relief valve opens at nine bar and closes again when the pressure has fallen to seven bar."
BODY_ZH = "安全阀在压力达到九巴时开启，当压力降至七巴时重新关闭，操作人员应当做好记录并上报值班长。"


@pytest.mark.parametrize("body", [BODY_EN, BODY_ZH])
@pytest.mark.parametrize("line", FORMS)
def test_a_numbered_heading_is_found(line: str, body: str) -> None:
    for between in ("\n\n", "\n"):
        document = from_text(f"{body}\n\n{line}{between}{body}\n")
        found = [document.text[block.start : block.end] for block in document.blocks if block.kind == "heading"]
        assert found == [line]
        assert document.blocks[-1].heading_path == (" ".join(line.split()),)


@pytest.mark.parametrize("body", [BODY_EN, BODY_ZH])
@pytest.mark.parametrize("line", TRAPS)
def test_a_line_that_only_looks_like_one_is_not(line: str, body: str) -> None:
    for between in ("\n\n", "\n"):
        document = from_text(f"{body}\n\n{line}{between}{body}\n")
        assert [block for block in document.blocks if block.kind == "heading"] == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("第一编 总则\n\n第二章 储存\n\n第一节 一般规定\n\n第八条 仓库\n\n" + BODY_ZH, ("第一编 总则", "第二章 储存", "第一节 一般规定", "第八条 仓库")),
        ("一、总则\n\n（一）目的\n\n" + BODY_ZH, ("一、总则", "（一）目的")),
        ("Chapter 3 Pumps\n\n3.1 Types\n\n3.1.2 Rotary\n\n" + BODY_EN, ("Chapter 3 Pumps", "3.1 Types", "3.1.2 Rotary")),
        ("Article 5 Supply\n\nSection 5.1 Delivery\n\n" + BODY_EN, ("Article 5 Supply", "Section 5.1 Delivery")),
        ("3.1 Types\n\n3.1.2 Rotary\n\n3.2 Drives\n\n" + BODY_EN, ("3.2 Drives",)),
        ("第二章 储存\n\n第八条 仓库\n\n第三章 运输\n\n" + BODY_ZH, ("第三章 运输",)),
        ("Appendix A Forms\n\nA.1 Terms\n\n" + BODY_EN, ("Appendix A Forms", "A.1 Terms")),
    ],
)  # fmt: skip
def test_headings_nest_by_their_numbering(text: str, path: tuple[str, ...]) -> None:
    assert from_text(text).blocks[-1].heading_path == path


@pytest.mark.parametrize(
    "line", ["Introduction", "Safety rules:", "概述", "安全要求：", "What is a pump", "Storage and transport"]
)
def test_a_short_line_that_stands_alone_is_a_heading(line: str) -> None:
    document = from_text(f"{line}\n\n{BODY_EN}\n")
    assert document.blocks[0].kind == "heading"
    assert document.blocks[1].heading_path == (line,)


def test_four_short_lines_in_a_row_are_no_headings() -> None:
    document = from_text(f"Bolts\n\nNuts\n\nWashers\n\nGrease\n\n{BODY_EN}\n")
    assert {block.kind for block in document.blocks} == {"paragraph"}


def test_the_last_line_of_a_document_is_no_heading() -> None:
    assert from_text(f"{BODY_EN}\n\nThe End\n").blocks[-1].kind == "paragraph"


def test_a_number_in_front_of_a_wrapped_line_belongs_to_its_sentence() -> None:
    document = from_text(
        "The hoist is rated for a load of at most\n3.5 Tonnes and the rope for a load of\n7.4 Tonnes in all cases.\n"
    )
    assert [block.kind for block in document.blocks] == ["paragraph"]


def test_an_article_may_start_on_the_line_of_its_number() -> None:
    document = from_text("第十二条　仓库应当干燥。依照第八条执行。\n\n第十三条　禁止烟火。\n")
    assert [document.text[block.start : block.end] for block in document.blocks] == [
        "第十二条",
        "仓库应当干燥。依照第八条执行。",
        "第十三条",
        "禁止烟火。",
    ]
    assert document.blocks[3].heading_path == ("第十三条",)


def test_numbered_titles_that_end_in_a_full_stop() -> None:
    body = "The work is handed over in May, and the price is paid then.\n\n"
    text = f"Terms\n\n{body}  1. Source Code.\n\n{body}  2. Limitation of Liability, and Price.\n\n{body}  3. Pay the price.\n\n{body}"
    headings = [text[b.start : b.end].strip() for b in from_text(text).blocks if b.kind == "heading"]
    assert headings == ["Terms", "1. Source Code.", "2. Limitation of Liability, and Price."]
