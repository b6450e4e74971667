"""Words of a document made fit for a question."""

from __future__ import annotations

import pytest

from qchunker.debate.offline.outlining.wording import MAX_CHARS, plain, render, shortened, title


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## 3.2 Vibration", "Vibration"),
        ("第三条 交付", "交付"),
        ("附件一 货物清单", "货物清单"),
        ("Section 4: Scope", "Scope"),
        ("IV. Results", "Results"),
        ("Title\n=====", "Title"),
        ("2023 report", "2023 report"),
        ("3D printing", "3D printing"),
        ("2号泵检修", "2号泵检修"),
        ("2.1检修", "检修"),
        ("3.2", ""),
        ("### ", ""),
    ],
)
def test_title(text: str, words: str) -> None:
    assert title(text) == words


def test_long_words_are_cut_between_words() -> None:
    assert shortened("one two three four five", 14) == "one two three…"
    made = render("en", "heading_terms", "word " * 60, "term " * 60)
    assert len(made) <= MAX_CHARS


def test_snake_case_survives() -> None:
    assert plain("the upstream_version of *this* __file__ is `x_y`") == "the upstream_version of this file is x_y"
