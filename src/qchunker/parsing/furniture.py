"""Lines that belong to the page and not to the text: running headers, footers, page numbers, contents lines.

Pure functions over text and the offsets where its pages start. They serve PDF and plain text with
form feeds alike, in Chinese and English. Time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from qchunker.types import Span

EDGE_LINES = 3
MIN_PAGES = 3
MAX_LINE_CHARS = 160
MIN_COVERAGE = 0.4
MIN_STEADY_SHARE = 0.6
MIN_TITLED_PAGES = 10
MIN_TITLED_SHARE = 0.3
MIN_SENTENCE_COVERAGE = 0.8
LEADER_CHARS = " .…‥·⋯．・_\u00a0\t"
MIN_LEADER_DOTS = 4
SENTENCE_ENDS = tuple(".。;；!！?？:：…")

_PAGE_PATTERN = re.compile(
    r"""(?ix) ^ [\s\-–—|·•]* (?:
        page \s* [:.]? \s* \d{1,5} (?: \s* (?: of | / ) \s* \d{1,5} )?
      | p\.? \s* \d{1,5} \s* (?: of | / ) \s* \d{1,5}
      | \d{1,5} \s+ of \s+ \d{1,5}
      | 第 \s* [\d一二三四五六七八九十百零〇]{1,6} \s* 页
        (?: \s* [,，/／]? \s* [（(]? 共 \s* [\d一二三四五六七八九十百零〇]{1,6} \s* 页 [）)]? )?
      | 共 \s* \d{1,5} \s* 页 \s* [,，/／]? \s* 第 \s* \d{1,5} \s* 页
      | 页码? \s* [:：]? \s* \d{1,5} (?: \s* / \s* \d{1,5} )?
    ) [\s\-–—|·•]* $
    """
)
_DASHED_NUMBER = re.compile(r"^[-–—·•]\s*\d{1,5}\s*[-–—·•]$")
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"^(?=[ivxlc])(?:x{0,3}|xl|lx{0,3}|xc|c)(?:ix|iv|v?i{0,3})$", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_NUMBER_FIRST = re.compile(r"^[-–—|\s]*(\d{1,5}|[ivxlcIVXLC]{1,8})(?:[-–—|\s]+|$)")
_NUMBER_LAST = re.compile(r"(?:^|[-–—|\s])(\d{1,5}|[ivxlcIVXLC]{1,8})[-–—|\s]*$")
_TABLE_ROW = re.compile(r"[|｜\t]|\S {2,}\S.*\S {2,}\S")
_PAGE_REFERENCE = re.compile(r"(?:\d{1,4}|[ivxlcIVXLC]{1,8}|[A-Z][-–.]?\d{1,3}(?:[-–.]\d{1,3})?)$")
# The number of a chapter may happen to be that of its page.
_NUMBERED_UNIT = re.compile(r"(?:chapter|part|section|appendix|article|figure|table)\s+\S{1,6}$", re.IGNORECASE)
_WIDE_GAP = re.compile(r"\S( {3,})\S")
_MID_LINE_HYPHEN = re.compile(r"[a-z]{2,}- (?!and\b|or\b|to\b)[a-z]{2,} ")


class _Line(NamedTuple):
    """A non-blank line near the top or the bottom of a page."""

    page: int
    start: int
    end: int
    text: str


def furniture_spans(text: str, page_starts: Sequence[int]) -> list[Span]:
    """Whole lines, without their line end, that are running headers, footers or page numbers.

    A line qualifies only near the edge of a page, with nothing but furniture between it and that
    edge, and if it repeats on at least three pages (digits aside), counts the pages, or has an
    unmistakable form such as "Page 4 of 60".

    Args:
        text: the text of all pages.
        page_starts: the offset where each page starts, ascending, blank pages included.

    Returns:
        Sorted, disjoint spans.
    """
    pages = [list(_lines(text, page, span)) for page, span in enumerate(_page_spans(text, page_starts))]
    body = Counter(furniture_key(line.text) for lines in pages for line in lines[EDGE_LINES:-EDGE_LINES])
    found: set[_Line] = set()
    for from_top in (True, False):
        edges = [lines[:EDGE_LINES] if from_top else lines[: -EDGE_LINES - 1 : -1] for lines in pages]
        found |= _edge_furniture(edges, body)
    return sorted(Span(line.start, line.end) for line in found)


def furniture_key(line: str) -> str:
    """The line with its numbers and spacing levelled, equal for the "same" header of two pages."""
    words = unicodedata.normalize("NFKC", line).casefold().split()
    return " ".join("#" if _ROMAN.match(word) else _DIGITS.sub("#", word) for word in words)


def contents_line(line: str) -> bool:
    """Whether this is one line of a table of contents: a title, dot leaders, a page number."""
    return contents_page(line) is not None


def contents_page(line: str) -> str | None:
    """The page number at the end of a dotted contents line, or None for any other line."""
    stripped = line.rstrip().rstrip(")）]】").rstrip()
    match = _PAGE_REFERENCE.search(stripped[-12:])
    if match is None:
        return None
    before = stripped[: len(stripped) - len(match.group())].rstrip("(（[【 ")
    title = before.rstrip(LEADER_CHARS)
    leader = before[len(title) :]
    dots = sum(3 if char in "…⋯" else 2 if char == "‥" else char not in " _\u00a0\t" for char in leader)
    if dots < MIN_LEADER_DOTS or not any(char.isalnum() for char in title):
        return None
    return match.group()


def shorten_leaders(line: str) -> str:
    """A contents line with its leader cut to three dots; any other line unchanged."""
    page = contents_page(line)
    if page is None:
        return line
    head, _, tail = line.rpartition(page)
    return f"{head.rstrip('(（[【 ').rstrip(LEADER_CHARS)} ... {page}{tail}"


def looks_interleaved(lines: Sequence[str]) -> bool:
    """Whether these lines of one page probably hold two columns read straight across.

    Two signs: a wide gap at one and the same place in most lines with words on both sides, or
    several line-end hyphens in the middle of lines.
    """
    full = [line for line in lines if len(line.split()) >= 4]
    hyphens = sum(_MID_LINE_HYPHEN.search(line) is not None for line in full)
    if hyphens >= 3 and hyphens * 10 >= len(full):
        return True
    ends = Counter(end for line in full for end in _column_starts(line))
    if not ends:
        return False
    _, count = ends.most_common(1)[0]
    return count >= 3 and count * 2 > len(full)


def _column_starts(line: str) -> Iterator[int]:
    for match in _WIDE_GAP.finditer(line):
        left, right = line[: match.start(1)].split(), line[match.end(1) :].split()
        if len(left) >= 2 and len(right) >= 2 and not any("|" in word for word in left + right):
            yield match.end(1)


def _page_spans(text: str, page_starts: Sequence[int]) -> Iterator[Span]:
    bounds = [*page_starts, len(text)]
    for start, end in pairwise(bounds):
        yield Span(start, end)


def _lines(text: str, page: int, span: Span) -> Iterator[_Line]:
    start = span.start
    for line in text[span.start : span.end].splitlines(keepends=True):
        stripped = line.strip()
        if stripped:
            left = start + line.index(stripped[0])
            yield _Line(page, left, left + len(stripped), stripped)
        start += len(line)


def _edge_furniture(edges: list[list[_Line]], body: Counter[str]) -> set[_Line]:
    """Furniture among the outermost lines of every page, outermost first."""
    occupied = [page for page, lines in enumerate(edges) if lines]
    repeated = _repeated_keys(edges, body, occupied)
    found: set[_Line] = set()
    open_pages = set(occupied)
    for depth in range(EDGE_LINES):
        level = [lines[depth] for lines in edges if len(lines) > depth and lines[0].page in open_pages]
        numbered = _counting_lines(level, occupied)
        hits = {line for line in level if line in numbered or furniture_key(line.text) in repeated}
        hits.update(line for line in level if _is_page_mark(line))
        found |= hits
        open_pages = {line.page for line in hits}
    # An explicit page mark may stand beyond a line that is not furniture, such as a footnote.
    found.update(line for lines in edges for line in lines if _PAGE_PATTERN.match(line.text))
    return found


def _is_page_mark(line: _Line) -> bool:
    return _PAGE_PATTERN.match(line.text) is not None or _DASHED_NUMBER.match(line.text) is not None


def _repeated_keys(edges: list[list[_Line]], body: Counter[str], occupied: list[int]) -> set[str]:
    lines_of: dict[str, list[_Line]] = defaultdict(list)
    for lines in edges:
        for line in lines:
            if len(line.text) <= MAX_LINE_CHARS:
                same = lines_of[furniture_key(line.text)]
                if not same or same[-1].page != line.page:
                    same.append(line)
    return {
        key
        for key, lines in lines_of.items()
        if len(lines) >= MIN_PAGES
        and key.strip("#. -")
        and _repeats_like_furniture(lines[0].text, [line.page for line in lines], body[key], occupied)
        and _numbers_go_with_pages(lines)
    }


def _numbers_go_with_pages(lines: list[_Line]) -> bool:
    """Whether the numbers in a repeated line stand still or count the pages, unlike those of table rows."""
    numbers = [[int(digits) for digits in _DIGITS.findall(line.text)] for line in lines]
    steady = 0
    for before, after, page, next_page in zip(numbers, numbers[1:], lines, lines[1:], strict=False):
        step = next_page.page - page.page
        steady += all(second - first in (0, step) for first, second in zip(before, after, strict=False))
    return steady >= MIN_STEADY_SHARE * (len(lines) - 1)


def _repeats_like_furniture(line: str, pages: list[int], in_body: int, occupied: list[int]) -> bool:
    """Tell a running line from a table header or a short clause that happens to repeat."""
    if contents_line(line) or in_body * 2 > len(pages):
        return False
    if _TABLE_ROW.search(line) and (in_body or len(pages) < 0.6 * len(occupied)):
        return False
    is_sentence = line.endswith(SENTENCE_ENDS) and not _DIGITS.search(line)
    needed = MIN_SENTENCE_COVERAGE if is_sentence else MIN_COVERAGE
    return _coverage(pages, occupied) >= needed


def _coverage(pages: list[int], occupied: list[int]) -> float:
    """The share of pages between the first and the last of ``pages`` that are among them."""
    between = bisect_right(occupied, pages[-1]) - bisect_left(occupied, pages[0])
    share = len(pages) / between
    if len({page % 2 for page in pages}) == 1:
        share = min(1.0, share * 2)
    return share


def _counting_lines(level: list[_Line], occupied: list[int]) -> set[_Line]:
    """Lines that start or end with a number that grows by one from page to page."""
    by_offset: dict[tuple[bool, int], list[_Line]] = defaultdict(list)
    for line in level:
        for number, is_roman in _edge_numbers(line.text):
            by_offset[is_roman, number - line.page].append(line)
    found: set[_Line] = set()
    for lines in by_offset.values():
        pages = sorted({line.page for line in lines})
        if len(pages) < MIN_PAGES or _coverage(pages, occupied) < MIN_COVERAGE:
            continue
        # Headings and footnotes that happen to count along with a few pages are not page numbers.
        is_whole_book = len(pages) >= max(MIN_TITLED_PAGES, MIN_TITLED_SHARE * len(occupied))
        found.update(line for line in lines if is_whole_book or not _has_title(line.text))
    return found


def _has_title(line: str) -> bool:
    return sum(map(str.isalpha, line)) > 0 and _ROMAN.match(line.strip("-–—| ")) is None


def _edge_numbers(line: str) -> Iterator[tuple[int, bool]]:
    if len(line) > MAX_LINE_CHARS or contents_line(line) or _NUMBERED_UNIT.match(line):
        return
    for pattern in (_NUMBER_FIRST, _NUMBER_LAST):
        match = pattern.search(line)
        if match is None:
            continue
        word = match.group(1)
        if word.isdigit():
            yield int(word), False
        elif _ROMAN.match(word):
            yield _roman_value(word.lower()), True


def _roman_value(word: str) -> int:
    values = [_ROMAN_VALUES[char] for char in word]
    return sum(-value if value < following else value for value, following in pairwise([*values, 0]))
