"""What a model says is read as far as it can be, and never believed to be more than it is."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError, read_json, without_thoughts

CASES = Path(__file__).parent.parent / "cases"


def case(name: str) -> str:
    return (CASES / name).read_text("utf-8")


def an_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def read(reply: str, **more: Any) -> Any:
    return read_json(reply, an_object, model="m", **more).value


def test_ticks_inside_a_value_are_part_of_it() -> None:
    found = read(case("llm_fence_in_string.txt"))
    assert found == {"qa": [{"q": "How is the flag set?", "a": "Write ```flag: on``` in the file"}]}


def test_braces_of_prose_and_a_comma_too_many() -> None:
    assert read(case("llm_braces_in_prose.txt")) == {"questions": ["What is stored?", "Who signs?"]}


def test_the_first_of_two_equal_blocks_counts() -> None:
    assert read(case("llm_two_blocks.txt")) == {"split_index": 4}


def test_thoughts_are_no_answer() -> None:
    assert read_json(case("llm_think_prefix.txt"), int, model="m").value == 4
    assert without_thoughts("<think>a</think>b<thinking>c") == "b"
    assert read('no opening mark {"a": 0}</think>{"a": 1}') == {"a": 1}
    with pytest.raises(CutReplyError):
        read('<think>{"a": 1} and on')


def test_of_a_reply_that_was_cut_off_whole_items_are_kept() -> None:
    found = read_json(case("llm_truncated.json"), an_object, model="m")
    assert found == ({"qa": [{"question": "What is the limit?", "answer": "25 ppm"}]}, True)
    with pytest.raises(CutReplyError, match="cut off"):
        read('{"text": "and so')
    with pytest.raises(CutReplyError, match="cut off"):
        read("words", is_cut=True)


@pytest.mark.parametrize(
    "reply", ["", "I could not find any passages.", "[1, 2]", case("llm_empty_fence.txt"), "-3", "{}"]
)
def test_what_was_not_asked_for_is_an_error_and_no_cut(reply: str) -> None:
    def numbers(value: Any) -> int:
        return int(value["split_index"])

    with pytest.raises(ModelOutputError) as caught:
        read_json(reply, numbers, model="m")
    assert not isinstance(caught.value, CutReplyError)


def test_a_value_out_of_range_is_refused_by_its_reader() -> None:
    def place(value: Any) -> int:
        if not 0 < value <= 9:
            raise ValueError(f"{value} is no place")
        return int(value)

    with pytest.raises(ModelOutputError, match="-3 is no place"):
        read_json(case("llm_bad_index.txt"), place, model="m")


@pytest.mark.parametrize(("reply", "value"), [
    ('{"text": "a "quoted" word"}', {"text": 'a "quoted" word'}),
    ('{"text":"第一行\n第二行，“引用”。"}', {"text": "第一行\n第二行，“引用”。"}),
    ('{"text": "C:\\new"}', {"text": "C:\new"}),
    ("```\n{'a': 1}", {"a": 1}),
    ('Sure! {"a": {"b": "x}"}} and {"z": 1}', {"a": {"b": "x}"}}),
    ('"text": "hello", critical: true', {"text": "hello", "critical": True}),
    ("“text”：\"好\"", {"text": "好"}),
])  # fmt: skip
def test_broken_json_is_mended(reply: str, value: dict[str, Any]) -> None:
    assert read(reply, fields=("text", "critical")) == value


@pytest.mark.parametrize("reply", ["[" * 100_000, '{"a":' * 50_000, '{"a": "' + "x" * 3_000_000, "{" * 50_000 + '"'])
def test_hostile_replies_end(reply: str) -> None:
    with pytest.raises(ModelOutputError):
        read(reply)


@given(st.text(st.sampled_from('{}[]":,`\n<think>/ab1\\甲')), st.booleans())
def test_any_reply_gives_a_value_or_the_typed_error(reply: str, is_cut: bool) -> None:
    with contextlib.suppress(ModelOutputError):
        assert isinstance(read(reply, is_cut=is_cut, fields=("a",)), dict)


VALUES = st.recursive(st.integers(-9, 9) | st.text(max_size=9), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3))  # fmt: skip


@settings(max_examples=50)
@given(
    st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    st.sampled_from(["{}", "```json\n{}\n```", "Here:\n```\n{}\n```\nDone.", "<think>{{x}}</think>\n{}"]),
)
def test_good_json_comes_back_as_it_is(value: dict[str, Any], around: str) -> None:
    for ascii_only in (True, False):
        text = json.dumps(value, ensure_ascii=ascii_only)
        if "<" not in text and "```" not in text:
            assert read(around.format(text).replace("{x}", "x")) == value
