"""Which sentence of a document takes cases out of which rule."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from qchunker.assertions import is_asserted, names_other_document
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.numbered_clauses import Clause, is_value, unit_key
from qchunker.debate.offline.index.table_runs import cells, is_number
from qchunker.types import Span

_NUM = r"[0-9０-９一二三四五六七八九十百零〇两]{1,6}"
# Words that take something out of the rule they refer to. "Subject to Clause 4" is none: the exception is Clause 4.
_CUE = re.compile(
    r"\b(?:(?:not|nor) (?:be )?appl(?:y|ies|icable)|notwithstanding|exempt|nothing in|halved|reduced|instead of|"
    r"in lieu|only during|exceptions? to)\b|不适用|不受|不妨碍|一半|减半|扣减|不予|例外|不在此限",
    re.IGNORECASE,
)
# 第六条不适用于第四条 and "Clause 6 does not apply to Clause 4" limit 6; 不受第五条限制 limits 第五条.
_OF_WHAT_IS_BEFORE = re.compile(r"不适用于|(?:not|nor) ", re.IGNORECASE)
_OF_WHAT_IS_BEHIND = re.compile("不受|不妨碍")
_CUE_CHARS_ZH, _CUE_CHARS_EN = 40, 120  # between the cue and the reference
_REFERENCE = re.compile(
    rf"第\s*(?P<cn>{_NUM})\s*(?P<unit>条|條|章|节|節|部分)|"
    r"(?:clause|section|article|paragraph|rule|§)s?\s*(?P<en>[0-9]{1,3}(?:\.[0-9]{1,3}){0,4})|"
    r"(?<![0-9A-Za-z.$])(?P<dotted>[0-9]{1,2}(?:\.[0-9]{1,2}){1,3})(?![0-9%])|"
    r"(?P<relative>前(?P<count>[两兩二三])?[款条條项項]|上[款条項项]|\bthe (?:preceding|foregoing|"
    r"previous) (?:clause|paragraph|section|sentence|provision)s?)",
    re.IGNORECASE,
)
# A clause of another document.
OF_ANOTHER = re.compile(
    r"\s*(?:of|to|in)\s+(?:the|its|that|a)\s+(?:(?:[\w-]+\s+){0,3}(?:manual|Act|Code|Regulation|Directive|report|book|"
    r"standard|guide|indenture)|(?!License\b|Agreement\b|Licence\b|Contract\b)[A-Z][\w-]*\s+[A-Z])",
)
_JOINT = re.compile(r"\s*(?:and|or|、|和|与|及|或|至|to|,)\s*")
_EXCLUDES = re.compile(
    r"not covered|exclusion|exception|limitation|not included|does not cover|不属于|除外|例外|免责|不予|不承担|不包括",
    re.IGNORECASE,
)
_ABOUT_TABLE = re.compile(r"表格|上表|下表|表中|the table|table (?:above|below)", re.IGNORECASE)
_TABLE_CAVEAT = re.compile(
    r"(?:需要|必须|应|须|注意|不包括|不含|加上|未计|must|should|note|exclud|does not includ|do not includ|add)",
    re.IGNORECASE,
)
_STOP_WORDS = frozenset("what is not the and for are covered this that with from".split())
_MAX_ITEMS = 12
_MAX_LIMITS = 200  # limits looked at per chunk


class Limit(NamedTuple):
    """A sentence that limits a rule.

    Args:
        rule: the clause or section it limits.
        exception: the sentence.
        evidence: the sentence, and the items of the list it opens.
    """

    rule: Span
    exception: Span
    evidence: tuple[Span, ...]


def limits(index: DocumentIndex) -> list[Limit]:
    """All limits of a document, by where the rule starts."""
    return sorted([*_referring(index), *_sections_of_exclusions(index), *_table_caveats(index)])


def limits_on(index: DocumentIndex, chunk: Span) -> list[Limit]:
    """Limits of rules that share a character with a chunk, stated outside it."""
    found = index.derived(limits)
    end = bisect_left(found, chunk.end, key=lambda limit: limit.rule.start)
    return [
        limit
        for limit in found[max(0, end - _MAX_LIMITS) : end]
        if chunk.start < limit.rule.end and (limit.exception.end <= chunk.start or limit.exception.start >= chunk.end)
    ]


def _referring(index: DocumentIndex) -> Iterator[Limit]:
    text = index.text
    reach = _CUE_CHARS_ZH if index.chinese else _CUE_CHARS_EN
    for sentence in index.sentences:
        cue = _CUE.search(text, sentence.start, min(sentence.end, sentence.start + 600))
        if cue is None or index.in_code(sentence.start) or not is_asserted(text[slice(*sentence)]):
            continue
        line = index.line_start(sentence.start)
        at = sentence.start
        own = index.clauses.clause_at(sentence.start)
        if own is not None and own.start >= line and own.body > at:
            at = own.body
        for match in _nearest(text, cue, max(at, cue.start() - reach), min(sentence.end, cue.end() + reach)):
            rule = _rule(index, match, sentence)
            if rule is not None and not (rule.start <= sentence.start < rule.end):
                yield Limit(rule, sentence, (sentence, *_items(index, sentence)))


def _nearest(text: str, cue: re.Match[str], start: int, end: int) -> list[re.Match[str]]:
    """The reference that a cue belongs to, and those joined to it: 7.1 and 7.2."""
    found = list(_REFERENCE.finditer(text, start, end))
    before = [match for match in found if match.end() <= cue.start()]
    if _OF_WHAT_IS_BEFORE.match(text, cue.start()):
        found = before
    elif _OF_WHAT_IS_BEHIND.match(text, cue.start()):
        found = [match for match in found if match.start() >= cue.end()]
    elif before and cue.group() == "不适用":
        found = before
    if not found:
        return []
    gap = [m.start() - cue.end() if m.start() >= cue.end() else cue.start() - m.end() for m in found]
    best = gap.index(min(gap))
    low = high = best
    while low > 0 and _JOINT.fullmatch(text, found[low - 1].end(), found[low].start()):
        low -= 1
    while high + 1 < len(found) and _JOINT.fullmatch(text, found[high].end(), found[high + 1].start()):
        high += 1
    return found[low : high + 1]


def _rule(index: DocumentIndex, match: re.Match[str], sentence: Span) -> Span | None:
    if (match["dotted"] and is_value(index.text, *match.span())) or OF_ANOTHER.match(
        index.text, match.end(), match.end() + 60
    ):
        return None
    if names_other_document(index.text, sentence.start, match.start(), index.title_text):
        return None
    if match["relative"]:
        count = {"两": 2, "兩": 2, "二": 2, "三": 3}.get(match["count"] or "", 1)
        spans = [index.clauses.paragraph_before(sentence.start, n) for n in range(1, count + 1)]
        found = [span for span in spans if span is not None]
        return Span(found[-1].start, found[0].end) if found else None
    key = unit_key(match["cn"], match["unit"]) if match["cn"] else match["en"] or match["dotted"]
    clause = index.clauses.named([key], sentence.start)
    return _extent(index, clause) if clause is not None else None


def _extent(index: DocumentIndex, clause: Clause) -> Span:
    if clause.is_heading:
        section = index.section_at(clause.body)
        if section is not None:
            return Span(section.start, section.end)
    return Span(clause.start, clause.end)


def _items(index: DocumentIndex, sentence: Span) -> list[Span]:
    """The items of the list that a sentence opens."""
    if index.text[sentence.end - 1 : sentence.end] not in (":", "："):
        return []
    after = index.sentences_in(sentence.end, sentence.end + 1_200)
    items = []
    for span in after[:_MAX_ITEMS]:
        if span.start < sentence.end or not index.opens_item(span.start):
            break
        items.append(span)
    return items


def _sections_of_exclusions(index: DocumentIndex) -> Iterator[Limit]:
    """Sections such as "What is not covered", which limit those whose headings share a noun."""
    text = index.text
    excluding = [h for h in index.headings if _EXCLUDES.search(text, h.title.start, h.title.end)]
    for heading in excluding[:16]:
        words = _content(text[heading.title.start : heading.title.end])
        for other in index.headings[:400]:
            if other is heading or other.level != heading.level or other in excluding:
                continue
            if words & _content(text[other.title.start : other.title.end]):
                body = index.sentences_in(heading.body, min(heading.end, heading.body + 800))[:_MAX_ITEMS]
                if body:
                    yield Limit(Span(other.start, other.end), body[0], tuple(body))


def _content(title: str) -> set[str]:
    words = {word.lower() for word in re.findall(r"[A-Za-z]{3,}", title)}
    pairs = {title[i : i + 2] for i in range(len(title) - 1) if re.fullmatch(r"[\u4e00-\u9fff]{2}", title[i : i + 2])}
    covered = {"covered"} if "covered" in words else set()
    return (words - _STOP_WORDS) | covered | (pairs - {"情形", "范围", "责任", "的情", "不属"})


def _table_caveats(index: DocumentIndex) -> Iterator[Limit]:
    """Sentences around a table that say how its values are to be read."""
    text = index.text
    for table in index.tables:
        if not any(is_number(cell) for row in table.rows for cell in cells(text[row.start : row.end])):
            continue
        near = index.sentences_in(max(0, table.start - 500), table.start)
        near += index.sentences_in(table.end, min(len(text), table.end + 300))
        for sentence in near:
            if _ABOUT_TABLE.search(text, *sentence) and _TABLE_CAVEAT.search(text, *sentence):
                yield Limit(Span(table.start, table.end), sentence, (sentence,))
