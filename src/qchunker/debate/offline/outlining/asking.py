"""The questions that a stretch of a document answers, the best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from qchunker.debate.offline.outlining import statements
from qchunker.debate.offline.outlining.sections import SILENT, Section, Sections
from qchunker.debate.offline.outlining.statements import Statement
from qchunker.debate.offline.outlining.tables import header_question, lines_of, rows_question
from qchunker.debate.offline.outlining.terms import KeyTerms
from qchunker.debate.offline.outlining.wording import (
    MAX_CHARS,
    context,
    has_chinese,
    language_of,
    listing,
    named,
    phrase,
    plain,
    quoted,
    render,
    shortened,
)
from qchunker.sentences import clause_spans, sentence_spans
from qchunker.types import Block, Document, Span

_MOST = 0.5
_CONTEXT = 45  # characters of a heading that stands beside other words
_OPENING = 60
_SHORT = 4  # characters of a clause that says little, such as "Then,"
_HEADS = 3
_THROUGHOUT = 3  # times that a term stands in the stretch whose topic it is
_NEAR = 4000  # characters below a heading, within which it still tells what the text is about
_FIGURES = 6  # numbers per stretch that make it one of figures
_STRETCH = 20_000
"""Characters of a stretch that are read for its question; only chunks without any limit are longer."""
_MODAL = {
    "en": re.compile(r"\b(?:must|shall)\b"),
    "zh": re.compile("应当|必须|不得|應當|必須|严禁|嚴禁"),
}
_STEP = re.compile(r"\s*(?:\d{1,3}[.)、．]|[（(]\d{1,3}[)）]|[①-⑳])")
_CAPTION = re.compile(r"(?:Table|Tab\.|表)\s?[\dA-Z][\d.–-]{0,6}[.:：\s]\s{0,3}(?=\S)")
_LEAD_IN = re.compile(r"[:：]\s*\Z")
_CONNECTIVE = re.compile(r"^(?:Therefore|Thus|Hence|However|In addition|因此|所以|但是|此外|另外)[,，]\s*")
_ASKED = re.compile(
    r"(?:为什么|為什麼|为何|為何|如何|怎样|怎樣|怎么|怎麼|什么是|什麼是|哪些|是否)|.*(?:吗|嗎|是什么|是什麼|怎么办|怎麼辦)\Z"
)
_ASKED_EN = re.compile(r"(?:What|Who|Why|Where|How)\s(?:is|are|does|do|can|should|did|was|were|will)\s", re.IGNORECASE)
_HOW_TO = re.compile(r"how\sto\s(?=\S)", re.IGNORECASE)
_FIGURE = re.compile(r"(?<![\w.])(?!(?:19|20)\d\d(?!\d))\d[\d.,]*")
_IDENTIFIER = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|CREATE TABLE|import|from)\s+([A-Za-z_][\w.]{1,40})"
)


_ENGLISH_PROSE = re.compile(r"\b(?:the|is|are|was|were|of|and|to|for|with|that)\b", re.IGNORECASE)


class Asked(NamedTuple):
    """A question and the words it is made from."""

    text: str
    evidence: Span


class Asker:
    """Asks about stretches of one document; built once per document, in linear time."""

    def __init__(self, document: Document) -> None:
        self.document, self.text = document, document.text
        self.sections = Sections(document)
        self._language = language_of(document.text)
        prose = [Span(block.start, block.end) for block in document.blocks if block.kind not in SILENT]
        self.terms = KeyTerms(document.text, prose)

    def heading(self, section: Section, used: set[str]) -> Asked:
        """The question of a heading without text of its own."""
        language = language_of(section.title)
        made = [*self._kept(section, language)]
        made.append(self._about(section, language, "heading"))
        if section.parent:
            made.append(self._about(section, language, "heading", parent=True))
        best = made[0] if made[0].text not in used and not section.ambiguous else made[-1]
        used.add(best.text)
        return best

    def candidates(self, start: int, end: int) -> Iterator[Asked]:
        """Questions that ``text[start:end]`` answers, the best first; at least one."""
        end = min(end, start + _STRETCH)
        language = self.language_in(start, end)
        heads = self._heads(start, end)
        section = heads[0] if heads else self.sections.at(start)
        if len(heads) == 1:
            yield from self._kept(section, language)
        if len(heads) < 2:
            yield from self._by_kind(Span(start, end), section, language)
        if len(heads) == 1:
            yield from self._headed(section, Span(start, end), language)
        elif heads:
            yield self._several(heads, language)
        else:
            yield from self._by_statement(Span(start, end), section, language)
        yield from self._by_terms(Span(start, end), section, language)

    def language_in(self, start: int, end: int) -> str:
        """The language to ask in about ``text[start:end]``."""
        words = self._words(start, end)
        language = language_of(words)
        if language == "en" and self._language != "en":
            # Codes and foreign names, as in the rows of a table, do not make a Chinese document English.
            is_prose = _ENGLISH_PROSE.search(words) and not has_chinese(words)
            return language if is_prose else self._language
        return language

    def statements(
        self, find: Callable[[str, Span, str], Statement | None], stretch: Span, language: str
    ) -> list[Statement]:
        """What ``find`` finds in the sentences of prose and lists."""
        return [
            found
            for block in self._blocks(stretch)
            if block.kind in {"paragraph", "list_item", "quote"}
            for sentence in sentence_spans(self.text, max(block.start, stretch.start), min(block.end, stretch.end))
            if (found := find(self.text, sentence, language)) is not None
        ]

    def statement_text(self, found: Statement, section: Section, language: str) -> str:
        """The question that a statement answers; below which heading, where that tells more."""
        if found.pattern.startswith(("must", "rules")) and section.title and not section.generic:
            return render(language, f"{found.pattern}_under", found.words, self._context(section.title))
        words = named(found.words) if found.pattern.startswith(("definition", "meant", "person")) else found.words
        return render(language, found.pattern, words)

    def tables(self, stretch: Span, language: str) -> Iterator[tuple[Asked, Span]]:
        """Questions of the tables that begin in a stretch, with where they stand."""
        for block in self._blocks(stretch):
            if block.kind == "table" and block.start >= stretch.start:
                asked = self._columns(block, self.sections.at(block.start), language)
                if asked is not None:
                    yield asked, Span(block.start, min(block.end, stretch.end))

    # Headings

    def _heads(self, start: int, end: int) -> list[Section]:
        """The sections that a stretch is about, if it begins with a heading or mostly follows one."""
        heads = self.sections.beginning_in(start, end)
        if not heads:
            return []
        before = heads[0].start - start
        if before > _MOST * (end - start) and self.text[start : heads[0].start].strip():
            return []
        room = max(1, end - heads[0].start)
        share = [(min(section.end, end) - section.start) / room for section in heads]
        largest = max(range(len(heads)), key=lambda place: share[place])
        if share[largest] >= 0.6:
            return [heads[largest]]
        with_text = [head for head, part in zip(heads, share, strict=True) if part >= 0.1 and not head.empty]
        return with_text[:_HEADS] or heads[:_HEADS]

    def _kept(self, section: Section, language: str) -> Iterator[Asked]:
        """The heading itself where it asks something."""
        words = section.title
        how = _HOW_TO.match(words)
        if words.endswith(("?", "？")):
            kept = words if len(words) <= MAX_CHARS else render(language_of(words), "asked", words.rstrip("?？"))
            yield Asked(kept, section.evidence)
        elif how:
            yield Asked(render("en", "how", words[how.end() :]), section.evidence)
        elif _ASKED_EN.match(words) or _ASKED.match(words):
            yield Asked(render(language_of(words), "asked", words), section.evidence)

    def _headed(self, section: Section, stretch: Span, language: str) -> Iterator[Asked]:
        body = self.text[max(stretch.start, section.body) : stretch.end]
        yield from self._defined(stretch, language)
        for found in self.statements(statements.definition, stretch, language)[:1]:
            if found.words.casefold() == section.title.casefold():
                yield Asked(self.statement_text(found, section, language), found.evidence)
        if section.generic:
            yield from self._heading_terms(section, stretch, language)
        name = "heading"
        if len(_MODAL[language[:2]].findall(body)) > 1:
            name = "requirements"
        if section.parent and section.ambiguous:
            yield self._about(section, language, name, parent=True)
        yield self._about(section, language, name)
        if section.parent:
            yield self._about(section, language, name, parent=True)

    def _about(self, section: Section, language: str, name: str, *, parent: bool = False) -> Asked:
        if parent:
            name = "heading_of" if name == "heading" and section.below_top else f"{name}_parent"
            words = render(language, name, named(section.title), self._context(section.parent))
        else:
            words = render(language, name, named(section.title))
        return Asked(words, section.evidence)

    def _several(self, heads: list[Section], language: str) -> Asked:
        names = [shortened(section.title.rstrip("?？"), 32) for section in heads]
        evidence = Span(heads[0].evidence.start, heads[-1].evidence.end)
        parents = {section.parent for section in heads}
        parent = heads[0].parent
        if len(parents) == 1 and parent:
            return Asked(render(language, "heading_parent", listing(names, language), self._context(parent)), evidence)
        return Asked(render(language, "heading", listing(names, language)), evidence)

    def _context(self, words: str) -> str:
        return context(words, _CONTEXT)

    # Tables, lists, code

    def _by_kind(self, stretch: Span, section: Section, language: str) -> Iterator[Asked]:
        blocks = self._blocks(stretch)
        sizes: dict[str, int] = {}
        for block, following in zip_longest(blocks, blocks[1:]):
            kind = block.kind
            if following is not None and following.kind == "list_item" and self._leads_in(block):
                kind = "list_item"
            if kind != "heading":
                size = min(block.end, stretch.end) - max(block.start, stretch.start)
                sizes[kind] = sizes.get(kind, 0) + size
        if not sizes:
            return
        kind = max(sizes, key=lambda name: (sizes[name], name))
        if sizes[kind] < _MOST * sum(sizes.values()):
            return
        if kind in {"table", "record"}:
            yield from self._tabular(blocks, stretch, section, language)
        elif kind == "list_item":
            yield from self._listed(blocks, section, language, headed=section.start >= stretch.start)
        elif kind == "code":
            yield from self._code(stretch, language)

    def _tabular(self, blocks: list[Block], stretch: Span, section: Section, language: str) -> Iterator[Asked]:
        rows = [block for block in blocks if block.kind in {"table", "record"}]
        first = rows[0]
        for block in blocks:
            words = plain(self.text[block.start : block.end]) if block.kind == "paragraph" else ""
            caption = _CAPTION.match(words)
            if caption and block.end <= first.start and len(words) < 120:
                named_words = named(phrase(words[caption.end() :]))
                if named_words:
                    yield Asked(render(language, "caption", named_words), Span(block.start, block.end))
        if (
            first.header is None
            or stretch.start <= first.header.start
            or (len(rows) == 1 and first.start >= stretch.start)
        ):
            asked = self._columns(first, section, language)
            if asked is not None:
                yield asked
        if first.header is not None:
            if first.kind == "record":
                lines = [Span(block.start, block.end) for block in rows]
            else:
                part = Span(max(stretch.start, first.start), min(stretch.end, rows[-1].end))
                lines = lines_of(self.text, part)
            made = rows_question(self.text, first.header, lines, language)
            if made is not None:
                yield Asked(*made)

    def _columns(self, block: Block, section: Section, language: str) -> Asked | None:
        header = block.header or Span(block.start, block.end)
        heading = "" if section.generic else self._context(section.title) if section.title else ""
        made = header_question(self.text, header, heading, language)
        return Asked(*made) if made is not None else None

    def _listed(self, blocks: list[Block], section: Section, language: str, *, headed: bool) -> Iterator[Asked]:
        items = [block for block in blocks if block.kind == "list_item"]
        outer = [block for block in items if block.level <= 1]
        steps = sum(1 for block in outer if _STEP.match(self.text, block.start, block.end))
        before = self.document.blocks_in(max(0, items[0].start - 200), items[0].start)
        lead = before[-1] if before and before[-1].kind == "paragraph" else None
        if lead is not None and self._leads_in(lead):
            sentence = sentence_spans(self.text, max(lead.start, lead.end - 400), lead.end)[-1]
            words = phrase(self.text[sentence.start : sentence.end])
            if len(words) > 80:
                clause = clause_spans(self.text, *sentence)[-1]
                words = phrase(self.text[clause.start : clause.end])
            words = _CONNECTIVE.sub("", words)
            if 3 < len(words) <= 80 and not headed:
                yield Asked(render(language, "listed", quoted(words)), sentence)
        if steps > 1 and steps * 2 > len(outer) and section.title and not section.generic:
            if section.body >= items[0].start - 400:
                yield Asked(render(language, "steps", named(section.title)), section.evidence)

    def _leads_in(self, block: Block) -> bool:
        return block.kind == "paragraph" and bool(
            _LEAD_IN.search(self.text, max(block.start, block.end - 20), block.end)
        )

    def _code(self, stretch: Span, language: str) -> Iterator[Asked]:
        names = {
            match[1]: Span(match.start(1), match.end(1))
            for match in _IDENTIFIER.finditer(self.text, stretch.start, stretch.end)
        }
        spans = list(names.values())[:3] or self.terms.of(*stretch)
        words = [phrase(self.text[start:end]) for start, end in spans]
        if words:
            yield Asked(render(language, "code", listing(words, language)), Span(spans[0].start, spans[-1].end))

    # Prose

    def _by_statement(self, stretch: Span, section: Section, language: str) -> Iterator[Asked]:
        """Definitions, rules and conditions that are a good part of a stretch or open it."""
        yield from self._defined(stretch, language)
        for find in (statements.definition, statements.condition, statements.rule):
            for found in self.statements(find, stretch, language)[:1]:
                opens = not self.text[stretch.start : found.region.start].strip()
                if opens or 3 * (found.region.end - found.region.start) > stretch.end - stretch.start:
                    yield Asked(self.statement_text(found, section, language), found.evidence)

    def _defined(self, stretch: Span, language: str) -> Iterator[Asked]:
        """The terms of a stretch that does little else than define."""
        found = self.statements(statements.definition, stretch, language)
        shares = sum(one.region.end - one.region.start for one in found)
        if len(found) > 1 and shares > _MOST * (stretch.end - stretch.start):
            words = listing([one.words for one in found[:_HEADS]], language)
            yield Asked(render(language, "defined", words), Span(found[0].evidence.start, found[-1].evidence.end))

    def _heading_terms(self, section: Section, stretch: Span, language: str) -> Iterator[Asked]:
        title = self._context(section.title)
        if title.partition(" ")[0] in {"the", "a", "an"}:
            title = quoted(shortened(section.title, _CONTEXT))
        for limit in (2, 3):
            spans = self.terms.of(max(stretch.start, section.body), stretch.end, section.title, limit)
            if spans:
                words = [phrase(self.text[start:end]) for start, end in spans]
                text = render(language, "heading_terms", title, listing(words, language))
                yield Asked(text, Span(spans[0].start, spans[-1].end))

    def _by_terms(self, stretch: Span, section: Section, language: str) -> Iterator[Asked]:
        if section.title and stretch.start - section.start < _NEAR:
            yield from self._heading_terms(section, stretch, language)
        numbers = len(_FIGURE.findall(self.text, *stretch))
        name = "figures" if numbers >= _FIGURES and 90 * numbers > stretch.end - stretch.start else "terms"
        for limit in (3, 4):
            spans = self.terms.of(*stretch, limit=limit)
            words = [words for start, end in spans if (words := phrase(self.text[start:end]))]
            topic = self._topic(words, stretch) if len(words) > 1 and name == "terms" else None
            if topic is not None:
                rest = listing([one for one in words if one != topic], language)
                yield Asked(render(language, "topic", topic, rest), Span(spans[0].start, spans[-1].end))
            elif len(words) > 1 or (words and limit == 4):
                yield Asked(render(language, name, listing(words, language)), Span(spans[0].start, spans[-1].end))
        yield from self._by_opening(stretch, language)

    def _topic(self, words: list[str], stretch: Span) -> str | None:
        """The term that a stretch speaks of throughout."""
        often = sorted(((self.text.count(one, *stretch), one) for one in set(words)), reverse=True)
        return often[0][1] if often[0][0] >= _THROUGHOUT and often[0][0] > often[1][0] else None

    def _by_opening(self, stretch: Span, language: str) -> Iterator[Asked]:
        """The first words of a stretch, for want of anything better."""
        clauses = clause_spans(self.text, stretch.start, min(stretch.end, stretch.start + 400))
        clauses = [clause for clause in clauses if clause.end - clause.start > _SHORT] + clauses
        for start, end in clauses[:8]:
            words = phrase(self.text[start:end])
            if any(char.isalpha() for char in words):
                yield Asked(render(language, "heading", quoted(shortened(words, _OPENING))), Span(start, end))
        start = (
            stretch.start
            + len(self.text[stretch.start : stretch.end])
            - len(self.text[stretch.start : stretch.end].lstrip())
        )
        yield Asked(render(language, "bare"), Span(start, min(start + 1, stretch.end)))

    def _blocks(self, stretch: Span) -> list[Block]:
        return [block for block in self.document.blocks_in(*stretch) if block.kind not in SILENT]

    def _words(self, start: int, end: int) -> str:
        """A stretch without its code, by which to tell its language."""
        parts = [
            self.text[max(start, block.start) : min(end, block.end)]
            for block in self._blocks(Span(start, end))
            if block.kind != "code"
        ]
        return "".join(parts) or self.text[start:end]
