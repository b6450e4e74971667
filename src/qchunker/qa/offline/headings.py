"""What a short section says under a heading that names something."""

from __future__ import annotations

from collections.abc import Iterator

from qchunker.debate.offline.outlining.wording import context, has_chinese, language_of, render
from qchunker.qa.cells import trimmed
from qchunker.qa.offline.place import Found, Pages
from qchunker.types import Span

_LONGEST_EN, _LONGEST_ZH = 1_500, 600
_LEAST = 20
_MOST = 0.5


def headings(pages: Pages) -> Iterator[Found]:
    """A question for each short section of prose, where the document has a title that tells what it is about."""
    if not pages.title:
        return
    for section, blocks in pages.bodies():
        if not section.title or section.generic or section.title.endswith(("?", "？")):
            continue
        if _is_title(section.title, pages.title):
            continue
        if not blocks or all(block.kind in ("table", "record", "code") for block in blocks):
            continue
        answer = trimmed(pages.text, Span(blocks[0].start, blocks[-1].end))
        # Titles in one language and text in another are translated in part.
        language = "zh" if has_chinese(section.title + pages.title) else "en"
        longest = _LONGEST_EN if language_of(pages.text[slice(*answer)]) == "en" else _LONGEST_ZH
        if not _LEAST <= answer.end - answer.start <= longest or pages.holds_furniture(*answer):
            continue
        words = render(language, "heading_of", context(section.title, 60), context(pages.title, 60))
        yield Found(words, answer, (section.evidence,), "heading")


def _is_title(heading: str, title: str) -> bool:
    """Whether a heading is the title, or most of it."""
    short, long = sorted((heading, title), key=len)
    return short in long and len(short) > _MOST * len(long)
