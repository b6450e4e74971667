"""The table of rows names tests that exist, and each row once or more."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE.parent.parent / "docs" / "conformance.md"


def test_every_test_that_the_table_names_exists() -> None:
    written = {
        name for path in HERE.glob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
    named = set(re.findall(r"`(test_\w+)`", TABLE.read_text("utf-8")))
    assert named <= written
    assert len(named) > 100


def test_every_row_of_the_table_names_a_test_or_a_reason() -> None:
    rows = [line for line in TABLE.read_text("utf-8").splitlines() if re.match(r"\| (?:X?\d|all)", line)]
    assert len(rows) > 80
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert all(cells)
        assert "`test_" in row or len(cells) == 2
