"""Ids: equal texts of two documents stay apart, and the same input gives the same ids."""

from __future__ import annotations

import json

import pytest
from promises import case, case_text, sizes

from qchunker import CHUNKERS, ChunkingConfig, chunk, from_text
from qchunker.batch import chunk_all
from qchunker.inputs import read_jsonl
from qchunker.types import Partition

methods = pytest.mark.parametrize("method", CHUNKERS)


# cases 160 and 161
@methods
def test_documents_of_equal_text_keep_their_own_ids(method: str) -> None:
    rows = json.loads(case_text("same_text_docs.json"))
    lines = [json.dumps({"doc_id": row["doc"], "text": row["text"]}) for row in rows]
    results = list(chunk_all(read_jsonl(lines, "rows"), method))
    assert all(isinstance(result, Partition) for result in results)
    ids = [piece.id for result in results if isinstance(result, Partition) for piece in result.chunks]
    assert len(ids) == len(set(ids)) == 3
    assert from_text("Wear gloves.", "a.md").id != from_text("Wear gloves.", "b.md").id


@methods
def test_equal_paragraphs_of_one_document_have_ids_of_their_own(method: str) -> None:
    partition = chunk(from_text("Wear gloves at work.\n\n" * 5), method, sizes(22, min_chars=0))
    assert len({piece.id for piece in partition.chunks}) == len(partition.chunks) >= 5


# case 162
@methods
def test_the_same_file_twice_gives_the_same_ids(method: str) -> None:
    for name in ("long_table.md", "legal_zh.txt", "div_text.html", "quoted.csv"):
        runs = [chunk(case(name), method, ChunkingConfig(target_chars=100)) for _ in range(2)]
        assert [piece.id for piece in runs[0].chunks] == [piece.id for piece in runs[1].chunks]
        assert runs[0].signature == runs[1].signature


def test_a_changed_text_gets_another_id() -> None:
    assert from_text("Wear gloves.", "a.md").id != from_text("Wear gloves!", "a.md").id
    assert from_text("b.Wear", "a").id != from_text("Wear", "ab.").id
