"""A cross-encoder of sentence-transformers as reranker: it reads the question and a text together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qchunker.errors import MissingExtraError, ModelError, ModelOutputError


class CrossEncoderReranker:
    """A model by its name on a hub, or its folder.

    Args:
        name: such as ``BAAI/bge-reranker-base``.

    Raises:
        MissingExtraError: if sentence-transformers is not installed.
        ModelError: if the model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingExtraError("qchunker[hf]", "a cross-encoder") from error
        self.id = name
        try:
            self._model: Any = CrossEncoder(name)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                name, f"cannot be loaded: {error}", hint="give a folder, or fetch the model first"
            ) from error

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        values = np.asarray(self._model.predict([(question, text) for text in texts]), dtype=np.float64)
        if values.shape != (len(texts),) or not np.isfinite(values).all():
            raise ModelOutputError(self.id, f"gave scores of shape {values.shape} for {len(texts)} texts")
        return [float(value) for value in values]
