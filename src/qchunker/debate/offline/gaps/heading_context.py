"""List items, steps and passages cut from the words that lead in to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex, Heading
from qchunker.debate.offline.index.table_runs import cells
from qchunker.sentences import clause_spans
from qchunker.types import Gap, Span

_MAX_ITEMS = 200
_LEAD_ZH, _LEAD_EN = 8, 40  # characters of a clause that can lead in by itself
_SHORT_LEAD_EN, _MAX_LEAD = 24, 200
_ITEM_ZH, _ITEM_EN = 80, 200  # characters of an item of a list; longer ones are sections
_DIGITS = re.compile(r"\W*(\d{1,3})")
_STEP = re.compile(r"\s*(?P<digits>\d{1,2})[.)、．]|\s*(?P<numeral>[一二三四五六七八九十]{1,3})、")
_INLINE_FIRST = re.compile(r"[:：]\s*(?:一、|1[、.．]|[（(][一1][）)])")
_FIRST_STEP = re.compile(r"0*1[.)、．]|一、")
_NUMBER_CHARS = 12  # a sentence this short before a table is the number of its caption
_INLINE_CHARS = 1_200
_LEADS_IN = re.compile(r"(?:[:：]|following|below|如下|下列|以下|约定)[^.。]{0,40}$", re.IGNORECASE)
_HERE = re.compile(r"(?<=\w )here\b[^.]{0,40}:\s*$|^(?:各|這些|这些)\S{1,8}(?:分别|如下)", re.IGNORECASE)
_INTRODUCES = re.compile(r"\b(?:table|following)\b|表|列出|如下|以下|下列|[:：]\s*$", re.IGNORECASE)
_TERM_LINE = re.compile(r"[^\n:：。.|]{2,38}\n\s?\n?(?: {2,8}|\t)\S")


def heading_contexts(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Lead-ins of lists and tables, earlier steps, and headings that name what a passage is about."""
    start = _first_visible(index, chunk)
    if index.in_code(start):
        return
    first = index.sentence_at(start)
    surface = Span(start, min(chunk.end, first.end, start + 60))
    in_table = bool(index.tables_in(Span(start, start + 1)))
    if index.opens_item(start) and not in_table:
        yield from _cut_list(index, chunk, surface)
    elif _TERM_LINE.match(index.text, start, chunk.end):
        yield from _cut_definition_list(index, chunk, surface)
    elif _HERE.search(index.text[first.start : min(first.end, first.start + 200)]):
        yield from gaps(index, chunk, "heading_context", surface, index.said_before(start, 2), REQUIRED)
    elif not in_table:
        yield from _named_by_heading(index, chunk, surface)
    yield from _cut_table(index, chunk, surface)


def _first_visible(index: DocumentIndex, chunk: Span) -> int:
    match = re.compile(r"\S").search(index.text, chunk.start, chunk.end)
    return match.start() if match else chunk.start


def _cut_list(index: DocumentIndex, chunk: Span, surface: Span) -> Iterator[Gap]:
    """The words that lead in to the list, and the steps before this one.

    Numbered paragraphs of several sentences are sections, which stand by themselves. The heading over a list is among
    the headings that every chunk is shown with, so that it can only help.
    """
    step = _STEP.match(index.text, surface.start, chunk.end)
    if step is not None and _FIRST_STEP.match(step.group().strip()):
        step = None
    inline = _inline_lead_in(index, surface.start) if step is not None else None
    if inline is not None:
        yield from gaps(index, chunk, "heading_context", surface, [inline], REQUIRED)
        return
    block = index.block_before(surface.start)
    steps: list[Span] = []
    passed, depth = 0, _indent(index, surface.start)
    while block is not None and passed < _MAX_ITEMS and (block.kind == "list_item" or index.opens_item(block.start)):
        if _indent(index, block.start) < depth and _LEADS_IN.search(index.text[block.start : block.end].rstrip()[-80:]):
            break  # the item that this list is part of
        if step is not None and len(steps) < 2 and _is_next(index, block.start, step, passed + 1):
            steps.extend(index.sentences_in(block.start, block.end)[:2])
        block = index.block_before(block.start)
        passed += 1
    is_heading = block is not None and block.kind == "heading"
    lead_in = [] if block is None or is_heading else _last_words(index, Span(block.start, block.end))
    leads_in = bool(lead_in) and _LEADS_IN.search(index.text[lead_in[0].start : lead_in[0].end].rstrip()[-80:])
    above = [Span(block.start, block.end)] if block is not None and is_heading else []
    own = next(iter(index.document.blocks_in(*surface)), None)
    short = own is None or own.end - own.start <= (_ITEM_ZH if index.chinese else _ITEM_EN)
    if leads_in:
        yield from gaps(index, chunk, "heading_context", surface, [*lead_in, *steps], REQUIRED)
    elif steps:
        # Under a heading, which the chunk is shown with, the step is understood.
        necessity = REQUIRED if short and not lead_in and not above else HELPFUL
        yield from gaps(index, chunk, "heading_context", surface, [*above, *steps], necessity)
    elif short and passed:
        yield from gaps(index, chunk, "heading_context", surface, above, HELPFUL)


