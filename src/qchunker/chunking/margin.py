"""Sentences join the chunk before them where a language model would rather keep them there than split.

Source: Meta-Chunking (margin sampling chunking): of two numbered options, split or keep, the difference of their
probabilities decides; the bound is 0, and then the mean of the last scores.

What is not repeated: answers are scored as text that continues the question, whatever tokens a model makes of it, so
no tokenizer needs code of its own; the question shows a bounded stretch, so cost is linear; text is never joined anew;
merging never begins with an empty chunk.
"""

from __future__ import annotations

import math
from collections import deque

from qchunker.chunking.cut_points import CutPoints
from qchunker.config import ChunkingConfig
from qchunker.models.causal_lm import CausalLM
from qchunker.models.load import Models, is_mostly_chinese, lm_for
from qchunker.prompts import Prompt, load_prompt
from qchunker.types import Document, Partition

RECENT = 5
"""Scores whose mean is the bound, as soon as there are so many."""

SHOWN_CHARS = 300
"""The most that a question shows of the chunk, its end, and of the next sentence, its beginning."""

_SPLIT, _KEEP = " 1", " 2"
_DIGITS = 6  # other threads of the same library may sum in another order


def margin(document: Document, config: ChunkingConfig, models: Models) -> Partition:
    """Ask at every sentence whether it begins a chunk, and merge up to the target.

    Args:
        document: to be cut.
        config: sizes. A chunk that has reached the limit ends without a question.
        models: their ``lm`` answers; without one, the default one for the language of the text.

    Raises:
        MissingModelError: if no model is on this machine. ModelError: if it fails.
    """
    places = CutPoints(document, config)
    lm = lm_for(models, document.text)
    prompt = load_prompt("margin", "zh" if is_mostly_chinese(document.text) else "en")
    cuts = [0]
    recent: deque[float] = deque(maxlen=RECENT)
    for number in places.candidates:
        if places.size(cuts[-1], number + 1) > places.room(cuts[-1]):
            cuts.append(number)
            continue
        question = _question(prompt, places.text(cuts[-1], number), places.text(number, number + 1))
        score = keep_margin(lm, question)
        if score <= (sum(recent) / RECENT if len(recent) == RECENT else 0.0):
            cuts.append(number)
        recent.append(score)
    settings = f"lm={lm.id} prompts={prompt.sha256[:8]} recent={RECENT}"
    return places.partition(places.merged(cuts), "margin", settings)


def keep_margin(lm: CausalLM, question: str) -> float:
    """How much likelier ``2`` (keep) is than ``1`` (split) as the answer, as a share of both: from -1 to 1."""
    split, keep = lm.token_logprobs([_SPLIT, _KEEP], [question, question])
    return round(math.tanh((float(keep.sum()) - float(split.sum())) / 2), _DIGITS)


def _question(prompt: Prompt, chunk: str, sentence: str) -> str:
    parts = prompt.fill(chunk=chunk[-SHOWN_CHARS:], sentence=sentence[:SHOWN_CHARS])
    return "\n\n".join(part for part in parts if part)
