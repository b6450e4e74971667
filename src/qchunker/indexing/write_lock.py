"""One writer at a time: a lock file that the system lets go of when its process ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qchunker.errors import MissingExtraError, StoreBusyError, StoreError


@contextmanager
def write_lock(path: Path, name: str, timeout_s: float) -> Iterator[None]:
    """Hold a lock file, waiting for it.

    Args:
        path: of the lock file; its folder must exist.
        name: of the store, for messages.
        timeout_s: how long to wait.

    Raises:
        StoreBusyError: if another writer holds it for longer than ``timeout_s``.
        StoreError: if the file cannot be made.
        MissingExtraError: if filelock is not installed.
    """
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise MissingExtraError("filelock", "writing an index") from error
    lock = FileLock(path, timeout=timeout_s)
    try:
        lock.acquire()
    except Timeout as error:
        hint = "wait for it to end, and run this again"
        raise StoreBusyError(name, f"another process has been writing to it for {timeout_s:g} s", hint=hint) from error
    except (OSError, NotImplementedError) as error:
        raise StoreError(name, f"it cannot be written to: {error}", hint="check the rights of its folder") from error
    try:
        yield
    finally:
        lock.release()
