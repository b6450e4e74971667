"""A language model reads numbered paragraphs and says where the content shifts; there the next chunk begins.

Source: LumberChunker. Its windows of 550 tokens gave chunks of about two thirds of that, so a window holds one and a
half times the target.

What is not repeated: documents are not run together; the paragraph at which content shifts opens the next window; the
end of a document is read like the rest; every answer is checked, and one that cannot be used (no number, the first
paragraph, one that is not shown) is asked for once more and then replaced by the cut of the rules in that window, and
counted. Every window moves on by a quarter of the target at least, so that calls are bounded whatever is answered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from qchunker.asking import Answered, Task, Units, ask
from qchunker.chunking.asked import Inquiry, inquiry
from qchunker.chunking.cut_points import CutPoints
from qchunker.chunking.packing import ITEM
from qchunker.config import ChunkingConfig
from qchunker.models.json_output import read_json
from qchunker.models.llm import Completion, Request
from qchunker.models.load import Models, is_mostly_chinese
from qchunker.types import Document, Partition

SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"],
          "additionalProperties": False}  # fmt: skip
WINDOW_SHARE = 1.5
"""Length of a window, in targets."""

_LEAST = 0.25  # of the target, in every chunk
_PARAGRAPH_SHARE = 0.25  # of a window; a longer paragraph is shown in parts, or there would be nothing to choose from


class Paragraph(NamedTuple):
    """Units ``[first, stop)`` that are shown under one number."""

    first: int
    stop: int


def lumber(document: Document, config: ChunkingConfig, models: Models) -> Partition:
    """Ask, window by window, where the content shifts for the first time.

    Args:
        document: to be cut. Chinese text is numbered by sentences, as in the Chinese port of the source; other text by
            paragraphs, long ones in parts.
        config: sizes. Chunks under half of the target are joined to their neighbour if both fit into it.
        models: their ``llm`` is asked, one window after the other.

    Raises:
        ConfigError: if there is no language model. ModelError: if no request can succeed. BudgetError: if the run has
            spent what it may.
    """
    asked = inquiry("lumber", ["lumber"], document, models)
    places = CutPoints(document, config)
    window = max(1, round(WINDOW_SHARE * places.aim))
    most = 0 if is_mostly_chinese(document.text) else int(_PARAGRAPH_SHARE * window)
    paragraphs = paragraphs_of(places, most)
    cuts: list[int] = []
    at = 0
    while at < len(paragraphs):
        cuts.append(paragraphs[at].first)
        end = _end_of_window(places, paragraphs, at, window)
        behind = at + _shift(places, paragraphs[at:end], asked)
        # A shift within a few words is no shift: the pieces would be joined again, and each would cost a call.
        while behind < end and places.size(paragraphs[at].first, paragraphs[behind - 1].stop) < _LEAST * places.aim:
            behind += 1
        at = behind
    settings = f"{asked.settings} window={window} paragraph={most}"
    return places.partition(places.without_small(cuts), "lumber", settings)


def paragraphs_of(places: CutPoints, most: int) -> list[Paragraph]:
    """The paragraphs of a document; of those longer than ``most``, as many sentences as fit into it, one at least."""
    starts = [0]
    for number in places.candidates:
        begins = places.units[number].strength >= ITEM
        if begins or places.size(starts[-1], number + 1) > most:
            starts.append(number)
    return [Paragraph(*pair) for pair in zip(starts, [*starts[1:], len(places.units)], strict=True)]


def _end_of_window(places: CutPoints, paragraphs: list[Paragraph], at: int, window: int) -> int:
    """Behind the paragraphs that a window shows: two at least, where a chunk may hold both."""
    first, stop = paragraphs[at].first, at + 1
    most = max(window, places.room(first))
    while stop < len(paragraphs) and places.size(first, paragraphs[stop].stop) <= most:
        stop, most = stop + 1, window
    return stop


def _shift(places: CutPoints, shown: list[Paragraph], asked: Inquiry) -> int:
    """How many of the paragraphs belong to the chunk that the first one opens: one at least, all at most."""
    if len(shown) < 2:
        return 1
    (parts,) = ask(asked.llm, [_task(places, shown, asked)], asked.repair, asked.tally)
    if parts:
        return parts[0].value
    asked.tally.counts["windows cut by rules"] += 1
    cuts = places.packed(shown[0].first, shown[-1].stop, places.aim)
    behind = cuts[1] if len(cuts) > 1 else shown[-1].stop
    return max(1, sum(paragraph.first < behind for paragraph in shown))


def _task(places: CutPoints, shown: list[Paragraph], asked: Inquiry) -> Task[int]:
    def make(_: Units) -> Request:
        lines = [f"[{number}] {' '.join(places.text(*paragraph).split())}" for number, paragraph in enumerate(shown, 1)]
        return asked.request("lumber", SCHEMA, text="\n".join(lines), last=str(len(shown)))

    def read(units: Units, reply: Completion) -> Answered[int]:
        found = read_json(reply.text, lambda value: _behind(value, len(shown)), model=asked.llm.id, is_cut=reply.is_cut)
        return Answered(units, found.value)

    return Task((0,), make, read)


def _behind(value: Any, n: int) -> int:
    """How many paragraphs stand before the shift that an answer names."""
    given = value["id"] if isinstance(value, dict) else value
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise ValueError("the id is no number")
    number = int(given)
    if number == 0:
        return n
    if not 2 <= number <= n:
        raise ValueError(f"the id must be from 2 to {n}, or 0, and is {number}")
    return number - 1
