"""The numbers that a word processor shows before headings and list items, and does not store in the text."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.etree import ElementTree

from qchunker.parsing.archive import attribute, local

_PLACEHOLDER = re.compile(r"%(\d)")
_DIGITS_ZH = "零一二三四五六七八九"
_UNITS_ZH = ("", "十", "百", "千")
_CHINESE_FORMATS = frozenset(
    {"chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand"}
    | {"ideographDigital", "japaneseCounting", "chineseLegalSimplified"}
)
_ROMAN_STEPS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


class _Level(NamedTuple):
    number_format: str
    text: str
    start: int


class Numbering:
    """Counts numbered paragraphs in document order and tells the label of each."""

    def __init__(self, root: ElementTree.Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._abstract_of: dict[str, str] = {}
        self._counters: dict[str, dict[int, int]] = {}
        for node in root if root is not None else ():
            if local(node) == "abstractNum":
                levels = dict(_level(child) for child in node if local(child) == "lvl")
                self._levels[attribute(node, "abstractNumId")] = levels
            elif local(node) == "num":
                targets = (attribute(child, "val") for child in node if local(child) == "abstractNumId")
                self._abstract_of[attribute(node, "numId")] = next(targets, "")

    def label(self, number_id: str, depth: int) -> str | None:
        """The label of the next paragraph of this list, "-" for a bullet, None if it is in no list."""
        abstract = self._abstract_of.get(number_id, "")
        levels = self._levels.get(abstract, {})
        level = levels.get(depth)
        if level is None:
            return None
        counters = self._counters.setdefault(abstract, {})
        counters[depth] = counters.get(depth, level.start - 1) + 1
        for deeper in [other for other in counters if other > depth]:
            del counters[deeper]
        if level.number_format == "bullet":
            return "-"
        if level.number_format == "none":
            return ""

        def shown(match: re.Match[str]) -> str:
            return _shown(int(match.group(1)) - 1, levels, counters)

        return _PLACEHOLDER.sub(shown, level.text).strip()


def _shown(depth: int, levels: dict[int, _Level], counters: dict[int, int]) -> str:
    level = levels.get(depth)
    if level is None:
        return ""
    return spell(counters.get(depth, level.start), level.number_format)


def _level(node: ElementTree.Element) -> tuple[int, _Level]:
    fields = {local(child): attribute(child, "val") for child in node}
    start = fields.get("start", "1")
    first = int(start) if start.isdigit() else 1
    level = _Level(fields.get("numFmt", "decimal"), fields.get("lvlText", ""), first)
    return int(attribute(node, "ilvl", "0")), level


def spell(number: int, number_format: str) -> str:
    """A number in one of the formats that word processors know; digits for the others."""
    if number_format in _CHINESE_FORMATS and 0 < number < 10_000:
        return _spell_chinese(number)
    if number_format in ("lowerLetter", "upperLetter") and number > 0:
        letter = "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * ((number - 1) // 26 + 1)
        return letter if number_format == "lowerLetter" else letter.upper()
    if number_format in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        word = ""
        for value, symbol in _ROMAN_STEPS:
            word += symbol * (number // value)
            number %= value
        return word if number_format == "lowerRoman" else word.upper()
    if number_format == "decimalEnclosedCircle" and 0 < number <= 20:
        return chr(0x2460 + number - 1)
    return f"{number:02d}" if number_format == "decimalZero" else str(number)


def _spell_chinese(number: int) -> str:
    word = ""
    for place, digit in zip(range(len(str(number)) - 1, -1, -1), map(int, str(number)), strict=True):
        if digit:
            word += _DIGITS_ZH[digit] + _UNITS_ZH[place]
        elif word and not word.endswith("零"):
            word += "零"
    word = word.rstrip("零")
    return word[1:] if word.startswith("一十") else word
