"""What an answer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from qchunker.retrieval.hits import Hit

NOT_FOUND = {"en": "Not found in these documents.", "zh": "在这些文档中没有找到答案。"}


class Cited(NamedTuple):
    """One sentence of an answer.

    Args:
        text: the sentence; of a table the row, its cells with the names of their columns.
        hits: numbers of the hits it is from, 1 for the first.
        problem: why it must not be trusted: ``uncited``, ``unknown citation`` or ``not in its sources``; else None.
        span: where the sentence stands in the document of its first hit, if it was taken word for word.
    """

    text: str
    hits: tuple[int, ...]
    problem: str | None = None
    span: tuple[int, int] | None = None


class SourceOf(NamedTuple):
    """Where a hit stands."""

    number: int
    source: str
    page: int | None
    heading_path: tuple[str, ...]
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or that there is none.

    Args:
        question: that was asked.
        sentences: of the answer; none where nothing was found.
        hits: that it was made from, the best first.
        found: whether the documents answer the question, as far as can be told.
        confidence: between 0 and 1: how much of the question the best hit covers.
    """

    question: str
    sentences: tuple[Cited, ...]
    hits: tuple[Hit, ...]
    found: bool
    confidence: float
    language: str = "en"

    @property
    def text(self) -> str:
        """The answer with its citations: ``The pump stops [1].``"""
        if not self.found:
            return NOT_FOUND[self.language]
        joint = "" if self.language == "zh" else " "
        return joint.join(_with_citation(sentence) for sentence in self.sentences)

    @property
    def sources(self) -> tuple[SourceOf, ...]:
        """Where the cited hits stand, by number."""
        cited = {number for sentence in self.sentences for number in sentence.hits}
        return tuple(_source(number, hit) for number, hit in enumerate(self.hits, 1) if number in cited)

    @property
    def is_grounded(self) -> bool:
        """Whether every sentence has its sources, and nothing but what they say."""
        return all(sentence.problem is None for sentence in self.sentences)


def _with_citation(sentence: Cited) -> str:
    marks = "".join(f"[{number}]" for number in sentence.hits)
    body = sentence.text.rstrip()
    stop = body[-1:] if body[-1:] in ".!?;。！？；" else ""
    space = "" if stop in "。！？；" and stop else " "
    return f"{body[: len(body) - len(stop)]}{space if marks else ''}{marks}{stop}"


def _source(number: int, hit: Hit) -> SourceOf:
    row = hit.row
    return SourceOf(
        number, hit.source, row.get("page"), tuple(row.get("heading_path") or ()), row.get("start"), row.get("end")
    )
