"""Models that follow instructions and that the transformers library can load, GGUF files included."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

from qchunker.errors import ModelError, ModelOutputError
from qchunker.models.chat_template import CONTEXT, Part, prompt_parts, room
from qchunker.models.llm import Completion, Done, Reply, Request, one_by_one
from qchunker.models.transformers_loading import load_causal_lm


class TransformersChat:
    """A model by name on the hub, folder, or path of a GGUF file. Requests are answered one after the other.

    It is not held to schemas: the library has no way to. What a request says is read as text, even where it spells a
    special token of the model. No code that comes with a model is run.

    Args:
        name: of the model.
        label: for the signature; the last part of the name if not given.
        precision: ``f32`` or ``bf16``.

    Raises:
        MissingExtraError: if torch or transformers is not installed.
        ModelError: if the model cannot be loaded, or has no chat template.
    """

    def __init__(self, name: str, *, label: str = "", precision: str = "f32") -> None:
        loaded = load_causal_lm(name, label, precision)
        self.name, self.id = loaded.label, loaded.id
        self._torch, self._transformers = loaded.torch, loaded.transformers
        self._tokenizer, self._model = loaded.tokenizer, loaded.model
        self._lock = threading.Lock()
        model = loaded.model
        limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self.window = limit if type(limit) is int and limit > 0 else sys.maxsize
        ends = model.generation_config.eos_token_id
        ends = self._tokenizer.eos_token_id if ends is None else ends
        self._ends = [ends] if isinstance(ends, int) else list(ends or [])
        self._ids(Request("a", "", "a", 1))

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        return one_by_one(requests, self._reply, done)

    def _reply(self, request: Request) -> Reply:
        try:
            ids = self._ids(request)
            n_most = room(len(ids), self.window, request, self.name)
        except ModelError as error:
            return error
        with self._lock:
            tokens = self._generate(ids, request, n_most)
        is_cut = tokens[-1] not in self._ends
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        if not text.strip() and not is_cut:
            return ModelOutputError(self.name, "an empty reply")
        return Completion(text, is_cut, len(ids), len(tokens))

    def _generate(self, ids: Sequence[int], request: Request, n_most: int) -> list[int]:
        torch, device = self._torch, self._model.device
        sampling: dict[str, Any] = {"do_sample": False}
        if request.temperature > 0:
            # The library else takes the 50 likeliest tokens only.
            sampling = {"do_sample": True, "temperature": request.temperature, "top_p": request.top_p, "top_k": 0}
        config = self._transformers.GenerationConfig(
            max_new_tokens=n_most,
            eos_token_id=self._ends or None,
            pad_token_id=self._ends[0] if self._ends else 0,
            **sampling,
        )
        row = torch.tensor([list(ids)], device=device)
        # The numbers of others are left alone.
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), torch.inference_mode():
            torch.manual_seed(request.seed % (1 << 63))
            found = self._model.generate(row, attention_mask=torch.ones_like(row), generation_config=config)
        return [int(token) for token in found[0, len(ids) :]]

    def _ids(self, request: Request) -> list[int]:
        def template(turns: Sequence[Any]) -> str:
            text = self._tokenizer.apply_chat_template(
                list(turns), tokenize=False, add_generation_prompt=True, **CONTEXT
            )
            return str(text)

        return [token for part in prompt_parts(template, request, self.name) for token in self._part_ids(part)]

    def _part_ids(self, part: Part) -> list[int]:
        found = self._tokenizer(
            part.text, add_special_tokens=False, split_special_tokens=part.is_text, truncation=False, verbose=False
        )
        return [int(token) for token in found["input_ids"]]
