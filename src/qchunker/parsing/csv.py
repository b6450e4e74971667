"""CSV and TSV to records, each with the header row as the context it cannot be read without."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from qchunker.errors import ParseError
from qchunker.parsing.encoding import decode
from qchunker.types import Block, Document, Note, Source, Span

_DELIMITERS = ",;\t|"
_SAMPLE_RECORDS = 20
# Only these end a line of a record; other separators may occur inside values.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# A quote that is never closed would swallow the rest of the file as one value.
_MAX_RECORD_CHARS = 1_000_000


def parse_csv(source: Source) -> Document:
    """Parse a table of records with column names in the first row.

    The delimiter is a tab for names that end in ``.tsv``, else the most consistent of comma, semicolon, tab
    and bar. ``Document.text`` is the decoded source itself; a quoted value may hold line breaks.

    Raises:
        ParseError: if the file is empty, not text, or has no row below its header.
    """
    text, encoding, notes = decode(source)
    return csv_document(text, source.name, notes, {"encoding": encoding})


def csv_document(text: str, name: str, notes: Sequence[Note] = (), metadata: dict[str, str] | None = None) -> Document:
    """The document of a table that is already decoded."""
    delimiter = "\t" if name.lower().endswith(".tsv") else _delimiter(text)
    found = list(notes)
    try:
        spans = list(_records(text, delimiter))
    except csv.Error as error:
        spans = list(_lines(text))
        message = f"quoting is broken ({error}); every line was taken as a record"
        found.append(Note("doubtful_records", message))
    if len(spans) < 2:
        raise ParseError(name, "the table has a header but no rows", hint="add rows, or remove the file from the input")
    header = spans[0]
    blocks = [Block("record", *header), *(Block("record", *span, header=header) for span in spans[1:])]
    media_type = "text/tab-separated-values" if delimiter == "\t" else "text/csv"
    return Document(text, tuple(blocks), name, media_type, tuple(found), metadata or {})


def _delimiter(text: str) -> str:
    """The candidate that gives the same number (two or more) of columns most often in the first records."""
    lines = [line.group() for line in islice(_LINE.finditer(text, 0, 100_000), 200)]

    def agreement(delimiter: str) -> tuple[int, int]:
        try:
            rows = list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLE_RECORDS))
        except csv.Error:
            return (0, 0)
        widths = Counter(len(row) for row in rows if len(row) > 1)
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        return (count, width)

    return max(_DELIMITERS, key=agreement)


def _records(text: str, delimiter: str) -> Iterator[Span]:
    """Spans of records; the reader tells how many lines it took for each."""
    csv.field_size_limit(_MAX_RECORD_CHARS)
    consumed = 0

    def feed() -> Iterator[str]:
        nonlocal consumed
        for line in _LINE.finditer(text):
            consumed = line.end()
            yield line.group()

    start = 0
    for row in csv.reader(feed(), delimiter=delimiter, strict=True):
        if any(value.strip() for value in row) or not text[start:consumed].isspace():
            yield _trimmed(text, start, consumed)
        start = consumed


def _lines(text: str) -> Iterator[Span]:
    for line in _LINE.finditer(text):
        if not line.group().isspace():
            yield _trimmed(text, *line.span())


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
