"""The page of agreement: figures with their reasons, what each stands on, what lies behind it, and who may look."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from tests.gui.results.conftest import at, go
from tests.projects import pairs_project as pairs
from tests.storage import sql
from tests.templates import once
from tests.windows.words_shown import all_words

ADA = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2), ("Weighs the costs", 3))
BEN = (("Explains how carbon is priced", 3), ("Lists species of moss", 2), ("Weighs the costs", 3))
NAMES = {"Ada": "Dr. Maximiliane-Alexandra von Hohenstein-Württemberg", "Ben": "محمد بن عبد الله الخوارزمي"}


@once
def labelled_pairs(folder) -> Project:
    """Two items: rubrics of both, labels of both where everybody always says yes; Cora works."""
    project = pairs.pairs_project(folder, 2)
    for place in range(2):
        documents = {"Ada": pairs.rubric(ADA, f"a{place}"), "Ben": pairs.rubric(BEN, f"b{place}")}
        pairs.submit(project, documents, place)
        report = pairs.add_report(project, "Alpha", place)
        labels = pairs.labels(report, {f"a{place}{n}": "yes" for n in (1, 2, 3)})
        pairs.submit(project, {"Ada": labels, "Ben": labels}, place)
    for name, longer in NAMES.items():
        people.rename_person(project, pairs.person(project, name).id, longer)
    return pairs.work_as(project, "Cora")


@pytest.fixture
def project(tmp_path) -> Project:
    return labelled_pairs(tmp_path)


@pytest.fixture
def page(project, window_over, qtbot):
    return at(window_over(project, "Agreement").page.viewer, qtbot)


def rows(page):
    return [line.row for line in page.view.model.shown.lines]


def choose(page, field, column=0):
    page.view.table.setCurrentIndex(
        page.view.model.index([row.field for row in rows(page)].index(field), column)
    )


# Of values, and of weights whose near values count as part agreement.
KAPPA = "κ / κ linear"


def cell(page, field, title):
    model = page.view.model
    return model.index([row.field for row in rows(page)].index(field), model.columns.index(title))


def opened(page, qtbot, field):
    choose(page, field)
    page.view.table.activated.emit(page.view.table.currentIndex())
    qtbot.waitUntil(lambda: page.behind.count.text() not in ("", "Reading…"))
    assert page.body.currentWidget() is page.behind


def verdicts(model):
    return [model.index(n, model.columnCount() - 1).data() for n in range(model.rowCount())]


def test_the_table_keeps_qts_contract_and_has_a_row_for_each_field(page, qtmodeltester):
    qtmodeltester.check(page.view.model)
    assert [(row.stage, row.field) for row in rows(page)] == [
        (Stage.RUBRIC, "units"), (Stage.RUBRIC, "weight"), (Stage.LABELLING, "value"),
    ]  # fmt: skip


def test_an_undefined_figure_gives_its_reason_in_its_place(page):
    kappa = cell(page, "value", KAPPA)
    assert kappa.data().startswith("κ –  both raters used one category only")
    assert "both raters used one category only" in kappa.data(Qt.ItemDataRole.ToolTipRole)
    choose(page, "value")
    assert "κ – no figure: both raters used one category only" in page.view.account.toPlainText()
    assert not any("nan" in word.lower() for word in all_words(page) if "κ" in word)


@pytest.mark.usefixtures("small_cases")
def test_the_account_says_formula_interval_versions_and_items(page):
    choose(page, "weight")
    account = page.view.account.toPlainText()
    for said in (
        "percent agreement: share; 95% Wilson score interval, jackknife over 2 items", "Cohen's κ, linear weights",
        "n = 4", "2 frozen agreements", "Guideline version 1", "matcher 2", "Items (2): 1, 2",
    ):  # fmt: skip
        assert said in account


def test_what_was_said_is_shown_as_a_table_of_both(page):
    choose(page, "weight")
    # Pairs of each item: 1 against 3, and 3 against 3.
    assert "1: 25 %, 3: 75 % of 8 values" in page.view.account.toPlainText()


def test_people_are_named_on_the_screen_and_only_by_alias_in_what_leaves(page, qtbot, tmp_path):
    go(page, qtbot, "agreement", by="pair")
    shown = page.view.model.index(0, 0).data()
    assert all(name in shown for name in NAMES.values())
    page.leaving.copy()
    page.leaving.save_picture(tmp_path / "agreement.svg")
    page.desk.wait()
    written = QGuiApplication.clipboard().text() + (tmp_path / "agreement.svg").read_text("utf-8")
    assert not any(name in written for name in NAMES.values())
    assert pairs.person(page.desk.project, NAMES["Ada"]).alias in written


def test_a_table_without_a_line_in_view_leaves_the_clipboard_alone(page):
    QGuiApplication.clipboard().setText("mine")
    page.view.model.seek("no line has these words")
    assert page.view.model.rowCount() == 0
    page.leaving.copy()
    assert QGuiApplication.clipboard().text() == "mine"


def test_enter_leads_to_the_values_behind_and_back(page, qtbot, qtmodeltester):
    opened(page, qtbot, "weight")
    qtmodeltester.check(page.behind.model)
    assert page.behind.model.rowCount() == 4
    assert "4 pairs, 2 differ" in page.behind.count.text()
    shown = page.behind.detail.toPlainText()
    assert "Explains how carbon is priced" in shown
    assert all(name in shown for name in NAMES.values())
    page.behind.back.emit()
    assert page.body.currentWidget() is page.view
    assert page.view.line().row.field == "weight"


def test_the_keyboard_suffices(page, qtbot):
    with qtbot.waitActive(page.window()):
        page.window().activateWindow()
    assert page.view.table.hasFocus()
    choose(page, "weight")
    qtbot.keyClick(page.view.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith("Stage\tGroup")
    qtbot.keyClick(page.view.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.behind.count.text() not in ("", "Reading…"))
    assert page.body.currentWidget() is page.behind
    assert page.behind.table.hasFocus()
    qtbot.keyClick(page.behind.table, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.view)
    assert page.view.table.hasFocus()
    qtbot.keyClick(page.view.table, Qt.Key.Key_F6)
    assert page.view.account.hasFocus()


def test_only_what_differs_can_be_listed(page, qtbot):
    opened(page, qtbot, "weight")
    page.behind.differing.setChecked(True)
    model = page.behind.model
    assert verdicts(model) == ["differs", "differs"]


def test_units_that_only_one_wrote_are_said_to_be(page, qtbot):
    opened(page, qtbot, "units")
    assert page.behind.count.text() == "8 units, 4 in one list only"
    model = page.behind.model
    said = verdicts(model)
    assert (said.count("matched"), said.count("only one")) == (4, 4)


def test_a_line_leads_to_its_item(page, qtbot, project):
    opened(page, qtbot, "value")
    page.behind.table.selectRow(3)
    page.behind.table.activated.emit(page.behind.table.currentIndex())
    window = page.window()
    assert window.page.NAME == "Author"


def test_labels_are_listed_with_the_words_of_their_criteria(page, qtbot):
    opened(page, qtbot, "value")
    model = page.behind.model
    about = {model.index(n, model.columns.index("Judged by")).data() for n in range(model.rowCount())}
    assert about == {text for text, _ in ADA}


@pytest.mark.parametrize("by", ["pair", "person", "criterion", "item", "week", "guideline"])
def test_every_grouping_has_rows_and_a_picture(page, qtbot, qtmodeltester, by):
    go(page, qtbot, "agreement", by=by)
    qtmodeltester.check(page.view.model)
    assert page.view.model.rowCount() > 0
    qtbot.waitUntil(lambda: page.view.pictures.view.image is not None)
    assert page.view.account.toPlainText()


def test_a_stage_can_be_looked_at_alone(page, qtbot):
    page.choosers.choose("stage", Stage.RUBRIC.value)
    at(page, qtbot)
    assert {row.stage for row in rows(page)} == {Stage.RUBRIC}


def test_a_grouping_without_rows_says_why(page, qtbot):
    go(page, qtbot, "agreement", "empty", by="criterion", stage=Stage.RUBRIC.value)
    assert any("criteria" in word for word in all_words(page.empty))
    assert page.choosers.lists["by"].isVisible()


def test_a_click_on_a_head_sorts_and_undefined_figures_stay_last(page, qtbot):
    model, table = page.view.model, page.view.table
    column = model.columns.index(KAPPA)
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        table.sortByColumn(column, order)
        assert model.at(0).row.field == "weight"
        # The rows without a κ: one undefined, one of units.
        assert {row.field for row in rows(page)[1:]} == {"value", "units"}
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert [row.field for row in rows(page)] == ["units", "weight", "value"]


def test_what_is_copied_has_every_digit_and_the_reasons(page):
    page.leaving.copy()
    head, *lines = QGuiApplication.clipboard().text().splitlines()
    labels = dict(zip(head.split("\t"), lines[-1].split("\t"), strict=True))
    assert (labels["Agreement"], labels[KAPPA]) == ("1.0", "")
    assert "one category only" in labels[f"{KAPPA}, reason"]
    assert page.hint.text().startswith("Copied 3 lines")


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_picture_is_saved_and_the_same_twice(page, tmp_path, ending, start):
    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        page.leaving.save_picture(path)
    page.desk.wait()
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_exact_inputs_are_saved(page, tmp_path):
    page.leaving.save_inputs(tmp_path / "inputs")
    assert {path.name for path in (tmp_path / "inputs").iterdir()} >= {
        "agreement-inputs.csv",
        "agreement.json",
    }
    assert "agreement.json" in page.hint.text()


def test_a_new_seal_is_counted_while_the_page_is_looked_at(page, qtbot, project):
    documents = {"Ada": pairs.diagnostics((True, False), "d"), "Ben": pairs.diagnostics((True, True), "e")}
    pairs.person(project, "Cora")
    for name, longer in NAMES.items():
        project.work_as(pairs.person(project, longer))
        artifacts.start(project, pairs.item(project), documents[name].KIND, documents[name])
    for longer in NAMES.values():
        project.work_as(pairs.person(project, longer))
        mine = sql.first(
            project, "SELECT id FROM artifact WHERE kind = 'diagnostics' AND author_id = ?", [project.by]
        )[0]
        change = submitting.seal(project, mine)
    pairs.work_as(project, "Cora")
    before = {row.stage for row in rows(page)}
    page.desk.tell(change)
    qtbot.waitUntil(lambda: {row.stage for row in rows(page)} != before)
    assert {row.stage for row in rows(page)} == before | {Stage.DIAGNOSTICS}


def test_nothing_frozen_says_what_must_happen_first(tmp_path, window_over, qtbot):
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.rubric(ADA, "a")})
    page = window_over(pairs.work_as(project, "Cora"), "Agreement").page.viewer
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.empty)
    said = " ".join(all_words(page.empty))
    assert "two or more people" in said
    assert "1 document has been submitted, but only by one person or not by everyone assigned." in said


@pytest.mark.parametrize("name", [NAMES["Ada"], "Cleo"])
def test_annotators_and_adjudicators_are_told_and_see_no_figure(project, window_over, qtbot, name):
    page = window_over(pairs.work_as(project, name), "Agreement").page.viewer
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.denied)
    assert page.view.model.rowCount() == 0
    said = " ".join(all_words(page))
    assert "shown to a coordinator" in said
    assert not any(other in said for other in NAMES.values())
    assert not any(button.isEnabled() for button in page.leaving.buttons.values())


def test_a_coordinator_who_may_adjudicate_is_told_why_lines_are_held_back(page, qtbot, project):
    people.set_roles(project, project.by, (Role.COORDINATOR, Role.ADJUDICATOR))
    opened(page, qtbot, "weight")
    assert page.behind.model.rowCount() == 0
    assert page.behind.held.isVisible()
    assert "2 items are left out" in page.behind.held.text()


def test_the_list_behind_stays_in_view_when_something_else_is_sealed(page, qtbot, project):
    opened(page, qtbot, "weight")
    page._count()
    qtbot.waitUntil(lambda: not page.desk._errands)
    assert page.body.currentWidget() is page.behind


def test_the_keys_are_on_the_buttons(page):
    assert "Ctrl+Shift+C" in page.leaving.buttons["copy_table"].text()


def test_the_help_page_explains_the_figures(page):
    window = page.window()
    next(button for button in page.leaving.findChildren(QPushButton) if button.text().endswith("?")).click()
    assert "What the agreement figures say" in window.page.text.toPlainText()


def test_the_picture_is_of_the_figure_at_the_cursor(page):
    titles = []
    for title in (KAPPA, "Agreement"):
        choose(page, "weight", page.view.model.columns.index(title))
        titles.append(page.view.picture().title)
    assert titles == ["κ linear by stage", "Agreement by stage"]
