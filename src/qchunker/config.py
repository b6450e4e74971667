"""Settings, with their defaults written once. Numbers are checked when they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qchunker.errors import ConfigError
from qchunker.types import GAP_KINDS

_MOST_DRAWS = 10_000
_MOST_PATHS = 1000
OBJECTIVES = ("evidence", "chunkscore", "chunkscore-corrected")

DEFAULT_TARGET_CHARS = 700
DEFAULT_OVERLAP_RATIO = 0.15

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How large chunks are.

    Sizes are in characters (Unicode code points), or in tokens when ``tokenizer`` is set.

    Args:
        target_chars: size that chunks aim at; the chunk and its lead-in together. When not given, each method has its
            own: 700 characters, and for ``qchunker`` 500, or 180 for Chinese text.
        max_chars: hard limit of the embedded text (heading path, repeated header, lead-in and
            body); twice the target when not given. Only one indivisible unit may exceed it, and
            the chunk then says why in ``oversize``.
        min_chars: shorter pieces are joined to a neighbour, never dropped. Chinese characters count twice.
        overlap_ratio: share of the target that is repeated from the text before, as ``lead_in``. When not given, 0.15,
            and 0 for ``qchunker``.
        tokenizer: a function that counts tokens, or the name of one (see ``tokens.py``).
        merge_headings: whether small sections may share a chunk.
    """

    target_chars: int | None = None
    max_chars: int | None = None
    min_chars: int = 40
    overlap_ratio: float | None = None
    tokenizer: str | TokenCounter | None = None
    merge_headings: bool = False

    def __post_init__(self) -> None:
        for name in ("target_chars", "max_chars", "min_chars"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise ConfigError(name, f"must be a whole number, got {value!r}")
        if self.overlap_ratio is not None and not isinstance(self.overlap_ratio, int | float):
            raise ConfigError("overlap_ratio", f"must be a number, got {self.overlap_ratio!r}")
        if self.tokenizer is not None and not isinstance(self.tokenizer, str) and not callable(self.tokenizer):
            raise ConfigError("tokenizer", f"must be a name or a function, got {self.tokenizer!r}")
        if self.target_chars is not None and self.target_chars < 1:
            raise ConfigError("target_chars", f"must be at least 1, got {self.target_chars}")
        if self.max_chars is not None and self.max_chars < (self.target_chars or 1):
            raise ConfigError(
                "max_chars",
                f"must not be below target_chars, got max {self.max_chars} < target {self.target_chars or 1}",
            )
        if self.min_chars < 0:
            raise ConfigError("min_chars", f"must not be negative, got {self.min_chars}")
        if self.overlap_ratio is not None and not 0 <= self.overlap_ratio < 1:
            raise ConfigError(
                "overlap_ratio",
                f"must be at least 0 and below 1, got {self.overlap_ratio}",
                hint="it is a share of the target: 0.15 repeats 15 %",
            )

    @property
    def target(self) -> int:
        """The target in force; never above the hard limit."""
        return self.target_chars or min(DEFAULT_TARGET_CHARS, self.max_chars or DEFAULT_TARGET_CHARS)

    @property
    def overlap(self) -> float:
        """The share of the target that is repeated."""
        return DEFAULT_OVERLAP_RATIO if self.overlap_ratio is None else self.overlap_ratio

    @property
    def limit(self) -> int:
        """The hard limit in force."""
        return self.max_chars if self.max_chars is not None else 2 * self.target


@dataclass(frozen=True, slots=True)
class SegmentationConfig:
    """What counts as evidence for a cut, and how partitions are chosen. A weight of 0 switches its evidence off.

    Args:
        heading: weight of a heading behind the cut.
        block: weight of a blank line, a new paragraph, table or list.
        line: weight of a line end or of a new list item.
        embedding: weight of the distance between the texts before and behind the cut, in standard deviations.
        lexical: weight of the share of words that the text behind the cut does not take up, in standard deviations.
        cue: taken off where the sentence behind the cut opens with a word that binds it to the one before.
        length: weight of the squared relative deviation of a chunk from the target length.
        torn: taken off a chunk that starts inside a section and goes on over the next heading.
        paths: partitions drawn; 1 takes the best one, more are drawn with noise and the objective chooses.
        objective: ``evidence`` (what the best partition maximises), ``chunkscore`` (the paper's rule) or
            ``chunkscore-corrected``.
        seed: of the noise.
    """

    heading: float = 3.0
    block: float = 2.5
    line: float = 2.0
    embedding: float = 0.5
    lexical: float = 0.3
    cue: float = 0.5
    length: float = 5.0
    torn: float = 3.0
    paths: int = 1
    objective: str = "evidence"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("heading", "block", "line", "embedding", "lexical", "cue", "length", "torn"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise ConfigError(name, f"must be a number and not negative, got {value!r}")
        for name in ("paths", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ConfigError(name, f"must be a whole number and not negative, got {value!r}")
        if not 1 <= self.paths <= _MOST_PATHS:
            raise ConfigError("paths", f"must be between 1 and {_MOST_PATHS}, got {self.paths}")
        if self.objective not in OBJECTIVES:
            raise ConfigError("objective", f"unknown: {self.objective!r}", hint=f"known: {', '.join(OBJECTIVES)}")


@dataclass(frozen=True, slots=True)
class CompletionConfig:
    """What completion may add to a chunk.

    Args:
        kinds: of gaps that are filled.
        embedded_kinds: of gaps whose filling is in the embedded text too, besides the completed text.
        embeds_long: whether long definitions, antecedents and clauses referred to are embedded too. Measured: they
            answer questions that another chunk answers better.
        max_growth_ratio: added characters at most, as a share of the chunk ...
        max_growth_chars: ... or in characters, whichever is more.
    """

    kinds: tuple[str, ...] = GAP_KINDS
    embedded_kinds: tuple[str, ...] = GAP_KINDS
    embeds_long: bool = False
    max_growth_ratio: float = 0.35
    max_growth_chars: int = 200

    def __post_init__(self) -> None:
        for name in ("kinds", "embedded_kinds"):
            unknown = [kind for kind in getattr(self, name) if kind not in GAP_KINDS]
            if unknown:
                raise ConfigError(
                    name, f"unknown: {', '.join(map(repr, unknown))}", hint=f"known: {', '.join(GAP_KINDS)}"
                )
        for name in ("max_growth_ratio", "max_growth_chars"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise ConfigError(name, f"must be a number and not negative, got {value!r}")


ANSWER_FORMS = ("numbers", "anchors")


@dataclass(frozen=True, slots=True)
class LLMConfig:
    """How a language model plays the roles of the debate.

    Args:
        paths: segmentations that are asked for; the objective takes one.
        temperature: of the sampled segmentations, 0.7 in the paper; everything else is asked for without chance.
        top_p: likewise, 0.8 in the paper.
        answers: how cuts are named: ``numbers`` of sentences, or ``anchors``, the first and last words of chunks, as
            the paper's small models do.
        window_chars: of the document that one request shows.
        chunks_per_review: that one request asks about.
        rounds: reviews at most; from the second on, what was completed is read again, until nothing is missing.
        with_rules: whether the findings of the rules are reviewed along with those of the model.
        reply_tokens: that a reply may have, before it is asked for in parts or with more.
        seed: of the sampled segmentations; path number n has ``seed + n``.
        prompts: folder with prompts of one's own, such as ``reviewer.zh.md``.
    """

    paths: int = 5
    temperature: float = 0.7
    top_p: float = 0.8
    answers: str = "numbers"
    window_chars: int = 6_000
    chunks_per_review: int = 6
    rounds: int = 1
    with_rules: bool = True
    reply_tokens: int = 2_048
    seed: int = 0
    prompts: str | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("paths", 1, 64), ("window_chars", 200, 10**9), ("chunks_per_review", 1, 64),
                                  ("rounds", 1, 10), ("reply_tokens", 16, 10**6), ("seed", 0, 2**31)):  # fmt: skip
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(name, f"must be a whole number from {least} to {most}, got {value!r}")
        for name, most in (("temperature", 2), ("top_p", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise ConfigError(name, f"must be between 0 and {most}, got {value!r}")
        if self.answers not in ANSWER_FORMS:
            raise ConfigError("answers", f"unknown: {self.answers!r}", hint=f"known: {', '.join(ANSWER_FORMS)}")


@dataclass(frozen=True, slots=True)
class DebateConfig:
    """How the ``qchunker`` method works.

    Args:
        segmentation: where it cuts.
        completion: what it adds; None leaves review and completion out.
        llm: how a language model is asked, where one takes part.
    """

    segmentation: SegmentationConfig = SegmentationConfig()
    completion: CompletionConfig | None = CompletionConfig()
    llm: LLMConfig = LLMConfig()

    @property
    def rounds(self) -> int:
        """Reviews at most. The rules find at once what they can find."""
        return self.llm.rounds


@dataclass(frozen=True, slots=True)
class ScoringConfig:
    """How ChunkScore is computed; the defaults are the paper's where it gives a value.

    Args:
        li_weight: weight of logical independence (the paper's lambda); the rest goes to semantic dispersion.
        ridge: added to the diagonal of the Gram matrix (the paper's alpha).
        draws: random partitions that the score is compared with; 0 leaves the correction out.
        li_sample: boundaries of those random partitions that the language model reads; the rest is inferred. None
            reads all of them, which costs about ``2 * draws`` times the document in tokens.
        seed: of the random partitions.
    """

    li_weight: float = 0.3
    ridge: float = 1e-3
    draws: int = 32
    li_sample: int | None = 32
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("draws", "seed", "li_sample"):
            value = getattr(self, name)
            if isinstance(value, bool) or (not isinstance(value, int) and (name != "li_sample" or value is not None)):
                raise ConfigError(name, f"must be a whole number, got {value!r}")
        for name in ("li_weight", "ridge"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(name, f"must be a number, got {value!r}")
        if self.draws > _MOST_DRAWS:
            raise ConfigError("draws", f"must be at most {_MOST_DRAWS}, got {self.draws}")
        if not 0 <= self.li_weight <= 1:
            raise ConfigError("li_weight", f"must be between 0 and 1, got {self.li_weight}")
        if not 0 < self.ridge < float("inf"):
            raise ConfigError("ridge", f"must be above 0, got {self.ridge}")
        if self.draws < 0 or self.draws == 1:
            raise ConfigError("draws", f"must be 0, or at least 2 to have a spread, got {self.draws}")
        if self.li_sample is not None and self.li_sample < 8:
            hint = "fewer do not tell how much the values vary"
            raise ConfigError("li_sample", f"must be at least 8, got {self.li_sample}", hint=hint)
        if self.seed < 0:
            raise ConfigError("seed", f"must not be negative, got {self.seed}")


@dataclass(frozen=True, slots=True)
class QAConfig:
    """How question-answer pairs are made. The first five values are those of GC-QA-RAG.

    Args:
        group_size: sentences that are asked about together.
        least_group: a last group with fewer joins the one before.
        temperature: of the sampling.
        top_p: likewise.
        reply_tokens: that a reply may have, before it is asked for in parts or with more.
        window_chars: of the document that one request shows besides the passage in focus.
        passes: times that the sentences which no pair answers are asked about again; 0 leaves them out.
        retries: times that a group without a usable reply is asked about again.
        full_answers: whether every pair gets a longer answer too.
        variants: other wordings that every question gets; 0 for none.
        judge: whether a model decides where the words of an answer are not all in its group.
        with_rules: whether sentences that the model leaves without a pair get those of the rules.
        duplicate_cosine: of two questions, from which on they may mean the same; above 1 none do.
        seed: of the sampling; retries and further passes have seeds of their own.
        prompts: folder with prompts of one's own, such as ``qa_group.zh.md``.
    """

    group_size: int = 10
    least_group: int = 5
    temperature: float = 0.7
    top_p: float = 0.7
    reply_tokens: int = 2_048
    window_chars: int = 6_000
    passes: int = 1
    retries: int = 1
    full_answers: bool = False
    variants: int = 0
    judge: bool = True
    with_rules: bool = True
    duplicate_cosine: float = 0.8
    seed: int = 0
    prompts: str | None = None

    def __post_init__(self) -> None:
        for name, least, most in (("group_size", 1, 1_000), ("least_group", 0, 1_000), ("reply_tokens", 16, 10**6),
                                  ("window_chars", 200, 10**9), ("passes", 0, 10), ("retries", 0, 10),
                                  ("variants", 0, 20), ("seed", 0, 2**31)):  # fmt: skip
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(name, f"must be a whole number from {least} to {most}, got {value!r}")
        for name, ceiling in (("temperature", 2), ("top_p", 1), ("duplicate_cosine", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= ceiling:
                raise ConfigError(name, f"must be between 0 and {ceiling}, got {value!r}")


FUSIONS = ("scores", "rrf")
VECTOR_ROLES = ("body", "question", "sentence", "answer", "variant")
_MOST_NEIGHBOURS = 100
_MOST_WEIGHT = 1e6


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How an index is searched (docs/adr/0007).

    Args:
        dense_weight: of the cosine; 0 leaves it out.
        bm25_weight: of BM25; 0 leaves it out.
        fusion: ``scores`` standardises both and adds them by weight; ``rrf`` adds reciprocal ranks.
        rrf_k: of reciprocal rank fusion.
        dense_roles: vectors of a record that the question is compared with; the best one counts.
        candidates: records that are looked at again after scoring.
        duplicate_cosine: a record that is closer to a better one is dropped; 1 drops none.
        relevance_weight: of maximal marginal relevance; 1 takes the best, lower ones prefer what differs.
        mmr_pool: of how many of the best it chooses.
        with_links: whether the exception comes with its rule, and the rule with its exception.
        with_chunk: whether a question-answer pair comes with the chunk that it was made from.
        with_neighbours: chunks before and behind that come with a hit.
        with_section: whether the rest of the section comes with a hit.
        related_chars: that come with a hit at most.
    """

    dense_weight: float = 1.0
    bm25_weight: float = 2.0
    fusion: str = "scores"
    rrf_k: int = 60
    dense_roles: tuple[str, ...] = ("body", "sentence", "answer", "variant")
    candidates: int = 64
    duplicate_cosine: float = 0.99
    relevance_weight: float = 1.0
    mmr_pool: int = 32
    with_links: bool = True
    with_chunk: bool = True
    with_neighbours: int = 0
    with_section: bool = False
    related_chars: int = 1500

    def __post_init__(self) -> None:
        for name in ("dense_weight", "bm25_weight"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_WEIGHT:
                raise ConfigError(name, f"must be a number from 0 to {_MOST_WEIGHT:g}, got {value!r}")
        if not self.dense_weight + self.bm25_weight:
            raise ConfigError("dense_weight", "both weights are 0", hint="give one of them")
        for name in ("duplicate_cosine", "relevance_weight"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ConfigError(name, f"must be between 0 and 1, got {value!r}")
        for name, least in (
            ("rrf_k", 1),
            ("candidates", 1),
            ("mmr_pool", 1),
            ("with_neighbours", 0),
            ("related_chars", 0),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(name, f"must be a whole number of at least {least}, got {value!r}")
        if self.with_neighbours > _MOST_NEIGHBOURS:
            raise ConfigError("with_neighbours", f"must be at most {_MOST_NEIGHBOURS}, got {self.with_neighbours}")
        roles = self.dense_roles
        if not isinstance(roles, tuple) or not roles or not set(roles) <= set(VECTOR_ROLES):
            raise ConfigError("dense_roles", f"unknown: {roles!r}", hint=f"known: {', '.join(VECTOR_ROLES)}")
        if self.fusion not in FUSIONS:
            raise ConfigError("fusion", f"unknown: {self.fusion!r}", hint=f"known: {', '.join(FUSIONS)}")
