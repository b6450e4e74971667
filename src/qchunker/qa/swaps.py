"""Wordings that put another thing in the place of what is asked about: the valve for the pump, may for must.

Embeddings hold such wordings for equal. A word that the document does not have may be another word for one that it
has; two words of the document are two things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from qchunker.debate.verify_words import fold
from qchunker.qa.support import MAY, MUST
from qchunker.qa.words import Said, content_words, is_chinese

_ASKING = frozenset(
    "long length durat period often interv frequent amount number time date reason purpos way step kind type name "
    "pleas tell know mean call use".split()
)
_ASKING_ZH = re.compile(
    "多少|多长|多久|多大|多高|何时|何处|何种|为何|为什么|什么|怎么样?|怎样|如何|哪[个些种里年天]?|谁|几|是否|能否|可否|请问|"
    "应当|应该|必须|需要|可以|能够|允许|一次|周期|期限|时间|频率|间隔|次数|数量|原因|方法|[的了是在和与及或为由从向对将把被有吗呢须应要需会能可]"
)
_HAN = re.compile("[\u3400-\u9fff]+")
_LATIN = re.compile(r"[a-z]+(?:-[a-z]+)*")
_DENYING = ("un", "non", "non-", "in", "im", "ir", "il", "dis", "mis")
_LEAST_STEM = 3
_LONGEST = 400  # characters that are compared one by one

_VERB = r"(?!is\b|are\b|was\b|were\b|be\b|has been\b|have been\b)[a-z]+"
_MODAL = "(?:must|may|shall|should|can|will|could|might|does|do|did)"
_WHO_ACTS = re.compile(
    rf"\b(?:by|from) whom\b|\bwho (?:{_MODAL} )(?!the\b|an?\b|we\b|they\b|you\b|I\b|[A-Z]){_VERB}|"
    rf"\bwho (?!{_MODAL}\b){_VERB}"
)
_WHO_SUFFERS = re.compile(
    rf"(?<!by )(?<!from )\bwhom\b|\bwho {_MODAL} (?:the\b|an?\b|we\b|they\b|you\b|I\b|[A-Z])|"
    rf"\bwho (?:is|are|was|were|{_MODAL} be) [a-z]+ed by\b"
)
_WHO_ACTS_ZH = re.compile("(?:^|[，,：:])谁(?![的是])|由谁")
_WHO_SUFFERS_ZH = re.compile(r"(?<![是由被为])谁[？?。\s]*\Z")


def swaps(one: str, other: str, known: Said | None = None) -> bool:
    """Whether two wordings differ in what they ask about, in who does it, in what is allowed, or in a negated form.

    Args:
        one: wording.
        other: wording in the same language.
        known: words of the document; None where all are.
    """
    return (
        (_permits(one) != _permits(other) and None not in (_permits(one), _permits(other)))
        or _is_negated_form(one, other)
        or _roles_differ(one, other)
        or _other_thing(one, other, known)
    )  # fmt: skip


def _permits(text: str) -> bool | None:
    may, must = MAY.search(text) is not None, MUST.search(text) is not None
    return None if may == must else may


def _is_negated_form(one: str, other: str) -> bool:
    if is_chinese(one):
        return False  # by the negations themselves
    words = [set(_LATIN.findall(fold(text).lower())) for text in (one, other)]
    return any(_denies(words[at] - words[1 - at], words[1 - at]) for at in (0, 1))


def _denies(mine: set[str], others: set[str]) -> bool:
    return any(
        word.startswith(prefix) and len(rest := word.removeprefix(prefix)) >= _LEAST_STEM and rest in others
        for word in mine for prefix in _DENYING
    )  # fmt: skip


def _roles_differ(one: str, other: str) -> bool:
    first, second = _role(one), _role(other)
    return None not in (first, second) and first != second


def _role(text: str) -> bool | None:
    """Whether a question asks for who does something, or whom it is done to; None where it asks for neither."""
    if is_chinese(text):
        text = "".join(text.split())
        acts, suffers = _WHO_ACTS_ZH.search(text), _WHO_SUFFERS_ZH.search(text)
    else:
        text = re.sub(r"\b(?:Who|By|From)", lambda match: match[0].lower(), " ".join(text.split()))
        acts, suffers = _WHO_ACTS.search(text), _WHO_SUFFERS.search(text)
    if suffers:
        return False
    return True if acts else None


def _other_thing(one: str, other: str, known: Said | None) -> bool:
    """Whether something stands in the place of something else, and the document has both or neither of them."""
    pieces = [_pieces(text[:_LONGEST]) for text in (one, other)]
    matcher = SequenceMatcher(None, pieces[0], pieces[1], autojunk=False)
    swapped = False
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        mine, theirs = _said(pieces[0], start, end, known), _said(pieces[1], other_start, other_end, known)
        if kind == "replace" and (is_chinese(one) or end - start == other_end - other_start):
            swapped = swapped or mine == theirs
        elif kind != "equal" and (mine or theirs):
            return False  # another way to ask, not another word in the same place
    return swapped


def _pieces(text: str) -> list[str]:
    """Words of a wording in order; single characters of a Chinese one, with a blank for what only asks."""
    if not is_chinese(text):
        return [word for word in content_words(text) if word not in _ASKING]
    text = fold(text).casefold()
    return [char for run in _HAN.findall(_ASKING_ZH.sub("", text)) for char in run]


def _said(pieces: Sequence[str], start: int, end: int, known: Said | None) -> bool:
    """Whether the document has a word of some pieces; characters with one beside them, for they are no words."""
    if start == end:
        return False
    if known is None:
        return True
    if not is_chinese(pieces[start]):
        return any(word in known for word in pieces[start:end])
    if end - start == 1:
        start, end = (start, end + 1) if end < len(pieces) else (start - 1, end)
    run = pieces[max(0, start) : end]
    return any(word in known for word in map(str.__add__, run, run[1:]))
