"""The sheet for people to mark, and the error rate that it gives."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from qchunker.errors import InputError
from qchunker.qa.spot_check import COLUMNS, error_rate, safe_cell, sample, sheet, wilson_interval

ROWS = [
    {"qa_id": f"q{n}", "doc_id": "d", "question": f"What is {n}?", "answer": f"=cmd|{n}", "source": "a.md", "page": n or None,
     "heading_path": ["A", "B"], "origin": "llm" if n % 2 else "faq"}
    for n in range(100)
]  # fmt: skip


def marked(tmp_path: Path, marks: list[str], encoding: str = "utf-8-sig", delimiter: str = ",") -> str:
    rows = list(csv.DictReader(io.StringIO(sheet((row, "text\nof two lines") for row in ROWS[: len(marks)]))))
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(row | {"mark": mark} for row, mark in zip(rows, marks, strict=True))
    path = tmp_path / "sheet.csv"
    path.write_bytes(out.getvalue().encode(encoding))
    return str(path)


def test_the_sheet_has_a_column_for_marks_and_no_formulas() -> None:
    rows = list(csv.DictReader(io.StringIO(sheet((row, "evidence") for row in ROWS))))
    assert tuple(rows[0]) == COLUMNS
    assert {row["mark"] for row in rows} == {""}
    assert rows[3]["answer"] == "'=cmd|3"
    assert rows[3]["headings"] == "A > B"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "＝1", "－1", "\n=1"])
def test_no_cell_acts(text: str) -> None:
    assert safe_cell(text).startswith("'")


def test_the_sample_is_the_same_for_the_same_rows() -> None:
    assert sample(ROWS, 10) == sample(list(reversed(ROWS)), 10)[::-1]
    assert len(sample(ROWS, 1000)) == 100
    assert sample(ROWS, 10, seed=1) != sample(ROWS, 10)
    numbers = [int(row["qa_id"][1:]) for row in sample(ROWS, 50)]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8", "gb18030", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_marks_are_read_however_a_spreadsheet_saves_them(tmp_path: Path, encoding: str, delimiter: str) -> None:
    found = error_rate(marked(tmp_path, ["ok"] * 17 + ["错", "wrong", "No"] + [""] * 5, encoding, delimiter))
    assert (found.n_marked, found.n_wrong, found.n_unmarked) == (20, 3, 5)
    assert found.rate == 0.15
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3604)
    assert sum(n for n, _ in found.by_origin.values()) == 20


@pytest.mark.parametrize(("hits", "n", "low", "high"), [
    (0, 10, 0, 0.2775), (10, 10, 0.7225, 1), (5, 100, 0.0215, 0.1118), (0, 0, 0, 1), (50, 100, 0.4038, 0.5962),
])  # fmt: skip
def test_the_interval_is_that_of_wilson(hits: int, n: int, low: float, high: float) -> None:
    assert tuple(round(edge, 4) for edge in wilson_interval(hits, n)) == (low, high)


def test_sheets_that_say_nothing_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row is marked"):
        error_rate(marked(tmp_path, ["", " "]))
    with pytest.raises(InputError, match="unknown mark 'maybe'"):
        error_rate(marked(tmp_path, ["ok", "maybe"]))
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(InputError, match="no column mark"):
        error_rate(str(other))
    other.write_bytes(b"")
    with pytest.raises(InputError, match="no column mark"):
        error_rate(str(other))
    with pytest.raises(InputError, match="cannot be read"):
        error_rate(str(tmp_path / "none.csv"))


def test_semicolons_and_long_cells_are_read_back(tmp_path: Path) -> None:
    row = ROWS[1] | {"question": "流量；压力; 温度?", "answer": "a;b;c"}
    limit = csv.field_size_limit()
    written = sheet((row, "词;" * 100_000) for _ in range(3))
    assert written.splitlines()[1].startswith('"","流量；压力; 温度?","a;b;c",')
    path = tmp_path / "sheet.csv"
    path.write_text(written.replace('\r\n"",', '\r\n"ok",'), "utf-8", newline="")
    assert error_rate(str(path)).n_marked == 3
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("row", [
    '"ok","What is 1?","a', 'ok,What is 1?,"a', 'ok,What is 1?,a,e,s,1,h,llm,q,"d', '"ok,什么是1？,a,e,s,1,h,llm,q,d',
])  # fmt: skip
@pytest.mark.parametrize(
    "later", ["wrong,Q,a,e,s,1,h,llm,q2,d\n", 'wrong,Q,a,"e\nf",s,1,h,llm,q2,d\n', 'wrong,Q,"a",e,s,1,h,llm,q2,d\n', ""]
)
def test_a_quotation_mark_that_is_not_closed_loses_no_marks(tmp_path: Path, row: str, later: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(",".join(COLUMNS) + "\nok,Q,a,e,s,1,h,llm,q0,d\n" + row + "\n" + later, "utf-8")
    with pytest.raises(InputError, match=r"not CSV|swallows|more cells"):
        error_rate(str(path))
