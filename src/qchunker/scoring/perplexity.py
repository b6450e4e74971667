"""Perplexity of a text under a language model (QChunker 3.3.1)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from qchunker.errors import ScoringError

Floats = npt.NDArray[np.float64]


def perplexity(logprobs: Floats) -> float:
    """Inverse geometric mean of the token probabilities; lower means easier to predict.

    Shapes: logprobs (T,), natural logarithms, one per token of the text.
    Range: at least 1 for a proper model.
    Raises: ScoringError: if there is no token or a value is not finite.
    Source: QChunker 3.3.1, docs/equations.md#ppl-1.
    """
    if logprobs.ndim != 1 or not logprobs.size:
        raise ScoringError("perplexity of no token")
    if not np.isfinite(logprobs).all():
        raise ScoringError("a token probability is not finite", hint="the model gave zero or no probability to a token")
    try:
        return math.exp(-float(logprobs.mean()))
    except OverflowError as error:
        raise ScoringError("the text has no probability at all under the model") from error
