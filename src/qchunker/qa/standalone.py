"""Whether a question can be understood by somebody who does not see the document."""

from __future__ import annotations

import re

from qchunker.debate.verify_words import fold
from qchunker.qa.words import content_words, is_chinese

LONGEST_QUESTION = 400
_ASKS = re.compile(
    r"[?？]\s*[\"'”’」』）)]?\s*\Z|^\W*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|"
    r"were|do|does|did|can|could|"
    r"may|must|should|shall|will|would|has|have|describe|explain|list|name|in|under|at|for|to|on|by|from)\b|"
    r"什[么麼]|哪|谁|誰|几|幾|多[少久大长高]|怎|如何|为何|為何|是否|能否|可否|吗|嗎|何",
    re.IGNORECASE,
)

# What points at the page that is being read.
_TEXT = r"(?:text|passage|excerpt|fragment|segment|snippet|extract|paragraph|sentence|context)"
_PAGE = rf"(?:{_TEXT}|author|document|article|section|page)"
_SAYS = r"(?:says?|mentions?|states?|describes?|discuss(?:es)?|refers?|explains?|lists?)"
_POINTS_EN = re.compile(
    r"\b(?:aforementioned|aforesaid|foregoing)\b|\bthe latter\b|\bthe former\b(?!\s+[a-z])|"
    r"\bthe (?:preceding|following)\b"
    r"|\babove\b(?!\s+(?:\d|the\b|an?\b|which\b|what\b|sea\b|ground\b|zero\b|freezing\b|average\b|all\b|it\b))"
    r"|\b(?:mentioned|described|listed|stated|given|shown|discussed|said|defined)\s"
    r"(?:here|below|above|earlier|before|previously)\b"
    rf"|\b(?:according to|in|from|by|of|does|do) (?:the|this) {_TEXT}\b"
    r"|\baccording to (?:the|this) (?:document|article|author|section|page|guide|manual)\b"
    rf"|\b(?:the|this) {_PAGE}\s+(?:(?:is|was)\s+)?(?:about|{_SAYS})\b"
    r"|\b(?:in|of) (?:the|this) (?:section|chapter|table|figure|page|example|document|article)\b(?!\s*[\dA-Z(“\"])",
    re.IGNORECASE,
)
_POINTS_ZH = re.compile(
    "上述|前述|上文|下文|前文|以[上下](?=内容|文|所述|哪|的?(?:表|图|步骤|说明|例|文字|段|规定|条款|"
    "情况|情形|方法))|如[上下]所|"
    "前[款条條項项]|前两款|本[条條款项項节節章文段]|"
    "[该此这這本]文(?!件系|字|化|本框)|文[中内章](?!件)|原文|段落|前者|后者|後者|下[列述]|"
    "[这這][里裡儿]|(?:该|這|这|此)(?:部分|段|节|章|表|图)"
)
_OWN_ZH = re.compile(
    r"^\W*本(?![人地质身来科金息能币国土体领职周月年季日届次期])|"
    r"(?<![日基根成资資原样標标课課版])本(?=合同|协议|協議|办法|辦法|条例|條例|规定|規定|标准|標準|"
    r"公司|产品|產品|说明书|說明書|手册|手冊|文件|细则|制度|"
    r"规范|章程|系统|机|院|校|店|站|单位|软件|书|指南)"
)
# Pronouns and pointers that an antecedent in the question itself may explain.
_POINTER_EN = re.compile(
    r"\b(?P<word>it|its|they|them|their|theirs|he|him|his|she|her|hers)\b"
    r"|\b(?P<pointer>this|these|those|that|such)(?:\s+(?P<noun>[a-z][\w-]+))?",
    re.IGNORECASE,
)
_NO_POINTER = re.compile(
    r"\bit (?:is|was|be|would be|will be|has been)\s+(?:\w+\s){0,3}?(?:to|that|when|if|for)\b"
    r"|\b(?:is|was|be|would|will|can|could|should|does|did|makes?) it\s+(?:be\s+)?(?:\w+\s){0,2}?"
    r"(?:to|that|for|possible|necessary|allowed|safe|worth)\b"
    r"|\b(?:does|did|will|would|can) it (?:take|cost|mean|matter|rain|snow)\b|\bit (?:takes?|took|"
    r"costs?|happens?|rains?|snows?)\b|\bsuch as\b",
    re.IGNORECASE,
)
# "that" joins clauses far more often than it points.
_THAT_POINTS = re.compile(
    r"(?:^|\b(?:about|of|for|with|to|in|on|by|from|is|was|are|does|do|did|can|will|after|before)\s)that\b"
    r"(?!\s+(?:the|an?|is|are|was|were|has|have|had|can|could|may|must|should|will|would|do|does)\b)",
    re.IGNORECASE,
)
_NAMED_EN = re.compile(
    r"\b(?:the|an?|each|every|all|any|some|no|my|your|our|two|both|which|what)\b(?:\s+[\w'’-]+){1,6}?"
    r"|[A-Z][\w-]*\d[\w-]*|(?<=\s)[A-Z][\w-]+|\b(?:someone|somebody|anyone|everyone|people|users?|"
    r"employees|customers)\b"
)
_BOUND_EN = re.compile(
    r"[,;:]|\b(?:and|or|but|so|to|of|from|with|for|in|on|by|without|as|than)\s+\Z|"
    r"\b(?:when|if|before|after|while|until|because|once|unless|as|although|whether|and|but)\b",
    re.IGNORECASE,
)
_POINTER_ZH = re.compile(
    r"(?P<word>它们|它們|他们|他們|她们|她們|它|(?<!其)他(?!人)|她|(?<!与|與|极|極|尤|何|莫|"
    r"任)其(?!他|它|中之|余|餘|实|實|次|间|間)|两者|兩者|二者)"
    r"|(?P<pointer>(?<![应應本不也就活])[该該](?!如|怎|不|去|是|做|用|在|向|由|被|选)|[这這](?!样|樣|"
    r"么|麼)|那(?!么|麼|样|樣)|"
    r"(?<![因如由彼从從至据據为為藉以自])此(?!外|后|後|前|时|時|刻|处|處|致|同|类|類))"
    r"[些个個种種位项項台件次]?(?P<noun>[\u4e00-\u9fff]{0,4})"
)
_BOUND_ZH = re.compile("[，,、；：:及和与與或并並且而但时時后後前的对對如若当當]")


