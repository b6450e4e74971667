"""The knowledge completer: verifies what is missing, has the chunk rewritten, and lets only a faithful rewrite pass.

Three checks come first, item by item: is it critical for the chunk, is it explicit in the document, does it bring no
new topic? Then the chunk is rewritten from itself and the items alone. The gate of ``verify.py`` reads the rewrite; one
that it refuses gives way to the extractive form of the rules, and that to the chunk as it was.

Source: QChunker 3.2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from qchunker.asking import Answered, Task, Units, ask
from qchunker.config import CompletionConfig
from qchunker.debate.llm.setting import Setting
from qchunker.debate.llm.weave import additions_of
from qchunker.debate.llm.windows import around, title_of
from qchunker.debate.offline.completer import complete as complete_by_rules
from qchunker.debate.offline.completer import embedded, sentences_of, wanted_gaps
from qchunker.debate.verify import verify
from qchunker.models.json_output import CutReplyError, read_json
from qchunker.models.llm import Completion, Request, Tally
from qchunker.prompts import Tagged, as_data
from qchunker.types import Chunk, Gap, Refusal, Review, Span

_VERDICT = {"type": "object", "properties": {
    "n": {"type": "integer"}, "critical": {"type": "boolean"}, "explicit": {"type": "boolean"},
    "new_topic": {"type": "boolean"}}, "required": ["n", "critical", "explicit", "new_topic"],
    "additionalProperties": False}  # fmt: skip
VERDICTS = {"type": "object", "properties": {"items": {"type": "array", "items": _VERDICT}}, "required": ["items"],
            "additionalProperties": False}  # fmt: skip
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        "additionalProperties": False}  # fmt: skip


_TRUE = frozenset({"true", "yes", "1", "1.0", "是"})
_FALSE = frozenset({"false", "no", "0", "0.0", "否"})
_AROUND_CHARS = 1_000
"""Of the document around a chunk, for the verdict on an item; that the item is in the document is known already."""


class Item(NamedTuple):
    """A gap that is required, with the sentences around its evidence."""

    gap: Gap
    evidence: Span


def complete(
    chunks: Sequence[Chunk], reviews: Sequence[Review], limits: CompletionConfig, setting: Setting
) -> list[Chunk]:
    """The chunks with what they need, and what was refused; those that need nothing stay as they were."""
    items = {
        number: [Item(gap, sentences_of(chunk, gap.evidence[0])) for gap in wanted_gaps(found, limits)]
        for number, (chunk, found) in enumerate(zip(chunks, reviews, strict=True))
        if found.needs_completion
    }
    items = {number: found for number, found in items.items() if found}
    refused: dict[int, list[Refusal]] = {number: [] for number in items}
    verified = _verified(chunks, items, refused, setting)
    rewrites = _rewritten(chunks, verified, setting)
    made = list(chunks)
    for number, kept in verified.items():
        chunk = chunks[number]
        completed = None
        if number in rewrites:
            kinds, evidence = [item.gap.kind for item in kept], [item.evidence for item in kept]
            completed = accepted(chunk, rewrites[number], kinds, evidence, limits, refused[number], setting.tally)
        elif kept:
            setting.tally.counts["rewrites that did not come"] += 1
        if completed is None and kept:
            completed = extractive(chunk, [item.gap for item in kept], limits, setting.tally)
        made[number] = (completed or chunk).replace(refused=tuple(refused[number]))
    return made


def _verified(
    chunks: Sequence[Chunk], items: dict[int, list[Item]], refused: dict[int, list[Refusal]], setting: Setting
) -> dict[int, list[Item]]:
    """The items that pass the three checks; those without a verdict too, since rules or quotation vouch for them."""
    numbers = list(items)
    tasks = [_verdict_task(chunks[number], items[number], setting) for number in numbers]
    repair = setting.prompt("repair", chunks[numbers[0]].document) if numbers else None
    answers = ask(setting.llm, tasks, repair, setting.tally) if repair is not None else []
    kept: dict[int, list[Item]] = {}
    for number, parts in zip(numbers, answers, strict=True):
        verdicts = {at: reason for part in parts for at, reason in part.value.items()}
        kept[number] = []
        for at, item in enumerate(items[number]):
            reason = verdicts.get(at, "")
            if reason:
                setting.tally.counts[f"items refused: {reason}"] += 1
                refused[number].append(Refusal(item.gap.kind, item.gap.text, reason))
            else:
                kept[number].append(item)
        setting.tally.counts["items without a verdict"] += len(items[number]) - len(verdicts)
    return kept


def _verdict_task(chunk: Chunk, items: Sequence[Item], setting: Setting) -> Task[dict[int, str]]:
    document = chunk.document
    near = around(document, Span(chunk.start, chunk.end), chunk.end - chunk.start + _AROUND_CHARS)

    def make(units: Units) -> Request:
        values = {
            "title": title_of(document), "text": document.without_furniture(*near), "chunk": _text(chunk),
            "items": _listed(chunk, [items[at] for at in units]),
        }  # fmt: skip
        return setting.request("verifier", document, values, VERDICTS)

    def read(units: Units, reply: Completion) -> Answered[dict[int, str]]:
        def verdicts(value: Any) -> dict[int, str]:
            given = value if isinstance(value, list) else value["items"]
            found = {units[int(one["n"]) - 1]: _reason(one) for one in given if 1 <= int(one["n"]) <= len(units)}
            if not found:
                raise ValueError("no verdict with the number of an item")
            return found

        result = read_json(reply.text, verdicts, model=setting.llm.id, is_cut=reply.is_cut)
        return Answered(tuple(result.value) if result.is_cut else units, result.value)

    return Task(tuple(range(len(items))), make, read)


def _reason(verdict: Any) -> str:
    """Why an item is not added; empty if it is."""
    critical, explicit, new_topic = (_truth(verdict[name]) for name in ("critical", "explicit", "new_topic"))
    if not critical:
        return "not critical"
    if not explicit:
        return "not explicit"
    return "a new topic" if new_topic else ""


def _truth(value: Any) -> bool:
    """A truth value, however it is spelt; what is none is no verdict."""
    spelt = str(value).strip().lower()
    if spelt not in _TRUE and spelt not in _FALSE:
        raise ValueError(f"{value!r:.40} is neither true nor false")
    return spelt in _TRUE


def _rewritten(chunks: Sequence[Chunk], verified: dict[int, list[Item]], setting: Setting) -> dict[int, str]:
    numbers = [number for number, kept in verified.items() if kept]
    if not numbers:
        return {}
    tasks = [_rewrite_task(chunks[number], verified[number], setting) for number in numbers]
    answers = ask(setting.llm, tasks, setting.prompt("repair", chunks[numbers[0]].document), setting.tally)
    return {number: parts[0].value for number, parts in zip(numbers, answers, strict=True) if parts}


def _rewrite_task(chunk: Chunk, items: Sequence[Item], setting: Setting) -> Task[str]:
    def make(_: Units) -> Request:
        values = {"title": title_of(chunk.document), "chunk": _text(chunk), "items": _listed(chunk, items)}
        return setting.request("completer", chunk.document, values, TEXT)

    def read(units: Units, reply: Completion) -> Answered[str]:
        def text(value: Any) -> str:
            if not isinstance(value["text"], str) or not value["text"].strip():
                raise ValueError("no text")
            return str(value["text"])

        result = read_json(reply.text, text, model=setting.llm.id, fields=("text",), is_cut=reply.is_cut)
        if result.is_cut:
            raise CutReplyError(setting.llm.id, "the rewrite is cut off")
        return Answered(units, result.value)

    return Task((0,), make, read)


def accepted(
    chunk: Chunk,
    rewritten: str,
    kinds: Sequence[str],
    evidence: Sequence[Span],
    limits: CompletionConfig,
    refused: list[Refusal],
    tally: Tally,
) -> Chunk | None:
    """The chunk as it was rewritten, if the gate lets it pass; what it adds is bound to its evidence.

    Args:
        chunk: the original.
        rewritten: by a model.
        kinds: of gaps, one per evidence.
        evidence: whole sentences outside of the chunk, from which words may be added.
        limits: of what may be added.
        refused: gets the rewrite if it does not pass.
        tally: takes note.
    """
    tally.counts["rewrites"] += 1
    faults = _faults(chunk, rewritten, evidence, limits)
    if not faults:
        additions = additions_of(chunk, rewritten, kinds, evidence) if evidence else ()
        completed = chunk.replace(added=tuple(embedded(chunk, one, limits) for one in additions))
        if not additions:
            tally.counts["rewrites that add nothing"] += 1
            return chunk
        faults = _faults(chunk, completed.completed_text or "", evidence, limits)
        if not faults:
            tally.counts["rewrites accepted"] += 1
            return completed
    tally.counts["rewrites refused"] += 1
    reason = "; ".join(dict.fromkeys(f"{fault.kind}: {fault.text[:60]}" for fault in faults[:4]))
    refused.append(Refusal("rewrite", rewritten[: 2 * len(chunk.text) + 200], reason))
    return None


def extractive(chunk: Chunk, gaps: Sequence[Gap], limits: CompletionConfig, tally: Tally) -> Chunk:
    """The chunk as the rules complete it, in place of a rewrite that is not to be had."""
    completed = complete_by_rules(chunk, Review(chunk.start, chunk.end, tuple(gaps)), limits)
    tally.counts["extractive instead" if completed.added else "left as they were"] += 1
    return completed


def _faults(chunk: Chunk, text: str, evidence: Sequence[Span], limits: CompletionConfig) -> list[Any]:
    return verify(
        _text(chunk), text, [chunk.document.text[slice(*span)] for span in dict.fromkeys(evidence)],
        max_growth_ratio=limits.max_growth_ratio, max_growth_chars=limits.max_growth_chars,
    )  # fmt: skip


def _text(chunk: Chunk) -> str:
    return chunk.document.without_furniture(chunk.start, chunk.end)


def _listed(chunk: Chunk, items: Sequence[Item]) -> Tagged:
    text = chunk.document.text
    return Tagged(
        "\n".join(
            f'<item n="{at}">{as_data(text[slice(*item.gap.surface)])}: {as_data(text[slice(*item.evidence)])}</item>'
            for at, item in enumerate(items, 1)
        )
    )
