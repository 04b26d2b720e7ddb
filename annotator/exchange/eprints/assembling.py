"""An e-print unpacked in memory: its main file with the included ones inserted, and its bibliographies' entries."""

import gzip
import io
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from pathlib import PurePosixPath

from annotator.domain.common import storable
from annotator.domain.material.extract import CitedEntry, RefusalStage
from annotator.domain.texts.identifier import Identifier, work_named
from annotator.exchange.formats.bibliographies import arxiv_mentioned, bibtex, made
from annotator.exchange.texts.latex import closing, in_plain_words, masked, plain_decoder

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
    main, pieces, length = _main(files), list[str](), 0
    for piece in _expanded(files, main):
        pieces.append(piece)
        length += len(piece) + 1
        if length > LONGEST:
            raise Unfit(
                RefusalStage.ASSEMBLE, f"Put together, its text is longer than {LONGEST:,} characters."
            )
    return Assembled(main, in_plain_words("".join(pieces)))


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


def _expanded(files: Mapping[str, str], name: str, within: tuple[str, ...] = ()) -> Iterator[str]:
    """A file's text piece by piece; a recursive inclusion is left out."""
    text = files[name]
    visible, start, end = masked(text), 0, len(text)
    if within:
        # A file that can be compiled alone contributes the text within its document.
        begin, stop = _BEGIN.search(visible), _END.search(visible)
        start, end = begin.end() if begin else 0, stop.start() if stop else end
    for result in _INCLUDED.finditer(visible, start, end):
        yield text[start : result.start()]
        target, start = _target(files, name, result), result.end()
        if target and target not in (*within, name):
            yield from _expanded(files, target, (*within, name))
    # The next text must not fall into a comment at the end of a file's last line.
    yield text[start:end].rstrip("\n") + "\n"


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


