"""Markdown as CommonMark reads it: fences, front matter, comments, line ends."""

from __future__ import annotations

import re

import pytest
from promises import assert_blocks, block_with, blocks_of, case, case_text, cut, headings, sizes

from qchunker import CHUNKERS, Document, from_text

methods = pytest.mark.parametrize("method", CHUNKERS)
INFO_STRING_LINES = "```text a ``` b\n# not a heading (info string case)\n```\n\n"
FRONT = "title: Boiler notes\ntags:\n- heat\n- steam\n"


# cases 33, 78 and 80
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_headings_of_the_fence_file_are_the_two_real_ones(newline: str) -> None:
    text = case_text("fences.md").replace(INFO_STRING_LINES, "").replace("\n", newline)
    assert "info string" not in text
    document = from_text(text, "fences.md")
    assert headings(document) == ["Real one", "Real two"]
    assert len(blocks_of(document, "code")) == 5
    assert len(blocks_of(document, "html")) == 2
    assert_blocks(document)


def test_ticks_in_an_info_string_are_no_fence() -> None:
    document = from_text("# One\n\n```text a ``` b\n# Two\n\nText.\n", "x.md")
    assert headings(document) == ["One", "Two"]
    assert blocks_of(document, "code") == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "fenced",
    [
        "```\n# no\n```",
        "~~~\n# no\n~~~",
        '```py title="x"\n# no\n```',
        "~~~py ``` x\n# no\n~~~",
        "````\n```\n# no\n```\n# no\n````",
        "~~~~\n~~~\n# no\n~~~\n# no\n~~~~",
        "```\n# no\n`````",
        "~~~\n```\n# no\n~~~",
        "```\n~~~\n# no\n~~~\n# no\n```",
        "   ```\n   # no\n   ```",
        "   ```\n# no\n```",
        "```\n# no\n   ```",
        "```\n# no\n    ```\n# no\n```",
        "```\n# no\n``` x\n# no\n```",
        "```\n# no\n```   ",
        "```\n\n# no\n\n\n# no\n```",
        "    # no\n    # no",
        "\t# no",
        "- item\n\n  ```\n  # no\n  ```",
        "- item\n  ```\n  # no\n  ```\n- other",
        "1. item\n\n   ~~~sh\n   # no\n   ~~~\n\n   # no",
        "> ```\n> # no\n> ```",
        "> # no\n> text",
        "<!--\n# no\n-->",
        "<!--\n\n# no\n\n-->",
        "<pre>\n# no\n\n# no\n</pre>",
        "<script>\n# no\n</script>",
        "<div>\n# no\n</div>",
    ],
)
def test_nothing_inside_a_fence_list_quote_or_html_block_is_a_heading(fenced: str, newline: str) -> None:
    text = f"# Real one\n\n{fenced}\n\n# Real two\n\nText.\n".replace("\n", newline)
    document = from_text(text, "x.md")
    assert headings(document) == ["Real one", "Real two"]
    assert_blocks(document)


@pytest.mark.parametrize("fence", ["```", "~~~", "````py", "  ```"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fence_that_is_never_closed_runs_to_the_end(fence: str, newline: str) -> None:
    text = f"# Real one\n\n{fence}\n# no\n\nmore\n\n# no\n".replace("\n", newline)
    document = from_text(text, "x.md")
    assert headings(document) == ["Real one"]
    (code,) = blocks_of(document, "code")
    assert code.endswith("# no")


def test_a_fence_in_a_list_item_ends_with_the_item() -> None:
    document = from_text("- item\n\n  ```\n  # no\n\n# Real one\n\nText.\n", "x.md")
    assert headings(document) == ["Real one"]


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_comments_in_a_fence_of_a_plain_text_file_are_no_headings(fence: str) -> None:
    document = from_text(
        f"Some prose stands before the code.\n\n{fence}\n# Comment\n\nAppendix A\n\nx = 1\n{fence}\n\nMore.\n"
    )
    assert blocks_of(document, "heading") == []
    assert len(blocks_of(document, "code")) == 1


# cases 81 and 82
def test_front_matter_is_metadata_and_no_heading() -> None:
    document = case("front_matter.md")
    assert headings(document) == ["Start", "Sub part"]
    assert document.metadata["title"] == "Boiler notes"
    assert blocks_of(document, "front_matter") == ["---\n" + FRONT + "---"]
    assert blocks_of(document, "rule") == ["---"]
    assert block_with(document, "Light the burner.").heading_path == ("Start",)
    assert block_with(document, "After a rule.").heading_path == ("Start",)
    assert block_with(document, "Text under a setext").heading_path == ("Start", "Sub part")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "front",
    [FRONT, "title: Boiler notes\n", "title: 'Boiler notes'\n\ntags: [a]\n", '# c\ntitle: "Boiler notes"\n- x\n'],
)
@pytest.mark.parametrize("close", ["---", "...", "---  "])
def test_every_form_of_front_matter_is_set_apart(front: str, close: str, newline: str) -> None:
    text = f"---\n{front}{close}\n# Start\n\nBody.\n".replace("\n", newline)
    document = from_text(text, "x.md")
    assert headings(document) == ["Start"]
    assert document.metadata["title"] == "Boiler notes"
    assert len(blocks_of(document, "front_matter")) == 1
    assert block_with(document, "Body.").heading_path == ("Start",)


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nNo front matter here.\n\n---\n\n# Start\n",
        "Text.\n\n---\ntitle: x\n\n# Start\n",
        "---\ntitle: never closed\n\n# Start\n",
        "----\ntitle: x\n\n# Start\n",
    ],
)
def test_a_rule_at_the_top_is_not_front_matter(text: str) -> None:
    document = from_text(text, "x.md")
    assert blocks_of(document, "front_matter") == []
    assert headings(document)[-1] == "Start"


