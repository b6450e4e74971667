"""Documents with hand-written question-answer pairs, and a model that gives them: as a good model would, or with faults."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from qchunker.prompts import LANGUAGES, load_prompt
from qchunker.qa.llm.setting import PROMPTS

Answer = Callable[[Any], Any]


class Good(NamedTuple):
    """A pair that a careful person would write for a sentence that begins with ``at``."""

    at: str
    question: str
    answer: str


@dataclass(frozen=True)
class Book:
    """A document and the pairs that it holds.

    Args:
        name: of the file.
        text: of the document.
        pairs: in the order of the text.
    """

    name: str
    text: str
    pairs: tuple[Good, ...]


def _opening(text: str) -> str:
    return " ".join(text.split())[:40]


_OWN = {_opening(load_prompt(name, language).parts[2].partition("$")[0]): name
        for name in PROMPTS if name != "repair" for language in LANGUAGES}  # fmt: skip


def turns(body: Any) -> list[tuple[str, str]]:
    return [(str(turn["role"]), str(turn["content"])) for turn in body["messages"]]


def own(body: Any) -> str:
    """The last turn: what only this request says."""
    return turns(body)[-1][1]


def role_of(body: Any) -> str:
    """Which prompt a request was made with."""
    said = " ".join(own(body).split())
    return next(role for opening, role in _OWN.items() if opening and said.startswith(opening[:30]))


def inside(tag: str, text: str) -> str:
    """What stands between the first tags of a name."""
    return text.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def asked_about(body: Any) -> str:
    """The text that a request asks about."""
    said = own(body)
    return inside("passage", said) if "<passage>" in said else inside("text", turns(body)[-3][1])


def plain(text: str) -> str:
    return " ".join(text.split())


def pairs_json(pairs: Sequence[tuple[str, str]], summary: str = "A part of the document.") -> str:
    return json.dumps(
        {"Summary": summary, "PossibleQA": [{"Question": q, "Answer": a} for q, a in pairs]}, ensure_ascii=False
    )


def good_pairs(book: Book, body: Any) -> list[tuple[str, str]]:
    """The pairs of all sentences that a request asks about."""
    text = plain(asked_about(body))
    return [(pair.question, pair.answer) for pair in book.pairs if plain(pair.at) in text]


def by_book(books: Sequence[Book]) -> Answer:
    """The model that knows these documents and answers every request about them well."""

    def answer(body: Any) -> str:
        role = role_of(body)
        if role in ("qa_single", "qa_group", "qa_more"):
            return pairs_json([pair for book in books for pair in good_pairs(book, body)])
        return _REPLIES[role](books, body)

    return answer


_ITEM = re.compile(r'<item n="(\d+)">\nQuestion: (.*?)\nAnswer: (.*?)\n</item>', re.DOTALL)


def items(body: Any) -> list[tuple[int, str, str]]:
    """The numbered pairs of a request."""
    return [(int(number), question, answer) for number, question, answer in _ITEM.findall(own(body))]


def _full_answers(books: Sequence[Book], body: Any) -> str:
    """The sentence of each pair, and the one behind it."""
    made = []
    for number, question, answer in items(body):
        text = answer
        for book in books:
            found = next((pair for pair in book.pairs if pair.question == question), None)
            if found is not None:
                at = plain(book.text).index(plain(found.at))
                stop = re.compile(r"[。.](?=\s|$|[^\d])").search(plain(book.text), at)
                text = plain(book.text)[at : stop.end() if stop else None]
        made.append({"n": number, "text": text})
    return json.dumps({"full_answers": made}, ensure_ascii=False)


def _variants(_: Sequence[Book], body: Any) -> str:
    made = []
    for number, question, _answer in items(body):
        body_of = question.rstrip("?？")
        words = [f"请问{body_of}？", f"{body_of}，请说明？"] if question[0] >= "\u4e00" else [
            f"Can you tell me: {body_of[0].lower()}{body_of[1:]}?", f"{body_of}, please?"]  # fmt: skip
        made.append({"n": number, "questions": words})
    return json.dumps({"variants": made}, ensure_ascii=False)


def _judge(_: Sequence[Book], body: Any) -> str:
    return json.dumps({"items": [{"n": n, "supported": False, "quote": ""} for n, _, _ in items(body)]})


_REPLIES: Mapping[str, Callable[[Sequence[Book], Any], str]] = {
    "qa_full_answer": _full_answers, "qa_variants": _variants, "qa_judge": _judge,
}  # fmt: skip

PUMP = Book("pump.md", """\
# Circulation pump CP-40

