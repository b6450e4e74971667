"""The discriminator plays the integrity reviewer: does a chunk lack information that the document has?

It judges and does not say what is missing. For a chunk that it judges incomplete the review has what the rules find,
and says that it is incomplete even where they find nothing; for any other it has nothing. The model is a classifier of
pairs of texts, or a language model that answers yes or no.

Source: QChunker 3.4 (M_Disc).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.reviewer import groups_of
from qchunker.debate.llm.setting import Setting
from qchunker.debate.llm.windows import around, title_of
from qchunker.debate.offline import reviewer as rules
from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError, without_thoughts
from qchunker.models.llm import Completion, Request, Tally
from qchunker.models.sequence_classifier import Pair, PairClassifier
from qchunker.types import Chunk, Document, Review, Span

Judge = Callable[[Document, Sequence[Chunk]], "list[bool | None]"]
"""Which chunks are incomplete; None for one of which nothing is known."""

_REPLY_TOKENS = 512  # yes or no, and thoughts before it
_YES = ("yes", "true", "1", "incomplete", "是的", "是", "缺少", "缺失", "不完整")
_NO = ("no", "false", "0", "complete", "不是", "否", "不缺", "完整", "没有")
_WORD = "|".join(sorted(map(re.escape, _YES + _NO), key=len, reverse=True))
_VERDICT = rf"({_WORD})(?![a-z0-9]|否|\.\d|\s*(?:/|or\b|或))"
_FIRST = re.compile(
    rf"[\s\"'“‘「*_`(（【\[<]*(?:answer|label|答案|回答|判断|结论|标签)?\s*[:：]?[\s\"'“*_`]*{_VERDICT}", re.I
)
_NAMED = re.compile(
    rf"(?:answer|label|verdict|答案|回答|判断|结论|标签)\W{{0,4}}(?:is|为|是)?[\s:：\"'“*_`]*{_VERDICT}", re.I
)
_SAYS_INCOMPLETE = ("incomplete", "is_incomplete", "lacks", "missing", "needs_completion", "label", "answer", "result",
                    "verdict", "答案", "判断", "缺少")  # fmt: skip
_SAYS_COMPLETE = ("complete", "is_complete", "完整")


def review(document: Document, chunks: Sequence[Chunk], judge: Judge, tally: Tally) -> list[Review]:
    """One review per chunk, in the same order."""
    by_rules = rules.review(document, [Span(chunk.start, chunk.end) for chunk in chunks])
    reviews = []
    for found, is_incomplete in zip(by_rules, judge(document, chunks), strict=True):
        if is_incomplete is None:
            tally.counts["reviewed by rules"] += 1
            reviews.append(found)
        elif is_incomplete:
            tally.counts["chunks judged incomplete"] += 1
            reviews.append(Review(found.start, found.end, found.missing, is_incomplete=True))
        else:
            reviews.append(Review(found.start, found.end))
    return reviews


def judge_of_classifier(classifier: PairClassifier, window_chars: int, tally: Tally) -> Judge:
    """A classifier of pairs of texts as a judge. A chunk that is longer than it reads is left as it is."""

    def judge(document: Document, chunks: Sequence[Chunk]) -> list[bool | None]:
        pairs = []
        for chunk in chunks:
            window = around(document, Span(chunk.start, chunk.end), window_chars)
            spans = [(window.start, chunk.start), (chunk.start, chunk.end), (chunk.end, window.end)]
            before, inside, after = (document.without_furniture(*span) for span in spans)
            pairs.append(Pair(before, inside, after, chunk.completed_text or inside))
        found = classifier.lacking(pairs)
        tally.counts["chunks too long to judge"] += found.count(None)
        return [bool(one) for one in found]

    return judge


def judge_of_llm(setting: Setting) -> Judge:
    """A language model that answers yes or no as a judge. A chunk with an unusable answer is left as it is."""

    def judge(document: Document, chunks: Sequence[Chunk]) -> list[bool | None]:
        replied: set[int] = set()
        found: dict[int, bool] = {}
        tasks = [
            _task(document, chunks, group, number, replied, setting)
            for group in groups_of(chunks, setting)
            for number in group
        ]
        for parts in ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally):
            found.update((number, part.value) for part in parts for number in part.units)
        unusable = replied - found.keys()
        setting.tally.counts["chunks without a usable judgement"] += len(unusable)
        return [False if number in unusable else found.get(number) for number in range(len(chunks))]

    return judge


def _task(
    document: Document,
    chunks: Sequence[Chunk],
    group: Sequence[int],
    number: int,
    replied: set[int],
    setting: Setting,
) -> Task[bool]:
    # Neighbours are shown with the same text, which servers then read once.
    window = around(document, Span(chunks[group[0]].start, chunks[group[-1]].end), setting.config.window_chars)
    chunk = chunks[number]

    def make(_: Units) -> Request:
        body = chunk.completed_text or document.without_furniture(chunk.start, chunk.end)
        values = {"title": title_of(document), "text": document.without_furniture(*window), "chunk": body}
        request = setting.request("discriminator", document, values, None)
        return request._replace(max_tokens=min(request.max_tokens, _REPLY_TOKENS))

    def read(units: Units, reply: Completion) -> Answered[bool]:
        replied.add(number)
        found = judgement_in(reply.text)
        if found is not None:
            return Answered(units, found)
        if reply.is_cut:
            raise CutReplyError(setting.llm.id, "the judgement is cut off")
        raise ModelOutputError(setting.llm.id, "neither yes nor no")

    return Task((number,), make, read)


def judgement_in(reply: str) -> bool | None:
    """What a reply says: yes, no, 是, 否, 1, 0, or JSON with one of them; None if it says neither or both."""
    text = without_thoughts(reply)
    brace = text.find("{")
    if brace >= 0:
        try:
            value, _ = json.JSONDecoder().raw_decode(text[brace:])
        except (ValueError, RecursionError):
            value = None
        if value is not None:
            return _judgement_of(value)
    first = _FIRST.match(text)
    if first is not None:
        return _of_word(first[1])
    named = {_of_word(match[1]) for match in _NAMED.finditer(text)}
    return named.pop() if len(named) == 1 else None


def _judgement_of(value: Any) -> bool | None:
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    if isinstance(value, str):
        first = _FIRST.match(value)
        return _of_word(first[1]) if first else None
    if not isinstance(value, dict):
        return None
    for names, means in ((_SAYS_INCOMPLETE, True), (_SAYS_COMPLETE, False)):
        for name in names:
            found = _judgement_of(value[name]) if name in value else None
            if found is not None:
                return found is means
    return None


def _of_word(word: str) -> bool:
    return word.casefold() in _YES
