"""ROUGE-L of one answer against one reference (Lin, 2004): the longest common subsequence of their tokens."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

from qchunker.bench.metrics.packages import bench_package
from qchunker.bench.metrics.tokens import answer_tokens, compared_texts, tokenizer_signature


def rouge_l(prediction: str, reference: str, language: str) -> float:
    """F1 of precision and recall of the longest common subsequence, 0 to 1; 0 for a blank prediction.

    Chinese: the tokens of ``answer_tokens``, with case. English: those of rouge-score itself, which are runs of letters
    and digits without case and not stemmed; a text of signs alone has none and scores 0. Equal texts with a token
    score 1. Time and memory grow with the product of both numbers of tokens.

    Raises:
        ScoringError: if the reference is blank.
        ConfigError, MissingExtraError: as ``answer_tokens``.
    """
    predicted, wanted = compared_texts(prediction, reference)
    return float(_scorer(language).score(wanted, predicted)["rougeL"].fmeasure)


def rouge_l_signature(language: str) -> str:
    """Everything that ``rouge_l`` depends on."""
    bench_package("rouge_score.rouge_scorer", "ROUGE-L")
    used = version("rouge-score")
    if language == "en":
        return f"rouge_l|f1|stem:no|refs:1|case:lower|tok:rouge-score-{used}|rouge-score:{used}"
    return f"rouge_l|f1|stem:no|refs:1|case:mixed|tok:{tokenizer_signature(language)}|rouge-score:{used}"


class _Words:
    """The tokens of an answer, in the form that rouge-score asks for."""

    def __init__(self, language: str) -> None:
        self._language = language

    def tokenize(self, text: str) -> list[str]:
        return answer_tokens(text, self._language)


@cache
def _scorer(language: str) -> Any:
    scorer = bench_package("rouge_score.rouge_scorer", "ROUGE-L").RougeScorer
    if language == "en":
        words = bench_package("rouge_score.tokenizers", "ROUGE-L").DefaultTokenizer(use_stemmer=False)
        return scorer(["rougeL"], tokenizer=words)
    return scorer(["rougeL"], tokenizer=_Words(language))
