"""What a question by rules must name, so that it is understood without the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.outlining.sections import SILENT, Section, Sections
from qchunker.debate.offline.outlining.wording import context, language_of, plain
from qchunker.types import Block, Document, Span

_TITLE_CHARS, _HEADING_CHARS = 60, 60


class Found(NamedTuple):
    """A question, and the stretches of the document that answer it.

    Args:
        question: made of words of the document and a fixed pattern, or a stretch of the document itself.
        answer: the stretch.
        evidence: what it rests on besides, such as the row of a cell.
        origin: the rule.
        problem: why the pair is not to be taken, as in docs/qa.md; None where nothing is known against it.
    """

    question: str
    answer: Span
    evidence: tuple[Span, ...]
    origin: str
    problem: str | None = None


def placed(question: str, about: str, language: str) -> str:
    """A question with what it is about: behind it in English, before it in Chinese."""
    if not about:
        return question
    return f"{question.rstrip('?')} ({about})?" if language == "en" else f"{about}中，{question}"


class Pages:
    """A document with its sections, shared by all rules; built in linear time."""

    def __init__(self, document: Document) -> None:
        self.document, self.text = document, document.text
        self.sections = Sections(document)
        self.language = language_of(document.text)
        self.title = self._title()
        self.index = DocumentIndex(document)

    def _title(self) -> str:
        """What the document calls itself; nothing where it does not say."""
        first = next((section for section in self.sections.all if section.title), None)
        heading = first.title if first is not None and not first.generic and not first.parent else ""
        for given in (heading, self.document.metadata.get("title") or ""):
            words = plain(given)
            if 1 < len(words) <= _TITLE_CHARS:
                return words
        return ""

    def name_beside(self, words: str) -> str:
        """The title for a question that has these words; nothing where they say the same."""
        return context(self.title, _HEADING_CHARS) if self.title and self.title not in words else ""

    @property
    def file(self) -> str:
        """The name of the file, where it is made of words, for documents that have no title: rows of CSV files."""
        stem = re.split(r"[/\\]", self.document.source)[-1].partition(".")[0]
        words = plain(re.sub(r"[_\-]+", " ", stem))
        letters, digits = sum(map(str.isalpha, words)), sum(map(str.isdigit, words))
        return words if letters > max(1, digits) and len(words) <= _TITLE_CHARS else ""

    def about(self, section: Section) -> str:
        """Title and heading that a stretch stands under, for use in a question; nothing where neither says what of."""
        names = [self.title]
        if section.title and not section.generic and not section.title.endswith(("?", "？")):
            names.append(section.title)
        elif section.parent:
            names.append(section.parent)
        kept = [context(name, _HEADING_CHARS) for name in dict.fromkeys(names) if name]
        return (", " if self.language == "en" else "，").join(kept)

    def blocks(self, start: int, end: int) -> list[Block]:
        """Blocks of a stretch that say something."""
        return [block for block in self.document.blocks_in(start, end) if block.kind not in SILENT]

    def holds_furniture(self, start: int, end: int) -> bool:
        """Whether running headers or footers stand in the middle of a stretch."""
        return any(block.kind in SILENT for block in self.document.blocks_in(start, end))

    def bodies(self) -> Iterator[tuple[Section, list[Block]]]:
        """Each section with the blocks up to the next heading."""
        for section in self.sections.all:
            inside = [block for block in self.blocks(section.body, section.end) if block.start >= section.body]
            yield section, [block for block in inside if block.kind != "heading"]
