"""A model of 135 million parameters writes pairs: it answers nonsense, and nothing of it gets out unchecked."""

from __future__ import annotations

import re

import pytest

import qchunker
from contract.scripted_qa import LEASE, PUMP
from qchunker.models.llm import Tally
from qchunker.models.load import Models, default_embedder
from qchunker.models.load_llm import load_llm
from qchunker.models.metered import MeteredLLM
from qchunker.qa.figures import figures

pytestmark = pytest.mark.model


@pytest.mark.parametrize("book", [PUMP, LEASE], ids=lambda one: one.name)
def test_what_it_makes_up_is_refused_and_nothing_breaks(book: object) -> None:
    text = book.text[:420]  # type: ignore[attr-defined]
    tally = Tally()
    llm = MeteredLLM(load_llm("openvino:smollm2-135m"))
    config = qchunker.QAConfig(reply_tokens=256, retries=0, passes=0, variants=1)
    models = Models(default_embedder(), llm=llm, tally=tally)
    result = qchunker.qa_pairs(qchunker.from_text(text, "a.md"), config, models)
    assert llm.spending.calls >= 1
    assert result.counts["given"] + len(result.failed) >= 1
    known = {figure.value for figure in figures(text)}
    for pair in result.pairs:
        said = " ".join([pair.question, pair.answer, pair.full_answer or "", *pair.variants])
        assert {figure.value for figure in figures(said)} <= known
        assert all(word in text for word in re.findall(r"\b[A-Z]{2,}[-\d]*\b", said))
        assert pair.origin != "llm" or pair.evidence
    n_accounted = len(result.refused) + result.counts["merged"] + result.counts["merged by meaning"]
    n_accounted += sum(pair.origin == "llm" for pair in result.pairs)
    assert n_accounted == result.counts["given"]
