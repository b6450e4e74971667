"""Language models behind any server that speaks the OpenAI protocol, by its ``/chat/completions``.

Servers differ in what they take: some know no JSON schema, some no seed, some call ``max_tokens`` otherwise. What a
server refuses by name is left out, and it is not asked for again.
"""

from __future__ import annotations

import contextlib
import json
import math
import queue
import re
import threading
import time
from collections import deque
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from qchunker.errors import ConfigError, ModelError, ModelOutputError, ModelUnavailableError
from qchunker.models.bounded_http import Bounds, OversizeError
from qchunker.models.chat_reply import completion_in
from qchunker.models.identity import without_secrets
from qchunker.models.llm import Completion, Done, Reply, Request
from qchunker.models.openai_compatible import Server, server_address

FIRST_PAUSE_S = 0.5
"""Before the first retry; each further pause is twice as long."""

LONGEST_PAUSE_S = 30.0

LONGEST_WAIT_S = 120.0
"""However long a server asks us to wait."""

_CONNECT_S = 10.0
_MOST_BYTES = 16 << 20

_STYLES = ("json_schema", "json_object", "none")
_SAMPLING = ("temperature", "top_p", "seed")
_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"

_REFUSALS = {400, 404, 415, 422, 501}
"""What servers answer to a request that holds something they do not know."""

_BUSY = {408, 409, 425, 429}

