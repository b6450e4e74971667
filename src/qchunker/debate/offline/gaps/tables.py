"""Rows cut from their header, and values cut from their unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.table_runs import TableRun, cells, is_number
from qchunker.types import Gap, Span

_UNIT = re.compile(
    r"\((?:dollars |amounts |figures |all amounts )?(?:expressed )?(?:in|\$|us\$)\s?[^()\n]{0,30}(?:millions|"
    r"thousands|billions|percent|"
    r"dollars|shares|units|%)[^()\n]{0,30}\)|\(\s*(?:000s?|'000|%|kg|mm|cm|km|MB|GB|ms)\s*\)|"
    r"\b(?:units?(?: of measure(?:ment)?)?|currency|amounts?)\s*[:：]\s*[^\n|;。]{1,30}|"
    r"(?:[\u4e00-\u9fff]{0,6})(?:单位|單位)\s*(?:[：:]|均?[为為是])\s*[^\s，。；|（）()]{1,12}|[（(](?:单位[：:])?(?:人民币)?"
    r"(?:[万亿千百]?[元股人吨]|MB|GB|KB|kg|km|%|％|mg/L|毫米|厘米|公斤|小时|天)[）)]",
    re.IGNORECASE,
)
_UNIT_SENTENCE = re.compile(
    r"\b[Aa]ll (?:[\w-]+ ){1,3}(?:are|is)(?: [\w-]+){0,3}? in [^.;\n]{1,40}|\b[Aa]ll (?:[\w-]+ ){1,3}in [^.;\n]{1,30}|"
    r"\b(?:[Vv]alues|[Aa]mounts|[Dd]imensions|[Ff]igures) (?:are )?in [^.;\n]{1,30}"
)

_EXCEPT = re.compile(r"\b(?:except|exceptions?|other than|unless|but not)\b|除.{1,12}外|不含", re.IGNORECASE)


def table_headers(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """The header of a table whose rows the chunk has."""
    for table, row in _cut_rows(index, chunk):
        columns = cells(index.text[row.start : row.end])
        evident = len(columns) <= 2 and not any(is_number(cell) for cell in columns[1:])
        surface = _values(index, row)
        header = Span(table.header.start, table.header.end)
        yield from gaps(index, chunk, "table_header", surface, [header], HELPFUL if evident else REQUIRED)


def units(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """The unit of the numbers in rows that the chunk has without it."""
    for table in index.tables_in(chunk):
        rows = table.rows_in(chunk)
        row = next((r for r in rows if any(is_number(cell) for cell in cells(index.text[r.start : r.end])[1:])), None)
        if row is None or _UNIT.search(index.text, *chunk):
            continue
        found = sorted(
            Span(*match.span())
            for pattern in (_UNIT, _UNIT_SENTENCE)
            for match in pattern.finditer(index.text, table.lead.start, table.header.end)
            if _is_of_table(index, table, match)
        )
        surface = _values(index, row)
        yield from gaps(index, chunk, "unit_or_scope", surface, found[::-1], REQUIRED)


def _is_of_table(index: DocumentIndex, table: TableRun, unit: re.Match[str]) -> bool:
    """Whether a unit above the rows is that of all: not of one column, of another section, or with exceptions."""
    text = index.text
    if unit.start() >= table.header.start and len(cells(text[table.header.start : table.header.end])) > 1:
        return unit.start() < table.header.start + len(text[slice(*table.header)].partition("|")[0])
    if index.section_at(unit.start()) != index.section_at(table.start):
        return False
    return _EXCEPT.search(text, index.sentence_at(unit.start()).start, min(unit.end() + 80, table.start)) is None


def _cut_rows(index: DocumentIndex, chunk: Span) -> Iterator[tuple[TableRun, Span]]:
    """Tables with a row in the chunk and the header outside, with the first such row that has a value."""
    for table in index.tables_in(chunk):
        if table.header.start >= chunk.start:
            continue
        rows = table.rows_in(chunk)
        if rows:
            valued = next(
                (r for r in rows if any(is_number(c) for c in cells(index.text[r.start : r.end])[1:] if c)), None
            )
            yield table, valued or rows[0]


def _values(index: DocumentIndex, row: Span) -> Span:
    """The cells of a row behind the first."""
    text = index.text[row.start : row.end]
    second = re.match(r"\s*\|?[^|\n]*\|\s*", text)
    start = row.start + second.end() if second and second.end() < len(text) else row.start
    end = row.start + len(text.rstrip(" |"))
    return Span(start, end) if start < end else row
