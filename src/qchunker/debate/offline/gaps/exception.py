"""Rules whose exception, and values whose caveat, stands in another chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import REQUIRED, gaps
from qchunker.debate.offline.gaps.footnote import footnotes
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.limits import Limit, limits_on
from qchunker.types import Gap, Span


def exceptions(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Sentences elsewhere that take cases out of a rule in the chunk."""
    yield from footnotes(index, chunk)
    seen: set[Span] = set()
    for limit in limits_on(index, chunk):
        if limit.exception in seen:
            continue
        seen.add(limit.exception)
        yield from gaps(index, chunk, "exception_or_condition", _surface(index, chunk, limit), limit.evidence, REQUIRED)


def _surface(index: DocumentIndex, chunk: Span, limit: Limit) -> Span:
    """The first sentence of the rule that lies in the chunk."""
    start = max(limit.rule.start, chunk.start)
    visible = re.compile(r"[^\s#]").search(index.text, start, chunk.end)
    at = visible.start() if visible else start
    return Span(at, min(index.sentence_at(at).end, chunk.end, at + 80))
