"""Where models and cached results are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from platformdirs import user_cache_path

from qchunker.errors import ConfigError


def cache_folder() -> Path:
    """The folder named by QCHUNKER_CACHE, or the user's cache folder; it may not exist yet."""
    named = os.environ.get("QCHUNKER_CACHE")
    return Path(named) if named else user_cache_path("qchunker", appauthor=False)


def model_folder(name: str) -> Path:
    """Where the files of one model are; it may not exist yet.

    Raises:
        ConfigError: if the cache folder is a file.
    """
    folder = cache_folder()
    if folder.exists() and not folder.is_dir():
        raise ConfigError("QCHUNKER_CACHE", f"{folder} is not a folder")
    return folder / "models" / name


def make_folder(folder: Path, fill: Callable[[Path], None]) -> Path:
    """A folder that exists only when it is complete, whoever else is making it at the same time."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        fill(made)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was faster
                raise
    return folder
