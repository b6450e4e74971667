"""Causal language models of the transformers library, GGUF files included. No code that comes with a model is run."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from qchunker.errors import MissingExtraError, ModelError
from qchunker.models.identity import check_path, file_digest, not_loaded, short_name, weights_digest
from qchunker.models.paths import cache_folder, make_folder


class Loaded(NamedTuple):
    """A model with its library.

    Args:
        label: name for messages and signatures.
        id: label, digest of the weights, version and precision.
        tokenizer: of the model.
        model: on the GPU if there is one.
        torch: the library.
        transformers: the library.
    """

    label: str
    id: str
    tokenizer: Any
    model: Any
    torch: Any
    transformers: Any


def load_causal_lm(name: str, label: str, precision: str) -> Loaded:
    """A model by name on the hub, folder, or path of a GGUF file, which is converted once.

    Raises:
        MissingExtraError: if torch or transformers is not installed.
        ModelError: if the model cannot be loaded.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError("qchunker[hf]", f"the language model {name!r}") from error
    check_path(name)
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[precision]
    try:
        with quiet(transformers):
            folder = str(_converted(transformers, Path(name))) if name.endswith(".gguf") else name
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            read: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, trust_remote_code=False)
    except ModelError:
        raise
    except Exception as error:  # the library raises many kinds
        raise not_loaded(name, error) from error
    model = read.eval().to("cuda" if torch.cuda.is_available() else "cpu")
    digest = weights_digest(parameter.detach().float().cpu().numpy() for parameter in model.parameters())
    label = label or short_name(name)
    name = f"{label}@{digest}+transformers-{transformers.__version__}+{precision}"
    return Loaded(label, name, tokenizer, model, torch, transformers)


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
def quiet(transformers: Any) -> Iterator[None]:
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
