"""Overlap as a span of its own: what a chunk repeats from the text before it."""

from __future__ import annotations

from collections.abc import Iterator

from qchunker.chunking.packing import Piece, word_spans
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Document, Span

_PROSE = frozenset({"paragraph", "list_item", "quote", "html"})
_CUTS_INSIDE_A_BLOCK = frozenset({"sentence", "clause", "word", "grapheme", "size"})
_MIN_CHARS = 30
# A budget in tokens reaches back further in characters than its number says.
_CHARS_PER_TOKEN = 8


def lead_in(
    document: Document, piece: Piece, kind: str, floor: int, config: ChunkingConfig, measure: Measure
) -> Span | None:
    """Overlap with the text before: whole sentences, and inside a block else whole words.

    None across headings or out of tables. ``kind`` is that of the block in which the piece starts, ``floor`` where
    the chunk before it starts.
    """
    if config.overlap == 0 or piece.cut in ("heading", "start") or kind not in _PROSE:
        return None
    text = document.text
    spare = config.target - measure.span(text, piece.start, piece.end)
    budget = min(int(config.target * config.overlap), spare)
    if budget <= 0:
        return None
    stop = piece.start
    while stop > floor and text[stop - 1].isspace():
        stop -= 1
    floor = max(floor, stop - (budget if measure.in_characters else budget * _CHARS_PER_TOKEN))
    for block in reversed(document.blocks_in(floor, stop)):
        if block.kind not in _PROSE:
            floor = block.end
            break
    inside = piece.cut in _CUTS_INSIDE_A_BLOCK
    for start in _starts(text, floor, stop, words=inside):
        if measure.span(text, start, stop) <= budget:
            # Between blocks a scrap of the one before helps nobody.
            return Span(start, stop) if inside or stop - start >= _MIN_CHARS else None
    return None


def _starts(text: str, floor: int, stop: int, words: bool) -> Iterator[int]:
    """Where a lead-in may start, longest first: at sentences, else at clauses and words."""
    # The window may begin in the middle of a sentence or word; then its first one does not count.
    sentences = sentence_spans(text, floor, stop)
    mark = text[max(0, floor - 8) : floor].rstrip()[-1:]
    at_sentence = mark in "。！？；…" or (mark in ".!?" and text[floor - 1 : floor].isspace())
    yield from (start for start, _ in sentences[0 if at_sentence else 1 :])
    if words:
        last = sentences[-1].start if len(sentences) > 1 else floor
        at_word = floor == 0 or text[floor - 1].isspace()
        yield from (start for start, _ in clause_spans(text, last, stop)[1:])
        yield from (start for start, _ in word_spans(text, last, stop)[0 if at_word else 1 :])
