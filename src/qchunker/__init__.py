r"""Lossless, structure-aware chunking of Chinese and English documents for retrieval.

    file -> parse -> Document -> chunk -> Partition -> chunks (text, question, heading path, additions, links)
                                          Partition -> score -> ChunkScore
                                          Partition -> review, complete -> what chunks of any tool lack, and with it

>>> import qchunker
>>> document = qchunker.from_text("# Pumps\n\nOil them weekly.", "pumps.md")
>>> [chunk.heading_path for chunk in qchunker.chunk(document).chunks]
[('Pumps',)]
"""

from qchunker.chunking import CHUNKERS
from qchunker.config import ChunkingConfig, CompletionConfig, DebateConfig, ScoringConfig, SegmentationConfig
from qchunker.errors import QChunkerError
from qchunker.lint import lint
from qchunker.models.load import Models, load_models
from qchunker.pipeline import chunk, complete, explain_cuts, from_text, parse, review, score, score_all
from qchunker.types import (
    Addition,
    Block,
    Chunk,
    ChunkScore,
    Document,
    Gap,
    Link,
    Note,
    Outline,
    Partition,
    Question,
    Review,
    Source,
    Span,
)
from qchunker.version import __version__

__all__ = [
    "CHUNKERS",
    "Addition",
    "Block",
    "Chunk",
    "ChunkScore",
    "ChunkingConfig",
    "CompletionConfig",
    "DebateConfig",
    "Document",
    "Gap",
    "Link",
    "Models",
    "Note",
    "Outline",
    "Partition",
    "QChunkerError",
    "Question",
    "Review",
    "ScoringConfig",
    "SegmentationConfig",
    "Source",
    "Span",
    "__version__",
    "chunk",
    "complete",
    "explain_cuts",
    "from_text",
    "lint",
    "load_models",
    "parse",
    "review",
    "score",
    "score_all",
]
