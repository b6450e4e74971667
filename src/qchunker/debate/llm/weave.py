"""A rewritten chunk as the original with additions: where it departs, what it adds, and which evidence that is from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from qchunker.alignment import fold
from qchunker.types import Addition, Chunk, Gap, Span

_TOKEN = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]|[^\W\u3400-\u9fff\u3040-\u30ff]+|[^\w\s]")
_WORD = re.compile(r"\w")


class _Token(NamedTuple):
    key: str
    start: int
    end: int


def additions_of(chunk: Chunk, rewritten: str, gaps: Sequence[Gap], evidence: Sequence[Span]) -> tuple[Addition, ...]:
    """What a rewrite adds to the text of a chunk, each with the evidence that holds its words.

    Args:
        chunk: the original.
        rewritten: by a model; the gate of ``verify.py`` must have accepted it, or must be shown what comes out of this.
        gaps: that it was asked to fill.
        evidence: the sentences around the evidence of each gap, one per gap.
    """
    text = chunk.document.text
    old = [one for low, high in chunk.document.kept_spans(chunk.start, chunk.end) for one in _tokens(text, low, high)]
    new = _tokens(rewritten, 0, len(rewritten))
    matcher = SequenceMatcher(None, [one.key for one in old], [one.key for one in new], autojunk=False)
    additions = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal" or tag == "delete":  # a gate refuses what loses words; marks may go
            continue
        core = rewritten[new[j].start : new[j_end - 1].end]
        if not _WORD.search(core) and tag == "replace":
            continue  # another mark for a mark
        kind, spans = _source(core, text, gaps, evidence)
        if tag == "replace":
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


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    return [_Token(fold(match[0]) or match[0], *match.span()) for match in _TOKEN.finditer(text, start, end)]


def _source(core: str, text: str, gaps: Sequence[Gap], evidence: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """The kind and the evidence of added words: of the gaps whose evidence holds most of them, until all are held."""
    left = {fold(match[0]) for match in _TOKEN.finditer(core) if _WORD.search(match[0])}
    held = [{fold(match[0]) for match in _TOKEN.finditer(text, *span)} for span in evidence]
    chosen: list[int] = []
    while left and len(chosen) < len(gaps):
        best = max(range(len(gaps)), key=lambda at: (len(left & held[at]), -at))
        if not left & held[best]:
            break
        chosen.append(best)
        left -= held[best]
    chosen = chosen or [0]
    spans = tuple(dict.fromkeys(evidence[at] for at in chosen))
    return gaps[chosen[0]].kind, spans
