"""A language model writes the chunks of a text out; only where they begin is believed.

Source: the direct chunking by Qwen2.5-14B and Qwen3-14B that the paper compares with.

What is not repeated: what a model writes is never taken for the text, so a paraphrase, an addition or a gap changes
nothing but where cuts are; text behind the last chunk that was written, whether the reply was cut off or just ends, is
asked for again and in the end cut by the rules; long documents are read in windows instead of being cut off.
"""

from __future__ import annotations

from qchunker.alignment import anchors_of
from qchunker.asking import Answered, Task, Units, ask
from qchunker.chunking.asked import Inquiry, anchored, cuts_in, inquiry, windows_of
from qchunker.chunking.cut_points import CutPoints
from qchunker.config import ChunkingConfig
from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError, without_thoughts
from qchunker.models.llm import Completion, Request
from qchunker.models.load import Models
from qchunker.models.metered import estimated_tokens
from qchunker.types import Document, Partition

WINDOW_CHARS = 3_000
"""The most text of one request, or four times the target."""

_SPARE_TOKENS = 512


def direct(document: Document, config: ChunkingConfig, models: Models) -> Partition:
    """Let a language model copy the text into chunks, and cut where they begin.

    Args:
        document: to be cut.
        config: sizes. Chunks under half of the target are joined to their neighbour if both fit into it.
        models: their ``llm`` is asked.

    Raises:
        ConfigError: if there is no language model. ModelError: if no request can succeed. BudgetError: if the run has
            spent what it may.
    """
    asked = inquiry("llm", ["direct"], document, models)
    places = CutPoints(document, config)
    window = max(WINDOW_CHARS, 4 * places.aim)
    windows = windows_of(places, window)
    open_ones = [one for one in windows if len(one) > 1]
    answers = ask(asked.llm, [_task(places, one, asked) for one in open_ones], asked.repair, asked.tally)
    cuts = [one[0] for one in windows] + cuts_in(places, open_ones, answers, asked.tally)
    return places.partition(places.without_small(cuts), "llm", f"{asked.settings} window={window}")


def _task(places: CutPoints, window: Units, asked: Inquiry) -> Task[list[int]]:
    def make(units: Units) -> Request:
        text = places.text(units[0], units[-1] + 1)
        return asked.request(
            "direct", None, _SPARE_TOKENS + 3 * estimated_tokens(text) // 2,
            text=text, target=str(places.aim), limit=str(places.config.limit),
        )  # fmt: skip

    def read(units: Units, reply: Completion) -> Answered[list[int]]:
        return _read(places, units, reply, asked)

    return Task(window, make, read)


def _read(places: CutPoints, units: Units, reply: Completion, asked: Inquiry) -> Answered[list[int]]:
    """The cuts in a reply, and the units that it is about: those up to the end of the last chunk that it holds."""
    anchors = anchors_of(without_thoughts(reply.text))
    if reply.is_cut and not anchors:
        raise CutReplyError(asked.llm.id, "the reply is cut off before its first chunk")
    text, found = anchored(places, units, anchors, asked.llm.id)
    cuts = [places.nearest(place.start, units) for place in found]
    last = found[-1]
    stop = units[-1] + 1
    if reply.is_cut:
        stop = cuts[-1]  # the last chunk may be half there
        if stop == units[0]:
            # There was room for a copy, so that more of it would not help.
            raise ModelOutputError(asked.llm.id, "the reply goes on without an end")
    elif tail := text.find(anchors[last.anchor].tail, last.start):
        covered = [unit for unit in units if places.units[unit].start < tail.end]
        if places.size(covered[-1] + 1, stop) > places.aim:
            stop = covered[-1] + 1
    return Answered(tuple(unit for unit in units if unit < stop), [cut for cut in cuts if cut < stop])
