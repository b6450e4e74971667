"""A run of lines without a blank line in it, to the blocks it holds."""

from __future__ import annotations

import re
from typing import NamedTuple

from qchunker.parsing import headings
from qchunker.parsing.headings import UNNUMBERED_RANK, Numbering
from qchunker.types import Span


class Line(NamedTuple):
    start: int
    text: str  # without its line end and trailing white space

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Draft(NamedTuple):
    """A block before its place in the outline is known. ``maybe`` headings depend on their neighbours."""

    kind: str
    start: int
    end: int
    rank: int = 0
    title: str = ""
    header: Span | None = None
    parts: tuple[str, ...] = ()  # components of a decimal number
    weak: bool = False


# Lines that may open a block inside a run of lines; everything else goes on with the block before.
_OPENER = re.compile(
    r"[ \t\u00a0\u3000]*(?:[-*+•·‣●○■□▪–(（0-9０-９第附§①-⑳一二三四五六七八九十]|[A-ZＡ-Ｚ][.．\w]|[a-zA-Z]{1,4}[.)）])"
)
_TERMINAL = tuple("。．.!?！？;；:：…”’\"')）")
_DELIMITER_MARKS = frozenset(" \t|:+=-")
# Headings of wiki markup, as text extracted from wikis keeps them: == Title ==
_WIKI = re.compile(r"\s*(=(?: ?=){0,5})\s+([^=\s][^=]{0,118}?)\s+\1\s*$")
_UNDERLINE = re.compile(r"\s*([=\-~*^\"'`#+.:_])\1{2,}$")
# Lines longer than this were not wrapped by hand or by an editor: each is a paragraph.
_WRAP_CHARS = 160


def plain_line(line: str) -> bool:
    """Whether a line that stands alone is a paragraph at first sight: too long for a title, and no item."""
    return len(line) > headings.MAX_HEADING_CHARS and line[0].isalpha() and line[0] != "第" and line[1] not in ".)）"


def single_line(line: Line) -> list[Draft]:
    if (wiki := _WIKI.match(line.text)) is not None:
        return [Draft("heading", line.start, line.end, wiki[1].count("="), headings.heading_title(wiki[2]))]
    if len(line.text) > headings.MAX_HEADING_CHARS and not line.text.lstrip().startswith("第"):
        kind = "list_item" if headings.list_item(line.text) else "paragraph"
        return [Draft(kind, line.start, line.end)]
    found = headings.numbering(line.text)
    if found is not None:
        return _numbered(line, found)
    if headings.list_item(line.text):
        return [Draft("list_item", line.start, line.end)]
    kind = "maybe" if headings.unnumbered_title(line.text) else "paragraph"
    return [Draft(kind, line.start, line.end, UNNUMBERED_RANK, headings.heading_title(line.text))]


def _numbered(line: Line, found: Numbering) -> list[Draft]:
    """Drafts of a line that starts with a number and stands alone."""
    if not headings.numbered_title(line.text, found):
        return _run_in(line, found) or [
            Draft("list_item" if found.weak or found.form == "cn_paren" else "paragraph", line.start, line.end)
        ]
    return [_heading([line], found)]


def _heading(lines: list[Line], found: Numbering | None) -> Draft:
    title = headings.heading_title(*(line.text for line in lines))
    start, end = lines[0].start, lines[-1].end
    if found is None:
        return Draft("heading", start, end, UNNUMBERED_RANK, title)
    return Draft("maybe" if found.weak else "heading", start, end, found.rank, title, None, found.parts, found.weak)


def _run_in(line: Line, found: Numbering) -> list[Draft]:
    """An article whose text starts on the line of its number: the number is the heading."""
    set_apart = line.text[: found.body].rstrip(" \t\u00a0\u3000:：") != line.text[: found.body]
    if found.form != "article" or not found.number.startswith("第") or not set_apart:
        return []
    if found.body >= len(line.text) or headings.is_reference(line.text[found.body :]):
        return []
    number = Span(line.start, line.start + len(line.text[: found.body].rstrip()))
    title = headings.heading_title(found.number)
    return [
        Draft("heading", number.start, number.end, found.rank, title),
        Draft("paragraph", line.start + found.body, line.end),
    ]


