"""The integrity reviewer: what does each chunk need that stands elsewhere in the document?

A request shows the outline, the text around a few chunks, and passages from elsewhere that may explain them; its size
does not depend on the length of the document. What the model reports must quote the document outside of the chunk word
for word, or is dropped. Chunks that the model does not answer for are reviewed by the rules.

Source: QChunker 3.2.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from qchunker.alignment import FoldedText, find_quote
from qchunker.asking import Answered, Task, Units, ask
from qchunker.debate.llm.segmenter import outline_lines
from qchunker.debate.llm.setting import Setting, language_of
from qchunker.debate.llm.windows import around, title_of
from qchunker.debate.offline import reviewer as rules
from qchunker.models.json_output import read_json
from qchunker.models.llm import Completion, Request
from qchunker.prompts import Tagged, as_data
from qchunker.types import GAP_KINDS, Chunk, Document, Gap, Outline, Review, Span

_NAMES = {
    "definition": ("terms that are defined elsewhere (definition)", "在别处定义的术语（definition）"),
    "abbreviation": ("abbreviations (abbreviation)", "缩写（abbreviation）"),
    "coreference": ("pronouns whose antecedent is outside (coreference)", "所指在块外的代词（coreference）"),
    "cross_reference": ("references such as Section 8.3 (cross_reference)",
                        "“前款”“第8.3条”之类的引用（cross_reference）"),
    "heading_context": ("what the headings above say (heading_context)", "上级标题的内容（heading_context）"),
    "table_header": ("column names of a table (table_header)", "表格的列名（table_header）"),
    "unit_or_scope": ("units and scopes of figures (unit_or_scope)", "数字的单位与适用范围（unit_or_scope）"),
    "exception_or_condition": ("exceptions and conditions of a rule (exception_or_condition)",
                               "规则的例外与条件（exception_or_condition）"),
    "subject_entity": ("what product, company or person it is about (subject_entity)",
                       "所说的产品、公司或人（subject_entity）"),
    "time_or_place": ("the time or place of what is told (time_or_place)", "所述之事的时间或地点（time_or_place）"),
}  # fmt: skip
UNKNOWN_KIND = "cross_reference"  # of knowledge that a model adds without a name for it
_MOST_QUOTE_CHARS = 600
_INSIDE = 0.7  # of a window that holds chunks which are asked about
_PASSAGE_CHARS = 400
_PASSAGES_CHARS = 1_600
_NEED = {"type": "object", "properties": {
    "kind": {"type": "string", "enum": list(GAP_KINDS)}, "surface": {"type": "string"}, "evidence": {"type": "string"},
    "needed": {"type": "boolean"}}, "required": ["kind", "surface", "evidence", "needed"],
    "additionalProperties": False}  # fmt: skip
_CHUNK = {"type": "object", "properties": {"n": {"type": "integer"}, "missing": {"type": "array", "items": _NEED}},
          "required": ["n", "missing"], "additionalProperties": False}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"chunks": {"type": "array", "items": _CHUNK}}, "required": ["chunks"],
          "additionalProperties": False}  # fmt: skip


class Shown(NamedTuple):
    """What a request shows of a document for some chunks: their window and passages from elsewhere."""

    window: Span
    passages: tuple[Span, ...]


def review(document: Document, chunks: Sequence[Chunk], found: Outline, setting: Setting) -> list[Review]:
    """One review per chunk, in the same order; where the chunk was completed before, of what it says now."""
    by_rules = rules.review(document, [Span(chunk.start, chunk.end) for chunk in chunks])
    groups = list(groups_of(chunks, setting))
    tasks = [
        _task(document, chunks, found, by_rules, group, span, setting)
        for group, span in zip(groups, _shared_spans(chunks, groups, setting), strict=True)
    ]
    answers = ask(setting.llm, tasks, setting.prompt("repair", document), setting.tally)
    reviews = list(by_rules)
    for group, parts in zip(groups, answers, strict=True):
        told = {number: gaps for part in parts for number, gaps in part.value.items()}
        setting.tally.counts["reviewed by rules"] += len(group) - len(told)
        for number, gaps in told.items():
            known = by_rules[number].missing if setting.config.with_rules else ()
            reviews[number] = replace(by_rules[number], missing=tuple(rules.distinct([*known, *gaps])))
    return reviews


def groups_of(chunks: Sequence[Chunk], setting: Setting) -> Iterator[tuple[int, ...]]:
    """Neighbours that are asked about together: a few, and no more than half a window."""
    group: list[int] = []
    for number, chunk in enumerate(chunks):
        is_full = len(group) == setting.config.chunks_per_review
        if group and (is_full or chunk.end - chunks[group[0]].start > setting.config.window_chars // 2):
            yield tuple(group)
            group = []
        group.append(number)
    if group:
        yield tuple(group)


def _shared_spans(chunks: Sequence[Chunk], groups: Sequence[tuple[int, ...]], setting: Setting) -> list[Span]:
    """For each group the stretch whose window it is shown: neighbours share one, so that servers read it once."""
    starts: list[int] = []
    for group in groups:
        end = chunks[group[-1]].end
        fits = bool(starts) and end - starts[-1] <= _INSIDE * setting.config.window_chars
        starts.append(starts[-1] if fits else chunks[group[0]].start)
    last = {start: chunks[group[-1]].end for start, group in zip(starts, groups, strict=True)}
    return [Span(start, last[start]) for start in starts]


def _shown(document: Document, span: Span, reviews: Sequence[Review], setting: Setting) -> Shown:
    """The window around a stretch, and the passages that the rules hold to explain what is missing."""
    window = around(document, span, setting.config.window_chars)
    passages: dict[Span, None] = {}
    room = _PASSAGES_CHARS
    for gap in (gap for one in reviews for gap in one.missing):
        for evidence in gap.evidence[:1]:
            wide = around(document, Span(*evidence), min(_PASSAGE_CHARS, evidence.end - evidence.start + 80))
            if (wide.start < window.start or wide.end > window.end) and wide.end - wide.start <= room:
                passages[wide] = None
                room -= wide.end - wide.start
    return Shown(window, tuple(sorted(passages)))


def _task(
    document: Document,
    chunks: Sequence[Chunk],
    found: Outline,
    by_rules: Sequence[Review],
    group: tuple[int, ...],
    span: Span,
    setting: Setting,
) -> Task[dict[int, list[Gap]]]:
    text = document.text
    shown = _shown(document, span, [by_rules[number] for number in group], setting)

    def make(units: Units) -> Request:
        language = language_of(document)
        passages = "\n".join(f"<passage>{as_data(text[slice(*one)].strip())}</passage>" for one in shown.passages)
        listed = "\n".join(_listed(at, chunks[number]) for at, number in enumerate(units, 1))
        values = {
            "title": title_of(document),
            "kinds": ("；" if language == "zh" else "; ").join(_NAMES[kind][language == "zh"] for kind in GAP_KINDS),
            "outline": outline_lines(found, shown.window),
            "text": document.without_furniture(*shown.window),
            "passages": Tagged(passages or "-"),
            "chunks": Tagged(listed),
        }
        return setting.request("reviewer", document, values, SCHEMA)

    def read(units: Units, reply: Completion) -> Answered[dict[int, list[Gap]]]:
        def gaps(value: Any) -> dict[int, list[Gap]]:
            items = value if isinstance(value, list) else value["chunks"]
            told: dict[int, list[Gap]] = {}
            for item in items:
                at = int(item["n"])
                if 1 <= at <= len(units) and isinstance(item.get("missing"), list):
                    chunk = chunks[units[at - 1]]
                    told[units[at - 1]] = list(_gaps(document, chunk, item["missing"], shown, setting))
            if not told and units:
                raise ValueError("no entry with the number of a chunk")
            return told

        result = read_json(reply.text, gaps, model=setting.llm.id, is_cut=reply.is_cut)
        told = result.value
        begun = reply.text.count('"n"')  # the only entry that was begun may lack something
        whole = tuple(told) if max(begun, len(told)) > 1 else ()
        return Answered(whole if result.is_cut else units, told)

    return Task(group, make, read)


def _listed(at: int, chunk: Chunk) -> str:
    path = as_data(" > ".join(chunk.heading_path)).replace('"', "'")
    body = as_data(chunk.completed_text or chunk.document.without_furniture(chunk.start, chunk.end))
    return f'<chunk n="{at}" under="{path}">\n{body}\n</chunk>'


def _gaps(document: Document, chunk: Chunk, items: Sequence[Any], shown: Shown, setting: Setting) -> Iterator[Gap]:
    """What a model reports, as far as it quotes the document; the rest is counted and dropped."""
    inside = FoldedText(document.text, Span(chunk.start, chunk.end))
    outside = [FoldedText(document.text, part) for span in (shown.window, *shown.passages)
               for part in _without(span, Span(chunk.start, chunk.end))]  # fmt: skip
    for item in items[: rules.MAX_GAPS]:
        setting.tally.counts["reported"] += 1
        quote, surface = item.get("evidence"), item.get("surface")
        if not isinstance(quote, str) or not isinstance(surface, str) or not _says_something(quote):
            setting.tally.counts["reported without a quotation"] += 1
            continue
        where = find_quote(inside, surface)
        found = [span for span in (find_quote(text, quote, chunk.start) for text in outside) if span is not None]
        if where is None or not found:
            setting.tally.counts["reported, but not in the document"] += 1
            continue
        kind = item.get("kind") if item.get("kind") in GAP_KINDS else UNKNOWN_KIND
        evidence = min(found, key=lambda span: (abs(span.start - chunk.start), span))
        needed = "required" if str(item.get("needed")).lower() == "true" else "helpful"
        yield Gap(str(kind), where, document.text[slice(*evidence)], (evidence,), needed)


def _says_something(quote: str) -> bool:
    """Whether a quotation is long enough to mean one place, and short enough to be one."""
    n_latin = sum(char.isascii() and char.isalnum() for char in quote)
    n_others = sum(not char.isascii() and char.isalnum() for char in quote)
    return len(quote) <= _MOST_QUOTE_CHARS and n_latin / 6 + n_others / 3 >= 1


def _without(span: Span, hole: Span) -> list[Span]:
    parts = [Span(span.start, min(span.end, hole.start)), Span(max(span.start, hole.end), span.end)]
    return [part for part in parts if part.start < part.end]
