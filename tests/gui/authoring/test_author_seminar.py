"""Inspirations and tasks of a seminar by keyboard: drafted by the baseline, mended, tied, merged and split."""

import pytest

from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.gui.forms.unit_editor import AnchorChips
from annotator.gui.widgets.basics import PlainLabel
from tests.projects.authoring_project import authoring_project, begin, mine
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle

OPEN = "The blind zone around the epicentre is still an unsolved problem for every network."
NEW = "We propose a new framework that listens to the motion sensors of phones near the fault."


@pytest.fixture
def project(tmp_path) -> Project:
    project = authoring_project(tmp_path)
    talk = tmp_path / "talk.txt"
    talk.write_text(f"Ann: Good morning to all of you here.\n\nBen: {OPEN}\n\nAnn: {NEW}\n", "utf-8")
    second = items.ids(project)[1]
    items.add_source(project, second, talk)
    return project


@pytest.fixture
def open_kind(project, page_over):
    return lambda kind: page_over(project, "Author", item_id=items.ids(project)[1], kind=kind.value)


def units(project: Project, kind: Kind):
    return mine(project, kind, 1).document.units


@pytest.mark.usefixtures("real_children")
def test_inspirations_are_drafted_offline_and_mended_by_keys(open_kind, project, qtbot):
    page = open_kind(Kind.INSPIRATIONS)
    press("F8")
    panel = page.side.draft
    assert panel.asking.judge.currentText() == "baseline"
    with qtbot.waitSignal(panel.asking.came, timeout=20_000):
        press("Ctrl+Shift+D")
    assert [card.unit.text for card in panel.cards] == [OPEN, NEW]
    press("Ctrl+T", 2)
    first, second = units(project, Kind.INSPIRATIONS)
    assert (first.type, second.type) == ("limitation", "methodology")
    page.sheet.form.go(second.id)
    press("Alt+3")
    current = page.sheet.form.current
    current.fields["qualities"].enter()
    press("4")
    press("2")
    (_, second) = units(project, Kind.INSPIRATIONS)
    assert (second.type, second.qualities) == ("transdisciplinary", ("novelty", "verifiability"))
    rules = {finding.rule for finding in page.sheet._remarks()}
    assert "traits" in rules


def test_units_are_merged_and_split_by_keys(open_kind, project):
    begin(
        project,
        Kind.INSPIRATIONS,
        Inspirations(units=(Inspiration(text="😀 One."), Inspiration(text="Two."))),
        1,
    )
    page = open_kind(Kind.INSPIRATIONS)
    page.sheet.form.go(units(project, Kind.INSPIRATIONS)[1].id)
    press("Ctrl+L")
    (unit,) = units(project, Kind.INSPIRATIONS)
    assert unit.text == "😀 One. Two."
    press("Ctrl+Home")
    press("Right", 6)
    press("Ctrl+Shift+L")
    assert [one.text for one in units(project, Kind.INSPIRATIONS)] == ["😀 One.", "Two."]
    type_words("And ")
    press("Ctrl+Z")


def test_tabs_are_those_of_the_items_role(page_over, tmp_path):
    made = samples.create_small(tmp_path / "s.goldsmith", samples.SEMINAR)
    page = page_over(made, "Author", item_id=items.ids(made)[0])

    assert [kind for n, kind in enumerate(WRITTEN) if page.tabs.isTabVisible(n)] == [
        Kind.INSPIRATIONS, Kind.TASKS,
    ]  # fmt: skip
    page.step(1)
    # Of what is written for a task, what this project uses.
    assert [kind for n, kind in enumerate(WRITTEN) if page.tabs.isTabVisible(n)] == [Kind.CHECKLIST]
    settle(page)


def test_inspirations_stand_beside_their_task_which_leads_back_to_its_seminar_and_time(page_over, tmp_path):
    made = samples.create_small(tmp_path / "s.goldsmith", samples.SEMINAR)
    seminar, task, *_ = items.ids(made)
    page = page_over(made, "Author", item_id=task)
    pane = page.source
    (transcript,) = items.sources(made, seminar)
    assert [pane.tabs.tabText(place) for place in range(2)] == [transcript.title, "Question"]
    assert pane.leads.isVisible()
    (chips,) = pane.leads.findChildren(AnchorChips)
    chip = chips.chips[0].button
    assert "the audit is planned from the cost of listening" in chip.toolTip()
    assert chip.text().endswith("16:48")
    chip.click()
    (mark,) = pane.text.marks("evidence")
    assert (
        pane.text.text()[mark.start : mark.end]
        == "The new part is that the audit is planned from the cost of listening"
    )
    # Of the seminar nothing is checked when something is written for the task.
    assert page._sources() == []
    page.header.seminar.click()
    assert (page.item.id, page.sheet.kind) == (seminar, Kind.TASKS)
    assert page.sheet.form.current.unit_id == items.read(made, task).made_from
    assert not page.header.seminar.isVisible()
    first, second = page.sheet.form.editors[:2]
    page.sheet.form.go(second.unit_id)
    words = [label.text() for label in pane.leads.findChildren(PlainLabel)]
    assert words[0] == "1 inspiration of this task"
    assert words[1].startswith("A stratified audit cuts the season")
    page.sheet.form.go(first.unit_id)
    assert any(label.text().startswith("A detector of") for label in pane.leads.findChildren(PlainLabel))
    settle(page)
