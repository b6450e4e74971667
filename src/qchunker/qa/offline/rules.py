"""All rules together: pairs without a model.

Source: GC-QA-RAG asks a model; these are what can be had without one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from qchunker.qa import standalone
from qchunker.qa.duplicates import normalised
from qchunker.qa.offline.conditions import conditions
from qchunker.qa.offline.definitions import definitions
from qchunker.qa.offline.faq import questions
from qchunker.qa.offline.headings import headings
from qchunker.qa.offline.key_values import key_values
from qchunker.qa.offline.place import Found, Pages
from qchunker.qa.offline.steps import steps
from qchunker.qa.offline.tables import cells
from qchunker.qa.pairs import Group, QAPair, RefusedPair
from qchunker.types import Document, Span

RULES: dict[str, Callable[[Pages], Iterator[Found]]] = {
    "faq": questions, "steps": steps, "definition": definitions, "table": cells, "key_value": key_values,
    "condition": conditions, "heading": headings,
}  # fmt: skip
"""In the order in which their questions are preferred."""


def pairs_by_rules(document: Document, groups: Sequence[Group]) -> tuple[list[QAPair], list[RefusedPair]]:
    """Pairs whose answers are stretches of the document, and those that were not taken.

    A question that cannot stand alone is refused, and so is one that the document answers in two ways.

    Args:
        document: any document.
        groups: of it, for the number that each pair bears.
    """
    pages = Pages(document)
    found = [one for rule in RULES.values() for one in rule(pages)]
    starts = [group.start for group in groups]
    answers: dict[str, set[str]] = {}
    for one in found:
        answers.setdefault(normalised(one.question), set()).add(document.text[slice(*one.answer)])
    taken: Counter[str] = Counter()
    answered: set[Span] = set()
    pairs: list[QAPair] = []
    refused: list[RefusedPair] = []
    for one in found:
        key, answer = normalised(one.question), document.text[slice(*one.answer)]
        group = max(0, bisect_right(starts, one.answer.start) - 1)
        problem = one.problem or standalone.problem(one.question)
        if problem is None and len(answers[key]) > 1:
            problem = "another answer"
        if problem is not None:
            refused.append(RefusedPair(one.question, answer, group, problem))
        elif not taken[key] and not (one.origin == "heading" and one.answer in answered):
            taken[key] += 1
            answered.add(one.answer)
            # A cell belongs to its row: the names of the columns stand elsewhere.
            place = one.evidence[0] if one.origin == "table" else None
            evidence = tuple(sorted({one.answer, *one.evidence}))
            pairs.append(QAPair(document, one.question, answer, group, evidence, one.origin, "verbatim", place=place))
    return sorted(pairs, key=lambda pair: (pair.evidence, pair.question)), refused
