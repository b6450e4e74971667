"""Documents with hand-written replies, and a model that gives them: every role of the debate, as a good model plays it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from qchunker.config import DebateConfig, LLMConfig
from qchunker.debate.verify import CONNECTIVES
from qchunker.errors import ModelError
from qchunker.models.fake import HashingEmbedder
from qchunker.models.llm import LLM, Completion, Done, Reply, Request, Tally, one_by_one
from qchunker.models.load import Models
from qchunker.pipeline import chunk
from qchunker.prompts import LANGUAGES, load_prompt
from qchunker.rows import chunk_rows
from qchunker.types import Document, Partition

ROLES = ("outline", "segmenter", "segmenter_anchors", "reviewer", "verifier", "completer")
MASK = "[MASK]"
_LINE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_CHUNK = re.compile(r'<chunk n="(\d+)" under="[^"]*">\n(.*?)\n</chunk>', re.DOTALL)
_ITEM = re.compile(r'<item n="(\d+)">(.*?)</item>', re.DOTALL)
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
Answer = Callable[[Any], Any]


class Need(NamedTuple):
    """What the model finds missing in the chunk that holds ``surface`` and not ``evidence``."""

    kind: str
    surface: str
    evidence: str
    needed: bool = True


@dataclass(frozen=True)
class Script:
    """A document and what the model says of it.

    Args:
        name: of the file.
        title: that the document gives itself.
        text: of the document.
        chunks: the first words of every chunk and the question that it answers.
        needs: what its chunks lack.
        woven: words of chunks, and what the model writes in their place.
    """

    name: str
    title: str
    text: str
    chunks: tuple[tuple[str, str], ...]
    needs: tuple[Need, ...] = ()
    woven: Mapping[str, str] = field(default_factory=dict)

    @property
    def starts(self) -> list[int]:
        """Where chunks start, as positions of the text."""
        return [self.text.index(words) for words, _ in self.chunks]


def _mark(system: str) -> tuple[str, bool]:
    """What tells the system prompts apart: their first lines, and that of the segmenters whether it names anchors."""
    return system.split("\n", 1)[0], MASK in system


_SYSTEMS = {_mark(load_prompt(role, one).parts[0]): role for role in ROLES for one in LANGUAGES}


def role_of(body: Any) -> str:
    """Which role a request is for, by its system prompt."""
    return _SYSTEMS[_mark(body["messages"][0]["content"])]


def said(body: Any) -> str:
    """What a request says besides the system prompt."""
    return str(body["messages"][-1]["content"])


def inside(tag: str, text: str) -> str:
    """What stands between the first tags of a name."""
    return text.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def by_title(scripts: Sequence[Script]) -> Answer:
    """The model that knows these documents."""
    known = {script.title: script for script in scripts}

    def answer(body: Any) -> str:
        title = said(body).split("\n", 1)[0].replace("文档：", "Document: ").removeprefix("Document: ")
        return reply(known[title], body)

    return answer


def reply(script: Script, body: Any) -> str:
    """What the model says to one request about a document."""
    return _REPLIES[role_of(body)](script, said(body))


def numbers_of(script: Script, text: str) -> list[int]:
    """Numbers of the sentences that begin chunks."""
    flat = [" ".join(words.split()) for words, _ in script.chunks]
    return [int(line[1]) for line in _LINE.finditer(text) if any(line[2].startswith(words) for words in flat)]


def _outline(script: Script, text: str) -> str:
    starts, last = numbers_of(script, text), len(_LINE.findall(inside("text", text)))
    ends = [start - 1 for start in starts[1:]] + [last]
    return json.dumps({"questions": [
        {"question": question, "first": start, "last": end}
        for (_, question), start, end in zip(script.chunks, starts, ends, strict=False)
    ]}, ensure_ascii=False)  # fmt: skip


def _starts(script: Script, text: str) -> str:
    return json.dumps({"starts": numbers_of(script, inside("text", text))})


def _anchors(script: Script, _: str) -> str:
    starts = script.starts
    pieces = [script.text[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    thoughts = "\n".join(question for _, question in script.chunks)
    return f"<think>\n{thoughts}\n</think>\n" + "\n".join(
        f"<chunk>{piece[:16]}[MASK]{piece[-12:]}</chunk>" for piece in pieces
    )


def _review(script: Script, text: str) -> str:
    listed = _CHUNK.findall(text.partition("\n</text>")[2])
    return json.dumps({"chunks": [
        {"n": int(number), "missing": [
            need._asdict() for need in script.needs if need.surface in body and need.evidence not in body
        ]}
        for number, body in listed
    ]}, ensure_ascii=False)  # fmt: skip


def _verdicts(_: Script, text: str) -> str:
    numbers = [int(number) for number, _ in _ITEM.findall(text)]
    return json.dumps({"items": [
        {"n": number, "critical": True, "explicit": True, "new_topic": False} for number in numbers
    ]})  # fmt: skip


def _rewrite(script: Script, text: str) -> str:
    body = inside("chunk", text)
    for old, new in script.woven.items():
        body = body.replace(old, new)
    return json.dumps({"text": body}, ensure_ascii=False)


_REPLIES: dict[str, Callable[[Script, str], str]] = {
    "outline": _outline, "segmenter": _starts, "segmenter_anchors": _anchors, "reviewer": _review,
    "verifier": _verdicts, "completer": _rewrite,
}  # fmt: skip


class Roles:
    """A good model with some roles played otherwise; keeps what it was asked, by role.

    Args:
        good: the model.
        others: by role; each gets the body of a request and gives a text or a fault.
    """

    def __init__(self, good: Answer, **others: Answer) -> None:
        self.good, self.others = good, others
        self.asked: list[tuple[str, str]] = []

    def __call__(self, body: Any) -> Any:
        role = role_of(body)
        self.asked.append((role, said(body)))
        return self.others.get(role, self.good)(body)

    def of(self, role: str) -> list[str]:
        """What was asked of a role."""
        return [text for name, text in self.asked if name == role]


AGREEMENT = Script("agreement.md", "Supply agreement", """\
# Supply agreement

