"""Characters that disturb other programs: zero width, joiners, surrogates, byte order marks, odd line ends."""

from __future__ import annotations

import re

import pytest
from promises import CASES, assert_blocks, case, case_text, cut, headings, sizes, texts, utf8_bytes

from qchunker import CHUNKERS, Source, from_text, parse
from qchunker.sentences import sentence_spans

methods = pytest.mark.parametrize("method", CHUNKERS)
INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u202a-\u202e\u2060\ufeff]")


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


# case 174
@methods
@pytest.mark.parametrize("limit", [1, 5, 30, 700])
def test_zero_width_characters_stay_in_the_text(method: str, limit: int) -> None:
    document = case("zero_width.txt")
    assert document.text == case_text("zero_width.txt").removeprefix("\ufeff")
    partition = cut(document, method, sizes(limit))
    kept = "".join(texts(partition))
    for character in "\u200b\u00ad\u202b\u202c\u2060\u200c\u200d":
        assert kept.count(character) == document.text.count(character) >= 1


# case 178
def test_zero_width_characters_change_no_sentence() -> None:
    text = case_text("zero_width.txt")
    assert [INVISIBLE.sub("", sentence).strip() for sentence in sentences(text)] == sentences(INVISIBLE.sub("", text))


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\u2060", "\u200e", "\ufeff", "\u200d"])
def test_a_zero_width_character_anywhere_changes_no_sentence(mark: str) -> None:
    text = "Dr. Li left. 他走了。She asked e.g. The pump. Then: “好。” 第二句！End of it."
    plain = sentences(text)
    for at in range(len(text) + 1):
        marked = text[:at] + mark + text[at:]
        assert [sentence.replace(mark, "").strip() for sentence in sentences(marked)] == plain, at


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("x.md", "\u200b# Title here\n\nBody of it.\n", None),
        ("x.md", "# Ti\u200btle here\n\nBody of it.\n", "Title here"),
        ("x.txt", "第\u200b3章 储存\n\n仓库应当干燥，每天通风两次，并记录温度。\n", "第3章 储存"),
        ("x.txt", "\ufeff第3章 储存\n\n仓库应当干燥，每天通风两次，并记录温度。\n", "第3章 储存"),
    ],
)
def test_zero_width_characters_in_headings_lose_nothing(name: str, text: str, title: str | None) -> None:
    document = from_text(text, name)
    assert_blocks(document)
    if title is not None:
        assert [INVISIBLE.sub("", found) for found in headings(document)] == [title]


# case 176
@methods
@pytest.mark.parametrize("lone", [chr(0xD83D), chr(0xDEA8), chr(0xDEA8) + chr(0xD83D), 2 * chr(0xD83D)])
@pytest.mark.parametrize("name", ["x.txt", "x.md", "x.html"])
def test_a_lone_surrogate_is_replaced_and_reported(method: str, lone: str, name: str) -> None:
    document = from_text(f"Alarm {lone} raised. Crew on site.", name)
    assert document.text == "Alarm " + "\ufffd" * len(lone) + " raised. Crew on site."
    (note,) = [note for note in document.notes if note.kind == "replaced_characters"]
    assert str(len(lone)) in note.message
    assert note.span == (6, 7)
    for limit in (1, 7, 100):
        partition = cut(document, method, sizes(limit))
        assert all(piece.embedding_text.encode("utf-8") for piece in partition.chunks)


@methods
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 13, 100])
def test_no_surrogate_is_ever_made_by_a_cut(method: str, limit: int) -> None:
    partition = cut(case("emoji_boundary.txt"), method, sizes(limit, tokenizer=utf8_bytes))
    assert all(piece.text.encode("utf-8").decode("utf-8") == piece.text for piece in partition.chunks)
    assert "\ufffd" not in "".join(texts(partition))


@pytest.mark.parametrize(
    "data",
    [
        b"Alarm \xf0\x9f raised. " + "Crew 👩 on site. 氨气已处理。Mängel behoben. ".encode() * 3,
        b"Pump \xff ok. " + b"All is well. " * 20,
    ],
)
def test_damaged_bytes_are_replaced_and_reported(data: bytes) -> None:
    document = parse(Source("x.txt", data))
    assert "\ufffd" in document.text
    assert [note.kind for note in document.notes] == ["replaced_characters"]


# case 177
@methods
@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "A\u0301",
        "B\u0327",
        "👩\u200d🚒",
        "👨🏽\u200d🔧",
        "🇯🇵",
        "👍🏻",
        "각",
        "ក្រ",
        "☔\ufe0f",
        "1\ufe0f\u20e3",
    ],
)
def test_a_character_of_many_code_points_is_never_cut(method: str, cluster: str) -> None:
    text = f"ab{cluster}cd{cluster} " * 8
    for limit in range(len(cluster), len(cluster) + 6):
        together = texts(cut(from_text(text), method, sizes(limit)))
        assert sum(piece.count(cluster) for piece in together) == 16


def test_ligatures_and_full_width_letters_are_not_folded() -> None:
    text = "\ufb01lter \uff21\uff11 \u338f \u2460 \xbd \u212b A\u030a \u017f"
    assert from_text(text).text == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_a_byte_order_mark_is_no_text_in_any_encoding(encoding: str) -> None:
    text = "第3章 储存\n\n仓库应当保持干燥，每天通风两次，并且记录当班人员的姓名和温度。" * 3
    document = parse(Source("x.txt", text.encode(encoding)))
    assert document.text == text
    assert document.blocks[0].start == 0


@methods
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_every_kind_of_line_end_is_kept(method: str, newline: str) -> None:
    text = newline.join(["Oil the pump.", "", "Check the seal.", "Shut the valve."])
    document = from_text(text)
    assert document.text == text
    for limit in (5, 20, 100):
        cut(document, method, sizes(limit))


@methods
@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir() if path.suffix in {".txt", ".md"}))
def test_cutting_twice_gives_the_same_result(method: str, name: str) -> None:
    first, second = case(name), case(name)
    assert first.id == second.id
    config = sizes(80, 12)
    assert [piece.id for piece in cut(first, method, config).chunks] == [
        piece.id for piece in cut(second, method, config).chunks
    ]
