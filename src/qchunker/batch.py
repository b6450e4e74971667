"""Many inputs: parsed and chunked in order, several at once, each failure reported and the others finished."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from typing import NamedTuple, TypeVar

from qchunker.config import ChunkingConfig, DebateConfig
from qchunker.debate.workflow import RunStage, run_directly
from qchunker.errors import BudgetError, ConfigError, InputError, ModelError, ParseError, QChunkerError
from qchunker.inputs import Input
from qchunker.models.load import Models
from qchunker.pipeline import DEBATE, chunk, parse_input
from qchunker.types import Partition

Item = TypeVar("Item")
Result = TypeVar("Result")
LoadModels = Callable[[], "Models | None"]


class Failure(NamedTuple):
    """A document that could not be processed."""

    source: str
    error: QChunkerError


def default_models() -> None:
    """The models that ``chunk`` takes by itself."""
    return


def chunk_all(
    inputs: Iterable[Input],
    method: str = DEBATE,
    config: ChunkingConfig | None = None,
    debate_config: DebateConfig | None = None,
    *,
    load: LoadModels = default_models,
    selector: str | None = None,
    jobs: int = 1,
    run: RunStage = run_directly,
) -> Iterator[Partition | Failure]:
    """Parse and chunk many inputs, in order. One that fails is reported and the others are finished.

    Args:
        inputs: taken one by one; memory holds only the documents in work.
        method: ``qchunker``, or a key of ``CHUNKERS`` or ``MODEL_CHUNKERS``.
        config: sizes and overlap.
        debate_config: as for ``chunk``.
        load: gives the models; called once in every process, and sent there.
        selector: CSS selector of the main content of HTML pages.
        jobs: processes at work; a script that asks for more than one needs the usual
            ``if __name__ == "__main__"``.
        run: as for ``chunk``, in this process; not told of what other processes do.
    """
    work = _Work(method, config, debate_config, load, selector)
    if jobs <= 1:
        models = load()
        yield from (work.done(item, models, run) for item in inputs)
    else:
        yield from in_processes(work, inputs, jobs, _died)


@dataclass(frozen=True, slots=True)
class _Work:
    """What is done with every input, sent to the processes that do it."""

    method: str
    config: ChunkingConfig | None
    debate_config: DebateConfig | None
    load: LoadModels
    selector: str | None

    def done(self, item: Input, models: Models | None, run: RunStage) -> Partition | Failure:
        try:
            document = parse_input(item, selector=self.selector)
            return chunk(document, self.method, self.config, self.debate_config, models, run)
        except (InputError, BudgetError, ModelError) as error:
            # Where no model plays a role, a model that fails is one that was never there.
            plays = models is not None and models.play_roles
            if isinstance(error, ConfigError) or (isinstance(error, ModelError) and not plays):
                raise
            return Failure(item.name, error)

    def __call__(self, item: Input) -> Partition | Failure:
        if not _loaded:
            _loaded.append(self.load())
        return self.done(item, _loaded[0], run_directly)


_loaded: list[Models | None] = []
"""The models of a process that works for another, loaded with its first input."""


def _died(item: Input) -> Failure:
    hint = "it may need more memory than there is; try fewer --jobs"
    return Failure(item.name, ParseError(item.name, "the process that worked on it died", hint=hint))


def in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], jobs: int, died: Callable[[Item], Result]
) -> Iterator[Result]:
    """The results of ``work`` in the order of the items, from several processes.

    Args:
        work: sent to the processes; an exception of it ends the run.
        items: taken no faster than they are worked on.
        jobs: number of processes.
        died: the result of an item whose process dies, in a second try with a process of its own.
    """
    waiting = iter(items)
    taken: deque[Item] = deque()  # in order, their results not yet given
    while True:
        with _pool(jobs) as pool:
            try:
                running = deque(pool.submit(work, item) for item in taken)
                while True:
                    for item in islice(waiting, 2 * jobs - len(taken)):
                        taken.append(item)
                        running.append(pool.submit(work, item))
                    if not taken:
                        return
                    result = running.popleft().result()
                    taken.popleft()
                    yield result
            except BrokenProcessPool:
                pass  # which item it was, is not known: the first of them is tried alone, the others in a new pool
        yield _alone(work, taken.popleft(), died)


def _alone(work: Callable[[Item], Result], item: Item, died: Callable[[Item], Result]) -> Result:
    with _pool(1) as pool:
        try:
            return pool.submit(work, item).result()
        except BrokenProcessPool:
            return died(item)


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, or with this process, whatever they are doing."""
    context = multiprocessing.get_context("spawn")  # forked ones would share the locks of numerical libraries
    reader, writer = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, context, initializer=_obey, initargs=(reader,))
    try:
        yield pool
    finally:
        writer.close()
        pool.shutdown(cancel_futures=True)
        reader.close()


def _obey(reader: Connection) -> None:
    """In a new process: leave Ctrl-C to the first one, and end when it closes the pipe or is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(reader,), daemon=True).start()


def _end_with(reader: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        reader.recv_bytes()
    os._exit(1)
