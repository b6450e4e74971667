"""Settings for all tests: no network, and as many random examples as the place they run in allows."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", max_examples=2000, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quick" if os.environ.get("QCHUNKER_TESTS") == "quick" else "ci")

CASES = Path(__file__).parent / "cases"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No test may reach out; the browser tests talk to their own browser over pipes and loopback."""
    if "browser" in request.keywords:
        return

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a test tried to use the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
