"""Definitions, rules and conditions that get a question of their own."""

from __future__ import annotations

import re

import pytest

import qchunker
from qchunker.debate.offline.outline import outline

STATEMENTS = """
“Operator” means a person trained by the owner. | What is meant by Operator?
A hopper is defined as a vessel for grain. | What is meant by hopper?
Malting is the process by which grain sprouts. | What is Malting?
The kiln is a heated chamber. | What is the kiln?
Ada Byron is an English writer. | Who is Ada Byron?
The operator shall wear a mask in the mill. | What must the operator do?
The operator must not open the lid. | What must the operator not do?
The lid must be closed at night. | Which rules apply to the lid?
If the sieve is torn, replace it with a new one. | What happens if the sieve is torn?
“库容”是指校核洪水位以下的容积。 | 什么是库容？
坝顶是一种挡水结构的顶部。 | 什么是坝顶？
王五是一位水利工程师。 | 王五是谁？
管理单位应当每月巡查一次。 | 对管理单位有什么要求？
管理单位不得擅自放水。 | 对管理单位有什么限制？
发现裂缝的，应当立即上报。 | 发现裂缝的，怎么办？
"""
NO_STATEMENTS = """
It is a long way to the mill.
Since Arno is a factor, it was tested.
This must be what they meant.
If I were rich, I would buy a mill.
这是一种误会。
他表示应当继续。
水坝传统上是一种挡水结构。
位于河谷的水坝，是一座著名的建筑。
"""


def asked(text: str) -> list[str]:
    return [question.text for question in outline(qchunker.from_text(text, "x.md")).questions]


@pytest.mark.parametrize("line", STATEMENTS.strip().splitlines())
def test_one_sentence(line: str) -> None:
    sentence, question = line.split(" | ")
    assert question in asked(sentence)


@pytest.mark.parametrize("sentence", NO_STATEMENTS.strip().splitlines())
def test_sentences_that_only_look_so(sentence: str) -> None:
    found = [one for one in asked(sentence) if re.match(r"What (?:is|must|happens)\b(?! said)|什么是|对", one)]
    assert found == []


def test_evidence_is_the_term() -> None:
    text = "The lid is grey. “Operator” means a person trained by the owner."
    question = next(one for one in outline(qchunker.from_text(text, "x.md")).questions if "Operator" in one.text)
    assert text[slice(*question.evidence)] == "Operator"
    assert question.start <= question.evidence.start
