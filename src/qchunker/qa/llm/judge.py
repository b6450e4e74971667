"""A model decides where the words of an answer are not all in its group - and must quote what it decides by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from qchunker.alignment import find_quote
from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.windows import title_of
from qchunker.models.llm import Completion, Request
from qchunker.qa.evidence import Read
from qchunker.qa.figures import Figures, figures
from qchunker.qa.llm.generator import RawPair, listed
from qchunker.qa.llm.numbered import items_schema, read_items
from qchunker.qa.llm.setting import QASetting, request
from qchunker.qa.support import headings_above, is_yes_or_no, names_of
from qchunker.qa.words import Said, content_words
from qchunker.types import Document, Span

SCHEMA = items_schema("items", {"supported": {"type": "boolean"}, "quote": {"type": "string"}})
_AT_ONCE = 6
_LEAST_QUOTED = 2  # words that say something
_LEAST_BORNE = 0.5  # of the words of an answer, by the sentences that are quoted for it


class _Said(NamedTuple):
    supported: bool
    quote: str


def judged(document: Document, reads: Sequence[Read], pairs: Sequence[RawPair], setting: QASetting) -> list[bool]:
    """For each pair whether the model finds it in its group and quotes sentences of it that bear the answer."""
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
    return [at in told and _is_shown(reads[pair.group], pair, told[at]) for at, pair in enumerate(pairs)]


def _is_shown(group: Read, pair: RawPair, said: _Said) -> bool:
    if not said.supported or len(content_words(said.quote)) < _LEAST_QUOTED:
        return False
    place = find_quote(group.folded, said.quote)
    return place is not None and bears(group, place, pair.question, pair.answer)


def bears(group: Read, place: Span, question: str, answer: str) -> bool:
    """Whether the sentences of a place have the figures and names of an answer, and at least half of its words.

    Args:
        group: that the place lies in.
        place: that a judge quotes.
        question: what a yes or no repeats.
        answer: the model finds supported by the place.
    """
    units = [at for at, unit in enumerate(group.group.units) if unit.start < place.end and unit.end > place.start]
    above = headings_above(group.document, place.start, place.end)
    texts = [group.texts[at] for at in units]
    headers = [
        group.document.text[slice(*unit.header)] for unit in (group.group.units[at] for at in units) if unit.header
    ]
    said = Said(*texts, *headers, *above)
    figures_said = Figures("\n".join([*texts, *headers, *above]))
    if any(figures_said.problem(figure) in ("number", "unit") for figure in figures(answer)):
        return False
    if not all(word in said for name in names_of(answer) for word in content_words(name)):
        return False
    words = content_words(answer)
    if is_yes_or_no(answer) or len(words) < _LEAST_QUOTED:
        words += content_words(question)
    own = Said(*texts, *headers)
    return bool(words) and own.share(words) >= _LEAST_BORNE


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
