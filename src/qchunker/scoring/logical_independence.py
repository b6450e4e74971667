"""Logical independence: does the chunk before help to predict a chunk? (QChunker 3.3.1)"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from qchunker.errors import ScoringError
from qchunker.models.causal_lm import CausalLM
from qchunker.scoring.perplexity import Floats, perplexity
from qchunker.types import Span

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

_Request = tuple[Span | None, Span]
_BATCH_REQUESTS = 64


def boundary_independence(conditional: Floats, unconditional: Floats) -> float:
    """Perplexity of a chunk after the one before, over its perplexity alone.

    Shapes: both (T,), natural logarithms over the same T tokens of the chunk; only what stands before differs.
    Range: above 0. Near 1: the chunk before does not help. Above 1: it misleads; not clamped.
    Raises: ScoringError: if the numbers of tokens differ, are 0, or a value is not finite.
    Source: QChunker 3.3.1, docs/equations.md#li-1.
    """
    if conditional.shape != unconditional.shape:
        raise ScoringError(
            f"logical independence over different tokens: {conditional.size} after a text, {unconditional.size} alone"
        )
    return perplexity(conditional) / perplexity(unconditional)


def logical_independence(boundaries: Sequence[float]) -> float:
    """Arithmetic mean over the inner boundaries of a partition.

    Shapes: boundaries (K - 1,), from ``boundary_independence``, in any order.
    Degenerate: one chunk has no inner boundary.
    Raises: ScoringError: if there is no boundary.
    Source: QChunker 3.3.1, docs/equations.md#li-2.
    """
    if not boundaries:
        raise ScoringError("one chunk has no inner boundary, so it has no logical independence")
    return math.fsum(boundaries) / len(boundaries)


def independence_at(
    text: str, pairs: Iterable[tuple[Span, Span]], lm: CausalLM, progress: Progress | None = None
) -> dict[tuple[Span, Span], float]:
    """Logical independence of the second span of each pair, after the first.

    Args:
        text: that the spans point into.
        pairs: neighbouring chunks, of one partition or of many.
        lm: the language model; it reads a pair once and gets both values that the pair contributes to.
        progress: told after every batch.

    Raises:
        ScoringError: if a chunk has no token or the model gives a token no probability.
    """
    wanted = sorted(set(pairs))
    logprobs: dict[_Request, Floats] = {}
    values: dict[tuple[Span, Span], float] = {}
    batches = list(boundary_requests(wanted))
    total = sum(map(len, batches))
    if progress is not None:
        progress("reading boundaries", 0, total)
    for batch in batches:
        texts = [text[slice(*chunk)] for _, chunk in batch]
        contexts = [text[slice(*before)] if before else None for before, _ in batch]
        logprobs.update(zip(batch, lm.token_logprobs(texts, contexts), strict=True))
        if progress is not None:
            progress("reading boundaries", len(logprobs), total)
    for before, chunk in wanted:
        values[before, chunk] = boundary_independence(logprobs[before, chunk], logprobs[None, chunk])
    return values


def boundary_requests(pairs: Iterable[tuple[Span, Span]]) -> Iterator[list[_Request]]:
    """What the language model must read for some boundaries: (before or None, chunk), in batches.

    What starts at the same place comes together, so that the model reads a common beginning once.
    """
    requests: set[_Request] = set()
    for before, chunk in pairs:
        requests |= {(before, chunk), (None, chunk)}
    batch: list[_Request] = []
    last_start = -1
    for request in sorted(requests, key=_place):
        start = _place(request)[0]
        if len(batch) >= _BATCH_REQUESTS and start != last_start:
            yield batch
            batch = []
        batch.append(request)
        last_start = start
    if batch:
        yield batch


def _place(request: _Request) -> tuple[int, int, int]:
    before, chunk = request
    return (before or chunk).start, (before or chunk).end, chunk.end if before else 0