def _last_words(index: DocumentIndex, block: Span) -> list[Span]:
    """The last sentence of a block; with the one before, where it is as short as "Like this:"."""
    sentences = index.sentences_in(*block)[-2:]
    short = bool(sentences) and sentences[-1].end - sentences[-1].start < (
        _LEAD_ZH if index.chinese else _SHORT_LEAD_EN
    )
    if len(sentences) == 2 and short and sentences[0].end - sentences[0].start <= _MAX_LEAD:
        return [Span(sentences[0].start, sentences[1].end)]
    return sentences[-1:]


def _is_next(index: DocumentIndex, before: int, step: re.Match[str], behind: int) -> bool:
    """Whether a step counts on from an item that stands so many items before it; clause 6 does not from clause 4."""
    own, other = _DIGITS.search(step.group()), _DIGITS.match(index.text, before)
    return own is None or (other is not None and int(own[1]) - int(other[1]) == behind)


def _indent(index: DocumentIndex, at: int) -> int:
    """Columns before the first character of the line of a position."""
    line = index.line_start(at)
    return len(index.text[line : line + 40]) - len(index.text[line : line + 40].lstrip())


def _inline_lead_in(index: DocumentIndex, at: int) -> Span | None:
    """The clause before the first of numbered clauses that stand in running text: 约定：一、...二、..."""
    inline = _INLINE_FIRST.search(index.text, max(0, at - _INLINE_CHARS), at)
    if inline is None or not _LEADS_IN.search(index.text[max(0, inline.start() - 40) : inline.start() + 1]):
        return None
    lead = index.sentence_at(inline.start())
    least = _LEAD_ZH if index.chinese else _LEAD_EN
    clauses = [
        c for c in clause_spans(index.text, lead.start, inline.start())
        if inline.start() - c.start >= least and index.text[c.start - 1 : c.start] != "、"
    ]  # fmt: skip
    start = clauses[-1].start if clauses else lead.start
    start = max(start, inline.start() - 4 * least)
    return Span(start, inline.start()) if inline.start() - start >= least // 2 else None


def _cut_definition_list(index: DocumentIndex, chunk: Span, surface: Span) -> Iterator[Gap]:
    low = max(0, surface.start - 4_000)
    heading = index.section_at(surface.start)
    if heading is not None:
        low = max(low, heading.start)
    for sentence in index.sentences_before(surface.start, 24):
        if sentence.start < low:
            break
        if index.text[sentence.start : sentence.end].rstrip()[-1:] in ":：":
            opening = [s for s in index.sentences_in(low, sentence.start) if index.text[s.start] != "#"][:1]
            title = [heading.title] if heading is not None else []
            yield from gaps(index, chunk, "heading_context", surface, [*opening, sentence, *title], HELPFUL)
            return


def _named_by_heading(index: DocumentIndex, chunk: Span, surface: Span) -> Iterator[Gap]:
    """A heading that names a recurring thing, over a passage that never names it."""
    heading = index.section_at(surface.start)
    if heading is None or heading.start >= chunk.start or _has_heading(index, chunk):
        return
    title = index.text[heading.title.start : heading.title.end]
    written = index.text[chunk.start : chunk.end]
    phrase = _recurring_phrase(index, heading, title)
    if phrase and phrase.lower() not in written.lower():
        evidence = [heading.title, *index.sentences_in(heading.body, min(heading.end, heading.body + 400))[:1]]
        yield from gaps(index, chunk, "heading_context", surface, evidence, HELPFUL)


def _has_heading(index: DocumentIndex, chunk: Span) -> bool:
    return any(block.kind == "heading" for block in index.document.blocks_in(*chunk))


def _recurring_phrase(index: DocumentIndex, heading: Heading, title: str) -> str:
    """The first two words of a heading if the text below and around uses them as a name."""
    words = title.split()
    if index.chinese or not heading.numbered or len(words) < 2:
        return ""
    phrase = " ".join(words[:2])
    if not re.fullmatch(r"[A-Z][\w-]+ [A-Z][\w-]+", phrase):
        return ""
    body = index.text[heading.body : heading.body + 2_000]
    return phrase if phrase in body else ""


def _cut_table(index: DocumentIndex, chunk: Span, surface: Span) -> Iterator[Gap]:
    """The caption of a table that the chunk starts with or in."""
    for table in index.tables_in(chunk)[:1]:
        if table.start > surface.start or not table.rows:
            return
        columns = len(cells(index.text[table.rows[0].start : table.rows[0].end]))
        near = [s for s in index.said_before(table.start, 4) if s.start >= table.lead.start]
        lead = [_whole_caption(index, s) for s in near if _INTRODUCES.search(index.text, *s)][:3]
        necessity = REQUIRED if columns <= 2 else HELPFUL
        yield from gaps(index, chunk, "heading_context", surface, lead, necessity)


def _whole_caption(index: DocumentIndex, sentence: Span) -> Span:
    """A caption with its words, where the stop behind its number ended a sentence."""
    if sentence.end - sentence.start > _NUMBER_CHARS:
        return sentence
    line_end = index.text.find("\n", sentence.end)
    return Span(sentence.start, min(line_end if line_end >= 0 else sentence.end, sentence.end + 120))
