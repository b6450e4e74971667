"""The documentation is true: its code runs, its output is the real one, and nothing public is missing from it.

``python tests/e2e/test_docs.py`` writes the help of every command into docs/cli.md anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

import qchunker
from command_line import run_bytes
from qchunker import (
    CHUNKERS,
    Block,
    Chunk,
    ChunkingConfig,
    ChunkScore,
    Document,
    Link,
    Note,
    Partition,
    Source,
    Span,
    errors,
)
from qchunker.cli import cli
from qchunker.parsing import SUFFIXES
from qchunker.rows import CHUNK_FIELDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("adr/*.md"))]
SHELLS = ("bash", "console")

PLAIN = {"COLUMNS": "80", "PYTHONUTF8": "1", "TERM": "dumb", "NO_COLOR": "1"}

_FENCE = re.compile(r"(?P<mark><!-- not run -->\n)?```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL_MARKS = re.compile(r"[^\w\s./:,-]")
_HELP = re.compile(r"<!-- help: (?P<command>[a-z ]+) -->\n.*?<!-- /help -->", re.DOTALL)
_LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
_INSTALLATION = re.compile(r"(make|pip install|git clone|python3 -m venv) ?")


class CodeBlock(NamedTuple):
    language: str
    body: str
    line: int
    is_run: bool


def code_blocks(page: Path) -> list[CodeBlock]:
    text = page.read_text(encoding="utf-8")
    return [
        CodeBlock(found["language"], found["body"], text.count("\n", 0, found.start("body")), found["mark"] is None)
        for found in _FENCE.finditer(text)
    ]


def environment() -> dict[str, str]:
    """The running interpreter's commands first, and the same width and encoding everywhere."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | PLAIN | {"PATH": path}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a copy of the examples, as the documentation supposes."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_code_runs_and_shows_its_real_output(page: Path, folder: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for block in code_blocks(page):
        place = f"{page.name}:{block.line}"
        if not block.is_run:
            continue
        if block.language == "python":
            printed = run_python(block, place, names)
        elif block.language in SHELLS:
            run_shell(block, place, folder)
            printed = None
        elif block.language == "text" and printed is not None:
            assert_shown(block.body, printed, place)
            printed = None


def run_python(block: CodeBlock, place: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * block.line + block.body, place, "exec"), names)
    return out.getvalue()


def run_shell(block: CodeBlock, place: str, folder: Path) -> None:
    for command, shown in commands(block):
        done = run_line(command, folder)
        output = done.stdout.decode("utf-8")
        assert done.returncode == 0, f"{place}: {command}\n{output}"
        if block.language == "console":
            assert_shown(shown, output, f"{place}: {command}")


def run_line(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """In this process when that is what a shell would make of it: the name of the program and its arguments."""
    if command.startswith("qchunker ") and not _SHELL_MARKS.search(re.sub(r"\"[^\"]*\"", "", command)):
        return run_bytes(folder, *shlex.split(command)[1:], merged=True, environment=PLAIN)
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=120, check=False,
    )  # fmt: skip


def commands(block: CodeBlock) -> Iterator[tuple[str, str]]:
    """Commands of a block, each with the output that is shown below it."""
    if block.language == "bash":
        yield f"set -e\n{block.body}", ""
        return
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def assert_shown(shown: str, output: str, place: str) -> None:
    """Equal, line by line; a line ``...`` stands for any lines, none included."""
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)
    real = "".join(line.rstrip() + "\n" for line in output.strip("\n").splitlines())
    assert re.fullmatch(pattern, real), f"{place}\nshown:\n{shown}\nreal:\n{real}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_only_installation_is_not_run(page: Path) -> None:
    for block in code_blocks(page):
        if block.is_run:
            continue
        for part in re.split(r"\n|&&", block.body):
            step = part.split("#")[0].strip()
            assert not step or _INSTALLATION.match(step) or step.startswith(("cd ", ". ")), f"{page.name}: {step}"


def test_the_help_in_the_docs_is_the_real_one() -> None:
    page = DOCS / "cli.md"
    assert page.read_text(encoding="utf-8") == with_help(page.read_text(encoding="utf-8"))


def test_every_command_is_documented() -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    documented = {found["command"] for found in _HELP.finditer(text)}
    inner = {f"qchunker {name} {part}" for name, group in cli.commands.items() if isinstance(group, click.Group)
             for part in group.commands}  # fmt: skip
    assert documented == {"qchunker", *(f"qchunker {name}" for name in cli.commands), *inner}
    for name, command in cli.commands.items():
        assert command.help, name
        assert f"\n## qchunker {name}\n" in text
        assert all(
            option.help for option in command.params if isinstance(option, click.Option) and option.name != "method"
        )


