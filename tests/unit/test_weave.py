"""A rewrite is additions to the original: other spellings of the same are none, and verdicts are truth values or none."""

from __future__ import annotations

from typing import Any

import pytest

from qchunker import from_text
from qchunker.alignment import FoldedText, find_quote
from qchunker.chunking.assemble import chunk_at
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig
from qchunker.debate.llm.completer import _truth
from qchunker.debate.llm.weave import additions_of
from qchunker.types import Chunk, Span


def chunk_of(body: str, elsewhere: str) -> tuple[Chunk, Span]:
    document = from_text(f"{elsewhere}\n\n{body}", "a.txt")
    start = len(elsewhere) + 2
    sizes = ChunkingConfig(overlap_ratio=0)
    return chunk_at(document, Span(start, start + len(body)), sizes, Measure.of_config(sizes)), Span(0, len(elsewhere))


@pytest.mark.parametrize(("body", "rewritten", "elsewhere", "texts"), [
    ("Pay 1,000 euros in 30 days.", "Pay 1000 euros in 30 days.", "The Fee is due.", []),
    ("The area is 20 m².", "The area is 20 m^2.", "The hall is high.", []),
    ("温度为20℃。", "温度为20°C。", "仓库很高。", []),
    ("It stops at 5 bar.", "The pump stops at 5 bar.", "The pump is red.", ["The pump"]),
    ("The RTU reads it.", "The RTU (remote terminal unit) reads it.", "RTU: remote terminal unit", [" (remote terminal unit)"]),
    ("它每月检查。", "水泵每月检查。", "水泵在机房。", ["水泵"]),
])  # fmt: skip
def test_a_rewrite_is_what_it_adds(body: str, rewritten: str, elsewhere: str, texts: list[str]) -> None:
    chunk, evidence = chunk_of(body, elsewhere)
    added = additions_of(chunk, rewritten, ["coreference"], [evidence])
    assert [one.text for one in added] == texts
    completed = chunk.replace(added=added)
    assert (completed.completed_text or body) == (rewritten if texts else body)
    assert completed.text == body
    assert all(one.evidence == (evidence,) for one in added)


@pytest.mark.parametrize(("value", "means"), [
    (True, True), (False, False), ("true", True), ("False ", False), ("no", False), ("yes", True), (0, False), (1, True),
    ("是", True), ("否", False),
])  # fmt: skip
def test_truth_values_are_understood_however_they_are_spelt(value: Any, means: bool) -> None:
    assert _truth(value) is means


@pytest.mark.parametrize("value", [None, "maybe", 2, [], {}, "", float("nan")])
def test_what_is_no_truth_value_is_no_verdict(value: Any) -> None:
    with pytest.raises(ValueError, match="neither"):
        _truth(value)


@pytest.mark.parametrize(("quote", "is_there"), [
    ("nit", False), ("Definition", False), ("Definitions", True), ("is the", True), ("isthe", True), ("sthe", False), ("器检", True),
])  # fmt: skip
def test_a_quotation_is_of_whole_words(quote: str, is_there: bool) -> None:
    text = FoldedText("1 Definitions. The Plant is the site. 仪器检查。")
    assert (find_quote(text, quote) is not None) is is_there
