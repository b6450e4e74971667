"""One score out of the scores or rankings of several retrievers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from qchunker.errors import ConfigError

FloatArray = npt.NDArray[np.float64]

# Scores closer than this part of the largest differ by rounding only, which must not be stretched to a deviation of 1.
_SAME = 1e-12


def standardised_fusion(scores: Sequence[FloatArray], weights: Sequence[float]) -> FloatArray:
    """Weighted mean of the standardised scores of several retrievers over the same candidates.

    Each retriever's scores get mean 0 and standard deviation 1 over those that it gave. A score that it did not give
    (nan) counts as the lowest that it gave. This is a trap elsewhere: filled with 0, which is the mean, a missing score
    would lift a candidate above one that the retriever did find, and a missing score must never be rewarded.

    Shapes: scores, one array (N,) per retriever; weights, one number each. Gives (N,) float64.
    Range: dimensionless; comparable within one call only. 0 where all retrievers give their mean.
    Degenerate: a retriever whose scores are all equal, or that gave one or none, adds 0 to every candidate.

    Raises:
        ConfigError: if there is no retriever, lengths differ, a score is infinite, a weight is negative or not finite,
            or none is above 0.
    """
    total = _total_weight(weights, len(scores), "scores")
    columns = [np.asarray(given, dtype=np.float64) for given in scores]
    shapes = {column.shape for column in columns}
    if len(shapes) > 1 or columns[0].ndim != 1:
        hint = "give every retriever one score per candidate, nan where it has none"
        raise ConfigError("scores", f"shapes differ or are not flat: {sorted(shapes)}", hint=hint)
    if any(np.isinf(column).any() for column in columns):
        raise ConfigError("scores", "a score is infinite", hint="use nan for a candidate that was not returned")
    fused = np.zeros(columns[0].shape)
    for column, weight in zip(columns, weights, strict=True):
        fused += weight / total * _standardised(column)
    return fused


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], k: int = 60, weights: Sequence[float] | None = None
) -> dict[str, float]:
    """Sum of weight / (k + rank) over the rankings that hold an id; ranks start at 1.

    An id that a ranking repeats counts at its best rank only; the ranks of the others stay as they are. A ranking may
    be empty. Every id of every ranking is in the result, also those of a ranking of weight 0.

    Range: above 0 and at most number of rankings / (k + 1) with weights of 1 (0.033 for two and k = 60), the sum of
    weights / (k + 1) else. So a threshold for cosines means nothing here: see ``unit_scale``.

    Returns:
        score per id, best first, equal scores by id; {} if all rankings are empty.

    Raises:
        ConfigError: if k is not above 0, there is no ranking, the weights are not one per ranking, one is negative or
            not finite, or none is above 0.
    """
    if not (math.isfinite(k) and k > 0):
        raise ConfigError("k", f"must be above 0, got {k}", hint="60 is what the method was published with")
    weights = [1.0] * len(rankings) if weights is None else weights
    _total_weight(weights, len(rankings), "rankings")
    parts: dict[str, list[float]] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        # From the last to the first, so that the best rank of a repeated id is the one that stays.
        best = {id_: rank for rank, id_ in reversed(list(enumerate(ranking, start=1)))}
        for id_, rank in best.items():
            parts.setdefault(id_, []).append(weight / (k + rank))
    # The order of the rankings must not part equal scores by rounding, hence the exact sum.
    fused = {id_: math.fsum(summands) for id_, summands in parts.items()}
    return dict(sorted(fused.items(), key=lambda item: (-item[1], item[0])))


def unit_scale(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores mapped to 0..1 by the lowest and the highest of them; order and keys stay.

    Degenerate: equal scores, and a single one, become 1. {} stays {}.

    Raises:
        ConfigError: if a score is not finite, or they lie further apart than a number can tell.
    """
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if not all(map(math.isfinite, scores.values())) or not math.isfinite(high - low):
        raise ConfigError("scores", "a score is not finite, or too large", hint="leave out what was not returned")
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {id_: (score - low) / (high - low) for id_, score in scores.items()}


def _total_weight(weights: Sequence[float], n: int, what: str) -> float:
    """Sum of the weights, one for each of n retrievers."""
    if n == 0:
        raise ConfigError(what, "there is none to fuse", hint="give one per retriever")
    if len(weights) != n:
        raise ConfigError("weights", f"{len(weights)} for {n} {what}", hint="give one weight per retriever")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not math.isfinite(math.fsum(weights)):
        raise ConfigError(
            "weights", f"must be 0 or above and finite, got {list(weights)}", hint="use 0 to leave one out"
        )
    total = math.fsum(weights)
    if total == 0:
        raise ConfigError("weights", "all are 0", hint="give at least one retriever a weight above 0")
    return total


def _standardised(given: FloatArray) -> FloatArray:
    """Scores with mean 0 and deviation 1 over those that are no nan; nan becomes the lowest of them."""
    found = given[~np.isnan(given)]
    largest = float(np.abs(found).max(initial=0.0))
    if largest == 0 or np.ptp(found / largest) <= _SAME:
        return np.zeros_like(given)
    found = found / largest  # so that squares can neither overflow nor vanish
    filled = np.where(np.isnan(given), found.min(), given / largest)
    standardised: FloatArray = (filled - found.mean()) / found.std()
    return standardised
