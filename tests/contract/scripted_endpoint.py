"""A real HTTP server for ``/v1/chat/completions`` that answers, and fails, as a test says."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

_WORD = re.compile(r"[\u3400-\u9fff]|\w+|[^\w\s]")


def n_tokens(text: str) -> int:
    """About as many as a tokenizer would find: words, Han characters, signs."""
    return len(_WORD.findall(text))


def completion(
    body: Mapping[str, Any], text: str | None, *, finish: str = "stop", message: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a good server answers to a request."""
    prompt = sum(n_tokens(str(turn.get("content"))) for turn in body.get("messages", ()))
    written = n_tokens(text or "")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "scripted"),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **(message or {})},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written},
    }


@dataclass(frozen=True)
class Fault:
    """How one request is answered instead.

    Args:
        status: of HTTP.
        content: text, or what becomes JSON; a function gets the body of the request.
        headers: besides the usual ones.
        content_type: of the reply.
        hang_s: seconds of silence before it.
        drip_s: seconds of silence after every byte of it.
        closes: ``before`` the first byte, or ``midway``.
    """

    status: int = 200
    content: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    hang_s: float = 0.0
    drip_s: float = 0.0
    closes: str = ""

    def payload(self, body: Mapping[str, Any]) -> bytes:
        content = self.content(body) if callable(self.content) else self.content
        if isinstance(content, bytes):
            return content
        return (content if isinstance(content, str) else json.dumps(content)).encode()


def status(number: int, message: str = "not now", /, *, retry_after: str | None = None, **error: Any) -> Fault:
    """An error as OpenAI's servers give it: ``param``, ``code`` and ``type`` may be given."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Fault(
        number, {"error": {"message": message, "type": "error", "param": None, "code": None, **error}}, headers
    )


def hang(seconds: float) -> Fault:
    """Silence, and an answer after it."""
    return Fault(content=lambda body: completion(body, "late"), hang_s=seconds)


def closed() -> Fault:
    """The connection ends without an answer."""
    return Fault(closes="before")


def closed_midway() -> Fault:
    """The connection ends in the middle of the answer."""
    return Fault(content=lambda body: completion(body, "half of this is lost"), closes="midway")


def drip(pause_s: float) -> Fault:
    """One byte of the answer after the other."""
    return Fault(content=lambda body: completion(body, "slow"), drip_s=pause_s)


def wrong_content_type() -> Fault:
    return Fault(content="<html><body>Sign in</body></html>", content_type="text/html")


def not_json() -> Fault:
    return Fault(content="{not json")


def empty_body() -> Fault:
    return Fault()


def refusal(reason: str = "I cannot help with that.") -> Fault:
    return Fault(content=lambda body: completion(body, None, message={"refusal": reason}))


def content_filter() -> Fault:
    return Fault(content=lambda body: completion(body, "", finish="content_filter"))


def cut(text: str | None) -> Fault:
    """A reply that has all the tokens it may have."""
    return Fault(content=lambda body: completion(body, text, finish="length"))


def redirect(where: str) -> Fault:
    return Fault(307, headers={"Location": where})


WRONG_TYPES: tuple[Any, ...] = (
    None, [], "x", 7, True, {}, {"choices": None}, {"choices": "x"}, {"choices": {}}, {"choices": []},
    {"choices": [None]}, {"choices": ["x"]}, {"choices": [{}]}, {"choices": [{"message": None}]},
    {"choices": [{"message": "x"}]}, {"choices": [{"message": []}]}, {"choices": [{"message": {}}]},
    {"choices": [{"message": {"content": 7}}]}, {"choices": [{"message": {"content": ["x"]}}]},
    {"choices": [{"message": {"content": {"a": 1}}}]}, {"choices": [{"message": {"content": True}}]},
    {"error": {"message": "the model crashed", "code": 500}}, {"error": "crashed"},
)  # fmt: skip
"""JSON that is no completion."""


class Received(NamedTuple):
    """One request.

    Args:
        path: with the query.
        headers: names in small letters.
        body: what its JSON says.
        at: time of a clock that only runs forward.
        sha256: of the bytes of the body.
    """

    path: str
    headers: Mapping[str, str]
    body: Any
    at: float
    sha256: str


Answer = Callable[[dict[str, Any]], str | Fault]


class ScriptedEndpoint:
    """A server on the loopback interface, for ``with``.

    Args:
        answer: from the body of a request to the text of the reply, or to a fault.
        faults: that the first requests meet, whichever they are.

    Attributes:
        requests: that came, in order.
        finished: replies of status 200 that were sent to their end, by the SHA-256 of the request's body.
        most_at_once: requests that were being answered at the same time.
    """

    def __init__(self, answer: Answer = lambda _: "yes", faults: Iterable[Fault] = ()) -> None:
        self.requests: list[Received] = []
        self.finished: Counter[str] = Counter()
        self.most_at_once = 0
        self._answer, self._faults = answer, deque(faults)
        self._lock = threading.Lock()
        self._at_once = 0
        self._closing = threading.Event()
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """As the OpenAI SDK takes it."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> ScriptedEndpoint:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.disconnect()

    def bodies(self) -> list[Any]:
        """What the requests said."""
        with self._lock:
            return [request.body for request in self.requests]

    def fault(self, *faults: Fault) -> None:
        """Let the next requests meet these."""
        with self._lock:
            self._faults.extend(faults)

    def received(self, request: Received) -> Fault | None:
        with self._lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            return self._faults.popleft() if self._faults else None

    def answered(self, request: Received, *, is_whole: bool) -> None:
        with self._lock:
            self._at_once -= 1
            self.finished[request.sha256] += is_whole

    def reply_to(self, body: Any) -> Fault:
        answer = self._answer(body)
        return answer if isinstance(answer, Fault) else Fault(content=completion(body, answer))

    def pause(self, seconds: float) -> None:
        """Silence that ends when the server does."""
        if seconds:
            self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, endpoint: ScriptedEndpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoint = endpoint
        self._open: set[socket.socket] = set()

    def disconnect(self) -> None:
        """End the connections that clients keep for later requests."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, *_: object) -> None:
        """A client that has gone is no error here."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.path, headers, json.loads(raw), time.monotonic(), hashlib.sha256(raw).hexdigest())
        fault, is_whole = endpoint.received(request), False
        try:
            if fault is None and self.path.partition("?")[0] != "/v1/chat/completions":
                fault = status(404, "Not Found")
            is_whole = self._send(fault or endpoint.reply_to(request.body), request.body)
        finally:
            endpoint.answered(request, is_whole=is_whole)

    def do_GET(self) -> None:
        """Whoever follows a redirect with another method is seen as well."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.path, headers, None, time.monotonic(), "")
        self.server.endpoint.received(request)
        self.server.endpoint.answered(request, is_whole=False)
        self.send_error(404)

    def _send(self, fault: Fault, body: Any) -> bool:
        pause = self.server.endpoint.pause
        pause(fault.hang_s)
        if fault.closes == "before":
            self._reset()
            return False
        payload = fault.payload(body)
        self.send_response(fault.status)
        for name, value in {
            "Content-Type": fault.content_type, "Content-Length": str(len(payload)), **fault.headers
        }.items():  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        if fault.closes == "midway":
            self.wfile.write(payload[: len(payload) // 2])
            self._reset()
            return False
        for piece in [payload[i : i + 1] for i in range(len(payload))] if fault.drip_s else [payload]:
            self.wfile.write(piece)
            self.wfile.flush()
            pause(fault.drip_s)
        return fault.status == 200

    def _reset(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        # Without lingering, the other side sees a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def log_message(self, *_: object) -> None:
        pass
