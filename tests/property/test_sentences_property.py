from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Span

Cut = Callable[..., list[Span]]

FRAGMENTS = (
    *(
        "Dr",
        "U.S",
        "e.g",
        "No",
        "left",
        "He",
        "The",
        "iPad",
        "node.js",
        "v2.4.1",
        "https://a.test/b?c=d",
        "3.5",
    ),
    *("1", "水泵", "他说", "的", "第三条", "（一）", "①"),
    *(
        "。",
        "！",
        "？",
        "；",
        "……",
        "…",
        "．",
        "｡",
        ".",
        "...",
        "!",
        "?",
        ";",
        ",",
        "，",
        "、",
        "：",
        ":",
        "——",
    ),
    *("-", "“", "”", '"', "'", "「", "」", "（", "）", "(", ")", "》", "**", "[3]", "&amp;"),
    *("\n", "\r\n", "\r", "\n\n", "\u2028", "\u2029", "\f", "\x85", " ", "  ", "\t", "\u3000", "\xa0"),
    *("e\u0301", "👩\u200d🔧", "🇳🇴", "مرحبا", "שלום", "\u202e", "\ud800"),
)
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
INVISIBLE = "\u200b\u200c\u200d\ufeff\u2060\u00ad"

both = pytest.mark.parametrize("cut", [sentence_spans, clause_spans])


def visible(text: str) -> str:
    hidden = [*INVISIBLE, *map(chr, (0x061C, 0x180E, 0x200E, 0x200F, *range(0x202A, 0x202F)))]
    hidden += map(chr, (*range(0x2061, 0x2065), *range(0x2066, 0x206A)))
    return text.translate(dict.fromkeys(map(ord, hidden)))


@both
@given(text=TEXTS)
def test_spans_are_sorted_disjoint_trimmed_and_complete(cut: Cut, text: str) -> None:
    at = 0
    for start, end in cut(text):
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        at = end
    assert not text[at:].strip()


@both
@given(before=TEXTS, text=TEXTS, after=TEXTS)
def test_surrounding_text_does_not_matter(cut: Cut, before: str, text: str, after: str) -> None:
    start = len(before)
    found = cut(before + text + after, start, start + len(text))
    assert found == [Span(first + start, last + start) for first, last in cut(text)]


@both
@given(pieces=st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(["", *INVISIBLE])), max_size=40))
def test_zero_width_characters_do_not_matter(cut: Cut, pieces: list[tuple[str, str]]) -> None:
    text = "".join(fragment + hidden for fragment, hidden in pieces)
    bare = visible(text)
    found = [part for start, end in cut(text) if (part := visible(text[start:end]).strip())]
    assert found == [bare[start:end] for start, end in cut(bare)]


@given(text=TEXTS)
def test_every_clause_lies_in_one_sentence(text: str) -> None:
    ends = {end for _, end in clause_spans(text)}
    starts = {start for start, _ in clause_spans(text)}
    assert all(start in starts and end in ends for start, end in sentence_spans(text))


@given(text=TEXTS)
def test_a_blank_line_separates(text: str) -> None:
    joined = text + "\n\n" + text
    once = len(sentence_spans(text))
    assert len(sentence_spans(joined)) == 2 * once or not visible(text).strip()
