"""Whether a sentence says what holds, and whether a number in it counts the clauses of another document.

Words that are lifted out of "it is wrong to say that" would say the opposite of their document.
"""

from __future__ import annotations

import re

_NOT_ASSERTED = re.compile(
    r"\b(?:not (?:true|correct|the case|so)|untrue|incorrect|wrong(?:ly)? (?:to|say|claim|believe)|mistaken|myth|"
    r"rejected|repealed|revoked|deleted|withdrawn|struck out|draft|propos(?:ed|al|es)|suggest(?:s|ed)|argued?|"
    r"argues|claim(?:s|ed)|alleg(?:es|ed)|contend(?:s|ed)|no longer|formerly|previously)\b|"
    r"并非|不是说|误以为|误认为|錯誤地|错误地|有人(?:主张|認為|认为|称|说)|主张.{0,20}不|草案|曾(?:规定|規定|经|經)|废止|廢止|删除|刪除|"
    r"失效|撤销|未予支持|不予支持|建议稿|征求意见稿",
    re.IGNORECASE,
)
# In front of a definition: it holds only if, only there, or only somebody says so.
_RESTRICTED = re.compile(
    r"\b(?:if|unless|whether|only|said|says|reads|for (?:the )?purposes? of (?!this)|"
    r"in (?:the )?(?:annex|sections?|schedule|clauses?|article|part|chapter|table|appendix|paragraph)\b(?! is))|"
    r"如果|若(?!干)|倘若|除非|是否|仅|只在|[在就]第|就本[条条款章节節]而言|[在就](?:附件|附录|附錄|附表)|[规規]定[：:，]|[称稱说說][：:]|旧",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\W*$|是指?什么|是指?什麼|是指哪")
# In front of a number: the code, the main contract, 《…》, its, that law.
_OF_ANOTHER_ZH = re.compile(
    r"(?:法典|(?<![本该該方办辦])法|(?<![本该該])(?:条例|條例|公约|公約)|》|[其该該]|"
    r"(?<![本该該])(?:合同|协议|協議|章程))(?:中|内|的|之|里)?的?\s*$"
)
_OF_ANOTHER_EN = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Tt]hat|[Ii]ts|[Tt]heir) (?:(?:[A-Z][\w-]* ){0,4}"
    r"(Lease|Act|Code|Regulations?|Directive|Treaty|Statute|Convention|Ordinance|Charter|Constitution|Deed|Contract|Agreement)|"
    r"(?:other|old|main|earlier) (?:contract|lease|agreement|policy|document))\b[^.;\n]{0,60}$"
)
_NAME_BEFORE = re.compile(r"(?:[Vv]ersion|[Rr]elease|\bv|\b[A-Z]{2,}[\w/-]*),?\s*$")
_LOOK_BACK = 90


def is_asserted(sentence: str) -> bool:
    """Whether a sentence says what holds, and not what was denied, proposed, reported or repealed."""
    return _NOT_ASSERTED.search(sentence) is None


def is_definition_in_force(sentence: str, at: int) -> bool:
    """Whether a definition that stands at ``at`` in its sentence holds for the whole document."""
    restricted = _RESTRICTED.search(sentence, 0, at)
    return restricted is None and _QUESTION.search(sentence) is None and is_asserted(sentence)


def names_other_document(text: str, start: int, at: int, own_title: str = "") -> bool:
    """Whether the words from ``start`` to a number at ``at`` say that it counts the clauses of another document.

    Args:
        text: of the document.
        start: of the sentence.
        at: where the reference starts.
        own_title: of the document; the Lease is no other document in a lease.
    """
    before = text[max(start, at - _LOOK_BACK) : at]
    if _NAME_BEFORE.search(before) or _OF_ANOTHER_ZH.search(before):
        return True
    other = _OF_ANOTHER_EN.search(before)
    return other is not None and (other[1] is None or other[1].lower() not in own_title.lower())
