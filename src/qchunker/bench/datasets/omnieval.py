"""OmniEval: finance, in Chinese (MIT), as QChunker used it.

Published form: ``OmniEval.json`` (questions with answers) and the knowledge corpus as .jsonl files in ``corpus/``.
"""

from __future__ import annotations

from pathlib import Path

from qchunker.bench.dataset import BenchSet, missing_file
from qchunker.bench.datasets.answers_only import read

WHERE = "huggingface.co/datasets/RUC-NLPIR/OmniEval-KnowledgeCorpus, and evaldata/OmniEval.json of QChunker"


def load(path: Path, split: str | None) -> BenchSet:
    """The set in a folder; it has no splits.

    Raises:
        InputError: if its files are missing or broken.
    """
    corpus, questions = sorted((path / "corpus").glob("*.jsonl")), path / "OmniEval.json"
    if not corpus or not questions.is_file():
        raise missing_file("omnieval", path, ["OmniEval.json and corpus/*.jsonl"], WHERE)
    return read("omnieval", corpus, questions, "MIT")
