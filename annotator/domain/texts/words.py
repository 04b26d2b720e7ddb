"""Words in any script: counted by Unicode's rules, compared by stem or by pairs of characters."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

# Patterns are compiled on first use, and then cached by `re`. Word_Break of ASCII (UAX #29, WB5–WB13b): letters,
# digits and underscores join; ' . : join two letters, ' . , ; two digits.
_ASCII_WORD = r"[A-Za-z0-9_]+(?:(?:(?<=[A-Za-z])['.:](?=[A-Za-z])|(?<=[0-9])['.,;](?=[0-9]))[A-Za-z0-9_]+)*"
# Thai, Lao, Burmese and Khmer, Han, kana and hangul: written without spaces, or with particles joined to words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
)
_UNSPACED += "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# Two formats that need no segmentation: a word of Latin, Greek or Cyrillic letters with punctuation around it; and
# Han characters and hiragana, which stand alone, with runs of katakana, which are one word each, and their
# punctuation.
_LETTERS = (
    "[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0388-\u038a\u038e-\u03a1\u03a3-\u03f5\u0400-\u0481"
    "\u048a-\u0529]+"
)
_AROUND = '.,;:!?()[]"«»“”…'
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30fe"
_ALONE = "\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff"
_EASTERN_WORD = f"[{_KATAKANA}]+|[{_ALONE}]"
_EASTERN = f"[{_KATAKANA}{_ALONE}\u3001\u3002\u300a-\u3011，！？；：（）]+"
# Not str.split: the narrow no-break space of "10 000" joins digits in UAX #29.
_SPACE = re.compile(r"[ \t-\r]+")
_RUN = f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+"
_HAS_UNSPACED = f"[{_UNSPACED}]"
_LATIN = "[A-Za-z\u00c0-\u024f]"
STEM = 6
DENSITY = 3
_COMMON = """
    a about above across after against all also among an and any are as at be because been before being
    between both but by can could do does during each either etc for from further had has have how if in
    including into is it its itself like may might more most must neither no nor not of on only or other our out over
    own per rather same shall should since so some such than that the their them then there these they this
    those through to under until up upon use used uses using via was we well were what when where whether which
    while who whom whose why will with within without would you your
"""
COMMON = frozenset(_COMMON.split())


def word_count(text: str) -> int:
    """The number of words: the segments of UAX #29 that hold a letter or a digit.

    A Han character counts as one. Thai, Lao, Burmese and Khmer would need a dictionary: their counts are too high.
    """
    return sum(_chunk_count(chunk) for chunk in _SPACE.split(text))


@lru_cache(maxsize=8192)
def _chunk_count(chunk: str) -> int:
    """The words of a text without white space, which in UAX #29 always separates words."""
    if chunk.isascii():
        return sum(word.strip("_") != "" for word in re.findall(_ASCII_WORD, chunk))
    if re.fullmatch(_LETTERS, chunk.strip(_AROUND)):
        return 1
    if re.fullmatch(_EASTERN, chunk):
        return len(re.findall(_EASTERN_WORD, chunk))
    from uniseg.wordbreak import words

    return sum(any(character.isalnum() for character in word) for word in words(chunk))


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """The terms of a text, for comparing: stems of its uncommon words, pairs of characters in unspaced scripts.

    A stem is a word without a final s, cut to six letters: explains, explained and explaining are one.
    """
    return frozenset(term_counts(text))


def term_counts(text: str) -> Counter[str]:
    """The frequency of each of a text's terms, in the order of their first occurrence."""
    return Counter(term for run in re.findall(_RUN, text.casefold()) for term in _run_terms(run))


def _run_terms(run: str) -> list[str]:
    if not run.isascii() and re.match(_HAS_UNSPACED, run):
        return [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    if run in COMMON or (len(run) == 1 and not run.isdigit()):
        return []
    if run.isdigit():
        return [run]
    return [(run[:-1] if len(run) > 3 and run[-1] == "s" != run[-2] else run)[:STEM]]


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """The Jaccard index of two sets of terms; 0 if both are empty."""
    return len(a & b) / len(a | b) if a or b else 0.0


def unspaced(text: str) -> bool:
    """Whether most of the text is in a script written without spaces."""
    return not text.isascii() and _share(text, _HAS_UNSPACED) > 0.5


def latin(text: str) -> bool:
    """Whether most of the text is in Latin script; false if it has no letters."""
    return bool(re.search(_LATIN, text)) and (text.isascii() or _share(text, _LATIN) > 0.5)


def _share(text: str, script: str) -> float:
    """A script's share of the text, in which a letter of an unspaced script counts as much as three others."""
    dense = len(re.findall(_HAS_UNSPACED, text))
    whole = sum(character.isalpha() for character in text) + (DENSITY - 1) * dense
    own = len(re.findall(script, text)) * (DENSITY if script == _HAS_UNSPACED else 1)
    return own / whole if whole else 0.0


# Copies are searched by so many words in a row, and a text of fewer than the second number is not searched for.
SHINGLE, SHORTEST = 13, 6
_PLAIN = f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+"


def plain_words(text: str) -> list[str]:
    """The words of a text without case, punctuation and layout; each character of an unspaced script is one."""
    return re.findall(_PLAIN, unicodedata.normalize("NFKC", text).casefold())


class CopyFinder:
    """Copies of some texts in others: the whole, or 13 words of them in a row."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [plain_words(text) for text in texts]
        self._heads = defaultdict[str, list[tuple[int, int, list[str]]]](list)
        for number, own in enumerate(self._words):
            for start in range(self.shingles(number)):
                head = " ".join(own[start : start + SHORTEST])
                self._heads[head].append((number, start, own[start : start + SHINGLE]))

    def shingles(self, number: int) -> int:
        """The number of stretches of words by which a text is searched for; 0 if it is too short."""
        length = len(self._words[number])
        return 0 if length < SHORTEST else max(1, length - SHINGLE + 1)

    def look(self, text: str) -> Iterator[tuple[int, int, bool]]:
        """For each stretch in the text: the number of the text it is from, its offset there, and whether all of that
        is here.
        """
        words = plain_words(text)
        for at in range(len(words) - SHORTEST + 1):
            for number, start, sought in self._heads.get(" ".join(words[at : at + SHORTEST]), ()):
                if words[at : at + len(sought)] == sought:
                    whole = self._words[number]
                    yield number, start, not start and words[at : at + len(whole)] == whole
