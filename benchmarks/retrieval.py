"""Search over an index against plain retrieval: recursive splitting, the body as text, equal reciprocal rank fusion.

    python benchmarks/retrieval.py --bench FOLDER --set chroma [--sizes 400,480,800] [--found]

FOLDER as for segmentation.py. Chunks have equal mean lengths; what the indexed text is longer by than the chunk is
charged to the budget. Every variant ranks the same chunks of this package's own index; ``baseline`` is the plain one.
Differences are paired per question and averaged over the sizes, with 95 % intervals and p-values. ``--found`` tells how
sure an answer is for questions of this set and for those of other sets, which these documents do not answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cutters import cutters, matched_knob
from segmentation import LANGUAGES, METRICS, SIZES, RememberingEmbedder, _paired, ours

import qchunker
from qchunker.answering.extract import confidence
from qchunker.config import ChunkingConfig, DebateConfig, SearchConfig
from qchunker.debate.offline.roles import offline_roles
from qchunker.debate.workflow import debate
from qchunker.indexing.entry import Stored
from qchunker.indexing.records import chunk_entries
from qchunker.indexing.snapshot import Snapshot, snapshot_of
from qchunker.retrieval import search as searching

DEPTH = 200
BASELINE, OURS = "baseline", "index"
PLAIN = {"duplicate_cosine": 1.0, "relevance_weight": 1.0}
VARIANTS: dict[str, SearchConfig] = {
    OURS: SearchConfig(**PLAIN, dense_roles=("body",)),
    "scores 1:1": SearchConfig(**PLAIN, bm25_weight=1.0, dense_roles=("body",)),
    "scores 1:3": SearchConfig(**PLAIN, bm25_weight=3.0, dense_roles=("body",)),
    "rrf": SearchConfig(**PLAIN, fusion="rrf", bm25_weight=1.0, candidates=DEPTH, dense_roles=("body",)),
    "dense": SearchConfig(**PLAIN, bm25_weight=0.0, dense_roles=("body",)),
    "dense, sentences": SearchConfig(**PLAIN, bm25_weight=0.0, dense_roles=("body", "sentence")),
    "bm25": SearchConfig(**PLAIN, dense_weight=0.0),
    "questions": SearchConfig(**PLAIN, dense_roles=("body", "question")),
    "sentences": SearchConfig(**PLAIN, dense_roles=("body", "sentence")),
    "mmr 0.7": SearchConfig(duplicate_cosine=1.0, relevance_weight=0.7, dense_roles=("body",)),
    "no near-duplicates": SearchConfig(relevance_weight=1.0, dense_roles=("body",)),
}


def indexed(rows: Sequence[dict[str, Any]], embedder: RememberingEmbedder, *, sentences: bool) -> Snapshot:
    of_document: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        of_document[row["doc_id"]].append(row)
    entries = [one for same in of_document.values() for one in chunk_entries(same, embedder, sentences=sentences)]
    vectors = np.stack([one.vector for one in entries])
    columns = [[getattr(one, name) for one in entries] for name in ("id", "record_id", "doc_id", "role")]
    texts = [one.tokens for one in entries], [one.payload for one in entries]
    stored = Stored(*columns, vectors, *texts, "one")
    return snapshot_of(lambda: stored, "one", Path(tempfile.mkdtemp()))


def ranking(snapshot: Snapshot, question: str, embedder: RememberingEmbedder, config: SearchConfig) -> list[int]:
    mask = np.ones(len(snapshot), dtype=np.bool_)
    scores = searching._scores(snapshot, question, embedder, config, mask).fused
    order = searching._best(snapshot, scores, mask, DEPTH)
    if config.duplicate_cosine < 1 or config.relevance_weight < 1:
        first = searching._diverse(snapshot, order, scores, 32, config)
        return [*first, *(int(at) for at in order if int(at) not in set(first))]
    return [int(at) for at in order]


def chunk_rows_of(texts: dict[str, str], size: int, embedder: RememberingEmbedder) -> list[dict[str, Any]]:
    knob = matched_knob(ours(embedder), texts, size)
    config = ChunkingConfig(target_chars=knob, max_chars=2 * knob, min_chars=0, overlap_ratio=0)
    rows = []
    for doc_id, text in texts.items():
        document = qchunker.from_text(text, doc_id=doc_id)
        how = DebateConfig()
        for chunk in debate(document, config, how, offline_roles(config, how, embedder)).chunks:
            rows.append(
                {"doc_id": doc_id, "start": chunk.start, "end": chunk.end, "text": chunk.text,
                 "embedding_text": chunk.embedding_text, "question": chunk.question}
            )  # fmt: skip
    return rows


def recursive_rows(texts: dict[str, str], size: int, language: str) -> list[dict[str, Any]]:
    cut = cutters(language)["recursive"]
    knob = matched_knob(cut, texts, size)
    return [
        {"doc_id": doc_id, "start": start, "end": end, "text": text[start:end], "embedding_text": text[start:end]}
        for doc_id, text in texts.items()
        for start, end in cut(text, knob)
        if text[start:end].strip()
    ]


def scorer(bench: Path, set_: str) -> Callable[[dict, list[dict], dict], dict[str, float]]:
    sys.path.insert(0, str(bench))
    import score

    if set_ == "crud":
        return score.crud_question
    return lambda question, ranked, by_doc: score.chroma_question(question, ranked, by_doc[question["doc_id"]])


def prepared(rows: list[dict[str, Any]], set_: str) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Rows as the scorer takes them: its ``text`` is what costs budget."""
    import common

    made, by_doc = [], defaultdict(list)
    for row in rows:
        one = {"doc_id": row["doc_id"], "start": row["start"], "end": row["end"], "text": row["embedding_text"].strip()}
        if set_ == "crud":
            one |= {"tokens": common.approx_tokens(one["text"]), "norm": common.norm(one["text"])}
        made.append(one)
        by_doc[one["doc_id"]].append(one)
    return made, by_doc


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--set", choices=sorted(SIZES), required=True)
    parser.add_argument("--sizes", help="mean lengths, default: those of the set")
    parser.add_argument("--found", action="store_true", help="also how often an answer is said to be found")
    arguments = parser.parse_args()
    sizes = tuple(map(int, arguments.sizes.split(","))) if arguments.sizes else SIZES[arguments.set]
    data = arguments.bench / "data"
    texts = {row["doc_id"]: row["text"] for row in _rows(data / arguments.set / "docs.jsonl")}
    questions = [row for row in _rows(data / arguments.set / "questions.jsonl") if row.get("split", "dev") == "dev"]
    score, embedder = scorer(arguments.bench, arguments.set), RememberingEmbedder()
    values: dict[str, list[list[dict[str, float]]]] = defaultdict(list)
    for size in sizes:
        rows = chunk_rows_of(texts, size, embedder)
        own, plain = indexed(rows, embedder, sentences=True), recursive_rows(texts, size, LANGUAGES[arguments.set])
        other = indexed(plain, embedder, sentences=False)
        for name, config in VARIANTS.items():
            values[name].append(_scored(questions, rows, own, config, embedder, score, arguments.set))
        values[BASELINE].append(_scored(questions, plain, other, VARIANTS["rrf"], embedder, score, arguments.set))
        print(f"{arguments.set} {size}: {len(rows)} and {len(plain)} chunks", flush=True)
    names = ["qid", "event", "doc_id"]
    cluster = [str(next(row[name] for name in names if row.get(name))) for row in questions]
    if arguments.set != "chroma":
        cluster = [str(row.get("event") or row["doc_id"]) for row in questions]
    for metric in METRICS[arguments.set][1:] if arguments.set != "crud" else METRICS["crud"]:
        print(f"\n{metric}; difference of {OURS} from each, averaged over sizes")
        means = {
            name: np.mean([[row[metric] for row in one] for one in found], axis=0) for name, found in values.items()
        }
        for name, found in means.items():
            low, high, p = _paired(means[OURS] - found, cluster)
            print(f"  {name:20} {found.mean():.4f}  {means[OURS].mean() - found.mean():+.4f} "
                  f"[{low:+.4f}, {high:+.4f}] p={p:.4f}")  # fmt: skip
    if arguments.found:
        _print_confidence(arguments.set, data, questions, own, embedder)


