"""A real OpenAI-compatible server with a real small model, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qchunker.models.fetch import weights_path
from qchunker.models.load import FETCHABLE

_SERVER = """
    import sys
    import xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path, params.port, params.hostnames = sys.argv[1], 0, ["127.0.0.1"]
    params.n_ctx, params.n_parallel = int(sys.argv[3]), 2
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several wait for one another, at work
    params.api_keys = [sys.argv[2]]
    server = xllamacpp.Server(params)
    print("ready", server.listening_address, flush=True)
    sys.stdin.read()  # until the test ends, however it ends
"""


@contextmanager
def llama_cpp_server(key: str, n_context: int = 2048) -> Iterator[str]:
    """Its address, as the OpenAI SDK takes it; the context is shared by two requests."""
    pytest.importorskip("xllamacpp", reason="there is no wheel of xllamacpp for this platform")
    weights = str(weights_path("smollm2-135m", FETCHABLE["smollm2-135m"].weights))
    command = [sys.executable, "-c", textwrap.dedent(_SERVER), weights, key, str(n_context)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            ready = next((line for line in server.stdout if line.startswith(b"ready ")), b"")
            assert ready, "the server did not start"
            yield f"{ready.split()[1].decode()}/v1"
        finally:
            server.kill()
