"""Replies that answer for numbered items: ``{name: [{"n": 1, ...}]}``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from qchunker.asking import Answered, Units
from qchunker.models.json_output import read_json
from qchunker.models.llm import Completion

T = TypeVar("T")


def items_schema(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of such a reply."""
    item = {"type": "object", "properties": {"n": {"type": "integer"}, **fields}, "required": ["n", *fields],
            "additionalProperties": False}  # fmt: skip
    return {"type": "object", "properties": {name: {"type": "array", "items": item}}, "required": [name],
            "additionalProperties": False}  # fmt: skip


def read_items(
    reply: Completion, name: str, units: Units, read: Callable[[Mapping[str, Any]], T], model: str
) -> Answered[dict[int, T]]:
    """What a reply says of some units, by unit; of a reply that was cut off, the items that are whole.

    Args:
        reply: of the model.
        name: of the list.
        units: that were asked about, in the order of their numbers from 1.
        read: makes something of an item, or raises ValueError, KeyError or TypeError.
        model: for messages.

    Raises:
        ModelOutputError: if it says nothing usable of any.
    """

    def found(value: Any) -> dict[int, T]:
        items = value if isinstance(value, list) else value[name]
        told: dict[int, T] = {}
        for item in items:
            try:
                at = int(item["n"])
                if 1 <= at <= len(units):
                    told[units[at - 1]] = read(item)
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
                continue  # the others may be whole
        if not told:
            raise ValueError("no entry with the number of an item")
        return told

    result = read_json(reply.text, found, model=model, is_cut=reply.is_cut)
    told: dict[int, T] = result.value
    begun = reply.text.count('"n"')  # the only entry that was begun may lack something
    whole = tuple(told) if max(begun, len(told)) > 1 else ()
    return Answered(whole if result.is_cut else units, told)


def text_of(item: Mapping[str, Any], name: str) -> str:
    """A text of an item.

    Raises:
        ValueError: if it is none.
    """
    value = item[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value
