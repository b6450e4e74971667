"""What lint says, and when it is silent."""

from __future__ import annotations

import pytest

from qchunker import ChunkingConfig, from_text, lint

BODY = "The relief valve opens at nine bar and closes again when the pressure has fallen to seven bar."
ROWS = "".join(f"| {number} | value {number} |\n" for number in range(40))


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        (f"{BODY}\n\nStorage\n\n{BODY}\n", "x.txt", "doubtful_heading"),
        (f"# A\n\n{BODY}\n\n### B\n\n{BODY}\n", "x.md", "skipped_level"),
        (f"# A\n\n{BODY}\n\n# B\n\n# C\n\n{BODY}\n", "x.md", "empty_section"),
        (f"| a | b |\n|---|---|\n{ROWS}", "x.md", "oversize_block"),
        (f"| {'a' * 300} | b |\n|---|---|\n{ROWS}", "x.md", "long_header"),
        ("安全阀开启" * 400, "x.txt", "no_stops"),
        (f"{BODY}\n\n" * 3, "x.txt", "repeated_text"),
        ("left one here      right one here\n" * 4, "x.txt", "columns"),
        ("a,b\n1,2\n\"x,3\n", "x.csv", "doubtful_records"),
        (f"<body><nav>Home</nav><p>{BODY}</p></body>", "x.html", "dropped_text"),
        ("lone \ud83d surrogate", "x.txt", "replaced_characters"),
        ("Page 1 of 3\nOne.\n\fPage 2 of 3\nTwo.\n\fPage 3 of 3\nThree.\n", "x.txt", "furniture"),
    ],
)  # fmt: skip
def test_each_kind_is_found_where_it_is(text: str, name: str, kind: str) -> None:
    document = from_text(text, name)
    notes = [note for note in lint(document, ChunkingConfig(target_chars=250)) if note.kind == kind]
    assert len(notes) == 1
    assert notes[0].message
    if notes[0].span is not None:
        assert 0 <= notes[0].span.start < notes[0].span.end <= len(document.text)


def test_a_sound_document_gives_no_findings() -> None:
    assert lint(from_text(f"# Valves\n\n{BODY}\n\n## Storage\n\n{BODY}储存应当干燥。\n", "x.md")) == []
    assert lint(from_text(f"1. Valves\n\n{BODY}\n\n1.1 Storage\n\n{BODY}\n\n2. Pumps\n\n{BODY} Oil them.\n")) == []
