"""The gate for completed chunks: nothing of the original is lost, and nothing is added that the document does not say.

The completed text is aligned with the original. Wherever it departs, the words it adds must be words of the evidence in
the evidence's own order, and the words it drops may only be pronouns whose antecedent stands in their place. Numbers
with their units, identifiers, names, quotations, negations and modal verbs have rules of their own, which also name
what a fault is about. The gate refuses when in doubt: a refused completion costs quality, an accepted lie costs trust.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qchunker.debate.verify_alignment import Hunk, align, kept_places, slides
from qchunker.debate.verify_anaphors import ends_pointing_back, points_back
from qchunker.debate.verify_evidence import (
    CONNECTIVES,
    SEPARATOR,
    Evidence,
    content,
    ends_sentence,
    is_chinese,
    is_label,
    is_mark,
    joined,
    restrictions,
)
from qchunker.debate.verify_text import Fault, growth_faults, invisible_faults, markup_faults
from qchunker.debate.verify_words import MODAL, Fact, Lexed, facts, lex

__all__ = ["CONNECTIVES", "Fault", "verify"]

_LOSS_WEIGHTS = (12, 1000, 1)  # alignments tried: rather a long addition than a loss, and the reverse
_MAX_SLIDES = 6  # places tried for an addition that could as well stand elsewhere
_MAX_WOVEN = {False: 12, True: 24}  # words added within a sentence without brackets: Latin, Chinese
_BEFORE_GLOSS, _BEHIND_PHRASE, _SENTENCE = 4, 16, 60  # tokens that say what a gloss or a phrase is about
_PREPOSITIONS = frozenset("of for in on at".split())
_OPENING, _CLOSING = frozenset("([（【〔"), frozenset(")]）】〕")
_MIN_KEPT = 0.8  # share of the original below which the text is another text
_MAX_FAULTS = 50
_LOST, _REPLACED = -1, -2  # in place of a position: words that are gone, and pronouns that may be

_ANAPHOR_EN = re.compile(
    r"(?:it|its|they|them|their|he|she|his|her|him|this|these"
    r"|(?:this|that|these|those|such|the|said|the (?:above|former|latter|said))"
    r"(?: (?:device|system|product|substance|unit|section|machine|equipment|item|case|process|material|rule|company"
    r"|party|former|latter|above|method|section|article|clause|document|standard|term|component|tool|model|module)s?)"
    r"|'s)",
    re.IGNORECASE,
)
_ANAPHOR_ZH = re.compile(
    r"(?:它们?|他们?|她们?|其|此|该|本|这|那|这些|那些|这种|该等|此类|此等|上述|前述|所述|以上)"
    r"(?:些|种|类|项|个|款|条|品|产品|物质|物|设备|系统|装置|公司|单位|标准|办法|规定|方法|机构|部门|人员|材料|期限|情况|情形|者)?的?"
    r"|[前上本](?:款|条|项|节|文|段|章)(?:的?规定)?"
)
_NOT_ANAPHOR_AFTER = frozenset("他中余它实次外后际身质来时刻能科样么个些里儿")
_NOT_ANAPHOR_BEFORE = frozenset("应因如彼从基成样根版资日课原尤极与及由为对")
_CONFUSABLE = str.maketrans(
    "аеорсухіјѕԁһԛԝАВЕКМНОРСТХУІЈЅαονρτυχικΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡ０Ⅰ",
    "aeopcyxijsdhqwABEKMHOPCTXYIJSaovptuxikABEZHIKMNOPTYXiag0I",
)
_WORD_FOR_TOPIC = re.compile(r"[A-Za-z][\w-]{3,}|\d+|[\u3400-\u9fff]{2}")
_FUNCTION_WORDS = frozenset("a an the of in on at to for by is are was were be and or as if it its".split())
_TOO_COMMON = frozenset(
    "this that with from shall must should have been were will which their there when where than then".split()
)


@dataclass(frozen=True, slots=True)
class _Case:
    """One alignment of a completed text with its original."""

    original: Lexed
    completed: Lexed
    original_facts: list[Fact]
    completed_facts: list[Fact]
    evidence: Evidence
    topic_words: set[str]
    number_at: list[int]  # where the completion has numbers, sorted
    hunks: list[Hunk]

    def added(self, hunk: Hunk) -> str:
        return self.completed.words(hunk.added, hunk.added_end)

    def lost(self, hunk: Hunk) -> str:
        return self.original.words(hunk.lost, hunk.lost_end)


def verify(
    original: str,
    completed: str,
    evidence: Sequence[str],
    *,
    max_growth_ratio: float = 0.35,
    max_growth_chars: int = 200,
) -> list[Fault]:
    """Everything that is wrong with a completed chunk; empty if it is accepted.

    Args:
        original: text of the chunk.
        completed: text proposed in its place.
        evidence: verbatim texts of the same document from outside the chunk; whole sentences, lines or headings.
        max_growth_ratio: how much longer the completed text may be, as a share of the original ...
        max_growth_chars: ... or in code points, whichever is more.
    """
    if original == completed:
        return []
    faults = [
        *growth_faults(original, completed, max(max_growth_ratio * len(original), max_growth_chars)),
        *invisible_faults(original, completed),
    ]
    if any(fault.kind == "growth" for fault in faults):
        return faults  # nothing bounds the work on what is left
    faults.extend(markup_faults(original, completed, evidence))  # unfolded: full-width signs are no markup
    before, after = lex(original), lex(completed)
    if before.keys == after.keys:
        return faults
    known = Evidence(evidence)
    facts_before, facts_after = facts(before), facts(after)
    topic_words = _topic_words(before.text)
    number_at = sorted(fact.start for fact in facts_after if fact.kind == "number" and not fact.loose)
    best: list[Fault] | None = None
    for weight in _LOSS_WEIGHTS:
        hunks = align(before.keys, after.keys, weight)
        case = _Case(before, after, facts_before, facts_after, known, topic_words, number_at, hunks)
        found = _alignment_faults(case)
        if best is None or len(found) < len(best):
            best = found
        if not found:
            break
    return list(dict.fromkeys([*faults, *(best or [])]))[:_MAX_FAULTS]


def _alignment_faults(case: _Case) -> list[Fault]:
    """Faults of one alignment; additions are moved to the best of the places where they may stand."""
    hunks: list[Hunk] = []
    faults: list[Fault] = []
    replaced: list[Hunk] = []
    for at, hunk in enumerate(case.hunks):
        low = hunks[-1].added_end if hunks else 0
        high = case.hunks[at + 1].added if at + 1 < len(case.hunks) else len(case.completed.keys)
        checked = [
            ([fault for part in option for fault in _hunk_faults(case, part)], option)
            for option in _places(case, hunk, low, high)
        ]
        found, chosen = min(checked, key=lambda pair: len(pair[0]))
        hunks.extend(chosen)
        faults.extend(found)
        if not found:
            replaced.extend(chosen)
        if len(faults) > _MAX_FAULTS:
            break
    places = kept_places(case.original.keys, hunks)
    for hunk in replaced:
        places[hunk.lost : hunk.lost_end] = [_REPLACED] * (hunk.lost_end - hunk.lost)
    faults.extend(_kept_fact_faults(case, places))
    faults.extend(_added_fact_faults(case, hunks))
    faults.extend(_order_faults(case, hunks))
    kept = len(places) - places.count(_LOST)
    if kept < _MIN_KEPT * len(places) - 3:
        faults.append(Fault("topic", f"{kept} of {len(places)} words kept"))
    return faults


def _places(case: _Case, hunk: Hunk, low: int, high: int) -> list[list[Hunk]]:
    """Where else an addition may be said to stand, and the two additions that it may be, around a stop between them."""
    keys = case.completed.keys
    options = slides(keys, hunk, low, high)
    if len(options) > _MAX_SLIDES:  # where brackets open and sentences begin
        natural = [option for option in options if keys[option.added] in "([【" or _begins(case, option)]
        options = [options[0], *natural[: _MAX_SLIDES - 1]]
    found = [[option] for option in options]
    if hunk.lost == hunk.lost_end and hunk.added_end < high and ends_sentence(case.completed, hunk.added_end):
        stops = [at for at in range(hunk.added + 1, hunk.added_end) if keys[at] == keys[hunk.added_end]]
        for stop in {*stops[:1], *stops[-1:]}:
            after = Hunk(hunk.lost + 1, hunk.lost + 1, stop + 1, hunk.added_end + 1)
            found.append([Hunk(hunk.lost, hunk.lost, hunk.added, stop), after])
    return found


def _hunk_faults(case: _Case, hunk: Hunk) -> list[Fault]:
    faults: list[Fault] = []
    covered = not (hunk.added < hunk.added_end)
    if not covered:
        found = list(_coverage_faults(case, hunk))
        covered = not found
        faults.extend(found)
        faults.extend(_place_faults(case, hunk))
        faults.extend(_clipped_faults(case, hunk))
        faults.extend(_topic_faults(case, hunk))
        faults.extend(_foreign_faults(case, hunk))
    if hunk.lost < hunk.lost_end and not (covered and _is_replaced_anaphor(case, hunk)):
        faults.extend(_loss_faults(case, hunk))
    return faults


def _coverage_faults(case: _Case, hunk: Hunk) -> Iterator[Fault]:
    """Added words must be words of the evidence; of the labels only "Rule" may name the original itself."""
    words = content(case.completed, hunk.added, hunk.added_end)
    if "".join(words) in ("rule", "规则") and case.completed.keys[hunk.added_end - 1] in ":：" and _begins(case, hunk):
        return
    if not words:
        yield Fault("uncovered", case.added(hunk))
        return
    for text in case.evidence.uncovered(case.completed, hunk.added, hunk.added_end):
        yield Fault("uncovered", text)


def _begins(case: _Case, hunk: Hunk) -> bool:
    """Whether the addition stands where a sentence or line begins."""
    return (
        case.completed.breaks_before(hunk.added)
        or ends_sentence(case.completed, hunk.added - 1)
        or (
            hunk.added > 1 and is_mark(case.completed, hunk.added - 1) and ends_sentence(case.completed, hunk.added - 2)
        )
    )


def _is_standalone(case: _Case, hunk: Hunk) -> bool:
    """Whether the addition is sentences or lines of its own."""
    completed, last = case.completed, hunk.added_end - 1
    line_ends = completed.breaks_before(hunk.added_end)
    stop_follows = hunk.added_end < len(completed.keys) and ends_sentence(completed, hunk.added_end)
    if _begins(case, hunk):
        closed = completed.keys[last] in _CLOSING and last > hunk.added and ends_sentence(completed, last - 1)
        return line_ends or stop_follows or ends_sentence(completed, last) or closed
    # A stop may be added where the original ends without one, or ends with the one after the addition.
    return ends_sentence(completed, hunk.added) and (line_ends or stop_follows)


def _is_bracketed(case: _Case, hunk: Hunk) -> bool:
    """Whether one pair of brackets holds the whole addition."""
    keys = case.completed.keys[hunk.added : hunk.added_end]
    if keys[-1] in ",.，。;；" and len(keys) > 1 and keys[-2] in _CLOSING:
        keys = keys[:-1]
    if keys[0] not in _OPENING or keys[-1] not in _CLOSING:
        return False
    depth = 0
    for key in keys[:-1]:
        depth += (key in _OPENING) - (key in _CLOSING)
        if depth == 0:
            return False
    return depth == 1


def _place_faults(case: _Case, hunk: Hunk) -> Iterator[Fault]:
    """Within a sentence only brackets and short phrases may be added, and numbers only with their antecedent."""
    if _is_standalone(case, hunk) or _is_bracketed(case, hunk):
        return
    keys, begins = case.completed.keys, _begins(case, hunk)
    if keys[hunk.added_end - 1] in ":：|>›»→" and begins:
        # A label or a heading path in front of a sentence; what another sentence has before its colon is neither.
        words = content(case.completed, hunk.added, hunk.added_end)
        is_path = keys[hunk.added_end - 1] not in ":：" or any(
            keys[at] in ">›»→|" for at in range(hunk.added, hunk.added_end)
        )
        if not (is_path or is_label(words) or case.evidence.is_sentence(words)):
            yield Fault("foreign", case.added(hunk))
        return
    words = content(case.completed, hunk.added, hunk.added_end)
    whole = not any(ends_sentence(case.completed, at) for at in range(hunk.added, hunk.added_end))
    if hunk.lost == hunk.lost_end:
        # A bare word in the middle can turn the meaning round (to refuse, to stop); a phrase that hangs on cannot,
        # unless it is a condition of another sentence (if cracked) or tells one kind from others (报废的).
        commas = keys[hunk.added_end - 1] in ",，" and (keys[hunk.added] in ",，" or keys[hunk.added - 1] in ",，")
        commas = commas and not restrictions(case.added(hunk))
        hangs = keys[hunk.added].lower() in _PREPOSITIONS or _names_an_owner(case, hunk, words)
        # Few, Refuse to: in front of a sentence a bare word can turn its meaning round as well. Only 应当 may.
        opens = begins and (keys[hunk.added_end - 1] in ",，" or _follows_modal(case, hunk))
        opens = opens and not restrictions(case.added(hunk))
        whole = whole and (opens or commas or hangs)
        first = bisect_left(case.number_at, hunk.added)
        for at in case.number_at[first : bisect_left(case.number_at, hunk.added_end)]:
            yield Fault("number", keys[at])
    if not whole or len(words) > _MAX_WOVEN[is_chinese(words)]:
        yield Fault("split", case.added(hunk))


def _foreign_faults(case: _Case, hunk: Hunk) -> Iterator[Fault]:
    """A gloss or a phrase in front must come from words that speak of the same: else it may be true of another thing.

    A gloss in brackets of what stands before it, a phrase in front of a sentence of a word of that sentence.
    """
    words = content(case.completed, hunk.added, hunk.added_end)
    if not words or is_label(words) or hunk.lost < hunk.lost_end:
        return
    keys = case.completed.keys
    if _is_bracketed(case, hunk):
        near = content(case.completed, max(0, hunk.added - _BEFORE_GLOSS), hunk.added)
        before = content(case.completed, max(0, hunk.added - _SENTENCE), hunk.added)
        if joined(words[:2]) in joined(before) or case.evidence.is_sentence(words):
            return  # it says itself of what it speaks
        if not near or ends_pointing_back(near):
            return
    elif _begins(case, hunk) and keys[hunk.added_end - 1] in ",，":
        near = content(case.completed, hunk.added_end, min(len(keys), hunk.added_end + _BEHIND_PHRASE))
    else:
        return
    wanted = {word.lower() for word in near} - _TOO_COMMON - _FUNCTION_WORDS
    held = list(case.evidence.around(words))
    if held and wanted and not any(wanted & {word.lower() for word in one.split(SEPARATOR)} for one in held):
        yield Fault("foreign", case.added(hunk))


def _names_an_owner(case: _Case, hunk: Hunk, words: Sequence[str]) -> bool:
    """Whether the addition is a thing with its 的, and no word that tells some things of a kind from the others.

    The evidence speaks of 储罐的液位, the chunk of its 温度; where both speak of 危险物品, 报废的 makes them fewer.
    """
    end = hunk.added_end
    if case.completed.keys[end - 1] != "的":
        return False
    if case.evidence.is_sentence(words[:-1]) or any(word[0].isascii() for word in words):
        return True
    return not case.evidence.holds([*words, *content(case.completed, end, min(end + 2, len(case.completed.keys)))])


def _follows_modal(case: _Case, hunk: Hunk) -> bool:
    """Whether the sentence behind an addition begins with a modal verb."""
    if hunk.added_end >= len(case.completed.keys):
        return False
    return MODAL.match(case.completed.text, case.completed.starts[hunk.added_end]) is not None


def _clipped_faults(case: _Case, hunk: Hunk) -> Iterator[Fault]:
    """An added sentence must not leave behind the "not" or "unless" of the sentence it quotes."""
    if not _is_standalone(case, hunk):
        return
    whole = case.evidence.whole_sentences(content(case.completed, hunk.added, hunk.added_end))
    begin = hunk.added
    for at in range(hunk.added, hunk.added_end + 1):
        if at == hunk.added_end or ends_sentence(case.completed, at) or case.completed.keys[at] in ":：":
            words = content(case.completed, begin, at)
            if case.evidence.is_clipped(words, whole):
                yield Fault("negation", case.completed.words(begin, at))
            begin = at + 1


def _topic_words(text: str) -> set[str]:
    pairs = {text[at : at + 2] for at in range(len(text) - 1) if "\u3400" <= text[at] <= "\u9fff"}
    words = {word.lower()[:6] for word in _WORD_FOR_TOPIC.findall(text) if word.lower() not in _TOO_COMMON}
    return {pair for pair in pairs if "\u3400" <= pair[1] <= "\u9fff"} | {word for word in words if word[0] < "\u3400"}


def _topic_faults(case: _Case, hunk: Hunk) -> Iterator[Fault]:
    """A sentence that stands alone and has no label must share a word with the original."""
    text = case.added(hunk)
    if not _is_standalone(case, hunk) or not any(
        ends_sentence(case.completed, at) for at in range(hunk.added, hunk.added_end)
    ):
        return
    labelled = any(case.completed.keys[at] in ":：)）>" for at in range(hunk.added, hunk.added_end))
    if not labelled and not _topic_words(text) & case.topic_words:
        yield Fault("topic", text)


def _is_replaced_anaphor(case: _Case, hunk: Hunk) -> bool:
    """Whether the lost words point elsewhere, and words stand in their place."""
    if hunk.added == hunk.added_end or not content(case.completed, hunk.added, hunk.added_end):
        return False
    text, begin, end = case.original.text, case.original.starts[hunk.lost], case.original.ends[hunk.lost_end - 1]
    return points_back(case.lost(hunk), text[max(0, begin - 1) : begin], text[end : end + 1])


def _loss_faults(case: _Case, hunk: Hunk) -> Iterator[Fault]:
    """Nothing of the original may go, except for a pronoun that is replaced."""
    text, added = case.lost(hunk), case.added(hunk)
    yield Fault("lost", text)
    if any(ends_sentence(case.original, at) for at in range(hunk.lost, hunk.lost_end)):
        yield Fault("merged", text)
    plain = added.translate(_CONFUSABLE)
    if plain != added and text in plain:
        yield Fault("homoglyph", added)


def _kept_fact_faults(case: _Case, places: Sequence[int]) -> Iterator[Fault]:
    """Every number, unit, identifier ... of the original is kept whole: with all its words, and nothing between."""
    for fact in case.original_facts:
        where = places[fact.start : fact.end]
        if not where:
            continue
        if fact.loose:
            if _LOST in where:
                yield Fault(fact.kind, fact.key)
        elif min(where) < 0 or where[-1] - where[0] != len(where) - 1:
            yield Fault(fact.kind, fact.key)


def _added_fact_faults(case: _Case, hunks: Sequence[Hunk]) -> Iterator[Fault]:
    """Added numbers, names and the like are of the evidence; negations and modal verbs bring their sentence."""
    owner = [-1] * len(case.completed.keys)
    for at, hunk in enumerate(hunks):
        owner[hunk.added : hunk.added_end] = [at] * (hunk.added_end - hunk.added)
    denials: dict[int, Counter[str]] = {}
    for fact in case.completed_facts:
        at = max(owner[fact.start : fact.end], default=-1)
        if at < 0 or fact.loose:
            continue
        if fact.kind in ("negation", "modal"):
            if at not in denials:
                words = content(case.completed, hunks[at].added, hunks[at].added_end)
                whole = case.evidence.denials_of(case.evidence.whole_sentences(words))
                denials[at] = Counter(whole or case.evidence.denials_to_the_end(words))
            denials[at][fact.key.lower()] -= 1
            if denials[at][fact.key.lower()] < 0:
                yield Fault(fact.kind, fact.key)
        elif not case.evidence.knows(fact, case.completed):
            yield Fault(fact.kind, fact.key)


def _order_faults(case: _Case, hunks: Sequence[Hunk]) -> Iterator[Fault]:
    """Words that are lost in one place and stand in another were moved."""
    moved = "\x1e".join(joined(content(case.completed, hunk.added, hunk.added_end)) for hunk in hunks)
    for hunk in hunks[:_MAX_FAULTS]:
        words = content(case.original, hunk.lost, hunk.lost_end)
        if len(words) > 1 and joined(words) in moved:
            yield Fault("order", case.lost(hunk))
