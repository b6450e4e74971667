"""The roles that small models play, in place of those who would play them otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from qchunker.config import ChunkingConfig, CompletionConfig, DebateConfig
from qchunker.debate.distilled.discriminator import judge_of_classifier, judge_of_llm, review
from qchunker.debate.distilled.generator import Generation, generate
from qchunker.debate.distilled.refiner import complete
from qchunker.debate.distilled.setting import setting_for, signature_of
from qchunker.debate.llm.roles import remembered
from qchunker.debate.offline.segmenter import Segmentation
from qchunker.debate.roles import Roles
from qchunker.models.embedder import Embedder
from qchunker.models.llm import LLM, Tally
from qchunker.models.load import Models
from qchunker.models.sequence_classifier import PairClassifier
from qchunker.types import Chunk, Document, Outline, Partition, Review


def with_small_models(
    roles: Roles, models: Models, sizes: ChunkingConfig, config: DebateConfig, embedder: Embedder | None
) -> Roles:
    """The roles, with those that small models play; the others as they were.

    Args:
        roles: of a language model, or of the rules.
        models: generator, discriminator and refiner, as far as they are there.
        sizes: of the chunks.
        config: as for the other roles; the sampling is that of the paper.
        embedder: for the evidence of the cuts that are taken where the generator gives none.

    Raises:
        ConfigError: if a prompt of the user's folder cannot be used.
    """
    if models.generator is not None:
        roles = _with_generator(roles, models.generator, models.tally, sizes, config, embedder)
    if config.completion is None:
        return roles
    if models.discriminator is not None:
        roles = _with_discriminator(roles, models.discriminator, models.tally, sizes, config)
    if models.refiner is not None:
        roles = _with_refiner(roles, models.refiner, models.tally, sizes, config)
    return roles


def _with_generator(
    roles: Roles, model: LLM, tally: Tally, sizes: ChunkingConfig, config: DebateConfig, embedder: Embedder | None
) -> Roles:
    setting = setting_for("generator", model, config.llm, sizes, tally)

    def make(document: Document) -> tuple[Segmentation, Generation]:
        segmentation = Segmentation(document, sizes, config.segmentation, embedder)
        return segmentation, generate(document, segmentation, setting)

    made = remembered(make)

    def segmented(document: Document, _: Outline) -> Partition:
        segmentation, generation = made(document)
        return segmentation.partition(generation.cuts)

    return roles._replace(
        outline=lambda document: made(document)[1].outline,
        segment=segmented,
        signature=f"{roles.signature} {signature_of('generator', setting)}",
    )


def _with_discriminator(
    roles: Roles, model: LLM | PairClassifier, tally: Tally, sizes: ChunkingConfig, config: DebateConfig
) -> Roles:
    if isinstance(model, PairClassifier):
        judge = judge_of_classifier(model, config.llm.window_chars, tally)
        signature = f"discriminator={model.id} discriminator_window={config.llm.window_chars}"
    else:
        setting = setting_for("discriminator", model, config.llm, sizes, tally)
        judge, signature = judge_of_llm(setting), signature_of("discriminator", setting)

    def reviewed(document: Document, chunks: Sequence[Chunk], _: Outline) -> list[Review]:
        return review(document, chunks, judge, tally)

    return roles._replace(review=reviewed, signature=f"{roles.signature} {signature}")


def _with_refiner(roles: Roles, model: LLM, tally: Tally, sizes: ChunkingConfig, config: DebateConfig) -> Roles:
    setting = setting_for("refiner", model, config.llm, sizes, tally)
    limits = config.completion or CompletionConfig()

    def completed(chunks: Sequence[Chunk], reviews: Sequence[Review]) -> list[Chunk]:
        return complete(chunks, reviews, limits, setting)

    return roles._replace(complete=completed, signature=f"{roles.signature} {signature_of('refiner', setting)}")
