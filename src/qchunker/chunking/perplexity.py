"""Cuts behind sentences that are easier to read than those around them.

Source: Meta-Chunking (perplexity chunking with dynamic merging). A minimum of the mean token loss says that what came
before makes a sentence expected; it ends its chunk.

What is not repeated: sentences are not shortened and keep what stands between them; closing quotation marks stay with
their sentence; the first sentence has its first token; no model-specific cache is evicted, each sentence is read after
a bounded stretch of text, so cost is linear and any model will do; merging never begins with an empty chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from qchunker.chunking.cut_points import CutPoints
from qchunker.config import ChunkingConfig
from qchunker.errors import ConfigError
from qchunker.models.causal_lm import CausalLM
from qchunker.models.load import Models, lm_for
from qchunker.types import Document, Partition

CONTEXT_CHARS, KEPT_CHARS = 2_000, 500
"""The most text that a sentence is read after, and what is kept of it where it grows longer: a third is read twice.

Characters beyond ASCII count three times: to a model that knows little of their script each is up to three tokens, and
a context that is longer than a model looks back is cut at another place for every sentence, and read anew.
"""

_WEIGHT = 3  # of a character beyond ASCII
_DIGITS = 6  # other threads of the same library may sum in another order


def perplexity(document: Document, config: ChunkingConfig, models: Models, *, threshold: float = 0.0) -> Partition:
    """Cut behind minima of the mean token loss, and merge up to the target.

    Args:
        document: to be cut.
        config: sizes.
        models: their ``lm`` reads; without one, the default one for the language of the text.
        threshold: nats by which a minimum must lie below a neighbour; length is set by the target, not by this.

    Raises:
        ConfigError: if the threshold is negative. MissingModelError: if no model is on this machine.
        ModelError: if it fails.
    """
    if not threshold >= 0:
        raise ConfigError("threshold", f"must not be negative, got {threshold!r}")
    places = CutPoints(document, config)
    lm = lm_for(models, document.text)
    cuts = [behind + 1 for behind in minima(sentence_losses(places, lm), threshold)]
    settings = f"lm={lm.id} threshold={threshold:g} context={CONTEXT_CHARS},{KEPT_CHARS},{_WEIGHT}"
    return places.partition(places.merged(cuts), "perplexity", settings)


def sentence_losses(places: CutPoints, lm: CausalLM) -> list[float]:
    """Mean negative log-probability of the tokens of each unit after the text before it, in nats.

    Shapes: one number per unit.
    """
    texts = list(_readings(places))
    found = lm.token_logprobs(texts, _contexts(texts))
    return [round(-float(logprobs.mean()), _DIGITS) for logprobs in found]


def minima(losses: Sequence[float], threshold: float = 0.0) -> list[int]:
    """Sentences that end a chunk: lower than both neighbours, by the threshold on one side at least.

    Where the next one is as low, the fall to the first of them decides alone. The first and the last are none.
    """
    found = []
    for at in range(1, len(losses) - 1):
        fall, rise = losses[at - 1] - losses[at], losses[at + 1] - losses[at]
        if fall > 0 and ((rise > 0 and max(fall, rise) >= threshold) or (rise == 0 and fall >= threshold)):
            found.append(at)
    return found


def _readings(places: CutPoints) -> Iterator[str]:
    """The text of each unit, with one blank or line end where white space stands before it.

    As the blank belongs to the token behind it, contexts continue each other token by token, and are read once.
    """
    end = 0
    for number, unit in enumerate(places.units):
        gap = places.document.text[end : unit.start] if number else ""
        yield ("\n" if "\n" in gap or "\r" in gap else " " if gap else "") + places.text(number, number + 1)
        end = unit.end


def _contexts(texts: Sequence[str]) -> list[str | None]:
    """What stands before each text. Neighbours share its beginning, which moves on when there is too much of it."""
    ends = list(accumulate(map(_weight, texts), initial=0))
    contexts: list[str | None] = []
    first = 0
    for number in range(len(texts)):
        if ends[number] - ends[first] > CONTEXT_CHARS:
            while first < number - 1 and ends[number] - ends[first] > KEPT_CHARS:
                first += 1
        contexts.append("".join(texts[first:number])[-CONTEXT_CHARS:] or None)
    return contexts


def _weight(text: str) -> int:
    return len(text) if text.isascii() else sum(1 if char.isascii() else _WEIGHT for char in text)
