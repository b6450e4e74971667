"""What a language model that follows instructions is to this package. Chunking and scoring need none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from qchunker.errors import ModelError


class Request(NamedTuple):
    """One call. ``system`` and ``shared`` come first, so that servers which remember beginnings read them once.

    Args:
        system: what the model is to do; the same for all requests of a role.
        shared: text that many requests have in common.
        own: what only this request says.
        schema: JSON schema of the reply, for models that can be held to one; None for free text.
        max_tokens: of the reply.
        temperature: of the sampling; 0 takes the likeliest token.
        top_p: share of the probability that is sampled from.
        seed: of the sampling, for models that know one.
        acknowledged: what the model is taken to have answered to ``shared``, which is then a turn of its own; empty
            where ``shared`` and ``own`` are one turn.
    """

    system: str
    shared: str
    own: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    acknowledged: str = ""

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Role and text of every turn, in order, the system first where it says something."""
        system = [("system", self.system)] if self.system else []
        if not self.acknowledged:
            return [*system, ("user", self.shared + self.own)]
        return [*system, ("user", self.shared), ("assistant", self.acknowledged), ("user", self.own)]


class Completion(NamedTuple):
    """What a model answered: untrusted text, whatever was asked for.

    Args:
        text: of the reply.
        is_cut: whether the reply ended because it had ``max_tokens``.
        prompt_tokens: read, as the model counts; 0 where it does not say.
        completion_tokens: written.
    """

    text: str
    is_cut: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


Reply = Completion | ModelError
"""A completion, or why this one request failed for good."""

Done = Callable[[int, Completion], None]


@dataclass(slots=True)
class Tally:
    """What happened in a run, for its summary.

    Args:
        counts: by name, such as ``repaired`` or ``cut``.
        problems: what failed for good, by role.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class LLM(Protocol):
    """Requests to replies."""

    @property
    def id(self) -> str:
        """Name and version: everything the replies depend on, apart from chance."""

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        """One reply per request, in the same order. A request that fails for good gives its error; others go on.

        Args:
            requests: any number; the model decides how many are in work at once.
            done: is told the place of a request and its completion as soon as that is there, from any thread.

        Raises:
            ModelError: if no request can succeed: the key is refused, there is no such model, no server answers.
        """


def one_by_one(requests: Sequence[Request], reply: Callable[[Request], Reply], done: Done | None) -> list[Reply]:
    """The replies of a model that answers one request at a time."""
    replies: list[Reply] = []
    for i, request in enumerate(requests):
        replies.append(reply(request))
        if done is not None and isinstance(replies[-1], Completion):
            done(i, replies[-1])
    return replies
