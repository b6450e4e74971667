"""The text segmenter: several segmentations are sampled under the outline, and the objective takes one.

A model names sentences, or the first and last words of chunks; it never writes the text. Whatever it answers, the
result is a partition: what cannot be understood is cut by the rules, and what is too long is cut again by them.

Source: QChunker 3.2.2, and the form in which its small models answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from qchunker.alignment import FoldedText, anchored_starts, anchors_of
from qchunker.asking import Answered, Task, Units, ask
from qchunker.chunking.packing import GLUED
from qchunker.debate.llm.setting import Setting
from qchunker.debate.llm.windows import Window, numbered, title_of, windows_of
from qchunker.debate.offline.segmenter import Choose, Segmentation
from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError, read_json, without_thoughts
from qchunker.models.llm import Completion, Request
from qchunker.types import Document, Outline, Partition, Span

SCHEMA = {"type": "object", "properties": {"starts": {"type": "array", "items": {"type": "integer"}}},
          "required": ["starts"], "additionalProperties": False}  # fmt: skip
_OUTLINE_CHARS = 2_000


def segment(
    document: Document, found: Outline, made: Segmentation, setting: Setting, choose: Choose | None
) -> Partition:
    """The best of the segmentations that a model samples.

    Args:
        document: to be cut.
        found: its outline.
        made: its sentences, and the evidence of the rules.
        setting: of the model.
        choose: takes one of several partitions; None takes the one with most evidence.
    """
    rules = made.best() or [0]
    windows = windows_of(made.units, rules, setting.config.window_chars)
    paths = range(setting.config.paths)
    tasks = [_task(document, found, made, window, path, setting) for path in paths for window in windows]
    answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    candidates: dict[tuple[int, ...], None] = {}
    for path in paths:
        cuts: set[int] = {0}
        for window, parts in zip(windows, answers[path * len(windows) :], strict=False):
            cuts.add(window.first)
            answered = {unit for part in parts for unit in part.units}
            cuts.update(cut for part in parts for cut in part.value)
            missing = [cut for cut in rules if window.first <= cut < window.stop and cut not in answered]
            setting.tally.counts["windows cut by rules"] += bool(not answered)
            cuts.update(missing)
        candidates[tuple(within_limits(sorted(cuts), rules, made))] = None
    setting.tally.counts["segmentations"] += len(candidates)
    if choose is None:
        return made.partition(max(candidates, key=lambda cuts: (made.score(cuts), cuts)))
    return choose([made.partition(cuts) for cuts in candidates])


def within_limits(cuts: Sequence[int], rules: Sequence[int], made: Segmentation) -> list[int]:
    """The cuts, none behind a heading, and in what is longer than a chunk may be those of the rules too."""
    kept: list[int] = []
    cuts = sorted({_before_heading(cut, made) for cut in cuts})
    for start, stop in zip(cuts, [*cuts[1:], len(made.units)], strict=True):
        kept.append(start)
        size = sum(unit.size for unit in made.units[start:stop])
        if size > made.config.limit and stop - start > 1:
            kept += [cut for cut in rules if start < cut < stop]
    return kept


def _before_heading(cut: int, made: Segmentation) -> int:
    """The nearest place at or before a cut that does not part what belongs together."""
    while cut and made.units[cut].strength == GLUED:
        cut -= 1
    return cut


def _task(
    document: Document, found: Outline, made: Segmentation, window: Window, path: int, setting: Setting
) -> Task[list[int]]:
    config = setting.config
    role = "segmenter" if config.answers == "numbers" else "segmenter_anchors"

    def make(units: Units) -> Request:
        span = Span(made.units[units[0]].start, made.units[units[-1]].end)
        plain = document.without_furniture(*span)
        values = {
            "title": title_of(document),
            "text": numbered(document, made.units, units) if config.answers == "numbers" else plain,
            "outline": outline_lines(found, span),
            "target": str(setting.sizes.target),
            "limit": str(setting.sizes.limit),
        }
        return setting.request(
            role, document, values, SCHEMA if config.answers == "numbers" else None,
            temperature=config.temperature, top_p=config.top_p, seed=config.seed + path,
        )  # fmt: skip

    def read(units: Units, reply: Completion) -> Answered[list[int]]:
        if config.answers == "anchors":
            return Answered(units, _anchored(document, made, units, reply, setting.llm.id))
        starts = read_json(reply.text, lambda value: _starts(value, len(units)), model=setting.llm.id,
                           is_cut=reply.is_cut)  # fmt: skip
        if starts.is_cut:
            raise CutReplyError(setting.llm.id, "the list of cuts is cut off")
        return Answered(units, [units[number - 1] for number in starts.value])

    return Task(tuple(range(window.first, window.stop)), make, read)


def _starts(value: Any, n: int) -> list[int]:
    """Numbers of sentences, those that do not exist left out."""
    given = value if isinstance(value, list) else value["starts"]
    numbers = sorted({int(one) for one in given if not isinstance(one, bool) and 1 <= int(one) <= n})
    if not numbers:
        raise ValueError(f"no number between 1 and {n}")
    return numbers


def _anchored(document: Document, made: Segmentation, units: Units, reply: Completion, model: str) -> list[int]:
    """Units that chunks start with, the nearest to where their first words stand."""
    anchors = anchors_of(without_thoughts(reply.text))
    if reply.is_cut and len(units) > 1:
        raise CutReplyError(model, "the list of chunks is cut off")
    span = Span(made.units[units[0]].start, made.units[units[-1]].end)
    places = anchored_starts(FoldedText(document.text, span), anchors)
    if not places:
        raise ModelOutputError(model, "no chunk element with words of the text")
    return sorted({nearest_unit(made, units, place) for place in places})


def nearest_unit(made: Segmentation, units: Units, place: int) -> int:
    """Which of some units starts nearest to a place of the text."""
    index = bisect_left(units, place, key=lambda unit: made.units[unit].start)
    return min(units[max(0, index - 1) : index + 1], key=lambda unit: abs(made.units[unit].start - place))


def outline_lines(found: Outline, span: Span, most_chars: int = _OUTLINE_CHARS) -> str:
    """The questions about a stretch, then the others in order, as many as there is room for."""
    about = [one for one in found.questions if one.start < span.end and one.end > span.start]
    others = [one for one in found.questions[: most_chars // 8] if one not in set(about)]
    lines: list[str] = []
    room = most_chars
    for question in [*about, *others]:
        room -= len(question.text) + 3
        if room < 0:
            break
        lines.append(f"- {question.text}")
    return "\n".join(lines)
