"""The command line within this process: what it writes and its exit code, without the start of an interpreter.

What a process of its own is for - signals, broken pipes, hash seeds, another environment - is tested with one.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from qchunker.cli import main
from qchunker.cli.terminal import errors

PLAIN = {"PYTHONUTF8": "1", "COLUMNS": "100", "NO_COLOR": "1"}


class Streams(NamedTuple):
    """The bytes behind standard output and standard error, which may be the same."""

    output: io.BytesIO
    errors: io.BytesIO


@contextlib.contextmanager
def _redirected(stdin: bytes, to: Streams) -> Iterator[None]:
    """Standard streams as a process has them whose output is read by another."""
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
        "stdout": io.TextIOWrapper(to.output, encoding="utf-8"),
        "stderr": io.TextIOWrapper(to.errors, encoding="utf-8", errors="backslashreplace", line_buffering=True),
    }
    with mock.patch.multiple(sys, **streams):
        yield
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            stream.detach()


def _exit_code() -> int:
    """Of the command that ``sys.argv`` names; an error that nobody caught is shown as an interpreter shows it."""
    try:
        main()
    except SystemExit as ended:
        assert ended.code is None or isinstance(ended.code, int)
        return ended.code or 0
    except BaseException:
        traceback.print_exc()
        return 1


def run_bytes(
    folder: Path,
    *arguments: str | Path,
    stdin: bytes = b"",
    merged: bool = False,
    environment: Mapping[str, str] = PLAIN,
) -> subprocess.CompletedProcess[bytes]:
    """Run one command in a folder.

    Args:
        folder: the working folder.
        arguments: of the command line, without the name of the program.
        stdin: what it reads from standard input.
        merged: whether standard error goes to standard output, as with ``2>&1``.
        environment: variables beside those of this process.
    """
    output = io.BytesIO()
    streams = Streams(output, output if merged else io.BytesIO())
    handler, width = signal.getsignal(signal.SIGTERM), errors.width
    try:
        with (
            contextlib.chdir(folder),
            mock.patch.dict(os.environ, environment),
            mock.patch.object(sys, "argv", ["qchunker", *map(str, arguments)]),
            mock.patch.object(sys.modules["__main__"], "__package__", None),  # or usage names what runs the tests
            _redirected(stdin, streams),
        ):
            errors.width = int(environment["COLUMNS"])
            code = _exit_code()
    finally:
        errors.width = width
        signal.signal(signal.SIGTERM, handler)
    return subprocess.CompletedProcess(sys.argv, code, output.getvalue(), streams.errors.getvalue())


def run(folder: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same with text; the further arguments are variables of the environment."""
    done = run_bytes(folder, *arguments, environment=PLAIN | environment)
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )
