"""What a number was measured with."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import date
from importlib import metadata
from pathlib import Path


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Date, machine, interpreter, and the versions of packages (``missing`` where one is not installed)."""
    import qchunker

    found = {
        "date": date.today().isoformat(),
        "CPU": _cpu(),
        "Python": platform.python_version(),
        "qchunker": qchunker.__version__,
    }
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "missing"
    return found


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
