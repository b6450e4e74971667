"""The command line as a user runs it: exit codes, files that appear whole, formats in and out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import qchunker
from command_line import run_bytes

RULES_EN = "# Term\n\n8.3 Either party may end this agreement.\n\n## Pumps\n\nOil them weekly. Check the valve.\n"
RULES_ZH = "第一章 总则\n\n第一条 为了加强管理，制定本办法。\n\n第二章 储存\n\n仓库应当干燥，并由专人每日巡查一次。\n"


def run(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return run_bytes(cwd or Path(), *arguments, stdin=stdin)


def run_apart(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """As a process of its own."""
    command = [sys.executable, "-m", "qchunker", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, check=False)


def rows(text: str | bytes) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / ".hidden").mkdir()
    (docs / "rules.md").write_text(RULES_EN, encoding="utf-8")
    (docs / "deep" / "办法.txt").write_bytes(RULES_ZH.encode("gb18030"))
    (docs / "picture.png").write_bytes(b"\x89PNG")
    (docs / ".hidden" / "no.md").write_text("# no", encoding="utf-8")
    return docs


def test_a_folder_becomes_rows_with_every_field(folder: Path, tmp_path: Path) -> None:
    out, documents = tmp_path / "out" / "chunks.jsonl", tmp_path / "out" / "documents.jsonl"
    done = run("chunk", folder, "-o", out, "--documents", documents)
    assert done.returncode == 0, done.stderr
    assert b"picture.png" in done.stderr
    texts = {row["doc_id"]: row["text"] for row in rows(documents.read_text("utf-8"))}
    found = rows(out.read_text("utf-8"))
    assert {Path(row["source"]).name for row in found} == {"rules.md", "办法.txt"}
    for row in found:
        assert row["text"] == texts[row["doc_id"]][row["start"] : row["end"]]
        assert row["chunk_id"] == f"{row['doc_id']}:{row['start']}-{row['end']}"
        assert set(row) >= {"kind", "heading_path", "page", "lead_in", "question", "completed_text", "added", "links"}
        assert set(row) >= {"embedding_text", "oversize", "method", "signature", "cut", "context"}
    assert ["第一章 总则", "第一条"] in [row["heading_path"] for row in found] or any(
        "第一条" in row["text"] for row in found
    )


def test_the_same_input_gives_the_same_bytes(folder: Path) -> None:
    one = run("chunk", folder).stdout
    assert one == run_apart("chunk", folder).stdout == run_apart("chunk", folder, "--jobs", "2").stdout != b""


def test_standard_input_and_patterns(folder: Path, tmp_path: Path) -> None:
    piped = run("chunk", "-", "--stdin-name", "x.md", stdin=RULES_EN.encode())
    assert rows(piped.stdout)[0]["heading_path"] == ["Term"]
    matched = run("chunk", str(folder / "**" / "*.txt"))
    assert {Path(row["source"]).name for row in rows(matched.stdout)} == {"办法.txt"}


def test_jsonl_keeps_ids_and_reports_bad_rows(tmp_path: Path) -> None:
    lines = [
        json.dumps({"doc_id": "a", "text": "Wear gloves."}),
        json.dumps({"doc_id": "b", "text": "Wear gloves."}),
        json.dumps({"doc_id": "b", "text": "Wear gloves."}),
        "{not json",
        json.dumps({"doc_id": "c"}),
        json.dumps({"doc_id": "d", "text": "  "}),
        json.dumps({"doc_id": "e", "text": "lone \ud83d surrogate"}),
        json.dumps({"doc_id": 7, "text": "# Not a heading here", "source": "x.md"}),
    ]
    done = run("chunk", "--input-format", "jsonl", "-", stdin="\n".join(lines).encode())
    assert done.returncode == 1
    found = rows(done.stdout)
    assert [row["doc_id"] for row in found] == ["a", "b", "b#2", "e", "7"]
    assert found[3]["text"] == "lone \ufffd surrogate"
    for number in (4, 5, 6):
        assert f"stdin:{number}".encode() in done.stderr
    assert b"5 of 8 documents done, 3 failed" in done.stderr


def test_a_bad_file_does_not_stop_the_others(folder: Path) -> None:
    (folder / "a-bad.pdf").write_bytes(b"%PDF-1.7 truncated")
    (folder / "b-empty.txt").write_bytes(b"")
    done = run("chunk", folder)
    assert done.returncode == 1
    assert {Path(row["source"]).name for row in rows(done.stdout)} == {"rules.md", "办法.txt"}
    assert b"a-bad.pdf" in done.stderr
    assert b"b-empty.txt" in done.stderr
    assert b"remove it from the input" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["chunk", "missing.md"], 2, b"no such file"),
        (["chunk"], 2, b"Missing argument"),
        (["chunk", "x.md", "--method", "magic"], 2, b"magic"),
        (["chunk", "x.md", "--target-chars", "0"], 2, b"target_chars"),
        (["chunk", "x.md", "--target-chars", "10", "--max-chars", "5"], 2, b"max_chars"),
        (["chunk", "x.md", "--overlap", "1.5"], 2, b"overlap_ratio"),
        (["chunk", "x.md", "--tokenizer", "nonsense"], 2, b"tokenizer"),
        (["chunk", "x.md", "-o", "out.docx"], 2, b"unknown ending"),
        (["chunk", "x.html", "--selector", "p:::"], 1, b"not a CSS selector"),
        (["chunk", "x.html", "--selector", ".none"], 1, b"matches nothing"),
        (["view", "x.md"], 2, b"x.md:1: not JSON"),
        (["view", "missing.jsonl"], 2, b"cannot be read"),
        (["nonsense"], 2, b"No such command"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, arguments: list[str], code: int, message: bytes) -> None:
    (tmp_path / "x.md").write_text(RULES_EN, encoding="utf-8")
    (tmp_path / "x.html").write_text("<p>One.</p>", encoding="utf-8")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "out.docx").exists()


def test_parquet_holds_the_same_rows(folder: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    (folder / "clauses.txt").write_text(
        f"8.3 {'Either party may end this agreement. ' * 12}\n\n8.4 {'Clause 8.3 does not apply at sea. ' * 12}\n",
        encoding="utf-8",
    )
    lines = rows(run("chunk", folder).stdout)
    assert run("chunk", folder, "-o", tmp_path / "x.parquet").returncode == 0
    assert pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist() == lines
    assert any(row["links"] for row in lines)


def test_parquet_without_pyarrow_says_what_to_install(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None; sys.argv = ['qchunker', *sys.argv[1:]]; "
        "from qchunker.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "chunk", str(folder), "-o", str(tmp_path / "x.parquet")]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 3
    assert b"pip install pyarrow" in done.stderr
    assert list(tmp_path.glob("*.parquet*")) == []


def test_markdown_output_keeps_text_in_fences(folder: Path, tmp_path: Path) -> None:
    (folder / "code.md").write_text("# Code\n\n````py\n```\nx\n```\n````\n", encoding="utf-8")
    assert run("chunk", folder, "-o", tmp_path / "x.md").returncode == 0
    assert "`````text\n# Code" in (tmp_path / "x.md").read_text("utf-8")


def test_a_killed_run_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old\n", encoding="utf-8")
    big = tmp_path / "big.jsonl"
    with big.open("w", encoding="utf-8") as file:
        for number in range(4000):
            file.write(json.dumps({"doc_id": number, "text": RULES_ZH * 40}) + "\n")
    command = [sys.executable, "-m", "qchunker", "chunk", "--input-format", "jsonl", str(big), "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in tmp_path.glob(".out.jsonl.*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert out.read_text("utf-8") == "old\n"


def test_view_without_documents_and_to_a_page(folder: Path, tmp_path: Path) -> None:
    assert run("chunk", folder, "-o", tmp_path / "c.jsonl").returncode == 0
    seen = run("view", tmp_path / "c.jsonl", "--limit", "1")
    assert seen.returncode == 0
    assert "a heading starts" in seen.stdout.decode() or "document starts" in seen.stdout.decode()
    assert run("view", tmp_path / "c.jsonl", "-o", tmp_path / "c.html").returncode == 0
    assert "<!doctype html>" in (tmp_path / "c.html").read_text("utf-8").lower()
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text('{"doc_id": "a", "start": 0, "end": 4}\n', encoding="utf-8")
    assert run("view", foreign).returncode == 2
    (tmp_path / "d.jsonl").write_text('{"doc_id": "a", "text": "Oil it."}\n', encoding="utf-8")
    assert run("view", foreign, "--documents", tmp_path / "d.jsonl").returncode == 0


def test_lint_reports_in_words_and_in_json(folder: Path) -> None:
    (folder / "columns.txt").write_text("left one here      right one here\n" * 4, encoding="utf-8")
    found = rows(run("lint", folder, "--json").stdout)
    assert "columns" in {row["kind"] for row in found}
    assert all({"source", "kind", "message", "line", "page", "span"} <= set(row) for row in found)
    assert b"columns" in run("lint", folder).stdout


def test_output_to_a_closed_pipe_is_no_error(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "qchunker", "chunk", str(folder)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(write)
    assert b"Traceback" not in done.stderr


def test_a_run_in_which_everything_fails_leaves_the_older_output(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 no")
    (tmp_path / "keep.jsonl").write_text("older\n", encoding="utf-8")
    done = run("chunk", "broken.pdf", "-o", "keep.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert b"1 failed" in done.stderr
    assert (tmp_path / "keep.jsonl").read_text(encoding="utf-8") == "older\n"


def test_chunks_are_not_taken_for_documents(folder: Path, tmp_path: Path) -> None:
    assert run("chunk", folder, "-o", tmp_path / "c.jsonl").returncode == 0
    done = run("chunk", tmp_path / "c.jsonl", "-o", tmp_path / "d.jsonl")
    assert done.returncode == 1
    assert b"this is a chunk, not a document" in done.stderr


def test_what_is_no_text_is_refused_in_words() -> None:
    with pytest.raises(qchunker.errors.InputError, match="not a string"):
        qchunker.from_text(b"text", "x.txt")  # type: ignore[arg-type]
    with pytest.raises(qchunker.errors.InputError, match="neither a path nor a Source"):
        qchunker.parse(None)  # type: ignore[arg-type]


def test_a_span_that_is_no_number_is_refused_by_every_command(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"doc_id": "a", "start": true, "end": 2, "text": "ab"}\n', encoding="utf-8")
    for command in ("view", "review", "complete"):
        done = run(command, "c.jsonl", cwd=tmp_path)
        assert (done.returncode, b"not a whole number" in done.stderr) == (2, True), command
