"""What the roles of a language model share: the model, its prompts, and what was noticed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig, LLMConfig
from qchunker.models.llm import LLM, Request, Tally
from qchunker.models.load import is_mostly_chinese
from qchunker.prompts import LANGUAGES, Prompt, load_prompt
from qchunker.types import Document

ROLE_PROMPTS = ("outline", "segmenter", "segmenter_anchors", "reviewer", "verifier", "completer", "repair")


@dataclass(frozen=True, slots=True)
class Setting:
    """A model at work.

    Args:
        llm: any model.
        config: how it is asked.
        sizes: of chunks.
        prompts: by role and language.
        tally: of what happened.
    """

    llm: LLM
    config: LLMConfig
    sizes: ChunkingConfig
    prompts: Mapping[tuple[str, str], Prompt]
    tally: Tally = field(default_factory=Tally)

    def prompt(self, role: str, document: Document) -> Prompt:
        return self.prompts[role, language_of(document)]

    def request(
        self, role: str, document: Document, values: Mapping[str, str], schema: Mapping[str, Any] | None, **more: Any
    ) -> Request:
        """What is asked of a role, without chance where nothing else is said."""
        system, shared, own = self.prompt(role, document).fill(**values)
        return Request(system, f"{shared}\n\n" if shared else "", own, self.config.reply_tokens, schema, **more)

    @property
    def measure(self) -> Measure:
        return Measure.of_config(self.sizes)

    @property
    def signature(self) -> str:
        """Everything of the model and its prompts that results depend on."""
        config = self.config
        digest = "".join(prompt.sha256[:4] for _, prompt in sorted(self.prompts.items()))
        return (
            f"llm={self.llm.id} prompts={digest} llm_paths={config.paths} temperature={config.temperature:g} "
            f"top_p={config.top_p:g} answers={config.answers} window={config.window_chars} "
            f"per_review={config.chunks_per_review} rounds={config.rounds} with_rules={int(config.with_rules)} "
            f"llm_seed={config.seed}"
        )


def setting_of(llm: LLM, config: LLMConfig, sizes: ChunkingConfig, tally: Tally | None = None) -> Setting:
    """A model with the prompts of its configuration.

    Raises:
        ConfigError: if a prompt of the user's folder cannot be used.
    """
    folder = None if config.prompts is None else Path(config.prompts)
    prompts = {(role, one): load_prompt(role, one, folder) for role in ROLE_PROMPTS for one in LANGUAGES}
    return Setting(llm, config, sizes, prompts, Tally() if tally is None else tally)


def language_of(document: Document) -> str:
    return _language(document.text)


@lru_cache(maxsize=4)  # every request about a document asks
def _language(text: str) -> str:
    return "zh" if is_mostly_chinese(text) else "en"
