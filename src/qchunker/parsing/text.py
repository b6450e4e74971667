"""Plain text to blocks: runs of lines, numbered and unnumbered headings, lists, tables, fences, pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from qchunker.parsing import headings
from qchunker.parsing.encoding import decode
from qchunker.parsing.furniture import furniture_spans
from qchunker.parsing.heading_stack import HeadingStack
from qchunker.parsing.headings import CHAPTER_RANK, UNNUMBERED_RANK
from qchunker.parsing.runs import Draft, Line, many_lines, plain_line, single_line, tables, underlined
from qchunker.types import Block, Document, Note, Source, Span

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*", re.MULTILINE)
# Chapter openings of typeset manuals: the word, the number in words, the title, each on its own line.
_SPELLED_OUT = re.compile(
    r"^[ \t]*(?:CHAPTER|APPENDIX)\s*\n\s*(?:[A-Z]|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN|ELEVEN|TWELVE|"
    r"(?:THIR|FOUR|FIF|SIX|SEVEN|EIGH|NINE)TEEN|(?:TWEN|THIR|FOR|FIF)TY(?:-?[A-Z]{3,5})?)\s*\n\s*\S.{0,99}$",
    re.MULTILINE,
)
_PRINTED_PAGE = re.compile(r"(?:\b[Pp]age\s*|第\s*|^\s*[-–—]?\s*)([0-9]{1,4})(?:\s+of\b|\s*页|\s*[-–—]?\s*$)")
_GAP = re.compile(r"\S {4,}(?=\S)")
_MAX_GAPS = 20
_MAX_MAYBE_RUN = 3
_MIN_CONTENTS = 6
_CONTENTS = re.compile(r"\W*(?:(?:Table of )?Contents|TABLE OF CONTENTS|CONTENTS|目\s*[录錄次])\W*$")


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
    blocks = tuple(text_blocks(text, furniture))
    found = [*notes, *_column_notes(text)]
    if furniture:
        message = f"{len(furniture)} running headers, footers or page numbers are not embedded"
        found.append(Note("furniture", message, furniture[0]))
    first_page = 1 + _printed_shift(text, starts, furniture)
    return Document(text, blocks, name, "text/plain", tuple(found), metadata or {}, tuple(starts), first_page)


def blocks_document(
    text: str,
    name: str,
    media_type: str,
    notes: Sequence[Note] = (),
    metadata: dict[str, str] | None = None,
    page_starts: Sequence[int] = (),
) -> Document:
    """The document of a text that was extracted from a paged format, furniture already removed."""
    blocks = tuple(text_blocks(text))
    return Document(text, blocks, name, media_type, tuple(notes), metadata or {}, tuple(page_starts))


def text_blocks(text: str, furniture: Sequence[Span] = ()) -> list[Block]:
    """Blocks of plain text, sorted and disjoint, covering every non-space character.

    Args:
        text: the whole text.
        furniture: spans of whole lines that belong to the page, not to the text.
    """
    reserved = [Draft("furniture", *span) for span in furniture]
    if "```" in text or "~~~" in text:
        fences = _fences(text)
        # What looks like page furniture inside of code is code.
        inside = {draft for fence in fences for draft in reserved if fence.start <= draft.start < fence.end}
        reserved = sorted(
            [*fences, *(draft for draft in reserved if draft not in inside)], key=lambda draft: draft.start
        )
    if "CHAPTER" in text or "APPENDIX" in text:
        reserved += [
            Draft("heading", *match.span(), CHAPTER_RANK, headings.heading_title(match.group()))
            for match in _SPELLED_OUT.finditer(text)
        ]
        reserved.sort(key=lambda draft: draft.start)
    tabular = "|" in text or "\t" in text
    drafts: list[Draft] = []
    ranks: dict[str, int] = {}
    for run in _runs(text, reserved):
        if isinstance(run, Draft):
            drafts.append(run)
            continue
        if len(run) == 1 and plain_line(run[0].text):
            drafts.append(Draft("paragraph", run[0].start, run[0].end))
            continue
        titles, run = underlined(run, ranks)
        drafts.extend(titles)
        if len(run) == 1:
            drafts.extend(single_line(run[0]))
        elif tabular and (found := tables(run)):
            drafts.extend(found)
        elif run:
            drafts.extend(many_lines(run))
    return _place(text, _with_title(_in_sequence(_without_contents(_settle(drafts)))))


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


def _fences(text: str) -> list[Draft]:
    """Closed code fences; one that is never closed is text in a plain file."""
    drafts: list[Draft] = []
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            above = text.rfind("\n", 0, max(0, match.start() - 1)) + 1
            under_text = len(match[1]) > 3 and text[above : match.start()].strip() and match.group().strip() == match[1]
            opening = None if under_text else match
        elif match[1][0] == opening[1][0] and len(match[1]) >= len(opening[1]) and not match.group().strip(" `~\r"):
            header = Span(opening.start(), opening.end())
            drafts.append(Draft("code", opening.start(), match.end(), header=header))
            opening = None
    return drafts


def _runs(text: str, reserved: Sequence[Draft]) -> Iterator[list[Line] | Draft]:
    """Runs of lines without a blank line between them, and the reserved spans in their places."""
    run: list[Line] = []
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
            ahead = next((draft for draft in waiting if draft.start >= skip_to), None)
        if start >= skip_to and start + len(line) > skip_to:
            body = line.rstrip()
            if body:
                # A form feed before the first character of a line is not part of it.
                lead = len(body) - len(body.lstrip("\f\v")) if body[0] in "\f\v" else 0
                run.append(Line(start + lead, body[lead:] if lead else body))
            elif run:
                yield run
                run = []
        start += len(line)
    if run:
        yield run


def _settle(drafts: list[Draft]) -> list[Draft]:
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
            sibling = draft.weak and any(
                drafts[near].weak and int(drafts[near].parts[0]) - int(draft.parts[0]) == near - place
                for near in (place - 1, place + 1)
                if index <= near < end
            )
            plain = "list_item" if draft.weak else "paragraph"
            drafts[place] = draft._replace(kind="heading" if body_follows and few and not sibling else plain)
        index = end
    return drafts


def _without_contents(drafts: list[Draft]) -> list[Draft]:
    """The entries of tables of contents are list items, not headings."""
    index = 0
    while index < len(drafts):
        end = index
        while end < len(drafts) and drafts[end].kind == "heading":
            end += 1
        marker = next((at for at in range(index, end) if _CONTENTS.match(drafts[at].title)), None)
        if marker is not None:
            end = _second_occurrence(drafts, marker + 1)
            _demote(drafts, marker + 1, end)
        elif end - index >= _MIN_CONTENTS:
            _demote(drafts, index, _last_chain(drafts, index, end))
        index = max(end, index + 1)
    return drafts


def _second_occurrence(drafts: list[Draft], first: int) -> int:
    """Where the first entry of a table of contents stands again, as the heading it announces."""
    titled = [at for at in range(first, len(drafts)) if drafts[at].title]
    if not titled:
        return first
    wanted = headings.title_key(drafts[titled[0]].title)
    return next((at for at in titled[1:] if headings.title_key(drafts[at].title) == wanted), first)


def _last_chain(drafts: list[Draft], start: int, end: int) -> int:
    """Of a long run of headings, where those begin that have a body: the last ones, each inside the one before.

    ``start`` if the run goes inwards too often to be a list of entries.
    """
    inward = [drafts[at].rank > drafts[at - 1].rank for at in range(start + 1, end)]
    if sum(inward) > 0.6 * len(inward):
        return start
    if end == len(drafts):
        return end
    last = end - 1
    while last > start and inward[last - start - 1]:
        last -= 1
    return last


def _demote(drafts: list[Draft], start: int, end: int) -> None:
    for at in range(start, end):
        if drafts[at].kind == "heading":
            drafts[at] = drafts[at]._replace(kind="list_item")


def _in_sequence(drafts: list[Draft]) -> list[Draft]:
    """A bare number is a heading only where it goes on counting; 1. after 1.2, or 3. after it, is a list item."""
    top, deep = 0, False
    for at, draft in enumerate(drafts):
        if draft.kind != "heading" or not draft.parts or not draft.parts[0].isdigit():
            continue
        number = int(draft.parts[0])
        if draft.weak and top and (number <= top or (deep and number > top + 1)):
            drafts[at] = draft._replace(kind="list_item")
        else:
            top, deep = number, deep or len(draft.parts) > 1
    return drafts


def _with_title(drafts: list[Draft]) -> list[Draft]:
    """An unnumbered heading at the very top is the title of the document when other headings follow it at once.

    It then stands above all others; so it does above numbered headings wherever they start.
    """
    if not drafts or drafts[0].kind != "heading" or drafts[0].rank != UNNUMBERED_RANK:
        return drafts
    if _CONTENTS.match(drafts[0].title):
        return drafts
    numbered = any(draft.kind == "heading" and draft.rank < UNNUMBERED_RANK for draft in drafts)
    if numbered or (len(drafts) > 1 and drafts[1].kind == "heading"):
        drafts[0] = drafts[0]._replace(rank=0)
    return drafts


def _place(text: str, drafts: list[Draft]) -> list[Block]:
    """Give every block its heading path, and list items the item they are indented under."""
    stack = HeadingStack()
    blocks: list[Block] = []
    items: list[tuple[int, Span]] = []  # indentation and span of the open items
    for draft in drafts:
        kind, start, end, header = draft.kind, draft.start, draft.end, draft.header
        if kind != "list_item":
            items.clear()
        if kind == "heading":
            path = stack.push(draft.rank, draft.title, draft.parts)
            blocks.append(Block("heading", start, end, path, len(path)))
        elif kind == "list_item":
            line = text[start:end]
            indent = len(line) - len(line.lstrip())
            while items and items[-1][0] >= indent:
                items.pop()
            header = items[-1][1] if items else None
            items.append((indent, Span(start, end)))
            blocks.append(Block(kind, start, end, stack.path, len(items), header))
        else:
            blocks.append(Block(kind, start, end, stack.path, 0, header))
    return blocks


def _column_notes(text: str) -> list[Note]:
    """A doubt, once per file, when lines have a wide gap at the same column as their neighbours."""
    if "     " not in text:
        return []
    start, streak, first = 0, 0, 0
    previous: set[int] = set()
    for line in text.splitlines(keepends=True):
        gaps = {match.end() for match in islice(_GAP.finditer(line.rstrip()), _MAX_GAPS)} if "     " in line else set()
        streak = streak + 1 if any(abs(gap - near) <= 1 for gap in gaps for near in previous) else 0
        if streak == 1:
            first = start
        if streak >= 2 and "|" not in line:
            message = "lines look like two columns side by side; their reading order may be wrong"
            return [Note("columns", message, Span(first, start + len(line.rstrip())))]
        previous = gaps
        start += len(line)
    return []
