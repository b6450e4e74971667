"""Tables and records: rows whole, the header with each part and exactly once, nothing doubled."""

from __future__ import annotations

import csv
import io
import re

import pytest
from promises import block_with, blocks_of, case, case_text, cut, sizes, texts, tokens

from qchunker import CHUNKERS, Partition, from_text

methods = pytest.mark.parametrize("method", CHUNKERS)
HEADER = "| Site | Output | Gross margin |\n|:-----|------:|-------------:|"
CAPTION = "Table 4: yearly output (tonnes)"
ROW = re.compile(r"\| S-0\d\d \| \d{4} \| \d\.\d% \|")


def parts(partition: Partition) -> list[str]:
    """Embedded texts of the chunks that hold rows of the long table."""
    return [piece.embedding_text for piece in partition.chunks if "| S-0" in piece.text]


# cases 89, 90, 92 and 96
@pytest.mark.parametrize("limit", [150, 200, 300, 500])
@pytest.mark.parametrize("share", [0, 0.2, 0.5])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_each_part_of_a_long_table_has_whole_rows_and_its_header_once(limit: int, share: float, newline: str) -> None:
    document = from_text(case_text("long_table.md").replace("\n", newline), "long_table.md")
    partition = cut(document, "structure", sizes(limit, limit * share))
    assert len(parts(partition)) > 2
    for part in parts(partition):
        part = part.replace("\r\n", "\n")
        assert part.count(HEADER) == 1
        assert part.count("Gross margin") == 1
        table = part[part.index("| Site") : part.rindex("% |") + 3]
        rows = table.split("\n")[2:]
        assert rows
        assert all(ROW.fullmatch(row) for row in rows), "a row was cut, or a blank line slipped in"
    found = [row for piece in texts(partition) for row in ROW.findall(piece)]
    assert found == ROW.findall(document.text)
    assert len(found) == 40


@pytest.mark.parametrize("limit", [150, 300])
def test_the_caption_of_a_cut_table_is_embedded_once(limit: int) -> None:
    partition = cut(case("long_table.md"), "structure", sizes(limit))
    assert sum(piece.embedding_text.count(CAPTION) for piece in partition.chunks) == 1
    first = next(piece for piece in partition.chunks if "| S-000 " in piece.text)
    assert CAPTION in first.text


def test_the_repeated_header_is_context_and_not_part_of_the_chunk() -> None:
    document = case("long_table.md")
    partition = cut(document, "structure", sizes(300))
    later = [piece for piece in partition.chunks if "| S-0" in piece.text][1:]
    assert len(later) > 2
    for piece in later:
        assert "Site" not in piece.text
        (context,) = piece.context
        assert document.text[context.start : context.end] == HEADER
        assert piece.kind == ("table" if piece is not later[-1] or "Source" not in piece.text else "mixed")
        assert piece.cut == "row"
        assert piece.lead_in is None


@methods
@pytest.mark.parametrize("share", [0, 0.2])
def test_no_chunker_doubles_a_table_header(method: str, share: float) -> None:
    partition = cut(case("long_table.md"), method, sizes(300, 300 * share))
    assert all(piece.embedding_text.count("Gross margin") <= 1 for piece in partition.chunks)


def test_a_table_under_the_limit_is_kept_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "".join(f"| {n} | value {n} |\n" for n in range(20))
    partition = cut(
        from_text(f"Before.\n\n{table}\nAfter.\n", "x.md"), "structure", sizes(100, max_chars=800, min_chars=0)
    )
    assert [piece.text for piece in partition.chunks if piece.kind == "table"] == [table.strip()]


# case 93
@pytest.mark.parametrize("limit", [80, 100, 150])
def test_both_header_rows_stand_on_top_of_each_part(limit: int) -> None:
    document = case("multi_header_table.md")
    header = "| Item | H1 | H1 | H2 | H2 |\n| | Q1 | Q2 | Q3 | Q4 |\n|---|---|---|---|---|"
    (table,) = blocks_of(document, "table")
    assert table == document.text.strip()
    partition = cut(document, "structure", sizes(limit, tokenizer=tokens, min_chars=0))
    for piece in partition.chunks:
        assert piece.embedding_text.count(header) == 1
        assert piece.embedding_text.startswith(header)
    assert sum(piece.text.count("| Line ") for piece in partition.chunks) == 12


