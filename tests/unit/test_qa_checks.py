"""Numbers, names, negations and words of answers against what they rest on; pairs that say the same."""

from __future__ import annotations

import time

import pytest

from qchunker import from_text
from qchunker.models.fake import HashingEmbedder
from qchunker.models.load import default_embedder
from qchunker.qa.cells import row_cells
from qchunker.qa.duplicates import keeps_meaning, merged, normalised
from qchunker.qa.evidence import evidence_units, read, uncovered
from qchunker.qa.figures import Figures, figures
from qchunker.qa.grouping import groups_of
from qchunker.qa.llm.judge import bears
from qchunker.qa.pairs import QAPair
from qchunker.qa.summaries import checked_summary
from qchunker.qa.support import scope_of, verdict
from qchunker.qa.swaps import swaps
from qchunker.qa.words import Said, content_words, is_chinese
from qchunker.types import Document, Span


@pytest.mark.parametrize(("text", "values"), [
    ("24 months, 1,000 rpm, twelve hours", ["24", "1000", "12"]), ("保存三年，温度30 °C，百分之二", ["30", "3", "2"]),
    ("二十四个月内两次", ["24", "2"]), ("-5 °C", ["-5"]), ("F07 and HL-50", []), ("one of them, the first", []),
])  # fmt: skip
def test_numbers_are_read_however_they_are_written(text: str, values: list[str]) -> None:
    assert sorted(figure.value for figure in figures(text)) == sorted(values)


@pytest.mark.parametrize(("said", "answer", "problem"), [
    ("The warranty lasts 24 months.", "24 months", None), ("A 24-month warranty.", "24 months", None),
    ("The warranty lasts 24 months.", "24 weeks", "unit"), ("The warranty lasts 24 months.", "25 months", "number"),
    ("It takes ten minutes.", "ten hours", "unit"), ("It takes ten minutes.", "10 minutes", None),
    ("质保期为24个月。", "二十四个月", None), ("质保期为24个月。", "24天", "unit"), ("续借期为15天。", "15册", "count"),
    ("| Type | Flow in m3/h |\n| K1 | 66 |", "66 m3/h", None), ("From 10-15 pairs", "10 to 15", None),
    ("30 seconds later, ten minutes", "30 minutes", "unit"), ("占百分之五", "5%", None), ("EUR 2,400", "2400", None),
    ("up to 1,000 requests a day", "1,000 requests", None), ("three years", "three rents", "count"),
])  # fmt: skip
def test_numbers_are_compared_with_what_they_count(said: str, answer: str, problem: str | None) -> None:
    known = Figures(said)
    assert next(filter(None, map(known.problem, figures(answer))), None) == problem


def test_words_that_say_something_are_stems_and_pairs_of_characters() -> None:
    assert content_words("The pumps are stopped by the operator") == ["pump", "stop", "oper"]
    assert content_words("泵的流量") == ["泵", "流量"]
    assert "os.path" in content_words("call os.path twice")
    assert Said("The pump was stopped").share(content_words("stopping pumps")) == 1
    assert Said("x").longest_unsaid(["a", "b", "x", "c"]) == 2
    assert is_chinese("KL-20 的闪点")
    assert not is_chinese("The 泵 of the works in Essen")


def checked(text: str, question: str, answer: str, name: str = "a.md") -> str | None:
    document = from_text(text, name)
    (group,) = groups_of(document)
    scope = scope_of(read(document, group), Said(text), Figures(text), "")
    return verdict(question, answer, scope).reason


CURVES = "# Curves\n\n| Type | Flow in m3/h | Head in m |\n|---|---|---|\n| KL-21 | 63 | 28 |\n| KL-22 | 66 | 29 |\n"


@pytest.mark.parametrize(("question", "answer", "reason"), [
    ("What is the flow of KL-21?", "63", None), ("What is the flow of KL-21?", "63 m3/h", None),
    ("What is the flow of KL-21?", "66 m3/h", "mixed"), ("What is the head of KL-22?", "29 m", None),
    ("What is the head of KL-22?", "28 m", "mixed"), ("What is the head of KL-23?", "29 m", "name in the question"),
])  # fmt: skip
def test_a_number_of_another_row_is_no_answer(question: str, answer: str, reason: str | None) -> None:
    assert checked(CURVES, question, answer) == reason


