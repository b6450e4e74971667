"""Models that are fast and mean little: for tests, and for trying things out where no model may run.

They are deterministic and need no library beyond NumPy. Their scores say nothing about quality.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from qchunker.models.causal_lm import Ids, Logprobs, plan_passes, run_passes
from qchunker.models.embedder import Vectors, unit_rows

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|[^\w\s]|\s+")
_VOCABULARY = 50_000
_SIZE = 64


class HashingEmbedder:
    """Words at random directions: texts that share words are near to each other."""

    id = "hashing-64"

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), _SIZE))
        for row, text in zip(rows, texts, strict=True):
            for word, count in Counter(_TOKEN.findall(text.lower())).items():
                row += count * np.random.default_rng(_number(word)).normal(size=_SIZE)
        return unit_rows(rows, len(texts), self.id)


class UnigramLM:
    """A token is as likely as it was frequent before: texts that share words help to predict each other.

    ``tokens_read`` counts what was run.
    """

    id = "unigram"
    languages = frozenset({"en", "zh"})

    def __init__(self) -> None:
        self.tokens_read = 0

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        passes = plan_passes([_ids(text) for text in texts], [_ids(text or "") for text in contexts], 0)
        self.tokens_read += passes.cost
        return run_passes(passes, lambda sequences: [_logprobs(ids) for ids in sequences], self.id)

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return plan_passes([_ids(text) for text in texts], [_ids(text or "") for text in contexts], 0).cost


def _ids(text: str) -> Ids:
    return tuple(1 + _number(token) % _VOCABULARY for token in _TOKEN.findall(text))


def _logprobs(ids: Ids) -> Logprobs:
    seen: Counter[int] = Counter(ids[:1])
    values = np.empty(len(ids) - 1)
    for t, token in enumerate(ids[1:]):
        values[t] = math.log((seen[token] + 0.01) / (t + 1 + 0.01 * _VOCABULARY))
        seen[token] += 1
    return values


def _number(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:4], "big")
