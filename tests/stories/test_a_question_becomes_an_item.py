"""The one story by keyboard: candidates are collected, rated and thinned out; what is kept gets its gold and scores."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.adjudication import adjudicating
from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.studies import question_views
from annotator.cli import run_command
from annotator.domain.experts.adjudication import form_of
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.selection import Recommendation
from annotator.gui.shell.window import Window
from tests.projects.pairs_project import ORIGINS, TYPE, pairs_project, person
from tests.windows.story_hands import opened, settle, submit, window_of
from tests.windows.using import Typed, focus, press, type_words

COUNT, GOOD, POOR = 6, 5, 2
# The alias of Cora, who made the project.
CORA = "R1"
# Rated below the bar: of one origin no candidate, of another half of them, of the third all.
LEFT_OUT = (2, 4, 5)
DRAFT = ("Explains how evidence is attributed", "Names a study of citations")
DOUBLES = {
    "Ada": ("Explains how evidence is attributed", "Compares two ways to attribute it"),
    "Ben": ("Explains how evidence is attributed", "States what attribution costs"),
}
ASKED = "How do research agents attribute what they say to sources?"
JUDGE, SUBJECT, REASON = "mock", "Attribution", "It asks how something is done."
REPORT = "Agents attribute what they say by numbered citations, which readers can follow."
WHY = "It says which part of a report it asks about."
SHOWN = "How do agents show where their evidence is from?"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(pairs_project(tmp_path, 0)) as project:
        return project.path


def collect(window: Window) -> None:
    """Every candidate is typed into the form, with its origin."""
    page = window.show_page("Items")
    for number in range(COUNT):
        press("Ctrl+N", Typed(f"Candidate {number}: how is evidence attributed?"))
        press(Typed(ORIGINS[number % 3]), at=page.form.origin)
        press("Space", at=page.form.save)


def classify(path: Path, llmock: LLMock, qtbot) -> None:
    """A model proposes what each candidate is of, and Cora takes that over, one by one."""
    with opened(path, "Cora") as project:
        judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
        for _ in range(COUNT):
            llmock.reply(json.dumps({"reason": REASON, "question_type": TYPE, "subject": SUBJECT}))
        keys = [items.read(project, one).key for one in items.ids(project)]
    of_items = [word for key in keys for word in ("--item", key)]
    ask = ["draft", "ask", str(path), "--judge", JUDGE, "--kind", "classification", "--as", CORA]
    assert run_command([*ask, *of_items]) == 0
    with opened(path, "Cora") as project:
        assert {items.read(project, one).question_type for one in items.ids(project)} == {""}
    with window_of(path, "Cora", qtbot) as window:
        page = window.show_page("Items")
        for row in range(COUNT):
            page.table.selectRow(row)
            press("Ctrl+Shift+D", at=page.table)
            assert REASON in page.form.proposal.words.text()
            press("Space", "Space")
        project = window.session.project
        result = [items.read(project, one) for one in items.ids(project)]
        assert {(one.question_type, one.subject) for one in result} == {(TYPE, SUBJECT)}


def rating(number: int) -> int:
    return POOR if number in LEFT_OUT else GOOD


def rate(window: Window) -> None:
    """Each candidate on the form: every dimension with its reason, what to do with it, and the whole submitted."""
    for number, item_id in enumerate(items.ids(window.session.project)):
        page = window.show_page("Author", item_id=item_id, kind=Kind.SELECTION.value)
        press("Space")
        for editor in page.sheet.form.editors:
            editor.enter()
            press(str(rating(number)))
            press(Typed(WHY), at=editor.fields["note"])
        page.sheet.form.whole.fields["recommendation"].enter()
        press("1" if rating(number) == GOOD else "3")
        submit(page)
        (sealed,) = (
            artifact
            for artifact in annotating.artifacts_of(page.session.project, item_id)
            if artifact.author_id == page.session.project.by
        )
        advice = Recommendation.KEEP if rating(number) == GOOD else Recommendation.DROP
        assert sealed.document.recommendation == advice
        assert {unit.note for unit in sealed.document.units} == {WHY}


def write(window: Window, kind: Kind, item_id: str, *lines: str) -> None:
    """A document line by line, then submitted."""
    page = window.show_page("Author", item_id=item_id, kind=kind.value)
    press("Space")
    for number, words in enumerate(lines):
        if number:
            press("Ctrl+N")
        type_words(words)
        if kind is Kind.RUBRIC:
            press("Alt+3")
    submit(page)


def review(window: Window, item_id: str, qtbot) -> None:
    """Ben takes the draft over as it is, adds a criterion, answers the form and hands it back."""
    project = window.session.project
    press("Space", at=window.show_page("Reviews", item_id=item_id).begin)
    page = window.page
    assert page.NAME == "Author"
    page.sheet.form.editors[-1].text.setFocus()
    press("Ctrl+N", Typed("Describes what cannot be attributed"), "Alt+2")
    page.leave()
    answers = window.show_page("Reviews", item_id=item_id).boxes
    qtbot.waitUntil(lambda: all(box.isVisible() for box, _ in answers.values()))
    answers["completeness"][0].setFocus()
    for question in form_of(Kind.RUBRIC):
        assert focus() is answers[question][0]
        press("Y", "Tab", 2)
    (review_line,) = reviewing.lines(project)
    assert review_line.review.form == dict.fromkeys(form_of(Kind.RUBRIC), "yes")
    submit(window.show_page("Author", item_id=item_id, kind=Kind.RUBRIC.value))


def label(window: Window, item_id: str, response_id: str, criteria: int) -> None:
    page = window.show_page("Label", item_id=item_id, response_id=response_id)
    assert page.report_pane.question.text() == items.read(window.session.project, item_id).question
    press("1", criteria, "Ctrl+Return")


def test_a_question_becomes_an_item(path: Path, qtbot, llmock: LLMock) -> None:
    with window_of(path, "Cora", qtbot) as window:
        collect(window)
    classify(path, llmock, qtbot)
    for name in ("Ada", "Ben"):
        with window_of(path, name, qtbot) as window:
            rate(window)
    with window_of(path, "Cora", qtbot) as window:
        first, second = select(window)
    query_and_rubric_are_settled(path, first, second, qtbot)
    rubric_is_reviewed(path, second, qtbot)
    settled_query_is_asked(path, first, llmock)
    reports_are_labelled(path, (first, second), qtbot)


def select(window: Window) -> list[str]:
    """What is below the bar is left out; the first item is for doubles, the second for a draft and its review."""
    window.show_page("Items")
    press("Ctrl+Shift+A")
    project = window.session.project
    assert items.count(project) == COUNT - len(LEFT_OUT)
    lines = {line.origin: line for line in question_views.selection_report(project).funnel}
    for place, origin in enumerate((*ORIGINS, question_views.ALL_ORIGINS)):
        of = [number for number in range(COUNT) if origin not in ORIGINS or number % 3 == place]
        kept = [number for number in of if number not in LEFT_OUT]
        line = lines[origin]
        assert (line.collected, line.classified, line.rated) == (len(of), len(of), len(of))
        assert (line.reached, line.in_use, line.settled) == (len(kept), len(kept), 0)
    chosen = items.ids(project)[:2]
    ids = {name: person(project, name).id for name in ("Ada", "Ben")}
    for name, purpose in (("Ada", Purpose.WORK), ("Ben", Purpose.REVIEW)):
        assignments.assign_one(project, chosen[1], ids[name], Stage.RUBRIC, purpose=purpose)
    return chosen


def query_and_rubric_are_settled(path: Path, first: str, second: str, qtbot) -> None:
    """One query is settled, and from now on it is what is asked; its rubric was written twice."""
    with window_of(path, "Ada", qtbot) as window:
        write(window, Kind.QUERY, first, ASKED)
        write(window, Kind.RUBRIC, first, *DOUBLES["Ada"])
        write(window, Kind.RUBRIC, second, *DRAFT)
    with window_of(path, "Ben", qtbot) as window:
        write(window, Kind.QUERY, first, SHOWN)
        write(window, Kind.RUBRIC, first, *DOUBLES["Ben"])
    with window_of(path, "Cleo", qtbot) as window:
        for stage in (Stage.QUERY, Stage.RUBRIC):
            settle(window, first, stage, qtbot)
        queue = adjudicating.queue(window.session.project)
        states = {line.stage: line.state for line in queue if line.item_id == first}
        assert (states[Stage.QUERY], states[Stage.RUBRIC]) == ("closed", "closed")
        asked = items.read(window.session.project, first)
        assert asked.question in (ASKED, SHOWN)
        assert asked.working_title.startswith("Candidate 0")


def rubric_is_reviewed(path: Path, second: str, qtbot) -> None:
    """The other rubric was drafted by one and is reviewed by another, and its author agrees."""
    with window_of(path, "Ben", qtbot) as window:
        review(window, second, qtbot)
    with window_of(path, "Ada", qtbot) as window:
        press("Space", at=window.show_page("Reviews", item_id=second).agree)
        (line,) = reviewing.lines(window.session.project)
        assert line.state == reviewing.AGREED


def settled_query_is_asked(path: Path, first: str, llmock: LLMock) -> None:
    """A model that writes reports is sent the wording that was settled, and no working title."""
    llmock.reset()
    for _ in range(COUNT - len(LEFT_OUT)):
        llmock.reply(REPORT)
    assert run_command(["respond", str(path), "--system", "Larkmoor", "--judge", JUDGE]) == 0
    with opened(path, "Cora") as project:
        asked = items.read(project, first)
    sent = [json.dumps(request.body) for request in llmock.requests]
    assert (len(sent), sum(asked.question in one for one in sent)) == (COUNT - len(LEFT_OUT), 1)
    assert not any(asked.working_title in one for one in sent)


def reports_are_labelled(path: Path, chosen: tuple[str, ...], qtbot) -> None:
    """The report on each is labelled under its settled wording, which stands on the page."""
    with opened(path, "Cora") as project:
        for item_id in chosen:
            assignments.assign_one(project, item_id, person(project, "Ada").id, Stage.LABELLING)
    with window_of(path, "Ada", qtbot) as window:
        project = window.session.project
        for item_id in chosen:
            (report,) = (task for task in labels.queue(project) if task.item_id == item_id)
            label(window, item_id, report.response_id, report.units)
            assert label_sealing.state(project, item_id).state == "sealed"
    with opened(path, "Cora") as project:
        assert items.count(project) == COUNT - len(LEFT_OUT)