## Operation

The CP-40 circulates heating water between 5 °C and 95 °C. It must never run dry, because the ceramic bearing is destroyed within a minute. Before the first start, open both shut-off valves and vent the housing through screw V2. The direction of rotation cannot be changed. A green lamp shows that the pump is running; a red lamp shows a fault.

## Settings

Three modes are offered: constant pressure, variable pressure and fixed speed. Variable pressure is set at the factory. The operator chooses a mode with the rotary knob and confirms it by pressing the knob for three seconds. If nothing is pressed for 30 seconds, the display goes dark, but the setting is kept. The head can be set from 1 to 6 m in steps of 0.5 m.

## Maintenance

The pump needs no regular maintenance. The strainer in front of it should be cleaned once a year. A noisy pump usually contains air; run it at the highest speed for ten minutes, then reduce the speed again. Only a trained electrician may open the terminal box. The warranty lasts 24 months from the date of installation, but not longer than 30 months from delivery. Damage by dry running is not covered.
""", (
    Good("The CP-40 circulates heating water", "At which water temperatures can the CP-40 be used?", "It circulates heating water between 5 °C and 95 °C."),
    Good("It must never run dry", "Why must the CP-40 never run dry?", "Because dry running destroys its ceramic bearing within a minute."),
    Good("Before the first start", "What has to be done before the first start of the CP-40?", "Both shut-off valves must be opened and the housing vented through screw V2."),
    Good("The direction of rotation", "Can the direction of rotation of the CP-40 be changed?", "No, the direction of rotation cannot be changed."),
    Good("A green lamp", "What do the lamps of the CP-40 mean?", "A green lamp shows that the pump is running, a red lamp shows a fault."),
    Good("Three modes are offered", "Which modes does the CP-40 offer?", "Constant pressure, variable pressure and fixed speed."),
    Good("Variable pressure is set", "Which mode of the CP-40 is set at the factory?", "Variable pressure."),
    Good("The operator chooses a mode", "How does the operator change the mode of the CP-40?", "By choosing a mode with the rotary knob and pressing the knob for three seconds to confirm it."),
    Good("If nothing is pressed", "What happens to the display of the CP-40 when nothing is pressed for 30 seconds?", "The display goes dark, but the setting is kept."),
    Good("The head can be set", "In which range and steps can the head of the CP-40 be set?", "From 1 to 6 m in steps of 0.5 m."),
    Good("The pump needs no regular", "Does the CP-40 need regular maintenance?", "No, it needs no regular maintenance."),
    Good("The strainer in front", "How often should the strainer in front of the CP-40 be cleaned?", "Once a year."),
    Good("A noisy pump usually", "What can be done about a noisy CP-40?", "It usually contains air: run it at the highest speed for ten minutes and then reduce the speed again."),
    Good("Only a trained electrician", "Who may open the terminal box of the CP-40?", "Only a trained electrician."),
    Good("The warranty lasts", "How long is the warranty of the CP-40?", "24 months from the date of installation, but not longer than 30 months from delivery."),
    Good("Damage by dry running", "Is damage by dry running covered by the warranty of the CP-40?", "No, it is not covered."),
))  # fmt: skip

LEAVE = Book("leave.zh.md", """\
# 远景公司休假制度

## 一、年休假

员工连续工作满一年的，享受带薪年休假。工龄满一年不满十年的，年休假为5天；满十年不满二十年的，为10天；满二十年的，为15天。年休假应当在当年休完，确因工作需要不能休完的，可以顺延至次年3月31日。国家法定休假日、休息日不计入年休假的假期。员工请事假累计20天以上且公司按照规定不扣工资的，不享受当年的年休假。

## 二、病假

员工因病不能上班的，应当在当天上午9点前通知直接主管，并在返岗后三日内提交医院证明。病假在3天以内的由部门经理批准，超过3天的由人力资源部批准。病假期间的工资按照本人基本工资的80%发放。未按规定提交证明的，按旷工处理。

## 三、婚假与产假

员工依法登记结婚的，可以享受婚假13天。女员工的产假为158天，其中产前可以休假15天。难产的，增加产假15天；生育多胞胎的，每多生育一个婴儿，增加产假15天。男员工享受陪产假15天，应当在子女出生之日起六个月内休完。

