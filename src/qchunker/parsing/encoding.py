"""Bytes to text: byte order marks, UTF-8, UTF-16, GB18030, Big5 and friends."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from qchunker.errors import ParseError
from qchunker.types import Note, Source, Span

# A byte order mark belongs to the encoding, not to the text: it is removed exactly once.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MULTIBYTE = ["gb18030", "big5", "cp932", "euc_jp", "euc_kr"]
# What text in an East Asian encoding is made of; half-width kana and private use mean a wrong guess.
_EAST_ASIAN = re.compile(r"[\u2010-\u203b\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_DETECT_BYTES = 64_000
# A few damaged bytes in a UTF-8 file are replaced and reported; more means another encoding.
_MAX_DAMAGE_RATIO = 0.02
_TERMINAL_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_MAX_CONTROL_RATIO = 0.01
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode(source: Source) -> tuple[str, str, tuple[Note, ...]]:
    """Decode a text file.

    Returns:
        the text without its byte order mark, the encoding's name, and notes on what was replaced.

    Raises:
        ParseError: if the file is empty or blank, or is not text.
    """
    name, data = source
    if not data.strip():
        raise ParseError(name, "the file is empty", hint="there is nothing to chunk; remove it from the input")
    encoding, body = _encoding_of(name, data)
    try:
        text = body.decode(encoding)
        notes: tuple[Note, ...] = ()
    except UnicodeDecodeError:
        text = body.decode(encoding, "replace")
        notes = (_replaced(text, encoding),)
    # A rare control character is a flaw of a text; many of them are no text.
    sample = _TERMINAL_COLOUR.sub("", text[:_DETECT_BYTES])
    if len(_CONTROL.findall(sample)) > max(1, _MAX_CONTROL_RATIO * len(sample)):
        raise _not_text(name)
    if not text.strip().strip("\ufeff"):
        raise ParseError(name, "the file holds white space only", hint="remove it from the input")
    return text, encoding, notes


def clean_text(text: str) -> tuple[str, tuple[Note, ...]]:
    """Replace lone surrogates, which no encoder accepts, by U+FFFD, one for one."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        pass
    else:
        return text, ()
    replaced, count = _SURROGATE.subn("\ufffd", text)
    where = replaced.index("\ufffd")
    note = Note("replaced_characters", f"{count} lone surrogates replaced by U+FFFD", Span(where, where + 1))
    return replaced, (note,)


def _encoding_of(name: str, data: bytes) -> tuple[str, bytes]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return encoding, data[len(bom) :]
    sample = data[:_DETECT_BYTES]
    if b"\0" in sample:
        is_rare = sample.count(0) <= max(1, _MAX_CONTROL_RATIO * len(sample))
        if is_rare and _damage(data, "utf-8") == 0:
            return "utf-8", data
        wide = _wide_encoding(sample)
        if wide is None:
            raise _not_text(name)
        return wide, data
    damage = _damage(data, "utf-8")
    if damage == 0:
        return "utf-8", data
    guess = _wide_encoding(sample) or _multibyte_encoding(sample)
    if guess is not None and _damage(data, guess) <= _MAX_DAMAGE_RATIO * len(data):
        return guess, data
    if damage <= _MAX_DAMAGE_RATIO * len(data):
        return "utf-8", data
    if _damage(data, "cp1252") == 0:
        return "cp1252", data
    raise ParseError(
        name, "the text encoding could not be told", hint="convert the file to UTF-8, or check that it is text"
    )


def _wide_encoding(sample: bytes) -> str | None:
    """UTF-16 without a mark: high bytes are 0 (Latin), 30 or FF (punctuation), 4E-9F (Chinese); low bytes vary."""
    even, odd = sample[0::2], sample[1::2]
    for low, high, encoding in ((even, odd, "utf-16-le"), (odd, even, "utf-16-be")):
        likely = sum(1 for byte in high if byte in b"\x00\x20\x30\xff" or 0x4E <= byte <= 0x9F)
        letters = sum(1 for byte in low if 0x20 <= byte <= 0x7E)
        marked = b"\0" in high or (any(byte in b"\x30\xff" for byte in high) and letters < 0.7 * len(low))
        if len(sample) >= 8 and marked and likely > 0.9 * len(high) and low.count(0) < 0.1 * len(low):
            return encoding
    return None


def _multibyte_encoding(sample: bytes) -> str | None:
    # Ranked guesses of the detector; the first whose text looks like East Asian text is taken.
    for match in from_bytes(sample, cp_isolation=_MULTIBYTE, enable_fallback=False):
        foreign = _NON_ASCII.findall(str(match))
        if foreign and len(_EAST_ASIAN.findall(str(match))) > 0.8 * len(foreign):
            return match.encoding.replace("_", "-")
    return None


def _damage(data: bytes, encoding: str) -> int:
    """How many byte sequences do not decode."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode(encoding, "replace").count("\ufffd")
    return 0


def _replaced(text: str, encoding: str) -> Note:
    where = text.index("\ufffd")
    message = f"{text.count(chr(0xFFFD))} byte sequences that are not {encoding} were replaced by U+FFFD"
    return Note("replaced_characters", message, Span(where, where + 1))


def _not_text(name: str) -> ParseError:
    hint = "give it the file name ending of its real format, or save it as UTF-8"
    return ParseError(name, "the file is binary, not text", hint=hint)
