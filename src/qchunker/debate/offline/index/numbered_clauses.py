"""Where the numbered clauses, sections, tables and figures of a document stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from qchunker.numerals import numeral_value
from qchunker.types import Block, Document, Span

_NUM = r"[0-9０-９一二三四五六七八九十百零〇两]{1,6}"
_UNITS = {"條": "条", "節": "节", "項": "项", "部分": "部"}
_OWN = re.compile(
    rf"[ \t]*(?:#{{1,6}}\s*)?[*_]{{0,2}}(?:第\s*(?P<cn>{_NUM})\s*(?P<unit>条|條|章|节|節|部分)|"
    r"(?P<word>Clause|Section|Article|Rule|Part|Schedule|Note|§)\s*(?P<en>[0-9]{1,3}(?:\.[0-9]{1,3}){0,4})|"
    r"(?P<dotted>(?:[A-Z]\.)?[0-9]{1,3}(?:\.[0-9]{1,3}){1,5})\.?(?=\s|[\u3400-\u9fff])|"
    r"(?P<single>[0-9]{1,3})(?:[.、．)](?=\s|[\u3400-\u9fff])|(?P<bare>[ \t])(?=\S))|"
    r"(?P<numeral>[一二三四五六七八九十]{1,3})、)",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:^|(?<=[.;。\n])|(?<=\.\s))[ \t]*(?P<kind>Table|Figure|Fig\.|表|图|圖|Note|Annex|Appendix|Schedule|"
    r"Exhibit|附件|附表|附录|附錄)"
    r"\s*(?P<number>[0-9]{1,3}(?:[.-][0-9]{1,3})?|[A-Z]\b|[一二三四五六七八九十]{1,2})(?=[\s.:：。、(（|—–-]|$)",
    re.MULTILINE | re.IGNORECASE,
)
_KINDS = {"fig.": "figure", "fig": "figure", "figures": "figure", "tables": "table", "图": "figure", "圖": "figure",
          "表": "table", "附錄": "附录", "figs.": "figure", "notes": "note"}  # fmt: skip


_ENDS_PARAGRAPH = ("。", "；", "：")
_NUMBER_CHARS = 12
_CLAUSE_TITLE = re.compile(r"第[^ ]{1,6}[条條] ?\S{0,20}")
_OPENS_WORDS = re.compile(r"[\s.:：、*_)—–-]*(?:[^\sa-z]|$)")


class Clause(NamedTuple):
    """A numbered clause: its key, where it starts and ends, and where its words start behind the number."""

    key: str
    start: int
    body: int
    end: int
    is_heading: bool


class NumberedClauses:
    """Numbered clauses by number, and captions by kind and number."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        blocks = [block for block in document.blocks if block.kind not in ("furniture", "code", "rule")]
        self._blocks = blocks
        self._starts = [block.start for block in blocks]
        self.clauses: list[Clause] = list(_clauses(document.text, blocks))
        self._clause_starts = [clause.start for clause in self.clauses]
        self._by_key: dict[str, list[Clause]] = defaultdict(list)
        for clause in self.clauses:
            self._by_key[clause.key].append(clause)
        self._captions: dict[str, list[int]] = defaultdict(list)
        for match in _CAPTION.finditer(document.text):
            self._captions[caption_key(match["kind"], match["number"])].append(match.start("kind"))

    def named(self, keys: list[str], near: int) -> Clause | None:
        """The clause with one of these keys: the last before a position, else the first after."""
        for key in keys:
            found = self._by_key.get(key)
            if found:
                before = bisect_right([clause.start for clause in found[:64]], near)
                return found[before - 1] if before else found[0]
        return None

    def caption(self, kind: str, number: str) -> int | None:
        """Where a table, figure, note or annex of this number has its caption."""
        places = self._captions.get(caption_key(kind, number))
        return places[0] if places else None

    def clause_at(self, at: int) -> Clause | None:
        """The numbered clause that holds a position."""
        index = bisect_right(self._clause_starts, at) - 1
        return self.clauses[index] if index >= 0 and at < self.clauses[index].end else None

    def paragraph_before(self, at: int, count: int = 1) -> Span | None:
        """The paragraph that stands ``count`` paragraphs before the one at a position, headings left out.

        In Chinese text a line that ends a sentence is a paragraph of its own.
        """
        index = bisect_right(self._paragraphs, at, key=lambda paragraph: paragraph.start) - 1 - count
        return self._paragraphs[index] if index >= 0 else None

    def paragraph_in(self, region: Span, number: int) -> Span | None:
        """The paragraph of this number, counted from 1, of those that stand in a region."""
        first = bisect_right(self._paragraphs, region.start, key=lambda paragraph: paragraph.end)
        found = self._paragraphs[first + number - 1 : first + number]
        return found[0] if found and found[0].start < region.end else None

    @cached_property
    def _paragraphs(self) -> list[Span]:
        return [line for block in self._blocks if block.kind != "heading" for line in _lines(self._text, block)]