# case 94
@pytest.mark.parametrize("name", ["x.md", "x.txt"])
def test_a_table_without_outer_bars_is_a_table(name: str) -> None:
    document = from_text(case_text("no_outer_pipes.md"), name)
    assert blocks_of(document, "table") == ["Gas | ppm\n--- | ---\nNH3 | 25\nCl2 | 0.5"]
    assert blocks_of(document, "paragraph") == ["Next paragraph."]
    assert block_with(document, "NH3").header == (0, len("Gas | ppm\n--- | ---"))


@pytest.mark.parametrize("name", ["x.md", "x.txt"])
def test_the_header_of_a_long_table_without_outer_bars_is_repeated(name: str) -> None:
    rows = "".join(f"gas number {n:02d} | {n} | {n} mg\n" for n in range(40))
    partition = cut(from_text(f"Gas | ppm | limit\n--- | --- | ---\n{rows}", name), "structure", sizes(150))
    assert len(partition.chunks) > 3
    assert all(piece.embedding_text.startswith("Gas | ppm | limit\n--- | --- | ---\n") for piece in partition.chunks)
    assert all(len(line.split("|")) == 3 for piece in partition.chunks for line in piece.text.splitlines())


def test_the_header_of_a_long_table_of_tabs_is_repeated() -> None:
    rows = "".join(f"gas number {n:02d}\t{n}\t{n} mg\n" for n in range(40))
    partition = cut(from_text(f"Gas\tppm\tlimit\n{rows}"), "structure", sizes(150))
    assert len(partition.chunks) > 3
    assert all(piece.embedding_text.startswith("Gas\tppm\tlimit\n") for piece in partition.chunks)


# case 97
def test_spanning_cells_of_a_page_stand_in_every_row_they_cover() -> None:
    document = case("rowspan.html")
    (table,) = blocks_of(document, "table")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")]
    assert cells[0] == ["Gas", "Limit (ppm) 8 h", "Limit (ppm) 15 min"]
    assert cells[2:] == [["NH3", "20", "50"], ["NH3", "25", "35"], ["Cl2", "0.5", "1"]]


@pytest.mark.parametrize("limit", [130, 200, 300])
def test_the_columns_of_a_page_table_are_named_in_each_part(limit: int) -> None:
    markup = case_text("rowspan.html")
    row = '<tr><td rowspan="2">NH3</td><td>20</td><td>50</td></tr><tr><td>25</td><td>35</td></tr>'
    assert row in markup
    more = "".join(row.replace("NH3", f"Gas {number}") for number in range(10, 20))
    partition = cut(
        from_text(markup.replace("</tbody>", f"{more}</tbody>"), "x.html"), "structure", sizes(limit, min_chars=0)
    )
    assert len(partition.chunks) >= 3
    for piece in partition.chunks:
        assert piece.embedding_text.count("Limit (ppm) 8 h") == 1
        assert re.search(r"NH3|Cl2|Gas 1\d", piece.text)
        assert all(line.count("|") == 4 for line in piece.text.splitlines())


@pytest.mark.parametrize("limit", [90, 100, 110, 113])
def test_a_header_too_long_to_be_repeated_still_stays_with_the_first_row(limit: int) -> None:
    partition = cut(case("rowspan.html"), "structure", sizes(limit, min_chars=0))
    assert "| NH3 | 20 |" in partition.chunks[0].text
    assert all(line.count("|") == 4 for piece in partition.chunks for line in piece.text.splitlines())