## 1 Definitions

"Goods" means the centrifugal pumps listed in Schedule 1. "Delivery Date" means the day on which the carrier unloads the Goods at the Plant. The Plant is the site of the Buyer in Aachen, with its workshops and its quay.

## 2 Warranty

The Seller repairs any defect of the Goods within 15 days of notice. The warranty period begins on the Delivery Date and lasts 24 months. The Buyer gives notice in writing and names the serial number of the pump.

## 3 Exceptions

Section 2 does not apply to wear of seals and bearings. The Seller may refuse a repair if the pump was opened by others. A refusal must be given in writing and must name its reason.
""", (("# Supply agreement", "What do the terms of the supply agreement mean?"),
      ("## 2 Warranty", "Which defects does the Seller repair, and until when?"),
      ("## 3 Exceptions", "What does the warranty not apply to?")),
    (Need("definition", "Delivery Date", '"Delivery Date" means the day on which the carrier unloads the Goods at the Plant.'),
     Need("exception_or_condition", "repairs any defect of the Goods", "Section 2 does not apply to wear of seals and bearings.")),
    {"begins on the Delivery Date and": "begins on the Delivery Date (the day on which the carrier unloads the Goods at the Plant) and",
     "within 15 days of notice.": "within 15 days of notice. Exception: Section 2 does not apply to wear of seals and bearings."},
)  # fmt: skip

VALVES = Script("valves.txt", "Relief valves of the boiler house", """\
Relief valves of the boiler house

1. Purpose

A safety relief valve (SRV) opens by itself when the pressure in the drum exceeds 16 bar. It closes again at 14 bar. Every drum of the boiler house has two of them, one on each side.

2. Test

The SRV is tested every 12 months by the inspector of the insurer. The test is carried out as described in Section 3. The result is entered in the log book on the same day and signed by two persons.

3. Procedure

The drum is filled with cold water to the upper mark. The pump raises the pressure by 1 bar per minute. The operator writes down the pressure at which the valve opens, and stops the pump at once.
""", (("Relief valves of the boiler house", "When does a safety relief valve open and close?"),
      ("2. Test", "How often is the SRV tested, and by whom?"),
      ("3. Procedure", "How is a relief valve tested?")),
    (Need("abbreviation", "The SRV", "A safety relief valve (SRV) opens by itself"),
     Need("cross_reference", "Section 3", "The drum is filled with cold water to the upper mark.")),
    {"The SRV is tested": "The SRV (safety relief valve) is tested",
     "as described in Section 3.": "as described in Section 3 (The drum is filled with cold water to the upper mark)."},
)  # fmt: skip

_EN_ROWS = "".join(f"| KL-{n} | {n * 3} | {n + 7} | cast iron, seal of graphite, {n} stages |\n" for n in range(10, 34))
CURVES = Script("curves.md", "Pump curves", f"""\
# Pump curves

