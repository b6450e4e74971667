"""The examples through the command line, as a user runs it: complete, exact, within the limit, the same every time."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from command_line import run as qchunker

EXAMPLES = Path(__file__).parents[2] / "examples"
LIMIT_CHARS = {"en": 1000, "zh": 1000}
SOURCES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_file() and path.suffix not in ("", ".py"))

Row = dict[str, Any]


def qchunker_apart(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "qchunker", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", timeout=120, check=False,
        env=os.environ | {"COLUMNS": "100", "PYTHONUTF8": "1"},
    )  # fmt: skip


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, chunked once."""
    folder = tmp_path_factory.mktemp("run")
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    done = qchunker(folder, "chunk", "examples", "-o", "chunks.jsonl", "--documents", "documents.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return folder


@pytest.fixture(scope="module")
def chunks(folder: Path) -> dict[str, list[Row]]:
    """File name -> its chunks."""
    return _by_file(folder / "chunks.jsonl")


def _by_file(path: Path) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in read(path):
        found[Path(row["source"]).name].append(row)
    return found


@pytest.fixture(scope="module")
def sections(folder: Path) -> dict[str, list[Row]]:
    """The chunks that follow the headings."""
    done = qchunker(folder, "chunk", "examples", "-o", "sections.jsonl", "--method", "structure")
    assert done.returncode == 0, done.stderr
    return _by_file(folder / "sections.jsonl")


@pytest.fixture(scope="module")
def texts(folder: Path) -> dict[str, str]:
    return {Path(row["source"]).name: row["text"] for row in read(folder / "documents.jsonl")}


def test_examples_show_every_kind_of_source() -> None:
    assert {Path(name).suffix for name in SOURCES} == {".md", ".txt", ".html", ".csv", ".docx", ".pdf", ".xlsx"}
    assert sum(".zh." in name for name in SOURCES) == sum(".en." in name for name in SOURCES) == len(SOURCES) / 2


def test_every_example_is_chunked(chunks: dict[str, list[Row]], texts: dict[str, str]) -> None:
    assert sorted(chunks) == sorted(texts) == SOURCES


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_lost_and_texts_are_spans(name: str, chunks: dict[str, list[Row]], texts: dict[str, str]) -> None:
    text, end = texts[name], 0
    for row in chunks[name]:
        assert not text[end : row["start"]].strip()
        assert end <= row["start"] < row["end"]
        assert row["text"] == text[row["start"] : row["end"]]
        end = row["end"]
    assert not text[end:].strip()


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith((".md", ".txt", ".csv"))])
def test_the_text_of_text_formats_is_the_file(name: str, texts: dict[str, str]) -> None:
    assert texts[name].encode("utf-8") == (EXAMPLES / name).read_bytes()


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_embedded_is_within_the_limit(name: str, chunks: dict[str, list[Row]]) -> None:
    for row in chunks[name]:
        assert row["oversize"] is None
        assert len(row["embedding_text"]) <= LIMIT_CHARS["zh" if ".zh." in name else "en"]
        embedded = row["embedding_text"]
        for addition in row["added"]:
            if addition["is_embedded"]:
                assert addition["text"] in embedded
                embedded = embedded.replace(addition["text"], "", 1)
        assert row["text"] in embedded


def test_what_is_added_stands_elsewhere_in_the_document(chunks: dict[str, list[Row]], texts: dict[str, str]) -> None:
    completed = [(name, row) for name, rows in chunks.items() for row in rows if row["added"]]
    assert len({name for name, _ in completed}) > 3
    for name, row in completed:
        text = row["completed_text"]
        for addition in row["added"]:
            text = text.replace(addition["text"], "", 1)
            assert all(end <= row["start"] or start >= row["end"] for start, end in addition["evidence"])
            said = _letters("".join(texts[name][start:end] for start, end in addition["evidence"]))
            words = re.sub(r"^\s*[【\[][^：:]+[：:]", "", addition["text"])
            assert all(_letters(part) in said for part in re.split("; |；", words)), addition
        assert text == row["text"]


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text)


def test_every_chunk_has_its_question(chunks: dict[str, list[Row]]) -> None:
    for name, rows in chunks.items():
        assert all(row["question"].strip() for row in rows), name


@pytest.mark.parametrize(
    ("name", "rule", "exception", "words"),
    [
        ("supply-contract.zh.txt", "第八条 质保期与保修", "第九条 保修的例外", "第八条的规定不适用"),
        ("supply-contract.zh.txt", "第十二条 责任限额", "第十三条 限额的例外", "不受第十二条的限制"),
        ("supply-contract.en.txt", "8.3 If a defect", "8.4 Clause 8.3", "Clause 8.3 does not apply"),
        ("supply-contract.en.txt", "11.1 Subject to", "11.2 Nothing in", "Subject to Clause 11.2"),
    ],
)
def test_rules_and_exceptions_are_linked_both_ways(
    name: str, rule: str, exception: str, words: str, sections: dict[str, list[Row]], texts: dict[str, str]
) -> None:
    ruling = next(row for row in sections[name] if rule in row["text"])
    limiting = next(row for row in sections[name] if exception in row["text"])
    for row, kind, target in ((limiting, "limits", ruling), (ruling, "limited_by", limiting)):
        evidence = [
            texts[name][start:end]
            for link in row["links"]
            if (link["kind"], link["target"]) == (kind, target["chunk_id"])
            for start, end in link["evidence"]
        ]
        assert any(words in sentence for sentence in evidence)


