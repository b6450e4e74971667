"""Numerals of clauses and dates."""

from __future__ import annotations

import pytest

from qchunker.numerals import numeral_value


@pytest.mark.parametrize(("text", "value"), [
    ("7", 7), ("12", 12), ("１２", 12), ("九", 9), ("十", 10), ("十二", 12), ("二十", 20), ("三十五", 35), ("一百零五", 105),
    ("两百", 200), ("二〇", 20), ("一千二百", 1200), ("", 0),
])  # fmt: skip
def test_values(text: str, value: int) -> None:
    assert numeral_value(text) == value


def test_other_characters_are_no_numerals() -> None:
    with pytest.raises(ValueError, match="x"):
        numeral_value("1x")