The works in Essen builds the pumps below. Curves were measured with water of 20 °C.

| Type | Flow in m3/h | Head in m | Build |
|---|---|---|---|
{_EN_ROWS}
## Use

It must not run dry. Oil of the kind VG 46 is filled in up to the mark before the first start, and changed after 500 hours of work. The seal is replaced by the works only.
""", (("# Pump curves", "Which flow and head have the small pumps?"), ("| KL-21 |", "Which flow and head have the large pumps?"),
      ("## Use", "How are the pumps used?")),
    (Need("table_header", "KL-21", "| Type | Flow in m3/h | Head in m | Build |"),
     Need("subject_entity", "the works only", "The works in Essen builds the pumps below.")),
    {"| KL-21 |": "Table header: | Type | Flow in m3/h | Head in m | Build |\n| KL-21 |",
     "It must not run dry.": "Subject: The works in Essen builds the pumps below. It must not run dry."},
)  # fmt: skip

WAREHOUSE = Script("warehouse.md", "危险物品仓库管理办法", """\
# 危险物品仓库管理办法

## 第一条 定义

本办法所称“危险物品”，是指列入《危险货物品名表》的易燃、易爆和腐蚀性物质。本办法所称“保管人员”，是指经考核合格并持有上岗证的仓库值班人员。仓库由安全科统一管理，任何部门不得自行设立仓库。

## 第二条 储存

危险物品应当储存在专用仓库内，并由保管人员每日检查两次。仓库内的温度不得超过30 °C，相对湿度不得超过80%。检查结果应当记入台账，台账至少保存三年，以备查验。

## 第三条 例外

第二条的规定不适用于实验室当日领用的试剂。违反前款规定多领试剂的，由安全科责令退回，并处以二百元罚款。罚款应当在十五日内缴清，逾期不缴的，自次日起停止其领用资格。
""", (("# 危险物品仓库管理办法", "危险物品和保管人员分别指什么？"), ("## 第二条 储存", "危险物品应当如何储存和检查？"),
      ("## 第三条 例外", "哪些试剂不适用储存规定？违反的如何处罚？")),
    (Need("definition", "保管人员", "本办法所称“保管人员”，是指经考核合格并持有上岗证的仓库值班人员。"),
     Need("exception_or_condition", "应当储存在专用仓库内", "第二条的规定不适用于实验室当日领用的试剂。"),
     Need("cross_reference", "第二条", "仓库内的温度不得超过30 °C，相对湿度不得超过80%。")),
    {"由保管人员每日": "由保管人员（经考核合格并持有上岗证的仓库值班人员）每日",
     "以备查验。": "以备查验。例外：第二条的规定不适用于实验室当日领用的试剂。",
     "领用的试剂。违反": "领用的试剂。所指：仓库内的温度不得超过30 °C，相对湿度不得超过80%。违反"},
)  # fmt: skip

_ZH_ROWS = "".join(f"| 油品{n}号 | {n * 2} | {n + 40} | 铁桶密封，避光存放，有效期{n}个月 |\n" for n in range(11, 51))
OILS = Script("oils.md", "润滑油性能表", f"""\
# 润滑油性能表

下表数据由检测中心于2023年测定，样品取自三号储罐，每个样品测定两次并取平均值。

| 名称 | 黏度（mm²/s） | 闪点（°C） | 储存要求 |
|---|---|---|---|
{_ZH_ROWS}
## 使用说明

开启后应当在三十日内用完。不同批次的油品不得混用。更换油品前须将油箱清洗干净，并以新油冲洗一次，冲洗后的废油按照危险废物处理，不得倒入下水道，也不得作为燃料使用。
""", (("# 润滑油性能表", "油品11至29号的黏度和闪点是多少？"), ("| 油品30号 |", "油品30至50号的黏度和闪点是多少？"),
      ("## 使用说明", "油品应当如何使用？")),
    (Need("table_header", "油品30号", "| 名称 | 黏度（mm²/s） | 闪点（°C） | 储存要求 |"),
     Need("time_or_place", "油品50号", "下表数据由检测中心于2023年测定", False)),
    {"| 油品30号 |": "表头：| 名称 | 黏度（mm²/s） | 闪点（°C） | 储存要求 |\n| 油品30号 |"},
)  # fmt: skip

COMPANY = Script("company.txt", "华东泵业股份有限公司简介", """\
华东泵业股份有限公司简介

一、概况

