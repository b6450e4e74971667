"""Boundary clarity and chunk stickiness: what a language model says about chunks without a question.

Source: MoC (Zhao et al., 2025), docs/equations.md#ppl-2 for the neutral token that stands before a text without a
context, so that both perplexities of a pair are over the same tokens.

Two forms of the ratio are in use. ``perplexity`` is that of the paper, ppl(q|d) / ppl(q); averaged over the inner
boundaries it is logical independence. ``nll`` is what the authors' code computes, the ratio of the mean negative
log-likelihoods, which lies nearer to 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from qchunker.errors import ConfigError, ScoringError
from qchunker.models.causal_lm import CausalLM
from qchunker.scoring.logical_independence import Progress, boundary_requests, logical_independence
from qchunker.scoring.perplexity import perplexity
from qchunker.types import Span

FORMS = ("perplexity", "nll")
THRESHOLD = 0.8
WINDOW = 8
"""Chunks behind each chunk that it is paired with."""

Pair = tuple[Span, Span]
"""The chunk that is read first (d), and the chunk whose perplexity is taken (q)."""


class PairPerplexity(NamedTuple):
    """Perplexity of a chunk after another one, and alone."""

    after: float
    alone: float

    def ratio(self, form: str = "perplexity") -> float:
        """Near 1 where the other chunk does not help, near 0 where it says everything.

        Raises:
            ConfigError: if there is no such form.
            ScoringError: if the form is ``nll`` and the chunk alone is certain, so that there is nothing to divide by.
        """
        if form not in FORMS:
            raise ConfigError("form", f"unknown: {form!r}", hint=f"use one of {', '.join(FORMS)}")
        if form == "perplexity":
            return self.after / self.alone
        if self.alone == 1.0:
            raise ScoringError("a chunk that is certain alone has no ratio of negative log-likelihoods")
        return math.log(self.after) / math.log(self.alone)


class Clarity(NamedTuple):
    """Mean ratio over the inner boundaries, higher is better, and the ratio at each."""

    value: float
    boundaries: tuple[float, ...]


class Stickiness(NamedTuple):
    """Structural entropy in bits, lower is better, of the chunks that need each other.

    Args:
        value: 0 where no edge is left; at most log2 of the number of chunks.
        n_edges: that are above the threshold.
        n_pairs: that were read.
    """

    value: float
    n_edges: int
    n_pairs: int


def boundary_clarity(
    text: str, spans: Sequence[Span], lm: CausalLM, *, form: str = "perplexity", progress: Progress | None = None
) -> Clarity:
    """How little each chunk is helped by the one before.

    Args:
        text: of the document.
        spans: its chunks, in order.
        lm: the language model; each chunk is read about twice.
        form: see the module.
        progress: told after every batch.

    Raises:
        ScoringError: if there is one chunk only, or a chunk has no token.
        ModelError: if the model fails.
    """
    pairs = list(pairwise(spans))
    read = pair_perplexities(text, pairs, lm, progress)
    boundaries = tuple(read[pair].ratio(form) for pair in pairs)
    return Clarity(logical_independence(boundaries), boundaries)


def chunk_pairs(spans: Sequence[Span], *, window: int | None = WINDOW, complete: bool = True) -> list[Pair]:
    """The ordered pairs of chunks that stickiness looks at.

    Args:
        spans: chunks of one document, in order.
        window: how many chunks behind it a chunk is paired with, so that the cost is linear in the document; None for
            all, as published, which takes quadratic time.
        complete: both directions of each pair; else only later chunks after earlier ones, as in the incomplete graph
            of the paper.

    Raises:
        ConfigError: if the window is below 1.
    """
    if window is not None and window < 1:
        raise ConfigError("window", f"must be 1 or above, got {window}", hint="None pairs all chunks")
    pairs = []
    for at, before in enumerate(spans):
        for after in spans[at + 1 : None if window is None else at + 1 + window]:
            pairs += [(before, after), (after, before)] if complete else [(before, after)]
    return pairs


def chunk_stickiness(
    text: str,
    spans: Sequence[Span],
    lm: CausalLM,
    *,
    complete: bool = True,
    window: int | None = WINDOW,
    threshold: float = THRESHOLD,
    form: str = "perplexity",
    progress: Progress | None = None,
) -> Stickiness:
    """How many chunks cannot be read without others, and how evenly that is spread.

    Args:
        text: of the document.
        spans: its chunks, in order.
        lm: the language model; each chunk is read about ``window`` times, or twice that for the complete graph.
        complete: see ``chunk_pairs``.
        window: see ``chunk_pairs``.
        threshold: of the edges, see ``stickiness``.
        form: see the module.
        progress: told after every batch.

    Raises:
        ScoringError: if there is one chunk only, or a chunk has no token.
        ModelError: if the model fails.
    """
    if len(spans) < 2:
        raise ScoringError("one chunk sticks to nothing")
    read = pair_perplexities(text, chunk_pairs(spans, window=window, complete=complete), lm, progress)
    return stickiness({pair: 1 - found.ratio(form) for pair, found in read.items()}, threshold)


def stickiness(edges: Mapping[Pair, float], threshold: float = THRESHOLD) -> Stickiness:
    """Structural entropy of the graph of the edges above a threshold: -sum h / 2m * log2(h / 2m).

    h is the number of edges at a chunk and m that of all edges; each ordered pair is an edge of its own.
    At the published threshold nothing may be left: of 156 pairs of English chunks, read by a model of 135 million
    parameters, none was above 0.8 and about half were below 0.3. Report ``n_edges``, and compare only at a threshold
    that keeps some; where nearly all are kept the entropy is about log2 of the number of chunks, whatever they say.

    Args:
        edges: (ppl(q) - ppl(q|d)) / ppl(q) by pair: 1 where d says everything that q says, 0 where it does not help.
        threshold: edges above it are kept, as the text of the paper says. The authors' code keeps the pairs whose
            *ratio* is above it, which are those that do not need each other, so its numbers are of another graph.
    """
    kept = [pair for pair, edge in edges.items() if edge > threshold]
    degrees = Counter(chunk for pair in kept for chunk in pair)
    ends = 2 * len(kept)
    entropy = -math.fsum(degree / ends * math.log2(degree / ends) for degree in degrees.values())
    return Stickiness(entropy + 0.0, len(kept), len(edges))


def pair_perplexities(
    text: str, pairs: Iterable[Pair], lm: CausalLM, progress: Progress | None = None
) -> dict[Pair, PairPerplexity]:
    """Perplexity of the second span of each pair, after the first and alone.

    Raises:
        ScoringError: if a chunk has no token or the model gives a token no probability.
        ModelError: if the model fails.
    """
    wanted = sorted(set(pairs))
    found: dict[tuple[Span | None, Span], float] = {}
    batches = list(boundary_requests(wanted))
    total = sum(map(len, batches))
    for batch in batches:
        texts = [text[slice(*chunk)] for _, chunk in batch]
        contexts = [text[slice(*before)] if before else None for before, _ in batch]
        logprobs = lm.token_logprobs(texts, contexts)
        found.update(zip(batch, map(perplexity, logprobs), strict=True))
        if progress is not None:
            progress("reading pairs of chunks", len(found), total)
    return {(before, chunk): PairPerplexity(found[before, chunk], found[None, chunk]) for before, chunk in wanted}
