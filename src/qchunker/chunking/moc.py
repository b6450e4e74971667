"""A router chooses how finely each piece of a document is cut, and a chunker names the ends of its chunks.

Source: MoC (a router over four classes of size, chunkers that answer with anchors). Here one language model plays
router and chunkers; the class decides over the size that it is asked for.

What is not repeated: anchors are words and no patterns, so brackets and stars in them mean themselves; repeated heads
do not fall together, and places rise; all text between two places belongs to a chunk; a reply that is no JSON is asked
for once more, and then the piece is cut at sentences and counted, where the released code lets a model copy the text;
and there is a router, which the baseline of the paper leaves out.
"""

from __future__ import annotations

from typing import Any

from qchunker.alignment import Anchor, anchor_of
from qchunker.asking import Answered, Task, Units, ask
from qchunker.chunking.asked import Inquiry, anchored, cuts_in, inquiry, windows_of
from qchunker.chunking.cut_points import CutPoints
from qchunker.config import ChunkingConfig
from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError, read_json
from qchunker.models.llm import Completion, Request
from qchunker.models.load import Models
from qchunker.types import Document, Partition

ROUTER_SCHEMA = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 3}},
                 "required": ["size"], "additionalProperties": False}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"anchors": {"type": "array", "items": {"type": "string"}}},
          "required": ["anchors"], "additionalProperties": False}  # fmt: skip
_MEAN = 178  # characters of a chunk on average, in the paper; the target takes its place
_BOUNDS = (120, 150, 180)  # between the classes, at that mean
_SIZES = (100, 135, 165, 210)  # asked for in each class
_PIECE = 512  # characters of the pieces that are cut one by one


def moc(document: Document, config: ChunkingConfig, models: Models) -> Partition:
    """Ask for a class of size for every piece, and then for the ends of its chunks.

    Args:
        document: to be cut.
        config: sizes. Classes and pieces grow with the target; chunks under half of it are joined to their neighbour
            if both fit into it.
        models: their ``llm`` is asked.

    Raises:
        ConfigError: if there is no language model. ModelError: if no request can succeed. BudgetError: if the run has
            spent what it may.
    """
    asked = inquiry("moc", ["moc_router", "moc"], document, models)
    places = CutPoints(document, config)
    windows = windows_of(places, _scaled(_PIECE, places))
    open_ones = [window for window in windows if len(window) > 1]
    classes = _classes(places, open_ones, asked)
    tasks = [_task(places, window, size, asked) for window, size in zip(open_ones, classes, strict=True)]
    answers = ask(asked.llm, tasks, asked.repair, asked.tally)
    cuts = [window[0] for window in windows] + cuts_in(places, open_ones, answers, asked.tally)
    settings = f"{asked.settings} piece={_scaled(_PIECE, places)}"
    return places.partition(places.without_small(cuts), "moc", settings)


def _scaled(chars: int, places: CutPoints) -> int:
    """A length of the source, in proportion to the target."""
    return max(1, round(chars * places.aim / _MEAN))


def _classes(places: CutPoints, windows: list[Units], asked: Inquiry) -> list[int]:
    """The class of each piece; 0 where the router says nothing that can be used, as in the source."""
    small, medium, large = (str(_scaled(bound, places)) for bound in _BOUNDS)

    def make(units: Units) -> Request:
        text = places.text(units[0], units[-1] + 1)
        return asked.request("moc_router", ROUTER_SCHEMA, text=text, small=small, medium=medium, large=large)

    def read(units: Units, reply: Completion) -> Answered[int]:
        try:
            return Answered(units, read_json(reply.text, _class_of, model=asked.llm.id).value)
        except ModelOutputError:
            asked.tally.counts["pieces without a class of size"] += 1
            return Answered(units, 0)

    answers = ask(asked.llm, [Task(window, make, read) for window in windows], asked.repair, asked.tally)
    asked.tally.counts["pieces without a class of size"] += sum(not parts for parts in answers)
    return [parts[0].value if parts else 0 for parts in answers]


def _class_of(value: Any) -> int:
    given = value["size"] if isinstance(value, dict) else value
    if isinstance(given, bool) or int(given) not in range(len(_SIZES)):
        raise ValueError("no class from 0 to 3")
    return int(given)


def _task(places: CutPoints, window: Units, size: int, asked: Inquiry) -> Task[list[int]]:
    def make(units: Units) -> Request:
        text = places.text(units[0], units[-1] + 1)
        return asked.request("moc", SCHEMA, text=text, size=str(_scaled(_SIZES[size], places)))

    def read(units: Units, reply: Completion) -> Answered[list[int]]:
        anchors = read_json(reply.text, _anchors, model=asked.llm.id, is_cut=reply.is_cut)
        if anchors.is_cut:
            raise CutReplyError(asked.llm.id, "the list of chunks is cut off")
        _, found = anchored(places, units, anchors.value, asked.llm.id)
        return Answered(units, [places.nearest(place.start, units) for place in found])

    return Task(window, make, read)


def _anchors(value: Any) -> list[Anchor]:
    given = value if isinstance(value, list) else value["anchors"]
    if not given or not all(isinstance(one, str) for one in given):
        raise ValueError("no list of words")
    return [anchor_of(one) for one in given]
