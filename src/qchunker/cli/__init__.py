"""The command line: read flags, call the library, print.

Exit codes: 0 done, 1 some documents failed, 2 wrong usage or configuration, 3 a model or package is missing.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import NoReturn

import click

from qchunker.cli.bench import bench
from qchunker.cli.chunk import chunk, lint_command
from qchunker.cli.complete import complete, review
from qchunker.cli.index import ask, index, search
from qchunker.cli.models import models
from qchunker.cli.qa import qa
from qchunker.cli.score import compare, score
from qchunker.cli.terminal import MISSING, WRONG_USAGE, errors, report
from qchunker.cli.view import view
from qchunker.errors import MissingExtraError, MissingModelError, ModelError, OutputError, QChunkerError
from qchunker.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Cut Chinese and English documents into chunks for retrieval, without losing a character."""


def main() -> NoReturn:
    """Run the command line; errors become one line and an exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(WRONG_USAGE)
    except click.Abort:
        errors.print("stopped")
        sys.exit(130)
    except BrokenPipeError:
        # The reader has enough; without this, the interpreter would complain while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        report(OutputError(f"cannot write: {error.strerror or error}"))
        sys.exit(WRONG_USAGE)
    except QChunkerError as error:
        report(error)
        sys.exit(MISSING if isinstance(error, MissingExtraError | MissingModelError | ModelError) else WRONG_USAGE)
    sys.exit(code)


for command in (chunk, review, complete, lint_command, view, score, compare, qa, index, search, ask, bench, models):
    cli.add_command(command)
