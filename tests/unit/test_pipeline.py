"""The library's entry points refuse what would lose text or make no sense."""

from __future__ import annotations

import dataclasses

import pytest

from qchunker import CHUNKERS, ChunkingConfig, Document, Partition, chunk, from_text, parse
from qchunker.errors import ConfigError, ParseError, UnsupportedFormatError

TEXT = "# A\n\nThe relief valve opens at nine bar.\n\n# B\n\nOil the pump weekly, and note it.\n"


def test_an_own_chunker_may_not_lose_text() -> None:
    def without_first(document: Document, config: ChunkingConfig) -> Partition:
        whole = CHUNKERS["structure"](document, config)
        return dataclasses.replace(whole, chunks=whole.chunks[1:])

    def doubled(document: Document, config: ChunkingConfig) -> Partition:
        whole = CHUNKERS["structure"](document, config)
        return dataclasses.replace(whole, chunks=whole.chunks + whole.chunks)

    document = from_text(TEXT, "x.md")
    for method in (without_first, doubled):
        with pytest.raises(ConfigError, match="chunk"):
            chunk(document, method, ChunkingConfig(min_chars=0))


@pytest.mark.parametrize("method", ["magic", 42, None])
def test_an_unknown_method_is_named(method: object) -> None:
    with pytest.raises(ConfigError, match="method"):
        chunk(from_text(TEXT), method)  # type: ignore[arg-type]


@pytest.mark.parametrize("counter", [lambda _text: None, lambda _text: -1, lambda _text: "3"])
def test_a_counter_must_count(counter: object) -> None:
    with pytest.raises(ConfigError, match="tokenizer"):
        chunk(from_text(TEXT), config=ChunkingConfig(tokenizer=counter))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [
        {"target_chars": 0},
        {"target_chars": -5},
        {"max_chars": 0},
        {"max_chars": 5, "target_chars": 10},
        {"min_chars": -1},
        {"overlap_ratio": 1.0},
        {"overlap_ratio": -0.1},
    ],
)
def test_impossible_settings_name_themselves(settings: dict) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        ChunkingConfig(**settings)


def test_files_that_cannot_be_read_are_named(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for path in (tmp_path / "missing.md", tmp_path):
        with pytest.raises(ParseError, match="check the path"):
            parse(path)
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(UnsupportedFormatError, match=r"save it as \.docx"):
        parse(tmp_path / "old.doc")
    with pytest.raises(UnsupportedFormatError):
        from_text("x", "x.pdf")
    with pytest.raises(ParseError, match="empty"):
        from_text(" \n")


def test_ids_tell_equal_texts_of_two_files_apart() -> None:
    one, same, other = from_text(TEXT, "a.md"), from_text(TEXT, "a.md"), from_text(TEXT, "b.md")
    assert one.id == same.id != other.id
