"""Models that follow instructions, run by OpenVINO on the CPU: GGUF files, and folders with a converted model."""

from __future__ import annotations

import contextlib
import hashlib
import json
import queue
import struct
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from qchunker.errors import ConfigError, ModelError, ModelOutputError
from qchunker.models.chat_template import CONTEXT, Part, prompt_parts, room
from qchunker.models.identity import file_digest, short_name
from qchunker.models.json_grammar import json_grammar
from qchunker.models.llm import Completion, Done, Reply, Request, one_by_one
from qchunker.models.openvino_conversion import check, convert, libraries, pieces, special_opening
from qchunker.models.paths import cache_folder, make_folder

_INTERRUPT_S = 0.2
_PARTS = {".xml", ".bin", ".json", ".jinja"}
_MOST_KEY_BYTES = 1 << 16

# Of the values in GGUF files, by kind.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_INTEGERS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_TEXT, _LIST = 8, 9


def window_of_gguf(path: Path) -> int | None:
    """The tokens that a model reads and writes at most, as its GGUF file says."""
    with contextlib.suppress(OSError, struct.error, ValueError, KeyError), path.open("rb") as file:
        magic, _, _, n_entries = struct.unpack("<4sIQQ", file.read(24))
        if magic == b"GGUF":
            for _ in range(n_entries):
                key = _string(file)
                value = _value(file, *struct.unpack("<I", file.read(4)))
                if key.endswith(b".context_length"):
                    return int(value)
    return None


