"""The whole qchunker method on random documents: nothing is lost, nothing is invented, no limit is broken."""

from __future__ import annotations

import re
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

import qchunker
from qchunker import ChunkingConfig, Models
from qchunker.config import CompletionConfig, DebateConfig
from qchunker.debate.verify import verify
from qchunker.models.fake import HashingEmbedder
from qchunker.types import Chunk, Partition
from strategies import documents

MODELS = Models(HashingEmbedder())

# Sentences that refer to each other, so that there is something to complete.
_LINKED = (
    "# 1 Definitions\n\n", "## 第一条 定义\n\n", '"Goods" means the pumps in Schedule 1. ', "“到货日”指卸车之日。",
    "The Field Safety Notice (FSN) lists the pumps. ", "The FSN is sent by mail. ", "超出 LEL 时报警。", "爆炸下限（LEL）为 2 %。",
    "8.3 The Seller repairs the Goods within 15 days.\n\n", "8.4 Clause 8.3 does not apply at sea.\n\n", "前款规定不适用于夜间作业。\n\n",
    "第八条 质保期为二十四个月。\n\n", "第九条 第八条的规定不适用于易损件。\n\n", "| Item | Mass |\n|---|---|\n| a | 1 |\n| b | 2 |\n\n", "单位：万元\n\n",
    "(in millions)\n\n", "It must not run dry. ", "该设备应当接地。", "See Section 8.3. ", "Acme Pumps Ltd makes pumps. ", "同年，泵站停用。", "2019 年建成泵站。",
    "8.3 The Buyer may refuse the Goods; ", "or return them.\n\n", "第八条 货物可以退回；", "也可以更换。\n\n",
    "- one\n- two\n\n", "The steps are:\n\n", "1. Open it.\n2. Close it.\n\n",
)  # fmt: skip
linked = st.lists(st.sampled_from(_LINKED), min_size=2, max_size=40).map("".join)


def made(text: str, target: int = 80) -> Partition:
    config = ChunkingConfig(target_chars=target, min_chars=0)
    return qchunker.chunk(qchunker.from_text(text, "text.md"), config=config, models=MODELS)


def check(partition: Partition, limit: int) -> None:
    text, at = partition.document.text, 0
    for chunk in partition.chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert not text[at : chunk.start].strip()
        at = chunk.end
        assert len(chunk.embedding_text) <= limit or chunk.oversize
        assert chunk.question
        assert "\n" not in chunk.question
        check_completion(chunk)
    assert not text[at:].strip()


def check_completion(chunk: Chunk) -> None:
    text, completed = chunk.document.text, chunk.completed_text
    if completed is None:
        assert not chunk.added
        return
    evidence = [span for addition in chunk.added for span in addition.evidence]
    assert all(end <= chunk.start or start >= chunk.end for start, end in evidence)
    assert all(chunk.start <= addition.at <= chunk.end for addition in chunk.added)
    quotes = [text[start:end] for start, end in evidence]
    assert verify(chunk.text, completed, quotes) == []
    default = CompletionConfig()
    growth = max(default.max_growth_ratio * len(chunk.text), default.max_growth_chars)
    assert len(completed) - len(chunk.text) <= growth
    said = letters("".join(quotes))
    for addition in chunk.added:
        words = re.sub(r"^\s*[【\[][^：:]+[：:]", "", addition.text)
        assert all(letters(part) in said for part in re.split("; |；", words))


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


@settings(max_examples=80, deadline=None)
@given(documents)
def test_any_document_is_lossless_within_limits_and_traceable(text: str) -> None:
    check(made(text), 160)


@settings(max_examples=150, deadline=None)
@given(linked, st.sampled_from([40, 80, 200]))
def test_documents_that_refer_to_themselves_are_completed_from_themselves(text: str, target: int) -> None:
    check(made(text, target), 2 * target)


@settings(max_examples=20, deadline=None)
@given(linked)
def test_the_same_document_gives_the_same_chunks(text: str) -> None:
    assert made(text) == made(text)


def test_completion_changes_neither_cuts_nor_texts() -> None:
    text = "".join(_LINKED)
    document = qchunker.from_text(text, "text.md")
    config = ChunkingConfig(target_chars=80)
    with_all = qchunker.chunk(document, config=config, models=MODELS)
    without = qchunker.chunk(document, config=config, debate_config=DebateConfig(completion=None), models=MODELS)
    assert with_all.spans == without.spans
    assert any(chunk.added for chunk in with_all.chunks)
    assert not any(chunk.added for chunk in without.chunks)


def test_chunks_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import json, sys, qchunker\n"
        "from qchunker.rows import chunk_rows\n"
        "document = qchunker.from_text(sys.stdin.read(), 'text.md')\n"
        "print(json.dumps(chunk_rows(qchunker.chunk(document, config=qchunker.ChunkingConfig(target_chars=90)))))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], input="".join(_LINKED), env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True, text=True, encoding="utf-8", check=True, timeout=120,
        ).stdout
        for seed in ("0", "1", "42")
    }  # fmt: skip
    assert len(outputs) == 1
