"""A model of 135 million parameters plays the roles: it answers nonsense, and nothing of it gets into the chunks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import command_line
import qchunker
from contract.llama_cpp_server import llama_cpp_server
from qchunker.config import DebateConfig, LLMConfig
from qchunker.models.llm import Tally
from qchunker.models.load import Models, default_embedder
from qchunker.models.load_llm import load_llm
from qchunker.models.metered import MeteredLLM
from qchunker.types import Partition

pytestmark = pytest.mark.model
KEY = "sk-secret-8151"
EN = (
    "# Valves\n\n2.1 The operator closes valve V3 before the plant is stopped.\n\n"
    "3.1 Clause 2.1 does not apply on Sundays. The Remote Terminal Unit (RTU) logs it.\n\n"
    "4.1 The RTU keeps the log of every stop for 30 days.\n"
)
ZH = (
    "# 阀门\n\n第二条 操作人员应当在停机前关闭三号阀。\n\n第三条 前条规定不适用于星期日。爆炸下限（LEL）为百分之二。\n\n"
    "第四条 达到 LEL 时报警。\n"
)
SMALL = qchunker.ChunkingConfig(target_chars=60, max_chars=200, min_chars=0)


def assert_intact(partition: Partition) -> None:
    text, at = partition.document.text, 0
    for chunk in partition.chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert not text[at : chunk.start].strip()
        at = chunk.end
        for addition in chunk.added:
            assert addition.evidence
            assert all(end <= chunk.start or start >= chunk.end for start, end in addition.evidence)
    assert not text[at:].strip()


def test_in_this_process_with_its_schema() -> None:
    tally = Tally()
    llm = MeteredLLM(load_llm("openvino:smollm2-135m"))
    config = DebateConfig(llm=LLMConfig(paths=1, reply_tokens=16, window_chars=1_000))
    models = Models(default_embedder(), llm=llm, tally=tally)
    document = qchunker.from_text(EN, "valves.md")
    partition = qchunker.chunk(document, config=SMALL, debate_config=config, models=models)
    assert_intact(partition)
    assert llm.spending.calls >= 4
    assert llm.spending.completion_tokens > 0
    assert tally.counts["rewrites accepted"] <= tally.counts["rewrites"] / 2
    rules = qchunker.chunk(document, config=SMALL)
    assert any(chunk.added for chunk in rules.chunks)  # there is something to complete
    known = set(EN) | set("[]()【】：: ") | set("Note Reference Definition Context")
    assert all(set(one.text) <= known for chunk in partition.chunks for one in chunk.added)


@pytest.mark.server
def test_behind_a_real_server_and_the_report_says_so(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "valves.zh.md").write_text(ZH, "utf-8")
    with llama_cpp_server(KEY, n_context=8192) as url:
        done = command_line.run(
            tmp_path,
            *("chunk", "docs", "--llm", url, "--llm-model", "smollm2", "--paths", "1"),
            *("--reply-tokens", "16", "--window-chars", "1000", "--target-chars", "60", "--min-chars", "0"),
            *("--run-dir", "run", "--report", "report.json", "-o", "chunks.jsonl", "--documents", "documents.jsonl"),
            QCHUNKER_API_KEY=KEY,
        )
    assert done.returncode == 0, done.stderr
    texts = {row["doc_id"]: row["text"] for row in rows(tmp_path / "documents.jsonl")}
    assert len(texts) == 1
    for row in rows(tmp_path / "chunks.jsonl"):
        assert texts[row["doc_id"]][row["start"] : row["end"]] == row["text"]
        assert all(end <= row["start"] or start >= row["end"] for one in row["added"] for start, end in one["evidence"])
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    counts = report["counts"]
    assert report["calls"] >= 4
    assert counts.get("rewrites accepted", 0) <= counts.get("rewrites", 0) / 2
    nonsense = (
        counts.get("rewrites refused", 0) + counts.get("reviewed by rules", 0) + counts.get("outlined by rules", 0)
    )
    assert nonsense + counts.get("reported, but not in the document", 0) > 0
    assert f"{report['calls']:,} calls" in done.stderr
    assert KEY not in done.stderr + (tmp_path / "report.json").read_text("utf-8")
    assert KEY.encode() not in (tmp_path / "run" / "journal.sqlite").read_bytes()


def rows(path: Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
