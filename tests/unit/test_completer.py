"""What completion writes: where, in which form, and what it leaves out."""

from __future__ import annotations

import pytest

import qchunker
from qchunker.config import CompletionConfig
from qchunker.debate.offline.completer import complete
from qchunker.types import Addition, Block, Chunk, Document, Gap, Review, Span


def made(text: str, chunk: str, kind: str, surface: str, *evidence: str, **settings: object) -> Chunk:
    document = qchunker.from_text(text, "text.md")
    start = text.index(chunk)
    at = text.index(surface, start)
    spans = tuple(Span(text.index(words), text.index(words) + len(words)) for words in evidence)
    gap = Gap(kind, Span(at, at + len(surface)), text[slice(*spans[0])], spans)
    span = Span(start, start + len(chunk))
    (piece,) = qchunker.complete(document, [span], CompletionConfig(kinds=())).chunks
    return complete(piece, Review(*span, (gap,)), CompletionConfig(**settings))  # type: ignore[arg-type]


FORMS = [
    ("abbreviation", "The Field Safety Notice (FSN) is sent.\n\nThe FSN has two pages.", "The FSN has two pages.", "FSN",
     ["Field Safety Notice (FSN)"], "The FSN (Field Safety Notice) has two pages."),
    ("abbreviation", "爆炸下限（LEL）为 2 %。\n\n超过 LEL 时报警。", "超过 LEL 时报警。", "LEL", ["爆炸下限（LEL）"], "超过 LEL（爆炸下限） 时报警。"),
    ("abbreviation", "全断面硬岩掘进：TBM(全断面硬岩隧道掘进机)。\n\n两种 TBM 模式。", "两种 TBM 模式。", "TBM",
     ["TBM(全断面硬岩隧道掘进机)"], "两种 TBM（全断面硬岩隧道掘进机） 模式。"),
    ("abbreviation", "创新创业大赛（下称“双创大赛”）。\n\n双创大赛开幕。", "双创大赛开幕。", "双创大赛",
     ["创新创业大赛（下称“双创大赛”）"], "双创大赛（创新创业大赛）开幕。"),
    ("subject_entity", "出租方（甲方）：北城租赁公司\n\n甲方交付。", "甲方交付。", "甲方", ["出租方（甲方）：北城租赁公司"], "甲方（北城租赁公司）交付。"),
    ("subject_entity", 'Norr Thermal AB ("Norr", "we") sells.\n\nWe sell boats.', "We sell boats.", "We",
     ['Norr Thermal AB ("Norr", "we")'], "We (Norr Thermal AB) sell boats."),
    ("definition", '"Goods" means the pumps in Schedule 1.\n\nThe Goods are new.', "The Goods are new.", "Goods",
     ['"Goods" means the pumps in Schedule 1'], "The Goods (the pumps in Schedule 1) are new."),
    ("definition", "“到货日”指货物卸车之日。\n\n风险在到货日转移。", "风险在到货日转移。", "到货日", ["“到货日”指货物卸车之日"],
     "风险在到货日（货物卸车之日）转移。"),
    ("exception_or_condition", "8.3 The Seller repairs defects.\n\n8.4 Clause 8.3 does not apply to wear.",
     "8.3 The Seller repairs defects.", "repairs", ["8.4 Clause 8.3 does not apply to wear."],
     "8.3 The Seller repairs defects. [Note: 8.4 Clause 8.3 does not apply to wear]"),
    ("exception_or_condition", "第八条 质保期为两年。\n\n第九条 第八条的规定不适用于易损件。", "第八条 质保期为两年。", "质保期",
     ["第八条的规定不适用于易损件。"], "第八条 质保期为两年。【说明：第九条 第八条的规定不适用于易损件】"),
    ("exception_or_condition", "第八條 質保期為兩年。\n\n第九條 第八條的規定不適用於易損件。", "第八條 質保期為兩年。", "質保期",
     ["第八條的規定不適用於易損件。"], "第八條 質保期為兩年。【說明：第九條 第八條的規定不適用於易損件】"),
    ("coreference", "The pump failed at noon.\n\nIt was repaired.", "It was repaired.", "It", ["The pump failed at noon."],
     "[Context: The pump failed at noon]\nIt was repaired."),
    ("coreference", "水泵在中午停机。\n\n该设备已修复。", "该设备已修复。", "该设备", ["水泵"], "该设备（水泵）已修复。"),
    ("subject_entity", "恒力产品有限公司年报。\n\n产品线的销售收入增长。", "产品线的销售收入增长。", "产品", ["恒力产品有限公司"],
     "【主体：恒力产品有限公司】\n产品线的销售收入增长。"),
    ("heading_context", "Check the following:\n\n- the oil level", "- the oil level", "the oil level", ["Check the following:"],
     "[Context: Check the following]\n- the oil level"),
    ("unit_or_scope", "(in millions)\n\n| Year | Sales |\n|---|---|\n| 2020 | 7 |", "| 2020 | 7 |", "7", ["(in millions)"],
     "(in millions)\n| 2020 | 7 |"),
    ("table_header", "| Year | Sales |\n|---|---|\n| 2020 | 7 |", "| 2020 | 7 |", "7", ["| Year | Sales |"],
     "| Year | Sales |\n|---|---|\n| 2020 | 7 |"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "chunk", "surface", "evidence", "expected"), FORMS)
