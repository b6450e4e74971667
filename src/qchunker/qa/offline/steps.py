"""Procedures: a heading that names something to be done, and the numbered steps below it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.outlining.wording import named, render
from qchunker.qa.cells import trimmed
from qchunker.qa.offline.faq import LONGEST_ANSWER
from qchunker.qa.offline.place import Found, Pages, placed
from qchunker.types import Span

_FEWEST = 2
_STEP = re.compile(r"\s*(?:\d{1,2}[.)、．]|[（(]\d{1,2}[)）]|[①-⑳]|(?:Step|步骤)\s?\d{1,2}|第[一二三四五六七八九十]步)")
_TO_BE_DONE = re.compile(
    r"[A-Z]\w+ing\b|(?:How to|Steps|Procedure|Install|Replace|Remove|Start|Stop|Set ?up|Configure|"
    r"Create|Update|Upgrade|"
    r"Change|Check|Clean|Connect|Build|Add|Delete|Enable|Disable|Use|Run|Reset|Restore)\b|"
    r".*\b(?:installation|procedure|"
    r"steps|instructions|assembly|replacement|removal|start-?up|shutdown|configuration|maintenance)\Z|"
    r".*(?:步骤|步驟|流程|程序|操作|方法|安装|安裝|拆卸|更换|更換|启动|啟動|停机|配置|设置|設置|检修|"
    r"维护|保养|处置|处理|办理|申请)\Z|(?:如何|怎样|怎么|启动|安装|更换|配置|设置|创建|添加|删除|升级|"
    r"使用)",
    re.IGNORECASE,
)


def steps(pages: Pages) -> Iterator[Found]:
    """A question for each procedure of which all steps stand together right below its heading."""
    for section, blocks in pages.bodies():
        if not section.title or section.generic or _TO_BE_DONE.match(section.title) is None:
            continue
        items = [block for block in blocks if block.kind == "list_item"]
        outer = [block for block in items if block.level <= 1]
        numbered = [block for block in outer if _STEP.match(pages.text, block.start, block.end)]
        first = blocks.index(items[0]) if items else len(blocks)
        if len(numbered) < _FEWEST or len(numbered) < len(outer) or first > 1:
            continue
        last = max(blocks.index(block) for block in items)
        if any(block.kind != "list_item" for block in blocks[first:last]):
            continue  # text between the steps
        answer = Span(items[0].start, items[-1].end)
        if answer.end - answer.start <= LONGEST_ANSWER and not pages.holds_furniture(*answer):
            about = pages.title if pages.title and pages.title != section.title else ""
            question = placed(render(pages.language, "steps", named(section.title)), about, pages.language)
            yield Found(question, trimmed(pages.text, answer), (section.evidence,), "steps")
