"""Words and facts of a text, as the gate for completed chunks compares them.

Folding makes equal what a reader takes for equal (full-width forms, spaces, thousands separators) and keeps apart what
NFKC would merge: ``10²`` is not ``102``, and ``5½`` is not ``51/2``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_CJK = r"\u1100-\u11ff\u3040-\u30ff\u3100-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_LETTER = rf"[^\W{_CJK}]"
_URL_CHAR = r"[^\s<>\"'“”‘’，。；、（）()【】《》]"

# Invisible: control, format, private and unassigned code points, and the few visible-by-category blanks.
_INVISIBLE_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
_INVISIBLE_LETTERS += "\u2028\u2029"

_TOKEN = re.compile(
    rf"https?://{_URL_CHAR}*(?<![.,;:!?])"
    rf"|(?!\d){_LETTER}+(?:[-_/+#@&\\]{_LETTER}+|\.(?=[a-z0-9]){_LETTER}+)*(?:['’](?:t|re|ll|ve|d|m)(?!{_LETTER}))?"
    rf"|['’]s(?!{_LETTER})"
    r"|\d+(?:[.,:/\-]\d+)*"
    r"|°[CF](?![A-Za-z])"
    r"|\S"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")

_MINUS = frozenset("-–−")
_UNIT_SYMBOLS = (
    "kg g mg μg ug ng t lb oz km m cm mm μm nm in ft mi L l mL ml μL s ms μs ns min h Pa kPa MPa GPa hPa bar mbar psi "
    "N kN Nm J kJ MJ W kW MW GW mW kWh MWh Wh V mV kV A mA Ah mAh Hz kHz MHz GHz K mol mmol ppm ppb dB rpm px KB MB GB "
    "TB kB bit bits byte bytes USD EUR GBP RMB CNY Ω kΩ Mg Gy Sv mSv Bq cd lm lx ha"
).split()
_UNIT_WORDS = (
    "days day hours hour minutes minute seconds second years year months month weeks week percent degrees metres "
    "meters litres liters kilograms grams tonnes tons dollars euros miles feet inches"
).split()
_UNITS_ZH = (
    "万元 亿元 元 万吨 吨 千克 公斤 毫克 微克 克 厘米 毫米 微米 公里 千米 平方米 立方米 米 毫升 升 个工作日 工作日 "
    "个月 日 天 小时 分钟 秒 毫秒 年 月 周 度 摄氏度 人 次 个 件 台 倍 页 条 款 项 级 号 兆帕 千帕 帕 伏 安 千瓦 瓦 "
    "赫兹 倍 名 种 层 折 万 亿 成"
).split()
UNIT_SYMBOLS = frozenset(_UNIT_SYMBOLS)
_LATIN_UNIT = "|".join(sorted(map(re.escape, {*_UNIT_SYMBOLS, *_UNIT_WORDS}), key=len, reverse=True))
_ZH_UNIT = "|".join(sorted(set(_UNITS_ZH), key=len, reverse=True))
_UNIT = rf"(?:[%‰‱]|°[CF]?|[$€£¥]|(?:{_LATIN_UNIT})(?:/[a-zA-Zμ]{{1,4}})?(?:\^-?\d)?(?![A-Za-z])|{_ZH_UNIT})"

_NUMERAL = "〇零一二三四五六七八九十百千万亿两"
_NUMBER = re.compile(
    rf"(?P<op>(?:[<>≤≥±≈~$€£¥][^\S\n]?|[+−-])?)(?P<num>\d+(?:[.,:/\-]\d+)*)(?:[^\S\n]?(?P<unit>{_UNIT}))?"
)
_NUMBER_ZH = re.compile(
    rf"第[{_NUMERAL}]{{1,12}}[^\W{_NUMERAL}]?|(?P<num>[{_NUMERAL}]{{1,16}})(?P<unit>{_ZH_UNIT})|[{_NUMERAL}]{{2,16}}"
    r"|百分之(?:[〇零一二三四五六七八九十百点]{1,8})"
)
_IDENTIFIER = re.compile(
    r"(?<![A-Z/])[A-Z][A-Z/]{0,10}[A-Z][^\S\n]?\d+(?:[-.:/]\d+)*|(?<![\d-])\d{2,7}-\d{2}-\d(?![\d-])"
)
_QUOTATION = re.compile(
    r"“[^“”\n]{1,200}”|「[^「」\n]{1,200}」|『[^『』\n]{1,200}』|《[^《》\n]{1,100}》|\"[^\"\n]{1,200}\""
)
_NAME = re.compile(
    r"(?<![A-Za-z])[A-Z][a-z]{1,30}(?:[^\S\n](?:(?:of|de|van|von)[^\S\n])?[A-Z][a-z]{1,30}){1,6}"
    r"|(?<=[a-z,][^\S\n])[A-Z][a-z]{2,30}(?![A-Za-z])"
)
_SURNAMES = (
    "王李张刘陈杨黄赵周吴徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范"
)
_NAME_ZH = re.compile(
    rf"[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}"
    r"|[\u4e00-\u9fff]{2,8}(?:公司|集团|大学|医院|研究院|研究所|委员会|协会|学会|银行|中心|法院|[省市县区局部厅院所])"
)
NEGATION = re.compile(
    r"\b(?:not|no(?!\.\s?\d)|never|none|neither|nor|without|unless|except|excluding|cannot|nothing|nobody|only)\b|n['’]t\b"
    r"|不(?!锈钢|同|仅|但|断|管|论|动产)|未(?!来)|(?:毫|并|且|均|也|都|概)?无(?!论|线|损|机|菌|色|味|缝|纺|水)|非(?!常|金属|标|洲)"
    r"|没有|没|勿|莫|免(?!疫)|禁止|严禁|禁|除外|除(?!尘|湿|臭|锈|菌|法)|以外|之外|外(?=，|,|。|；)|否|仅|只(?=有|能|限|准|可)",
    re.IGNORECASE,
)
MODAL = re.compile(
    r"\b(?:must|shall|should|might|can|could|ought|required|will|would|needs?(?= to\b))\b(?: not\b)?"
    r"|\b(?:may|May(?! \d))\b(?: not\b)?"
    r"|不得|不应|不可|不宜|不能|不准|必须|(?<![服任义業业商事税债职公劳政])务必|应当|应该|(?<![反供相适效对响感回])应(?![急用力变答聘])"
    r"|可以|(?<![许认])可(?![燃靠能见溶变视持])|(?<!所)必?须(?!根)|(?<![适便])宜(?!居)|能够|需要?(?!求)|禁止|严禁|准许|允许"
)


class Lexed(NamedTuple):
    """A folded text and its tokens: compared by ``keys``, placed by ``starts`` and ``ends``."""

    text: str
    keys: list[str]
    starts: list[int]
    ends: list[int]

    def words(self, start: int, end: int) -> str:
        """The folded text of the tokens ``[start, end)``."""
        return self.text[self.starts[start] : self.ends[end - 1]] if start < end else ""

    def breaks_before(self, at: int) -> bool:
        """Whether a line begins at token ``at``; the text's own beginning and end count."""
        if at <= 0 or at >= len(self.keys):
            return True
        return "\n" in self.text[self.ends[at - 1] : self.starts[at]]


