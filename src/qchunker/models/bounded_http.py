"""HTTP for model servers, with bounds: a server that drips or never stops costs a known time and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

TIMEOUT_S = 60.0
"""Of one silence."""

DEADLINE_S = 300.0
"""Of one reply."""

MOST_BYTES = 256 << 20


def bounded_client() -> Any:
    """A client for the OpenAI SDK. It does not follow redirects: they would carry the key elsewhere."""
    from openai import DefaultHttpxClient

    # The SDK's HTTP library has had two names.
    library = next(base.__module__ for base in DefaultHttpxClient.__mro__ if base.__module__.startswith("httpx"))
    httpx: Any = import_module(library.partition(".")[0])

    class Bounded(httpx.SyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            stop, size = time.monotonic() + DEADLINE_S, 0
            for block in self._stream:
                size += len(block)
                if size > MOST_BYTES or time.monotonic() > stop:
                    raise httpx.ReadError("the reply is too long")
                yield block

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:
        response.stream = Bounded(response.stream)

    return DefaultHttpxClient(timeout=TIMEOUT_S, follow_redirects=False, event_hooks={"response": [bound]})
