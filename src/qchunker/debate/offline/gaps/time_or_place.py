"""Relative and incomplete dates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.dates import EN_YEAR, ZH_YEAR
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.table_runs import cells, is_number
from qchunker.numerals import numeral_value
from qchunker.types import Gap, Span

_ZH_RELATIVE = re.compile(r"(?:^|(?<=[，。；、：“「\n於于在自至到]))(?:同年|次年|翌年|是年|该年|該年|同月|翌月|次月)")
_ZH_MONTH = re.compile(
    r"(?<![閏闰\d年\u4e00-\u9fff])([一二三四五六七八九十]{1,3}|正)月(?:初?[一二三四五六七八九十廿]{1,3}日?)"
)
_ERA_YEAR = re.compile(r"..([元一二三四五六七八九十]{1,4})年")
_EN_RELATIVE = re.compile(
    r"\b(?:that|the same) (?:year|month|week)\b|(?:^|(?<=[.!?] )|(?<=\n))(?:The|In the) (?:following|next|previous) "
    r"(?:year|month|week)\b|\b[Aa] year later\b|\b[Tt]hat (?:year|month|week)\b"
)
_EN_AS_OF = re.compile(
    r"\b(?:at|as of|as at|for the years? ended|for the (?:fiscal )?year)\s+(?:[a-z]+ \d{1,2},? )?(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_NOT_HAPPENED = re.compile(
    r"\b(?:not|never|will|would|plan(?:s|ned)?|expect(?:s|ed)?|intend(?:s|ed)?|scheduled)\b|预计|預計|计划|計劃|拟于|有望|不是|没有|沒有|未能"
)
_CONTRASTS = re.compile(r"\b(?:unlike|prior|previous|earlier|compared|contrary)\b", re.IGNORECASE)
_OPENING_CHARS = 200
_DATES_BACK = 8
_NEAR_ZH, _NEAR_EN = 150, 600  # a date farther back is one of another event


def times(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """The year of a relative date, of a bare month, or of the rows of a table."""
    yield from _relative(index, chunk)
    if index.chinese:
        yield from _bare_month(index, chunk)
    yield from _defined_dates(index, chunk)
    yield from _tables(index, chunk)


def _relative(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """同年, that year: before the first year of the chunk."""
    text = index.text
    year, pattern = (ZH_YEAR, _ZH_RELATIVE) if index.chinese else (EN_YEAR, _EN_RELATIVE)
    first_year = year.search(text, *chunk)
    end = min(chunk.end, chunk.start + _OPENING_CHARS, first_year.start() if first_year else chunk.end)
    relative = pattern.search(text, chunk.start, end)
    if relative:
        near = relative.start() - (_NEAR_ZH if index.chinese else _NEAR_EN)
        section = index.section_at(relative.start())
        dates = [
            _year_of(text, s)
            for s in index.years_before(chunk.start, 1)
            if s.start >= near and index.section_at(s.start) == section and _is_told(index, s)
        ]
        # Behind other sentences of the chunk it may be the year of what they tell.
        opens = relative.start() < index.sentence_at(_visible(text, chunk)).end
        yield from gaps(index, chunk, "time_or_place", Span(*relative.span()), dates, REQUIRED if opens else HELPFUL)


def _visible(text: str, chunk: Span) -> int:
    found = re.compile(r"\S").search(text, *chunk)
    return found.start() if found else chunk.start


def _is_told(index: DocumentIndex, date: Span) -> bool:
    """Whether the sentence of a date has no other year, and does not deny or plan what it dates."""
    sentence = index.sentence_at(date.start)
    years = {index.text[slice(*_year_of(index.text, s))] for s in index.years_before(sentence.end, _DATES_BACK)
             if s.start >= sentence.start}  # fmt: skip
    return len(years) == 1 and _NOT_HAPPENED.search(index.text, *sentence) is None


def _year_of(text: str, date: Span) -> Span:
    """The year of a date: 同年十月 is no month of the one before."""
    end = text.find("年", *date)
    return date if end < 0 else Span(date.start, end + 1)


def _bare_month(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """七月初四 where the text before gives the year of a seventh month."""
    text = index.text
    first_year = ZH_YEAR.search(text, *chunk)
    month = _ZH_MONTH.search(text, chunk.start, first_year.start() if first_year else chunk.end)
    if month:
        same = f"年{month[1]}月"
        before = index.years_before(chunk.start, _DATES_BACK)
        dates = [span for span in before if same in text[span.start : span.end]][:1]
        if dates and not _is_passed(index, dates[0], before):
            year = _year_of(text, dates[0])
            yield from gaps(index, chunk, "time_or_place", Span(*month.span()), [year], REQUIRED)


def _is_passed(index: DocumentIndex, date: Span, before: list[Span]) -> bool:
    """Whether the text went on to a later year, or to another era, behind a date."""
    year = _ERA_YEAR.match(index.text, *date)
    if year and index.text.startswith(year.group(), before[0].start):
        return False
    for other in before[: before.index(date)]:
        later = _ERA_YEAR.match(index.text, *other)
        if year and later and later.group()[:2] == year.group()[:2] and _value(later[1]) > _value(year[1]):
            return True
    return bool(before) and index.text[slice(*before[0])][:2] != index.text[slice(*date)][:2]


def _value(numeral: str) -> int:
    return 1 if numeral == "元" else numeral_value(numeral.replace("元", "一"))


def _defined_dates(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """A date with a name: the Effective Date, 生效日."""
    for occurrence in index.occurrences(chunk):
        term = occurrence.term
        if not re.search(r"(?:Date|Period|Term|日|日期|期间)$", term.name) or term.origin == "value":
            continue
        stated = [
            span for span in term.evidence if EN_YEAR.search(index.text, *span) or ZH_YEAR.search(index.text, *span)
        ]
        if stated and not any(span.start < chunk.end and chunk.start < span.end for span in term.evidence):
            yield from gaps(index, chunk, "time_or_place", Span(occurrence.start, occurrence.end), stated, REQUIRED)
            return


def _tables(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """The balance date of rows of amounts, where neither the chunk nor the header has a year."""
    for table in index.tables_in(chunk)[:1]:
        if table.header.start >= chunk.start or EN_YEAR.search(index.text, *table.header) or index.chinese:
            continue
        rows = table.rows_in(chunk)
        numbers = [cell for row in rows for cell in cells(index.text[row.start : row.end])[1:] if is_number(cell)]
        if len(numbers) < 2 or _EN_AS_OF.search(index.text, *chunk):
            continue
        dates = [
            Span(*match.span())
            for match in _EN_AS_OF.finditer(index.text, *table.lead)
            if not _CONTRASTS.search(index.text, index.sentence_at(match.start()).start, match.start())
        ]
        yield from gaps(index, chunk, "time_or_place", rows[-1], dates[::-1], REQUIRED)
