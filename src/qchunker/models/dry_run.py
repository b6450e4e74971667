"""A model that answers nothing and counts what it would have been asked: what a run will cost, before it does."""

from __future__ import annotations

from collections.abc import Sequence

from qchunker.errors import ModelUnavailableError
from qchunker.models.llm import Done, Reply, Request
from qchunker.models.metered import estimated_tokens, prompt_tokens

# What replies of each form hold, by the first field of their schema: tokens, and share of the tokens of the request's
# own text and of what it shares with others.
_EXPECTED = {
    "questions": (20, 0.0, 0.2), "starts": (60, 0.0, 0.0), "chunks": (100, 0.1, 0.0), "items": (20, 0.15, 0.0),
    "text": (20, 0.8, 0.0), "id": (10, 0.0, 0.0), "size": (10, 0.0, 0.0), "anchors": (20, 0.3, 0.0),
    "Summary": (60, 1.5, 0.0), "variants": (20, 0.8, 0.0), "full_answers": (40, 1.5, 0.0),
}  # fmt: skip
# Free text: the ends of chunks, or, where nothing is shared with other requests, a copy in chunks.
_ANCHORS, _COPY = (60, 0.0, 0.15), (60, 1.0, 0.0)


class DryRunLLM:
    """Answers every request with the error that nothing is asked; the rules then play the roles.

    Args:
        id: of the model that would be asked.
    """

    def __init__(self, id: str) -> None:
        self.id = id
        self.calls = self.prompt_tokens = self.completion_tokens = 0

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        for request in requests:
            self.calls += 1
            self.prompt_tokens += prompt_tokens(request)
            self.completion_tokens += min(request.max_tokens, _expected(request))
        return [ModelUnavailableError(self.id, "a dry run asks nothing") for _ in requests]


def _expected(request: Request) -> int:
    fields = [] if request.schema is None else list(request.schema.get("properties", {}))
    free = _ANCHORS if request.shared else _COPY
    least, own, shared = _EXPECTED.get(fields[0], free) if fields else free
    return round(least + own * estimated_tokens(request.own) + shared * estimated_tokens(request.shared))