class Fact(NamedTuple):
    """Something of a text that must not change: ``[start, end)`` are tokens.

    ``loose`` facts only name what a loss is about, for their limits are guesses.
    """

    kind: str
    key: str
    start: int
    end: int
    loose: bool = False


def _folds() -> dict[int, str]:
    table: dict[int, str] = {}
    for begin, end, mark in ((0x2070, 0x2080, "^"), (0x2080, 0x209D, "_"), (0x1D2C, 0x1D6B, "^"), (0x2B0, 0x2B9, "^")):
        table.update({code: mark + unicodedata.normalize("NFKC", chr(code)) for code in range(begin, end)})
    table.update({ord(char): "^" + unicodedata.normalize("NFKC", char) for char in "²³¹ªº"})
    for char in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅟↉":
        table[ord(char)] = " " + unicodedata.normalize("NFKC", char)
    for code in (*range(0x2460, 0x2474), *range(0x24B6, 0x24FF), *range(0x2776, 0x2794), *range(0x3251, 0x3260)):
        table[code] = f"({unicodedata.normalize('NFKC', chr(code))})"
    for code in range(0x3371, 0x33E0):
        table[code] = re.sub(r"([a-zμ])([23])", r"\1^\2", unicodedata.normalize("NFKC", chr(code)))
    return table


