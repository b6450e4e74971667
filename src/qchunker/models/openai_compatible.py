"""Embeddings and prompt log-probabilities from any server that speaks the OpenAI protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from qchunker.errors import ConfigError, MissingExtraError, ModelError, ModelOutputError, ModelUnavailableError
from qchunker.models.batching import batches_by_length
from qchunker.models.causal_lm import Ids, Logprobs, Passes, plan_passes, run_passes
from qchunker.models.embedder import Vectors, unit_rows

_BATCH_CHARS = 65_536
_TIMEOUT_S = 120.0
_RETRIES = 4


class OpenAIEmbedder:
    """The ``/embeddings`` endpoint of a server.

    Args:
        name: of the model on the server.
        url: of the server, as the OpenAI SDK takes it: ``https://host/v1``.
        api_key: kept out of ids, messages and files.
    """

    def __init__(self, name: str, url: str, api_key: str | None = None) -> None:
        self.name = name
        self.id = f"{name}@{_host(url)}"
        self._client = _client(url, api_key, name)

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows: dict[int, Any] = {}
        for batch in batches_by_length([len(text) for text in texts], _BATCH_CHARS):
            with _errors(self.name):
                reply = self._client.embeddings.create(
                    model=self.name, input=[texts[i] for i in batch], encoding_format="float"
                )
            if len(reply.data) != len(batch):
                raise ModelOutputError(self.name, f"gave {len(reply.data)} vectors for {len(batch)} texts")
            rows.update((batch[item.index], item.embedding) for item in reply.data)
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        if sorted(rows) != list(range(len(texts))):
            raise ModelOutputError(self.name, "gave vectors under wrong indices")
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
        self.id = f"{name}@{_host(url)}"
        self._client = _client(url, api_key, name)
        self._tokenize_url = f"{url.rstrip('/').removesuffix('/v1')}/tokenize"
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
        with _errors(self.name, "prompt log-probabilities need a server with /tokenize, such as vLLM"):
            reply: Any = self._client.post(self._tokenize_url, cast_to=object, body=body)
        match reply:
            case {"tokens": [*ids]} if ids and all(type(token) is int for token in ids):
                return tuple(int(token) for token in ids)
        raise ModelOutputError(self.name, f"/tokenize answered without token ids: {str(reply)[:80]!r}")

    def _forward(self, sequences: Sequence[Ids]) -> list[Logprobs]:
        with _errors(self.name):
            reply = self._client.completions.create(
                model=self.name,
                prompt=[list(ids) for ids in sequences],
                max_tokens=1,
                temperature=0.0,
                echo=True,
                logprobs=1,
                extra_body={"prompt_logprobs": 1},
            )
        choices = {choice.index: choice.to_dict() for choice in reply.choices}
        if sorted(choices) != list(range(len(sequences))):
            raise ModelOutputError(self.name, f"gave {len(reply.choices)} completions for {len(sequences)} prompts")
        return [self._read(choices[index], ids) for index, ids in enumerate(sequences)]

    def _read(self, choice: dict[str, Any], ids: Ids) -> Logprobs:
        by_id: Any = choice.get("prompt_logprobs")
        echoed: Any = (choice.get("logprobs") or {}).get("token_logprobs")
        try:
            if isinstance(by_id, list):
                if len(by_id) != len(ids):
                    raise ModelOutputError(self.name, f"gave {len(by_id)} log-probabilities for {len(ids)} tokens")
                values = [entry[str(token)]["logprob"] for entry, token in zip(by_id[1:], ids[1:], strict=True)]
            else:
                values = echoed[1 : len(ids)]
            return np.array(values, dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            hint = "use a server with prompt log-probabilities: vLLM, or one that knows echo with logprobs"
            raise ModelOutputError(self.name, "gave no log-probabilities of the prompt", hint=hint) from error


def _client(url: str, api_key: str | None, name: str) -> Any:
    try:
        from openai import OpenAI
    except ImportError as error:
        raise MissingExtraError("openai", f"the model {name!r} on a server") from error
    if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
        raise ConfigError("api_key", "holds characters that no key has", hint="set QCHUNKER_API_KEY anew")
    return OpenAI(base_url=url, api_key=api_key or "none", timeout=_TIMEOUT_S, max_retries=_RETRIES)


def _host(url: str) -> str:
    """The address without user, password, path and query: it goes into signatures."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


@contextlib.contextmanager
def _errors(name: str, hint: str = "") -> Iterator[None]:
    """Errors of the SDK as ours. Its messages may hold what was sent, so they are cut short."""
    import openai

    try:
        yield
    except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError) as error:
        where = "the server does not answer" if isinstance(error, openai.APIConnectionError) else "the server is busy"
        raise ModelUnavailableError(name, f"{where}: {str(error)[:200]}", hint="try again later") from error
    except openai.AuthenticationError as error:
        raise ModelError(name, "the server refuses the key", hint="set QCHUNKER_API_KEY") from error
    except openai.OpenAIError as error:
        raise ModelError(name, f"the server refuses: {str(error)[:200]}", hint=hint) from error
