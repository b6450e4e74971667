"""Pairs by rules: every answer is a stretch of the document, and no pair is wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from qchunker import QAResult, from_text, parse, qa_pairs

EXAMPLES = sorted(path for path in Path("examples").iterdir() if not path.name.startswith("."))


def pairs(text: str, name: str = "a.md") -> dict[str, str]:
    return {pair.question: pair.answer for pair in checked(qa_pairs(from_text(text, name))).pairs}


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
    assert found["What is meant by Goods?"] == '"Goods" means the pumps in Schedule 1.'
    assert found["What is a relief valve?"] == "A relief valve is a valve that opens by itself."
    assert found["What does SRV stand for?"] == "safety relief valve"
    assert not any(word in str(list(found)) for word in ("result", "Monitoring", "fuse"))
    found = pairs(
        "# 规程\n\n本规程所称“危险物品”，是指易燃和易爆物质。爆炸下限（LEL）为百分之二。灭火剂为干粉和二氧化碳（CO₂）。\n"
    )
    assert found["什么是危险物品？"] == "本规程所称“危险物品”，是指易燃和易爆物质。"
    assert found["LEL指的是什么？"] == "爆炸下限"
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
    assert found["MS-55的库存是什么？"] == "6"
    assert "MS-55的规格是什么？" not in found
    assert pairs("# T\n\n| A | B |\n|---|---|\n| x | 1 |\n| x | 2 |\n") == {}  # which x?


def test_properties_and_steps() -> None:
    text = "# Drill D9\n\n## Data\n\nWeight: 5 kg\nColour: red\nNote: keep dry\n\n## Replacing the bit\n\n1. Stop the motor.\n2. Turn the key.\n3. Pull the bit.\n\n## Terms\n\n1. Payment is due.\n2. Goods stay ours.\n"
    found = pairs(text.replace("Note: keep dry\n", ""))
    assert found["What is the Weight (Drill D9, Data)?"] == "5 kg"
    assert (
        found["What are the steps for Replacing the bit (Drill D9)?"]
        == "1. Stop the motor.\n2. Turn the key.\n3. Pull the bit."
    )
    assert not any("steps" in question and "Terms" in question for question in found)
    found = pairs("# 电钻 D9\n\n## 参数\n\n- 重量：5 kg\n- 颜色：红色\n\n## 更换钻头\n\n1. 停机。\n2. 转动钥匙。\n")
    assert found["电钻 D9，参数的重量是什么？"] == "5 kg"
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
    assert found["合同，付款中，买方逾期付款的，怎么办？"] == "买方逾期付款的，应当支付违约金。"
    assert not any("模式" in question for question in found if "怎么办" in question)


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
    ],
)
def test_time_is_linear(piece: str) -> None:
    head = "| a | b |\n|---|---|\n" if piece.startswith("|") else "# Title here\n\n"
    checked(qa_pairs(from_text(head + "".join(piece.replace("{n}", str(n)) for n in range(2_000)), "a.md")))
