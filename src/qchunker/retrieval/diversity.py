"""Hits that do not say the same twice: maximal marginal relevance, and a guard against near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from qchunker.errors import ConfigError

FloatArray = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

RELEVANCE_WEIGHT = 0.7
NEAR_DUPLICATE_COSINE = 0.92

# Products of equal vectors may differ in the last bits; such a difference must not decide.
_SAME = 1e-9
_FLOAT32_NOISE = 1e-6


def maximal_marginal_relevance(
    relevance: FloatArray,
    vectors: Vectors,
    *,
    ids: Sequence[str],
    top_k: int,
    relevance_weight: float = RELEVANCE_WEIGHT,
) -> list[int]:
    """Positions of candidates that are relevant and unlike those chosen before them, in the order of choice.

    The first is the most relevant. Each further one has the highest weight * relevance - (1 - weight) * (highest cosine
    with one chosen before), where relevance is scaled to 0..1 over the candidates so that it compares with a cosine. Of
    equals (within 1e-9) the more relevant is chosen, then the one whose id comes first. A weight of 1 gives the order
    of relevance, a weight of 0 that of diversity after the first.

    Shapes: relevance (n,), higher is better, any scale; vectors (n, d), unit rows, or zeros for what has no vector;
    ids, n of them. Gives min(top_k, n) positions, none twice. Time: top_k * n * d; meant for hits, not a corpus.
    Degenerate: relevance that is equal everywhere counts as 0.

    Raises:
        ConfigError: if lengths differ, a number is not finite, a row is longer than 1, top_k is below 1, or the weight
            lies outside 0 to 1.
    """
    if top_k < 1:
        raise ConfigError("top_k", f"must be 1 or above, got {top_k}", hint="ask for one hit at least")
    if not 0 <= relevance_weight <= 1:
        hint = "1 is relevance alone, 0 diversity alone"
        raise ConfigError("relevance_weight", f"must lie between 0 and 1, got {relevance_weight}", hint=hint)
    rows, scaled = _unit_rows(vectors), _scaled(relevance)
    if not len(rows) == len(scaled) == len(ids):
        lengths = f"{len(scaled)} relevances, {len(rows)} vectors and {len(ids)} ids"
        raise ConfigError("vectors", lengths, hint="give one of each per candidate")
    # Sorted once, so that the first of equals is always the one to choose.
    order = sorted(range(len(ids)), key=lambda position: (-scaled[position], ids[position]))
    rows, scaled = rows[order], scaled[order]
    chosen: list[int] = []
    closest = np.full(len(order), -np.inf)
    marginal = scaled.copy()
    for _ in range(min(top_k, len(order))):
        best = int(np.argmax(marginal >= marginal.max() - _SAME))
        chosen.append(best)
        np.maximum(closest, rows @ rows[best], out=closest)
        marginal = relevance_weight * scaled - (1 - relevance_weight) * closest
        marginal[chosen] = -np.inf
    return [order[place] for place in chosen]


def without_near_duplicates(
    vectors: Vectors, order: Sequence[int], *, threshold: float = NEAR_DUPLICATE_COSINE
) -> tuple[list[int], dict[int, int]]:
    """Walk candidates in the given order and drop each whose cosine with one that was kept is above the threshold.

    Shapes: vectors (n, d), unit rows, or zeros for what has no vector and duplicates nothing; order, positions among
    them, best first, none twice; those left out of it are neither kept nor dropped. Time: kept * walked * d.

    Returns:
        positions kept, in order; and for each position dropped the kept one that is closest to it, of equals the first.
        A threshold of 1 drops nothing. Differences within 1e-6 are float32 noise and not above the threshold.

    Raises:
        ConfigError: if a position is out of range or repeated, a number is not finite, a row is longer than 1, or the
            threshold lies outside 0 to 1.
    """
    if not 0 <= threshold <= 1:
        hint = "0.92 drops rewordings of the same text"
        raise ConfigError("threshold", f"must lie between 0 and 1, got {threshold}", hint=hint)
    rows = _unit_rows(vectors)
    if len(set(order)) != len(order) or any(not 0 <= position < len(rows) for position in order):
        raise ConfigError("order", f"must be different positions below {len(rows)}", hint="give each candidate once")
    kept: list[int] = []
    dropped: dict[int, int] = {}
    kept_rows = np.empty((len(order), rows.shape[1]))
    for position in order:
        cosines = np.minimum(kept_rows[: len(kept)] @ rows[position], 1.0)
        highest = float(cosines.max(initial=-1.0))
        if highest > threshold + _FLOAT32_NOISE:
            dropped[position] = kept[int(np.argmax(cosines >= highest - _SAME))]
        else:
            kept_rows[len(kept)] = rows[position]
            kept.append(position)
    return kept, dropped


def _scaled(relevance: FloatArray) -> FloatArray:
    """Relevance between 0 and 1; all 0 where it does not differ."""
    values = np.asarray(relevance, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        hint = "leave out candidates without a score"
        raise ConfigError("relevance", f"must be flat and finite, has the shape {values.shape}", hint=hint)
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not low < high:
        return np.zeros_like(values)
    scaled: FloatArray = (values - low) / (high - low)
    return scaled


def _unit_rows(vectors: Vectors) -> FloatArray:
    """Rows in float64, whose products are exact enough to compare."""
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ConfigError("vectors", f"must be (n, d) and finite, have the shape {rows.shape}", hint="one row each")
    longest = float(np.linalg.norm(rows, axis=1).max(initial=0.0))
    if longest > 1.01:
        hint = "divide each vector by its length, so that products are cosines"
        raise ConfigError("vectors", f"must be unit rows, one has the length {longest:.3g}", hint=hint)
    return rows
