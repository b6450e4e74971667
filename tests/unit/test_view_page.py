from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import pytest

from qchunker.errors import InputError
from qchunker.view.layout import CUT_REASONS, read_views
from qchunker.view.page import render_page

HOSTILE = "</script><script>alert(1)</script><!-- \u2028\u202e\0\ud800 & <b>"


def document(text: str, **fields: Any) -> dict[str, Any]:
    return {"doc_id": "d", "source": "d.txt", "text": text, **fields}


def chunk(start: int, end: int, **fields: Any) -> dict[str, Any]:
    return {"doc_id": "d", "start": start, "end": end, **fields}


def page_data(html: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert match
    return json.loads(match[1])


def only_document(text: str, *chunks: dict[str, Any], **fields: Any) -> Any:
    return page_data(render_page([document(text, **fields)], chunks))["documents"][0]


def sections_of(data: Any) -> list[tuple[int | None, str]]:
    """(chunk index or None, text) of each section."""
    starts = [section["p"] for section in data["sections"]] + [len(data["pieces"])]
    return [
        (section.get("c"), "".join(piece["t"] for piece in data["pieces"][starts[i] : starts[i + 1]]))
        for i, section in enumerate(data["sections"])
    ]


def test_hostile_text_cannot_leave_its_script_element() -> None:
    rows = [chunk(0, 5, kind=HOSTILE, cut=HOSTILE, heading_path=[HOSTILE], method=HOSTILE, extra={HOSTILE: HOSTILE})]
    html = render_page([document(HOSTILE, source=HOSTILE)], rows)
    assert html.count("<script") == html.count("</script>") == 3
    assert html.count("<!--") == 0
    assert not re.search("[\u2028\u202e\0\ud800]", html)
    html.encode()
    data = page_data(html)["documents"][0]
    assert "".join(piece["t"] for piece in data["pieces"]) == HOSTILE
    assert data["source"] == data["chunks"][0]["cut"] == HOSTILE


def test_policy_forbids_everything_but_the_inlined_style_and_script() -> None:
    html = render_page([document("a")], [chunk(0, 1)])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        content = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy[1]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)


def test_same_input_gives_same_bytes() -> None:
    rows = [chunk(0, 3, zeta=1, alpha=2), chunk(2, 5)]
    assert render_page([document("abcde")], rows) == render_page([document("abcde")], list(reversed(rows)))


def test_rows_with_required_fields_only() -> None:
    data = page_data(render_page([{"doc_id": "d", "text": "abcdef"}], [chunk(0, 3), chunk(3, 6)]))
    shown = data["documents"][0]
    assert shown["source"] == "d"
    assert [entry["id"] for entry in shown["chunks"]] == ["d:0-3", "d:3-6"]
    assert data["reasons"][""] == CUT_REASONS[""]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 3), (6, 9)], [(0, "abc"), (None, "def"), (1, "ghi")]),
        ([(3, 9)], [(None, "abc"), (0, "defghi")]),
        ([(0, 6)], [(0, "abcdef"), (None, "ghi")]),
        ([], [(None, "abcdefghi")]),
        ([(0, 6), (4, 9)], [(0, "abcd"), (1, "efghi")]),
        ([(0, 9), (3, 5)], [(0, "abc"), (1, "de"), (0, "fghi")]),
        ([(0, 9), (0, 9)], [(0, ""), (1, "abcdefghi")]),
        ([(0, 4), (0, 9)], [(0, ""), (1, "abcdefghi")]),
    ],
)
def test_sections_show_every_character_once(
    spans: list[tuple[int, int]], expected: list[tuple[int | None, str]]
) -> None:
    assert sections_of(only_document("abcdefghi", *(chunk(*span) for span in spans))) == expected


def test_blank_text_between_chunks_is_not_lost() -> None:
    data = only_document("\n\nabc\n\n  def \n", chunk(2, 5), chunk(9, 12))
    assert sections_of(data) == [(0, "\n\nabc\n\n  "), (1, "def \n")]
    assert [piece["t"] for piece in data["pieces"] if piece.get("gap")] == ["\n\n", "\n\n  ", " \n"]


def test_lost_text_is_found_inside_blocks_of_any_kind() -> None:
    blocks = [{"kind": "heading", "start": 3, "end": 6}, {"kind": "code", "start": 6, "end": 9}]
    data = only_document("abcdefghi", chunk(0, 3), blocks=blocks)
    assert sections_of(data) == [(0, "abc"), (None, "defghi")]


def test_overlap_names_the_other_chunks() -> None:
    data = only_document("abcdefghi", chunk(0, 6), chunk(4, 9))
    assert [piece.get("shared") for piece in data["pieces"]] == [None, [0], None]
    assert all("overlap" in entry["flags"] for entry in data["chunks"])


def test_chunks_of_many_overlaps_rebuild_their_body() -> None:
    text = "".join(chr(97 + i % 26) for i in range(300))
    spans = [(start, min(300, start + 70)) for start in range(0, 300, 10)]
    data = only_document(text, *(chunk(*span) for span in spans))
    for (start, end), entry in zip(spans, data["chunks"], strict=True):
        first, last = entry["p"]
        assert "".join(piece["t"] for piece in data["pieces"][first:last]) == text[start:end]


