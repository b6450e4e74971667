"""Who and what a document is about: its title, its company or product, the system it describes.

A name counts only where it dominates its document. A collection of pieces about many things has no subject.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.debate.offline.index.defined_terms import DefinedTerm
from qchunker.debate.offline.index.famous import FAMOUS
from qchunker.types import Span

_MAX_MENTIONS = 12
_MIN_MENTIONS = 3
_EARLY_CHARS = 1_200
_PARTS = 10
_PART_CHARS = 2_000
_ONE_PIECE = 5_000  # a text no longer than this has hardly more than one subject
_MOST_PARTS = 0.6  # of the parts of its document a subject is named in
_RIVAL = 0.7  # another name that is named so often beside it leaves open which of the two is meant
_MAX_CANDIDATES = 40
_DOCUMENT_WORDS_EN = frozenset(
    "agreement contract policy warranty limited terms conditions manual guide handbook report notes notice statement "
    "introduction overview abstract background results discussion methods summary annual the a an of and for "
    "to in on with part section chapter appendix its".split()
)
# Service Manual, User Guide: the word in front tells whom or what the manual is for.
_FOR_EN = re.compile(
    r"\b(?:service|users?'?|user's|owners?'?|owner's|operators?'?|operator's|operating|operation|installation|"
    r"maintenance|instructions?|reference|quick[ -]start)\s+(?=(?:manual|guide|handbook)\b)",
    re.IGNORECASE,
)
_ABOUT_A_PRODUCT_EN = frozenset("policy warranty manual guide handbook".split())
_DOCUMENT_TAIL_ZH = re.compile(
    r"(?:[（(][^（）()]{1,12}[）)])?$|(?:保修|退换|质保|使用|用户|服务|管理|隐私|采购|租赁|买卖|商品房|借款)*(?:与|和|及)?"
    r"(?:保修|退换)?(?:政策|合同|协议|办法|条例|规定|细则|说明书|手册|指南|须知|公告|报告|纠纷|条款|通知)"
    r"(?:[（(][^（）()]{1,12}[）)])?$"
)
# What the name of something that is made and sold ends in; 网络运维 is a topic.
_NAMES_A_THING_ZH = re.compile(
    "[A-Za-z0-9]|(?:[器机機泵仪儀表錶阀閥炉爐柜櫃箱车車船床灯燈罐釜壶壺瓶杯锅鍋椅桌门門窗锁鎖管轮輪胎剂劑药藥膜屏板笔筆卡台线線]|系统|系統|设备|設備|装置|裝置|产品|產品|软件|軟件)$"
)
_COMPANY_LOWER = re.compile(
    r"(?<![\w.])((?:[a-z][a-z&]+ ){0,3}[a-z][a-z&]+),? (?:limited|inc|incorporated|corporation|corp|plc|ltd|"
    r"holdings|group|& co)(?!\w)"
)
_ACTOR_LOWER = re.compile(
    r"(?<![\w.-])([a-z][a-z&]{1,14})(?:'s\b|(?= (?:announced|recorded|acquired|issued|established|entered into|"
    r"completed|increased the|had no|repurchased|adopted|expects|operates|sold|owns|paid|and subsidiaries|"
    r"and its subsidiaries)\b))"
)
_GENERIC_LOWER = frozenset(
    "company companies group management board which that it they we he she who this these there year period parties "
    "party borrower lender bank banks government state states country world today customer employee employees "
    "shareholder holder director committee owner police men women children court one subsidiary subsidiaries "
    "registrant issuer plan trust fund partnership corporation firm entity agency department service and or not also "
    "has have year's division the an of its our their that a are is was were be been by but if as in on at to "
    "for from with than when where while were may can will would should could must does did do such more most other "
    "some any all each no nor so only then thus however under over between reserves shares notes stock assets income "
    "revenue sales costs rate rates amount amounts value total net loss losses council commission authority "
    "united new american north south general segment business market lessee lessor tenant investor parent affiliate "
    "nation city security note asset".split()
)
_CALLED_COMPANY = re.compile(r"\b[Tt]he (?:Company|company|Group|Corporation|Registrant)\b")
_LISTED_ZH = re.compile(r"([\u4e00-\u9fffA-Z]{2,8})[（(](?:[A-Z]{2}[.:：]?)?\d{5,6}(?:\.[A-Z]{2})?[)）]")
_ENDINGS = ("ly", "ing", "ed", "tion", "tions", "ment", "ments", "ies")
_MIN_SCORE = 4
_WITH_ARTICLE = re.compile(r"\b(?:the|an?|our|its|their|this|each|any|such|these|of) ([a-z][a-z&]+)\b")
_LOWER_WORD = re.compile(r"[a-z][a-z&]+")
COMPANY_EN = re.compile(
    r"(?<!\w)([A-Z][\w&'.-]{0,24}(?: (?:[A-Z][\w&'.-]{0,24}|&|of)){0,5}),? (?:Inc|Ltd|Limited|Corp|Corporation|"
    r"LLC|LLP|plc|PLC|AB|AG|GmbH|N\.V|S\.A|Co|Company|Group|Holdings)\b\.?"
)
_COMPANY_ZH = re.compile(r"[\u4e00-\u9fff（）()A-Za-z]{4,24}(?:股份)?有限(?:责任)?公司")
_NOT_OF_NAME_ZH = re.compile(r"由|向|与|和(?=[\u4e00-\u9fff]{4})|是|为|，|在|对|的|原告|被告|据|旗下")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )([A-Z][\w-]*[a-zA-Z0-9]{2,})\b")
_LATIN_NAME = re.compile(r"(?<![\w./(-])([A-Z][a-z]+(?:[A-Z][a-z]+)?(?:SQL|OS|Linux)?)(?![\w/.)-])")
_OPENING_CHARS = 400
_IS_KIND = re.compile(
    r" (?:is|was|are|were) (?:an?|the|one of the) ((?:[\w'-]+ ){0,5}?[a-z-]{3,})(?=,| (?:of|in|that|which|"
    r"who|by|from|for|located|native|on|and|with|to|at|built|written|directed|published|released|operated|named|"
    r"held|\()|\.)"
)
_SAME_KIND = tuple(
    tuple(group.split())
    for group in (
        "ship vessel battleship cruiser destroyer ironclad frigate submarine boat carrier", "song single track",
        "album record", "film movie", "book novel", "building structure house", "team club franchise",
        "storm hurricane cyclone typhoon", "road highway route freeway", "city town village",
        "species bird fish ray plant fungus animal", "series show",
    )
)  # fmt: skip


class SubjectName(NamedTuple):
    """Something the document is about.

    Args:
        forms: the words that name it; one of them in a chunk is enough to know it.
        mentions: spans that name it, the best first.
        origin: ``title``, ``product``, ``decree``, ``company`` or ``system``.
        kinds: nouns for what it is, such as ship.
        rivals: names of the same type; a passage that has one may be about that.
    """

    forms: tuple[str, ...]
    mentions: tuple[Span, ...]
    origin: str
    kinds: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()

    def is_named(self, text: str) -> bool:
        """Whether a text has one of the forms."""
        lowered = text.lower()
        return any(form.lower() in lowered for form in self.forms)


def subject_names(
    text: str, title: Span | None, terms: Sequence[DefinedTerm], *, chinese: bool, is_part: bool
) -> list[SubjectName]:
    """What the document is about, the most central first.

    Args:
        text: of the document.
        title: its title.
        terms: what it defines.
        chinese: whether most of it is Chinese.
        is_part: whether the title bears a number, so that it names a part of a book and not its subject.
    """
    found: list[SubjectName] = []
    if title is not None and not is_part:
        found.extend(_title_zh(text, title) if chinese else _title_en(text, title, terms))
    if chinese:
        found.extend(_decree(text, terms))
    found.extend(_company_zh(text, terms) if chinese else _company_en(text, terms))
    if is_part or title is None:
        found.extend(_system(text, chinese=chinese))
    return found


def dominates(text: str, forms: Sequence[str]) -> bool:
    """Whether one of the forms stands in most parts of a text."""
    if len(text) <= _ONE_PIECE:
        return True
    size = max(_PART_CHARS, len(text) // _PARTS + 1)
    lowered = text.lower()
    parts = [lowered[start : start + size] for start in range(0, len(lowered), size)]
    if len(parts) > 1 and len(parts[-1]) < size // 2:
        parts[-2:] = ["".join(parts[-2:])]
    wanted = [form.lower() for form in forms]
    named = sum(any(form in part for form in wanted) for part in parts)
    return named >= _MOST_PARTS * len(parts)


def _mentions(text: str, forms: Sequence[str], first: Sequence[Span] = ()) -> tuple[Span, ...]:
    spans = list(first)
    for form in forms:
        at = text.find(form)
        for _ in range(_MAX_MENTIONS):
            if at < 0:
                break
            spans.append(Span(at, at + len(form)))
            at = text.find(form, at + len(form))
    return tuple(dict.fromkeys(spans))


def _title_en(text: str, title: Span, terms: Sequence[DefinedTerm]) -> Iterator[SubjectName]:
    written = text[title.start : title.end]
    words = list(re.finditer(r"[\w'-]+", written))
    heads = [match.span() for match in _FOR_EN.finditer(written)]
    content = [
        word for word in words
        if word.group().lower() not in _DOCUMENT_WORDS_EN and not any(low <= word.start() < high for low, high in heads)
    ]  # fmt: skip
    if not content:
        return
    about = {word.group().lower() for word in words} & _ABOUT_A_PRODUCT_EN
    name = Span(title.start + content[0].start(), title.start + content[-1].end())
    phrase = text[name.start : name.end]
    proper = [
        w.group() for w in content
        if w.group()[0].isupper() and text.count(w.group(), title.end) > text.count(w.group().lower())
    ]  # fmt: skip
    forms = [word for word in proper if len(word) > 2] + [content[-1].group().removesuffix("s")]
    if about:
        if proper:
            yield SubjectName(tuple(forms), (name,), "product", tuple(sorted(about)))
        return
    # Without a sentence that says what it is, a title may be any topic: Configuration, Patterns and Matching.
    kinds = _kinds(text, title.end)
    if kinds and (proper or not phrase.isupper()) and dominates(text, forms):
        yield SubjectName(tuple(forms), _mentions(text, [phrase.lower(), phrase], [name]), "title", kinds)


def _kinds(text: str, at: int) -> tuple[str, ...]:
    """What the first sentence says the subject is, with other words for it."""
    match = _IS_KIND.search(text, at, at + _OPENING_CHARS)
    if match is None:
        return ()
    noun = match[1].split()[-1].lower()
    return next((group for group in _SAME_KIND if noun in group), (noun,))


def _title_zh(text: str, title: Span) -> Iterator[SubjectName]:
    words = text[title.start : title.end]
    name = words
    for _ in range(3):
        name = _DOCUMENT_TAIL_ZH.sub("", name)
    name = name.strip("《》 ")
    if len(name) < 2 or re.search(r"合同|协议|纠纷", words):
        return
    is_document = name != words.strip("《》 ")
    forms = [name] + [name[:2]] * (len(name) >= 4 and is_document)
    if is_document and not _NAMES_A_THING_ZH.search(name):
        return
    if is_document or dominates(text, forms):
        yield SubjectName(tuple(forms), _mentions(text, [name]), "product" if is_document else "title")


def _decree(text: str, terms: Sequence[DefinedTerm]) -> Iterator[SubjectName]:
    """The one set of rules or the plan that a report is about: 《…办法》 with a short name that it goes on to use."""
    made = [term for term in terms if term.origin == "abbreviation" and term.expansion.startswith("《")]
    if len(made) != 1 or made[0].evidence[0].start > _EARLY_CHARS // 3 or text.count(made[0].name) < _MIN_MENTIONS:
        return
    full = Span(made[0].evidence[0].start, made[0].evidence[0].start + len(made[0].expansion))
    forms = (made[0].name.strip("《》"), made[0].expansion.strip("《》"))
    yield SubjectName(forms, (full, *made[0].evidence), "decree")


def _company_en(text: str, terms: Sequence[DefinedTerm]) -> Iterator[SubjectName]:
    if not re.search(r"[A-Z]", text):
        yield from _lowercase_company(text)
        return
    if any(term.origin == "party" and term.name[:1].isupper() for term in terms) or not _CALLED_COMPANY.search(text):
        return  # parties are named where they are used
    counts = Counter(match[1].split()[0] for match in COMPANY_EN.finditer(text))
    yield from _dominant(text, {name: text.count(name) for name, _ in counts.most_common(_MAX_CANDIDATES)})


def _dominant(text: str, counts: dict[str, int], rivals_named: bool = True) -> Iterator[SubjectName]:
    """The most frequent of some names, if it dominates the text and no other comes near."""
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    if not ranked or counts[ranked[0]] < 2:
        return
    best = ranked[0]
    rivals = [name for name in ranked[1:] if name not in best and best not in name]
    if rivals and counts[rivals[0]] > _RIVAL * counts[best]:
        return
    if dominates(text, [best]):
        yield SubjectName((best,), _mentions(text, [best]), "company", (), tuple(rivals) if rivals_named else ())


def _lowercase_company(text: str) -> Iterator[SubjectName]:
    """The company of a text without capitals: the word that most often owns and acts, and bears no article."""
    owns: Counter[str] = Counter()
    acts: Counter[str] = Counter()
    incorporated: set[str] = set()
    for match in _ACTOR_LOWER.finditer(text):
        if _may_be_name(match[1]):
            (owns if match.group().endswith("'s") else acts)[match[1]] += 1
    for match in _COMPANY_LOWER.finditer(text):
        words_before = match[1].split()
        last = max((n for n, word in enumerate(words_before) if word in _GENERIC_LOWER), default=-1)
        chosen = [word for word in words_before[last + 1 : last + 2] if _may_be_name(word)]
        owns.update(chosen * 2)
        incorporated.update(chosen)
    articles = Counter(match[1] for match in _WITH_ARTICLE.finditer(text))
    words = Counter(match.group() for match in _LOWER_WORD.finditer(text))
    names = sorted(word for word in owns if word in incorporated or 4 * articles[word] < words[word])
    score = {word: 2 * owns[word] + acts[word] for word in names}
    yield from _dominant(text, {word: score[word] for word in names if score[word] >= _MIN_SCORE})


def _may_be_name(word: str) -> bool:
    return len(word) > 1 and word not in _GENERIC_LOWER and not word.endswith(_ENDINGS)


def _company_zh(text: str, terms: Sequence[DefinedTerm]) -> Iterator[SubjectName]:
    """The one company of a text: by its full name, its stock code, or its short name."""
    short_of: dict[str, tuple[str, ...]] = {}
    for match in list(_COMPANY_ZH.finditer(text))[:_MAX_CANDIDATES]:
        full = _NOT_OF_NAME_ZH.split(match.group())[-1]
        if len(full) < 6:
            continue
        core = re.sub(r"[（(][^（）()]{0,6}[）)]|(?:股份)?有限(?:责任)?公司$", "", full)
        made = [term.name for term in terms if term.origin == "abbreviation" and term.expansion.endswith(full[-8:])]
        short_of.setdefault(full, tuple(form for form in dict.fromkeys([full, core[:4], *made]) if len(form) > 1))
    for match in list(_LISTED_ZH.finditer(text))[:_MAX_CANDIDATES]:
        name = re.split(r"[：:，]|行情|快报", match[1])[-1]
        known = any(name in full or name in forms for full, forms in short_of.items())
        if len(name) > 1 and not known:
            short_of.setdefault(name, (name,))
    counts = {name: max(text.count(form) for form in forms) for name, forms in short_of.items()}
    for found in _dominant(text, counts, rivals_named=False):
        forms = short_of[found.forms[0]]
        rivals = [form for name in short_of if name != found.forms[0] for form in short_of[name]]
        yield SubjectName(forms, _mentions(text, [form for form in forms if len(form) > 2]), "company", (),
                          tuple(rival for rival in rivals if rival not in forms))  # fmt: skip


def _system(text: str, *, chinese: bool) -> Iterator[SubjectName]:
    """The product a manual describes: its most frequent capitalised name, if it is there from the start."""
    pattern = _LATIN_NAME if chinese else _CAPITALISED
    places: dict[str, list[int]] = {}
    for match in pattern.finditer(text):
        if match[1] not in FAMOUS:
            places.setdefault(match[1], []).append(match.start())
    frequent = [
        (len(at), name) for name, at in places.items()
        if len(at) >= _MIN_MENTIONS - chinese and bisect_left(at, _EARLY_CHARS)
    ]  # fmt: skip
    if frequent:
        _, name = max(frequent)
        if dominates(text, [name]):
            yield SubjectName((name,), _mentions(text, [name]), "system")
