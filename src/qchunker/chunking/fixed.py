"""Windows of a fixed size: the baseline that knows nothing of the text but its graphemes."""

from __future__ import annotations

from collections.abc import Iterator

from qchunker.chunking.assemble import assemble
from qchunker.chunking.packing import Piece, grapheme_boundary
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.types import Document, Partition


def fixed(document: Document, config: ChunkingConfig) -> Partition:
    """Cut every ``target_chars``, whatever stands there. Blank stretches between windows belong to no chunk."""
    measure = Measure.of_config(config)
    return assemble(document, _windows(document.text, config, measure), config, measure, "fixed")


def _windows(text: str, config: ChunkingConfig, measure: Measure) -> Iterator[Piece]:
    size = max(1, config.target - measure.overhead - int(config.target * config.overlap))
    at, end = 0, len(text.rstrip())
    while at < end:
        stop = grapheme_boundary(text, at, measure.fit(text, at, end, size), end)
        window = text[at:stop]
        start = at + len(window) - len(window.lstrip())
        if start < stop:
            yield Piece(start, at + len(window.rstrip()), "size" if at else "start")
        at = stop
