"""English pronouns and definite phrases at the start of a chunk whose antecedent lies before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.coreference_zh import chinese_coreferences
from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.types import Gap, Span

_EXPLETIVE = re.compile(
    r"It(?:['’]s|\s+(?:(?:is|was|does|did)(?:n['’]t)?|should|may|might|will|would|can|could|has|seems|appears|follows|takes|"
    r"took|remains|became|makes))\b[^.]{0,80}\b(?:that|to|whether|when|if|for|ago|not the)\b|It (?:seems|appears)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:(?:However|Moreover|Furthermore|Also|Then|Thus|Therefore|Instead|Similarly|In addition|As a result|"
    r"For this),? )?"
    r"(?:(?P<bare>It|They|He|She|it|they|he|she)|(?P<owner>Its|Their|His|Her|its|their|his|her)|"
    r"(?P<pointer>This|That|These|Those|Such|this|these|those|such)"
    r"(?P<count> (?:two|three|four|five|\d+))?(?: (?P<noun>[a-z][a-z-]+)(?: (?P<second>[a-z][a-z-]+))?)?)\b(?!['’])"
)
_DESPITE = re.compile(
    r"(?:Despite|Besides|Given|Under|In|With|For|To|From|At|On) (?P<pointer>this|these|such|that|those) "
    r"(?P<noun>[a-z][\w-]+)(?: (?P<second>[a-z][\w-]+))?"
)
_ORDINAL = re.compile(
    r"\b[Tt]he (?:first|second|third|last|latter|former|return|two|three|four|remainder|rest)\b"
    r"(?: of (?:the |each |these |those )?| (?:one|two|few|such) | )([a-z][\w-]+)"
)
_SEVERAL = r"\b(?:two|three|four|five|both|several|pair of|series of|first) (?:[\w-]+ ){0,3}"
_TIMES = frozenset(
    "year month week time morning day evening season century decade summer winter way quarter half".split()
)
_SAYS_SOMETHING = re.compile(r"(?:[^\s]+\s+){4}[^\s]")
_LABEL = re.compile(r"(?:^|\n)[-* ]*[A-Z][\w ]{0,20}: ", re.MULTILINE)
_ENDS = ".!?:;\"”’')"  # of a sentence; captions and labels end otherwise
# What one sentence says, the next may sum up in such a word.
_SUMS_UP = frozenset(
    "approach benefit case change choice condition cost decision decline decrease definition difference discovery "
    "effect error event fact failure feature finding gain growth idea impact improvement increase limit limitation "
    "loss measure method move movement outcome period policy practice principle problem procedure process property "
    "proposal question reason requirement result risk rule situation step success task trend variation view".split()
)
# Words for the document itself, for places in it, and for what it accompanies.
_ITSELF = frozenset(
    "study paper article report document chapter section guide manual agreement policy warranty book page work note "
    "standard subsection appendix table figure contract notice means program library software file package module "
    "license licence version project product tutorial example command option function attribute field".split()
)
_BARE_SUBJECT = re.compile(
    r"The ([a-z][a-z-]{2,})(?: (?:also|then|later|now|still))? (?:is|are|was|were|has|have|had|will|would|"
    r"can|could|may|must|should|did|does|[a-z]{3,}ed|became|began|took|made|won|lost|came|went|ran|gave)\b"
)
_THEN = re.compile(r"(?:Then|Afterwards|Thereafter|After that|From then on|Since then)\b,? ")
_DURATION = re.compile(
    r"\bthe (\d+|[a-z]+)[ -](day|month|week|year|hour)s?(?:'s?)?[ -]?(delay|period|limit|term|deadline|notice)\b"
)
_VERBS = frozenset(
    "is are was were has have had will would can could may might must should shall does do did not also then includes "
    "include means mean allows allow makes make gives give takes take causes cause leads lead provides provide shows "
    "show requires require ensures ensure seems appears became becomes become led made took gave came went has been "
    "begins ends works helps happens applies apply contains contain implies refers occurs occur remain remains".split()
)
_PRONOUN_INSIDE = re.compile(r"(?:It|They|He|She|This|These|Those|Such)\b")
_NEAR_CHARS = 3_000
_SENTENCES_BACK = 12
_STEM = 8  # characters at the start of a noun that tell it


def coreferences(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Expressions that point back across the start of the chunk."""
    match = re.compile(r"\S").search(index.text, chunk.start, chunk.end)
    if match is None or chunk.start == 0 or index.in_code(match.start()):
        return
    if any(block.kind == "heading" for block in index.document.blocks_in(match.start(), match.start() + 1)):
        section = index.section_at(match.start())
        start, goes_on = (section.body if section is not None else match.start()), False
    else:
        start, goes_on = match.start(), True
    if start >= chunk.end:
        return
    first = index.sentence_at(start)
    first = Span(max(start, first.start), min(first.end, chunk.end))
    if index.chinese:
        yield from chinese_coreferences(index, chunk, first, goes_on=goes_on)
        return
    if goes_on:  # below a heading of its own a chunk starts anew
        yield from _opening(index, chunk, first)
    yield from _durations(index, chunk)


