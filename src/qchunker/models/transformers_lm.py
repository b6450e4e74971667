"""Any causal language model that the transformers library can load, GGUF files included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qchunker.models.causal_lm import Ids, Logprobs, plan_passes, run_passes
from qchunker.models.transformers_loading import load_causal_lm

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
        loaded = load_causal_lm(name, label, precision)
        self.name, self.id, self.languages = loaded.label, loaded.id, languages
        self._torch, self._tokenizer, self._model = loaded.torch, loaded.tokenizer, loaded.model
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
