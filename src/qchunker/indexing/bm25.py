"""BM25 by Lucene's formula, exact, over arrays that can be read from disk without loading them."""

from __future__ import annotations

import json
import math
import os
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qchunker.errors import ConfigError, InputError, StoreCorruptError, StoreError, StoreMismatchError

FloatArray = npt.NDArray[np.float64]

_FORMAT = 1
_ARRAYS = {
    "token_bytes": np.uint8, "token_starts": np.int64,
    "posting_starts": np.int64, "documents": np.int32, "weights": np.float32,
}  # fmt: skip
_SETTINGS = "bm25.json"
_REBUILD = "build the index anew from its documents"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class BM25:
    """An index of V tokens over N documents with P postings (a posting: one token in one document).

    Attributes:
        token_bytes: (bytes,) uint8, all tokens in UTF-8, in the order of their code points.
        token_starts: (V + 1,) int64, where each token starts in them.
        posting_starts: (V + 1,) int64, where the postings of each token start.
        documents: (P,) int32, position of the document, rising within a token.
        weights: (P,) float32, what one occurrence of the token in a query adds to the score of the document. The
            rounding changes a score by at most 6e-8 of it, for all weights are above 0.
        n_documents: N.
        k1: how slowly repetition within a document saturates.
        b: how much the length of a document counts.
    """

    token_bytes: npt.NDArray[np.uint8]
    token_starts: npt.NDArray[np.int64]
    posting_starts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]
    n_documents: int
    k1: float
    b: float

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]], *, k1: float = 1.2, b: float = 0.75) -> BM25:
        """Index documents; each is the sequence of its tokens, repeats included.

        Documents are read once, one by one, and not kept: about 30 bytes a token are held while the index is made.

        Raises:
            ConfigError: if k1 is negative or not finite, or b lies outside 0 to 1.
            InputError: if a document is a text instead of a sequence of tokens.
        """
        if not (math.isfinite(k1) and k1 >= 0):
            raise ConfigError("k1", f"must be 0 or above and finite, got {k1}", hint="1.2 suits most texts")
        if not 0 <= b <= 1:
            raise ConfigError("b", f"must lie between 0 and 1, got {b}", hint="0.75 suits most texts")
        tokens, occurrences, lengths = _read(documents)
        terms, places, frequencies = _postings(occurrences, lengths)
        encoded = [_encoded(token) for token in tokens]
        return cls(
            token_bytes=np.frombuffer(b"".join(encoded), dtype=np.uint8),
            token_starts=_starts(np.array([len(token) for token in encoded], dtype=np.int64)),
            posting_starts=_starts(np.bincount(terms, minlength=len(tokens))),
            documents=places,
            weights=_weights(terms, places, frequencies, lengths, k1, b),
            n_documents=len(lengths),
            k1=float(k1),
            b=float(b),
        )

    def scores(self, query: Sequence[str]) -> FloatArray:
        """Score of every document for the tokens of a query; 0 for a document that holds none of them.

        A token counts as often as the query repeats it, one that the index does not know adds nothing. The order of
        the query makes no difference, not even in rounding.

        Shapes: gives (N,) float64, new on each call.
        Source: sum over the query of ln(1 + (N - n + 0.5) / (n + 0.5)) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length
        / mean length)), with n the documents that hold the token; N and the mean count documents without tokens too.

        Raises:
            InputError: if the query is a text instead of a sequence of tokens.
            StoreCorruptError: if the index was loaded from damaged files.
        """
        _refuse_text(query, "query")
        scores = np.zeros(self.n_documents)
        for token, repeats in sorted(Counter(query).items()):
            row = self._row(_encoded(token))
            start, stop = self.posting_starts[row : row + 2] if row >= 0 else (0, 0)
            try:
                scores[self.documents[start:stop]] += repeats * self.weights[start:stop].astype(np.float64)
            except IndexError as error:
                raise StoreCorruptError("bm25", f"the postings of {token!r} are damaged", hint=_REBUILD) from error
        return scores

    def idf(self, token: str) -> float:
        """How rare a token is: ln(1 + (N - n + 0.5) / (n + 0.5)); highest for one that no document holds."""
        row = self._row(_encoded(token))
        holders = int(self.posting_starts[row + 1] - self.posting_starts[row]) if row >= 0 else 0
        return math.log1p((self.n_documents - holders + 0.5) / (holders + 0.5))

    def save(self, folder: Path) -> None:
        """Write the index into a folder, which is made if need be: one .npy file per array, and its settings as JSON.

        Each file is replaced as a whole, so an index loaded from the folder before stays as it is; but one that is
        loaded meanwhile may mix old and new files.

        Raises:
            StoreError: if a file cannot be written.
        """
        settings = {"format": _FORMAT, "n_documents": self.n_documents, "k1": self.k1, "b": self.b}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in _ARRAYS:
                unfinished = folder / f"{name}.npy.part"
                with unfinished.open("wb") as file:
                    np.save(file, getattr(self, name), allow_pickle=False)
                os.replace(unfinished, folder / f"{name}.npy")
            unfinished = folder / f"{_SETTINGS}.part"
            unfinished.write_text(json.dumps(settings, sort_keys=True) + "\n", encoding="utf-8")
            os.replace(unfinished, folder / _SETTINGS)
        except OSError as error:
            raise StoreError(str(folder), f"the index cannot be written: {error}") from error

    @classmethod
    def load(cls, folder: Path) -> BM25:
        """An index that was saved; its arrays stay on disk and are read where a query needs them.

        Raises:
            StoreError: if there is no index in the folder.
            StoreCorruptError: if a file is missing, cut or not of this kind.
            StoreMismatchError: if another version of the format was written.
        """
        if not (folder / _SETTINGS).is_file():
            raise StoreError(str(folder), "there is no BM25 index in this folder", hint="build it and save it first")
        try:
            settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
            if settings["format"] != _FORMAT:
                raise StoreMismatchError(str(folder), "format", settings["format"], _FORMAT)
            # Plain views: slices of the memory-map class itself are ten times slower.
            arrays: dict[str, Any] = {
                name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)) for name in _ARRAYS
            }
            index = cls(
                n_documents=int(settings["n_documents"]), k1=float(settings["k1"]), b=float(settings["b"]), **arrays
            )
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise StoreCorruptError(str(folder), f"a file is missing or damaged: {error}", hint=_REBUILD) from error
        if not index._fits_together():
            raise StoreCorruptError(str(folder), "its files do not fit together", hint=_REBUILD)
        return index

    def _fits_together(self) -> bool:
        """Whether kinds and lengths of all arrays agree; their inner values are not read."""
        return (
            all(getattr(self, name).dtype == kind and getattr(self, name).ndim == 1 for name, kind in _ARRAYS.items())
            and len(self.token_starts) == len(self.posting_starts) >= 1
            and self.n_documents >= 0
            and self.token_starts[-1] == len(self.token_bytes)
            and self.posting_starts[-1] == len(self.documents) == len(self.weights)
        )

    def _row(self, token: bytes) -> int:
        """Position of a token in the vocabulary, or -1."""
        n = len(self.token_starts) - 1
        row = bisect_left(range(n), token, key=self._token)
        return row if row < n and self._token(row) == token else -1

    def _token(self, row: int) -> bytes:
        return self.token_bytes[self.token_starts[row] : self.token_starts[row + 1]].tobytes()