def _opening(index: DocumentIndex, chunk: Span, first: Span) -> Iterator[Gap]:
    text = index.text
    pronoun = _PRONOUN.match(text, first.start, first.end)
    if pronoun:
        yield from _pronoun(index, chunk, first, pronoun)
    elif then := _THEN.match(text, first.start, first.end):
        surface = Span(then.start(), then.end() - 1)
        before = [s for s in _said(index, first.start) if _SAYS_SOMETHING.search(text, *s)]
        begun = [s for s in before if text.startswith(("First", "Initially", "To begin"), s.start)][:1]
        more = index.sentences_before(begun[0].start, 1) if begun else []
        evidence = [*begun, *(index.tail(s) for s in [*before[:1], *more])]
        yield from gaps(index, chunk, "coreference", surface, evidence, REQUIRED)
    elif led := _DESPITE.match(text, first.start, first.end):
        nouns = [word for word in (led["noun"], led["second"]) if word and word not in _VERBS]
        evidence = _naming(index, first.start, nouns) or _sentence_before(index, first.start)
        yield from gaps(index, chunk, "coreference", Span(led.start("pointer"), led.end("noun")), evidence, HELPFUL)
    elif ordinal := _ORDINAL.search(text, first.start, min(first.end, first.start + 60)):
        noun = ordinal[1]
        if noun in _VERBS or noun in _TIMES:
            return
        listed = re.compile(_SEVERAL + re.escape(noun.rstrip("s")[:_STEM]), re.IGNORECASE)
        before = index.said_before(first.start, _SENTENCES_BACK)
        named = [index.tail(s, noun.rstrip("s")) for s in before if listed.search(text, *s)][:1]
        if named and noun.lower().rstrip("s") not in text[first.start : ordinal.start()].lower():
            yield from gaps(index, chunk, "coreference", Span(*ordinal.span()), named, REQUIRED)
    elif bare := _BARE_SUBJECT.match(text, first.start, first.end):
        known = any(name.is_named(text[chunk.start : chunk.end]) for name in index.names if name.origin == "title")
        if not known and bare[1] not in _ITSELF:
            introduced = _introducing(index, first.start, bare[1])
            yield from gaps(index, chunk, "coreference", Span(bare.start(), bare.end(1)), introduced, REQUIRED)


def _pronoun(index: DocumentIndex, chunk: Span, first: Span, pronoun: re.Match[str]) -> Iterator[Gap]:
    """It, their, these tests: a noun of the same name before, or else what was said last."""
    text = index.text
    group = pronoun.lastgroup if pronoun["pointer"] is None else "pointer"
    surface = Span(*pronoun.span(group or 0))
    if pronoun["bare"]:
        if _EXPLETIVE.match(text, surface.start, first.end):
            return
    nouns = [word for word in (pronoun["noun"], pronoun["second"]) if word and word not in _VERBS]
    if pronoun["noun"] in _VERBS or (pronoun["noun"] or "").endswith("ed"):
        nouns = []
    evidence: list[Span] = []
    if nouns:
        if nouns[0] in _TIMES or (nouns[0] in _ITSELF and pronoun["pointer"].lower() == "this"):
            return
        # These negative effects: the noun of a plural pointer ends in s.
        plural = pronoun["pointer"].lower() in ("these", "those")
        if len(nouns) > 1 and plural and not nouns[0].endswith("s"):
            nouns.reverse()
        evidence = _naming(index, first.start, nouns[:1], plural=plural)
        ends = "second" if nouns[0] == pronoun["second"] else "noun"
        if not evidence and len(nouns) > 1 and not plural:
            evidence = _naming(index, first.start, nouns[1:])
            ends = "second" if evidence else "noun"
        surface = Span(surface.start, pronoun.end(ends))
    elif pronoun["pointer"]:
        surface = Span(surface.start, surface.start + len(pronoun["pointer"]))
    if not evidence and (not nouns or nouns[0].removesuffix("s") in _SUMS_UP):
        evidence = _sentence_before(index, first.start)
    yield from gaps(index, chunk, "coreference", surface, evidence, REQUIRED)