@pytest.mark.parametrize(
    ("markup", "rows"),
    [
        ("<tr><th>A<th>B<tr><td>1<td>2", [["A", "B"], ["1", "2"]]),
        (
            "<tr><td colspan=2>x</td><td>y</td></tr><tr><td>1</td><td>2</td><td>3</td></tr>",
            [["x", "x", "y"], ["1", "2", "3"]],
        ),
        (
            "<tr><td rowspan=3>x</td><td>1</td></tr><tr><td>2</td></tr><tr><td>3</td></tr>",
            [["x", "1"], ["x", "2"], ["x", "3"]],
        ),
        ("<tr><td rowspan=0>x</td><td>1</td></tr><tr><td colspan=bad>2</td><td>3</td></tr>", [["x", "1"], ["2", "3"]]),
    ],
)
def test_tables_of_pages_have_all_their_cells(markup: str, rows: list[list[str]]) -> None:
    (table,) = blocks_of(from_text(f"<p>Before.</p><table>{markup}</table>", "x.html"), "table")
    lines = [line for line in table.split("\n") if not set(line) <= set("|- ")]
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] == rows


# case X3
@pytest.mark.parametrize("tail", ["", "\n", "\n\n", "  "])
@pytest.mark.parametrize("name", ["x.md", "x.txt"])
def test_the_last_row_belongs_to_the_table_with_or_without_a_line_end(tail: str, name: str) -> None:
    document = from_text(case_text("table_no_final_newline.md").rstrip() + tail, name)
    (table,) = blocks_of(document, "table")
    assert table == "| Gas | ppm |\n|-----|-----|\n| NH3 | 25 |\n| Cl2 | 0.5 |"
    assert blocks_of(document, "paragraph") == ["Limits below."]


# case X5
@methods
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.md", "| Gas | ppm |\n|-----|-----|\n"),
        ("x.md", "| Gas | ppm |\n|-----|-----|"),
        ("x.txt", "Gas | ppm\n--- | ---\n"),
    ],
)
def test_a_table_of_a_header_alone_is_one_chunk(method: str, name: str, text: str) -> None:
    document = from_text(text, name)
    assert [block.kind for block in document.blocks] == ["table"]
    assert texts(cut(document, method, sizes(100))) == [text.strip()]


def test_a_page_table_of_a_header_alone_is_one_chunk() -> None:
    document = from_text("<table><tr><th>Gas</th><th>ppm</th></tr></table>", "x.html")
    assert len(blocks_of(document, "table")) == 1
    assert "Gas" in document.text
    assert "ppm" in document.text


# case X13
def test_quoted_commas_quotes_and_line_breaks_stay_in_their_record() -> None:
    document = case("quoted.csv")
    assert blocks_of(document, "record") == [
        "id,name,note",
        '1,"Pump, small","line one\nline two"',
        '2,"Valve ""B""",',
        '3,阀门,"高压，注意"',
    ]
    assert all(block.header == (0, len("id,name,note")) for block in document.blocks[1:])


@pytest.mark.parametrize("limit", [60, 80, 700])
def test_each_chunk_of_records_has_the_column_names_once(limit: int) -> None:
    partition = cut(case("quoted.csv"), "structure", sizes(limit, min_chars=0))
    for piece in partition.chunks:
        assert piece.embedding_text.count("id,name,note") == 1
    rows = [row for piece in partition.chunks for row in csv.reader(io.StringIO(piece.text, newline=""))]
    assert rows[1:] == [["1", "Pump, small", "line one\nline two"], ["2", 'Valve "B"', ""], ["3", "阀门", "高压，注意"]]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "x.csv"), (";", "x.csv"), ("\t", "x.csv"), ("\t", "x.tsv"), ("|", "x.csv")]
)
def test_records_of_every_delimiter_and_line_end_stay_whole(delimiter: str, name: str, newline: str) -> None:
    rows = [["id", "name", "note"]] + [[str(n), f"Pump{delimiter} no {n}", f"one{newline}two"] for n in range(30)]
    lines = [delimiter.join(f'"{cell}"' if len(cell) > 5 else cell for cell in row) for row in rows]
    document = from_text(newline.join(lines) + newline, name)
    assert blocks_of(document, "record") == lines
    partition = cut(document, "structure", sizes(120))
    assert "".join("".join(piece.split()) for piece in texts(partition)) == "".join("".join(lines).split())
    assert all(piece.embedding_text.startswith(lines[0]) for piece in partition.chunks)
    assert all(piece.text.count('"') % 4 == 0 for piece in partition.chunks), "a record was cut"
