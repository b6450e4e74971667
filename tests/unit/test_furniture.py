"""Running headers, footers, page numbers and contents lines."""

from __future__ import annotations

import time

import pytest

from qchunker.parsing.furniture import (
    contents_line,
    furniture_spans,
    looks_interleaved,
    shorten_leaders,
)


def _removed(pages: list[str]) -> list[str]:
    text, starts = "", []
    for page in pages:
        starts.append(len(text))
        text += page + "\n"
    return [text[start:end] for start, end in furniture_spans(text, starts)]


def _page(number: int, header: str = "", footer: str = "") -> str:
    body = [f"Body line {word} of part {chr(96 + number)} runs on." for word in ("one", "two", "three", "four")]
    return "\n".join(filter(None, [header, *body, footer]))


def test_header_and_page_count_with_a_blank_page() -> None:
    pages = [
        "ACME Manual   Rev 3\nThe valve opens at 9\nPage 4 of 60",
        "ACME Manual   Rev 3\nbar and closes at 7 bar.\nPage 5 of 60",
        "",
        "ACME Manual   Rev 3\nStore spares dry.\nPage 7 of 60",
    ]
    assert _removed(pages) == [
        *("ACME Manual   Rev 3", "Page 4 of 60", "ACME Manual   Rev 3", "Page 5 of 60"),
        *("ACME Manual   Rev 3", "Page 7 of 60"),
    ]


@pytest.mark.parametrize(
    "mark",
    [
        "Page 4 of 60",
        "page 3",
        "PAGE 3/9",
        "第 3 页 共 9 页",
        "第3页",
        "共 9 页 第 3 页",
        "- 12 -",
        "— 7 —",
        "3 of 9",
        "p. 3/9",
    ],
)
def test_unmistakable_page_marks_need_no_repetition(mark: str) -> None:
    assert _removed([_page(1, footer=mark), _page(2)]) == [mark]
    assert _removed([_page(1, header=mark), _page(2)]) == [mark]


@pytest.mark.parametrize("line", ["Page 4 of 60 shows the valve.", "第3页的表格", "12", "iv", "1.2", "- item 12"])
def test_a_line_that_only_resembles_a_page_mark_stays(line: str) -> None:
    assert _removed([_page(1, footer=line), _page(2)]) == []


def test_bare_numbers_count_as_page_numbers_only_when_they_count() -> None:
    assert _removed([_page(n, footer=str(n + 10)) for n in range(1, 6)]) == ["11", "12", "13", "14", "15"]
    assert _removed([_page(n, footer=str(n * n + 3)) for n in range(1, 6)]) == []


def test_roman_page_numbers() -> None:
    assert _removed([_page(n, header=word) for n, word in enumerate(["i", "ii", "iii", "iv"], 1)]) == [
        "i",
        "ii",
        "iii",
        "iv",
    ]


def test_alternating_headers_of_odd_and_even_pages() -> None:
    pages = [_page(n, header="泵站操作规程" if n % 2 else "ACME 公司") for n in range(1, 9)]
    assert len(_removed(pages)) == 8


def test_header_that_carries_the_page_number_beside_a_changing_title() -> None:
    pages = [_page(n, header=f"topic {chr(96 + n)} {n + 20}") for n in range(1, 15)]
    assert len(_removed(pages)) == 14


def test_numbered_headings_at_page_tops_stay() -> None:
    pages = [_page(n, header=f"{n} {title}") for n, title in enumerate(["Scope", "Terms", "Rules", "Checks"], 1)]
    assert _removed(pages) == []


def test_chapter_number_that_equals_the_page_number_stays() -> None:
    pages = [_page(n, header=f"topic {chr(96 + n)} {n}") for n in range(1, 15)]
    pages[4] = _page(5, header="Chapter 5")
    assert "Chapter 5" not in _removed(pages)


def test_two_lines_of_header_are_both_removed_but_nothing_behind_body_text() -> None:
    pages = [f"ACME\nConfidential\n{_page(n)}" for n in range(1, 5)]
    assert _removed(pages) == ["ACME", "Confidential"] * 4
    shielded = [f"Opening words {chr(96 + n)} differ.\nSee the annex.\n{_page(n)}" for n in range(1, 5)]
    assert _removed(shielded) == []


@pytest.mark.parametrize("header", ["| Part | Torque |", "Part\tTorque\tUnit", "零件  扭矩  单位"])
def test_table_header_repeated_on_continuation_pages_stays(header: str) -> None:
    middle = f"Intro text.\nMore text.\nThird line.\n{header}\nrow a\nrow b\nrow c\nrow d"
    tops = [f"{header}\nbolt {7 * n % 5}\nnut {3 * n % 4}\nwasher {n * n}\npin {9 - n * n}" for n in range(1, 4)]
    plain = [_page(n) for n in range(4, 12)]
    assert _removed([middle, *tops, *plain]) == []


@pytest.mark.parametrize("clause", ["Not applicable.", "不适用。"])
def test_short_clause_that_happens_to_repeat_stays(clause: str) -> None:
    pages = [_page(n, footer=clause if n in (2, 7, 11) else "") for n in range(1, 13)]
    assert _removed(pages) == []


def test_spans_are_whole_lines_without_line_end_and_sorted() -> None:
    text = "H\na\nb\n\fH\nc\nd\n\fH\ne\nf\n"
    starts = [0, text.index("\f") + 1, text.rindex("\f") + 1]
    spans = furniture_spans(text, starts)
    assert [text[start:end] for start, end in spans] == ["H", "H", "H"]
    assert spans == sorted(spans)


def test_degenerate_input() -> None:
    assert furniture_spans("", []) == []
    assert furniture_spans("", [0, 0, 0]) == []
    assert furniture_spans("one line", [0]) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1.2 Scope ........ 7", "1.2 Scope ... 7"),
        ("第一章 总则……3", "第一章 总则 ... 3"),
        ("1.1 Getting the sources. . . . . . . 1", "1.1 Getting the sources ... 1"),
        ("Preface . . . . . . . iv", "Preface ... iv"),
        ("附录A 试验方法············（12）", "附录A 试验方法 ... 12）"),
    ],
)
def test_contents_lines_and_their_short_form(line: str, expected: str) -> None:
    assert contents_line(line)
    assert shorten_leaders(line) == expected


@pytest.mark.parametrize(
    "line",
    ["", "Total 3", "wait ... 3", "........ 7", "See 1.2.3.4", "x = a[1 .. 9]", "他说……好", "1.2 Scope"],
)
def test_lines_that_are_not_contents(line: str) -> None:
    assert not contents_line(line)
    assert shorten_leaders(line) == line


def test_interleaved_columns_are_suspected_and_ordinary_pages_are_not() -> None:
    assert looks_interleaved(
        [
            "The crew checked every winch       moved the ship to the inner",
            "and then it was late               berth at noon today.",
            "Safety comes first now             Budget of the year",
            "All crews wear helmets and         The budget grows by two",
        ]
    )
    assert looks_interleaved([f"the spec- moved the ship {word} again" for word in ("one", "two", "three")])
    assert not looks_interleaved([f"An ordinary line {word} of running text." for word in ("one", "two", "three")])
    assert not looks_interleaved(["pre- and post-processing of the whole text"] * 5)


def test_time_is_linear() -> None:
    pages = [_page(n % 20 + 1, header=f"Manual {n}", footer=f"Page {n} of 9999") for n in range(4000)]
    start = time.perf_counter()
    assert len(_removed(pages)) == 8000
    assert time.perf_counter() - start < 10
