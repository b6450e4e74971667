"""Are the cuts where the document has its boundaries? Pk, WindowDiff, and precision and recall of cuts.

Positions count units: characters without white space (``cuts_of``, ``true_cuts``), so that it makes no difference who
owns the blank lines between two chunks, or anything else that both sides count alike, such as sentences.

Text that no chunk holds never helps: each window with such text is an error, both its ends are cuts, and neither is a
right one. So a chunker that drops text can only lose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qchunker.errors import ConfigError, InputError, ScoringError
from qchunker.types import Span

_Counts = npt.NDArray[np.int64]


class Cuts(NamedTuple):
    """Where a document is cut.

    Args:
        length: of the document, in units.
        positions: cuts, sorted, each between 0 and the length, both excluded; p lies before unit p.
        lost: what no chunk holds, sorted and disjoint.
    """

    length: int
    positions: tuple[int, ...]
    lost: tuple[Span, ...] = ()


class CutScore(NamedTuple):
    """Of the cuts made, the share that is right; of the true ones, the share that is found; and the F1 of both."""

    precision: float
    recall: float
    f1: float


def cuts_of(text: str, spans: Iterable[Span]) -> Cuts:
    """Cuts of chunks, in characters that are not white space.

    A chunk is cut from the next where that starts, and where one ends before text that no chunk holds. Chunks may
    overlap, and blank ones are no chunks.

    Raises:
        InputError: if a chunk lies outside of the text.
        ScoringError: if the text is blank.
    """
    inked = _inked_before(text)
    held = []
    for start, end in spans:
        if not 0 <= start <= end <= len(text):
            raise InputError(f"the chunk {start}-{end} lies outside of the text of {len(text)} characters")
        if inked[start] < inked[end]:
            held.append(Span(inked[start], inked[end]))
    lost, at = [], 0
    for start, end in sorted(held):
        if at < start:
            lost.append(Span(at, start))
        at = max(at, end)
    if at < inked[-1]:
        lost.append(Span(at, inked[-1]))
    edges = {span.start for span in held} | {edge for span in lost for edge in span}
    return Cuts(inked[-1], _inner(edges, inked[-1]), tuple(lost))


def true_cuts(text: str, boundaries: Iterable[int]) -> Cuts:
    """The boundaries of a document, given as positions of its text; raises as ``cuts_of``."""
    inked = _inked_before(text)
    positions = list(boundaries)
    if any(not 0 <= position <= len(text) for position in positions):
        raise InputError(f"a boundary lies outside of the text of {len(text)} characters")
    return Cuts(inked[-1], _inner({inked[position] for position in positions}, inked[-1]))


def window_size(true: Cuts) -> int:
    """Half the mean length of the true segments, rounded half up, at least 1 and below the length of the document.

    It is what Pk and WindowDiff use unless told another one. (nltk divides by the number of boundaries, not by that of
    segments, which is one more.)
    """
    half = true.length / (2 * (len(true.positions) + 1))
    return max(1, min(int(half + 0.5), true.length - 1))


def pk(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """Share of pairs of units, k apart, of which one side says that they are in the same segment and the other not.

    Range: 0 to 1, lower is better; about 0.5 for cuts at random. Source: Beeferman et al., 1999.

    Raises:
        ScoringError: if the document has a single unit, or both sides are not of the same length.
        ConfigError: if k is below 1 or not below the length.
    """
    ours, theirs, lost = _windows(true, found, k)
    return float((((ours > 0) != (theirs > 0)) | lost).mean())


def window_diff(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """Share of windows of k neighbouring gaps with another number of cuts than of boundaries.

    Range: 0 to 1, lower is better. Source: Pevzner and Hearst, 2002. Raises as ``pk``.
    """
    ours, theirs, lost = _windows(true, found, k)
    return float(((ours != theirs) | lost).mean())


def cut_score(true: Cuts, found: Cuts, tolerance: int = 0) -> CutScore:
    """Precision, recall and F1 of cuts that lie at most ``tolerance`` units from a boundary, one cut to a boundary.

    Of all ways to pair them one with the most pairs is taken. Without a cut or without a boundary: 1 where there is
    neither, else 0.

    Raises:
        ScoringError: if both sides are not of the same length.
        ConfigError: if the tolerance is negative.
    """
    _check(true, found)
    if tolerance < 0:
        raise ConfigError("tolerance", f"must not be negative, got {tolerance}", hint="0 asks for the exact place")
    if not true.positions and not found.positions:
        return CutScore(1.0, 1.0, 1.0)
    borders = {edge for span in found.lost for edge in span}
    right = _pairs(true.positions, [cut for cut in found.positions if cut not in borders], tolerance)
    precision = right / len(found.positions) if found.positions else 0.0
    recall = right / len(true.positions) if true.positions else 0.0
    return CutScore(precision, recall, 2 * right / (len(found.positions) + len(true.positions)))


def _pairs(true: Sequence[int], found: Sequence[int], tolerance: int) -> int:
    """The most pairs: in sorted order, the first that fits is never worse than a later one."""
    count = at = 0
    for boundary in true:
        while at < len(found) and found[at] < boundary - tolerance:
            at += 1
        if at < len(found) and found[at] <= boundary + tolerance:
            count, at = count + 1, at + 1
    return count


def _windows(true: Cuts, found: Cuts, k: int | None) -> tuple[_Counts, _Counts, npt.NDArray[np.bool_]]:
    """Cuts of both sides between unit i and unit i + k, and whether text is lost there, for all i."""
    _check(true, found)
    if true.length < 2:
        raise ScoringError("a document of one unit has no place for a cut")
    width = window_size(true) if k is None else k
    if not 1 <= width < true.length:
        raise ConfigError("k", f"must lie between 1 and {true.length - 1}, got {width}", hint="leave it out")
    lost = np.zeros(true.length, dtype=np.int64)
    for start, end in found.lost:
        lost[start:end] = 1
    before = np.concatenate([[0], np.cumsum(lost)])
    is_lost = before[width + 1 :] > before[: -width - 1]
    return _counts(true, width), _counts(found, width), is_lost


def _counts(cuts: Cuts, width: int) -> _Counts:
    marks = np.zeros(cuts.length, dtype=np.int64)
    marks[list(cuts.positions)] = 1
    upto = np.cumsum(marks)
    counts: _Counts = upto[width:] - upto[:-width]
    return counts


def _check(true: Cuts, found: Cuts) -> None:
    if true.length != found.length:
        raise ScoringError(f"cuts of {found.length} units against boundaries of {true.length} units")
    for cuts in (true, found):
        inner = all(0 < position < cuts.length for position in cuts.positions)
        if not inner or any(a >= b for a, b in zip(cuts.positions, cuts.positions[1:], strict=False)):
            raise ScoringError("cuts must rise, and lie inside of the document")


def _inked_before(text: str) -> list[int]:
    """Before each position of a text, and at its end: the number of characters that are not white space."""
    counts = [0, *accumulate(not char.isspace() for char in text)]
    if not counts[-1]:
        raise ScoringError("a blank text has no place for a cut")
    return [int(count) for count in counts]


def _inner(positions: Iterable[int], length: int) -> tuple[int, ...]:
    return tuple(sorted({position for position in positions if 0 < position < length}))
