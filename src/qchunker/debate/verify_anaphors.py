"""Pronouns and other words that point back, as the gate for completed chunks knows them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_EN = re.compile(
    r"(?:it|its|they|them|their|he|she|his|her|him|this|these"
    r"|(?:this|that|these|those|such|the|said|the (?:above|former|latter|said))"
    r"(?: (?:device|system|product|substance|unit|section|machine|equipment|item|case|process|material|rule|company"
    r"|party|former|latter|above|method|section|article|clause|document|standard|term|component|tool|model|module)s?)"
    r"|'s)",
    re.IGNORECASE,
)
_ZH = re.compile(
    r"(?:它们?|他们?|她们?|其|此|该|本|这|那|这些|那些|这种|该等|此类|此等|上述|前述|所述|以上)"
    r"(?:些|种|类|项|个|款|条|品|产品|物质|物|设备|系统|装置|公司|单位|标准|办法|规定|方法|机构|部门|人员|材料|期限|情况|情形|者)?的?"
    r"|[前上本](?:款|条|项|节|文|段|章)(?:的?规定)?"
)
_NOT_BEFORE_THESE = frozenset("他中余它实次外后际身质来时刻能科样么个些里儿")
_NOT_BEHIND_THESE = frozenset("应因如彼从基成样根版资日课原尤极与及由为对")
_MOST_TOKENS = 4


def points_back(text: str, before: str, behind: str) -> bool:
    """Whether a text is nothing but words that point elsewhere.

    Args:
        text: the words.
        before: the character in front of them, which tells 其 from 尤其.
        behind: the one behind them.
    """
    if _EN.fullmatch(" ".join(text.split()).replace("’", "'")):
        return True
    whole = len(text) > 1 or (before not in _NOT_BEHIND_THESE and behind not in _NOT_BEFORE_THESE)
    return bool(_ZH.fullmatch(text)) and (whole or not before + behind)


def ends_pointing_back(words: Sequence[str]) -> bool:
    """Whether the last few tokens point elsewhere."""
    ends = [words[-n:] for n in range(1, _MOST_TOKENS + 1)]
    return any(_EN.fullmatch(" ".join(end)) or _ZH.fullmatch("".join(end)) for end in ends)
