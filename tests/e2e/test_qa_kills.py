"""Pairs from a model in a run that is killed again and again: the same bytes, and no finished call is paid for twice."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from contract.scripted_endpoint import ScriptedEndpoint
from contract.scripted_qa import BOOKS, by_book
from qchunker.journal import FILE

pytestmark = pytest.mark.server

N_COPIES, N_KILLS, CONCURRENCY = 2, 12, 2
_RUN = """
import sys
import openai
from qchunker.cli import main
print("ready", flush=True)
sys.stdin.readline()
main()
"""


class Run:
    """The command line as a process that has read its modules and begins when it is told to."""

    def __init__(self, folder: Path, endpoint: ScriptedEndpoint, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _RUN, "qa", "docs", "-o", f"{name}.jsonl", "--run-dir", name, "--llm", endpoint.url,
             "--llm-model", "m", "--variants", "2", "--full-answers", "--report", f"{name}.json",
             "--concurrency", str(CONCURRENCY)],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def go(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def end(self, kill: int | None = None) -> int:
        if kill is not None:
            self.process.send_signal(kill)
        _, self.errors = self.process.communicate(timeout=120)
        return self.process.returncode


def n_kept(folder: Path, name: str) -> int:
    """Calls in the journal of a run that nobody works on."""
    file = folder / name / FILE
    if not file.exists():
        return 0
    connection = sqlite3.connect(file)
    try:
        return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
    except sqlite3.OperationalError:  # killed before there was a table
        return 0
    finally:
        connection.close()


def asked(endpoint: ScriptedEndpoint) -> Counter[str]:
    return Counter(json.dumps(body, sort_keys=True) for body in endpoint.bodies())


def test_killed_at_any_instant_it_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(N_COPIES):
        for book in BOOKS:
            text = f"{book.text}\nEdition {number}.\n"
            (tmp_path / "docs" / f"{number}-{book.name}").write_text(text, "utf-8")
    with ScriptedEndpoint(by_book(BOOKS)) as endpoint:
        whole = Run(tmp_path, endpoint, "whole")
        whole.go()
        assert whole.end() == 0, whole.errors
        once = asked(endpoint)
        assert max(once.values()) == 1
        expected = (tmp_path / "whole.jsonl").read_bytes()
        assert expected.count(b"\n") > 50 * N_COPIES
        endpoint.requests.clear()

        chance = random.Random(7)
        n_interrupted = 0
        following = Run(tmp_path, endpoint, "killed")
        for number in range(N_KILLS):
            run, before, kept = following, asked(endpoint), n_kept(tmp_path, "killed")
            unsaved = len(before) - kept
            assert 0 <= unsaved <= CONCURRENCY  # at most what was at work when it was killed
            run.go()
            following = Run(tmp_path, endpoint, "killed")  # reads its modules meanwhile
            if number % 4 == 3:  # while it begins
                time.sleep(chance.uniform(0, 0.3))
            else:
                wanted, end = len(endpoint.requests) + chance.randint(1, 6), time.monotonic() + 60
                while len(endpoint.requests) < wanted and run.process.poll() is None and time.monotonic() < end:
                    time.sleep(0.001)
                time.sleep(chance.uniform(0, 0.02))
            n_interrupted += run.end(signal.SIGKILL) == -signal.SIGKILL
            again = asked(endpoint)
            repeated = sum(times - before[body] for body, times in again.items() if before[body])
            assert repeated <= unsaved, "a finished call was paid for again"
            if run.process.returncode != 0:
                assert not (tmp_path / "killed.jsonl").exists()
        assert n_interrupted >= 10

        kept = n_kept(tmp_path, "killed")
        following.go()
        assert following.end() == 0, following.errors
        assert (tmp_path / "killed.jsonl").read_bytes() == expected
        assert asked(endpoint).keys() == once.keys()
        model = json.loads((tmp_path / "killed.json").read_text("utf-8"))["model"]
        assert model["remembered"] >= kept > 0
        assert model["calls"] == len(once) - kept
