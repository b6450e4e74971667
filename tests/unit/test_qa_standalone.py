"""Which questions can be understood without the document."""

from __future__ import annotations

import pytest

from qchunker.qa.standalone import problem

GOOD = """What is the alarm limit?
At which level does the alarm sound?
How is a seal renewed when it leaks?
What happens to the pump when it runs dry?
If the pump runs dry, what happens to it?
What is a relief valve and how does it work?
Is it possible to run the pump dry?
How long does it take to grout the base plate?
What is the pressure that the valve opens at?
How do you check that the valve is closed?
Which parts, such as seals, are excluded?
What must be done above 60 °C?
Why must the operator close the valve before he leaves?
How do I reset my password?
How to replace the filter
Can two controllers share one serial line?
What does Section 2 not apply to?
What is listed in the table of fault codes?
Who may read the data after they are exported?
质保期从什么时候开始？
什么是爆炸下限及其单位？
泵启动后，它会发出什么声音？
申请人提交申请后，该申请由谁审批？
60 °C以上时压力如何变化？
其他费用由谁承担？
基本工资是多少？
KL-20 的闪点是多少？
哪些物品属于危险物品？
此外还需要提交什么材料？
应该如何更换滤芯？
本地用户如何登录？""".splitlines()
DANGLING = """What is it?
How often is it tested?
What does this valve do?
What is the maximum pressure it can withstand?
Which oil does it need?
What is mentioned above?
What does the passage say about seals?
What is the passage about?
What the passage is about, in one sentence
According to the text, what is the limit?
What are the following steps?
What happens in such cases?
What does that mean?
Who wrote them?
What is shown in this table?
What is the latter used for?
How does its seal work?
它有什么用途？
该设备的额定电压是多少？
上述规定适用于谁？
本合同的质保期是多久？
本须知适用于谁？
文中提到了哪些格式？
其闪点是多少？
这个参数是什么意思？
前款规定的例外是什么？
此规定何时生效？
他们应当做什么？
以上步骤有哪些？
本条适用于谁？""".splitlines()


@pytest.mark.parametrize("question", GOOD)
def test_a_question_that_names_what_it_asks_about_stands_alone(question: str) -> None:
    assert problem(question) is None


@pytest.mark.parametrize("question", DANGLING)
def test_a_question_that_points_at_the_page_does_not(question: str) -> None:
    assert problem(question) == "dangling"


@pytest.mark.parametrize(
    ("question", "reason"),
    [("The pump stops.", "not a question"), ("泵停止。", "not a question"), ("Why?", "vague"), ("是什么？", "vague"),
     ("What " + "very " * 100 + "long?", "too long")],
)  # fmt: skip
def test_what_asks_nothing(question: str, reason: str) -> None:
    assert problem(question) == reason


def test_time_grows_linearly_with_the_question() -> None:
    assert problem("the a " * 50_000 + "it?") == "too long"
