"""Models that follow instructions, by where they are."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qchunker.errors import ConfigError, MissingModelError
from qchunker.models.chat import ChatModel
from qchunker.models.fetch import check_weights, weights_path
from qchunker.models.identity import without_secrets
from qchunker.models.llm import LLM
from qchunker.models.load import FETCHABLE
from qchunker.models.openvino_chat import OpenVinoChat
from qchunker.models.transformers_chat import TransformersChat

_CHAT = ("smollm2-135m",)
"""Fetchable models that were taught to follow instructions."""

_HINT = "use http://host:8000/v1 with a name, openvino:NAME_OR_PATH or transformers:NAME_OR_PATH"


def load_llm(where: str, name: str | None = None, *, api_key: str | None = None, **settings: Any) -> LLM:
    """A model that follows instructions.

    Args:
        where: ``http://host:8000/v1``, the address of a server that speaks the OpenAI protocol;
            ``openvino:NAME_OR_PATH``, where the name is ``smollm2-135m`` and the path that of a .gguf file or of a
            folder with a converted model; ``transformers:NAME_OR_PATH``, where the path may also be that of a folder,
            and the name one on the hub.
        name: of the model on the server; in signatures for others.
        api_key: for a server.
        settings: see ``ChatModel``, ``OpenVinoChat`` and ``TransformersChat``.

    Raises:
        ConfigError: if the place or a setting is unknown, or a name is missing.
        MissingModelError: if the weights are not there. MissingExtraError, ModelError: if the model cannot be loaded.
    """
    family, _, which = where.partition(":")
    if family in {"http", "https"}:
        if not name:
            raise ConfigError("llm", f"{without_secrets(where)!r} needs the name of a model", hint="give its name")
        return _made(ChatModel, settings, name, where, api_key)
    label = name or (which if which in _CHAT else "")
    if family == "openvino" and which:
        return _made(OpenVinoChat, {"label": label, **settings}, _weights(which))
    if family == "transformers" and which:
        # A fetched model is a GGUF file, which the library reads as well.
        source = str(_weights(which, package="transformers")) if which in _CHAT else which
        return _made(TransformersChat, {"label": label, **settings}, source)
    raise ConfigError("llm", f"unknown place {without_secrets(where)!r}", hint=_HINT)


def _weights(which: str, package: str = "openvino_genai") -> Path:
    """The file of a model that was fetched, or of any other."""
    if which not in _CHAT:
        if which in FETCHABLE:
            raise ConfigError("llm", f"{which} was not taught to follow instructions", hint=f"use {', '.join(_CHAT)}")
        return Path(which).expanduser()
    lm = FETCHABLE[which]
    path = weights_path(which, lm.weights)
    extra = {"openvino_genai": "lm", "transformers": "hf"}[package]
    steps = [f"pip install 'qchunker[{extra}]'"] * (importlib.util.find_spec(package) is None)
    steps += [f"qchunker models fetch {which}"] * (not path.is_file())
    if steps:
        raise MissingModelError(which, "is not on this machine", command=" && ".join(steps))
    check_weights(which, lm.weights)
    return path


def _made(make: Callable[..., LLM], settings: dict[str, Any], *given: Any) -> LLM:
    parameters = inspect.signature(make).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    unknown = next((setting for setting in settings if setting not in known), None)
    if unknown is not None:
        raise ConfigError(unknown, "this kind of model has no such setting", hint=f"use {', '.join(known)}")
    return make(*given, **settings)