@pytest.mark.parametrize(("text", "question", "answer", "reason"), [
    ("The guard must not be disarmed during the shift.", "May the guard be disarmed during the shift?", "No, it must not be disarmed.", None),
    ("The guard must not be disarmed during the shift.", "What about the guard during the shift?", "The guard must be disarmed during the shift.", "negation"),
    ("值班期间不得关闭报警器。", "值班期间可以关闭报警器吗？", "不得关闭报警器。", None),
    ("值班期间不得关闭报警器。", "值班期间可以关闭报警器吗？", "可以关闭报警器。", "negation"),
    ("It is a myth that the seal lasts forever.", "How long does the seal last?", "The seal lasts forever.", "not asserted"),
    ("Oil is changed after at least 500 hours.", "When is the oil changed?", "After at most 500 hours.", "bound"),
    ("每柜不得超过50升。", "每柜最多可以存放多少？", "至少50升。", "negation"),
    ("The operator may open the lid.", "What about the lid?", "The operator must open the lid.", "modal"),
    ("The tool reads several formats.", "Which formats does the tool read?", "Several formats, for example tables.", "unsupported"),
    ("该工具支持多种格式。", "该工具支持哪些格式？", "支持多种格式，例如表格和图片。", "unsupported"),
])  # fmt: skip
def test_what_turns_its_text_round_or_adds_to_it_is_refused(
    text: str, question: str, answer: str, reason: str | None
) -> None:
    assert checked(text, question, answer, "a.txt") == reason


def pair(document: Document, question: str, answer: str, at: str) -> QAPair:
    start = document.text.index(at)
    return QAPair(document, question, answer, 0, (Span(start, start + len(at)),), "llm", "words")


def test_a_sentence_is_answered_when_its_words_and_numbers_are_taken_up() -> None:
    text = "The rent is 2,400 euros and due on day 3. Heating is not included. Welding is forbidden in hall B."
    document = from_text(text, "a.txt")
    group = read(document, groups_of(document)[0])
    rent = pair(document, "How much is the rent?", "2,400 euros.", "The rent is 2,400 euros and due on day 3.")
    assert uncovered(group, [rent]) == [0, 1, 2]  # when it is due was not asked
    due = pair(document, "When is the rent due?", "On day 3.", "The rent is 2,400 euros and due on day 3.")
    assert uncovered(group, [rent, due]) == [1, 2]
    assert evidence_units(group, "What of heating?", "Heating is not included.") == [1]
    assert evidence_units(group, "What is forbidden, and what is not included?", "Welding in hall B; heating.") == [
        1,
        2,
    ]


QUESTIONS = from_text("The alarm limit of the detector is 25 ppm. It is checked each month.", "a.txt")
LIMIT = "The alarm limit of the detector is 25 ppm."


def test_questions_that_differ_in_writing_only_are_one() -> None:
    wordings = [
        "What is the alarm limit?",
        "what is the alarm limit",
        "What is the alarm limit ？",
        "WHAT IS THE ALARM-LIMIT?",
    ]
    assert len(set(map(normalised, wordings))) == 1
    result = merged([pair(QUESTIONS, words, "25 ppm", LIMIT) for words in wordings], None)
    assert (len(result.pairs), result.n_equal) == (1, 3)
    result = merged(
        [pair(QUESTIONS, wordings[0], "25 ppm", LIMIT), pair(QUESTIONS, wordings[1], "Each month.", LIMIT)], None
    )
    assert [one.reason for one in result.refused] == ["another answer"]


@pytest.mark.parametrize(("one", "other", "same"), [
    ("What is the flow at 3.5 bar?", "What is the flow at 35 bar?", False), ("What is C?", "What is C++?", False),
    ("What is C?", "What is C#?", False), ("What is the limit at -5 °C?", "What is the limit at 5 °C?", False),
    ("What is the limit at −5 °C?", "what is the limit at -5°C", True), ("What does R-1.2 do?", "What does R-12 do?", False),
    ("What is due at 10:30?", "What is due at 1030?", False), ("What are 1 2?", "What are 12?", False),
    ("What is grade A+?", "What is grade A-?", False), ("What is .NET?", "What is net?", False),
    ("What does “max_size” set?", "What does 'max_size' set", True), ("What does max_size set?", "What does maxsize set?", False),
    ("Which part fits 10-15 mm?", "Which part fits 10–15 mm?", True), ("Which part fits 1-5 mm?", "Which part fits 15 mm?", False),
    ("３.５ bar 时流量是多少？", "3.5bar时流量是多少", True), ("3.5 bar时流量是多少？", "35 bar时流量是多少？", False),
    ("C语言是什么？", "C++语言是什么？", False), ("零下5度与-5度？", "零下5度与5度？", False), ("什么是“质保期”？", "什么是质保期?", True),
])  # fmt: skip
def test_signs_of_numbers_and_names_are_no_matter_of_writing(one: str, other: str, same: bool) -> None:
    assert (normalised(one) == normalised(other)) is same


