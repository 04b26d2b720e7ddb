"""The Author page around documents of each kind: what each asks for, what stands beside it, how it is submitted."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import items, materials
from annotator.actions.material import lookups
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.undo import history
from annotator.domain.common import Refusal
from annotator.domain.experts.assignment import ParcelOutcome, Role, Stage
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.domain.kinds.plan import Plan
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui import theme
from annotator.gui.forms.fields import TextField
from annotator.gui.forms.unit_editor import AnchorChips, FindingLines
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import PlainLabel
from tests.projects.small_projects import (
    TEXTS,
    add_report,
    authoring_project,
    begin,
    mine,
    own_rubric as rubric,
    project_with,
    small_sample,
    texts,
)
from tests.storage import sql
from tests.windows.using import Typed, focus, press, settle, type_words

PROJECT = authoring_project


@pytest.fixture
def open_page(project, page_over):
    """Opens the page, at a kind if one is given, once a document is begun if one is given."""

    def make(kind: Kind | None = None, document: Document | None = None, **place: str):
        if document is not None:
            begin(project, document.KIND, document)
        return page_over(project, "Author", **({"kind": kind.value} if kind else {}), **place)

    return make


def make_consensus(project: Project, artifact_id: str) -> None:
    sql.alter(project, "UPDATE artifact SET author_id = '', state = 'consensus' WHERE id = ?", [artifact_id])


def test_keys_go_from_kind_to_kind_and_enter_begins_what_is_explained(open_page, project):
    page = open_page(Kind.SELECTION)
    press("Ctrl+Tab")
    assert page.sheet.kind is Kind.QUERY
    press("Ctrl+Shift+Tab")
    assert page.sheet.kind is Kind.SELECTION
    page.go_to(page.item.id, Kind.RUBRIC)
    page.sheet.focus_first()
    press("Return")
    assert (texts(project), focus()) == ([""], page.sheet.form.editors[0].text)


def test_a_consensus_that_is_not_mine_to_change_is_read_and_can_be_copied(open_page, project):
    artifact_id = begin(project, Kind.RUBRIC, rubric())
    make_consensus(project, artifact_id)
    project.work_as(people.people(project)[0])
    project.work_as(people.known(project, people.add_person(project, "Ann").subject))
    page = open_page(Kind.RUBRIC)
    assert page.sheet.form.editors[0].text.isReadOnly()
    page.sheet.strip.copy.click()
    assert (mine(project).author_id, texts(project)) == (project.by, list(TEXTS))
    copied = {unit.id for unit in mine(project).document.units}
    assert not copied & {unit.id for unit in artifacts.read(project, artifact_id).document.units}


def test_mine_comes_first_and_the_consensus_can_be_looked_at(open_page, project):
    make_consensus(project, begin(project, Kind.RUBRIC, rubric(("Explains what was agreed on.",), (3,))))
    page = open_page(Kind.RUBRIC, rubric())
    versions = page.sheet.strip.versions
    assert [versions.itemText(place) for place in range(versions.count())] == ["Mine", "Consensus"]
    assert page.sheet.form.editors[0].text.toPlainText() == TEXTS[0]
    versions.setCurrentIndex(1)
    versions.activated.emit(1)
    assert page.sheet.form.editors[0].text.toPlainText() == "Explains what was agreed on."


def test_the_guideline_follows_the_field_and_every_revision_can_be_looked_at(open_page):
    page = open_page(Kind.RUBRIC, rubric())
    press(Typed(" at depth"), "F2", "Tab")
    assert "Weight" in page.side.text.text()
    assert "One claim per criterion" not in page.side.text.text()
    press("F2")
    assert page.side.isHidden()
    page.sheet.strip.history.trigger()
    entries = page.side.history.list
    assert [entries.item(row).text().split("\n")[0] for row in range(2)] == ["2 · changed text", "1 · begun"]
    entries.setCurrentRow(1)
    assert page.side.history.words.toPlainText().startswith(f"1. {TEXTS[0]}\n    Weight: 3")


def test_undo_shows_the_document_in_which_something_was_taken_back(open_page, project):
    first, second = items.ids(project)
    begin(project, Kind.RUBRIC, rubric())
    begin(project, Kind.PLAN, Plan(), item=1)
    page = open_page(Kind.RUBRIC, item_id=first)
    type_words(" at depth")
    page.go_to(second, Kind.PLAN)
    press("Ctrl+Z", at=page.sheet.form)
    assert (page.item.id, page.sheet.kind, texts(project)[0]) == (first, Kind.RUBRIC, TEXTS[0])


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_new_document_has_no_remark_until_it_is_to_be_submitted_and_keeps_what_is_typed(
    kind, open_page, project
):
    page = open_page(kind)
    QTest.mouseClick(page.sheet.beginning.start, Qt.MouseButton.LeftButton)
    page.sheet.check()
    assert [line for line in page.sheet.form.findChildren(FindingLines) if line.isVisible()] == []
    assert "to fix" not in page.sheet.bar.remarks.text()
    page.sheet.submit()
    assert "to fix" in page.sheet.bar.remarks.text()
    fields = [field for field in page.sheet.findChildren(TextField) if field.isVisible()]
    assert fields
    for number, field in enumerate(fields):
        QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton)
        press("Ctrl+A", Typed(f"Sentence {number}."), ("Tab", "Shift+Tab")[number % 2])
        assert focus() is not field
    assert [field.toPlainText() for field in fields] == [f"Sentence {n}." for n in range(len(fields))]
    document = mine(project, kind).document.model_dump_json()
    assert all(f'"{field.toPlainText()}"' in document for field in fields)


def test_a_statement_gets_its_label_by_key_and_a_share_is_not_rounded_by_looking_at_it(open_page, project):
    begin(project, Kind.CHECKLIST, Checklist(units=(CheckPoint(text="Accuracy", share=1 / 3),)))
    page = open_page(Kind.DIAGNOSTICS, Diagnostics(units=(Statement(text="Blocks add their input."),)))
    press("Alt+2", "Tab", 2, "Down")
    assert focus() is page.sheet.form.editors[0].fields["aspect"]
    (unit,) = mine(project, Kind.DIAGNOSTICS).document.units
    assert (unit.label, unit.aspect) == (False, Aspect.BACKGROUND)
    page.go_to(page.item.id, Kind.CHECKLIST)
    press("Tab", at=page.sheet.form.editors[0].fields["share"])
    page.leave()
    assert mine(project, Kind.CHECKLIST).document.units[0].share == 1 / 3


def test_an_identifier_is_read_as_it_is_typed_and_a_year_is_kept_as_a_number(open_page, project, qtbot):
    page = open_page(Kind.EVIDENCE, Evidence(units=(Reference(text="Deep residual learning"),)))
    editor = page.sheet.form.editors[0]
    press(Typed("https://arxiv.org/abs/1512.03385v1"), at=editor.fields["identifier"])
    assert editor.read_as.text() == "✓ arXiv"
    editor.fields["identifier"].setText("no identifier")
    editor.refresh()
    assert editor.read_as.text() == ""
    year = editor.fields["year"]
    press(Typed("2015x"), "Tab", at=year)
    (unit,) = mine(project, Kind.EVIDENCE).document.units
    assert (unit.identifier, unit.year) == ("https://arxiv.org/abs/1512.03385v1", 2015)
    press("Backspace", at=year)
    qtbot.waitUntil(lambda: any(finding.rule == "year" for finding in page.sheet.findings))
    page.sheet.submit()
    assert "“201” is not a year." in page.sheet.panel.entries.item(0).text()


def test_a_criterion_is_tied_to_a_key_insight(open_page, project):
    insight = Insight(text="The identity path carries the gradient.")
    begin(project, Kind.INSIGHTS, Insights(units=(insight,)))
    field = open_page(Kind.RUBRIC, rubric()).sheet.form.editors[0].fields["insight_id"]
    assert field.itemText(1) == insight.text
    press("Down", at=field)
    assert mine(project).document.units[0].insight_id == insight.id


def test_letter_4_dimensions_show_what_they_mean_and_the_whole_is_said_below(open_page, project, qtbot):
    page = open_page(Kind.SELECTION)
    page.sheet.start()
    first, form = page.sheet.form.editors[0], page.sheet.form
    assert first.meaning.text().splitlines()[1] == "5  nobody in the field could take it for another question"
    press(Typed("It names the layer."), at=first.fields["note"])
    form.whole.fields["recommendation"].choose(2)
    press(Typed("Which layer?"), at=form.whole.fields["improve"])
    press(Typed("Close."), at=form.whole.fields["remark"])
    page.sheet.saving.keep()
    document = mine(project, Kind.SELECTION).document
    assert (document.units[0].note, document.recommendation) == ("It names the layer.", "rework")
    assert (document.improve, document.remark) == ("Which layer?", "Close.")


QUESTION = "Is this a criterion that asks about the residual stream?"


def shown_remarks(editor) -> list[str]:
    lines = [line for remarks in editor._remarks.values() if remarks.isVisible() for line in remarks._lines]
    return [line._words.text() for line in lines]


def test_a_remark_comes_while_typing_goes_when_mended_and_of_an_empty_unit_only_once_it_was_left(
    open_page, project, qtbot
):
    page = open_page(document=rubric())
    editor = page.sheet.form.editors[0]
    assert shown_remarks(editor) == []
    type_words("?")
    qtbot.waitUntil(lambda: any("question" in words for words in shown_remarks(editor)))
    press("Backspace")
    qtbot.waitUntil(lambda: shown_remarks(editor) == [])
    press("Ctrl+N")
    qtbot.waitUntil(lambda: any(finding.rule == "empty" for finding in page.sheet.findings))
    assert shown_remarks(page.sheet.form.editors[1]) == []
    theme.zoom(1)
    remarks = page.sheet.bar.remarks
    fine = chips.icon("check", theme.current().px(16), "level-success")
    assert remarks.icon().pixmap(16).toImage() != fine.pixmap(16).toImage()
    page.source.enter()
    qtbot.waitUntil(lambda: shown_remarks(page.sheet.form.editors[1]) != [])
    press("Ctrl+Return")
    assert (mine(project).state, focus()) == (State.DRAFT, page.sheet.panel.entries)
    press("Return")
    assert focus() is page.sheet.form.editors[1].text


def test_warnings_are_overridden_with_a_reason_that_is_kept_and_errors_never(open_page, project):
    page = open_page(document=rubric(("", QUESTION), (3, 2)))
    press("Ctrl+Return")
    assert page.sheet.panel.reason.isHidden()
    page.sheet.seal("I insist")
    assert mine(project).state is State.DRAFT
    page.sheet.form.go(page.sheet.form.editors[0].unit_id)
    press(Typed(TEXTS[1]), "Ctrl+Return")
    assert (mine(project).state, page.sheet.panel.anyway.isEnabled()) == (State.DRAFT, False)
    press(Typed("the form asks for it"), "Return", at=page.sheet.panel.reason)
    assert mine(project).state is State.SEALED
    assert sql.first(project, "SELECT reason FROM revision WHERE sealed") == ("the form asks for it",)


def test_what_is_sealed_can_be_read_and_is_changed_in_a_new_revision_once_reopened(open_page, project, qtbot):
    page, written = open_page(document=rubric()), [unit.text for unit in rubric().units]
    press(Typed(" quickly"), "Ctrl+Return")
    sealed = [f"{written[0]} quickly", *written[1:]]
    assert texts(project) == sealed
    editor = page.sheet.form.editors[0]
    assert (editor.text.isReadOnly(), editor.fields["weight"].isEnabled()) == (True, False)
    numbers = [each.number for each in page.sheet.form.editors]
    assert all(one.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents) for one in numbers)
    editor.text.setFocus()
    press("Alt+1", "Ctrl+N", "Ctrl+Backspace", "Alt+Down")
    assert (texts(project), mine(project).revision) == (sealed, 3)
    qtbot.mouseClick(page.sheet.strip.reopen, Qt.MouseButton.LeftButton)
    assert (mine(project).state, mine(project).revision) == (State.DRAFT, 4)
    type_words(" and more")
    page.leave()
    assert texts(project)[0].endswith(" and more")
    revisions = artifacts.revisions(project, mine(project).id)
    assert [revision.sealed for revision in revisions] == [False, False, True, False, False]


def test_submitting_says_so_where_it_happened_and_offers_the_next(open_page, project, qtbot):
    page, (first, second) = open_page(document=rubric()), items.ids(project)
    press("Ctrl+Return")
    assert (page.item.id, page.sheet.messages.text()) == (first, "Submitted.")
    assert page.sheet.messages._act.text() == "Next: 2"
    qtbot.mouseClick(page.sheet.messages._act, Qt.MouseButton.LeftButton)
    assert page.item.id == second
    page.go_to(first, Kind.RUBRIC)
    press("Ctrl+Return")
    assert page.item.id == second


@pytest.mark.parametrize("coordinates", [True, False])
def test_who_submits_last_reads_the_frozen_agreement_as_a_coordinator_alone(page_over, tmp_path, coordinates):
    project = authoring_project(tmp_path)
    people.add_person(project, "Cora", roles=(Role.COORDINATOR,))
    other = people.add_person(project, "R2", roles=(Role.ANNOTATOR,)).subject
    me, item_id = people.someone(project), items.ids(project)[0]
    for person_id in (me.id, other):
        assignments.assign_one(project, item_id, person_id, Stage.RUBRIC)
    project.person = people.known(project, other)
    assignments.seal(project, begin(project, Kind.RUBRIC, rubric()))
    project.person = me
    if not coordinates:
        people.set_roles(project, me.id, (Role.ANNOTATOR,))
        project.person = people.known(project, me.id)
    begin(project, Kind.RUBRIC, rubric())
    page = page_over(project, "Author", item_id=item_id)
    press("Ctrl+Return")
    assert ("Agreement on 1 is frozen: match F1 1.00." in page.sheet.messages.text()) is coordinates


def test_remarks_never_push_submit_out_of_view(open_page):
    page = open_page(document=rubric([QUESTION] * 12, [3] * 12))
    page.window().resize(960, 600)
    press("Ctrl+Return")
    settle(page)
    submit = page.sheet.bar.submit
    assert page.sheet.panel.isVisible()
    assert submit.visibleRegion().boundingRect().size() == submit.size()
    assert submit.mapTo(page.window(), submit.rect().bottomLeft()).y() < page.window().height()


# The allowed weights; the place of each criterion's in their order, and the weight.
CHOSEN = {"-3 to 3": ((7, 3), (6, 2), (1, -3)), "0.5, 1, 4": ((3, 4), (1, 0.5), (2, 1))}


@pytest.fixture
def weighted(tmp_path: Path) -> Project:
    project = project_with(tmp_path)
    add_report(project, items.add(project, "How is evidence attributed?").subject)
    return project


@pytest.mark.parametrize(("text", "chosen"), CHOSEN.items())
def test_weights_go_from_the_form_to_the_release(weighted, page_over, tmp_path, text, chosen):
    settings.allow(weighted, text)
    page = page_over(weighted, "Author", kind=Kind.RUBRIC)
    press("Return")
    for place, (words, (number, weight)) in enumerate(zip(TEXTS, chosen, strict=True)):
        if place:
            press("Ctrl+N")
        type_words(words)
        page.sheet.acts.choose(number)
        assert page.sheet.form.current.fields["weight"].value() == weight
    press("Ctrl+Return")
    (rubric,) = [artifact for artifact in artifacts_of(weighted) if artifact.state is State.SEALED]
    assert [unit.weight for unit in rubric.document.units] == [weight for _, weight in chosen]

    releases.export(weighted, tmp_path / "release")
    other = people.new_project(tmp_path / "other.goldsmith")
    imports.run(other, releases.GOLDSMITH, [tmp_path / "release"], warm=False)
    assert settings.allowed(other) == settings.allowed(weighted)
    assert f"weights: {text}" in (tmp_path / "release/README.md").read_text("utf-8")
    report = releases.export(weighted, tmp_path / "theirs", "researcherbench")
    assert any("weights of 1, 2 and 3 only" in note for note in report.notes)


def artifacts_of(project: Project):
    return annotating.artifacts_of(project, items.ids(project)[0])


def with_rubric(project: Project, *weights: float) -> str:
    units = tuple(Criterion(text=f"Explains point {n}", weight=weight) for n, weight in enumerate(weights))
    return artifacts.start(project, items.ids(project)[0], Kind.RUBRIC, Rubric(units=units)).subject


def test_weights_in_use_stay_allowed_and_undo_brings_the_former_back(weighted):
    begun = with_rubric(weighted, 3, 1)
    with pytest.raises(Refusal, match=r"criteria of weight 3\."):
        settings.allow(weighted, "-1 to 2")
    settings.allow(weighted, "1, 3")
    # A new criterion without a weight is begun, and asked for one.
    artifacts.add_unit(weighted, begun, text="Explains point 3")
    with pytest.raises(Refusal, match="this project allows 1, 3"):
        artifacts.change_unit(weighted, begun, artifacts.read(weighted, begun).document.units[2].id, weight=2)
    with pytest.raises(Refusal, match="has weight 2; this project allows 1, 3"):
        assignments.seal(weighted, begun)
    history.undo(weighted)
    history.undo(weighted)
    assert settings.allowed(weighted).usual


def test_a_task_brings_the_weights_along_and_returned_work_of_others_waits_in_the_tray(weighted, tmp_path):
    settings.allow(weighted, "-3 to 3")
    rater = next(person for person in people.people(weighted) if person.name == "Rater 2")
    assignments.assign_one(weighted, items.ids(weighted)[0], rater.id, Stage.RUBRIC)
    task = packing.task(weighted, rater.id, tmp_path / "two.goldsmith-task")
    theirs = tasking.take_task(task.path, tmp_path / "two.goldsmith").project
    assert settings.allowed(theirs).text == "-3 to 3"
    assignments.seal(theirs, with_rubric(theirs, 3, -3))
    work = tray.work(theirs, tmp_path / "two.goldsmith-work").path
    theirs.close()
    settings.allow(weighted, "1 to 3")
    (arrival,) = unpacking.take_in(weighted, [work])
    (piece,) = arrival.pieces
    assert piece.outcome is ParcelOutcome.FOREIGN
    assert "has weight -3; this project allows 1 to 3" in piece.words
    assert artifacts_of(weighted) == []


def test_weights_are_set_beside_the_rubrics_text_and_many_chosen_from_a_list_by_their_digits(
    weighted, page_over
):
    page = page_over(weighted, "Guidelines", stage="rubric")
    assert (page.weights.field.text(), page.weights.set.isEnabled()) == ("1 to 3", False)
    page.weights.field.setText("-3..3")
    page.weights.set.click()
    assert settings.allowed(weighted).text == page.weights.field.text() == "-3 to 3"
    page.stages.choose(0)
    assert page.weights.isVisible() is (page.stage is Stage.RUBRIC)
    page.session.do(settings.allow, "-10 to 10")
    with_rubric(weighted, 0, 2)
    page = page.window().show_page("Author", kind=Kind.RUBRIC)
    first, second = (editor.fields["weight"] for editor in page.sheet.form.editors)
    assert (first.value(), second.value()) == (0, 2)
    press("1", "0", at=first)
    assert first.value() == 10
    first.chosen.emit(first.value())
    (rubric,) = artifacts_of(weighted)
    assert [unit.weight for unit in rubric.document.units] == [10, 2]


def units(project: Project, kind: Kind):
    return mine(project, kind, 1).document.units


def test_inspirations_are_mended_by_keys(project, page_over):
    begin(project, Kind.INSPIRATIONS, Inspirations(units=(Inspiration(text="A"), Inspiration(text="B"))), 1)
    page = page_over(project, "Author", item_id=items.ids(project)[1], kind="inspirations")
    page.sheet.form.go(page.sheet.form.editors[1].unit_id)
    press("Alt+3")
    page.sheet.form.current.fields["qualities"].enter()
    press("4", "1")
    (_, second) = units(project, Kind.INSPIRATIONS)
    assert (second.type, second.qualities) == ("transdisciplinary", ("novelty", "verifiability"))
    assert "traits" in {finding.rule for finding in page.sheet._remarks()}


def test_units_are_merged_and_split_by_keys(page_over, project):
    begin(
        project,
        Kind.INSPIRATIONS,
        Inspirations(units=(Inspiration(text="😀 One."), Inspiration(text="Two."))),
        1,
    )
    page = page_over(project, "Author", item_id=items.ids(project)[1], kind="inspirations")
    page.sheet.form.go(units(project, Kind.INSPIRATIONS)[1].id)
    press("Ctrl+L")
    (unit,) = units(project, Kind.INSPIRATIONS)
    assert unit.text == "😀 One. Two."
    press("Ctrl+Home", "Right", 6, "Ctrl+Shift+L")
    assert [one.text for one in units(project, Kind.INSPIRATIONS)] == ["😀 One.", "Two."]


def test_inspirations_stand_beside_their_task_which_leads_back_to_its_seminar_and_time(page_over, tmp_path):
    made = small_sample(tmp_path, "seminar")
    seminar, task, *_ = items.ids(made)
    page = page_over(made, "Author", item_id=seminar)
    # Of what is written for an item's role, what this project uses.
    assert tabs_of(page) == [Kind.INSPIRATIONS, Kind.TASKS]
    page.step(1)
    assert (tabs_of(page), page.item.id) == ([Kind.CHECKLIST], task)
    pane = page.source
    (transcript,) = items.sources(made, seminar)
    assert [pane.tabs.tabText(place) for place in range(2)] == [transcript.title, "Question"]
    (chips,) = pane.leads.findChildren(AnchorChips)
    chip = chips.chips[0].button
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
    assert pane.leads.findChildren(PlainLabel)[1].text().startswith("A stratified audit cuts the season")
    page.sheet.form.go(first.unit_id)
    assert any(label.text().startswith("A detector of") for label in pane.leads.findChildren(PlainLabel))
    settle(page)


def tabs_of(page) -> list[Kind]:
    return [kind for place, kind in enumerate(WRITTEN) if page.tabs.isTabVisible(place)]


DOUBTFUL = """J. Smith. Deep rivers of the north. Water, 2019.
Jane Doe, John Roe, and Ann Lee.
Salt lakes of the east. 2021."""


@pytest.fixture
def evidence_page(small, page_over):
    return page_over(small, "Author", item_id=items.ids(small)[0], kind="evidence")


@pytest.fixture
def evidence_panel(evidence_page):
    press("F8")
    return evidence_page.side.references


def paste(evidence_panel, qtbot, text: str) -> None:
    QApplication.clipboard().setText(text)
    evidence_panel.text.paste()
    qtbot.waitUntil(lambda: evidence_panel.entries.count() > 0)


def references(small) -> list[tuple[str, str]]:
    return [
        (unit.text, unit.identifier)
        for unit in lookups.own_evidence(small, items.ids(small)[0]).document.units
    ]


def test_letter_7_pasted_dois_are_taken_with_one_key_and_doubtful_references_only_when_ticked(
    evidence_panel, small, qtbot
):
    paste(evidence_panel, qtbot, "10.1234/a\n10.1234/b\n10.1234/A\nsee above")
    assert evidence_panel.summary.text() == "4 entries (a list): 2 new, 1 repeated, 1 not read."
    press("Ctrl+T")
    assert references(small) == [("", "doi:10.1234/a"), ("", "doi:10.1234/b")]
    assert (evidence_panel.text.toPlainText(), evidence_panel.take_all.isEnabled()) == ("", False)
    press("Ctrl+Z")
    assert references(small) == []
    evidence_panel.text.setFocus()
    paste(evidence_panel, qtbot, DOUBTFUL)
    assert evidence_panel.take_all.text().startswith("Take 1 reference")
    evidence_panel.tick.click()
    evidence_panel.entries.item(1).setCheckState(Qt.CheckState.Unchecked)
    press("Ctrl+T")
    assert [text for text, _ in references(small)] == [
        "Deep rivers of the north",
        "Salt lakes of the east",
    ]
    assert evidence_panel.tick.isHidden()


def test_letter_7_a_file_is_read_where_it_is_chosen(evidence_panel, small, tmp_path: Path, qtbot):
    (path := tmp_path / "works.bib").write_text(
        "@book{a, title={Deep rivers of the north}, year={2020}}", "utf-8"
    )
    evidence_panel.read_file(path)
    qtbot.waitUntil(lambda: evidence_panel.entries.count() > 0)
    press("Ctrl+T")
    assert references(small) == [("Deep rivers of the north", "")]


@pytest.mark.usefixtures("evidence_page")
def test_letter_7_one_key_takes_a_research_paper_as_its_own_evidence(small, tmp_path: Path):
    (path := tmp_path / "Deep rivers.md").write_text("Words.", "utf-8")
    source = items.add_source(small, items.ids(small)[0], path).subject
    materials.describe(
        small, materials.Thing.SOURCE, {source: {"kind": "research", "identifier": "10.1234/a"}}
    )
    press("Ctrl+Shift+S")
    assert references(small) == [("Deep rivers", "doi:10.1234/a")]
