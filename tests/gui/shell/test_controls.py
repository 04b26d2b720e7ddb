"""At most twelve controls in view on every tab; what is needed once a study stands behind a fold or “More”."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QAbstractScrollArea, QPlainTextEdit, QWidget

from tests.gui.shell.test_fits import LAPTOP, controls
from tests.projects.small_projects import small_sample
from tests.windows.using import in_view, settle

MOST = 12
# What opens another form on the tab.
OPENS = {"Judges Judges": ("new_judge", "new_vote"), "Validate Sets": ("new_set", "labels_in")}
# The tabs that show what a benchmark writes, labels and counts; the others are the same whatever a project uses.
OF_A_BENCHMARK = {
    "Seminars", "Extracts", "Tasks", "Write", "Label", "Rank tasks", "Rounds", "Replies", "Compare", "Answer",
    "Disagreements", "Reviews", "Results",
}  # fmt: skip


def counted(page: QWidget) -> set[object]:
    """What a person can use on a page by keyboard or mouse, scrolled out of view or not.

    Tabs are one control, as a list that drops down is. What every row has counts once. The window's own navigation and
    the tabs of a place, rows and lists of rows, texts to be read and dividers between parts are no controls.
    """
    found: set[object] = set()
    for widget in controls(list(in_view(page))):
        text = isinstance(widget, QPlainTextEdit) and not widget.isReadOnly()
        if (
            widget.isEnabled()
            and widget.focusPolicy().value
            and (text or not isinstance(widget, QAbstractScrollArea))
        ):
            found.add(in_row(widget, page) or widget)
    return found


def in_row(widget: QWidget, page: QWidget) -> tuple[str, int] | None:
    """The kind of row that a control stands in, with its place there; None outside of rows."""
    row = widget.parentWidget()
    while row is not None and row is not page:
        alike = [each for each in row.parent().children() if type(each) is type(row)]
        if type(row) is not QWidget and len(alike) > 1:
            return type(row).__name__, controls(list(in_view(row))).index(widget)
        row = row.parentWidget()
    return None


def tabs(window, *, every: bool) -> Iterator[str]:
    """The tabs of every place, or those of a benchmark, one after the other in view, and what opens on them."""
    for place, tab in [
        (place, tab) for place, tab in window.offered() if every or tab.words in OF_A_BENCHMARK
    ]:
        window.show_part(tab.page, tab.part)
        settle(window.page)
        yield (name := f"{place.name} {tab.words}")
        for act in OPENS.get(name, ()):
            window.page.press(act)
            settle(window.page)
            yield f"{name}, {act}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "related-work", "seminar"])
def test_no_tab_has_more_than_twelve_controls(name, request, tmp_path, window_over):
    window = window_over(small_sample(tmp_path, name) if name else request.getfixturevalue("whole_sample"))
    window.resize(*LAPTOP)
    many = {tab: len(counted(window.page)) for tab in tabs(window, every=not name)}
    assert {tab: number for tab, number in many.items() if number > MOST} == {}
