"""Pages of raw PDF text -> one clean text with page offsets.

Removes running headers and footers and tables of contents, re-joins words that were hyphenated at
line ends, and sets blank lines where the layout shows a paragraph or heading, so that the rules
for plain text apply. Line breaks and reading order stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from qchunker.parsing.furniture import (
    contents_page,
    furniture_key,
    furniture_spans,
    looks_interleaved,
    shorten_leaders,
)
from qchunker.types import Note, Span

# PDFium marks a hyphen at a line end with U+0002 and drops the line break after it.
LINE_END_HYPHEN = "\x02"
KEY_CHARS = 24
SHORT_LINE_RATIO = 0.75
MIN_CONTENTS_LINES = 3
MAX_CONTENTS_GAP = 2
MIN_HALF_CHARS = 4
MAX_LISTED = 20
MIN_REPEATS = 3

_BROKEN_WORD = re.compile(r"(-?)([A-Za-z]*[a-z])(?:\x02\n?|\u00ad\n?|-\n)([a-z]+)")
_BROKEN_TOKEN = re.compile(r"\S*(?:\x02\n?|\u00ad\n?|-\n)\S*")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
# As in "pre- or post-processing", where the hyphen stands for what follows.
_CONJUNCTIONS = frozenset({"and", "or", "to"})
_CONTROL = re.compile(r"[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][\"'”’）)】\]」』*\d]{0,3}$")
_PARAGRAPH_START = re.compile(r"[A-Z\d\u3400-\u9fff•◦▪–—*(（“\"‘'【「]")


# Bullets of the fonts Symbol, Wingdings and OpenSymbol, which have no code of their own in the text.
_BULLETS = dict.fromkeys(map(ord, "\uf0b7\uf0a7\uf0d8\uf076\uf0fc\uf06c\uf0a8\ue00c\uf077"), "•")


class Hint(NamedTuple):
    """A paragraph or heading that the layout shows: its first and its last line."""

    first: str
    last: str
    is_heading: bool


class CleanText(NamedTuple):
    """The text of a PDF, the offset of every page in it, and what was changed."""

    text: str
    page_starts: tuple[int, ...]
    notes: tuple[Note, ...]


def clean(pages: Sequence[str], hints: Sequence[Sequence[Hint]]) -> CleanText:
    """Turn the raw text of pages into one text.

    Args:
        pages: raw text of every page, blank pages included.
        hints: what the layout shows, per page.
    """
    lines = [_page_lines(page) for page in pages]
    notes = _blank_notes(lines) + _column_notes(lines)
    notes += _drop_furniture(lines)
    notes += _drop_contents(lines)
    joined, raw_starts = _join(lines, hints)
    text, starts, hyphen_notes = _rejoin_words(joined, raw_starts)
    return CleanText(text, starts, tuple(notes + hyphen_notes))


def _page_lines(page: str) -> list[str]:
    text = _CONTROL.sub("", page.replace("\r\n", "\n").replace("\r", "\n")).translate(_BULLETS)
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _blank_notes(pages: list[list[str]]) -> list[Note]:
    blank = [number for number, lines in enumerate(pages, start=1) if not lines]
    if not blank:
        return []
    message = f"{len(blank)} pages without text (blank or scanned): {_listed(blank)}"
    return [Note("blank_page", message, page=blank[0])]


def _column_notes(pages: list[list[str]]) -> list[Note]:
    doubtful = [number for number, lines in enumerate(pages, start=1) if looks_interleaved(lines)]
    if not doubtful:
        return []
    message = f"two columns may be read straight across on {len(doubtful)} pages: {_listed(doubtful)}"
    return [Note("columns", message, page=doubtful[0])]


def _listed(pages: list[int]) -> str:
    return ", ".join(map(str, pages[:MAX_LISTED])) + (" ..." if len(pages) > MAX_LISTED else "")


def _drop_furniture(pages: list[list[str]]) -> list[Note]:
    """Remove running lines in place; one note per distinct line."""
    texts = ["".join(f"{line}\n" for line in lines) for lines in pages]
    starts, offset = [], 0
    for text in texts:
        starts.append(offset)
        offset += len(text)
    spans = {span.start: span for span in furniture_spans("".join(texts), starts)}
    removed: dict[str, list[tuple[int, str]]] = {}
    for number, (lines, start) in enumerate(zip(pages, starts, strict=True), start=1):
        kept, position = [], start
        for line in lines:
            if position + len(line) - len(line.lstrip()) in spans:
                removed.setdefault(furniture_key(line), []).append((number, line.strip()))
            else:
                kept.append(line)
            position += len(line) + 1
        lines[:] = kept
    return _furniture_notes(list(removed.values()))


def _furniture_notes(groups: list[list[tuple[int, str]]]) -> list[Note]:
    """One note per line that repeats, and one for all lines that a page number alone gave away."""
    notes = [
        Note("furniture", f"removed from {len(found)} pages: {found[0][1]!r}", page=found[0][0])
        for found in groups
        if len(found) >= MIN_REPEATS
    ]
    rare = [line for found in groups if len(found) < MIN_REPEATS for line in found]
    if rare:
        listed = ", ".join(repr(line) for _, line in rare[:MAX_LISTED]) + (" ..." if len(rare) > MAX_LISTED else "")
        notes.append(Note("furniture", f"removed {len(rare)} page titles: {listed}", page=min(rare)[0]))
    return notes


def _drop_contents(pages: list[list[str]]) -> list[Note]:
    """Remove tables of contents in place, and shorten the dots of lists that only look like one."""
    flat = [(page, index) for page, lines in enumerate(pages) for index in range(len(lines))]
    refs = [contents_page(pages[page][index]) for page, index in flat]
    drop: set[tuple[int, int]] = set()
    for first, last in _runs([place for place, ref in enumerate(refs) if ref is not None]):
        found = [ref for ref in refs[first : last + 1] if ref is not None]
        if _counts_up(found, len(pages)):
            drop.update(flat[first : last + 1])
    for page, lines in enumerate(pages):
        lines[:] = [shorten_leaders(line) for index, line in enumerate(lines) if (page, index) not in drop]
    if not drop:
        return []
    first_page = min(drop)[0] + 1
    return [Note("dropped_text", f"removed {len(drop)} lines of a table of contents", page=first_page)]


def _runs(places: list[int]) -> Iterable[tuple[int, int]]:
    """Stretches of contents lines; a wrapped title may put a line or two without dots between them."""
    start = 0
    for index in range(1, len(places) + 1):
        if index == len(places) or places[index] - places[index - 1] > MAX_CONTENTS_GAP + 1:
            if index - start >= MIN_CONTENTS_LINES:
                yield places[start], places[index - 1]
            start = index


def _counts_up(refs: list[str], n_pages: int) -> bool:
    """Whether page references ascend, as in contents and unlike in an index or a price list."""
    numbers = [int(ref) for ref in refs if ref.isdigit()]
    if not numbers:
        return True
    steps = sum(before <= after for before, after in pairwise(numbers))
    return steps >= 0.9 * (len(numbers) - 1) and max(numbers) <= n_pages


def _join(pages: list[list[str]], hints: Sequence[Sequence[Hint]]) -> tuple[str, list[int]]:
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    previous, after_heading = "", False
    for lines, page_hints in zip(pages, hints, strict=True):
        opens = {_key(hint.first): hint.is_heading for hint in page_hints}
        closes = {_key(hint.last) for hint in page_hints if hint.is_heading}
        full = _full_width(lines)
        for index, line in enumerate(lines):
            key = _key(line)
            is_heading = opens.get(key, False)
            starts_block = is_heading or (index > 0 and key in opens and not _runs_on(previous, line))
            ends_short = index > 0 and _ends_paragraph(previous, line, full)
            at_break = index == 0 and _SENTENCE_END.search(previous) is not None
            blank = after_heading or starts_block or ends_short or at_break
            parts.append(("\n\n" if blank else "\n") if parts else "")
            length += len(parts[-1])
            if index == 0:
                starts.append(length)
            parts.append(line)
            length += len(line)
            previous, after_heading = line, key in closes
        if not lines:
            starts.append(-1)
    return "".join(parts), _fill_blank(starts, length)


def _fill_blank(starts: list[int], length: int) -> list[int]:
    """Blank pages start where the next page with text starts."""
    following = length
    for page in range(len(starts) - 1, -1, -1):
        following = starts[page] = following if starts[page] < 0 else starts[page]
    return starts


def _key(line: str) -> str:
    return "".join(char for char in line[: KEY_CHARS * 3] if char.isalnum())[:KEY_CHARS] or line[:KEY_CHARS]


def _width(line: str) -> int:
    return len(line) + sum("\u2e80" <= char <= "\uffef" for char in line)


def _full_width(lines: list[str]) -> int:
    widths = sorted(map(_width, lines))
    return widths[len(widths) * 4 // 5] if widths else 0


def _ends_paragraph(previous: str, line: str, full: int) -> bool:
    """A clearly short line that ends a sentence, before a line that can start one."""
    return (
        _width(previous) < SHORT_LINE_RATIO * full
        and _SENTENCE_END.search(previous) is not None
        and _PARAGRAPH_START.match(line) is not None
    )


def _runs_on(previous: str, line: str) -> bool:
    """Whether one sentence runs over both lines, whatever the layout says."""
    return line[:1].islower() and _SENTENCE_END.search(previous) is None


def _rejoin_words(text: str, starts: list[int]) -> tuple[str, tuple[int, ...], list[Note]]:
    """Join words broken at line ends; a hyphen stays where the document shows that it is part of the word."""
    vocabulary = set(_WORD.findall(_BROKEN_TOKEN.sub(" ", text).lower()))
    for word in [word for word in vocabulary if "-" in word]:
        vocabulary.update(word.split("-"))
    pieces: list[str] = []
    cuts: list[int] = []
    lost: list[int] = []
    joined: Counter[str] = Counter()
    first_place: dict[str, int] = {}
    end = n_lost = 0
    for match in _BROKEN_WORD.finditer(text):
        chain, left, right = match.groups()
        is_one = _is_one_word(left.lower(), right, vocabulary, in_chain=bool(chain))
        word = left + right if is_one else f"{left}-{right}"
        start = match.start(2)
        pieces += [text[end:start], word]
        end = match.end()
        first_place.setdefault(word, start - n_lost)
        joined[word] += 1
        n_lost += end - start - len(word)
        cuts.append(match.end())
        lost.append(n_lost)
    clean_text = "".join([*pieces, text[end:]])
    shifts = [0, *lost]
    moved = tuple(start - shifts[bisect_right(cuts, start)] for start in starts)
    notes = []
    for word, count in joined.items():
        place = first_place[word]
        page = bisect_right(moved, place)
        message = f"line-end hyphen: {word} ({count} times)"
        notes.append(Note("hyphenation", message, span=Span(place, place + len(word)), page=page))
    return clean_text.replace(LINE_END_HYPHEN, "-"), moved, notes


def _is_one_word(left: str, right: str, vocabulary: set[str], *, in_chain: bool) -> bool:
    """Whether the hyphen between two halves is only there because the line ended.

    A chain such as "on-the-" + "fly" keeps its hyphens, and so do two halves that the document
    uses as words of some length of their own.
    """
    if right in _CONJUNCTIONS:
        return False
    if left + right in vocabulary and not in_chain:
        return True
    if f"{left}-{right}" in vocabulary:
        return False
    are_words = left in vocabulary and right in vocabulary
    return not (are_words and (in_chain or min(len(left), len(right)) >= MIN_HALF_CHARS))
