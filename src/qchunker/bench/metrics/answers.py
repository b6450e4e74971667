"""Every metric of an answer against a reference, by name, and exact match and F1 over normalised tokens.

All are per answer, from 0 to 1, higher is better. A blank prediction scores 0 and is counted: the denominator is the
number of questions, whatever a method answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from qchunker.bench.metrics.bleu import (
    bleu,
    bleu_effective_order,
    bleu_effective_order_signature,
    bleu_signature,
    bleu_without_penalty,
    bleu_without_penalty_signature,
)
from qchunker.bench.metrics.meteor import meteor, meteor_signature
from qchunker.bench.metrics.rouge import rouge_l, rouge_l_signature
from qchunker.bench.metrics.tokens import (
    by_language,
    compared_texts,
    normalized_text,
    normalized_tokens,
    tokenizer_signature,
)
from qchunker.errors import ConfigError, ScoringError


class AnswerMetric(NamedTuple):
    """A metric of answers.

    Args:
        score: of (prediction, reference, language).
        signature: of a language: everything that the score depends on.
    """

    score: Callable[[str, str, str], float]
    signature: Callable[[str], str]


def token_f1(prediction: str, reference: str, language: str) -> float:
    """F1 of the bags of normalised tokens (LongBench; SQuAD for English); 0 for a blank prediction.

    A reference without a token, such as signs alone, is matched only by an equal prediction. Raises as ``bleu``.
    """
    predicted, wanted = compared_texts(prediction, reference)
    found, expected = (Counter(normalized_tokens(text, language)) for text in (predicted, wanted))
    if not expected:
        return float(predicted == wanted)
    return 2 * (found & expected).total() / (found.total() + expected.total())


def exact_match(prediction: str, reference: str, language: str) -> float:
    """1 where both are equal without case and punctuation (Chinese also without white space, English without articles).

    A reference of signs alone is matched only by an equal prediction. Raises as ``bleu``, but needs no package.
    """
    predicted, wanted = compared_texts(prediction, reference)
    found, expected = normalized_text(predicted, language), normalized_text(wanted, language)
    return float(found == expected if expected else predicted == wanted)


def best_over_references(metric: str, prediction: str, references: Sequence[str], language: str) -> float:
    """The highest score of a prediction against any of several references, for sets that accept more than one.

    Raises:
        ConfigError: if there is no such metric.
        ScoringError: if there is no reference, or one is blank.
    """
    if metric not in ANSWER_METRICS:
        raise ConfigError("metric", f"unknown: {metric!r}", hint=f"use one of {', '.join(ANSWER_METRICS)}")
    if not references:
        raise ScoringError("no reference answer", hint="leave the question out of the set, for every method")
    return max(ANSWER_METRICS[metric].score(prediction, reference, language) for reference in references)


def _token_f1_signature(language: str) -> str:
    cut = tokenizer_signature(language) if language == "zh" else "space"
    return f"token_f1|{by_language(language, _NORMALIZED)}|tok:{cut}"


def _exact_match_signature(language: str) -> str:
    return f"exact_match|{by_language(language, _NORMALIZED)}"


_NORMALIZED = {"zh": "case:lower|punctuation:no|space:no", "en": "case:lower|punctuation:no|articles:no"}

ANSWER_METRICS: dict[str, AnswerMetric] = {
    "bleu": AnswerMetric(bleu, bleu_signature),
    "bleu_without_penalty": AnswerMetric(bleu_without_penalty, bleu_without_penalty_signature),
    "bleu_effective_order": AnswerMetric(bleu_effective_order, bleu_effective_order_signature),
    "rouge_l": AnswerMetric(rouge_l, rouge_l_signature),
    "meteor": AnswerMetric(meteor, meteor_signature),
    "token_f1": AnswerMetric(token_f1, _token_f1_signature),
    "exact_match": AnswerMetric(exact_match, _exact_match_signature),
}
