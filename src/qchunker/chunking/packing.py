"""Units of text with the strength of the boundary before each, and how units are packed into pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import regex

from qchunker.chunking.sizes import Measure
from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Document

# Strength of a boundary: where there is a choice, the stronger one is cut. Glued ones only if nothing else helps.
GLUED, GRAPHEME, WORD, CLAUSE, SENTENCE, LINE, ITEM, BLOCK, HEADING = range(9)
CUT_NAMES = ("glued", "grapheme", "word", "clause", "sentence", "line", "item", "block", "heading")

# Marks that close or open stay with the character they belong to, so that no line starts with a full stop.
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}"
_OPENING = "“‘（《〈【「『"
_UNIT_OF_TEXT = rf"[{_CJK}]\p{{M}}*[，。、；：！？…⋯—～·”’）》〉】」』!?,.;:)]*|[^\s\x1c-\x1f{_CJK}{_OPENING}]+"
_WORD = regex.compile(rf"[{_OPENING}]++(?:{_UNIT_OF_TEXT})?|{_UNIT_OF_TEXT}")
_GRAPHEME = regex.compile(r"\X")
_LINE = re.compile(r"[^\n\r]+")
_MARKS = regex.compile(
    r"[，。、；：！？…⋯—～·”’）》〉】」』!?,.;:)]+|[^\s\x1c-\x1f，。、；：！？…⋯—～·”’）》〉】」』!?,.;:)]+"
)
_GRAPHEME_WINDOW = 64
_SMALLEST_SHARES = {CLAUSE: 32, WORD: 16, GRAPHEME: 16}  # of the limit


class Unit(NamedTuple):
    """A stretch that is not cut. ``strength`` is that of the boundary in front of it.

    ``extra`` is what must be repeated with it when a piece starts here, such as a table header.
    """

    start: int
    end: int
    strength: int
    size: int
    extra: int = 0


class Piece(NamedTuple):
    """A stretch that becomes a chunk."""

    start: int
    end: int
    cut: str
    oversize: str | None = None


def record_units(document: Document, limit: int, measure: Measure) -> list[Unit]:
    """The records of a table as units; none for other documents. A record is not prose, whatever the chunker."""
    if not document.blocks or document.blocks[0].kind != "record":
        return []
    units: list[Unit] = []
    before = 0
    for block in document.blocks:
        size = measure.span(document.text, before, block.end)
        if size <= limit:
            units.append(Unit(block.start, block.end, LINE, size))
        else:
            units.extend(text_units(document.text, block.start, block.end, LINE, limit, measure))
        before = block.end
    return units


def text_units(text: str, start: int, end: int, strength: int, limit: int, measure: Measure) -> Iterator[Unit]:
    """Units of at most ``limit`` of ``text[start:end]``: whole, else lines, sentences, clauses, words, graphemes."""
    yield from _finer(text, start, end, strength, limit, measure, 0)


def _finer(text: str, start: int, end: int, strength: int, limit: int, measure: Measure, level: int) -> Iterator[Unit]:
    size = measure.span(text, start, end)
    if size <= limit:
        yield Unit(start, end, strength, size)
        return
    if level == len(_LEVELS):
        yield from _graphemes(text, start, end, strength, limit, measure)
        return
    name, split = _LEVELS[level]
    parts = split(text, start, end)
    if len(parts) < 2:
        yield from _finer(text, start, end, strength, limit, measure, level + 1)
        return
    if name in _SMALLEST_SHARES:
        parts = _joined(parts, limit // _SMALLEST_SHARES[name])
    for index, (part_start, part_end) in enumerate(parts):
        # White space before a part counts with it, as tokenizers do.
        before = parts[index - 1][1] if index else part_start
        inner = name if index else strength
        size = measure.span(text, before, part_end)
        if size <= limit:
            yield Unit(part_start, part_end, inner, size)
        else:
            yield from _finer(text, part_start, part_end, inner, limit, measure, level + 1)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines that were ended on purpose; none when the text is wrapped to a width."""
    if text.find("\n", start, end) < 0 and text.find("\r", start, end) < 0:
        return []
    lines = [
        (match.end() - len(match.group().lstrip("\f\v")), match.start() + len(match.group().rstrip()))
        for match in _LINE.finditer(text, start, end)
        if not match.group().isspace()
    ]
    if len(lines) < 2:
        return []
    width = max(line_end - line_start for line_start, line_end in lines)
    # A break is forced when the next word would not have fitted into the width.
    forced = sum(
        line_end - line_start + 1 + _first_word(text, next_start) > width
        for (line_start, line_end), (next_start, _) in pairwise(lines)
    )
    # A line that goes on in lower case was not ended on purpose either.
    forced = max(
        forced,
        2
        * sum(
            text[next_start].islower() and text[end - 1] not in ".;:!?" for (_, end), (next_start, _) in pairwise(lines)
        ),
    )
    return [] if width <= 160 and forced > 0.5 * (len(lines) - 1) and width >= 40 else lines


