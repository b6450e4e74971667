"""Packages of the extra ``bench``, imported only where they are used."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import Any

from qchunker.errors import MissingExtraError


@cache
def bench_package(name: str, purpose: str) -> Any:
    """A module of the extra ``bench``.

    Args:
        name: such as ``scipy.stats``.
        purpose: what it is for, for the message.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        with warnings.catch_warnings():
            # Old packages warn about their own source when they are compiled first.
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        raise MissingExtraError("qchunker[bench]", purpose) from error
