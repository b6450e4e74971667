"""How the small models are asked: as the paper asks them, with prompts that users may replace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from qchunker.config import ChunkingConfig, LLMConfig
from qchunker.debate.llm.setting import Setting
from qchunker.models.llm import LLM, Request, Tally
from qchunker.prompts import LANGUAGES, load_prompt
from qchunker.types import Document

TEMPERATURE = TOP_P = 0.1
"""Of the replies of generator and refiner, as the released inference code has it."""


def setting_for(role: str, llm: LLM, config: LLMConfig, sizes: ChunkingConfig, tally: Tally) -> Setting:
    """A model that plays one role, with the prompt of the role.

    Raises:
        ConfigError: if a prompt of the user's folder cannot be used.
    """
    folder = None if config.prompts is None else Path(config.prompts)
    prompts = {(name, one): load_prompt(name, one, folder) for name in (role, "repair") for one in LANGUAGES}
    return Setting(llm, replace(config, temperature=TEMPERATURE, top_p=TOP_P), sizes, prompts, tally)


def sampled(setting: Setting, role: str, document: Document, values: Mapping[str, str]) -> Request:
    """What generator and refiner are asked: for free text, with little chance."""
    config = setting.config
    return setting.request(
        role, document, values, None, temperature=config.temperature, top_p=config.top_p, seed=config.seed
    )


def signature_of(role: str, setting: Setting) -> str:
    """Everything of a small model and its prompts that results depend on."""
    config = setting.config
    digest = "".join(prompt.sha256[:4] for _, prompt in sorted(setting.prompts.items()))
    return (
        f"{role}={setting.llm.id} {role}_prompts={digest} {role}_window={config.window_chars} "
        f"{role}_tokens={config.reply_tokens} {role}_seed={config.seed}"
    )
