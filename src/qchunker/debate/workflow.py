"""The debate in order: outline, segment, review, complete. The roles meet here and nowhere else.

Source: QChunker 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig, DebateConfig
from qchunker.debate.offline.completer import complete
from qchunker.debate.offline.outline import chunk_questions, outline
from qchunker.debate.offline.reviewer import review
from qchunker.debate.offline.segmenter import segment
from qchunker.models.embedder import Embedder
from qchunker.types import GAP_KINDS, Chunk, Document, Partition

Choose = Callable[[list[Partition]], Partition]
Result = TypeVar("Result")


class RunStage(Protocol):
    """What every stage runs through: it may tell what begins, and may remember results instead of making them again."""

    def __call__(self, stage: str, make: Callable[[], Result], /) -> Result: ...


def run_directly(_stage: str, make: Callable[[], Result], /) -> Result:
    return make()


def debate(
    document: Document,
    sizes: ChunkingConfig,
    config: DebateConfig,
    embedder: Embedder | None,
    choose: Choose | None = None,
    run: RunStage = run_directly,
) -> Partition:
    """Chunks of a document, each with its question and with the knowledge it lacks.

    Args:
        document: to be chunked.
        sizes: of the chunks; what is embedded is never longer than their limit.
        config: evidence for cuts, and what completion may add.
        embedder: for the evidence that comes from meaning; None leaves it out.
        choose: takes one of several partitions, where several are drawn.
        run: runs the stages ``segment``, ``outline``, ``review`` and ``complete``.
    """
    partition = run("segment", lambda: segment(document, sizes, config.segmentation, embedder, choose))
    questions = run("outline", lambda: chunk_questions(outline(document), partition.spans, document))
    chunks = [chunk.replace(question=text) for chunk, text in zip(partition.chunks, questions, strict=True)]
    if config.completion is not None:
        limits, measure = config.completion, Measure.of_config(sizes)
        reviews = run("review", lambda: review(document, partition.spans))
        reviewed = list(zip(chunks, reviews, strict=True))
        completed = run("complete", lambda: [complete(chunk, found, limits) for chunk, found in reviewed])
        chunks = [fitted(chunk, sizes.limit, measure) for chunk in completed]
    return Partition(document, tuple(chunks), partition.method, _signature(partition.signature, config, embedder))


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


def _signature(sizes: str, config: DebateConfig, embedder: Embedder | None) -> str:
    weights = config.segmentation
    cuts = (
        f"heading={weights.heading:g} block={weights.block:g} line={weights.line:g} embedding={weights.embedding:g} "
        f"lexical={weights.lexical:g} cue={weights.cue:g} length={weights.length:g} torn={weights.torn:g} "
        f"paths={weights.paths} "
        f"objective={weights.objective} seed={weights.seed}"
    )
    completion = "none"
    if config.completion is not None:
        growth = f"{config.completion.max_growth_ratio:g}/{config.completion.max_growth_chars}"
        kinds, embedded = (_kinds(names) for names in (config.completion.kinds, config.completion.embedded_kinds))
        completion = f"rules:{kinds}:{growth}:{embedded}{'+long' if config.completion.embeds_long else ''}"
    return f"{sizes} {cuts} completion={completion} embedder={'none' if embedder is None else embedder.id}"


def _kinds(names: tuple[str, ...]) -> str:
    return "all" if names == GAP_KINDS else ",".join(names)
