"""Arabic and Chinese numerals, as clauses, chapters and dates are numbered."""

from __future__ import annotations

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}


def numeral_value(text: str) -> int:
    """The value of an Arabic or Chinese numeral below 10,000: 12, １２, 十二, 二〇, 一百零五.

    Raises:
        ValueError: if a character is no part of a numeral.
    """
    total = digit = 0
    for char in text:
        if char in _UNITS:
            total += max(digit, 1) * _UNITS[char]
            digit = 0
        else:
            value = _DIGITS[char] if char in _DIGITS else int(char)
            # Digits that stand side by side are a decimal number: 二〇 is 20.
            digit = 10 * digit + value
    return total + digit
