"""What ``score`` and ``compare`` score: chunk files, models, and what a run would cost."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from qchunker.cli.terminal import Output, count, errors, progress_of, shown
from qchunker.config import ScoringConfig
from qchunker.models.load import DEFAULT_LM, Models, choose_lm, default_cache, load_models
from qchunker.models.openai_compatible import OpenAIEmbedder, OpenAILM
from qchunker.partitions import RowPartition
from qchunker.scoring.chunkscore import plan
from qchunker.scoring.logical_independence import boundary_requests
from qchunker.types import Document

_MEASURED_CHARS = 400


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """The partitions of one file, by document."""

    name: str
    partitions: dict[str, RowPartition]


@dataclass(slots=True)
class Scorer:
    """Models and settings of a run; a language model is loaded when the first document needs it."""

    embedder: str
    lm: str
    config: ScoringConfig
    api_key: str | None
    _loaded: dict[str, Models] = field(default_factory=dict)

    def models_for(self, document: Document) -> Models:
        name = choose_lm(document.text) if self.lm == DEFAULT_LM else self.lm
        if name not in self._loaded:
            cache = default_cache()
            if cache.problem:
                errors.print(f"[yellow]note[/] {shown(cache.problem)}")
            self._loaded[name] = load_models(self.embedder, name, cache=cache, api_key=self.api_key)
        return self._loaded[name]


def print_plan(texts: Sequence[Document], files: Sequence[ChunkFile], scorer: Scorer, *, as_json: bool) -> None:
    tokens = texts_embedded = chars_embedded = n_documents = 0
    seconds: float | None = 0.0
    speeds: dict[int, tuple[float | None, float | None]] = {}
    for document in texts:
        partitions = [file.partitions[document.id].spans for file in files if document.id in file.partitions]
        if not partitions:
            continue
        n_documents += 1
        models = scorer.models_for(document)
        boundaries, spans = plan(document.text, partitions, scorer.config, with_lm=models.lm is not None)
        new_tokens = 0
        for batch in boundary_requests(boundaries) if models.lm is not None else ():
            asked = [document.text[slice(*chunk)] for _, chunk in batch]
            before = [document.text[slice(*span)] if span else None for span, _ in batch]
            new_tokens += models.lm.token_cost(asked, before) if models.lm is not None else 0
        tokens += new_tokens
        texts_embedded += len(spans)
        chars_embedded += sum(span.end - span.start for span in spans)
        if id(models) not in speeds:
            with progress_of("measuring the speed of the models"):
                speeds[id(models)] = _speeds(document.text, models)
        token_speed, char_speed = speeds[id(models)]
        if token_speed is None or char_speed is None:
            seconds = None
        elif seconds is not None:
            seconds += new_tokens / token_speed + sum(span.end - span.start for span in spans) / char_speed
    row = {"documents": n_documents, "lm_tokens": tokens, "texts_embedded": texts_embedded,
           "chars_embedded": chars_embedded, "seconds": None if seconds is None else round(seconds, 1)}  # fmt: skip
    if as_json:
        print(json.dumps(row))  # noqa: T201
        return
    when = "unknown time on a server" if seconds is None else f"about {max(1, round(seconds)):,} s on this machine"
    Output(highlight=False).print(
        f"{count(n_documents, 'document')}: {tokens:,} language model tokens that are not in the cache, "
        f"{texts_embedded:,} texts of {chars_embedded:,} characters to embed; {when}; nothing was scored"
    )


def _speeds(text: str, models: Models) -> tuple[float | None, float | None]:
    """Tokens and characters per second, measured on the beginning of a text; None for a server, which costs."""
    piece = text.strip()[:_MEASURED_CHARS]
    lm, embedder = getattr(models.lm, "uncached", models.lm), getattr(models.embedder, "uncached", models.embedder)
    tokens = chars = None
    if lm is None:
        tokens = math.inf
    elif not isinstance(lm, OpenAILM):
        tokens = lm.token_cost([piece], [None]) / _seconds(lambda: lm.token_logprobs([piece], [None]))
    if not isinstance(embedder, OpenAIEmbedder):
        chars = len(piece) / _seconds(lambda: embedder.encode([piece]))
    return tokens, chars


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
