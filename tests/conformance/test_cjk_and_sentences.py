"""Sentence ends of both scripts: where they are, where they are not, and that chunkers cut there first."""

from __future__ import annotations

import pytest
from promises import SENTENCE_AWARE, case, case_text, chunk_with, cut, sizes, texts, tokens

from qchunker import CHUNKERS, from_text
from qchunker.sentences import sentence_spans

methods = pytest.mark.parametrize("method", CHUNKERS)
sentence_aware = pytest.mark.parametrize("method", SENTENCE_AWARE)
PATROL = [
    "巡检每班一次。",
    "发现泄漏怎么办？",
    "立即停机！",
    "先关阀；",
    "再断电；",
    "最后上报……",
    "“记住：先救人。”班长说。",
    "（见附录 B。）",
    "第二班接替｡",
    "第三班休息．",
    "结束",
]
MIXED = [
    "升级到 v2.4.1 后请访问 https://ops.example.test/a.b?x=1.5。",
    "精度为 0.05%。",
    "The unit is OK.",
    "联系 ops@example.test，版本号见 config.v3.toml。",
    "U.S. 标准适用。",
    "浓度＞3.5％时报警。",
]
ABBREVIATED = [
    "Dr. Reyes met Mr. Holt at 10 a.m. on Fri. See Fig. 3 and Tab. 2, e.g. The blue trace.",
    "Pump No. 5 draws 1.5 kW.",
    "It runs v1.2.3 on 192.168.4.7.",
    "Use Node.js, i.e. the LTS build.",
    "Loading... done!",
    "Really?!",
    "Yes.",
    "Visit https://shop.example.test.",
    "Individuals may also write.",
    "The U.S. Navy agreed.",
    "He left.",
]
ELLIPSES = ["……", "…", "⋯⋯", "⋯", "...", "......", "。。。", "。。。。。。", "…………"]


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


# cases 64, 65, 69 and 70
def test_the_sentences_of_a_chinese_line() -> None:
    assert sentences(case_text("cjk_sentences.txt")) == PATROL


# cases 66 and 70
def test_the_sentences_of_a_line_in_two_scripts() -> None:
    assert sentences(case_text("cjk_mixed.txt")) == MIXED


# cases 72, 73, 74 and 76
def test_the_sentences_of_an_english_line_full_of_abbreviations() -> None:
    assert sentences(case_text("abbrev.txt")) == ABBREVIATED


# cases 64 and X11
@sentence_aware
@pytest.mark.parametrize("limit", [12, 14, 20])
@pytest.mark.parametrize("sizes_in", ["characters", "tokens"])
def test_unspaced_chinese_is_cut_at_the_ends_of_sentences(method: str, limit: int, sizes_in: str) -> None:
    document = case("cjk_sentences.txt")
    counter = len if sizes_in == "tokens" else None
    partition = cut(document, method, sizes(limit, tokenizer=counter))
    ends, at = set(), 0
    for sentence in PATROL:
        at = document.text.index(sentence, at) + len(sentence)
        ends.add(at)
    ends.add(document.text.index("先救人"))  # the quotation of 13 characters may be cut at its colon
    assert {end for _, end in partition.spans} <= ends


@sentence_aware
def test_a_list_of_full_width_semicolons_is_cut_after_them(method: str) -> None:
    items = [f"检查第{numeral}号阀门；" for numeral in "一二三四五六七八九"]
    assert texts(cut(from_text("".join(items)), method, sizes(9))) == items


# case 65
@sentence_aware
@pytest.mark.parametrize("ellipsis", ELLIPSES)
def test_an_ellipsis_is_never_cut_in_the_middle(method: str, ellipsis: str) -> None:
    text = f"最后上报{ellipsis}第二班接替{ellipsis}结束了。"
    for limit in range(max(4, len(ellipsis)), 25):
        for piece in texts(cut(from_text(text), method, sizes(limit, min_chars=0))):
            assert piece.count(ellipsis[0]) % len(ellipsis) == piece.count("了。") * (ellipsis[0] == "。"), piece


@pytest.mark.parametrize("ellipsis", ELLIPSES)
def test_a_chinese_ellipsis_ends_a_sentence(ellipsis: str) -> None:
    assert sentences(f"最后上报{ellipsis}第二班接替{ellipsis}") == [f"最后上报{ellipsis}", f"第二班接替{ellipsis}"]


@pytest.mark.parametrize("ellipsis", ["...", "…", "....", ". . ."])
def test_an_english_ellipsis_ends_a_sentence_only_before_a_capital(ellipsis: str) -> None:
    assert sentences(f"The crew waited{ellipsis} Then it left.") == [f"The crew waited{ellipsis}", "Then it left."]
    assert len(sentences(f"The crew waited{ellipsis} and then it left.")) == 1


@sentence_aware
@pytest.mark.parametrize("marks", ["？！", "！！！", "?!", "……。", "——", "！”", "。）", "。」", "？』", "。》"])
def test_marks_that_belong_together_are_never_parted(method: str, marks: str) -> None:
    text = "".join(f"第{numeral}班接替{marks}" for numeral in "一二三四五六七八九")
    for limit in range(8, 30):
        for piece in texts(cut(from_text(text), method, sizes(limit, min_chars=0))):
            assert sum(map(piece.count, set(marks))) == len(marks) * piece.count("接替"), piece


