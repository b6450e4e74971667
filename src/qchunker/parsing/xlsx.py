"""Cells of a workbook -> Markdown: a heading and one table per sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from qchunker.errors import ParseError
from qchunker.parsing.archive import Archive, attribute, local, relation_id
from qchunker.parsing.markdown_writer import heading, paragraph, table
from qchunker.types import Note

WORKBOOK = "xl/workbook.xml"
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d) 00:00:00$")
_TIME_OF_DAY = re.compile(r"1899-12-3[01] (\d\d:\d\d:\d\d)$")
_FILLED_CELL = re.compile(rb"<(?:\w+:)?(?:v|is)[ >]")


def check(archive: Archive) -> None:
    """Refuse a workbook with a missing main part, or with XML that declares entities."""
    archive.xml(WORKBOOK)
    for name in archive.names:
        if name.endswith((".xml", ".rels")):
            archive.read_markup(name)


def read_sheets(archive: Archive, cells: Mapping[int, Sequence[Sequence[str]]]) -> tuple[str, tuple[Note, ...]]:
    """Markdown of all sheets, and a note for every sheet whose cells did not arrive.

    Args:
        archive: the workbook.
        cells: the number of a sheet, from 1 -> its rows of cells.

    Raises:
        ParseError: if no cells arrived, although there are some.
    """
    blocks: list[str] = []
    notes: list[Note] = []
    for number, (name, part) in enumerate(_sheets(archive), start=1):
        if number in cells:
            block = _sheet([[_readable(cell) for cell in row] for row in cells[number]])
            if block:
                blocks.append(f"{heading(2, name)}\n\n{block}")
        elif part in archive and _FILLED_CELL.search(archive.read(part)):
            message = f"sheet {name!r} left out: few cells, very far apart"
            notes.append(Note("dropped_text", message))
    if notes and not blocks:
        hint = "delete stray cells in the last rows and columns, then save"
        raise ParseError(archive.source.name, notes[0].message, hint=hint)
    return "\n\n".join(blocks), tuple(notes)


def _sheets(archive: Archive) -> Iterator[tuple[str, str]]:
    """(name, part) of every sheet, in the order of the tabs."""
    relations = archive.relations(WORKBOOK)
    for node in archive.xml(WORKBOOK).iter():
        if local(node) == "sheet":
            _, part = relations.get(relation_id(node), ("", ""))
            yield attribute(node, "name"), part


def _sheet(rows: list[list[str]]) -> str:
    """A sheet as one table; titles in a row of their own above the header become paragraphs."""
    n_titles = 0
    while n_titles < len(rows) and sum(map(bool, rows[n_titles])) <= 1:
        n_titles += 1
    if n_titles == len(rows):
        n_titles = 0
    titles = [paragraph(" ".join(row).strip()) for row in rows[:n_titles]]
    return "\n\n".join(block for block in [*titles, table(rows[n_titles:])] if block)


def _readable(cell: str) -> str:
    """A date without its midnight, a time of day without the day that counting starts from."""
    return _TIME_OF_DAY.sub(r"\1", _MIDNIGHT.sub(r"\1", cell))
