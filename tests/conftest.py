"""Settings for all tests: no network, and as many random examples as the place they run in allows."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", max_examples=1000, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quick" if os.environ.get("QCHUNKER_TESTS") == "quick" else "ci")

CASES = Path(__file__).parent / "cases"

# The models that `make test` has fetched, and results kept beside them.
os.environ.setdefault("QCHUNKER_CACHE", str(Path(__file__).parents[1] / ".venv" / "qchunker-cache"))

# Tests run in as many processes as there are cores; threads of theirs would wait for one another, at work all the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No test may reach out. Browser tests talk to their browser, server tests to a server of their own."""
    if "browser" in request.keywords:
        return
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: tuple[str, int]) -> None:
        is_local = self.family == getattr(socket, "AF_UNIX", None)  # how processes of one machine talk to each other
        if not is_local and ("server" not in request.keywords or address[0] != "127.0.0.1"):
            raise AssertionError("a test tried to use the network")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)
