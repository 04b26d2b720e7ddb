"""The Help page: the shipped texts, one topic at a time."""

import platform
import re
from html import unescape
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QUrl, qVersion
from PySide6.QtGui import QImage, QPainter, QResizeEvent, QTextDocument
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from annotator import __version__
from annotator.actions.items import renderings
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.basics import horizontal, vertical, wrap_lines
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.places import resources, user_data

# As it stands in a text: `![What is drawn.](pictures/name.svg)`.
_DRAWING = re.compile(r"!\[([^\]]+)\]\(pictures/([\w-]+)\.svg\)")
# What the renderer writes for a paragraph that is a picture: its words, safe already.
_PLACE = re.compile(r"<p><em>\[image: ([^\]]*)\]</em></p>")
# Lines of letters are set wide; a picture would get an empty half of its own height.
_SHOWN = '<p style="line-height: 100%"><img src="{}:{}" alt="{}"></p>'
_SCHEME = "drawing"
_BESIDE = 48

TOPICS = (
    ("First steps", "first-steps"),
    ("Installing and removing", "installing"),
    ("Keys", "keys"),
    ("The results page", "results"),
    ("Which view makes which table", "tables"),
    ("Related work: from arXiv to the table", "related-work"),
    ("Seminars: from a transcript to ranked tasks", "seminar"),
    ("The coverage score", "coverage"),
    ("What the agreement figures say", "agreement"),
    ("Labelling reports", "labelling"),
    ("Judges", "judges"),
    ("How a judge is validated", "validation"),
    ("Material: reports and cited pages", "material"),
    ("A model's draft", "drafts"),
    ("Working apart: tasks and returned work", "working-apart"),
    ("Files", "files"),
    ("Glossary", "glossary"),
    ("About Goldsmith", "about"),
)


class HelpPage(Page):
    """Topics on the left, their text on the right."""

    NAME = "Help"
    ICON = "info"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.topics = QListWidget()
        self.topics.setAccessibleName("Help topics")
        theme.scale(self.topics.setFixedWidth, 230)
        wrap_lines(self.topics)
        for title, name in TOPICS:
            entry = QListWidgetItem(title)
            entry.setData(Qt.ItemDataRole.UserRole, name)
            self.topics.addItem(entry)
        self.text = IllustratedView(resources() / "help" / "pictures")
        self.topics.currentItemChanged.connect(lambda entry: self._show(entry.data(Qt.ItemDataRole.UserRole)))
        vertical(horizontal(self.topics, (self.text, 1)), on=self, margins=(20, 16, 20, 12))
        self.topics.setCurrentRow(0)

    def arrive(self, place: dict[str, Any]) -> None:
        names = [name for _, name in TOPICS]
        if place.get("topic") in names:
            self.topics.setCurrentRow(names.index(place["topic"]))

    def _show(self, name: str) -> None:
        words = (resources() / "help" / f"{name}.md").read_text(encoding="utf-8")
        if name == "about":
            words = words.format(
                version=__version__, python=platform.python_version(), qt=qVersion(), folder=user_data()
            )
        made = self.desk.ask(renderings.html, keys.in_words(words))
        if made is not None:
            self.text.show_with_drawings(made.html, words)


class IllustratedView(ReportView):
    """Shows the drawings of one folder where a text names them."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._names: list[str] = []

    def show_with_drawings(self, html: str, words: str) -> None:
        """Show a text's HTML, with a drawing wherever its words name one."""
        named, self._names = dict(_DRAWING.findall(words)), list[str]()

        def shown(place: re.Match[str]) -> str:
            name = named.get(unescape(place[1]))
            if name is None:
                return place[0]
            self._names.append(name)
            return _SHOWN.format(_SCHEME, name, place[1])

        self.show_html(_PLACE.sub(shown, html))

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """A drawing that the text names; all else is left to the report viewer, which opens nothing."""
        address = QUrl(name)
        known = address.scheme() == _SCHEME and address.path() in self._names
        return self._drawn(address.path()) if known else super().loadResource(kind, name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        document, images = self.document(), QTextDocument.ResourceType.ImageResource
        for name in self._names:
            document.addResource(images.value, QUrl(f"{_SCHEME}:{name}"), self._drawn(name))
        if self._names:
            document.markContentsDirty(0, document.characterCount())

    def _drawn(self, name: str) -> QImage:
        """As large as the letters beside it, as sharp as the screen, and never wider than the page."""
        renderer = QSvgRenderer(str(self._folder / f"{name}.svg"))
        px, size = theme.current().px, QSizeF(renderer.defaultSize())
        wide = min(px(int(size.width())), self.viewport().width() - px(_BESIDE))
        size *= max(1, wide) / size.width()
        sharp = self.devicePixelRatioF()
        image = QImage((size * sharp).toSize(), QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(sharp)
        image.fill(0)
        painter = QPainter(image)
        renderer.render(painter, QRectF(QPointF(), size))
        painter.end()
        return image
