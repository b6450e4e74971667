"""Cells of tables and records: what a column says of the thing that a row is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from qchunker.debate.offline.outlining.tables import lines_of
from qchunker.debate.offline.outlining.wording import plain
from qchunker.qa.cells import row_cells
from qchunker.qa.offline.place import Found, Pages, placed
from qchunker.qa.offline.quantities import asked_zh, is_quantity
from qchunker.types import Block, Span

_MOST_COLUMNS = 12
_LONGEST_NAME, _LONGEST_CELL = 40, 300
_INDEX = re.compile(
    r"(?:序号|序號|编号|編號|no\.?|nr\.?|#|id|备注|備註|说明|remarks?|notes?|comments?|description)\Z", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?:序号|序號|no\.?|nr\.?|#|id)\Z", re.IGNORECASE)
_NOTHING = re.compile(
    r"[\s\-–—/*.…]*\Z|(?:n/?a|none|nil|无|無|暂无|同上|ditto|idem|t\.?b\.?d\.?)\Z|见(?:备注|下文|上文|"
    r"附件|表|注)|(?:see|cf|same as|as above|as before)\b",
    re.IGNORECASE,
)
# Columns that say something of another cell, and nothing of the row.
_UNIT = re.compile(r"(?:(?:单位|單位|计量单位|計量單位)|units?(?: of measure(?:ment)?)?|u\.?o\.?m\.?)\Z", re.IGNORECASE)
_CONDITION = re.compile(r"(?:条件|條件|测试条件|试验条件|試驗條件|(?:test )?conditions?)\Z", re.IGNORECASE)
_ASIDE = re.compile(
    rf"{_UNIT.pattern}|{_CONDITION.pattern}|(?:备注|備註|注|註|附注|remarks?|notes?|comments?)\Z", re.IGNORECASE
)
_LONGEST_ASIDE = 24
_FOOTNOTE = re.compile(r"\s*(?:\[\^?\w{1,3}\]|[†‡※]|(?<![*\w])\*)\s*\Z")
# Names of columns that ask or demand themselves.
_CLAUSE = re.compile(
    r"(?:what|how|when|where|who|why|which|if|to|is|are|do|does|can|should|must)\b|如何|怎|什么|是否", re.IGNORECASE
)
_MARK = re.compile(r"[✓✔✗✘×√xX●○■□]\Z|(?:yes|no|true|false|是|否)\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[\d.,\s%+-]*\Z")
_PLURAL = re.compile(r"[a-z]{3,}s\Z")
_NO_PLURAL = re.compile(
    r"(?:ss|us|is|ness|loss|mass|class|address|status|access|process|analysis|series|gas|bus)\Z", re.IGNORECASE
)


def cells(pages: Pages) -> Iterator[Found]:
    """A question for each cell of each row that has a name of its own."""
    text = pages.text
    records: list[Block] = []
    for block in pages.blocks(0, len(text)):
        if block.kind == "table" and block.header is not None:
            lines = [line for line in lines_of(text, Span(block.start, block.end)) if line.start >= block.header.end]
            yield from _table(pages, block.header, lines)
        elif block.kind == "record" and block.header is not None:
            if records and records[-1].header != block.header:
                yield from _records(pages, records)
                records = []
            records.append(block)
    yield from _records(pages, records)


def _records(pages: Pages, records: Sequence[Block]) -> Iterator[Found]:
    if records and records[0].header is not None:
        yield from _table(pages, records[0].header, [Span(block.start, block.end) for block in records], pages.file)


def _table(pages: Pages, header: Span, lines: Sequence[Span], file: str = "") -> Iterator[Found]:
    text = pages.text
    head_lines = lines_of(text, header)
    if len(head_lines) != 1 or not lines:
        return  # names in several rows depend on each other
    names = [plain(text[slice(*cell)]) for cell in row_cells(text, head_lines[0])]
    rows = [(line, row_cells(text, line)) for line in lines]
    rows = [(line, row) for line, row in rows if len(row) == len(names)]
    place = _naming_column(text, names, [row for _, row in rows])
    if place is None or len(set(names)) < len(names) or not 2 <= len(names) <= _MOST_COLUMNS:
        return
    about = pages.about(pages.sections.at(header.start)) or file
    labels = Counter(plain(text[slice(*row[place])]).casefold() for _, row in rows)
    for line, row in rows:
        label = plain(text[slice(*row[place])])
        if not _is_label(label):
            continue
        for column, value in _said_of(text, names, row, place):
            question = _question(
                _with_asides(text, names, row, column), label, text[slice(*value)], about, pages.language
            )
            problem = "ambiguous" if labels[label.casefold()] > 1 else None
            if _FOOTNOTE.search(text, *value):
                problem = problem or "limited"
            yield Found(question, value, (line, head_lines[0]), "table", problem)


def _said_of(text: str, names: Sequence[str], row: Sequence[Span], place: int) -> Iterator[tuple[int, Span]]:
    """The cells of a row that say something of what it is about, by their columns."""
    for column, name in enumerate(names):
        is_aside = _NUMBERED.match(name) or _ASIDE.match(name)
        if column != place and not is_aside and _is_name(name) and _says(text[slice(*row[column])]):
            yield column, row[column]


def _with_asides(text: str, names: Sequence[str], row: Sequence[Span], column: int) -> str:
    """The name of a column with the unit and the condition that columns of their own give for it."""
    asides = []
    for name, cell in zip(names, row, strict=True):
        words = plain(text[slice(*cell)])
        holds = _CONDITION.match(name) or (_UNIT.match(name) and is_quantity(text[slice(*row[column])]))
        if holds and 0 < len(words) <= _LONGEST_ASIDE and not _NOTHING.match(words):
            asides.append(words)
    if not asides:
        return names[column]
    return (
        f"{names[column]} ({', '.join(asides)})"
        if names[column].isascii()
        else f"{names[column]}（{'，'.join(asides)}）"
    )


def _naming_column(text: str, names: Sequence[str], rows: Sequence[Sequence[Span]]) -> int | None:
    """The first column, or the second behind a mere number, whose cells name the rows, at least half of them alone."""
    for place in range(min(2, len(names))):
        labels = [plain(text[slice(*row[place])]) for row in rows]
        named = Counter(label.casefold() for label in labels if _is_label(label))
        alone = sum(count == 1 for count in named.values())
        if rows and named.total() * 10 >= 9 * len(rows) and 2 * alone >= named.total():
            return place
        if place == 0 and not _INDEX.match(names[0]):
            return None
    return None


def _is_label(label: str) -> bool:
    return 0 < len(label) <= _LONGEST_NAME and not _NUMBER.match(label) and not _NOTHING.match(label)


def _is_name(name: str) -> bool:
    return 1 < len(name) <= _LONGEST_NAME and not _NUMBER.match(name) and not name.endswith(("?", "？"))


def _says(value: str) -> bool:
    bare = _FOOTNOTE.sub("", value)
    return 0 < len(value) <= _LONGEST_CELL and not _NOTHING.match(bare) and not _MARK.match(bare)


def _question(name: str, label: str, value: str, about: str, language: str) -> str:
    if language != "en":
        if _CLAUSE.match(name):
            return placed(f"{label}的“{name}”一栏写着什么？", about, language)
        return placed(f"{label}的{name}{asked_zh(name, value)}？", about, language)
    if _CLAUSE.match(name):
        return placed(f"What is given as “{name}” for {label}?", about, language)
    verb = "are" if _PLURAL.search(name) and not _NO_PLURAL.search(name) else "is"
    name = name[0].lower() + name[1:] if name[1:2].islower() else name
    return placed(f"What {verb} the {name} of {label}?", about, language)
