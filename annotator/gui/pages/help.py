"""The Help page: the shipped texts, one topic at a time."""

import platform
from typing import Any

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from annotator import __version__
from annotator.actions.items import renderings
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import wrap_lines
from annotator.gui.widgets.reading.illustrated import IllustratedView
from annotator.places import resources, user_data

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
        """Open at a topic by its file's name."""
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
