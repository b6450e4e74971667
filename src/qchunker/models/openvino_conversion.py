"""GGUF files converted for OpenVINO, once, and how text is kept from spelling special tokens."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qchunker.errors import MissingExtraError, ModelError
from qchunker.models.gguf_weights import restore_zero_points
from qchunker.models.identity import file_digest

_FILES = ("openvino_model.xml", "openvino_model.bin")
_DIGESTS = "sha256sums"
_PIECE_CHARS = 2000
"""Characters that are tokenised together: the tokenizer drops what exceeds 8,192 tokens, at most 4 a character."""

_SPECIAL = re.compile("<[^<>]+>")


def pieces(text: str) -> Iterator[str]:
    """Parts short enough to be tokenised whole, cut before a space where there is one: no token reaches across it."""
    start = 0
    while len(text) - start > _PIECE_CHARS:
        space = text.rfind(" ", start + 1, start + _PIECE_CHARS)
        stop = space if space > start else start + _PIECE_CHARS
        yield text[start:stop]
        start = stop
    yield text[start:]


def special_opening(tokenizer: Any) -> re.Pattern[str]:
    """Where a text that spells a special token is parted, so that it is read as text."""
    names = sorted(word.decode("utf-8", "replace") for word in tokenizer.get_vocab())
    special = [re.escape(name[1:]) for name in names if _SPECIAL.fullmatch(name)]
    return re.compile(f"(?<=<)(?={'|'.join(special)})")


def libraries() -> tuple[Any, Any]:
    os.environ.setdefault("OPENVINO_TELEMETRY_OPT_OUT", "1")
    try:
        import openvino
        import openvino_genai
    except ImportError as error:
        raise MissingExtraError("openvino-genai", "running a GGUF language model") from error
    return openvino_genai, openvino


def convert(genai: Any, openvino: Any, gguf: Path, folder: Path, name: str) -> None:
    # The converted model is written beside the file it is read from.
    copy = folder / gguf.name
    shutil.copyfile(gguf, copy)
    try:
        genai.LLMPipeline(str(copy), "CPU", enable_save_ov_model=True)
    except RuntimeError as error:
        hint = "OpenVINO reads GGUF files of the Llama and Qwen families; for others use transformers:PATH.gguf"
        raise ModelError(name, f"OpenVINO cannot convert {gguf.name}: {error}", hint=hint) from error
    copy.unlink()
    file = folder / "openvino_model.xml"
    model = openvino.Core().read_model(file)
    if restore_zero_points(model, gguf):
        mended = folder / "mended.xml"
        openvino.save_model(model, mended, compress_to_fp16=False)
        del model  # it holds the old file
        mended.replace(file)
        mended.with_suffix(".bin").replace(file.with_suffix(".bin"))
    (folder / _DIGESTS).write_text("".join(f"{file_digest(folder / file)}  {file}\n" for file in _FILES))


def check(folder: Path, name: str) -> None:
    """Converted weights are what they were when they were written: numbers of others would bear the same signature."""
    found = "".join(f"{file_digest(folder / file)}  {file}\n" for file in _FILES)
    if not (folder / _DIGESTS).is_file() or (folder / _DIGESTS).read_text() != found:
        raise ModelError(name, "its converted weights are damaged", hint=f"delete {folder} and try again")
