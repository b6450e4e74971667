"""Semantic dispersion: do the chunks of a document say different things? (QChunker 3.3.2, 3.3.4, appendix C)"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qchunker.errors import ScoringError
from qchunker.scoring.perplexity import Floats

RIDGE = 1e-3


def centred(embeddings: npt.ArrayLike) -> Floats:
    """Embeddings in float64, each without the mean of its own features (the paper's J_d Z).

    Shapes: embeddings (K, d), one row per chunk; the paper stacks columns. Gives (K, d).
    Raises: ScoringError: if there is no chunk or a value is not finite.
    Source: QChunker 3.3.2, docs/equations.md#sd-1.
    """
    rows: Floats = np.asarray(embeddings, dtype=np.float64)
    if rows.ndim != 2 or not rows.size:
        raise ScoringError(f"semantic dispersion of no chunk: embeddings have the shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ScoringError("an embedding holds a value that is not finite")
    means: Floats = rows.mean(axis=1, keepdims=True)
    return rows - means


def gram_matrix(embeddings: npt.ArrayLike) -> Floats:
    """Similarity of every two chunks after centring (the paper's Sigma, without the ridge).

    Shapes: embeddings (K, d), gives (K, K), symmetric.
    Raises: ScoringError: as ``centred``.
    Source: QChunker 3.3.2, docs/equations.md#sd-1.
    """
    rows = centred(embeddings)
    return rows @ rows.T


def semantic_dispersion(embeddings: npt.ArrayLike, ridge: float = RIDGE) -> float:
    """Mean log eigenvalue of the Gram matrix plus ridge; higher means less redundancy.

    Shapes: embeddings (K, d), one row per chunk, in any order. Memory: one matrix of min(K, d) squared.
    Range: natural logarithm; from log(ridge) to log(max_i |J z_i|^2 + ridge), by Hadamard. Changes with the length of
    the rows: pass unit rows.
    Degenerate: K = 1 sits at the maximum (about 0 for unit rows), so never rank K = 1 against K > 1. From K = d on,
    at least K - d + 1 eigenvalues equal the ridge: score documents one by one, not a corpus.
    Raises: ScoringError: if there is no chunk, a value is not finite, or the ridge is not above 0.
    Source: QChunker 3.3.2, docs/equations.md#sd-2. K > d: docs/equations.md#sd-3.
    As a volume: docs/equations.md#sd-4. As an entropy: docs/equations.md#sd-5.
    """
    if not ridge > 0:
        raise ScoringError(f"the ridge must be above 0, got {ridge}")
    rows = centred(embeddings)
    k, d = rows.shape
    # Both products have the same non-zero eigenvalues; the smaller one is decomposed.
    smaller = rows @ rows.T if k <= d else rows.T @ rows
    _, logdet = np.linalg.slogdet(smaller + ridge * np.eye(min(k, d)))
    return float((logdet + max(0, k - d) * np.log(ridge)) / k)
