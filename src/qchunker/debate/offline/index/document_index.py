"""What a document says where: the one pass over the text that all detectors share.

Built once per document in linear time. Positions are those of ``Document.text``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeVar, cast

from qchunker.assertions import is_definition_in_force
from qchunker.debate.offline.index import defined_terms_en, defined_terms_zh
from qchunker.debate.offline.index.dates import dated
from qchunker.debate.offline.index.defined_terms import DefinedTerm, Occurrence, TermLookup, merged
from qchunker.debate.offline.index.numbered_clauses import NumberedClauses
from qchunker.debate.offline.index.parties import roles
from qchunker.debate.offline.index.subject_names import SubjectName, subject_names
from qchunker.debate.offline.index.table_runs import TableRun, table_runs
from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Block, Document, Span

_CJK = re.compile(r"[\u3400-\u9fff]")
_LANGUAGE_SAMPLE = 20_000
_HEADING_NUMBER = re.compile(
    r"\s*(?:#{1,6}\s*)?(?:第\s*[\d一二三四五六七八九十百]{1,6}\s*[章节節条條部编編][、.\s]*|"
    r"[一二三四五六七八九十]{1,3}、|"
    r"[A-Z]?\.?\d{1,3}(?:\.\d{1,3}){0,5}[.、)]?\s+|(?:[A-Z]|[IVX]{1,5})(?:\.\d{1,3}){0,4}\.\s+)?"
)
_TITLE_CHARS = 60
_FRAME_CHARS = 150
_QUOTES = '"“*_「'
_TAIL_ZH, _TAIL_EN = 80, 200
T = TypeVar("T")
_OPENS_ITEM = re.compile(
    r"[ \t]*(?:[-*+•·●○▪■◆]\s|[(（](?:\d{1,2}|[a-z]|[ivx]{1,4}|[一二三四五六七八九十]{1,3})[)）]|"
    r"\d{1,2}[.)、．](?=\s|[\u3400-\u9fff])|"
    r"[一二三四五六七八九十]{1,3}、|[①-⑳])"
)


class Heading(NamedTuple):
    """A heading and the region it stands over.

    Args:
        title: span of its words, without marks and number.
        start: where its line starts.
        body: where the text below it starts.
        end: where the next heading of its level or above starts.
        level: 1 is the top.
        numbered: whether it bears a number.
    """

    title: Span
    start: int
    body: int
    end: int
    level: int
    numbered: bool


class DocumentIndex:
    """Sentences, headings, tables, terms, names and numbered clauses of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        sample = self.text[:_LANGUAGE_SAMPLE]
        self.chinese = 4 * len(_CJK.findall(sample)) > len(re.sub(r"\s", "", sample))
        self.lowercase = not self.chinese and not re.search(r"[A-Z]", sample)
        self.sentences: list[Span] = [
            sentence
            for block in document.blocks
            if block.kind not in ("furniture", "rule")
            for sentence in sentence_spans(self.text, block.start, block.end)
        ]
        self._starts = [sentence.start for sentence in self.sentences]
        self._block_starts = [block.start for block in document.blocks]
        self._derived: dict[object, object] = {}
        self._looked_up: tuple[Span, list[Occurrence]] | None = None
        self.headings = _headings(document)
        self._heading_starts = [heading.start for heading in self.headings]

    # The parts below are built when a detector first asks for them.

    @cached_property
    def title(self) -> Span | None:
        """The words of the title: the first heading if it opens the document, else a short first line."""
        return _title(self.text, self.headings)

    @cached_property
    def tables(self) -> list[TableRun]:
        return table_runs(self.document)

    @cached_property
    def clauses(self) -> NumberedClauses:
        return NumberedClauses(self.document)

    @cached_property
    def code(self) -> list[Span]:
        """Blocks of code, in order: what stands there is shown, not said."""
        return [Span(block.start, block.end) for block in self.document.blocks if block.kind in ("code", "html")]

    def in_code(self, at: int) -> bool:
        """Whether a position lies in a block of code."""
        index = bisect_right(self.code, at, key=lambda span: span.start) - 1
        return index >= 0 and at < self.code[index].end

    def in_backticks(self, at: int) -> bool:
        """Whether a position lies in code or a role within its line."""
        return self.text.count("`", self.line_start(at), at) % 2 == 1

    @cached_property
    def prose(self) -> str:
        """The text with blanks for code, every position as it was."""
        parts, end = [], 0
        for span in self.code:
            parts += [self.text[end : span.start], " " * (span.end - span.start)]
            end = span.end
        return "".join([*parts, self.text[end:]])

    @cached_property
    def terms(self) -> list[DefinedTerm]:
        titles = [(heading.title, heading.body) for heading in self.headings]
        language = defined_terms_zh if self.chinese else defined_terms_en
        found = list(language.terms(self.prose, self.sentences, titles))
        # A name that is defined with a restriction somewhere has no meaning that holds everywhere.
        void = {term.name for term in found if term.origin == "definition" and not self._in_force(term)}
        return merged(term for term in found if term.name not in void or term.origin != "definition")

    def _in_force(self, term: DefinedTerm) -> bool:
        start, end = term.evidence[0]
        if not (self.chinese or self.text[start] in _QUOTES):
            return True  # the whole sentence is told
        sentence = self.sentence_at(start)
        low, high = max(sentence.start, start - _FRAME_CHARS), min(max(sentence.end, end), start + 2 * _FRAME_CHARS)
        return is_definition_in_force(self.text[low:high], start - low)

    @cached_property
    def lookup(self) -> TermLookup:
        return TermLookup(self.terms)

    @cached_property
    def symbols(self) -> dict[str, DefinedTerm]:
        """One-letter symbols that the document explains."""
        return {term.name: term for term in self.terms if term.origin == "symbol"}

    @cached_property
    def years(self) -> list[Span]:
        """Dates with a year, in order."""
        return dated(self.text, chinese=self.chinese)

    def years_before(self, at: int, count: int) -> list[Span]:
        """The last dates with a year before a position, the nearest first."""
        index = bisect_left(self.years, at, key=lambda span: span.start)
        return self.years[max(0, index - count) : index][::-1]

    @cached_property
    def title_text(self) -> str:
        """The title, empty where there is none."""
        return "" if self.title is None else self.text[slice(*self.title)]

    @cached_property
    def quoted_titles(self) -> list[Span]:
        """《…》 in order."""
        return [Span(*match.span()) for match in re.finditer(r"《[^》\n]{1,60}》", self.text)] if self.chinese else []

    @cached_property
    def names(self) -> list[SubjectName]:
        """Who or what the document is about, the most central first."""
        numbered = bool(self.headings and self.headings[0].numbered)
        return subject_names(self.text, self.title, self.terms, chinese=self.chinese, is_part=numbered)

    @cached_property
    def roles(self) -> dict[str, tuple[Span, ...]]:
        """Where the document says who bears a procedural role."""
        return roles(self.text)

    def derived(self, make: Callable[[DocumentIndex], T]) -> T:
        """What a function makes of the document, made once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast(T, self._derived[make])

    def sentence_at(self, at: int) -> Span:
        """The sentence that holds a position, or the nearest one before it."""
        index = max(0, bisect_right(self._starts, at) - 1)
        return self.sentences[index] if self.sentences else Span(at, at)

    def occurrences(self, chunk: Span) -> list[Occurrence]:
        """Where a chunk uses terms that the document defines; remembered until the next chunk."""
        if self._looked_up is None or self._looked_up[0] != chunk:
            self._looked_up = (chunk, self.lookup.find(self.text, chunk.start, chunk.end))
        return self._looked_up[1]

    def sentence_count(self, chunk: Span) -> int:
        """How many sentences start in a chunk."""
        return bisect_left(self._starts, chunk.end) - bisect_left(self._starts, chunk.start)

    def sentences_in(self, start: int, end: int) -> list[Span]:
        """Sentences that share a character with ``[start, end)``, cut to it."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = bisect_left(self._starts, end)
        cut = (Span(max(start, s.start), min(end, s.end)) for s in self.sentences[first:last])
        return [span for span in cut if span.start < span.end]

    def sentences_before(self, at: int, count: int) -> list[Span]:
        """The last ``count`` sentences that end at or before a position, the nearest first."""
        index = bisect_left(self._starts, at)
        found = [s for s in self.sentences[max(0, index - count - 1) : index] if s.end <= at]
        return found[::-1][:count]

    def said_before(self, at: int, count: int) -> list[Span]:
        """Of the last sentences before a position, those of its section that are neither heading, table nor code."""
        section = self.section_at(at)
        low = section.body if section is not None else 0
        return [s for s in self.sentences_before(at, count) if s.start >= low and self._is_said(s.start)]

    def _is_said(self, at: int) -> bool:
        blocks = self.document.blocks_in(at, at + 1)
        return not blocks or blocks[0].kind not in ("heading", "table", "code", "record", "html")

    def section_at(self, at: int) -> Heading | None:
        """The innermost heading whose region holds a position."""
        index = bisect_right(self._heading_starts, at) - 1
        while index >= 0 and self.headings[index].end <= at:
            index -= 1
        return self.headings[index] if index >= 0 else None

    def block_before(self, at: int) -> Block | None:
        """The last block that ends at or before a position."""
        index = bisect_left(self._block_starts, at) - 1
        while index >= 0 and self.document.blocks[index].end > at:
            index -= 1
        return self.document.blocks[index] if index >= 0 else None

    def tail(self, sentence: Span, word: str = "") -> Span:
        """The end of a long sentence, or its end from the clause on that has a word."""
        limit = _TAIL_ZH if self.chinese else _TAIL_EN
        if sentence.end - sentence.start <= limit:
            return sentence
        at = self.text.find(word, *sentence) if word else sentence.end - limit
        at = at if at >= 0 else sentence.end - limit
        clauses = [clause for clause in clause_spans(self.text, *sentence) if clause.end > at]
        start = clauses[0].start if clauses else at
        return Span(start, min(sentence.end, start + limit + limit // 2))

    def tables_in(self, chunk: Span) -> list[TableRun]:
        """Tables that share a character with a chunk, in order."""
        first = bisect_right(self._table_ends, chunk.start)
        found = []
        for table in self.tables[first:]:
            if table.start >= chunk.end:
                break
            found.append(table)
        return found

    @cached_property
    def _table_ends(self) -> list[int]:
        return [table.end for table in self.tables]

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", max(0, at - 2_000), at) + 1 or max(0, at - 2_000)

    def opens_item(self, at: int) -> re.Match[str] | None:
        """The mark of the list item that starts at a position."""
        return _OPENS_ITEM.match(self.text, at, at + 16)


def _headings(document: Document) -> list[Heading]:
    blocks = [block for block in document.blocks if block.kind == "heading"]
    following = {block.start: after for block, after in zip(document.blocks, document.blocks[1:], strict=False)}
    # A run of headings of one level with nothing between is a listing of commands, not an outline.
    real = []
    for index, block in enumerate(blocks):
        near = blocks[max(0, index - 1) : index + 2]
        crowded = any(
            other is not block and other.level == block.level and _adjacent(document.text, block, other)
            for other in near
        )
        if not crowded:
            real.append(block)
    ends = _region_ends(real, len(document.text))
    found = []
    for block, end in zip(real, ends, strict=True):
        number = _HEADING_NUMBER.match(document.text, block.start, block.end)
        start = number.end() if number else block.start
        title = document.text[start : block.end]
        numbered = bool(number and re.search(r"[\d一二三四五六七八九十]", number.group()))
        after = following.get(block.start)
        span = Span(start, start + len(title.rstrip(" #\n\r\t:：")))
        if span.start < span.end:
            found.append(Heading(span, block.start, after.start if after else block.end, end, block.level, numbered))
    return found


def _adjacent(text: str, one: Block, other: Block) -> bool:
    first, second = sorted((one, other), key=lambda block: block.start)
    return second.start - first.end <= 2 and not text[first.end : second.start].strip()


def _region_ends(headings: list[Block], end: int) -> list[int]:
    ends = [end] * len(headings)
    open_at: list[int] = []
    for index, heading in enumerate(headings):
        while open_at and headings[open_at[-1]].level >= heading.level:
            ends[open_at.pop()] = heading.start
        open_at.append(index)
    return ends


def _title(text: str, headings: list[Heading]) -> Span | None:
    first = re.search(r"\S", text)
    if first is None:
        return None
    start = first.start()
    if headings and headings[0].start == start:
        return headings[0].title
    end = text.find("\n", start)
    if end < 0 or end - start > _TITLE_CHARS or not text[end:].startswith("\n\n"):
        return None
    line = text[start:end].rstrip()
    return Span(start, start + len(line)) if line and line[-1] not in "。.；;，,：:！!？?|" else None
