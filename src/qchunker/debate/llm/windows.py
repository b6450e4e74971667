"""What a model is shown of a document: stretches of bounded length, and for each the text around it.

However long the document, a request never grows; what all requests together show grows linearly with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from qchunker.chunking.packing import Unit
from qchunker.types import Document, Span

_TITLE_CHARS = 200


class Window(NamedTuple):
    """Units ``[first, stop)`` that a model sees at once."""

    first: int
    stop: int


def windows_of(units: Sequence[Unit], cuts: Sequence[int], window_chars: int) -> list[Window]:
    """Windows of about the given length that together hold all units.

    They end where a partition by rules cuts, so that no chunk has to reach from one into the next.

    Args:
        units: of the document.
        cuts: first units of the chunks of a partition.
        window_chars: longest window; one chunk may be longer.
    """
    ends = [*cuts[1:], len(units)]
    windows: list[Window] = []
    first = 0
    for end, following in pairwise([*ends, len(units)]):
        if following == end or units[following - 1].end - units[first].start > window_chars:
            windows.append(Window(first, end))
            first = end
    return windows


def numbered(document: Document, units: Sequence[Unit], numbers: Sequence[int]) -> str:
    """Units with their numbers, counted from 1, each on a line: ``[3] The pump stops.``"""
    lines = []
    for number in numbers:
        text = " ".join(document.text[units[number].start : units[number].end].split())
        lines.append(f"[{number - numbers[0] + 1}] {text}")
    return "\n".join(lines)


def around(document: Document, span: Span, window_chars: int) -> Span:
    """The stretch of about a length around a span, from a line or word on to another."""
    spare = max(0, window_chars - (span.end - span.start))
    low, high = max(0, span.start - spare // 2), min(len(document.text), span.end + spare // 2)
    if low > 0:
        found = max(document.text.find(mark, low, span.start) + 1 for mark in "\n ")
        low = found or low
    if high < len(document.text):
        found = max(document.text.rfind(mark, span.end, high) for mark in "\n ")
        high = found if found > 0 else high
    return Span(low, high)


def title_of(document: Document) -> str:
    """What a document calls itself, or its name: one line that is not long, since every request has it."""
    path = next((block.heading_path for block in document.blocks if block.heading_path), ())
    title = document.metadata.get("title") or (path[0] if path else document.source)
    return " ".join(title.split())[:_TITLE_CHARS]
