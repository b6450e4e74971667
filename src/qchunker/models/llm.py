"""What a language model that follows instructions is to this package. Chunking and scoring need none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Prompt(NamedTuple):
    """What is asked. ``shared`` comes first, so that servers which remember beginnings read it once.

    Args:
        shared: instructions and text that many prompts have in common.
        own: what only this prompt says.
    """

    shared: str
    own: str


class LLM(Protocol):
    """Prompts to replies. A reply is untrusted text, whatever was asked for."""

    @property
    def id(self) -> str:
        """Name and version: everything the replies depend on, apart from chance."""

    def complete(
        self, prompts: Sequence[Prompt], *, max_tokens: int, temperature: float = 0.0, top_p: float = 1.0, seed: int = 0
    ) -> list[str]:
        """One reply per prompt, in the same order.

        Raises:
            ModelUnavailableError: if the server may answer later. ModelOutputError: if there is no reply in its answer.
        """
