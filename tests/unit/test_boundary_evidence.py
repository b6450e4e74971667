"""The score of cuts by evidence: high where the text has an end, low inside a sentence, in both languages."""

from __future__ import annotations

from itertools import pairwise

import pytest

import qchunker
from qchunker.errors import InputError, ScoringError
from qchunker.models.fake import HashingEmbedder
from qchunker.models.load import Models
from qchunker.scoring.boundary_evidence import NO_EVIDENCE, boundary_evidence
from qchunker.types import Span

MODELS = Models(HashingEmbedder())
EN = "# Pump\n\nThe pump stops at 5 bar. It is red.\n\n# Valve\n\nThe valve opens. It is checked every month.\n"
ZH = "# 水泵\n\n水泵在五巴时停机。它是红色的。\n\n# 阀门\n\n阀门打开。它每月检查一次。\n"


def cut_at(text: str, *places: int) -> list[tuple[int, int]]:
    edges = [0, *places, len(text)]
    return list(pairwise(edges))


@pytest.mark.parametrize(("text", "heading", "sentence", "inside"), [
    (EN, "# Valve", "It is red", "mp stops"), (ZH, "# 阀门", "它是红", "五巴时"),
])  # fmt: skip
def test_a_heading_is_better_than_a_sentence_and_that_than_the_inside_of_one(
    text: str, heading: str, sentence: str, inside: str
) -> None:
    document = qchunker.from_text(text, "x.md")
    scores = [
        qchunker.boundary_evidence(document, cut_at(text, text.index(words)), MODELS)
        for words in (heading, sentence, inside)
    ]
    assert scores[0] > scores[1] > scores[2]
    assert scores[2] == NO_EVIDENCE


def test_it_is_the_mean_over_inner_cuts() -> None:
    spans = [Span(0, 3), Span(3, 5), Span(5, 9)]
    assert boundary_evidence({3: 2.0, 5: 1.0, 0: 9.0}, spans) == 1.5
    assert boundary_evidence({3: 2.0}, spans) == (2.0 + NO_EVIDENCE) / 2


def test_one_chunk_has_no_cut() -> None:
    document = qchunker.from_text(EN)
    with pytest.raises(ScoringError, match="no inner cut"):
        qchunker.boundary_evidence(document, [(0, len(EN))], MODELS)
    with pytest.raises(InputError, match="pairs"):
        qchunker.boundary_evidence(document, [(0, "x")], MODELS)  # type: ignore[list-item]


def test_the_default_encoder_is_deterministic() -> None:
    document = qchunker.from_text(EN, "x.md")
    spans = cut_at(EN, EN.index("# Valve"))
    assert qchunker.boundary_evidence(document, spans) == qchunker.boundary_evidence(document, spans)
