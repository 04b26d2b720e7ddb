"""Spelling of what is written for an item: Hunspell dictionaries of its language, and words that are right here."""

import gc
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from annotator import files, places
from annotator.actions.authoring import settings
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal
from annotator.domain.experts.assignment import Stage

# Languages written without spaces between words, or for which there is no dictionary here.
UNCHECKED = frozenset(("bo", "ja", "km", "ko", "lo", "my", "th", "yue", "zh"))
SYSTEM = Path("/usr/share/hunspell"), Path("/Library/Spelling")
OWN = "words.txt"
# For a language without a region; English is right as in America and as in Britain.
MOST_DICTIONARIES, MOST_SUGGESTIONS = 2, 6
# Enough words of a dictionary to know its script.
SAMPLE = 200

_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff\u200c\u200d"
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}]|['’](?=[^\W\d_]))*")
_POSSESSIVE = re.compile(r"['’]s?$")
# Addresses, numbers, names of files and of code, abbreviations such as “e.g.”.
_NO_WORDS = re.compile(r"[\d_/\\@#]|\w[.:]\w")
# Bounded to the length of a quotation: otherwise every opening mark would search the rest of the text.
_QUOTED = re.compile(
    r"^[ \t]*>.*$|“[^”\n]{0,2000}”|\"[^\"\n]{0,2000}\"|«[^»\n]{0,2000}»|„[^“”\n]{0,2000}[“”]|「[^」\n]{0,2000}」|"
    r"`[^`\n]{0,2000}`",
    re.MULTILINE,
)
# “pre-”, “anti-”, “multi-” before a hyphen.
PREFIX = 5
_NO_DATA: dict[str, list[str]] = {}
_NO_SPELLINGS: list[str] = []


def words(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the words to look up: not in quotations, nor addresses, numbers, names in capitals."""
    text = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    for chunk in re.finditer(r"\S+", text):
        if not _NO_WORDS.search(chunk[0]):
            for word in _WORD.finditer(text, *chunk.span()):
                start, end = word.span()
                prefix = end - start <= PREFIX and text[end : end + 1] == "-"
                if end - start > 1 and word[0][1:] == word[0][1:].lower() and not prefix:
                    yield start, end


@dataclass
class Spelling:
    """The words that are right in a language: in its dictionaries, the item's material, or the person's own words."""

    language: str
    dictionaries: tuple[Any, ...] = ()
    known: frozenset[str] = frozenset()
    own: set[str] = field(default_factory=set)
    trouble: str = ""
    """Why nothing is looked up, in words; empty if it is, or if the language is not checked."""
    _looked_up: dict[str, bool] = field(default_factory=dict)

    def mistakes(self, text: str) -> list[tuple[int, int]]:
        """The spans of the words that are known nowhere."""
        return (
            [span for span in words(text) if not self.right(text[slice(*span)])] if self.dictionaries else []
        )

    def right(self, word: str) -> bool:
        result = self._looked_up.get(word)
        if result is None:
            plain = unicodedata.normalize("NFC", word)
            result = not _scripts((plain,)) <= self._script or any(
                dictionary.lookup(plain) for dictionary in self.dictionaries
            )
            self._looked_up[word] = result
        return result or not {word.casefold(), _POSSESSIVE.sub("", word.casefold())}.isdisjoint(
            self.known | self.own if self.own else self.known
        )

    @property
    def _script(self) -> frozenset[str]:
        return frozenset[str]().union(*(_script_of(dictionary) for dictionary in self.dictionaries))

    def suggestions(self, word: str) -> list[str]:
        """Suggestions for a word, the likeliest first; may take a second."""
        ranked = [
            list(islice(dictionary.suggest(word), MOST_SUGGESTIONS)) for dictionary in self.dictionaries
        ]
        turns = chain.from_iterable(zip_longest(*ranked))
        return list(dict.fromkeys(filter(None, turns)))[:MOST_SUGGESTIONS]

    def add(self, word: str) -> None:
        """Add a word to the person's own, for every project."""
        place = _folder() / OWN
        self.own |= {*_lines(place), word.casefold()}
        place.parent.mkdir(parents=True, exist_ok=True)
        files.save(place, "".join(f"{one}\n" for one in sorted(self.own)).encode())


def of_item(project: Project, item_id: str, stage: Stage) -> Spelling:
    """The spelling for what is written for an item, with the words of its question, sources and guideline.

    No one's document is read: a name in it would reveal what another has written.
    """
    item = items.read(project, item_id)
    paths = dictionaries(item.language)
    if not paths:
        unchecked = item.language.lower().split("-")[0] in UNCHECKED
        return Spelling(
            item.language,
            trouble=""
            if unchecked
            else f"There is no spelling dictionary for the item's language ({item.language}).",
        )
    try:
        read = tuple(_read(str(path)) for path in paths)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise Refusal(
            f"The spelling dictionary {' or '.join(path.name for path in paths)} cannot be read: {error}.",
            "Nothing was lost. Remove it, or press the key of spelling to write without.",
        ) from error
    material = [item.question, item.subject, *(source.text for source in items.sources(project, item_id))]
    known = {
        _POSSESSIVE.sub("", word.casefold())
        for text in (*material, settings.text_in_force(project, stage))
        for word in _WORD.findall(text)
    }
    of_field = places.resources() / "spelling" / f"{item.language.lower().split('-')[0]}.txt"
    return Spelling(item.language, read, frozenset(known) | _lines(of_field), _lines(_folder() / OWN))


def dictionaries(language: str) -> list[Path]:
    """The dictionaries of a language, as paths without extension: only the region's own if it has one.

    A person's own come first, then those shipped, then the system's.
    """
    tag = language.lower()
    paths: dict[str, Path] = {}
    for folder in (_folder(), places.resources() / "spelling", *SYSTEM):
        for path in sorted(folder.glob("*.aff")):
            if path.with_suffix(".dic").is_file():
                paths.setdefault(path.stem.replace("_", "-").lower(), path.with_suffix(""))
    if tag in paths:
        return [paths[tag]]
    of_language = [path for name, path in paths.items() if name.split("-")[0] == tag.split("-")[0]]
    return of_language[:MOST_DICTIONARIES]


def _folder() -> Path:
    return places.user_data() / "spelling"


def _lines(place: Path) -> set[str]:
    return set(place.read_text("utf-8").split("\n")) - {""} if place.is_file() else set()


@lru_cache(maxsize=2 * MOST_DICTIONARIES)
def _read(path: str) -> Any:
    from spylls.hunspell import Dictionary, readers
    from spylls.hunspell.readers.file_reader import FileReader

    class Reader(FileReader):  # type: ignore[misc]
        """Leaves no file open."""

        def _open(self, path: str, encoding: str) -> StringIO:
            return StringIO(Path(path).read_text(encoding, "surrogateescape"))

    aff, context = readers.read_aff(Reader(f"{path}.aff"))
    words = readers.read_dic(Reader(f"{path}.dic", context.encoding), aff=aff, context=context)
    # Tens of thousands of words have the same few sets of flags: each is held once.
    shared: dict[frozenset[str], Any] = {}
    for word in words.words:
        word.flags = shared.setdefault(frozenset(word.flags), word.flags)
        if not word.data:
            word.data, word.alt_spellings = _NO_DATA, _NO_SPELLINGS
    # They stay alive to the end: do not let the garbage collector traverse them while someone types.
    gc.freeze()
    return Dictionary(aff, words)


@lru_cache(maxsize=2 * MOST_DICTIONARIES)
def _script_of(dictionary: Any) -> frozenset[str]:
    return _scripts(word.stem for word in dictionary.dic.words[:SAMPLE])


def _scripts(some: Iterable[str]) -> frozenset[str]:
    """The scripts of the letters of words, as Unicode names them."""
    return frozenset(
        unicodedata.name(letter, "?").split()[0] for word in some for letter in word if letter.isalpha()
    )
