"""HTTP for model servers, with bounds: a server that drips or never stops costs a known time and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

TIMEOUT_S = 60.0
"""Of one silence."""

DEADLINE_S = 300.0
"""Of one reply."""

MOST_BYTES = 256 << 20


def bounded_client(bounds: Bounds | None = None, user_and_password: tuple[str, str] | None = None) -> Any:
    """A client for the OpenAI SDK. It does not follow redirects: they would carry the key elsewhere.

    Args:
        bounds: of time and memory; by default those of this module.
        user_and_password: sent instead of the key, if given.
    """
    from openai import DefaultHttpxClient

    # The SDK's HTTP library has had two names.
    library = next(base.__module__ for base in DefaultHttpxClient.__mro__ if base.__module__.startswith("httpx"))
    httpx: Any = import_module(library.partition(".")[0])
    limits = bounds or Bounds(TIMEOUT_S, TIMEOUT_S, DEADLINE_S, MOST_BYTES)

    class Bounded(httpx.SyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            stop, size = time.monotonic() + limits.deadline_s, 0
            for block in self._stream:
                size += len(block)
                if size > limits.most_bytes:
                    raise OversizeError
                if time.monotonic() > stop:
                    raise httpx.ReadError("the reply takes too long")
                yield block

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            # A few bytes may unpack to gigabytes, which the bound below would not see.
            raise OversizeError
        response.stream = Bounded(response.stream)

    return DefaultHttpxClient(
        timeout=httpx.Timeout(TIMEOUT_S, connect=limits.connect_s, read=limits.silence_s, pool=None),
        auth=user_and_password,
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        event_hooks={"response": [bound]},
    )


class Bounds(NamedTuple):
    """What a server may cost.

    Args:
        connect_s: until there is a connection.
        silence_s: without a byte.
        deadline_s: of the body of one reply, from its first byte on.
        most_bytes: of the body of one reply.
    """

    connect_s: float
    silence_s: float
    deadline_s: float
    most_bytes: int


class OversizeError(Exception):
    """A reply is longer than allowed, or packed, so that nobody knows how long it is."""

    def __init__(self) -> None:
        super().__init__("the reply is too long")