_TOO_LONG = re.compile(r"context.?(length|window|size)|too (long|large)|exceeds? ", re.IGNORECASE)
_FORMAT = re.compile(r"response_?format|schema|grammar|structured|guided|json_object", re.IGNORECASE)
_PARAMETERS = re.compile(r"\bparameters?\b", re.IGNORECASE)
_MODERATED = re.compile(r"content.?(filter|policy|management)|moderation|flagged", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient.?(quota|balance|funds)", re.IGNORECASE)

_LATER = "try again later"
_SEARCHED_CHARS = 2000
_INTERRUPT_S = 0.5


def _failure(error: Any) -> _Failure:
    status = int(error.status_code)
    searched = str(error.message)
    with contextlib.suppress(RecursionError):  # of JSON in JSON in JSON
        searched = f"{searched} {error.body}"[:_SEARCHED_CHARS]
    body = error.body if isinstance(error.body, dict) else {}
    message, parameter = body.get("message") or body.get("detail"), body.get("param")
    return _Failure(
        status,
        message if isinstance(message, str) and message.strip() else searched,
        may_pass=(status in _BUSY and not (status == 429 and _NO_QUOTA.search(searched)))
        or (status >= 500 and status not in _REFUSALS),
        searched=searched,
        parameter=parameter if isinstance(parameter, str) else "",
        wait_s=_wait_s(error.response.headers.get("Retry-After")),
    )


def _wait_s(asked: str | None) -> float:
    """What a server asks for in ``Retry-After``: seconds, or a date."""
    if asked is None:
        return 0.0
    try:
        seconds = float(asked)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(asked).timestamp() - time.time()
        except (ValueError, OverflowError, OSError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _pause_s(n_failures: int, place: int) -> float:
    """Requests that failed together do not come back together."""
    pause = FIRST_PAUSE_S * 2.0 ** min(n_failures - 1, 20)
    return min(LONGEST_PAUSE_S, pause) * (1 + place % 8 / 16)


def _schema_key(request: Request) -> str:
    return "" if request.schema is None else json.dumps(request.schema, sort_keys=True)


def _next(outcomes: queue.SimpleQueue[tuple[int, Reply | _Hopeless]]) -> tuple[int, Reply | _Hopeless]:
    while True:
        # Where waiting cannot be interrupted, an interrupt is seen between two waits.
        with contextlib.suppress(queue.Empty):
            return outcomes.get(timeout=_INTERRUPT_S)


def _check_settings(url: str, concurrency: int, timeout_s: float, max_retries: int, schema_style: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        reason = f"{without_secrets(url)!r} is no address of a server"
        raise ConfigError("url", reason, hint="write http://host:8000/v1, and %40, %2F, %23 in passwords")
    if concurrency < 1:
        raise ConfigError("concurrency", f"{concurrency} is less than 1")
    if not timeout_s > 0:
        raise ConfigError("timeout_s", f"{timeout_s} is not above 0")
    if max_retries < 0:
        raise ConfigError("max_retries", f"{max_retries} is less than 0")
    if schema_style not in {"auto", *_STYLES}:
        raise ConfigError("schema_style", f"unknown style {schema_style!r}", hint=f"use auto, {', '.join(_STYLES)}")


class ChatModel:
    """A model on a server. Requests of one call run at the same time, and each is tried again when that may help.

    Args:
        name: of the model on the server.
        url: of the server, as the OpenAI SDK takes it: ``https://host/v1``.
        api_key: kept out of ids, messages and files.
        concurrency: requests that the server is sent at the same time.
        timeout_s: that a server may be silent while it writes a reply.
        max_retries: of one request, after errors that may pass.
        schema_style: how a schema is sent: ``json_schema``, ``json_object`` (any JSON), ``none``, or ``auto``: the
            first of these that the server takes.

    Attributes:
        n_retries: how often any request was sent again because the server failed or was busy.

    Raises:
        ConfigError: if a setting is impossible. MissingExtraError: if the SDK is not installed.
    """

    def __init__(
        self,
        name: str,
        url: str,
        api_key: str | None = None,
        *,
        concurrency: int = 8,
        timeout_s: float = 300.0,
        max_retries: int = 5,
        schema_style: str = "auto",
    ) -> None:
        _check_settings(url, concurrency, timeout_s, max_retries, schema_style)
        self.name = name
        self.id = f"{name}@{server_address(url)}"
        self.n_retries = 0
        bounds = Bounds(_CONNECT_S, timeout_s, timeout_s, _MOST_BYTES)
        self._server = Server(name, url, api_key, retries=0, bounds=bounds)
        self._concurrency, self._max_retries = concurrency, max_retries
        self._falls_back = schema_style == "auto"
        self._first_style = 0 if self._falls_back else _STYLES.index(schema_style)
        # Calls from several threads share the server.
        self._slots = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self._styles: dict[str, int] = {}
        self._limit = _LIMIT
        self._dropped: frozenset[str] = frozenset()
        self._has_answered = False

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        replies: list[Reply | None] = [None] * len(requests)
        waiting = deque(enumerate(requests))
        outcomes: queue.SimpleQueue[tuple[int, Reply | _Hopeless]] = queue.SimpleQueue()
        stop = threading.Event()

        def work() -> None:
            with contextlib.suppress(IndexError):
                while not stop.is_set():
                    i, request = waiting.popleft()
                    outcomes.put((i, self._outcome(request, i, stop, done)))

        # Threads that nobody waits for at exit: an interrupt must not wait for the slowest reply.
        for _ in range(min(self._concurrency, len(requests))):
            threading.Thread(target=work, name=f"qchunker {self.id}", daemon=True).start()
        try:
            for _ in requests:
                i, outcome = _next(outcomes)
                if isinstance(outcome, _Hopeless):
                    raise outcome.error
                replies[i] = outcome
        finally:
            stop.set()
        return [reply for reply in replies if reply is not None]

    def _outcome(self, request: Request, place: int, stop: threading.Event, done: Done | None) -> Reply | _Hopeless:
        try:
            outcome = self._completed(request, place, stop)
            # Told here, and not where all outcomes are collected: a paid reply is kept whatever happens next.
            if done is not None and isinstance(outcome, Completion):
                done(place, outcome)
            return outcome
        except ModelError as error:
            return error
        except BaseException as error:  # raised again in the thread of the caller
            return _Hopeless(error)

    def _completed(self, request: Request, place: int, stop: threading.Event) -> Reply | _Hopeless:
        shape, n_failures = self._known_shape(request), 0
        while True:
            with self._slots:
                if stop.is_set():
                    raise ModelUnavailableError(self.name, "the call was ended", hint=_LATER)
                outcome = self._attempt(request, shape)
            if not isinstance(outcome, _Failure):
                self._remember(request, shape)
                reply = completion_in(outcome, self._server.said, self.name)
                return reply._replace(text=self._server.without_key(reply.text))
            changed = self._changed(request, shape, outcome) if outcome.status in _REFUSALS else None
            if changed is not None:
                shape = changed
                continue
            if not outcome.may_pass or n_failures >= self._max_retries:
                return self._for_good(outcome)
            n_failures += 1
            with self._lock:
                self.n_retries += 1
            stop.wait(max(_pause_s(n_failures, place), min(outcome.wait_s, LONGEST_WAIT_S)))

    def _known_shape(self, request: Request) -> _Shape:
        with self._lock:
            style = self._styles.get(_schema_key(request), self._first_style)
            return _Shape(style, self._limit, self._dropped)

    def _remember(self, request: Request, shape: _Shape) -> None:
        """What was changed before a request succeeded was the reason, and is changed in others from the beginning."""
        with self._lock:
            self._has_answered = True
            self._limit = _NEW_LIMIT if _NEW_LIMIT in (shape.limit, self._limit) else _LIMIT
            self._dropped |= shape.dropped
            # A server may refuse one schema and take another.
            key = _schema_key(request)
            self._styles[key] = max(shape.style, self._styles.get(key, 0))

    def _attempt(self, request: Request, shape: _Shape) -> Any:
        """The JSON that the server answers, or what went wrong.

        Raises:
            ModelOutputError: if the answer is no JSON, or the request cannot be written as such.
        """
        import openai

        try:
            return self._server.client.post("/chat/completions", cast_to=object, body=self._body(request, shape))
        except openai.APIStatusError as error:
            return _failure(error)
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, OversizeError):
                raise self._output_error(f"{error.__cause__}") from None
            reason = str(error.__cause__ or error)
            is_lost = type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}
            return _Failure(0, reason, may_pass=True, is_lost=is_lost)
        except openai.OpenAIError as error:
            raise self._output_error(f"the request cannot be sent: {error}") from None
        except UnicodeEncodeError:
            raise self._output_error("the request holds half a character (a lone surrogate)") from None
        except OversizeError as error:
            raise self._output_error(str(error)) from None
        except (ValueError, TypeError, RecursionError, AttributeError):
            raise self._output_error("the server answers something else than JSON") from None

    def _body(self, request: Request, shape: _Shape) -> dict[str, Any]:
        messages = [{"role": role, "content": text} for role, text in request.turns]
        sampling = {"temperature": request.temperature, "top_p": request.top_p, "seed": request.seed}
        body: dict[str, Any] = {
            "model": self.name,
            "messages": messages,
            shape.limit: request.max_tokens,
            **{name: value for name, value in sampling.items() if name not in shape.dropped},
        }
        if request.schema is not None and shape.style == 0:
            named = {"name": "reply", "schema": dict(request.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.schema is not None and shape.style == 1:
            body["response_format"] = {"type": "json_object"}
        return body

    def _changed(self, request: Request, shape: _Shape, failure: _Failure) -> _Shape | None:
        """Another way to put a request that was refused, or None if that would not help."""
        said = failure.searched
        if failure.parameter in _SAMPLING and failure.parameter not in shape.dropped:
            return shape._replace(dropped=shape.dropped | {failure.parameter})
        if _TOO_LONG.search(said) or _MODERATED.search(said):
            return None
        if shape.limit == _LIMIT and _NEW_LIMIT in said:
            return shape._replace(limit=_NEW_LIMIT)
        names_format = bool(_FORMAT.search(said))
        # Messages may repeat what was sent, where these may be words of a document.
        named = {name for name in _SAMPLING if re.search(rf"(?<![\w.]){name}(?!\w)", said)} - shape.dropped
        if named and not names_format and failure.status != 404:
            return shape._replace(dropped=shape.dropped | named)
        if failure.status == 404 and not names_format and not _PARAMETERS.search(said):
            return None  # there is no such model
        if request.schema is not None and self._falls_back and shape.style < len(_STYLES) - 1:
            return shape._replace(style=shape.style + 1)
        return None

    def _for_good(self, failure: _Failure) -> ModelError | _Hopeless:
        """The error of a request that is not tried again; hopeless if others would end as it does."""
        said, status = self._server.said(failure.said), failure.status
        where = "check the address and the name of the model"
        if status == 0:
            lost = ModelUnavailableError(self.name, f"the server does not answer: {said}", hint=_LATER)
            return _Hopeless(lost) if failure.is_lost and not self._has_answered else lost
        if status in {400, 403, 404, 422} and _MODERATED.search(failure.searched):
            return self._output_error(f"the model refuses: {said}")
        if status in {401, 403}:
            return _Hopeless(ModelError(self.name, f"the server refuses the key: {said}", hint="set QCHUNKER_API_KEY"))
        if status == 402 or (status == 429 and not failure.may_pass):
            return _Hopeless(ModelError(self.name, f"the account is empty: {said}", hint="see to the account"))
        if failure.may_pass:
            what = "fails" if status >= 500 else "is busy"
            return ModelUnavailableError(self.name, f"the server {what} (HTTP {status}): {said}", hint=_LATER)
        if status == 404 or status < 400:
            # Redirects are not followed: they would carry the key elsewhere.
            what = (
                f"there is no such model or path: {said}" if status == 404 else f"redirects elsewhere (HTTP {status})"
            )
            nowhere = ModelError(self.name, what, hint=where)
            return nowhere if self._has_answered else _Hopeless(nowhere)
        return self._output_error(f"the server refuses (HTTP {status}): {said}")

    def _output_error(self, reason: str) -> ModelOutputError:
        return ModelOutputError(self.name, self._server.said(reason))


class _Shape(NamedTuple):
    """How a request is put.

    Args:
        style: place in the list of ways to send a schema.
        limit: what the most tokens of the reply are called.
        dropped: parameters that are left out.
    """

    style: int
    limit: str
    dropped: frozenset[str]


class _Failure(NamedTuple):
    """Why a server did not answer.

    Args:
        status: of HTTP; 0 where there was none.
        said: by the server, for messages.
        may_pass: whether the same request may succeed later.
        searched: all that the server said, in which names of parameters are looked for.
        parameter: that the server refuses.
        wait_s: that the server asks for.
        is_lost: whether there was no connection at all.
    """

    status: int
    said: str
    may_pass: bool
    searched: str = ""
    parameter: str = ""
    wait_s: float = 0.0
    is_lost: bool = False


class _Hopeless(NamedTuple):
    """An error that other requests would have as well, or one that is not the server's."""

    error: BaseException
