"""The generator plays outline generator and segmenter in one reply: the questions as its thoughts, then the chunks.

A chunk is its first and last words around a mask. Question and chunk of the same number belong together; where there
are more of one than of the other, they are put together by the words they share. A document that is longer than a
window is cut where the rules cut; what a reply leaves open is cut and outlined by the rules.

Source: QChunker 3.4 (M_Gen), and the form in which it answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from qchunker.alignment import FoldedText, anchored_places, anchors_of
from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.distilled.setting import sampled
from qchunker.debate.llm.outline import MOST_CHARS, with_rules
from qchunker.debate.llm.segmenter import nearest_unit, within_limits
from qchunker.debate.llm.setting import Setting
from qchunker.debate.llm.windows import Window, title_of, windows_of
from qchunker.debate.offline.segmenter import Segmentation
from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError
from qchunker.models.llm import Completion, Request, Tally
from qchunker.types import Document, Outline, Question, Span

_THOUGHT = re.compile(r"\A(.*)</(?:think|thinking|thought|reasoning)>(.*)\Z", re.DOTALL | re.IGNORECASE)
_CHUNKS = re.compile(r"\A(.*?)(<chunk>.*)\Z", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w-]{0,30}>", re.IGNORECASE)
_COUNT = "(?:\\d{1,3}|[一二三四五六七八九十]{1,3})"
_ASKED = "(?:questions?|q|问题|問題|问|問)"
_NUMBER = re.compile(
    rf"^(?:[-*+#>•·]+\s+|[*_•·>\s]+)*"
    rf"(?:{_ASKED}?\s*[（(\[【]?{_COUNT}[）)\]】.、:：．]+(?!\d)|{_ASKED}\s*{_COUNT}?\s*[:：]|第{_COUNT}[题題问問][:：、]?)?[\s*_]*",
    re.IGNORECASE,
)
_ENDS_QUESTION = re.compile(r"[?？][\"'”’」』）)*_]*")
_SEPARATOR = re.compile(r"[;；|｜]")
_BETWEEN = ";；|｜,，、/ "
_STEM = 5  # letters of a word that are compared: start, started
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]{3,}|\d+|[\u3400-\u9fff](?=([\u3400-\u9fff]))?", re.IGNORECASE)
_LEAST_FOUND = 0.5  # share of the chunks of a reply that must be found in the text
_MOST_QUESTIONS = 400


class Cut(NamedTuple):
    """A unit that a chunk starts with, and the questions that the chunk answers."""

    unit: int
    questions: tuple[str, ...]


class Generation(NamedTuple):
    """An outline, and the first units of the chunks it is about."""

    outline: Outline
    cuts: list[int]


def generate(document: Document, made: Segmentation, setting: Setting) -> Generation:
    """The outline and the cuts of a document, asked for once.

    Args:
        document: of any length.
        made: its sentences, and the evidence of the rules.
        setting: of the generator.
    """
    rules = made.best() or [0]
    windows = windows_of(made.units, rules, setting.config.window_chars)
    tasks = [_task(document, made, window, setting) for window in windows]
    found = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    told: dict[int, list[str]] = {0: []}
    silent: list[Window] = []
    for window, parts in zip(windows, found, strict=True):
        answered = {unit for part in parts for unit in part.units}
        left = [cut for cut in rules if window.first <= cut < window.stop and cut not in answered]
        setting.tally.counts["windows cut by rules"] += not answered
        for unit in (window.first, *left):
            told.setdefault(unit, [])
        cuts = [cut for part in parts for cut in part.value]
        for cut in cuts:
            told.setdefault(cut.unit, []).extend(cut.questions)
        if not any(cut.questions for cut in cuts):
            silent.append(window)
    starts = sorted(told)
    questions = [
        Question(text, *span, span)
        for unit, stop in zip(starts, [*starts[1:], len(made.units)], strict=True)
        for span in [Span(made.units[unit].start, made.units[stop - 1].end)]
        for text in told[unit]
    ]
    outline = with_rules(document, made, questions, silent, setting)
    return Generation(outline, within_limits(starts, rules, made))


def _task(document: Document, made: Segmentation, window: Window, setting: Setting) -> Task[list[Cut]]:
    def make(units: Units) -> Request:
        text = document.without_furniture(*_span(made, units))
        values = {"title": title_of(document), "text": text}
        return sampled(setting, "generator", document, values)

    def read(units: Units, reply: Completion) -> Answered[list[Cut]]:
        return _read(document, made, units, reply, setting)

    return Task(tuple(range(window.first, window.stop)), make, read)


def _span(made: Segmentation, units: Sequence[int]) -> Span:
    return Span(made.units[units[0]].start, made.units[units[-1]].end)


def _read(
    document: Document, made: Segmentation, units: Units, reply: Completion, setting: Setting
) -> Answered[list[Cut]]:
    """The cuts in a reply. Of one that was cut off, those before its last chunk, where the rest is asked for from."""
    thoughts, answer = parts_of(reply.text)
    anchors = anchors_of(answer)
    places = anchored_places(FoldedText(document.text, _span(made, units)), anchors)
    if reply.is_cut:
        # The last element may be half there, and the place of the one before it is sure.
        places = [place for place in places if place.anchor < len(anchors) - 1]
        last = nearest_unit(made, units, places[-1].start) if places else units[0]
        if last == units[0]:
            raise CutReplyError(setting.llm.id, "the chunks are cut off")
        whole = tuple(unit for unit in units if unit < last)
        anchors = anchors[: places[-1].anchor]
        places = places[:-1]
    else:
        whole = units
        if not places:
            raise ModelOutputError(setting.llm.id, "no <chunk> element with words of the text")
        if len(places) < _LEAST_FOUND * len(anchors):
            raise ModelOutputError(setting.llm.id, f"the text has the words of {len(places)} of {len(anchors)} chunks")
    owners = _owners(made, whole, len(anchors), {place.anchor: place.start for place in places})
    questions = questions_of(thoughts)
    if reply.is_cut:
        questions = questions[: len(anchors)]
    if len(questions) == len(anchors):
        pairs = list(zip(questions, owners, strict=True))
    else:
        setting.tally.counts["outlines of another length"] += 1
        pairs = _by_words(document, made, whole, questions, sorted({whole[0], *owners}), setting.tally)
    told: dict[int, list[str]] = {unit: [] for unit in sorted({whole[0], *owners})}
    for question, unit in pairs:
        told[unit].append(question)
    return Answered(whole, [Cut(unit, tuple(texts)) for unit, texts in told.items()])


def _owners(made: Segmentation, units: Units, n: int, starts: dict[int, int]) -> list[int]:
    """For each chunk of a reply the unit that it starts with; one that was not found is part of the one before."""
    owners: list[int] = []
    for number in range(n):
        before = owners[-1] if owners else units[0]
        owners.append(nearest_unit(made, units, starts[number]) if number in starts else before)
    return owners


def parts_of(reply: str) -> tuple[str, str]:
    """What a reply thinks and what it answers; where nothing ends its thoughts, they end where its chunks begin."""
    found = _THOUGHT.match(reply) or _CHUNKS.match(reply)
    return (found[1], found[2]) if found else ("", reply)


def questions_of(thoughts: str) -> list[str]:
    """The questions of an outline: one per line, or told apart by question marks, semicolons or bars."""
    lines = [piece for line in _TAG.sub("\n", thoughts).splitlines() for piece in _questions_in(line)]
    if len(lines) == 1:
        lines = _SEPARATOR.split(lines[0])
    texts = [" ".join(_NUMBER.sub("", line, count=1).split()).strip("*_ ") for line in lines]
    texts = [text for text in texts if any(map(str.isalnum, text)) and len(text) <= MOST_CHARS]
    asking = [text for text in texts if _ENDS_QUESTION.search(text)]
    # Beside questions, anything else is a title or a thought about them.
    return (asking if 2 * len(asking) >= len(texts) else [text for text in texts if text[-1] not in ":："])[
        :_MOST_QUESTIONS
    ]


def _questions_in(line: str) -> Iterator[str]:
    at = 0
    for match in _ENDS_QUESTION.finditer(line):
        yield line[at : match.end()].lstrip(_BETWEEN)
        at = match.end()
    yield line[at:].lstrip(_BETWEEN)


def _by_words(
    document: Document,
    made: Segmentation,
    units: Units,
    questions: Sequence[str],
    starts: Sequence[int],
    tally: Tally,
) -> list[tuple[str, int]]:
    """Questions with the chunks they fit, both in order: the pairs that share most words, rare ones counting more."""
    stops = [*starts[1:], units[-1] + 1]
    bodies = [
        _words(document.text[slice(*_span(made, range(start, stop)))])
        for start, stop in zip(starts, stops, strict=True)
    ]
    known = Counter(word for body in bodies for word in body)
    asked = [_words(question) for question in questions]
    best = [[0.0] * (len(bodies) + 1) for _ in range(len(asked) + 1)]
    fits = [[sum(1 / known[word] for word in words & body) for body in bodies] for words in asked]
    for i, row in enumerate(fits, 1):
        for j, fit in enumerate(row, 1):
            best[i][j] = max(best[i - 1][j], best[i][j - 1], best[i - 1][j - 1] + fit)
    pairs: list[tuple[str, int]] = []
    i, j = len(asked), len(bodies)
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((questions[i], starts[j]))
    tally.counts["questions that fit no chunk"] += len(questions) - len(pairs)
    return pairs[::-1]


def _words(text: str) -> set[str]:
    """The beginnings of the words of a text, its numbers, and in Chinese its pairs of characters."""
    return {match[0].casefold()[:_STEM] + (match[1] or "") for match in _WORD.finditer(text)}
