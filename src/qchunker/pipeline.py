"""The only place where stages meet. Reads top to bottom: parse, debate or chunk, link, score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, isnan
from operator import index
from pathlib import Path
from statistics import fmean, pstdev

from qchunker.chunking import CHUNKERS, MODEL_CHUNKERS, Chunker
from qchunker.chunking.assemble import chunk_at, signature
from qchunker.chunking.links import link_exceptions
from qchunker.chunking.sizes import Measure
from qchunker.config import ChunkingConfig, CompletionConfig, DebateConfig, ScoringConfig, SegmentationConfig
from qchunker.debate.distilled.roles import with_small_models
from qchunker.debate.llm.roles import llm_roles
from qchunker.debate.llm.setting import setting_of
from qchunker.debate.offline.completer import complete as complete_chunk
from qchunker.debate.offline.reviewer import review as review_chunks
from qchunker.debate.offline.roles import offline_roles
from qchunker.debate.offline.segmenter import Boundary, Segmentation, sizes_for
from qchunker.debate.workflow import RunStage, debate, fitted, run_directly
from qchunker.errors import ConfigError, InputError, ParseError
from qchunker.inputs import BadInput, FileInput, Input, TextInput
from qchunker.models.causal_lm import CausalLM
from qchunker.models.embedder import Embedder
from qchunker.models.load import (
    FETCHABLE,
    Models,
    default_embedder,
    is_mostly_chinese,
    is_present,
    lm_for,
    load_models,
)
from qchunker.parsing import parse_source, parse_string
from qchunker.scoring.boundary_evidence import boundary_evidence as evidence_of_cuts
from qchunker.scoring.chunkscore import Score, score_partitions
from qchunker.scoring.logical_independence import Progress
from qchunker.types import ChunkScore, Document, Partition, Review, Source, Span
from qchunker.version import __version__

EVIDENCE_UNIT_CHARS = 200
"""Half the longest sentence that is one unit, where partitions are scored by evidence."""

DEBATE = "qchunker"
"""The method that runs the whole debate."""


def parse(source: str | Path | Source, *, media_type: str | None = None, selector: str | None = None) -> Document:
    """Read one file.

    Args:
        source: a path, or a ``Source`` of name and bytes.
        media_type: one of ``PARSERS``; by default told from the name.
        selector: CSS selector of the main content of an HTML page.

    Raises:
        ParseError: if the file is missing, empty, broken, encrypted, or has no text.
        UnsupportedFormatError: if no parser reads the format.
    """
    if not isinstance(source, Source | str | Path):
        raise InputError(f"{source!r} is neither a path nor a Source")
    if not isinstance(source, Source):
        source = _read(Path(source).as_posix(), Path(source))
    return parse_source(source, media_type=media_type, selector=selector)


def chunk(
    document: Document,
    method: str | Chunker = DEBATE,
    config: ChunkingConfig | None = None,
    debate_config: DebateConfig | None = None,
    models: Models | None = None,
    run: RunStage = run_directly,
) -> Partition:
    """Cut a document into chunks that cover every non-space character exactly once.

    Args:
        document: from ``parse`` or ``from_text``.
        method: ``qchunker`` for the whole debate, a key of ``CHUNKERS`` or ``MODEL_CHUNKERS``, or a function from
            document and config to partition.
        config: sizes and overlap.
        debate_config: evidence for cuts and limits of completion, for ``qchunker``.
        models: for ``qchunker``: the embedder for evidence, the language model where the objective needs one, and the
            models that play roles; for those of ``MODEL_CHUNKERS`` the one that they work with. By default the encoder
            that is part of this package, and the language model for the text.
        run: runs every stage of ``qchunker``, and methods with a model as one stage; it may tell what begins, and may
            remember results of an earlier run.

    Raises:
        ConfigError: if the method is unknown, asks a language model and has none, or is a function that loses or
            repeats text.
        MissingModelError: if the method or the objective needs a model that is not on this machine.
        ModelError: if a model fails.
    """
    if not isinstance(document, Document):
        raise InputError(f"document must be a Document, got {type(document).__name__}", hint="use from_text or parse")
    config = config or ChunkingConfig()
    if method == DEBATE:
        partition = _debated(document, config, debate_config or DebateConfig(), models, run)
    elif isinstance(method, str) and method in MODEL_CHUNKERS:
        chunker, given = MODEL_CHUNKERS[method], models or Models(default_embedder())
        partition = run("segment", lambda: chunker(document, config, given), document)
    else:
        partition = _chunker(method)(document, config)
    _check_lossless(partition)
    return link_exceptions(partition)


def _chunker(method: str | Chunker) -> Chunker:
    if isinstance(method, str):
        if method not in CHUNKERS:
            known = ", ".join((DEBATE, *CHUNKERS, *MODEL_CHUNKERS))
            raise ConfigError("method", f"unknown method {method!r}", hint=f"known: {known}")
        return CHUNKERS[method]
    if not callable(method):
        raise ConfigError("method", f"must be a name or a function, got {method!r}")
    return method


def _debated(
    document: Document, config: ChunkingConfig, how: DebateConfig, models: Models | None, run: RunStage
) -> Partition:
    sizes = sizes_for(config, chinese=is_mostly_chinese(document.text))
    embedder = models.embedder if models is not None else default_embedder()
    choose = _chooser(document, how.segmentation, models, embedder)
    if models is None or models.llm is None:
        roles = offline_roles(sizes, how, embedder, choose)
    else:
        setting = setting_of(models.llm, how.llm, sizes, models.tally)
        # Partitions of different numbers of chunks compare by evidence, not by raw scores.
        chosen = None if how.segmentation.objective == "evidence" else choose
        roles = llm_roles(setting, sizes, how, embedder, chosen)
    if models is not None:
        roles = with_small_models(roles, models, sizes, how, embedder)
    return debate(document, sizes, how, roles, run)


def _chooser(
    document: Document, how: SegmentationConfig, models: Models | None, embedder: Embedder
) -> Callable[[list[Partition]], Partition]:
    """What takes one of several partitions by the objective; a language model is loaded only where it needs one."""

    def choose(partitions: list[Partition]) -> Partition:
        if how.objective == "evidence":
            return partitions[0]  # the first is the best by evidence
        lm = lm_for(models, document.text)
        is_raw = how.objective == "chunkscore"
        config = ScoringConfig(draws=0 if is_raw else ScoringConfig().draws, seed=how.seed)
        scores = score_all(document, partitions, Models(embedder, lm), config)
        values = [one.value if is_raw else one.corrected for one in scores]
        return max(zip(values, partitions, strict=True), key=lambda pair: _rank(pair[0]))[1]

    return choose


def explain_cuts(
    partition: Partition,
    config: ChunkingConfig | None = None,
    debate_config: DebateConfig | None = None,
    models: Models | None = None,
) -> list[Boundary]:
    """The evidence for every possible cut of a document that ``qchunker`` chunked; arguments as for ``chunk``."""
    document = partition.document
    sizes = sizes_for(config or ChunkingConfig(), chinese=is_mostly_chinese(document.text))
    embedder = models.embedder if models is not None else default_embedder()
    return Segmentation(document, sizes, (debate_config or DebateConfig()).segmentation, embedder).explain(partition)


def boundary_evidence(
    document: Document, partition: Partition | Sequence[tuple[int, int]], models: Models | None = None
) -> float:
    """How much there is in a text for the cuts of a partition; see ``scoring.boundary_evidence`` for what it is worth.

    Args:
        document: that was cut.
        partition: from ``chunk``, or (start, end) pairs from any other tool: sorted, without overlap.
        models: the embedder, by default the encoder that is part of this package.

    Raises:
        InputError: if the spans are no pairs of whole numbers. ScoringError: if there is no inner cut.
    """
    spans = partition.spans if isinstance(partition, Partition) else _spans(partition)
    embedder = models.embedder if models is not None else default_embedder()
    sizes = ChunkingConfig(target_chars=EVIDENCE_UNIT_CHARS, min_chars=0, overlap_ratio=0)
    made = Segmentation(document, sizes, SegmentationConfig(), embedder)
    known = dict(zip((unit.start for unit in made.units), made.evidence, strict=True))
    return evidence_of_cuts(known, spans)


def review(document: Document, partition: Partition | Sequence[tuple[int, int]]) -> list[Review]:
    """What each chunk needs and lacks that its document states elsewhere; one review per chunk, in order.

    Args:
        document: that was cut.
        partition: from ``chunk``, or (start, end) pairs from any other tool.

    Raises:
        InputError: if a span is outside the document.
    """
    if not isinstance(document, Document):
        raise InputError(f"document must be a Document, got {type(document).__name__}", hint="use from_text or parse")
    spans = partition.spans if isinstance(partition, Partition) else _spans(partition)
    for span in spans:
        if not 0 <= span.start < span.end <= len(document.text):
            raise InputError(f"the span {span.start}-{span.end} is outside the document")
    return review_chunks(document, spans)


def complete(
    document: Document,
    partition: Partition | Sequence[tuple[int, int]],
    config: CompletionConfig | None = None,
    *,
    max_chars: int | None = None,
) -> Partition:
    """The chunks with what they lack, traceably added; errors as for ``review``.

    Chunks of other tools get heading path, page and embedded text as well.

    Args:
        document: that was cut.
        partition: from ``chunk``, or (start, end) pairs from any other tool.
        config: what may be added.
        max_chars: hard limit of the embedded text; what does not fit is in the completed text only.
    """
    reviews = review(document, partition)
    if not isinstance(partition, Partition):
        sizes = ChunkingConfig(target_chars=max(1, len(document.text)), overlap_ratio=0)
        measure = Measure.of_config(sizes)
        made = tuple(chunk_at(document, span, sizes, measure) for span in _spans(partition))
        partition = Partition(document, made, "spans", signature(sizes, "spans"))
    chunks = [
        complete_chunk(piece, found, config or CompletionConfig())
        for piece, found in zip(partition.chunks, reviews, strict=True)
    ]
    if max_chars is not None:
        chunks = [fitted(piece, max_chars, Measure()) for piece in chunks]
    completed = replace(partition, chunks=tuple(chunks))
    in_order = all(one.end <= other.start for one, other in pairwise(chunks))
    return link_exceptions(completed) if in_order else completed


def _rank(value: float) -> float:
    """A number that does not exist is less than any that does."""
    return -inf if isnan(value) else value


def _check_lossless(partition: Partition) -> None:
    text, at = partition.document.text, 0
    for piece in partition.chunks:
        if not at <= piece.start < piece.end <= len(text):
            raise ConfigError("method", f"chunk {piece.start}-{piece.end} overlaps another or leaves the document")
        if piece.start > at and text[at : piece.start].strip():
            raise ConfigError("method", f"no chunk holds the text at {at}-{piece.start}")
        at = piece.end
    if text[at:].strip():
        raise ConfigError("method", f"no chunk holds the text at {at}-{len(text)}")


def from_text(text: str, source: str = "text.txt", *, doc_id: str = "") -> Document:
    """The document of a string; the ending of ``source`` tells plain text, Markdown, HTML or CSV.

    Lone surrogates are replaced and noted. Raises ParseError if the text is blank.
    """
    return parse_string(text, source, doc_id)


def parse_input(item: Input, *, selector: str | None = None) -> Document:
    """The document of one input.

    Raises:
        QChunkerError: if it cannot be read or parsed.
    """
    if isinstance(item, BadInput):
        raise item.error
    if isinstance(item, TextInput):
        return from_text(item.text, item.name, doc_id=item.doc_id)
    return parse_source(_read(item.name, item.path) if isinstance(item, FileInput) else item, selector=selector)


def _read(name: str, path: Path) -> Source:
    try:
        if path.exists() and not path.is_file():
            raise ParseError(name, "is not a regular file", hint="check the path and its permissions")
        return Source(name, path.read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, ParseError):
            raise
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise ParseError(name, reason, hint="check the path and its permissions") from error


def score(
    document: Document,
    partition: Partition | Sequence[tuple[int, int]],
    models: Models | None = None,
    config: ScoringConfig | None = None,
    *,
    progress: Progress | None = None,
) -> ChunkScore:
    """ChunkScore of one partition of a document. To score several, ``score_all`` shares their work.

    Args:
        document: that was cut.
        partition: from ``chunk``, or (start, end) pairs from any other tool: sorted, without overlap.
        models: by default ``load_models(text=document.text)``; load them once when scoring many documents.
        config: weights, number of random partitions, seed.
        progress: called with what is being done, how much is done, and how much there is.

    Raises:
        InputError: if the spans are no pairs of whole numbers.
        ScoringError: if there is no chunk, or a chunk is blank or outside the document.
        MissingModelError: if a model is not on this machine.
        ModelError: if a model fails.
    """
    return score_all(document, [partition], models, config, progress=progress)[0]


def score_all(
    document: Document,
    partitions: Sequence[Partition | Sequence[tuple[int, int]]],
    models: Models | None = None,
    config: ScoringConfig | None = None,
    *,
    progress: Progress | None = None,
) -> list[ChunkScore]:
    """ChunkScore of several partitions of one document; arguments and errors as for ``score``.

    What they have in common is read once: candidates that share most of their cuts cost little more than one.
    """
    if not isinstance(document, Document):
        raise InputError(f"document must be a Document, got {type(document).__name__}", hint="use from_text or parse")
    if isinstance(partitions, Partition):
        raise InputError("partitions must be a list", hint="use score() for one partition")
    models, config, partitions = models or load_models(text=document.text), config or ScoringConfig(), list(partitions)
    spans = [partition.spans if isinstance(partition, Partition) else _spans(partition) for partition in partitions]
    scores = score_partitions(document.text, spans, models.embedder, models.lm, config, progress)
    methods = [partition.method if isinstance(partition, Partition) else "" for partition in partitions]
    return [
        _chunk_score(document, method, lengths, score, models, config)
        for method, lengths, score in zip(methods, spans, scores, strict=True)
    ]


def _spans(pairs: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    """Pairs of whole numbers of any kind, NumPy's included, as spans."""
    try:
        return tuple(Span(index(start), index(end)) for start, end in pairs)
    except (TypeError, ValueError) as error:
        raise InputError(f"a partition must hold (start, end) pairs of whole numbers: {error}") from error


