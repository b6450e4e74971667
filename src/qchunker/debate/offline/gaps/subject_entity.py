"""Facts about something that the chunk never names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.parties import ROLES, roles
from qchunker.debate.offline.index.subject_names import COMPANY_EN, SubjectName
from qchunker.types import Gap, Span

_COMPANY_WORDS_EN = re.compile(
    r"\b(?:[Tt]he|[Oo]ur) (?:[Cc]ompany|[Gg]roup|[Cc]orporation|[Rr]egistrant|firm|[Bb]ank)\b|\b(?:[Ww]e|[Oo]ur)\b"
)
_AMOUNT = re.compile(r"\$ ?\d|\d%|\| \(?\d")
_COMPANY_WORDS_ZH = re.compile(
    r"[本该]公司|归属于上市公司|(?<![\u4e00-\u9fff])(?:上市)?公司(?![\u4e00-\u9fff]{0,2}法|章程|名单)"
)
_NAMED_COMPANY_ZH = re.compile(r"[\u4e00-\u9fff]{2,}(?<!上市)(?<!本)(?<!该)(?:公司|集团)|[\u4e00-\u9fff]{2,6}[（(]\d")
_SYSTEM_ZH = re.compile(
    r"(?:默认|缺省|預設|预设)的?[\u4e00-\u9fff]{0,2}(?:安装|配置|设置|设定|系统|环境|服务|桌面|程序|软件|值)"
    r"|(?:基本|标准|最小化|完整)的?安装|(?<![\u4e00-\u9fff])[本该]?(?:系统|安装程序|安装系统|发行版|桌面环境)"
)
_DECREE_WORDS = 4  # characters in a row of the title of rules, without the last, such as 办法
_PRODUCT_EN = r"product|device|unit|appliance|machine|instrument"
_PRODUCT_ZH = re.compile(
    r"(?:[本该](?:产品|机|设备|仪器|政策|手册)|(?<![\u4e00-\u9fff])(?:产品|整机|主机)|保修期|保修范围|保修服务|质保期|"
    r"(?<![\u4e00-\u9fff])(?:保修|质保|退货|换货))"
)
_OPENING = re.compile(r"\W{0,6}((?:The|Its|Their) [a-z]+)")
_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}")
_KINDS_ZH = "市县縣区區省国國州镇鎮乡鄉村校院馆館寺庙廟山河湖岛島站线線军軍党黨社会會派族剧劇片书書队隊"
_NEAR = 4_000  # a long text may go on to another company without saying so
_MOST_OPAQUE = frozenset(ROLES[:12])  # bare letters, and roles in a procedure


def subject_entities(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """The company, product, system or party that the chunk is about."""
    written = index.text[chunk.start : chunk.end]
    yield from _parties(index, chunk)
    for name in index.names:
        if name.is_named(written):
            if name.origin in ("title", "product"):
                return
            continue
        found = _reference(index, chunk, name)
        if found is not None:
            surface, necessity = found
            yield from gaps(index, chunk, "subject_entity", surface, _outside(chunk, name), necessity)
            return


def _outside(chunk: Span, name: SubjectName) -> list[Span]:
    return [span for span in name.mentions if span.end <= chunk.start or span.start >= chunk.end][:8]


def _reference(index: DocumentIndex, chunk: Span, name: SubjectName) -> tuple[Span, str] | None:
    """What in the chunk stands for the name, and how much it matters; None where the chunk is about something else."""
    if name.origin == "company":
        return _company(index, chunk, name)
    if name.origin == "system":
        return _system(index, chunk)
    if name.origin == "decree":
        return _ruled(index, chunk, name)
    if name.origin == "product":
        return _product(index, chunk, name)
    return _titled(index, chunk, name)


def _system(index: DocumentIndex, chunk: Span) -> tuple[Span, str] | None:
    if not index.chinese:
        return None
    match = _SYSTEM_ZH.search(index.text, *chunk)
    if match:
        return Span(*match.span()), REQUIRED
    cut = [table for table in index.tables_in(chunk) if table.header.start < chunk.start]
    return next(((row, HELPFUL) for table in cut for row in table.rows_in(chunk)), None)


def _product(index: DocumentIndex, chunk: Span, name: SubjectName) -> tuple[Span, str] | None:
    """The product, this warranty: words for what the title names."""
    text = index.text
    if index.chinese:
        match = _PRODUCT_ZH.search(text, *chunk)
    else:
        nouns = f"{_PRODUCT_EN}|{'|'.join(name.kinds)}"
        match = re.compile(rf"\b(?:this|the|our) (?:{nouns})\b(?! of [A-Z])", re.IGNORECASE).search(text, *chunk)
    return (Span(*match.span()), REQUIRED) if match else None


def _ruled(index: DocumentIndex, chunk: Span, name: SubjectName) -> tuple[Span, str] | None:
    """A passage without any title of rules that speaks of what the rules reported are about, in four of their words."""
    text, full = index.text, name.forms[-1]
    if text.find("《", *chunk) >= 0:
        return None
    for length in range(2 * _DECREE_WORDS, _DECREE_WORDS - 1, -1):
        for start in range(len(full) - length - 2):
            at = text.find(full[start : start + length], *chunk)
            if at >= 0:
                return Span(at, at + length), REQUIRED
    return None


def _titled(index: DocumentIndex, chunk: Span, name: SubjectName) -> tuple[Span, str] | None:
    """The ship, 該市; or an opening that speaks of a part of the subject of an article."""
    text = index.text
    if index.chinese:
        own_kind = name.forms[0][-1]
        match = re.compile(rf"[该該本全]{own_kind}(?!人)").search(text, *chunk) if own_kind in _KINDS_ZH else None
        return (Span(*match.span()), REQUIRED) if match else None
    kind = re.compile(rf"\b[Tt]he (?:{'|'.join(map(re.escape, name.kinds))})\b").search(text, *chunk)
    if kind:
        return Span(*kind.span()), REQUIRED
    body = [s for s in index.sentences_in(*chunk) if not text[s.start : s.end].lstrip().startswith("#")]
    if not body or _PROPER.search(text, body[0].start, body[0].end):
        return None
    if any(block.kind == "code" for block in index.document.blocks):
        return None  # a text about programs speaks of many things
    opening = _OPENING.match(text, body[0].start, body[0].end)
    return (Span(*opening.span(1)), REQUIRED) if opening else None


def _company(index: DocumentIndex, chunk: Span, name: SubjectName) -> tuple[Span, str] | None:
    text, written = index.text, index.text[chunk.start : chunk.end]
    around = text[max(0, chunk.start - _NEAR) : chunk.end + _NEAR]
    if any(rival in written for rival in name.rivals) or not name.is_named(around):
        return None
    match = (_COMPANY_WORDS_ZH if index.chinese else _COMPANY_WORDS_EN).search(text, *chunk)
    if (_NAMED_COMPANY_ZH if index.chinese else COMPANY_EN).search(text, *chunk):
        return None
    if match:
        return Span(*match.span()), REQUIRED
    if index.lowercase and _AMOUNT.search(text, *chunk):
        sentence = index.sentences_in(*chunk)[:1]
        return (Span(sentence[0].start, min(sentence[0].end, sentence[0].start + 60)), REQUIRED) if sentence else None
    return None


def _parties(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Roles of the parties that the chunk uses without a name, and defined party names."""
    text = index.text
    if not index.chinese:
        seen: set[str] = set()
        for occurrence in index.occurrences(chunk):
            term = occurrence.term
            inside = any(s.start < chunk.end and chunk.start < s.end for s in term.evidence)
            if term.origin != "party" or inside or term.name in seen:
                continue
            seen.add(term.name)
            necessity = REQUIRED if term.name in ("we", "us", "our") else HELPFUL
            surface = Span(occurrence.start, occurrence.end)
            yield from gaps(index, chunk, "subject_entity", surface, term.evidence, necessity)
        return
    named = roles(text[chunk.start : chunk.end])
    for role in ROLES:
        at = text.find(role, *chunk)
        longer = (
            text[at - 1 : at] == "被"
            or text[at - 2 : at] == "原、"
            or text[at + len(role) : at + len(role) + 1] == "人"
        )
        if at < 0 or (longer and not role.startswith("被上")):
            continue
        parties = index.roles.get(role, ())
        if role in named:
            continue
        necessity = REQUIRED if role in _MOST_OPAQUE else HELPFUL
        yield from gaps(index, chunk, "subject_entity", Span(at, at + len(role)), parties, necessity)
