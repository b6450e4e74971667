"""Questions to a language model until there is an answer, or it is clear that there will be none.

Source: GC-QA-RAG (failed groups are asked again, then reported). No reply that was cut off is asked for again
unchanged, and no error is taken for an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from qchunker.errors import ModelError, ModelOutputError
from qchunker.models.json_output import CutReplyError
from qchunker.models.llm import LLM, Completion, Request, Tally
from qchunker.prompts import Prompt

T = TypeVar("T")
Units = tuple[int, ...]

_MOST_TOKENS_FACTOR = 4
_REPLY_SHOWN_CHARS = 2_000
_MOST_ROUNDS = 64


class Answered(NamedTuple, Generic[T]):
    """What one reply says of some units."""

    units: Units
    value: T


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """Something that is asked about some units, such as chunks; about fewer of them where a reply is cut off.

    Args:
        units: numbers of what is asked about.
        make: the request about some units.
        read: the answer in a reply about some units, with those that it answers; raises ModelOutputError. Where a reply
            is cut off, those that are whole.
    """

    units: Units
    make: Callable[[Units], Request]
    read: Callable[[Units, Completion], Answered[T]]


class _Try(NamedTuple):
    task: int
    units: Units
    factor: int = 1
    rejected: str = ""
    problem: str = ""


def ask(llm: LLM, tasks: Sequence[Task[T]], repair: Prompt, tally: Tally) -> list[list[Answered[T]]]:
    """The answers to every task; units without one are in none of them.

    A reply that is cut off keeps what is whole of it; the rest is asked for in smaller parts, or with more tokens, and
    never again unchanged. A reply that cannot be read is asked for once more with what is wrong. All that is asked at
    one time goes to the model together.

    Args:
        llm: any model.
        tasks: independent of each other.
        repair: the prompt that says what is wrong.
        tally: takes note of what was needed.

    Raises:
        ModelError: if no request can succeed.
    """
    found: list[list[Answered[T]]] = [[] for _ in tasks]
    waiting = [_Try(number, task.units) for number, task in enumerate(tasks) if task.units]
    for _ in range(_MOST_ROUNDS):
        if not waiting:
            break
        requests = [_request(tasks[one.task], one, repair) for one in waiting]
        again: list[_Try] = []
        for one, reply in zip(waiting, llm.complete(requests), strict=True):
            if isinstance(reply, ModelError):
                tally.counts["failed"] += 1
                tally.problems.append(reply.reason)
                continue
            try:
                answered = tasks[one.task].read(one.units, reply)
            except CutReplyError:
                again += _smaller(one, one.units, tally)
                continue
            except ModelOutputError as error:
                again += _corrected(one, reply, error, tally)
                continue
            found[one.task].append(answered)
            rest = tuple(unit for unit in one.units if unit not in set(answered.units))
            if rest:
                again += _smaller(one, rest, tally)
        waiting = again
    return found


def _request(task: Task[Any], one: _Try, repair: Prompt) -> Request:
    request = task.make(one.units)
    if one.factor > 1:
        request = request._replace(max_tokens=one.factor * request.max_tokens)
    if one.rejected:
        _, _, note = repair.fill(problem=one.problem, reply=one.rejected[:_REPLY_SHOWN_CHARS])
        request = request._replace(own=f"{request.own}\n\n{note}")
    return request


def _smaller(one: _Try, rest: Units, tally: Tally) -> list[_Try]:
    """What is asked instead of what was cut off: the rest, or, where nothing is whole, its halves with more tokens.

    Fewer units alone do not help where a model thinks for longer than it may write.
    """
    tally.counts["cut"] += 1
    if len(rest) < len(one.units):
        return [_Try(one.task, rest, one.factor)]
    if one.factor < _MOST_TOKENS_FACTOR:
        half = len(rest) // 2
        return [_Try(one.task, part, 2 * one.factor) for part in (rest[:half], rest[half:]) if part]
    tally.counts["failed"] += 1
    tally.problems.append("a reply is cut off however many tokens it may have")
    return []


def _corrected(one: _Try, reply: Completion, error: ModelOutputError, tally: Tally) -> list[_Try]:
    if one.rejected:
        tally.counts["failed"] += 1
        tally.problems.append(error.reason)
        return []
    tally.counts["repaired"] += 1
    return [one._replace(rejected=reply.text or "(nothing)", problem=error.reason)]