def problem(question: str) -> str | None:
    """Why a question cannot stand alone: ``not a question``, ``dangling``, ``vague`` or ``too long``; None if it can.

    A pronoun is understood where the question itself names what it stands for: "How is a seal renewed when it leaks?".
    """
    if len(question) > LONGEST_QUESTION:
        return "too long"
    if not _ASKS.search(question):
        return "not a question"
    folded = fold(question)
    if _dangles_zh(folded) if is_chinese(folded) else _dangles_en(folded):
        return "dangling"
    return None if content_words(folded) else "vague"


def _dangles_en(question: str) -> bool:
    if _POINTS_EN.search(question):
        return True
    that_points = {match.end() - len("that") for match in _THAT_POINTS.finditer(question)}
    expletive = [match.span() for match in _NO_POINTER.finditer(question)]
    for match in _POINTER_EN.finditer(question):
        if any(start <= match.start() < end for start, end in expletive):
            continue
        before = question[: match.start()]
        if (match["pointer"] or "").lower() == "that" and match.start() not in that_points:
            continue
        noun = match["noun"]
        if noun and re.search(rf"\b{re.escape(noun[:6])}", before, re.IGNORECASE):
            continue
        if match["pointer"] and noun and not _is_bare(noun):
            return True
        if not _explains(before):
            return True
    return False


def _is_bare(noun: str) -> bool:
    """Whether what follows a pointer is a verb and not the noun that it points at."""
    return noun.lower() in _VERBS


_VERBS = frozenset(
    "is are was were do does did has have had can could may must should will would mean means happen work apply".split()
)


def _explains(before: str) -> bool:
    """Whether the words before a pronoun name something, in a clause or phrase of its own."""
    named = next(iter(_NAMED_EN.finditer(before)), None)
    return named is not None and _BOUND_EN.search(before, named.end()) is not None


def _dangles_zh(question: str) -> bool:
    if _POINTS_ZH.search(question) or _OWN_ZH.search(question):
        return True
    for match in _POINTER_ZH.finditer(question):
        before = question[: match.start()]
        noun = match["noun"] or ""
        if any(noun[:length] in before for length in range(2, len(noun) + 1)):
            continue
        if match["pointer"] and noun:
            return True
        if not (_BOUND_ZH.search(before) and len(content_words(_first_clause(before))) >= 1):
            return True
    return False


def _first_clause(before: str) -> str:
    return before[: max(match.start() for match in _BOUND_ZH.finditer(before))]
