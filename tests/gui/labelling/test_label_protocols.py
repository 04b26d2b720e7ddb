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
from annotator.actions.results import result_raters, results
from annotator.actions.runs import judge_cases
from annotator.actions.sets import validation_ground
from annotator.actions.studies import result_views
from annotator.actions.validation import validity_cards
from annotator.cli import run_command
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.texts.refusal import Refusal
from annotator.gui.pages.labelling.page import LabelPage
from annotator.gui.pages.labelling.report_pane import LinkedScrolling
from annotator.gui.pages.labelling.units_pane import Matrix
from annotator.gui.shell.window import Window
from annotator.gui.widgets.basics import PlainLabel
from annotator.protocols import PROTOCOLS, USUAL
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
from tests.material.rated_tasks import NAME, rated_tasks
from tests.projects.small_projects import (
    ALL,
    CLAIMS,
    GOLD,
    GOOD,
    PAGE,
    PAIRS,
    PLAN,
    PREDICTED,
    PREFERENCE,
    REASONING,
    SYSTEMS,
    add_report,
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
    page = show(protocol=USUAL)
    assert [page.tabs.tabs.tabText(n) for n in range(page.tabs.tabs.count())] == [
        PROTOCOLS[name].presentation.tab for name in ALL
    ]
    met = []
    for _ in ALL:
        press("Ctrl+Tab")
        met.append(page.bench.protocol)
    assert met == [*ALL[1:], ALL[0]]
    press("Ctrl+Shift+Tab")
    assert page.bench.protocol == PREFERENCE
    press("Ctrl+Shift+Tab")
    assert page.bench.protocol == REASONING
    press("Ctrl+PgDown", "Down")
    there = (page.bench.task_id, page.bench.unit_id)
    press("1", "Ctrl+Tab", "Ctrl+Z")
    assert (page.bench.protocol, page.bench.task_id, page.bench.unit_id, kept(page)) == (
        REASONING,
        *there,
        {},
    )
    press("Ctrl+Tab", "Ctrl+Shift+Tab")
    assert (page.bench.task_id, page.bench.unit_id) == there
    assert page.criteria.isAncestorOf(focus())
    press("Ctrl+Tab")
    assert page.bench.protocol == PREFERENCE
    assert [row.isVisible() for row in page.criteria.details.kind_rows] == [False] * 3
    page.flow.waits_for_kinds = True
    press("1")
    rows = page.criteria.details.kind_rows
    assert [row.head.text() for row in rows if row.isVisible()] == [
        "Factuality",
        "Comprehensiveness",
        "Coherence",
    ]
    press("Alt+2", "Alt+4")
    rows[2].buttons[2].click()
    project, response_id = page.session.project, page.bench.response_id
    unit = page.bench.units[0].id
    result = {
        one.title: label_sealing.of_report(project, response_id, one.name)
        for one in label_sealing.TAXONOMIES.values()
    }
    assert [result[name] for name in ("Factuality", "Comprehensiveness", "Coherence")] == [
        {unit: "second"}, {unit: "first"}, {unit: "tie"},
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
    page.criteria.take_focus()
    press("Ctrl+Tab")
    assert (page.bench.protocol, page.tabs.gap.text(), page.tabs.mend.isVisible()) == (PAIRS, "", False)
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
    card, beside = claims_page.criteria.row, claims_page.report_pane.beside
    assert (card.words.text(), card.context.isVisible()) == ("The first study measured 75 %.", True)
    assert card.context.text() == "“The *first* study measured 75 % citation accuracy.”"
    assert (beside.isVisible(), beside.report.text()) == (True, PAGE)
    assert beside.head.text() == f"Cited page: {GOOD}"
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
    assert beside.banner.text() == "This page could not be read: not there. 404"
    enabled = [button.isEnabled() for button in claims_page.criteria.details.verdicts.buttons]
    assert (enabled, claims_page.bar.buttons["say_rest"].isVisible()) == ([False, False, True, True], True)
    press("0")
    assert claims_page.bench.label("c3").value == "unknown"


def test_what_was_not_handed_out_is_submitted_report_by_report_and_stays_open(claims_page):
    press("1", 2, "3")
    assert "All 3 claims of this report are labelled." in claims_page.messages.text()
    assert claims_page.bar.buttons["submit"].text().startswith("Submit")
    assert "people" not in [rater.name for rater in result_raters.raters(claims_page.session.project, CLAIMS)]
    press("Ctrl+Return")
    assert [rater.name for rater in result_raters.raters(claims_page.session.project, CLAIMS)] == ["people"]
    assert claims_page.done.isVisible()
    words = [label.text() for label in claims_page.done.findChildren(PlainLabel)]
    assert words[:2] == ["All labelled and submitted", "3 claims in 1 report. Thank you."]
    assert not any(b.isVisible() and "Submit" in b.text() for b in claims_page.done.findChildren(QPushButton))


@pytest.fixture
def kinds_page(project, page_over):
    return page_over(project, "Label")


def given(page, taxonomy) -> list[str]:
    """The kinds of the open report as the file has them, in the order of the units."""
    result = label_sealing.of_report(page.session.project, page.bench.response_id, taxonomy.name)
    return [result.get(unit.id, "") for unit in page.bench.units]


def offered(page) -> list[str]:
    return [
        button.text().split("\u2003")[0]
        for button in page.criteria.details.kinds.buttons
        if button.isVisible()
    ]


def test_a_key_gives_the_kind_and_one_of_a_claim_whose_page_is_gone_is_suggested(kinds_page):
    first, second = kinds_page.bench.units
    press("2", "Up", "Alt+2")
    assert given(kinds_page, MISSES) == ["partial_missing", ""]
    assert kinds_page.criteria.row.kind.text() == "A part"
    press("Alt+2")
    assert (given(kinds_page, MISSES), kinds_page.criteria.row.kind.isVisible()) == (["", ""], False)
    assert kinds_page.bench.unit_id == first.id
    kinds_page.criteria.waiting.setChecked(True)
    press("2")
    assert kinds_page.bench.unit_id == first.id
    press("Alt+1")
    assert kinds_page.bench.unit_id == second.id
    press("1")
    assert "All 2 criteria" in kinds_page.messages.text()
    assert LabelPage(kinds_page.session).flow.waits_for_kinds
    kinds_page.criteria.waiting.setChecked(False)
    kinds_page.window().show_page("Label", protocol=CLAIMS)
    press("Down", 2, "3", "Down", 2)
    assert offered(kinds_page) == ["Invalid attribution?", "Unsupported"]
    press("Alt+1")
    assert given(kinds_page, CITATION_ERRORS) == ["", "", "invalid_attribution"]
    assert offered(kinds_page) == ["Invalid attribution", "Unsupported"]


@pytest.fixture
def matrix_page(project, page_over):
    return page_over(project, "Label", protocol=PLAN)


def at(page) -> str:
    return page.bench.unit_id


def test_gold_goes_down_predicted_across_from_cell_to_cell_and_digits_fill_a_column_whose_rest_is_said_by_one_key(
    matrix_page, qtbot
):
    matrix = matrix_page.criteria.matrix
    assert (matrix.model.rowCount(), matrix.model.columnCount()) == (3, 3)
    assert [matrix.model.index(n, 0).data() for n in range(3)] == list(GOLD)
    assert (matrix.predicted.text(), matrix.words.text()) == ("Predicted 1 of 2", PREDICTED[0])
    assert focus() is matrix.table
    press("Down", "Right")
    assert (at(matrix_page), matrix.words.text()) == ("p2~g2", PREDICTED[1])
    press("Left", 3, "Up", 5)
    assert at(matrix_page) == "p1~g1"
    # Of words alone nothing is chosen.
    for column in (2, 0):
        place = matrix.table.visualRect(matrix.model.index(2, column)).center()
        qtbot.mouseClick(matrix.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert at(matrix_page) == "p2~g3"
    press("Left", 3, "Up", 5, "Down", "1")
    assert matrix_page.bar.buttons["say_rest"].text().startswith("Rest not relevant")
    press("0")
    assert kept(matrix_page) == {"p1~g1": "not", "p1~g2": "relevant", "p1~g3": "not"}
    assert at(matrix_page) == "p2~g1"
    press("Ctrl+Z")
    assert (kept(matrix_page), matrix_page.queue.lines[0].labelled) == ({"p1~g2": "relevant"}, 1)
    press("Right", "Up", 2)
    assert at(matrix_page) == "p2~g1"
    press(*"12-4")
    assert kept(matrix_page) == {"p1~g2": "relevant", "p2~g1": "relevant", "p2~g2": "not", "p2~g3": None}


def test_a_plan_drawn_from_a_report_is_never_read_as_markup(qapp):
    model = Matrix()
    unit = Unit(id="c", text="Gold")
    group = labels.UnitGroup((unit,), {"predicted": "<img src='file:///secret.png'>"}, ())
    model.lay_out(PLAN, [group], lambda _: "", lambda _: "")
    tip = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "&lt;img" in tip
    assert "<img" not in tip


@pytest.fixture
def pairs_page(project, page_over):
    add_report(project, items.ids(project)[0], SYSTEMS[2], "# A third\n\nShort.")
    return page_over(project, "Label", protocol=PAIRS)


def test_two_reports_stand_side_by_side_without_names_of_systems(pairs_page):
    sheet = pairs_page.bench.sheet
    first, second = pairs_page.report_pane.first, pairs_page.report_pane.beside
    assert (first.text, second.text) == (sheet.report, sheet.other)
    assert (first.head.text(), second.head.text()) == (
        f"First — {sheet.name}",
        f"Second — {sheet.other_name}",
    )
    assert (
        first.mapTo(pairs_page, first.rect().topLeft()).y()
        == second.mapTo(pairs_page, second.rect().topLeft()).y()
    )
    assert abs(first.width() - second.width()) < 40


@pytest.fixture
def long(project, page_over, qtbot):
    for number, response_id in enumerate(reports(project), 1):
        retext(project, response_id, "A paragraph of filling.\n\n" * 150 * number)
    long = page_over(project, "Label", protocol=PAIRS)
    bars = [pane.report.verticalScrollBar() for pane in long.report_pane.panes]
    qtbot.waitUntil(lambda: all(bar.maximum() > 0 for bar in bars))
    return long


def share(pane) -> float:
    bar = pane.report.verticalScrollBar()
    return bar.value() / bar.maximum()


def test_two_reports_scroll_to_the_same_share_of_their_lengths_until_they_are_parted(long):
    one, other = long.report_pane.panes
    bar = one.report.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    assert share(other) == pytest.approx(0.5, abs=0.02)
    other.report.verticalScrollBar().setValue(0)
    assert bar.value() == 0
    long.report_pane.together.click()
    press("PgDown")
    assert [share(pane) > 0 for pane in long.report_pane.panes] == [True, False]
    assert not LabelPage(long.session).report_pane.together.isChecked()


@pytest.fixture
def areas(qapp):
    """Two linked texts, of which a test may delete either."""
    areas = QPlainTextEdit(), QPlainTextEdit()
    for area, lines in zip(areas, (100, 200), strict=True):
        area.setPlainText("line\n" * lines)
        area.show()
    LinkedScrolling(*areas).on = True
    yield areas
    for area in filter(shiboken6.isValid, areas):
        shiboken6.delete(area)


@pytest.mark.parametrize("first_gone", [0, 1])
def test_of_two_linked_texts_the_one_that_is_left_still_moves(areas, first_gone):
    areas[0].verticalScrollBar().setValue(areas[0].verticalScrollBar().maximum())
    assert areas[1].verticalScrollBar().value() == areas[1].verticalScrollBar().maximum() > 0
    shiboken6.delete(areas[first_gone])
    left = areas[1 - first_gone].verticalScrollBar()
    left.setValue(20)
    assert left.value() == 20


@pytest.fixture
def ratings_page(tmp_path, page_over):
    project = rated_tasks(tmp_path)
    response_id = add_report(project, items.ids(project)[0], "Gamma")
    return page_over(project, "Label", protocol=NAME, response_id=response_id)


def test_ratings_are_given_by_keys_and_10_has_one_of_its_own(ratings_page):
    assert ratings_page.tabs.tabs.tabText(ratings_page.tabs.tabs.currentIndex()) == "Checklist"
    rated = ratings_page.bench.sheet.response_id
    press(*"7=0")
    assert ratings_page.bench.sheet.response_id == rated
    points = [unit.id for group in ratings_page.bench.sheet.groups for unit in group.units]
    assert [ratings_page.bench.value_of(unit) for unit in points] == ["7", "10", "0"]


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
    """Kinds of labels by a model that always says the same."""
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


def table_3(project: Project) -> dict[str, tuple[str, str, str, str]]:
    """Kind of label → n, agreement, κ and what the paper prints."""
    result = result_views.show(project, "tables", {"table": "human-agreement"}, among=paper_tables.VIEWS)
    (sheet,) = result.sheets
    keys = [sheet.keys.index(name) for name in ("n", "agreement", "kappa", "published")]
    return {line.cells[0].words: tuple(line.cells[key].words for key in keys) for line in sheet.lines}


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
    result = table_3(project)
    assert list(result) == [PROTOCOLS[kind].presentation.tab for kind in KINDS]
    # A tie of the person beside a model that says “first” in both orders, which counts as a tie.
    assert result["Organization"][0::3] == ("4", "0.78")
    assert result["Organization"][1].startswith("1.000")
    assert result["Nuggets"][0] == "8"
    assert result["Nuggets"][1].startswith("1.000")
    assert result["Relevance"][1].startswith("0.000")
    assert (result["Citations"][0], result["Claims covered"][0]) == ("4", "12")
    assert result["Citations"][1].startswith("1.000")
    assert result["Claims covered"][1].startswith("1.000")
    assert result["Nugget importance"][1].startswith("1.000")
    assert result["Reference importance"][1].startswith("1.000")
    assert [one[3] for one in result.values()] == ["0.78", "0.70", "0.70", "0.80", "0.80", "0.72", "0.82"]
    for kind in KINDS[:3]:
        card = validity_cards.at_once(project, protocol=kind, judge=JUDGE)
        assert card.protocol_title == PROTOCOLS[kind].title
        assert PROTOCOLS[kind].title in validity_cards.body(card)


def test_whoever_says_what_follows_from_sources_has_them_in_view(window: Window) -> None:
    press("Ctrl+3")
    page = window.page
    page.navigate({"protocol": COVERAGE})
    beside = page.report_pane.beside
    assert beside.isVisible()
    # The first sentence cites one work; the second cites none, and is asked about at two places.
    assert beside.report.text().startswith("Its own sources:")
    assert any(abstract in beside.report.text() for abstract in ABSTRACTS.values())
    press("2")
    assert beside.report.text().startswith("Title and abstract of the paper alone:")
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
    assert set(importance(project).values()) == {""}
    (task, other) = labels.queue(project, REFERENCE)
    first, second = labels.sheet(project, task.response_id, REFERENCE).units
    labels.set_label(project, task.response_id, first.id, "important", protocol=REFERENCE)
    labels.set_label(project, task.response_id, second.id, "not_important", protocol=REFERENCE)
    third = labels.sheet(project, other.response_id, REFERENCE).units[0]
    labels.set_label(project, other.response_id, third.id, "unsure", protocol=REFERENCE)
    submit_labels(project)
    (told,) = validation_ground.take_over(project, REFERENCE, "R1")
    # Someone's own sealed list is theirs; here the coordinator wrote it.
    assert (told.labelled, told.changed, told.why_not) == (2, 2, "")
    said = importance(project)
    assert (said.pop(first.id), said.pop(second.id)) == ("important", "not_important")
    # Of what nobody is sure, nothing is known: that is no “no”.
    assert set(said.values()) == {""}
    assert [one.changed for one in validation_ground.take_over(project, REFERENCE, "R1")] == [0]
    rows = results.rows(project, protocol="deepscholar.references")
    assert any(row.metric == "reference_coverage" and row.estimate.value is not None for row in rows)
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
    assert [mark.value() for mark in marks] == [None, None]
    assert "Nobody has said which references are important" in " ".join(
        one.words("reference", ()) for one in page.sheet.check()
    )
    # Nothing of the judge's is marked before it is taken over.
    assert bar.marks.text().startswith("Take over 2 marks of mock")
    assert "2 not important" in bar.marks.toolTip()
    for kind in ("rubric", "evidence"):
        page.tabs.picked.emit(Kind(kind))
        assert bar.marks.isVisible() is (kind == "evidence")
    form.go(form.editors[0].unit_id)
    press("Alt+1")
    assert bar.marks.text().startswith("Take over 1 mark of mock")
    assert [one.unit_id for one in page.sheet.check() if one.rule == "unmarked"] == ["g1b"]
    assert bar.counts.text() == "2 references · 1 important, 1 not marked"
    press("Ctrl+Shift+K")
    assert [mark.value() for mark in marks] == ["important", "not_important"]
    assert not bar.marks.isVisible()
    press("Ctrl+Z")
    assert ([mark.value() for mark in marks], bar.marks.isVisible()) == (["important", None], True)
    press("Ctrl+Shift+K", "Ctrl+Return")
    page.sheet.panel.overridden.emit("One reference has no identifier.")
    assert (importance(project)["g1a"], importance(project)["g1b"]) == ("important", "not_important")
    assert importance(project)["g2a"] == ""


def test_an_exemplar_is_read_and_quoted_as_text_and_not_as_latex(window: Window, tmp_path: Path) -> None:
    project = window.session.project
    item_id = items.ids(project)[0]
    raw = tmp_path / "section.tex"
    raw.write_text(r"Trees cool streets \citep{ash2019}.", "utf-8")
    items.add_source(project, item_id, raw, "Related work (LaTeX)")
    window.session.go("Author", item_id=item_id, kind="nuggets")
    pane = window.page.source
    assert [source.title for source in pane.sources] == ["Exemplar", "Related work (LaTeX)"]
    assert pane.text.text().startswith("Trees cool streets by 3.5 K [1]. Parks help too [2].")
    pane.text.select(0, pane.text.text().index(" help"))
    quoted = pane.quote()
    assert quoted.quote == "Trees cool streets by 3.5 K [1]. Parks"
    exemplar = next(one for one in items.beside(project, item_id) if one.title == "Exemplar")
    assert (quoted.source_id, exemplar.text[quoted.start : quoted.end]) == (exemplar.id, quoted.quote)
    pane.tabs.setCurrentIndex(1)
    assert pane.show_anchor(quoted)
    assert pane.tabs.currentIndex() == 0


def test_results_say_which_step_is_missing_until_importance_is_marked(tmp_path: Path, capsys) -> None:
    project = related_work_project(tmp_path)
    file, item_id = str(project.path), items.ids(project)[0]
    step = "no value, as nobody has said which references are important. Mark them on the Author page under Evidence"

    def told() -> list[str]:
        views = (("overview", {"metric": "reference_coverage"}), ("overview", {}))
        sheets = [result_views.show(project, view, chosen).sheets for view, chosen in views]
        return [line for (sheet,) in sheets for line in sheet.notes if step in line]

    one, all_ = told()
    assert one.startswith("Reference coverage: no value")
    assert all_.startswith("Reference coverage, Reference coverage (on arXiv or not): no value")
    assert one.endswith("goldsmith labels into-gold FILE deepscholar.reference_importance --rater NAME")
    with project.store.read() as db:
        gold = annotating.judged_artifact(db, item_id, Kind.EVIDENCE)
    assignments.reopen(project, gold.id)
    artifacts.change_unit(project, gold.id, "g1a", importance="important")
    assignments.seal(project, gold.id)
    assert told() == []
    project.close()
    assert run_command(["results", file, "--metric", "reference_coverage.all"]) == 0
    assert step not in capsys.readouterr().out


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
