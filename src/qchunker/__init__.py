r"""Lossless, structure-aware chunking of Chinese and English documents for retrieval.

    file -> parse -> Document -> chunk -> Partition -> chunks (text, question, heading path, additions, links)
                                          Partition -> score -> ChunkScore
                                          Partition -> review, complete -> what chunks of any tool lack, and with it
                  Document -> qa_pairs -> question-answer pairs, for the index too
    folder -> Index.sync -> Index.search -> hits; Index.ask -> answer with sources

>>> import qchunker
>>> document = qchunker.from_text("# Pumps\n\nOil them weekly.", "pumps.md")
>>> [chunk.heading_path for chunk in qchunker.chunk(document).chunks]
[('Pumps',)]
"""

from qchunker.answering.answer import Answer
from qchunker.chunking import CHUNKERS
from qchunker.config import (
    ChunkingConfig,
    CompletionConfig,
    DebateConfig,
    LLMConfig,
    QAConfig,
    ScoringConfig,
    SearchConfig,
    SegmentationConfig,
)
from qchunker.errors import QChunkerError
from qchunker.index import Index, Sync
from qchunker.lint import lint
from qchunker.models.load import Models, load_models
from qchunker.models.load_llm import load_llm
from qchunker.pipeline import (
    boundary_evidence,
    chunk,
    complete,
    explain_cuts,
    from_text,
    parse,
    review,
    score,
    score_all,
)
from qchunker.qa.pairs import QAPair, QAResult
from qchunker.qa.workflow import qa_pairs
from qchunker.retrieval.filters import Filter
from qchunker.retrieval.hits import Hit
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
    "Answer",
    "Block",
    "Chunk",
    "ChunkScore",
    "ChunkingConfig",
    "CompletionConfig",
    "DebateConfig",
    "Document",
    "Filter",
    "Gap",
    "Hit",
    "Index",
    "LLMConfig",
    "Link",
    "Models",
    "Note",
    "Outline",
    "Partition",
    "QAConfig",
    "QAPair",
    "QAResult",
    "QChunkerError",
    "Question",
    "Review",
    "ScoringConfig",
    "SearchConfig",
    "SegmentationConfig",
    "Source",
    "Span",
    "Sync",
    "__version__",
    "boundary_evidence",
    "chunk",
    "complete",
    "explain_cuts",
    "from_text",
    "lint",
    "load_llm",
    "load_models",
    "parse",
    "qa_pairs",
    "review",
    "score",
    "score_all",
]
