"""METEOR of one answer against one reference (Banerjee and Lavie, 2005), as nltk computes it.

Words are matched as they are, then by stem (Porter), then as synonyms of the English WordNet. WordNet is data that is
not part of nltk: where it is absent the third stage is left out, and the signature says so. Chinese words match only
as they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from qchunker.bench.metrics.packages import bench_package
from qchunker.bench.metrics.tokens import answer_tokens, compared_texts, tokenizer_signature

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


def meteor(prediction: str, reference: str, language: str) -> float:
    """Harmonic mean of recall and precision of matched words, less a penalty for a changed order; 0 to below 1.

    Case is ignored, tokens of white space are dropped. 0 for a blank prediction. Equal texts of m tokens score
    1 - 0.5 / m ** 3, for the penalty of one unbroken match is not zero: one token gives 0.5, five give 0.996.

    Raises:
        ScoringError: if the reference is blank.
        ConfigError, MissingExtraError: as ``answer_tokens``.
    """
    predicted, wanted = (_words(text, language) for text in compared_texts(prediction, reference))
    if not predicted:
        return 0.0
    score = bench_package("nltk.translate.meteor_score", "METEOR").single_meteor_score
    return float(score(wanted, predicted, wordnet=_synonyms().source, alpha=ALPHA, beta=BETA, gamma=GAMMA))


def meteor_signature(language: str) -> str:
    """Everything that ``meteor`` depends on."""
    version = bench_package("nltk", "METEOR").__version__
    options = f"alpha:{ALPHA}|beta:{BETA}|gamma:{GAMMA}|refs:1|case:lower"
    return f"meteor|stages:{_synonyms().stages}|{options}|tok:{tokenizer_signature(language)}|nltk:{version}"


def _words(text: str, language: str) -> list[str]:
    return [token for token in answer_tokens(text, language) if token.strip()]


class _NoSynonyms:
    """A WordNet without an entry."""

    def synsets(self, word: str) -> list[Any]:
        return []


class _Synonyms(NamedTuple):
    source: Any
    stages: str


@cache
def _synonyms() -> _Synonyms:
    wordnet = bench_package("nltk.corpus", "METEOR").wordnet
    try:
        wordnet.ensure_loaded()
        return _Synonyms(wordnet, f"exact+stem+wordnet-{wordnet.get_version()}")
    except LookupError:
        return _Synonyms(_NoSynonyms(), "exact+stem")
