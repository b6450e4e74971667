"""The question outline generator: what does the document answer, and where?

A document that fits is shown at once; of a longer one every window is asked for its questions, and the outlines are put
one behind the other. Where the model gives none that can be used, the rules make it.

Source: QChunker 3.2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.setting import Setting
from qchunker.debate.llm.windows import Window, numbered, title_of, windows_of
from qchunker.debate.offline import outline as rules
from qchunker.debate.offline.segmenter import Segmentation
from qchunker.models.json_output import CutReplyError, read_json
from qchunker.models.llm import Completion, Request
from qchunker.types import Document, Outline, Question, Span

MOST_CHARS = 400  # of a question
_INT, _TEXT = {"type": "integer"}, {"type": "string"}
_QUESTION = {"type": "object", "properties": {"question": _TEXT, "first": _INT, "last": _INT},
             "required": ["question", "first", "last"], "additionalProperties": False}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"questions": {"type": "array", "items": _QUESTION}},
          "required": ["questions"], "additionalProperties": False}  # fmt: skip


def outline(document: Document, made: Segmentation, setting: Setting) -> Outline:
    """The questions of a document, in order of their regions; never empty."""
    windows = windows_of(made.units, made.best() or [0], setting.config.window_chars)
    tasks = [_task(document, made, window, setting) for window in windows]
    found = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    questions = [question for parts in found for part in parts for question in part.value]
    silent = [window for window, parts in zip(windows, found, strict=True) if not any(part.value for part in parts)]
    return with_rules(document, made, questions, silent, setting)


def with_rules(
    document: Document, made: Segmentation, questions: list[Question], silent: Sequence[Window], setting: Setting
) -> Outline:
    """The outline of a model, each question once, with that of the rules for windows that the model said nothing of."""
    by_rules = rules.outline(document).questions
    for window in silent:
        setting.tally.counts["outlined by rules"] += 1
        start, end = made.units[window.first].start, made.units[window.stop - 1].end
        questions += [one for one in by_rules if start <= one.start < end]
    kept: dict[str, Question] = {}
    for one in sorted(questions, key=lambda one: (one.start, -one.end)):
        kept.setdefault(" ".join(one.text.casefold().split()), one)
    return Outline(tuple(kept.values()) or by_rules)


def _task(document: Document, made: Segmentation, window: Window, setting: Setting) -> Task[list[Question]]:
    def make(units: Units) -> Request:
        values = {"title": title_of(document), "text": numbered(document, made.units, units)}
        return setting.request("outline", document, values, SCHEMA)

    def read(units: Units, reply: Completion) -> Answered[list[Question]]:
        def questions(value: Any) -> list[Question]:
            found = [_question(one, made, units) for one in value["questions"]]
            kept = [one for one in found if one is not None]
            if not kept:
                raise ValueError("no question with the numbers of its sentences")
            return kept

        result = read_json(reply.text, questions, model=setting.llm.id, is_cut=reply.is_cut)
        if result.is_cut:
            raise CutReplyError(setting.llm.id, "the outline is cut off")
        return Answered(units, result.value)

    return Task(tuple(range(window.first, window.stop)), make, read)


def _question(value: Any, made: Segmentation, units: Units) -> Question | None:
    """A question with the region it covers; None for one that is blank or points outside of what was shown."""
    try:
        text, first, last = " ".join(str(value["question"]).split()), int(value["first"]), int(value["last"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if not 1 <= first <= last <= len(units) or not any(map(str.isalnum, text)) or len(text) > MOST_CHARS:
        return None
    start, end = made.units[units[first - 1]].start, made.units[units[last - 1]].end
    return Question(text, start, end, Span(start, end))
