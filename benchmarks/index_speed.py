"""Build, size, latency and sync of an index of many chunks, beside Milvus Lite and plain arrays, in one run.

    python benchmarks/index_speed.py --bench FOLDER [--chunks 100000] [--questions 200]

Chunks are three sentences of the development texts of FOLDER, drawn at random, with mixtures of real vectors (encoding
is not measured here). ``plain`` is NumPy, and bm25s where it is installed. Latencies are of a warm process.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import versions

from qchunker.config import SearchConfig
from qchunker.indexing.bm25 import BM25
from qchunker.indexing.entry import Entry, StoreMeta
from qchunker.indexing.lexical_tokens import lexical_tokens
from qchunker.indexing.question_tokens import question_tokens
from qchunker.indexing.snapshot import snapshot_of
from qchunker.indexing.store import SCHEMA, open_store
from qchunker.models.load import default_embedder
from qchunker.retrieval.search import search
from qchunker.sentences import sentence_spans

PER_DOCUMENT = 20
MODES = {
    "dense": SearchConfig(bm25_weight=0, duplicate_cosine=1, with_links=False),
    "BM25": SearchConfig(dense_weight=0, duplicate_cosine=1, with_links=False),
    "hybrid": SearchConfig(),
    "hybrid + MMR": SearchConfig(relevance_weight=0.7),
}


def sentences_of(bench: Path) -> list[str]:
    found = []
    for name in ("chroma", "drcd", "crud"):
        for line in (bench / "data" / name / "docs.jsonl").read_text(encoding="utf-8").splitlines():
            text = json.loads(line)["text"]
            found += [text[start:end] for start, end in sentence_spans(text) if end - start > 20]
    return found


def entries(n: int, bench: Path, rng: random.Random) -> list[Entry]:
    sentences = sentences_of(bench)
    embedder = default_embedder()
    known = embedder.encode([rng.choice(sentences) for _ in range(5_000)])
    mixing = np.random.default_rng(0)
    vectors = known[mixing.integers(0, len(known), n)] + 0.5 * known[mixing.integers(0, len(known), n)]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    made = []
    for number in range(n):
        text = " ".join(rng.choice(sentences) for _ in range(3))[:500]
        doc_id = f"document-{number // PER_DOCUMENT}"
        record_id = f"{doc_id}:{number}"
        row = {"record": "chunk", "record_id": record_id, "doc_id": doc_id, "source": doc_id, "start": number,
               "end": number + 1, "text": text, "embedding_text": text}  # fmt: skip
        tokens = " ".join(lexical_tokens(text))
        made.append(
            Entry(record_id, record_id, doc_id, "body", vectors[number], tokens, json.dumps(row, ensure_ascii=False))
        )
    return made


def timed(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work(*given)
    return time.perf_counter() - began, result


def quantiles(milliseconds: list[float]) -> str:
    return f"p50 {np.quantile(milliseconds, 0.5):.1f}, p95 {np.quantile(milliseconds, 0.95):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    print(json.dumps(versions(("lancedb", "pymilvus", "milvus-lite", "bm25s", "numpy"))))
    rng = random.Random(0)
    seconds, made = timed(lambda: entries(arguments.chunks, arguments.bench, rng))
    print(f"{arguments.chunks} chunks made in {seconds:.1f} s")
    data = arguments.bench / "data"
    asked = [
        json.loads(line)["question"]
        for name in ("chroma", "drcd", "crud")
        for line in (data / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()[:200]
    ]
    questions = rng.sample(asked, min(len(asked), arguments.questions))
    embedder = default_embedder()
    meta = StoreMeta(SCHEMA, embedder.id, 512)
    for name, suffix in (("LanceDB", "lance"), ("Milvus Lite", "milvus.db")):
        with tempfile.TemporaryDirectory() as folder:
            _store(name, str(Path(folder) / suffix), made, meta, questions)
    _plain(made, questions)


def _store(name: str, place: str, made: list[Entry], meta: StoreMeta, questions: list[str]) -> None:
    of_document: dict[str, list[Entry]] = {}
    for entry in made:
        of_document.setdefault(entry.doc_id, []).append(entry)
    put = {doc_id: ("{}", found) for doc_id, found in of_document.items()}
    store = open_store(place, meta, create=True)
    build, _ = timed(lambda: store.change(put, ()))
    snapshots = Path(f"{place}.snapshots")
    snap, snapshot = timed(lambda: snapshot_of(store.read, store.version(), snapshots))
    size = sum(path.stat().st_size for path in Path(place).parent.rglob("*") if path.is_file())
    print(f"{name}: stored in {build:.1f} s, snapshot in {snap:.1f} s, {size / 2**20:.0f} MB on disk")
    embedder = default_embedder()
    for mode, config in MODES.items():
        find = partial(search, snapshot, embedder=embedder, k=6, config=config)
        print(f"  {mode:14} {quantiles([1000 * timed(find, question)[0] for question in questions])} ms")
    few = dict(list(put.items())[: max(1, len(put) // 100)])
    change, _ = timed(lambda: store.change(few, ()))
    again, _ = timed(lambda: snapshot_of(store.read, store.version(), snapshots))
    print(f"  1 % of the documents anew: {change:.2f} s, snapshot {again:.1f} s")
    if name != "LanceDB":
        _milvus_search(store, questions)
    store.close()
    shutil.rmtree(snapshots, ignore_errors=True)


def _milvus_search(store: Any, questions: list[str]) -> None:
    client = next((value for value in vars(store).values() if hasattr(value, "search")), None)
    if client is None:
        return
    collection = next((name for name in client.list_collections() if "entr" in name), client.list_collections()[0])
    vectors = default_embedder().encode(questions)
    took = []
    for vector in vectors[:50]:
        seconds, _ = timed(lambda v=vector: client.search(collection, [v.tolist()], limit=6), vector)
        took.append(1000 * seconds)
    print(f"  its own dense search: {quantiles(took)} ms")


def _plain(made: list[Entry], questions: list[str]) -> None:
    vectors = np.stack([entry.vector for entry in made])
    embedder = default_embedder()
    took = []
    for question in questions:
        seconds, _ = timed(lambda q=question: np.argpartition(-(vectors @ embedder.encode([q])[0]), 6)[:6], question)
        took.append(1000 * seconds)
    print(f"plain NumPy, dense: {quantiles(took)} ms")
    tokens = [entry.tokens.split() for entry in made]
    build, index = timed(lambda: BM25.build(tokens))
    took = [1000 * timed(lambda q: index.scores(question_tokens(q)), q)[0] for q in questions]
    print(f"own BM25 alone: built in {build:.1f} s, {quantiles(took)} ms")
    try:
        import bm25s
    except ImportError:
        return
    other = bm25s.BM25()
    build, _ = timed(lambda: other.index(tokens, show_progress=False))
    took = [
        1000 * timed(lambda q: other.retrieve([question_tokens(q)], k=6, show_progress=False), q)[0] for q in questions
    ]
    print(f"bm25s: built in {build:.1f} s, {quantiles(took)} ms")


if __name__ == "__main__":
    main()
