"""Papers set in two columns for the tests: a text, a list of references in a usual style, an appendix after it."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF
from PySide6.QtGui import QFont, QFontMetricsF, QPageLayout, QPageSize, QPainter, QPdfWriter

FIRST = re.findall(
    r"\S+", "Alice Bo Chen Dana Émile Farid Greta Hao Ines Jun Karl-Heinz Lena Łukasz Nadia Qing Şule"
)
LAST = re.findall(
    r"\S+", "Adler Castillo Dupont Fang Hoffmann Ito Liu Müller Nguyen O’Neil Petrov Smith-Jones Xu"
)
LAST += ["van den Berg", "de Vries", "García Márquez"]
SUBJECTS = re.findall(r"\S+", "river lake glacier harbour forest meadow canyon island desert estuary delta")
WORDS = re.findall(
    r"\S+",
    "learning representations for deep question-answering without supervision from long documents by contrastive "
    "pretraining and efficient retrieval of structured evidence through hierarchical summarization under uncertainty",
)
VENUES = (
    "In Proceedings of the 38th International Conference on Machine Learning",
    "In Advances in Neural Information Processing Systems",
    "Journal of Water Research",
    "arXiv preprint arXiv:2301.{n:05}",
    "Water Letters. https://doi.org/10.1234/wl.{n:05}",
)
PROSE = (
    "We describe here how the annotators were chosen and what they were told before they began. Each of them was shown "
    "twelve items, and Smith et al. (2021) is the model that we follow. These results are not part of the main text. "
    "As Tanaka and Weber (2019) have shown, this can be done without loss, which is why we did not repeat it. "
)
HEADS = "Deep Rivers and Shallow Lakes", "A. Adler and B. Fang"
LINE, SIZE = 12.0, 9.0


@dataclass(frozen=True)
class Work:
    authors: tuple[tuple[str, str], ...]
    title: str
    venue: str
    year: int

    def entry(self, style: str) -> str:
        full = [f"{first} {last}" for first, last in self.authors]
        initials = [f"{first[0]}. {last}" for first, last in self.authors]
        turned = [f"{last}, {first[0]}." for first, last in self.authors]
        if style == "ieee":
            return f"{_listed(initials, 'and')}, “{self.title},” {self.venue[0].lower()}{self.venue[1:]}, {self.year}."
        if style == "acl":
            return f"{_listed(full, 'and')}. {self.year}. {self.title}. {self.venue}, pages 12–24."
        if style == "icml":
            return f"{_listed(turned, 'and')} {self.title}. {self.venue}, pp. 12–24, {self.year}."
        if style == "apa":
            return f"{_listed(turned, '&')} ({self.year}). {self.title}. {self.venue}, 12–24."
        return f"{_listed(full, 'and')}. {self.title}. {self.venue}, {self.year}."


def _listed(names: Sequence[str], word: str) -> str:
    return (
        names[0] if len(names) == 1 else f"{', '.join(names[:-1])}{',' * (len(names) > 2)} {word} {names[-1]}"
    )


def works(count: int) -> list[Work]:
    chance = random.Random(42)
    result = []
    for number in range(count):
        people = tuple((chance.choice(FIRST), chance.choice(LAST)) for _ in range(chance.randint(1, 9)))
        subject = SUBJECTS[number % len(SUBJECTS)].capitalize()
        words = " ".join(chance.sample(WORDS, chance.randint(3, 9)))
        title = f"{subject}{chance.choice(('s:', ' and', '-based'))} {words}{'?' * (number % 9 == 5)}"
        result.append(Work(people, title, VENUES[number % 5].format(n=number + 100), 1990 + number % 35))
    return result


def paper(
    listed: Sequence[Work],
    style: str,
    *,
    mark: str = "",
    hanging: bool = True,
    by_rows: bool = False,
    after: str = "",
) -> bytes:
    """A PDF of the paper. `mark` such as "[{}]" numbers the entries; `by_rows` writes both columns line by line.

    `after` is what follows the list: an appendix under a heading, under a "plain" one, or with a "list" of its own.
    """
    setter = _Setter()
    setter.heading("1 Introduction")
    setter.paragraph(PROSE * 9)
    setter.heading("References")
    gap = 0.0 if hanging or mark else LINE * 0.6
    for number, work in enumerate(listed, start=1):
        label = f"{mark.format(number)} " if mark else ""
        setter.paragraph(label + work.entry(style), 14.0 if hanging else 0.0, gap)
    if after == "plain":
        setter.paragraph("A Details of the annotation")
    else:
        setter.heading("A Details of the annotation")
    setter.paragraph(PROSE * 5)
    for number in range(1, 5):
        setter.paragraph(f"{number}. They were shown the items in an order of their own. {PROSE}", 14.0)
    setter.paragraph(PROSE * 6)
    if after == "list":
        setter.heading("References")
        for number, work in enumerate(works(50)[44:], start=1):
            setter.paragraph((f"{mark.format(number)} " if mark else "") + work.entry(style), 14.0, gap)
    return setter.written(by_rows)


class _Setter:
    """Sets lines into two columns; a line is (words with their places, bold)."""

    def __init__(self) -> None:
        self.lines: list[tuple[list[tuple[float, str]], bool, float]] = []
        font = QFont("DejaVu Serif")
        font.setPixelSize(int(SIZE))
        self.fonts = font, QFont(font)
        self.fonts[1].setBold(True)
        self.metrics = QFontMetricsF(font)
        self.width = 240.0

    def heading(self, words: str) -> None:
        self.lines.append(([(0.0, words)], True, 8.0))

    def paragraph(self, words: str, hang: float = 0.0, gap: float = 0.0) -> None:
        rows = list(self._broken(words.split(), hang))
        for row, words_ in enumerate(rows):
            left = hang if row else 0.0
            spare = self.width - left - sum(map(self.metrics.horizontalAdvance, words_))
            space = spare / (len(words_) - 1) if row < len(rows) - 1 and len(words_) > 1 else 3.0
            places = []
            for word in words_:
                places.append((left, word))
                left += self.metrics.horizontalAdvance(word) + space
            self.lines.append((places, False, gap if row == 0 else 0.0))

    def _broken(self, words: Sequence[str], hang: float) -> Iterator[list[str]]:
        row: list[str] = []
        free = self.width
        for word in words:
            need = self.metrics.horizontalAdvance(word) + 3.0
            if need > free:
                cut = len(word) // 2
                if (
                    word.isalpha()
                    and len(word) > 9
                    and self.metrics.horizontalAdvance(word[:cut]) + 6.0 < free
                ):
                    row.append(f"{word[:cut]}-")
                    word = word[cut:]
                    need = self.metrics.horizontalAdvance(word) + 3.0
                elif (
                    word.startswith("http")
                    and self.metrics.horizontalAdvance("https://doi.org/") + 3.0 < free
                ):
                    row.append("https://doi.org/")
                    word = word.removeprefix("https://doi.org/")
                    need = self.metrics.horizontalAdvance(word) + 3.0
                yield row
                row, free = [], self.width - hang
            row.append(word)
            free -= need
        yield row

    def written(self, by_rows: bool) -> bytes:
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        writer.setResolution(72)
        writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
        writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
        painter = QPainter(writer)
        for number, page in enumerate(self._pages()):
            if number:
                writer.newPage()
            self._draw(
                painter,
                [
                    (45.0, 40.0, HEADS[number % 2], False),
                    (295.0, 815.0, str(number + 1), False),
                ],
            )
            drawn = [line for column in page for line in column]
            self._draw(painter, sorted(drawn, key=lambda one: (one[1], one[0])) if by_rows else drawn)
        painter.end()
        return bytes(buffer.data().data())

    def _pages(self) -> Iterator[list[list[tuple[float, float, str, bool]]]]:
        pages: list[list[list[tuple[float, float, str, bool]]]] = [[[]]]
        top = 70.0
        for words, bold, gap in self.lines:
            top += gap
            if top > 780.0:
                pages[-1].append([]) if len(pages[-1]) == 1 else pages.append([[]])
                top = 70.0
            left = 45.0 + (len(pages[-1]) - 1) * 260.0
            pages[-1][-1] += [(left + at, top, word, bold) for at, word in words]
            top += LINE
        yield from pages

    def _draw(self, painter: QPainter, words: Sequence[tuple[float, float, str, bool]]) -> None:
        for left, top, word, bold in words:
            painter.setFont(self.fonts[bold])
            painter.drawText(QPointF(left, top), word)
