"""Counting tokens with the tokenizer of the model that will embed the chunks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qchunker.errors import ConfigError, MissingExtraError

TokenCounter = Callable[[str], int]


def token_counter(name: str) -> TokenCounter:
    """A counter by name.

    Args:
        name: ``tiktoken:<encoding or model>`` or ``hf:<path of a tokenizer.json, or name on the hub>``.

    Returns:
        a function from text to number of tokens. Words that spell special tokens count as plain text with
        tiktoken; Hugging Face counts include the special tokens that the model adds.

    Raises:
        ConfigError: if the name is not of this form or the tokenizer cannot be loaded.
        MissingExtraError: if the package is not installed.
    """
    family, _, which = name.partition(":")
    if family not in _FAMILIES or not which:
        raise ConfigError("tokenizer", f"unknown name {name!r}", hint="use tiktoken:NAME or hf:NAME_OR_PATH")
    return _FAMILIES[family](which)


def _tiktoken(which: str) -> TokenCounter:
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError("tiktoken", "counting tokens with tiktoken") from error
    try:
        encoding = (
            tiktoken.get_encoding(which)
            if which in tiktoken.list_encoding_names()
            else tiktoken.encoding_for_model(which)
        )
    except (KeyError, ValueError, OSError) as error:
        hint = "encodings are fetched once and then kept; see TIKTOKEN_CACHE_DIR"
        raise ConfigError("tokenizer", f"tiktoken cannot load {which!r}: {error}", hint=hint) from error
    return lambda text: len(encoding.encode_ordinary(text))


def _hugging_face(which: str) -> TokenCounter:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("tokenizers", "counting tokens with a Hugging Face tokenizer") from error
    try:
        loaded = Tokenizer.from_file(which) if Path(which).is_file() else Tokenizer.from_pretrained(which)
    except Exception as error:  # the library raises bare Exception for every failure
        hint = "give the path of a tokenizer.json, or a name on the hub when it can be reached"
        raise ConfigError("tokenizer", f"cannot load {which!r}: {error}", hint=hint) from error
    loaded.no_truncation()
    loaded.no_padding()
    return lambda text: len(loaded.encode(text))


_FAMILIES: dict[str, Callable[[str], TokenCounter]] = {"tiktoken": _tiktoken, "hf": _hugging_face}
