"""Pairs by rules: every answer is a stretch of the document, and no pair is wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from qchunker import QAResult, from_text, parse, qa_pairs
from qchunker.qa.offline.quantities import asked_zh

EXAMPLES = sorted(path for path in Path("examples").iterdir() if not path.name.startswith("."))


def pairs(text: str, name: str = "a.md") -> dict[str, str]:
    return {pair.question: pair.answer for pair in checked(qa_pairs(from_text(text, name))).pairs}


def refused(text: str, name: str = "a.md") -> dict[str, str]:
    return {pair.question: pair.reason for pair in checked(qa_pairs(from_text(text, name))).refused}


def checked(result: QAResult) -> QAResult:
    text = result.document.text
    for pair in result.pairs:
        assert pair.answer in text
        assert any(pair.answer.strip() in text[start:end] for start, end in pair.evidence)
        assert pair.support == "verbatim"
        assert pair.start < pair.end <= len(text)
    assert len({pair.id for pair in result.pairs}) == len(result.pairs)
    return result


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_answers_of_the_examples_are_stretches_of_them(path: Path) -> None:
    result = checked(qa_pairs(parse(path)))
    assert len(result.pairs) >= 5
    assert result == qa_pairs(parse(path))


def test_a_faq_page_asks_its_own_questions() -> None:
    found = pairs(Path("examples/controller-faq.en.md").read_text("utf-8"))
    assert found["Can two controllers share one serial line?"].startswith("Yes, up to eight.")
    guard = found["The dry-run guard trips although there is water. What can I do?"]
    assert guard.startswith("Check these in order:")
    assert guard.endswith("needs a new seal.")


@pytest.mark.parametrize(("text", "name", "expected"), [
    ("Q: How is the key renewed?\nA: Ask the porter.\nHe keeps it.\n\nQ: Who pays the porter?\nA: The town.\n\nUnrelated text.\n", "a.md",
     {"How is the key renewed?": "Ask the porter.\nHe keeps it.", "Who pays the porter?": "The town."}),
    ("问：如何更换滤芯？\n答：先停机，再打开上盖。\n\n问：多久更换一次滤芯？\n答：每六个月。\n", "a.txt",
     {"如何更换滤芯？": "先停机，再打开上盖。", "多久更换一次滤芯？": "每六个月。"}),
    ("**Where is the shop?**\n\nIn the old mill.\n\n**When is the shop open?**\n\nFrom 9 to 17.\n", "a.md",
     {"Where is the shop?": "In the old mill.", "When is the shop open?": "From 9 to 17."}),
    ("<dl><dt>How do I reset the lamp?</dt><dd>Hold the key.</dd><dt>What is a ballast?</dt><dd>A coil.<p>It limits the current.</p></dd></dl>", "a.html",
     {"How do I reset the lamp?": "Hold the key.", "What is a ballast?": "A coil.\n  It limits the current."}),
    ("<h1>FAQ</h1><h2>如何登录系统？</h2><p>使用工号登录。</p><h2>密码忘了怎么办？</h2><p>联系管理员。</p>", "a.html",
     {"如何登录系统？": "使用工号登录。", "密码忘了怎么办？": "联系管理员。"}),
    ("# Pump\n\n## How to vent the casing\n\nOpen screw V2 until water flows.\n", "a.md", {"How do you vent the casing?": "Open screw V2 until water flows."}),
])  # fmt: skip
def test_questions_of_a_page_in_all_their_forms(text: str, name: str, expected: dict[str, str]) -> None:
    found = pairs(text, name)
    assert {question: found.get(question) for question in expected} == expected


def test_questions_that_point_or_are_rhetorical_are_left_out() -> None:
    text = "# Mill\n\n## How does it work?\n\nThe wheel turns.\n\n## Story\n\nWhat could the miller do? Nothing helped. He left.\n"
    result = qa_pairs(from_text(text, "a.md"))
    assert not any("it work" in pair.question or "miller" in pair.question for pair in result.pairs)
    assert result.reasons["dangling"] == 1


def test_definitions_and_short_forms() -> None:
    found = pairs(
        '# Lease\n\n"Goods" means the pumps in Schedule 1. A relief valve is a valve that opens by itself. The result is a table. '
        "Monitoring is an important part of the work. It is wrong to say that a fuse is a kind of lamp. "
        "The safety relief valve (SRV) is tested yearly.\n"
    )
    assert found["What is meant by Goods (Lease)?"] == '"Goods" means the pumps in Schedule 1.'
    assert found["What is a relief valve (Lease)?"] == "A relief valve is a valve that opens by itself."
    assert found["What does SRV stand for (Lease)?"] == "safety relief valve"
    assert not any(word in str(list(found)) for word in ("result", "Monitoring", "fuse"))
    found = pairs(
        "# 规程\n\n本规程所称“危险物品”，是指易燃和易爆物质。爆炸下限（LEL）为百分之二。灭火剂为干粉和二氧化碳（CO₂）。\n"
    )
    assert found["规程中，什么是危险物品？"] == "本规程所称“危险物品”，是指易燃和易爆物质。"
    assert found["规程中，LEL指的是什么？"] == "爆炸下限"
    assert "干粉和二氧化碳" not in found.values()


def test_cells_of_tables_and_records() -> None:
    text = "# Pumps\n\n## Curves\n\n| No. | Type | Flow | What to do | Remarks |\n|---|---|---|---|---|\n| 1 | KL-21 | 63 | Oil it | - |\n| 2 | KL-22 | 66 \\| 67 |  | see note |\n"
    found = pairs(text)
    assert found["What is the flow of KL-21 (Pumps, Curves)?"] == "63"
    assert found["What is the flow of KL-22 (Pumps, Curves)?"] == "66 \\| 67"
    assert found["What is given as “What to do” for KL-21 (Pumps, Curves)?"] == "Oil it"
    assert not any("emarks" in question for question in found)
    found = pairs('名称,规格,库存\nMS-45,"轴径 45 mm，碳化硅",16\nMS-55,"带 ""引号"" 的",6\n', "a.csv")
    assert found["MS-45的规格是什么？"] == "轴径 45 mm，碳化硅"
    assert found["MS-55的库存是多少？"] == "6"
    assert "MS-55的规格是什么？" not in found
    assert pairs("# T\n\n| A | B |\n|---|---|\n| x | 1 |\n| x | 2 |\n") == {}  # which x?


def test_properties_and_steps() -> None:
    text = "# Drill D9\n\n## Data\n\nWeight: 5 kg\nColour: red\nNote: keep dry\n\n## Replacing the bit\n\n1. Stop the motor.\n2. Turn the key.\n3. Pull the bit.\n\n## Terms\n\n1. Payment is due.\n2. Goods stay ours.\n"
    found = pairs(text)
    assert found["What is the Weight (Drill D9, Data)?"] == "5 kg"
    assert (
        found["What are the steps for Replacing the bit (Drill D9)?"]
        == "1. Stop the motor.\n2. Turn the key.\n3. Pull the bit."
    )
    assert not any("steps" in question and "Terms" in question for question in found)
    found = pairs("# 电钻 D9\n\n## 参数\n\n- 重量：5 kg\n- 颜色：红色\n\n## 更换钻头\n\n1. 停机。\n2. 转动钥匙。\n")
    assert found["电钻 D9，参数的重量是多少？"] == "5 kg"
    assert found["电钻 D9中，更换钻头有哪些步骤？"] == "1. 停机。\n2. 转动钥匙。"


@pytest.mark.parametrize("text", [
    "# Play\n\nAnna: Where were you?\nBen: At home.\nAnna: All day?\n", "# T\n\nThe time is 12:30 and\nthe date: none of your business.\n",
    "# Links\n\nHome: http://x.test\nMail: http://y.test\n", "# T\n\nNote: keep dry.\nWarning: hot.\n",
])  # fmt: skip
def test_what_only_looks_like_properties_is_none(text: str) -> None:
    assert Counter(pair.origin for pair in qa_pairs(from_text(text, "a.md")).pairs)["key_value"] == 0


def test_conditions_are_told_without_pointing() -> None:
    found = pairs(
        "# Pump\n\n## Stopping\n\nIf frost is possible, drain the casing through plug D2. If it leaks, call us. If needed, call the works.\n"
    )
    assert found["What happens if frost is possible (Pump, Stopping)?"].startswith("If frost is possible, drain")
    assert not any("leaks" in question or "needed" in question for question in found)
    found = pairs("# 合同\n\n## 付款\n\n买方逾期付款的，应当支付违约金。第一种模式是非常详细的，应该只用于服务器。\n")
    assert found["合同，付款中，买方逾期付款的，怎么办？"].startswith("买方逾期付款的，应当支付违约金。")
    assert not any("模式" in question for question in found if "怎么办" in question)


@pytest.mark.parametrize(("text", "expected"), [
    # the exception, the remedy and what goes on
    ("# Rules\n\n## Boiler\n\nIf the pressure exceeds 6 bar, stop the boiler at once. This does not apply during the annual test.\n\nThe boiler is red.\n",
     {"What happens if the pressure exceeds 6 bar (Rules, Boiler)?": "If the pressure exceeds 6 bar, stop the boiler at once. This does not apply during the annual test."}),
    ("# 报销规定\n\n## 住宿\n\n住宿标准见附件。住宿费超过标准的，由本人承担。但经总经理批准的除外。\n",
     {"报销规定，住宿中，住宿费超过标准的，怎么办？": "住宿费超过标准的，由本人承担。但经总经理批准的除外。"}),
    ("# Rules\n\n- If the red lamp stays on, the thermostat has tripped. Let it cool.\n- Another item.\n",
     {"What happens if the red lamp stays on (Rules)?": "If the red lamp stays on, the thermostat has tripped. Let it cool."}),
    # the list that it leads into, and the paragraph that takes something back
    ("# Rules\n\nIf the red lamp stays on, do the following:\n\n1. Press the key.\n2. Wait.\n\nThis does not apply on Sundays.\n\nOther.\n",
     {"What happens if the red lamp stays on (Rules)?": "If the red lamp stays on, do the following:\n\n1. Press the key.\n2. Wait.\n\nThis does not apply on Sundays."}),
    ("# 规定\n\n员工迟到的，应当：\n\n1. 打卡。\n2. 说明原因。\n\n但节假日除外。\n\n其他。\n",
     {"规定中，员工迟到的，怎么办？": "员工迟到的，应当：\n\n1. 打卡。\n2. 说明原因。\n\n但节假日除外。"}),
    ("# Rules\n\n- If the red lamp stays on, wait:\n  - two minutes in summer\n- Another item.\n", {"What happens if the red lamp stays on (Rules)?": "If the red lamp stays on, wait:\n  - two minutes in summer"}),
    # a clause ends where the next begins
    ("LEASE\n\n2. Rent\n\n2.1 If the rent is late, the Tenant pays interest.\n2.2 The rent may be increased.\n", {"What happens if the rent is late (LEASE, Rent)?": "2.1 If the rent is late, the Tenant pays interest."}),
    ("租赁合同\n\n第二条 租金\n2.1 乙方逾期支付租金的，应当支付违约金。\n2.2 租金每年调整。\n", {"租赁合同，租金中，乙方逾期支付租金的，怎么办？": "2.1 乙方逾期支付租金的，应当支付违约金。"}),
    # the clause right behind that limits it
    ("# Supply\n\n## 8 Warranty\n\n8.3 If a defect appears in time, the Seller shall repair it.\n\n8.4 Clause 8.3 does not apply to worn parts.\n\n8.5 Other.\n",
     {"What happens if a defect appears in time (Supply, Warranty)?": "8.3 If a defect appears in time, the Seller shall repair it.\n\n8.4 Clause 8.3 does not apply to worn parts."}),
    ("# 供货合同\n\n## 质保\n\n货物有缺陷的，卖方应当修理。\n\n易损件不适用前款规定。\n\n其他。\n",
     {"供货合同，质保中，货物有缺陷的，怎么办？": "货物有缺陷的，卖方应当修理。\n\n易损件不适用前款规定。"}),
])  # fmt: skip
def test_conditions_are_answered_with_what_belongs_to_them(text: str, expected: dict[str, str]) -> None:
    made = pairs(text, "a.md" if text.startswith("#") else "a.txt").items()
    found = {question: answer for question, answer in made if "happens" in question or "怎么办" in question}
    assert found == expected


LONG_EN, LONG_ZH = "The seller keeps a record of every part. " * 20, "卖方应当保存所有部件的记录。" * 60


@pytest.mark.parametrize(("text", "reason"), [
    ("# Supply\n\n## 8 Warranty\n\n8.3 If a defect appears in time, the Seller shall repair it.\n\n8.4 Parts are new.\n\n8.5 Clause 8.3 does not apply to worn parts.\n", "limited"),
    ("# 供货合同\n\n## 第八条 质保\n\n8.3 货物有缺陷的，卖方应当修理。\n\n8.4 部件应当是新的。\n\n8.5 易损件不适用第 8.3 款。\n", "limited"),
    (f"# Supply\n\nIf a defect appears in time, the Seller shall repair it. {LONG_EN}\n", "too long"), (f"# 合同\n\n货物有缺陷的，卖方应当修理。{LONG_ZH}\n", "too long"),
    ("# 规程\n\n轴承温度应当低于 75 ℃；达到 80 ℃ 时，立即停机。\n", "no subject"), ("# 规程\n\n## 振动\n\n高于 7.1 mm/s 的，立即停机。\n", "no subject"),
])  # fmt: skip
def test_conditions_that_are_limited_elsewhere_or_name_nothing_are_refused(text: str, reason: str) -> None:
    assert list(refused(text).values()) == [reason]
    assert not any("happens" in question or "怎么办" in question for question in pairs(text))


@pytest.mark.parametrize(("text", "expected"), [
    ("# Help\n\n## When are bills sent?\n\nOn Monday.\n\nQ: Which coins are taken?\nA: Francs.\n\n### Can I pay by card?\n\nNo.\n\n**How do I move the date?**\n\nWrite to the office.\n\nAllow two days.\n\n1. How long are bills kept?\n   Ten years.\n",
     {"When are bills sent?": "On Monday.", "Which coins are taken?": "Francs.", "Can I pay by card?": "No.",
      "How do I move the date?": "Write to the office.\n\nAllow two days.", "How long are bills kept?": "Ten years."}),
    ("# 问答\n\n## 访客可以进入吗？\n\n可以。须预约。\n\n问：夜间能进入吗？\n答：不能。\n\n**Q：一张卡可以给两个人用吗？**\nA：不可以。\n\n### 卡丢了怎么办？\n\n挂失。\n\n报销需要多长时间？\n五天。\n",
     {"访客可以进入吗？": "可以。须预约。", "夜间能进入吗？": "不能。", "一张卡可以给两个人用吗？": "不可以。", "卡丢了怎么办？": "挂失。", "报销需要多长时间？": "五天。"}),
    ("# Help\n\n## Why is the lamp red?\n\nIt is hot.\n\n### In winter\n\nIt is cold.\n\n### Where is the fuse?\n\nBelow.\n",
     {"Why is the lamp red?": "It is hot.\n\n### In winter\n\nIt is cold.", "Where is the fuse?": "Below."}),
    ("Opening hours of the mill\n\nWhen is the mill open?\n\nFrom 9 to 17.\n\nThe mill is old.\n", {"When is the mill open?": "From 9 to 17."}),
    ("# Help\n\n## Who pays?\n\nYou.\n\n**Q: How many mills are left?**\n\nThree.\n\n  Q: Who may\n  come?\n  A: All.\n", {"Who pays?": "You.", "How many mills are left?": "Three.", "Who may come?": "All."}),
    ("# 问答\n\n## 谁付款？\n\n买方。\n\n**问：一共几个？**\n\n三个。\n\n问：谁可以来？\n答：都可以。\n", {"谁付款？": "买方。", "一共几个？": "三个。", "谁可以来？": "都可以。"}),
    ("磨坊简介\n\n磨坊几点开门？\n\n九点。\n\n磨坊很老。\n", {"磨坊几点开门？": "九点。"}),
])  # fmt: skip
def test_an_answer_stops_where_the_next_question_is_asked(text: str, expected: dict[str, str]) -> None:
    result = checked(qa_pairs(from_text(text, "a.md")))
    found = {pair.question: pair for pair in result.pairs if pair.origin == "faq"}
    assert {question: pair.answer for question, pair in found.items()} == expected
    for question, pair in found.items():
        assert question in (" ".join(text[slice(*span)].split()) for span in pair.evidence)


@pytest.mark.parametrize("text", [
    "# Mill\n\nBut what could he do?\n\nHe left.\n", "# Mill\n\n“Where were you?”\n\n“At home.”\n", "# Mill\n\nHe asked her\nwhere is the key?\nShe left.\n",
    "# Play\n\nAnna: Where were you?\nBen: At home.\n", "# 故事\n\n可是他能怎么办？\n\n他走了。\n", "# 故事\n\n“你去哪里了？”\n\n“在家。”\n",
])  # fmt: skip
def test_questions_of_a_story_are_no_questions_of_the_page(text: str) -> None:
    assert Counter(pair.origin for pair in qa_pairs(from_text(text, "a.md")).pairs)["faq"] == 0


def test_rows_and_lines_of_one_name_are_left_out_alone() -> None:
    text = "# B2\n\n## Faults\n\n| Fault | Meaning | Reset |\n|---|---|---|\n| E1 | Low water | – |\n| E1 | Sensor | Key |\n| E2 | see E1 | same as above |\n| E3 | Flame lost | Key [1] |\n"
    assert pairs(text) == {"What is the meaning of E3 (B2, Faults)?": "Flame lost"}
    assert Counter(qa_pairs(from_text(text, "a.md")).reasons) == {"ambiguous": 3, "limited": 1}
    text = "# 锅炉\n\n## 故障\n\n| 代码 | 含义 | 复位 |\n|---|---|---|\n| E1 | 缺水 | 无 |\n| E1 | 断线 | 按键 |\n| E2 | 见上文 | 同上 |\n| E3 | 熄火 | 按键 |\n"
    assert pairs(text) == {"锅炉，故障中，E3的含义是什么？": "熄火", "锅炉，故障中，E3的复位是什么？": "按键"}
    assert set(refused(text).values()) == {"ambiguous"}
    text = "# B2\n\n## Plate\n\nMaker: Hall\nPhone: 0123 456\nPhone: 0123 457\nWeight: 5 kg\nNote: see page 4\n"
    found = {question: answer for question, answer in pairs(text).items() if "say about" not in question}
    assert found == {"What is the Maker (B2, Plate)?": "Hall", "What is the Weight (B2, Plate)?": "5 kg"}
    assert refused(text) == {"What is the Phone (B2, Plate)?": "ambiguous", "What is the Note (B2, Plate)?": "vague"}
    text = "# 锅炉\n\n## 铭牌\n\n厂家：华能\n电话：0123 456\n重量：5 kg\n备注：见第四页\n"
    found = {question: answer for question, answer in pairs(text).items() if "怎么说" not in question}
    assert found == {
        "锅炉，铭牌的厂家是什么？": "华能",
        "锅炉，铭牌的电话是什么？": "0123 456",
        "锅炉，铭牌的重量是多少？": "5 kg",
    }


def test_units_and_conditions_belong_to_the_value_and_not_to_a_question_of_their_own() -> None:
    text = "# 溶剂\n\n## 特性\n\n| 项目 | 数值 | 单位 | 条件 | 备注 |\n|---|---|---|---|---|\n| 闪点 | 13 | ℃ | 闭杯 | 易燃 |\n| 外观 | 透明 | – | 20 ℃ | |\n"
    assert pairs(text) == {
        "溶剂，特性中，闪点的数值（℃，闭杯）是多少？": "13",
        "溶剂，特性中，外观的数值（20 ℃）是什么？": "透明",
    }
    text = "# Log\n\n## Limits\n\n| Value | Alarm | Unit | Notes |\n|---|---|---|---|\n| Vibration | 4.5 | mm/s | old |\n| Leakage | 5 drops | see below | new |\n"
    assert pairs(text) == {
        "What is the alarm (mm/s) of Vibration (Log, Limits)?": "4.5",
        "What is the alarm of Leakage (Log, Limits)?": "5 drops",
    }


@pytest.mark.parametrize(("name", "value", "asked"), [
    ("单价（元）", "180", "是多少"), ("功率", "22 kW", "是多少"), ("浓度", "70 – 80", "是多少"), ("周期", "2000 小时", "是多少"), ("上限", "≤ 1×10⁵", "是多少"), ("比例", "百分之五", "是多少"),
    ("规格", "132 机座", "是什么"), ("规格", "6312-C3", "是什么"), ("日期", "2026-01-02", "是什么"), ("电话", "0512 123", "是什么"), ("润滑油", "SC-46 专用油", "是什么"),
])  # fmt: skip
def test_amounts_are_asked_for_as_amounts(name: str, value: str, asked: str) -> None:
    assert asked_zh(name, value) == asked


def test_definitions_and_rows_name_their_document() -> None:
    texts = ('Lease of a mill\n\n# Lease\n\n"Goods" means flour.\n', '# Sale\n\n"Goods" means pumps.\n')
    assert "What is meant by Goods (Lease)?" in pairs(texts[0])
    assert pairs(texts[1]) == {"What is meant by Goods (Sale)?": '"Goods" means pumps.'}
    assert "买卖合同中，什么是货物？" in pairs("# 买卖合同\n\n“货物”是指水泵。\n")
    assert "What is the stock of K1 (spare parts)?" in pairs(
        "Part,Name,Stock\nK1,Seal,5\nK2,Ring,6\n", "x/spare_parts.en.csv"
    )
    assert "配件表中，K1的库存是多少？" in pairs("配件号,名称,库存\nK1,油封,5\nK2,圆环,6\n", "配件表.zh.csv")
    assert "What is the stock of K1?" in pairs("Part,Name,Stock\nK1,Seal,5\nK2,Ring,6\n", "20260101.csv")


@pytest.mark.parametrize("text", [
    "# Mill guide\n\n## Wheel\n\nThe wheel turns by itself all day. The wheel is made of wood.\n", "# 磨坊手册\n\n## 水轮\n\n水轮整天自己转动，从不停下来。水轮用木头做成。\n",
])  # fmt: skip
def test_what_a_section_says_of_its_heading_covers_no_sentence(text: str) -> None:
    result = qa_pairs(from_text(text, "a.md"))
    assert [pair.origin for pair in result.pairs] == ["heading"]
    assert (result.coverage, len(result.uncovered)) == (0.0, 2)


def test_a_question_with_two_answers_is_refused() -> None:
    text = "# A\n\n## Who pays?\n\nThe buyer.\n\n# B\n\n## Who pays?\n\nThe seller.\n"
    result = qa_pairs(from_text(text, "a.md"))
    assert not any(pair.question == "Who pays?" for pair in result.pairs)
    assert result.reasons["another answer"] == 2


@pytest.mark.parametrize(
    "text", ["x", "?", "# ?\n\n?", "|a|\n|-|\n", "Q:\nA:\n", "\u200b?\n", "Q: a\n" * 50, "- " * 200]
)
def test_odd_texts_break_nothing(text: str) -> None:
    checked(qa_pairs(from_text(text, "a.md")))


@pytest.mark.parametrize(
    "piece",
    [
        "Q: Who is {n}?\nA: Number {n}.\n\n",
        "## What is {n}?\n\nIt is {n} kg.\n\n",
        "| K{n} | {n} |\n",
        "Name{n}: value\n",
        "If pump {n} is hot, stop it. ",
        "If pump {n} is hot, stop:\n\n",
        "- If pump {n} is hot, stop:\n",
        "水泵{n}过热的，应当停机。\n",
        "Who is {n}?\n\n",
        "- Who is {n}?\n  Number {n}.\n",
    ],
)
def test_time_is_linear(piece: str) -> None:
    head = "| a | b |\n|---|---|\n" if piece.startswith("|") else "# Title here\n\n"
    checked(qa_pairs(from_text(head + "".join(piece.replace("{n}", str(n)) for n in range(2_000)), "a.md")))
