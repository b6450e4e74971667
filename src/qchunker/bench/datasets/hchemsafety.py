"""HChemSafety: hazardous chemicals, in Chinese; the set that came with QChunker (Apache-2.0).

Published form: ``doc_test.json`` (texts) and ``QA_test.json`` (200 questions with answers).
"""

from __future__ import annotations

from pathlib import Path

from qchunker.bench.dataset import BenchSet, missing_file
from qchunker.bench.datasets.answers_only import read

WHERE = "github.com/IAAR-Shanghai/QChunker and the data sets that its README links to"


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder; it has no splits.

    Raises:
        InputError: if its files are missing or broken.
    """
    documents, questions = path / "doc_test.json", path / "QA_test.json"
    if not documents.is_file() or not questions.is_file():
        raise missing_file("hchemsafety", path, ["doc_test.json and QA_test.json"], WHERE)
    return read("hchemsafety", [documents], questions, "Apache-2.0")
