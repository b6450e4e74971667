"""Sizes in characters or tokens behind one interface."""

from __future__ import annotations

from collections.abc import Callable

from qchunker.config import ChunkingConfig
from qchunker.errors import ConfigError
from qchunker.tokens import token_counter


class Measure:
    """Measures text in characters, or in tokens when a counter is given.

    Token counts of parts do not add up exactly to the count of the whole; the sum decides where to cut, the
    count of the finished text whether the limit holds.
    """

    def __init__(self, counter: Callable[[str], int] | None = None) -> None:
        self._count = counter
        # Special tokens that a tokenizer adds to every text.
        self.overhead = counter("") if counter is not None else 0
        if not isinstance(self.overhead, int) or self.overhead < 0:
            raise ConfigError("tokenizer", f"must return a number of tokens, got {self.overhead!r} for an empty text")

    @classmethod
    def of_config(cls, config: ChunkingConfig) -> Measure:
        tokenizer = config.tokenizer
        measure = cls(token_counter(tokenizer) if isinstance(tokenizer, str) else tokenizer)
        if measure.overhead >= config.limit:
            reason = f"the limit of {config.limit} tokens leaves no room beside {measure.overhead} special tokens"
            raise ConfigError("max_chars", reason)
        return measure

    @property
    def in_characters(self) -> bool:
        return self._count is None

    def whole(self, text: str) -> int:
        """Size of a finished text, special tokens included."""
        return len(text) if self._count is None else self._count(text)

    def span(self, text: str, start: int, end: int) -> int:
        """Size of ``text[start:end]`` as a part of a larger text."""
        if self._count is None:
            return end - start
        return self._count(text[start:end]) - self.overhead

    def fit(self, text: str, start: int, end: int, limit: int) -> int:
        """The largest ``stop <= end`` with ``span(start, stop) <= limit``, at least one character further."""
        if self._count is None:
            return min(end, start + max(limit, 1))
        # Gallop first, so that the cost depends on the answer and not on the length of the text.
        good, step = start, max(limit, 1)
        while good < end and self.span(text, start, min(end, good + step)) <= limit:
            good = min(end, good + step)
            step *= 2
        bad = min(end, good + step)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self.span(text, start, middle) <= limit:
                good = middle
            else:
                bad = middle
        return max(good, start + 1)
