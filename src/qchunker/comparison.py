"""Chunkings side by side: means of scores with their intervals, and where two chunkings cut differently."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from qchunker.partitions import cuts, made_of
from qchunker.types import ChunkScore, Document, Span

Row = dict[str, Any]

SCORE_FIELDS = ("li", "sd", "value", "li_corrected", "sd_corrected", "corrected")
_RESAMPLES = 2000
_FEWEST = 5
_INTERVAL = (2.5, 97.5)
_MATCHED_RATIO = 0.03


def score_row(
    score: ChunkScore, document: Document, chunks: str, spans: Sequence[Span], *, with_gram: bool = True
) -> Row:
    """A score as a row for JSON: nan becomes null, numbers keep all digits."""
    row = {"doc_id": score.document_id, "source": document.source, "chunks": chunks, **asdict(score)}
    row["made_of"] = made_of(document.text, spans)
    del row["document_id"]
    if not with_gram:
        del row["gram"]
    row["li_above_one"] = score.li_above_one
    return {key: _number(value) for key, value in row.items()}


def mean_row(rows: Sequence[Row], chunks: str) -> Row:
    """Means over the documents of one file, with 95 % bootstrap intervals; unscorable documents are counted apart."""
    scored = [row for row in rows if row["reason"] is None]
    means: Row = {
        "doc_id": None,
        "chunks": chunks,
        "n_documents": len(rows),
        "n_scored": len(scored),
        "n_chunks": sum(row["n_chunks"] for row in scored),
        "mean_chars": _mean_length(scored),
    }
    for field in SCORE_FIELDS:
        values = [row[field] for row in scored if row[field] is not None]
        means[field] = sum(values) / len(values) if values else None
        means[f"{field}_interval"] = bootstrap_interval(values)
    means["signatures"] = sorted({row["signature"] for row in scored})
    return means


def bootstrap_interval(values: Sequence[float]) -> list[float] | None:
    """95 % percentile interval of the mean over documents, from seeded resamples; None for fewer than five values."""
    if len(values) < _FEWEST:
        return None
    data = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    # One resample at a time, so that many documents need no large matrix.
    means = [float(data[rng.integers(0, len(data), len(data))].mean()) for _ in range(_RESAMPLES)]
    return [float(bound) for bound in np.percentile(means, _INTERVAL)]


def lengths_match(means: Sequence[Row]) -> bool:
    """Whether the mean chunk lengths of some files are near enough to each other to compare raw scores."""
    lengths = [row["mean_chars"] for row in means if row["mean_chars"]]
    return not lengths or max(lengths) <= (1 + _MATCHED_RATIO) * min(lengths)


def _mean_length(rows: Sequence[Row]) -> float | None:
    n_chunks = sum(row["n_chunks"] for row in rows)
    return sum(row["mean_chars"] * row["n_chunks"] for row in rows) / n_chunks if n_chunks else None


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two partitions of one document cut, as positions in its text."""

    both: tuple[int, ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]

    @property
    def agreement(self) -> float:
        """Share of all cuts that both make (Jaccard); 1 when neither cuts."""
        total = len(self.both) + len(self.only_a) + len(self.only_b)
        return len(self.both) / total if total else 1.0


def difference(text: str, a: Sequence[Span], b: Sequence[Span]) -> Difference:
    """The cuts of two partitions; white space around a cut does not count."""
    in_a, in_b = set(cuts(text, a)), set(cuts(text, b))
    return Difference(tuple(sorted(in_a & in_b)), tuple(sorted(in_a - in_b)), tuple(sorted(in_b - in_a)))


def histogram(lengths: Iterable[int], step: int) -> list[tuple[int, int]]:
    """(lower end, number of chunks) of every bin of ``step`` characters, empty ones included."""
    bins = Counter(length // step for length in lengths)
    return [(index * step, bins[index]) for index in range(min(bins), max(bins) + 1)] if bins else []


def round_step(largest: int, n_bins: int = 12) -> int:
    """A width of 1, 2 or 5 times a power of ten that cuts ``largest`` into at most about ``n_bins`` bins."""
    raw = max(1.0, largest / n_bins)
    power = 10.0 ** math.floor(math.log10(raw))
    return int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw))