def _lines(text: str, block: Block) -> Iterator[Span]:
    """The paragraphs of a block; the title of a clause on its first line is none."""
    start = at = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        at += len(line)
        if line.rstrip()[-1:] in _ENDS_PARAGRAPH or at >= block.end:
            yield Span(start, at)
            start = at
        elif start == at - len(line) and _CLAUSE_TITLE.fullmatch(line.rstrip()):
            start = at


def _clauses(text: str, blocks: list[Block]) -> Iterator[Clause]:
    found: list[tuple[str, int, int, bool]] = []
    capitals = re.search(r"[A-Z]", text[:2_000]) is not None
    for block in blocks:
        at = block.start
        is_heading = block.kind == "heading"
        runs_on = text[max(0, at - _NUMBER_CHARS) : at].rpartition("\n")[2].strip()  # behind 第四条 on its line
        for line in text[block.start : block.end].splitlines(keepends=True) if block.kind != "table" else ():
            first = at == block.start
            own = None if first and runs_on else _OWN.match(text, at, min(block.end, at + 48))
            has_words = own is not None and (own.end() < block.end or is_heading)
            if own and has_words and _begins(text, at, own, capitals, first=first, is_heading=is_heading):
                found.append((own_key(own), at, own.end(), is_heading))
            at += len(line)
    for index, (key, start, body, is_heading) in enumerate(found):
        end = found[index + 1][1] if index + 1 < len(found) else len(text)
        yield Clause(key, start, body, end, is_heading)


def _begins(text: str, at: int, own: re.Match[str], capitals: bool, *, first: bool, is_heading: bool) -> bool:
    """Whether a clause starts on a line; in the middle of a sentence "Section 6 states" may stand there too."""
    ended = first or text[max(0, at - 3) : at].rstrip()[-1:] in (".", ";", ":", "。", "；", "：", "")
    if own["bare"]:
        return first and is_heading  # 4 Exclusions; in running text a number alone is none
    if not capitals or (first and not own["word"]):
        return ended
    return ended and _OPENS_WORDS.match(text, own.end(), own.end() + 8) is not None


def own_key(match: re.Match[str]) -> str:
    """The key of the number that a clause bears."""
    if match["cn"]:
        return unit_key(match["cn"], match["unit"])
    if match["numeral"]:
        return f"部{numeral_value(match['numeral'])}"
    return str(match["en"] or match["dotted"] or match["single"])


def unit_key(number: str, unit: str) -> str:
    """The key of a Chinese number and its unit: 第八条 and 第8條 have the same."""
    return f"{_UNITS.get(unit, unit)}{numeral_value(number)}"


_RANGE = re.compile(r"\d\s*(?:to|and|-|–|±|=|<|>|≤|≥|pH|v|version)?\s*$")
_UNIT = re.compile(r"\s?(?:[a-zµ°%‰]{1,3}/|mm|cm|km|kg|mg|ml|kW|kPa|MPa|bar|°|V\b|A\b|Hz|%)|\d")


def is_value(text: str, start: int, end: int) -> bool:
    """Whether a dotted number is a value: 6.5 to 8.5, 4.1 mm."""
    return bool(_RANGE.search(text[max(0, start - 8) : start]) or _UNIT.match(text, end, end + 6))


def caption_key(kind: str, number: str) -> str:
    """The key of a caption: Fig. 2 and Figure 2 have the same."""
    kind = kind.lower()
    digits = number if re.fullmatch(r"[0-9A-Za-z.-]+", number) else str(numeral_value(number))
    return f"{_KINDS.get(kind, kind)} {digits.upper()}"
