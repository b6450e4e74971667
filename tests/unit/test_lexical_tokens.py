"""The tokens of a text for BM25: bigrams, words, identifiers and their parts."""

from __future__ import annotations

import random
import time

import pytest

from qchunker.indexing.lexical_tokens import LONGEST_TOKEN, lexical_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t\u3000--- 。，！……《》 @ # % ''", ""),
        ("氨气泄漏时", "氨气 气泄 泄漏 漏时"),
        ("氨，气。", "氨 气"),
        ("氨氨氨", "氨氨 氨氨"),
        ("應儲存於陰涼處", "應儲 儲存 存於 於陰 陰涼 涼處"),
        ("カタカナのｶﾞｽ", "カタ タカ カナ ナの のガ ガス"),
        ("人々", "人々"),
        ("\U00020000\U00020001氨", "\U00020000\U00020001 \U00020001氨"),
        ("PVC管和Ｐｖｃ阀门", "pvc 管和 pvc 阀门"),
        ("The valves, the VALVE", "the valv the valv"),
        ("worker's workers' don’t", "worker worker don't don t"),
        ("café cafe\u0301 straße ﬁlter", "café café strass filter"),
        ("Safe\u200bty re\u00adlease \ufeffx氨\u200b气", "safeti releas x 氨气"),
        ("7664-41-7", "7664-41-7 7664 41 7"),
        ("７６６４–４１‑７", "7664-41-7 7664 41 7"),
        ("CAS号：7664-41-7。", "cas 号 7664-41-7 7664 41 7"),
        ("P-104 P104", "p-104 p 104 p104 p 104"),
        ("GB/T 3098.1", "gb/t3098.1 gb/t gb t 3098.1 3098 1"),
        ("符合GB/T3098.1标准", "符合 gb/t3098.1 gb/t gb t 3098.1 3098 1 标准"),
        ("gb 50016-2014", "gb50016-2014 gb 50016-2014 50016 2014"),
        ("v1.30", "v1.30 v 1.30 1 30"),
        ("8.3.2", "8.3.2 8 3 2"),
        ("snake_case __init__", "snake_case snake case init"),
        ("file.names.tar", "file.names.tar file name tar"),
        ("index2.html", "index2.html index2 index 2 html"),
        ("a.b@example.com", "a.b@example.com a.b a b example.com exampl com"),
        ("https://x.org/d?p=1", "https x.org/d?p=1 x.org x org d p 1"),
        ("1,000", "1,000 1000"),
        ("12,345,678.90", "12,345,678.90 12345678.90 12,345,678 12345678 90"),
        ("1，000，在2010，200", "1 000 在 2010 200"),
        ("１，０００", "1,000 1000"),
        ("1,2,3 1,0000", "1 2 3 1 0000"),
        ("2010,200", "2010 200"),
        ("VL-172,516", "vl-172 vl 172 516"),
        ("5% 99.5％的 10-20%", "5% 5 99.5% 99.5 99 5 的 10-20% 10 20% 20"),
        ("a%20b", "a 20b 20 b"),
        ("a1b2 a1b2c", "a1b2 a 1 b 2 a1b2c"),
        ("m³ H₂O", "m3 m 3 h2o h 2 o"),
        ("\ud800x", "x"),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert lexical_tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("one", "other"),
    [("GB/T 3098.1", "GB/T3098.1"), ("ＧＢ／Ｔ　３０９８", "gb/t 3098"), ("O’Brien", "o'brien"), ("２５℃", "25 °C")],
)
def test_spellings_that_are_one(one: str, other: str) -> None:
    assert lexical_tokens(one) == lexical_tokens(other) != []


def test_a_long_word_loses_nothing_and_a_long_identifier_keeps_its_parts() -> None:
    word = "".join(random.Random(1).choices("abc", k=150))
    assert lexical_tokens(word) == [word[:64], word[64:128], word[128:]]
    address = "/".join(["part"] * 20)
    assert lexical_tokens(address) == ["part"] * 20
    assert lexical_tokens("x/" + "y" * (LONGEST_TOKEN - 2))[0] == "x/" + "y" * (LONGEST_TOKEN - 2)


@pytest.mark.parametrize(
    "unit",
    [
        "a", "a.", "a-1.", "1,", "1,000", ",000", "\u0301\u0327", "\uff9e\u0301", "\u0301\u200b\u0327", "氨", "氨a", " ",
        "a1", "-", "gb/", "gb/t ", "，", "１，", "1%", "1.1", "a's", "'s", "\u200b", "a\x1f", "か\u3099", "a,000%", "9,999.",
        "a@", "://", "_", "\ufdfa", "é\u0301", "\\",
    ],
)  # fmt: skip
def test_pathological_texts_take_linear_time(unit: str) -> None:
    text = ("x" + unit * 200_000)[:200_000]
    start = time.process_time()
    tokens = lexical_tokens(text)
    assert time.process_time() - start < 8
    assert len(tokens) <= 4 * len(text)
    assert all(0 < len(token) <= LONGEST_TOKEN for token in tokens)


@pytest.mark.parametrize("seed", range(60))
def test_tokens_of_random_texts_can_be_joined_by_blanks(seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choice("aB1９.,，-/%'_@:=氨气カ \n\u3000\u0301\u200b\x1f\u2028GB T") for _ in range(300))
    tokens = lexical_tokens(text)
    assert " ".join(tokens).split() == tokens
    assert tokens == lexical_tokens(text.upper())
    shown = "".join(tokens)
    assert not set("，。 \u200b\x1f\u3000") & set(shown)
