"""Small files that try to cost much, or to end the run of the others."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from qchunker import CHUNKERS, ChunkingConfig, Source, chunk, from_text, parse
from qchunker.errors import ParseError
from qchunker.parsing import PARSERS
from qchunker.parsing.epub import MEDIA_TYPE as EPUB
from qchunker.parsing.markdown_writer import table
from qchunker.parsing.office import DOCX, PPTX

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str) -> bytes:
    return _zip(
        {
            "_rels/.rels": '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
        }
    )


def _zip(parts: dict[str, str], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("---\r\n" + "a b\r\n" * 3000, "x.md"),
        ("---\na: x" + " " * 50_000 + "y\n---\n\nbody", "x.md"),
        ("<table>\n" + "<tr " * 40_000, "x.md"),
        ("“" * 30_000, "x.txt"),
        ("（《" * 15_000, "x.txt"),
        ("a     " * 8000 + "\nbbb" + "a     " * 8000 + "\n", "x.txt"),
        ("_ " * 40_000 + "a", "x.md"),
        ("a" + " " * 200_000 + "b", "x.txt"),
        ("- " * 5000 + "x", "x.md"),
        ("> " * 5000 + "x", "x.md"),
        ("[" * 50_000, "x.md"),
        ("<ul><li>a" * 2000 + "<li>b" * 2000, "x.html"),
        ("|" * 50_000 + "\n" + "-" * 50_000 + "a", "x.txt"),
        ("1." * 50_000, "x.txt"),
        ("第一条" * 30_000, "x.txt"),
    ],
    ids=range(15),
)  # fmt: skip
def test_odd_texts_take_linear_time(text: str, name: str) -> None:
    """Each took minutes, or would have, when one of its expressions was quadratic."""
    code = (
        "import sys; from qchunker import *\n"
        "d = from_text(sys.stdin.buffer.read().decode(), sys.argv[1])\n"
        "[chunk(d, m) for m in CHUNKERS]\n"
    )
    subprocess.run([sys.executable, "-c", code, name], input=text.encode(), check=True, timeout=60)


@pytest.mark.parametrize(
    "markup",
    [
        "<table><tr><td rowspan=1000 colspan=1000>" + "x" * 100_000 + "</td></tr>" + "<tr><td>a</td></tr>" * 60 + "</table>",
        "<table><tr>" + "<td>a</td>" * 20_000 + "</tr>" + "<tr><td>b</td></tr>" * 20_000 + "</table>",
        "<ul><li>a" * 2400 + "<li>b" * 8000,
    ],
    ids=["spans", "ragged", "lists"],
)  # fmt: skip
def test_a_page_does_not_grow_without_bound(markup: str) -> None:
    assert len(from_text(markup, "x.html").text) < 20 * len(markup) + 10_000_000


def test_elements_that_are_never_closed_are_refused() -> None:
    with pytest.raises(ParseError, match="never closed"):
        from_text("<div>" * 50_000, "x.html")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (docx("<w:sdt>" * 2000 + "</w:sdt>" * 2000), DOCX),
        (docx('<w:p><w:pPr><w:numPr><w:ilvl w:val="x"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>'), DOCX),
        (docx('<w:p><w:r><w:sym w:char="D800"/></w:r></w:p>'), DOCX),
        (_zip({"ppt/presentation.xml": "<x/>"}), PPTX),
        (_zip({"META-INF/container.xml": "<x/>"}, zipfile.ZIP_BZIP2), EPUB),
        (b"PK\x03\x04" + b"\xff" * 200, EPUB),
    ],
)
def test_whatever_a_file_does_to_its_parser_it_is_an_error_of_that_file(data: bytes, media_type: str) -> None:
    try:
        document = parse(Source("bad.bin", data), media_type=media_type)
    except ParseError as error:
        assert error.source == "bad.bin"
        assert error.hint
    else:
        document.text.encode("utf-8")


def test_attribute_defaults_are_refused_like_entities() -> None:
    body = "<w:p><w:r><w:t>a</w:t></w:r></w:p>"
    data = docx(body)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    parts["word/document.xml"] = '<!DOCTYPE x [<!ATTLIST w:t x CDATA "AAAA">]>' + parts["word/document.xml"]
    with pytest.raises(ParseError, match="declares"):
        parse(Source("x.docx", _zip(parts)))


def test_a_fence_across_pages_is_one_block() -> None:
    page = "\x0cACME Manual\n" + "code line with some words in it\n" * 20
    document = from_text("```\n" + page * 6 + "```\nend.\n")
    assert all(one.end <= other.start for one, other in zip(document.blocks, document.blocks[1:], strict=False))
    for method in CHUNKERS:
        assert chunk(document, method, ChunkingConfig(target_chars=200)).chunks


@pytest.mark.parametrize("charset", ["undefined", "utf-16", "unicode_escape", "idna", "no-such"])
def test_a_page_cannot_choose_a_codec_that_harms(charset: str) -> None:
    markup = f"<html><meta charset={charset}><body><p>Oil it \\x41.</p></body></html> ".encode()
    assert parse(Source("x.html", markup)).text == "Oil it \\x41."


def _run(*arguments: str, stdin: bytes = b"", **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "qchunker", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, **options)  # type: ignore[call-overload]


def test_pipes_devices_links_and_odd_names_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "good [red]:bomb:.md").write_text("# A\n\nOil it.\n", encoding="utf-8")
    os.mkfifo(tmp_path / "p.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    (tmp_path / "around").symlink_to(tmp_path)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")).write_text("Oil it too.", encoding="utf-8")
    Path(tmp_path / "esc\x1b[31m.txt").write_bytes(b"")
    done = _run("chunk", str(tmp_path))
    found = [json.loads(line)["source"] for line in done.stdout.splitlines()]
    assert sorted(Path(name).name for name in found) == ["bad\ufffd.txt", "good [red]:bomb:.md"]
    assert done.returncode == 1
    assert b"\x1b" not in done.stderr
    assert _run("chunk", str(tmp_path / "p.txt")).returncode == 1
    assert _run("chunk", "x" * 5000).returncode == 2


def test_documents_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("<body><nav>\x1b]0;PWN\x07\x1b[31m</nav><p>Oil it.</p></body>", encoding="utf-8")
    assert b"\x1b" not in _run("lint", str(tmp_path / "x.html")).stdout


def test_one_bad_byte_in_json_lines_costs_one_character(tmp_path: Path) -> None:
    rows = b'\xef\xbb\xbf{"doc_id": "a", "text": "Oil \xff it."}\n{"doc_id": "a\\ud800", "text": "Oil it."}\n{"doc_id": "a", "text": "Again."}\n{"doc_id": "a#2", "text": "And again."}\n'
    (tmp_path / "x.jsonl").write_bytes(rows)
    for done in (_run("chunk", str(tmp_path / "x.jsonl")), _run("chunk", "-", "--input-format", "jsonl", stdin=rows)):
        assert done.returncode == 0, done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["doc_id"] for row in found] == ["a", "a\ufffd", "a#2", "a#2#2"]
        assert found[0]["text"] == "Oil \ufffd it."


@pytest.mark.parametrize(
    "fields",
    [{"links": 5}, {"links": ["x"]}, {"context": 5}, {"added": 5}, {"heading_path": True}, {"start": None}, {"start": 10**11}, {"text": 5}, {"doc_id": ["a"]}],
)  # fmt: skip
def test_hostile_rows_are_a_usage_error(tmp_path: Path, fields: dict) -> None:
    row = {"doc_id": "a", "start": 0, "end": 4, "text": "Oil.", **fields}
    (tmp_path / "c.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = _run("view", str(tmp_path / "c.jsonl"))
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr


def test_output_and_documents_may_not_be_one_file(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("# A\n\nOil it.\n", encoding="utf-8")
    target = str(tmp_path / "out.jsonl")
    assert _run("chunk", str(tmp_path / "x.md"), "-o", target, "--documents", target).returncode == 2
    assert _run("chunk", str(tmp_path / "x.md"), "-o", target, "--documents", str(tmp_path / "d.md")).returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.md"]


def test_text_in_an_ascii_terminal_and_to_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("# 储存\n\n仓库应当干燥。\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert "仓库" in _run("chunk", str(tmp_path / "x.md"), env=environment).stdout.decode()
    if Path("/dev/full").exists():
        with Path("/dev/full").open("wb") as full:
            command = [sys.executable, "-m", "qchunker", "chunk", str(tmp_path / "x.md")]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        assert done.returncode != 0
        assert b"Traceback" not in done.stderr


def test_every_parser_refuses_nothing_at_all() -> None:
    for media_type in PARSERS:
        with pytest.raises(ParseError):
            parse(Source("x", b""), media_type=media_type)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("".join("  " * depth + f"- item {depth}\n" for depth in range(200)), "x.md"),
        ("> " * 200 + "Deep.", "x.md"),
        ("<div>" * 200 + "<p>Deep.</p>" + "</div>" * 200, "x.html"),
        ("<ul><li>x" * 200 + "</ul>" * 200, "x.html"),
        ("<table><tr><td>" * 200 + "Deep." + "</table>" * 200, "x.html"),
        ("[" * 200 + "]" * 200, "x.json"),
    ],
)
def test_two_hundred_levels_are_read_without_loss(text: str, name: str) -> None:
    document = from_text(text, name)
    partition = chunk(document)
    assert "".join("".join(piece.text for piece in partition.chunks).split()) == "".join(document.text.split())
    assert "Deep." in document.text or "Deep." not in text


def test_a_ragged_table_is_not_filled_up_without_bound() -> None:
    rows = [["a"] * 20_000, *([["b"]] * 20_000)]
    assert len(table(rows)) < 1_000_000
