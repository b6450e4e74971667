"""Answers in words: with jieba for Chinese, as ``13a`` for English.

Chinese text has no spaces between words, so a metric that splits at spaces sees one word, or none. Which words a text
has depends on the tokeniser and its version: both are part of the signature of every number.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from qchunker.bench.metrics.packages import bench_package
from qchunker.errors import ConfigError, ScoringError

T = TypeVar("T")

LANGUAGES = ("zh", "en")

_ARTICLES = frozenset({"a", "an", "the"})
_SIGNS = frozenset(string.punctuation)


def answer_tokens(text: str, language: str) -> list[str]:
    """Tokens in order; white space at the ends of the text is no part of it.

    ``zh``: jieba in its default mode, every token kept, punctuation and white space too. ``en``: ``13a`` of sacrebleu,
    which parts punctuation from words; case stays.

    Raises:
        ConfigError: if the language is another.
        MissingExtraError: if the package is not installed.
    """
    return by_language(language, _TOKENIZERS)(text.strip())


def tokenizer_signature(language: str) -> str:
    """Name and version of what ``answer_tokens`` uses; raises as it does."""
    return by_language(language, _SIGNATURES)()


def normalized_tokens(text: str, language: str) -> list[str]:
    """Tokens without punctuation and case, as LongBench compares them; of English also without articles.

    Chinese is cut by jieba first and cleaned then; English is cleaned first and cut at white space then.

    Raises: as ``answer_tokens``.
    """
    if language == "zh":
        cleaned = (normalized_text(token, language) for token in answer_tokens(text, language))
        return [token for token in cleaned if token]
    return normalized_text(text, language).split()


def normalized_text(text: str, language: str) -> str:
    """A text without punctuation and case; Chinese without white space, English without articles.

    Raises: ConfigError: if the language is another.
    """
    words = _cleaned(text).split()
    if by_language(language, _TOKENIZERS) is _jieba_tokens:
        return "".join(words)
    return " ".join(word for word in words if word not in _ARTICLES)


def compared_texts(prediction: str, reference: str) -> tuple[str, str]:
    """Both without white space at the ends.

    Raises:
        ScoringError: if the reference is blank: nothing can be compared with it.
    """
    if not reference.strip():
        raise ScoringError("the reference answer is blank", hint="leave the question out of the set, for every method")
    return prediction.strip(), reference.strip()


def _cleaned(text: str) -> str:
    return "".join(char for char in text.lower() if not _is_punctuation(char))


def _is_punctuation(char: str) -> bool:
    """Punctuation of any script, and the signs of ASCII in both widths."""
    return unicodedata.category(char).startswith("P") or unicodedata.normalize("NFKC", char) in _SIGNS


def _jieba_tokens(text: str) -> list[str]:
    return list(_jieba().cut(text))


def _english_tokens(text: str) -> list[str]:
    tokens: list[str] = _tokenizer_13a()(text).split()
    return tokens


@cache
def _jieba() -> Any:
    """A tokeniser of its own: words that a program adds to the one of the library do not change a score.

    Its dictionary is read from the package. The library would keep a copy in the folder for temporary files, under a
    name that all users and processes share, and log to standard error.
    """
    jieba = bench_package("jieba", "cutting Chinese answers into words")
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@cache
def _tokenizer_13a() -> Any:
    return bench_package("sacrebleu.tokenizers.tokenizer_13a", "cutting English answers into words").Tokenizer13a()


def _jieba_signature() -> str:
    return f"jieba-{bench_package('jieba', 'cutting Chinese answers into words').__version__}"


def _english_signature() -> str:
    return f"13a-sacrebleu-{bench_package('sacrebleu', 'cutting English answers into words').__version__}"


def by_language(language: str, table: Mapping[str, T]) -> T:
    """What a table has for a language.

    Raises:
        ConfigError: if it has nothing for it.
    """
    if language not in table:
        raise ConfigError("language", f"unknown: {language!r}", hint=f"use one of {', '.join(LANGUAGES)}")
    return table[language]


_TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"zh": _jieba_tokens, "en": _english_tokens}
_SIGNATURES: dict[str, Callable[[], str]] = {"zh": _jieba_signature, "en": _english_signature}
