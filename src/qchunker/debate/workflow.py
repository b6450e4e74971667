"""The debate in order: outline, segment, review, complete. The roles meet here and nowhere else.

Source: QChunker 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig, DebateConfig
from qchunker.debate.offline.outline import chunk_questions
from qchunker.debate.roles import Completer, Reviewer, Roles
from qchunker.types import Chunk, Document, Outline, Partition, Review

Result = TypeVar("Result")


class RunStage(Protocol):
    """What every stage runs through: it may tell what begins, and may remember results instead of making them again."""

    def __call__(self, stage: str, make: Callable[[], Result], document: Document, /) -> Result: ...


def run_directly(_stage: str, make: Callable[[], Result], _document: Document, /) -> Result:
    return make()


def debate(
    document: Document,
    sizes: ChunkingConfig,
    config: DebateConfig,
    roles: Roles,
    run: RunStage = run_directly,
) -> Partition:
    """Chunks of a document, each with its question and with the knowledge it lacks.

    Args:
        document: to be chunked.
        sizes: of the chunks; what is embedded is never longer than their limit.
        config: rounds of review.
        roles: who outlines, cuts, reviews and completes.
        run: runs the stages ``outline``, ``segment``, ``review`` and ``complete``.
    """
    found = run("outline", lambda: roles.outline(document), document)
    partition = run("segment", lambda: roles.segment(document, found), document)
    questions = chunk_questions(found, partition.spans, document)
    chunks = [chunk.replace(question=text) for chunk, text in zip(partition.chunks, questions, strict=True)]
    if roles.review is not None and roles.complete is not None:
        completed = _completed(document, chunks, found, roles.review, roles.complete, config.rounds, run)
        measure = Measure.of_config(sizes)
        chunks = [fitted(chunk, sizes.limit, measure) for chunk in completed]
    return Partition(document, tuple(chunks), partition.method, f"{partition.signature} {roles.signature}")


def _completed(
    document: Document,
    chunks: list[Chunk],
    found: Outline,
    review: Reviewer,
    complete: Completer,
    rounds: int,
    run: RunStage,
) -> list[Chunk]:
    """The chunks completed; in later rounds the reviewer reads them as they are then, until it finds nothing new."""
    completed, known = chunks, [Review(chunk.start, chunk.end) for chunk in chunks]
    for number in range(rounds):
        suffix = f" {number + 1}" if number else ""
        reviews = run(f"review{suffix}", partial(review, document, completed, found), document)
        merged = [
            replace(
                old,
                missing=tuple(dict.fromkeys([*old.missing, *new.missing])),
                is_incomplete=old.is_incomplete or new.is_incomplete,
            )
            for old, new in zip(known, reviews, strict=True)
        ]
        if number and merged == known:
            break
        known = merged
        completed = run(f"complete{suffix}", partial(complete, chunks, known), document)
    return completed


def fitted(chunk: Chunk, limit: int, measure: Measure) -> Chunk:
    """The chunk with an embedded text within the limit: what does not fit stays in the completed text only."""
    while measure.whole(chunk.embedding_text) > limit:
        embedded = [addition for addition in chunk.added if addition.is_embedded]
        if not embedded:
            break
        longest = max(embedded, key=lambda addition: len(addition.text))
        chunk = chunk.replace(
            added=tuple(one._replace(is_embedded=False) if one is longest else one for one in chunk.added)
        )
    return chunk
