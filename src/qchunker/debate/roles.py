"""The four roles of the debate. Whoever plays one, the values are the same.

Source: QChunker 3.2 (question outline generator, text segmenter, integrity reviewer, knowledge completer).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from qchunker.types import Chunk, Document, Outline, Partition, Review, Span


class OutlineGenerator(Protocol):
    """Which questions does the document answer, and where?"""

    def __call__(self, document: Document) -> Outline: ...


class Segmenter(Protocol):
    """Where is the document cut?"""

    def __call__(self, document: Document, outline: Outline) -> Partition: ...


class Reviewer(Protocol):
    """What does each chunk need that stands elsewhere in the document?"""

    def __call__(self, document: Document, chunks: Sequence[Span]) -> list[Review]:
        """One review per chunk, in the same order."""


class Completer(Protocol):
    """The chunk with what it needs."""

    def __call__(self, chunk: Chunk, review: Review) -> Chunk:
        """The same chunk with ``completed_text`` and ``added``, or as it was if nothing is needed or can be traced."""
