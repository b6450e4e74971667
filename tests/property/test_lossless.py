"""P1: whatever the text, blocks and chunks are sorted, disjoint, and hold every non-space character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qchunker import CHUNKERS, ChunkingConfig, Document, QChunkerError, chunk, from_text
from strategies import documents

configs = st.builds(
    ChunkingConfig,
    target_chars=st.sampled_from([1, 2, 7, 30, 100, 700]),
    min_chars=st.sampled_from([0, 5, 40]),
    overlap_ratio=st.sampled_from([0.0, 0.15, 0.5, 0.9]),
    merge_headings=st.booleans(),
    tokenizer=st.sampled_from([None, None, lambda text: (len(text.encode("utf-8", "replace")) + 2) // 3]),
)


def assert_covers(text: str, spans: list[tuple[int, int]]) -> None:
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip(), f"lost {text[at:start]!r}"
        at = end
    assert not text[at:].strip(), f"lost {text[at:]!r}"


def assert_partition(document: Document, method: str, config: ChunkingConfig) -> None:
    partition = chunk(document, method, config)
    assert_covers(document.text, [(piece.start, piece.end) for piece in partition.chunks])
    count = config.tokenizer if callable(config.tokenizer) else len
    for piece in partition.chunks:
        assert piece.text == document.text[piece.start : piece.end]
        assert piece.text.strip()
        assert count(piece.embedding_text) <= config.limit or piece.oversize, piece
        if piece.lead_in is not None:
            assert 0 <= piece.lead_in.start < piece.lead_in.end <= piece.start
        for span in piece.context:
            assert span.end <= piece.start
    ids = [piece.id for piece in partition.chunks]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", ["x.txt", "x.md"])
@given(text=documents, config=configs)
def test_every_character_of_the_source_is_in_one_block_and_one_chunk(
    name: str, text: str, config: ChunkingConfig
) -> None:
    document = from_text(text, name)
    assert document.text == text
    assert_covers(text, [(block.start, block.end) for block in document.blocks])
    for method in CHUNKERS:
        assert_partition(document, method, config)


@pytest.mark.parametrize("name", ["x.html", "x.csv", "x.tsv"])
@given(text=documents, config=configs)
def test_formats_that_may_refuse_a_text_never_lose_it(name: str, text: str, config: ChunkingConfig) -> None:
    try:
        document = from_text(text, name)
    except QChunkerError as error:
        assert error.hint
        return
    if not name.endswith("html"):
        assert document.text == text
    assert_covers(document.text, [(block.start, block.end) for block in document.blocks])
    assert_partition(document, "structure", config)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=20)


@given(rows=st.lists(st.lists(cells, min_size=2, max_size=4), min_size=2, max_size=12))
def test_a_written_table_comes_back_record_by_record(rows: list[list[str]]) -> None:
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    document = from_text("\n".join(lines), "x.csv")
    assert [document.text[block.start : block.end] for block in document.blocks] == lines
    assert all(block.header == document.blocks[0][1:3] for block in document.blocks[1:])