def has_lines(text: str, start: int, end: int) -> bool:
    """Whether a text is made of lines that were ended on purpose."""
    return bool(_lines(text, start, end))


def _first_word(text: str, start: int) -> int:
    match = _WORD.match(text, start)
    return len(match.group()) if match else 1


def word_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Words between white space; every Chinese character or syllable sign is one."""
    return [match.span() for match in _WORD.finditer(text, start, end)]


def _joined(parts: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Neighbouring parts together up to a small length: a unit for each word or comma is no use and much memory."""
    joined: list[tuple[int, int]] = []
    for start, end in parts:
        if joined and end - joined[-1][0] <= most:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _mark_runs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """What a word is made of when it is too long itself: an ellipsis is not cut in the middle."""
    return [match.span() for match in _MARKS.finditer(text, start, end)]


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return list(sentence_spans(text, start, end))


def _clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return list(clause_spans(text, start, end))


_LEVELS = ((LINE, _lines), (SENTENCE, _sentences), (CLAUSE, _clauses), (WORD, word_spans), (GRAPHEME, _mark_runs))


def _graphemes(text: str, start: int, end: int, strength: int, limit: int, measure: Measure) -> Iterator[Unit]:
    """Pieces of one long word, as long as allowed, never inside a grapheme (unless one alone is too long)."""
    at, first = start, True
    while at < end:
        if text[at].isspace():
            at += 1
            continue
        stop = grapheme_boundary(text, at, measure.fit(text, at, end, limit), end)
        piece_end = at + len(text[at:stop].rstrip())
        yield Unit(at, piece_end, strength if first else GRAPHEME, measure.span(text, at, piece_end))
        first, at = False, stop


def grapheme_boundary(text: str, start: int, stop: int, end: int) -> int:
    """The last grapheme boundary in ``(start, stop]``, else the first after ``stop``, else ``stop``."""
    if stop >= end:
        return end
    if text[stop - 1].isascii() and text[stop].isascii():
        return stop - 1 if text[stop - 1] == "\r" and text[stop] == "\n" and stop - 1 > start else stop
    window = max(start, stop - _GRAPHEME_WINDOW)
    found = 0
    for match in _GRAPHEME.finditer(text, window, min(end, stop + _GRAPHEME_WINDOW)):
        if start < match.start() <= stop:
            found = match.start()
        if match.end() > stop:
            return found if found > start else min(match.end(), stop + _GRAPHEME_WINDOW)
    return found if found > start else stop


def pack(units: list[Unit], target: int) -> list[tuple[int, int]]:
    """Ranges ``[i, j)`` of units, each at most ``target`` where units allow it.

    The pieces of a section come out about equally long: at each step the rest is divided by the number of pieces
    it needs, and of the boundaries near that length the strongest is cut, the nearest of equals. Linear.
    """
    sums = [0]
    for unit in units:
        sums.append(sums[-1] + unit.size)
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < len(units):
        extra = units[start].extra
        rest = sums[-1] - sums[start]
        room = max(target - extra, 1)
        if rest <= room:
            ranges.append((start, len(units)))
            break
        ideal = rest / -(-rest // room)
        stop = _best_stop(units, sums, start, room, ideal)
        ranges.append((start, stop))
        start = stop
    return ranges


def _best_stop(units: list[Unit], sums: list[int], start: int, room: int, ideal: float) -> int:
    best, best_key = start + 1, (-1, 0.0)
    stop = start + 1
    while stop < len(units):
        size = sums[stop] - sums[start]
        if size > room:
            break
        strength = units[stop].strength
        # Short of half the length only a glued or too long neighbour is a reason to stop.
        near = size >= 0.5 * ideal
        key = (strength if near else -1 if strength == GLUED else 0, -abs(size - ideal))
        if key >= best_key:
            best, best_key = stop, key
        stop += 1
    if best < len(units) and units[best].strength == GLUED:
        return _after_glue(units, best)
    return best


def _after_glue(units: list[Unit], stop: int) -> int:
    """A heading is not parted from a body that is too long for the target: they go over it together."""
    while stop < len(units) and units[stop].strength == GLUED:
        stop += 1
    return stop
