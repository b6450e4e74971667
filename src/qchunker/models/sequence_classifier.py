"""Models that read a document and a chunk as a pair of texts and say which class the pair is of."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from qchunker.errors import ConfigError, MissingExtraError, ModelError
from qchunker.models.batching import batches_by_length
from qchunker.models.identity import check_path, not_loaded, short_name, weights_digest
from qchunker.models.transformers_loading import quiet

INCOMPLETE = 1
"""Label of chunks that lack needed information, in the paper's training data."""

_ADAPTER = "adapter_config.json"
_BATCH_TOKENS = 8_192
_NO_LIMIT = 1_000_000  # tokenizers without a limit of their own name a number far above
# Their positions are counted from 2 on.
_OFFSET_POSITIONS = {"roberta": 2, "xlm-roberta": 2, "xlm-roberta-xl": 2, "camembert": 2}
_HINT = "use classifier:NAME_OR_PATH of a model with a head for classes, or of an adapter of one"


class Pair(NamedTuple):
    """A chunk, and the document around it.

    Args:
        before: the text before the chunk.
        inside: the chunk as the document has it.
        after: the text behind it.
        chunk: the chunk as it is to be judged.
    """

    before: str
    inside: str
    after: str
    chunk: str


@runtime_checkable
class PairClassifier(Protocol):
    """Which chunks lack information that their document has?"""

    @property
    def id(self) -> str:
        """Name and version: everything the judgements depend on."""

    def lacking(self, pairs: Sequence[Pair]) -> list[bool | None]:
        """One judgement per pair, in the same order; None for a chunk that is longer than the model reads."""


def load_classifier(where: str, base: str | None = None, **settings: Any) -> SequenceClassifier:
    """A classifier by its place.

    Args:
        where: ``classifier:NAME_OR_PATH``: a folder, a name on the hub, or the folder of a LoRA adapter.
        base: the model that an adapter is of; by default the one that the adapter names.
        settings: see ``SequenceClassifier``.

    Raises:
        ConfigError: if the place is unknown.
        MissingExtraError, ModelError: if the model cannot be loaded.
    """
    family, _, which = where.partition(":")
    if family != "classifier" or not which:
        raise ConfigError("discriminator", f"unknown place {where!r}", hint=_HINT)
    return SequenceClassifier(which, base=base, **settings)


