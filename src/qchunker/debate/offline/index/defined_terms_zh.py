"""Terms that Chinese text defines: 以下简称, 是指, 称为, 全称（SF）, codes and their parts, amounts, second names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from qchunker.debate.offline.index.defined_terms import DefinedTerm, glossary
from qchunker.debate.offline.index.famous import FAMOUS
from qchunker.types import Span

_MAX_EVIDENCE_CHARS = 90
_SHORT_NAME = re.compile(
    r"[（(](?:以下|下文|下)?(?:统一|統一|均|合)?(?:简称|簡稱|统称|統稱|合称|合稱|称|稱)(?:为|為|"
    r"作)?[：:]?\s*(?:[“\"「‘](?P<q>[^”\"」’\n]{1,24})[”\"」’]|"
    r"(?P<b>《[^》\n]{1,24}》)|(?P<n>[^）)，,“\"《\n]{1,16}))(?:[^（()）\n]{0,20})[）)]"
)
_NAME_BREAK = re.compile(
    r"[，。；：、,;:\s（(“\"|]|利用|使用|采用|通过|借助|基于|根据|按照|佩戴|安装|由|向|针对|对|為|为|于|在|经|被|将|以(?![上下内外及来])|从|就|也|符合|隶属|加入|参加|购买|股东|公司的|是|"
    r"(?:今日|昨日|近日|日前|今天|昨天|目前)[与與和向对]?|开展|召开|举行|推出|签署|印发|宣布|公布|"
    r"\d月\d{1,2}日|\d[\d.,]*\s?[万亿]*[美欧港日]?元|"  # a date, an amount
    # Names of offices have these words in them; between two names they part.
    r"(?<=[司局部委院会校团行厅人])[与與和及]"
)
_AND_OTHERS = re.compile(r"等[\u4e00-\u9fff]{0,3}$")
# At the start of a clause: what stands before is no part of the name.
_AT_CLAUSE = r"(?:^|(?<=[。；;：:，,\n]))[ \t]*(?:[\d.、（()）]{0,6}\s*)?(?:本\S{1,4}所称(?:的)?|所谓的?|所謂的?)?"
_MEANS = re.compile(
    r"[“\"「]([^”\"」\n]{1,24})[”\"」]，?(?:是指|系指|指的是|即指|指(?![出示定挥數数标導导南责望控令引纹向认認派]))|"
    rf"{_AT_CLAUSE}([A-Za-z][\w.+-]{{1,14}}|[\w\u4e00-\u9fff-]{{2,12}}?)\s?(?:是指|系指|指的是|即指)|"
    rf"{_AT_CLAUSE}([A-Za-z][\w.+-]{{1,14}})\s?指(?![出示定挥數数标導导南责望控令引纹向认認派])",
    re.MULTILINE,
)
_QUOTED_IS = re.compile(
    rf"{_AT_CLAUSE}[“\"「]([^”\"」\n]{{2,16}})[”\"」](?:以[^，。；\n]{{1,24}}为准|是|包括|即)(?!.{{0,12}}(?:意思|之意|含义))",
    re.MULTILINE,
)
_BELONGS = re.compile(
    r"(?![^“\"「\n]{0,60}[这這该該此其他她被])[^，。；\n“\"「]{4,60}(?:属于|(?<![自号號])[称稱][为為]|統称|统称|叫做|叫作|视为)[“\"「]([^”\"」\n]{2,16})[”\"」]"
)
_FUNCTION_WORDS = re.compile(
    r"[的是在和与與並并且也这這那其我你他她它所被把会會能而但如若则則或及对對为為从從到就都不没沒有了着著过過]|因此|因为|因為|自己"
)
_LATIN = re.compile(r"[（(]\s*([A-Za-z][\w&/.+-]{0,14}(?: [A-Z][a-z]+)?)\s*[）)]")
# A preposition in front of a short name is no part of it: 从光盘（CD）, but not 到期收益率（YTM）.
_LEADING = re.compile(r"[\d.\s]*(?:从(?![业属犯容众])|到(?![期位岸货付达站]))")
_AND = ("和", "与", "與", "及")
_AMOUNT_BEFORE = re.compile(r"\d[\d.,]*(?:年|月份?|日|[万亿]*[元美港]?元?)")
_LATIN_FULL = re.compile(
    r"(?<![\w-])((?=[\w&-]*[A-Z][\w&-]*[A-Z])[A-Z][A-Za-z&-]{1,9})\s?[（(]"
    r"(?!没有|不|未|参见|见|例如|如|详见|包括|目前|仅)([\u4e00-\u9fff][^（()）\n，。；]{2,20})[）)]"
)
_CODE_PART = re.compile(
    r"(?<![\w-])([A-Za-z]{2,8})\s?(?:(?:部分|字段|参数|列|位|项)?\s?(?:应当是|应该是|应为|是指|表示|代表|指的是)|"
    r"(?:部分|字段|参数|列|位|项)\s?是)(?=[^，。；\n]{2,60})"
)
_RESPECTIVELY = re.compile(
    r"([^，。；（(\s]{0,24}[（(])?其中\s?([A-Za-z]\w{0,8}(?:[、，,和与及 ]{1,3}[A-Za-z]\w{0,8}){1,6})"
    r"\s?分别(?:是|为|表示|代表|指)[^。；）)\n]{2,80}[）)]?"
)
_LATIN_IS = re.compile(
    r"(?:^|(?<=[。\n]))(?![A-Z][a-z]+\b)([A-Za-z][\w.-]{1,20})(?:[（(]\d[）)])?\s?(?:是(?:一|指|用|由)|指)",
    re.MULTILINE,
)
_AMOUNT = re.compile(
    r"([\u4e00-\u9fff]{2,16}?)(?:为|為|是|：|:|保底|合计|共计)?(?:每[\u4e00-\u9fff])?(?:人民币|约|約|共)?"
    r"(\d[\d,，.]*\s?(?:%|％|‰|[万亿]?[元美港欧日]|平方米|万|亿)|"
    r"[一二三四五六七八九十百]{1,5}(?:个[\u4e00-\u9fff]{1,2}|万元|元))"
)
_AMOUNT_NOUN = re.compile(
    r"[\u4e00-\u9fff]{0,12}(?:价款|总价|价格|单价|金额|保证金|押金|租金|费率|利率|面积|限额|定金|违约金|本金|"
    r"总额|月租|保底|期限|费用|免赔额)$"
)
_SECOND_NAME = re.compile(
    r"(?:^|(?<=[，。；\n]))([\u4e00-\u9fff]{2,3}?)(?:作为|作為|登|即|稱|称|繼|继|被|受|在|於|于|"
    r"之)[^，。；\n]{0,12}，是[為为]([\u4e00-\u9fff]{2,5})(?=[，。；])",
    re.MULTILINE,
)
_OF_A_CONTRACT = re.compile("合同|协议|約定|约定|甲方|租赁|条款")
_FEWEST_MENTIONS = 3  # of contracts, in a text about one


def terms(text: str, sentences: Sequence[Span], titles: Sequence[tuple[Span, int]]) -> Iterator[DefinedTerm]:
    """Every definition that a Chinese text makes; names may repeat."""
    starts = [sentence.start for sentence in sentences]

    def sentence_end(at: int) -> int:
        index = bisect_right(starts, at) - 1
        return sentences[index].end if index >= 0 else at

    yield from _short_names(text)
    yield from glossary(text, titles)
    yield from _latin_short_forms(text)
    for match in _MEANS.finditer(text):
        group = match.lastindex or 1
        name = match[group]
        if len(name) > 1 and (group == 1 or not _FUNCTION_WORDS.search(name)):
            start = match.start(group) - (group == 1)
            end = min(sentence_end(match.start(group)), start + _MAX_EVIDENCE_CHARS)
            yield DefinedTerm(name, (Span(start, max(end, match.end())),), "definition")
    for match in _QUOTED_IS.finditer(text):
        start = match.start(1) - 1
        end = min(sentence_end(start), start + _MAX_EVIDENCE_CHARS)
        yield DefinedTerm(match[1], (Span(start, max(end, match.end())),), "definition")
    for match in _BELONGS.finditer(text):
        yield DefinedTerm(match[1], (Span(*match.span()),), "definition")
    yield from _codes(text, sentence_end)
    yield from _amounts(text)
    yield from _second_names(text)


def _short_names(text: str) -> Iterator[DefinedTerm]:
    for match in _SHORT_NAME.finditer(text):
        name = (match["q"] or match["b"] or match["n"] or "").strip()
        start = _full_name_start(text, match.start())
        full = text[start : match.start()]
        if name and full.strip():
            evidence = Span(start, match.end())
            for short in re.split(r"[”\"」]?[、或][“\"「]?", name):
                yield DefinedTerm(short, (evidence,), "abbreviation", full.strip())
                # 中山某某集团 is also called 某某集团.
                if re.search(r"(?:集团|公司|银行|大学|学院)$", short) and len(short) >= 6:
                    yield DefinedTerm(short[2:], (evidence,), "abbreviation", full.strip())


def _full_name_start(text: str, at: int) -> int:
    low = max(0, at - 60)
    if text[at - 1 : at] == "》":
        return max(text.rfind("《", low, at), low)
    window = text[low:at]
    cut = 0
    depth_from = window.rfind("（") if window.endswith("）") else len(window)
    several = _AND_OTHERS.search(window) is not None  # 京津冀、东北等地
    for mark in _NAME_BREAK.finditer(window):
        if several and mark.group() == "、":
            continue
        if mark.end() <= min(depth_from, len(window) - 4):
            cut = mark.end()
    return low + cut


def _latin_short_forms(text: str) -> Iterator[DefinedTerm]:
    for match in _LATIN.finditer(text):
        short = match[1]
        if set(short.split("/")) <= FAMOUS or re.fullmatch(r"[ivxIVX]{2,}|v?\d[\d.]*|[a-z]{4,}", short):
            continue
        start = _full_name_start(text, match.start())
        amount = _AMOUNT_BEFORE.match(text, start, match.start())
        start = amount.end() if amount else start
        leading = _LEADING.match(text, start, match.start())
        start = leading.end() if leading else start
        full = text[start : match.start()].strip(' \n”"」')
        if text[start - 1 : start] in _AND and "-" in short:
            continue  # a body with two names, of which only the second was found
        if len(short) == 1 or short.islower():
            if len(short) == 1 and re.search(r"[\u4e00-\u9fff]$", full):
                end = match.end()
                yield DefinedTerm(short, (Span(start, end),), "symbol", full)
            continue
        if re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?", short):
            continue  # a name in another script, not a short form
        if len(full) >= 2 and re.search(r"[\u4e00-\u9fff]", full):
            yield DefinedTerm(short, (Span(start, match.end()),), "abbreviation", full)
            latin = re.match(r"([A-Z]{2,5})[\u4e00-\u9fff]$", short)
            if latin:
                yield DefinedTerm(latin[1], (Span(start, match.end()),), "abbreviation", full)
    for match in _LATIN_FULL.finditer(text):
        if match[1] not in FAMOUS:
            yield DefinedTerm(match[1], (Span(*match.span()),), "abbreviation", match[2])


def _codes(text: str, end_of: Callable[[int], int]) -> Iterator[DefinedTerm]:
    for match in _CODE_PART.finditer(text):
        if match[1] in FAMOUS or len(match[1]) < 2:
            continue
        end = min(end_of(match.start()), match.start() + _MAX_EVIDENCE_CHARS)
        yield DefinedTerm(match[1], (Span(match.start(), max(end, match.end())),), "definition")
    for match in _RESPECTIVELY.finditer(text):
        start = match.start()
        while (
            start > 0
            and not text[start - 1].isspace()
            and match.start() - start < 40
            and text[start - 1] not in "，。；"
        ):
            start -= 1
        for name in re.findall(r"[A-Za-z]\w{0,8}", match[2]):
            yield DefinedTerm(name, (Span(start, match.end()),), "definition")
    for match in _LATIN_IS.finditer(text):
        if match[1] not in FAMOUS and (match[1].islower() or not match[1].istitle()):
            end = min(end_of(match.start()), match.start() + _MAX_EVIDENCE_CHARS)
            yield DefinedTerm(match[1], (Span(match.start(1), max(end, match.end())),), "definition")


def _amounts(text: str) -> Iterator[DefinedTerm]:
    """Amounts that a contract fixes under a name; a name with two amounts names none of them."""
    if len(_OF_A_CONTRACT.findall(text)) < _FEWEST_MENTIONS:
        return
    stated: dict[str, dict[str, Span]] = defaultdict(dict)
    for match in _AMOUNT.finditer(text):
        noun = _AMOUNT_NOUN.search(match[1])
        if noun is None:
            continue
        name = re.split(r"支付|约定|收取|按照|按|的", noun.group())[-1]
        start = match.end(1) - len(name)
        for cut in range(max(0, len(name) - 3)) if len(name) > 3 else range(len(name) == 3):
            stated[name[cut:]].setdefault(match[2], Span(start, match.end()))
    for name, amounts in stated.items():
        if len(amounts) == 1:
            yield DefinedTerm(name, tuple(amounts.values()), "value")


def _second_names(text: str) -> Iterator[DefinedTerm]:
    for match in _SECOND_NAME.finditer(text):
        evidence = Span(*match.span())
        yield DefinedTerm(match[2], (evidence,), "alias", match[1])
        if len(match[2]) == 3:
            yield DefinedTerm(match[2][1:], (evidence,), "alias", match[1])
