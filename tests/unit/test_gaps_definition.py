"""Definitions and abbreviations: what the document fixes elsewhere, and what nobody needs to be told."""

from __future__ import annotations

import pytest
from marked_chunk import explains, gaps_in

DEFINED = [
    (
        'A "Quiet Hour" means any hour between 22:00 and 06:00.\n\n«Pumps must not run in a Quiet Hour.»',
        "Quiet Hour",
        "any hour between 22:00 and 06:00",
    ),
    (
        'The supplier delivers a seismic recorder (the "Device").\n\n«The buyer shall keep the Device dry.»',
        "Device",
        "seismic recorder",
    ),
    (
        "## 2. Grafting\n\nGrafting is the process by which a shoot is joined to a root.\n\n## 3. Grafting in spring\n\n"
        "«Grafting in spring needs care.»",
        "Grafting",
        "a shoot is joined to a root",
    ),
    (
        "The file has two parts:\n\nserial_no\n\n  This is the number of the unit.\n\ndate\n\n  This is the day of the test.\n\n"
        "«A reader must check the serial_no first, since serial_no and date may differ.»",
        "serial_no",
        "the number of the unit",
    ),
    (
        "We crossed tor-7, a putative kinase of the gut, with the wild strain.\n\n«Loss of tor-7 made the worms slow, "
        "and tor-7 was needed twice.»",
        "tor-7",
        "a putative kinase",
    ),
    (
        "## 1. The blue storage area\n\nThe blue storage area holds goods that were checked.\n\n"
        "## 2. The red storage area\n\nThe red storage area holds goods that were returned.\n\n"
        "## 3. Access\n\n«Goods in red must not leave the house.»",
        "red",
        "goods that were returned",
    ),
    (
        "## Definitions\n\n- Cold start: a start after more than eight hours at rest.\n\n## Use\n\n"
        "«After a Cold start the oil must be checked.»",
        "Cold start",
        "more than eight hours",
    ),
    ("“检修日”指每月最后一个周五。\n\n«设备在检修日不得运行，检修日另行通知。»", "检修日", "每月最后一个周五"),
    ("滤棉、卡扣属于“易耗件”。\n\n«易耗件不在保修之列。»", "易耗件", "滤棉、卡扣"),
    ("SSS 部分是序列号，由厂家指定。\n\n«读取时先看 SSS，再看日期；SSS 不得为空。»", "SSS", "序列号"),
    ("名为 bar_VVV.zip（其中 VVV 和 RRR 分别是版本号和修订号）。\n\n«VVV 变化时，RRR 归零。»", "VVV", "版本号和修订号"),
    ("依租赁合同约定，押金总额为5000元。\n\n«承租人逾期三日的，出租人可以依合同扣除押金总额。»", "押金总额", "5000元"),
    (
        "文件有三种权限：\n\n- 可读（r）\n- 可写（w）\n- 可执行（x）\n\n«用 [rwx] 设置权限。»",
        "rwx",
        "可读（r）",
    ),
]  # fmt: skip
SHORT_FORMS = [
    (
        "The Lunar Orbit Planner (LOP) was built in May.\n\n«LOP failed twice, and LOP was replaced.»",
        "LOP",
        "Lunar Orbit Planner",
    ),
    (
        "The GRQ (Grain Reserve Quota) is set in May.\n\n«Every mill must keep to the GRQ.»",
        "GRQ",
        "Grain Reserve Quota",
    ),
    (
        "Writes go to the side-note queue of the store.\n\n«SNQ grows with each write, and SNQ is cut at night.»",
        "SNQ",
        "side-note queue",
    ),
    (
        "县里印发《河道清淤管理办法》（以下简称《办法》）。\n\n«《办法》自五月起施行。»",
        "《办法》",
        "《河道清淤管理办法》",
    ),
    ("新装了智能配水终端（ZPT）。\n\n«ZPT 每日上报一次，ZPT 断电后自动重启。»", "ZPT", "智能配水终端"),
]


@pytest.mark.parametrize(("text", "surface", "words"), DEFINED)
def test_a_term_defined_elsewhere_is_a_required_gap(text: str, surface: str, words: str) -> None:
    assert explains(text, "definition", surface, words)
    assert "required" in {gap.necessity for gap in gaps_in(text, "definition")}


@pytest.mark.parametrize(("text", "surface", "words"), SHORT_FORMS)
def test_a_short_form_expanded_elsewhere_is_a_required_gap(text: str, surface: str, words: str) -> None:
    assert explains(text, "abbreviation", surface, words)
    assert {gap.necessity for gap in gaps_in(text, "abbreviation")} == {"required"}


@pytest.mark.parametrize(
    "text",
    [
        "The Fédération Internationale de Football Association (FIFA) met.\n\n«FIFA chose a host. FIFA then left.»",
        "Structured Query Language (SQL) is old.\n\n«SQL is used here, and SQL is used there.»",
        "国内生产总值（GDP）上升。\n\n«GDP 增长百分之三，GDP 总量居首。»",
        "The Lunar Orbit Planner (LOP) was built.\n\n«The Lunar Orbit Planner, or LOP, failed. LOP was replaced.»",
        "«The Lunar Orbit Planner (LOP) was built in May. LOP failed twice.»\n\nLOP is a planner of orbits.",
        "QXZ was built in May.\n\n«QXZ failed twice, and QXZ was replaced.»",
        'A "Quiet Hour" means any hour at night.\n\n«"Quiet Hour" means any hour at night. No Quiet Hour is lost.»',
        "«“检修日”指每月最后一个周五。设备在检修日不得运行。»\n\n检修日另行通知。",
        "押金总额为5000元。\n\n«合同约定押金总额为5000元，逾期扣除。»",
    ],
)
def test_famous_explained_or_never_explained_terms_are_no_gaps(text: str) -> None:
    assert gaps_in(text, "definition", "abbreviation") == []


@pytest.mark.parametrize(
    "text",
    [
        "临海明光航运有限公司（以下简称“明光航运”）成立。\n\n«当日，明光航运的两艘船离港，明光航运随后发布消息。»",
        "We grew genetically modified (GM) maize.\n\n«GM maize sold well, and GM soy did not. GM was the word.»",
        'The "Licence" means this document.\n\n«The Licence ends with the term of the Licence.»',
    ],
)
def test_short_forms_that_name_their_owner_are_helpful(text: str) -> None:
    assert {gap.necessity for gap in gaps_in(text, "definition", "abbreviation")} == {"helpful"}


def test_a_short_form_in_passing_is_helpful() -> None:
    text = (
        "The Lunar Orbit Planner (LOP) was built in May.\n\n«The team went home in June after a long dry season of work on the roof. "
        "They rested for a week at the old house by the lake. They read the mail. Then they wrote a note to the makers of the old LOP about it.»"
    )
    assert [gap.necessity for gap in gaps_in(text, "abbreviation")] == ["helpful"]


def test_two_names_of_one_person_without_the_link() -> None:
    text = "李明遠被立為太子，是為順帝。\n\n«順帝即位後，李明遠的舊部入京。»"
    assert explains(text, "coreference", "順帝", "是為順帝") or explains(text, "definition", "順帝", "是為順帝")
