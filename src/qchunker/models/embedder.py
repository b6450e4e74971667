"""What an embedding model is to this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from qchunker.errors import ModelOutputError

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def id(self) -> str:
        """Name and version: everything the vectors depend on."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text, in the same order.

        Shapes: gives (n, d), float32; (0, d) for no text.
        Raises: ModelError: if the model fails.
        """


def unit_rows(vectors: Any, n: int, model: str) -> Vectors:
    """Whatever a library returned, checked and scaled to rows of length 1.

    Raises:
        ModelOutputError: if the shape is not (n, d), a value is not finite, or a row is zero.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != n:
        raise ModelOutputError(model, f"gave vectors of shape {rows.shape} for {n} texts")
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        row = int(np.flatnonzero(~np.isfinite(norms) | (norms == 0))[0])
        raise ModelOutputError(model, f"the vector of text {row} is zero or not finite", hint="leave out blank texts")
    return np.asarray(rows / norms, dtype=np.float32)
