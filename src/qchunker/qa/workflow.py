"""Question-answer pairs of a document in order: group, ask, check, merge, ask again for what is left out.

Source: GC-QA-RAG, with every promise of the method checked.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from qchunker.config import QAConfig
from qchunker.debate.llm.windows import title_of
from qchunker.debate.workflow import RunStage, run_directly
from qchunker.errors import InputError
from qchunker.models.embedder import Embedder
from qchunker.models.load import Models, default_embedder
from qchunker.qa import standalone
from qchunker.qa.duplicates import merged, normalised
from qchunker.qa.evidence import Read, read, spans_of, uncovered, verbatim_span
from qchunker.qa.figures import Figures
from qchunker.qa.grouping import groups_in, groups_of
from qchunker.qa.llm.full_answers import with_full_answers
from qchunker.qa.llm.generator import Given, RawPair, generated, generated_for
from qchunker.qa.llm.judge import judged
from qchunker.qa.llm.setting import QASetting, setting_of
from qchunker.qa.llm.variants import with_variants
from qchunker.qa.offline.rules import pairs_by_rules
from qchunker.qa.pairs import FailedGroup, Group, QAPair, QAResult, RefusedPair
from qchunker.qa.summaries import checked_summary
from qchunker.qa.support import Scope, Verdict, scope_of, verdict
from qchunker.qa.words import Said
from qchunker.types import Document, Partition, Span


def qa_pairs(
    document: Document,
    config: QAConfig | None = None,
    models: Models | None = None,
    *,
    groups: Partition | Sequence[tuple[int, int]] | None = None,
    run: RunStage = run_directly,
) -> QAResult:
    """Question-answer pairs that the document holds, each understood by itself, none twice.

    Args:
        document: from ``parse`` or ``from_text``.
        config: sizes, sampling, and which further passes there are.
        models: the model that is asked, and the embedder that finds questions of the same meaning. Without a model the
            pairs are those of the rules: few, with answers that are stretches of the document.
        groups: a partition of any chunker, or (start, end) pairs, in place of groups of so many sentences.
        run: runs the stages ``pairs``, ``coverage``, ``full answers`` and ``variants``; a stage with groups that failed
            does not end for it.

    Raises:
        InputError: if the document is none.
        ModelError: if no request can succeed. BudgetError: if the next request could cost more than what is left.
    """
    if not isinstance(document, Document):
        raise InputError(f"document must be a Document, got {type(document).__name__}", hint="use from_text or parse")
    config = config or QAConfig()
    work = _work(document, config, models, groups)
    setting = work.setting
    if setting is None:
        return _by_rules(work)
    _stage(run, "pairs", document, lambda: _first_pass(work, setting))
    if config.passes:
        _stage(run, "coverage", document, lambda: _further_passes(work, setting))
    _fill_with_rules(work)
    if config.full_answers:
        _stage(run, "full answers", document, lambda: _full_answers(work, setting))
    if config.variants:
        _stage(run, "variants", document, lambda: _variants(work, setting))
    return _result(work)


@dataclass(slots=True)
class _Work:
    """A document in work, and what has been made of it so far."""

    document: Document
    config: QAConfig
    setting: QASetting | None
    embedder: Embedder
    groups: tuple[Group, ...]
    reads: list[Read]
    words: Said
    numbers: Figures
    pairs: list[QAPair] = field(default_factory=list)
    refused: list[RefusedPair] = field(default_factory=list)
    failed: list[FailedGroup] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    scopes: dict[int, Scope] = field(default_factory=dict)

    def scope(self, group: int) -> Scope:
        if group not in self.scopes:
            self.scopes[group] = scope_of(self.reads[group], self.words, self.numbers, title_of(self.document))
        return self.scopes[group]

    def uncovered(self) -> dict[int, list[int]]:
        """By group, the numbers of the sentences that no pair answers; what a section says of its heading is none."""
        by_group: dict[int, list[QAPair]] = {}
        starts = [group.start for group in self.groups]
        for pair in (one for one in self.pairs if one.origin != "heading"):
            edges = {at for span in pair.evidence for at in (span.start, span.end - 1)}
            for number in {max(0, bisect_right(starts, at) - 1) for at in edges}:
                by_group.setdefault(number, []).append(pair)
        return {group.number: left for group in self.groups
                if (left := uncovered(self.reads[group.number], by_group.get(group.number, ())))}  # fmt: skip


class _UnfinishedError(Exception):
    """Ends a stage in which groups failed, so that nobody writes down that it is finished."""


def _stage(run: RunStage, name: str, document: Document, make: Callable[[], bool]) -> None:
    """Run a stage; ``make`` tells whether all of it is finished."""

    def made() -> None:
        if not make():
            raise _UnfinishedError

    with contextlib.suppress(_UnfinishedError):
        run(name, made, document)


def _work(
    document: Document, config: QAConfig, models: Models | None, given: Partition | Sequence[tuple[int, int]] | None
) -> _Work:
    if given is None:
        groups = groups_of(document, config.group_size, config.least_group)
    else:
        spans = given.spans if isinstance(given, Partition) else [Span(start, end) for start, end in given]
        groups = groups_in(document, spans)
    setting = None
    if models is not None and models.llm is not None:
        setting = setting_of(models.llm, config, models.tally)
    embedder = models.embedder if models is not None else default_embedder()
    reads = [read(document, group) for group in groups]
    return _Work(document, config, setting, embedder, groups, reads, Said(document.text), Figures(document.text))


def _by_rules(work: _Work) -> QAResult:
    pairs, refused = pairs_by_rules(work.document, work.groups)
    work.pairs, work.refused = pairs, refused
    work.counts["given"] = len(pairs) + len(refused)
    return _result(work)


def _first_pass(work: _Work, setting: QASetting) -> bool:
    given = generated(work.document, work.groups, work.reads, setting)
    work.failed = given.failed
    _take(work, given)
    return not given.failed


def _further_passes(work: _Work, setting: QASetting) -> bool:
    """Ask for exactly the sentences that no pair answers; those of failed groups were asked for often enough."""
    for number in range(1, work.config.passes + 1):
        left = {group: [at for at in units if not _has_failed(work, group, at)]
                for group, units in work.uncovered().items()}  # fmt: skip
        if not any(left.values()):
            break
        work.counts["sentences asked for again"] += sum(map(len, left.values()))
        before = len(work.pairs)
        given = generated_for(work.document, work.groups, work.reads, left, setting, number)
        _take(work, given)
        if len(work.pairs) == before:
            break
    return True


def _has_failed(work: _Work, group: int, at: int) -> bool:
    unit = work.groups[group].units[at]
    return any(one.group == group and one.start <= unit.start < one.end for one in work.failed)


def _take(work: _Work, given: Given) -> None:
    """Check what was given, and merge what passes with what there is."""
    work.counts["asked"] += given.n_asked
    work.counts["given"] += len(given.pairs)
    passed: list[QAPair | None] = []
    doubtful: list[tuple[int, RawPair, Verdict]] = []
    for raw in given.pairs:
        found = _checked(work, raw)
        if isinstance(found, QAPair):
            passed.append(found)
        elif found.is_doubtful and work.config.judge:
            doubtful.append((len(passed), raw, found))
            passed.append(None)
        else:
            work.refused.append(RefusedPair(raw.question, raw.answer, raw.group, found.reason or ""))
    if doubtful and work.setting is not None:
        work.counts["judged"] += len(doubtful)
        shown = judged(work.document, work.reads, [raw for _, raw, _ in doubtful], work.setting)
        for (place, raw, found), is_shown in zip(doubtful, shown, strict=True):
            if is_shown:
                passed[place] = _pair(work, raw, found, "judged")
            else:
                work.refused.append(RefusedPair(raw.question, raw.answer, raw.group, found.reason or ""))
    _merge(work, [pair for pair in passed if pair is not None])


def _merge(work: _Work, pairs: Sequence[QAPair]) -> None:
    result = merged([*work.pairs, *pairs], work.embedder, work.config.duplicate_cosine)
    work.pairs = result.pairs
    work.counts["merged"] += result.n_equal
    work.counts["merged by meaning"] += result.n_alike
    work.refused += result.refused


def _checked(work: _Work, raw: RawPair) -> QAPair | Verdict:
    if not raw.question or not raw.answer:
        return Verdict("empty")
    problem = standalone.problem(raw.question)
    if problem is not None:
        return Verdict(problem)
    found = verdict(raw.question, raw.answer, work.scope(raw.group))
    return found if found.reason is not None else _pair(work, raw, found, "verbatim" if found.is_verbatim else "words")


def _pair(work: _Work, raw: RawPair, found: Verdict, support: str) -> QAPair:
    group = work.reads[raw.group]
    evidence = spans_of(group.group.units, found.units)
    if not evidence:
        span = verbatim_span(group, raw.answer) or Span(group.group.start, group.group.end)
        evidence = (span,)
    summary = checked_summary(raw.summary, work.scope(raw.group))
    return QAPair(work.document, raw.question, raw.answer, raw.group, evidence, "llm", support, summary)


def _fill_with_rules(work: _Work) -> None:
    """Pairs of the rules for sentences that the model leaves without one."""
    if not work.config.with_rules:
        return
    left = {
        Span(unit.start, unit.end)
        for number, units in work.uncovered().items() for unit in (work.groups[number].units[at] for at in units)
    }  # fmt: skip
    known = {normalised(pair.question) for pair in work.pairs}
    pairs, _ = pairs_by_rules(work.document, work.groups)
    more = [
        pair for pair in pairs
        if normalised(pair.question) not in known
        and any(span.start < end and span.end > start for span in pair.evidence for start, end in left)
    ]  # fmt: skip
    work.counts["by rules"] = len(more)
    work.pairs += more


def _full_answers(work: _Work, setting: QASetting) -> bool:
    work.pairs = with_full_answers(work.document, work.groups, work.pairs, setting, work.words, work.numbers)
    return True


def _variants(work: _Work, setting: QASetting) -> bool:
    work.pairs = with_variants(work.document, work.pairs, setting, work.embedder)
    return True


def _result(work: _Work) -> QAResult:
    left = [
        Span(unit.start, unit.end)
        for number, units in work.uncovered().items() for unit in (work.groups[number].units[at] for at in units)
    ]  # fmt: skip
    pairs = tuple(sorted(work.pairs, key=lambda pair: (pair.start, pair.end, pair.question)))
    config = work.config
    work.counts["unique"] = len(pairs)
    work.counts["sentences"] = sum(len(group.wanted) for group in work.groups)
    who = "rules" if work.setting is None else work.setting.signature
    signature = (
        f"qa=1 group_size={config.group_size} least_group={config.least_group} "
        f"duplicate_cosine={config.duplicate_cosine:g} embedder={work.embedder.id} {who}"
    )
    return QAResult(work.document, work.groups, pairs, tuple(work.refused), tuple(left), tuple(work.failed),
                    dict(work.counts), signature)  # fmt: skip