def window_of_folder(folder: Path) -> int | None:
    """The tokens that a model reads and writes at most, as the configuration beside it says."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        return None
    for place in (config, config.get("text_config") if isinstance(config, dict) else None):
        found = place.get("max_position_embeddings") if isinstance(place, dict) else None
        if type(found) is int and found > 0:
            return found
    return None


def _folder_digest(folder: Path) -> str:
    files = sorted(file for file in folder.iterdir() if file.suffix in _PARTS)
    return hashlib.sha256("".join(f"{file_digest(file)}  {file.name}\n" for file in files).encode()).hexdigest()


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:200] or type(error).__name__


def _size(file: BinaryIO) -> int:
    return int(struct.unpack("<Q", file.read(8))[0])


def _string(file: BinaryIO) -> bytes:
    size = _size(file)
    if size > _MOST_KEY_BYTES:
        raise ValueError("too long for a name")
    return file.read(size)


def _value(file: BinaryIO, kind: int) -> int:
    """An integer; everything else is passed over."""
    if kind in _INTEGERS:
        return int(struct.unpack(_INTEGERS[kind], file.read(_SIZES[kind]))[0])
    if kind == _TEXT:
        file.seek(_size(file), 1)
    elif kind == _LIST:
        (kind_of_items,) = struct.unpack("<I", file.read(4))
        n_items = _size(file)
        if kind_of_items == _TEXT:
            for _ in range(n_items):
                file.seek(_size(file), 1)
        else:
            file.seek(_SIZES[kind_of_items] * n_items, 1)
    else:
        file.seek(_SIZES[kind], 1)
    return 0


class OpenVinoChat:
    """A model in this process. Requests are answered one after the other.

    Beginnings that requests share are read once. Replies to a request with a schema follow it, unless they are cut.
    What a request says is read as text, even where it spells a special token of the model.

    Args:
        path: of a GGUF file of the Llama and Qwen families, which is converted once, or of a folder with a model that
            was converted by OpenVINO's own tools.
        label: for the signature; the last part of the path if not given.
        precision: ``bf16``, ``f32``, or None for bf16 where the CPU has it.
        cache_gb: memory for what was read.
        window: tokens that the model reads and writes at most, where neither the file nor ``config.json`` says so.

    Raises:
        ConfigError: if the window is unknown. MissingExtraError: if openvino-genai is not installed.
        ModelError: if the model cannot be converted or loaded, or has no chat template.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        label: str = "",
        precision: str | None = None,
        cache_gb: int = 2,
        window: int | None = None,
    ) -> None:
        genai, openvino = libraries()
        path = Path(path)
        self.name = label or short_name(str(path))
        version = openvino.__version__.split("-")[0]
        if path.is_dir():
            folder, digest, known = path, _folder_digest(path), window_of_folder(path)
        elif path.is_file():
            digest, known = file_digest(path), window_of_gguf(path)
            name = short_name(label) or path.stem
            folder = cache_folder() / "models" / f"{name}-{digest[:12]}-openvino-{version}-checked"
            make_folder(folder, lambda empty: convert(genai, openvino, path, empty, name))
            check(folder, name)
        else:
            raise ModelError(self.name, "there is no such file or folder", hint="give a .gguf file or a folder")
        self.window = window or known or 0
        if self.window < 1:
            raise ConfigError("window", f"{self.name} does not say how many tokens it reads", hint="give the number")
        if precision is None:
            precision = "bf16" if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
        self.id = f"{self.name}@{digest[:12]}+openvino-genai-{version}+{precision}"
        self._genai, self._openvino = genai, openvino
        self._lock = threading.Lock()
        scheduler = genai.SchedulerConfig()
        scheduler.enable_prefix_caching, scheduler.cache_size = True, cache_gb
        # Without the last two, activations and the attention cache may be rounded to 8 bits.
        settings = {
            "INFERENCE_PRECISION_HINT": precision,
            "KV_CACHE_PRECISION": precision,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
        }
        try:
            self._tokenizer = genai.Tokenizer(str(folder))
            self._pipeline = genai.LLMPipeline(
                str(folder), self._tokenizer, "CPU", scheduler_config=scheduler, **settings
            )
        except RuntimeError as error:
            raise ModelError(self.name, f"OpenVINO cannot load it: {_first_line(error)}") from error
        self._special_opening = special_opening(self._tokenizer)
        self._ids(Request("a", "", "a", 1))

    def complete(self, requests: Sequence[Request], done: Done | None = None) -> list[Reply]:
        return one_by_one(requests, self._reply, done)

    def _reply(self, request: Request) -> Reply:
        try:
            ids = self._ids(request)
            config = self._config(request, room(len(ids), self.window, request, self.name))
            with self._lock:
                result = self._generate(ids, config)
        except ModelError as error:
            return error
        tokens = [int(token) for token in result.tokens[0]]
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        is_cut = result.finish_reasons[0] == self._genai.GenerationFinishReason.LENGTH
        if not text.strip() and not is_cut:
            return ModelOutputError(self.name, "an empty reply")
        return Completion(text, is_cut, len(ids), len(tokens))

    def _config(self, request: Request, max_tokens: int) -> Any:
        config = self._pipeline.get_generation_config()
        config.max_new_tokens = max_tokens
        config.apply_chat_template = False  # the ids hold it
        config.do_sample = request.temperature > 0
        if config.do_sample:
            config.temperature, config.top_p = request.temperature, request.top_p
            config.rng_seed = request.seed % (1 << 63)
        if request.schema is not None:
            grammar = json_grammar(request.schema)
            held = {"json_schema": json.dumps(request.schema)} if grammar is None else {"grammar": grammar}
            config.structured_output_config = self._genai.StructuredOutputConfig(**held)
        return config

    def _generate(self, ids: Sequence[int], config: Any) -> Any:
        """The tokens of a reply. An interrupt ends it at the next token.

        Raises:
            ModelOutputError: if the model cannot be held to the schema, or the cache is too small.
        """
        outcomes: queue.SimpleQueue[Any] = queue.SimpleQueue()
        running, cancel = self._genai.StreamingStatus.RUNNING, self._genai.StreamingStatus.CANCEL
        is_over = threading.Event()

        class Watch(self._genai.StreamerBase):  # type: ignore[misc, name-defined]
            def write(self, token: object) -> Any:
                return cancel if is_over.is_set() else running

            def end(self) -> None:
                pass

        row = np.array([ids], dtype=np.int64)
        inputs = self._genai.TokenizedInputs(self._openvino.Tensor(row), self._openvino.Tensor(np.ones_like(row)))

        def work() -> None:
            try:
                outcomes.put(self._pipeline.generate(inputs, config, Watch()))
            except RuntimeError as error:
                outcomes.put(error)

        # The library does not see signals, and the main thread does not while it is in the library.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        outcome = None
        try:
            while outcome is None:
                with contextlib.suppress(queue.Empty):
                    outcome = outcomes.get(timeout=_INTERRUPT_S)
        finally:
            is_over.set()
            thread.join()
        if isinstance(outcome, RuntimeError):
            if "cache_size" in str(outcome):
                raise ModelOutputError(self.name, "the request does not fit into the cache", hint="raise cache_gb")
            raise ModelOutputError(self.name, f"OpenVINO cannot answer: {_first_line(outcome)}") from outcome
        return outcome

    def _ids(self, request: Request) -> list[int]:
        def template(turns: Sequence[Any]) -> str:
            return str(self._tokenizer.apply_chat_template(list(turns), True, extra_context=dict(CONTEXT)))

        return [token for part in prompt_parts(template, request, self.name) for token in self._part_ids(part)]

    def _part_ids(self, part: Part) -> list[int]:
        if not part.is_text:
            return self._encoded(part.text)
        found: list[int] = []
        for text in (piece for word in self._special_opening.split(part.text) for piece in pieces(word)):
            ids = self._encoded(text)
            if self._decoded(ids, skip_special=True) != self._decoded(ids, skip_special=False):
                # Some models have special tokens of another form. No character is one.
                ids = [token for character in text for token in self._encoded(character)]
            found += ids
        return found

    def _encoded(self, text: str) -> list[int]:
        if not text:
            return []
        return [int(token) for token in self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0]]

    def _decoded(self, ids: list[int], *, skip_special: bool) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=skip_special)) if ids else ""
