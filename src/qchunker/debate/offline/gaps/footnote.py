"""Footnote marks whose note stands elsewhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import REQUIRED, gaps
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.types import Gap, Span

_MARK = r"\(\d{1,2}\)|\[\d{1,2}\]|\[\^\w{1,8}\]|[¹²³⁴⁵⁶⁷⁸⁹†‡]|\*{1,3}|注\d{1,2}|[①-⑳]"
_NOTE = re.compile(rf"^[ \t]*({_MARK}|注|Notes?(?= ?[:：]))[ \t]?[:：.]?[ \t]*(?=[^\s*|])[^\n|]{{8,}}$", re.MULTILINE)
# A mark that ends a cell, a phrase or a value; one that opens an item of a list is none.
_MARKED = re.compile(rf"(?<=[\w)）%”\"])[ ]?({_MARK})(?=[ \t]*(?:[|,.;:，。；：、)）]|$))", re.MULTILINE)
_STARRED = re.compile(r"[\w%)）] ?\*{1,3} ?(?=\|)")  # at the end of a cell; elsewhere stars are emphasis
_ADDRESS = re.compile(r"[\s:：.]*<?https?://\S+\s*")
_MAX_NOTE = 300


def footnotes(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Marks in the chunk with the note they point to: the next one, else the last before."""
    notes = index.derived(_notes)
    if not notes:
        return
    seen: set[str] = set()
    for match in _MARKED.finditer(index.text, *chunk):
        same = notes.get(match[1], [])
        if match[1] in seen or not same or index.in_code(match.start()):
            continue
        if "*" in match[1] and not _STARRED.match(index.text, match.start() - 1, match.end() + 12):
            continue
        seen.add(match[1])
        note = next((note for note in same if note.start > match.start()), same[-1])
        if "*" in match[1] and not _belongs(index, match.start(), note):
            continue
        if note.start >= chunk.end or note.end <= chunk.start:
            yield from gaps(index, chunk, "exception_or_condition", Span(*match.span(1)), [note], REQUIRED)


def _belongs(index: DocumentIndex, star: int, note: Span) -> bool:
    """Whether the note of a star stands behind its table, and before the next one."""
    following = bisect_right(index.tables, star, key=lambda table: table.start)
    return star < note.start and (following == len(index.tables) or note.start < index.tables[following].start)


def _notes(index: DocumentIndex) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = defaultdict(list)
    for match in _NOTE.finditer(index.text):
        if "*" in match[1] and index.text.find("*", match.end(1), match.end()) >= 0:
            continue  # emphasis
        if _ADDRESS.fullmatch(index.text, match.end(1), match.end()):
            continue
        found[match[1]].append(Span(match.end(1), min(match.end(), match.end(1) + _MAX_NOTE)))
    return dict(found)
