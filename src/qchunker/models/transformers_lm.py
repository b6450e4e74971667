"""Any causal language model that the transformers library can load, GGUF files included."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.errors import MissingExtraError, ModelError
from qchunker.models.causal_lm import Ids, Logprobs, plan_passes, run_passes
from qchunker.models.identity import check_path, file_digest, not_loaded, short_name, weights_digest
from qchunker.models.paths import cache_folder, make_folder

_HEAD_ROWS = 256
"""Tokens whose scores over the whole vocabulary are in memory at once: about 270 MB for 262,144 entries."""


class TransformersLM:
    """A causal language model by name on the hub, folder, or path of a GGUF file.

    A GGUF file is converted once, which takes a minute or two, and the result is kept in the cache folder.

    Args:
        name: of the model.
        label: for the signature; the last part of the name if not given.
        languages: that the model can be trusted with.
        precision: ``f32`` or ``bf16``.

    Raises:
        MissingExtraError: if torch or transformers is not installed.
        ModelError: if the model cannot be loaded.
    """

    def __init__(
        self, name: str, *, label: str = "", languages: frozenset[str] = frozenset({"en", "zh"}), precision: str = "f32"
    ) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtraError("qchunker[hf]", f"the language model {name!r}") from error
        self.name = label or short_name(name)
        self.languages = languages
        self._torch = torch
        check_path(name)
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[precision]
        try:
            with _quiet(transformers):
                folder = str(_converted(transformers, Path(name))) if name.endswith(".gguf") else name
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
                model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                    folder, dtype=dtype, trust_remote_code=False
                )
        except ModelError:
            raise
        except Exception as error:  # the library raises many kinds
            raise not_loaded(name, error) from error
        self._model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        weights = (parameter.detach().float().cpu().numpy() for parameter in model.parameters())
        self.id = f"{self.name}@{weights_digest(weights)}+transformers-{transformers.__version__}+{precision}"
        neutral = self._tokenizer.bos_token_id
        self._neutral = int(self._tokenizer.eos_token_id if neutral is None else neutral)

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        return run_passes(plan_passes(self._ids(texts), self._ids(contexts), self._neutral), self._forward, self.name)

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return plan_passes(self._ids(texts), self._ids(contexts), self._neutral).cost

    def _ids(self, texts: Sequence[str | None]) -> list[Ids]:
        known: dict[str, Ids] = {"": ()}
        new = list(dict.fromkeys(text for text in texts if text))
        if new:
            # Words that spell a special token are text here.
            encoded = self._tokenizer(new, add_special_tokens=False, split_special_tokens=True, truncation=False)
            known.update((text, tuple(ids)) for text, ids in zip(new, encoded["input_ids"], strict=True))
        return [known[text or ""] for text in texts]

    def _forward(self, sequences: Sequence[Ids]) -> list[Logprobs]:
        torch, device = self._torch, self._model.device
        longest = max(map(len, sequences))
        ids = torch.full((len(sequences), longest), self._neutral, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.tensor(sequence)
            mask[row, : len(sequence)] = 1
        with torch.inference_mode():
            inside = mask[:, 1:].bool()
            hidden = self._model.base_model(
                input_ids=ids[:, :-1].to(device), attention_mask=mask[:, :-1].to(device), use_cache=False
            ).last_hidden_state[inside.to(device)]
            wanted = ids[:, 1:][inside].to(device)
            values = [
                self._scores(states).log_softmax(-1).gather(1, chosen[:, None])[:, 0]
                for states, chosen in zip(hidden.split(_HEAD_ROWS), wanted.split(_HEAD_ROWS), strict=True)
            ]
        flat = torch.cat(values).double().cpu().numpy()
        return np.split(flat, np.cumsum([len(sequence) - 1 for sequence in sequences])[:-1])

    def _scores(self, states: Any) -> Any:
        scores = self._model.get_output_embeddings()(states).float()
        config = self._model.config.get_text_config()
        cap = getattr(config, "final_logit_softcapping", None)
        scale = getattr(config, "logit_scale", None) or 1 / (getattr(config, "logits_scaling", None) or 1)
        scores = scores * scale
        return cap * self._torch.tanh(scores / cap) if cap else scores


def _converted(transformers: Any, gguf: Path) -> Path:
    def fill(folder: Path) -> None:
        source = {"pretrained_model_name_or_path": str(gguf.resolve().parent), "gguf_file": gguf.name}
        transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(folder)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype="float32")
        # A model read from GGUF refuses to be saved, although its weights are plain numbers by now.
        config = loaded.config
        del config.quantization_config
        plain = transformers.AutoModelForCausalLM.from_config(config, dtype="float32")
        plain.load_state_dict(loaded.state_dict())
        plain.save_pretrained(folder)

    if not gguf.is_file():
        raise ModelError(str(gguf), "there is no such file")
    name = f"{gguf.stem}-{file_digest(gguf)[:12]}-transformers-{transformers.__version__}"
    return make_folder(cache_folder() / "models" / name, fill)


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without the library's progress bars, unless a person waits for them."""
    if sys.stderr.isatty():
        yield
        return
    shown = transformers.utils.logging.is_progress_bar_enabled()
    transformers.utils.logging.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        if shown:
            transformers.utils.logging.enable_progress_bar()
