"""The label page under every protocol, and every kind of DeepScholar-Bench's study, which makes its table."""

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest
import shiboken6
from llmock.pytest_plugin import LLMock
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.runs import judge_cases
from annotator.actions.sets import validation_ground
from annotator.actions.studies import result_views
from annotator.domain.common import Refusal
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.gui.pages.labelling.page import LabelPage
from annotator.gui.pages.labelling.report_pane import LinkedScrolling
from annotator.gui.pages.labelling.units_pane import Matrix
from annotator.gui.review.verdict_words import UnitLabel
from annotator.gui.shell.window import Window
from annotator.gui.widgets.basics import PlainLabel
from annotator.protocols import USUAL
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES
from tests.material.labelled_sections import (
    ABSTRACTS,
    COVERAGE,
    KINDS,
    NUGGET,
    NUGGETS,
    ORGANIZATION,
    PRECISION,
    REFERENCE,
    RELEVANCE,
    related_work_project,
)
from tests.projects.small_projects import (
    ALL,
    CLAIMS,
    GOLD,
    PAGE,
    PAIRS,
    PLAN,
    PREDICTED,
    REASONING,
    kept,
    labelling_project,
    one_item,
    reports,
    retext,
    submit_labels,
)
from tests.windows.using import Typed, be_active, focus, press

PROJECT = one_item


@pytest.fixture
def show(project, page_over):
    return partial(page_over, project, "Label")


def test_a_project_with_one_protocol_shows_no_choice(tmp_path, page_over):
    (folder := tmp_path / "plain").mkdir()
    assert not page_over(labelling_project(folder, reports=1), "Label").tabs.isVisible()


def test_every_protocol_has_its_tab_and_letter_17_three_respects_are_chosen_beside_the_whole(show):
    page, met = show(protocol=USUAL), []
    for _ in ALL:
        press("Ctrl+Tab")
        met.append(page.bench.protocol)
    assert met == [*ALL[1:], ALL[0]]
    press("Ctrl+Shift+Tab", 2)
    assert page.bench.protocol == REASONING
    press("Ctrl+PgDown", "Down")
    there = (page.bench.task_id, page.bench.current_id)
    press("1", "Ctrl+Tab", "Ctrl+Z")
    assert (page.bench.protocol, page.bench.task_id, page.bench.current_id, kept(page)) == (
        REASONING,
        *there,
        {},
    )
    press("Ctrl+Tab", "Ctrl+Shift+Tab")
    assert (page.bench.task_id, page.bench.current_id) == there
    assert page.criteria.isAncestorOf(focus())
    press("Ctrl+Tab")
    page.flow.waits_for_kinds = True
    press("1", "Alt+2", "Alt+4")
    page.criteria.details.kind_rows[2].buttons[2].click()
    result = {
        one.title: label_sealing.of_report(page.session.project, page.bench.response_id, one.name)
        for one in label_sealing.TAXONOMIES.values()
    }
    assert [[*result[name].values()] for name in ("Factuality", "Comprehensiveness", "Coherence")] == [
        ["second"], ["first"], ["tie"],
    ]  # fmt: skip


LACKING = (
    ("drawn plan", "No plan is drawn", ["Material", {"part": "Extracts"}]),
    ("drawn claims", "No claims are drawn", ["Material", {"part": "Extracts"}]),
    ("citations", "No claim cites", ["Material", {"part": "Extracts"}]),
    ("pages", "No cited page", ["Material", {"part": "Cited pages"}]),
    ("checklist", "No checklist to label by", ["Author", {}]),
    ("nothing asked", "No statement has its gold label", ["Author", {}]),
    ("writing", "First write your own", ["Author", {}]),
    ("rivals", "No two reports", ["Import", {}]),
)


def test_gaps_and_everything_that_can_be_lacking_have_words_and_a_way(show, monkeypatch, qtbot):
    page = show(protocol=CLAIMS)
    assert page.tabs.gap.text() == "No claims are drawn from 1 of 2 reports yet."
    page.session.wanted.disconnect()
    with qtbot.waitSignal(page.session.wanted) as wanted:
        page.tabs.mend.click()
    assert wanted.args == ["Material", {"part": "Extracts"}]
    page.navigate({"protocol": PAIRS})
    assert not page.tabs.mend.isVisible()
    monkeypatch.setattr(labels, "outlook", lambda project, protocol: labels.LabelTasks([]))
    for lacking, headline, way in LACKING:
        monkeypatch.setattr(labels, "lacking", lambda *_, lacking=lacking: lacking)
        page.navigate({"protocol": REASONING})
        empty = page.whole.currentWidget()
        assert empty.findChildren(PlainLabel)[0].text().startswith(headline)
        with qtbot.waitSignal(page.session.wanted) as wanted:
            empty.findChildren(QPushButton)[0].click()
        assert wanted.args == way


