"""Terms, symbols and short forms that the document defines outside the chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qchunker.debate.offline.gaps.evidence import HELPFUL, REQUIRED, gaps
from qchunker.debate.offline.index.defined_terms import DefinedTerm, Occurrence
from qchunker.debate.offline.index.document_index import DocumentIndex
from qchunker.debate.offline.index.famous import FAMOUS, WELL_KNOWN
from qchunker.debate.offline.index.subject_names import dominates
from qchunker.types import Gap, Span

_NEAR_CHARS = 160
_FEW_SENTENCES = 3
_SUBJECT_CHARS = 4
_LEAST_CHARS = 3  # that a definition has besides the name
_MAX_TOPICS = 32
_MODIFIER = 12  # characters before a short form that its long form may start with too
_SHORT = 5_000  # characters of a document that has no parts
_MANY = 3  # mentions that make a term a subject of the chunk
_OWNER = re.compile(r"(?:公司|集团|银行|大学|学院|医院|号|局|厅|委|中心|基金)[”\"]?\s*$")
_DOCUMENT_NAMES = frozenset(
    "Agreement License Licence Contract Policy Warranty Document Terms Conditions Addendum".split()
)
_GENERIC_NAMES = frozenset(("公司", "本公司", "集团", "我们", "我司", "发行人", "上市公司", "本集团"))
_RULE = re.compile(r"\b(?:must|shall|if|unless)\b|必须|应当|应于|不得|如果|方可", re.IGNORECASE)
# A definition that only says where the meaning stands.
_POINTS_ON = re.compile(
    r"means? (?:the|an?) \w+ (?:set out|set forth|described|specified|defined|stated) (?:in|by|under) "
    r"(?:[Cc]lause|[Ss]ection|[Aa]rticle|"
    r"[Pp]aragraph|[Ss]chedule)|指第[\d一二三四五六七八九十百.]{1,6}[条條款章节節]\S{0,3}(?:约定|规定|所列|所述)"
)
_CAPITAL_BEFORE = re.compile(
    r"(?<![.:;!?\"“(] )(?<![\n])\b(?!The |A |An |Each |Any |All |No |Such |This |If |In )[A-Z][\w-]*[ ]$"
)
_CAPITAL_AFTER = re.compile(r" [A-Z][a-z]")
_SAYS_ZH = re.compile(r"[”\"」]?(?:是指|系指|指的是|为|為|即|指|：)(?!了|此)")
_SAYS_EN = re.compile(
    r"[”\"]? (?:means?|shall mean|refers? to|(?:is|are) (?:an?|the|any|\d|"
    r"[a-z-]+ (?:months|days|years|hours|weeks|per)))\b"
)
# In these places a word such as make is the verb, whatever a tool of that name may be.
_VERB_LEFT = re.compile(
    r"\b(?:to|will|would|can|could|may|might|must|shall|should|not|never|always|please|you|we|they|I)\s$|n['’]t\s$"
)
_VERB_RIGHT = re.compile(r"\s(?:an?|the|it|its|sure|this|that|these|those|your|our|all|any|some|them|each|every)\b")
# A definition that says from where on it holds.
_FROM_HERE = re.compile(
    r"(?:以下|下文|下称|本(?:授权|许可证?|章|节|节中|附录))[^，。；\n]{0,6}$|\b(?:[Bb]elow|[Hh]erein\w*)\b"
)
_OPENS_EN = re.compile(r"[\W\d]*(?:[Tt]he |[Aa]n? )?[\"“]?")
_SYMBOLS = re.compile(r"(?<![\w/.-])\[?([A-Za-z]{3,8})\]?(?![\w/.])")
_AMOUNT_FOLLOWS = re.compile(
    r"(?:分别|均)?(?:为|是|：|:|保底|共计|合计|计)?(?:人民币|约|每)?\s?[\d一二三四五六七八九十]"
)


def definitions(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Defined terms, amounts with a name, and symbols."""
    for term, places in _unexplained(index, chunk):
        surface = Span(places[0].start, places[0].end)
        if term.origin in ("definition", "heading"):
            yield from gaps(index, chunk, "definition", surface, term.evidence, _weight(index, chunk, term, places))
        elif term.origin == "value" and not _has_amount(index, places):
            yield from gaps(index, chunk, "definition", surface, term.evidence, REQUIRED)
        elif term.origin == "alias" and term.expansion in index.text[chunk.start : chunk.end]:
            yield from gaps(index, chunk, "coreference", surface, term.evidence, REQUIRED)
    yield from _symbol_sets(index, chunk)