## 四、申请流程

所有假期均须通过人事系统申请，不接受口头申请。系统收到申请后自动发送给审批人，审批人应当在两个工作日内答复。逾期未答复的，申请自动转交上一级主管。假期获得批准后，员工应当与同事做好工作交接。
""", (
    Good("员工连续工作满一年", "远景公司的员工工作多久可以享受带薪年休假？", "连续工作满一年。"),
    Good("工龄满一年不满十年", "远景公司员工的年休假有多少天？", "工龄满一年不满十年的为5天，满十年不满二十年的为10天，满二十年的为15天。"),
    Good("年休假应当在当年休完", "远景公司的年休假当年没有休完怎么办？", "确因工作需要不能休完的，可以顺延至次年3月31日。"),
    Good("国家法定休假日", "法定休假日和休息日是否计入远景公司的年休假？", "不计入。"),
    Good("员工请事假累计20天", "远景公司员工在什么情况下不享受当年的年休假？", "请事假累计20天以上且公司按规定不扣工资的，不享受当年的年休假。"),
    Good("员工因病不能上班", "远景公司员工请病假要在什么时候通知谁？", "应当在当天上午9点前通知直接主管。"),
    Good("员工因病不能上班", "远景公司员工病假返岗后要提交什么？", "返岗后三日内提交医院证明。"),
    Good("病假在3天以内", "远景公司的病假由谁批准？", "3天以内由部门经理批准，超过3天由人力资源部批准。"),
    Good("病假期间的工资", "远景公司病假期间的工资怎么发？", "按照本人基本工资的80%发放。"),
    Good("未按规定提交证明", "远景公司员工没有按规定提交病假证明会怎样？", "按旷工处理。"),
    Good("员工依法登记结婚", "远景公司的婚假有几天？", "13天。"),
    Good("女员工的产假为158天", "远景公司的产假有多少天，产前可以休几天？", "产假为158天，产前可以休15天。"),
    Good("难产的，增加产假", "远景公司的女员工难产或生育多胞胎时产假如何增加？", "难产的增加15天；生育多胞胎的，每多生育一个婴儿增加15天。"),
    Good("男员工享受陪产假", "远景公司的陪产假应当在什么时候休完？", "在子女出生之日起六个月内休完。"),
    Good("男员工享受陪产假", "远景公司的男员工有多少天陪产假？", "15天。"),
    Good("所有假期均须通过", "在远景公司能否口头申请假期？", "不能，所有假期均须通过人事系统申请。"),
    Good("系统收到申请后自动", "远景公司的审批人要在多长时间内答复休假申请？", "两个工作日内。"),
    Good("逾期未答复的", "远景公司的休假申请逾期未答复会怎样处理？", "自动转交上一级主管。"),
    Good("假期获得批准后", "远景公司员工的假期获得批准后应当做什么？", "与同事做好工作交接。"),
))  # fmt: skip

LEASE = Book("lease.txt", """\
Lease of the Harbour Workshop

1. Term

The lease begins on 1 March 2024 and runs for five years. The Tenant may extend it once by three years if it tells the Landlord so in writing at least six months before the end. After that the lease ends without notice.

2. Rent

The monthly rent is EUR 2,400 and is due on the third working day of each month. Heating and water are not included. The Landlord may raise the rent once a year, by no more than 3 %. If the Tenant pays more than ten days late, interest of 5 % a year is owed.

3. Use

The Tenant may use the workshop for repairing boats and for nothing else. Welding is allowed only in the fire-proof bay. Subletting requires the written consent of the Landlord, which must not be refused without good reason. The Tenant shall keep the fire doors closed and the crane certified.

4. Repairs

