"""Key terms: the words of a stretch that tell what it is about, counted against the whole document."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import NamedTuple

from qchunker.debate.offline.outlining.stopwords import (
    BAD_FIRST_ZH,
    BAD_LAST_ZH,
    BEFORE_NOUN_EN,
    BEFORE_VERB_EN,
    GENERIC_ZH,
    MEASURES_ZH,
    STOP_EN,
    STOP_ZH,
)
from qchunker.debate.offline.outlining.wording import HAN, INVISIBLE
from qchunker.types import Span

_WORD = re.compile(rf"[^\W_{HAN}][^\W{HAN}]*(?:(?:[-'’&/+]|\.(?=[a-z0-9]))[^\W{HAN}]+)*")
_HAN_RUN = re.compile(f"[{HAN}]+(?:·[{HAN}]+)*")
_TITLE_ZH = re.compile(r"[《“「『]([^《》“”「」『』\n，。！？；：:、]{2,14})[》”」』]")
_CODE_LIKE = re.compile(r"(?=.{0,40}\d)(?=.{0,40}[A-Za-z])|.{0,40}[a-z][A-Z]|[A-Z]{2}|.{0,40}\w_\w")
_NOT_NOUN = re.compile(r".*(?:ed|ly|ing|ize|ise|ful|ous|ive|able|ible|ique|ic|ary)\Z", re.IGNORECASE)
# Numbers, numbers of items and units.
_NO_TERM = re.compile(
    r"[\d.,-]+\Z|[A-Z]\.\d{1,3}\Z|\d[\d.,]*[A-Za-zµμ]{2,3}\Z"
    r"|[KMGT]B\Z|[mnµμ]M\Z|(?:[A-Za-zµμ]{1,3}\d?/)+[a-z]{1,4}\d?\Z"
    r"|(?:[mckµμ]?[mglsW]|kPa|MPa|[kMG]?Hz|[km]?[VA]|rpm|[km]?bar)\d?\Z"
)
_OBJECT_AHEAD = frozenset("a an the that to its their his her it they this through how whether".split())
_QUIET = 30  # characters of a Latin word, beyond which it is no word
_LONGEST_PHRASE = 4
_LONGEST_ZH = 8
_SEGMENT_ZH = 6
_LEAST = 0.4
"""Share of the score of the best term, below which no more than two terms are taken."""
_INDEPENDENT = 0.75
"""Share of the occurrences of a Chinese string that one longer string may hold before it is but a part of that."""
_MARKUP = re.compile(r"<[^<>\n]{0,200}>|&#?\w{1,8};|https?://\S{1,300}|\]\([^()\s]{0,300}\)|@[-.,]@")


class Term(NamedTuple):
    """A candidate at its first place in a stretch."""

    key: str
    start: int
    end: int
    weight: float


class KeyTerms:
    """Counts the candidates of a document once, and ranks those of any stretch of it.

    Args:
        text: of the document.
        stretches: the parts of it that hold prose, tables or lists.
    """

    def __init__(self, text: str, stretches: Iterable[Span]) -> None:
        self._text = text
        places = list(stretches)
        segments = [segment for start, end in places for segment in _segments(text, start, end)]
        self._grams, self._outer, self._free = _count_grams(text, segments)
        found = [term for start, end in places for term in _named(text, start, end)]
        found.extend(term for segment in segments for term in self._chinese(segment))
        found.sort(key=lambda term: (term.start, term.end))
        self._terms = found
        self._starts = [term.start for term in found]
        self._counts = Counter(term.key for term in found)
        self._total = 1 + len(found)

    def of(self, start: int, end: int, known: str = "", limit: int = 3) -> list[Span]:
        """Places of the key terms of ``text[start:end]``, in their order; none that says what ``known`` says."""
        firsts: dict[str, Term] = {}
        often: Counter[str] = Counter()
        weights: dict[str, float] = {}
        for term in self._terms[bisect_left(self._starts, start) : bisect_left(self._starts, end)]:
            if term.end > end:
                continue
            firsts.setdefault(term.key, term)
            often[term.key] += 1
            weights[term.key] = max(term.weight, weights.get(term.key, 0.0))

        def rank(key: str) -> tuple[float, int]:
            rarity = log(1 + self._total / max(1, self._counts[key], self._grams.get(key, 0)))
            return -weights[key] * often[key] ** 0.7 * rarity, firsts[key].start

        chosen: list[Term] = []
        said = known.casefold()
        best = 0.0
        for key in sorted(firsts, key=rank)[:40]:
            score = -rank(key)[0]
            if len(chosen) == limit or (len(chosen) > 1 and score < _LEAST * best):
                break
            if key in said or any(_overlap(key, other.key) for other in chosen):
                continue
            best = best or score
            chosen.append(firsts[key])
        return [Span(term.start, term.end) for term in sorted(chosen, key=lambda term: term.start)]

    def _chinese(self, segment: Span) -> Iterator[Term]:
        """Strings that the document repeats, and the whole segment where it is as short as a term."""
        at, last = segment
        while at < last - 1:
            size = self._longest(at, last)
            if size:
                words = self._text[at : at + size]
                yield Term(words, at, at + size, _weight_zh(words))
            at += max(1, size)
        words = self._text[segment.start : last]
        if len(words) <= _SEGMENT_ZH and words not in self._grams and _well_formed(words):
            yield Term(words, *segment, 0.25 + 0.05 * len(words))

    def _longest(self, at: int, last: int) -> int:
        """Length of the longest string here that the document repeats as a unit; or 0."""
        for size in range(min(_LONGEST_ZH, last - at), 1, -1):
            words = self._text[at : at + size]
            count = self._grams.get(words, 0)
            if (
                count > 1
                and words in self._free
                and self._outer.get(words, 0) < _INDEPENDENT * count
                and _well_formed(words)
            ):
                return size
        return 0


def _named(text: str, start: int, end: int) -> Iterator[Term]:
    """Terms in alphabetic script, and Chinese ones between marks of titles and quotations."""
    yield from _latin(text, start, end)
    for match in _TITLE_ZH.finditer(text, start, end):
        if _HAN_RUN.search(match[1]) and (match.group()[0] == "《" or not STOP_ZH.search(match[1])):
            yield Term(match[1].casefold(), match.start(1), match.end(1), 1.3)


def _weight_zh(words: str) -> float:
    if words in GENERIC_ZH:
        return 0.2
    return (0.7, 1.1, 1.4)[min(len(words), 4) - 2]


def _well_formed(words: str) -> bool:
    return words[0] not in BAD_FIRST_ZH and words[-1] not in BAD_LAST_ZH and len(set(words)) > 1


def _segments(text: str, start: int, end: int) -> Iterator[Span]:
    """Runs of Chinese characters between marks and words that say nothing."""
    for run in _HAN_RUN.finditer(text, start, end):
        at = run.start()
        if at and text[at - 1].isdigit() and text[at] in MEASURES_ZH:
            at += 1
        for stop in STOP_ZH.finditer(text, run.start(), run.end()):
            if stop.start() - at > 1:
                yield Span(at, stop.start())
            at = stop.end()
        if run.end() - at > 1:
            yield Span(at, run.end())


def _count_grams(text: str, segments: Sequence[Span]) -> tuple[dict[str, int], dict[str, int], set[str]]:
    """How often strings of Chinese characters occur, how often inside the commonest longer string, and which are free.

    Free are those that somewhere begin a segment and somewhere end one, as words do and parts of words seldom.
    A string can only be repeated where its parts are, so every length looks at what the one before left.
    """
    openings, endings = set(), set()
    for start, end in segments:
        for size in range(2, min(_LONGEST_ZH, end - start) + 1):
            openings.add(text[start : start + size])
            endings.add(text[end - size : end])
    kept: dict[str, int] = {}
    outer: dict[str, int] = {}
    for size in range(2, _LONGEST_ZH + 2):
        counts: Counter[str] = Counter()
        for start, end in segments:
            for at in range(start, end - size + 1):
                if size == 2 or (text[at : at + size - 1] in kept and text[at + 1 : at + size] in kept):
                    counts[text[at : at + size]] += 1
        repeated = {words: count for words, count in counts.items() if count > 1}
        for words, count in repeated.items():
            for part in (words[:-1], words[1:]):
                outer[part] = max(outer.get(part, 0), count)
        kept.update(repeated)
        segments = [segment for segment in segments if segment.end - segment.start > size]
        if not repeated:
            break
    return kept, outer, openings & endings


def _overlap(one: str, other: str) -> bool:
    """Whether two terms share a word, so that one is enough."""
    if one in other or other in one:
        return True
    if one.isascii() and other.isascii():
        return not {_stem(word) for word in one.split()}.isdisjoint(_stem(word) for word in other.split())
    return len(set(one) & set(other)) > 1


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def _latin(text: str, start: int, end: int) -> Iterator[Term]:
    """Names, codes and noun phrases in alphabetic script."""
    run: list[Span] = []
    noun_ahead = verb_ahead = False
    opening = True  # whether the run begins a sentence, where a capital says nothing
    at = start
    skipped = _Skipped(text, start, end)
    for match in _WORD.finditer(text, start, end):
        if skipped.holds(match.start()):
            continue
        word = match.group()
        gap = text[at : match.start()]
        if run and gap not in {" ", "\n", "\r\n"}:
            yield from _phrase(text, run, noun_ahead=noun_ahead, opening=opening)
            run = []
        if not run:
            opening = gap.strip(" ") != "" or at == start
        at = match.end()
        lower = word.casefold()
        owner = lower.endswith(("'s", "’s"))
        if owner and not word[0].isupper():
            run.append(Span(match.start(), match.end() - 2))
        if (
            owner
            or lower in STOP_EN
            or "'" in word
            or "’" in word
            or len(word) > _QUIET
            or word.isdigit()
            or INVISIBLE.search(word)
        ):
            if run and lower in _OBJECT_AHEAD and _ends_in_verb(text, run, lower):
                run = run[:-1]
            yield from _phrase(text, run, noun_ahead=noun_ahead, opening=opening)
            run = []
            noun_ahead = owner or lower in BEFORE_NOUN_EN
            verb_ahead = lower in BEFORE_VERB_EN
        else:
            if not run and gap.strip(" \n"):
                noun_ahead = False
            if verb_ahead and not run and word.islower() and not gap.strip():
                verb_ahead = False  # this is the verb
                continue
            verb_ahead = False
            run.append(Span(match.start(), match.end()))
    yield from _phrase(text, run, noun_ahead=noun_ahead, opening=opening)


def _ends_in_verb(text: str, run: Sequence[Span], ahead: str) -> bool:
    """Whether the last word before an object looks like a verb: "company maintains a", "Army exploit the"."""
    last = text[run[-1].start : run[-1].end]
    if len(run) < 2 or not last.islower():
        return False
    if ahead in {"that", "to"}:
        return last.endswith("ing") or ahead == "that"
    return (last.endswith(("s", "ing")) and not last.endswith("ss")) or text[run[-2].start].isupper()


class _Skipped:
    """Tags, entities and addresses of a stretch, asked for in order."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._spans = _MARKUP.finditer(text, start, end)
        self._span = next(self._spans, None)

    def holds(self, at: int) -> bool:
        while self._span is not None and self._span.end() <= at:
            self._span = next(self._spans, None)
        return self._span is not None and self._span.start() <= at


