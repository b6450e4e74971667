"""Headings and lead-ins, headers and units, subjects, and dates."""

from __future__ import annotations

import pytest
from marked_chunk import explains, gaps_in

CONTEXT = [
    ("heading_context", "The following tools are allowed:\n\n- saws\n\n«- files\n\n- planes»", "files", "tools are allowed"),
    ("heading_context", "1. Open the lid of the box.\n\n«2. Wait for a minute.»", "2.", "Open the lid"),
    ("heading_context", "下列工具可以使用：\n\n- 锯子\n\n«- 锉刀\n\n- 刨子»", "锉刀", "下列工具可以使用"),
    ("heading_context", "表 1. 各类符号的含义\n\n| 符号 | 说明 |\n«| d | 目录 |\n| l | 链接 |»", "目录", "各类符号的含义"),
    ("table_header", "| Year | Income | Cost |\n«| North | 12 | 10 |\n| South | 9 | 8 |»", "12", "Income | Cost"),
    ("table_header", "| 地区 | 收入 | 成本 |\n«| 北 | 12 | 10 |\n| 南 | 9 | 8 |»", "12", "收入 | 成本"),
    ("unit_or_scope", "(in millions) | 2015 | 2014\n«north | 12 | 10\nsouth | 9 | 8»", "12", "(in millions)"),
    ("unit_or_scope", "单位：万元\n\n«| 地区 | 收入 |\n| 北 | 12 |»", "12", "单位：万元"),
    ("time_or_place", "The mill burnt down in May 1912.\n\n«That year the owner left.»", "That year", "May 1912"),
    ("time_or_place", "2008年3月修成水闸。\n\n«同年水灾。»", "同年", "2008年"),
    ("time_or_place", "景平三年七月初五起兵。\n\n«七月初九，城破。»", "七月初九", "景平三年"),
    (
        "time_or_place",
        'The deal takes effect on 1 May 2021 (the "Start Date").\n\n«Rent is due from the Start Date.»',
        "Start Date",
        "1 May 2021",
    ),
    (
        "subject_entity",
        "korvex limited and subsidiaries report in may. korvex's shares rose.\n\n«the company paid $12 million.»",
        "the company",
        "korvex",
    ),
    (
        "subject_entity",
        "# Marsh finch\n\nThe marsh finch is a bird of the delta.\n\n## Nest\n\nIt nests low.\n\n"
        "«The tail is short and the bill is long.»",
        "The tail",
        "arsh finch",
    ),
    ("subject_entity", "出租方（甲方）：临海明光航运有限公司\n\n«甲方负责保养。»", "甲方", "临海明光航运有限公司"),
    ("subject_entity", "原告明光公司与王某签约。\n\n«原告请求付款。»", "原告", "原告明光公司"),
    (
        "subject_entity",
        "# 明泉水壶保修政策\n\n明泉水壶由本厂制造。\n\n«保修期内免费更换。»",
        "保修",
        "明泉水壶",
    ),
    (
        "subject_entity",
        'Northwell Thermal Ltd ("Northwell", "we") sells pumps.\n\n«We decide within ten days.»',
        "We",
        "Northwell Thermal Ltd",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "surface", "words"), CONTEXT)
def test_the_missing_context_is_found(kind: str, text: str, surface: str, words: str) -> None:
    assert explains(text, kind, surface, words)
    assert "required" in {gap.necessity for gap in gaps_in(text, kind)}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("heading_context", "«The following tools are allowed:\n\n- saws\n\n- files»\n\nMore text."),
        ("heading_context", "Old text.\n\n«Plain words about saws.»"),
        ("table_header", "«| Year | Income |\n| North | 12 |»\n\nMore text."),
        ("unit_or_scope", "(in millions) | 2015 | 2014\n«north (in millions) | 12 | 10»"),
        ("unit_or_scope", "No units here.\n\n«| Year | Income |\n| North | 12 |»"),
        ("time_or_place", "The mill burnt down in 1912.\n\n«In 1915 it rained. That year the owner left.»"),
        ("time_or_place", "2008年修成水闸。\n\n«2010年大旱，同年水灾。»"),
        ("time_or_place", "景平三年七月起兵。\n\n«景平四年七月初九，城破。»"),
        (
            "subject_entity",
            "# Marsh finch\n\nThe marsh finch is a bird.\n\n«The marsh finch nests low. The tail is short.»",
        ),
        ("subject_entity", "korvex's shares rose. korvex limited grew.\n\n«the company is korvex, which paid $12.»"),
        (
            "subject_entity",
            "# Marsh finch\n\nThe marsh finch is a bird.\n\n«Farmers in Kent grow hops, and Kent is dry.»",
        ),
        ("subject_entity", "出租方（甲方）：临海明光航运有限公司\n\n«甲方：西山航运有限公司。甲方负责保养。»"),
        ("subject_entity", "# 明泉水壶保修政策\n\n«明泉水壶保修期内免费更换。»"),
    ],
)
def test_context_inside_the_chunk_is_no_gap(kind: str, text: str) -> None:
    assert gaps_in(text, kind) == []


def test_evident_columns_make_the_header_helpful() -> None:
    text = "| Size | Range |\n«| 2 bytes | small range |\n| 4 bytes | wide range |»"
    assert [gap.necessity for gap in gaps_in(text, "table_header")] == ["helpful"]


def test_a_customer_is_told_by_the_role() -> None:
    text = 'Lumen Optical Co. (the "Customer") buys lamps.\n\n«The Customer pays in May.»'
    assert [gap.necessity for gap in gaps_in(text, "subject_entity")] == ["helpful"]
