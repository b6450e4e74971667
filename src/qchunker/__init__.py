r"""Lossless, structure-aware chunking of Chinese and English documents for retrieval.

    file -> parse -> Document -> chunk -> Partition -> chunks (text, heading path, page, links)

>>> import qchunker
>>> document = qchunker.from_text("# Pumps\n\nOil them weekly.", "pumps.md")
>>> [chunk.heading_path for chunk in qchunker.chunk(document).chunks]
[('Pumps',)]
"""

from qchunker.chunking import CHUNKERS
from qchunker.config import ChunkingConfig
from qchunker.errors import QChunkerError
from qchunker.lint import lint
from qchunker.pipeline import chunk, from_text, parse
from qchunker.types import Block, Chunk, Document, Link, Note, Partition, Source, Span
from qchunker.version import __version__

__all__ = [
    "CHUNKERS",
    "Block",
    "Chunk",
    "ChunkingConfig",
    "Document",
    "Link",
    "Note",
    "Partition",
    "QChunkerError",
    "Source",
    "Span",
    "__version__",
    "chunk",
    "from_text",
    "lint",
    "parse",
]