def test_evidence_is_woven_in_where_it_is_needed(
    kind: str, text: str, chunk: str, surface: str, evidence: list[str], expected: str
) -> None:
    piece = made(text, chunk, kind, surface, *evidence)
    assert piece.completed_text == expected
    assert piece.text == chunk


def test_a_list_of_grounds_that_does_not_fit_is_marked_as_a_part() -> None:
    grounds = "第九条 下列情形不适用第八条：\n\n（一）易损件；\n\n（二）自行改装，并且没有事先取得供方的书面同意的。"
    text, chunk = f"第八条 质保期为两年。\n\n{grounds}", "第八条 质保期为两年。"
    evidence = ["下列情形不适用第八条：", "（一）易损件；", "（二）自行改装，并且没有事先取得供方的书面同意的。"]
    whole = made(text, chunk, "exception_or_condition", "质保期", *evidence).completed_text
    assert whole is not None
    assert "（二）" in whole
    part = made(text, chunk, "exception_or_condition", "质保期", *evidence, max_growth_chars=34).completed_text
    assert part == f"{chunk}【说明（节选）：第九条 下列情形不适用第八条】"
    assert made(text, chunk, "exception_or_condition", "质保期", *evidence, max_growth_chars=9).completed_text is None


def test_a_list_of_grounds_in_one_sentence_is_not_cut() -> None:
    rule = "8.3 The Seller repairs defects within fifteen days at its own cost, including carriage to the site."
    limit = "8.4 Clause 8.3 does not apply where the defect is due to wear; to a change by the Buyer; or to dirt."
    piece = made(f"{rule}\n\n{limit}", rule, "exception_or_condition", "defects", limit.split("; ")[0] + ";")
    assert piece.completed_text == f"{rule} [Note: {limit.rstrip('.')}]"
    tight = {"max_growth_chars": 90, "max_growth_ratio": 0.1}
    short = made(f"{rule}\n\n{limit}", rule, "exception_or_condition", "defects", limit.split("; ")[0] + ";", **tight)
    assert short.completed_text == f"{rule} [Note (in part): {limit.split('; ')[0]}]"


def test_additions_stand_behind_the_whole_sentence() -> None:
    text = "8.3 Defects are repaired.\n\n8.4 Clause 8.3 does not apply to wear; to a change by the Buyer; or to dirt."
    piece = made(text, text.split("\n\n")[1], "cross_reference", "Clause 8.3", "8.3 Defects are repaired.")
    assert (piece.completed_text or "").endswith("or to dirt. [Reference: 8.3 Defects are repaired]")


def test_what_follows_in_a_clause_is_not_told_without_its_start() -> None:
    text = (
        "Clause 6. A mill may be sold with all of its stones, sacks and wheels. Notice is given.\n\nClause 6 applies."
    )
    evidence = ["A mill may be sold with all of its stones, sacks and wheels.", "Notice is given."]
    short = made(text, "Clause 6 applies.", "cross_reference", "Clause 6", *evidence, max_growth_chars=40)
    assert short.completed_text is None
    whole = made(text, "Clause 6 applies.", "cross_reference", "Clause 6", *evidence).completed_text
    assert whole is not None
    assert "wheels; Notice" in whole


def test_what_is_said_already_or_would_grow_too_much_is_left_out() -> None:
    text = "The Field Safety Notice (FSN) is sent.\n\nThe FSN (the Field Safety Notice (FSN)) has two pages."
    chunk = "The FSN (the Field Safety Notice (FSN)) has two pages."
    assert made(text, chunk, "abbreviation", "FSN", "Field Safety Notice (FSN)").completed_text is None
    other = "The Field Safety Notice (FSN) is sent.\n\nThe FSN has two pages."
    small = made(other, "The FSN has two pages.", "abbreviation", "FSN", "Field Safety Notice (FSN)",
                 max_growth_chars=5, max_growth_ratio=0.1)  # fmt: skip
    assert small.completed_text is None


def test_a_heading_is_not_changed() -> None:
    text = '"Goods" means the pumps.\n\n# Goods\n\nThe Goods are new.'
    piece = made(text, "# Goods\n\nThe Goods are new.", "definition", "Goods", '"Goods" means the pumps')
    assert piece.completed_text == "# Goods\n\nThe Goods (the pumps) are new."


def test_page_furniture_is_left_out_and_nothing_is_glued_together() -> None:
    text = "The Goods are late.\nPage 1\n\fThe price is due.\n\nThe Goods mean pumps."
    blocks = (
        Block("paragraph", 0, 19), Block("furniture", 20, 26), Block("paragraph", 28, 45), Block("paragraph", 47, len(text)),
    )  # fmt: skip
    document = Document(text, blocks)
    added = (Addition(" (pumps)", "definition", (Span(47, 67),), 9), Addition("!", "definition", (Span(47, 67),), 45))
    chunk = Chunk(document, 0, 45, "paragraph", added=added)
    assert chunk.completed_text == "The Goods (pumps) are late.\nThe price is due.!"
    inside = chunk.replace(added=(Addition(" (x)", "definition", (Span(47, 67),), 23),))
    assert inside.completed_text == "The Goods are late.\n (x)The price is due."
    only = Chunk(document, 20, 26, "furniture", added=added[:1])
    assert only.completed_text == ""
