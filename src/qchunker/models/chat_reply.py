"""What a server answers to ``/chat/completions``, checked: nothing of it is believed before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qchunker.errors import ModelOutputError
from qchunker.models.llm import Completion

_COUNTS = ("prompt_tokens", "completion_tokens")
_MOST_COUNT = 1 << 40


def completion_in(reply: Any, said: Callable[[str], str], name: str) -> Completion:
    """The completion in a reply. What a model thought before it (``reasoning_content``) is no part of it.

    Args:
        reply: the JSON that the server answered.
        said: makes what the server says fit for messages.
        name: of the model.

    Raises:
        ModelOutputError: if there is none, if the model refuses, or if it is empty and was not cut.
    """
    match reply:
        case {"choices": [{"message": {**message}} as choice, *_]}:
            pass
        case {"error": {"message": str(text)}} | {"error": str(text)}:
            raise ModelOutputError(name, said(f"answered with an error: {text}"))
        case str():
            raise ModelOutputError(name, "the server answers something else than JSON")
        case _:
            raise ModelOutputError(name, "answered without choices and a message")
    finish, content, refusal = choice.get("finish_reason"), message.get("content"), message.get("refusal")
    if refusal or finish == "content_filter":
        reason = refusal if isinstance(refusal, str) and refusal else "its reply was filtered"
        raise ModelOutputError(name, said(f"the model refuses: {reason}"))
    if content is not None and not isinstance(content, str):
        raise ModelOutputError(name, f"answered with a {type(content).__name__} for a text")
    is_cut = finish == "length"
    if not (content and content.strip()) and not is_cut:
        raise ModelOutputError(name, "an empty reply")
    usage = reply.get("usage")
    counts = [_count(usage.get(field)) if isinstance(usage, dict) else 0 for field in _COUNTS]
    # JSON can spell half a character, which no file takes.
    text = (content or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Completion(text, is_cut, *counts)


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _MOST_COUNT else 0