def test_astral_characters_keep_code_point_spans() -> None:
    text = "😀𠮷中文"
    data = only_document(text, chunk(0, 1), chunk(1, 3, lead_in=[0, 1]), chunk(3, 4))
    assert [piece["t"] for piece in data["pieces"]] == ["😀", "𠮷中", "文"]
    assert data["chunks"][1]["lead"] == "😀"
    assert data["lang"] == "zh"


def test_body_is_stored_once() -> None:
    row = chunk(2, 5, embedding_text="Title\n\ncde!", completed_text="something else", text="cde")
    entry = only_document("abcdefghi", row)["chunks"][0]
    assert entry["embedding"] == ["Title\n\n", "!"]
    assert entry["completed"] == ["something else"]
    assert "stored" not in entry


def test_evidence_is_quoted_and_unknown_fields_are_kept() -> None:
    row = chunk(
        0,
        3,
        links=[{"kind": "limits", "target": "d:3-9", "evidence": [[0, 2]]}],
        added=[{"text": "x", "kind": "definition", "evidence": [[3, 5], [8, 9]]}],
        score=0.5,
        page=0,
    )
    entry = only_document("abcdefghi", row)["chunks"][0]
    assert entry["links"] == [{"kind": "limits", "target": "d:3-9", "evidence": ["ab"], "places": [0]}]
    assert entry["added"][0]["evidence"] == ["de", "i"]
    assert "diff" not in entry
    assert entry["more"] == {"score": "0.5"}
    assert entry["page"] == "0"
    assert set(entry["flags"]) == {"linked", "completed"}


def test_a_completion_is_shown_as_a_difference_with_the_places_of_its_evidence() -> None:
    added = [
        {"text": " (X)", "kind": "definition", "evidence": [[7, 8]], "at": 2},
        {"text": "!", "evidence": [[4, 5]], "at": 3},
    ]
    rows = [chunk(0, 3, added=added, completed_text="ab (X)c!"), chunk(3, 6), chunk(6, 9)]
    entry = only_document("abcdefghi", *rows)["chunks"][0]
    assert entry["diff"] == ["ab", " (X)", "c", "!", ""]
    assert [item["places"] for item in entry["added"]] == [[2], [1]]
    for broken in ({"completed_text": "other"}, {"added": [{"text": "!", "at": 9}]}, {"added": [{"text": 3, "at": 1}]}):
        other = only_document("abcdefghi", rows[0] | broken)["chunks"][0]
        assert "diff" not in other


def test_words_in_place_of_a_pronoun_and_what_was_refused_are_shown() -> None:
    added = [{"text": "Pump", "kind": "coreference", "evidence": [[7, 11]], "at": 0, "until": 2}]
    refused = [{"kind": "rewrite", "text": "It runs", "reason": "lost: stops"}]
    row = chunk(0, 6, added=added, completed_text="Pump st.", refused=refused)
    entry = only_document("It st. Pump", row)["chunks"][0]
    assert entry["diff"] == ["", "Pump", " st."]
    assert entry["added"][0]["replaced"] == "It"
    assert entry["refused"][0] == {
        "kind": "rewrite",
        "text": "It runs",
        "reason": "lost: stops",
        "evidence": [],
        "places": [],
    }


def test_flags_name_what_is_wrong() -> None:
    text = "a" * 40 + "b" * 40 + "c" + "d\u202e" + "e" * 40
    rows = [chunk(0, 40), chunk(40, 80, oversize="why"), chunk(80, 81), chunk(81, 123, text="other")]
    flags = [view.flags for view in read_views([document(text)], rows)[0].chunks]
    assert flags == [(), ("oversize",), ("short",), ("differs", "invisible")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([chunk(0, 99)], "chunk row 1: start, end must be 0 <= start < end <= 3, not (0, 99)"),
        ([chunk(0, 1), chunk(2, 2)], "chunk row 2: start, end"),
        ([chunk(-1, 2)], "not (-1, 2)"),
        ([{"doc_id": "d"}], "not (None, None)"),
        ([{"doc_id": "other", "start": 0, "end": 1}], "no document has the doc_id 'other'"),
        ([{"start": 0, "end": 1}], "no document has the doc_id None"),
        ([chunk(0, 1, lead_in=[0])], "chunk d:0-1: lead_in must be"),
        ([chunk(0, 1, context=[[0, 9]])], "chunk d:0-1: context must be"),
        ([chunk(0, 1, links=["x"])], "chunk d:0-1: links must hold objects"),
        ([chunk(0, 1, added=[{"evidence": [[3, 2]]}])], "chunk d:0-1: added evidence must be"),
    ],
)
def test_impossible_rows_are_refused(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        render_page([document("abc")], rows)


def test_documents_need_unique_ids_and_text() -> None:
    with pytest.raises(InputError, match="occurs twice"):
        render_page([document("a"), document("b")], [])
    with pytest.raises(InputError, match="document row 1"):
        render_page([{"doc_id": "d"}], [])


def test_nothing_to_show_is_a_page_too() -> None:
    assert page_data(render_page([], []))["documents"] == []
    assert page_data(render_page([document("")], []))["documents"][0]["sections"] == []
