"""docs/equations.md is true: what it names exists, and what the code cites is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
IDS = re.findall(r"^### ([A-Z]+-\d+)$", PAGE, re.MULTILINE)
FUNCTIONS = sorted(set(re.findall(r"`(qchunker\.(?:scoring|models|debate)\.[\w.]+)`", PAGE)))
TESTS = sorted(set(re.findall(r"`(test_\w+)`", PAGE)))
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]


def test_the_page_has_ids() -> None:
    assert len(IDS) == len(set(IDS)) >= 15


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_cited_ids_exist(path: Path) -> None:
    cited = re.findall(r"equations\.md#([a-z]+-\d+)", path.read_text(encoding="utf-8"))
    assert [name for name in cited if name.upper() not in IDS] == []


def test_every_id_is_cited_in_the_code() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    assert [name for name in IDS if f"equations.md#{name.lower()}" not in code and name.lower() not in code] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_named_functions_exist(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", TESTS)
def test_named_tests_exist(name: str) -> None:
    assert any(f"def {name}(" in path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