_FOLDS = _folds()
_RARE = re.compile(r"[^\t\n\r -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u3000-\u303f\u4e00-\u9fff\uff01-\uff5e]")


def is_invisible(char: str) -> bool:
    """Whether a reader cannot see the character; spaces and line ends are not meant."""
    return char not in "\t\n\r\x0b\x0c\x85" and (
        unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Cn") or char in _INVISIBLE_LETTERS
    )


def invisible_characters(text: str) -> Iterator[str]:
    """Every character of the text that a reader cannot see."""
    return (char for char in _RARE.findall(text) if is_invisible(char))


def fold(text: str) -> str:
    """The text with what looks alike made equal, and without invisible characters."""
    text = _RARE.sub(lambda match: "" if is_invisible(match.group()) and match.group() not in "\u2028\u2029"
                     else match.group(), text)  # fmt: skip
    text = text.replace("\u2028", "\n").replace("\u2029", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFKC", text.translate(_FOLDS))


def _key(token: str) -> str:
    if token[0].isdigit():
        return token.replace(",", "") if _THOUSANDS.match(token) else token
    token = token.replace("’", "'")
    lowered = token.lower()
    # A capital that opens a sentence is nothing; one that makes mega of milli is.
    if len(token) > 1 and token[1:] == lowered[1:] and token not in UNIT_SYMBOLS and lowered not in UNIT_SYMBOLS:
        return lowered
    return token


def lex(text: str) -> Lexed:
    """Fold a text and cut it into tokens: Latin words, numbers, single Chinese characters, single marks."""
    folded = fold(text)
    keys, starts, ends = [], [], []
    for match in _TOKEN.finditer(folded):
        key = _key(match.group())
        if key in _MINUS and folded[match.end() : match.end() + 1].isdigit():
            key += "#"  # no bullet or dash: without white space after it, it is a part of the number
        keys.append(key)
        starts.append(match.start())
        ends.append(match.end())
    return Lexed(folded, keys, starts, ends)


def _tokens_of(lexed: Lexed, begin: int, end: int) -> tuple[int, int]:
    return bisect_right(lexed.ends, begin), bisect_left(lexed.starts, end)


def _is_identifier(token: str) -> bool:
    return len(token) > 1 and not token[0].isdigit() and token[0].isalnum() and (
        any(char.isdigit() or char in "_@" for char in token)
        or "://" in token
        or any(char.isupper() for char in token[1:])
        or re.search(r"\.[a-z]{2,5}\Z", token) is not None
    )  # fmt: skip


def _number(lexed: Lexed, match: re.Match[str], key: str, *, loose: bool = False) -> Iterator[Fact]:
    yield Fact("number", key, *_tokens_of(lexed, match.start(), match.end()), loose)
    if match["unit"]:
        yield Fact("unit", key, *_tokens_of(lexed, *match.span("unit")), loose)


def _numbers(lexed: Lexed) -> Iterator[Fact]:
    starts = set(lexed.starts)
    for match in _NUMBER.finditer(lexed.text):
        if match.start("num") not in starts:
            continue  # a part of an identifier
        unit = match["unit"] or ""
        value = match["num"].replace(",", "") if _THOUSANDS.match(match["num"]) else match["num"]
        yield from _number(lexed, match, f"{match['op'].strip()}{value} {unit}".strip())
    for match in _NUMBER_ZH.finditer(lexed.text):
        yield from _number(lexed, match, match.group(), loose=match.group()[0] in "第千万亿百")


def facts(lexed: Lexed) -> list[Fact]:
    """Numbers with their units, identifiers, names, quotations, negations and modal verbs, in no order."""
    found = list(_numbers(lexed))
    found.extend(
        Fact("identifier", token, at, at + 1)
        for at, (start, end) in enumerate(zip(lexed.starts, lexed.ends, strict=True))
        if _is_identifier(token := lexed.text[start:end])
    )
    for kind, pattern, loose in (
        ("identifier", _IDENTIFIER, False),
        ("quotation", _QUOTATION, False),
        ("name", _NAME, False),
        ("name", _NAME_ZH, True),
        ("negation", NEGATION, False),
        ("modal", MODAL, False),
    ):
        for match in pattern.finditer(lexed.text):
            start, end = _tokens_of(lexed, match.start(), match.end())
            found.append(Fact(kind, match.group(), start, end, loose))
    return found
