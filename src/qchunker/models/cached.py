"""Models that remember: the same text is computed once, in this run or an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qchunker.models.cache import ResultCache, cache_key
from qchunker.models.causal_lm import CausalLM, Logprobs
from qchunker.models.embedder import Embedder, Vectors

_SLICE = 256
"""Texts after which results are written, so that a run that dies has kept most of its work."""


class CachedEmbedder:
    """An embedder that computes only what is not in the cache. Cached vectors are the same to the last bit."""

    def __init__(self, embedder: Embedder, cache: ResultCache) -> None:
        self.id = embedder.id
        self.uncached = embedder
        self._cache = cache

    def encode(self, texts: Sequence[str]) -> Vectors:
        keys = [cache_key("embedding", self.id, text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        values = self._cache.get_many(list(wanted))
        missing = [key for key in wanted if key not in values]
        for start in range(0, len(missing), _SLICE):
            part = missing[start : start + _SLICE]
            vectors = self.uncached.encode([wanted[key] for key in part])
            new = {key: vector.tobytes() for key, vector in zip(part, vectors, strict=True)}
            self._cache.put_many(new)
            values |= new
        if not texts:
            return self.uncached.encode([])
        return np.stack([np.frombuffer(values[key], dtype=np.float32) for key in keys])


class CachedCausalLM:
    """A language model that reads only what is not in the cache. Cached values are the same to the last bit."""

    def __init__(self, lm: CausalLM, cache: ResultCache) -> None:
        self.id = lm.id
        self.languages = lm.languages
        self.uncached = lm
        self._cache = cache

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        keys = self._keys(texts, contexts)
        wanted = dict(zip(keys, zip(texts, contexts, strict=True), strict=True))
        values = self._cache.get_many(list(wanted))
        missing = [key for key in wanted if key not in values]
        if missing:
            found = self.uncached.token_logprobs(
                [wanted[key][0] for key in missing], [wanted[key][1] for key in missing]
            )
            new = {key: logprobs.tobytes() for key, logprobs in zip(missing, found, strict=True)}
            self._cache.put_many(new)
            values |= new
        return [np.frombuffer(values[key], dtype=np.float64) for key in keys]

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        wanted = dict(zip(self._keys(texts, contexts), zip(texts, contexts, strict=True), strict=True))
        kept = self._cache.get_many(list(wanted))
        missing = [request for key, request in wanted.items() if key not in kept]
        return self.uncached.token_cost([text for text, _ in missing], [context for _, context in missing])

    def _keys(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[bytes]:
        return [cache_key("logprobs", self.id, text, context) for text, context in zip(texts, contexts, strict=True)]
