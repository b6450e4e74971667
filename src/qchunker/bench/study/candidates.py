"""Direct scores: numbers of one partition of one section, made without any question; higher is meant to be better.

They use vectors of sentences. The vector of a chunk is the sum of those of its sentences, each by the share of it that
the chunk has, so that thousands of partitions cost no further pass of the encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from qchunker.bench.metrics.cohesion import boundary_clarity, chunk_stickiness
from qchunker.bench.study.sections import Floats, Section
from qchunker.models.causal_lm import CausalLM
from qchunker.scoring.boundary_evidence import boundary_evidence
from qchunker.scoring.chunkscore import chunk_score
from qchunker.scoring.logical_independence import independence_at, logical_independence
from qchunker.scoring.semantic_dispersion import semantic_dispersion
from qchunker.types import Span

Spans = Sequence[Span]
Candidate = Callable[[Section, Spans], float]


def evidence(section: Section, spans: Spans) -> float:
    """Mean boundary evidence at the cuts: structure first, then distance in meaning and in words."""
    return boundary_evidence(section.evidence, spans)


def even_lengths(section: Section, spans: Spans) -> float:
    """Minus the squared coefficient of variation of the lengths."""
    lengths = np.array([span.end - span.start for span in spans], dtype=np.float64)
    return -float(lengths.var() / lengths.mean() ** 2)


def cohesion(section: Section, spans: Spans) -> float:
    """Mean cosine of sentences with the chunk that holds most of them."""
    alike, own = _alike(section, spans)
    return float(alike[own, np.arange(len(own))].mean())


def margin(section: Section, spans: Spans) -> float:
    """Mean of how much nearer sentences are to their own chunk than to the nearer of its two neighbours."""
    alike, own = _alike(section, spans)
    columns = np.arange(len(own))
    beside = np.full((2, len(own)), -np.inf)
    beside[0, own > 0] = alike[own[own > 0] - 1, columns[own > 0]]
    last = len(spans) - 1
    beside[1, own < last] = alike[own[own < last] + 1, columns[own < last]]
    return float((alike[own, columns] - beside.max(axis=0)).mean())


def apart(section: Section, spans: Spans) -> float:
    """Minus the mean cosine of neighbouring chunks."""
    chunks = _unit(section.shares(spans) @ section.vectors)
    return -float(np.mean([one @ other for one, other in pairwise(chunks)]))


def held_out(section: Section, spans: Spans) -> float:
    """Mean reciprocal rank of a sentence's own chunk, without the sentence, among all chunks, with it as the question.

    A sentence that is alone in its chunk is nowhere else, and scores 0.
    """
    shares = section.shares(spans)
    sums = shares @ section.vectors
    own = shares.argmax(axis=0)
    total = 0.0
    units = _unit(sums)
    for number, vector in enumerate(section.vectors):
        rest = sums[own[number]] - shares[own[number], number] * vector
        size = float(np.linalg.norm(rest))
        if size < 1e-6:
            continue
        scores = units @ vector
        mine = float(rest @ vector) / size
        total += 1 / (1 + int((np.delete(scores, own[number]) > mine).sum()))
    return total / len(section.vectors)


def dispersion(section: Section, spans: Spans) -> float:
    """Semantic dispersion of ChunkScore, with vectors of whole chunks."""
    texts = [section.document.text[slice(*span)] for span in spans]
    return semantic_dispersion(section.embedder.encode(texts))


CANDIDATES: Mapping[str, Candidate] = {
    "SD": dispersion,
    "boundary evidence": evidence,
    "even lengths": even_lengths,
    "cohesion": cohesion,
    "margin": margin,
    "neighbours apart": apart,
    "held-out sentences": held_out,
}
"""Those that need no language model."""


def lm_candidates(lm: CausalLM, window: int = 1) -> dict[str, Candidate]:
    """Those that a language model reads for: LI and ChunkScore, boundary clarity and chunk stickiness of MoC.

    Stickiness looks at neighbours only, which costs nothing more than LI; more of them would take longer than all else.
    """

    def independence(section: Section, spans: Spans) -> float:
        pairs = list(pairwise(spans))
        read = independence_at(section.document.text, pairs, lm)
        return logical_independence([read[pair] for pair in pairs])

    def chunkscore(section: Section, spans: Spans) -> float:
        return chunk_score(independence(section, spans), dispersion(section, spans))

    def clarity(section: Section, spans: Spans) -> float:
        return boundary_clarity(section.document.text, spans, lm, form="nll").value

    def stickiness(section: Section, spans: Spans) -> float:
        return -chunk_stickiness(section.document.text, spans, lm, window=window, complete=False).value

    return {"LI": independence, "ChunkScore": chunkscore, "boundary clarity": clarity, "low stickiness": stickiness}


def _alike(section: Section, spans: Spans) -> tuple[Floats, np.ndarray]:
    """Cosines (chunks, sentences), and which chunk has most of each sentence."""
    shares = section.shares(spans)
    return _unit(shares @ section.vectors) @ section.vectors.T, shares.argmax(axis=0)


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms == 0, 1, norms)
