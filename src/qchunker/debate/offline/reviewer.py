"""The integrity reviewer by rules: what does each chunk need that stands elsewhere in the document?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from qchunker.debate.offline.gaps.coreference import coreferences
from qchunker.debate.offline.gaps.cross_reference import cross_references
from qchunker.debate.offline.gaps.definition import abbreviations, definitions
from qchunker.debate.offline.gaps.exception import exceptions
from qchunker.debate.offline.gaps.heading_context import heading_contexts
from qchunker.debate.offline.gaps.subject_entity import subject_entities
from qchunker.debate.offline.gaps.tables import table_headers, units
from qchunker.debate.offline.gaps.time_or_place import times
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.types import GAP_KINDS, Document, Gap, Review, Span

# One line per kind, in the order in which a gap that fits two kinds takes its kind.
DETECTORS: dict[str, Callable[[DocumentIndex, Span], Iterator[Gap]]] = {
    "table_header": table_headers,
    "unit_or_scope": units,
    "exception_or_condition": exceptions,
    "cross_reference": cross_references,
    "abbreviation": abbreviations,
    "definition": definitions,
    "time_or_place": times,
    "coreference": coreferences,
    "heading_context": heading_contexts,
    "subject_entity": subject_entities,
}
MAX_GAPS = 12


def review(document: Document, chunks: Sequence[Span], kinds: Collection[str] = GAP_KINDS) -> list[Review]:
    """Find what each chunk lacks.

    Args:
        document: from ``parse`` or ``from_text``.
        chunks: spans of the document.
        kinds: the kinds of gaps to look for.

    Returns:
        One review per chunk, in the same order.
    """
    index = DocumentIndex(document)
    detectors = [detect for kind, detect in DETECTORS.items() if kind in kinds]
    reviews = []
    for chunk in chunks:
        span = Span(chunk[0], chunk[1])
        found = [gap for detect in detectors for gap in detect(index, span)]
        reviews.append(Review(span.start, span.end, tuple(distinct(found))))
    return reviews


def distinct(found: Sequence[Gap]) -> list[Gap]:
    """Gaps by their surfaces, one for each piece of knowledge; of too many, the required ones."""
    kept: list[Gap] = []
    for gap in sorted(found, key=lambda gap: gap.necessity != "required"):
        if not any(_same_knowledge(gap, other) for other in kept):
            kept.append(gap)
    return sorted(kept[:MAX_GAPS], key=lambda gap: (gap.surface, gap.kind))


def _same_knowledge(one: Gap, other: Gap) -> bool:
    """Whether two gaps are filled by the same words."""
    a, b = one.evidence[0], other.evidence[0]
    return min(a.end, b.end) - max(a.start, b.start) > 0.5 * max(a.end - a.start, b.end - b.start)
