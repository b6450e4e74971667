"""What methods share that ask a language model where to cut: prompts, windows, and what is left to the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from qchunker.alignment import Anchor, FoldedText, Place, anchored_places
from qchunker.asking import Answered, Units
from qchunker.chunking.cut_points import CutPoints
from qchunker.config import LLMConfig
from qchunker.errors import ConfigError, ModelOutputError
from qchunker.models.llm import LLM, Request, Tally
from qchunker.models.load import Models, is_mostly_chinese
from qchunker.prompts import Prompt, load_prompt
from qchunker.types import Document

REPLY_TOKENS = LLMConfig().reply_tokens
_LEAST_FOUND = 0.5  # share of the chunks of a reply that must be found in the text


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A language model that is asked about one document.

    Args:
        llm: any model.
        prompts: by name, in the language of the document.
        tally: of what happened.
    """

    llm: LLM
    prompts: Mapping[str, Prompt]
    tally: Tally

    @property
    def repair(self) -> Prompt:
        return self.prompts["repair"]

    @property
    def settings(self) -> str:
        """Everything of the model and its prompts that results depend on."""
        digest = "".join(prompt.sha256[:4] for _, prompt in sorted(self.prompts.items()))
        return f"llm={self.llm.id} prompts={digest}"

    def request(
        self, name: str, schema: Mapping[str, Any] | None, max_tokens: int = REPLY_TOKENS, **values: str
    ) -> Request:
        """What is asked, without chance."""
        system, shared, own = self.prompts[name].fill(**values)
        return Request(system, f"{shared}\n\n" if shared else "", own, max_tokens, schema)


def inquiry(method: str, names: Sequence[str], document: Document, models: Models) -> Inquiry:
    """The model of a method with its prompts.

    Raises:
        ConfigError: if there is no model.
    """
    if models.llm is None:
        hint = "give --llm, or chunk(..., models=Models(embedder, llm=load_llm(...)))"
        raise ConfigError("llm", f"the method {method} asks a language model, and there is none", hint=hint)
    language = "zh" if is_mostly_chinese(document.text) else "en"
    prompts = {name: load_prompt(name, language) for name in (*names, "repair")}
    return Inquiry(models.llm, prompts, models.tally)


def windows_of(places: CutPoints, most: int) -> list[Units]:
    """The units of a document in stretches of at most a size, about equally long, parted at strong boundaries."""
    starts = places.packed(0, len(places.units), most)
    return [tuple(range(first, stop)) for first, stop in pairwise([*starts, len(places.units)])]


def anchored(places: CutPoints, units: Units, anchors: Sequence[Anchor], model: str) -> tuple[FoldedText, list[Place]]:
    """Where the chunks of a reply start in the units that it is about.

    Raises:
        ModelOutputError: if fewer than half of them are there.
    """
    text = FoldedText(places.document.text, places.span(units[0], units[-1] + 1))
    found = anchored_places(text, anchors)
    if not found or len(found) < _LEAST_FOUND * len(anchors):
        reason = f"the text has the words of {len(found)} of {len(anchors)} chunks"
        raise ModelOutputError(model, reason if anchors else "no chunk in the reply")
    return text, found


def cuts_in(
    places: CutPoints, windows: Sequence[Units], answers: Sequence[Sequence[Answered[list[int]]]], tally: Tally
) -> list[int]:
    """The cuts of all windows; what no answer is about is cut by the rules, and counted."""
    cuts: list[int] = []
    for window, parts in zip(windows, answers, strict=True):
        cuts += [window[0], *(cut for part in parts for cut in part.value)]
        answered = {unit for part in parts for unit in part.units}
        left = [unit for unit in window if unit not in answered]
        tally.counts["windows cut by rules"] += bool(left)
        for run in _runs(left):
            cuts += places.packed(run[0], run[-1] + 1, places.aim)
    return cuts


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers that follow each other, together."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
