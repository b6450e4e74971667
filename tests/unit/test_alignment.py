"""Words that a model quotes are found again, and what it names as ends of chunks never leaves the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qchunker.alignment import Anchor, FoldedText, anchored_starts, find_quote

EN = 'The "pump" must be primed. Never run it dry! (See 8.3 [a+b]*.) The pump must be primed. Stop at 3.5 bar…'
ZH = "启动前必须向泵内灌水，严禁干转。“密封面”应每月检查。启动前必须向泵内灌水，再开阀门。"


@pytest.mark.parametrize(("text", "quote", "found"), [
    (EN, "Never run it dry!", "Never run it dry!"),
    (EN, "“the “pump” must\n be PRIMED", 'The "pump" must be primed'),
    (EN, "...Never  run it dry...", "Never run it dry"),
    (EN, "(see 8.3 [a+b]*.)", "(See 8.3 [a+b]*.)"),
    (EN, "Stop at ３.５ bar", "Stop at 3.5 bar"),
    (ZH, "严禁干转", "严禁干转"),
    (ZH, "「密封面」应 每月 检查。", "“密封面”应每月检查。"),
    (ZH, "……再开阀门", "再开阀门"),
    (EN, "Never run it wet", None), (ZH, "严禁湿转", None), (EN, "", None), (EN, "…", None), (ZH, "\ud800", None),
])  # fmt: skip
def test_quotations_are_found_word_for_word_however_they_are_spelt(text: str, quote: str, found: str | None) -> None:
    span = find_quote(FoldedText(text), quote)
    assert (None if span is None else text[slice(*span)]) == found


def test_of_several_places_the_nearest_is_taken() -> None:
    assert find_quote(FoldedText(EN), "must be primed", near=60) == (72, 86)
    assert find_quote(FoldedText(ZH), "向泵内灌水", near=0) == (5, 10)


def starts(text: str, *anchors: tuple[str, str]) -> list[str]:
    return [text[at : at + 6] for at in anchored_starts(FoldedText(text), [Anchor(*one) for one in anchors])]


def test_repeated_heads_follow_the_tail_before_them() -> None:
    assert starts(EN, ('The "pump"', "it dry!"), ("(See 8.3", "[a+b]*.)"), ("The pump must", "bar…")) == [
        'The "p',
        "(See 8",
        "The pu",
    ]
    assert starts(ZH, ("启动前必须", "干转。"), ("“密封面”", "检查。"), ("启动前必须", "阀门。")) == [
        "启动前必须向",
        "“密封面”应",
        "启动前必须向",
    ]


@pytest.mark.parametrize(("anchors", "wanted"), [
    ([("Never run", ""), ("The \"pump\"", ""), ("(See 8.3", "")], ["The \"p", "(See 8"]),  # out of order
    ([("The \"pump\"", "it dry!"), ("nowhere to be found", "x"), ("Stop at", "")], ["The \"p", "(See 8", "Stop a"]),
    ([("The \"pump\" must be primed by nobody at all", "")], ["The \"p"]),  # the first half is there
    ([("", ""), ("", "")], []), ([("Never run it", "Never run it")], ["Never "]),
    ([("The \"pump\" must be primed. " * 50, "")], ["The \"p"]),  # longer than the text
    ([(".*", ".*"), ("(", ")")], []),
])  # fmt: skip
def test_wrong_anchors_cost_cuts_and_nothing_else(anchors: list[tuple[str, str]], wanted: list[str]) -> None:
    assert starts(EN, *anchors) == wanted


TEXTS = st.text(st.sampled_from("ab .。\n甲乙“”*(?\u200b\ud800Ａé̈ﬁ"), max_size=60)


@given(TEXTS, st.lists(st.tuples(TEXTS, TEXTS), max_size=12))
def test_starts_rise_and_lie_in_the_text(text: str, anchors: list[tuple[str, str]]) -> None:
    found = anchored_starts(FoldedText(text), [Anchor(*one) for one in anchors])
    assert found == sorted(set(found))
    assert all(0 <= at < len(text) for at in found)
    assert len(found) <= len(anchors)


@given(TEXTS, st.data())
def test_what_stands_in_the_text_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    folded = FoldedText(text)
    span = folded.find(text[start:end])
    if span is not None:
        assert FoldedText(text[slice(*span)]).folded == FoldedText(text[start:end]).folded
    else:
        assert not FoldedText(text[start:end]).folded


def test_time_grows_with_the_text_alone() -> None:
    text = ("ab " * 20_000) + "end"
    anchors = [Anchor("ab ab", "ab ab")] * 40
    assert len(anchored_starts(FoldedText(text), anchors)) == 40