def _sentence_before(index: DocumentIndex, at: int) -> list[Span]:
    """The sentence right before a position, if it says something itself; of a row of pronouns, the one before them."""
    said = _said(index, at)
    nearest = index.sentences_before(at, 1)
    if not said or said[:1] != nearest or not _SAYS_SOMETHING.search(index.text, *said[0]):
        return []
    for place, sentence in enumerate(said[:4]):
        if not _SAYS_SOMETHING.search(index.text, *sentence):
            break
        if not _PRONOUN_INSIDE.match(index.text, sentence.start):
            return [index.tail(sentence)] if place == 0 else [index.tail(sentence), index.tail(said[0])]
    return [index.tail(said[0])]


def _said(index: DocumentIndex, at: int) -> list[Span]:
    """The last whole sentences of the section before a position."""
    before = index.said_before(at, _SENTENCES_BACK)
    whole = (s for s in before if index.text[s.start : s.end].rstrip()[-1:] in _ENDS)
    return [s for s in whole if not _LABEL.search(index.text, *s)]


def _naming(index: DocumentIndex, at: int, nouns: list[str], *, plural: bool = False) -> list[Span]:
    """The last sentence of the section before a position that has one of the nouns, and not as these or this noun.

    Of a plural there must be several; behind a list it means the things listed and not what one item names.
    """
    stems = [stem for noun in nouns if len(stem := noun.lower().removesuffix("s")[:_STEM]) > 2]
    for stem in stems:
        many = rf"\w*s\b|\b(?:two|three|four|five|several|many|various|both)\b.{{0,30}}\b{re.escape(stem)}"
        end = f"(?:{many})" if plural else ""
        own = re.compile(rf"(?<!this )(?<!these )(?<!those )(?<!such )\b{re.escape(stem)}{end}")
        for sentence in _said(index, at):
            if plural and _in_list(index, sentence.start) and not _in_list(index, at):
                continue
            if own.search(index.text[sentence.start : sentence.end].lower()):
                return [index.tail(sentence, stem)]
    return []


def _in_list(index: DocumentIndex, at: int) -> bool:
    return any(block.kind == "list_item" for block in index.document.blocks_in(at, at + 1))


def _introducing(index: DocumentIndex, at: int, noun: str) -> list[Span]:
    """The sentence that brings a thing up: a tall mill, before The mill."""
    introduced = re.compile(rf"\b(?:an?|another|one|new) (?:[\w-]+ ){{0,3}}{re.escape(noun)}\b", re.IGNORECASE)
    for sentence in _said(index, at):
        if introduced.search(index.text, *sentence):
            return [index.tail(sentence, noun)]
    return []


def _durations(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """The 14 days period: where a rule before sets it."""
    text = index.text
    for duration in _DURATION.finditer(text, chunk.start, chunk.end):
        period = re.compile(rf"\b{duration[1]} {duration[2]}s?\b", re.IGNORECASE)
        if period.search(text, chunk.start, duration.start()):
            continue
        stated = [
            index.sentence_at(m.start()) for m in period.finditer(text, max(0, chunk.start - _NEAR_CHARS), chunk.start)
        ]
        yield from gaps(index, chunk, "coreference", Span(*duration.span()), stated[::-1], REQUIRED)
        return
