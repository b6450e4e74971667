"""Terms, symbols and short forms that a document makes itself, each with the words that define it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.debate.offline.index.famous import FAMOUS
from qchunker.types import Span

# Where several patterns define one name, the kind of the first of these wins.
_ORIGINS = ("party", "abbreviation", "definition", "symbol", "value", "alias", "heading")
_MAX_EVIDENCE = 6
_MAX_BUCKET = 48  # names that begin alike, beyond which the rest are left out: time stays linear
_MAX_NAME = 60
_MAX_ENTRY = 200
_GLOSSARY = re.compile(
    r"\b(?:definitions?|glossary|terminology|abbreviations|acronyms)\b|定义|定義|术语|術語|释义|名词解释|缩略语|词汇",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"^[ \t]*(?:[-*+•] |[\d.]{1,6}[)、.]?\s|"
    r"[（(]\w{1,3}[)）])?[ \t]*([*`“\"]{0,2}[^\s：:。；;|\n][^：:。；;|\n]{0,28}?)[ \t]*(?:：|: | [—–-] )[^\n]{4,}$",
    re.MULTILINE,
)
_WORD = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_Α-ω]+")


class DefinedTerm(NamedTuple):
    """A name and where the document says what it stands for.

    Args:
        name: as the text writes it.
        evidence: spans that define it, the best first.
        origin: ``abbreviation``, ``party``, ``definition``, ``symbol``, ``value``, ``alias`` or ``heading``.
        expansion: the long form, or nothing.
        rivals: where the document gives one short form to several things, all of them in order of the text.
    """

    name: str
    evidence: tuple[Span, ...]
    origin: str
    expansion: str = ""
    rivals: tuple[DefinedTerm, ...] = ()

    def before(self, at: int) -> DefinedTerm | None:
        """What the name stands for at a position: of rivals the last one defined before it, or none."""
        if not self.rivals:
            return self
        return next((term for term in reversed(self.rivals) if term.evidence[0].start < at), None)


class Occurrence(NamedTuple):
    """A term at a place."""

    term: DefinedTerm
    start: int
    end: int


def glossary(text: str, titles: Sequence[tuple[Span, int]]) -> Iterator[DefinedTerm]:
    """Entries "term: meaning" below a heading that announces definitions."""
    for place, (title, body) in enumerate(titles):
        if _GLOSSARY.search(text, title.start, title.end):
            end = titles[place + 1][0].start if place + 1 < len(titles) else len(text)
            for match in _ENTRY.finditer(text, body, end):
                stop = min(match.end(), match.start(1) + _MAX_ENTRY)
                yield DefinedTerm(match[1].strip(' *`“”"'), (Span(match.start(1), stop),), "definition")


def merged(terms: Iterator[DefinedTerm]) -> list[DefinedTerm]:
    """One term per name, with the evidence of all, in the order of their origins."""
    by_name: dict[str, list[DefinedTerm]] = defaultdict(list)
    for term in terms:
        if term.origin == "symbol" or (term.name not in FAMOUS and 1 < len(term.name) <= _MAX_NAME):
            by_name[term.name].append(term)
    result = []
    for name, same in by_name.items():
        same.sort(key=lambda term: _ORIGINS.index(term.origin))
        evidence = dict.fromkeys(span for term in same[:_MAX_EVIDENCE] for span in term.evidence)
        expansion = next((term.expansion for term in same if term.expansion), "")
        result.append(
            DefinedTerm(name, tuple(evidence)[:_MAX_EVIDENCE], same[0].origin, expansion, tuple(_rivals(same)))
        )
    return result


def _rivals(same: Sequence[DefinedTerm]) -> list[DefinedTerm]:
    """The expansions of one short form in order, if they do not agree: none holds another."""
    expanded = sorted((term for term in same if term.expansion), key=lambda term: term.evidence[0].start)
    names = {re.sub(r"\W", "", term.expansion).casefold() for term in expanded}
    agree = any(all(name in other for other in names) for name in names)
    return [] if agree or same[0].origin != "abbreviation" else expanded


class TermLookup:
    """Finds the names of terms in a text: whole words, the longest name first."""

    def __init__(self, terms: Sequence[DefinedTerm]) -> None:
        self._words: dict[str, list[DefinedTerm]] = defaultdict(list)
        self._pairs: dict[str, list[DefinedTerm]] = defaultdict(list)
        for term in sorted(terms, key=lambda term: (-len(term.name), term.name)):
            first = _WORD.match(term.name)
            bucket = self._words[first.group().lower()] if first else self._pairs[term.name[:2]]
            if len(bucket) < _MAX_BUCKET:
                bucket.append(term)

    def find(self, text: str, start: int, end: int) -> list[Occurrence]:
        """Every occurrence in ``text[start:end]``, in order; names inside longer names are left out."""
        found: list[Occurrence] = []
        for match in _WORD.finditer(text, start, end):
            word = match.group().lower()
            candidates = self._words.get(word) or self._words.get(word.removesuffix("s")) or ()
            hit = next((o for t in candidates if (o := _word_match(t, text, match.start(), end))), None)
            if hit:
                found.append(hit)
        if self._pairs:
            for at in range(start, end - 1):
                for term in self._pairs.get(text[at : at + 2], ()):
                    if text.startswith(term.name, at) and at + len(term.name) <= end:
                        found.append(Occurrence(term, at, at + len(term.name)))
                        break
        found.sort(key=lambda occurrence: (occurrence.start, -occurrence.end))
        kept: list[Occurrence] = []
        for occurrence in found:
            if not kept or occurrence.start >= kept[-1].end:
                kept.append(occurrence)
        return kept


def _word_match(term: DefinedTerm, text: str, at: int, end: int) -> Occurrence | None:
    stop = at + len(term.name)
    written = text[at:stop]
    if stop > end:
        return None
    if written != term.name:
        # Lower-case terms may be capitalised; names and codes are written one way only.
        if not term.name.islower() or written.lower() != term.name:
            return None
    for suffix in ("es", "s", ""):
        if text.startswith(suffix, stop):
            after = text[stop + len(suffix) : stop + len(suffix) + 1]
            if stop + len(suffix) <= end and not (after.isascii() and (after.isalnum() or after == "_")):
                return Occurrence(term, at, stop + len(suffix))
    return None
