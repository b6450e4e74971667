"""Text that a chunker dropped stays in the way: it is ranked like chunks, costs what it costs, and counts for nothing.

Else an index with less text would be easier to search, and a chunker would gain by dropping what no question is about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from qchunker.bench.metrics.spans import ChunkSpan, approximate_tokens
from qchunker.types import Span

_NOWHERE = ""
"""Document of text that must not be found."""


def lost_texts(chunks: Sequence[ChunkSpan], documents: Mapping[str, str]) -> list[str]:
    """The stretches of the documents that are in no chunk, in pieces as long as the chunks are on average."""
    if not chunks:
        return [text for text in documents.values() if text.strip()]
    size = max(1, round(sum(chunk.end - chunk.start for chunk in chunks) / len(chunks)))
    held: dict[str, list[Span]] = defaultdict(list)
    for chunk in chunks:
        held[chunk.doc_id].append(Span(chunk.start, chunk.end))
    found = []
    for doc_id, text in documents.items():
        for start, end in _gaps(sorted(held[doc_id]), len(text)):
            found += [text[at : min(at + size, end)] for at in range(start, end, size)]
    return [piece for piece in found if piece.strip()]


def blinded(text: str) -> ChunkSpan:
    """Lost text as it is judged: as long and as many tokens, with nothing in it that could be an answer."""
    marks = " ".join(["\u03b6"] * approximate_tokens(text))
    return ChunkSpan(_NOWHERE, 0, len(text), marks.ljust(len(text)))


def _gaps(spans: Sequence[Span], length: int) -> Iterator[Span]:
    at = 0
    for span in spans:
        if span.start > at:
            yield Span(at, span.start)
        at = max(at, span.end)
    if at < length:
        yield Span(at, length)
