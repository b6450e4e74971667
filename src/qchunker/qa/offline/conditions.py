"""What a document says for the case that something is so: "If frost is possible, drain the casing"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.assertions import is_asserted
from qchunker.debate.offline.index.limits import limits_on
from qchunker.debate.offline.outlining import statements
from qchunker.debate.offline.outlining.wording import language_of, render
from qchunker.qa.cells import trimmed
from qchunker.qa.offline.place import Found, Pages, placed
from qchunker.sentences import sentence_spans
from qchunker.types import Block, Span

_LONGEST = 400  # of the sentence
_LONGEST_ANSWER = 600
_LOOKED_AT = 1_000  # characters from the sentence on: more is no answer
_FEWEST_BLANKS = 2  # of an English clause with a subject
_MOST_LIMITS = 3  # clauses that an answer takes in
_ITEM = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、])\s+")
_POINTS = re.compile(
    r"\b(?:this|that|so|these|those|it|its|they|their|them|he|she|you|your|we|our|following)\b|"
    r"\b(?:above|below)\b(?!\s+(?:the|an?|zero|freezing|\d))|"
    r"[该该此这這其它他她您你]|上述|前述|前款|前条|以下|如下|下列",
    re.IGNORECASE,
)
# Clauses with two verbs hold what follows too; descriptions end like Chinese conditions.
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|might|may|can|could|will|would|should|must|do|does|did)\b", re.IGNORECASE
)
_DESCRIBES = re.compile("是|很|非常|比较|第[一二三四五六七八九十]|不仅|除了|所有|为了|[一二两]种")
# What is so of nothing that is named: the clause before named it.
_NO_SUBJECT_ZH = re.compile(
    r"(?:当|當|如果?|若|倘若|一旦)?\s*(?:\d|仍|再|又|也|都|已|连续|連續|持续|持續|反复|反覆|继续|繼續|累计|累計|逾|"
    r"不(?!可抗力)|未(?!成年)|没有|沒有|无法|無法|超过|超過|超出|高于|高於|低于|低於|大于|大於|小于|小於|多于|多於|少于|少於|"
    r"达|達|升至|降至|升高|降低|上升|下降|等于|等於|介于|介於|呈|属于|屬於|为|為|处于|處於|保持|恢复|恢復|变为|變為|满|滿|"
    r"在\s*\d)"
)
# Lines of a block that begin something else: a clause always, an item only after an item.
_CLAUSE_LINE = re.compile(
    r"\n[ \t]*(?:\d{1,3}(?:\.\d{1,3}){1,4}[.)、]?\s|\d{1,3}[.)、](?!\d)|"
    r"第\s?[\d一二三四五六七八九十百零〇两]{1,6}\s?[条條款])"
)
_ITEM_LINE = re.compile(r"\n[ \t]*(?:[-*+•·]\s|[(（]\w{1,3}[)）]|[①-⑳])")
_IS_ITEM = re.compile(r"[ \t]*(?:[-*+•·]\s|[(（]\w{1,3}[)）]|[①-⑳])")
# A paragraph that goes on about the one before.
_GOES_ON = re.compile(
    r"\s*(?:(?:this|that|the (?:above|foregoing))(?:\s\w+)?\s(?:does|do|shall|will|is)\snot\b|"
    r"(?:however|except|unless)\b|"
    r"但|除外|例外|前[款条條项項]|上述)",
    re.IGNORECASE,
)


def conditions(pages: Pages) -> Iterator[Found]:
    """A question for each case of which one sentence says what then holds; the case must be told without pointing.

    The answer is the sentence with the rest of its paragraph, where exceptions and remedies stand.
    """
    for section, blocks in pages.bodies():
        about = pages.about(section)
        for place, block in enumerate(blocks):
            if about and block.kind in ("paragraph", "list_item"):
                for sentence in sentence_spans(pages.text, block.start, block.end):
                    yield from _condition(pages, about, sentence, blocks, place)


def _condition(pages: Pages, about: str, sentence: Span, blocks: list[Block], place: int) -> Iterator[Found]:
    words = pages.text[slice(*sentence)]
    language = language_of(words)
    found = statements.condition(pages.text, sentence, language)
    if found is None or len(words) > _LONGEST or not is_asserted(words):
        return
    if _is_more(found.words) or _POINTS.search(found.words) or words.rstrip().endswith(("?", "？")):
        return
    question = placed(render(language, found.pattern, found.words), about, language)
    mark = _ITEM.match(pages.text, *sentence)
    start = mark.end() if mark else sentence.start
    answer = trimmed(pages.text, Span(start, _end(pages.text, sentence.start, blocks, place)))
    if pages.text[answer.end - 1] in ":：":
        return  # what it leads into is no text
    answer, problem = _with_limits(pages, answer)
    if _NO_SUBJECT_ZH.match(found.words):
        problem = "no subject"
    yield Found(question, answer, (), "condition", problem)


def _is_more(clause: str) -> bool:
    """Whether a clause is more, or less, than a case that can be asked about: "if applicable" names none."""
    too_short = clause.isascii() and clause.count(" ") < _FEWEST_BLANKS
    return too_short or len(_VERB.findall(clause)) > 1 or _DESCRIBES.search(clause) is not None


def _end(text: str, start: int, blocks: list[Block], place: int) -> int:
    """Where the paragraph or item of a sentence ends, with the list that it leads into and what goes on about it."""
    block = blocks[place]
    end = _end_of_clause(text, start, block.end)
    if end < block.end:
        return end
    place += 1
    leads = text[start:end].rstrip().endswith((":", "："))
    while place < len(blocks) and blocks[place].kind == "list_item" and blocks[place].start < start + _LOOKED_AT:
        if not (blocks[place].level > block.level if block.kind == "list_item" else leads):
            break
        end = blocks[place].end
        place += 1
    if place < len(blocks) and blocks[place].kind == "paragraph" and _GOES_ON.match(text, *_span(blocks[place])):
        end = _end_of_clause(text, *_span(blocks[place]))
    return end


def _span(block: Block) -> Span:
    return Span(block.start, block.end)


def _end_of_clause(text: str, start: int, end: int) -> int:
    line = text.rfind("\n", 0, start) + 1
    end = min(end, start + _LOOKED_AT)
    edges = [_CLAUSE_LINE] if _IS_ITEM.match(text, line, end) is None else [_CLAUSE_LINE, _ITEM_LINE]
    found = (edge.search(text, start, end) for edge in edges)
    return min((match.start() for match in found if match), default=end)


def _with_limits(pages: Pages, answer: Span) -> tuple[Span, str | None]:
    """The answer with what limits it in the clause or paragraph behind it; why there is none where it stands elsewhere.

    Sources of limits: clauses that name the one at hand ("Clause 8.3 does not apply"), sections of exclusions.
    """
    if answer.end - answer.start > _LONGEST_ANSWER:
        return answer, "too long"
    whole = answer
    for _ in range(_MOST_LIMITS):
        outside = [limit.exception for limit in limits_on(pages.index, whole)]
        if not outside:
            return whole, None
        nearest = min(outside)
        if nearest.start < whole.end or not _is_next(pages, whole.end, nearest.start):
            break
        block = pages.document.blocks_in(nearest.start, nearest.start + 1)[0]
        whole = trimmed(pages.text, Span(answer.start, _end_of_clause(pages.text, nearest.start, block.end)))
        if whole.end - whole.start > _LONGEST_ANSWER:
            break
    return answer, "limited"


def _is_next(pages: Pages, end: int, start: int) -> bool:
    """Whether no clause and no block stands between two places."""
    between = [block for block in pages.blocks(end, start) if block.start >= end and block.end <= start]
    heads = any(block.kind == "heading" for block in pages.blocks(end, start))
    return not between and not heads and len(_CLAUSE_LINE.findall(pages.text, end, start)) < 2
