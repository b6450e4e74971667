"""Pointers to clauses, tables, figures, notes and passages of the same document."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from qchunker.assertions import names_other_document
from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.limits import OF_ANOTHER
from qchunker.debate.offline.index.numbered_clauses import Clause, is_value, unit_key
from qchunker.numerals import numeral_value
from qchunker.types import Gap, Span

_NUM = r"[0-9０-９一二三四五六七八九十百零〇两]{1,6}"
_NUMBERED = re.compile(
    rf"第\s*(?P<cn>{_NUM})\s*(?P<unit>条|條|章|节|節|部分)|"
    r"第\s*(?P<zhdotted>[A-Z]?\.?[0-9]{1,3}(?:\.[0-9]{1,3}){0,4})\s*[节節条條]|"
    r"(?:[Cc]lause|[Ss]ection|[Aa]rticle|[Pp]aragraph|[Rr]ule|§)s?\s*(?P<en>[0-9]{1,3}(?:\.[0-9]{1,3}){0,4})|"
    r"(?<![0-9A-Za-z.$€£¥])(?P<dotted>[0-9]{1,2}(?:\.[0-9]{1,2}){1,3})(?![0-9%])"
)
_CAPTIONED = re.compile(
    r"(?P<kind>[Tt]able|[Ff]igure|[Ff]ig\.|[Nn]ote|[Aa]nnex|[Aa]ppendix|[Ss]chedule|表|图|圖|附件|附表|附录|附錄)\s*"
    r"(?P<number>[0-9]{1,3}(?:[.-][0-9]{1,3})?|[A-Z](?![A-Za-z])|[一二三四五六七八九十]{1,2})"
)
_RELATIVE = re.compile(
    r"(?<![“\"])前(?P<count>[两兩二三])?[款条條项項](?![”\"])|上[款条條项項]|(?:前述|上述|前列)(?:规定|條款|条款|情形|义务|责任|约定)|"
    r"\b(?:the|this) (?:preceding|foregoing|previous|above)"
    r" (?:paragraph|clause|section|sentence|provision|rule|obligation|table|list|step|figure)s?|"
    r"\b(?:paragraph|clause|section|provision|table|condition|component|amount)s? above\b|"
    r"上表|上图|(?<!正)如上(?!述)|以上(?=各|情|所)",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"\b(?:see|described|explained|discussed|listed|shown|detailed|given|defined) (?:\w+ )?(?:below|"
    r"in the (?:next|following) (?:step|section|subsection|paragraph)s?)|"
    r"\bin the next step\b|见下文|如下所述|下文(?:将|会)|\b(?:conventions?|sections?|tables?|lists?|"
    r"algorithms?|procedures?|examples?|rules?) below\b",
    re.IGNORECASE,
)
# Behind or around these, a pointer invites to read on, and no statement depends on it.
_INVITES = re.compile(
    r"(?:\b(?:see|see also|refer to|read|listed in|shown in|described in|given in|found in|cf\.)|"
    r"[见見参參照]|列于|列於|载于)\s*(?:the |本)?$",
    re.IGNORECASE,
)
_SPEAKS_OF_CLAUSES = re.compile(
    r"\s*(?:[,.;:)，。；：）款条的规所约项关对中]|$|does|shall|is not|are|do not|or |and |不)"
)
_LIMITS = re.compile(r"not appl|notwithstanding|不适用|不受", re.IGNORECASE)
_MAX_ROWS = 12
_PARAGRAPH_ZH = re.compile(rf"\s*第\s*[（(]?({_NUM})[）)]?\s*([款项項])")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_PARAGRAPH_EN = re.compile(rf"\b({'|'.join(_ORDINALS)}) paragraph (?:of|in) (?:the |this )?$", re.IGNORECASE)
_POINTS_BACK = re.compile(r"[\W\d]*(?:It|Its|They|Their|This|These|Such)\b|[\W\d]*[其该該它此这這]")
_WHAT = re.compile(r"\b([A-Za-z-]{4,}) (?:of|in|under|by|to|with|from) (?:the |this )?$")
_OF_ITEM = re.compile(r"\s?[a-z](?![a-z])|\s?\([a-z]{1,3}\)")  # section 6a, 8.3(b): a part that is not told apart
_POINTS = re.compile(r"\b(?:in|of|under|to|by|per|clause|and|or|which|with)\s$|[的依按照违反至于与和、受]\s?$")
_OF_TABLE = re.compile(r"(?:the |this )?(?:\w+ )?(?:table|component|amount)")
_TABLE_NEAR = 1_500
_TABLE_CHARS = 400  # of rows; of a larger table only a part would be shown
_ALL_OF = re.compile(r"(?:所有的?|各[项項个個种種类類]?)([\u4e00-\u9fff]{2})")
_MAX_SENTENCES = 3


def cross_references(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Pointers whose target stands in the document, outside the chunk."""
    yield from _numbered(index, chunk)
    yield from _captioned(index, chunk)
    yield from _relative(index, chunk)
    yield from _below(index, chunk)


