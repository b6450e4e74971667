"""Pointers to other places of the document, and rules that another place limits."""

from __future__ import annotations

import pytest
from marked_chunk import explains, gaps_in

EN = """# Boat Hire Terms

2.1 The hirer pays 40 euros per day.

2.2 The hirer may return the boat at any time.

2.3 The preceding clause does not apply in August.

2.4 The rate in 2.1 is halved for members.

## 3. Periods

| Part | Period |
| Hull | 5 years |
| Sail | 1 year |

## 4. Extras

All periods in section 3 end when the boat is sold. See Table 9 of the harbour manual.
"""
ZH = """# 船只租用办法

第一条 租金为每日四十元。

第二条 承租人可以随时还船。

第三条 前款不适用于八月。

第四条 会员按第一条所列租金的一半计算，不适用第二条。
"""


def mark(text: str, sentence: str) -> str:
    return text.replace(sentence, f"«{sentence}»")


@pytest.mark.parametrize(
    ("text", "surface", "words"),
    [
        (mark(EN, "2.3 The preceding clause does not apply in August."), "The preceding clause", "return the boat"),
        (mark(EN, "2.4 The rate in 2.1 is halved for members."), "2.1", "40 euros per day"),
        (mark(EN, "All periods in section 3 end when the boat is sold."), "section 3", "Hull | 5 years"),
        (mark(ZH, "第三条 前款不适用于八月。"), "前款", "随时还船"),
        (mark(ZH, "第四条 会员按第一条所列租金的一半计算，不适用第二条。"), "第一条", "每日四十元"),
        (
            "Table 2. Depth of each lake\n\nOld text.\n\n«The lakes (Table 2) are deep.»",
            "Table 2",
            "Depth of each lake",
        ),
        ("表2 各湖深度\n\n旧文。\n\n«各湖见表2，水很深。»", "表2", "各湖深度"),
    ],
)
def test_the_content_pointed_to_is_found(text: str, surface: str, words: str) -> None:
    assert explains(text, "cross_reference", surface, words)


@pytest.mark.parametrize(
    "text",
    [
        mark(EN, "See Table 9 of the harbour manual."),
        "3.2 Old text.\n\n«The parcel weighs 3.2 kg and is 3.2% wet.»",
        "3.2 Old text.\n\n«It needs version 3.2 or later.»",
        "«Section 9.17 tells more.»\n\n3.1 New text.",
        "第三条 旧文。\n\n«依《船舶法》第三条处理。»",
        "«4.1 The rate is low. 4.2 The rate in 4.1 is fixed.»\n\n5.1 More text.",
    ],
)
def test_pointers_inside_or_to_other_documents_are_no_gaps(text: str) -> None:
    assert gaps_in(text, "cross_reference") == []


@pytest.mark.parametrize(
    ("text", "surface", "words"),
    [
        (mark(EN, "2.2 The hirer may return the boat at any time."), "2.2", "does not apply in August"),
        (mark(EN, "2.1 The hirer pays 40 euros per day."), "2.1", "halved for members"),
        (mark(ZH, "第二条 承租人可以随时还船。"), "第二条", "前款不适用于八月"),
        (
            "## What is covered\n\n«We will repair any leak.»\n\n## What is not covered\n\nLeaks caused by ice.",
            "We will repair",
            "Leaks caused by ice",
        ),
        (
            "## 保修期限\n\n«整机保修两年。»\n\n## 不属于保修范围的情形\n\n因冰冻漏水的。",
            "整机保修",
            "因冰冻漏水的",
        ),
        ("«| Store | Area (1) |\n| North | 12 |»\n\n(1) without the cellar of the house", "(1)", "without the cellar"),
    ],
)
def test_the_exception_is_found_from_the_rule(text: str, surface: str, words: str) -> None:
    assert explains(text, "exception_or_condition", surface, words)


@pytest.mark.parametrize(
    "text",
    [
        mark(EN, "2.4 The rate in 2.1 is halved for members."),
        "«2.2 The hirer may return the boat.\n\n2.3 The preceding clause does not apply in August.»\n\n2.4 Other text.",
        mark(ZH, "第四条 会员按第一条所列租金的一半计算，不适用第二条。"),
        "«He paid 12 (1) and left.»\n\nMore text.",
    ],
)
def test_rules_without_an_exception_elsewhere_are_no_gaps(text: str) -> None:
    assert gaps_in(text, "exception_or_condition") == []
