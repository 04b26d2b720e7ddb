"""The adjudicator sees letters: no name, alias, id or time of an annotator stands anywhere on the page."""

import re

import pytest

from annotator.actions.adjudication import ruling
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.gui.pages.adjudication import AdjudicatePage
from tests.projects.pairs_project import (
    ADA,
    BEN,
    add_report,
    labels,
    pairs_project,
    person,
    rubric,
    submit,
    work_as,
)
from tests.windows.adjudicating_window import adjudicate
from tests.windows.labelling_keys import press, type_words
from tests.windows.words_shown import all_words

NAMES = {"Ada": "Canary-Adalbert", "Ben": "Canary-Benedicta", "Dan": "Canary-Danielle"}
SYSTEM = "Canary-System-9000"
# The years of the seals and the hours of the day; no criterion holds anything of the kind.
TIME = re.compile(r"\b\d{1,2}:\d{2}\b|\b20\d\d-\d\d-\d\d\b")


@pytest.fixture
def project(tmp_path) -> Project:
    """Rubrics of three people with telling names, and labels of two of them; Cleo adjudicates."""
    made = pairs_project(tmp_path)
    for name, other in NAMES.items():
        people.rename_person(made, person(made, name).id, other)
    called = {other: name for name, other in NAMES.items()}
    ada, ben, dan = called
    submit(made, {ada: rubric(ADA, "a"), ben: rubric(BEN, "b"), dan: rubric(ADA[:3], "d")})
    report = add_report(made, SYSTEM)
    said = {f"a{n}": "yes" for n in range(1, 6)}
    submit(made, {ada: labels(report, said), ben: labels(report, said | {"a2": "no"})})
    return work_as(made, "Cleo")


def leaks(page: AdjudicatePage, project: Project) -> list[str]:
    raters = [each for each in people.people(project) if each.name in NAMES.values()]
    canaries = [*NAMES.values(), SYSTEM, *(each.id for each in raters)]
    aliases = re.compile(rf"\b({'|'.join(re.escape(each.alias) for each in raters)})\b")
    words = all_words(page)
    assert any("Compares synthetic" in word for word in words), "the walk sees nothing"
    return [
        word
        for word in words
        if any(canary in word for canary in canaries) or aliases.search(word) or TIME.search(word)
    ]


def test_no_state_of_the_page_tells_who_is_who(project, window_over, qtbot):
    page = adjudicate(project, window_over, qtbot)
    for line in page.queue.lines:
        page._open(line)
        assert leaks(page, project) == []
        for key in (
            "1", "Alt+1", "Ctrl+J", "2", "Ctrl+M", "Esc", "4", "Esc", "Ctrl+P", "Esc", "F9", "F9", "F4", "F2",
            "F7", "Esc", "F8", "Esc", "Ctrl+Return", "Esc", "Ctrl+U",
        ):  # fmt: skip
            press(key)
            assert leaks(page, project) == []


def test_neither_closing_nor_a_discussion_tells(project, window_over, qtbot):
    page = adjudicate(project, window_over, qtbot)
    press("F7")
    type_words("Which is better?")
    page.side.parts["discussion"].add.click()
    press("Esc")
    while page.bench.unresolved(contested=True):
        press("1" if "A" in page.bench.row.units else "2" if "B" in page.bench.row.units else "5")
        if page.bench.lacks(page.bench.ruling_id):
            press("Alt+2")
    place = page.bench.place
    press("Ctrl+Return")
    page._open(page.queue.line(place))
    assert ruling.versions(project, page.bench.sheet.adjudication_id)
    assert leaks(page, project) == []


def test_the_walk_would_find_a_leak(project, window_over, qtbot):
    page = adjudicate(project, window_over, qtbot)
    page.frame.head.title.setToolTip(f"by {NAMES['Ada']}")
    assert leaks(page, project) == [f"by {NAMES['Ada']}"]
    page.frame.head.title.setToolTip("sealed at 14:02")
    assert leaks(page, project) == ["sealed at 14:02"]