@pytest.mark.parametrize(("one", "other", "same"), [
    ("How often is the relief valve tested?", "At what intervals is the relief valve tested?", True),
    ("质保期多长？", "质保期为多久？", True), ("What is the flow of model A?", "What is the flow of model B?", False),
    ("What is the maximum pressure?", "What is the minimum pressure?", False), ("When does the valve open?", "When does the valve close?", False),
    ("What must the Seller do?", "What must the Buyer do?", False), ("Is the pump tested?", "Is the pump not tested?", False),
    ("甲型泵的流量是多少？", "乙型泵的流量是多少？", False), ("What is due on day 3?", "What is due on day 4?", False),
    ("Which documents does the applicant submit?", "Where does the applicant submit documents?", True),
    ("Who submits the documents?", "When are the documents submitted?", False), ("谁检查仓库？", "什么时候检查仓库？", False),
])  # fmt: skip
def test_questions_about_two_things_are_never_one(one: str, other: str, same: bool) -> None:
    assert keeps_meaning(one, other) is same
    result = merged(
        [pair(QUESTIONS, one, "25 ppm", LIMIT), pair(QUESTIONS, other, "25 ppm", LIMIT)], default_embedder()
    )
    assert len(result.pairs) == 2 - same
    if same:
        assert result.pairs[0].variants == (other,)


def test_questions_that_rest_on_other_sentences_or_have_other_answers_are_two() -> None:
    first = pair(QUESTIONS, "What is the alarm limit of the detector?", "25 ppm", LIMIT)
    for other in (pair(QUESTIONS, "Which alarm limit has the detector?", "each month", LIMIT),
                  pair(QUESTIONS, "Which alarm limit has the detector?", "25 ppm", "It is checked each month.")):  # fmt: skip
        assert len(merged([first, other], HashingEmbedder(), threshold=0.0).pairs) == 2


@pytest.mark.parametrize("line", ["甲," + " " * 100_000 + '"q', 'a, "x"' + " " * 100_000 + "y", '"' + '""' * 50_000])
def test_cells_of_a_line_full_of_spaces_take_linear_time(line: str) -> None:
    started = time.process_time()
    row_cells(line, Span(0, len(line)))
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("line", "cells"), [
    ('a , " b, ""c""" ,d', ["a", "", "d"]), ('压力,"6 bar, 冷态",', ["压力", "6 bar, 冷态", ""]), (" ,\"x\" ", ["", "x"]),
])  # fmt: skip
def test_cells_of_csv_have_no_quotes_and_spaces_around_them(line: str, cells: list[str]) -> None:
    assert [line[slice(*cell)] for cell in row_cells(line, Span(0, len(line)))] == cells


@pytest.mark.parametrize("sentence", ["Part {} weighs {} kg. ", "零件{}重{}千克。"])
def test_sentences_without_answers_are_found_in_linear_time(sentence: str) -> None:
    text = "".join(sentence.format(n, n) for n in range(4_000))
    document = from_text(text, "a.txt")
    group = read(document, groups_of(document, 10_000)[0])
    units = group.group.units
    pairs = [QAPair(document, "What?", "x", 0, (Span(unit.start, unit.end),), "llm", "words") for unit in units]
    started = time.process_time()
    assert len(uncovered(group, pairs)) == len(units)
    assert time.process_time() - started < 5


JUDGED = "# KL-21\n\nThe supply pressure is 300 kPa. The tank must be emptied before transport. The pump KL-22 stops.\n"
JUDGED_ZH = "# 手册\n\n供水压力为300千帕。水箱应当在运输前排空。密封件不得涂油。\n"


@pytest.mark.parametrize(("text", "quote", "question", "answer", "expected"), [
    (JUDGED, "supply pressure", "What is the supply pressure?", "The supply pressure is chosen freely by anybody who likes explosions in the garden", False),
    (JUDGED, "supply pressure", "What happens when the tank is full?", "Pour petrol into the tank and light a match.", False),
    (JUDGED, "supply pressure", "Where is the supply pressure sold?", "Write to mallory at evil dot example and send your password", False),
    (JUDGED, "tank must be emptied", "When is the tank emptied?", "The tank has to be drained and emptied before transport.", True),
    (JUDGED, "tank must be emptied", "What is the supply pressure?", "The supply pressure is 300 kPa.", False),
    (JUDGED, "supply pressure", "What is the supply pressure?", "The supply pressure of the pump is 300 kPa.", True),
    (JUDGED, "supply pressure", "What is the supply pressure?", "The supply pressure is 300 MPa.", False),
    (JUDGED, "supply pressure", "What is the supply pressure?", "The supply pressure of KL-22 is 300 kPa.", False),
    (JUDGED, "supply pressure", "What is the supply pressure?", "The supply pressure of KL-21 is 300 kPa.", True),
    (JUDGED, "supply pressure", "Does the tank leak?", "Yes.", False),
    (JUDGED, "tank must be emptied", "Must the tank be emptied?", "Yes.", True),
    (JUDGED_ZH, "供水压力", "水箱满了怎么办？", "往里面倒汽油并点火。", False), (JUDGED_ZH, "供水压力", "供水压力是多少？", "供水压力等于300千帕。", True),
    (JUDGED_ZH, "供水压力", "供水压力是多少？", "供水压力等于500千帕。", False), (JUDGED_ZH, "水箱应当在运输前", "何时排空水箱？", "运输以前须排空。", True),
    (JUDGED_ZH, "密封件不得", "何时排空水箱？", "运输以前须排空。", False),
])  # fmt: skip
def test_what_a_judge_quotes_bears_the_answer(
    text: str, quote: str, question: str, answer: str, expected: bool
) -> None:
    document = from_text(text, "a.md")
    group = read(document, groups_of(document)[0])
    start = text.index(quote)
    assert bears(group, Span(start, start + len(quote)), question, answer) is expected


