"""``qchunker review`` and ``complete`` on chunks of this tool and of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import run

EN = (
    '1. Definitions\n\n"Goods" means the pumps listed in Schedule 1.\n\n8.3 The Seller repairs the Goods within 15 days.\n\n'
    "8.4 Clause 8.3 does not apply to wear.\n"
)
ZH = "第一条 定义\n\n“到货日”指货物卸车之日。\n\n第八条 质保期自到货日起算。\n\n第九条 第八条的规定不适用于易损件。\n"


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rule(doc_id: str, text: str, **more: Any) -> dict[str, Any]:
    start = text.index("8.3" if text is EN else "第八条")
    return {"doc_id": doc_id, "start": start, "end": text.index("\n", start), **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "d.jsonl", [{"doc_id": "en", "text": EN}, {"doc_id": "zh", "text": ZH}])
    rows = [rule("zh", ZH, id=7), rule("en", EN, title="mine", question="Who repairs?", page=3)]
    rows.append({"doc_id": "en", "start": 0, "end": rows[1]["end"]})  # holds the one before
    rows.append(rule("en", EN))
    write(tmp_path / "c.jsonl", rows)
    return tmp_path


def test_rows_of_other_tools_are_completed_as_they_are(folder: Path) -> None:
    done = run(folder, "complete", "c.jsonl", "--documents", "d.jsonl", "-o", "out.jsonl")
    assert done.returncode == 0, done.stderr
    asked, rows = read(folder / "c.jsonl"), read(folder / "out.jsonl")
    by_document = [row for row in asked if row["doc_id"] == "en"] + [row for row in asked if row["doc_id"] == "zh"]
    assert [(row["doc_id"], row["start"], row["end"]) for row in rows] == [
        (row["doc_id"], row["start"], row["end"]) for row in by_document
    ]
    mine = rows[0]
    assert (mine["title"], mine["question"], mine["page"]) == ("mine", "Who repairs?", 3)
    assert "the pumps listed in Schedule 1" in mine["completed_text"]
    assert "does not apply to wear" in mine["completed_text"]
    assert mine["completed_text"] in mine["embedding_text"]
    assert rows[-1]["id"] == 7
    assert "货物卸车之日" in rows[-1]["completed_text"]


def test_a_review_tells_what_each_chunk_lacks(folder: Path) -> None:
    done = run(folder, "review", "c.jsonl", "--documents", "d.jsonl", "-o", "r.jsonl")
    assert done.returncode == 0, done.stderr
    rows = read(folder / "r.jsonl")
    assert len(rows) == 4
    kinds = {gap["kind"] for row in rows for gap in row["missing"]}
    assert {"definition", "exception_or_condition"} <= kinds
    shown = run(folder, "review", "c.jsonl", "--documents", "d.jsonl")
    assert "need completion" in shown.stdout


def test_completing_twice_changes_nothing(folder: Path) -> None:
    for source, target in (("c.jsonl", "one.jsonl"), ("one.jsonl", "two.jsonl")):
        assert run(folder, "complete", source, "--documents", "d.jsonl", "-o", target).returncode == 0
    assert (folder / "one.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()


def test_the_readable_output_shows_questions_and_additions(folder: Path) -> None:
    (folder / "x.md").write_text("# Terms\n\n" + EN, encoding="utf-8")
    done = run(folder, "chunk", "x.md", "--target-chars", "60", "-o", "out.md")
    assert done.returncode == 0, done.stderr
    shown = (folder / "out.md").read_text(encoding="utf-8")
    assert "(the pumps listed in Schedule 1)" in shown
    assert "?*" in shown


@pytest.mark.parametrize("arguments", [
    ("complete", "none.jsonl"), ("complete", "c.jsonl"), ("review", "c.jsonl", "--documents", "c.jsonl"),
    ("complete", "c.jsonl", "--documents", "d.jsonl", "-o", "./c.jsonl"),
    ("review", "c.jsonl", "--documents", "d.jsonl", "-o", "r.parquet"),
    ("chunk", "d.jsonl", "--objective", "chunkscore"), ("chunk", "d.jsonl", "--method", "structure", "--paths", "3"),
    ("chunk", "d.jsonl", "--method", "structure", "--explain", "e.jsonl"), ("chunk", "d.jsonl", "--paths", "0"),
    ("chunk", "d.jsonl", "-o", "o.jsonl", "--explain", "./o.jsonl"), ("chunk", "d.jsonl", "-o", "./d.jsonl"),
    ("chunk", "d.jsonl", "-o", "o.jsonl", "--documents", "d.jsonl"), ("chunk", ""),
    ("chunk", "d.jsonl", "-o", "o.jsonl", "--explain", "d.jsonl"), ("chunk", "d.jsonl", "--documents", "-"),
    ("chunk", "d.jsonl", "--objective", "chunkscore", "--paths", "3", "--lm", "none"),
    ("chunk", "d.jsonl", "--lm", "smollm2-135m"), ("chunk", ".", "-o", "x.md"),
])  # fmt: skip
def test_mistakes_are_named_and_nothing_is_written(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "x.md").write_text("# Terms", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert "error " in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("blocks", [
    "x", [1], [{}], [{"kind": "table", "start": 5, "end": 2, "heading_path": [], "level": 0}],
    [{"kind": "p", "start": 0, "end": 10**9, "heading_path": [], "level": 0}],
    [{"kind": "p", "start": 0, "end": 5, "heading_path": 3, "level": "a"}],
    [{"kind": "p", "start": 0, "end": 5, "heading_path": [], "level": 0, "header": [9]}],
    [{"kind": "p", "start": 0, "end": 5, "heading_path": [], "level": 0, "header": [-5, 10**9]}],
    [{"kind": "p", "start": 0, "end": 5, "heading_path": [], "level": 0, "header": [3, 9]}],
    [{"kind": "p", "start": False, "end": True, "heading_path": [], "level": 0}],
    [{"kind": "p", "start": 0, "end": 5, "heading_path": "ab", "level": 0}],
    [{"kind": "p", "start": 0, "end": 5, "heading_path": [], "level": 10**30}],
])  # fmt: skip
def test_blocks_that_are_none_are_an_error(folder: Path, blocks: Any) -> None:
    write(folder / "d.jsonl", [{"doc_id": "en", "text": EN, "blocks": blocks}, {"doc_id": "zh", "text": ZH}])
    done = run(folder, "complete", "c.jsonl", "--documents", "d.jsonl", "-o", "out.jsonl")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "blocks" in done.stderr


@pytest.mark.parametrize("blocks", [
    [], [{"kind": "list_item", "start": 0, "end": 5, "heading_path": [], "level": 1, "header": [0, 5]}],
    [{"kind": "x\ud800", "start": 20, "end": 25, "heading_path": ["\udfff"], "level": 0}],
    [{"kind": "furniture", "start": 0, "end": len(EN), "heading_path": [], "level": 0}],
])  # fmt: skip
def test_odd_blocks_do_not_stop_a_run(folder: Path, blocks: Any) -> None:
    rows = [{"doc_id": "en", "text": EN, "blocks": blocks}, {"doc_id": "zh", "text": ZH}]
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run(folder, "complete", "c.jsonl", "--documents", "d.jsonl", "-o", "out.jsonl", "--max-chars", "120")
    assert done.returncode == 0, done.stderr
    assert len(read(folder / "out.jsonl")) == 4


def test_what_was_added_is_not_lacking_any_more(folder: Path) -> None:
    assert run(folder, "complete", "c.jsonl", "--documents", "d.jsonl", "-o", "out.jsonl").returncode == 0
    before = run(folder, "review", "c.jsonl", "--documents", "d.jsonl").stdout
    after = run(folder, "review", "out.jsonl", "--documents", "d.jsonl", "-o", "r.jsonl")
    assert before.startswith("4 of 4 chunks need completion; what they lack:")
    assert after.stderr.startswith("0 of 4 chunks need completion\n")
    assert not any(row["needs_completion"] for row in read(folder / "r.jsonl"))
