"""What is published beside a planted protocol shows on Validate and on the command line, and so does its absence."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel

from annotator.actions.project.file import Project
from annotator.actions.studies import result_views
from annotator.actions.validation.validation_views import VIEWS
from annotator.cli import run_command
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window

STANCE, RATING = "planted.stance", "planted.rating"
AIM = (
    "Published aim: Cohen's κ 0.50 of people with one another (Table 9); Accuracy 0.75 of an early judge with people "
    "(Table 9)."
)
NONE = "No published aim: no agreement with people is printed for “Planted mean” (Nowhere)."


def shown(window: Any) -> Iterator[str]:
    for widget in (*window.findChildren(QLabel), *window.findChildren(QAbstractButton)):
        yield widget.text()
    for combo in window.findChildren(QComboBox):
        yield from (combo.itemText(place) for place in range(combo.count()))


def said(words: list[str], code: int = 0) -> str:
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        result = run_command(words)
    assert result == code, f"{words}: {told.getvalue()}"
    return " ".join(told.getvalue().split())


def of_view(project: Project, view: str, **chosen: str) -> dict[str, list[list[str]]]:
    sheets = result_views.show(project, view, chosen, among=VIEWS).sheets
    return {sheet.title: [[cell.words for cell in line.cells] for line in sheet.lines] for sheet in sheets}


def on_page(project: Project, view: str, **chosen: str) -> str:
    """What the Validate page says of a view, and its tables' names."""
    make_application()
    window = Window(Project.open(project.path))
    window.show()
    window.show_page("Validate", part="Figures", view=view, choose=chosen)
    window.session.wait()
    viewer = window.page.figures.viewer
    while viewer.body.currentWidget() is not viewer.view or viewer.session._tasks_behind:
        make_application().processEvents()
    tabs = viewer.view.tabs
    viewer.view.more.setChecked(True)
    words = [*shown(window), *(tabs.tabText(place) for place in range(tabs.count()))]
    window.close()
    return "\n".join(words)


def measured_by_aims(project: Project, folder: Path) -> None:
    file = str(project.path)
    assert "Published aim" not in of_view(project, "judges", protocol=STANCE)
    assert AIM in on_page(project, "judges", protocol=STANCE)
    assert AIM in on_page(project, "answer", protocol=STANCE)
    words = ["validate", file, "--protocol", STANCE]
    assert AIM in json.loads(said([*words, "--json"]))["sheets"][0]["told"]
    assert "an early judge with people" in said(words)


def measured_by_no_aim(project: Project, folder: Path) -> None:
    assert "Published aim:" not in on_page(project, "judges", protocol=RATING)
    for view in ("judges", "answer"):
        assert NONE in on_page(project, view, protocol=RATING)
    assert NONE in said(["validate", str(project.path), "--protocol", RATING])
