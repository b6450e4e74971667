"""Pairs for every group: the document is remembered first, then one group is in focus.

Source: GC-QA-RAG (short documents: one request and a least number of pairs; long ones: the memory-focus dialogue).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.windows import title_of
from qchunker.models.json_output import CutReplyError, read_json
from qchunker.models.llm import Completion, Request
from qchunker.prompts import Tagged, as_data
from qchunker.qa.evidence import Read, evidence_units
from qchunker.qa.llm.setting import Memory, Part, QASetting, background, memories, parts_of, request
from qchunker.qa.pairs import FailedGroup, Group
from qchunker.types import Document, Span

_PAIR = {"type": "object", "properties": {"Question": {"type": "string"}, "Answer": {"type": "string"}},
         "required": ["Question", "Answer"], "additionalProperties": False}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"Summary": {"type": "string"},
                                           "PossibleQA": {"type": "array", "items": _PAIR}},
          "required": ["Summary", "PossibleQA"], "additionalProperties": False}  # fmt: skip
FIELDS = ("Question", "Answer", "Summary")
_MOST_PAIRS = 400  # of one reply
_MOST_CHARS = 8_000  # of a question or answer
_SUMMARY_CHARS = 500
_KEYS = {
    "summary": ("summary", "摘要", "概要"),
    "pairs": ("possibleqa", "possible_qa", "qa", "pairs", "qa_pairs", "questions", "问答对"),
    "question": ("question", "q", "问题", "问"), "answer": ("answer", "a", "答案", "回答", "答"),
}  # fmt: skip


class RawPair(NamedTuple):
    """A pair as a model gave it."""

    group: int
    question: str
    answer: str
    summary: str


class Given(NamedTuple):
    """What a model gave for some parts.

    Args:
        pairs: in the order of the parts and of the replies.
        failed: groups of which something was never answered for.
        n_asked: pairs that were asked for at least.
    """

    pairs: list[RawPair]
    failed: list[FailedGroup]
    n_asked: int


def generated(document: Document, groups: Sequence[Group], reads: Sequence[Read], setting: QASetting) -> Given:
    """Pairs for every group; what got no usable reply is asked for again with another seed, and then reported."""
    parts = parts_of(groups, setting.config.window_chars)
    shown = memories(document, parts, setting.config.window_chars)
    found: list[list[RawPair]] = [[] for _ in parts]
    waiting: dict[int, Units] = {at: part.units for at, part in enumerate(parts)}
    for attempt in range(setting.config.retries + 1):
        if not waiting:
            break
        setting.tally.counts["groups asked again"] += len({parts[at].group for at in waiting}) if attempt else 0
        tasks = [
            _task(document, reads[parts[at].group], parts[at], shown[at], units, setting, attempt)
            for at, units in waiting.items()
        ]
        answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
        left: dict[int, Units] = {}
        for (at, units), answered in zip(waiting.items(), answers, strict=True):
            found[at] += [pair for one in answered for pair in one.value]
            told = {unit for one in answered for unit in one.units}
            if rest := tuple(unit for unit in units if unit not in told):
                left[at] = rest
        waiting = left
    reason = setting.tally.problems[-1] if setting.tally.problems else "no usable reply"
    failed = list(_failed(groups, parts, waiting, reason))
    return Given([pair for pairs in found for pair in pairs], failed, sum(len(part.units) for part in parts))


def _failed(
    groups: Sequence[Group], parts: Sequence[Part], waiting: Mapping[int, Units], reason: str
) -> Iterator[FailedGroup]:
    by_group: dict[int, list[int]] = {}
    for at, left in waiting.items():
        by_group.setdefault(parts[at].group, []).extend(left)
    for number, units in sorted(by_group.items()):
        inside = [groups[number].units[unit] for unit in sorted(units)]
        yield FailedGroup(number, inside[0].start, inside[-1].end, reason)


def generated_for(
    document: Document, groups: Sequence[Group], reads: Sequence[Read], left: Mapping[int, Sequence[int]],
    setting: QASetting, number: int,
) -> Given:  # fmt: skip
    """Pairs for exactly some sentences of some groups.

    Args:
        document: that they are of.
        groups: of the document.
        reads: the groups, ready for comparison.
        left: by group, the numbers of its units that no pair answers.
        setting: of the model.
        number: of the pass, from 1; it has a seed of its own.
    """
    everything = parts_of(groups, setting.config.window_chars)
    shown = memories(document, everything, setting.config.window_chars)
    tasks = []
    n_asked = 0
    for part, memory in zip(everything, shown, strict=True):
        units = tuple(unit for unit in part.units if unit in set(left.get(part.group, ())))
        if units:
            n_asked += len(units)
            seed = setting.config.retries + number
            tasks.append(_task(document, reads[part.group], part, memory, units, setting, seed, is_more=True))
    answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    return Given([pair for answered in answers for one in answered for pair in one.value], [], n_asked)


def _task(
    document: Document, group: Read, part: Part, memory: Memory, wanted: Units, setting: QASetting, attempt: int,
    *, is_more: bool = False,
) -> Task[list[RawPair]]:  # fmt: skip
    model = setting.llm.id

    def make(units: Units) -> Request:
        whole = units == part.units and not is_more
        filled = focus(document, group, part, memory, units, setting, whole=whole)
        return request(setting, document, filled, SCHEMA, setting.config.seed + attempt)

    def read(units: Units, reply: Completion) -> Answered[list[RawPair]]:
        result = read_json(reply.text, lambda value: _pairs(value, part.group, least=not is_more), model=model,
                           fields=FIELDS, is_cut=reply.is_cut)  # fmt: skip
        if not result.is_cut:
            return Answered(units, result.value)
        resting = {at for pair in result.value for at in evidence_units(group, pair.question, pair.answer)}
        answered = tuple(unit for unit in units if unit in resting)
        if not answered and len(units) > 1:
            raise CutReplyError(model, "the reply is cut off")
        return Answered(answered if len(units) > 1 else units, result.value)

    return Task(wanted, make, read)


def focus(
    document: Document, group: Read, part: Part, memory: Memory, units: Units, setting: QASetting, *, whole: bool
) -> tuple[str, str, str]:
    """System, shared and own part of the request about some sentences of a part."""
    values = {"title": title_of(document), "count": str(len(units))}
    if whole and memory.is_single:
        own = setting.prompt("qa_single", document).fill(**values, text="")[2]
    else:
        values |= {"path": " > ".join(_path(document, part.span)) or "-",
                   "passage": passage(document, group, part, units, whole=whole)}  # fmt: skip
        more = {"text": "", "outline": ""} if whole else {}
        own = setting.prompt("qa_group" if whole else "qa_more", document).fill(**values, **more)[2]
    return *background(document, memory, setting), own


def _path(document: Document, span: Span) -> tuple[str, ...]:
    blocks = document.blocks_in(span.start, span.start + 1)
    return tuple(" ".join(title.split()) for title in blocks[0].heading_path) if blocks else ()


def passage(document: Document, group: Read, part: Part, units: Units, *, whole: bool) -> str:
    """The text that a request asks about: all of a part, or some sentences of it; with the names of columns."""
    inside = group.group.units
    header = inside[units[0]].header
    lines = [document.text[slice(*header)]] if header is not None else []
    if whole:
        first = part.span.start if header is not None else _with_headings(group.group, part)
        lines.append(document.without_furniture(first, part.span.end))
    else:
        lines += [" ".join(group.texts[at].split()) for at in units]
    return "\n".join(lines)


def _with_headings(group: Group, part: Part) -> int:
    """Where a part starts, with the headings, questions and code in front of it."""
    at = part.units[0]
    while at and not group.units[at - 1].wants_answer and group.units[at - 1].kind != "row":
        at -= 1
    return group.units[at].start


def _pairs(value: Any, group: int, *, least: bool) -> list[RawPair]:
    """The pairs of a reply.

    Raises:
        ValueError: if there is none, where one is wanted.
    """
    summary = ""
    items = value
    if isinstance(value, Mapping):
        known = {str(name).strip().casefold(): one for name, one in value.items()}
        summary = _text(_first(known, "summary"))[:_SUMMARY_CHARS]
        items = _first(known, "pairs")
        if items is None and _first(known, "question") is not None:
            items = [value]
    if isinstance(items, Mapping):
        items = [items]
    if not isinstance(items, list):
        raise ValueError("no list PossibleQA")
    found = []
    for item in items[:_MOST_PAIRS]:
        named = {str(name).strip().casefold(): one for name, one in item.items()} if isinstance(item, Mapping) else {}
        question, answer = _text(_first(named, "question")), _text(_first(named, "answer"))
        if question or answer:
            found.append(RawPair(group, " ".join(question.split()), answer.strip(), summary))
    if not found and (least or items):
        raise ValueError("no pair with a Question and an Answer")
    return found


def _first(named: Mapping[str, Any], what: str) -> Any:
    return next((named[key] for key in _KEYS[what] if key in named), None)


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = "\n".join(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:_MOST_CHARS]


def listed(pairs: Sequence[tuple[str, str]]) -> Tagged:
    """Pairs with numbers, as data."""
    return Tagged("\n".join(
        f'<item n="{n}">\nQuestion: {as_data(question)}\nAnswer: {as_data(answer)}\n</item>'
        for n, (question, answer) in enumerate(pairs, 1)
    ))  # fmt: skip
