"""Whether an answer is held by the group that it was made from, and a question by the document.

What must never differ - numbers with units, identifiers, names, what is denied, demanded or permitted - is compared one
by one; the rest by the share of words that the evidence has. The gate knows words, not meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qchunker.assertions import is_asserted
from qchunker.debate.verify_words import NEGATION, facts, fold, lex
from qchunker.qa.evidence import Read, evidence_units, verbatim_span
from qchunker.qa.figures import Figures, figures
from qchunker.qa.words import Said, content_words, is_chinese
from qchunker.sentences import clause_spans
from qchunker.types import Document

LONGEST_ANSWER = 4_000
_LEAST = 0.7
_LEAST_OF_CLAUSE = 0.5
_MOST_UNSAID = 3  # words in a row
_CLAUSE_WORDS = 3
_CLEARLY_MORE = 2  # words that one clause shares with a question more than another
_NUMERAL = re.compile("[0-9〇零一二三四五六七八九十百千两]")
_FEW_WORDS = 3  # of a text whose language can be told
_NOT_DENIED = re.compile(r"(?:only|except|unless|excluding|without|除.*|以外|之外|外|仅|只)\Z", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:prohibit\w*|forbid\w*|forbidden|refus\w*|exclu\w*|exempt\w*|banned|cannot)\b|拒绝|不予|排除|豁免|免除",
    re.IGNORECASE,
)
_DENIED_WORD = re.compile(
    r"\b(?:not|never|cannot|neither|nor|no)\s(?:be\s|been\s|yet\s)?([a-z]{3,})"
    r"|(?:不得|不能|不可以?|不应|不会|不予|不再|不需要?|不|未|勿|禁止|严禁|没有)([\u4e00-\u9fff]{2})"
)
WHETHER = re.compile("是否|能否|可否|会否|应否|与否|有无|有没有|能不能|是不是|可不可以|会不会|要不要|该不该")
MUST = re.compile(
    r"\b(?:must|shall|should|ha(?:s|ve) to|needs? to|required|obliged|mandatory)\b|应当|應當|应该|"
    r"必须|必須|须|務必|务必|不得|严禁|禁止|(?<![反供相适效对响感回])应(?![急用力变答聘])",
    re.IGNORECASE,
)
MAY = re.compile(
    r"\b(?:may|can|could|might|allowed|permitted|optional(?:ly)?|is free to)\b|可以|允许|准许|有权|"
    r"(?<![许认不])可(?![燃靠能见溶变视持否])",
    re.IGNORECASE,
)
_UPPER = re.compile(
    r"\b(?:at most|up to|(?:no|not) (?:more|longer|later|higher|greater) than|not exceed|maximum|max|"
    r"below|under|less than|"
    r"fewer than|within|or less|stay below)\b|不(?:得|应|能|可)?(?:超过|超過|大于|高于|多于|晚于)|"
    r"至多|最多|最大|最高|最长|"
    r"(?<![不得应能可])(?:低于|小于|少于)|以下|以内|之内|[<≤]",
    re.IGNORECASE,
)
_LOWER = re.compile(
    r"\b(?:at least|(?:no|not) (?:less|fewer|lower|earlier) than|minimum|min|above|over|"
    r"(?<!no )(?<!not )more than|(?<!not )exceed(?:s|ing)?|"
    r"greater than|or more|from)\b|不(?:得|应|能|可)?(?:少于|低于|小于|早于)|至少|最少|最小|最低|最短|"
    r"(?<![不得应能可])(?:高于|大于|多于|超过)|以上|[>≥]",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\b(?:such as|for example|for instance|e\.g\.|including|namely|like)\b|例如|比如|譬如|诸如|包括|"
    r"(?<![不假例比])如(?=[^何果下上]{1,12}[、和及等])",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"\W*(?:yes|no|true|false|correct|是的?|否|不是|对|不对|会|不会|能|不能|可以|不可以|有|没有|需要|"
    r"不需要)(?![\w\u4e00-\u9fff])",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?![a-z]*[A-Z\d])")
_ORGANISATION_ZH = re.compile(
    r"([\u4e00-\u9fff]{2})(?:公司|集团|大学|医院|研究院|研究所|委员会|协会|学会|银行|法院|工厂|公安局|管理局)"
)
_NO_NAME_ZH = re.compile("[由在向对和与或及是为该本其须应从到经将把被于的所各每入专业关他险货产同个家]")


@dataclass(frozen=True, slots=True)
class Scope:
    """What the questions and answers of a group may speak of, made once for all its pairs.

    Args:
        group: that is asked about.
        wide: the words of the group, of the headings above it, and of the title.
        wide_text: the text of these.
        numbers: of the group and the headings.
        document_words: of the whole document.
        document_numbers: likewise.
        languages: of its sentences and headings: whether they are Chinese.
        above: the words of the headings above the group and of the title.
    """

    group: Read
    wide: Said
    wide_text: str
    numbers: Figures
    document_words: Said
    document_numbers: Figures
    languages: frozenset[bool]
    above: Said


def scope_of(group: Read, document_words: Said, document_numbers: Figures, title: str) -> Scope:
    """The scope of a group.

    Args:
        group: read for comparison.
        document_words: of its document.
        document_numbers: likewise.
        title: of the document.
    """
    headers = " ".join(group.document.text[slice(*unit.header)] for unit in group.group.units[:1] if unit.header)
    above = [*headings_above(group.document, group.group.start, group.group.end), title]
    wide = "\n".join([group.text, headers, *above])
    spoken = [text for text in (*group.texts, *above) if len(content_words(text)) >= _FEW_WORDS]
    languages = frozenset(map(is_chinese, spoken or [group.text]))
    return Scope(group, Said(wide), fold(wide), Figures(wide), document_words, document_numbers, languages,
                 Said(*above))  # fmt: skip


def headings_above(document: Document, start: int, end: int) -> list[str]:
    """The headings above a stretch of a document, each once."""
    return list(dict.fromkeys(title for block in document.blocks_in(start, end) for title in block.heading_path))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is thought of a pair.

    Args:
        reason: why it is refused; None where it is not.
        is_doubtful: whether only words are missing that a reader may find said in others: a judge can decide.
        units: of the group, that it rests on.
        is_verbatim: whether the answer is a stretch of the group.
    """

    reason: str | None
    is_doubtful: bool = False
    units: tuple[int, ...] = ()
    is_verbatim: bool = False


