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

_TURN = "qchunker:the-text-of-turn-"
_MARK = re.compile(rf"({_TURN}\d:)")
_NO_TEMPLATE = "use a model that was taught to follow instructions"


def prompt_parts(template: Template, request: Request, name: str) -> list[Part]:
    """The prompt of a request, in order.

    Raises:
        ModelError: if the template does not write what the user says, once.
    """
    turns = request.turns
    try:
        found = _filled(template, turns)
    except Exception:  # templates raise what they like
        found = []
    if request.system and not _has_all(found, turns):
        # Some models know no instructions but those of the user.
        turns = [("user", f"{request.system}\n\n{turns[1][1]}"), *turns[2:]]
        try:
            found = _filled(template, turns)
        except Exception as error:
            raise ModelError(name, "its chat template cannot be used", hint=_NO_TEMPLATE) from error
    if not _has_all(found, turns):
        raise ModelError(name, "has no usable chat template", hint=_NO_TEMPLATE)
    texts = {_mark(number): text for number, (_, text) in enumerate(turns)}
    return [Part(texts.get(part, part), is_text=part in texts) for part in found if part]


def _mark(number: int) -> str:
    return f"{_TURN}{number}:"


def _filled(template: Template, turns: Sequence[tuple[str, str]]) -> list[str]:
    marked = [{"role": role, "content": _mark(number)} for number, (role, _) in enumerate(turns)]
    return _MARK.split(template(marked))


def _has_all(found: Sequence[str], turns: Sequence[tuple[str, str]]) -> bool:
    """Whether a template has written every turn, once."""
    return all(found.count(_mark(number)) == 1 for number in range(len(turns)))


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
