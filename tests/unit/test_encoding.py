"""Bytes to text in the encodings that Chinese and English files come in."""

from __future__ import annotations

import codecs
import random

import pytest

from qchunker.errors import ParseError
from qchunker.parsing.encoding import clean_text, decode
from qchunker.types import Source

ZH = "第八条规定的情形除外。仓库应当干燥，依照第八条和本章第二节执行。"
ZH_HANT = "第八條規定的情形除外。倉庫應當乾燥，依照第八條和本章第二節執行。"
EN = "The relief valve opens at nine bar.\r\nIt closes again at seven bar.\r\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ZH, "utf-8"),
        (ZH, "gb18030"),
        (ZH + "𠮷㐂", "gb18030"),
        (EN + ZH, "gb18030"),
        ("设备检查", "gb18030"),
        (ZH_HANT, "big5"),
        (EN + ZH_HANT, "big5"),
        (ZH, "utf-16-le"),
        (ZH, "utf-16-be"),
        (EN, "utf-16-le"),
        (EN, "utf-16-be"),
        (EN + ZH, "utf-16-le"),
        ("Mängel behoben – “quoted” naïve café", "cp1252"),
        (ZH * 3000, "gb18030"),
    ],
)
def test_the_encoding_is_told_without_a_mark(text: str, encoding: str) -> None:
    decoded, found, notes = decode(Source("x.txt", text.encode(encoding)))
    assert (decoded, found, notes) == (text, encoding, ())


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_is_removed_once(mark: bytes, encoding: str) -> None:
    data = mark + ("\ufeff" + ZH).encode(encoding)
    assert decode(Source("x.txt", data))[0] == "\ufeff" + ZH


@pytest.mark.parametrize("damage", [b"\xff", b"\xc3", b"\xe4\xb8"])
def test_a_damaged_byte_is_replaced_and_reported(damage: bytes) -> None:
    text, encoding, notes = decode(Source("x.txt", (ZH * 3).encode() + damage + b" end"))
    assert encoding == "utf-8"
    assert text == ZH * 3 + "\ufffd" + " end"
    assert [note.kind for note in notes] == ["replaced_characters"]
    assert text[notes[0].span.start] == "\ufffd"


@pytest.mark.parametrize("data", [b"", b" \n\t ", codecs.BOM_UTF8, codecs.BOM_UTF8 + b"\n"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"empty|white space"):
        decode(Source("x.txt", data))


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 20, random.Random(1).randbytes(4000), b"\x7fELF\x02\x01\x01\0" * 99, b"\0" * 50]
)
def test_binary_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"x\.txt: .*(binary|encoding)") as caught:
        decode(Source("x.txt", data))
    assert caught.value.hint


def test_lone_surrogates_are_replaced_one_for_one() -> None:
    text, notes = clean_text("a\ud83db\udc00c🚨")
    assert text == "a\ufffdb\ufffdc🚨"
    assert notes[0].message.startswith("2 lone surrogates")
    assert clean_text("plain") == ("plain", ())


@pytest.mark.parametrize("text", [
    "One\0 mark is a flaw of this text.", "一个\0标记是这段文字的瑕疵。", "\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[0m", "\x1b[31m红\x1b[0m",
])  # fmt: skip
def test_a_few_control_characters_and_colours_of_a_terminal_are_text(text: str) -> None:
    assert decode(Source("log.txt", text.encode()))[0] == text
