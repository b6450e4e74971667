"""What a language model is to this package, and how many texts become few passes over it.

A text is tokenised on its own. Without a context it follows one neutral token; with a context, the neutral token and
the tokens of the context stand before it, joined without tokenising anew. So both values are over the same tokens, and
the pass that reads a pair of chunks gives two of them: the first chunk alone, and the second after the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from qchunker.errors import ModelOutputError, ScoringError
from qchunker.models.batching import batches_by_length

Logprobs = npt.NDArray[np.float64]
Ids = tuple[int, ...]

PIECE_TOKENS = 1024
"""Tokens of a text that are scored together."""

WINDOW_TOKENS = 3072
"""The most tokens that stand before a piece. Up to this length, a text is read once for all its pieces."""

BATCH_TOKENS = 4096
"""Tokens of one call to a model, padding included."""


class CausalLM(Protocol):
    """Texts to log-probabilities of their tokens."""

    @property
    def id(self) -> str:
        """Name and version: everything the numbers depend on."""

    @property
    def languages(self) -> frozenset[str]:
        """Languages it can be trusted with: ``en``, ``zh``."""

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        """Natural log-probability of every token of each text, after its context.

        Shapes: gives one (T_i,) array per text; T_i does not depend on the context.
        Raises: ScoringError: if a text has no token. ModelError: if the model fails.
        """

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        """Tokens the model would read for ``token_logprobs`` of the same arguments; nothing is run."""


class Passes(NamedTuple):
    """Token sequences to run, and where the answers are in them.

    ``answers[i]`` lists, for text i, (sequence, first token, one past the last token).
    """

    sequences: list[Ids]
    answers: list[list[tuple[int, int, int]]]

    @property
    def cost(self) -> int:
        return sum(map(len, self.sequences))


def plan_passes(
    texts: Sequence[Ids],
    contexts: Sequence[Ids],
    neutral: int,
    piece: int = PIECE_TOKENS,
    window: int = WINDOW_TOKENS,
) -> Passes:
    """Few sequences that hold every answer: a sequence that another one begins with is not run.

    A text longer than ``piece`` tokens is scored piece by piece, each after at most ``window`` tokens, so that the cost
    is linear. The context stands before the first piece; before the others stands the text itself, so their values are
    the same with and without a context, and are read once.

    Source: docs/equations.md#ppl-2 (the neutral token), docs/equations.md#ppl-3 (pieces).

    Raises:
        ScoringError: if a text has no token.
    """
    needs: list[tuple[int, Ids, int]] = []
    for index, (ids, context) in enumerate(zip(texts, contexts, strict=True)):
        if not ids:
            raise ScoringError("a text without tokens has no perplexity")
        for start in range(0, len(ids), piece):
            before = ids[max(0, start - window) : start] if start else context[-window:]
            scored = ids[start : start + piece]
            needs.append((index, (neutral, *before, *scored), len(scored)))
    # In sorted order a sequence stands directly before those that begin with it.
    ordered = sorted({sequence for _, sequence, _ in needs})
    kept: list[Ids] = []
    place: dict[Ids, int] = {}
    for sequence, following in zip(ordered, [*ordered, ()][1:], strict=True):
        place[sequence] = len(kept)
        if following[: len(sequence)] != sequence:
            kept.append(sequence)
    answers: list[list[tuple[int, int, int]]] = [[] for _ in texts]
    for index, sequence, n_scored in needs:
        answers[index].append((place[sequence], len(sequence) - n_scored, len(sequence)))
    return Passes(kept, answers)


def run_passes(passes: Passes, forward: Callable[[Sequence[Ids]], list[Logprobs]], model: str) -> list[Logprobs]:
    """The answers of a plan.

    Args:
        passes: the plan.
        forward: log-probabilities of all tokens but the first, for sequences of about the same length.
        model: for error messages.

    Raises:
        ModelOutputError: if the model gives a wrong number of values.
    """
    values: dict[int, Logprobs] = {}
    for batch in batches_by_length([len(sequence) for sequence in passes.sequences], BATCH_TOKENS):
        sequences = [passes.sequences[i] for i in batch]
        found = forward(sequences)
        if len(found) != len(batch):
            raise ModelOutputError(model, f"gave {len(found)} answers for {len(batch)} texts")
        for i, logprobs in zip(batch, found, strict=True):
            wanted = len(passes.sequences[i]) - 1
            if logprobs.shape != (wanted,):
                raise ModelOutputError(model, f"gave {logprobs.size} log-probabilities for {wanted} tokens")
            values[i] = logprobs
    # Position t of a sequence is predicted by value t - 1.
    return [
        np.concatenate([values[sequence][first - 1 : last - 1] for sequence, first, last in places])
        for places in passes.answers
    ]
