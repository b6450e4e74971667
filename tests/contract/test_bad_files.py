"""Every binary format refuses every bad file with an error that names it, in little time and memory."""

from __future__ import annotations

import io
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pypdf
import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

import qchunker
from qchunker.errors import ParseError
from qchunker.parsing import office, parse_source
from qchunker.parsing.epub import MEDIA_TYPE as EPUB
from qchunker.parsing.office import DOCX, PDF, PPTX, XLSX
from qchunker.types import Source

ALL = [PDF, DOCX, PPTX, XLSX, EPUB]
ZIPPED = [DOCX, PPTX, XLSX, EPUB]
MAIN_PARTS = {
    DOCX: "word/document.xml",
    PPTX: "ppt/presentation.xml",
    XLSX: "xl/workbook.xml",
    EPUB: "META-INF/container.xml",
}
MEMORY_LIMIT_BYTES = 1 << 30
BILLION_LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]><x>&a9;</x>"
)


def _zip(parts: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _pdf(text: str) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    if text:
        canvas.drawString(72, 700, text)
    else:
        canvas.rect(72, 600, 200, 100, fill=1)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _refused(data: bytes, media_type: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_source(Source("bad.bin", data), media_type=media_type)
    assert caught.value.source == "bad.bin"
    assert "bad.bin" in str(caught.value)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("media_type", ALL)
@pytest.mark.parametrize(
    "data", [b"", b"\x00\x01garbage" * 50, b"plain text", b"PK\x03\x04" + b"\x00" * 40, b"%PDF-1.7\nno"]
)
def test_empty_and_foreign_bytes(media_type: str, data: bytes) -> None:
    _refused(data, media_type)


@pytest.mark.parametrize("media_type", ZIPPED)
def test_a_zip_of_another_kind(media_type: str) -> None:
    error = _refused(_zip({"readme.txt": "hello"}), media_type)
    assert MAIN_PARTS[media_type] in error.reason


@pytest.mark.parametrize("media_type", ZIPPED)
def test_truncated_zip(media_type: str) -> None:
    data = _zip({MAIN_PARTS[media_type]: "<x/>" * 500})
    assert "truncated" in _refused(data[: len(data) // 2], media_type).reason


@pytest.mark.parametrize("media_type", ZIPPED)
def test_damaged_part(media_type: str) -> None:
    data = bytearray(_zip({MAIN_PARTS[media_type]: "".join(map(str, range(3000)))}))
    data[100:200] = bytes(100)
    assert "damaged" in _refused(bytes(data), media_type).reason


@pytest.mark.parametrize("media_type", ZIPPED)
def test_office_file_with_a_password(media_type: str) -> None:
    error = _refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), media_type)
    assert "encrypted" in error.reason
    assert "password" in error.hint


@pytest.mark.parametrize("media_type", ZIPPED)
def test_invalid_xml(media_type: str) -> None:
    _refused(_zip({MAIN_PARTS[media_type]: "<unclosed>"}), media_type)


@pytest.mark.parametrize("media_type", ZIPPED)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entity_bomb(media_type: str, encoding: str) -> None:
    start = time.perf_counter()
    error = _refused(_zip({MAIN_PARTS[media_type]: BILLION_LAUGHS.encode(encoding)}), media_type)
    assert "entities" in error.reason
    assert time.perf_counter() - start < 5


def test_empty_book_and_missing_text() -> None:
    document = '<w:document xmlns:w="w"><w:body/></w:document>'
    assert "no text" in _refused(_zip({"word/document.xml": document}), DOCX).reason


def test_encrypted_chapters() -> None:
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": '<c><rootfile full-path="p.opf"/></c>',
        "META-INF/encryption.xml": '<e><CipherReference URI="a.xhtml"/></e>',
        "p.opf": '<p><item id="a" href="a.xhtml"/><itemref idref="a"/></p>',
        "a.xhtml": b"\x00\x01",
    }
    assert "encrypted" in _refused(_zip(parts), EPUB).reason


def test_encrypted_pdf() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(_pdf("secret")))
    writer.encrypt("password", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    error = _refused(buffer.getvalue(), PDF)
    assert "encrypted" in error.reason
    assert "password" in error.hint


def test_truncated_pdf() -> None:
    data = _pdf("Some text")
    assert "damaged" in _refused(data[: len(data) // 2], PDF).reason


def test_scanned_pdf() -> None:
    error = _refused(_pdf(""), PDF)
    assert "scanned" in error.reason
    assert "OCR" in error.hint


def test_reader_that_hangs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "hang.py"
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(office, "_NATIVE", script)
    monkeypatch.setattr(office, "TIME_LIMIT_S", 0.5)
    assert "longer than" in _refused(_pdf("text"), PDF).reason


def test_reader_that_crashes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "crash.py"
    script.write_text("import os\nos.abort()\n")
    monkeypatch.setattr(office, "_NATIVE", script)
    assert "crashed" in _refused(_pdf("text"), PDF).reason


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
@pytest.mark.parametrize("media_type", ZIPPED)
def test_zip_bomb_is_refused_before_it_fills_the_memory(media_type: str, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(MAIN_PARTS[media_type], "w") as part,
    ):
        for _ in range(64):
            part.write(bytes(1 << 20))
    assert bomb.stat().st_size < 1 << 20
    script = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_LIMIT_BYTES}, {MEMORY_LIMIT_BYTES}))\n"
        "from qchunker.errors import ParseError\n"
        "from qchunker.parsing import parse_source\n"
        "from qchunker.types import Source\n"
        "try:\n"
        "    parse_source(Source('bomb', open(sys.argv[1], 'rb').read()), media_type=sys.argv[2])\n"
        "except ParseError as error:\n"
        # The largest resident size since the program was started; getrusage would count the parent before that.
        "    status = open('/proc/self/status').read()\n"
        "    print(error, status.split('VmHWM:')[1].split()[0])\n"
    )
    package_root = str(Path(qchunker.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script, str(bomb), media_type],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PYTHONPATH": package_root},
    )
    assert "zip bomb" in done.stdout, done.stderr
    assert int(done.stdout.split()[-1]) < 200 * 1024


def test_zip_that_lies_about_its_sizes() -> None:
    data = bytearray(_zip({"word/document.xml": "<x>" + " " * 100_000 + "</x>"}))
    size = (100_007).to_bytes(4, "little")
    while (place := data.find(size)) >= 0:
        data[place : place + 4] = (10).to_bytes(4, "little")
    _refused(bytes(data), DOCX)


def test_too_many_entries() -> None:
    data = _zip({f"p{n}": b"" for n in range(50_001)})
    assert "zip bomb" in _refused(data, DOCX).reason
