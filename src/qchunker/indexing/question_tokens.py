"""What a question is about: its tokens without the words that ask."""

from __future__ import annotations

import re

from qchunker.indexing.lexical_tokens import lexical_tokens

# Words that ask, and words of every text.
_WORDS_THAT_ASK = (
    "what which who whom whose when where why how is are was were be been do does did can could may might must shall "
    "should will would has have had the a an of in on at to for from by with and or not no it its this that these "
    "those there as if about into than then so i you we they he she my your our their any some all each many much "
    "tell me please give list explain describe"
)
_ASKING = frozenset(lexical_tokens(_WORDS_THAT_ASK))
_ASKING_ZH = re.compile(
    "什[么麼]时?候?|甚[么麼]|哪[些个個里裡一年天种種]?|多少|几[个年月日种]|幾[個年月日種]|如何|怎[么麼]?[样樣]?|为何|為何|何[时時地]|[谁誰]|"
    "是否|[请請]问|[请請]問|有没有|有沒有|能不能|可以|[的了是在从從到吗嗎呢吧由于於对對把被和与與及或][^\\S\\n]*"
)


def question_tokens(question: str) -> list[str]:
    """The different tokens of a question that say what it is about, in their order; all of them where none does.

    Without words that ask, BM25 finds more: on development texts mean recall +.015 (English, p < .001) and +.003
    (Chinese articles, p < .01), -.004 (Chinese news, not significant).
    """
    tokens = [token for token in dict.fromkeys(lexical_tokens(_ASKING_ZH.sub(" ", question))) if token not in _ASKING]
    return tokens or list(dict.fromkeys(lexical_tokens(question)))
