"""Headings in text that has no markup: numbered forms of both languages, and the look of a line.

A numbered form is taken for a heading only when the words after the number read like a title.
Cross-references, quantities, dates, list items, dialogue, table rows and code are not headings.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_HEADING_CHARS = 70
MAX_HEADING_WORDS = 9
# A short line of Chinese holds as much as nine English words.
MAX_HEADING_CJK = 30
# A path element longer than this would crowd out the body it stands above.
MAX_TITLE_CHARS = 120


class Numbering(NamedTuple):
    """A line that starts like a numbered heading or clause.

    ``rank`` orders the forms from outer (small) to inner. ``weak`` forms (a bare ``3`` or ``3.``)
    are list markers as often as headings. ``body`` is the offset in the line where the title starts. ``parts`` are
    the components of a decimal number, which name the headings above it.
    """

    form: str
    rank: int
    number: str
    body: int
    weak: bool = False
    parts: tuple[str, ...] = ()


_CN = "一二三四五六七八九十百千零〇两"
_NUM = rf"[0-9０-９{_CN}]+"
_SP = r"[ \t\u00a0\u3000]"
_RANKS = {
    "part": 10,
    "chapter": 20,
    "appendix": 20,
    "section": 30,
    "article": 40,
    "cn_enum": 50,
    "cn_paren": 60,
    "decimal": 70,
    "letter": 70,
}
CHAPTER_RANK = _RANKS["chapter"]
UNNUMBERED_RANK = 90

_NUMBERED = re.compile(
    rf"""{_SP}*(?:
      (?P<cn_word>第{_SP}*{_NUM}{_SP}*(?P<cn_unit>编|編|篇|部分|卷|章|节|節|条|條)(?:之{_NUM})?)
    | (?P<cn_enum>[{_CN}]{{1,3}}[、．])
    | (?P<cn_paren>[（(][{_CN}]{{1,3}}[)）])
    | (?P<cn_appendix>(?:附录|附錄|附件|附表){_SP}*(?:[A-ZＡ-Ｚ](?![a-z])(?:[.．][0-9]+)*|{_NUM})?)
    | (?P<word>(?:Chapter|CHAPTER|Section|SECTION|Article|ARTICLE|Part|PART|Appendix|APPENDIX|Annex|ANNEX|
        Schedule|SCHEDULE|Clause|CLAUSE){_SP}+(?P<word_number>[0-9]+(?:\.[0-9]+)*[A-Za-z]?|[IVXLC]+|[A-Z])(?![\w]))
    | (?P<sign>§§?{_SP}*[0-9]+[a-z]?(?:\.[0-9]+)*(?!\w))
    | (?P<letter>[A-ZＡ-Ｚ](?:[.．][0-9０-９]+)+[.．]?(?![\w]))
    | (?P<decimal>[0-9０-９]{{1,3}}(?:[.．][0-9０-９]{{1,3}})+[.．]?(?![0-9０-９]))
    | (?P<single>[0-9０-９]{{1,2}}(?:[.．、](?![0-9０-９])|(?={_SP})))
    )""",
    re.VERBOSE,
)
_SEPARATOR = re.compile(rf"(?:{_SP}|[:：\-—–.．])*")
_TERMINAL = tuple("。．.!?！？;；，,、…")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_TITLE_START = re.compile(r"[^\W\d_a-z]|[(（\"“「《\[]|[0-9]")
_TITLE_CASE = re.compile(
    r"[A-Z][\w'’-]*(?:,? (?:[A-Z][\w'’-]*|an?|and|as|at|by|for|from|in|not|of|on|or|the|to|under|with))*\."
)
_READS_ON = re.compile(r"\([^)]*\)\s*[,;.a-z]")
_UNIT = re.compile(
    r"(?:%|％|‰|°|℃|℉|Ω|µ|μ|(?:[kMGTmn]?(?:Pa|Hz|W|V|A|N|J|Wh|VA|bps|B|eV)|bar|psi|rpm|[KLCF]|kg|mg|mm|cm|km|ml|mL|ppm|"
    r"USD|EUR|RMB|CNY|HKD|GB|MB|TB|KB)(?![A-Za-z])|"
    r"吨|公斤|千克|毫克|毫米|厘米|公里|千米|平方|立方|毫升|万|亿|千瓦|兆帕|伏特|小时|分钟|百分|摄氏|倍|美元|欧元|"
    r"[年月日号天元米克升秒度个名人次台件套页版条岁点](?=$|[，。；、,.;]|以[上下内]|左右|[至到]))"
)
_ADJACENT_UNIT = re.compile(r"[年月日号天元米克升秒度个名人次台件套页版条岁点伏安瓦](?=$|[的内外后前每/以之0-9])")
# What follows a number when a sentence talks about the numbered thing instead of being titled by it:
# always, and only when no white space sets the words apart.
_REFERENCE = re.compile(
    r"规定|規定|所[述列指定]|中(?!国|国|心|间|央|文|华|期|小)|的|和|与|與|或|及|给出|给定|列出|描述|说明了|"
    r"不?适用(?!范围|对象|条件|性)|约定的|是|为(?!了)|之[一二三四五六七八九十]"
)
_TOUCHING_REFERENCE = re.compile(
    r"、|，|至|到|项|款|第[0-9一二三四五六七八九十]+[项款条]|明确|要求(?=[^，。]{3})|約定|约定|以外|除外|执行(?=$|[，。])|应(?!急|用|力|变|收|付|对)|應|已|以[上下前后]|内的|里"
)
_FINITE = re.compile(
    r"\b(?:shall|must|may|will|is|are|was|were|does|do|has|have|can|should|applies|apply|covers|describes|contains|"
    r"explains|gives|lists|shows)\b"
)
_QUESTION = re.compile(r"(?:What|How|Why|When|Where|Who|Which)\b")
_TABLE_ROW = re.compile(r"[|\t]|\S {3,}\S")
_LEADER = re.compile(r"(?:\.{2,}|…+|·{3,}|(?:\. ){3,})[\s.]*[0-9ivxlc]+\s*$|(?:\.{4,}|…{2,})")
_CODE = re.compile(r"[{}\[\];=<>$`\\|]|\w\(\)|->|::|://|\w@\w|^\s*[#@]|^\s*//")
_DATE = re.compile(
    r"^\W*(?:[0-9]{2,4}\s*[-/.年]\s*[0-9]{1,2}\s*(?:[-/.月]\s*[0-9]{1,2}\s*日?)?|[0-9]{1,2}\s*月\s*[0-9]{1,2}\s*日|"
    r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thurs?|Fri|Sat(?:ur)?|Sun)(?:day)?,?\s+)?"
    r"(?:[0-9]{1,2}(?:st|nd|rd|th)?\s+)?(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?\s+[0-9]{1,4}(?:,\s*[0-9]{4})?)"
    r"[\s0-9:.,日上下午APMapm]*$"
)
_QUANTITY = re.compile(r"^\W*[0-9][0-9.,\s]*[^\s\u3400-\u9fff]{0,4}$")
_CAPTION = re.compile(r"\s*(?:Table|Tab\.|Figure|Fig\.|Example|表|图|附表)\s*[0-9０-９A-Z一二三四五六七八九十]")
_IDENTIFIER = re.compile(r"\w+(?:[-_/.]\w+)+")
_LEAD_IN = re.compile(
    r"(?:For (?:example|instance)|Thus|Hence|However|Therefore|Otherwise|Then|Note that|That is|In particular|"
    r"And|Or|But|So|例如|比如|因此|其中|如下|注意)\b"
)
_CALL = re.compile(r"\w\([^)]*\)|\w_\w|%\w+%")
_NUMBER = re.compile(r"(?:^|\s)[-+]?[0-9][0-9.,:/]*(?=\s|$)")
_KEY_VALUE = re.compile(r"：|©|:\s+[a-z0-9]|:[^,]*,")
_DIALOGUE = re.compile(
    r"^\s*[\"“”「『‘'—–-]|[：:]\s*[\"“「『]|[：:]\s*[(（][^()（）]*[)）]\s*$|[—–]\s*$|^\s*[(（][^()（）]*[)）]\s*$|"
    r"(?:\b(?:said|says|asked|replied|answered)|[说说道问问答])\s*[：:]\s*$"
)
_LIST_ITEM = re.compile(
    rf"{_SP}*(?:[-*+•·‣●○■□▪–]{_SP}|[（(]?[0-9０-９]{{1,3}}[)）]|[（(]?[a-zA-Z][)）]{_SP}|[①-⑳]|[ivx]+[.)]{_SP}|[a-z]\.{_SP})"
)


def numbering(line: str) -> Numbering | None:
    """How a line is numbered, or None. Says nothing about whether it is a title."""
    match = _NUMBERED.match(line)
    if match is None:
        return None
    form, rank, weak = _form_of(match)
    body = _SEPARATOR.match(line, match.end())
    end = body.end() if body is not None else match.end()
    number = match.group().strip()
    parts = tuple(re.findall(r"[A-Z]|[0-9]+", ascii_digits(number))) if form in ("decimal", "letter") else ()
    return Numbering(form, rank, number, end, weak, parts)


def _form_of(match: re.Match[str]) -> tuple[str, int, bool]:
    kind = str(match.lastgroup)
    if match["cn_word"]:
        unit = match["cn_unit"]
        kind = {"章": "chapter", "节": "section", "節": "section", "条": "article", "條": "article"}.get(unit, "part")
    elif match["cn_appendix"]:
        kind = "appendix"
    elif match["word"]:
        word = match["word"].split()[0].lower()
        kind = {"annex": "appendix", "schedule": "appendix", "clause": "article"}.get(word, word)
        if "." in match["word_number"]:
            return kind, 45 + match["word_number"].count("."), False
    elif match["sign"]:
        kind = "article"
    elif match["single"]:
        return "decimal", _RANKS["decimal"], True
    elif match["letter"] or match["decimal"]:
        dots = len(re.findall(r"[.．](?=\d)", match.group()))
        return kind, _RANKS[kind] + dots, False
    return kind, _RANKS[kind], False


def numbered_title(line: str, found: Numbering) -> bool:
    """Whether a line that starts with ``found`` is a heading and not a sentence, quantity or reference."""
    text = line.strip()
    if len(text) > MAX_HEADING_CHARS or _LEADER.search(text):
        return False
    title = line[found.body :].strip()
    touching = line[: found.body].rstrip() == line[: found.body]
    if not title:
        return found.form not in {"decimal", "letter", "cn_enum", "cn_paren"}
    if found.form == "decimal" and _TITLE_CASE.fullmatch(title):
        title = title[:-1]  # 1. Source Code.
    if _sentence_like(title) or _CODE.search(title) or _TABLE_ROW.search(title):
        return False
    if found.form in {"decimal", "letter"}:
        return _decimal_title(title, found, touching)
    if found.form == "cn_enum" and title[0] in _CN and not title[1:2].isspace():
        return False
    if found.form in {"chapter", "section", "article", "part", "appendix"}:
        return _word_title(title, found, touching)
    return bool(_LETTER.search(title))


def _decimal_title(title: str, found: Numbering, touching: bool) -> bool:
    parts = [int(part) for part in re.findall(r"[0-9]+", ascii_digits(found.number))]
    if len(parts) == 4 and max(parts) > 99:  # an IP address
        return False
    if found.form == "decimal" and (_UNIT.match(title) or (touching and _ADJACENT_UNIT.match(title))):
        return False
    if touching and not found.weak and not _CJK.match(title):
        return False
    if _DATE.match(f"{found.number} {title}"):
        return False
    return _TITLE_START.match(title) is not None and _LETTER.search(title) is not None


def _word_title(title: str, found: Numbering, touching: bool) -> bool:
    if found.number.startswith(("第", "附")):
        return not _REFERENCE.match(title) and not (touching and _TOUCHING_REFERENCE.match(title))
    return _TITLE_START.match(title) is not None and _READS_ON.match(title) is None


def _sentence_like(title: str) -> bool:
    if title.endswith(_TERMINAL) and not re.search(r"\b(?:etc|Inc|Ltd|Co|No)\.$", title):
        return True
    if _CJK.search(title):
        return bool(re.search(r"[。；！？]", title)) or ("，" in title and len(title) > 20)
    words = title.split()
    return len(words) > 6 and _FINITE.search(title) is not None and not _QUESTION.match(title)


def wrapped_title(first: str, second: str, found: Numbering) -> bool:
    """Whether a numbered title goes on over a second line (the block has no third)."""
    joined = join_lines(first, second)
    title = joined[found.body :]
    if found.weak or len(joined) > 2 * MAX_HEADING_CHARS or numbering(second) is not None:
        return False
    # The style of codes: subject, dash, topic and a closing stop, without a verb.
    if re.search(r"\w[—–]\w", title):
        return _FINITE.search(title) is None and "." not in title[:-1]
    if _sentence_like(title) or _CODE.search(title) or _TABLE_ROW.search(title):
        return False
    # Only a line that is full runs over: a short one was ended on purpose.
    return len(first) > 45 and second[:1].islower() and _TITLE_START.match(title) is not None


def unnumbered_title(line: str) -> bool:
    """Whether a line that stands alone looks like a heading: short, not a sentence, nothing else by its form."""
    text = line.strip()
    if len(text) < 2 or len(text) > MAX_HEADING_CHARS or _LETTER.search(text) is None:
        return False
    core = text.rstrip(":：")
    if core != text and _IDENTIFIER.fullmatch(core):
        return False
    cjk = _CJK.search(text) is not None
    if len(core) > MAX_HEADING_CJK if cjk else len(core.split()) > MAX_HEADING_WORDS:
        return False
    if core.endswith(_TERMINAL) or (cjk and re.search(r"[，。；！？]", core)):
        return False
    if _KEY_VALUE.search(core) or _CAPTION.match(core) or _LEAD_IN.match(core) or _CALL.search(core):
        return False
    if len(_NUMBER.findall(core)) > 0.4 * len(core.split()):
        return False
    if not cjk and (core[0].islower() or (_FINITE.search(core) and not _QUESTION.match(core))):
        return False
    return not any(
        pattern.search(text) for pattern in (_TABLE_ROW, _CODE, _DATE, _DIALOGUE, _LEADER, _QUANTITY)
    ) and not list_item(text)


def list_item(line: str) -> bool:
    """Whether a line opens a list item."""
    return _LIST_ITEM.match(line) is not None


def heading_title(*lines: str) -> str:
    """The text of a heading for the path: white space folded, a line-end hyphen healed, bounded length."""
    title = " ".join(lines[0].split()) if len(lines) == 1 else join_lines(*lines)
    return title if len(title) <= MAX_TITLE_CHARS else title[: MAX_TITLE_CHARS - 1] + "…"


def title_key(title: str) -> str:
    """The words of a title without its number, to compare a heading with its entry in a table of contents."""
    found = numbering(title)
    words = title[found.body :] if found is not None else title
    return "".join(_LETTER.findall(words)).casefold()


def join_lines(first: str, second: str) -> str:
    first, second = " ".join(first.split()), " ".join(second.split())
    if first.endswith("-") and second[:1].islower():
        return first[:-1] + second
    return first + second if _CJK.match(first[-1:]) and _CJK.match(second[:1]) else f"{first} {second}"


_FULL_WIDTH = str.maketrans("０１２３４５６７８９．", "0123456789.")


def ascii_digits(text: str) -> str:
    """Full-width digits and stops as ASCII."""
    return text.translate(_FULL_WIDTH)


def is_reference(title: str) -> bool:
    """Whether the words after a number read on from it, as in a reference, instead of starting anew."""
    return _REFERENCE.match(title) is not None
