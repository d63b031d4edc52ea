"""Bytes of a text document -> text, with the encoding that was used and how sure we are.

A byte order mark decides; else UTF-8 if it is valid; else a detected encoding, said in a warning;
and where detection has nothing to go by, an error that names the byte. Nothing is ever replaced.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from pipelines.errors import DocumentError

__all__ = ["Decoded", "bom_encoding", "decode_text"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (or DOCX, XLSX, PPTX)"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"PAR1", "a Parquet file"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database"),
)
# What no text holds much of: C0 controls other than tab, line ends, form feed, escape; and DEL.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_BINARY_SHARE = 0.3  # of valid UTF-8
_BINARY_SHARE_IN_CODE_PAGES = 0.08
# So many valid multi-byte characters before the first bad byte: damaged UTF-8, no other encoding.
_SURELY_UTF8 = 3
# Detectors like rare code pages for short texts; these practically never hold documents of today.
_EXCLUDED = [
    "mac_turkish", "mac_iceland", "mac_latin2", "mac_roman", "mac_greek", "mac_cyrillic",
    "cp1125", "cp273", "cp037", "cp500", "cp1026", "cp1140", "cp424", "cp875", "hp_roman8",
    "ptcp154", "kz1048", "tis_620", "cp720", "cp856", "cp858", "johab",
]  # fmt: skip
_MIN_COHERENCE = 0.1


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding it was read with, and a warning when that was a guess."""

    text: str
    encoding: str
    warning: str | None = None


def bom_encoding(head: bytes) -> str | None:
    """Return the encoding that a byte order mark at the start of `head` names, or None."""
    return next((name for mark, name in _BOMS if head.startswith(mark)), None)


def decode_text(data: bytes, place: str, encoding: str | None = None) -> Decoded:
    """Decode a whole document; raise `DocumentError` for binary data and undecodable bytes.

    `encoding` is tried alone when given. Line ends of any kind become a line feed.
    """
    marked = bom_encoding(data)
    chosen = encoding or marked
    if chosen is None or not chosen.startswith(("utf-16", "utf-32")):
        _refuse_binary(data, place)
    if chosen == "utf-8" and marked == "utf-8-sig":
        chosen = marked
    decoded = _decode_as(data, place, chosen) if chosen else _decode_unmarked(data, place)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text, decoded.encoding, decoded.warning)


def _decode_as(data: bytes, place: str, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, place, "the file's byte order mark may lie") from None


def _decode_unmarked(data: bytes, place: str) -> Decoded:
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        if _multibyte(data[: error.start]) >= _SURELY_UTF8:
            raise _undecodable(
                error, place, "what stands before it is: the file is damaged"
            ) from None
        if _control_share(data) > _BINARY_SHARE_IN_CODE_PAGES:
            raise _binary("binary data", place) from None
        guess = None if b"\0" in data else _detect(data)
        if guess is None:
            tail = "no other encoding could be told from its bytes; name it with --encoding"
            raise _undecodable(error, place, tail) from None
        warning = f"not UTF-8 (byte {error.start}); read as {guess}, which was detected"
        return Decoded(data.decode(guess), guess, warning)


def _multibyte(valid: bytes) -> int:
    return sum(byte >= 0xC2 for byte in valid)


def _detect(data: bytes) -> str | None:
    """Return the detected encoding, or None when nothing speaks for one more than for others."""
    from charset_normalizer import from_bytes  # noqa: PLC0415  (heavy, and rarely needed)

    matches = from_bytes(data, cp_exclusion=_EXCLUDED)
    best = matches.best()
    if best is None or best.coherence < _MIN_COHERENCE:
        return None
    ties = {m.encoding for m in matches if (m.chaos, m.coherence) == (best.chaos, best.coherence)}
    return "cp1252" if "cp1252" in ties | set(best.could_be_from_charset) else best.encoding


def _refuse_binary(data: bytes, place: str) -> None:
    for magic, name in _MAGIC:
        if data.startswith(magic):
            raise _binary(name, place)
    if _control_share(data) > _BINARY_SHARE:
        raise _binary("binary data", place)


def _control_share(data: bytes) -> float:
    head = data[:65536]
    return len(_CONTROL.findall(head)) / max(1, len(head))


def _binary(what: str, place: str) -> DocumentError:
    return DocumentError(
        f"the file is {what}, not text",
        stage="read",
        place=place,
        remedy="convert it to text first, or leave it out",
    )


def _undecodable(error: UnicodeDecodeError, place: str, remedy: str) -> DocumentError:
    byte = error.object[error.start]
    fact = f"byte {error.start} (0x{byte:02x}) is not {error.encoding}"
    return DocumentError(fact, stage="read", place=place, remedy=remedy)
