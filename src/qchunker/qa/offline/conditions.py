"""What a document says for the case that something is so: "If frost is possible, drain the casing"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.assertions import is_asserted
from qchunker.debate.offline.outlining import statements
from qchunker.debate.offline.outlining.wording import language_of, render
from qchunker.qa.cells import trimmed
from qchunker.qa.offline.place import Found, Pages
from qchunker.sentences import sentence_spans
from qchunker.types import Span

_LONGEST = 400
_FEWEST_BLANKS = 2  # of an English clause with a subject
_ITEM = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、])\s+")
_POINTS = re.compile(
    r"\b(?:this|that|so|these|those|it|its|they|their|them|he|she|you|your|we|our|above|below|following)\b|"
    r"[该该此这這其它他她您你]|上述|前述|前款|前条|以下|如下|下列",
    re.IGNORECASE,
)
# Clauses with two verbs hold what follows too; descriptions end like Chinese conditions.
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|might|may|can|could|will|would|should|must|do|does|did)\b", re.IGNORECASE
)
_DESCRIBES = re.compile("是|很|非常|比较|第[一二三四五六七八九十]|不仅|除了|所有|为了|[一二两]种")


def _is_more(clause: str) -> bool:
    """Whether a clause is more, or less, than a case that can be asked about: "if applicable" names none."""
    too_short = clause.isascii() and clause.count(" ") < _FEWEST_BLANKS
    return too_short or len(_VERB.findall(clause)) > 1 or _DESCRIBES.search(clause) is not None


def conditions(pages: Pages) -> Iterator[Found]:
    """A question for each case of which one sentence says what then holds; the case must be told without pointing."""
    text = pages.text
    for section, blocks in pages.bodies():
        about = pages.about(section)
        for block in blocks:
            if block.kind not in ("paragraph", "list_item") or not about:
                continue
            for sentence in sentence_spans(text, block.start, block.end):
                words = text[slice(*sentence)]
                language = language_of(words)
                found = statements.condition(text, sentence, language)
                if found is None or len(words) > _LONGEST or not is_asserted(words):
                    continue
                if (
                    _is_more(found.words)
                    or _POINTS.search(found.words)
                    or words.rstrip().endswith((":", "：", "?", "？"))
                ):
                    continue
                asked = render(language, found.pattern, found.words)
                question = f"{asked.rstrip('?')} ({about})?" if language == "en" else f"{about}中，{asked}"
                mark = _ITEM.match(text, *sentence)
                answer = Span(mark.end() if mark else sentence.start, sentence.end)
                yield Found(question, trimmed(text, answer), (), "condition")
