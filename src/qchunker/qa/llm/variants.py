"""Other wordings of every question, each of which asks for the same.

Source: GC-QA-RAG (question variants), with a check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.verify_words import is_invisible
from qchunker.models.embedder import Embedder
from qchunker.models.llm import Completion, Request
from qchunker.qa import standalone
from qchunker.qa.duplicates import keeps_meaning, normalised
from qchunker.qa.llm.generator import listed
from qchunker.qa.llm.numbered import items_schema, read_items
from qchunker.qa.llm.setting import QASetting, request
from qchunker.qa.pairs import QAPair
from qchunker.qa.words import Said, is_chinese
from qchunker.types import Document

SCHEMA = items_schema("variants", {"questions": {"type": "array", "items": {"type": "string"}}})
LEAST_ALIKE = 0.4
"""Cosine of a wording with its question."""

_AT_ONCE = 8
_URL = re.compile(r"\w+://|\bwww\.|</?[a-z][^<>]*>", re.IGNORECASE)


def with_variants(
    document: Document, pairs: Sequence[QAPair], setting: QASetting, embedder: Embedder | None
) -> list[QAPair]:
    """The pairs, with other wordings of their questions that ask for the same; what is refused is counted."""
    batches = [tuple(range(start, min(start + _AT_ONCE, len(pairs)))) for start in range(0, len(pairs), _AT_ONCE)]
    tasks = [_task(document, pairs, batch, setting) for batch in batches]
    answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    told = {at: words for answered in answers for one in answered for at, words in one.value.items()}
    known = {normalised(words) for pair in pairs for words in (pair.question, *pair.variants)}
    words_of_document = Said(document.text) if told else None
    result = []
    for at, pair in enumerate(pairs):
        kept: list[str] = list(pair.variants)
        for words in told.get(at, ())[: setting.config.variants]:
            problem = variant_problem(pair, words, known, embedder, words_of_document)
            setting.tally.counts["variants" if problem is None else f"variants refused: {problem}"] += 1
            if problem is None:
                kept.append(words)
                known.add(normalised(words))
        result.append(pair.replace(variants=tuple(kept)))
    return result


def variant_problem(
    pair: QAPair, words: str, known: set[str], embedder: Embedder | None, document_words: Said | None = None
) -> str | None:
    """Why a wording is refused; None where it stands alone and asks for the same.

    Args:
        pair: whose question it words.
        words: the wording.
        known: questions that there are already, normalised.
        embedder: compares it with the question; None leaves that out.
        document_words: of the document of the pair; read anew where they are not given.
    """
    if not words.strip() or normalised(words) in known:
        return "nothing new"
    if is_chinese(words) != is_chinese(pair.question):
        return "language"
    problem = standalone.problem(words)
    if problem is not None:
        return problem
    if _URL.search(words) or any(map(is_invisible, words)):
        return "not plain"
    if not keeps_meaning(pair.question, words, document_words or Said(pair.document.text)):
        return "asks for something else"
    if embedder is not None:
        vectors = embedder.encode([pair.question, words])
        if float(vectors[0] @ vectors[1]) < LEAST_ALIKE:
            return "asks for something else"
    return None


def _task(document: Document, pairs: Sequence[QAPair], batch: Units, setting: QASetting) -> Task[dict[int, list[str]]]:
    def make(units: Units) -> Request:
        items = listed([(pairs[at].question, pairs[at].answer) for at in units])
        count = str(setting.config.variants)
        system, _, own = setting.prompt("qa_variants", document).fill(items=items, count=count)
        return request(setting, document, (system, "", own), SCHEMA, setting.config.seed)

    def read(units: Units, reply: Completion) -> Answered[dict[int, list[str]]]:
        return read_items(reply, "variants", units, _wordings, setting.llm.id)

    return Task(batch, make, read)


def _wordings(item: Mapping[str, Any]) -> list[str]:
    return [" ".join(words.split()) for words in item["questions"] if isinstance(words, str)]