华东泵业股份有限公司成立于1998年，总部位于杭州市，主要从事化工流程泵（以下简称流程泵）的设计、制造和销售。公司现有员工六百余人，其中工程技术人员一百二十人，拥有三条装配线和一座试验台。

二、业绩

该公司去年共销售流程泵三千余台，产品出口到二十多个国家和地区。其最大客户位于德国，双方已经连续合作十二年。今年上半年的订单比去年同期增加了百分之十五，交货期因此有所延长。

三、服务

用户在使用中遇到问题时，可以拨打服务热线，工程师将在四小时内答复。备件从中心仓库发出，省内次日到达，省外三日内到达。质保期内的维修不收取任何费用，质保期外只收取备件费用。
""", (("华东泵业股份有限公司简介", "华东泵业股份有限公司是一家什么样的企业？"), ("二、业绩", "公司去年的销售情况如何？"),
      ("三、服务", "用户遇到问题时可以得到哪些服务？")),
    (Need("coreference", "该公司", "华东泵业股份有限公司成立于1998年"),
     Need("abbreviation", "流程泵", "化工流程泵（以下简称流程泵）")),
    {"该公司去年": "华东泵业股份有限公司去年", "共销售流程泵三千": "共销售流程泵（化工流程泵）三千"},
)  # fmt: skip

SCRIPTS = (AGREEMENT, VALVES, CURVES, WAREHOUSE, OILS, COMPANY)


def relief_valve(number: int, filler: str = "") -> Script:
    """A small document of its own for every number."""
    first = f"The tank {number} stands in hall {number % 7}. A safety relief valve {number} (SRV-{number}) keeps its pressure below {number + 3} bar.{filler}"
    second = f"The SRV-{number} is opened by hand every {number + 2} weeks. The operator of shift {number} enters the result in the log."
    return Script(
        f"tank{number:03}.md", f"Tank {number}", f"# Tank {number}\n\n{first}\n\n## Care of tank {number}\n\n{second}\n",
        ((f"# Tank {number}", f"What protects tank {number}?"), (f"## Care of tank {number}", f"How is the SRV-{number} cared for?")),
        (Need("abbreviation", f"The SRV-{number} is", f"A safety relief valve {number} (SRV-{number})"),),
        {f"The SRV-{number} is": f"The SRV-{number} (safety relief valve {number}) is"},
    )  # fmt: skip


class InProcess:
    """The same model without a server between.

    Args:
        answer: gets the body of a request, as a server would, and gives a text, a completion or an error.
    """

    id = "scripted"

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        self.requests += requests
        return one_by_one(requests, self._reply, done)

    def _reply(self, request: Request) -> Reply:
        answer = self.answer({"messages": [{"role": role, "content": text} for role, text in request.turns]})
        return answer if isinstance(answer, Completion | ModelError) else Completion(answer)


def debated(document: Document, llm: LLM, **settings: Any) -> tuple[Partition, Tally]:
    """What a model makes of a document, and what happened; one path and the model's findings alone unless told."""
    tally = Tally()
    config = LLMConfig(**{"paths": 1, "with_rules": False} | settings)
    models = Models(HashingEmbedder(), llm=llm, tally=tally)
    return chunk(document, debate_config=DebateConfig(llm=config), models=models), tally


def assert_lossless(partition: Partition) -> None:
    """Every character but white space is in exactly one chunk, and what is written down can be."""
    text = partition.document.text
    covered = [0] * len(text)
    for piece in partition.chunks:
        assert piece.text == text[piece.start : piece.end]
        for at in range(piece.start, piece.end):
            covered[at] += 1
    assert all(times == 1 for times, char in zip(covered, text, strict=True) if not char.isspace())
    assert max(covered) == 1
    assert [one.start for one in partition.chunks] == sorted(one.start for one in partition.chunks)
    json.dumps(chunk_rows(partition), ensure_ascii=False).encode()


def assert_traceable(partition: Partition) -> None:
    """Every addition quotes the same document outside of its chunk, and holds no other words but connectives."""
    for piece in partition.chunks:
        for one in piece.added:
            assert one.evidence
            assert all(end <= piece.start or start >= piece.end for start, end in one.evidence)
            said_there = {word for span in one.evidence for word in words(partition.document.text[slice(*span)])}
            assert words(one.text) <= said_there | _CONNECTIVES, one


def words(text: str) -> set[str]:
    return {match[0].casefold() for match in _WORD.finditer(text)}


_CONNECTIVES = {word for phrase in CONNECTIVES for word in words(phrase)}
