"""The bench from the command line, with the real encoder and a real small model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from contract.scripted_endpoint import ScriptedEndpoint
from qchunker.cli import cli
from qchunker.errors import ConfigError, QChunkerError

ROOT = Path(__file__).parents[2]
QUESTIONS = [
    {
        "question": "What does fault code F07 mean?",
        "source": "pump-manual.en.md",
        "quote": "F07",
        "answer": "overheated",
    },
    {
        "question": "How long is the warranty?",
        "source": "supply-contract.en.txt",
        "quote": "Warranty Period",
        "answer": "24",
    },
    {"question": "KL-20 的闪点是多少？", "source": "safety-data-sheet.zh.md", "quote": "闪点", "answer": "62 ℃"},
    {"question": "质保期有多长？", "source": "supply-contract.zh.txt", "quote": "质保期", "answer": "二十四个月"},
]


def bench(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["bench", *map(str, arguments)])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for row in QUESTIONS:
        (folder / row["source"]).write_bytes((ROOT / "examples" / row["source"]).read_bytes())
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in QUESTIONS)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    file = tmp_path / "spec.toml"
    file.write_text(
        'set = "folder"\npath = "mine"\nmethods = ["recursive", "fixed", "qchunker"]\nbaseline = "recursive"\n'
        "targets = [250]\nseeds = [0]\ntolerance = 0.1\n"
    )
    return file


def result_of(done: Result) -> tuple[Path, dict[str, Any]]:
    assert done.exit_code == 0, done.output
    path = Path(done.stdout.strip().splitlines()[-1])
    return path, json.loads(path.read_text("utf-8"))


def test_run_report_compare(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    path, found = result_of(bench("run", spec, "-o", out))
    assert re.fullmatch(r"[0-9a-z.]+-[0-9a-f]{10}\.json", path.name)
    assert {cell["method"] for cell in found["cells"]} == {"recursive", "fixed", "qchunker"}
    assert all(cell["coverage"] == 1 for cell in found["cells"])
    again, same = result_of(bench("run", spec, "-o", out))
    assert (again, same) == (path, found)
    page = tmp_path / "page.html"
    done = bench("report", path, "-o", tmp_path / "page.md", "--html", page, "--metric", "mrr")
    assert done.exit_code == 0, done.output
    assert "Fewer than 20 clusters" in (tmp_path / "page.md").read_text("utf-8")
    assert "<svg" in page.read_text("utf-8")
    assert found["signature"] in bench("report", path).stdout
    assert isinstance(bench("report", path, "--metric", "nothing").exception, ConfigError)
    compared = bench("compare", path, again, "--json")
    assert "Fewer than 20 clusters" in compared.stderr
    rows = [json.loads(line) for line in compared.stdout.splitlines()]
    assert len(rows) == 9
    assert {row["difference"] for row in rows} == {0.0}


def test_the_study_without_a_language_model(spec: Path, tmp_path: Path) -> None:
    spec.write_text(spec.read_text().replace('"fixed", ', '"fixed", "sentence", "random", '))
    report = tmp_path / "study.md"
    done = bench(
        "chunkscore", spec, "-o", tmp_path, "--lm", "none", "--sections", "2", "--within", "2", "--output", report
    )
    _, study = result_of(done)
    assert study["sets"][0]["lm"] == "none"
    assert {"sd", "sd_corrected", "cohesion"} <= study["sets"][0]["table"][0]["scores"].keys()
    assert "Correlation over methods" in report.read_text("utf-8")


@pytest.mark.model
def test_a_small_model_answers_three_questions(spec: Path, tmp_path: Path) -> None:
    spec.write_text(spec.read_text().replace('"recursive", "fixed", "qchunker"', '"recursive"'))
    command = [
        "answer",
        spec,
        "-o",
        tmp_path,
        "--llm",
        "openvino:smollm2-135m",
        "--questions",
        "3",
        "--reply-tokens",
        "40",
    ]
    dry = bench(*command, "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "about 3 calls" in dry.output
    run_dir = ["--run-dir", tmp_path / "run"]
    path, found = result_of(bench(*command, *run_dir))
    cell = found["cells"][0]
    assert len(cell["answers"]) == 3
    assert all(cell["answers"])
    assert {"bleu", "bleu_without_penalty", "rouge_l", "meteor"} <= cell["values"]["dense"].keys()
    assert all(0 <= value <= 1 for values in cell["values"]["dense"].values() for value in values)
    done = bench(*command, *run_dir)
    assert "0 calls" in done.output
    assert result_of(done)[1]["cells"][0]["answers"] == cell["answers"]
    assert bench("report", path).exit_code == 0


def test_killed_it_goes_on_where_it_was(spec: Path, tmp_path: Path) -> None:
    def run(out: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "qchunker", "bench", "run", str(spec), "-o", str(out)]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"PYTHONUTF8": "1"}
        )

    whole = run(tmp_path / "whole")
    assert whole.wait(120) == 0
    killed = run(tmp_path / "killed")
    cells = tmp_path / "killed" / "run" / "cells"
    while killed.poll() is None and not list(cells.glob("*.json")):
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait(10)
    kept = {file.name: file.stat().st_mtime_ns for file in cells.glob("*.json")}
    assert kept
    assert run(tmp_path / "killed").wait(120) == 0
    assert {name: (cells / name).stat().st_mtime_ns for name in kept} == kept
    results = [json.loads(next((tmp_path / name).glob("*.json")).read_text("utf-8")) for name in ("whole", "killed")]
    for one in results:
        for cell in one["cells"]:
            del cell["seconds"]
    assert results[0] == results[1]


def test_other_questions_are_another_result(spec: Path, tmp_path: Path) -> None:
    first, _ = result_of(bench("run", spec, "-o", tmp_path / "out", "--questions", "2"))
    questions = tmp_path / "mine" / "questions.jsonl"
    questions.write_text(questions.read_text("utf-8").replace("F07 mean", "F07 tell"), encoding="utf-8")
    second, _ = result_of(bench("run", spec, "-o", tmp_path / "out", "--questions", "2"))
    assert first != second
    assert first.is_file()


def test_quotes_and_answers_are_judged_together_by_words(spec: Path, tmp_path: Path) -> None:
    with (tmp_path / "mine" / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"question": "What is there?", "answer": "nowhere at all"}\n')
    _, found = result_of(bench("run", spec, "-o", tmp_path / "out"))
    assert found["set"]["primary"].startswith("answer_recall_")
    assert any("no document has" in note for note in found["set"]["notes"])
    assert any("more than once" in note for note in found["set"]["notes"])


def test_chunks_of_other_tools_are_known_by_the_name_of_their_file(spec: Path, tmp_path: Path) -> None:
    text = (tmp_path / "mine" / "supply-contract.en.txt").read_text("utf-8")
    row = {"source": "supply-contract.en.txt", "start": 0, "end": len(text)}
    (tmp_path / "mine" / "chunks.jsonl").write_text(json.dumps(row) + "\n")
    spec.write_text(spec.read_text().replace('"fixed"', '"file:chunks.jsonl"'))
    _, found = result_of(bench("run", spec, "-o", tmp_path / "out"))
    assert {cell["n_chunks"] for cell in found["cells"] if cell["method"].startswith("file:")} == {1}
    spec.write_text(spec.read_text().replace("chunks.jsonl", "none.jsonl"))
    assert "none.jsonl: cannot be read" in str(bench("run", spec, "-o", tmp_path / "out").exception)


def test_sets_are_listed() -> None:
    names = [json.loads(line)["set"] for line in bench("datasets", "--json").stdout.splitlines()]
    assert {"chroma", "drcd", "crud", "folder", "gutenqa", "hchemsafety", "multifieldqa_zh", "omnieval"} == set(names)
    assert "where it" not in bench("datasets").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "none.toml"], "cannot be read"),
        (["report", "none.json"], "cannot be read"),
        (["compare", "none.json", "none.json"], "cannot be read"),
        (["chunkscore", "none.toml"], "cannot be read"),
    ],
)
def test_what_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = bench(*arguments)
    assert isinstance(done.exception, QChunkerError)
    assert said in str(done.exception)
    (tmp_path / "none.json").write_text("[]")
    (tmp_path / "none.toml").write_text("x = 1")
    assert isinstance(bench(*arguments).exception, QChunkerError)


@pytest.mark.server
def test_methods_that_ask_a_model_are_measured_too(spec: Path, tmp_path: Path) -> None:
    spec.write_text(spec.read_text().replace('"recursive", "fixed", "qchunker"', '"recursive", "lumber", "llm"'))
    assert isinstance(bench("run", spec, "-o", tmp_path).exception, ConfigError)
    with ScriptedEndpoint(lambda _: "no idea") as endpoint:
        command = ["run", spec, "-o", tmp_path, "--llm", endpoint.url, "--llm-model", "m", "--concurrency", "2"]
        done = bench(*command)
        _, found = result_of(done)
        n_asked = len(endpoint.requests)
        assert n_asked > 0
        assert "m@127.0.0.1" in found["signature"]
        assert all(cell["coverage"] == 1 for cell in found["cells"])
        assert result_of(bench(*command))[1] == found
        assert len(endpoint.requests) == n_asked
