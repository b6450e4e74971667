"""What may be wrong with a completed text, and the faults that are seen without comparing words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.debate.verify_words import invisible_characters

_MARKUP = re.compile(
    r"</?[a-zA-Z][^<>]{0,200}>|<!--|<\?|<\|[^|]{1,40}\|>|\]\([^)]{1,200}\)|!\[|```|~~~|\{\{|\}\}|\{%|\$\{|"
    r"\bjavascript:|\bon(?:error|load|click)\s?=|\[/?INST\]|&#?\w{1,8};|#{1,6}|\*\*|__",
    re.IGNORECASE,
)
_ACTIVE = re.compile(
    r"</?(?:script|iframe|object|embed|style|img|svg|form|link|meta)|<!--|<\||javascript:|\bon[a-z]+\s?="
)


class Fault(NamedTuple):
    """What is wrong with a completed text, and the words it is about.

    Kinds: number, unit, identifier, name, quotation, negation, modal: one was lost, changed or added without evidence;
    lost, order, merged: words of the original are missing, moved, or a sentence end is gone; uncovered: added words
    that the evidence does not hold; split: a sentence of the original is cut by an addition; topic: the text is about
    something else; growth; invisible; homoglyph; markup.
    """

    kind: str
    text: str


def growth_faults(original: str, completed: str, limit: float) -> Iterator[Fault]:
    """The text may grow by so many characters."""
    if len(completed) - len(original) > limit:
        yield Fault("growth", f"{len(completed) - len(original)} characters added, {limit:.0f} allowed")


def invisible_faults(original: str, completed: str) -> Iterator[Fault]:
    """No character may be added that a reader cannot see."""
    added = Counter(invisible_characters(completed)) - Counter(invisible_characters(original))
    for char in sorted(added):
        yield Fault("invisible", f"U+{ord(char):04X}")


def _markup(text: str) -> Iterator[str]:
    return ("".join(match.group().split()) for match in _MARKUP.finditer(text))


def markup_faults(original: str, completed: str, evidence: Sequence[str]) -> Iterator[Fault]:
    """No markup may be added, unless the evidence has it and it does nothing."""
    added = Counter(_markup(completed)) - Counter(_markup(original))
    known = {markup for text in evidence for markup in _markup(text)} if added else set()
    for markup in sorted(added):
        if markup not in known or _ACTIVE.match(markup.lower()):
            yield Fault("markup", markup)
