"""Everything that a model would be asked about a document, for a dry run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qchunker.config import QAConfig
from qchunker.models.load import Models
from qchunker.qa.evidence import read
from qchunker.qa.figures import Figures
from qchunker.qa.grouping import groups_in, groups_of
from qchunker.qa.llm.full_answers import with_full_answers
from qchunker.qa.llm.generator import generated, generated_for
from qchunker.qa.llm.setting import setting_of
from qchunker.qa.llm.variants import with_variants
from qchunker.qa.pairs import QAPair
from qchunker.qa.words import Said
from qchunker.types import Document, Partition, Span

_LEFT_OUT = 10  # every how manieth sentence is supposed to be asked for again


def ask_for_all(
    document: Document, config: QAConfig, models: Models, groups: Partition | Sequence[tuple[int, int]] | None = None
) -> None:
    """Ask the model of a dry run what a real one would be asked: one pair per sentence stands for what it would say.

    Args:
        document: that pairs would be made of.
        config: as for ``qa_pairs``.
        models: with a model that only counts.
        groups: as for ``qa_pairs``.
    """
    if models.llm is None:
        return
    if groups is None:
        parts = groups_of(document, config.group_size, config.least_group)
    else:
        spans = groups.spans if isinstance(groups, Partition) else [Span(start, end) for start, end in groups]
        parts = groups_in(document, spans)
    reads = [read(document, group) for group in parts]
    setting = setting_of(models.llm, replace(config, retries=0), models.tally)
    generated(document, parts, reads, setting)
    if config.passes:
        left = {group.number: group.wanted[::_LEFT_OUT] for group in parts}
        generated_for(document, parts, reads, left, setting, 1)
    pairs = [
        QAPair(document, document.text[unit.start : unit.end], document.text[unit.start : unit.end], group.number,
               (Span(unit.start, unit.end),), "llm", "verbatim")
        for group in parts for unit in (group.units[at] for at in group.wanted)
    ]  # fmt: skip
    if config.full_answers:
        with_full_answers(document, parts, pairs, setting, Said(document.text), Figures(document.text))
    if config.variants:
        with_variants(document, pairs, setting, None)
