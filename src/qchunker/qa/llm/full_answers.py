"""A longer answer for every pair, held by what the model was shown of the document.

Source: GC-QA-RAG (full answer), with a check.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.windows import title_of
from qchunker.models.llm import Completion, Request
from qchunker.qa.evidence import read as read_group
from qchunker.qa.figures import Figures, figures
from qchunker.qa.grouping import groups_in
from qchunker.qa.llm.generator import listed
from qchunker.qa.llm.numbered import items_schema, read_items, text_of
from qchunker.qa.llm.setting import Memory, QASetting, background, memories, parts_of, request
from qchunker.qa.pairs import Group, QAPair
from qchunker.qa.support import Scope, scope_of, verdict
from qchunker.qa.words import Said, content_words
from qchunker.sentences import sentence_spans
from qchunker.types import Document, Span

SCHEMA = items_schema("full_answers", {"text": {"type": "string"}})
_AT_ONCE = 4
_MARKUP = re.compile(r"[*_`#>]+|^\s*(?:[-+•]|\d{1,2}[.)])\s+", re.MULTILINE)


def with_full_answers(
    document: Document, groups: Sequence[Group], pairs: Sequence[QAPair], setting: QASetting,
    document_words: Said, document_numbers: Figures,
) -> list[QAPair]:  # fmt: skip
    """The pairs, with a full answer where the model gives one that the document holds; what is refused is counted."""
    memory_of = _memories(document, groups, setting)
    batches: list[tuple[Memory, list[int]]] = []
    for at, pair in enumerate(pairs):
        memory = memory_of[pair.group]
        if batches and batches[-1][0] == memory and len(batches[-1][1]) < _AT_ONCE:
            batches[-1][1].append(at)
        else:
            batches.append((memory, [at]))
    tasks = [_task(document, pairs, memory, tuple(batch), setting) for memory, batch in batches]
    answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    told = {at: text for answered in answers for one in answered for at, text in one.value.items()}
    scopes: dict[Span, Scope] = {}
    result = []
    for at, pair in enumerate(pairs):
        text = " ".join(told.get(at, "").split(" ")).strip()
        span = memory_of[pair.group].span
        if span not in scopes:
            scopes[span] = _scope(document, span, document_words, document_numbers)
        problem = "missing" if not text else full_answer_problem(pair, text, scopes[span])
        setting.tally.counts["full answers" if problem is None else f"full answers refused: {problem}"] += 1
        result.append(pair.replace(full_answer=text) if problem is None else pair)
    return result


def _memories(document: Document, groups: Sequence[Group], setting: QASetting) -> dict[int, Memory]:
    parts = parts_of(groups, setting.config.window_chars)
    shown = memories(document, parts, setting.config.window_chars)
    found = {group.number: Memory(Span(group.start, group.end), False) for group in groups}
    for part, memory in zip(reversed(parts), reversed(shown), strict=True):
        found[part.group] = memory
    return found


def _scope(document: Document, span: Span, words: Said, numbers: Figures) -> Scope:
    inside = groups_in(document, [span])
    group = inside[0] if inside else Group(0, span.start, span.end, ())
    return scope_of(read_group(document, group), words, numbers, title_of(document))


def full_answer_problem(pair: QAPair, text: str, scope: Scope) -> str | None:
    """Why a full answer is refused; None where every sentence of it is held by what was shown of the document."""
    plain = _MARKUP.sub("", text)
    values = {figure.value for figure in figures(plain)}
    if any(figure.value not in values for figure in figures(pair.answer)):
        return "loses a number"
    for start, end in sentence_spans(plain):
        sentence = plain[start:end]
        if content_words(sentence):
            found = verdict(pair.question, sentence, scope)
            if found.reason not in (None, "echo"):
                return found.reason
    return None


def _task(
    document: Document, pairs: Sequence[QAPair], memory: Memory, batch: Units, setting: QASetting
) -> Task[dict[int, str]]:
    def make(units: Units) -> Request:
        items = listed([(pairs[at].question, pairs[at].answer) for at in units])
        own = setting.prompt("qa_full_answer", document).fill(title=title_of(document), items=items)[2]
        return request(setting, document, (*background(document, memory, setting), own), SCHEMA, setting.config.seed)

    def read(units: Units, reply: Completion) -> Answered[dict[int, str]]:
        return read_items(reply, "full_answers", units, lambda item: text_of(item, "text"), setting.llm.id)

    return Task(batch, make, read)
