"""Dates with a year."""

from __future__ import annotations

import re

from qchunker.types import Span

ZH_NUMERALS = "元一二三四五六七八九十廿卅百〇零0-9"
ZH_YEAR = re.compile(
    r"(?:(?!..[12]\d{3}年)(?!.?[了近過过達达約约每共前後后這这那其第數数几幾满滿間间整續续歷历一二三四五六七八九十])[\u4e00-\u9fff]{2}"
    rf"[{ZH_NUMERALS}]{{1,4}}|公元前?\d{{1,4}}|[12]\d{{3}}|(?<!\d)\d{{3}})年"
    r"(?![間间來来以之的後后前代度級级頭头])"
    rf"(?:[閏闰]?[{ZH_NUMERALS}正]{{1,3}}月)?(?:[{ZH_NUMERALS}初]{{1,4}}日?)?"
)
EN_YEAR = re.compile(
    r"\b(?:(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+"
    r"(?:\d{1,2},? )?)?(?:1[5-9]|20)\d\d\b",
    re.IGNORECASE,
)


def dated(text: str, *, chinese: bool) -> list[Span]:
    """Every date of a text that has a year, in order."""
    return [Span(*match.span()) for match in (ZH_YEAR if chinese else EN_YEAR).finditer(text)]
