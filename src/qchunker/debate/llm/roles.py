"""The four roles played by a language model, sharing what they make of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from qchunker.config import ChunkingConfig, CompletionConfig, DebateConfig
from qchunker.debate.llm.completer import complete
from qchunker.debate.llm.outline import outline
from qchunker.debate.llm.reviewer import review
from qchunker.debate.llm.segmenter import segment
from qchunker.debate.llm.setting import Setting
from qchunker.debate.offline.roles import completion_signature, cut_signature
from qchunker.debate.offline.segmenter import Choose, Segmentation
from qchunker.debate.roles import Roles
from qchunker.models.embedder import Embedder
from qchunker.types import Chunk, Document, Outline, Partition, Review

Made = TypeVar("Made")


def llm_roles(
    setting: Setting,
    sizes: ChunkingConfig,
    config: DebateConfig,
    embedder: Embedder | None,
    choose: Choose | None = None,
) -> Roles:
    """The roles as a language model plays them.

    Args:
        setting: of the model.
        sizes: of the chunks.
        config: evidence for the cuts that are taken where the model gives none, and what completion may add.
        embedder: for that evidence.
        choose: takes one of several segmentations; None takes the one with most evidence.
    """
    made = remembered(lambda document: Segmentation(document, sizes, config.segmentation, embedder))
    limits = config.completion or CompletionConfig()

    def segmented(document: Document, found: Outline) -> Partition:
        return segment(document, found, made(document), setting, choose)

    def reviewed(document: Document, chunks: Sequence[Chunk], found: Outline) -> list[Review]:
        return review(document, chunks, found, setting)

    def completed(chunks: Sequence[Chunk], reviews: Sequence[Review]) -> list[Chunk]:
        return complete(chunks, reviews, limits, setting)

    who = f"embedder={'none' if embedder is None else embedder.id} {setting.signature}"
    return Roles(
        lambda document: outline(document, made(document), setting),
        segmented,
        None if config.completion is None else reviewed,
        None if config.completion is None else completed,
        f"{cut_signature(config)} {completion_signature(config, 'llm')} {who}",
    )


def remembered(make: Callable[[Document], Made]) -> Callable[[Document], Made]:
    """What was made of the last document, which outline and segmenter both need."""
    last: list[tuple[Document, Made]] = []

    def made(document: Document) -> Made:
        if not last or last[0][0] is not document:
            last[:] = [(document, make(document))]
        return last[0][1]

    return made
