"""Sentences in groups that are asked about together: spans of the document that cut no table and no code.

Source: GC-QA-RAG (groups of ten; a last one under five joins the one before).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qchunker.debate.offline.outlining.sections import SILENT
from qchunker.debate.offline.outlining.tables import lines_of
from qchunker.qa.pairs import Group, Unit
from qchunker.qa.words import content_words
from qchunker.sentences import sentence_spans
from qchunker.types import Block, Document, Span

_QUESTION = re.compile(r"[?？][\s*_`\"'”’）)]*\Z")
_LEAST_WORDS = 2  # of a sentence that can answer something
_TITLE_WORDS = 8
_STOPS = tuple(".!?。！？；;…\"'”’)）")
_OPEN_ENDS = tuple("；;：:，,、")


def groups_of(document: Document, size: int = 10, least: int = 5) -> tuple[Group, ...]:
    """Groups of about ``size`` sentences; together they hold all text below headings.

    Rows of a table count as sentences, code, headings and lines without words do not; a table or a block of code is in
    one group however long it is, and a heading is in the group of the text below it.

    Args:
        document: any document.
        size: sentences of a group.
        least: a last group with fewer joins the one before.
    """
    parts = [list(units) for units in _parts(document, size)]
    if len(parts) > 1 and _n_wanted(parts[-1]) < least:
        last = parts.pop()
        parts[-1].extend(last)
    return tuple(_group(number, units) for number, units in enumerate(parts))


def groups_in(document: Document, spans: Sequence[Span]) -> tuple[Group, ...]:
    """A group for each chunk of any chunker; a row or sentence that is cut belongs to the chunk it begins in."""
    units = [unit for block in document.blocks for unit in _units(document, block)]
    groups: list[Group] = []
    at = 0
    for span in sorted(spans):
        inside: list[Unit] = []
        while at < len(units) and units[at].start < span.end:
            if units[at].start >= span.start:
                inside.append(units[at])
            at += 1
        if inside:
            groups.append(_group(len(groups), inside))
    return tuple(groups)


def _group(number: int, units: Sequence[Unit]) -> Group:
    return Group(number, units[0].start, max(unit.end for unit in units), tuple(units))


def _parts(document: Document, size: int) -> Iterator[list[Unit]]:
    held: list[Unit] = []
    for block in document.blocks:
        is_full = _n_wanted(held) >= size
        if held and is_full and any(unit.kind != "heading" for unit in held):
            body, headings = _without_last_headings(held)
            yield body
            held = headings
        for unit in _units(document, block):
            if unit.kind == "sentence" and _n_wanted(held) >= size and not _goes_on(document.text, held, size):
                yield held
                held = []
            held.append(unit)
    if held and any(unit.kind != "heading" for unit in held):
        yield held


def _goes_on(text: str, held: Sequence[Unit], size: int) -> bool:
    """Whether the last sentence is a part of one, so that the group ends behind it, up to twice its size."""
    last = held[-1]
    return _n_wanted(held) < 2 * size and text[last.start : last.end].endswith(_OPEN_ENDS)


def _without_last_headings(units: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    stop = len(units)
    while stop and units[stop - 1].kind == "heading":
        stop -= 1
    return units[:stop], units[stop:]


def _n_wanted(units: Sequence[Unit]) -> int:
    return sum(unit.wants_answer for unit in units)


def _units(document: Document, block: Block) -> Iterator[Unit]:
    text = document.text
    if block.kind in SILENT:
        return
    if block.kind == "heading":
        yield Unit(block.start, block.end, "heading", None, wants_answer=False)
    elif block.kind == "code":
        yield Unit(block.start, block.end, "code", None, wants_answer=False)
    elif block.kind in ("table", "record"):
        yield from _rows(text, block)
    else:
        sentences = sentence_spans(text, block.start, block.end)
        is_title = len(sentences) == 1 and block.kind == "paragraph" and _looks_like_title(text[slice(*sentences[0])])
        for start, end in sentences:
            yield Unit(start, end, "sentence", None, not is_title and _says_something(text[start:end]))


def _rows(text: str, block: Block) -> Iterator[Unit]:
    header = block.header
    lines = lines_of(text, Span(block.start, block.end)) if block.kind == "table" else [Span(block.start, block.end)]
    is_own_header = block.kind == "record" and header is None
    for line in lines:
        is_header = is_own_header or (header is not None and line.start < header.end and line.end > header.start)
        wants_answer = not is_header and bool(content_words(text[line.start : line.end]))
        yield Unit(line.start, line.end, "row", None if is_header else header, wants_answer)


def _looks_like_title(line: str) -> bool:
    """Whether a line that stands alone names something and says nothing of it."""
    return (
        not line.endswith(_STOPS)
        and len(set(content_words(line))) <= _TITLE_WORDS
        and not any(char in line for char in ":：，,;；|=")
    )


def _says_something(sentence: str) -> bool:
    words = {word for word in content_words(sentence) if not word[0].isdigit()}
    has_number = any(map(str.isdigit, sentence.lstrip(" 0123456789.)）(（、")))
    return _QUESTION.search(sentence) is None and len(words) + has_number >= _LEAST_WORDS
