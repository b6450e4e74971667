"""BLEU of one answer against one reference (Papineni et al., 2002).

The published tables average the BLEU of single answers, so it is computed per answer, up to four words in a row and
without smoothing: an answer of fewer than four tokens has 0, even if it equals the reference, and so has one that
shares no four tokens in a row with it. The runner of CRUD divides by the brevity penalty, the notebook for the other
sets does not; which of the two is in the tables of QChunker is not said, so both are here. A third form counts only as
many words in a row as the answer has, so that a short answer that equals its reference scores 1; it is in no table.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from qchunker.bench.metrics.packages import bench_package
from qchunker.bench.metrics.tokens import answer_tokens, compared_texts, tokenizer_signature

MAX_ORDER = 4


def bleu(prediction: str, reference: str, language: str) -> float:
    """BLEU with the brevity penalty, 0 to 1; 0 for a blank prediction and for one of fewer than four tokens.

    Raises:
        ScoringError: if the reference is blank.
        ConfigError, MissingExtraError: as ``answer_tokens``.
    """
    return _bounded(_statistics(prediction, reference, language).score / 100)


def bleu_without_penalty(prediction: str, reference: str, language: str) -> float:
    """BLEU over its brevity penalty, which CRUD-RAG reports: a short answer is not punished; else as ``bleu``."""
    found = _statistics(prediction, reference, language)
    return _bounded(found.score / 100 / found.bp) if found.bp else 0.0


def bleu_effective_order(prediction: str, reference: str, language: str) -> float:
    """BLEU up to as many tokens in a row as the prediction has, four at most: equal texts score 1 at any length.

    From four tokens on it equals ``bleu``, which see for the rest.
    """
    return _bounded(_statistics(prediction, reference, language, effective=True).score / 100)


def bleu_signature(language: str) -> str:
    """Everything that ``bleu`` depends on."""
    return _signature("bleu", f"order:{MAX_ORDER}|eff:no|penalty:yes", language)


def bleu_without_penalty_signature(language: str) -> str:
    """Everything that ``bleu_without_penalty`` depends on."""
    return _signature("bleu_without_penalty", f"order:{MAX_ORDER}|eff:no|penalty:no", language)


def bleu_effective_order_signature(language: str) -> str:
    """Everything that ``bleu_effective_order`` depends on."""
    return _signature("bleu_effective_order", f"order:{MAX_ORDER}|eff:yes|penalty:yes", language)


def _statistics(prediction: str, reference: str, language: str, *, effective: bool = False) -> Any:
    predicted, wanted = compared_texts(prediction, reference)
    numbers: dict[str, int] = {}
    lines = [_numbered(answer_tokens(text, language), numbers) for text in (predicted, wanted)]
    return _scorer(effective).corpus_score(lines[:1], [lines[1:]])


def _numbered(tokens: list[str], numbers: dict[str, int]) -> str:
    """Tokens as numbers: sacrebleu takes a line and cuts it at spaces, and a token of Chinese may be a space."""
    return " ".join(str(numbers.setdefault(token, len(numbers))) for token in tokens)


def _bounded(value: float) -> float:
    """Within rounding, a mean of logarithms may lie above 1."""
    return min(1.0, float(value))


@cache
def _scorer(effective: bool) -> Any:
    package = bench_package("sacrebleu", "BLEU")
    options = {"tokenize": "none", "smooth_method": "none", "max_ngram_order": MAX_ORDER, "force": True}
    return package.BLEU(**options, effective_order=effective)


def _signature(name: str, options: str, language: str) -> str:
    version = bench_package("sacrebleu", "BLEU").__version__
    return f"{name}|{options}|smooth:none|refs:1|case:mixed|tok:{tokenizer_signature(language)}|sacrebleu:{version}"
