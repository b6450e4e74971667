"""Texts with the chunk in «marks», reviewed."""

from __future__ import annotations

from typing import NamedTuple

from qchunker import from_text
from qchunker.debate.offline.reviewer import review
from qchunker.types import GAP_KINDS, Document, Span


class Found(NamedTuple):
    kind: str
    surface: str
    evidence: tuple[str, ...]
    necessity: str


def marked(text: str) -> tuple[Document, Span]:
    before, rest = text.split("«")
    chunk, after = rest.split("»")
    document = from_text(before + chunk + after, "text.md")
    assert document.text == before + chunk + after
    return document, Span(len(before), len(before) + len(chunk))


def gaps_in(text: str, *kinds: str) -> list[Found]:
    """What the marked chunk lacks; of some kinds, or of all."""
    document, chunk = marked(text)
    (found,) = review(document, [chunk], kinds or GAP_KINDS)
    for gap in found.missing:
        assert chunk.start <= gap.surface.start < gap.surface.end <= chunk.end
        assert gap.text == document.text[slice(*gap.evidence[0])]
        assert all(end <= chunk.start or start >= chunk.end for start, end in gap.evidence)
    return [
        Found(
            gap.kind,
            document.text[slice(*gap.surface)],
            tuple(document.text[slice(*span)] for span in gap.evidence),
            gap.necessity,
        )
        for gap in found.missing
    ]


def explains(text: str, kind: str, surface: str, words: str) -> bool:
    """Whether a gap of this kind, with these words in its surface, has evidence with those words."""
    return any(
        surface in found.surface and any(words in evidence for evidence in found.evidence)
        for found in gaps_in(text, kind)
    )
