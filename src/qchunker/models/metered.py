"""A language model whose calls are counted, remembered and bounded.

Every completion is kept as soon as it is there, so that a run that is killed pays for nothing twice. Before a request
is sent, it is certain, as far as tokens can be estimated, that it cannot cost more than what is left.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from qchunker.errors import BudgetError, ConfigError, ModelError, ModelOutputError, ModelUnavailableError
from qchunker.models.cache import cache_key
from qchunker.models.llm import LLM, Completion, Done, Reply, Request

_LATIN_CHARS_PER_TOKEN = 3.0
_OTHER_CHARS_PER_TOKEN = 1.0
_FRAME_TOKENS = 16  # of roles and marks around a message
_PER_MILLION = 1_000_000
_MOST_SILENT = 12  # requests in a row, each tried several times


class Replies(Protocol):
    """Where completions are kept."""

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Those that are there."""

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep some."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in any currency.

    Args:
        prompt: read.
        completion: written.
    """

    prompt: float
    completion: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / _PER_MILLION


@dataclass(slots=True)
class Spending:
    """What a run has cost.

    Args:
        calls: that the model answered or failed at.
        remembered: answered from what was kept.
        failed: of the calls.
        prompt_tokens: read, as the model counts, or estimated where it does not.
        completion_tokens: written; likewise.
    """

    calls: int = 0
    remembered: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def money(self, price: Price) -> float:
        return price.of(self.prompt_tokens, self.completion_tokens)


class MeteredLLM:
    """A language model with a memory, a meter and a limit.

    Args:
        llm: that answers.
        replies: where completions are kept; None keeps none.
        budget: most to spend: tokens, or money where there is a price; None for no limit.
        price: of tokens.
        spending: what others have spent of the same budget, to which this adds.
        patience: requests in a row without an answer until the model is given up.
    """

    def __init__(
        self,
        llm: LLM,
        replies: Replies | None = None,
        *,
        budget: float | None = None,
        price: Price | None = None,
        spending: Spending | None = None,
        patience: float = _MOST_SILENT,
    ) -> None:
        if budget is not None and not (math.isfinite(budget) and budget >= 0):
            raise ConfigError("budget", f"must be a number and not negative, got {budget!r}")
        self._llm, self._replies = llm, replies
        self._budget, self._price = budget, price
        self._lock = threading.Lock()
        self.id = llm.id
        self._n_silent, self._patience = 0, patience
        self.spending = Spending() if spending is None else spending

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        """As for ``LLM``; equal requests are sent once.

        Raises:
            BudgetError: if the next request could cost more than what is left.
            ModelUnavailableError: if the model has not answered for many requests in a row.
        """
        keys = [request_key(self.id, request) for request in requests]
        found: dict[bytes, Reply] = dict(self._remembered(dict.fromkeys(keys)))
        self.spending.remembered += len(found)
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        by_key = dict(zip(keys, requests, strict=True))
        sent = [by_key[key] for key in missing]
        first = 0
        while first < len(sent):
            stop = self._affordable(sent, first)
            replies = self._send(sent[first:stop], missing[first:stop])
            for key, request, reply in zip(missing[first:stop], sent[first:stop], replies, strict=True):
                found[key] = reply
                self._watch(request, reply)
            first = stop
        answers = [found[key] for key in keys]
        for at, reply in enumerate(answers):
            if done is not None and isinstance(reply, Completion):
                done(at, reply)
        return answers

    def _send(self, requests: Sequence[Request], keys: Sequence[bytes]) -> list[Reply]:
        def keep(at: int, completion: Completion) -> None:
            with self._lock:
                self._count(requests[at], completion)
                if self._replies is not None:
                    self._replies.put_many({keys[at]: _encoded(completion)})

        return self._llm.complete(requests, keep)

    def _watch(self, request: Request, reply: Reply) -> None:
        """Count what failed, and give up on a model that is gone."""
        if not isinstance(reply, ModelError):
            self._n_silent = 0
            return
        self.spending.calls += 1
        self.spending.failed += 1
        if isinstance(reply, ModelOutputError):  # it answered, and the answer has its price, at most this
            self.spending.prompt_tokens += prompt_tokens(request)
            self.spending.completion_tokens += request.max_tokens
        self._n_silent += isinstance(reply, ModelUnavailableError)
        if self._n_silent >= self._patience:
            raise reply

    def _remembered(self, keys: Mapping[bytes, None]) -> dict[bytes, Completion]:
        if self._replies is None:
            return {}
        found = {key: _decoded(value) for key, value in self._replies.get_many(list(keys)).items()}
        return {key: completion for key, completion in found.items() if completion is not None}

    def _count(self, request: Request, completion: Completion) -> None:
        self.spending.calls += 1
        self.spending.prompt_tokens += completion.prompt_tokens or prompt_tokens(request)
        self.spending.completion_tokens += completion.completion_tokens or estimated_tokens(completion.text)

    def _affordable(self, requests: Sequence[Request], first: int) -> int:
        """Up to which request all can be sent, whatever they will cost; one at least, or there is no budget for it."""
        if self._budget is None:
            return len(requests)
        spent = self.spending.tokens if self._price is None else self.spending.money(self._price)
        for at in range(first, len(requests)):
            most = self._most(requests[at])
            if spent + most > self._budget:
                if at > first:
                    return at
                unit = " tokens" if self._price is None else ""
                raise BudgetError(
                    f"{spent:,.10g}{unit} spent, and the next request may cost {most:,.10g} more", budget=self._budget
                )
            spent += most
        return len(requests)

    def _most(self, request: Request) -> float:
        read = prompt_tokens(request)
        return read + request.max_tokens if self._price is None else self._price.of(read, request.max_tokens)


def request_key(model: str, request: Request) -> bytes:
    """The hash of everything that the completion of a request depends on."""
    schema = None if request.schema is None else json.dumps(request.schema, sort_keys=True)
    numbers = json.dumps([request.max_tokens, request.temperature, request.top_p, request.seed])
    acknowledged = [request.acknowledged] if request.acknowledged else []
    return cache_key("completion", model, request.system, request.shared, request.own, schema, numbers, *acknowledged)


def prompt_tokens(request: Request) -> int:
    """Tokens of a request, estimated from its characters, rather too many than too few."""
    texts = [text for _, text in request.turns]
    return _FRAME_TOKENS * max(1, len(texts) - 1) + estimated_tokens("".join(texts))


def estimated_tokens(text: str) -> int:
    """Tokens of a text by a rule of thumb: three Latin characters, or one of another script, make one."""
    latin = sum(char < "\u0250" for char in text)
    return math.ceil(latin / _LATIN_CHARS_PER_TOKEN + (len(text) - latin) / _OTHER_CHARS_PER_TOKEN)


def _encoded(completion: Completion) -> bytes:
    return json.dumps(completion._asdict(), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _decoded(value: bytes) -> Completion | None:
    """What was kept; None where it is damaged, so that it is asked for again."""
    try:
        completion = Completion(**json.loads(value.decode("utf-8", "surrogatepass")))
    except (ValueError, TypeError, AttributeError):
        return None
    return completion if isinstance(completion.text, str) else None