def _numbered(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    text = index.text
    seen: set[int] = set()
    for match in _NUMBERED.finditer(text, chunk.start, chunk.end):
        target = _target(index, match)
        if target is None or target.start in seen or chunk.start <= target.start < chunk.end:
            continue
        seen.add(target.start)
        part = _part(index, match)
        evidence, related = _content(index, target, index.sentence_at(match.start()), match.start(), part)
        invites = _INVITES.search(text[max(chunk.start, match.start() - 14) : match.start()])
        necessity = REQUIRED if related and not invites else HELPFUL
        yield from gaps(index, chunk, "cross_reference", Span(*match.span()), evidence, necessity)


def _target(index: DocumentIndex, match: re.Match[str]) -> Clause | None:
    text = index.text
    if index.in_code(match.start()) or _OF_ITEM.match(text, match.end(), match.end() + 4):
        return None
    line = index.line_start(match.start())
    if not text[line : match.start()].strip("#* \t"):
        return None  # the clause's own number
    sentence = index.sentence_at(match.start())
    if OF_ANOTHER.match(text, match.end(), match.end() + 60) or names_other_document(
        text, sentence.start, match.start(), index.title_text
    ):
        return None
    if match["cn"]:
        unit = match["unit"]
        keys = [unit_key(match["cn"], unit)]
    elif match["dotted"]:
        before = text[max(0, match.start() - 8) : match.start()]
        if (
            match["dotted"].startswith("0")
            or is_value(text, *match.span())
            or not (_SPEAKS_OF_CLAUSES.match(text, match.end(), match.end() + 8) or _POINTS.search(before))
        ):
            return None
        keys = [match["dotted"]]
    else:
        keys = [match["en"] or match["zhdotted"]]
    return index.clauses.named(keys, match.start())


def _part(index: DocumentIndex, match: re.Match[str]) -> int | None:
    """The number of the paragraph that a pointer means: 第三条第二款, the third paragraph of section 11; 0: an item."""
    behind = _PARAGRAPH_ZH.match(index.text, match.end())
    if behind:
        return numeral_value(behind[1]) if behind[2] == "款" else 0
    before = _PARAGRAPH_EN.search(index.text, max(0, match.start() - 40), match.start())
    return 1 + _ORDINALS.index(before[1].lower()) if before else None


def _content(
    index: DocumentIndex, target: Clause, pointing: Span, at: int, part: int | None
) -> tuple[list[Span], bool]:
    """What a clause says, and whether that is about what the pointing sentence says.

    Of a clause its sentences, or those of the paragraph ``part``; of a section the rows of its table or those sentences
    that share words with the pointer.
    """
    end = min(target.end, target.body + 1_500)
    if target.is_heading:
        section = index.section_at(target.body)
        end = min(section.end, target.body + 1_500) if section is not None else end
        region = Span(section.body if section is not None else target.body, end)
    else:
        region = Span(target.body, end)
    if part is not None:
        paragraph = index.clauses.paragraph_in(region, part) if part else None
        return (index.sentences_in(*paragraph), True) if paragraph is not None else ([], False)
    rows = [row for table in index.tables_in(region)[:1] for row in table.rows[:_MAX_ROWS]]
    sentences = [
        s for s in index.sentences_in(*region)
        if not any(s.start < r.end and r.start < s.end for r in rows) and not index.in_code(s.start)
    ]  # fmt: skip
    if not target.is_heading or rows:
        return [*rows, *sentences], True
    pointer = index.text[slice(*pointing)]
    if sentences and _LIMITS.search(pointer):
        return sentences[:_MAX_SENTENCES], True  # what is limited is the rule, which comes first
    wanted = _words(pointer)
    shared = {s: len(wanted & _words(index.text[slice(*s)])) for s in sentences}
    ranked = sorted(sentences, key=lambda s: (-shared[s], s.start))[:_MAX_SENTENCES]
    if ranked and _POINTS_BACK.match(index.text, ranked[0].start) and ranked[0] != sentences[0]:
        # It must be returned clean: with the sentence before, which says what.
        before = sentences[sentences.index(ranked[0]) - 1]
        whole = Span(before.start, ranked[0].end)
        shared[whole] = shared[ranked[0]]
        ranked = [whole, *(s for s in ranked[1:] if s != before)]
    if not ranked or len(sentences) <= _MAX_SENTENCES:
        return ranked, bool(ranked) and shared[ranked[0]] > 0
    # Of a long section one sentence is meant, or all; without what is meant in it, it is the wrong one.
    what = _WHAT.search(index.text, max(0, at - 40), at)
    said = index.text[slice(*ranked[0])].lower()
    named = what is None or what[1].lower().removesuffix("s") in said
    return ranked, named and shared[ranked[0]] > 1


def _captioned(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    text = index.text
    seen: set[int] = set()
    for match in _CAPTIONED.finditer(text, chunk.start, chunk.end):
        place = index.clauses.caption(match["kind"], match["number"])
        if place is None or chunk.start <= place < chunk.end or place in seen or place == match.start():
            continue
        if OF_ANOTHER.match(text, match.end(), match.end() + 60) or index.in_code(match.start()):
            continue
        seen.add(place)
        line_end = text.find("\n", place)
        caption = Span(place, min(line_end if line_end >= 0 else len(text), place + 200))
        # Of a whole table or annex no single line is the content; its caption tells what it is.
        yield from gaps(index, chunk, "cross_reference", Span(*match.span()), [caption], HELPFUL)


def _relative(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    text = index.text
    for match in _RELATIVE.finditer(text, chunk.start, chunk.end):
        wording, necessity = match.group().lower(), REQUIRED
        if index.in_code(match.start()):
            continue
        if re.match(
            r"\s*(?:in|under)? ?(?:note|section|clause|table|第|\d)",
            text[match.end() : match.end() + 14],
            re.IGNORECASE,
        ):
            continue
        if wording == "上表" or _OF_TABLE.match(wording):
            evidence = _nearest_table(index, match.start(), chunk)
            whole = sum(row.end - row.start for row in evidence) <= _TABLE_CHARS
            necessity = REQUIRED if whole else HELPFUL
        else:
            count = {"两": 2, "兩": 2, "二": 2, "三": 3}.get(match["count"] or "", 1)
            blocks = [index.clauses.paragraph_before(match.start(), n) for n in range(1, count + 1)]
            evidence = [s for block in blocks if block is not None for s in index.sentences_in(*block)]
            noun = _ALL_OF.match(text, match.end()) if wording == "以上" else None
            if noun and not any(noun[1] in text[s.start : s.end] for s in evidence):
                continue
            inside = [s for s in evidence if s.start >= chunk.start]
            line_before = text[max(chunk.start, match.start() - 400) : match.start()]
            if inside or ("款" not in wording and len(line_before.strip()) > 60 and "clause" not in wording):
                continue
        yield from gaps(index, chunk, "cross_reference", Span(*match.span()), evidence, necessity)
        return


def _nearest_table(index: DocumentIndex, at: int, chunk: Span) -> list[Span]:
    place = bisect_left(index.tables, at, key=lambda table: table.start) - 1
    if place < 0 or index.tables[place].start >= chunk.start:
        return []
    if place > 0 and at - index.tables[place].end > _TABLE_NEAR:
        return []
    if place > 0 and index.section_at(index.tables[place].start) != index.section_at(at):
        return []
    return list(index.tables[place].rows[:_MAX_ROWS])


def _below(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    text = index.text
    for match in _BELOW.finditer(text, chunk.start, chunk.end):
        sentence = index.sentence_at(match.start())
        after = index.sentences_in(chunk.end, min(len(text), chunk.end + 1_600))
        wanted = _words(text[sentence.start : sentence.end])
        ranked = sorted(after, key=lambda s: (-len(wanted & _words(text[s.start : s.end])), s.start))
        if "step" in match.group():
            ranked = after[:2]
        yield from gaps(index, chunk, "cross_reference", Span(*match.span()), ranked[:2], HELPFUL)
        return


def _words(text: str) -> set[str]:
    return {word.lower()[:7] for word in re.findall(r"[A-Za-z_]{4,}", text)} | set(
        re.findall(r"[\u4e00-\u9fff]{2}", text)
    )
