from __future__ import annotations

from pathlib import Path

import pytest
from sentence_rows import rows

from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Span

CASES = Path(__file__).resolve().parent.parent / "cases"


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def clauses(text: str) -> list[str]:
    return [text[start:end] for start, end in clause_spans(text)]


def case(name: str) -> str:
    return (CASES / f"{name}.txt").read_bytes().decode("utf-8")


def assert_covers(text: str, spans: list[Span]) -> None:
    at = 0
    for start, end in spans:
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize(("text", "expected"), rows())
def test_row(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
    assert_covers(text, sentence_spans(text))
    assert_covers(text, clause_spans(text))


def test_case_abbrev() -> None:
    assert sentences(case("abbrev")) == [
        "Dr. Reyes met Mr. Holt at 10 a.m. on Fri. See Fig. 3 and Tab. 2, e.g. The blue trace.",
        "Pump No. 5 draws 1.5 kW.",
        "It runs v1.2.3 on 192.168.4.7.",
        "Use Node.js, i.e. the LTS build.",
        "Loading... done!",
        "Really?!",
        "Yes.",
        "Visit https://shop.example.test.",
        "Individuals may also write.",
        "The U.S. Navy agreed.",
        "He left.",
    ]


def test_case_cjk_mixed() -> None:
    assert sentences(case("cjk_mixed")) == [
        "升级到 v2.4.1 后请访问 https://ops.example.test/a.b?x=1.5。",
        "精度为 0.05%。",
        "The unit is OK.",
        "联系 ops@example.test，版本号见 config.v3.toml。",
        "U.S. 标准适用。",
        "浓度＞3.5％时报警。",
    ]


def test_case_cjk_sentences() -> None:
    assert sentences(case("cjk_sentences")) == [
        "巡检每班一次。",
        "发现泄漏怎么办？",
        "立即停机！",
        "先关阀；",
        "再断电；",
        "最后上报……",
        "“记住：先救人。”班长说。",
        "（见附录 B。）",
        "第二班接替｡",
        "第三班休息．",
        "结束",
    ]


def test_case_without_stops_is_one_sentence() -> None:
    text = case("cjk_no_space")
    assert sentence_spans(text) == [Span(0, len(text.rstrip()))]
    assert all(end - start < 60 for start, end in clause_spans(text))


def test_case_zero_width_is_as_without() -> None:
    text = case("zero_width")
    hidden = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u202b\u202c"))
    visible = [found for part in sentences(text) if (found := part.translate(hidden).strip())]
    assert visible == sentences(text.translate(hidden))
    assert_covers(text, sentence_spans(text))


def test_case_clauses() -> None:
    assert sentences(case("clauses")) == [
        "9.2.7.1 General",
        "The hose shall be checked when new.",
        "9.2.7.2 applies only to coated hoses.",
        "The check in 9.2.7.3 follows the listed class.",
        "9.2.8 Bending check",
        "3.5 tonnes is the rated load of the hoist.",
        "7.4 kV was measured at the terminal.",
        "2024. The year was dry.",
        "Article 5 — Term",
        "This Agreement lasts one year.",
        "Article 5 does not limit Article 9.",
        "Section 2.1 Scope",
        "Section 2.1 covers pumps.",
        "Chapter 3 Pumps",
        "§ 4 Haftung",
        "Annex B (normative) Forms",
        "Appendix C",
    ]


def test_case_legal_zh() -> None:
    assert sentences(case("legal_zh")) == [
        "第一编 总则",
        "第 3 章  储存",
        "第十二条　仓库应当干燥。",
        "依照第八条和本章第二节执行。",
        "第十二条之一 禁止烟火。",
        "第八条规定的情形除外。",
        "（一）易燃品；",
        "（二）氧化剂。",
        "附录 A（资料性）术语",
        "A.1 一般术语",
        "附录中的表格仅供参考。",
    ]


def test_case_exception_clause() -> None:
    assert sentences(case("exception_clause")) == [
        "8.3 Either party may end this agreement with thirty days' notice.",
        "8.4 Clause 8.3 does not apply while a delivery is in transit.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\u3000\r\n", []),
        ("a", ["a"]),
        ("。", ["。"]),
        (".", ["."]),
        ("....", ["...."]),
        ("。。。", ["。。。"]),
        (" x ", ["x"]),
        ("\n\n。\n\n", ["。"]),
        ("\u200b", ["\u200b"]),
        ("\u200b \u200b", ["\u200b \u200b"]),
        (" \u200b ", ["\u200b"]),
        ("\ufeff\n\nx", ["\ufeff\n\nx"]),
        ("；", ["；"]),
        ("\r", []),
        ("\r\n", []),
        ("\ud800", ["\ud800"]),
        ("”。", ["”。"]),
        ("a\n\n\n\n\nb", ["a", "b"]),
    ],
)
def test_degenerate(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
    assert_covers(text, clause_spans(text))


CLAUSE_ROWS = r"""
先关阀，|再断电。
发现泄漏时，|应当立即停机，|并报告班长。
工具包括扳手、|量具、|手套。
他说：|“走。”
结论：|设备完好。
共计1,200元，|分三期付。
共计1，200元。
比例为3：1，|时间为10：30。
When the alarm rings,| close the valve,| then leave.
The total is 1,000,000 units.
Start at 10:30,| not at 11:15.
Mix at 3:1 or 3 : 2.
Note:| the lid is hot.
The pump runs,| e.g. at night,| without pause.
He waited—|nobody came.
He waited -| nobody came.
他在等——|没有人来。
The range 3–5 and 3 – 5 stay.
See https://example.test/a,b;c:d for it.
Use std::vector and a[1,2] here.
The path C:\data,x is wrong.
Salt &amp; pepper,| well mixed.
“好，”|他说，|“走吧。”
one;| two
He said: |"Go, |all of you."
他说：|"走吧，|都走。"
"好，"|他说，|"走吧。"
（如有，|请注明）
Use **this**, |**that** or none.
"Stop,"| he said.
The well-known check-list,| then.
第3、4、5号泵停机，|其余运行。
Sizes 1,| 2 and 3,| please.
没有标点的一句话
"""


@pytest.mark.parametrize("row", CLAUSE_ROWS.strip().split("\n"))
def test_clause_row(row: str) -> None:
    text = row.replace("|", "")
    assert clauses(text) == [part.strip() for part in row.split("|")]


def test_range_is_read_alone_and_reported_in_the_whole_text() -> None:
    text = "前一句。Dr. Holm left. 后一句。"
    start = text.index("Dr")
    end = text.index("后")
    assert sentence_spans(text, start, end) == [Span(start, end - 1)]
    assert sentence_spans(text, start + 4) == [Span(start + 4, end - 1), Span(end, len(text))]
    assert clause_spans(text, start, end) == [Span(start, end - 1)]
    assert sentence_spans(text, 3, 3) == []


def test_spans_of_a_range_with_zero_width_characters() -> None:
    text = "xx\u200b走了。\u200b 来了\u2060。yy"
    assert sentence_spans(text, 2, len(text) - 2) == [Span(2, 7), Span(8, 12)]


@pytest.mark.parametrize(
    ("unit", "per_unit"),
    [("去了。", 1), ("It went on. ", 1), (".", 0), ("水", 0), ('."', 0), ("A.", 0), ("\n ", 0), ("Dr. ", 0)],
)
def test_long_monotonous_text(unit: str, per_unit: int) -> None:
    count = 20_000
    text = unit * count
    found = sentence_spans(text)
    assert len(found) == (count * per_unit or (1 if text.strip() else 0))
    assert_covers(text, found)
