"""What a model is called in signatures, and what is said when it cannot be loaded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.errors import ModelError


def weights_digest(arrays: Iterable[Any]) -> str:
    """Names of models say little; their weights say what the numbers depend on."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def short_name(name: str) -> str:
    """The last part of a path or of a name on the hub."""
    return name.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]


_USER = re.compile(r"/[^/\s]*@")


def without_secrets(text: str, *secrets: str | None) -> str:
    """A text for messages: no user and password of an address, and none of the given secrets."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return _USER.sub("/***@", text)


def check_path(name: str) -> None:
    """A name that can only be a path must exist; libraries look for it on the hub and report that.

    Raises:
        ModelError: if it does not exist.
    """
    is_path = name.startswith((".", "~", "/", "\\")) or name.count("/") > 1 or ":" in name
    if is_path and not Path(name).exists():
        hint = "give a folder with the model, or a name on the hub"
        raise ModelError(without_secrets(name), "there is no such file or folder", hint=hint)


def not_loaded(name: str, error: Exception) -> ModelError:
    """The error for a model that a library could not load."""
    name = without_secrets(name)
    reason = without_secrets(str(error)).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    return ModelError(name, f"cannot be loaded: {reason}", hint="give a folder with the model, or a name on the hub")


def file_digest(path: Path) -> str:
    """SHA-256 of a file.

    Raises:
        ModelError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(path.name, f"cannot be read: {error.strerror or error}") from error
