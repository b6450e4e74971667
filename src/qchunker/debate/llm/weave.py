"""A rewritten chunk as the original with additions: where it departs, what it adds, and which evidence that is from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from qchunker.alignment import fold
from qchunker.debate.verify_words import lex
from qchunker.types import Addition, Chunk, Span

_TOKEN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]|[^\W\u3400-\u9fff\u3040-\u30ff]+|[^\w\s]")
_WORD = re.compile(r"\w")


class _Token(NamedTuple):
    key: str
    start: int
    end: int


class _Departure(NamedTuple):
    """Tokens ``[new, new_end)`` of a rewrite, where the original has ``[old, old_end)``, which may be none."""

    old: int
    old_end: int
    new: int
    new_end: int


def additions_of(chunk: Chunk, rewritten: str, kinds: Sequence[str], evidence: Sequence[Span]) -> tuple[Addition, ...]:
    """What a rewrite adds to the text of a chunk, each with the evidence that holds its words.

    Args:
        chunk: the original.
        rewritten: by a model; the gate of ``verify.py`` must have accepted it, or must be shown what comes out of this.
        kinds: of the gaps that it may fill.
        evidence: the sentences around the evidence of each gap, one per kind.
    """
    text = chunk.document.text
    old, new, departures = _departures(chunk, rewritten)
    additions = []
    for i, i_end, j, j_end in departures:
        core = rewritten[new[j].start : new[j_end - 1].end]
        kind, spans = _source(core, text, kinds, evidence)
        if i < i_end:
            additions.append(Addition(core, kind, spans, old[i].start, True, old[i_end - 1].end))
            continue
        lead = rewritten[new[j - 1].end : new[j].start] if j else ""
        trail = rewritten[new[j_end - 1].end : new[j_end].start] if j_end < len(new) else ""
        if i == 0:
            additions.append(Addition(core + trail, kind, spans, old[0].start if old else chunk.start))
            continue
        at = old[i - 1].end
        stays = text[at : old[i].start] if i < len(old) else ""
        additions.append(Addition(lead + core + ("" if stays else trail), kind, spans, at))
    return tuple(additions)


def added_words(chunk: Chunk, rewritten: str) -> list[list[str]]:
    """The words that a rewrite adds to the text of a chunk, spelt as ``fold`` does; one list per place."""
    _, new, departures = _departures(chunk, rewritten)
    added = [[one.key for one in new[departure.new : departure.new_end]] for departure in departures]
    return [[key for key in keys if _WORD.search(key)] for keys in added]


def words_of(text: str, span: Span) -> list[str]:
    """The words of a stretch of a text, spelt as ``fold`` does."""
    return [one.key for one in _tokens(text, *span) if _WORD.search(one.key)]


def _departures(chunk: Chunk, rewritten: str) -> tuple[list[_Token], list[_Token], list[_Departure]]:
    """The tokens of a chunk and of its rewrite, and where the second has words that the first has not."""
    text = chunk.document.text
    old = [one for low, high in chunk.document.kept_spans(chunk.start, chunk.end) for one in _tokens(text, low, high)]
    new = _tokens(rewritten, 0, len(rewritten))
    matcher = SequenceMatcher(None, [one.key for one in old], [one.key for one in new], autojunk=False)
    found = []
    for tag, *ends in matcher.get_opcodes():
        if tag == "equal" or tag == "delete":  # a gate refuses what loses words; marks may go
            continue
        departure = _Departure(*ends)
        core = rewritten[new[departure.new].start : new[departure.new_end - 1].end]
        lost = text[old[departure.old].start : old[departure.old_end - 1].end] if tag == "replace" else ""
        # Else another mark for a mark, or another spelling of the same: 1,000 and 1000, m² and m^2.
        if tag == "insert" or (_WORD.search(core) and lex(core).keys != lex(lost).keys):
            found.append(departure)
    return old, new, found


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    return [_Token(fold(match[0]) or match[0], *match.span()) for match in _TOKEN.finditer(text, start, end)]


def _source(core: str, text: str, kinds: Sequence[str], evidence: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """The kind and the evidence of added words: of the gaps whose evidence holds most of them, until all are held."""
    left = {fold(match[0]) for match in _TOKEN.finditer(core) if _WORD.search(match[0])}
    held = [{fold(match[0]) for match in _TOKEN.finditer(text, *span)} for span in evidence]
    chosen: list[int] = []
    while left and len(chosen) < len(kinds):
        best = max(range(len(kinds)), key=lambda at: (len(left & held[at]), -at))
        if not left & held[best]:
            break
        chosen.append(best)
        left -= held[best]
    chosen = chosen or [0]
    spans = tuple(dict.fromkeys(evidence[at] for at in chosen))
    return kinds[chosen[0]], spans
