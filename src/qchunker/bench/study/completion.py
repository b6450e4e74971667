"""Is a completed chunk easier to read than the chunk as it was cut? With the control that its length calls for.

Source: QChunker 4.6 and Fig. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from qchunker.bench.dataset import BenchSet
from qchunker.bench.methods import sizes_of
from qchunker.bench.metrics.perplexity import CompletedChunk, CompletionPerplexity, completion_perplexity
from qchunker.bench.significance import compare
from qchunker.errors import ScoringError
from qchunker.models.causal_lm import CausalLM
from qchunker.models.load import Models
from qchunker.pipeline import DEBATE, chunk
from qchunker.types import Chunk

Tell = Callable[[str, int, int], None]
Row = dict[str, Any]
PAIRS = (
    ("completed", "original", "the completed text against the original"),
    ("completed", "control", "the completed text against the control of the same length"),
    ("kept_completed", "kept_original", "words of the original, in the completed text against the original"),
    ("kept_completed", "kept_control", "words of the original, in the completed text against the control"),
)
_MOST_DOCUMENT_CHARS = 60_000


def completed_chunks(data: BenchSet, target: int, number: int, models: Models) -> list[CompletedChunk]:
    """Chunks that completion adds something to, from as many documents as it takes, a few of each.

    Args:
        data: a set.
        target: size of chunks.
        number: of chunks at most.
        models: as for ``chunk``.
    """
    found: list[CompletedChunk] = []
    documents = [one for one in data.documents if len(one.text) <= _MOST_DOCUMENT_CHARS] or list(data.documents)
    of_each = max(1, number // len(documents))
    for document in documents:
        pieces = [piece for piece in chunk(document, DEBATE, sizes_of(target), models=models).chunks if piece.added]
        found += [_completed(piece) for piece in pieces[:of_each]]
        if len(found) >= number:
            break
    return found[:number]


def perplexities(chunks: Sequence[CompletedChunk], lm: CausalLM, tell: Tell = lambda *_: None) -> list[Row]:
    """A row of perplexities per chunk; chunks whose document has no room for a control are left out and counted."""
    rows: list[Row] = []
    for at, one in enumerate(chunks):
        tell("perplexity", at, len(chunks))
        try:
            rows.append(completion_perplexity([one], lm)[0]._asdict())
        except ScoringError as error:
            rows.append({"left_out": error.reason})
    return rows


def differences(rows: Sequence[Row]) -> list[Row]:
    """The differences that tell whether completion helps, paired by chunk, with intervals; below 0 is easier."""
    held = [CompletionPerplexity(**row) for row in rows if "left_out" not in row]
    if len(held) < 2:
        return []
    found = []
    for after, before, what in PAIRS:
        one = compare([getattr(row, before) for row in held], [getattr(row, after) for row in held])
        found.append({"what": what} | one._asdict())
    return found


def _completed(piece: Chunk) -> CompletedChunk:
    evidence = tuple(span for addition in piece.added for span in addition.evidence)
    return CompletedChunk(piece.document.text, piece.start, piece.end, piece.completed_text or piece.text, evidence)
