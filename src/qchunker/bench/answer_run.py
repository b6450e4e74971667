"""A run to the end: retrieve, have a model answer, and compare its answers with the references.

For every method the same retriever, the same number of characters and the same model. Source: QChunker 4.2 (the eight
best chunks by a dense retriever; BLEU, ROUGE-L and METEOR).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.bench.dataset import BenchSet
from qchunker.bench.metrics.answers import ANSWER_METRICS, best_over_references
from qchunker.bench.metrics.spans import ChunkSpan
from qchunker.bench.retrievers import rankings
from qchunker.bench.run import Cell, Result, cells_of, chunks_of, data_of, described, facts_of, spans_of
from qchunker.bench.spec import Spec
from qchunker.errors import InputError, ModelError
from qchunker.models.llm import LLM, Request
from qchunker.models.load import Models
from qchunker.prompts import Prompt, load_prompt

Tell = Callable[[str, int, int], None]
PRIMARY = "rouge_l"
REPLY_TOKENS = 512


def answer_run(
    spec: Spec, models: Models, llm: LLM, prompts: Path | None = None, reply_tokens: int = REPLY_TOKENS,
    tell: Tell = lambda *_: None,
) -> dict[str, Any]:  # fmt: skip
    """Results of the form of ``run``, with the metrics of answers.

    A question that the model fails on has an empty answer, which scores 0; how many these are is in every cell.

    Args:
        spec: what is measured; the first of its retrievers retrieves.
        models: as for ``run``.
        llm: writes the answers; one that remembers lets a stopped run go on.
        prompts: folder with an ``answer`` prompt of one's own.
        reply_tokens: of an answer at most.
        tell: is told of every step.

    Raises:
        InputError: if the set has no reference answers, or as ``run``.
        ModelError: if no request can succeed.
    """
    data = data_of(spec)
    if not all(question.answers for question in data.questions):
        raise InputError(
            f"the set {data.name!r} has questions without a reference answer",
            hint="add `answer` to them, or use `bench run`",
        )
    prompt = load_prompt("answer", data.language, prompts)
    cells = cells_of(spec)
    results = []
    for number, cell in enumerate(cells):
        tell(f"{cell.method} at {cell.target}, seed {cell.seed}", number, len(cells))
        results.append(_answered(cell, spec, data, models, llm, prompt, reply_tokens))
    tell("done", len(cells), len(cells))
    signatures = {name: metric.signature(data.language) for name, metric in ANSWER_METRICS.items()}
    signature = f"prompt={prompt.sha256[:8]} answers={llm.id} " + " ".join(signatures.values())
    found = described(spec, data, models, list(ANSWER_METRICS), PRIMARY)
    found["spec"]["retrievers"] = [spec.retrievers[0]]
    return found | {"signature": f"{found['signature']} {signature}", "cells": results}


def _answered(
    cell: Cell, spec: Spec, data: BenchSet, models: Models, llm: LLM, prompt: Prompt, reply_tokens: int
) -> Result:
    pieces, size = chunks_of(cell, spec, data, models)
    chunks = spans_of(pieces, spec, data)
    retriever = spec.retrievers[0]
    asked = [question.text for question in data.questions]
    ranked = rankings([one.text for one in chunks], asked, [retriever], models.embedder, spec.k)[retriever]
    contexts = ["\n\n".join(_within([chunks[at] for at in row], spec.k * cell.target)) for row in ranked]
    requests = [_request(prompt, *pair, reply_tokens) for pair in zip(contexts, asked, strict=True)]
    replies = llm.complete(requests)
    answers = ["" if isinstance(reply, ModelError) else reply.text.strip() for reply in replies]
    return facts_of(cell, size, chunks, data) | {
        "seconds": 0.0, "failed": sum(isinstance(reply, ModelError) for reply in replies),
        "context_chars": float(np.mean([len(context) for context in contexts])), "answers": answers,
        "values": {retriever: {name: _scores(name, answers, data) for name in ANSWER_METRICS}},
    }  # fmt: skip


def _within(chunks: Sequence[ChunkSpan], characters: int) -> Iterator[str]:
    """Texts, best first, within so many characters; the last is cut to fit."""
    rest = characters
    for chunk in chunks:
        if rest <= 0:
            return
        yield chunk.text[:rest]
        rest -= len(chunk.text)


def _request(prompt: Prompt, context: str, question: str, reply_tokens: int) -> Request:
    system, shared, own = prompt.fill(passages=context, question=question)
    return Request(system, f"{shared}\n\n", own, reply_tokens)


def _scores(metric: str, answers: Sequence[str], data: BenchSet) -> list[float]:
    pairs = zip(answers, data.questions, strict=True)
    return [round(best_over_references(metric, answer, one.answers, data.language), 6) for answer, one in pairs]
