"""Long prose, cut where its pieces should end: only the text around those places is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from qchunker.chunking.packing import (
    CLAUSE,
    GRAPHEME,
    LINE,
    SENTENCE,
    WORD,
    Unit,
    grapheme_boundary,
    has_lines,
    word_spans,
)
from qchunker.sentences import clause_spans, sentence_spans

# Most often a sentence ends this near to where a piece should; else the whole possible range is searched.
_NEAR_CHARS = 120
_STOP = re.compile(r"[.!?;](?=[\s\"'”’)\]])|[。！？；…⋯｡]")
_MAX_STOPS = 8
# Text around a stop that tells whether it ends a sentence.
_BEFORE_CHARS, _AFTER_CHARS = 100, 40
_MAX_CLOSING_MARKS = 8


def prose_units(text: str, start: int, end: int, strength: int, limit: int, carry: int) -> Iterator[Unit]:
    """Cut ``text[start:end]`` into about equal pieces of at most ``limit`` characters.

    ``strength`` is that of the boundary in front, ``carry`` the size of what stands there and will share the first
    piece. Of lines, sentences, clauses, words and graphemes the first kind that ends in range is cut.
    """
    lines = has_lines(text, start, end)
    at = before = start
    while (total := end - at + carry) > limit:
        ideal = total / -(-total // limit) - carry
        stop, resume, following = _cut(text, at, end, max(1, int(ideal)), limit - carry, lines)
        yield Unit(at, stop, strength, stop - before)
        at, before, strength, carry = resume, stop, following, 0
    yield Unit(at, end, strength, end - before)


def _cut(text: str, at: int, end: int, ideal: int, room: int, lines: bool) -> tuple[int, int, int]:
    """Where the piece from ``at`` ends, where the next one starts, and what kind of boundary lies between."""
    goal, low, high = at + ideal, at + max(1, ideal // 2), min(end, at + room)
    if lines and (found := _line_end(text, low, goal, high)):
        return _trimmed(text, found, LINE)
    for near in (_NEAR_CHARS, room):
        if found := _sentence_end(text, at, end, max(low, goal - near), goal, min(high, goal + near)):
            return _trimmed(text, found, SENTENCE)
    if found := _nearest(clause_spans(text, low, high), low, goal):
        return _trimmed(text, found, CLAUSE)
    if found := _nearest(word_spans(text, low, high), low, goal):
        return _trimmed(text, found, WORD)
    return _trimmed(text, grapheme_boundary(text, at, high, end), GRAPHEME)


def _sentence_end(text: str, at: int, end: int, low: int, goal: int, high: int) -> int:
    """The end of a sentence near ``goal``, or 0: of the stops in range, the nearest that really ends one."""
    stops = [match.end() for match in _STOP.finditer(text, low, high)]
    for stop in sorted(stops, key=lambda place: abs(place - goal))[:_MAX_STOPS]:
        spans = sentence_spans(text, max(at, stop - _BEFORE_CHARS), min(end, stop + _AFTER_CHARS))
        for _, found in spans[:-1]:
            if stop <= found <= min(high, stop + _MAX_CLOSING_MARKS):
                return found
    return 0


def _line_end(text: str, low: int, goal: int, high: int) -> int:
    """The line end that is nearest to ``goal``, or 0."""
    left, right = text.rfind("\n", low, goal + 1), text.find("\n", goal, high)
    if left < 0 or (right >= 0 and right - goal < goal - left):
        return max(right, 0)
    return left


def _nearest(spans: Sequence[tuple[int, int]], low: int, goal: int) -> int:
    """The end between two spans that is nearest to ``goal``, or 0."""
    ends = [one[1] for one, _ in pairwise(spans) if one[1] >= low]
    return min(ends, key=lambda end: abs(end - goal)) if ends else 0


def _trimmed(text: str, stop: int, strength: int) -> tuple[int, int, int]:
    resume = stop
    while text[stop - 1].isspace():
        stop -= 1
    while text[resume].isspace():
        resume += 1
    return stop, resume, strength
