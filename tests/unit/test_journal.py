"""What a run has done is on disk when it says so, belongs to one process, and is never taken for something else."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from qchunker import from_text
from qchunker.errors import OutputError, QChunkerError, RunBusyError
from qchunker.journal import FILE, Journal, Stage, journalled

KEYS = [bytes([n]) * 32 for n in range(200)]


def fill(folder: Path, n: int = 200) -> None:
    with Journal(folder) as journal:
        journal.put_many({key: f"reply {key[0]} ".encode() * 40 for key in KEYS[:n]})


def test_completions_are_there_in_the_next_run(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "run"
    with Journal(folder) as journal:
        assert journal.get_many(KEYS[:3]) == {}
        journal.put_many({KEYS[0]: b"one", KEYS[1]: b"two"})
        journal.put_many({KEYS[1]: b"new"})
        journal.put_many({})
    with Journal(folder) as journal:
        assert journal.get_many(KEYS[:3]) == {KEYS[0]: b"one", KEYS[1]: b"new"}
        assert journal.get_many([]) == {}


def test_more_keys_than_a_statement_takes(tmp_path: Path) -> None:
    keys = [n.to_bytes(32, "big") for n in range(2500)]
    with Journal(tmp_path) as journal:
        journal.put_many({key: key for key in keys[::2]})
        assert journal.get_many(keys) == {key: key for key in keys[::2]}


def test_stages_are_written_down_with_what_changed(tmp_path: Path) -> None:
    document = from_text("The pump runs.")
    counts = {"calls": 3, "cut": 1}

    def make() -> str:
        counts["calls"] += 2
        counts["failed"] = 1
        return "result"

    with Journal(tmp_path) as journal:
        run = journalled(journal, lambda: counts)
        assert run("outline", make, document) == "result"
        assert run("segment", lambda: 7, document) == 7
        with pytest.raises(ZeroDivisionError):
            run("review", lambda: 1 // 0, document)
    with Journal(tmp_path) as journal:
        first, second = journal.stages()
        assert first._replace(seconds=0) == Stage(document.id, "outline", 0, {"calls": 2, "failed": 1})
        assert (second.stage, second.counts) == ("segment", {})
        journal.finish(first._replace(counts={}))  # done anew
        assert len(list(journal.stages())) == 2


HOLD = """
import sys
from pathlib import Path
from qchunker.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    journal.put_many({b"k" * 32: b"kept"})
    print("ready", flush=True)
    sys.stdin.readline()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_one_process_works_on_a_run_and_a_killed_one_leaves_it_free(tmp_path: Path) -> None:
    process = holder(tmp_path)
    try:
        with pytest.raises(RunBusyError, match="another process works on this run") as caught:
            Journal(tmp_path)
        assert caught.value.retryable
        assert "--run-dir" in caught.value.hint
    finally:
        process.kill()
        process.communicate()
    with Journal(tmp_path) as journal:
        assert journal.get_many([b"k" * 32]) == {b"k" * 32: b"kept"}


def test_one_process_does_not_open_it_twice(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(RunBusyError):
        Journal(tmp_path)
    Journal(tmp_path).close()


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one " * 40, b"SQLite format 3\0" + b"\xff" * 4000]
)
def test_another_file_under_its_name_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(OutputError, match="no journal, or damaged") as caught:
        Journal(tmp_path)
    assert "delete it" in caught.value.hint
    assert (tmp_path / FILE).read_bytes() == content


def test_a_journal_of_another_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version=7")
    connection.close()
    with pytest.raises(OutputError, match="another version"):
        Journal(tmp_path)


def test_a_table_of_another_form_is_an_error_of_ours(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE calls (a TEXT)")
    connection.close()
    with pytest.raises(OutputError, match="is no journal"):
        Journal(tmp_path)


@pytest.mark.parametrize("place", ["a file", "no right"])
def test_a_folder_that_cannot_be_used(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "run"
    if place == "a file":
        folder.write_text("x")
    else:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / FILE).mkdir()
    with pytest.raises(OutputError):
        Journal(folder)


def test_damage_anywhere_is_an_error_of_ours_or_does_no_harm(tmp_path: Path) -> None:
    """Bytes are changed, or the end is missing: a typed error that names the file, or replies as they were or not at all."""
    fill(tmp_path / "good")
    good = (tmp_path / "good" / FILE).read_bytes()
    with Journal(tmp_path / "good") as journal:
        kept = journal.get_many(KEYS)
    assert len(kept) == 200
    chance = random.Random(7)
    seen = {"error": 0, "read": 0}
    for number in range(120):
        folder = tmp_path / str(number)
        folder.mkdir()
        at = chance.randrange(len(good))
        damaged = (
            good[:at]
            if number % 4 == 0
            else good[:at] + bytes(chance.randrange(256) for _ in range(64)) + good[at + 64 :]
        )
        (folder / FILE).write_bytes(damaged)
        try:
            with Journal(folder) as journal:
                found = journal.get_many(KEYS)
                assert found.items() <= kept.items()
                journal.put_many({b"x" * 32: b"new"})
            seen["read"] += 1
        except QChunkerError as error:
            assert FILE in str(error)
            seen["error"] += 1
    assert min(seen.values()) > 5, seen


def test_what_was_put_is_on_disk_at_once(tmp_path: Path) -> None:
    process = holder(tmp_path / "run")
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in (tmp_path / "run").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    process.kill()
    process.communicate()
    with Journal(copy) as journal:
        assert journal.get_many([b"k" * 32]) == {b"k" * 32: b"kept"}