def _print_confidence(
    set_: str, data: Path, questions: Sequence[dict[str, Any]], snapshot: Snapshot, embedder: RememberingEmbedder
) -> None:
    others = [name for name in SIZES if name != set_ and LANGUAGES[name] == LANGUAGES[set_]]
    foreign = [row["question"] for name in others for row in _rows(data / name / "questions.jsonl")]
    for name, asked in (("own", [row["question"] for row in questions]), ("foreign", foreign)):
        certain = [_confidence(snapshot, question, embedder) for question in asked[:400]]
        if certain:
            shares = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
            print(f"confidence, {name} questions, quantiles {shares}:", np.quantile(certain, shares).round(3))


def _confidence(snapshot: Snapshot, question: str, embedder: RememberingEmbedder) -> float:
    hits = searching.search(snapshot, question, embedder, 6)
    return confidence(question, hits, snapshot.bm25)


def _scored(
    questions: Sequence[dict[str, Any]],
    rows: list[dict[str, Any]],
    snapshot: Snapshot,
    config: SearchConfig,
    embedder: RememberingEmbedder,
    score: Callable[..., dict[str, float]],
    set_: str,
) -> list[dict[str, float]]:
    made, by_doc = prepared(rows, set_)
    return [
        score(question, [made[at] for at in ranking(snapshot, question["question"], embedder, config)], by_doc)
        for question in questions
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
