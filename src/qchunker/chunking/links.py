"""Rules and their exceptions: which chunk limits which, with the words that say so.

A retriever that finds a rule must be able to bring the clause that changes what it means.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from qchunker.assertions import is_asserted, names_other_document
from qchunker.numerals import numeral_value
from qchunker.sentences import sentence_spans
from qchunker.types import Document, Link, Partition, Span

# Cue words, and whether the clause that holds them limits the one it names, or is limited by it.
_CUES_ZH = {
    "不适用": True,
    "不受": True,
    "不予适用": True,
    "例外情形": True,
    "除外": False,
    "另有规定": False,
    "另有约定": False,
    "情形外": False,
    "规定外": False,
    "约定外": False,
    "不妨碍": False,
}
_CUES_EN = {
    "not appl": True,
    "otwithstanding": True,
    "exception to": True,
    "exempt from": True,
    "ubject to": False,
    "xcept ": False,
    "nless ": False,
}
# Chinese references name one of these; a text without them needs no search.
_REFERENCE_ZH = "条條款项項规規"
# A cue without any of these around it refers to nothing.
_REFERENCE_HINT = re.compile(
    r"[0-9]\.[0-9]|lause|ection|rticle|aragraph|recedin|oregoin|revious|bove|[Rr]ule|[第前上以§]"
)
# Behind the first, and before the second, stands what stays free of the rule: it is not the rule.
_OF_WHAT_IS_BEFORE = re.compile("不适用于|not appl")
_OF_WHAT_IS_BEHIND = re.compile("不受|不妨碍")
_NOT_APPLICABLE = re.compile("不适用")
_WINDOW = 400
_MAX_ITEMS = 200
_TITLE_CHARS = 120

_NUM = r"[0-9０-９一二三四五六七八九十百零〇两]+"
_NUMBER = re.compile(
    rf"第\s*(?P<cn>{_NUM})\s*(?P<unit>条|條|章|节|節|款)(?:之(?P<sub>{_NUM}))?|"
    r"(?:[Cc]lause|[Ss]ection|[Aa]rticle|[Pp]aragraph|[Rr]ule|§)s?\s*(?P<en>[0-9]+(?:\.[0-9]+)*)|"
    r"(?<![0-9.])(?P<dotted>[0-9]{1,3}(?:\.[0-9]{1,3})+)(?![0-9%])"
)
_RELATIVE = re.compile(
    r"前[款条條项項]|上[款条條项項]|(?:前述|上述|以上|前列)(?:规定|條款|条款|情形|义务|责任|约定)|"
    r"\b(?:the|this) (?:preceding|foregoing|previous|above)"
    r"(?: (?:paragraph|clause|section|sentence|provision|rule|obligation)s?)?|"
    r"\b(?:paragraph|clause|section|provision)s? above\b",
    re.IGNORECASE,
)
_OWN_NUMBER = re.compile(
    rf"\s*(?:#+\s*)?(?:第\s*(?P<cn>{_NUM})\s*(?P<unit>条|條|章|节|節)(?:之(?P<sub>{_NUM}))?|"
    r"(?P<word>Clause|Section|Article|Rule|§)\s*(?P<en>[0-9]+(?:\.[0-9]+)*)|(?P<dotted>[0-9]{1,3}(?:\.[0-9]{1,3})+)(?:,\s*[0-9.]+)*|(?P<single>[0-9]{1,3})[.、．])",
    re.IGNORECASE,
)
_SET_APART = re.compile(r"[ \t\u3000]*(?:$|[\n.:：、—–-])|[ \t\u3000]+(?![a-z])")


class _Reference(NamedTuple):
    sentence: Span
    target: int  # offset in the clause that is named
    limits: bool


def link_exceptions(partition: Partition) -> Partition:
    """Record which chunks limit a rule that stands in another chunk.

    ``limits``: a sentence of this chunk takes cases out of the rule in the target. ``limited_by``: the reverse. The
    evidence is the sentence that says so. References are numbered (第八条, 8.3, Section 8.3) or relative (前款, "the
    preceding paragraph"). Linear in the text.
    """
    found: dict[int, dict[tuple[str, str], dict[Span, None]]] = defaultdict(lambda: defaultdict(dict))
    chunks = partition.chunks
    starts = [chunk.start for chunk in chunks]
    ids = [chunk.id for chunk in chunks]
    for reference in _references(partition.document):
        here = bisect_right(starts, reference.sentence.start) - 1
        there = bisect_right(starts, reference.target) - 1
        if here == there or here < 0 or there < 0:
            continue
        rule, exception = (there, here) if reference.limits else (here, there)
        found[exception]["limits", ids[rule]][reference.sentence] = None
        found[rule]["limited_by", ids[exception]][reference.sentence] = None
    if not found:
        return partition
    links = {
        index: tuple(Link(kind, target, tuple(spans)) for (kind, target), spans in by_target.items())
        for index, by_target in found.items()
    }
    linked = tuple(chunk.replace(links=links[index]) if index in links else chunk for index, chunk in enumerate(chunks))
    return dataclasses.replace(partition, chunks=linked)


def _references(document: Document) -> Iterator[_Reference]:
    clauses: _Clauses | None = None
    own_title = document.text.lstrip()[:_TITLE_CHARS].partition("\n")[0]
    for sentence, limits in _limiting_sentences(document):
        text = document.text[sentence.start : sentence.end]
        if not is_asserted(text):
            continue
        clauses = clauses or _Clauses(document)
        # The clause's own number is no reference; where it is a heading of its own, the sentence has none.
        own = _own_number(text, 0, len(text)) if _starts_line(document.text, sentence.start) else None
        at = own.end() if own else 0
        matches = [
            match
            for match in _NUMBER.finditer(text, at)
            if not _is_quantity(text, match) and not names_other_document(text, 0, match.start(), own_title)
        ]
        low, high = _where_the_rule_is(text, at)
        inside = [match for match in matches if low <= match.start() and match.end() <= high]
        cue = _NOT_APPLICABLE.search(text, at)
        before = [match for match in inside if cue is not None and match.end() <= cue.start()]
        targets = [clauses.named(match, sentence.start) for match in before or inside]
        if _RELATIVE.search(text, low, high):
            targets.append(clauses.before(sentence.start))
        for target in targets:
            if target is not None and not sentence.start <= target < sentence.end:
                yield _Reference(sentence, target, limits)


def _where_the_rule_is(text: str, at: int) -> tuple[int, int]:
    """The part of a sentence that names the rule which the sentence limits."""
    if before := _OF_WHAT_IS_BEFORE.search(text, at):
        return at, before.start()
    behind = _OF_WHAT_IS_BEHIND.search(text, at)
    return (behind.end() if behind else at), len(text)


def _own_number(text: str, start: int, end: int) -> re.Match[str] | None:
    """The number that a clause bears, and not one that its sentence starts to talk about."""
    own = _OWN_NUMBER.match(text, start, end)
    if own is None or (own["cn"] is None and own["word"] is None):
        return own
    return own if _SET_APART.match(text, own.end(), end) else None


def _starts_line(text: str, at: int) -> bool:
    return not text[max(0, at - 40) : at].rpartition("\n")[2].strip()


def _limiting_sentences(document: Document) -> Iterator[tuple[Span, bool]]:
    """Sentences with a cue, in order, each once per direction."""
    seen: tuple[Span, set[bool]] = (Span(-1, -1), set())
    spans: list[Span] = []  # sentences of the last window, which serve the cues that follow in it
    for at, limits in _cues(document.text):
        if _REFERENCE_HINT.search(document.text, max(0, at - _WINDOW), at + _WINDOW) is None:
            continue
        if not (spans and spans[0].start <= at < spans[-1].start):
            spans = _sentences_around(document, at)
        sentence = next((span for span in spans if span.start <= at < span.end), None)
        if sentence is None:
            continue
        if sentence != seen[0]:
            seen = (sentence, set())
        if limits not in seen[1]:
            seen[1].add(limits)
            yield sentence, limits


def _cues(text: str) -> list[tuple[int, bool]]:
    chinese = not text.isascii() and any(mark in text for mark in _REFERENCE_ZH)
    found: list[tuple[int, bool]] = []
    for cue, limits in (_CUES_EN | _CUES_ZH if chinese else _CUES_EN).items():
        at = text.find(cue)
        while at >= 0:
            found.append((at, limits))
            at = text.find(cue, at + len(cue))
    return sorted(found)


def _sentences_around(document: Document, at: int) -> list[Span]:
    blocks = document.blocks_in(at, at + 1)
    if not blocks or blocks[0].kind in ("code", "furniture", "front_matter"):
        return []
    return sentence_spans(document.text, max(blocks[0].start, at - _WINDOW), min(blocks[0].end, at + _WINDOW))


def _is_quantity(text: str, match: re.Match[str]) -> bool:
    """A bare dotted number names a clause only where the text talks about clauses."""
    if match["dotted"] is None:
        return False
    following = text[match.end() : match.end() + 2].strip()
    return not (
        following == ""
        or following[0] in ",.;:，。；：)）款条的规"
        or text[match.end() :].lstrip().startswith(("does", "shall", "is not", "do not", "不"))
    )


class _Clauses:
    """Where numbered clauses start, and which block stands before another."""

    def __init__(self, document: Document) -> None:
        self._blocks = [block for block in document.blocks if block.kind not in ("furniture", "code", "rule")]
        self._starts = [block.start for block in self._blocks]
        self._text = document.text
        self._by_number: dict[str, list[int]] = defaultdict(list)
        for block in self._blocks:
            own = _own_number(document.text, block.start, min(block.end, block.start + 40))
            if own is not None:
                self._by_number[_key(own)].append(block.start)

    def named(self, match: re.Match[str], near: int) -> int | None:
        """The clause of this number: the last one before ``near``, else the first after."""
        places = self._by_number.get(_key(match), [])
        if not places:
            return None
        before = bisect_right(places, near - 1)
        return places[before - 1] if before else places[0]

    def before(self, at: int) -> int | None:
        """The paragraph before the one at ``at``; the items of a list belong to the paragraph above them."""
        index = bisect_right(self._starts, at) - 1
        if index >= 0 and (line := self._line_before(self._blocks[index].start, at)) is not None:
            return line
        index -= 1
        nearest = max(0, index - _MAX_ITEMS)
        while index > nearest and self._blocks[index].kind in ("list_item", "heading"):
            index -= 1
        return self._starts[index] if index >= 0 else None

    def _line_before(self, start: int, at: int) -> int | None:
        """Where the line above starts, when that line and the one at ``at`` are paragraphs of one block."""
        start = max(start, at - 2 * _WINDOW)
        above = self._text[start:at].rpartition("\n")[0].rstrip()
        if not above or above[-1] not in "。；：.;:":
            return None
        return start + len(above.rpartition("\n")[0]) + ("\n" in above)


def _key(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups["cn"]:
        sub = f".{numeral_value(groups['sub'])}" if groups["sub"] else ""
        return f"{groups['unit'].replace('條', '条').replace('節', '节')}{numeral_value(groups['cn'])}{sub}"
    return str(groups["en"] or groups["dotted"] or groups.get("single"))