@sentence_aware
@pytest.mark.parametrize("mark", ["。", "，", "！", "”", "）", "》", "、", "；", "……", "。”"])
def test_no_chunk_begins_with_a_closing_mark_even_where_a_sentence_is_too_long(method: str, mark: str) -> None:
    text = f"每班检查通风设备和报警器{mark}" * 8
    for limit in range(6, 30):
        for piece in texts(cut(from_text(text), method, sizes(limit, min_chars=0))):
            assert piece[0] not in mark, (limit, piece)


# case 66
@sentence_aware
@pytest.mark.parametrize("limit", range(35, 90, 3))
def test_addresses_versions_and_numbers_are_not_cut(method: str, limit: int) -> None:
    together = texts(cut(case("cjk_mixed.txt"), method, sizes(limit, min_chars=0)))
    for whole in [
        "v2.4.1",
        "https://ops.example.test/a.b?x=1.5",
        "0.05%",
        "ops@example.test",
        "config.v3.toml",
        "U.S.",
        "3.5％",
    ]:
        assert any(whole in piece for piece in together), whole


# cases 73, 74 and 76
@sentence_aware
@pytest.mark.parametrize("limit", range(90, 300, 15))
def test_abbreviations_are_not_cut(method: str, limit: int) -> None:
    together = texts(cut(case("abbrev.txt"), method, sizes(limit, min_chars=0)))
    assert [sentence for piece in together for sentence in sentences(piece)] == ABBREVIATED


@pytest.mark.parametrize(
    "text",
    [
        "The pump runs at 3.x and 4.y now.", "See Fig. 3, Eq. 4 and Sec. 5 there.", "It opens at 10 a.m. and shuts at 5 p.m. daily.",
        "Ask Dr. Li, Mr. Wu, Mrs. Xu or Prof. Ma.", "Use oil, e.g. The blue one.", "Use oil, i.e. The blue one.", "It costs 1,000.50 per item.",
        "Call 192.168.4.7 or 10.0.0.1 first.", "Open config.v3.toml and main.py now.", "Use Node.js and ASP.NET there.", "Write to ops@mail.example.test now.",
        "See https://a.example.test/b.c?d=e.f for it.", "Order No. 5 of vol. 2 is here.", "请打开 config.v3.toml 文件。", "压力为 0.05% 以下。", "版本 v2.4.1 已发布。",
        "价格为１．５元。", "“先救人。”班长说。", "The U.S. Navy agreed.", "Smith et al. found it.", "approx. 5 kg of it.",
    ],
)  # fmt: skip
def test_nothing_inside_ends_a_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    "expected",
    [
        ["They agreed.", "He left."], ["Visit https://shop.example.test.", "Individuals may write."], ["It draws 1.5 kW.", "It is hot."],
        ["Is it on?", "Yes!", "Good."], ["(It is on.)", "He left."], ["“It is on.”", "He left."], ["关阀；", "断电；", "上报。"],
        ["关阀｡", "断电｡"], ["关阀．", "断电．"], ["他说：“好。”", "天黑了。"], ["（见附录。）", "下一步。"], ["The unit is OK.", "联系班长。"],
        ["联系班长。", "The unit is OK."], ["Write to ops@example.test.", "We answer."], ["It runs v1.2.3.", "It is new."],
    ],
)  # fmt: skip
def test_these_end_a_sentence(expected: list[str]) -> None:
    gap = "" if expected[0] == "They agreed." or ord(expected[0][-1]) > 0x2100 else " "
    assert sentences(gap.join(expected)) == expected


# case 77
@sentence_aware
def test_sentence_ends_are_tried_before_word_gaps(method: str) -> None:
    sentence = "The crew checks the relief valve and the seal of pump seven. "
    text = sentence * 167
    assert len(text.split()) == 2004
    partition = cut(from_text(text), method, sizes(60, tokenizer=tokens))
    assert all(piece.endswith("seven.") for piece in texts(partition))
    assert all(piece.startswith("The crew") for piece in texts(partition))
    # Thirteen tokens a sentence: four of them fit into sixty, and no piece has to be less than half full.
    assert len(partition.chunks) <= 167 / 2 + 1


@sentence_aware
def test_a_sentence_that_is_too_long_is_cut_at_its_clauses(method: str) -> None:
    clauses = [f"每次作业前必须检查第{numeral}号通风设备的状态，" for numeral in "一二三四五六七八九"]
    assert texts(cut(from_text("".join(clauses)), method, sizes(len(clauses[0])))) == clauses


# cases 58, 70 and X10
@pytest.mark.parametrize("heading", ["# 作业要求\n\n", "第一章 作业要求\n\n"])
@sentence_aware
def test_a_chinese_section_without_blanks_keeps_to_the_limit_and_is_cut_at_commas(method: str, heading: str) -> None:
    text = heading + case_text("cjk_no_space.txt")
    partition = cut(from_text(text, "x.md"), method, sizes(200))
    assert len(partition.chunks) > 15
    assert not any(piece.oversize for piece in partition.chunks)
    assert all(piece.endswith("，") for piece in texts(partition)[:-1])
    if method == "structure":
        assert all(piece.heading_path for piece in partition.chunks)


@methods
def test_closing_marks_stay_with_their_sentence(method: str) -> None:
    partition = cut(case("cjk_sentences.txt"), method, sizes(30))
    if method != "fixed":
        assert "先救人。”班长说。" in chunk_with(partition, "先救人").text
        assert "见附录 B。）" in chunk_with(partition, "见附录").text