def test_front_matter_is_a_chunk_apart_from_the_body() -> None:
    front = "".join(f"key{number}: value of some length\n" for number in range(5))
    partition = cut(
        from_text(f"---\n{front}---\nBody text of the page.\n", "x.md"), "structure", sizes(700, min_chars=0)
    )
    assert [piece.kind for piece in partition.chunks] == ["front_matter", "paragraph"]


# cases 12, 84 and 85
def outline(document: Document) -> list[tuple[str, tuple[str, ...], int, str]]:
    """Blocks without their positions and line ends."""
    return [
        (block.kind, block.heading_path, block.level, " ".join(document.text[block.start : block.end].split()))
        for block in document.blocks
    ]


def test_a_file_with_other_line_ends_has_all_its_sections() -> None:
    document = case("crlf.md")
    assert headings(document) == ["Alpha", "Beta", "Gamma"]
    assert len(blocks_of(document, "table")) == 1
    assert blocks_of(document, "rule") == ["---"]
    assert document.metadata["title"] == "x"
    assert not any("\r" in title for block in document.blocks for title in block.heading_path)
    assert block_with(document, "Old mac line.").heading_path == ("Gamma",)


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize(
    "name",
    ["crlf.md", "front_matter.md", "fences.md", "long_table.md", "nested_list.md", "md_whitespace.md", "inline_heading.md",
     "multi_header_table.md", "no_outer_pipes.md", "table_in_fence.md", "consecutive_headings.md", "embedded_hash.md"],
)  # fmt: skip
def test_line_ends_change_offsets_and_nothing_else(name: str, newline: str) -> None:
    unix = re.sub(r"\r\n?", "\n", case_text(name))
    other = unix.replace("\n", newline)
    assert outline(from_text(other, name)) == outline(from_text(unix, name))


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize(
    "name",
    [
        "clauses.txt",
        "legal_zh.txt",
        "wrapped_heading.txt",
        "exception_clause.txt",
        "page_furniture.txt",
        "short_lines.txt",
    ],
)
def test_line_ends_change_nothing_in_plain_text_either(name: str, newline: str) -> None:
    unix = case_text(name)
    assert outline(from_text(unix.replace("\n", newline), name)) == outline(from_text(unix, name))


@methods
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_change_no_chunk(method: str, newline: str) -> None:
    unix = "# A\n\nOil the pump once a week. Check the seal.\n\n## B\n\nKeep the valve shut. Log the time.\n\n- one\n- two\n"
    pieces = []
    for text in (unix, unix.replace("\n", newline)):
        partition = cut(
            from_text(text, "x.md"), method, sizes(40, min_chars=0, tokenizer=lambda part: len(part.split()) * 4)
        )
        pieces.append([(" ".join(piece.text.split()), piece.heading_path, piece.cut) for piece in partition.chunks])
    assert pieces[0] == pieces[1]


# case X1 and X2
def test_a_fence_with_an_image_or_a_table_inside_is_one_code_block() -> None:
    document = case("table_in_fence.md")
    assert blocks_of(document, "table") == []
    assert blocks_of(document, "code") == [
        "~~~\n| a | b |\n|---|---|\n| 1 | 2 |\n~~~",
        "```md\nsee ![pic](a.png) here\nsecond line\n```",
    ]
    assert blocks_of(document, "paragraph") == ["Example:", "Done."]
    assert_blocks(document)


@pytest.mark.parametrize(
    "inner", ["| a | b |\n|---|---|\n| 1 | 2 |", "![a](b.png) tail", "---\nx: y\n---", "- a\n  - b", "> q", "<b>x</b>"]
)
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_whatever_stands_in_a_fence_is_code(fence: str, inner: str) -> None:
    document = from_text(f"Before.\n\n{fence}\n{inner}\n{fence}\n\nAfter.\n", "x.md")
    assert [block.kind for block in document.blocks] == ["paragraph", "code", "paragraph"]
    assert blocks_of(document, "code") == [f"{fence}\n{inner}\n{fence}"]
