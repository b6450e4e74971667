"""The question outline by rules: what a document answers, and where.

Every word of a question stands in the document, but for the fixed patterns of ``outline_wording.PATTERNS``.

Source: QChunker 3.2.1 (question outline generator).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from qchunker.debate.offline.outlining import statements
from qchunker.debate.offline.outlining.asking import Asked, Asker
from qchunker.debate.offline.outlining.sections import Section
from qchunker.debate.offline.outlining.wording import language_of, render
from qchunker.types import Document, Outline, Question, Span

_FIT = 0.7
"""Share of their union that a chunk and a region have in common where the question of the region fits the chunk."""
_STATEMENTS = 3  # of a kind and stretch that get a question
_VISIBLE = re.compile(r"\S")


def outline(document: Document) -> Outline:
    """The questions that a document answers, in order of their regions; never empty.

    Args:
        document: any document, in Chinese or English; others get English patterns.

    Returns:
        One question or more per stretch of about the size of a chunk, one per heading with no text of its own, and
        one per definition, table, rule and condition that stands inside a stretch.
    """
    asker = Asker(document)
    used: set[str] = set()
    questions: list[Question] = []
    for section in asker.sections.all:
        if section.empty:
            if section.title:
                asked = asker.heading(section, used)
                questions.append(Question(asked.text, section.start, section.tree_end, asked.evidence))
            continue
        for start, end in asker.sections.stretches(section):
            asked = _first_new(asker.candidates(start, end), used)
            questions.append(Question(asked.text, start, end, asked.evidence))
            questions.extend(_inside(asker, Span(start, end), section, used))
    if not questions:
        questions.append(_about_anything(document))
    return Outline(tuple(sorted(questions, key=lambda question: (question.start, -question.end))))


def chunk_questions(outline: Outline, spans: Sequence[Span], document: Document) -> list[str]:
    """The question that each chunk answers: of the outline where one fits, else made from the words of the chunk.

    Args:
        outline: of the document.
        spans: of the chunks, in order.
        document: that they are of.

    Returns:
        One question per span. Two chunks have the same question only where nothing tells them apart.
    """
    asker = Asker(document)
    starts = [question.start for question in outline.questions]
    used: set[str] = set()
    result = []
    for start, end in spans:
        fitting = _fitting(outline, starts, Span(start, end))
        if fitting is not None and fitting.text not in used:
            used.add(fitting.text)
            result.append(fitting.text)
        else:
            result.append(_first_new(asker.candidates(start, end), used).text)
    return result


def _fitting(outline: Outline, starts: Sequence[int], span: Span) -> Question | None:
    """The question whose region agrees with a chunk, if one does.

    A region that agrees is at most ``1 / _FIT`` times as long as the chunk, so that few questions are looked at.
    """
    length = span.end - span.start
    first = bisect_left(starts, span.start - int(length / _FIT))
    best, best_fit = None, _FIT
    for question in outline.questions[first : bisect_left(starts, span.end)]:
        shared = min(span.end, question.end) - max(span.start, question.start)
        fit = shared / max(1, max(span.end, question.end) - min(span.start, question.start))
        if fit > best_fit:
            best, best_fit = question, fit
    return best


def _first_new(candidates: Iterator[Asked], used: set[str]) -> Asked:
    """The first question not asked yet, which counts as asked from then on; the first one where all are."""
    first = None
    for asked in candidates:
        if asked.text not in used:
            used.add(asked.text)
            return asked
        first = first or asked
    if first is None:
        raise AssertionError("every stretch has a question")
    return first


def _inside(asker: Asker, stretch: Span, section: Section, used: set[str]) -> Iterator[Question]:
    """Questions that single statements and tables of a stretch answer."""
    language = asker.language_in(stretch.start, stretch.end)
    for find, limit in ((statements.definition, _STATEMENTS), (statements.condition, 1), (statements.rule, 1)):
        for found in asker.statements(find, stretch, language)[:limit]:
            text = asker.statement_text(found, section, language)
            if text not in used:
                used.add(text)
                yield Question(text, found.region.start, found.region.end, found.evidence)
    for asked, region in asker.tables(stretch, language):
        if asked.text not in used:
            used.add(asked.text)
            yield Question(asked.text, region.start, region.end, asked.evidence)


def _about_anything(document: Document) -> Question:
    found = _VISIBLE.search(document.text)
    start = found.start() if found else 0
    end = min(len(document.text), start + 1)
    text = render(language_of(document.text), "bare")
    return Question(text, start, max(end, len(document.text.rstrip())), Span(start, end))
