"""Which sentences of a group an answer rests on, and which sentences the pairs of a group answer together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qchunker.alignment import FoldedText, find_quote
from qchunker.qa.cells import row_cells
from qchunker.qa.figures import figures
from qchunker.qa.pairs import Group, QAPair, Unit
from qchunker.qa.words import Said, content_words, is_chinese
from qchunker.types import Document, Span

LEAST_COVERED, LEAST_COVERED_ZH = 0.4, 0.3
"""Share of the words of a sentence that its pairs must take up for it to count as answered; of pairs of Chinese
characters, many of which are no words, fewer."""
_MOST_UNITS = 12  # an answer may be a list
_QUESTION_WEIGHT = 0.4


@dataclass(frozen=True, slots=True)
class Read:
    """A group with the words of its units, made once for all its pairs.

    Args:
        document: that it is of.
        group: sentences that are asked about together.
        texts: of its units.
        said: of its units, by their words; a row has those of its header too.
        folded: its text, for finding quotations.
    """

    document: Document
    group: Group
    texts: tuple[str, ...]
    said: tuple[Said, ...]
    folded: FoldedText

    @property
    def text(self) -> str:
        """What its units say."""
        return "\n".join(self.texts)


def read(document: Document, group: Group) -> Read:
    """A group ready for comparison."""
    texts = tuple(_text(document.text, unit) for unit in group.units)
    said = tuple(
        Said(text, document.text[slice(*unit.header)] if unit.header else "")
        for text, unit in zip(texts, group.units, strict=True)
    )
    return Read(document, group, texts, said, FoldedText(document.text, Span(group.start, group.end)))


def _text(text: str, unit: Unit) -> str:
    """A unit as it is compared: cells of a row apart, so that "16,8000" is no number."""
    if unit.kind != "row":
        return text[unit.start : unit.end]
    return " | ".join(text[slice(*cell)] for cell in row_cells(text, Span(unit.start, unit.end)))


def verbatim_span(group: Read, answer: str) -> Span | None:
    """Where the group holds an answer word for word."""
    return find_quote(group.folded, _bare(answer))


def _bare(answer: str) -> str:
    """An answer without the stop at its end, which may be another mark in the document."""
    return answer.strip().rstrip(".。!！;；") or answer


def evidence_units(group: Read, question: str, answer: str) -> list[int]:
    """Numbers of the units that hold the words of an answer, the fewest that hold most; in order.

    Where an answer is a stretch of the group, the units that it lies in. Of units that hold the same words of the
    answer, the one that holds most of the question.
    """
    asked = content_words(question)
    words = list(dict.fromkeys(content_words(answer))) or asked
    within = _units_of_quotation(group, asked, answer)
    if within:
        return within
    chosen: list[int] = []
    open_words = set(words)
    while open_words and len(chosen) < _MOST_UNITS:
        able = [at for at, said in enumerate(group.said) if at not in chosen and any(w in said for w in open_words)]
        if not able:
            break
        best = max(able, key=lambda at: (_weight(group.said[at], open_words, asked), -at))
        chosen.append(best)
        open_words = {word for word in open_words if word not in group.said[best]}
    return sorted(chosen)


def _weight(said: Said, words: Iterable[str], asked: Sequence[str]) -> float:
    return sum(word in said for word in words) + _QUESTION_WEIGHT * sum(word in said for word in asked)


def _units_of_quotation(group: Read, asked: Sequence[str], answer: str) -> list[int]:
    """The units of the place of a verbatim answer that says most of the question."""
    best: tuple[float, list[int]] = (-1.0, [])
    for span in group.folded.find_all(_bare(answer)):
        if _cuts_a_word(group.document.text, span):
            continue
        units = [at for at, unit in enumerate(group.group.units) if unit.start < span.end and unit.end > span.start]
        weight = sum(sum(word in group.said[at] for at in units) for word in asked)
        if units and weight > best[0]:
            best = weight, units
    return best[1] if _is_quotation(answer) else []


def _cuts_a_word(text: str, span: Span) -> bool:
    """Whether a stretch begins or ends inside of a word or number."""
    edges = text[max(0, span.start - 1) : span.start + 1], text[span.end - 1 : span.end + 1]
    return any(len(edge) == 2 and edge.isascii() and edge.isalnum() for edge in edges)


def _is_quotation(answer: str) -> bool:
    """Whether an answer says enough to be looked for as it stands."""
    return any(map(str.isalnum, answer))


def uncovered(group: Read, pairs: Sequence[QAPair]) -> list[int]:
    """Numbers of the units that no pair answers: too few of their words, or one of their numbers, are taken up."""
    starts = [unit.start for unit in group.group.units]
    ends = [unit.end for unit in group.group.units]
    taken: dict[int, list[str]] = {}
    for pair in pairs:
        touched = {
            at for span in pair.evidence for at in range(bisect_right(ends, span.start), bisect_left(starts, span.end))
        }
        for at in touched:
            taken.setdefault(at, []).append(f"{pair.question}\n{pair.answer}")
    return [at for at in group.group.wanted if not _is_answered(group, at, taken.get(at, ()))]


def _is_answered(group: Read, at: int, texts: Sequence[str]) -> bool:
    if not texts:
        return False
    said = Said(*texts)
    words = list(dict.fromkeys(content_words(group.texts[at])))
    values = {figure.value for text in texts for figure in figures(text)}
    plain = _without_number(group.texts[at])
    least = LEAST_COVERED_ZH if is_chinese(plain) else LEAST_COVERED
    return said.share(words) >= least and all(
        figure.value in values or figure.value in said
        for figure in figures(plain) if figure.unit or figure.value in plain  # three modes that are named need no three
    )  # fmt: skip


def _without_number(text: str) -> str:
    """A sentence without the number of its clause or item."""
    head, _, rest = text.lstrip().partition(" ")
    is_number = len(head) <= 8 and head.rstrip(".)）、").replace(".", "").lstrip("(（#").isdigit()
    return rest if is_number and rest else text


def spans_of(units: Sequence[Unit], numbers: Iterable[int]) -> tuple[Span, ...]:
    """The places of some units."""
    return tuple(Span(units[at].start, units[at].end) for at in numbers)
