"""The promises that every conformance test checks, written without any of the code under test."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

from qchunker import Block, Chunk, ChunkingConfig, Document, Partition, Source, chunk, parse
from qchunker.tokens import token_counter

CASES = Path(__file__).parent.parent / "cases"
# The chunkers that promise to prefer the ends of sentences; the fixed one cuts whatever stands there.
SENTENCE_AWARE = ("structure", "sentence", "recursive")
_TOKEN = re.compile(r"\w+|-+|=+|[^\w\s]")


def case(name: str) -> Document:
    """The document of a case file."""
    return parse(Source(name, (CASES / name).read_bytes()))


def case_text(name: str) -> str:
    """The text of a case file, line ends as they are."""
    return (CASES / name).read_bytes().decode("utf-8")


def sizes(limit: int, overlap: float = 0, **settings: object) -> ChunkingConfig:
    """A config with one limit: chunks aim at it, and the embedded text may not pass it. ``overlap`` in units."""
    settings.setdefault("max_chars", limit)
    return ChunkingConfig(target_chars=limit, overlap_ratio=overlap / limit, **settings)  # type: ignore[arg-type]


def words(text: str) -> int:
    """A counter of words between white space."""
    return len(text.split())


def tokens(text: str) -> int:
    """A counter of words and punctuation marks."""
    return len(_TOKEN.findall(text))


def utf8_bytes(text: str) -> int:
    """A counter of bytes; fails on lone surrogates."""
    return len(text.encode("utf-8"))


def assert_blocks(document: Document) -> None:
    """Every non-space character is in one block and no block overlaps another."""
    _assert_covers(document.text, [(block.start, block.end) for block in document.blocks], "block")


def assert_promises(partition: Partition, config: ChunkingConfig) -> None:
    """Offsets, losslessness, sizes and identity of one partition."""
    document = partition.document
    text = document.text
    _assert_covers(text, [(piece.start, piece.end) for piece in partition.chunks], "chunk")
    tokenizer = config.tokenizer
    count = token_counter(tokenizer) if isinstance(tokenizer, str) else tokenizer or len
    for piece in partition.chunks:
        assert piece.text == text[piece.start : piece.end]
        assert piece.text.strip(), "an empty chunk"
        assert "\ufffd" not in piece.text or "\ufffd" in text
        piece.embedding_text.encode("utf-8")  # raises on a lone surrogate
        if count(piece.embedding_text) > config.limit:
            assert piece.oversize, f"{count(piece.embedding_text)} > {config.limit}: {piece.embedding_text!r}"
        if piece.lead_in is not None:
            lead = piece.lead_in
            assert 0 <= lead.start < lead.end <= piece.start
            assert not text[lead.end : piece.start].strip(), "the lead-in does not touch its chunk"
            assert text[lead.start : lead.end] in piece.embedding_text
        for start, end in piece.context:
            assert 0 <= start < end <= piece.start
    assert len({piece.id for piece in partition.chunks}) == len(partition.chunks)


def _assert_covers(text: str, spans: list[tuple[int, int]], what: str) -> None:
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text), f"{what} {start}-{end} after {at}, text of {len(text)}"
        assert not text[at:start].strip(), f"between two {what}s: {text[at:start]!r}"
        at = end
    assert not text[at:].strip(), f"after the last {what}: {text[at:]!r}"


def cut(document: Document, method: str, config: ChunkingConfig) -> Partition:
    """Chunk, and check all promises on the way."""
    partition = chunk(document, method, config)
    assert_promises(partition, config)
    return partition


def texts(partition: Partition) -> list[str]:
    return [piece.text for piece in partition.chunks]


def blocks_of(document: Document, *kinds: str) -> list[str]:
    """Texts of the blocks of some kinds."""
    return [document.text[block.start : block.end] for block in document.blocks if block.kind in kinds]


def headings(document: Document) -> list[str]:
    """Titles of all headings, as they stand in the heading path."""
    return [block.heading_path[-1] for block in document.blocks if block.kind == "heading" and block.heading_path]


def block_with(document: Document, words: str) -> Block:
    """The block that holds some words; they occur once."""
    assert document.text.count(words) == 1
    at = document.text.index(words)
    return next(block for block in document.blocks if block.start <= at < block.end)


def chunk_with(partition: Partition, words: str) -> Chunk:
    """The chunk that holds the beginning of some words; they occur once."""
    assert partition.document.text.count(words) == 1
    at = partition.document.text.index(words)
    return next(piece for piece in partition.chunks if piece.start <= at < piece.end)


def most_chunks(method: str, size: int, limit: int, overlap: int = 0, n_blocks: int = 1) -> int:
    """How many chunks a text of ``size`` may become: windows are full, pieces of whole sentences at least half full."""
    windows = ceil(size / (limit - overlap))
    return (windows if method == "fixed" else 2 * windows) + n_blocks


@contextmanager
def ends_within(seconds: int = 60) -> Iterator[None]:
    """Fail instead of hanging. The cap is generous: it tells a loop or a square from a slow machine."""

    def stop(*_args: object) -> None:
        raise AssertionError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
