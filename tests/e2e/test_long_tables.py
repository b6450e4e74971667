"""A long table in every format that has tables: each part brings the header, no row is cut."""

from __future__ import annotations

import io

import docx
import openpyxl
import pytest

from qchunker import ChunkingConfig, Document, Source, chunk, parse
from qchunker.errors import ParseError

HEADER = ["Gas 气体", "Limit (ppm)", "Note"]
ROWS = [[f"G{number}", str(number * 5), "keep dry, 保持干燥"] for number in range(120)]


def _markdown() -> Document:
    lines = ["| " + " | ".join(row) + " |" for row in [HEADER, ["---"] * 3, *ROWS]]
    return parse(Source("x.md", "\n".join(lines).encode()))


def _html() -> Document:
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    head = "".join(f"<th>{cell}</th>" for cell in HEADER)
    return parse(Source("x.html", f"<table><tr>{head}</tr>{body}</table>".encode()))


def _csv() -> Document:
    lines = [",".join(f'"{cell}"' for cell in row) for row in [HEADER, *ROWS]]
    return parse(Source("x.csv", "\n".join(lines).encode("gb18030")))


def _xlsx() -> Document:
    book = openpyxl.Workbook()
    for row in [HEADER, *ROWS]:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return parse(Source("x.xlsx", buffer.getvalue()))


def _docx() -> Document:
    document = docx.Document()
    table = document.add_table(rows=0, cols=3)
    for row in [HEADER, *ROWS]:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return parse(Source("x.docx", buffer.getvalue()))


@pytest.mark.parametrize("overlap", [0.0, 0.2])
@pytest.mark.parametrize("make", [_markdown, _html, _csv, _xlsx, _docx])
def test_each_part_brings_its_header_once_and_whole_rows(make, overlap: float) -> None:  # type: ignore[no-untyped-def]
    config = ChunkingConfig(target_chars=400, max_chars=600, overlap_ratio=overlap)
    partition = chunk(make(), config=config)
    assert len(partition.chunks) > 5
    for part in partition.chunks:
        assert part.embedding_text.count(HEADER[0]) == 1
        assert len(part.embedding_text) <= 600
        assert part.text.count("G") == part.text.count("保持干燥") + (HEADER[0] in part.text)
    assert "".join(part.text for part in partition.chunks).count("保持干燥") == len(ROWS)


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a;b\r\n\r\n"])
def test_a_table_without_rows_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="no rows"):
        parse(Source("x.csv", text.encode()))
