"""Question-answer pairs of a document, with where each comes from, and what became of the others.

Source: GC-QA-RAG (output form; failed groups are reported).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from qchunker.types import Document, Span


class Unit(NamedTuple):
    """The smallest part of a group.

    Args:
        start: of its text.
        end: of it.
        kind: ``sentence``, ``row`` of a table, ``heading`` or ``code``.
        header: of a row, the span of the column names; None else.
        wants_answer: whether a pair is to answer it: a statement, not a heading, code, or a question.
    """

    start: int
    end: int
    kind: str
    header: Span | None = None
    wants_answer: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Sentences that are asked about together: ``document.text[start:end]``, never text that was put together anew.

    Args:
        number: its place, from 0.
        start: of its text.
        end: of it.
        units: its sentences, rows, headings and blocks of code, in order.
    """

    number: int
    start: int
    end: int
    units: tuple[Unit, ...]

    @property
    def wanted(self) -> tuple[int, ...]:
        """Numbers of the units that pairs are to answer."""
        return tuple(number for number, unit in enumerate(self.units) if unit.wants_answer)


@dataclass(frozen=True, slots=True)
class QAPair:
    """A question and its answer.

    Args:
        document: that answers.
        question: understood without the document.
        answer: held by the document.
        group: number of the group that it was made from.
        evidence: spans that the answer rests on, in order.
        origin: ``llm``, or the rule: ``faq``, ``definition``, ``table``, ``key_value``, ``steps``,
            ``condition``, ``heading``.
        support: ``verbatim`` where the answer is a stretch of the document, ``words`` where its words and facts are in
            the evidence, ``judged`` where a model had to say so.
        summary: of the group.
        full_answer: a longer answer; None where there is none.
        variants: other wordings of the question.
        place: where the pair belongs to; all of its evidence where it is None.
    """

    document: Document = field(repr=False)
    question: str
    answer: str
    group: int
    evidence: tuple[Span, ...]
    origin: str
    support: str
    summary: str = ""
    full_answer: str | None = None
    variants: tuple[str, ...] = ()
    place: Span | None = None

    @property
    def start(self) -> int:
        return self.place.start if self.place is not None else min(span.start for span in self.evidence)

    @property
    def end(self) -> int:
        return self.place.end if self.place is not None else max(span.end for span in self.evidence)

    @property
    def id(self) -> str:
        """Depends on place and words alone, so that the same pair of the next run is known again."""
        digest = hashlib.sha256(f"{self.question}\0{self.answer}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.start}-{self.end}-{digest[:8]}"

    @property
    def page(self) -> int | None:
        return self.document.page_at(self.start)

    @property
    def heading_path(self) -> tuple[str, ...]:
        blocks = self.document.blocks_in(self.start, self.start + 1)
        return blocks[0].heading_path if blocks else ()

    def replace(self, **changes: Any) -> QAPair:
        """A copy with some fields changed."""
        return replace(self, **changes)


class RefusedPair(NamedTuple):
    """A pair that was not taken.

    Args:
        question: as it was given.
        answer: likewise.
        group: number of the group that it was given for.
        reason: one word or two, see docs/qa.md.
    """

    question: str
    answer: str
    group: int
    reason: str


class FailedGroup(NamedTuple):
    """A group of which something was never answered for.

    Args:
        group: its number.
        start: of the first sentence without an answer.
        end: of the last one.
        reason: why, as far as the model says.
    """

    group: int
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class QAResult:
    """The pairs of one document, and what a reader must know of those that are missing.

    Args:
        document: that was asked about.
        groups: of its sentences.
        pairs: in the order of what they rest on.
        refused: what was given and not taken; those that say what another one says are counted only.
        uncovered: sentences that no pair answers.
        failed: groups of which the model said nothing usable, however often it was asked.
        counts: ``sentences``, ``asked`` (pairs asked for at least), ``given``, ``unique``, ``merged`` and others.
        signature: everything that the pairs depend on.
    """

    document: Document = field(repr=False)
    groups: tuple[Group, ...]
    pairs: tuple[QAPair, ...]
    refused: tuple[RefusedPair, ...] = ()
    uncovered: tuple[Span, ...] = ()
    failed: tuple[FailedGroup, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    signature: str = ""

    @property
    def n_sentences(self) -> int:
        """Sentences and rows that pairs are to answer."""
        return sum(len(group.wanted) for group in self.groups)

    @property
    def coverage(self) -> float:
        """Share of the sentences that some pair answers; 1 where there is none."""
        return 1 - len(self.uncovered) / self.n_sentences if self.n_sentences else 1.0

    @property
    def reasons(self) -> Counter[str]:
        """How many pairs were refused for each reason."""
        return Counter(one.reason for one in self.refused)
