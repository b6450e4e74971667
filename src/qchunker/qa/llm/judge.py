"""A model decides where the words of an answer are not all in its group - and must quote what it decides by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from qchunker.alignment import find_quote
from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.windows import title_of
from qchunker.models.llm import Completion, Request
from qchunker.qa.evidence import Read
from qchunker.qa.llm.generator import RawPair, listed
from qchunker.qa.llm.numbered import items_schema, read_items
from qchunker.qa.llm.setting import QASetting, request
from qchunker.qa.words import content_words
from qchunker.types import Document

SCHEMA = items_schema("items", {"supported": {"type": "boolean"}, "quote": {"type": "string"}})
_AT_ONCE = 6
_LEAST_QUOTED = 2  # words that say something


class _Said(NamedTuple):
    supported: bool
    quote: str


def judged(document: Document, reads: Sequence[Read], pairs: Sequence[RawPair], setting: QASetting) -> list[bool]:
    """For each pair whether the model finds it in its group; no, where it quotes nothing that stands there."""
    batches: list[list[int]] = []
    for at, pair in enumerate(pairs):
        is_same = bool(batches) and pairs[batches[-1][0]].group == pair.group
        if is_same and len(batches[-1]) < _AT_ONCE:
            batches[-1].append(at)
        else:
            batches.append([at])
    tasks = [_task(document, reads[pairs[batch[0]].group], pairs, tuple(batch), setting) for batch in batches]
    answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    told = {at: said for answered in answers for one in answered for at, said in one.value.items()}
    return [at in told and _is_shown(reads[pair.group], told[at]) for at, pair in enumerate(pairs)]


def _is_shown(group: Read, said: _Said) -> bool:
    quote = said.quote
    return said.supported and len(content_words(quote)) >= _LEAST_QUOTED and find_quote(group.folded, quote) is not None


def _task(
    document: Document, group: Read, pairs: Sequence[RawPair], batch: Units, setting: QASetting
) -> Task[dict[int, _Said]]:
    def make(units: Units) -> Request:
        items = listed([(pairs[at].question, pairs[at].answer) for at in units])
        filled = setting.prompt("qa_judge", document).fill(title=title_of(document), passage=group.text, items=items)
        system, _, own = filled
        return request(setting, document, (system, "", own), SCHEMA, 0, sampled=False)

    def read(units: Units, reply: Completion) -> Answered[dict[int, _Said]]:
        return read_items(reply, "items", units, _said, setting.llm.id)

    return Task(batch, make, read)


def _said(item: Mapping[str, Any]) -> _Said:
    supported = item["supported"]
    if isinstance(supported, str):
        supported = supported.strip().lower() in ("true", "yes", "是")
    return _Said(supported is True, str(item.get("quote") or ""))
