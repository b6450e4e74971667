"""A request in the form in which a model was taught to read one.

Templates mark turns with special tokens. A document may spell such a token, and would then speak for the user, for
the instructions or for the model. So the template is never given the text: it is given a mark, and the text takes its
place when the template's own words are tokens already. The text itself is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from qchunker.errors import ModelError, ModelOutputError
from qchunker.models.llm import Request

Template = Callable[[Sequence[Mapping[str, str]]], str]

CONTEXT = {"date_string": "1 Jan 2025", "enable_thinking": False}
"""For templates that else write the date of today, or ask for thoughts before the reply."""

_SYSTEM, _USER = "qchunker:the-text-of-the-system", "qchunker:the-text-of-the-user"
_MARK = re.compile(f"({_SYSTEM}|{_USER})")
_NO_TEMPLATE = "use a model that was taught to follow instructions"


def prompt_parts(template: Template, request: Request, name: str) -> list[Part]:
    """The prompt of a request, in order.

    Raises:
        ModelError: if the template does not write what the user says, once.
    """
    user = request.shared + request.own
    turns = {"system": _SYSTEM, "user": _USER} if request.system else {"user": _USER}
    try:
        found = _MARK.split(template([{"role": role, "content": mark} for role, mark in turns.items()]))
    except Exception:  # templates raise what they like
        found = []
    if request.system and found.count(_SYSTEM) != 1:
        # Some models know no instructions but those of the user.
        user = f"{request.system}\n\n{user}"
        try:
            found = _MARK.split(template([{"role": "user", "content": _USER}]))
        except Exception as error:
            raise ModelError(name, "its chat template cannot be used", hint=_NO_TEMPLATE) from error
    if found.count(_USER) != 1:
        raise ModelError(name, "has no usable chat template", hint=_NO_TEMPLATE)
    texts = {_SYSTEM: request.system, _USER: user}
    return [Part(texts.get(part, part), is_text=part in texts) for part in found if part]


def room(n_prompt: int, window: int, request: Request, name: str) -> int:
    """The most tokens of a reply.

    Raises:
        ModelOutputError: if the prompt leaves none.
    """
    if n_prompt >= window:
        hint = "use smaller sections, or a model with a larger window"
        raise ModelOutputError(name, f"the request has {n_prompt} tokens, and the model reads {window}", hint=hint)
    return max(1, min(request.max_tokens, window - n_prompt))


class Part(NamedTuple):
    """A part of a prompt.

    Args:
        text: of the part.
        is_text: whether it holds no special token, whatever it spells; else the template has written it.
    """

    text: str
    is_text: bool