def _encoded(token: str) -> bytes:
    # UTF-8 sorts as code points do; lone surrogates, which a file name may hold, pass.
    return token.encode("utf-8", "surrogatepass")


def _refuse_text(tokens: Sequence[str], name: str) -> None:
    if isinstance(tokens, str):
        hint = "split it first, as lexical_tokens does"
        raise InputError(f"{name}: a text where a sequence of tokens is expected: {tokens[:40]!r}", hint=hint)


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])


def _read(
    documents: Iterable[Sequence[str]],
) -> tuple[list[str], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The sorted vocabulary, the row in it of each token of all documents, and the length of each document."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    occurrences, lengths = array("i"), array("q")
    for document in documents:
        _refuse_text(document, "documents")
        occurrences.extend(map(numbers.__getitem__, document))
        lengths.append(len(document))
    tokens = sorted(numbers)
    rows = np.empty(len(tokens), dtype=np.int32)
    rows[[numbers[token] for token in tokens]] = np.arange(len(tokens), dtype=np.int32)
    return tokens, rows[np.frombuffer(occurrences, dtype=np.int32)], np.frombuffer(lengths, dtype=np.int64)


def _postings(
    occurrences: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Token row, document and frequency of each posting, sorted by token and then document; each (P,)."""
    n = max(1, len(lengths))
    keys = occurrences.astype(np.int64)
    keys *= n
    keys += np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    keys.sort()
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    frequencies = np.diff(first, append=len(keys)).astype(np.int32)
    keys = keys[first]
    return (keys // n).astype(np.int32), (keys % n).astype(np.int32), frequencies


def _weights(
    terms: npt.NDArray[np.int32],
    documents: npt.NDArray[np.int32],
    frequencies: npt.NDArray[np.int32],
    lengths: npt.NDArray[np.int64],
    k1: float,
    b: float,
) -> npt.NDArray[np.float32]:
    """What each posting adds to a score; in blocks, because the steps between need twice the memory of the result."""
    weights = np.empty(len(terms), dtype=np.float32)
    if not len(terms):
        return weights
    holders = np.bincount(terms)
    idf = np.log1p((len(lengths) - holders + 0.5) / (holders + 0.5))
    penalties = k1 * (1 - b + b * lengths / lengths.mean())
    for start in range(0, len(terms), _BLOCK):
        part = slice(start, start + _BLOCK)
        tf = frequencies[part].astype(np.float64)
        weights[part] = idf[terms[part]] * tf * (k1 + 1) / (tf + penalties[documents[part]])
    return weights
