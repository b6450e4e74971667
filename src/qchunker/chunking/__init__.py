"""Document to Partition: one file per method, one line here."""

from __future__ import annotations

from collections.abc import Callable

from qchunker.chunking.fixed import fixed
from qchunker.chunking.recursive import recursive
from qchunker.chunking.sentence import sentence
from qchunker.chunking.structure import structure
from qchunker.config import ChunkingConfig
from qchunker.types import Document, Partition

Chunker = Callable[[Document, ChunkingConfig], Partition]

CHUNKERS: dict[str, Chunker] = {
    "structure": structure,
    "fixed": fixed,
    "recursive": recursive,
    "sentence": sentence,
}
