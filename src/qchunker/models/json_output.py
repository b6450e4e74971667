"""JSON out of the reply of a language model, which may be wrapped, broken, cut off, or something else.

Source: GC-QA-RAG (fenced JSON, whole reply, regular expressions for the fields); the order is theirs, with a repair
before the last. What was thought before the answer is no part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, TypeVar

from qchunker.errors import MissingExtraError, ModelOutputError

T = TypeVar("T")

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
# Ticks inside a value stand within a line; those of a fence open and close theirs.
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_OPENINGS = re.compile(r"[{\[]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|"', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}
_MOST_REPAIRED = 200_000
_MOST_OPENINGS = 20
_MOST_CHARS = 2_000_000


class CutReplyError(ModelOutputError):
    """A reply that ended before it was complete, and of which nothing is whole."""


class Read(NamedTuple):
    """What a reply says.

    Args:
        value: whatever the reader made of it.
        is_cut: whether the reply was cut off behind what it says.
    """

    value: Any
    is_cut: bool


def read_json(
    reply: str, read: Callable[[Any], T], *, model: str, fields: Collection[str] = (), is_cut: bool = False
) -> Read:
    """The first JSON value of a reply that ``read`` accepts.

    Args:
        reply: as the model gave it.
        read: makes something of a value, or raises ValueError, KeyError or TypeError.
        model: for messages.
        fields: names that are looked for one by one where nothing else helps; their values become one object.
        is_cut: whether the server says that the reply is cut off.

    Raises:
        CutReplyError: if the reply is cut off and nothing of it is whole.
        ModelOutputError: if nothing in it is accepted.
    """
    text = without_thoughts(reply)[:_MOST_CHARS]
    reason = "no JSON in the reply"
    for candidate, whole in _candidates(text, fields):
        try:
            return Read(read(candidate), is_cut or not whole)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reason = f"the reply holds something else than asked for: {_said(error)}"
    if is_cut or (_is_open(text) and reason.startswith("no JSON")) or (reply.strip() and not text.strip()):
        raise CutReplyError(model, "the reply is cut off", hint="allow more tokens")
    raise ModelOutputError(model, reason)


def without_thoughts(reply: str) -> str:
    """The reply without what the model thought before it; nothing is left where it was cut off in thought."""
    text = _THOUGHT.sub("", reply)
    text = _THOUGHT_END.sub("", text)  # servers that leave out the opening mark
    return _THOUGHT_START.sub("", text).strip()


def _candidates(text: str, fields: Collection[str]) -> Iterator[tuple[Any, bool]]:
    """Values that the reply may mean, the likeliest first, and whether each was complete."""
    pieces = [match[1].strip() for match in _FENCE.finditer(text)] + [text]
    for piece in pieces:
        yield from ((value, True) for value in _parsed(piece))
    values = [found for piece in pieces for found in _inside(piece)]
    for value, whole in values:
        yield from ((one, whole) for one in _parsed(value))
    for value, whole in values:
        if ":" in value or '"' in value:
            yield from ((one, whole) for one in _repaired(value))
    if fields and (found := _by_fields(text, fields)):
        yield found, True


def _parsed(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return


def _refuse(name: str) -> None:
    raise ValueError(name)


def _repaired(text: str) -> Iterator[Any]:
    if len(text) > _MOST_REPAIRED:
        return
    try:
        from json_repair import repair_json
    except ImportError as error:
        raise MissingExtraError("qchunker[llm]", "reading the replies of a language model") from error
    try:
        value = repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError):
        return
    if isinstance(value, dict | list) and value:
        yield value


def _inside(text: str) -> Iterator[tuple[str, bool]]:
    """The values that open somewhere in a text, up to where they close; of a cut one, what is whole."""
    at = 0
    for _ in range(_MOST_OPENINGS):
        opening = _OPENINGS.search(text, at)
        if opening is None:
            return
        end, kept = _balanced(text, opening.start())
        if end is not None:
            yield text[opening.start() : end], True
            at = end if _looks_like_json(text[opening.start() : end]) else opening.end()
            continue
        if kept:
            yield kept, False
        at = opening.end()


def _looks_like_json(piece: str) -> bool:
    return '"' in piece or piece[0] == "["


def _balanced(text: str, start: int) -> tuple[int | None, str]:
    """Where the value that opens at ``start`` closes; if nowhere, what is whole of it, closed."""
    stack: list[str] = []
    last_end, last_stack = -1, tuple[str, ...]()
    for match in _STRING_OR_BRACKET.finditer(text, start):
        sign = match.group()
        if sign in _CLOSES:
            stack.append(_CLOSES[sign])
        elif sign in "}]":
            if not stack or stack[-1] != sign:
                break
            stack.pop()
            if not stack:
                return match.end(), ""
            last_end, last_stack = match.end(), tuple(stack)
        elif sign == '"':
            break  # a string that does not end
    if last_end < 0:
        return None, ""
    return None, text[start:last_end] + "".join(reversed(last_stack))


def _is_open(text: str) -> bool:
    """Whether a value opens and nothing closes it."""
    opening = _OPENINGS.search(text)
    return opening is not None and _balanced(text, opening.start())[0] is None


def _by_fields(text: str, fields: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in fields:
        match = re.search(
            rf'["“\']?{re.escape(name)}["”\']?\s*[:：]\s*(?:"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?|true|false|null)\b)',
            text,
        )
        if match is None:
            continue
        try:
            found[name] = json.loads(f'"{match[1]}"' if match[1] is not None else match[2], strict=False)
        except ValueError:
            continue
    return found


def _said(error: Exception) -> str:
    return f"{type(error).__name__} {str(error)[:120]}".strip()
