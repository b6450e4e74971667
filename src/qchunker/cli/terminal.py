"""What all commands share: the error stream, text made safe for a terminal, and the end of a run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from qchunker.batch import Failure
from qchunker.errors import ConfigError, QChunkerError
from qchunker.rows import open_rows

_ACTING = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_BACKSLASHES = re.compile(r"(\\+)(?=\[|$)")
SOME_FAILED, WRONG_USAGE, MISSING = 1, 2, 3


class Output(Console):
    """Standard output. That its reader has seen enough is no failure."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


errors = Console(stderr=True, highlight=False, emoji=False)
"""For people: progress, findings and errors. Standard output belongs to results."""


def shown(text: str) -> str:
    """Text of a document or a file name, for the terminal: no markup, no control characters."""
    # rich.markup.escape leaves a bracket that a later text could complete to a tag, and a backslash in front of one.
    plain = "".join(char if char.isprintable() or char in " \n" else f"\\x{ord(char):02x}" for char in text)
    return _BACKSLASHES.sub(r"\1\1", plain).replace("[", "\\[")


def json_line(value: Any) -> str:
    """One line of JSON that acts on no terminal, should one show it."""
    return _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def report(error: QChunkerError) -> None:
    """One error, with what to do about it."""
    hint = f"\n  [dim]{shown(error.hint)}[/]" if error.hint else ""
    errors.print(f"[red]error[/] {shown(error.reason)}{hint}", soft_wrap=True)


def finish(n_inputs: int, failures: list[Failure]) -> None:
    """List the failures of a run and set the exit code."""
    for failure in failures:
        report(failure.error)
    if failures:
        errors.print(f"{n_inputs - len(failures)} of {n_inputs} documents done, {len(failures)} failed")
        raise click.exceptions.Exit(SOME_FAILED)


def refuse_overwriting(output: str | None, *inputs: str | None) -> None:
    """An output must not be one of the inputs, whatever the two are called.

    Raises:
        ConfigError: if it is.
    """
    if output is None:
        return
    for path in filter(None, inputs):
        if os.path.realpath(output) == os.path.realpath(path):
            raise ConfigError("output", f"{output} is one of the inputs")


def count(number: int, noun: str) -> str:
    """``1 chunk``, ``2 chunks``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def maybe_rows(
    path: str | None, option: str = "documents"
) -> contextlib.AbstractContextManager[Callable[[list[dict[str, Any]]], None]]:
    """A writer for rows, or one that writes nothing when there is no path."""
    if path is None:
        return contextlib.nullcontext(lambda _rows: None)
    return open_rows(path, sys.stdout, option)


@contextlib.contextmanager
def progress_of(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """A function to tell progress to; a bar is shown when a person is looking."""
    if not errors.is_terminal:
        yield lambda _stage, _done, _total: None
        return
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(stage: str, done: int, total: int) -> None:
            progress.update(task, description=f"{what}: {stage}", completed=done, total=total)

        yield tell
