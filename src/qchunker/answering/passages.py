"""A record as the pieces that an answer may quote: sentences, rows of tables with their columns, answers of pairs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from qchunker.models.load import is_mostly_chinese
from qchunker.sentences import sentence_spans

_LEAST_CHARS = 4
_ONE_LINE_CHARS = 200
_STOPS = (".", "!", "。", "！", "；", ";", ":", "：")
_GOES_ON = (";", "；")
_QUESTION_MARKS = ("?", "？")
_CELL_ENDS = re.compile(r"(?<!\\)\|")
_DELIMITERS = ",;\t|"


class Passage(NamedTuple):
    """Something that an answer may quote.

    Args:
        text: in one line; of a row its cells, each with the name of its column.
        span: where it stands in the document, where that is known.
        context: heading path, the title or question right above, and the names of the columns.
    """

    text: str
    span: tuple[int, int] | None
    context: str


def passages(row: Mapping[str, Any]) -> Iterator[Passage]:
    """The passages of a record, in order. Titles, questions and heads of tables belong to what follows them.

    A record of one line is its passage, whatever it looks like.
    """
    found = list(_found(row))
    text = " ".join(str(row.get("text") or row["embedding_text"]).split())
    if not found and len(text) <= _ONE_LINE_CHARS:
        start, end = row.get("start"), row.get("end")
        found = [Passage(text, (start, end) if isinstance(start, int) and isinstance(end, int) else None, "")]
    yield from found


def _found(row: Mapping[str, Any]) -> Iterator[Passage]:
    if row.get("record") == "qa":
        yield Passage(str(row["answer"]), None, str(row["question"]))
        return
    text = str(row.get("text") or row["embedding_text"])
    start = row.get("start")
    lead, above = "", " ".join(row.get("heading_path") or ())
    columns = _head_above(row, text)
    is_record = row.get("kind") == "record"
    for low, high in _lines(text) if is_record else _pieces(text):
        plain = text[low:high].strip().lstrip("#*-•> \t")
        span = (int(start) + low, int(start) + high) if isinstance(start, int) else None
        if is_record:
            cells = _record_cells(text[low:high])
            columns = columns or cells
            if cells != columns:
                yield Passage(_labelled(cells, columns), span, f"{above} {' '.join(columns)}")
        elif len(plain) < _LEAST_CHARS:
            continue
        elif plain.endswith(_QUESTION_MARKS) or text[low:high].strip().startswith("#") or _is_title(plain):
            lead = plain
        elif "|" not in plain:
            yield Passage(" ".join(plain.split()), span, f"{above} {lead}")
        elif _is_underlined(text, high):
            columns = _cells(plain)
        else:
            yield Passage(_labelled(_cells(plain), columns), span, f"{above} {lead} {' '.join(columns)}")


def _head_above(row: Mapping[str, Any], text: str) -> list[str]:
    """Names of the columns of a table or of records whose head is in an earlier chunk."""
    added = [one for one in row.get("added") or () if isinstance(one, Mapping)]
    given = [str(one.get("text") or "") for one in added if one.get("kind") == "table_header"]
    if row.get("kind") == "record" and row.get("context"):
        lead, _, _ = str(row["embedding_text"]).partition(text)
        return _record_cells(lead.strip().splitlines()[-1]) if lead.strip() else []
    return next((_cells(head.splitlines()[0]) for head in given if head.strip()), [])


def _cells(line: str) -> list[str]:
    return [" ".join(cell.split()).replace("\\|", "|") for cell in _CELL_ENDS.split(line.strip().strip("|"))]


def _record_cells(line: str) -> list[str]:
    delimiter = max(_DELIMITERS, key=line.count)
    try:
        return [" ".join(cell.split()) for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return [" ".join(line.split())]


def _labelled(cells: list[str], columns: list[str]) -> str:
    """A row as words: every cell with the name of its column, where the table has names."""
    if len(cells) != len(columns):
        return " | ".join(cells)
    colon, stop = ("：", "；") if is_mostly_chinese("".join(columns)) else (": ", "; ")
    filled = [(name, cell) for name, cell in zip(columns, cells, strict=True) if cell]
    return stop.join(f"{name}{colon}{cell}" if name else cell for name, cell in filled)


def _is_underlined(text: str, end: int) -> bool:
    """Whether the line behind is what stands between the head of a table and its rows."""
    below = text[end:].lstrip("\n\r \t").partition("\n")[0]
    return "-" in below and not any(char.isalnum() for char in below)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, up to their full stop, and of tables the rows."""
    begin: int | None = None
    for low, high in sentence_spans(text):
        piece = text[low:high]
        if any(mark in piece for mark in "|\t"):
            if begin is not None:
                yield begin, low
                begin = None
            yield from ((low + at, low + end) for at, end in _lines(piece))
            continue
        begin = low if begin is None else begin
        # What follows a semicolon in the same line belongs to the same statement.
        if piece.rstrip().endswith(_GOES_ON) and "\n" not in piece[len(piece.rstrip()) :]:
            continue
        yield begin, high
        begin = None
    if begin is not None:
        yield begin, len(text)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.splitlines(keepends=True):
        if any(char.isalnum() for char in line):
            yield at, at + len(line.rstrip())
        at += len(line)


def _is_title(sentence: str) -> bool:
    return not sentence.endswith(_STOPS) and len(sentence) < 40 and "|" not in sentence and "\t" not in sentence