ON_ARXIV = "http://arxiv.org/abs/{}"
_NAMED = re.compile(r"\\bibliography\s*\{([^{}]*)\}|\\addbibresource\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_BIB_ENTRY = re.compile(r"(?<![\w.])@(\w+)\s*[{(]\s*([^\s,{}()]*)")
_ITEM = re.compile(r"\\bibitem\b")
_END_OF_LIST = re.compile(r"\\end\s*\{thebibliography\}")
_BIBLATEX = re.compile(r"\\entry\{([^{}]*)\}(.{0,20000}?)\\endentry", re.DOTALL)
_FIELD, _VERBATIM = (
    r"\\field\{{{}\}}\{{",
    re.compile(r"\\verb\{(\w+)\}\s*\\verb\s+(.*?)\s*\\endverb", re.DOTALL),
)
_GIVEN, _FAMILY = re.compile(r"\bgiven=\{"), re.compile(r"\bfamily=\{")
_QUOTED = re.compile(r"``(.+?)[,.]?''|“(.+?)[,.]?”|(?<!\w)\"(.+?)[,.]?\"", re.DOTALL)
_EMPHASIZED = re.compile(r"\\(?:emph|textit)\s*\{|\{\\(?:em|it)\b")
_BLOCK = re.compile(r"\\newblock\b")
# No author writes a longer entry, label or field; an unclosed one ends there.
_LONGEST_ENTRY, _MOST_ENTRIES = 5_000, 5_000
_YEAR = re.compile(r"(?<![\d./:])(1[89]\d\d|20\d\d)(?![\d/])")
_DOI = re.compile(r"10\.\d{4,9}/[^\s{}]+")
_ADDRESS = re.compile(r"\\(?:url|href)\s*\{([^{}]*)\}|(https?://[^\s{}]+)")


def entries(keys: Sequence[str], files: Mapping[str, str], paper: Assembled) -> dict[str, CitedEntry]:
    """The entry of each key: from BibTeX, else from a typeset bibliography, else from the paper itself.

    A key without any entry gets an empty one.
    """
    cited = {key.lower(): key for key in keys}
    result: dict[str, CitedEntry] = {}
    texts = chain(
        ((text, _of_bibtex) for text in _bibs(files, paper)),
        ((text, _of_list) for text in _set_lists(files, paper)),
        ((masked(text), _of_list) for text in (paper.text,)),
    )
    for text, entries_of in texts:
        if len(result) == len(cited):
            break
        for entry in entries_of(text, cited):
            key = cited.get(entry.key.lower())
            if key and key not in result and (entry.title or entry.link or entry.doi or entry.url):
                result[key] = replace(entry, key=key)
    return {key: result.get(key, CitedEntry(key)) for key in keys}


def _bibs(files: Mapping[str, str], paper: Assembled) -> Iterator[str]:
    base = posixpath.dirname(paper.main)
    names = [
        name for result in _NAMED.finditer(masked(paper.text)) for name in (result[1] or result[2]).split(",")
    ]
    named = [name for one in names if (name := file_named(files, one, base, (".bib",))).endswith(".bib")]
    return (files[name] for name in dict.fromkeys(named or (name for name in files if name.endswith(".bib"))))


def _set_lists(files: Mapping[str, str], paper: Assembled) -> Iterator[str]:
    own = paper.main.rpartition(".")[0] + ".bbl"
    return (
        files[name] for name in sorted(files, key=lambda name: (name != own, name)) if name.endswith(".bbl")
    )


def _of_bibtex(text: str, cited: Collection[str]) -> Iterator[CitedEntry]:
    """The wanted entries of a file, which may list a whole field; the rest is not parsed."""
    starts = list(_BIB_ENTRY.finditer(text))
    blocks = [
        text[one.start() : after.start() if after else len(text)]
        for one, after in zip_longest(starts, starts[1:])
        if one[1].lower() == "string" or one[2].lower() in cited
    ]
    for entry in bibtex("\n".join(blocks)) if blocks else ():
        if entry.reference is not None:
            reference = entry.reference
            identifiers = [named for words in entry.named if (named := work_named(words))]
            yield _entry(entry.text, reference.text, identifiers, reference.authors, reference.year)


def _entry(
    key: str, title: str, identifiers: Sequence[Identifier], authors: str, year: int | None
) -> CitedEntry:
    by_scheme = {identifier.scheme: identifier.value for identifier in reversed(identifiers)}
    link = ON_ARXIV.format(by_scheme["arxiv"]) if "arxiv" in by_scheme else ""
    return CitedEntry(key, title, link, by_scheme.get("doi", ""), by_scheme.get("url", ""), authors, year)


def _of_list(text: str, cited: Collection[str]) -> Iterator[CitedEntry]:
    for result in islice(_BIBLATEX.finditer(text), _MOST_ENTRIES):
        if result[1].lower() in cited:
            yield _of_biblatex(result[1], result[2])
    begins = [match.end() for match in islice(_ITEM.finditer(text), _MOST_ENTRIES)]
    for begin, after in zip_longest(begins, begins[1:], fillvalue=len(text)):
        key, start = _item_key(text, begin)
        if key.lower() in cited:
            end = _END_OF_LIST.search(text, start, after)
            body = text[start : end.start() if end else after].removesuffix("\\bibitem")
            yield _of_item(key, body[:_LONGEST_ENTRY])


def _item_key(text: str, at: int) -> tuple[str, int]:
    """The key of an entry behind its label, which may hold brackets within braces, and the offset where its words
    begin.
    """
    while at < len(text) and (text[at].isspace() or text[at] == "%"):
        at = (text.find("\n", at) + 1 or len(text)) if text[at] == "%" else at + 1
    if text[at : at + 1] == "[":
        depth = 0
        for result in re.compile(r"\\.|[{}\]]", re.DOTALL).finditer(text, at, at + _LONGEST_ENTRY):
            depth += {"{": 1, "}": -1}.get(result[0], 0)
            if result[0] == "]" and depth <= 0:
                at = result.end()
                break
    key = re.compile(r"[\s%]*\{([^{}]*)\}").match(text, at)
    return (key[1].strip(), key.end()) if key else ("", at)


def _of_item(key: str, body: str) -> CitedEntry:
    """An entry's data from its words: the title is quoted, in the second block or emphasized, the authors are before
    it.
    """
    quoted, blocks = _QUOTED.search(body), _BLOCK.split(body)
    if quoted:
        title, authors = next(filter(None, quoted.groups())), body[: quoted.start()]
    elif len(blocks) > 1:
        title, authors = blocks[1], blocks[0]
    elif emphasized := _EMPHASIZED.search(body):
        title, authors = _braced(body, emphasized.end()), body[: emphasized.start()]
    else:
        title, authors = "", ""
    year = [int(one) for one in _YEAR.findall(body)]
    addresses = [one[0] or one[1] for one in _ADDRESS.findall(body)]
    doi = _DOI.search(body)
    named = [arxiv_mentioned(body), doi[0].rstrip(".,;") if doi else "", *addresses]
    identifiers = [result for one in named if (result := work_named(one))]
    return _entry(
        key,
        _plain(title).rstrip(".,"),
        identifiers,
        _plain(authors).rstrip("., "),
        year[-1] if year else None,
    )


def _of_biblatex(key: str, body: str) -> CitedEntry:
    verbatim = {result[1]: result[2] for result in _VERBATIM.finditer(body)}
    fields = {name: _field(body, name) for name in ("title", "year", "eprinttype", "journaltitle")}
    names = body.partition("\\name{author}")[2].partition("\\name{")[0]
    people = [
        " ".join((_braced(names, given.end()) if given else "", _braced(names, family.end()))).strip()
        for family in _FAMILY.finditer(names)
        if (given := _GIVEN.search(names, family.end(), family.end() + 200)) or True
    ]
    mentioned = arxiv_mentioned(fields["journaltitle"])
    identifiers = [
        work_named(one)
        for one in (verbatim.get("eprint", ""), mentioned, verbatim.get("doi", ""), verbatim.get("url", ""))
    ]
    reference = made(_plain(fields["title"]), "", _plain(", ".join(people)), fields["year"])
    return _entry(
        key,
        reference.text,
        [identifier for identifier in identifiers if identifier],
        reference.authors,
        reference.year,
    )


def _field(body: str, name: str) -> str:
    result = re.search(_FIELD.format(name), body)
    return _braced(body, result.end()) if result else ""


def _braced(text: str, start: int) -> str:
    """The text in the braces that were opened just before `start`."""
    return text[start : closing(text, start, _LONGEST_ENTRY, depth=1) or start + _LONGEST_ENTRY]


def _plain(latex: str) -> str:
    return " ".join(plain_decoder().latex_to_text(latex, tolerant_parsing=True).split())
