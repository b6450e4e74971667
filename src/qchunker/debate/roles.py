"""The four roles of the debate. Whoever plays one, the values are the same.

Source: QChunker 3.2 (question outline generator, text segmenter, integrity reviewer, knowledge completer).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from qchunker.types import Chunk, Document, Outline, Partition, Review


class OutlineGenerator(Protocol):
    """Which questions does the document answer, and where?"""

    def __call__(self, document: Document, /) -> Outline: ...


class Segmenter(Protocol):
    """Where is the document cut?"""

    def __call__(self, document: Document, outline: Outline, /) -> Partition: ...


class Reviewer(Protocol):
    """What does each chunk need that stands elsewhere in the document?"""

    def __call__(self, document: Document, chunks: Sequence[Chunk], outline: Outline, /) -> list[Review]:
        """One review per chunk, in the same order; of a completed chunk, of what it says now."""


class Completer(Protocol):
    """The chunks with what they need."""

    def __call__(self, chunks: Sequence[Chunk], reviews: Sequence[Review], /) -> list[Chunk]:
        """The same chunks with ``added``, or as they were where nothing is needed or can be traced."""


class Roles(NamedTuple):
    """Who plays which role.

    Args:
        outline: the question outline generator.
        segment: the text segmenter.
        review: the integrity reviewer; None leaves completion out.
        complete: the knowledge completer.
        signature: of the players, where they are no rules.
    """

    outline: OutlineGenerator
    segment: Segmenter
    review: Reviewer | None
    complete: Completer | None
    signature: str = ""
