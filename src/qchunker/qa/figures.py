"""Numbers of a text with their units, however they are written: 1,000, twelve, 三个月, 24-month."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qchunker.debate.verify_words import Lexed, facts, fold, lex
from qchunker.numerals import numeral_value

_WORDS = {word: str(value) for value, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
      "hundred": "100", "thousand": "1000", "twice": "2", "double": "2"}  # fmt: skip
_WORD = re.compile(rf"(?<![A-Za-z-])(?:{'|'.join(_WORDS)})(?![A-Za-z])(?:[- ]([a-z]+))?", re.IGNORECASE)
_NUMBER = re.compile(r"(?P<op>[<>≤≥±≈~$€£¥+−–-]?)\s?(?P<value>\d[\d.,:/\-]*)\s?(?P<unit>\D.*)?\Z", re.DOTALL)
_HAN = re.compile(r"(?P<value>[〇零一二三四五六七八九十百千两]+)(?P<unit>\D*)\Z")
_PERCENT = re.compile(r"百分之([〇零一二三四五六七八九十百两]+)")
_PARTS = re.compile(r"[-/:]")
_BEHIND = re.compile(r"[\s-]{0,2}([A-Za-z°%μ]+|[\u4e00-\u9fff]{1,3})")
# What is no number of its own: one of them, the first.
_VAGUE = frozenset({"1", "0"})


class Figure(NamedTuple):
    """A number and what it counts; no unit where none is known."""

    value: str
    unit: str = ""


class Figures:
    """The numbers that some text states, for looking up those of another.

    Args:
        text: of the document.
    """

    def __init__(self, text: str) -> None:
        self._units: dict[str, set[str]] = {}
        self._folded = fold(text).casefold()
        for figure, behind in _found(text):
            for value in {figure.value, *_PARTS.split(figure.value.lstrip("-"))}:
                self._units.setdefault(value, set()).update((figure.unit, behind))

    def problem(self, figure: Figure) -> str | None:
        """``number`` where the text has no such number, ``unit`` where it counts something else there."""
        parts = [figure.value] if figure.value in self._units else _PARTS.split(figure.value)
        if any(part not in self._units for part in parts):
            return "number"
        if figure.unit and not any(self._counts(part, figure.unit) for part in parts):
            return "unit"
        return None

    def _counts(self, value: str, unit: str) -> bool:
        """Whether a number stands with a unit, or with none while the text has that unit elsewhere, as tables do."""
        known = self._units[value]
        return unit in known or any(one.startswith(unit) or (one and unit.startswith(one)) for one in known) or (
            "" in known and unit in self._folded
        )  # fmt: skip


def figures(text: str) -> list[Figure]:
    """The numbers of a text, but for ones and zeros in words."""
    return [figure for figure, _ in _found(text)]


def _found(text: str) -> Iterator[tuple[Figure, str]]:
    """Each number with its unit, and the word behind it where no unit is known."""
    lexed = lex(text)
    for fact in facts(lexed):
        if fact.kind == "number":
            yield from _figure(lexed, fact.key, lexed.ends[fact.end - 1] if fact.end else 0)
    for match in _WORD.finditer(lexed.text):
        value = _WORDS[match[0].split("-")[0].split(" ")[0].lower()]
        if value not in _VAGUE:
            yield Figure(value), _unit(match[1] or "")


def _figure(lexed: Lexed, key: str, end: int) -> Iterator[tuple[Figure, str]]:
    percent, number, han = _PERCENT.match(key), _NUMBER.match(key), _HAN.match(key)
    if percent:
        yield Figure(_plain(str(numeral_value(percent[1]))), "%"), ""
    elif number:
        unit = _unit(number["unit"] or "")
        behind = _BEHIND.match(lexed.text, end) if not unit else None
        sign = "-" if number["op"] in ("-", "−", "–") and number["op"] else ""
        yield Figure(sign + _plain(number["value"]), unit), _unit(behind[1]) if behind else ""
    elif han:
        value = str(numeral_value(han["value"]))
        if value not in _VAGUE:
            yield Figure(value, _unit(han["unit"])), ""


def _plain(value: str) -> str:
    value = value.rstrip(".,:/-")
    return value.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", value) else value


def _unit(unit: str) -> str:
    unit = unit.strip().casefold()
    return unit.rstrip("s") if len(unit) > 3 and unit.isascii() else unit.removeprefix("个") or unit
