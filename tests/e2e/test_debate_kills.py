"""A run that is killed at any instant, again and again, ends with the same bytes and pays for no finished call twice."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import command_line
from contract.scripted_debate import by_title, relief_valve
from contract.scripted_endpoint import ScriptedEndpoint
from forked import Forked, Wait
from qchunker.cli import main
from qchunker.journal import FILE

pytestmark = pytest.mark.server

N_DOCUMENTS, N_KILLS, CONCURRENCY = 32, 22, 2
_RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
import openai
from qchunker.cli import main
print("ready", flush=True)
sys.stdin.readline()
main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for number in range(N_DOCUMENTS):
        script = relief_valve(number)
        (tmp_path / "docs" / script.name).write_text(script.text, "utf-8")
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(by_title([relief_valve(number) for number in range(N_DOCUMENTS)])) as one:
        yield one


def options(endpoint: ScriptedEndpoint, name: str) -> list[str]:
    return [
        *("chunk", "docs", "--paths", "1", "--concurrency", str(CONCURRENCY), "-o", f"{name}.jsonl"),
        *("--run-dir", name, "--report", f"{name}.json", "--llm", endpoint.url, "--llm-model", "m"),
    ]


class Run:
    """The command line as a process that has read its modules and begins when it is told to."""

    def __init__(self, folder: Path, endpoint: ScriptedEndpoint, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _RUN, *options(endpoint, name)],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def go(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def end(self, kill: int | None = None) -> int:
        if kill is not None:
            self.process.send_signal(kill)
        _, self.errors = self.process.communicate(timeout=120)
        return self.process.returncode


def run_command(wait: Wait, folder: Path, arguments: list[str]) -> None:
    """The same in a process that is forked, where many are to be killed."""
    os.chdir(folder)
    sys.argv = ["qchunker", *arguments]
    wait()
    main()


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


def wait_for(endpoint: ScriptedEndpoint, n_requests: int, is_over: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while len(endpoint.requests) < n_requests and not is_over() and time.monotonic() < end:
        time.sleep(0.001)


def test_killed_at_any_instant_it_goes_on_where_it_was(folder: Path, endpoint: ScriptedEndpoint) -> None:
    whole = command_line.run(folder, *options(endpoint, "whole"))
    assert whole.returncode == 0, whole.stderr
    once = asked(endpoint)
    assert max(once.values()) == 1
    expected = (folder / "whole.jsonl").read_bytes()
    assert expected.count(b"(safety relief valve") >= 2 * N_DOCUMENTS
    endpoint.requests.clear()

    chance = random.Random(11)
    n_interrupted = n_unsaved = 0
    following = Forked(run_command, folder, options(endpoint, "killed"))
    for number in range(N_KILLS):
        run, before, kept = following, asked(endpoint), n_kept(folder, "killed")
        unsaved = len(before) - kept
        assert 0 <= unsaved <= CONCURRENCY  # at most what was at work when it was killed
        n_unsaved += unsaved
        run.go()
        following = Forked(run_command, folder, options(endpoint, "killed"))  # gets ready meanwhile
        if number % 5 == 4:  # while it begins
            time.sleep(chance.uniform(0, 0.3))
        else:
            wait_for(endpoint, len(endpoint.requests) + chance.randint(1, 10), run.is_over)
            time.sleep(chance.uniform(0, 0.02))
        code = run.kill()
        n_interrupted += code == -signal.SIGKILL
        again = asked(endpoint)
        repeated = sum(times - before[body] for body, times in again.items() if before[body])
        assert repeated <= unsaved, "a finished call was paid for again"
        if code != 0:
            assert not (folder / "killed.jsonl").exists()
    assert n_interrupted >= 20

    kept_before = n_kept(folder, "killed")
    before = asked(endpoint)
    n_unsaved += len(before) - kept_before
    following.go()
    assert following.end() == 0
    assert (folder / "killed.jsonl").read_bytes() == expected
    bodies = asked(endpoint)
    assert bodies.keys() == once.keys()
    assert sum(bodies.values()) - len(bodies) <= n_unsaved <= CONCURRENCY * (N_KILLS + 1)
    report = json.loads((folder / "killed.json").read_text("utf-8"))
    assert report["remembered"] == kept_before > 0
    assert report["calls"] == len(once) - kept_before
    assert n_kept(folder, "killed") == len(once)


@pytest.fixture
def small(folder: Path) -> Path:
    for script in map(relief_valve, range(8, N_DOCUMENTS)):
        (folder / "docs" / script.name).unlink()
    return folder


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_ends_at_once_and_leaves_no_half_file(
    small: Path, endpoint: ScriptedEndpoint, number: int
) -> None:
    folder, run = small, Run(small, endpoint, "stopped")
    run.go()
    wait_for(endpoint, 15, run.is_over)
    begun = time.monotonic()
    assert run.end(number) in (130, 143)
    assert time.monotonic() - begun < 10
    assert "Traceback" not in run.errors
    assert sorted(path.name for path in folder.iterdir()) in (["docs", "stopped"], ["docs", "stopped", "stopped.json"])
    first = asked(endpoint)
    kept = n_kept(folder, "stopped")
    assert len(first) - kept <= CONCURRENCY
    again = command_line.run(folder, *options(endpoint, "stopped"))
    assert again.returncode == 0, again.stderr
    assert sum(asked(endpoint).values()) - len(asked(endpoint)) <= len(first) - kept
    assert len((folder / "stopped.jsonl").read_text("utf-8").splitlines()) == 2 * 8


def test_two_processes_on_one_run(small: Path, endpoint: ScriptedEndpoint) -> None:
    first, second = Run(small, endpoint, "run"), Run(small, endpoint, "run")
    first.go()
    wait_for(endpoint, 3, first.is_over)
    second.go()
    assert second.end() == 2
    assert "another process works on this run" in second.errors
    assert "Traceback" not in second.errors
    assert first.end() == 0, first.errors
    assert max(asked(endpoint).values()) == 1