def verdict(question: str, answer: str, scope: Scope) -> Verdict:
    """Whether the group holds an answer, and on what it rests."""
    if not content_words(answer) and not any(map(str.isalnum, answer)):
        return Verdict("empty")
    if len(answer) > LONGEST_ANSWER:
        return Verdict("too long")
    if fold(question).strip(" ?？").casefold() == fold(answer).strip(" .。").casefold():
        return Verdict("echo")
    if is_chinese(question) not in scope.languages:
        return Verdict("language")
    asked = _unknown_in_document(question, scope)
    if asked:
        return Verdict(asked)
    units = tuple(evidence_units(scope.group, question, answer))
    facts_differ = _facts(question, answer, scope) or _relations(question, answer, scope, units)
    if facts_differ:
        return Verdict(facts_differ, units=units)
    if not units:
        return Verdict("unsupported")
    is_verbatim = verbatim_span(scope.group, answer) is not None and not _YES_OR_NO.match(answer)
    doubt = None if is_verbatim else _words(question, answer, scope)
    if doubt is None and not _is_about(question, scope, units):
        return Verdict("beside the question", is_doubtful=True, units=units)
    return Verdict("unsupported" if doubt else None, is_doubtful=doubt == "words", units=units, is_verbatim=is_verbatim)


def _is_about(question: str, scope: Scope, units: Sequence[int]) -> bool:
    """Whether what an answer rests on, or stands beside, speaks of anything that is asked about but its headings."""
    words = [word for word in content_words(question) if word not in scope.above]
    if not words:
        return True
    near = {at + step for at in units for step in (-1, 0, 1) if 0 <= at + step < len(scope.group.said)}
    return any(word in scope.group.said[at] for word in words for at in near)


