"""Ways to cut a text, each from text and size to spans, and the size at which each gives equal mean length."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import peers

import qchunker
from qchunker.models.load import load_models
from qchunker.scoring.random_partitions import random_partitions
from qchunker.sentences import sentence_spans
from qchunker.types import Span

OWN = ("structure", "fixed", "recursive", "sentence")
Spans = tuple[Span, ...]
Cutter = Callable[[str, int], Spans]


def cutters(language: str) -> dict[str, Cutter]:
    found: dict[str, Cutter] = {method: _own(method) for method in OWN}
    found["random"] = _random
    found["valley"] = Valley()
    names = {
        "langchain": peers.langchain_recursive_zh if language == "zh" else peers.langchain_recursive,
        "semchunk": peers.semchunk,
        "text-splitter": peers.text_splitter("TextSplitter"),
        "chonkie": peers.chonkie_recursive_zh if language == "zh" else peers.chonkie_recursive,
    }
    return found | {name: _peer(maker, language) for name, maker in names.items()}


def _own(method: str) -> Cutter:
    def cut(text: str, size: int) -> Spans:
        config = qchunker.ChunkingConfig(target_chars=size, max_chars=2 * size, min_chars=0, overlap_ratio=0)
        return qchunker.chunk(qchunker.from_text(text), method, config).spans

    return cut


def _random(text: str, size: int) -> Spans:
    """A random partition of the sentences with lengths like those of the sentence chunker."""
    spans = _own("sentence")(text, size)
    return random_partitions(text, spans, 2, seed=7).draws[0] if len(spans) > 1 else spans


class Valley:
    """Cuts where neighbouring sentences are least alike (the percentile splitter of several frameworks)."""

    def __init__(self) -> None:
        self._embedder = load_models(lm="none").embedder
        self._known: dict[str, tuple[list[Span], np.ndarray]] = {}

    def __call__(self, text: str, size: int) -> Spans:
        if text not in self._known:
            sentences = [Span(*span) for span in sentence_spans(text) if text[slice(*span)].strip()]
            vectors = self._embedder.encode([text[slice(*span)] for span in sentences])
            self._known[text] = sentences, (vectors[:-1] * vectors[1:]).sum(axis=1)
        sentences, alike = self._known[text]
        n_cuts = min(len(alike), max(1, round(len(text) / size)) - 1)
        cuts = sorted(np.argsort(alike, kind="stable")[:n_cuts] + 1)
        edges = [0, *map(int, cuts), len(sentences)]
        return tuple(_trimmed(text, sentences[a].start, sentences[b - 1].end) for a, b in pairwise(edges))


def _peer(maker: Any, language: str) -> Cutter:
    def cut(text: str, size: int) -> Spans:
        tool = maker(size, language)
        at, spans = 0, []
        for piece in tool.pieces(tool.run(text)):
            body = piece.text.strip()
            if not body:
                continue
            start = text.find(body, at if piece.start is None else max(at, piece.start))
            start = at if start < 0 else start
            spans.append(_trimmed(text, start, start + len(body)))
            at = spans[-1].end
        return tuple(spans)

    return cut


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def works(name: str, cutter: Cutter) -> bool:
    try:
        return len(cutter("One sentence here. Another one there. " * 40, 200)) > 1
    except ImportError as error:
        print("left out:", name, error)
        return False


def matched_knob(cutter: Cutter, texts: dict[str, str], target: int) -> int:
    """The size at which the mean chunk length is nearest to the target, by bisection; of many texts, on a sample."""
    sample = list(texts.values())[:: max(1, len(texts) // 30)]
    low, high, best = target // 3, target * 4, (float("inf"), target)
    for _ in range(9):
        size = (low + high) // 2
        lengths = [span.end - span.start for text in sample for span in cutter(text, size)]
        mean = sum(lengths) / len(lengths)
        best = min(best, (abs(mean - target), size))
        low, high = (size, high) if mean < target else (low, size)
    return best[1]
