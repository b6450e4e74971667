"""Document to Partition: one file per method, one line here."""

from __future__ import annotations

from collections.abc import Callable

from qchunker.chunking.direct import direct
from qchunker.chunking.fixed import fixed
from qchunker.chunking.lumber import lumber
from qchunker.chunking.margin import margin
from qchunker.chunking.moc import moc
from qchunker.chunking.perplexity import perplexity
from qchunker.chunking.recursive import recursive
from qchunker.chunking.semantic import semantic
from qchunker.chunking.sentence import sentence
from qchunker.chunking.structure import structure
from qchunker.config import ChunkingConfig
from qchunker.models.load import Models
from qchunker.types import Document, Partition

Chunker = Callable[[Document, ChunkingConfig], Partition]
ModelChunker = Callable[[Document, ChunkingConfig, Models], Partition]

CHUNKERS: dict[str, Chunker] = {
    "structure": structure,
    "fixed": fixed,
    "recursive": recursive,
    "sentence": sentence,
}

MODEL_CHUNKERS: dict[str, ModelChunker] = {
    "semantic": semantic,
    "perplexity": perplexity,
    "margin": margin,
    "lumber": lumber,
    "moc": moc,
    "llm": direct,
}
"""Methods of the literature that work with a model: an embedder, a causal language model, or one that is asked."""

LM_METHODS = ("perplexity", "margin")
LLM_METHODS = ("lumber", "moc", "llm")
"""Those that read with a causal language model, and those that ask one which follows instructions."""
