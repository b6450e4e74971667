"""An index survives a kill of the process that brings it up to date, at any instant, and two writers at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from qchunker import Index, SearchConfig

_SYNC = """
import sys
from qchunker import Index
with Index.open(sys.argv[1]) as index:
    print("ready", flush=True)
    sys.stdin.readline()
    index.sync(sys.argv[2])
    print("done", flush=True)
"""
ALL = SearchConfig(duplicate_cosine=1)


def write(folder: Path, generation: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(12):
        (folder / f"{number}.txt").write_text(f"Valve {number} was set in round {generation}.\n", "utf-8")


def rounds(place: Path) -> set[str]:
    with Index.open(place) as index:
        return {hit.text.split("round ")[1].strip(". \n") for hit in index.search("valve round", 100, config=ALL)}


def child(place: Path, folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SYNC, str(place), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> int:
    """Wait for it and close its pipes."""
    process.communicate(timeout=60)
    return process.returncode


def start(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_a_killed_sync_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    place, folder = tmp_path / "index", tmp_path / "docs"
    write(folder, 0)
    process = child(place, folder)
    began = time.monotonic()
    start(process)
    assert end(process) == 0
    whole = time.monotonic() - began
    seen = {"old": 0, "new": 0}
    for step in range(20):
        old = rounds(place)
        assert len(old) == 1
        write(folder, step + 1)
        process = child(place, folder)
        start(process)
        time.sleep(whole * step / 16)
        process.kill()
        end(process)
        now = rounds(place)
        assert now in (old, {str(step + 1)}), f"a mixture: {now}"
        seen["new" if now == {str(step + 1)} else "old"] += 1
    assert min(seen.values()) > 0, seen  # the kills reached both sides of the commit
    with Index.open(place) as index:
        index.sync(folder)
    assert rounds(place) == {"20"}


def test_readers_go_on_while_another_process_writes(tmp_path: Path) -> None:
    place, folder = tmp_path / "index", tmp_path / "docs"
    write(folder, 0)
    with Index.open(place) as index:
        index.sync(folder)
        write(folder, 1)
        first, second = child(place, folder), child(place, folder)
        start(first)
        start(second)
        while first.poll() is None or second.poll() is None:
            found = {hit.text.split("round ")[1].strip(". \n") for hit in index.search("valve", 100, config=ALL)}
            assert found in ({"0"}, {"1"})
        assert (end(first), end(second)) == (0, 0)  # one waited for the other
    assert rounds(place) == {"1"}
