"""Question-answer pairs: duplicates, padding, and names that the text does not have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contract.scripted_debate import InProcess
from contract.scripted_qa import pairs_json
from qchunker import QAConfig, QAResult, from_text, qa_pairs
from qchunker.models.load import Models, default_embedder

CASES = Path(__file__).parent.parent / "cases"
GIVEN = [(one["q"], one["a"]) for one in json.loads((CASES / "qa_duplicates.json").read_text("utf-8"))]
TEXT = "The alarm limit is 25 ppm: at this level the alarm sounds.\n\n报警限值是25 ppm，达到该值时报警器鸣响。\n"


def taken(text: str, pairs: list[tuple[str, str]]) -> QAResult:
    llm = InProcess(lambda _: pairs_json(pairs))
    config = QAConfig(judge=False, with_rules=False, passes=0)
    return qa_pairs(from_text(text, "a.md"), config, Models(default_embedder(), llm=llm))


def test_wordings_that_differ_in_case_width_and_marks_are_one_pair() -> None:
    result = taken(TEXT, GIVEN)
    questions = [pair.question for pair in result.pairs]
    assert questions.count("What is the alarm limit?") == 1
    assert "what is the alarm limit" not in questions
    assert sum(question.startswith("报警限值是多少") for question in questions) == 1
    assert result.counts["merged"] == 2


def test_a_wording_of_the_same_meaning_is_a_wording_of_the_pair() -> None:
    (pair,) = [one for one in taken(TEXT, GIVEN).pairs if one.question == "What is the alarm limit?"]
    assert "At which level does the alarm sound?" in pair.variants


def test_the_same_pair_twelve_times_of_twenty_is_counted_and_not_padded() -> None:
    others = [(f"What does lamp {n} show?", f"Lamp {n} shows fault {n}.") for n in range(8)]
    text = "The alarm limit is 25 ppm. " + " ".join(answer for _, answer in others)
    result = taken(text, [GIVEN[0]] * 12 + others)
    assert (result.counts["given"], result.counts["unique"], result.counts["merged"]) == (20, 9, 11)
    assert result.counts["asked"] == 9
    assert len(result.pairs) == 9


def test_a_name_that_is_not_in_the_text_is_refused() -> None:
    result = taken(TEXT, [
        *GIVEN, ("Which vendor made the alarm?", GIVEN[-1][1]), ("What does Norddruck GmbH limit?", "25 ppm"),
    ])  # fmt: skip
    assert "Norddruck" not in str([(pair.question, pair.answer, pair.variants) for pair in result.pairs])
    assert result.reasons["name"] == 1
    assert result.reasons["name in the question"] == 1


@pytest.mark.parametrize("invented", ["CSV, JSON and XML.", "Several data formats such as CSV.", "Tables and images."])
def test_no_list_of_formats_is_invented(invented: str) -> None:
    text = (CASES / "qa_short_doc.txt").read_text("utf-8")
    result = taken(text, [("Which data formats does the tool support?", invented),
                          ("What does the tool support?", "The tool supports several data formats.")])  # fmt: skip
    assert [pair.answer for pair in result.pairs] == ["The tool supports several data formats."]
    assert len(result.refused) == 1
    assert all(pair.answer in text for pair in qa_pairs(from_text(text, "a.txt")).pairs)