The Landlord maintains the roof, the outer walls and the drains. Everything else is maintained by the Tenant. Defects must be reported within a week. The Tenant is not liable for damage by storm.
""", (
    Good("The lease begins on", "When does the lease of the Harbour Workshop begin and how long does it run?", "It begins on 1 March 2024 and runs for five years."),
    Good("The Tenant may extend", "How can the Tenant of the Harbour Workshop extend the lease?", "Once by three years, by telling the Landlord in writing at least six months before the end."),
    Good("After that the lease", "What happens to the lease of the Harbour Workshop after the extension?", "The lease ends without notice."),
    Good("The monthly rent is", "How much is the monthly rent of the Harbour Workshop?", "EUR 2,400."),
    Good("The monthly rent is", "When is the rent of the Harbour Workshop due?", "On the third working day of each month."),
    Good("Heating and water", "Are heating and water included in the rent of the Harbour Workshop?", "No, heating and water are not included."),
    Good("The Landlord may raise", "How often and by how much may the Landlord raise the rent of the Harbour Workshop?", "Once a year, by no more than 3 %."),
    Good("If the Tenant pays", "What does the Tenant owe if the rent is paid more than ten days late?", "Interest of 5 % a year."),
    Good("The Tenant may use", "What may the Tenant use the Harbour Workshop for?", "For repairing boats and for nothing else."),
    Good("Welding is allowed", "Where is welding allowed in the Harbour Workshop?", "Only in the fire-proof bay."),
    Good("Subletting requires", "What does subletting the Harbour Workshop require?", "The written consent of the Landlord."),
    Good("Subletting requires", "May the Landlord refuse consent to subletting?", "It must not be refused without good reason."),
    Good("The Tenant shall keep", "What must the Tenant keep closed and certified?", "The fire doors closed and the crane certified."),
    Good("The Landlord maintains", "Which parts of the Harbour Workshop does the Landlord maintain?", "The roof, the outer walls and the drains."),
    Good("Everything else is", "Who maintains everything but roof, outer walls and drains?", "The Tenant."),
    Good("Defects must be", "By when must defects of the Harbour Workshop be reported?", "Within a week."),
    Good("The Tenant is not", "Is the Tenant liable for damage by storm?", "No, the Tenant is not liable for it."),
))  # fmt: skip

LAB = Book("lab.zh.txt", """\
化学实验室安全须知

进入实验室必须佩戴护目镜，并穿长袖实验服。实验室内禁止饮食和吸烟。易燃溶剂应当存放在防爆柜中，每柜不得超过50升。硫酸与水混合时，必须把酸缓慢倒入水中，不得相反。废液按卤代、非卤代和含重金属三类分别收集，由专业公司每月清运两次。

通风橱的面风速应当不低于0.5 m/s，每年由设备科检测一次。发生酸液溅入眼睛时，立即用洗眼器冲洗至少15分钟，然后就医。学生只有在导师在场时才可以使用高压釜。夜间22点以后不得单独做实验。最后离开的人负责关闭气瓶总阀和电源。

