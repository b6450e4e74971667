"""The refiner plays the knowledge completer: it rewrites a chunk with what the document around it says.

Its reply is thoughts, gaps and supplements, and behind the end of the thoughts the chunk. Where that end is missing,
nothing follows it, or what follows is shorter than the chunk, there is no rewrite. Of the text that it was shown, the
sentences outside of the chunk that hold the words it adds are the evidence; with them the rewrite passes the same gate
as any other, or gives way to the extractive form of the rules, and that to the chunk as it was.

Source: QChunker 3.4 (M_Ref), and the form in which it answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qchunker.alignment import fold
from qchunker.asking import Answered, Task, Units, ask
from qchunker.config import CompletionConfig
from qchunker.debate.distilled.setting import sampled
from qchunker.debate.llm.completer import accepted, extractive
from qchunker.debate.llm.reviewer import UNKNOWN_KIND
from qchunker.debate.llm.setting import Setting
from qchunker.debate.llm.weave import added_words, words_of
from qchunker.debate.llm.windows import around, title_of
from qchunker.debate.offline.completer import sentences_of
from qchunker.errors import ModelOutputError
from qchunker.models.json_output import CutReplyError
from qchunker.models.llm import Completion, Request
from qchunker.sentences import sentence_spans
from qchunker.types import Chunk, Document, Refusal, Review, Span

_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_TAGS = re.compile(r"\A<chunk>\s*(.*?)\s*</chunk>\Z", re.DOTALL | re.IGNORECASE)
_IN_LINES = frozenset({"table", "code", "record", "heading"})
_MARK = "\x1f"


def complete(
    chunks: Sequence[Chunk], reviews: Sequence[Review], limits: CompletionConfig, setting: Setting
) -> list[Chunk]:
    """The chunks with what they need, and what was refused; those that need nothing stay as they were."""
    numbers = [number for number, found in enumerate(reviews) if found.needs_completion]
    if not numbers:
        return list(chunks)
    windows = [_window(chunks[number], setting) for number in numbers]
    tasks = [_task(chunks[number], window, setting) for number, window in zip(numbers, windows, strict=True)]
    answers = ask(setting.llm, tasks, setting.prompt("repair", chunks[0].document), setting.tally)
    made = list(chunks)
    for number, window, parts in zip(numbers, windows, answers, strict=True):
        chunk, missing = chunks[number], reviews[number].missing
        refused: list[Refusal] = []
        completed = None
        if not parts:
            setting.tally.counts["rewrites that did not come"] += 1
        elif len(fold(parts[0].value)) < len(fold(_text(chunk))):
            setting.tally.counts["rewrites that are shorter"] += 1
            refused.append(Refusal("rewrite", parts[0].value, "shorter than the chunk"))
        else:
            completed = _passed(chunk, parts[0].value, window, reviews[number], limits, refused, setting)
        if completed is None:
            completed = extractive(chunk, missing, limits, setting.tally)
        made[number] = completed.replace(refused=tuple(refused))
    return made


def _window(chunk: Chunk, setting: Setting) -> Span:
    return around(chunk.document, Span(chunk.start, chunk.end), setting.config.window_chars)


def _text(chunk: Chunk) -> str:
    return chunk.document.without_furniture(chunk.start, chunk.end)


def _task(chunk: Chunk, window: Span, setting: Setting) -> Task[str]:
    document = chunk.document

    def make(_: Units) -> Request:
        text = document.without_furniture(*window)
        values = {"title": title_of(document), "text": text, "chunk": _text(chunk)}
        return sampled(setting, "refiner", document, values)

    def read(units: Units, reply: Completion) -> Answered[str]:
        text = rewrite_in(reply.text)
        if reply.is_cut:
            raise CutReplyError(setting.llm.id, "the rewrite is cut off")
        if text is None:
            raise ModelOutputError(setting.llm.id, "nothing ends the thoughts: no </think> before the chunk")
        if not any(map(str.isalnum, text)):
            raise ModelOutputError(setting.llm.id, "no chunk behind the thoughts")
        return Answered(units, text)

    return Task((0,), make, read)


def rewrite_in(reply: str) -> str | None:
    """What stands behind the last end of thoughts; None where there is none."""
    end = _THOUGHT_END.match(reply)
    if end is None:
        return None
    text = reply[end.end() :].strip()
    wrapped = _TAGS.match(text)
    return wrapped[1] if wrapped else text


def _passed(
    chunk: Chunk,
    rewritten: str,
    window: Span,
    found: Review,
    limits: CompletionConfig,
    refused: list[Refusal],
    setting: Setting,
) -> Chunk | None:
    """The chunk as it was rewritten, if the gate lets it pass with the evidence that there is for it."""
    growth = max(limits.max_growth_ratio * len(_text(chunk)), limits.max_growth_chars)
    evidence: list[Span] = []
    if len(rewritten) - len(_text(chunk)) <= growth:  # else the gate refuses it unread
        evidence = evidence_for(chunk, rewritten, window)
    kinds = [_kind(span, found) for span in evidence]
    allowed = [at for at, kind in enumerate(kinds) if kind in limits.kinds]
    return accepted(
        chunk, rewritten, [kinds[at] for at in allowed], [evidence[at] for at in allowed], limits, refused,
        setting.tally,
    )  # fmt: skip


def _kind(evidence: Span, found: Review) -> str:
    """Of the gap that is filled from the same sentence, if the review names one."""
    for gap in found.missing:
        if any(span.start < evidence.end and span.end > evidence.start for span in gap.evidence):
            return gap.kind
    return UNKNOWN_KIND


def evidence_for(chunk: Chunk, rewritten: str, window: Span) -> list[Span]:
    """Whole sentences that stand in a window outside of a chunk and hold the words that a rewrite adds.

    The words are taken from left to right, as many at a time as one sentence holds in this order; of several such
    sentences the one nearest to the chunk is taken. Words that no sentence holds have no evidence.
    """
    text = chunk.document.text
    spans = sorted(_sentences(chunk, window), key=lambda span: (_distance(chunk, span), span))
    spelt = [_spelt(words_of(text, span)) for span in spans]
    found: dict[Span, None] = {}
    for words in added_words(chunk, rewritten):
        at = 0
        while at < len(words):
            holding, end = list(range(len(spans))), at
            while end < len(words):
                run = _spelt(words[at : end + 1])
                more = [number for number in holding if run in spelt[number]]
                if not more:
                    break
                holding, end = more, end + 1
            if end > at and _says_something(words[at:end], words):
                found[sentences_of(chunk, spans[holding[0]])] = None
            at = max(end, at + 1)
    return list(found)


def _says_something(run: Sequence[str], words: Sequence[str]) -> bool:
    """A single word in common is no evidence, unless it is all that is added, or a number."""
    return len(run) > 1 or len(words) <= 2 or any(map(str.isdigit, run[0]))


def _spelt(words: Sequence[str]) -> str:
    return _MARK + _MARK.join(words) + _MARK


def _distance(chunk: Chunk, span: Span) -> int:
    return max(chunk.start - span.end, span.start - chunk.end)


def _sentences(chunk: Chunk, window: Span) -> Iterator[Span]:
    """The sentences and lines of a window outside of a chunk, and the title of the document, which was shown too."""
    document = chunk.document
    title = next((block for block in document.blocks if block.kind == "heading"), None)
    shown = [Span(window.start, chunk.start), Span(chunk.end, window.end)]
    if title is not None and title.end <= window.start:
        shown.append(Span(title.start, title.end))
    for low, high in shown:
        for block in document.blocks_in(low, high):
            if block.kind != "furniture":
                start, end = max(low, block.start), min(high, block.end)
                yield from (
                    _lines(document, start, end)
                    if block.kind in _IN_LINES
                    else sentence_spans(document.text, start, end)
                )


def _lines(document: Document, start: int, end: int) -> Iterator[Span]:
    for line in document.text[start:end].splitlines(keepends=True):
        if line.strip():
            yield Span(start, start + len(line.rstrip()))
        start += len(line)
