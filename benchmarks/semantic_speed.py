"""Seconds per 100,000 characters of the whole qchunker method, beside splitters that embed every sentence.

    python benchmarks/semantic_speed.py --bench FOLDER [--chars 100000] [--passes 3]

All use the same encoder (USE v3, one thread) in one process, in turn; ratios are what counts. FOLDER holds
data/<set>/docs.jsonl. Needs chonkie and llama-index-core; what is not installed is left out. Also the growth of time
from 0.5 to 1 MB of text, and the share of every stage.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from machine import versions

import qchunker
from qchunker.config import DebateConfig, SegmentationConfig
from qchunker.debate.offline.outline import outline
from qchunker.debate.offline.reviewer import review
from qchunker.models.load import default_embedder

Tool = Callable[[str], object]
ENCODER = default_embedder()


def vectors(texts: Sequence[str]) -> np.ndarray:
    return ENCODER.encode([text if text.strip() else "." for text in texts])


def ours(text: str) -> object:
    return qchunker.chunk(qchunker.from_text(text))


def without_meaning(text: str) -> object:
    config = DebateConfig(SegmentationConfig(embedding=0))
    return qchunker.chunk(qchunker.from_text(text), debate_config=config)


def chonkie_semantic() -> Tool:
    from chonkie import SemanticChunker
    from chonkie.embeddings import BaseEmbeddings

    class Encoder(BaseEmbeddings):  # type: ignore[misc]
        dimension = 512

        def embed(self, text: str) -> Any:
            return vectors([text])[0]

        def embed_batch(self, texts: list[str]) -> Any:
            return list(vectors(texts))

        def similarity(self, u: Any, v: Any) -> Any:
            return np.float32(u @ v)

        def get_tokenizer(self) -> Any:
            return "character"

    return SemanticChunker(
        embedding_model=Encoder(), chunk_size=500, delim=[". ", "! ", "? ", "\n", "。", "！", "？"]
    ).chunk


def llamaindex_semantic() -> Tool:
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    class Encoder(BaseEmbedding):  # type: ignore[misc]
        def _get_text_embedding(self, text: str) -> list[float]:
            return vectors([text])[0].tolist()

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return vectors(texts).tolist()

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    def sentences(text: str) -> list[str]:
        from qchunker.sentences import sentence_spans

        return [text[start:end] for start, end in sentence_spans(text)]

    parser = SemanticSplitterNodeParser(embed_model=Encoder(), sentence_splitter=sentences)
    return lambda text: parser.get_nodes_from_documents([Document(text=text)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--chars", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=3)
    arguments = parser.parse_args()
    tools: dict[str, Tool] = {"qchunker": ours, "qchunker, no embedding": without_meaning}
    for name, make in (("chonkie semantic", chonkie_semantic), ("LlamaIndex semantic", llamaindex_semantic)):
        try:
            tools[name] = make()
        except ImportError as error:
            print("left out:", name, error)
    print(json.dumps(versions(["chonkie", "llama-index-core", "numpy"])))
    for name in ("chroma", "drcd"):
        text = text_of(arguments.bench, name, arguments.chars)
        spent: dict[str, list[float]] = {tool: [] for tool in tools}
        for _ in range(arguments.passes):
            for tool, run in tools.items():
                spent[tool].append(seconds(run, text) * 100_000 / len(text))
        for tool, values in spent.items():
            ratio = median(values) / median(spent["qchunker"])
            print(f"{name:8} {tool:24} {median(values):6.2f} s per 100,000 characters, x {ratio:.2f}", flush=True)
    stages(text_of(arguments.bench, "drcd", arguments.chars))
    for name in ("chroma", "drcd"):
        whole = text_of(arguments.bench, name, 1_000_000)
        whole = (whole * (1 + 1_000_000 // len(whole)))[:1_000_000]
        half, full = seconds(ours, whole[:500_000]), seconds(ours, whole)
        print(
            f"{name}: 500,000 characters {half:.1f} s, 1,000,000 characters {full:.1f} s, x {full / half:.2f}",
            flush=True,
        )


def stages(text: str) -> None:
    document = qchunker.from_text(text)
    partition = qchunker.chunk(document, debate_config=DebateConfig(completion=None))
    spent = {
        "parse": seconds(qchunker.from_text, text),
        "outline": seconds(outline, document),
        "review": seconds(lambda _: review(document, partition.spans), text),
        "review and complete": seconds(lambda _: qchunker.complete(document, partition), text),
        "all": seconds(ours, text),
    }
    print(", ".join(f"{stage} {value:.2f} s" for stage, value in spent.items()))


def seconds(run: Callable[[Any], object], value: Any) -> float:
    began = time.perf_counter()
    run(value)
    return time.perf_counter() - began


def text_of(bench: Path, name: str, chars: int) -> str:
    lines = (bench / "data" / name / "docs.jsonl").read_text(encoding="utf-8").splitlines()
    return "\n\n".join(row["text"] for row in map(json.loads, lines))[:chars]


if __name__ == "__main__":
    main()