实验室的钥匙由管理员保管，借用须登记。损坏仪器的，应当在24小时内报告，隐瞒不报的取消使用资格。
""", (
    Good("进入实验室必须佩戴", "进入化学实验室需要穿戴什么？", "必须佩戴护目镜，并穿长袖实验服。"),
    Good("实验室内禁止饮食", "化学实验室内禁止什么行为？", "禁止饮食和吸烟。"),
    Good("易燃溶剂应当存放", "化学实验室的易燃溶剂应存放在哪里，每柜最多多少？", "存放在防爆柜中，每柜不得超过50升。"),
    Good("硫酸与水混合时", "在化学实验室如何把硫酸与水混合？", "把酸缓慢倒入水中，不得相反。"),
    Good("废液按卤代", "化学实验室的废液分为哪几类收集？", "卤代、非卤代和含重金属三类。"),
    Good("废液按卤代", "化学实验室的废液多久清运一次？", "由专业公司每月清运两次。"),
    Good("通风橱的面风速", "化学实验室通风橱的面风速应达到多少？", "不低于0.5 m/s。"),
    Good("通风橱的面风速", "化学实验室的通风橱由谁检测？", "每年由设备科检测一次。"),
    Good("发生酸液溅入眼睛", "酸液溅入眼睛时应当怎么处理？", "立即用洗眼器冲洗至少15分钟，然后就医。"),
    Good("学生只有在导师", "学生在什么条件下可以使用高压釜？", "只有在导师在场时才可以使用。"),
    Good("夜间22点以后", "夜间几点以后不得单独做实验？", "22点以后。"),
    Good("最后离开的人", "最后离开化学实验室的人负责什么？", "关闭气瓶总阀和电源。"),
    Good("实验室的钥匙由", "化学实验室的钥匙由谁保管？", "由管理员保管，借用须登记。"),
    Good("损坏仪器的", "在化学实验室损坏仪器后应当在多长时间内报告？", "24小时内。"),
    Good("损坏仪器的", "在化学实验室损坏仪器隐瞒不报会有什么后果？", "取消使用资格。"),
))  # fmt: skip

BOOKS = (PUMP, LEAVE, LEASE, LAB)


class Fault(NamedTuple):
    """A pair that must not be taken, given for the group with a sentence."""

    book: Book
    at: str
    kind: str
    question: str
    answer: str


FAULTS = (
    # outside knowledge
    Fault(PUMP, "Three modes are offered", "invented list", "Which modes does the CP-40 offer?", "Constant pressure, variable pressure, fixed speed and night mode such as Eco."),
    Fault(PUMP, "The CP-40 circulates", "outside", "Who makes the CP-40?", "Norddruck GmbH."),
    Fault(PUMP, "The CP-40 circulates", "outside", "What energy class does the CP-40 have?", "It has energy class A and uses little electricity."),
    Fault(PUMP, "The pump needs no", "outside", "Why does the CP-40 need no maintenance?", "Because its bearings are lubricated for life by the pumped water."),
    Fault(PUMP, "A green lamp", "outside", "What does a yellow lamp of the CP-40 show?", "A yellow lamp shows that the pump is in standby."),
    Fault(LEASE, "Welding is allowed", "outside", "Why is welding allowed only in the fire-proof bay?", "Because sparks could ignite fuel vapour from boats."),
    Fault(LEASE, "The monthly rent", "outside", "What is the deposit of the Harbour Workshop?", "Three monthly rents."),
    Fault(LEAVE, "员工因病不能上班", "outside", "远景公司员工请病假可以找谁帮忙？", "可以找工会主席王建国帮忙处理。"),
    Fault(LEAVE, "员工依法登记结婚", "outside", "远景公司的婚假期间工资怎么发？", "婚假期间工资照常全额发放。"),
    Fault(LEAVE, "所有假期均须通过", "invented list", "远景公司的人事系统支持哪些登录方式？", "支持多种登录方式，例如短信、指纹和人脸识别。"),
    Fault(LAB, "易燃溶剂应当存放", "invented list", "化学实验室有哪些易燃溶剂？", "易燃溶剂包括乙醇、丙酮和乙醚等。"),
    Fault(LAB, "发生酸液溅入眼睛", "outside", "酸液溅入眼睛时为什么要冲洗？", "因为酸液会腐蚀角膜并导致失明。"),
    # numbers, units, names
    Fault(PUMP, "The head can be set", "number", "Up to which head can the CP-40 be set?", "Up to 8 m in steps of 0.5 m."),
    Fault(PUMP, "The warranty lasts", "unit", "How long is the warranty of the CP-40?", "24 weeks from the date of installation."),
    Fault(PUMP, "Before the first start", "identifier", "Through which screw is the housing of the CP-40 vented?", "Through screw V3."),
    Fault(LEASE, "The monthly rent", "number", "How much is the monthly rent of the Harbour Workshop?", "EUR 2,500."),
    Fault(LEASE, "The Tenant may extend", "number in words", "By how many years may the lease of the Harbour Workshop be extended?", "By four years."),
    Fault(LEASE, "Defects must be", "name", "To whom must defects of the Harbour Workshop be reported?", "They must be reported to Mr Petersen within a week."),
    Fault(LEAVE, "病假期间的工资", "number", "远景公司病假期间的工资怎么发？", "按照本人基本工资的60%发放。"),
    Fault(LEAVE, "女员工的产假为", "unit", "远景公司的产假有多长？", "产假为158周。"),
    Fault(LEAVE, "男员工享受陪产假", "number in words", "远景公司的陪产假应在多长时间内休完？", "在子女出生之日起三个月内休完。"),
    Fault(LAB, "易燃溶剂应当存放", "number", "化学实验室每个防爆柜最多存放多少易燃溶剂？", "每柜不得超过100升。"),
    Fault(LAB, "废液按卤代", "name", "化学实验室的废液由谁清运？", "由绿源环保公司每月清运两次。"),
    # facts of other groups
    Fault(PUMP, "The CP-40 circulates", "other group", "How often should the strainer in front of the CP-40 be cleaned?", "The strainer should be cleaned once a year."),
    Fault(PUMP, "A noisy pump", "other group", "Which mode of the CP-40 is set at the factory?", "Variable pressure is set at the factory."),
    Fault(LEASE, "The lease begins", "other group", "Who maintains the roof of the Harbour Workshop?", "The Landlord maintains the roof, the outer walls and the drains."),
    Fault(LEAVE, "员工连续工作满一年", "other group", "远景公司的男员工有多少天陪产假？", "男员工享受陪产假，应当在子女出生之日起六个月内休完。"),
    Fault(LEAVE, "逾期未答复的", "other group", "远景公司的病假由谁批准？", "病假由部门经理批准，超过的由人力资源部批准。"),
    # empty
    Fault(PUMP, "Variable pressure is", "empty", "Which mode of the CP-40 is set at the factory?", ""),
    Fault(LEASE, "Heating and water", "empty", "", "Heating and water are not included."),
    Fault(LEAVE, "未按规定提交证明", "empty", "远景公司没有提交证明怎么办？", "……"),
    # questions that cannot stand alone
    Fault(PUMP, "It must never run dry", "pronoun", "Why must it never run dry?", "Because the ceramic bearing is destroyed within a minute."),
    Fault(PUMP, "If nothing is pressed", "pronoun", "What does this display do after 30 seconds?", "The display goes dark, but the setting is kept."),
    Fault(PUMP, "The strainer in front", "above", "How often should the strainer mentioned above be cleaned?", "Once a year."),
    Fault(LEASE, "Everything else is", "text", "According to the text, who maintains everything else?", "The Tenant."),
    Fault(LEASE, "The Landlord may raise", "pronoun", "How often may they raise the rent?", "Once a year, by no more than 3 %."),
    Fault(LEASE, "Subletting requires", "section", "What does the passage say about subletting?", "Subletting requires the written consent of the Landlord."),
    Fault(LEAVE, "难产的，增加", "pronoun", "她难产时增加多少天产假？", "增加产假15天。"),
    Fault(LEAVE, "系统收到申请后", "该", "该系统收到申请后会怎么做？", "自动发送给审批人。"),
    Fault(LEAVE, "国家法定休假日", "上述", "上述假期是否计入年休假？", "不计入年休假的假期。"),
    Fault(LAB, "学生只有在导师", "文中", "文中对高压釜的使用有什么规定？", "学生只有在导师在场时才可以使用高压釜。"),
    Fault(LAB, "夜间22点以后", "本", "本须知规定夜间几点以后不得单独做实验？", "22点以后。"),
    # the opposite
    Fault(PUMP, "The direction of rotation", "negation", "Can the direction of rotation of the CP-40 be changed?", "Yes, the direction of rotation can be changed."),
    Fault(PUMP, "The pump needs no", "negation", "Does the CP-40 need regular maintenance?", "The pump needs regular maintenance."),
    Fault(PUMP, "Damage by dry", "negation", "Is damage by dry running covered by the warranty of the CP-40?", "Damage by dry running is covered."),
    Fault(LEASE, "Heating and water", "negation", "Are heating and water included in the rent of the Harbour Workshop?", "Heating and water are included."),
    Fault(LEASE, "The Tenant shall keep", "modal", "What about the fire doors of the Harbour Workshop?", "The Tenant may keep the fire doors closed."),
    Fault(LEASE, "The Landlord may raise", "bound", "By how much may the Landlord raise the rent of the Harbour Workshop?", "By at least 3 %."),
    Fault(LEAVE, "国家法定休假日", "negation", "法定休假日是否计入远景公司的年休假？", "国家法定休假日计入年休假的假期。"),
    Fault(LEAVE, "员工请事假累计", "negation", "远景公司员工请事假累计20天以上能否享受当年的年休假？", "享受当年的年休假。"),
    Fault(LAB, "通风橱的面风速", "bound", "化学实验室通风橱的面风速应当是多少？", "应当不高于0.5 m/s。"),
    Fault(LAB, "实验室内禁止饮食", "negation", "化学实验室内可以饮食吗？", "实验室内可以饮食。"),
    # other
    Fault(PUMP, "A green lamp", "echo", "A green lamp shows that the pump is running?", "A green lamp shows that the pump is running."),
    Fault(LEASE, "The lease begins", "name in the question", "What does Norddruck GmbH rent at the Harbour Workshop?", "It begins on 1 March 2024 and runs for five years."),
    Fault(LEASE, "The lease begins", "number in the question", "How long does the lease of 14 boats run?", "It runs for five years."),
    Fault(LAB, "进入实验室必须佩戴", "language", "What must be worn in the laboratory?", "必须佩戴护目镜，并穿长袖实验服。"),
)  # fmt: skip
