"""Language models in GGUF files of the Llama and Qwen families, run by OpenVINO on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qchunker.errors import ModelError
from qchunker.models.causal_lm import Ids, Logprobs, plan_passes, run_passes
from qchunker.models.identity import file_digest
from qchunker.models.openvino_conversion import check, convert, libraries, pieces, special_opening
from qchunker.models.paths import cache_folder, make_folder

_HEAD_ROWS = 512
"""Tokens whose scores over the whole vocabulary are in memory at once: about 100 MB for 49,152 entries."""


_LEAST_TOKENS, _STEP_TOKENS = 128, 32


class OpenVinoLM:
    """A causal language model that gives the log-probabilities of a prompt.

    Args:
        gguf: the weights. They are converted once, and the result is kept in the cache folder.
        name: for the signature.
        languages: that the model can be trusted with.
        precision: ``bf16``, ``f32``, or None for bf16 where the CPU has it. In f32 the numbers do not depend on the
            number of threads or on what else is in a batch.

    Raises:
        MissingExtraError: if openvino-genai is not installed.
        ModelError: if the file cannot be converted or loaded.
    """

    def __init__(
        self, gguf: Path, name: str, *, languages: frozenset[str] = frozenset({"en"}), precision: str | None = None
    ) -> None:
        genai, openvino = libraries()
        self.name = name
        self.languages = languages
        digest = file_digest(gguf)
        version = openvino.__version__.split("-")[0]
        folder = cache_folder() / "models" / f"{name}-{digest[:12]}-openvino-{version}-checked"
        make_folder(folder, lambda empty: convert(genai, openvino, gguf, empty, name))
        check(folder, name)
        core = openvino.Core()
        if precision is None:
            precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
        self.id = f"{name}@{digest[:12]}+openvino-{version}+{precision}"
        try:
            self._tokenizer = genai.Tokenizer(str(folder))
            body, head = _split(openvino, core.read_model(folder / "openvino_model.xml"))
            # Without the last two, activations and the attention cache may be rounded to 8 bits.
            settings = {
                "INFERENCE_PRECISION_HINT": precision,
                "KV_CACHE_PRECISION": precision,
                "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
            }
            self._body = core.compile_model(body, "CPU", settings).create_infer_request()
            self._head = core.compile_model(head, "CPU", settings).create_infer_request()
        except RuntimeError as error:
            raise ModelError(
                name, f"OpenVINO cannot load it: {error}", hint=f"delete {folder} and try again"
            ) from error
        self._neutral = _end_of_text(self._tokenizer)
        self._special_opening = special_opening(self._tokenizer)

    def token_logprobs(self, texts: Sequence[str], contexts: Sequence[str | None]) -> list[Logprobs]:
        passes = plan_passes(self._ids(texts), self._ids(contexts), self._neutral)
        return run_passes(passes, self._forward, self.name)

    def token_cost(self, texts: Sequence[str], contexts: Sequence[str | None]) -> int:
        return plan_passes(self._ids(texts), self._ids(contexts), self._neutral).cost

    def _ids(self, texts: Sequence[str | None]) -> list[Ids]:
        known: dict[str | None, Ids] = {None: (), "": ()}
        for text in texts:
            if text is not None and text not in known:
                # Words that spell a special token are text here.
                parts = [part for piece in self._special_opening.split(text) for part in pieces(piece)]
                encoded = [self._tokenizer.encode(part, add_special_tokens=False).input_ids.data[0] for part in parts]
                known[text] = tuple(int(token) for ids in encoded for token in ids)
        return [known[text] for text in texts]

    def _forward(self, sequences: Sequence[Ids]) -> list[Logprobs]:
        # One by one: a batch would be padded to its longest, and is no faster from about 100 tokens on.
        return [self._logprobs(ids) for ids in sequences]

    def _logprobs(self, ids: Ids) -> Logprobs:
        n = len(ids) - 1
        # The kernels sum in another order at other lengths. At these lengths they do not, so that a text has the same
        # numbers to the last bit whatever it is read together with.
        padded = max(_LEAST_TOKENS, -(-n // _STEP_TOKENS) * _STEP_TOKENS)
        inputs, targets, mask = (np.zeros((1, padded), dtype=np.int64) for _ in range(3))
        inputs[0, :n], targets[0, :n], mask[0, :n] = ids[:-1], ids[1:], 1
        self._body.reset_state()
        hidden = self._body.infer(
            {
                "input_ids": inputs,
                "attention_mask": mask,
                "position_ids": np.arange(padded)[None].copy(),
                "beam_idx": np.zeros(1, dtype=np.int32),
            }
        )[0][0]
        values = np.empty(padded, dtype=np.float64)
        for start in range(0, padded, _HEAD_ROWS):
            start = min(start, padded - _LEAST_TOKENS)
            part = slice(start, start + _HEAD_ROWS)
            values[part] = self._head.infer({"hidden": hidden[part], "targets": targets[0, part]})[0]
        return values[:n]


def _split(openvino: Any, model: Any) -> tuple[Any, Any]:
    """The model up to its last hidden state, and the rest with the choice of one token's log-probability.

    In one piece, the scores of all tokens over the whole vocabulary would be in memory together.
    """
    from openvino import opset13 as ops

    matmul = model.get_results()[0].input(0).get_source_output().get_node()
    hidden = matmul.input(0).get_source_output()
    body = openvino.Model([ops.result(hidden)], model.get_sinks(), model.get_parameters(), "body")
    states = ops.parameter([-1, int(hidden.get_partial_shape()[2].get_length())], np.float32, name="hidden")
    targets = ops.parameter([-1], np.int64, name="targets")
    states.output(0).set_names({"hidden"})
    targets.output(0).set_names({"targets"})
    transposed = bool(matmul.get_attributes()["transpose_b"])
    scores = ops.matmul(states, matmul.input(1).get_source_output(), False, transposed)
    last = ops.constant(np.array([-1], dtype=np.int64))
    logprobs = ops.log_softmax(scores, 1)
    chosen = ops.squeeze(ops.gather_elements(logprobs, ops.unsqueeze(targets, last), 1), last)
    return body, openvino.Model([ops.result(chosen)], [states, targets], "head")


def _end_of_text(tokenizer: Any) -> int:
    ids = tokenizer.encode("<|endoftext|>", add_special_tokens=False).input_ids.data[0]
    return int(ids[0]) if len(ids) == 1 else int(tokenizer.get_bos_token_id())
