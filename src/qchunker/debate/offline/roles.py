"""The four roles played by rules."""

from __future__ import annotations

from collections.abc import Sequence

from qchunker.config import ChunkingConfig, CompletionConfig, DebateConfig
from qchunker.debate.offline.completer import complete
from qchunker.debate.offline.outline import outline
from qchunker.debate.offline.reviewer import review
from qchunker.debate.offline.segmenter import Choose, segment
from qchunker.debate.roles import Roles
from qchunker.models.embedder import Embedder
from qchunker.types import GAP_KINDS, Chunk, Document, Outline, Partition, Review, Span


def offline_roles(
    sizes: ChunkingConfig, config: DebateConfig, embedder: Embedder | None, choose: Choose | None = None
) -> Roles:
    """The roles as rules play them.

    Args:
        sizes: of the chunks.
        config: evidence for cuts, and what completion may add.
        embedder: for the evidence that comes from meaning; None leaves it out.
        choose: takes one of several partitions, where several are drawn.
    """
    limits = config.completion or CompletionConfig()

    def segmented(document: Document, _: Outline) -> Partition:
        return segment(document, sizes, config.segmentation, embedder, choose)

    def reviewed(document: Document, chunks: Sequence[Chunk], _: Outline) -> list[Review]:
        return review(document, [Span(chunk.start, chunk.end) for chunk in chunks])

    def completed(chunks: Sequence[Chunk], reviews: Sequence[Review]) -> list[Chunk]:
        return [complete(chunk, found, limits) for chunk, found in zip(chunks, reviews, strict=True)]

    who = f"embedder={'none' if embedder is None else embedder.id}"
    return Roles(
        outline,
        segmented,
        None if config.completion is None else reviewed,
        None if config.completion is None else completed,
        f"{cut_signature(config)} {completion_signature(config)} {who}",
    )


def cut_signature(config: DebateConfig) -> str:
    """What cuts depend on besides sizes."""
    weights = config.segmentation
    return (
        f"heading={weights.heading:g} block={weights.block:g} line={weights.line:g} embedding={weights.embedding:g} "
        f"lexical={weights.lexical:g} cue={weights.cue:g} length={weights.length:g} torn={weights.torn:g} "
        f"paths={weights.paths} "
        f"objective={weights.objective} seed={weights.seed}"
    )


def completion_signature(config: DebateConfig, who: str = "rules") -> str:
    """What completion depends on."""
    limits = config.completion
    if limits is None:
        return "completion=none"
    growth = f"{limits.max_growth_ratio:g}/{limits.max_growth_chars}"
    kinds, embedded = (_kinds(names) for names in (limits.kinds, limits.embedded_kinds))
    return f"completion={who}:{kinds}:{growth}:{embedded}{'+long' if limits.embeds_long else ''}"


def _kinds(names: tuple[str, ...]) -> str:
    return "all" if names == GAP_KINDS else ",".join(names)
