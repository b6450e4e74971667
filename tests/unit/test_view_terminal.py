from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from qchunker.view.terminal import print_chunks, visible


def printed(text: str, *rows: dict[str, Any], width: int = 80, color: bool = False, limit: int | None = None) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="truecolor" if color else None,
        legacy_windows=False,
    )
    print_chunks(console, [{"doc_id": "d", "source": "d.txt", "text": text}], rows, limit=limit)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def chunk(start: int, end: int, **fields: Any) -> dict[str, Any]:
    return {"doc_id": "d", "start": start, "end": end, **fields}


def test_header_boundaries_and_sizes() -> None:
    rows = [
        chunk(0, 4, cut="start", kind="paragraph", page=2, heading_path=["A", "B"]),
        chunk(4, 10, cut="clause", oversize="a long row"),
    ]
    lines = printed("abcdefghij", *rows).splitlines()
    assert lines[0] == "d.txt"
    assert lines[1] == "2 chunks · 10 characters · size mean 5, median 5 · oversize 1"
    assert lines[3].startswith("1 · 0-4 · 4 chars ──")
    assert lines[4:6] == ["starts here: the document starts", "paragraph · page 2 · A > B"]
    assert lines[6] == "  abcd"
    assert lines[9].startswith("starts here: inside a sentence, after a clause")
    assert lines[10] == "oversize: a long row"
    assert "Chunk sizes in characters" in lines


def test_colours_only_where_wanted() -> None:
    assert "\x1b" not in printed("abc", chunk(0, 3))
    assert "\x1b[" in printed("abc", chunk(0, 3), color=True)


def test_no_color_keeps_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(file=io.StringIO(), width=80)
    print_chunks(console, [{"doc_id": "d", "text": "abc def"}], [chunk(0, 3)])
    assert isinstance(console.file, io.StringIO)
    output = console.file.getvalue()
    assert "\x1b" not in output
    assert "NO CHUNK HOLDS THIS TEXT · 3-7" in output


def test_markup_in_documents_is_text() -> None:
    hostile = "[red]x[/red] [link=http://e]y[/link] :smile: [/]"
    output = printed(hostile, chunk(0, len(hostile), heading_path=["[bold]h"], kind="[i]", cut="[blink]"))
    assert f"  {hostile}" in output
    assert "starts here: [blink]" in output
    assert "[i] · [bold]h" in output


def test_control_and_direction_characters_are_written_out() -> None:
    shown = visible("a\x1b[31m\x07\x9b\u202eb\rc\r\nd\te\x7f\ud800")
    assert shown.plain == "a␛[31m␇<U+009B><U+202E>b␍c\nd\te␡<U+D800>"
    assert visible("a\nb\tc", one_line=True).plain == "a␊b␉c"
    assert visible("👩\u200d🔬").plain == "👩\u200d🔬"


def test_no_control_character_reaches_the_terminal() -> None:
    bad = "x\x1b]0;title\x07\u2066y"
    rows = [
        chunk(
            0,
            len(bad),
            kind=bad,
            cut=bad,
            page=bad,
            oversize=bad,
            heading_path=[bad],
            chunk_id=bad,
            links=[{"kind": bad, "target": "t\x1b"}],
            question=bad,
            added=[{"text": bad, "kind": bad}],
        )
    ]
    output = printed(bad, *rows)
    assert not set(output) & {"\x1b", "\x07", "\u2066"}


@pytest.mark.parametrize("width", [20, 80, 200])
def test_lines_fit_the_width_in_cells(width: int) -> None:
    text = "设备租赁合同的定义：" * 30 + "\n" + "mixed 中文 words " * 20 + "x" * 300
    output = printed(text, chunk(0, len(text), heading_path=["第一条定义" * 30]), width=width)
    assert max(cell_len(line) for line in output.splitlines()) <= width
    assert "".join(text.split()) in "".join(output.split())


def test_lost_and_shared_text_is_marked() -> None:
    output = printed("abcdefghi", chunk(0, 4), chunk(2, 6), width=100)
    assert "3 characters in no chunk" in output
    assert "NO CHUNK HOLDS THIS TEXT · 6-9 · 3 chars" in output
    assert "  [also in chunk 1: cd]ef" in output


def test_lead_in_header_and_links() -> None:
    rows = [
        chunk(0, 4, links=[{"kind": "limited_by", "target": "d:4-9", "evidence": []}]),
        chunk(4, 9, lead_in=[2, 4], context=[[0, 2]], links=[{"kind": "limits", "target": "elsewhere"}]),
    ]
    output = printed("abcdefghi", *rows)
    assert "-> is limited by chunk 2" in output
    assert "-> limits elsewhere (not in these chunks)" in output
    assert "  [lead-in] cd\n  [repeated header] ab\n  efghi\n" in output


def test_limit_tells_what_is_left_out() -> None:
    rows = [chunk(i, i + 1) for i in range(5)]
    assert "3 more chunks of this document" in printed("abcde", *rows, limit=2)
    assert "more chunk" not in printed("abcde", *rows, limit=5)
    assert "5 more chunks" in printed("abcde", *rows, limit=0)


def test_giants_do_not_flatten_the_histogram() -> None:
    text = "a" * 10_000
    rows = [chunk(i * 10, i * 10 + 10) for i in range(10)] + [chunk(100, 10_000)]
    lines = printed(text, *rows, limit=0).splitlines()
    bars = lines[lines.index("Chunk sizes in characters") + 1 :]
    assert len(bars) == 13
    assert bars[-1].split()[0] == "60-9,900"
    assert sum(int(bar.split()[-1]) for bar in bars if "█" in bar) == 11


def test_no_chunks() -> None:
    output = printed("abc")
    assert "0 chunks" in output
    assert output.endswith("no chunks\n")


def test_what_was_refused_is_shown_with_its_reason() -> None:
    output = printed("abc", chunk(0, 3, refused=[{"kind": "rewrite", "text": "abd", "reason": "lost: c"}]))
    assert "refused rewrite: lost: c" in output


def test_the_question_and_what_is_added_are_shown() -> None:
    output = printed("abc", chunk(0, 3, question="What is abc?", added=[{"text": " (X)", "kind": "time_or_place"}]))
    assert "answers: What is abc?" in output
    assert "+ time or place: (X)" in output