def _chunk_score(
    document: Document, method: str, spans: Sequence[Span], score: Score, models: Models, config: ScoringConfig
) -> ChunkScore:
    lengths = [span.end - span.start for span in spans]
    weak = models.lm is not None and is_mostly_chinese(document.text) and "zh" not in models.lm.languages
    return ChunkScore(
        document_id=document.id,
        method=method,
        n_chunks=len(spans),
        mean_chars=fmean(lengths),
        sd_chars=pstdev(lengths),
        li=score.li,
        sd=score.sd,
        value=score.value,
        li_corrected=score.li_corrected.value,
        sd_corrected=score.sd_corrected.value,
        corrected=score.corrected.value,
        corrected_se=score.corrected.error,
        boundaries=score.boundaries,
        gram=score.gram,
        draws=config.draws,
        notes=tuple(_notes(score, models.lm, config, weak=weak)),
        signature=_score_signature(score, models, config, weak=weak),
        reason=score.reason,
    )


def _notes(score: Score, lm: CausalLM | None, config: ScoringConfig, *, weak: bool) -> Iterator[str]:
    if lm is None:
        yield "without a language model there is no logical independence, and so no ChunkScore"
    if weak and lm is not None:
        name = lm.id.partition("@")[0]
        better = next(known for known, fetchable in FETCHABLE.items() if "zh" in fetchable.languages)
        how = f"--lm {better}, or load_models(text=...)" if is_present(better) else f"qchunker models fetch {better}"
        yield f"{name} knows little Chinese; a better one: {how}"
    if score.reason is None and config.draws and score.sd_corrected.value != score.sd_corrected.value:
        yield "all random partitions are the same, so there is nothing to compare with"
    if score.unit == "word":
        yield "the sentences leave no choice at these chunk lengths: random partitions are cut between words"


def _score_signature(score: Score, models: Models, config: ScoringConfig, *, weak: bool) -> str:
    lm = "none" if models.lm is None else models.lm.id + ("(weak in zh)" if weak else "")
    sample = "all" if config.li_sample is None else config.li_sample
    chance = f"draws={config.draws} li_sample={sample} seed={config.seed} unit={score.unit or 'none'}"
    weights = f"li_weight={config.li_weight:g} ridge={config.ridge:g}"
    return f"qchunker={__version__} chunkscore=1 {weights} {chance} embedder={models.embedder.id} lm={lm}"
