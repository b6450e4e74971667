"""Boundary evidence: do chunks end where the text itself has an end? A score of cuts that needs no language model.

Each possible cut has evidence: a heading, a blank line or a line end behind it, the distance in meaning and in words
between the texts on both sides, less where the sentence behind is bound to the one before (docs/equations.md#seg-1).
The score of a partition is its mean over the inner cuts.

How far to trust it (docs/results.md): across eight to ten chunkers of equal mean length its Pearson correlation with
reciprocal rank in hybrid search was .66 to .92 in nine of ten runs on three sets in two languages, .35 in the tenth
(Chinese news); SD of ChunkScore had -.14 to .60. Among random partitions of a section the rank correlation was +.10
to +.13 (123 sections, p below .005): enough to tell chunkers apart, not to choose the partition of a document. It is
what ``qchunker`` maximises, so it is no independent judge of that method. It says nothing of how long chunks should
be: compare at equal mean length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from qchunker.errors import ScoringError
from qchunker.types import Span

NO_EVIDENCE = -1.0
"""Of a cut where no rule would cut, such as inside a sentence."""


def boundary_evidence(evidence: Mapping[int, float], spans: Sequence[Span]) -> float:
    """Mean evidence at the starts of all chunks but the first; higher is better.

    Args:
        evidence: of every possible cut, by its place in the text.
        spans: of the chunks, in order.

    Range: about -1 to 6 with the default weights; 0 is the end of a sentence with nothing more to say for it.

    Raises:
        ScoringError: if there is one chunk only, and so no cut.
    """
    if len(spans) < 2:
        raise ScoringError("one chunk has no inner cut", hint="score documents that are cut")
    return fsum(evidence.get(span.start, NO_EVIDENCE) for span in spans[1:]) / (len(spans) - 1)
