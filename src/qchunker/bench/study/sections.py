"""Stretches of documents that are cut and scored by themselves, with what every direct score needs of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from qchunker.bench.dataset import BenchQuestion, BenchSet
from qchunker.config import ChunkingConfig, SegmentationConfig
from qchunker.debate.offline.segmenter import Segmentation
from qchunker.models.embedder import Embedder
from qchunker.pipeline import EVIDENCE_UNIT_CHARS, from_text
from qchunker.sentences import sentence_spans
from qchunker.types import Document, Span

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Section:
    """A stretch of a document of a set.

    Args:
        document: the stretch as a document of its own.
        doc_id: of the document that it is from.
        offset: where it begins there.
        questions: whose evidence lies within it.
        embedder: of sentences.
    """

    document: Document
    doc_id: str
    offset: int
    questions: tuple[BenchQuestion, ...]
    embedder: Embedder

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences that are not blank."""
        text = self.document.text
        return [Span(*span) for span in sentence_spans(text) if text[slice(*span)].strip()]

    @cached_property
    def vectors(self) -> Floats:
        """A unit vector per sentence. Shapes: (sentences, d)."""
        texts = [self.document.text[slice(*span)] for span in self.sentences]
        return self.embedder.encode(texts).astype(np.float64)

    @cached_property
    def evidence(self) -> dict[int, float]:
        """Evidence for a cut at every place where the segmenter by rules could cut."""
        config = ChunkingConfig(target_chars=EVIDENCE_UNIT_CHARS, min_chars=0, overlap_ratio=0)
        made = Segmentation(self.document, config, SegmentationConfig(), self.embedder)
        return {unit.start: value for unit, value in zip(made.units, made.evidence, strict=True)}

    def shares(self, spans: Sequence[Span]) -> Floats:
        """How much of each sentence is in each chunk. Shapes: (chunks, sentences), columns sum to at most 1."""
        starts = np.array([span.start for span in self.sentences])
        ends = np.array([span.end for span in self.sentences])
        low = np.maximum([[span.start] for span in spans], starts)
        high = np.minimum([[span.end] for span in spans], ends)
        return np.asarray(np.clip(high - low, 0, None) / (ends - starts))


def sections_of(
    data: BenchSet, size: int, number: int, embedder: Embedder, *, least_questions: int = 0
) -> list[Section]:
    """Sections of about a length, evenly spread over the documents of a set.

    Args:
        data: the set.
        size: characters; a document that is shorter than twice that is one section.
        number: of sections at most.
        embedder: of sentences.
        least_questions: that a section must answer.
    """
    answered: dict[str, list[BenchQuestion]] = {}
    for question in data.questions:
        for doc_id in {gold.doc_id for gold in question.evidence} or question.documents:
            answered.setdefault(doc_id, []).append(question)
    found = []
    for document in data.documents:
        for span in _stretches(document.text, size):
            held = tuple(one for one in answered.get(document.id, ()) if _is_within(one, document.id, span))
            if len(held) >= least_questions:
                part = from_text(document.text[slice(*span)], "section.txt", doc_id=f"{document.id}:{span.start}")
                found.append(Section(part, document.id, span.start, held, embedder))
    step = max(1.0, len(found) / number)
    return [found[int(at * step)] for at in range(min(number, len(found)))]


def _is_within(question: BenchQuestion, doc_id: str, span: Span) -> bool:
    """Whether all evidence of a question lies in the stretch; of one without places, whether the document holds it."""
    if not question.evidence:
        return True
    return all(
        gold.doc_id == doc_id and span.start <= gold.start and gold.end <= span.end for gold in question.evidence
    )


def _stretches(text: str, size: int) -> Iterator[Span]:
    """Stretches from one line end to another; the text itself where it is short."""
    at = 0
    while at < len(text):
        end = text.find("\n", at + size)
        if end < 0 or end > at + 2 * size or len(text) - end < size // 2:
            end = len(text) if len(text) - at < 2 * size else (end if end > 0 else at + size)
        if text[at:end].strip():
            yield Span(at, end)
        at = max(end, at + 1)
