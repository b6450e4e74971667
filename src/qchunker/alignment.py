"""Words that a model quotes, or names as the ends of chunks, as places of the text they are from.

Models change spaces, widths of characters, quotation marks and case, and leave words out; they never get to say what
the text is.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.types import Span

_SAME = str.maketrans({
    **dict.fromkeys("“”„‟«»「」『』〝〞＂", '"'), **dict.fromkeys("‘’‚‛｀´＇", "'"),
    **dict.fromkeys("‐‑‒–—―−－", "-"), "…": ".", "·": ".", "。": ".", "、": ",", "，": ",", "；": ";", "：": ":",
})  # fmt: skip
_DROPPED = frozenset("*_`#|>")  # marks of Markdown, which models leave out or add
_MOST_PLACES = 50
_NEAR = 2  # characters between the tail of a chunk and the head of the next
_FOUND, _FOLLOWS = 2, 3
_COPY_CHARS = 30  # of either end of a chunk that was copied whole
_CHUNK = re.compile(r"<chunk>(.*?)(?:</chunk>|(?=<chunk>)|\Z)", re.DOTALL | re.IGNORECASE)
MASK = "[MASK]"
"""What stands for the middle of a chunk between its first and last words."""

_LEAST_ANCHOR = 4
"""Characters of an anchor that are looked for at least; fewer are everywhere."""


class Anchor(NamedTuple):
    """The first and the last words of a chunk, as a model gives them; either may be empty."""

    head: str
    tail: str


def anchors_of(reply: str) -> list[Anchor]:
    """The chunk elements of a reply, one that nothing closes too."""
    return [anchor_of(match[1]) for match in _CHUNK.finditer(reply)]


def anchor_of(words: str) -> Anchor:
    """The ends of a chunk; words without a mask are taken for a copy of all of it."""
    head, mask, tail = words.strip().partition(MASK)
    return Anchor(head, tail) if mask else Anchor(head[:_COPY_CHARS], head[-_COPY_CHARS:])


class Place(NamedTuple):
    """Where a chunk starts, and the number of the anchor that says so."""

    anchor: int
    start: int


class _Chain(NamedTuple):
    """Places that rise, the last one first."""

    anchor: int
    at: int
    before: _Chain | None


class FoldedText:
    """A text in which equal words are spelt equally, with the way back.

    Time and memory grow linearly with the text; a search takes time linear in the text.
    """

    def __init__(self, text: str, within: Span | None = None) -> None:
        start, end = within or Span(0, len(text))
        self.text = text
        self.places: list[int] = []  # of every folded character
        parts: list[str] = []
        for at in range(start, end):
            folded = _folded(text[at])
            parts.append(folded)
            self.places.extend([at] * len(folded))
        self.folded = "".join(parts)

    def find(self, quote: str, start: int = 0) -> Span | None:
        """The first place of a quotation from a position of the text on; None if it is not there."""
        return next(self.find_all(quote, start, 1), None)

    def find_all(self, quote: str, start: int = 0, most: int = _MOST_PLACES) -> Iterator[Span]:
        """Places of a quotation, in order."""
        wanted = fold(quote)
        at = bisect_left(self.places, start)
        for _ in range(most if wanted else 0):
            at = self.folded.find(wanted, at)
            if at < 0:
                return
            yield Span(self.places[at], self.places[at + len(wanted) - 1] + 1)
            at += 1


def fold(text: str) -> str:
    """A text as it is compared: without spaces, marks of Markdown and case, with one kind of quotation marks."""
    return "".join(map(_folded, text))


def _folded(char: str) -> str:
    if char.isspace() or char in _DROPPED or unicodedata.category(char) in ("Cf", "Cc"):
        return ""
    plain = char.translate(_SAME)
    return plain if plain.isascii() and not plain.isupper() else unicodedata.normalize("NFKC", plain).casefold()


def find_quote(text: FoldedText, quote: str, near: int | None = None) -> Span | None:
    """Where a text holds a quotation word for word; the place nearest to ``near`` of several.

    What a model puts around it, quotation marks and dots that stand for words left out, is no part of it.
    """
    if not any(map(str.isalnum, quote)):
        return None
    for wanted in dict.fromkeys((quote, quote.strip("\"'“”‘’「」『』«» "), _without_ellipses(quote))):
        found = [span for span in text.find_all(wanted) if _is_whole(text.text, span)]
        if found:
            return min(found, key=lambda span: abs(span.start - (near if near is not None else 0)))
    return None


def _is_whole(text: str, span: Span) -> bool:
    """Whether a stretch neither begins nor ends inside of a word; Chinese has no spaces between words."""
    edges = (text[span.start - 1 : span.start + 1] if span.start else "", text[span.end - 1 : span.end + 1])
    return not any(len(edge) == 2 and edge.isascii() and edge.isalnum() for edge in edges)


def _without_ellipses(quote: str) -> str:
    return quote.strip("\"'“”‘’「」『』«» ").strip(".…").strip()


def anchored_starts(text: FoldedText, anchors: Sequence[Anchor]) -> list[int]:
    """Where chunks start, by their first and last words: rising positions of the text, no more than there are anchors.

    See ``anchored_places``.
    """
    return [place.start for place in anchored_places(text, anchors)]


def anchored_places(text: FoldedText, anchors: Sequence[Anchor]) -> list[Place]:
    """Where chunks start, by their first and last words: anchors and positions of the text, both of them rising.

    Heads may repeat, stand in the wrong order, or be nowhere: of all places of all heads those are taken that rise and
    hold most heads, places right behind the tail before them first. Where a head is nowhere, its chunk starts behind
    the tail of the one before. Takes time linear in the text for every anchor.
    """
    candidates: list[dict[int, int]] = []
    behind: set[int] = set()  # where the tail before ends
    for anchor in anchors:
        found = set(_places(text, fold(anchor.head), from_end=False))
        tails = {at for at in behind if at < len(text.folded)}
        near = {at for at in found if any(abs(at - end) <= _NEAR for end in tails)}
        candidates.append({at: _FOLLOWS if at in near else _FOUND for at in found or tails})
        behind = set(_places(text, fold(anchor.tail), from_end=True))
    return [Place(number, text.places[at]) for number, at in _heaviest_rising(candidates)]


def _places(text: FoldedText, anchor: str, *, from_end: bool) -> Iterator[int]:
    """Where an anchor begins, or ends; where it is nowhere, its longest halves are tried."""
    while len(anchor) >= _LEAST_ANCHOR or (anchor and len(anchor) == len(text.folded)):
        at = text.folded.find(anchor)
        if at >= 0:
            for _ in range(_MOST_PLACES):
                yield at + len(anchor) if from_end else at
                at = text.folded.find(anchor, at + 1)
                if at < 0:
                    return
            return
        half = len(anchor) // 2
        anchor = anchor[len(anchor) - half :] if from_end else anchor[:half]


def _heaviest_rising(candidates: Sequence[dict[int, int]]) -> list[tuple[int, int]]:
    """One place or none of each candidate, rising, with the greatest weight together; of equals the earlier places."""
    ends, weights, best = [-1], [0], list[_Chain | None]([None])  # chains worth going on with: later ends weigh more
    for number, places in enumerate(candidates):
        reached = []
        for at, weight in places.items():
            index = bisect_left(ends, at) - 1
            reached.append((at, weights[index] + weight, _Chain(number, at, best[index])))
        for at, total, chain in reached:
            index = bisect_left(ends, at)
            if weights[index - 1] >= total or (index < len(ends) and ends[index] == at and weights[index] >= total):
                continue
            stop = index
            while stop < len(ends) and weights[stop] <= total:
                stop += 1
            ends[index:stop], weights[index:stop], best[index:stop] = [at], [total], [chain]
    found: list[tuple[int, int]] = []
    last = best[-1]
    while last is not None:
        found.append((last.anchor, last.at))
        last = last.before
    return found[::-1]