class SequenceClassifier:
    """A sequence classifier of the transformers library, or a LoRA adapter of one.

    The model reads the document first and the chunk second. Of a document that is longer than its window it reads what
    is around the chunk. Words that spell a special token are text. No code that comes with a model is run.

    Args:
        name: on the hub, folder, or folder of an adapter.
        base: the model that an adapter is of; by default the one that the adapter names.
        incomplete_label: number of the class of chunks that lack something.
        precision: ``f32`` or ``bf16``.
        most_tokens: of a pair; by default what the model reads.

    Raises:
        MissingExtraError: if torch, transformers, or for an adapter peft, is not installed.
        ModelError: if the model cannot be loaded, or was not trained to classify.
        ConfigError: if the label is none of the model's.
    """

    def __init__(
        self,
        name: str,
        *,
        base: str | None = None,
        incomplete_label: int = INCOMPLETE,
        precision: str = "f32",
        most_tokens: int | None = None,
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtraError("qchunker[hf]", f"the classifier {name!r}") from error
        check_path(name)
        adapter = Path(name) if (Path(name) / _ADAPTER).is_file() else None
        if base is not None and adapter is None:
            raise ConfigError("discriminator", f"{name!r} is no folder of an adapter", hint=_HINT)
        self._torch = torch
        self.name = short_name(name)
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[precision]
        try:
            with quiet(transformers):
                self._tokenizer, model = (
                    _with_adapter(transformers, adapter, base, dtype) if adapter else _whole(transformers, name, dtype)
                )
        except (ModelError, MissingExtraError):
            raise
        except Exception as error:  # the library raises many kinds
            raise not_loaded(name, error) from error
        n_labels = int(model.config.num_labels)
        if n_labels < 2 or not 0 <= incomplete_label < n_labels:
            reason = f"{self.name} has {n_labels} classes, and none of them is number {incomplete_label}"
            raise ConfigError("incomplete_label", reason, hint="count from 0, and give a model of 2 classes or more")
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        model.config.pad_token_id = self._tokenizer.pad_token_id  # models that read the last token look for it
        self._model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        self._label = incomplete_label
        self.window = min(_window(self._tokenizer, model.config), most_tokens or sys.maxsize)
        digest = weights_digest(parameter.detach().float().cpu().numpy() for parameter in model.parameters())
        self.id = (
            f"{self.name}@{digest}+transformers-{transformers.__version__}+{precision}+label{incomplete_label}"
            f"+max{self.window if self.window < sys.maxsize else ''}"
        )

    def lacking(self, pairs: Sequence[Pair]) -> list[bool | None]:
        found: list[bool | None] = [None] * len(pairs)
        fitted = [(at, texts) for at, pair in enumerate(pairs) if (texts := self.fitted(pair)) is not None]
        lengths = [self._length(*texts) for _, texts in fitted]
        for batch in batches_by_length(lengths, _BATCH_TOKENS):
            encoded = self._encoded([fitted[i][1] for i in batch], padding=True, return_tensors="pt")
            with self._torch.inference_mode():
                scores = self._model(**{key: value.to(self._model.device) for key, value in encoded.items()}).logits
            for i, label in zip(batch, scores.float().argmax(-1).tolist(), strict=True):
                found[fitted[i][0]] = label == self._label
        return found

    def fitted(self, pair: Pair) -> tuple[str, str] | None:
        """Document and chunk as the model reads them: of the document what is around the chunk, as much as it can."""

        def texts(n_chars: int) -> tuple[str, str]:
            before, after = pair.before[max(0, len(pair.before) - n_chars) :], pair.after[:n_chars]
            return before + pair.inside + after, pair.chunk

        n_most = max(len(pair.before), len(pair.after))
        if self._fits(*texts(n_most)):
            return texts(n_most)
        return texts(_largest(n_most, lambda n: self._fits(*texts(n)))) if self._fits(*texts(0)) else None

    def _fits(self, text: str, chunk: str) -> bool:
        return self._length(text, chunk) <= self.window

    def _length(self, text: str, chunk: str) -> int:
        return len(self._encoded([(text, chunk)])["input_ids"][0])

    def _encoded(self, texts: Sequence[tuple[str, str]], **how: Any) -> Any:
        firsts, seconds = [one[0] for one in texts], [one[1] for one in texts]
        return self._tokenizer(firsts, seconds, truncation=False, split_special_tokens=True, verbose=False, **how)


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number that fits, where 0 does and the greatest does not."""
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _whole(transformers: Any, name: str, dtype: Any) -> tuple[Any, Any]:
    """Tokenizer and model, whose head must have been trained: the library makes up what is missing."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
        name, dtype=dtype, trust_remote_code=False, output_loading_info=True
    )
    if report["missing_keys"]:
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise ModelError(short_name(name), f"was not trained to classify: it has no {missing}", hint=_HINT)
    return tokenizer, model


def _with_adapter(transformers: Any, folder: Path, base: str | None, dtype: Any) -> tuple[Any, Any]:
    try:
        peft = importlib.import_module("peft")
    except ImportError as error:
        raise MissingExtraError("peft", f"the adapter {folder.name!r}") from error
    config = json.loads((folder / _ADAPTER).read_text("utf-8"))
    if config.get("task_type") != "SEQ_CLS":
        raise ModelError(folder.name, f"is an adapter for {config.get('task_type')}, not for classes", hint=_HINT)
    name = base or str(config.get("base_model_name_or_path") or "")
    check_path(name)
    has_tokenizer = (folder / "tokenizer_config.json").is_file()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder) if has_tokenizer else name,
                                                           trust_remote_code=False)  # fmt: skip
    # The head of the base, which may be made up, gives way to that of the adapter.
    model = transformers.AutoModelForSequenceClassification.from_pretrained(name, dtype=dtype, trust_remote_code=False)
    return tokenizer, peft.PeftModel.from_pretrained(model, str(folder))


def _window(tokenizer: Any, config: Any) -> int:
    """Tokens of a pair at most, for tokenizer and positions of a model."""
    limit = sys.maxsize
    if isinstance(tokenizer.model_max_length, int) and tokenizer.model_max_length < _NO_LIMIT:
        limit = tokenizer.model_max_length
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    if type(positions) is int and positions > 0:
        limit = min(limit, positions - _OFFSET_POSITIONS.get(config.model_type, 0))
    return limit
