"""Plain text to blocks: runs of lines, numbered and unnumbered headings, lists, tables, fences, pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.parsing import headings
from qchunker.parsing.encoding import decode
from qchunker.parsing.furniture import furniture_spans
from qchunker.parsing.headings import UNNUMBERED_RANK, Numbering
from qchunker.parsing.outline import HeadingStack
from qchunker.types import Block, Document, Note, Source, Span


class _Line(NamedTuple):
    start: int
    text: str  # without its line end and trailing white space

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class _Draft(NamedTuple):
    """A block before its place in the outline is known. ``maybe`` headings depend on their neighbours."""

    kind: str
    start: int
    end: int
    rank: int = 0
    title: str = ""
    header: Span | None = None
    number: int = 0  # of a weakly numbered line, to recognise its siblings


# Lines that may open a block inside a run of lines; everything else goes on with the block before.
_OPENER = re.compile(
    r"[ \t\u00a0\u3000]*(?:[-*+•·‣●○■□▪–(（0-9０-９第附§①-⑳一二三四五六七八九十]|[A-ZＡ-Ｚ][.．\w]|[a-zA-Z]{1,4}[.)）])"
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*", re.MULTILINE)
_TERMINAL = re.compile(r"[。．.!?！？;；:：…”’\"')）]$")
_DELIMITER_ROW = re.compile(r"^[\s|:+=-]*-[\s|:+=-]*$")
_PRINTED_PAGE = re.compile(r"(?:\b[Pp]age\s*|第\s*|^\s*[-–—]?\s*)([0-9]{1,4})(?:\s+of\b|\s*页|\s*[-–—]?\s*$)")
_GAP = re.compile(r"\S {4,}(?=\S)")
# Lines longer than this were not wrapped by hand or by an editor: each is a paragraph.
_WRAP_CHARS = 160
_MAX_MAYBE_RUN = 3


def parse_text(source: Source) -> Document:
    """Parse plain text. ``Document.text`` is the decoded source itself.

    Raises:
        ParseError: if the file is empty or not text.
    """
    text, encoding, notes = decode(source)
    return text_document(text, source.name, notes, {"encoding": encoding})


def text_document(text: str, name: str, notes: Sequence[Note] = (), metadata: dict[str, str] | None = None) -> Document:
    """The document of a plain text that is already decoded; form feeds separate its pages."""
    starts = _page_starts(text)
    furniture = furniture_spans(text, starts) if starts else []
    blocks = text_blocks(text, starts, furniture)
    if starts:
        shift = _printed_shift(text, starts, furniture)
        blocks = [block._replace(page=(block.page or 1) + shift) for block in blocks]
    found = [*notes, *_column_notes(text)]
    if furniture:
        message = f"{len(furniture)} running headers, footers or page numbers are not embedded"
        found.append(Note("furniture", message, furniture[0]))
    return Document(text, tuple(blocks), name, "text/plain", tuple(found), metadata or {})


def blocks_document(
    text: str,
    name: str,
    media_type: str,
    notes: Sequence[Note] = (),
    metadata: dict[str, str] | None = None,
    page_starts: Sequence[int] = (),
) -> Document:
    """The document of a text that was extracted from a paged format, furniture already removed."""
    return Document(text, tuple(text_blocks(text, page_starts)), name, media_type, tuple(notes), metadata or {})


def text_blocks(text: str, page_starts: Sequence[int] = (), furniture: Sequence[Span] = ()) -> list[Block]:
    """Blocks of plain text, sorted and disjoint, covering every non-space character.

    Args:
        text: the whole text.
        page_starts: offsets at which pages 1, 2, ... start; empty when there are no pages.
        furniture: spans of whole lines that belong to the page, not to the text.
    """
    reserved = [_Draft("furniture", *span) for span in furniture]
    if "```" in text or "~~~" in text:
        reserved += _fences(text)
        reserved.sort(key=lambda draft: draft.start)
    tabular = "|" in text or "\t" in text
    drafts: list[_Draft] = []
    for run in _runs(text, reserved):
        if isinstance(run, _Draft):
            drafts.append(run)
        elif len(run) == 1:
            drafts.extend(_single_line(run[0]))
        elif tabular and (tables := _tables(run)):
            drafts.extend(tables)
        else:
            drafts.extend(_many_lines(run))
    return _place(_settle(drafts), page_starts)


def _page_starts(text: str) -> list[int]:
    if "\f" not in text:
        return []
    return [0, *(match.end() for match in re.finditer("\f", text))]


def _printed_shift(text: str, page_starts: Sequence[int], furniture: Sequence[Span]) -> int:
    """What to add to the count of form feeds to get the page numbers that the pages print, if they agree."""
    shifts = [
        int(match[1]) - bisect_right(page_starts, span.start)
        for span in furniture
        if (match := _PRINTED_PAGE.search(text, span.start, span.end))
    ]
    return shifts[0] if len(shifts) > 1 and len(set(shifts)) == 1 else 0


def _fences(text: str) -> list[_Draft]:
    """Closed code fences; one that is never closed is text in a plain file."""
    drafts: list[_Draft] = []
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            opening = match
        elif match[1][0] == opening[1][0] and len(match[1]) >= len(opening[1]) and not match.group().strip(" `~\r"):
            header = Span(opening.start(), opening.end())
            drafts.append(_Draft("code", opening.start(), match.end(), header=header))
            opening = None
    return drafts


def _runs(text: str, reserved: Sequence[_Draft]) -> Iterator[list[_Line] | _Draft]:
    """Runs of lines without a blank line between them, and the reserved spans in their places."""
    run: list[_Line] = []
    waiting = iter(reserved)
    ahead = next(waiting, None)
    start, skip_to = 0, 0
    for line in text.splitlines(keepends=True):
        if ahead is not None and start <= ahead.start < start + len(line):
            if run:
                yield run
                run = []
            yield ahead
            skip_to = ahead.end
            ahead = next(waiting, None)
        if start >= skip_to and start + len(line) > skip_to:
            body = line.rstrip()
            if body:
                # A form feed before the first character of a line is not part of it.
                lead = len(body) - len(body.lstrip("\f\v"))
                run.append(_Line(start + lead, body[lead:]))
            elif run:
                yield run
                run = []
        start += len(line)
    if run:
        yield run


def _single_line(line: _Line) -> list[_Draft]:
    if len(line.text) > headings.MAX_HEADING_CHARS and not line.text.lstrip().startswith("第"):
        kind = "list_item" if headings.list_item(line.text) else "paragraph"
        return [_Draft(kind, line.start, line.end)]
    found = headings.numbering(line.text)
    if found is not None:
        return _numbered(line, found)
    if headings.list_item(line.text):
        return [_Draft("list_item", line.start, line.end)]
    kind = "maybe" if headings.unnumbered_title(line.text) else "paragraph"
    return [_Draft(kind, line.start, line.end, UNNUMBERED_RANK, headings.heading_title(line.text))]


def _numbered(line: _Line, found: Numbering) -> list[_Draft]:
    """Drafts of a line that starts with a number and stands alone."""
    if not headings.numbered_title(line.text, found):
        return _run_in(line, found) or [
            _Draft("list_item" if found.weak or found.form == "cn_paren" else "paragraph", line.start, line.end)
        ]
    title = headings.heading_title(line.text)
    if found.weak:
        number = int("".join(filter(str.isdigit, found.number)) or 0)
        return [_Draft("maybe", line.start, line.end, found.rank, title, number=number)]
    return [_Draft("heading", line.start, line.end, found.rank, title)]


def _run_in(line: _Line, found: Numbering) -> list[_Draft]:
    """An article whose text starts on the line of its number: the number is the heading."""
    set_apart = line.text[: found.body].rstrip(" \t\u00a0\u3000:：") != line.text[: found.body]
    if found.form != "article" or not found.number.startswith("第") or not set_apart:
        return []
    if found.body >= len(line.text) or headings.is_reference(line.text[found.body :]):
        return []
    number = Span(line.start, line.start + len(line.text[: found.body].rstrip()))
    title = headings.heading_title(found.number)
    return [
        _Draft("heading", number.start, number.end, found.rank, title),
        _Draft("paragraph", line.start + found.body, line.end),
    ]


def _many_lines(run: list[_Line]) -> list[_Draft]:
    """Drafts of a run: headings, list items and clauses inside it open blocks of their own."""
    found = headings.numbering(run[0].text) if len(run) == 2 else None
    if found is not None and headings.wrapped_title(run[0].text, run[1].text, found):
        title = headings.heading_title(run[0].text, run[1].text)
        return [_Draft("heading", run[0].start, run[1].end, found.rank, title)]
    unwrapped = any(len(line.text) > _WRAP_CHARS for line in run)
    drafts: list[_Draft] = []
    for index, line in enumerate(run):
        following = run[index + 1].text if index + 1 < len(run) else ""
        finished = not drafts or drafts[-1].kind != "paragraph" or _TERMINAL.search(run[index - 1].text) is not None
        opened = _opened(line, finished, following, not drafts) if _OPENER.match(line.text) else []
        if not drafts and not opened and _title_line(line.text, following):
            title = headings.heading_title(line.text)
            opened = [_Draft("heading", line.start, line.end, UNNUMBERED_RANK, title)]
        if opened:
            drafts.extend(opened)
        elif not drafts or drafts[-1].kind == "heading" or unwrapped:
            drafts.append(_Draft("paragraph", line.start, line.end))
        else:
            drafts[-1] = drafts[-1]._replace(end=line.end)
    return drafts


def _opened(line: _Line, finished: bool, following: str, first: bool) -> list[_Draft]:
    """Drafts that a line opens inside a run, or none when it goes on with the block before.

    ``finished`` tells that the line before ended its sentence: otherwise a number at the start of a wrapped
    line is part of that sentence.
    """
    found = headings.numbering(line.text)
    if found is None:
        return [_Draft("list_item", line.start, line.end)] if headings.list_item(line.text) else []
    # A bare number may be a quantity in a wrapped sentence; 第三章 and Chapter 3 hardly ever are.
    goes_on = following.lstrip()[:1].islower() or (not finished and found.form in ("decimal", "letter"))
    if headings.numbered_title(line.text, found) and not goes_on:
        if not found.weak:
            return _numbered(line, found)
        if first and following and headings.numbering(following) is None and _title_line(line.text, following):
            return [_Draft("heading", line.start, line.end, found.rank, headings.heading_title(line.text))]
    if run_in := _run_in(line, found):
        return run_in
    if not finished:
        return []
    return [_Draft("list_item" if found.weak or found.form == "cn_paren" else "paragraph", line.start, line.end)]


def _title_line(line: str, following: str) -> bool:
    """Whether the first line of a run is a title over the body that follows without a blank line."""
    found = headings.numbering(line)
    if not (headings.numbered_title(line, found) if found else headings.unnumbered_title(line)):
        return False
    body = following.strip()
    return len(body) > 1.5 * len(line.strip()) and not body[:1].islower() and not headings.list_item(following)


def _tables(run: list[_Line]) -> list[_Draft]:
    """A run as tables and the paragraphs around them; empty when it holds no table."""
    cells = [_cell_separator(line.text) for line in run]
    drafts: list[_Draft] = []
    index, found = 0, False
    while index < len(run):
        end = index + 1
        while end < len(run) and cells[index] and cells[end] == cells[index]:
            end += 1
        if end - index >= 2:
            found = True
            has_rule = _DELIMITER_ROW.match(run[index + 1].text) is not None
            header = Span(run[index].start, run[index + 1 if has_rule else index].end)
            drafts.append(_Draft("table", run[index].start, run[end - 1].end, header=header))
        else:
            while end < len(run) and not (cells[end] and end + 1 < len(run) and cells[end + 1] == cells[end]):
                end += 1
            drafts.extend(_many_lines(run[index:end]) if end - index > 1 else _single_line(run[index]))
        index = end
    return drafts if found else []


def _cell_separator(line: str) -> str:
    text = line.strip()
    if text.count("|") >= 2 or (" | " in text):
        return "|"
    return "\t" * text.count("\t")


def _settle(drafts: list[_Draft]) -> list[_Draft]:
    """Decide the ``maybe`` headings by their neighbours."""
    index = 0
    while index < len(drafts):
        if drafts[index].kind != "maybe":
            index += 1
            continue
        end = index
        while end < len(drafts) and drafts[end].kind == "maybe":
            end += 1
        body_follows = end < len(drafts) and drafts[end].kind != "furniture"
        few = end - index <= _MAX_MAYBE_RUN
        for place in range(index, end):
            draft = drafts[place]
            sibling = draft.number and any(
                abs(drafts[near].number - draft.number) == 1
                for near in (place - 1, place + 1)
                if index <= near < end and drafts[near].number
            )
            plain = "list_item" if draft.number else "paragraph"
            drafts[place] = draft._replace(kind="heading" if body_follows and few and not sibling else plain)
        index = end
    return drafts


def _place(drafts: list[_Draft], page_starts: Sequence[int]) -> list[Block]:
    """Give every block its heading path and page."""
    stack = HeadingStack()
    blocks: list[Block] = []
    for draft in drafts:
        page = bisect_right(page_starts, draft.start) if page_starts else None
        if draft.kind == "heading":
            path = stack.push(draft.rank, draft.title)
            blocks.append(Block("heading", draft.start, draft.end, path, len(path), None, page))
        else:
            level = 1 if draft.kind == "list_item" else 0
            blocks.append(Block(draft.kind, draft.start, draft.end, stack.path, level, draft.header, page))
    return blocks


def _column_notes(text: str) -> list[Note]:
    """A doubt, once per file, when lines have a wide gap at the same column as their neighbours."""
    if "     " not in text:
        return []
    start, streak, first = 0, 0, 0
    previous: set[int] = set()
    for line in text.splitlines(keepends=True):
        gaps = {match.end() for match in _GAP.finditer(line.rstrip())} if "     " in line else set()
        streak = streak + 1 if any(abs(gap - near) <= 1 for gap in gaps for near in previous) else 0
        if streak == 1:
            first = start
        if streak >= 2 and "|" not in line:
            message = "lines look like two columns side by side; their reading order may be wrong"
            return [Note("columns", message, Span(first, start + len(line.rstrip())))]
        previous = gaps
        start += len(line)
    return []