@pytest.fixture
def claims_page(project, page_over):
    return page_over(project, "Label", protocol=CLAIMS)


def test_a_claim_its_context_and_the_words_of_its_page_are_in_view_together(claims_page):
    card, beside = claims_page.criteria.cards.current, claims_page.report_pane.beside
    assert (card.words.text(), card.context.isVisible()) == ("The first study measured 75 %.", True)
    assert card.context.text() == "“The *first* study measured 75 % citation accuracy.”"
    assert (beside.isVisible(), beside.report.text()) == (True, PAGE)
    press("F6", 2)
    assert focus() is beside.report
    press("Ctrl+F", Typed("75 %"), "Return", "Ctrl+E")
    label = claims_page.bench.label("c1")
    assert (label.quote, label.quote_start) == ("75 %", None)
    assert [beside.report.text()[mark.start : mark.end] for mark in beside.report.marks("evidence")] == [
        "75 %"
    ]
    assert claims_page.report_pane.report.marks("evidence") == []
    claims_page.criteria.take_focus()
    press("Down", 2)
    enabled = [button.isEnabled() for button in claims_page.criteria.details.verdicts.buttons]
    assert (enabled, claims_page.bar.buttons["say_rest"].isVisible()) == ([False, False, True, True], True)
    press("0")
    assert claims_page.bench.label("c3").value == "unknown"


def test_what_was_not_handed_out_is_submitted_report_by_report_and_stays_open(claims_page):
    press("1", 2, "3")
    assert "people" not in [rater.name for rater in result_raters.raters(claims_page.session.project, CLAIMS)]
    press("Ctrl+Return")
    assert [rater.name for rater in result_raters.raters(claims_page.session.project, CLAIMS)] == ["people"]
    assert claims_page.done.isVisible()
    assert not any(b.isVisible() and "Submit" in b.text() for b in claims_page.done.findChildren(QPushButton))


def given(page, taxonomy) -> list[str]:
    result = label_sealing.of_report(page.session.project, page.bench.response_id, taxonomy.name)
    return [result.get(unit.id, "") for unit in page.bench.units]


def test_a_key_gives_the_kind_and_one_of_a_claim_whose_page_is_gone_is_suggested(show):
    page = show()
    first, second = page.bench.units
    press("2", "Up", "Alt+2")
    assert given(page, MISSES) == ["partial_missing", ""]
    press("Alt+2")
    assert (given(page, MISSES), page.criteria.cards.current.kind.isVisible()) == (["", ""], False)
    assert page.bench.current_id == first.id
    page.criteria.waiting.setChecked(True)
    press("2")
    assert page.bench.current_id == first.id
    press("Alt+1")
    assert page.bench.current_id == second.id
    assert LabelPage(page.session).flow.waits_for_kinds
    page.window().show_page("Label", protocol=CLAIMS)
    press("Down", 2, "3", "Down", 2)
    buttons = page.criteria.details.kinds.buttons
    assert [one.text().split("\u2003")[0] for one in buttons if one.isVisible()] == [
        "Invalid attribution?", "Unsupported",
    ]  # fmt: skip
    press("Alt+1")
    assert given(page, CITATION_ERRORS) == ["", "", "invalid_attribution"]


