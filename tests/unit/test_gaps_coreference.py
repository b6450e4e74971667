"""Pronouns and definite phrases that point back across the start of the chunk."""

from __future__ import annotations

import pytest
from marked_chunk import explains, gaps_in

POINT_BACK = [
    ("The valve was opened at noon.\n\n«It closed by itself an hour later.»", "It", "valve was opened"),
    ("Two tests were run on each rail.\n\n«These tests took a day.»", "These tests", "Two tests"),
    ("A pair of matches was set for May.\n\n«Leeds won the first match in the rain.»", "the first match", "pair of matches"),
    (
        "First the digits are read. The sum is kept.\n\n«Then the remainder is read in the same way.»",
        "Then",
        "First the digits",
    ),
    (
        "The owner may object within 14 days.\n\n«After the 14 days period the work may start.»",
        "the 14 days period",
        "within 14 days",
    ),
    ("Workers built a tall mill on the hill.\n\n«The mill was burnt in the war.»", "The mill", "tall mill"),
    ("镇上修了一座水闸。\n\n«该水闸于五月启用。»", "该水闸", "一座水闸"),
    ("1261年，两国合并。\n\n«从此该地维持独立。»", "从此", "两国合并"),
    ("双方于六月签订《船舶修理合同》。\n\n«本合同约定工期为三个月。»", "本合同", "《船舶修理合同》"),
    ("东河、西河和南河三县共同治水。\n\n«会上，三县负责人签字。»", "三县", "东河、西河和南河"),
    ("理事会作出了关于闭馆的决议。\n\n«决议称，闭馆自周一起。»", "决议", "关于闭馆的决议"),
    ("青川杯钢琴大赛五月开幕。\n\n«大赛已举办九届。»", "大赛", "青川杯钢琴大赛"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "surface", "words"), POINT_BACK)
def test_an_antecedent_before_the_chunk_is_found(text: str, surface: str, words: str) -> None:
    assert explains(text, "coreference", surface, words)


@pytest.mark.parametrize(
    "text",
    [
        "The valve was opened.\n\n«The pump stood idle. It started an hour later.»",
        "The valve was opened.\n\n«It is important that the pump is cleaned.»",
        "We read many papers.\n\n«This study asks why rails bend.»",
        "镇上修了一座水闸。\n\n«村里修了一座桥，该桥于五月启用。»",
        "镇上修了一座水闸。\n\n«村民因此得到好处，其他人也来了。»",
        "镇上修了一座水闸。\n\n«你本应该先看图。»",
        "双方签订《船舶修理合同》。\n\n«船厂签订《油轮修理合同》，本合同约定工期。»",
        "东河、西河和南河三县治水。\n\n«北山、南山和中山三县负责人签字。»",
        "青川杯钢琴大赛五月开幕。\n\n«青川杯钢琴大赛在县城举行，大赛已举办九届。»",
        "«It closed by itself.»\n\nThe valve was old.",
    ],
)
def test_pronouns_with_an_antecedent_inside_are_no_gaps(text: str) -> None:
    assert gaps_in(text, "coreference") == []


def test_an_attribution_is_helpful() -> None:
    text = "青川日报网25日报道，水闸已修好。\n\n«报道称，水闸五月启用。»"
    assert [gap.necessity for gap in gaps_in(text, "coreference")] == ["helpful"]
