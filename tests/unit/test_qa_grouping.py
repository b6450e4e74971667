"""Groups of sentences are spans of the document that cut no table and no code."""

from __future__ import annotations

import pytest

from qchunker import QAConfig, chunk, from_text, parse
from qchunker.errors import ConfigError
from qchunker.qa.grouping import groups_in, groups_of
from qchunker.qa.pairs import Group


def wanted(groups: tuple[Group, ...]) -> list[int]:
    return [len(group.wanted) for group in groups]


def sentences(n: int, language: str) -> str:
    if language == "en":
        return " ".join(f"Valve {number} closes the line at once." for number in range(n))
    return "".join(f"第{number}号阀门立即关闭管线。" for number in range(n))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("n", "expected"), [(1, [1]), (9, [9]), (10, [10]), (14, [14]), (15, [10, 5]), (24, [10, 14]), (60, [10] * 6)]
)
def test_ten_sentences_make_a_group_and_a_short_last_one_joins(language: str, n: int, expected: list[int]) -> None:
    document = from_text(sentences(n, language), "a.txt")
    groups = groups_of(document)
    assert wanted(groups) == expected
    assert [group.number for group in groups] == list(range(len(groups)))
    for group in groups:
        assert document.text[group.start : group.end].strip() == document.text[group.start : group.end]
    assert wanted(groups_of(document, size=3, least=0)) == [3] * (n // 3) + [n % 3] * (n % 3 > 0)


def test_names_with_dots_code_and_blank_sentences_do_not_count() -> None:
    text = (
        "Call `os.path.join` with v2.1.0 of lib.core. It returns a path.\n\n* * *\n\n```python\na = 1. \nb. c. d. e.\n```\n\n"
        "...\n\n1.\n\nSee www.example.com. Oil it well.\n"
    )
    (group,) = groups_of(from_text(text, "a.md"))
    assert len(group.wanted) == 4
    kinds = [unit.kind for unit in group.units]
    assert kinds.count("code") == 1


def test_tables_and_code_are_in_one_group() -> None:
    table = "| Type | Flow |\n|---|---|\n" + "".join(f"| K{n} | {n} |\n" for n in range(25))
    code = "```\n" + "line one. line two.\n" * 40 + "```\n"
    text = (
        f"# Pumps\n\n{sentences(8, 'en')}\n\n{table}\n{code}\n{sentences(8, 'en')}\n\n## Oil\n\n{sentences(6, 'zh')}\n"
    )
    document = from_text(text, "a.md")
    groups = groups_of(document)
    for block in document.blocks:
        if block.kind in ("table", "code"):
            inside = [group for group in groups if group.start < block.end and group.end > block.start]
            assert len(inside) == 1
            assert inside[0].start <= block.start
            assert block.end <= inside[0].end + 1
        if block.kind == "heading":
            inside = [group for group in groups if group.start <= block.start < group.end]
            assert inside
            assert inside[0].end > block.end  # it is with the text below it
    assert sum(wanted(groups)) == 8 + 25 + 8 + 6
    assert all(
        unit.header is not None for group in groups for unit in group.units if unit.kind == "row" and unit.wants_answer
    )


@pytest.mark.parametrize("method", ["structure", "sentence", "qchunker"])
def test_groups_may_be_the_chunks_of_any_chunker(method: str) -> None:
    for name in ("pump-manual.en.md", "supply-contract.zh.txt"):
        document = parse(f"examples/{name}")
        partition = chunk(document, method)
        groups = groups_in(document, partition.spans)
        assert {unit.start for group in groups for unit in group.units} == {
            unit.start for group in groups_of(document) for unit in group.units
        }
        for group in groups:
            assert any(span.start <= group.start < span.end for span in partition.spans)


def test_a_sentence_in_parts_is_in_one_group() -> None:
    text = "；".join(f"满{n}年的休假{n}天" for n in range(1, 14)) + "。" + sentences(8, "zh")
    groups = groups_of(from_text(text, "a.txt"))
    assert all(not text[: group.end].endswith("；") for group in groups)


def test_questions_and_titles_want_no_answer() -> None:
    text = (
        "Harbour Workshop\n\nWho pays for it?\n\nThe Tenant pays all of it.\n\n费用由谁承担？\n\n费用由承租人承担。\n"
    )
    groups = groups_of(from_text(text, "a.txt"))
    kept = [text[group.units[at].start : group.units[at].end] for group in groups for at in group.wanted]
    assert kept == ["The Tenant pays all of it.", "费用由承租人承担。"]


@pytest.mark.parametrize("text", ["# Only\n\n## Headings\n", "```\ncode\n```\n", "?\n"])
def test_what_says_nothing_has_no_sentences(text: str) -> None:
    assert sum(wanted(groups_of(from_text(text, "a.md")))) == 0


def test_half_a_million_characters_take_no_longer_than_linear_time() -> None:
    document = from_text(sentences(15_000, "en"), "a.txt")
    assert len(groups_of(document)) == 1500


@pytest.mark.parametrize(
    "bad",
    [{"group_size": 0}, {"temperature": 3}, {"top_p": 2}, {"variants": -1}, {"passes": 1.5}, {"reply_tokens": True}],
)
def test_impossible_settings_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        QAConfig(**bad)  # type: ignore[arg-type]
