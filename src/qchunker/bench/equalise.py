"""Every method at the same mean length of chunks: each by its own size, found by trial.

Longer chunks hold more evidence and shorter ones rank it better, so that methods of different lengths tell nothing
about their cuts. The size that is asked for is the knob; what counts is the mean length that comes out.

Source: QChunker, Appendix B, where all methods are brought to the mean length of one of them (178 characters).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from qchunker.types import Document

Lengths = Callable[[Sequence[Document], int], list[int]]
"""Documents and a size to the lengths of their chunks."""

_SAMPLE_CHARS = 60_000
_TRIES, _CORRECTIONS = 7, 4
_RANGE = (0.25, 4.0)


class Size(NamedTuple):
    """The size at which a method has a mean length.

    Args:
        knob: size that is asked for.
        mean: characters of its chunks.
        tries: sizes that were tried on all documents.
    """

    knob: int
    mean: float
    tries: int


def equal_size(
    lengths: Lengths, documents: Sequence[Document], target: int, tolerance: float, *, is_costly: bool = False
) -> Size:
    """The size whose chunks are nearest to a mean length; stops as soon as it is within the tolerance.

    First by bisection on a sample of the documents, then on all of them, each time corrected by the ratio that is left.
    Where every try costs calls of a language model, the sample is left out and there is one correction.

    Args:
        lengths: of the chunks of some documents at a size.
        documents: of the set.
        target: mean length.
        tolerance: share of it that is near enough.
        is_costly: whether tries are dear.
    """
    knob = target if is_costly else _by_bisection(lengths, _sample(documents), target, tolerance)
    best = Size(knob, inf, 0)
    for tries in range(1, 1 + (2 if is_costly else _CORRECTIONS)):
        mean = _mean(lengths(documents, knob))
        nearer = abs(mean - target) < abs(best.mean - target)
        best = Size(knob, mean, tries) if nearer else best._replace(tries=tries)
        following = max(1, round(knob * target / mean))
        if abs(best.mean - target) <= tolerance * target or following == knob:
            break
        knob = following
    return best


def _by_bisection(lengths: Lengths, sample: Sequence[Document], target: int, tolerance: float) -> int:
    low, high = (max(1, round(part * target)) for part in _RANGE)
    knob, best = target, (float("inf"), target)
    for _ in range(_TRIES):
        mean = _mean(lengths(sample, knob))
        best = min(best, (abs(mean - target), knob))
        if best[0] <= tolerance / 2 * target or high - low < 2:
            break
        low, high = (knob, high) if mean < target else (low, knob)
        knob = (low + high) // 2
    return best[1]


def _sample(documents: Sequence[Document]) -> Sequence[Document]:
    """Whole documents, evenly spread, of about the length of the sample; one at least."""
    total = sum(len(document.text) for document in documents)
    step = max(1, round(total / _SAMPLE_CHARS))
    chosen = documents[::step] if len(documents) > step else [min(documents, key=lambda one: len(one.text))]
    return chosen or documents[:1]


def _mean(lengths: Sequence[int]) -> float:
    return sum(lengths) / len(lengths)