def _unknown_in_document(question: str, scope: Scope) -> str | None:
    """What a question takes for granted and the document does not have."""
    problems = (scope.document_numbers.problem(figure) for figure in figures(question))
    if any(problem == "number" for problem in problems):
        return "number in the question"
    for word in names_of(question):
        if not all(part in scope.document_words for part in content_words(word)):
            return "name in the question"
    return None


def _facts(question: str, answer: str, scope: Scope) -> str | None:
    """The kind of the first number, identifier or name of an answer that the group does not have."""
    asked = {figure.value for figure in figures(question)}
    for figure in figures(answer):
        problem = scope.numbers.problem(figure)
        # A yes repeats the number of its question, which the group must have all the same.
        if problem and problem != "count" and not (problem == "unit" and figure.value in asked):
            return problem
    known = Said(scope.wide_text, question)
    for word in names_of(answer):
        if not all(part in known for part in content_words(word)):
            return "name"
    return None


def names_of(text: str) -> list[str]:
    """Identifiers, names and quotations of a text."""
    lexed = lex(text)
    found = [lexed.words(fact.start, fact.end) for fact in facts(lexed) if fact.kind in ("identifier", "quotation")]
    found += [match[0] for match in _CAPITAL.finditer(lexed.text)]
    found += [match[0] for match in _ORGANISATION_ZH.finditer(lexed.text) if not _NO_NAME_ZH.search(match[1])]
    return found


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer begins by saying yes or no to its question."""
    return _YES_OR_NO.match(answer) is not None


def _relations(question: str, answer: str, scope: Scope, units: Sequence[int]) -> str | None:
    """What an answer turns round: no for yes, may for must, at least for at most, one thing for another."""
    resting = "\n".join(scope.group.texts[at] for at in units)
    if not resting:
        return None
    both = f"{question}\n{answer}"
    if _is_mixed(question, answer, scope, units) or _is_of_a_rival(question, answer, scope, units):
        return "mixed"
    nearest = _nearest_clauses(answer if len(content_words(answer)) > 1 else both, scope, units)
    if _denies(answer) and not _denies(resting + question):
        return "negation"
    if _denies(nearest) and not _denies(both):
        return "negation"
    if _affirms(answer, resting) and not _denies(question):
        return "negation"
    if _turns(answer, resting, MUST, MAY) and not (MAY.search(answer) and _denies(answer)):
        return "modal"
    if figures(answer) and _turns(answer, resting + question, _UPPER, _LOWER):
        return "bound"
    if not is_asserted(resting) and is_asserted(both) and not is_asserted(nearest):
        return "not asserted"
    return None


def _affirms(answer: str, said: str) -> bool:
    """Whether an answer says something that its evidence only ever says right behind a negation."""
    denied = {word for match in _DENIED_WORD.finditer(said) for word in content_words(match[1] or match[2])}
    if not denied:
        return False
    free = Said(_DENIED_WORD.sub(" ", said))
    plain = Said(_DENIED_WORD.sub(" ", answer))
    return any(word not in free and word in plain for word in denied)


def _turns(answer: str, said: str, one: re.Pattern[str], other: re.Pattern[str]) -> bool:
    """Whether an answer has one of two opposites, and what it rests on the other one only."""
    mine, theirs = (one.search(answer), other.search(answer)), (one.search(said), other.search(said))
    return any(mine[at] and not mine[1 - at] and theirs[1 - at] and not theirs[at] for at in (0, 1))


def _denies(text: str) -> bool:
    text = WHETHER.sub("", text)
    return any(not _NOT_DENIED.match(match[0]) for match in NEGATION.finditer(text)) or bool(_DENIED.search(text))


def _nearest_clauses(words: str, scope: Scope, units: Sequence[int]) -> str:
    """Of the evidence, the clauses that say most of some words."""
    wanted = content_words(words)
    clauses = [scope.group.texts[at][start:end] for at in units for start, end in clause_spans(scope.group.texts[at])]
    shares = [sum(word in Said(clause) for word in wanted) for clause in clauses]
    best = max(shares, default=0)
    return "\n".join(clause for clause, share in zip(clauses, shares, strict=True) if share and 2 * share > best)


def _is_mixed(question: str, answer: str, scope: Scope, units: Sequence[int]) -> bool:
    """Whether a number comes from a row or sentence about another thing of the kind that is asked about."""
    asked = _identifiers(question)
    values = {figure.value for figure in figures(answer)}
    if not asked or not values:
        return False
    holding = [
        text for at, text in enumerate(scope.group.texts)
        if values & {figure.value for figure in figures(text)} and scope.group.group.units[at].kind != "heading"
    ]  # fmt: skip
    for name in asked:
        kind = re.sub(r"[\d.]+", "0", name)
        rivals = [{one for one in _identifiers(text) if re.sub(r"[\d.]+", "0", one) == kind} for text in holding]
        if rivals and all(found and name not in found for found in rivals):
            return True
    return False


def _is_of_a_rival(question: str, answer: str, scope: Scope, units: Sequence[int]) -> bool:
    """Whether a number stands in one clause, and what is asked for in another one with a number of its kind.

    "The warranty of seals is two years, that of pumps five": five is no answer about seals.
    """
    asked = {word for word in content_words(f"{question} {answer}") if _NUMERAL.search(word) is None}
    values = {figure.value for figure in figures(answer)}
    for figure in figures(answer):
        own = rival = -1
        for at in units:
            text = scope.group.texts[at]
            for start, end in clause_spans(text):
                found = [one for one in figures(text[start:end]) if one.unit == figure.unit]
                n_shared = sum(word in asked for word in set(content_words(text[start:end])))
                if any(one.value == figure.value for one in found):
                    own = max(own, n_shared)
                elif any(one.value not in values for one in found):
                    rival = max(rival, n_shared)
        if 0 <= own <= rival - _CLEARLY_MORE:
            return True
    return False


def _identifiers(text: str) -> set[str]:
    lexed = lex(text)
    return {lexed.words(fact.start, fact.end).replace(" ", "").casefold() for fact in facts(lexed)
            if fact.kind == "identifier" and any(map(str.isdigit, fact.key))}  # fmt: skip


def _words(question: str, answer: str, scope: Scope) -> str | None:
    """``list`` or ``words`` where an answer says more than its group; None where its words are there."""
    listed = _LISTED.search(answer)
    if listed is not None and scope.wide.share(content_words(answer[listed.end() :])) < 1:
        return "list"
    if any(scope.numbers.problem(figure) == "count" for figure in figures(answer)):
        return "words"
    words = content_words(answer)
    if _YES_OR_NO.match(answer) or len(words) < 2:
        whole = content_words(f"{question}\n{answer}")
        return None if scope.wide.share(whole) >= _LEAST else "words"
    asked = {word for word in content_words(question) if word in scope.document_words}
    known = Said(scope.wide_text, " ".join(asked))
    own = [word for word in words if word not in asked]
    if own and scope.wide.share(own) < _LEAST_OF_CLAUSE:
        return "words"
    if known.share(words) < _LEAST or known.longest_unsaid(words) >= _MOST_UNSAID * (2 if is_chinese(answer) else 1):
        return "words"
    for start, end in clause_spans(answer):
        clause = content_words(answer[start:end])
        if len(clause) >= _CLAUSE_WORDS and known.share(clause) < _LEAST_OF_CLAUSE:
            return "words"
    return None
