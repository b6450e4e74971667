"""Several processes: order, failures, deaths, interrupts."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qchunker import errors
from qchunker.batch import Failure, chunk_all, in_processes
from qchunker.errors import ConfigError, MissingModelError, ParseError, QChunkerError
from qchunker.inputs import TextInput
from qchunker.pipeline import chunk, from_text

TEXTS = [TextInput(f"{n}.txt", f"第{n}号泵须加油。Pump {n} needs oil.\n\nIt runs daily." * 3, str(n)) for n in range(7)]


def squared(number: int) -> int:
    if number == 3:
        os._exit(1)
    time.sleep(0.05 * (number % 2))
    return number * number


def refused(number: int) -> int:
    raise ConfigError("number", f"{number} is too much", hint="less")


def test_results_come_in_order_and_a_death_costs_one_item() -> None:
    assert list(in_processes(squared, iter(range(9)), 2, lambda n: -n)) == [0, 1, 4, -3, 16, 25, 36, 49, 64]


def test_an_error_of_the_settings_ends_the_run_as_it_is() -> None:
    with pytest.raises(ConfigError, match="number: 1 is too much") as caught:
        list(in_processes(refused, [1, 2], 2, lambda n: n))
    assert (caught.value.field, caught.value.hint) == ("number", "less")


def test_processes_give_what_one_process_gives() -> None:
    inputs = [*TEXTS[:3], TextInput("blank.txt", "  \n", "blank"), *TEXTS[3:]]
    one, two = list(chunk_all(inputs)), list(chunk_all(inputs, jobs=2))
    assert [r.source for r in one if isinstance(r, Failure)] == ["blank.txt"]
    assert [str(r.error) if isinstance(r, Failure) else r for r in one] == [
        str(r.error) if isinstance(r, Failure) else r for r in two
    ]


def test_inputs_are_taken_no_faster_than_they_are_worked_on() -> None:
    taken: list[int] = []
    results = in_processes(abs, (taken.append(n) or n for n in range(100)), 2, lambda n: n)
    assert next(results) == 0
    assert len(taken) <= 5
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "error",
    [ParseError("a.pdf", "is broken"), ConfigError("size", "is 0"), MissingModelError("lm", "is missing", command="fetch"),
     *(kind("x: y", "z") for kind in (errors.ModelOutputError, errors.ModelUnavailableError)),
     QChunkerError("odd", hint="do"), errors.MissingExtraError("torch", "this")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_errors_survive_the_way_between_processes(error: QChunkerError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_killed_run_leaves_no_process_behind(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        "import os, sys, time\nfrom qchunker.batch import in_processes\n"
        "def endless(n):\n    print(os.getpid(), flush=True)\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n    list(in_processes(endless, [1, 2], 2, abs))\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        worker = int(run.stdout.readline())
        run.kill()
    for _ in range(100):
        if not _is_alive(worker):
            break
        time.sleep(0.1)
    assert not _is_alive(worker)


def _is_alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has collected does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_stages_run_through_what_the_caller_gives_which_may_remember_them() -> None:
    remembered: dict[str, object] = {}
    made: list[str] = []

    def run(stage, make, _document, /):  # type: ignore[no-untyped-def]
        if stage not in remembered:
            made.append(stage)
            remembered[stage] = make()
        return remembered[stage]

    document = from_text(TEXTS[0].text * 4)
    first = chunk(document, run=run)
    assert made == ["outline", "segment", "review", "complete"]
    del remembered["complete"]  # as if the run had been killed there
    assert chunk(document, run=run) == first == chunk(document)
    assert made == ["outline", "segment", "review", "complete", "complete"]
