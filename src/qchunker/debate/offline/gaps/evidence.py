"""Gaps from what detectors find: evidence clipped to what lies outside the chunk, trimmed, and bounded in length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.types import Gap, Span

REQUIRED, HELPFUL = "required", "helpful"
# Evidence that is longer than this explains less than it repeats.
_MAX_TOTAL_EN, _MAX_TOTAL_ZH = 570, 285
_MAX_SPANS = 8
_CREDIT = re.compile(r"\s*[（(][^（）()，。\n]{2,24}(?:供图|供圖|摄|攝)[）)]\s*")
_STRIP = " \t\r\n\u3000.。;；:：,，、|-•*#"


def gaps(
    index: DocumentIndex, chunk: Span, kind: str, surface: Span, evidence: Iterable[Span], necessity: str = REQUIRED
) -> Iterator[Gap]:
    """One gap, or none if no evidence is left outside the chunk.

    Args:
        index: of the document.
        chunk: the chunk that lacks the knowledge.
        kind: one of ``GAP_KINDS``.
        surface: the expression that is not understood; cut to the chunk.
        evidence: spans that state the knowledge, the best first; parts inside the chunk are left out.
        necessity: ``required`` or ``helpful``.
    """
    surface = Span(max(surface.start, chunk.start), min(surface.end, chunk.end))
    if surface.start >= surface.end:
        return
    room = _MAX_TOTAL_ZH if index.chinese else _MAX_TOTAL_EN
    kept: list[Span] = []
    for span in evidence:
        outside = trimmed(index.text, _outside(span, chunk))
        length = outside.end - outside.start
        # Half a statement states nothing.
        cut = 2 * length < span.end - span.start and trimmed(index.text, span) != outside
        if length < 1 or cut or any(outside.start < other.end and other.start < outside.end for other in kept):
            continue
        if length > room:
            if kept:
                continue
            outside, length = Span(outside.start, outside.start + room), room
        kept.append(outside)
        room -= length
        if len(kept) == _MAX_SPANS:
            break
    if kept:
        yield Gap(kind, surface, index.text[kept[0].start : kept[0].end], tuple(kept), necessity)


def trimmed(text: str, span: Span) -> Span:
    """The span without blanks, list marks and closing punctuation at its ends."""
    start, end = span
    credit = _CREDIT.match(text, start, end)  # of the photograph above
    start = credit.end() if credit else start
    while start < end and text[start] in _STRIP:
        start += 1
    while start < end and text[end - 1] in _STRIP:
        end -= 1
    return Span(start, end)


def _outside(span: Span, chunk: Span) -> Span:
    """The longer part of a span outside the chunk; an empty span if there is none."""
    before = Span(span.start, min(span.end, chunk.start))
    after = Span(max(span.start, chunk.end), span.end)
    longer = max(before, after, key=lambda part: part.end - part.start)
    return longer if longer.start < longer.end else Span(span.start, span.start)
