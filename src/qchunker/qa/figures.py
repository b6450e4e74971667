"""Numbers of a text with their units, however they are written: 1,000, twelve, 三个月, 24-month."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from qchunker.debate.verify_words import Lexed, facts, fold, lex
from qchunker.numerals import numeral_value
from qchunker.qa.words import content_words

_WORDS = {word: str(value) for value, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
      "hundred": "100", "thousand": "1000", "twice": "2", "double": "2"}  # fmt: skip
_WORD = re.compile(rf"(?<![A-Za-z-])({'|'.join(_WORDS)})(?![A-Za-z])", re.IGNORECASE)
_NUMBER = re.compile(r"(?P<op>[<>≤≥±≈~$€£¥+−–-]?)\s?(?P<value>\d[\d.,:/\-]*)\s?(?P<unit>\D.*)?\Z", re.DOTALL)
_HAN = re.compile(r"(?P<value>[〇零一二三四五六七八九十百千两]+)(?P<unit>\D*)\Z")
_PERCENT = re.compile(r"百分之([〇零一二三四五六七八九十百两]+)")
_PARTS = re.compile(r"[-/:]")
_BEHIND = re.compile(r"[^\S\n]?-?([A-Za-z°%μ]+(?:[ -][A-Za-z]+){0,2}|[^\S\n]?[\u4e00-\u9fff]{1,2})")
_BLANK = re.compile(r"[ -]")
_MINUS = ("-", "−", "–")
_UNIT_WORDS = frozenset(
    "day hour minute second year month week percent degree metre meter litre liter kilogram gram tonne ton dollar euro "
    "mile feet inche inch".split()
)
# What is no number of its own: one of them, the first.
_VAGUE = frozenset({"1", "0"})


class Figure(NamedTuple):
    """A number and what it counts.

    Args:
        value: in digits.
        unit: where one is known.
        behind: the words behind it, where no unit is known.
    """

    value: str
    unit: str = ""
    behind: tuple[str, ...] = ()


class Figures:
    """The numbers that some text states, for looking up those of another.

    Args:
        text: of the document.
    """

    def __init__(self, text: str) -> None:
        self._counted: dict[str, set[str]] = {}
        self._folded = fold(text).casefold()
        for figure in figures(text):
            labels = (figure.unit,) if figure.unit else figure.behind or ("",)
            for value in {figure.value, *_PARTS.split(figure.value.lstrip("-"))}:
                self._counted.setdefault(value, set()).update(labels)

    def problem(self, figure: Figure) -> str | None:
        """Why a number cannot be from the text; None if it can.

        ``number`` where it is not there, ``unit`` where it has another unit, ``count`` where it stands before other
        words.
        """
        parts = [figure.value] if figure.value in self._counted else _PARTS.split(figure.value)
        if any(part not in self._counted for part in parts):
            return "number"
        if figure.unit:
            return None if any(self._has(part, figure.unit) for part in parts) else "unit"
        said = [word for word in figure.behind[:1] if content_words(word)]
        return None if not said or any(self._has(part, said[0]) for part in parts) else "count"

    def _has(self, value: str, label: str) -> bool:
        """Whether a number stands with a unit or word, or with none while the text has that elsewhere, as tables do."""
        known = self._counted[value]
        if any(one and (one.startswith(label) or label.startswith(one)) for one in known):
            return True
        if not label.isascii() and any(one[:1] == label[:1] for one in known):
            return True
        return "" in known and label in self._folded


def figures(text: str) -> list[Figure]:
    """The numbers of a text, but for ones and zeros in words."""
    lexed = lex(text)
    found = [
        figure for fact in facts(lexed) if fact.kind == "number"
        for figure in _figure(lexed, fact.key, lexed.ends[fact.end - 1] if fact.end else 0)
    ]  # fmt: skip
    for match in _WORD.finditer(lexed.text):
        value = _WORDS[match[1].lower()]
        if value not in _VAGUE:
            behind = _behind(lexed.text, match.end())
            is_unit = bool(behind) and behind[0] in _UNIT_WORDS
            found.append(Figure(value, behind[0]) if is_unit else Figure(value, "", behind))
    return found


def _figure(lexed: Lexed, key: str, end: int) -> Iterator[Figure]:
    percent, number, han = _PERCENT.match(key), _NUMBER.match(key), _HAN.match(key)
    if percent:
        yield Figure(str(numeral_value(percent[1])), "%")
    elif number:
        unit = _unit(number["unit"] or "")
        sign = "-" if number["op"] in _MINUS else ""
        yield Figure(sign + _plain(number["value"]), unit, () if unit else _behind(lexed.text, end))
    elif han:
        value, unit = str(numeral_value(han["value"])), _unit(han["unit"])
        if value not in _VAGUE:
            yield Figure(value, unit, () if unit else _behind(lexed.text, end))


def _behind(text: str, end: int) -> tuple[str, ...]:
    """The words behind a number: a few of English, the first characters of Chinese."""
    match = _BEHIND.match(text, end)
    return tuple(_unit(word) for word in _BLANK.split(match[1].strip()) if word) if match else ()


def _plain(value: str) -> str:
    value = value.rstrip(".,:/-")
    return value.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", value) else value


def _unit(unit: str) -> str:
    unit = unit.strip().casefold()
    return unit.rstrip("s") if len(unit) > 3 and unit.isascii() else unit.removeprefix("个") or unit
