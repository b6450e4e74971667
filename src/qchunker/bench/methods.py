"""What is compared: every chunker of the package, controls, and chunks of other tools, each at a given size."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from qchunker.bench.dataset import BenchSet, read_json_lines
from qchunker.bench.metrics.spans import ChunkSpan
from qchunker.chunking import CHUNKERS, MODEL_CHUNKERS
from qchunker.chunking.assemble import chunk_at
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig, DebateConfig
from qchunker.errors import InputError
from qchunker.models.load import Models
from qchunker.pipeline import DEBATE, chunk
from qchunker.scoring.random_partitions import random_partitions
from qchunker.types import Chunk, Document, Span

FILE_PREFIX = "file:"
"""Of methods that are a file with the chunks of another tool."""

CUTS_ONLY, RANDOM, SHUFFLED = "qchunker-cuts", "random", "shuffled"
TEXTS = ("embedded", "body")


class Piece(NamedTuple):
    """A chunk of a method: its place, and the text that is embedded for it."""

    doc_id: str
    start: int
    end: int
    embedded: str

    def as_span(self, document: str, texts: str) -> ChunkSpan:
        """As it is judged; ``texts`` is one of ``TEXTS``."""
        text = self.embedded if texts == "embedded" else document[self.start : self.end]
        return ChunkSpan(self.doc_id, self.start, self.end, text)


Cut = Callable[[Document, int, int, Models], list[Piece]]
"""Document, size in characters, seed and models to chunks."""


class Method(NamedTuple):
    """A way to chunk.

    Args:
        cut: makes the chunks.
        is_costly: whether a language model has to read or write for every try, so that few sizes are tried.
    """

    cut: Cut
    is_costly: bool = False


def sizes_of(size: int) -> ChunkingConfig:
    """The same limits for every method: chunks of twice the size at most, nothing repeated, nothing joined."""
    return ChunkingConfig(target_chars=size, max_chars=2 * size, min_chars=0, overlap_ratio=0)


def _by_name(name: str, document: Document, size: int, seed: int, models: Models) -> list[Piece]:
    return _pieces(chunk(document, name, sizes_of(size), models=models).chunks)


def _cuts_only(document: Document, size: int, seed: int, models: Models) -> list[Piece]:
    config = DebateConfig(completion=None)
    return _pieces(chunk(document, DEBATE, sizes_of(size), config, models).chunks)


def _random(document: Document, size: int, seed: int, models: Models) -> list[Piece]:
    """Sentences put together at random, with lengths between those of the sentence chunker's shortest and longest."""
    spans = chunk(document, "sentence", sizes_of(size)).spans
    drawn = random_partitions(document.text, spans, 1, seed).draws[0] if len(spans) > 1 else spans
    return _at(document, drawn, size)


def _shuffled(document: Document, size: int, seed: int, models: Models) -> list[Piece]:
    """The lengths of ``qchunker-cuts`` in random order: what its cuts are worth apart from their lengths."""
    spans = [Span(piece.start, piece.end) for piece in _cuts_only(document, size, seed, models)]
    edges = [span.start for span in spans] + [spans[-1].end]
    lengths = np.random.default_rng(seed).permutation(np.diff(edges))
    places = [edges[0], *(edges[0] + np.cumsum(lengths)).tolist()]
    text = document.text
    return _at(document, [Span(*pair) for pair in pairwise(places) if text[slice(*pair)].strip()], size)


def _at(document: Document, spans: Sequence[Span], size: int) -> list[Piece]:
    """Chunks at given places, embedded as those of every chunker."""
    sizes = sizes_of(size)
    return _pieces([chunk_at(document, span, sizes, Measure.of_config(sizes)) for span in spans])


def _pieces(chunks: Sequence[Chunk]) -> list[Piece]:
    return [Piece(one.document.id, one.start, one.end, one.embedding_text) for one in chunks]


_COSTLY = frozenset({"lumber", "perplexity", "margin", "moc", "llm"})

METHODS: Mapping[str, Method] = {
    DEBATE: Method(partial(_by_name, DEBATE)),
    CUTS_ONLY: Method(_cuts_only),
    **{name: Method(partial(_by_name, name), name in _COSTLY) for name in (*CHUNKERS, *MODEL_CHUNKERS)},
    RANDOM: Method(_random),
    SHUFFLED: Method(_shuffled),
}


def chunks_of_file(path: Path, data: BenchSet) -> list[Piece]:
    """The chunks of another tool: {doc_id, start, end}, with ``embedding_text`` or ``text`` where it is not the span.

    ``source``, the name of the document's file, will do in place of ``doc_id``.

    Raises:
        InputError: naming the row, if it names no document of the set or lies outside of it.
    """
    pieces = []
    named = {document.source.rpartition("/")[2]: document.id for document in data.documents}
    for number, row in enumerate(read_json_lines(path), 1):
        where, doc_id = f"{path}, row {number}", str(row.get("doc_id"))
        if doc_id not in data.texts:
            doc_id = named.get(str(row.get("source")).rpartition("/")[2], "")
        if doc_id not in data.texts:
            known = ", ".join(list(data.texts)[:3])
            raise InputError(
                f"{where}: doc_id {row.get('doc_id')!r}, source {row.get('source')!r}: no document of {data.name!r}",
                hint=f"ids are such as {known}; source is the name of a file",
            )
        text = data.texts[doc_id]
        span = _span(row.get("start"), row.get("end"), len(text), where)
        given = row.get("embedding_text") or row.get("text") or text[slice(*span)]
        if not isinstance(given, str):
            raise InputError(f"{where}: the text must be text, got {json.dumps(given)[:60]}")
        if text[slice(*span)].strip():
            pieces.append(Piece(doc_id, span.start, span.end, given))
    if not pieces:
        raise InputError(f"{path}: holds no chunk")
    return pieces


def _span(start: object, end: object, length: int, where: str) -> Span:
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
        raise InputError(f"{where}: needs 0 <= start < end <= {length}, got {start!r} and {end!r}")
    return Span(start, end)