def test_gold_goes_down_predicted_across_from_cell_to_cell_and_digits_fill_a_column_whose_rest_is_said_by_one_key(
    show, qtbot
):
    page = show(protocol=PLAN)
    matrix = page.criteria.matrix
    assert (matrix.model.rowCount(), matrix.model.columnCount()) == (3, 3)
    assert [matrix.model.index(n, 0).data() for n in range(3)] == list(GOLD)
    assert focus() is matrix.table
    press("Down", "Right")
    assert (page.bench.current_id, matrix.words.text()) == ("p2~g2", PREDICTED[1])
    press("Left", 3, "Up", 5)
    assert page.bench.current_id == "p1~g1"
    # Of words alone nothing is chosen.
    for column in (2, 0):
        place = matrix.table.visualRect(matrix.model.index(2, column)).center()
        qtbot.mouseClick(matrix.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert page.bench.current_id == "p2~g3"
    press("Left", 3, "Up", 5, "Down", "1", "0")
    assert kept(page) == {"p1~g1": "not", "p1~g2": "relevant", "p1~g3": "not"}
    assert page.bench.current_id == "p2~g1"
    press("Ctrl+Z")
    assert (kept(page), page.queue.lines[0].labelled) == ({"p1~g2": "relevant"}, 1)
    press("Right", "Up", 2)
    assert page.bench.current_id == "p2~g1"
    press(*"12-4")
    assert kept(page) == {"p1~g2": "relevant", "p2~g1": "relevant", "p2~g2": "not", "p2~g3": None}


def test_a_plan_drawn_from_a_report_is_never_read_as_markup(qapp):
    model = Matrix()
    group = labels.UnitGroup(
        (Unit(id="c", text="Gold"),), {"predicted": "<img src='file:///secret.png'>"}, ()
    )
    model.lay_out(PLAN, [group], lambda _: UnitLabel())
    tip = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "&lt;img" in tip
    assert "<img" not in tip


def share(pane) -> float:
    bar = pane.report.verticalScrollBar()
    return bar.value() / bar.maximum()


def test_two_reports_scroll_to_the_same_share_of_their_lengths_until_they_are_parted(project, show, qtbot):
    for number, response_id in enumerate(reports(project), 1):
        retext(project, response_id, "A paragraph of filling.\n\n" * 150 * number)
    page = show(protocol=PAIRS)
    one, other = page.report_pane.panes
    bar = one.report.verticalScrollBar()
    qtbot.waitUntil(lambda: all(pane.report.verticalScrollBar().maximum() > 0 for pane in (one, other)))
    bar.setValue(bar.maximum() // 2)
    assert share(other) == pytest.approx(0.5, abs=0.02)
    other.report.verticalScrollBar().setValue(0)
    assert bar.value() == 0
    page.report_pane.together.click()
    press("PgDown")
    assert [share(pane) > 0 for pane in (one, other)] == [True, False]
    assert not LabelPage(page.session).report_pane.together.isChecked()


@pytest.mark.parametrize("first_gone", [0, 1])
def test_of_two_linked_texts_the_one_that_is_left_still_moves(qapp, first_gone):
    areas = QPlainTextEdit("line\n" * 100), QPlainTextEdit("line\n" * 200)
    for area in areas:
        area.show()
    LinkedScrolling(*areas).on = True
    areas[0].verticalScrollBar().setValue(areas[0].verticalScrollBar().maximum())
    assert areas[1].verticalScrollBar().value() == areas[1].verticalScrollBar().maximum() > 0
    shiboken6.delete(areas[first_gone])
    left = areas[1 - first_gone].verticalScrollBar()
    left.setValue(20)
    assert left.value() == 20
    shiboken6.delete(areas[1 - first_gone])


JUDGE = "mock"
# What the model says of everything of a kind; “first” whatever comes first, which is a flip.
SAYS = {
    ORGANIZATION: {"rationale": "So.", "better": "first"},
    NUGGETS: {"quote": "", "rationale": "So.", "support": "not_support"},
    RELEVANCE: {"rationale": "So.", "relevance": "2"},
    PRECISION: {"quote": "Of shade.", "rationale": "So.", "supported": "yes"},
    COVERAGE: {"quote": "", "rationale": "So.", "supported": "no"},
    NUGGET: {"rationale": "So.", "importance": "vital"},
    REFERENCE: {"rationale": "So.", "importance": "not-important"},
}
# Key → how often it is pressed, unit after unit: so many units has each kind.
KEYS = {
    # Three reports on each of two items: two pairs with the exemplar each, asked in one order.
    ORGANIZATION: ("3", 4),
    # The exemplar is not asked about what was kept because it holds it.
    NUGGETS: ("3", 2 * 2 * 2),
    RELEVANCE: ("0", 4),
    # One sentence of each report cites its one work, and one cites nothing.
    PRECISION: ("1", 4),
    # The first sentence by what it cites; the second by what the first cites, and by title and abstract alone.
    COVERAGE: ("2", 4 * 3),
    NUGGET: ("1", 4),
    REFERENCE: ("2", 4),
}


@pytest.fixture
def window(window_over, qtbot, tmp_path: Path) -> Window:
    return be_active(window_over(related_work_project(tmp_path)), qtbot)


def judged(project: Project, llmock: LLMock, *kinds: str) -> None:
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini", asking='{"together": 1}')
    for kind in kinds:
        # As many as are needed at most: what several reports share is asked once.
        for _ in (
            unit
            for case in judge_cases.cases(project, judge_cases.RunRequest(JUDGE, kind))
            for unit in case.units
        ):
            llmock.reply(json.dumps(SAYS[kind]))
        ended = asyncio.run(orders.carry_out(project, judge_cases.RunRequest(JUDGE, kind, concurrency=1)))
        assert ended["state"] == "done"
        llmock.reset()


def test_every_kind_is_labelled_by_keyboard_and_makes_the_papers_table(
    window: Window, llmock: LLMock
) -> None:
    project = window.session.project
    press("Ctrl+3")
    page = window.page
    # There is no rubric: the page opens on what can be labelled.
    assert page.bench.protocol == ORGANIZATION
    for kind in KINDS:
        page.navigate({"protocol": kind})
        key, times = KEYS[kind]
        left = [(task.id, task.units) for task in page.queue.lines]
        assert sum(units for _, units in left) == times
        for _, units in left:
            press(key, units, "Ctrl+Return")
        assert page.done.isVisible(), kind
        assert all(task.labelled == task.units for task in labels.queue(project, kind))
    judged(project, llmock, *KINDS)
    human = {"table": "human-agreement"}
    (sheet,) = result_views.show(project, "tables", human, among=paper_tables.VIEWS).sheets
    agreement, published = (sheet.keys.index(name) for name in ("agreement", "published"))
    # A tie of the person beside a model that says “first” in both orders, which counts as a tie; of relevance the
    # two differ always.
    assert [(line.cells[agreement].words[:5], line.cells[published].words) for line in sheet.lines] == [
        ("1.000", "0.78"), ("1.000", "0.70"), ("0.000", "0.70"), ("1.000", "0.80"), ("1.000", "0.80"),
        ("1.000", "0.72"), ("1.000", "0.82"),
    ]  # fmt: skip


def test_whoever_says_what_follows_from_sources_has_them_in_view(window: Window) -> None:
    press("Ctrl+3")
    page = window.page
    page.navigate({"protocol": COVERAGE})
    beside = page.report_pane.beside
    # The first sentence cites one work; the second cites none, and is asked about at two places.
    assert beside.report.text().startswith("Its own sources:")
    assert any(abstract in beside.report.text() for abstract in ABSTRACTS.values())
    press("2")
    assert "Sources of the sentence before it:" in beside.report.text()


def importance(project: Project) -> dict[str, str]:
    with project.store.read() as db:
        result = annotating.judged_rows(db, Kind.EVIDENCE)
    return {
        unit.id: unit.importance
        for row in result.values()
        for unit in artifacts.artifact_of(row).document.units
    }


def test_labels_become_the_golds_importance_in_one_act(tmp_path: Path) -> None:
    project = related_work_project(tmp_path)
    (task, other) = labels.queue(project, REFERENCE)
    first, second = labels.sheet(project, task.response_id, REFERENCE).units
    labels.set_label(project, task.response_id, first.id, "important", protocol=REFERENCE)
    labels.set_label(project, task.response_id, second.id, "not_important", protocol=REFERENCE)
    third = labels.sheet(project, other.response_id, REFERENCE).units[0]
    labels.set_label(project, other.response_id, third.id, "unsure", protocol=REFERENCE)
    submit_labels(project)
    (told,) = validation_ground.take_over(project, REFERENCE, "R1")
    assert (told.labelled, told.changed, told.why_not) == (2, 2, "")
    said = importance(project)
    assert (said.pop(first.id), said.pop(second.id)) == ("important", "not_important")
    # Of what nobody is sure, nothing is known: that is no “no”.
    assert set(said.values()) == {""}
    assert [one.changed for one in validation_ground.take_over(project, REFERENCE, "R1")] == [0]
    with pytest.raises(Refusal, match="no field of the gold"):
        validation_ground.take_over(project, RELEVANCE)
    with pytest.raises(Refusal, match="said nothing"):
        validation_ground.take_over(project, NUGGET, "R1")


def test_importance_is_marked_where_evidence_is_written_and_a_judges_marks_are_taken_over_in_one_act(
    window: Window, llmock: LLMock
) -> None:
    project = window.session.project
    first, _ = items.ids(project)
    judged(project, llmock, REFERENCE)
    window.session.go("Author", item_id=first, kind="evidence")
    page = window.page
    bar, form = page.sheet.bar, page.sheet.form
    assert not bar.marks.isVisible()
    press("Ctrl+R")
    marks = [editor.fields["importance"] for editor in form.editors]
    # Nothing of the judge's is marked before it is taken over.
    assert [mark.value() for mark in marks] == [None, None]
    assert bar.marks.text().startswith("Take over 2 marks of mock")
    for kind in ("rubric", "evidence"):
        page.tabs.picked.emit(Kind(kind))
        assert bar.marks.isVisible() is (kind == "evidence")
    form.go(form.editors[0].unit_id)
    press("Alt+1")
    assert bar.marks.text().startswith("Take over 1 mark of mock")
    assert [one.unit_id for one in page.sheet.check() if one.rule == "unmarked"] == ["g1b"]
    press("Ctrl+Shift+K")
    assert [mark.value() for mark in marks] == ["important", "not_important"]
    assert not bar.marks.isVisible()
    press("Ctrl+Z")
    assert ([mark.value() for mark in marks], bar.marks.isVisible()) == (["important", None], True)
    press("Ctrl+Shift+K", "Ctrl+Return")
    page.sheet.panel.overridden.emit("One reference has no identifier.")
    said = importance(project)
    assert (said["g1a"], said["g1b"], said["g2a"]) == ("important", "not_important", "")


def test_an_exemplar_is_read_and_quoted_as_text_and_not_as_latex(window: Window, tmp_path: Path) -> None:
    project = window.session.project
    item_id = items.ids(project)[0]
    raw = tmp_path / "section.tex"
    raw.write_text(r"Trees cool streets \citep{ash2019}.", "utf-8")
    items.add_source(project, item_id, raw, "Related work (LaTeX)")
    window.session.go("Author", item_id=item_id, kind="nuggets")
    pane = window.page.source
    pane.text.select(0, pane.text.text().index(" help"))
    quoted = pane.quote()
    assert quoted.quote == "Trees cool streets by 3.5 K [1]. Parks"
    exemplar = next(one for one in items.beside(project, item_id) if one.title == "Exemplar")
    assert (quoted.source_id, exemplar.text[quoted.start : quoted.end]) == (exemplar.id, quoted.quote)


def test_results_say_which_step_is_missing_where_importance_is_not_marked(tmp_path: Path) -> None:
    chosen = {"metric": "reference_coverage"}
    (sheet,) = result_views.show(related_work_project(tmp_path), "overview", chosen).sheets
    (note,) = (line for line in sheet.notes if "nobody has said which references are important" in line)
    assert "Mark them on the Author page under Evidence" in note
    assert note.endswith("goldsmith labels into-gold FILE deepscholar.reference_importance --rater NAME")


def test_a_judges_marks_are_not_offered_to_who_is_to_be_blind(tmp_path: Path, llmock: LLMock) -> None:
    project = related_work_project(tmp_path)
    judged(project, llmock, REFERENCE)
    item_id = items.ids(project)[0]
    with project.store.read() as db:
        artifact = annotating.judged_artifact(db, item_id, Kind.EVIDENCE)
    assert validation_ground.offered(project, artifact) is None
    assignments.reopen(project, artifact.id)
    artifact = artifacts.read(project, artifact.id)
    assert validation_ground.offered(project, artifact).judge == JUDGE
    me = people.someone(project).id
    another = people.add_person(project, "Another", (Role.ANNOTATOR,)).subject
    for raters, stage in (((me,), Stage.LABELLING), ((me, another), Stage.EVIDENCE)):
        for person in raters:
            assignments.assign_one(project, item_id, person, stage)
        assert validation_ground.offered(project, artifact) is None
        own = [one.id for one in assignments.of_person(project, me) if one.stage is stage]
        if stage is Stage.LABELLING:
            assignments.withdraw_all(project, own)
            assert validation_ground.offered(project, artifact) is not None
