"""Sections of a document and the stretches of them that one question each covers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from qchunker.debate.offline.outlining.wording import language_of, locate, title
from qchunker.sentences import sentence_spans
from qchunker.types import Block, Document, Span

SILENT = frozenset({"furniture", "rule", "front_matter"})
"""Kinds of blocks that answer nothing."""
_TARGET = {"en": 600, "zh": 220, "zht": 220}
_GENERIC = re.compile(
    r"(?:introduction|general|important|warning|caution|tips?|overview|background|summary|scope|notes?|others?|miscellaneous|abstract|conclusions?|"
    r"results?|discussion|methods?|purpose|description|details|appendix|annex|preface|foreword|references?|examples?|"
    r"general (?:provisions|information|remarks|requirements)|about|contents|home|untitled|see also|history|details|"
    r"总则|總則|概述|简介|簡介|引言|前言|附则|附則|其他|其它|说明|說明|总结|總結|背景|一般规定|一般規定|正文|摘要|"
    r"结论|結論|通则|通則|目的|范围|範圍|附录|附錄|备注|備註|注意|示例|例子|内容|內容|绪论|緒論|综述|综合|总体要求)\Z",
    re.IGNORECASE,
)


class Section(NamedTuple):
    """A heading with words, and the text up to the next one.

    Args:
        title: its words; empty for what stands before the first heading.
        evidence: where they stand.
        start: of the heading.
        body: where the text below it starts.
        end: where the next heading starts.
        tree_end: where the next heading of its level or above starts.
        parent: the words of the nearest heading above it that says something.
        below_top: whether that heading is the title of the document.
        empty: whether no text stands between it and the next heading.
    """

    title: str
    evidence: Span
    start: int
    body: int
    end: int
    tree_end: int
    parent: str
    below_top: bool
    empty: bool

    @property
    def generic(self) -> bool:
        """Whether the title could stand in any document."""
        return _GENERIC.match(self.title) is not None

    @property
    def ambiguous(self) -> bool:
        """Whether the title alone does not tell what it is about."""
        words = self.title
        return self.generic or (len(words) <= 4 if language_of(words) != "en" else words.count(" ") < 2)


class Sections:
    """The sections of a document, in order and found by position."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.all = _sections(document)
        self._starts = [section.start for section in self.all]

    def at(self, offset: int) -> Section:
        """The section that holds a character."""
        return self.all[max(0, bisect_right(self._starts, offset) - 1)]

    def beginning_in(self, start: int, end: int) -> list[Section]:
        """Sections with a title whose heading starts in a stretch."""
        first, last = bisect_right(self._starts, start - 1), bisect_right(self._starts, end - 1)
        return [section for section in self.all[first:last] if section.title]

    def stretches(self, section: Section) -> list[Span]:
        """The body of a section in parts of about the size of a chunk, its heading with the first."""
        text = self.document.text
        target = _TARGET[language_of(text[section.body : section.end])]
        made: list[Span] = []
        start, end = section.start, section.body
        held = 0
        for piece in _pieces(self.document, section, target):
            size = piece.end - piece.start
            if held and (held >= target or held + size > 1.5 * target):
                made.append(Span(start, end))
                start, held = piece.start, 0
            elif not held and not section.title and not made:
                start = piece.start
            end, held = piece.end, held + size
        if held and made and 3 * held < target:
            start = made.pop().start
        if held:
            made.append(Span(start, end))
        return made


def _pieces(document: Document, section: Section, target: int) -> Iterator[Span]:
    """Blocks below a heading, long ones cut between sentences or lines."""
    for block in document.blocks_in(section.body, section.end):
        if block.kind in SILENT or block.kind == "heading" or block.start < section.body:
            continue
        if block.end - block.start <= 1.5 * target:
            yield Span(block.start, block.end)
        elif block.kind in {"table", "code", "record"}:
            yield from _lines(document.text, block)
        else:
            yield from sentence_spans(document.text, block.start, block.end)


def _lines(text: str, block: Block) -> Iterator[Span]:
    at = block.start
    while at < block.end:
        end = text.find("\n", at, block.end)
        end = block.end if end < 0 else end
        if end > at:
            yield Span(at, end)
        at = end + 1


def _sections(document: Document) -> list[Section]:
    text = document.text
    heads: list[tuple[Block, str]] = []
    bodied: set[int] = set()
    for block in document.blocks:
        if block.kind == "heading":
            words = title(text[block.start : block.end])
            if words:
                heads.append((block, words))
        elif block.kind not in SILENT:
            bodied.add(len(heads) - 1)
    ends = _tree_ends(heads, len(text))
    first = heads[0][0].start if heads else len(text)
    result = [Section("", Span(0, 0), 0, 0, first, first, "", False, -1 not in bodied)] if first else []
    above: list[tuple[int, str, bool]] = []
    for place, (block, words) in enumerate(heads):
        while above and above[-1][0] >= block.level:
            above.pop()
        parent, top = next(
            ((name, top) for _, name, top in reversed(above[-6:]) if not _GENERIC.match(name) and name != words),
            ("", False),
        )
        alone = place == 0 and ends[0] == len(text)
        above.append((block.level, words, alone))
        evidence = locate(text, words, block.start, block.end)
        end = heads[place + 1][0].start if place + 1 < len(heads) else len(text)
        empty = place not in bodied
        result.append(Section(words, evidence, block.start, block.end, end, ends[place], parent, top, empty))
    return result


def _tree_ends(heads: list[tuple[Block, str]], end: int) -> list[int]:
    """Where the next heading of the same level or above starts, for each heading."""
    ends = [end] * len(heads)
    open_heads: list[int] = []
    for place, (block, _) in enumerate(heads):
        while open_heads and heads[open_heads[-1]][0].level >= block.level:
            ends[open_heads.pop()] = block.start
        open_heads.append(place)
    return ends
