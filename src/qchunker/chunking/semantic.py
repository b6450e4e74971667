"""Cuts where neighbouring sentences differ most in meaning.

Source: the semantic splitters of LlamaIndex and LangChain (each sentence is embedded with one neighbour on either side,
and cut where the distance to the next is above a percentile), the paper's Similarity Chunking (Appendix B).

What is not repeated: text between sentences is not lost or joined anew; chunks have a limit; ends of sentences are
found in Chinese too; and the percentile is not tuned by hand for a length: by default there are as many cuts as give
the target as mean length.
"""

from __future__ import annotations

import numpy as np

from qchunker.chunking.cut_points import CutPoints
from qchunker.config import ChunkingConfig
from qchunker.errors import ConfigError
from qchunker.models.embedder import Embedder
from qchunker.models.load import Models
from qchunker.types import Document, Partition

BUFFER = 1
"""Neighbours on either side that a sentence is embedded with."""

_DIGITS = 6  # other threads of the same library may sum in another order


def semantic(
    document: Document, config: ChunkingConfig, models: Models, *, percentile: float | None = None
) -> Partition:
    """Cut at the greatest distances between neighbouring sentences.

    Args:
        document: to be cut.
        config: sizes. Of two equal distances the first one counts as greater.
        models: the embedder of these is used.
        percentile: cuts lie at distances above this percentile of all distances, from 0 to 100; the target then only
            decides over the limit. None chooses the number of cuts by the target.

    Raises:
        ConfigError: if the percentile is none. ModelError: if the embedder fails.
    """
    if percentile is not None and not 0 <= percentile <= 100:
        raise ConfigError("percentile", f"must be between 0 and 100, got {percentile!r}")
    places = CutPoints(document, config)
    distances = distances_before(places, models.embedder)
    if percentile is None:
        cuts = _as_many_as_the_target_asks(places, sorted(distances, key=lambda unit: -distances[unit]))
    else:
        bound = np.percentile(list(distances.values()), percentile) if distances else 0.0
        cuts = [unit for unit, distance in distances.items() if distance > bound]
    knob = "target" if percentile is None else f"{percentile:g}"
    return places.partition(cuts, "semantic", f"embedder={models.embedder.id} buffer={BUFFER} percentile={knob}")


def distances_before(places: CutPoints, embedder: Embedder) -> dict[int, float]:
    """For each unit that a chunk may begin with, the cosine distance between it and the one before.

    Each of the two is embedded with its neighbours, so that one short sentence decides nothing.
    """
    n = len(places.units)
    if n < 2:
        return {}
    texts = [places.text(max(0, number - BUFFER), min(n, number + BUFFER + 1)) for number in range(n)]
    vectors = embedder.encode(texts).astype(np.float64)
    distances = np.round(1 - np.sum(vectors[:-1] * vectors[1:], axis=1), _DIGITS)
    return {unit: float(distances[unit - 1]) for unit in places.candidates}


def _as_many_as_the_target_asks(places: CutPoints, ordered: list[int]) -> list[int]:
    """The first of the ordered cuts, as many as bring the mean length nearest to the target.

    The limit adds cuts and the least size takes some away, so that their number alone does not tell.
    """
    wanted = max(1, round(places.size(0, len(places.units)) / places.aim))
    low, high = 0, len(ordered)  # as many as possible, so that few are left to the limit
    while low < high:
        middle = (low + high + 1) // 2
        if len(places.pieces(ordered[:middle])) <= wanted:
            low = middle
        else:
            high = middle - 1
    more = min(len(ordered), low + 1)
    off = {n: abs(len(places.pieces(ordered[:n])) - wanted) for n in (low, more)}
    return ordered[: min(off, key=lambda n: (off[n], n))]
