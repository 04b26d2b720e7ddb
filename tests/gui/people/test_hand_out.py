"""Handing work out: the form, its preview, what cannot be met."""

from PySide6.QtCore import Qt

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import board
from annotator.actions.project import people
from annotator.actions.project.people import new_project
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from tests.projects import pairs_project as pairs
from tests.windows.labelling_keys import press


def test_a_project_without_items_says_where_they_come_from(tmp_path, window_over):
    window = window_over(new_project(tmp_path / "empty.goldsmith"))
    page = window.show_page("People", part="Hand out")
    assert page.out.nothing.isVisible()
    page = window.show_page("People", part="Progress")
    assert page.board.nothing.isVisible()


def test_the_preview_follows_the_form(project, show):
    page = show("Hand out")
    assert page.out.preview.summary.text() == "12 pieces of work for 4 people on 4 items"
    page.out.form.stages[Stage.PLAN].setChecked(True)
    page.out.work_out()
    assert page.out.preview.summary.text() == "20 pieces of work for 4 people on 4 items"
    # Three people, four items, two each: eight shares, so two have three items and one has two.
    assert sorted(each.items for each in page.out.preview.load._load if each.items) == [2, 3, 3]


def test_the_form_changes_and_the_preview_follows_after_a_moment(show, qtbot):
    page = show("Hand out")
    press("Space")
    assert page.out.form.stages[Stage.SELECTION].isChecked()
    qtbot.waitUntil(lambda: "20 pieces" in page.out.preview.summary.text())


def test_every_pair_is_counted_in_the_square(show):
    page = show("Hand out")
    pairs_model = page.out.preview.square.pairs
    shown = [pairs_model.headerData(n, Qt.Orientation.Horizontal) for n in range(pairs_model.rowCount())]
    assert shown == ["R2", "R3", "R5"]
    above = [pairs_model.index(a, b).data() for a, b in ((0, 1), (0, 2), (1, 2))]
    # Four items make four pairs, spread over the three there are.
    assert sorted(above) == ["1", "1", "2"]
    assert pairs_model.index(0, 0).data() is None


def test_a_plan_that_cannot_be_met_says_why_and_is_not_assigned(project, show):
    page = show("Hand out")
    page.out.form.annotators._tick_all(Qt.CheckState.Unchecked)
    press("Ctrl+Return")
    assert "Each stage is to be done by 2 people" in page.out.preview.answer.text()
    assert "This plan cannot be met" in page.window().messages.text()
    assert board.board(project) == []


def test_ctrl_enter_assigns_and_undo_takes_it_back(project, show):
    page = show("Hand out")
    press("Ctrl+Return")
    assert "Assigned 12 pieces of work." in page.out.answer.text()
    assert len(board.board(project)) == 12
    assert page.out.preview.summary.text() == "Nothing is left to assign"
    press("Ctrl+Z")
    assert board.board(project) == []
    assert page.out.preview.summary.text() == "12 pieces of work for 4 people on 4 items"


def test_the_adjudicator_of_an_item_is_never_one_of_its_annotators(project, show):
    people.set_roles(project, pairs.person(project, "Ada").id, (Role.ANNOTATOR, Role.ADJUDICATOR))
    show("Hand out")
    press("Ctrl+Return")
    on: dict[tuple[str, bool], set[str]] = {}
    for line in board.board(project):
        on.setdefault((line.item_key, line.stage is Stage.ADJUDICATION), set()).add(line.alias)
    for key in ("1", "2", "3", "4"):
        assert len(on[key, True]) == 1
        assert not on[key, True] & on[key, False]


def test_the_whole_form_makes_the_plan(project, show):
    form = show("Hand out").out.form
    form.stages[Stage.LABELLING].setChecked(True)
    form.overlap._group.button(1).setChecked(True)
    form.has_due.setChecked(True)
    form.share.setValue(5)
    form.after.setValue(12)
    form.seed.setValue(42)
    form.items.pilot.open.setChecked(True)
    form.items.pilot.list.item(0).setCheckState(Qt.CheckState.Checked)
    plan = form.plan()
    assert (plan.stages, plan.overlap, plan.seed) == ((Stage.RUBRIC, Stage.LABELLING), 1, 42)
    assert (plan.repeat_share, plan.repeat_after_days) == (0.05, 12)
    assert plan.pilot_items == (items.ids(project)[0],)
    assert plan.due is not None
    assert plan.due.astimezone().strftime("%H:%M") == "23:59"
    assert plan.adjudicators == (pairs.person(project, "Cleo").id,)


def test_repeats_need_labelling_to_be_handed_out(show):
    form = show("Hand out").out.form
    form.share.setValue(10)
    assert not form.share.isEnabled()
    assert form.plan().repeat_share == 0
    form.stages[Stage.LABELLING].setChecked(True)
    assert form.plan().repeat_share == 0.1


def test_items_are_narrowed_by_type_and_to_those_nobody_has(project, show):
    first, second, *_ = items.ids(project)
    items.change(project, first, question_type="Literature Review")
    items.change(project, second, question_type="Literature Review")
    assignments.assign_one(project, first, pairs.person(project, "Ada").id, Stage.RUBRIC)
    form = show("Hand out").out.form
    form.items.type.setCurrentIndex(form.items.type.findData("Literature Review"))
    assert form.plan().items == (first, second)
    form.items.fresh.setChecked(True)
    assert form.plan().items == (second,)
    assert form.items.count.text() == "1 of 4 items"


def test_where_too_few_others_write_those_who_coordinate_are_ticked_too(project, show):
    for name in ("Ada", "Ben"):
        people.set_roles(project, pairs.person(project, name).id, (Role.ANNOTATOR, Role.COORDINATOR))
    page = show("Hand out")
    assert len(page.out.form.annotators.chosen()) == 3
    assert "cannot be met" not in page.out.preview.answer.text()


def test_a_newcomer_is_ticked_and_whoever_was_unticked_stays_so(project, show):
    page = show("Hand out")
    ada = pairs.person(project, "Ada").id
    line = page.out.form.annotators.list.item(0)
    assert line.data(Qt.ItemDataRole.UserRole) == ada
    line.setCheckState(Qt.CheckState.Unchecked)
    page.desk.do(people.add_person, "Newcomer")
    chosen = page.out.form.annotators.chosen()
    assert ada not in chosen
    assert pairs.person(project, "Newcomer").id in chosen
