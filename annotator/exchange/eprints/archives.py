"""What an e-print holds: its text files in memory, whatever it is packed in; nothing is ever written by its names."""

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath

from annotator.domain.material.extract import RefusalStage
from annotator.domain.texts.canonical import storable

MOST_FILES, MOST_BYTES, LARGEST_TEXT = 5_000, 256 * 2**20, 16 * 2**20
SINGLE = "main.tex"
_READ = {".tex", ".ltx", ".latex", ".bib", ".bbl", ".txt", ".sty", ".json", ""}
_GZIP, _PDF, _POSTSCRIPT = b"\x1f\x8b", b"%PDF", b"%!PS"
_TAR_MARK, _TAR_PLACE = b"ustar", 257
_WITHDRAWN = re.compile(r"^%auto-ignore|\bwithdrawn\b", re.IGNORECASE | re.MULTILINE)
# A source that says that the paper is withdrawn says little else.
_NOTICE = 2_000


class Unfit(Exception):
    def __init__(self, stage: RefusalStage, reason: str) -> None:
        super().__init__(reason)
        self.stage, self.reason = stage, reason


def files_of(content: bytes) -> Mapping[str, str]:
    """The text files of an e-print by name, told apart by what it holds; Unfit says why there are none."""
    plain = _unpacked(content) if content.startswith(_GZIP) else content
    if plain.startswith(_PDF):
        raise _unfit("Only a PDF was submitted, no LaTeX.")
    if plain.startswith(_POSTSCRIPT):
        raise _unfit("Only PostScript was submitted, no LaTeX.")
    packed = plain[_TAR_PLACE : _TAR_PLACE + len(_TAR_MARK)] == _TAR_MARK
    files = _in_tar(plain) if packed else {SINGLE: decoded(plain)}
    sources = [text for name, text in files.items() if name.endswith((".tex", ".ltx", ".latex", ".txt"))]
    if sum(map(len, sources)) < _NOTICE and any(map(_WITHDRAWN.search, sources)):
        raise _unfit("The paper is withdrawn.")
    if not any("\\" in text for text in sources):
        raise _unfit("It holds no LaTeX.")
    return files


def ending(content: bytes) -> str:
    """How the name of an e-print ends, by what it holds."""
    if content.startswith(_PDF):
        return ".pdf"
    packed = content.startswith(_GZIP)
    try:
        head = (
            zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(content, 2 * _TAR_PLACE) if packed else content
        )
    except zlib.error:
        head = b""
    tar = head[_TAR_PLACE : _TAR_PLACE + len(_TAR_MARK)] == _TAR_MARK
    return f"{'.tar' if tar else '' if packed else '.tex'}{'.gz' if packed else ''}"


def decoded(content: bytes) -> str:
    """The text of a file in UTF-8, or else in Latin-1, in which every byte is a character."""
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return storable(text).replace("\r\n", "\n").replace("\r", "\n")


def _unpacked(content: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            plain = packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise _unfit("It is damaged: it cannot be unpacked.") from None
    if len(plain) > MOST_BYTES:
        raise _unfit(f"Unpacked, it is larger than {MOST_BYTES // 2**20} MB.")
    return plain


def _in_tar(plain: bytes) -> dict[str, str]:
    """The text files of a tar file. Links and devices are passed over; one name that leads outside spoils all of it."""
    files: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as packed:
            for number, member in enumerate(packed, 1):
                if number > MOST_FILES:
                    raise _unfit(f"It holds more than {MOST_FILES:,} files.")
                name = _inner(member.name)
                if not member.isreg() or PurePosixPath(name).suffix.lower() not in _READ:
                    continue
                if member.size > LARGEST_TEXT:
                    raise _unfit(f"A text in it is larger than {LARGEST_TEXT // 2**20} MB.")
                held = packed.extractfile(member)
                if held is not None:
                    files[name] = decoded(held.read())
    except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError):
        raise _unfit("It is damaged: its files cannot be read.") from None
    return files


def _inner(name: str) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name):
        raise _unfit(f"A file in it is named so as to lie outside: “{name[:80]}”.")
    return storable(path.as_posix())


def _unfit(reason: str) -> Unfit:
    return Unfit(RefusalStage.SOURCE, reason)