def _symbol_sets(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Sets of one-letter symbols, such as [ugo], of which the document explains each letter."""
    if not index.symbols:
        return
    for match in _SYMBOLS.finditer(index.text, *chunk):
        letters = match[1]
        known = [index.symbols[letter] for letter in letters if letter in index.symbols]
        if len(set(letters)) < len(letters) or len(known) < _MANY or 2 * len(known) < len(letters):
            continue
        inside = any(span.start < chunk.end and chunk.start < span.end for term in known for span in term.evidence)
        if not inside:
            evidence = [term.evidence[0] for term in known]
            yield from gaps(index, chunk, "definition", Span(*match.span()), evidence, REQUIRED)


def abbreviations(index: DocumentIndex, chunk: Span) -> Iterator[Gap]:
    """Short forms whose long form stands elsewhere."""
    for term, places in _unexplained(index, chunk):
        if term.origin == "abbreviation" and term.name not in FAMOUS:
            surface = Span(places[0].start, places[0].end)
            if term.name in _GENERIC_NAMES:
                continue  # who that is, is for the subject to say
            named_by_owner = _OWNER.search(term.name) or _OWNER.search(term.expansion) or _names_its_owner(term)
            easy = named_by_owner or term.name.removesuffix("s") in WELL_KNOWN
            necessity = HELPFUL if easy else _weight(index, chunk, term, places)
            evidence = [_beyond(index, span, surface.start) for span in term.evidence]
            yield from gaps(index, chunk, "abbreviation", surface, evidence, necessity)


def _beyond(index: DocumentIndex, evidence: Span, at: int) -> Span:
    """The evidence without the words at its start that stand right before the short form too: 美国30年期 (TIPS)."""
    for length in range(min(_MODIFIER, evidence.end - evidence.start - 1), 1, -1):
        words = index.text[evidence.start : evidence.start + length]
        if at >= length and index.text.startswith(words, at - length):
            return Span(evidence.start + length, evidence.end)
    return evidence


def _unexplained(index: DocumentIndex, chunk: Span) -> Iterator[tuple[DefinedTerm, list[Occurrence]]]:
    """Terms in the chunk that it does not define itself, with their places."""
    by_term: dict[str, list[Occurrence]] = {}
    for occurrence in index.occurrences(chunk):
        by_term.setdefault(occurrence.term.name, []).append(occurrence)
    written = index.text[chunk.start : chunk.end].lower()
    for places in by_term.values():
        term = places[0].term.before(places[0].start)
        if term is None:
            continue
        if any(span.start < chunk.end and chunk.start < span.end for span in term.evidence):
            continue
        if term.expansion and term.origin in ("abbreviation", "definition") and term.expansion.lower() in written:
            continue
        if all(_says_nothing(index, term, span) for span in term.evidence):
            continue
        if _holds_from_there_on(index, term, chunk):
            continue
        places = [
            place._replace(term=term)
            for place in places
            if not (_part_of_longer_name(index, term, place) or _is_verb(index, place))
        ]
        if not places or _said_here(index, places[0]):
            continue
        if index.chinese and _stands_by_its_kind(index, term, places):
            continue
        yield term, places


def _says_nothing(index: DocumentIndex, term: DefinedTerm, span: Span) -> bool:
    """Whether a definition is no more than the name, or only says where the meaning stands."""
    short = span.end - span.start < len(term.name) + _LEAST_CHARS
    return short or _POINTS_ON.search(index.text, *span) is not None


def _holds_from_there_on(index: DocumentIndex, term: DefinedTerm, chunk: Span) -> bool:
    """Whether the chunk stands before a definition that speaks of what follows it, such as a licence's at the end."""
    first = term.evidence[0].start
    if term.origin != "definition" or chunk.start > first or len(term.evidence) > 1:
        return False
    sentence = index.sentence_at(first)
    return _FROM_HERE.search(index.text, sentence.start, first) is not None


def _is_verb(index: DocumentIndex, place: Occurrence) -> bool:
    """Whether a plain English word is what someone does, not the thing of that name."""
    if not re.fullmatch("[a-z]+", place.term.name):
        return False
    before = index.text[max(0, place.start - 12) : place.start]
    return bool(_VERB_LEFT.search(before) or _VERB_RIGHT.match(index.text, place.end, place.end + 8))


def _part_of_longer_name(index: DocumentIndex, term: DefinedTerm, place: Occurrence) -> bool:
    """Whether a capitalised term stands in a longer name: Application in Corresponding Application Code; or in code."""
    if index.in_code(place.start) or index.in_backticks(place.start):
        return True
    if term.name.islower() and index.text[place.start : place.end].isupper():
        return True  # in capitals the word may be any
    blocks = index.document.blocks_in(place.start, place.start + 1)
    if blocks and blocks[0].kind == "heading" and term.origin == "definition":
        return True  # a heading names its topic in its own words
    if not re.match(r"[A-Z][a-z]", term.name):
        return False
    before = index.text[max(0, place.start - 24) : place.start].replace("\n", " ")
    after = index.text[place.end : place.end + 3].replace("\n", " ")
    return bool(_CAPITAL_BEFORE.search(before) or _CAPITAL_AFTER.match(after))


def _said_here(index: DocumentIndex, place: Occurrence) -> bool:
    """Whether a clause of the chunk that starts with the term says what it is."""
    says = _SAYS_ZH if index.chinese else _SAYS_EN
    if place.term.origin != "definition" or not says.match(index.text, place.end, place.end + 40):
        return False
    if index.chinese:
        return place.start == 0 or index.text[place.start - 1] in "。；，：“「《\n 、"
    start = index.sentence_at(place.start).start
    return _OPENS_EN.fullmatch(index.text, start, place.start) is not None


def _weight(index: DocumentIndex, chunk: Span, term: DefinedTerm, places: list[Occurrence]) -> str:
    """Required where the chunk is about the term: it comes first, or again, or the chunk is short."""
    if term.name in _DOCUMENT_NAMES:
        return HELPFUL  # the identity of the document itself
    if term.origin == "definition" and _is_topic(index, term):
        return HELPFUL  # what the document as a whole is about
    early = places[0].start - chunk.start < _NEAR_CHARS // (2 if index.chinese else 1)
    plain = term.origin == "definition" and re.fullmatch(r"[a-z]+(?: [a-z]+)*", term.name)
    if plain and index.section_at(term.evidence[0].start) == index.section_at(chunk.start):
        return HELPFUL  # the passage goes on where the word was explained
    if early or len(places) >= _MANY - index.chinese or (term.origin == "definition" and term.name[:1].isupper()):
        return REQUIRED
    if index.sentence_count(chunk) <= _FEW_SENTENCES:
        return REQUIRED
    if any(place.start - index.sentence_at(place.start).start <= _SUBJECT_CHARS for place in places):
        return REQUIRED  # the subject of a sentence
    ruled = any(_RULE.search(index.text, *index.sentence_at(place.start)) for place in places)
    return REQUIRED if ruled else HELPFUL


def _is_topic(index: DocumentIndex, term: DefinedTerm) -> bool:
    """Whether the title has the term, or all the document speaks of what it says in plain words to be something."""
    if index.title is not None and term.name in index.text[slice(*index.title)]:
        return True
    plain = index.text[term.evidence[0].start] not in '"“「*_' and not term.name.islower()
    return plain and term.name in index.derived(_topics)


def _topics(index: DocumentIndex) -> frozenset[str]:
    """Capitalised terms that stand in most parts of the document."""
    capitalised = [t.name for t in index.terms if t.origin == "definition" and not t.name.islower()][:_MAX_TOPICS]
    return frozenset(name for name in capitalised if len(index.text) > _SHORT and dominates(index.text, [name]))


def _names_its_owner(term: DefinedTerm) -> bool:
    """A short name cut out of the long one, such as a ship's; a generic 《办法》 is none."""
    return not term.name.isascii() and not term.name.startswith("《") and term.name in term.expansion


def _stands_by_its_kind(index: DocumentIndex, term: DefinedTerm, places: list[Occurrence]) -> bool:
    """A code behind the noun that the document explains it with: 软件包 foo."""
    stated = index.text[term.evidence[0].start : term.evidence[0].end]
    for place in places:
        noun = re.search(r"([\u4e00-\u9fff]{3})\s?$", index.text[max(0, place.start - 5) : place.start])
        if noun and term.name.isascii() and noun[1] in stated:
            return True
        after = index.text[place.end : place.end + 3]
        if term.origin == "alias" and after.startswith(term.expansion[:2]):
            return True
    return False


def _has_amount(index: DocumentIndex, places: list[Occurrence]) -> bool:
    """Whether the chunk says the amount right where it names it."""
    return any(_AMOUNT_FOLLOWS.match(index.text, place.end, place.end + 12) for place in places)
