"""Chunks and pairs in one index: a rule keeps its exception, and an answer is made of sentences, not of cells."""

from __future__ import annotations

from pathlib import Path

import pytest

import qchunker
from qchunker.qa.rows import pair_rows

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> qchunker.Index:
    found = qchunker.Index.open(tmp_path_factory.mktemp("index") / "store")
    found.sync(EXAMPLES)
    for path in sorted(EXAMPLES.glob("*.txt")) + sorted(EXAMPLES.glob("*.zh.md")):
        document = qchunker.parse(path)
        found.add_qa(pair_rows(qchunker.qa_pairs(document)))
    return found


@pytest.mark.parametrize(
    ("question", "rule", "exception"),
    [
        (
            "What happens if a defect appears in the Warranty Period?",
            "forty-eight hours",
            "8.4 Clause 8.3 does not apply",
        ),
        ("质保期内货物出现缺陷怎么办？", "四十八小时", "不适用"),
    ],
)
def test_a_rule_is_answered_with_its_exception(index: qchunker.Index, question: str, rule: str, exception: str) -> None:
    texts = [one.text for one in index.ask(question).sentences]
    assert any(rule in text for text in texts), texts
    assert any(exception in text for text in texts), texts
    hits = index.search(question)
    limits = [one for hit in hits for one in hit.related if one.kind == "limited_by"]
    assert any(exception in str(one.row["text"]) for one in limits) or any(exception in hit.text for hit in hits)


def test_a_cell_is_quoted_with_its_row_and_once(index: qchunker.Index) -> None:
    texts = [one.text for one in index.ask("KL-20 的闪点是多少？").sentences]
    assert "闪点" in texts[0]
    assert len(set(texts)) == len(texts)
