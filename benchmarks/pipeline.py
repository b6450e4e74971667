"""What the embedded text adds to the cuts: heading path, completion by kind of gap; against plain sentence packing.

    python benchmarks/pipeline.py --bench FOLDER --set chroma --out results [--sizes 400,480,800]

FOLDER as for segmentation.py. All variants have the same cuts, those of the qchunker method at equal mean length, and
differ in the text that is embedded and searched; what it is longer by is charged. ``sentence`` is the sentence packer.
Differences are paired per question and averaged over the sizes, with 95 % intervals and p-values.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from cutters import cutters, matched_knob
from segmentation import LANGUAGES, METRICS, OURS, SIZES, RememberingEmbedder, ours, print_results, scored

import qchunker
from qchunker.config import ChunkingConfig, CompletionConfig, DebateConfig
from qchunker.debate.offline.roles import offline_roles
from qchunker.debate.workflow import debate
from qchunker.types import GAP_KINDS, Chunk

Text = Callable[[Chunk], str]


def body(chunk: Chunk) -> str:
    return chunk.text


def with_path(chunk: Chunk) -> str:
    return chunk.replace(added=()).embedding_text


def with_completion(kinds: tuple[str, ...]) -> Text:
    def text(chunk: Chunk) -> str:
        return chunk.replace(
            added=tuple(one for one in chunk.added if one.kind in kinds), embedded_path=(), context=()
        ).embedding_text

    return text


def whole(chunk: Chunk) -> str:
    return chunk.embedding_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(SIZES), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", help="mean lengths, default: those of the set")
    parser.add_argument("--kinds", action="store_true", help="also each kind of gap alone")
    arguments = parser.parse_args()
    sizes = tuple(map(int, arguments.sizes.split(","))) if arguments.sizes else SIZES[arguments.set]
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = (arguments.bench / "data" / arguments.set / "docs.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {row["doc_id"]: row["text"] for row in map(json.loads, lines)}
    embedder = RememberingEmbedder()
    variants: dict[str, Text] = {OURS: whole, "body": body, "path": with_path, "completion": with_completion(GAP_KINDS)}
    if arguments.kinds:
        variants |= {kind: with_completion((kind,)) for kind in GAP_KINDS}
    results: dict[str, list[dict]] = {name: [] for name in [*variants, "sentence"]}
    for size in sizes:
        knob = matched_knob(ours(embedder), texts, size)
        config = ChunkingConfig(target_chars=knob, max_chars=2 * knob, min_chars=0, overlap_ratio=0)
        how = DebateConfig(completion=CompletionConfig())
        roles = offline_roles(config, how, embedder)
        chunks = {
            doc_id: debate(qchunker.from_text(text, doc_id=doc_id), config, how, roles).chunks
            for doc_id, text in texts.items()
        }
        completed = sum(bool(chunk.added) for found in chunks.values() for chunk in found)
        print(f"{size}: {completed} of {sum(map(len, chunks.values()))} chunks completed", flush=True)
        for name, text in variants.items():
            path = arguments.out / f"{arguments.set}-{size}-pipeline-{name}.jsonl"
            with path.open("w", encoding="utf-8") as file:
                for doc_id, found in chunks.items():
                    for chunk in found:
                        row = {"doc_id": doc_id, "start": chunk.start, "end": chunk.end, "text": text(chunk)}
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
            results[name].append(scored(arguments, path))
        results["sentence"].append(sentences(arguments, texts, size))
    print_results(results, METRICS[arguments.set])


def sentences(arguments: argparse.Namespace, texts: dict[str, str], size: int) -> dict:
    """The sentence packer at the same mean length."""
    path = arguments.out / f"{arguments.set}-{size}-sentence.jsonl"
    if not path.exists():
        cut = cutters(LANGUAGES[arguments.set])["sentence"]
        knob = matched_knob(cut, texts, size)
        with path.open("w", encoding="utf-8") as file:
            for doc_id, text in texts.items():
                for start, end in cut(text, knob):
                    row = {"doc_id": doc_id, "start": start, "end": end, "text": text[start:end]}
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return scored(arguments, path)


if __name__ == "__main__":
    main()
