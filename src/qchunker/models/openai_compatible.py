"""Embeddings and prompt log-probabilities from any server that speaks the OpenAI protocol.

Whatever a server answers is checked: nothing of it is believed, kept or shown before.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

import numpy as np

from qchunker.errors import ConfigError, MissingExtraError, ModelError, ModelOutputError, ModelUnavailableError
from qchunker.models.batching import batches_by_length
from qchunker.models.bounded_http import Bounds, bounded_client
from qchunker.models.causal_lm import Ids, Logprobs, Passes, plan_passes, run_passes
from qchunker.models.embedder import Vectors, unit_rows
from qchunker.models.identity import without_secrets

_BATCH_CHARS = 65_536
_RETRIES = 2
_MOST_ID = 1 << 31
_ROUNDING = 1e-6
"""A log-probability above 0 by less than this was rounded."""


class OpenAIEmbedder:
    """The ``/embeddings`` endpoint of a server.

    Args:
        name: of the model on the server.
        url: of the server, as the OpenAI SDK takes it: ``https://host/v1``.
        api_key: kept out of ids, messages and files.
    """

    def __init__(self, name: str, url: str, api_key: str | None = None) -> None:
        self.name = name
        self.id = f"{name}@{server_address(url)}"
        self._server = Server(name, url, api_key)

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows: dict[int, list[float]] = {}
        for batch in batches_by_length([len(text) for text in texts], _BATCH_CHARS):
            body = {"model": self.name, "input": [texts[i] for i in batch], "encoding_format": "float"}
            data = self._server.list_in(self._server.post("/embeddings", body), "data")
            if len(data) != len(batch):
                raise ModelOutputError(self.name, f"gave {len(data)} vectors for {len(batch)} texts", hint=_OTHER)
            for item in data:
                match item:
                    case {"index": int(index), "embedding": [*values]} if 0 <= index < len(batch) and all(
                        map(_is_number, values)
                    ):
                        rows[batch[index]] = values
                    case _:
                        raise ModelOutputError(self.name, "gave something else than vectors", hint=_OTHER)
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        if sorted(rows) != list(range(len(texts))) or len({len(row) for row in rows.values()}) != 1:
            raise ModelOutputError(self.name, "gave vectors under wrong indices or of different sizes", hint=_OTHER)
        return unit_rows([rows[i] for i in range(len(texts))], len(texts), self.name)


class OpenAILM:
    """The ``/completions`` endpoint of a server that gives log-probabilities of the prompt.

    vLLM does (``prompt_logprobs``), and servers with ``echo``. Prompts are sent as token ids, so that a text has the
    same tokens with and without context; the server's ``/tokenize`` (vLLM) gives the ids.

    Args:
        name: of the model on the server.
        url: of the server: ``http://host:8000/v1``.
        api_key: kept out of ids, messages and files.
    """

    languages = frozenset({"en", "zh"})

    def __init__(self, name: str, url: str, api_key: str | None = None) -> None:
        self.name = name
        self.id = f"{name}@{server_address(url)}"
        self._server = Server(name, url, api_key)
        self._tokenize_url = f"{str(self._server.client.base_url).rstrip('/').removesuffix('/v1')}/tokenize"
        self._known: dict[str, Ids] = {}
        self._neutral: int | None = None

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        return run_passes(self._plan(texts, contexts), self._forward, self.name)

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return self._plan(texts, contexts).cost

    def _plan(self, texts: Sequence[str], contexts: Sequence[str | None]) -> Passes:
        neutral = self._neutral
        if neutral is None:
            # What a server puts in front of a text by itself; a space where it puts nothing.
            special = self._tokenize("a", special=True)
            plain = self._tokenize("a", special=False)
            neutral = special[0] if len(special) > len(plain) else self._tokenize(" ", special=False)[0]
            self._neutral = neutral
        return plan_passes([self._ids(text) for text in texts], [self._ids(text) for text in contexts], neutral)

    def _ids(self, text: str | None) -> Ids:
        if not text:
            return ()
        if text not in self._known:
            self._known[text] = self._tokenize(text, special=False)
        return self._known[text]

    def _tokenize(self, text: str, *, special: bool) -> Ids:
        body = {"model": self.name, "prompt": text, "add_special_tokens": special}
        hint = "prompt log-probabilities need a server with /tokenize, such as vLLM"
        reply = self._server.post(self._tokenize_url, body, hint)
        match reply:
            case {"tokens": [*ids]} if ids and all(type(token) is int and 0 <= token < _MOST_ID for token in ids):
                return tuple(int(token) for token in ids)
        raise ModelOutputError(self.name, "/tokenize answered without token ids", hint=hint)

    def _forward(self, sequences: Sequence[Ids]) -> list[Logprobs]:
        body = {
            "model": self.name,
            "prompt": [list(ids) for ids in sequences],
            "max_tokens": 1,
            "temperature": 0.0,
            "echo": True,
            "logprobs": 1,
            "prompt_logprobs": 1,
        }
        found: dict[int, Logprobs] = {}
        for choice in self._server.list_in(self._server.post("/completions", body), "choices"):
            match choice:
                case {"index": int(index)} if 0 <= index < len(sequences):
                    found[index] = self._read(choice, sequences[index])
                case _:
                    raise ModelOutputError(self.name, "gave completions under wrong indices", hint=_OTHER)
        if len(found) != len(sequences):
            raise ModelOutputError(
                self.name, f"gave {len(found)} completions for {len(sequences)} prompts", hint=_OTHER
            )
        return [found[index] for index in range(len(sequences))]

    def _read(self, choice: dict[str, Any], ids: Ids) -> Logprobs:
        match choice:
            case {"prompt_logprobs": [*entries]}:
                if len(entries) != len(ids):
                    raise ModelOutputError(self.name, f"gave {len(entries)} log-probabilities for {len(ids)} tokens")
                values = [_logprob_of(entry, token) for entry, token in zip(entries[1:], ids[1:], strict=True)]
            case {"logprobs": {"token_logprobs": [*echoed]}}:
                values = echoed[1 : len(ids)]
            case _:
                values = [None]
        if not all(_is_number(value) and value <= _ROUNDING for value in values):
            hint = "use a server with prompt log-probabilities: vLLM, or one that knows echo with logprobs"
            raise ModelOutputError(self.name, "gave no log-probabilities of the prompt", hint=hint)
        return np.minimum(np.array(values, dtype=np.float64), 0.0)


_OTHER = "check the address and the name of the model"


def _logprob_of(entry: Any, token: int) -> Any:
    match entry:
        case dict():
            match entry.get(str(token)):
                case {"logprob": value}:
                    return value
    return None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < float(np.finfo(np.float32).max) and math.isfinite(value)


class Server:
    """One server. Replies are JSON values; errors are ours and hold neither the key nor a password.

    Args:
        name: of the model.
        url: of the server.
        api_key: kept out of messages.
        retries: of a request, by the SDK.
        bounds: of time and memory; by default those for embeddings.

    Raises:
        MissingExtraError: if the SDK is not installed.
        ConfigError: if the address or the key cannot be used.
    """

    def __init__(
        self, name: str, url: str, api_key: str | None, *, retries: int = _RETRIES, bounds: Bounds | None = None
    ) -> None:
        try:
            from openai import OpenAI
        except ImportError as error:
            raise MissingExtraError("openai", f"the model {name!r} on a server") from error
        if api_key is not None and not (
            isinstance(api_key, str) and api_key.isascii() and api_key.isprintable() and api_key
        ):
            raise ConfigError("api_key", "holds characters that no key has", hint="set QCHUNKER_API_KEY anew")
        self._name, self._key = name, api_key
        try:
            address = _Address.of(url)
            self._password = address.password
            client = bounded_client(bounds, address.user_and_password)
            self.client = OpenAI(
                base_url=address.url,
                api_key=api_key or "none",
                default_query=address.query,
                max_retries=retries,
                http_client=client,
            )
        except Exception as error:  # the SDK raises what its HTTP library does
            raise ConfigError("url", "the address cannot be used", hint="write http://host:8000/v1") from error
        # Else connections stay open for as long as the process runs.
        weakref.finalize(self, client.close).atexit = False

    def post(self, path: str, body: dict[str, Any], hint: str = "") -> Any:
        """The JSON that the server answers."""
        with self._errors(hint):
            return self.client.post(path, cast_to=object, body=body)

    def list_in(self, reply: Any, field: str) -> list[Any]:
        """A list that the reply must hold."""
        found = reply.get(field) if isinstance(reply, dict) else None
        if not isinstance(found, list):
            raise ModelOutputError(self._name, f"answered without {field}", hint=_OTHER)
        return found

    @contextlib.contextmanager
    def _errors(self, hint: str) -> Iterator[None]:
        import openai

        try:
            yield
        except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError) as error:
            lost = isinstance(error, openai.APIConnectionError)
            where = "the server does not answer" if lost else "the server is busy"
            raise ModelUnavailableError(
                self._name, f"{where}: {self.said(str(error))}", hint="try again later"
            ) from None
        except openai.AuthenticationError:
            raise ModelError(self._name, "the server refuses the key", hint="set QCHUNKER_API_KEY") from None
        except openai.OpenAIError as error:
            raise ModelError(self._name, f"the server refuses: {self.said(str(error))}", hint=hint or _OTHER) from None
        except (ValueError, TypeError, RecursionError, AttributeError):
            raise ModelOutputError(self._name, "the server answers something else than JSON", hint=_OTHER) from None

    def without_key(self, text: str) -> str:
        """A reply in which the key, should the server repeat it, is not there to be kept."""
        return text.replace(self._key, "***") if self._key else text

    def said(self, text: str) -> str:
        """What the server says, which may be what was sent to it."""
        return without_secrets(text, self._key, self._password)[:200]


def server_address(url: str) -> str:
    """The address for signatures, without user, password and query; ``/v1`` goes without saying."""
    parts = urlsplit(url)
    host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    return host + parts.path.rstrip("/").removesuffix("/v1")


class _Address(NamedTuple):
    """The parts of an address. The HTTP library logs what it is given as one, so it is given neither password nor user.

    Args:
        url: without the other parts.
        user: of the server.
        password: of the user.
        query: that is added to every request.
    """

    url: str
    user: str
    password: str
    query: dict[str, str]

    @classmethod
    def of(cls, url: str) -> _Address:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(urlunsplit((parts.scheme, host, parts.path, "", "")), user, password, dict(parse_qsl(parts.query)))

    @property
    def user_and_password(self) -> tuple[str, str] | None:
        return (self.user, self.password) if self.user or self.password else None
