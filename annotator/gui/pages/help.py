"""The Help page: the shipped texts, one topic at a time."""

import platform
import re
from html import unescape
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QUrl, qVersion
from PySide6.QtGui import QImage, QPainter, QResizeEvent, QTextDocument
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QGridLayout, QKeySequenceEdit, QLabel, QListWidget, QWidget

from annotator import __version__
from annotator.actions.items import materials
from annotator.actions.project import profile
from annotator.gui import keys, theme
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    add_entry,
    horizontal,
    push_button,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.places import resources, user_data

# A picture in a help text: `![What is drawn.](pictures/name.svg)`.
_DRAWING = re.compile(r"!\[([^\]]+)\]\(pictures/([\w-]+)\.svg\)")
# What the renderer writes for a paragraph that is a picture: its description, already escaped.
_PLACE = re.compile(r"<p><em>\[image: ([^\]]*)\]</em></p>")
# Text has wide line spacing, which would leave a picture with a gap of half its own height.
_SHOWN = '<p style="line-height: 100%"><img src="{}:{}" alt="{}"></p>'
_SCHEME = "drawing"
_BESIDE = 48

TOPICS = (
    ("First steps", "first-steps"),
    ("The ten places", "places"),
    ("Installing and removing", "installing"),
    ("Keys", "keys"),
    ("Two experts, one gold", "two-experts"),
    ("How the figures come about", "figures"),
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
    NAME = "Help"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.topics = with_properties(QListWidget(), accessibleName="Help topics")
        theme.scale(self.topics.setFixedWidth, 256)
        wrap_lines(self.topics)
        for title, name in TOPICS:
            add_entry(self.topics, title, name)
        self.text = IllustratedView(resources() / "help" / "pictures")
        self.topics.currentItemChanged.connect(lambda entry: self._show(entry.data(Qt.ItemDataRole.UserRole)))
        vertical(horizontal(self.topics, (self.text, 1)), on=self, margins=(20, 16, 20, 12))
        self.topics.setCurrentRow(0)

    def navigate(self, place: dict[str, Any]) -> None:
        names = [name for _, name in TOPICS]
        if place.get("topic") in names:
            self.topics.setCurrentRow(names.index(place["topic"]))

    def _show(self, name: str) -> None:
        words = (resources() / "help" / f"{name}.md").read_text(encoding="utf-8")
        if name == "about":
            words = words.format(
                version=__version__, python=platform.python_version(), qt=qVersion(), folder=user_data()
            )
        if (made := self.session.ask(materials.html, keys.in_words(words))) is not None:
            self.text.show_with_drawings(made.html, words)


class IllustratedView(ReportView):
    """Shows the drawings of one folder where a text refers to them."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._names: list[str] = []

    def show_with_drawings(self, html: str, words: str) -> None:
        named, self._names = dict(_DRAWING.findall(words)), list[str]()

        def shown(place: re.Match[str]) -> str:
            name = named.get(unescape(place[1]))
            if name is None:
                return place[0]
            self._names.append(name)
            return _SHOWN.format(_SCHEME, name, place[1])

        self.show_html(_PLACE.sub(shown, html))

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return a drawing that the text refers to; anything else is left to the report viewer, which opens nothing."""
        address = QUrl(name)
        known = address.scheme() == _SCHEME and address.path() in self._names
        return self._rendered(address.path()) if known else super().loadResource(kind, name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        document, images = self.document(), QTextDocument.ResourceType.ImageResource
        for name in self._names:
            document.addResource(images.value, QUrl(f"{_SCHEME}:{name}"), self._rendered(name))
        if self._names:
            document.markContentsDirty(0, document.characterCount())

    def _rendered(self, name: str) -> QImage:
        """Render a drawing in the size of the text, as sharp as the screen, and never wider than the page."""
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


WIDEST, FIELD = 720, 190
HINT = "Click a key and press another to change it. Single letters and digits do nothing while you type."


class KeyboardPage(Page):
    """All key bindings by page; a key in use is refused with the name of its act."""

    NAME = "Keys"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.answer = PlainLabel(wrap=True)
        vertical(
            PlainLabel("Keys", "title"),
            PlainLabel(HINT, "hint", wrap=True),
            (PlainArea("Keys", self._table()), 1),
            horizontal((self.answer, 1), push_button("Restore the default keys", self._restore)),
            on=self,
            margins=(20, 16, 20, 12),
        )

    def _table(self) -> QWidget:
        self.fields: dict[str, QKeySequenceEdit] = {}
        content = QWidget()
        # A key is near its act, however wide the window is.
        theme.scale(content.setMaximumWidth, WIDEST)
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 12, 0)
        grid.setColumnStretch(0, 1)
        grid.setHorizontalSpacing(24)
        row, used = 0, profile.kinds(self.session.project)
        for page in (keys.EVERYWHERE, *keys.PAGES):
            bindings = [binding for binding in keys.BINDINGS if binding.page == page]
            if not bindings or keys.OF_KIND.get(page, used[0]) not in used:
                continue
            grid.addWidget(with_properties(QLabel(page), role="subtitle"), row, 0)
            row += 1
            for binding in bindings:
                grid.addWidget(PlainLabel(binding.title, wrap=True), row, 0)
                grid.addWidget(self._field(binding.act, binding.title), row, 1)
                row += 1
        grid.setRowStretch(row, 1)
        return content

    def _field(self, act: str, title: str) -> QKeySequenceEdit:
        field = with_properties(
            QKeySequenceEdit(keys.sequences(act)[0]),
            accessibleName=f"Key for {title}",
            maximumSequenceLength=1,
        )
        theme.scale(field.setFixedWidth, FIELD)
        field.editingFinished.connect(lambda: self._change(act))
        self.fields[act] = field
        return field

    def _change(self, act: str) -> None:
        field = self.fields[act]
        typed = field.keySequence().toString()
        if not typed or typed == keys.sequences(act)[0].toString():
            field.setKeySequence(keys.sequences(act)[0])
            return
        if (taken := keys.rebind(act, typed)) is not None:
            self.answer.setText(f"{keys.written(typed)} already does “{taken.title}”; nothing was changed.")
            field.setKeySequence(keys.sequences(act)[0])
            return
        self.answer.setText(f"Changed to {keys.shown(act)}.")
        self.session.rebound.emit()

    def _restore(self) -> None:
        keys.restore_all()
        for act, field in self.fields.items():
            field.setKeySequence(keys.sequences(act)[0])
        self.answer.setText("All keys are reset to their defaults.")
        self.session.rebound.emit()