def with_help(text: str) -> str:
    """The page with the help of every command between its markers."""

    def filled(found: re.Match[str]) -> str:
        words = found["command"].split()
        done = run_bytes(Path(), *words[1:], "--help", environment=PLAIN)
        shown = done.stdout.decode("utf-8").strip()
        return f"<!-- help: {found['command']} -->\n```text\n{shown}\n```\n<!-- /help -->"

    return _HELP.sub(filled, text)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_relative_links_resolve(page: Path) -> None:
    for found in _LINK.finditer(page.read_text(encoding="utf-8")):
        if "://" in found["path"]:
            continue
        target = (page.parent / found["path"]).resolve() if found["path"] else page
        assert target.exists(), f"{page.name}: {found['path']}"
        if found["anchor"]:
            assert found["anchor"] in anchors(target), f"{page.name}: #{found['anchor']}"


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    pages = [page for page in [*DOCS.glob("*.md"), *DOCS.glob("adr/*.md")] if page.name != "index.md"]
    assert [page.name for page in pages if f"({page.relative_to(DOCS).as_posix()})" not in index] == []


@pytest.mark.parametrize("name", qchunker.__all__)
def test_public_names_are_documented(name: str) -> None:
    api = (DOCS / "python-api.md").read_text(encoding="utf-8")
    assert re.search(rf"`(?:[^`]*\W)?{re.escape(name)}\b", api), f"{name} is not in python-api.md"
    value = getattr(qchunker, name)
    if isinstance(value, type) or callable(value):
        written = (value.__doc__ or "").strip()
        assert written, f"{name} has no docstring"
        assert not written.startswith(f"{name}("), f"{name} has only a generated docstring"


@pytest.mark.parametrize(
    "kind", [Span, Source, Block, Note, Document, Chunk, Link, Partition, ChunkScore], ids=lambda kind: kind.__name__
)
def test_every_field_and_method_of_a_type_is_documented(kind: type) -> None:
    api = (DOCS / "python-api.md").read_text(encoding="utf-8")
    row = next(line for line in api.splitlines() if line.startswith(f"| `{kind.__name__}` |"))
    fields = getattr(kind, "_fields", None) or [field.name for field in dataclasses.fields(kind)]
    methods = [] if hasattr(kind, "_fields") else [name for name in vars(kind) if not name.startswith("_")]
    named = set(re.findall(r"`(\w+)(?:\(\))?`", row)) - {kind.__name__}
    assert {*fields, *methods} <= named


def test_every_reason_for_a_cut_is_documented() -> None:
    chunking = (DOCS / "chunking.md").read_text(encoding="utf-8")
    table = chunking[chunking.index("| `cut` |") :].split("\n\n")[0]
    documented = set(re.findall(r"`(\w+)`", table)) - {"cut", "fixed"}
    sources = [path for path in sorted((ROOT / "examples").iterdir()) if path.suffix in SUFFIXES]
    found = {
        chunk.cut
        for document in map(qchunker.parse, sources)
        for method in CHUNKERS
        for target in (20, 60, 300, 700)
        for chunk in qchunker.chunk(document, method, ChunkingConfig(target_chars=target)).chunks
    }
    assert found <= documented
    assert documented - found <= {"grapheme"}


def test_every_error_is_documented() -> None:
    api = (DOCS / "python-api.md").read_text(encoding="utf-8")
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(classes) > 5
    for error in classes:
        assert f"`{error.__name__}`" in api, error.__name__
        assert error.__doc__, error.__name__


def test_every_setting_field_ending_and_method_is_documented() -> None:
    api, readme, chunking, formats = (
        (folder / name).read_text(encoding="utf-8")
        for folder, name in ((DOCS, "python-api.md"), (ROOT, "README.md"), (DOCS, "chunking.md"), (DOCS, "formats.md"))
    )
    for setting in dataclasses.fields(ChunkingConfig):
        assert f"`{setting.name}`" in api, setting.name
        assert f"`{setting.name}`" in chunking, setting.name
    assert [name for name in CHUNK_FIELDS if f"`{name}`" not in readme] == []
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in formats] == []
    assert [method for method in CHUNKERS if f"`{method}`" not in chunking] == []


def test_every_kind_of_finding_is_documented() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "qchunker").rglob("*.py"))
    kinds = set(re.findall(r"\b_?[Nn]ote\(\s*\"(\w+)\"", source))
    api = (DOCS / "python-api.md").read_text(encoding="utf-8")
    assert len(kinds) > 10
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in api] == []


if __name__ == "__main__":
    help_page = DOCS / "cli.md"
    help_page.write_text(with_help(help_page.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
