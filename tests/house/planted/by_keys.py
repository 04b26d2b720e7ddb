"""The window opens Label for every protocol that is offered, and those that are planted are labelled by keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from annotator.actions.labelling import label_cases, labels
from annotator.actions.project.file import Project
from annotator.gui.pages.labelling import LabelPage
from annotator.gui.review.verdict_words import face
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window
from annotator.protocols import PROTOCOLS
from tests.projects import pairs_project as pairs

# Key → what is said then of the unit at hand.
KEYS = {
    "planted.stance": {
        "1": "supports",
        "2": "omits",
        "3": "contradicts",
        "-": labels.UNSURE,
        "Ctrl+Z": "contradicts",
    },
    "planted.rating": {"0": "0", "7": "7", "=": "10", "-": labels.UNSURE, "Ctrl+Z": "10"},
}


@contextmanager
def at_work(project: Project, name: str) -> Iterator[Window]:
    """The window with one of the people at work, and the keyboard."""
    made = Window(pairs.work_as(project, name), "Items")
    made.show()
    made.activateWindow()
    while QApplication.activeWindow() is not made:
        QApplication.processEvents()
    yield made
    made.close()


def labelled_by_keys(project: Project, folder: Path) -> None:
    make_application()
    window = Window(Project.open(project.path))
    window.show()
    window.activateWindow()
    QTest.qWaitForWindowActive(window)
    for protocol in label_cases.offered(project):
        response_id = labels.queue(project, protocol)[0].response_id if protocol in KEYS else ""
        page = window.show_page("Label", protocol=protocol, response_id=response_id)
        assert isinstance(page, LabelPage)
        assert page.bench.protocol == protocol
        called, tabs = PROTOCOLS[protocol].presentation, page.tabs.tabs
        assert tabs.tabText(tabs.currentIndex()) == called.tab
        assert protocol not in KEYS or page.criteria.title.text() == called.title
        unit_id = page.bench.unit_id
        for key, value in KEYS.get(protocol, {}).items():
            page.flow.touched()
            page.bench.move_to(unit_id)
            page.criteria.take_focus()
            pressed = QKeySequence(key)[0]
            QTest.keyClick(QApplication.focusWidget(), pressed.key(), pressed.keyboardModifiers())
            assert page.bench.said(unit_id) == value, f"{protocol}: {key}"
            assert page.criteria.rows[unit_id].chip.words() == face(value, protocol).words
    window.close()
