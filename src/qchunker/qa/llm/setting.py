"""What all requests about pairs share: the model, its prompts, and what it is shown of the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from qchunker.config import QAConfig
from qchunker.debate.llm.setting import language_of
from qchunker.debate.llm.windows import around, title_of
from qchunker.models.llm import LLM, Request, Tally
from qchunker.prompts import LANGUAGES, Prompt, load_prompt
from qchunker.qa.pairs import Group
from qchunker.types import Document, Span

PROMPTS = ("qa_single", "qa_group", "qa_more", "qa_full_answer", "qa_variants", "qa_judge", "repair")
ACKNOWLEDGED = {
    "en": "I have read the document and keep it as background. Which passage shall I work on?",
    "zh": "我已阅读该文档，并将其作为背景。请给出要处理的段落。",
}
_FOCUS = 0.34  # of the window, that one request asks about
_INSIDE = 0.7  # of a window that holds what neighbouring requests ask about
_OUTLINE_CHARS = 1_500


@dataclass(frozen=True, slots=True)
class QASetting:
    """A model at work.

    Args:
        llm: any model.
        config: how it is asked.
        prompts: by name and language.
        tally: of what happened.
    """

    llm: LLM
    config: QAConfig
    prompts: Mapping[tuple[str, str], Prompt]
    tally: Tally = field(default_factory=Tally)

    def prompt(self, name: str, document: Document) -> Prompt:
        return self.prompts[name, language_of(document)]

    @property
    def signature(self) -> str:
        """Everything of the model and its prompts that pairs depend on."""
        config, digest = self.config, "".join(prompt.sha256[:4] for _, prompt in sorted(self.prompts.items()))
        return (
            f"llm={self.llm.id} prompts={digest} temperature={config.temperature:g} top_p={config.top_p:g} "
            f"window={config.window_chars} passes={config.passes} retries={config.retries} judge={int(config.judge)} "
            f"with_rules={int(config.with_rules)} full_answers={int(config.full_answers)} "
            f"variants={config.variants} seed={config.seed}"
        )


def setting_of(llm: LLM, config: QAConfig, tally: Tally) -> QASetting:
    """A model with the prompts of its configuration.

    Raises:
        ConfigError: if a prompt of the user's folder cannot be used.
    """
    folder = None if config.prompts is None else Path(config.prompts)
    prompts = {(name, one): load_prompt(name, one, folder) for name in PROMPTS for one in LANGUAGES}
    return QASetting(llm, config, prompts, tally)


class Part(NamedTuple):
    """Sentences of one group that one request asks about.

    Args:
        group: number of the group.
        units: numbers of its units that pairs are to answer.
        span: from the first to the last of them.
    """

    group: int
    units: tuple[int, ...]
    span: Span


class Memory(NamedTuple):
    """What a model is to remember of a document while it works on some parts.

    Args:
        span: of the text that it is shown.
        is_whole: whether that is the whole document.
        is_single: whether there is one part, so that nothing is remembered beside it.
    """

    span: Span
    is_whole: bool
    is_single: bool = False


def parts_of(groups: Sequence[Group], window_chars: int) -> list[Part]:
    """All that is asked about: a group, or several stretches of one that is long."""
    room = max(1, int(_FOCUS * window_chars))
    parts: list[Part] = []
    for group in groups:
        held: list[int] = []
        for at in group.wanted:
            if held and group.units[at].end - group.units[held[0]].start > room:
                parts.append(_part(group, held))
                held = []
            held.append(at)
        if held:
            parts.append(_part(group, held))
    return parts


def _part(group: Group, units: Sequence[int]) -> Part:
    return Part(group.number, tuple(units), Span(group.units[units[0]].start, group.units[units[-1]].end))


def memories(document: Document, parts: Sequence[Part], window_chars: int) -> list[Memory]:
    """For each part what is remembered: the document where it fits, else the text around; neighbours share one.

    What is shown for all parts together grows linearly with the document.
    """
    whole = Span(0, len(document.text))
    if len(document.text) <= window_chars:
        return [Memory(whole, True, is_single=len(parts) == 1)] * len(parts)
    starts: list[int] = []
    for part in parts:
        fits = bool(starts) and part.span.end - starts[-1] <= _INSIDE * window_chars
        starts.append(starts[-1] if fits else part.span.start)
    ends = {start: part.span.end for start, part in zip(starts, parts, strict=True)}
    spans = {start: around(document, Span(start, min(end, start + window_chars)), window_chars)
             for start, end in ends.items()}  # fmt: skip
    return [Memory(spans[start], False) for start in starts]


def outline_of(document: Document) -> str:
    """The headings of a document, those of the upper levels first where there is no room for all."""
    headings = [block for block in document.blocks if block.kind == "heading" and block.heading_path]
    for depth in range(max((block.level for block in headings), default=0), 0, -1):
        kept = [block for block in headings if block.level <= depth]
        lines = [f"{'  ' * (block.level - 1)}- {' '.join(block.heading_path[-1].split())}" for block in kept]
        if sum(map(len, lines)) + len(lines) <= _OUTLINE_CHARS:
            return "\n".join(lines)
    return ""


def background(document: Document, memory: Memory, setting: QASetting) -> tuple[str, str]:
    """System and shared part of all requests about a stretch, whatever is asked of it."""
    values = {"title": title_of(document), "text": document.without_furniture(*memory.span), "count": ""}
    if memory.is_single:
        return setting.prompt("qa_single", document).fill(**values)[:2]
    outline = "-" if memory.is_whole else outline_of(document)
    return setting.prompt("qa_group", document).fill(**values, outline=outline, path="", passage="")[:2]


def request(
    setting: QASetting, document: Document, filled: tuple[str, str, str], schema: Mapping[str, Any] | None, seed: int,
    *, sampled: bool = True,
) -> Request:  # fmt: skip
    """A request in two turns where something is to be remembered first, else in one.

    Args:
        setting: of the model.
        document: whose language it is in.
        filled: system, shared and own part.
        schema: of the reply.
        seed: of the sampling.
        sampled: whether chance takes part, as in the method; judgements are made without.
    """
    system, shared, own = filled
    config = setting.config
    chance: dict[str, Any] = {"temperature": config.temperature, "top_p": config.top_p, "seed": seed} if sampled else {}
    said = ACKNOWLEDGED[language_of(document)] if shared else ""
    return Request(system, shared, own, config.reply_tokens, schema, acknowledged=said, **chance)
