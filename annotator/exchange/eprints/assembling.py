"""An e-print unpacked in memory and assembled: the main file, with all included files inserted."""

import gzip
import io
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from annotator.domain.material.extract import RefusalStage
from annotator.domain.texts.canonical import storable
from annotator.exchange.texts.latex import in_plain_words, masked

LONGEST = 8_000_000
HINTS = "00README.json"
_TEX = (".tex", ".ltx", ".latex", ".txt", "")
_CLASS = re.compile(r"\\document(?:class|style)\b")
_BEGIN, _END = re.compile(r"\\begin\s*\{document\}"), re.compile(r"\\end\s*\{document\}")
_INCLUDED = re.compile(
    r"\\(?:input|include|subfile|subfileinclude)\s*\{([^{}]*)\}|\\input\s+([^\s{}\\]+)"
    r"|\\(?:sub)?(?:import|inputfrom|includefrom)\*?\s*\{([^{}]*)\}\s*\{([^{}]*)\}"
)


@dataclass(frozen=True, slots=True)
class Assembled:
    """The main file's name, and the whole text with its own commands expanded and its comments kept."""

    main: str
    text: str


def assembled(files: Mapping[str, str]) -> Assembled:
    """The paper assembled from the files; Unfit if there is none, or too much text."""
    main = _main(files)
    return Assembled(main, in_plain_words("".join(_Expansion(files).expanded(main, ()))))


def file_named(files: Mapping[str, str], named: str, base: str, endings: tuple[str, ...]) -> str:
    """The file that a name refers to, from a folder or from the top; empty if there is none."""
    named = named.strip().strip('"').replace("\\", "/")
    for folder in (base, ""):
        path = posixpath.normpath(posixpath.join(folder, named))
        for name in (path, *(path + ending for ending in endings)):
            if name in files:
                return name
    return ""


def _main(files: Mapping[str, str]) -> str:
    """The main file: as arXiv names it, or the one that begins a document and is not included by any other."""
    if hinted := _hinted(files):
        return hinted
    visible = {
        name: masked(text) for name, text in files.items() if name.endswith((".tex", ".ltx", ".latex"))
    }
    includes = {name: list(_targets(files, name, text)) for name, text in visible.items()}
    included = {target for name, targets in includes.items() for target in targets if target != name}
    whole = [name for name, text in visible.items() if _CLASS.search(text) and _BEGIN.search(text)]
    candidates = [name for name in whole if name not in included] or whole
    if not candidates:
        candidates = [name for name in visible if name not in included] or list(visible)
    if not candidates:
        raise Unfit(RefusalStage.ASSEMBLE, "It has no main file: no LaTeX file begins a document.")
    # arXiv asks for a list of references named like the main file.
    return max(
        candidates,
        key=lambda name: (
            (name.rpartition(".")[0] or name) + ".bbl" in files,
            len(includes[name]),
            len(visible[name]),
            name,
        ),
    )


def _hinted(files: Mapping[str, str]) -> str:
    try:
        sources = json.loads(files.get(HINTS, "")).get("sources", [])
        named = [one["filename"] for one in sources if one.get("usage") == "toplevel"]
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return ""
    return next((name for name in named if isinstance(name, str) and name in files), "")


def _targets(files: Mapping[str, str], name: str, visible: str) -> Iterator[str]:
    for result in _INCLUDED.finditer(visible):
        if target := _target(files, name, result):
            yield target


def _target(files: Mapping[str, str], name: str, match: re.Match[str]) -> str:
    base = posixpath.dirname(name)
    named = match[1] or match[2] or posixpath.join((match[3] or "").strip(), (match[4] or "").strip())
    return file_named(files, named, base, _TEX)


class _Expansion:
    """One expansion of the files, which ends if the text grows too large."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files, self.length = files, 0

    def expanded(self, name: str, within: tuple[str, ...]) -> Iterator[str]:
        """A file's text piece by piece; a recursive inclusion is left out."""
        text = self.files[name]
        visible, start, end = masked(text), 0, len(text)
        if within:
            # A file that can be compiled alone contributes the text within its document.
            begin, stop = _BEGIN.search(visible), _END.search(visible)
            start, end = begin.end() if begin else 0, stop.start() if stop else end
        for result in _INCLUDED.finditer(visible, start, end):
            yield self._counted(text[start : result.start()])
            target, start = _target(self.files, name, result), result.end()
            if target and target not in (*within, name):
                yield from self.expanded(target, (*within, name))
        # The next text must not fall into a comment at the end of a file's last line.
        yield self._counted(text[start:end].rstrip("\n") + "\n")

    def _counted(self, piece: str) -> str:
        self.length += len(piece) + 1
        if self.length > LONGEST:
            raise Unfit(
                RefusalStage.ASSEMBLE, f"Put together, its text is longer than {LONGEST:,} characters."
            )
        return piece


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
    """The text files of an e-print by name; its format is detected by content. Unfit says why there are none."""
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
    """The ending of an e-print's name, by its content."""
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
    """The text files of a tar file. Links and devices are skipped; a name that leads outside spoils the whole file."""
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