THINGS = (
    "The weight of the pump and of the valve, Alpha and Beta; the tank is emptied and filled, the seal mounted and removed. "
    "The alarm has a limit and a level and sounds. 水泵和阀门的压力与温度，阿尔法和贝塔，安装和拆卸密封件，报警限值，质保期。"
)


@pytest.mark.parametrize(("one", "other", "expected"), [
    ("What is the weight of the pump?", "What is the weight of the valve?", True), ("What is the pressure of Alpha?", "What is the pressure of Beta?", True),
    ("When must the tank be emptied?", "When must the tank be filled?", True), ("How is the seal mounted?", "How is the seal removed?", True),
    ("Who pays the Buyer?", "Who does the Buyer pay?", True), ("Who informs the landlord?", "Whom does the landlord inform?", True),
    ("Who informs the landlord?", "By whom is the landlord informed?", False), ("Who must inform the landlord?", "Who informs the landlord?", False),
    ("Is the valve safe?", "Is the valve unsafe?", True), ("What is the fee for members?", "What is the fee for non-members?", True),
    ("What may the tenant do?", "What must the tenant do?", True), ("What can the tenant do?", "What may the tenant do?", False),
    ("How heavy is the pump?", "What is the weight of the pump?", False), ("What is the weight of the pump?", "What is the mass of the pump?", False),
    ("What is the alarm limit?", "At which level does the alarm sound?", False), ("How is the tank emptied?", "How is the tank drained?", False),
    ("水泵的压力是多少？", "水泵的温度是多少？", True), ("水泵的压力是多少？", "阀门的压力是多少？", True), ("阿尔法的压力是多少？", "贝塔的压力是多少？", True),
    ("谁应当通知房东？", "房东应当通知谁？", True), ("谁通知房东？", "由谁通知房东？", False), ("怎样安装密封件？", "怎样拆卸密封件？", True),
    ("租客可以做什么？", "租客应当做什么？", True), ("怎样安装密封件？", "如何安装密封件？", False), ("水泵的压力是多少？", "水泵的压力有多大？", False),
    ("质保期多长？", "质保期为多久？", False),
])  # fmt: skip
def test_a_wording_asks_for_the_same_thing_of_the_same_one(one: str, other: str, expected: bool) -> None:
    assert swaps(one, other, Said(THINGS)) is expected
    assert swaps(other, one, Said(THINGS)) is expected


def test_whether_something_may_be_is_no_negation() -> None:
    assert keeps_meaning("是否可以打开外壳？", "可以打开外壳吗？")
    assert not keeps_meaning("会员的费用是多少？", "非会员的费用是多少？")


@pytest.mark.parametrize(("text", "summary", "expected"), [
    (JUDGED, "The supply pressure is 300 kPa.", "The supply pressure is 300 kPa."), (JUDGED, "The supply pressure is 400 kPa.", ""),
    (JUDGED, "Supply pressure\x1b\x07 of\nthe pump. https://evil.example/x", "Supply pressure of the pump."),
    (JUDGED, "Supply pressure of the pump KL-99.", ""), (JUDGED, "Write to mallory and send your password.", ""), (JUDGED, "", ""),
    (JUDGED_ZH, "供水压力与水箱排空", "供水压力与水箱排空"), (JUDGED_ZH, "供水压力为500千帕", ""), (JUDGED_ZH, "请把密码发给某人", ""),
    (JUDGED_ZH, "供水压力\u200b，见www.evil.example。", "供水压力，见 。"),
])  # fmt: skip
def test_a_summary_says_what_its_group_says(text: str, summary: str, expected: str) -> None:
    document = from_text(text, "a.md")
    scope = scope_of(read(document, groups_of(document)[0]), Said(text), Figures(text), "")
    assert checked_summary(summary, scope) == expected