def _phrase(text: str, run: list[Span], *, noun_ahead: bool, opening: bool) -> Iterator[Term]:
    """The term that a run of words without stop words holds."""
    words = [text[start:end] for start, end in run]
    first, last = 0, len(words)
    while first < last and (_NO_TERM.match(words[first]) or (words[first].islower() and words[first].endswith("ly"))):
        first += 1
    while first < last and _ends_no_term(words[last - 1]):
        last -= 1
    words, run = words[first:last], run[first:last]
    for place in range(1, len(words)):
        # "Risk passes to", "numbers containing letters": a noun, and the verb after it.
        before, word = words[place - 1], words[place]
        named, plural = before[0].isupper(), before.endswith("s")
        if word.islower() and ((named and word.endswith("s")) or ((named or plural) and word.endswith(("ed", "ing")))):
            words, run = words[:place], run[:place]
            break
    if not words or not any(len(word) > 1 for word in words):
        return
    if len(words) > 2 and words[-1].islower() and words[-1].endswith("ing"):
        words, run = words[:-1], run[:-1]
    capitals = [word[0].isupper() for word in words]
    if len(words) > 2 and capitals[-2:] == [True, True] and not all(capitals):
        # "composer Ada Byron", "thank Vice President Harris": the name alone.
        first = len(words) - next(place for place, capital in enumerate(reversed(capitals)) if not capital)
        words, run, capitals = words[first:], run[first:], capitals[first:]
    if all(capitals) and len(words) > 1 and len(words) <= _LONGEST_PHRASE + 1:
        yield _term(text, run, 1.5)
        return
    for place, word in enumerate(words):
        if _CODE_LIKE.match(word) and len(word) > 1 and not (len(words) > 1 and word.isupper() and word.isalpha()):
            yield Term(word.casefold(), *run[place], 1.1)
    if len(words) == 1:
        yield _term(text, run, _weight_single(words[0], noun_ahead=noun_ahead, opening=opening))
    elif len(words) <= _LONGEST_PHRASE:
        yield _term(text, run, 1.2 if noun_ahead else 0.55)
    else:
        yield _term(text, run[-2:], 0.5)


def _ends_no_term(word: str) -> bool:
    return word[0].isdigit() or bool(_NO_TERM.match(word)) or (word.islower() and word.endswith(("ed", "ly")))


def _weight_single(word: str, *, noun_ahead: bool, opening: bool) -> float:
    if word[0].isupper() and not opening:
        return 1.0
    if len(word) < 4:
        return 0.2
    weight = 0.7 if noun_ahead else 0.3
    return weight * (0.4 if _NOT_NOUN.match(word) else 1.0)


def _term(text: str, run: Sequence[Span], weight: float) -> Term:
    start, end = run[0].start, run[-1].end
    for suffix in ("'s", "’s"):
        if text.endswith(suffix, start, end):
            end -= 2
    return Term(" ".join(text[start:end].casefold().split()), start, end, weight)
