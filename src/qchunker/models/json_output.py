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

_THOUGHT_TAG = re.compile(r"<(/?)(think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
# Ticks inside a value stand within a line; those of a fence open and close theirs.
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_OPENINGS = re.compile(r"[{\[]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|"', re.DOTALL)
_CLOSES = {"{": "}", "[": "]"}
_HALF = re.compile("[\ud800-\udfff]")
_MOST_REPAIRED = 200_000
_MOST_OPENINGS = 20
_MOST_CHARS = 400_000


class CutReplyError(ModelOutputError):
    """A reply that ended before it was complete, and of which nothing is whole."""


class Read(NamedTuple):
    """What a reply says.

    Args:
        value: whatever the reader made of it.
        is_cut: whether the reply was cut off before or behind the end of what it says.
    """

    value: Any
    is_cut: bool


class _Found(NamedTuple):
    """A value that a reply may mean; it may be a part of one that was cut off, or all that there is of the reply."""

    value: Any
    is_part: bool = False
    is_all: bool = False


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
    text = reply.strip()
    if text[:1] not in ("{", "[") or not any(_parsed(text[:_MOST_CHARS])):  # marks of thoughts in values are words
        text = without_thoughts(reply)[:_MOST_CHARS]
    reason = "no JSON in the reply"
    for found in _candidates(text, fields):
        try:
            value = read(_with_whole_characters(found.value))
            # White space without end behind an answer takes nothing from it.
            return Read(value, found.is_part or (is_cut and not found.is_all))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            reason = f"the reply holds something else than asked for: {_said(error)}"
    if is_cut or (_is_open(text) and reason.startswith("no JSON")) or (reply.strip() and not text.strip()):
        raise CutReplyError(model, "the reply is cut off", hint="allow more tokens")
    raise ModelOutputError(model, reason)


def without_thoughts(reply: str) -> str:
    """The reply without what the model thought before it; nothing is left where it was cut off in thought."""
    text = _THOUGHT_END.sub("", _without_marked(reply))  # servers that leave out the opening mark
    return _THOUGHT_START.sub("", text).strip()


def _without_marked(reply: str) -> str:
    """The reply without what stands between an opening mark and the next closing one of its name; in linear time."""
    marks = list(_THOUGHT_TAG.finditer(reply))
    closed = {mark[2].lower(): mark.start() for mark in marks if mark[1]}  # by name, the last place
    parts: list[str] = []
    at, opened, name = 0, -1, ""
    for mark in marks:
        if opened < 0 and not mark[1] and closed.get(mark[2].lower(), -1) > mark.start():
            opened, name = mark.start(), mark[2].lower()
        elif opened >= 0 and mark[1] and mark[2].lower() == name:
            parts.append(reply[at:opened])
            at, opened = mark.end(), -1
    return "".join(parts) + reply[at:]


def _candidates(text: str, fields: Collection[str]) -> Iterator[_Found]:
    """Values that the reply may mean, the likeliest first."""
    pieces = [(match[1].strip(), match.span() == (0, len(text))) for match in _FENCE.finditer(text)] + [(text, True)]
    for piece, is_all in pieces:
        yield from (_Found(value, is_all=is_all) for value in _parsed(piece))
    values = [found for piece, _ in pieces for found in _inside(piece)]
    for value, whole in values:
        yield from (_Found(one, not whole) for one in _parsed(value))
    for value, whole in values:
        if ":" in value or '"' in value:
            yield from (_Found(one, not whole) for one in _repaired(value))
    if fields and (found := _by_fields(text, fields)):
        yield _Found(found)


def _with_whole_characters(value: Any) -> Any:
    """The value without halves of characters, which JSON can name and no file can hold."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_with_whole_characters(one) for one in value]
    if isinstance(value, dict):
        return {_with_whole_characters(name): _with_whole_characters(one) for name, one in value.items()}
    return value


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
    """Where the value that opens at ``start`` closes; if nowhere, what is whole of it, closed.

    Of an item behind a whole one, nothing is kept if it is not whole itself.
    """
    stack: list[str] = []
    ends: list[int] = []  # of the last whole value in each
    for match in _STRING_OR_BRACKET.finditer(text, start):
        sign = match.group()
        if sign in _CLOSES:
            stack.append(_CLOSES[sign])
            ends.append(-1)
        elif sign in "}]":
            if not stack or stack[-1] != sign:
                break
            stack.pop()
            ends.pop()
            if not stack:
                return match.end(), ""
            ends[-1] = match.end()
        elif sign == '"':
            break  # a string that does not end
    lists = [at for at, sign in enumerate(stack) if sign == "]" and ends[at] >= 0]
    last = lists[0] if lists else ends.index(max(ends)) if ends else 0
    if not ends or ends[last] < 0:
        return None, ""
    return None, text[start : ends[last]] + "".join(reversed(stack[: last + 1]))


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
    if isinstance(error, KeyError):
        return f"it lacks {error.args[0]!r}" if error.args else "it lacks something"
    return str(error)[:120] if isinstance(error, ValueError) and str(error) else "it has another form"
