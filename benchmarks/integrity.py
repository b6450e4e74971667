"""Score the offline integrity reviewer on labelled chunks.

    python benchmarks/integrity.py --bench FOLDER [--split dev] [--lang en|zh] [--out FILE]

FOLDER holds integrity.jsonl (rows with text and labelled chunks) and score_integrity.py, which prints the scores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import qchunker
from qchunker.debate.offline.reviewer import review
from qchunker.types import Document, Gap, Span


def document_of(row: dict[str, str]) -> Document:
    """The row as a document whose text is the row's text, so that the labels fit."""
    for name in ("text.md", "text.txt"):
        document = qchunker.from_text(row["text"], name, doc_id=row["doc_id"])
        if document.text == row["text"]:
            return document
    raise SystemExit(f"{row['doc_id']}: the parsed text differs from the labelled one")


def item(gap: Gap) -> dict[str, object]:
    return {
        "kind": gap.kind,
        "surface": list(gap.surface),
        "text": gap.text,
        "evidence": [list(span) for span in gap.evidence],
        "necessity": gap.necessity,
    }


def completed_texts(document: Document, spans: Sequence[Span]) -> list[str]:
    """The labelled chunks with what they lack; they need not cover the document."""
    partition = qchunker.complete(document, spans)
    return [chunk.completed_text or chunk.text for chunk in partition.chunks]


def predictions(bench: Path, split: str, lang: str | None) -> tuple[list[dict[str, object]], float, int]:
    """Rows for the scorer, the seconds that reviewing took, and the characters reviewed."""
    rows, seconds, characters = [], 0.0, 0
    for line in (bench / "integrity.jsonl").open(encoding="utf-8"):
        labelled = json.loads(line)
        if labelled["split"] != split or lang not in (None, labelled["lang"]):
            continue
        document = document_of(labelled)
        spans = [Span(chunk["start"], chunk["end"]) for chunk in labelled["chunks"]]
        began = time.perf_counter()
        reviews = review(document, spans)
        seconds += time.perf_counter() - began
        texts = completed_texts(document, spans)
        characters += len(document.text)
        rows += [
            {
                "doc_id": labelled["doc_id"],
                "start": found.start,
                "end": found.end,
                "needs_completion": found.needs_completion,
                "missing": [item(gap) for gap in found.missing],
                "completed_text": text,
            }
            for found, text in zip(reviews, texts, strict=True)
        ]
    return rows, seconds, characters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--lang", choices=("en", "zh"))
    parser.add_argument("--out", type=Path, help="where to keep the predictions")
    parser.add_argument("--json", type=Path, help="where the scorer writes its report")
    options = parser.parse_args()
    rows, seconds, characters = predictions(options.bench, options.split, options.lang)
    with tempfile.TemporaryDirectory() as folder:
        path = options.out or Path(folder) / "predictions.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        command = [sys.executable, options.bench / "score_integrity.py", "--pred", path, "--split", options.split]
        command += ["--lang", options.lang] if options.lang else []
        command += ["--json", options.json] if options.json else []
        subprocess.run([str(part) for part in command], check=True)
    print(f"\n{seconds:.2f} s for {characters:,} characters, {len(rows)} chunks")


if __name__ == "__main__":
    main()
