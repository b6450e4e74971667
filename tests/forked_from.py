"""What a process that is forked (see ``forked``) has: the libraries, and the tables of the encoder."""

import lancedb  # noqa: F401
import openai  # noqa: F401
import pytest  # noqa: F401

import qchunker.cli  # noqa: F401
from qchunker.models.load import default_embedder

default_embedder().encode(["Oil the pump.", "给泵加油。"])
