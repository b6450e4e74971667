"""``qchunker qa`` without a model, the sheet for spot checks, and pairs in an index."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qchunker import Index, SearchConfig
from qchunker.models.fake import HashingEmbedder

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "qchunker", *arguments], cwd=folder, capture_output=True, encoding="utf-8", timeout=120,
        env=os.environ | {"PYTHONUTF8": "1", "COLUMNS": "100", "NO_COLOR": "1"}, check=False,
    )  # fmt: skip


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("controller-faq.en.md", "safety-data-sheet.zh.md", "supply-contract.zh.txt"):
        (tmp_path / "docs" / name).write_bytes((EXAMPLES / name).read_bytes())
    return tmp_path


def test_pairs_are_stretches_of_the_texts_that_their_spans_point_into(folder: Path) -> None:
    done = run(folder, "qa", "docs", "-o", "p.jsonl", "--documents", "d.jsonl", "--report", "r.json")
    assert done.returncode == 0, done.stderr
    texts = {row["doc_id"]: row["text"] for row in rows(folder / "d.jsonl")}
    made = rows(folder / "p.jsonl")
    assert len(made) > 40
    for row in made:
        text = texts[row["doc_id"]]
        assert row["answer"] in text
        assert any(row["answer"] in text[start:end] for start, end in row["evidence"])
        assert row["start"] < row["end"]
        assert row["origin"] in ("faq", "steps", "definition", "table", "key_value", "condition", "heading")
    report = json.loads((folder / "r.json").read_text("utf-8"))
    assert (report["documents"], report["pairs"], report["model"]) == (3, len(made), None)
    assert report["origins"] == {name: sum(row["origin"] == name for row in made) for name in report["origins"]}
    assert f"{len(made)} pairs of 3 documents in p.jsonl" in done.stderr
    again = run(folder, "qa", "docs", "--json")
    assert again.stdout == (folder / "p.jsonl").read_text("utf-8")
    assert json.loads(again.stderr)["pairs"] == len(made)


def test_one_bad_file_does_not_stop_the_others(folder: Path) -> None:
    (folder / "docs" / "bad.docx").write_bytes(b"PK\x03\x04 broken")
    done = run(folder, "qa", "docs", "-o", "p.jsonl")
    assert done.returncode == 1
    assert "bad.docx" in done.stderr
    assert "3 of 4 documents done" in done.stderr
    assert len(rows(folder / "p.jsonl")) > 40


def test_a_sheet_is_written_marked_and_read_back(folder: Path) -> None:
    done = run(folder, "qa", "docs", "-o", "p.jsonl", "--sample", "20")
    assert done.returncode == 0, done.stderr
    path = folder / "p.sample.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.DictReader(file))
    assert len(sheet) == 20
    assert {row["qa_id"] for row in sheet} <= {row["qa_id"] for row in rows(folder / "p.jsonl")}
    unmarked = run(folder, "qa", "--marked", str(path))
    assert unmarked.returncode == 2
    assert "no row is marked" in unmarked.stderr
    for number, row in enumerate(sheet):
        row["mark"] = "wrong" if number < 2 else "ok"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    marked = run(folder, "qa", "--marked", str(path))
    assert marked.returncode == 0, marked.stderr
    assert marked.stdout.startswith("2 of 20 marked pairs are wrong: 10.0%, 95 % interval 2.8% to 30.1%")
    found = json.loads(run(folder, "qa", "--marked", str(path), "--json").stdout)
    assert (found["marked"], found["wrong"], found["rate"]) == (20, 2, 0.1)


@pytest.mark.parametrize(("arguments", "words"), [
    (["qa"], "nothing to make pairs of"), (["qa", "docs", "--marked", "x.csv"], "by itself"), (["qa", "--marked", "x.csv"], "cannot be read"),
    (["qa", "docs", "--variants", "3"], "only a language model"), (["qa", "docs", "--full-answers"], "only a language model"),
    (["qa", "docs", "--budget", "3"], "only a language model"), (["qa", "docs", "--llm-model", "m"], "only a language model"),
    (["qa", "docs", "--sample", "3"], "needs a name"), (["qa", "docs", "--sheet", "s.csv"], "nothing to write"),
    (["qa", "docs", "-o", "p.parquet"], "unknown ending"), (["qa", "docs", "-o", "p.jsonl", "--report", "p.jsonl"], "the same file"),
    (["qa", "docs", "-o", "docs/controller-faq.en.md"], "one of the inputs"), (["qa", "docs", "--group-size", "0"], "group_size"),
    (["qa", "docs", "-o", "p.jsonl", "--report", "none/r.json"], "no folder"), (["qa", "nowhere"], "no such file"),
])  # fmt: skip
def test_wrong_usage_is_said_and_writes_nothing(folder: Path, arguments: list[str], words: str) -> None:
    before = sorted(folder.rglob("*"))
    done = run(folder, *arguments)
    assert done.returncode == 2, done.stderr
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert sorted(folder.rglob("*")) == before


def test_names_that_spell_markup_are_shown_as_they_are(folder: Path) -> None:
    (folder / "docs" / "x[red].md").write_text("# A [red]\n\n## What is B?\n\nA thing [/bold].\n", "utf-8")
    (folder / "docs" / "y[bold].docx").write_bytes(b"PK")
    done = run(folder, "qa", "docs/x[[]red].md", "docs/y*.docx")
    assert done.returncode == 1
    assert "y[bold].docx" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout.splitlines()[0])["source"] == "docs/x[red].md"


# Pairs in an index

PAIR = {"qa_id": "1", "doc_id": "m", "question": "How is the mill stopped?", "answer": "Pull the rope twice.", "summary": "Stopping.",
        "full_answer": "Pull the rope twice, then wait for the bell.", "variants": ["What halts the grinder?"], "start": 25, "end": 45,
        "source": "m.md", "page": 3, "heading_path": ["Mill", "Stopping"]}  # fmt: skip
CHUNKS = [{"doc_id": "m", "start": start, "end": start + 20, "text": text, "source": "m.md"}
          for start, text in ((0, "The mill has a wheel."), (20, "It grinds the grain."), (40, "Pull the rope twice."), (60, "Then wait a bit."))]  # fmt: skip


def test_a_pair_that_is_found_leads_back_to_its_chunk(tmp_path: Path) -> None:
    with Index.open(tmp_path / "store", embedder=HashingEmbedder()) as index:
        index.add_chunks(CHUNKS)
        index.add_qa(
            [PAIR, PAIR | {"qa_id": "2", "doc_id": "other", "question": "Who owns the lake?", "answer": "Nobody."}]
        )
        for config in (
            SearchConfig(),
            SearchConfig(fusion="rrf"),
            SearchConfig(dense_weight=0),
            SearchConfig(bm25_weight=0),
        ):
            hit = next(
                one for one in index.search("What halts the grinder?", config=config) if one.row["record"] == "qa"
            )
            assert hit.row["qa_id"] == "1"
            assert [(one.kind, one.row["start"]) for one in hit.related] == [("chunk", 20)]  # where most of it stands
            assert hit.source == "m.md"
            assert hit.row["full_answer"].startswith("Pull the rope")
        lonely = next(hit for hit in index.search("Who owns the lake?") if hit.row.get("qa_id") == "2")
        assert lonely.related == ()
        off = index.search("What halts the grinder?", config=SearchConfig(with_chunk=False))
        assert all(one.kind != "chunk" for hit in off for one in hit.related)
        assert all(
            one.kind != "chunk"
            for hit in index.search("grain wheel")
            if hit.row["record"] == "chunk"
            for one in hit.related
        )


def test_questions_and_answers_are_both_found_by_their_words(tmp_path: Path) -> None:
    with Index.open(tmp_path / "store", embedder=HashingEmbedder()) as index:
        index.add_qa([PAIR, PAIR | {"qa_id": "2", "question": "When is lunch?", "answer": "At noon."}])
        words = SearchConfig(dense_weight=0)
        assert index.search("rope", config=words)[0].row["qa_id"] == "1"
        assert index.search("mill", config=words)[0].row["qa_id"] == "1"
        assert index.search("noon", config=words)[0].row["qa_id"] == "2"


def test_documents_and_their_pairs_are_searched_together(folder: Path) -> None:
    for arguments in (
        ["qa", "docs", "-o", "p.jsonl"],
        ["index", "docs", "--store", "s"],
        ["index", "--qa", "p.jsonl", "--store", "s"],
    ):
        done = run(folder, *arguments)
        assert done.returncode == 0, done.stderr
    found = run(
        folder, "search", "Can two controllers share a serial line?", "--store", "s", "--json", "--fusion", "rrf"
    )
    hits = [json.loads(line) for line in found.stdout.splitlines()]
    assert {hit["row"]["record"] for hit in hits} == {"chunk", "qa"}
    pair = next(hit for hit in hits if hit["row"]["record"] == "qa")
    (chunk,) = [one["row"] for one in pair["related"] if one["kind"] == "chunk"]
    assert chunk["doc_id"] == pair["row"]["doc_id"]
    assert chunk["start"] < pair["row"]["end"]
    assert pair["row"]["start"] < chunk["end"]
    shown = run(folder, "search", "KL-20 的闪点", "--store", "s").stdout
    assert "闪点的数值（闭杯）是多少？" in shown
    assert "chunk: " in shown
    assert "safety-data-sheet.zh.md" in shown
