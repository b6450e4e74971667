"""Where a document asks: headings, marked questions, lines and terms of lists, and where their answers may end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from qchunker.debate.offline.outlining.sections import Section
from qchunker.debate.offline.outlining.wording import plain, render, title
from qchunker.qa.offline.place import Pages
from qchunker.types import Block, Span

_LONGEST_QUESTION = 240
_QUESTION_END = re.compile(r"[?？][!！]?[\s*_\"'”’」』）)]*\Z")
_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|may|must|should|shall|"
    r"will|would|has|have)\b|什[么麼]|哪|谁|誰|几|幾|多[少久大长長高]|怎|如何|为何|為何|是否|能否|可否|"
    r"吗|嗎|何时|何時|何處|何处",
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
_LIST_MARK = re.compile(r"[\s>]*(?:[-*+•·][ \t]+|\d{1,3}[.)、](?!\d)[ \t]*)?")
_BOLD = re.compile(r"(?:\*\*|__).+(?:\*\*|__)\s*\Z", re.DOTALL)
_STOPS = re.compile(r"[.。!！;；]\s*\S")
_ENDS = re.compile(r"[.。!！?？:：;；][\"'”’」』）)*_]*\s*\Z")
# A question of somebody who speaks, or one that goes on.
_IS_SAID = re.compile(
    r"[\"“'‘「『—–]|(?:but|so|and|or|then|now|well|ok(?:ay)?|right)\b|[^\W\d_][\w .]{0,20}[:：]|"
    r"那|但|可是|所以|于是|於是|[^?？]{1,8}[:：]",
    re.IGNORECASE,
)


class Asked(NamedTuple):
    """A question that the document asks.

    Args:
        question: its words, without marks.
        words: where they stand.
        start: where what belongs to it begins: an answer before it ends here.
        body: where its answer begins.
        end: where its answer ends at the latest; what is asked before that ends it too.
    """

    question: str
    words: Span
    start: int
    body: int
    end: int


def asked(pages: Pages) -> list[Asked]:
    """All questions of a document with room for an answer, in order."""
    marked = list(_marked(pages))
    starts = {one.words.start for one in marked}
    bodies = list(pages.bodies())
    lines = [one for _, blocks in bodies for one in _lines(pages, blocks) if one.words.start not in starts]
    headings = [one for section, _ in bodies for one in _heading(pages, section)]
    return sorted([*marked, *lines, *headings], key=lambda one: (one.start, one.body))


def _is_question(words: str) -> bool:
    return (
        len(words) <= _LONGEST_QUESTION
        and _QUESTION_END.search(words) is not None
        and _ASKS.search(words) is not None
        and len(re.findall(r"[?？]", words)) < 3
    )


def _heading(pages: Pages, section: Section) -> Iterator[Asked]:
    if not section.title or section.body >= section.tree_end:
        return
    words, heading = section.title, plain(pages.text[section.start : section.body]).strip(" :：")
    how = _HOW_TO.match(words)
    if _is_question(words) or _is_question(heading):
        question = words if _QUESTION_END.search(words) else title(heading) + heading[-1]
    elif how and not words.endswith(("?", "？")):
        question = render("en", "how", words[how.end() :])
    elif _HOW_ZH.match(words):
        question = f"{words}？"
    else:
        return
    yield Asked(question, section.evidence, section.start, section.body, section.tree_end)


def _marked(pages: Pages) -> Iterator[Asked]:
    """``Q: ... A: ...``; an answer goes on to the next question or heading, the last one to the end of its block."""
    text = pages.text
    marks = [mark for mark in _MARK.finditer(text) if not _is_code(pages, mark.end())]
    heads = [section.start for section in pages.sections.all if section.title]
    for place, (mark, reply) in enumerate(pairwise(marks)):
        between = text[mark.end() : reply.start()]
        question = plain(between)
        if not mark["q"] or not reply["a"] or not 3 < len(question) <= _LONGEST_QUESTION or "\n\n" in between.strip():
            continue
        is_last = place + 2 >= len(marks) or not marks[place + 2]["q"]
        head = bisect_right(heads, reply.start())
        end = heads[head] if head < len(heads) else len(text)
        end = min(end, _block_end(pages, reply.end()) if is_last else marks[place + 2].start())
        question = question if _QUESTION_END.search(question) else render(pages.language, "asked", question)
        yield Asked(question, _bare(text, Span(mark.end(), reply.start())), _line_start(text, mark), reply.end(), end)


def _line_start(text: str, mark: re.Match[str]) -> int:
    return mark.start() + len(mark[0]) - len(mark[0].lstrip())


def _is_code(pages: Pages, at: int) -> bool:
    return any(block.kind == "code" for block in pages.document.blocks_in(at, at + 1))


def _block_end(pages: Pages, at: int) -> int:
    """The end of a block, and of the list that it leads into."""
    block = next(iter(pages.document.blocks_in(at, at + 1)), None)
    if block is None or pages.text[at : block.end].rstrip()[-1:] not in (":", "："):
        return block.end if block else at
    end = block.end
    for following in pages.document.blocks[bisect_right(pages.document.blocks, at, key=lambda one: one.start) :]:
        if following.kind != "list_item":
            break
        end = following.end
    return end


def _bare(text: str, span: Span) -> Span:
    """The words of a stretch without white space and marks of bold at its edges."""
    piece = text[slice(*span)]
    start = span.start + len(piece) - len(piece.lstrip(" \t\r\n*_"))
    return Span(start, max(start, span.start + len(piece.rstrip(" \t\r\n*_"))))


def _lines(pages: Pages, blocks: Sequence[Block]) -> Iterator[Asked]:
    """Blocks that are a question or begin with one, and lines that are one, with what answers them."""
    found: list[tuple[int, Asked]] = []
    for at, block in enumerate(blocks):
        if block.kind in ("paragraph", "list_item", "quote"):
            found += [(at, one) for one in _of_block(pages, blocks, at)]
    for place, (at, one) in enumerate(found):
        is_last = place + 1 == len(found)
        if (
            is_last
            and one.body >= blocks[at].end
            and blocks[at].kind != "list_item"
            and not _is_bold(pages, blocks[at])
        ):
            one = one._replace(end=_block_end(pages, blocks[at + 1].start))
        yield one


def _is_bold(pages: Pages, block: Block) -> bool:
    return _BOLD.match(pages.text, block.start, block.end) is not None


def _of_block(pages: Pages, blocks: Sequence[Block], at: int) -> Iterator[Asked]:
    text, block = pages.text, blocks[at]
    first = _behind_mark(text, block.start, block.end)
    bold = _BOLD_QUESTION.match(text, first, block.end)
    if bold and _is_question(bold["question"]):
        yield Asked(plain(bold["question"]), Span(*bold.span("question")), block.start, bold.end(), block.end)
        return
    whole = Span(first, block.end)
    if _asks_alone(text, whole):
        end = _end_of_answer(blocks, at)
        if end > block.end:
            yield _asked_at(text, whole, block.start, block.end, end)
        return
    yield from _of_lines(text, block, first)


def _behind_mark(text: str, start: int, end: int) -> int:
    """Where the words of a line begin, behind the mark of a list or question."""
    mark = _MARK.match(text, start, end)
    if mark is None or not mark["q"]:
        mark = _LIST_MARK.match(text, start, end)
    return mark.end() if mark else start


def _of_lines(text: str, block: Block, first: int) -> Iterator[Asked]:
    """Lines of a block that ask, each with the lines below it."""
    at, before = first, ""
    while at < block.end:
        stop = text.find("\n", at, block.end)
        if stop < 0:
            return  # nothing below
        line = Span(_behind_mark(text, at, stop), stop)
        is_set_apart = not before.strip() or _ENDS.search(before) is not None
        if is_set_apart and _asks_alone(text, line):
            yield _asked_at(text, line, block.start if not before else at, stop, block.end)
        at, before = stop + 1, text[slice(*line)]


def _asked_at(text: str, span: Span, start: int, body: int, end: int) -> Asked:
    words = _bare(text, span)
    return Asked(plain(text[slice(*words)]), words, start, body, end)


def _asks_alone(text: str, span: Span) -> bool:
    """Whether a stretch is one question and nothing else."""
    if span.end - span.start > 2 * _LONGEST_QUESTION:
        return False
    words = plain(text[slice(*span)])
    return (
        _is_question(words)
        and _STOPS.search(words.rstrip("?？")) is None
        and _IS_SAID.match(words) is None
        and not words[0].islower()
    )


def _end_of_answer(blocks: Sequence[Block], at: int) -> int:
    """Where what stands below a block ends: of a term of a list, what is set deeper."""
    block, end = blocks[at], blocks[at].end
    if block.kind != "list_item":
        return blocks[-1].end
    for following in blocks[at + 1 :]:
        if following.level <= block.level:
            break
        end = following.end
    return end
