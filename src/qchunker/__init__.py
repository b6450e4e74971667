r"""Lossless, structure-aware chunking of Chinese and English documents for retrieval.

    file -> parse -> Document -> chunk -> Partition -> chunks (text, heading path, page, links)
                                          Partition -> score -> ChunkScore

>>> import qchunker
>>> document = qchunker.from_text("# Pumps\n\nOil them weekly.", "pumps.md")
>>> [chunk.heading_path for chunk in qchunker.chunk(document).chunks]
[('Pumps',)]
"""

from qchunker.chunking import CHUNKERS
from qchunker.config import ChunkingConfig, ScoringConfig
from qchunker.errors import QChunkerError
from qchunker.lint import lint
from qchunker.models.load import Models, load_models
from qchunker.pipeline import chunk, from_text, parse, score, score_all
from qchunker.types import Block, Chunk, ChunkScore, Document, Link, Note, Partition, Source, Span
from qchunker.version import __version__

__all__ = [
    "CHUNKERS",
    "Block",
    "Chunk",
    "ChunkScore",
    "ChunkingConfig",
    "Document",
    "Link",
    "Models",
    "Note",
    "Partition",
    "QChunkerError",
    "ScoringConfig",
    "Source",
    "Span",
    "__version__",
    "chunk",
    "from_text",
    "lint",
    "load_models",
    "parse",
    "score",
    "score_all",
]
