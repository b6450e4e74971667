"""Chunk rows of other tools become partitions, or an error that names the row."""

from __future__ import annotations

from typing import Any

import pytest

from qchunker.comparison import bootstrap_interval, difference, histogram, lengths_match, mean_row, round_step
from qchunker.errors import InputError
from qchunker.partitions import cuts, documents_of, partitions_of
from qchunker.types import Span

TEXT = "One two. Three four. 五六七。八九。"
ROWS = [{"doc_id": "a", "text": TEXT}]


def partition(*spans: tuple[Any, Any]) -> Any:
    rows = [{"doc_id": "a", "start": start, "end": end} for start, end in spans]
    return partitions_of(rows, documents_of(ROWS), "x.jsonl")["a"]


def test_rows_in_any_order_become_sorted_spans() -> None:
    assert partition((9, 20), (0, 8)).spans == (Span(0, 8), Span(9, 20))
    assert partition((0, 8)).method == "x.jsonl"


def test_overlap_is_cut_off_and_said() -> None:
    found = partition((0, 8), (4, 20), (21, 28))
    assert found.spans == (Span(0, 8), Span(8, 20), Span(21, 28))
    assert found.notes == ("1 chunk scored without overlap",)


def test_chunks_inside_others_are_left_out_and_said() -> None:
    found = partition((0, 20), (4, 8), (4, 8), (21, 28))
    assert found.spans == (Span(0, 20), Span(21, 28))
    assert found.notes == ("2 chunks inside others left out",)


def test_chunks_without_text_are_left_out_and_said() -> None:
    found = partition((0, 8), (8, 9), (9, 9), (9, 20), (20, 21), (21, 28))
    assert found.spans == (Span(0, 8), Span(9, 20), Span(21, 28))
    assert found.notes == ("3 chunks without text left out",)


def test_a_document_whose_chunks_are_blank_has_no_partition() -> None:
    assert partitions_of([{"doc_id": "a", "start": 8, "end": 9}], documents_of(ROWS), "x.jsonl") == {}


@pytest.mark.parametrize("pair", [(0, 99), (-1, 4), (5, 4), ("0", 4), (0.0, 4), (True, 4), (None, 4), (0, 10**30)])
def test_impossible_spans_are_named_with_their_row(pair: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl, row 2"):
        partition((0, 8), pair)


@pytest.mark.parametrize("doc_id", ["b", None, 3, ["a"]])
def test_unknown_documents_are_named(doc_id: Any) -> None:
    with pytest.raises(InputError, match="row 1: no document"):
        partitions_of([{"doc_id": doc_id, "start": 0, "end": 1}], documents_of(ROWS), "x.jsonl")


def test_documents_need_ids_and_texts() -> None:
    with pytest.raises(InputError, match="twice"):
        documents_of([*ROWS, *ROWS])
    with pytest.raises(InputError, match="strings"):
        documents_of([{"doc_id": "a", "text": None}])


def test_half_of_a_surrogate_pair_is_replaced_one_for_one() -> None:
    text = "a\ud800b\udc00c"
    assert documents_of([{"doc_id": "a", "text": text}])["a"].text == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("text", ["Another text.", "两个字"])
def test_a_row_whose_text_is_another_is_named(text: str) -> None:
    with pytest.raises(InputError, match=r"x\.jsonl, row 1: its text is not what stands at 9-20"):
        partitions_of([{"doc_id": "a", "start": 9, "end": 20, "text": text}], documents_of(ROWS), "x.jsonl")


@pytest.mark.parametrize("text", ["Three four.", "Numbers > Small\nThree  four.", "four", "", None, 3])
def test_a_row_may_carry_context_or_a_part_of_its_text(text: Any) -> None:
    row = {"doc_id": "a", "start": 9, "end": 20, "text": text}
    assert partitions_of([row], documents_of(ROWS), "x.jsonl")["a"].spans == (Span(9, 20),)


def test_white_space_at_a_cut_does_not_count() -> None:
    assert list(cuts(TEXT, [Span(0, 8), Span(8, 20)])) == list(cuts(TEXT, [Span(0, 9), Span(9, 20)])) == [9]
    found = difference(TEXT, [Span(0, 8), Span(8, 20), Span(21, 28)], [Span(0, 9), Span(9, 28)])
    assert (found.both, found.only_a, found.only_b) == ((9,), (21,), ())
    assert found.agreement == 0.5
    assert difference(TEXT, [Span(0, 28)], [Span(0, 28)]).agreement == 1


def row(value: float | None, n_chunks: int = 2, mean_chars: float = 100.0, reason: str | None = None) -> dict[str, Any]:
    fields = dict.fromkeys(("li", "sd", "value", "li_corrected", "sd_corrected", "corrected"), value)
    return fields | {"n_chunks": n_chunks, "mean_chars": mean_chars, "reason": reason, "signature": "s"}


def test_means_leave_out_what_has_no_score_and_count_it() -> None:
    rows = [row(1.0), row(3.0, 6, 200.0), row(1.0), row(3.0), row(2.0), row(None, 1, reason="one chunk")]
    means = mean_row(rows, "x.jsonl")
    assert (means["n_documents"], means["n_scored"], means["n_chunks"]) == (6, 5, 14)
    assert means["li"] == 2.0
    assert means["mean_chars"] == pytest.approx(2000 / 14)
    low, high = means["li_interval"]
    assert 1.0 <= low < 2.0 < high <= 3.0


def test_intervals_need_five_values_and_are_the_same_every_time() -> None:
    assert bootstrap_interval([1.0, 2.0, 3.0, 4.0]) is None
    values = [float(x) for x in range(20)]
    low, high = bootstrap_interval(values) or [0, 0]
    assert low < 9.5 < high
    assert high - low == pytest.approx(2 * 1.96 * 5.77 / 20**0.5, rel=0.1)
    assert bootstrap_interval(values) == [low, high]


def test_lengths_compare_within_three_percent() -> None:
    assert lengths_match([{"mean_chars": 100}, {"mean_chars": 103}])
    assert not lengths_match([{"mean_chars": 100}, {"mean_chars": 104}])
    assert lengths_match([{"mean_chars": None}])


def test_histograms_have_round_bins_and_lose_nothing() -> None:
    assert histogram([1, 5, 12, 31], 10) == [(0, 2), (10, 1), (20, 0), (30, 1)]
    assert [round_step(n) for n in (1, 12, 13, 300, 700, 100_000)] == [1, 1, 2, 50, 100, 10_000]
