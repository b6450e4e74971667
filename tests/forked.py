"""Processes that are to be killed: forked from one that has read the libraries, so that a start costs next to nothing.

Nothing of what is tested happened before they were forked: no store, no file and no connection was opened.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

_IS_FORKED = "forkserver" in multiprocessing.get_all_start_methods()  # else each is started anew
_FORKS = multiprocessing.get_context("forkserver" if _IS_FORKED else "spawn")
_PATIENCE_S = 120

Wait = Callable[[], None]
"""Says that the process is ready, and returns when it is told to go."""


def _start_server() -> None:
    if _IS_FORKED:
        _FORKS.set_forkserver_preload(["forked_from"])
        # The library warns of forks in the middle of its work; here it has not begun.
        quiet = "ignore:lancedb fork support:RuntimeWarning"
        with mock.patch.dict(os.environ, PYTHONPATH=str(Path(__file__).parent), PYTHONWARNINGS=quiet):
            forkserver.ensure_running()


def _begin(work: Callable[..., None], connection: Connection, arguments: tuple[Any, ...]) -> None:
    def wait() -> None:
        connection.send("ready")
        connection.recv()

    work(wait, *arguments)
    connection.send("done")


class Forked:
    """A process that gets ready by itself and goes on when it is told to.

    Args:
        work: a function of a module; it gets ``Wait`` and the arguments.
        arguments: what can be pickled.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        _start_server()
        self._connection, theirs = _FORKS.Pipe()
        self.process = _FORKS.Process(target=_begin, args=(work, theirs, arguments), daemon=True)
        self.process.start()
        theirs.close()

    def go(self) -> None:
        """Wait until it is ready, and let it go on."""
        self._hear("ready")
        self._connection.send("go")

    def done(self) -> None:
        """Wait until it has done its work."""
        self._hear("done")

    def _hear(self, said: str) -> None:
        assert self._connection.poll(_PATIENCE_S), "it hangs"
        assert self._connection.recv() == said

    def is_over(self) -> bool:
        return not self.process.is_alive()

    def kill(self) -> int:
        """End it where it is, by a signal that no process can catch."""
        self.process.kill()
        return self.end()

    def end(self) -> int:
        """Wait for its end: the exit code, or the negative number of the signal that ended it."""
        self.process.join(_PATIENCE_S)
        code = self.process.exitcode
        assert code is not None, "it does not end"
        self._connection.close()
        self.process.close()
        return code
