"""Questions that the document asks itself: headings, marked questions and answers, question lines, terms of lists."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from qchunker.debate.offline.outlining.sections import Section
from qchunker.debate.offline.outlining.wording import plain, render, title
from qchunker.qa.cells import trimmed
from qchunker.qa.offline.place import Found, Pages
from qchunker.types import Block, Span

LONGEST_ANSWER = 3_000
_LONGEST_QUESTION = 240
_FEWEST_ALIKE = 2  # question lines of a section that make it one of questions and answers
_QUESTION_END = re.compile(r"[?？][!！]?[\s*_\"'”’」』）)]*\Z")
_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|may|must|should|shall|"
    r"will|would|has|have)\b|什[么麼]|哪|谁|誰|几|幾|多[少久大长高]|怎|如何|为何|為何|是否|能否|可否|"
    r"吗|嗎|何时|何處|何处",
    re.IGNORECASE,
)
_HOW_TO = re.compile(r"how\s+to\s+(?=\S)", re.IGNORECASE)
_HOW_ZH = re.compile(r"(?:如何|怎样|怎樣|怎么|怎麼)[^，。；：]{2,40}\Z")
_MARK = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?[*_]{0,2}(?:(?P<q>Q|Question|问题|問題|问|問)|(?P<a>A|Answer|回答|答案|答))[ \t]*\d{0,3}"
    r"[*_]{0,2}[ \t]*[:：.、)）][*_]{0,2}[ \t]*(?=\S)",
    re.MULTILINE,
)
_BOLD_QUESTION = re.compile(r"(?P<mark>\*\*|__)(?P<question>[^*_\n]{4,200}[?？])(?P=mark)\s+(?=\S)")


def questions(pages: Pages) -> Iterator[Found]:
    """Every question that the document asks and answers."""
    marked = list(_marked(pages))
    yield from marked
    taken = {found.question for found in marked}
    for section, blocks in pages.bodies():
        yield from _heading(pages, section)
        yield from (found for found in _lines(pages, blocks) if found.question not in taken)


def _asked(words: str) -> bool:
    return (
        len(words) <= _LONGEST_QUESTION
        and _QUESTION_END.search(words) is not None
        and _ASKS.search(words) is not None
        and len(re.findall(r"[?？]", words)) < 3
    )


def _heading(pages: Pages, section: Section) -> Iterator[Found]:
    if not section.title or section.body >= section.tree_end:
        return
    words, heading = section.title, plain(pages.text[section.start : section.body]).strip(" :：")
    how = _HOW_TO.match(words)
    if _asked(words) or _asked(heading):
        question = words if _QUESTION_END.search(words) else title(heading) + heading[-1]
    elif how and not words.endswith(("?", "？")):
        question = render("en", "how", words[how.end() :])
    elif _HOW_ZH.match(words):
        question = f"{words}？"
    else:
        return
    blocks = [block for block in pages.blocks(section.body, section.tree_end) if block.start >= section.body]
    if not blocks or blocks[0].kind == "heading":
        return
    answer = Span(blocks[0].start, blocks[-1].end)
    if _fits(pages, answer):
        yield Found(question, trimmed(pages.text, answer), (section.evidence,), "faq")


def _fits(pages: Pages, answer: Span) -> bool:
    return 0 < answer.end - answer.start <= LONGEST_ANSWER and not pages.holds_furniture(*answer)


def _marked(pages: Pages) -> Iterator[Found]:
    """``Q: ... A: ...``; an answer goes on to the next question or heading, the last one to the end of its block."""
    text = pages.text
    marks = [mark for mark in _MARK.finditer(text) if not _is_code(pages, mark.end())]
    heads = [section.start for section in pages.sections.all if section.title]
    for place, (mark, reply) in enumerate(pairwise(marks)):
        if not mark["q"] or not reply["a"]:
            continue
        question = plain(text[mark.end() : reply.start()])
        if not 3 < len(question) <= _LONGEST_QUESTION or "\n\n" in text[mark.end() : reply.start()].strip():
            continue
        following = marks[place + 2].start() if place + 2 < len(marks) and marks[place + 2]["q"] else None
        head = bisect_right(heads, reply.start())
        end = min(following or _block_end(pages, reply.end()), heads[head] if head < len(heads) else len(text))
        answer = trimmed(text, Span(reply.end(), end))
        if answer.end > answer.start and _fits(pages, answer):
            question = question if _QUESTION_END.search(question) else render(pages.language, "asked", question)
            yield Found(question, answer, (Span(mark.start(), mark.end()),), "faq")


def _is_code(pages: Pages, at: int) -> bool:
    return any(block.kind == "code" for block in pages.document.blocks_in(at, at + 1))


def _block_end(pages: Pages, at: int) -> int:
    return next((block.end for block in pages.document.blocks_in(at, at + 1)), at)


def _lines(pages: Pages, blocks: Sequence[Block]) -> Iterator[Found]:
    """Blocks that are a question, followed by what answers it."""
    text = pages.text
    found: list[Found] = []
    asking = [at for at, block in enumerate(blocks) if _is_question(pages, block)]
    for place, at in enumerate(asking):
        stop = asking[place + 1] if place + 1 < len(asking) else len(blocks)
        answers = list(blocks[at + 1 : stop])
        is_term = bool(answers) and blocks[at].kind == "list_item" and answers[0].level > blocks[at].level
        if is_term:
            answers = _deeper(answers, blocks[at].level)
        elif place + 1 == len(asking):
            answers = _first(answers, text)
        if not answers or (blocks[at].kind == "list_item" and not is_term):
            continue
        question = plain(text[blocks[at].start : blocks[at].end])
        answer = Span(answers[0].start, answers[-1].end)
        if _fits(pages, answer):
            found.append(Found(question, trimmed(text, answer), (Span(blocks[at].start, blocks[at].end),), "faq"))
    for block in blocks:
        bold = _BOLD_QUESTION.search(text, block.start, block.end) if block.kind in ("paragraph", "list_item") else None
        if bold and not text[block.start : bold.start()].strip(" -*+•\t") and _asked(bold["question"]):
            answer = trimmed(text, Span(bold.end(), block.end))
            found.append(Found(plain(bold["question"]), answer, (Span(block.start, bold.end()),), "faq"))
    if len(found) >= _FEWEST_ALIKE:
        yield from found


def _is_question(pages: Pages, block: Block) -> bool:
    if block.kind not in ("paragraph", "list_item", "quote") or block.end - block.start > 2 * _LONGEST_QUESTION:
        return False
    words = plain(pages.text[block.start : block.end])
    return _asked(words) and not re.search(r"[.。!！;；]\s*\S", words.rstrip("?？"))


def _deeper(blocks: Sequence[Block], level: int) -> list[Block]:
    kept: list[Block] = []
    for block in blocks:
        if block.kind == "list_item" and block.level <= level:
            break
        kept.append(block)
    return kept


def _first(blocks: Sequence[Block], text: str) -> list[Block]:
    """The block behind the last question, and the list that it leads into."""
    kept = list(blocks[:1])
    if kept and text[kept[0].start : kept[0].end].rstrip().endswith((":", "：")):
        for block in blocks[1:]:
            if block.kind != "list_item":
                break
            kept.append(block)
    return kept