def test_parts_of_the_long_table_carry_their_header(chunks: dict[str, list[Row]]) -> None:
    header = "| Code | Meaning | Likely cause | What to do |\n|---|---|---|---|"
    parts = [row for row in chunks["pump-manual.en.md"] if "\n| F" in row["text"]]
    assert len(parts) > 2
    assert all(header in row["embedding_text"] for row in parts)
    assert [header in row["text"] for row in parts] == [True] + [False] * (len(parts) - 1)
    assert all(row["cut"] == "row" for row in parts[1:])


def test_no_record_is_cut_and_each_part_knows_its_columns(chunks: dict[str, list[Row]]) -> None:
    parts = chunks["spare-parts.zh.csv"]
    assert len(parts) > 1
    assert all("备件号,名称,规格" in row["embedding_text"] for row in parts)
    assert any('"干转 30 秒即损坏。\n安装前用无水酒精擦净端面，不得用手触摸。"' in row["text"] for row in parts)


def test_what_surrounds_the_text_is_not_in_it(texts: dict[str, str]) -> None:
    assert "登录" not in texts["water-quality.zh.html"]
    assert "window.started" not in texts["water-quality.zh.html"]
    assert "Page 2 of 3" not in texts["commissioning-report.en.pdf"]
    assert "内部资料" not in texts["inspection-rules.zh.docx"]


def test_spanning_cells_stand_in_every_row(texts: dict[str, str]) -> None:
    assert "| 总硬度（以 CaCO₃ 计） | 见备注 |" in texts["water-quality.zh.html"]
    assert "| 轴承 | 振动速度 |" in texts["inspection-rules.zh.docx"]


def test_pages_of_the_report_are_known(chunks: dict[str, list[Row]]) -> None:
    pages = [row["page"] for row in chunks["commissioning-report.en.pdf"]]
    assert pages == sorted(pages)
    assert set(pages) == {1, 2, 3}


def test_two_runs_give_the_same_bytes(folder: Path) -> None:
    first = (folder / "chunks.jsonl").read_bytes()
    done = qchunker_apart(folder, "chunk", "examples", "-o", "again.jsonl", "--jobs", "3")
    assert done.returncode == 0
    assert (folder / "again.jsonl").read_bytes() == first


def test_the_page_and_the_terminal_show_every_document(folder: Path) -> None:
    done = qchunker(folder, "view", "chunks.jsonl", "--documents", "documents.jsonl", "-o", "chunks.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = (folder / "chunks.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html")
    assert all(f"examples/{name}" in page for name in SOURCES)
    shown = qchunker(folder, "view", "chunks.jsonl", "--documents", "documents.jsonl", "--limit", "1")
    assert shown.returncode == 0
    assert all(f"examples/{name}" in shown.stdout for name in SOURCES)
    assert "characters in no chunk" not in shown.stdout


def test_findings_are_no_failures(folder: Path) -> None:
    done = qchunker(folder, "lint", "examples", "--json")
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert ("examples/pump-manual.en.md", "oversize_block") in {(row["source"], row["kind"]) for row in found}
    assert not [row for row in found if row["kind"] in ("replaced_characters", "columns")]


def test_one_bad_file_spoils_nothing(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "examples", tmp_path / "examples")
    (tmp_path / "examples" / "broken.docx").write_bytes((EXAMPLES / "inspection-rules.zh.docx").read_bytes()[:5000])
    done = qchunker(tmp_path, "chunk", "examples", "-o", "chunks.jsonl")
    assert done.returncode == 1
    assert "examples/broken.docx: the DOCX file is truncated or damaged" in done.stderr
    assert "save it anew" in done.stderr
    assert f"{len(SOURCES)} of {len(SOURCES) + 1} documents done, 1 failed" in done.stderr
    assert (tmp_path / "chunks.jsonl").read_bytes() == (folder / "chunks.jsonl").read_bytes()


def test_the_binary_examples_come_from_their_script(tmp_path: Path) -> None:
    """Each run writes the same bytes, under 30 kB a file."""
    script = EXAMPLES.parent / "scripts" / "make_binary_examples.py"
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=120)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]
    assert set(written[0]) == {name for name in SOURCES if name.endswith((".docx", ".pdf", ".xlsx"))}
    assert all(len(data) < 30_000 for data in written[0].values())
