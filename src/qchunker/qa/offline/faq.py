"""Questions that the document asks itself, each with what stands below it up to the next one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from qchunker.qa.cells import trimmed
from qchunker.qa.offline.asked import Asked, asked
from qchunker.qa.offline.place import Found, Pages
from qchunker.types import Span

LONGEST_ANSWER = 3_000


def questions(pages: Pages) -> Iterator[Found]:
    """Every question that the document asks and answers."""
    end = len(pages.text)
    for one, following in pairwise([*asked(pages), Asked("", Span(end, end), end, end, end)]):
        answer = _answer(pages, one, following.start)
        if 0 < answer.end - answer.start <= LONGEST_ANSWER and not pages.holds_furniture(*answer):
            yield Found(one.question, answer, (one.words,), "faq")


def _answer(pages: Pages, one: Asked, following: int) -> Span:
    """What stands between a question and the next one; headings that lead into the next one are no part of it."""
    end = min(one.end, following)
    blocks = [block for block in pages.blocks(one.body, end) if block.end > one.body]
    while blocks and blocks[-1].kind == "heading":
        blocks.pop()
    if not blocks or blocks[0].kind == "heading":
        return Span(one.body, one.body)
    return trimmed(pages.text, Span(one.body, min(end, blocks[-1].end)))