def many_lines(run: list[Line]) -> list[Draft]:
    """Drafts of a run: headings, list items and clauses inside it open blocks of their own."""
    if any("=" in line.text and _WIKI.match(line.text) for line in run):
        return _around_wiki_headings(run)
    found = headings.numbering(run[0].text) if len(run) == 2 else None
    if found is not None and headings.wrapped_title(run[0].text, run[1].text, found):
        return [_heading(run, found)]
    unwrapped = any(len(line.text) > _WRAP_CHARS for line in run)
    drafts: list[Draft] = []
    for index, line in enumerate(run):
        following = run[index + 1].text if index + 1 < len(run) else ""
        finished = not drafts or drafts[-1].kind != "paragraph" or run[index - 1].text.endswith(_TERMINAL)
        opened = _opened(line, finished, following, not drafts) if _OPENER.match(line.text) else []
        if not drafts and not opened and _title_line(line.text, following):
            opened = [_heading([line], None)]
        if opened:
            drafts.extend(opened)
        elif not drafts or drafts[-1].kind == "heading" or unwrapped:
            drafts.append(Draft("paragraph", line.start, line.end))
        else:
            drafts[-1] = drafts[-1]._replace(end=line.end)
    return drafts


def _around_wiki_headings(run: list[Line]) -> list[Draft]:
    """Drafts of a run in which marked headings follow the text without blank lines."""
    drafts: list[Draft] = []
    body: list[Line] = []
    for line in [*run, None]:
        is_heading = line is not None and _WIKI.match(line.text) is not None
        if line is not None and not is_heading:
            body.append(line)
            continue
        if body:
            drafts.extend(many_lines(body) if len(body) > 1 else single_line(body[0]))
            body = []
        if line is not None:
            drafts.extend(single_line(line))
    return drafts


def underlined(run: list[Line], ranks: dict[str, int]) -> tuple[list[Draft], list[Line]]:
    """A title that is underlined (and perhaps overlined) with one repeated mark at the top of a run, and the rest.

    ``ranks`` remembers which mark stands for which level, by first use.
    """
    first = 1 if len(run) > 2 and _UNDERLINE.match(run[0].text) else 0
    if len(run) < first + 2 or not _underlines(run[first + 1].text, run[first].text):
        return [], run
    title, mark = run[first], run[first + 1].text.strip()[0]
    found = headings.numbering(title.text)
    rank = ranks.setdefault(mark, 1 + len(ranks))
    heading = _heading([title], found)._replace(
        kind="heading", start=run[0].start, end=run[first + 1].end, rank=rank, weak=False
    )
    return [heading], run[first + 2 :]


def _underlines(line: str, title: str) -> bool:
    width = len(title.strip())
    return _UNDERLINE.match(line) is not None and width <= 120 and len(line.strip()) >= max(3, 0.6 * width)


def _opened(line: Line, finished: bool, following: str, first: bool) -> list[Draft]:
    """Drafts that a line opens inside a run, or none when it goes on with the block before.

    ``finished`` tells that the line before ended its sentence: otherwise a number at the start of a wrapped
    line is part of that sentence.
    """
    found = headings.numbering(line.text)
    if found is None:
        return [Draft("list_item", line.start, line.end)] if headings.list_item(line.text) else []
    # A bare number may be a quantity in a wrapped sentence; 第三章 and Chapter 3 hardly ever are.
    goes_on = following.lstrip()[:1].islower() or (not finished and found.form in ("decimal", "letter"))
    if headings.numbered_title(line.text, found) and not goes_on:
        if not found.weak:
            return _numbered(line, found)
        if first and following and headings.numbering(following) is None and _title_line(line.text, following):
            return [_heading([line], found)._replace(kind="heading")]
    if run_in := _run_in(line, found):
        return run_in
    if not finished:
        return []
    return [Draft("list_item" if found.weak or found.form == "cn_paren" else "paragraph", line.start, line.end)]


def _title_line(line: str, following: str) -> bool:
    """Whether the first line of a run is a title over the body that follows without a blank line."""
    found = headings.numbering(line)
    if not (headings.numbered_title(line, found) if found else headings.unnumbered_title(line)):
        return False
    body = following.strip()
    return len(body) > 1.5 * len(line.strip()) and not body[:1].islower() and not headings.list_item(following)


def tables(run: list[Line]) -> list[Draft]:
    """A run as tables and the paragraphs around them; empty when it holds no table."""
    cells = [_cell_separator(line.text) for line in run]
    drafts: list[Draft] = []
    index, found = 0, False
    while index < len(run):
        end = index + 1
        while end < len(run) and cells[index] and cells[end] == cells[index]:
            end += 1
        if end - index >= 2:
            found = True
            below = run[index + 1].text
            has_rule = "-" in below and _DELIMITER_MARKS.issuperset(below)
            header = Span(run[index].start, run[index + 1 if has_rule else index].end)
            drafts.append(Draft("table", run[index].start, run[end - 1].end, header=header))
        else:
            while end < len(run) and not (cells[end] and end + 1 < len(run) and cells[end + 1] == cells[end]):
                end += 1
            drafts.extend(many_lines(run[index:end]) if end - index > 1 else single_line(run[index]))
        index = end
    return drafts if found else []


def _cell_separator(line: str) -> str:
    text = line.strip()
    if text.count("|") >= 2 or (" | " in text):
        return "|"
    return "\t" * text.count("\t")
