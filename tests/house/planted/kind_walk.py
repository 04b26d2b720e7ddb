"""What is done with a planted kind of document, and a paper, step by step; run in a copy of the program."""

import asyncio
import csv
import io
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel
from sqlalchemy import update

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import assignments
from annotator.actions.attacks import biases
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.imports import imports, label_files, label_matching
from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_cases, label_sealing, labels
from annotator.actions.orders import orders
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_pictures, result_raters, results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.actions.undo import history, undo_places
from annotator.actions.validation import stand_in, validation, validation_views, validity_cards
from annotator.cli import run_command
from annotator.domain.common import Refusal
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.gui.pages.labelling.page import LabelPage
from annotator.gui.review.verdict_words import face
from annotator.gui.shell.navigation import PAGES
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ARTIFACT
from tests.projects import pairs_project as pairs
from tests.projects.filled_project import add_checklist
from tests.projects.small_projects import add_report, small_project, submit_labels
from tests.windows.using import press, type_words

# Key → what is said then of the unit at hand.
KEYS = {
    "planted.stance": {
        "1": "supports",
        "2": "omits",
        "3": "contradicts",
        "-": labels.UNSURE,
        "Ctrl+Z": "contradicts",
    },
    "planted.rating": {"0": "0", "7": "7", "=": "10", "-": labels.UNSURE, "Ctrl+Z": "10"},
}


@contextmanager
def at_work(project: Project) -> Iterator[Window]:
    """The window with whoever works, and the keyboard."""
    made = Window(project, "Items")
    made.show()
    made.activateWindow()
    while QApplication.activeWindow() is not made:
        QApplication.processEvents()
    yield made
    made.close()


def labelled_by_keys(project: Project, folder: Path) -> None:
    make_application()
    with at_work(Project.open(project.path)) as window:
        for protocol in label_cases.offered(project):
            response_id = labels.queue(project, protocol)[0].response_id if protocol in KEYS else ""
            page = window.show_page("Label", protocol=protocol, response_id=response_id)
            assert isinstance(page, LabelPage)
            assert page.bench.protocol == protocol
            called, tabs = PROTOCOLS[protocol].presentation, page.tabs.tabs
            assert tabs.tabText(tabs.currentIndex()) == called.tab
            assert protocol not in KEYS or page.criteria.title.text() == called.title
            unit_id = page.bench.current_id
            for key, value in KEYS.get(protocol, {}).items():
                page.flow.touched()
                page.bench.move_to(unit_id)
                page.criteria.take_focus()
                press(key)
                assert page.bench.value_of(unit_id) == value, f"{protocol}: {key}"
                assert page.criteria.cards.rows[unit_id].chip.accessibleName() == face(value, protocol).words


PRESENCE = "planted.presence"
POINTS = (0.5, 0.3, 0.2)
ANSWERING = ("Alpha", "Beta")
ASKED = len(POINTS) * len(ANSWERING)


def handed_out_to_label(folder: Path) -> Project:
    """A project without rubrics, whose checklist came from elsewhere; Ada and Ben are to label by it."""
    folder.mkdir()
    project = pairs.pairs_project(folder)
    units = tuple(CheckPoint(text=f"Point {share}", share=share) for share in POINTS)
    begun = artifacts.start(project, pairs.item(project), Kind.CHECKLIST, Checklist(units=units)).subject
    assignments.seal(project, begun)
    with project.store.write() as db:
        db.execute(update(ARTIFACT).values(author_id=""))
    for system in ANSWERING:
        add_report(project, pairs.item(project), system, f"# {system}")
    ada, ben, cleo = (pairs.person(project, name).id for name in ("Ada", "Ben", "Cleo"))
    assignments.assign(
        project, AssignmentPlan((Stage.LABELLING,), 2, (ada, ben), (cleo,), (pairs.item(project),))
    )
    return project


def counted(project: Project) -> list[float | None]:
    """The figure by people, system by system: the share of points that a report supports."""
    people = [rater for rater in result_raters.raters(project, PRESENCE) if rater.id == result_raters.PEOPLE]
    result = [row for one in people for row in results.rows(project, one.id, PRESENCE)]
    return [row.estimate.value for row in result if row.group_by == "all"]


def labelled_by_file(project: Project, folder: Path) -> None:
    ada = pairs.person(project, "Ada").id
    task = packing.task(pairs.work_as(project, "Cora"), ada, folder / "ada.goldsmith-task")
    theirs = tasking.take_task(task.path, folder / "ada.goldsmith").project
    assert PRESENCE in label_cases.offered(theirs)
    (item_id,) = {one.item_id for one in labels.queue(theirs, PRESENCE)}
    assert labels.lacking(theirs) == Kind.RUBRIC
    for response_id, unit_id in label_sealing.missing(theirs, item_id, PRESENCE):
        labels.set_label(theirs, response_id, unit_id, "supports", protocol=PRESENCE)
    label_sealing.submit(theirs, item_id, PRESENCE)
    with pytest.raises(Refusal, match="submitted"):
        labels.set_label(theirs, response_id, unit_id, "omits", protocol=PRESENCE)
    work = tray.write_work(theirs, folder / "ada.goldsmith-work").path
    theirs.close()
    unpacking.take_in(project, [work])


def labelled_by_keyboard(project: Project) -> None:
    """Ben labels in the window, and submits there; the first point of each report he finds contradicted."""
    with at_work(pairs.work_as(Project.open(project.path), "Ben")) as window:
        page = window.show_page("Label", protocol=PRESENCE)
        for _ in ANSWERING:
            for place, unit in enumerate(page.bench.units):
                page.bench.move_to(unit.id)
                press("1" if place else "3")
            press("Ctrl+Return")
        # Nothing is left to label, and that is said.
        assert page.middle.currentWidget() is page.done
        assert "6 points in 2 reports" in page.done._words.text()
    submission = label_sealing.submission(pairs.work_as(project, "Ben"), pairs.item(project))
    assert (submission.state, len(artifacts.read(project, submission.id).document.units)) == ("sealed", ASKED)


def submitted(_project: Project, folder: Path) -> None:
    project = handed_out_to_label(folder / "submitted")
    labelled_by_file(project, folder / "submitted")
    assert counted(project) == [1, 1]
    labelled_by_keyboard(project)
    # Ada finds every point, Ben all but one: people's figure is the mean of theirs.
    assert counted(pairs.work_as(project, "Cora")) == pytest.approx([5 / 6] * 2)
    assert len(assignments.of_item(project, pairs.item(project))) == 1
    written = label_matching.export(
        project, folder / "presence.csv", choice=label_matching.LabelSelection((PRESENCE,))
    )
    assert written.labels == 2 * ASKED
    project.close()


STANCE, RATING, DUEL = "planted.stance", "planted.rating", "planted.duel"
PLANTED = (STANCE, RATING)


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


def figures(project: Project) -> list[tuple[object, ...]]:
    return [
        (rater.name, row.metric, row.system, row.group_by, row.group, row.estimate)
        for protocol in PLANTED
        for rater in result_raters.everybody(project, protocol)
        for row in results.rows(project, rater.id, protocol)
    ]


def content(release: Path) -> dict[str, bytes]:
    """What a release holds, file by file, beside what it says of the project as a whole."""
    return {
        path.relative_to(release).as_posix(): path.read_bytes()
        for path in release.rglob("*")
        if path.is_file() and path.name not in ("README.md", "croissant.json", "manifest.json", "SHA256SUMS")
    }


def judged(project: Project, folder: Path) -> None:
    for protocol in (USUAL, *PLANTED):
        order = RunRequest("baseline", protocol)
        assert judge_runs.plan(project, order).to_do > 0
        line = asyncio.run(orders.carry_out(project, order))
        assert line["done"] == line["total"] > 0
        assert judge_runs.plan(project, order).to_do == 0


def labelled(project: Project, folder: Path) -> None:
    for protocol in (USUAL, *PLANTED):
        for task in labels.queue(project, protocol):
            sheet = labels.sheet(project, task.response_id, protocol)
            units = [unit.id for group in sheet.groups for unit in group.units]
            for place, unit in enumerate(units):
                value = sheet.values[place % len(sheet.values)]
                labels.set_label(project, sheet.response_id, unit, value, protocol=protocol)
            labels.set_label(project, sheet.response_id, units[0], labels.UNSURE, protocol=protocol)


def unsure_is_missing(project: Project, folder: Path) -> None:
    submit_labels(project)
    for protocol in PLANTED:
        (me,) = (rater for rater in result_raters.raters(project, protocol) if rater.name != "baseline")
        row, *_ = results.rows(project, me.id, protocol)
        assert row.estimate.missing > 0


def validated(project: Project, folder: Path) -> None:
    for protocol, positive, words in ((STANCE, "supports", AIM), (RATING, "10", NONE)):
        query = validation.ValidationQuery(protocol, positive=positive)
        assert validation.report(project, query).of("baseline").units > 0
        assert [
            answer.rater.name for answer in stand_in.report(project, stand_in.StandInQuery(query)).answers
        ] == ["baseline"]
        assert validity_cards.card(project, validity_cards.CardQuery(protocol, judge="baseline")).sha256
        assert words in said(["validate", str(project.path), "--protocol", protocol])


def corrected_by_labels(project: Project, folder: Path) -> None:
    chosen = {"metric": "planted.mean", "judge": "baseline"}
    offered, fitting = result_views.offered(project, "corrected", chosen, validation_views.VIEWS)
    assert [choice.name for choice in offered][:2] == ["metric", "judge"]
    view = result_views.named("corrected", validation_views.VIEWS)
    board, *_ = view.sheets(view.report(project, **fitting))
    (by_results,) = (
        [
            row.estimate.value
            for row in results.rows(project, rater.id, RATING)
            if (row.metric, row.group_by) == ("planted.mean", "all")
        ]
        for rater in result_raters.raters(project, RATING)
        if rater.name == "baseline"
    )
    assert sorted(round(line.cells[1].value, 9) for line in board.lines) == sorted(
        round(value, 9) for value in by_results
    )


def labels_leave_and_return(project: Project, folder: Path) -> None:
    choice = label_matching.LabelSelection(PLANTED, everything=True)
    written = label_matching.export(project, folder / "labels.csv", choice=choice)
    result = label_files.preview(project, [written.path])
    assert (result.same, result.new, result.problems) == (written.labels, 0, ())


def released_with_paper(project: Project, folder: Path) -> None:
    for profile in releases.PROFILES:
        releases.export(project, folder / profile, profile)
    other = new_project(folder / "other.goldsmith")
    imports.run(other, releases.GOLDSMITH, [folder / releases.GOLDSMITH], warm=False)
    assert figures(other) == figures(project)
    assert not checking.check(other).problems
    releases.export(other, folder / "again")
    assert content(folder / "again") == content(folder / releases.GOLDSMITH)
    other.close()


def compared_in_pairs(project: Project, folder: Path) -> None:
    asyncio.run(orders.carry_out(project, RunRequest("baseline", DUEL)))
    table, *_, pairs = result_views.show(project, "wins", {"protocol": DUEL}).sheets
    assert table.lines
    assert {line.source.protocol for line in pairs.lines if line.source} == {DUEL}
    # Whose id comes first is better in both orders.
    counted = [(row["order_decides"], row["missing"], row["ties"]) for row in result_pictures.rows(table)]
    assert set(counted) == {(0, 0, 0)}
    assert "First one named (Planted duel)" in {one.name for one in biases.report(project)}


def layout_comes_and_goes(project: Project, folder: Path) -> None:
    other = new_project(folder / "planted.goldsmith")
    for again in (False, True):
        _, report = imports.run(other, "planted", [folder / "planted"], warm=False)
        assert (report.new == 0) is again
    other.close()
    written = label_matching.export(
        project, folder / "theirs", "planted", label_matching.LabelSelection(everything=True)
    )
    result = label_files.preview(project, [written.path], label_files.LabelImportOptions(protocol=STANCE))
    assert (result.same, result.new, result.problems) == (written.labels, 0, ())


def layout_offered(project: Project, folder: Path) -> None:
    with at_work(project) as window:
        for page, words in {
            "Import": "Planted bench (one file",
            "Release": "Planted bench",
            "Validate": "",
        }.items():
            window.show_page(page)
            assert words in "".join(shown(window)), page
        window.show_page("Validate", part="Sets")
        assert "Planted bench's files (labels.planted …)" in "".join(shown(window))
    make_application().processEvents()
    assert "Planted bench's layout, a folder (*)" in label_matching.offered().values()
    for words in (["import"], ["export"], ["labels", "import"], ["labels", "export"]):
        assert "planted" in said([*words, "--help"])


PAPER_STEPS: dict[str, Callable[[Project, Path], None]] = {
    step.__name__: step
    for step in (
        judged,
        labelled,
        labelled_by_keys,
        unsure_is_missing,
        submitted,
        validated,
        corrected_by_labels,
        labels_leave_and_return,
        released_with_paper,
        compared_in_pairs,
        layout_comes_and_goes,
        layout_offered,
    )
}


def walked(steps: Mapping[str, Callable[[], None]]) -> dict[str, str]:
    """Take every step: what went wrong in each; nothing is \"\"."""
    wrong = {}
    for name, step in steps.items():
        try:
            step()
            wrong[name] = ""
        except Exception:  # noqa: BLE001
            wrong[name] = traceback.format_exc()
    return wrong


def paper_walk(folder: Path) -> dict[str, str]:
    """Walk through every step in a project of two items, each with a rubric, a checklist and two reports."""
    project = small_project(folder)
    add_checklist(project)
    wrong = walked({name: partial(step, project, folder) for name, step in PAPER_STEPS.items()})
    project.close()
    return wrong


MOTIVES = "motives"
FIRST, SECOND = "A town must decide where to plant its trees", "Heat kills old people in summer"


def of_state(project: Project, state: State) -> list[Artifact]:
    result = annotating.artifacts_of(project, pairs.item(project))
    return [one for one in result if one.kind == MOTIVES and one.state is state]


def handed_out(project: Project, folder: Path) -> None:
    ada, ben, cleo = (pairs.person(project, name).id for name in ("Ada", "Ben", "Cleo"))
    stages = (Stage(MOTIVES),)
    assignments.assign(project, AssignmentPlan(stages, 2, (ada, ben), (cleo,), tuple(items.ids(project))))
    assert [one.stage for one in assignments.of_person(project, ada)] == list(stages)
    assert settings.shipped(stages[0])


def written_by_keyboard(project: Project, folder: Path) -> None:
    with at_work(pairs.work_as(project, "Ada")) as window:
        page = window.show_page("Author", item_id=pairs.item(project), kind=Kind(MOTIVES))
        press("Return")
        type_words(FIRST)
        press("Alt+3", "Ctrl+N")
        type_words(SECOND)
        press("Ctrl+Return")
        assert "Motive 2: How strong is it?" in page.sheet.panel.entries.item(0).text()
        press("Return", "4")
        assert undo_places.seen(project, history.undo(project)).words == "strength of motive 2, item 1"
        history.redo(project)
        press("Ctrl+Return")
        (sealed,) = of_state(project, State.SEALED)
    assert [(unit.text, unit.strength) for unit in sealed.document.units] == [(FIRST, 3), (SECOND, 4)]


def sent_back_by_a_second(project: Project, folder: Path) -> None:
    task = packing.task(
        pairs.work_as(project, "Cora"), pairs.person(project, "Ben").id, folder / "ben.goldsmith-task"
    )
    theirs = tasking.take_task(task.path, folder / "ben.goldsmith").project
    units = [{"text": FIRST, "strength": 3}, {"text": SECOND, "strength": 1}]
    document = document_of(Kind(MOTIVES), {"units": units})
    assignments.seal(theirs, artifacts.start(theirs, pairs.item(theirs), Kind(MOTIVES), document).subject)
    work = tray.write_work(theirs, folder / "ben.goldsmith-work").path
    theirs.close()
    unpacking.take_in(project, [work])
    (frozen,) = assignments.of_item(project, pairs.item(project))
    figures = {figure.name: figure.value for figure in frozen.pairs[0].figures}
    assert (figures["match_f1"], figures["strength_agreement"]) == (1, 0.5)
    assert "strength_kappa" in figures
    rows = agreement_report.report(pairs.work_as(project, "Cora")).rows
    assert {row.field for row in rows} == {"units", "strength"}


def adjudicated_by_keyboard(project: Project, folder: Path) -> None:
    with at_work(pairs.work_as(project, "Cleo")) as window:
        page = window.show_page("Adjudicate")
        page.focus_first()
        press("Return", "F9")
        said = [vote.text().split("\u2003")[0] for vote in page.rows.controls.votes]
        assert said == [f"strength {number}" for number in range(1, 6)], said
        press("4")
        assert page.rows.card.differs.words() == ["strength differs"]
        letter = pairs.letter_of(project, page.bench.sheet.adjudication_id, "Ada")
        press("1" if letter == "A" else "2", "Alt+3", "Ctrl+Return")
        assert page.messages.text().startswith("Motives of item 1 is closed as version 1: 2 motives.")
        (settled,) = of_state(project, State.CONSENSUS)
    assert [unit.strength for unit in settled.document.units] == [3, 4]


def told(project: Project, folder: Path) -> None:
    (votes,) = adjudicating.votes(pairs.work_as(project, "Cora"))
    assert (votes.stage, votes.field, len(votes.items)) == (MOTIVES, "strength", 1)
    digest = feedback.digest(pairs.work_as(project, "Ben"), pairs.item(project))
    assert [row.change for row in digest.stages[0].rows] == ["kept", "strength changed"]


def every_page_opens(project: Project, folder: Path) -> None:
    with at_work(pairs.work_as(Project.open(project.path), "Cora")) as window:
        for page in PAGES:
            window.show_page(page)
            window.session.wait()


def released(project: Project, folder: Path) -> None:
    pairs.work_as(project, "Cora")
    for profile in releases.PROFILES:
        releases.export(project, folder / profile, profile)
    with (folder / "csv" / f"{KINDS[Kind(MOTIVES)].table}.csv").open(encoding="utf-8-sig") as table:
        rows = [(row["state"], row["text"], row["strength"]) for row in csv.DictReader(table)]
    assert sorted(rows)[:2] == [("consensus", FIRST, "3"), ("consensus", SECOND, "4")]
    other = new_project(folder / "other.goldsmith")
    imports.run(other, releases.GOLDSMITH, [folder / releases.GOLDSMITH], warm=False)
    assert not checking.check(other).problems
    releases.export(other, folder / "again")
    other.close()
    assert content(folder / "again") == content(folder / releases.GOLDSMITH)


STEPS: dict[str, Callable[[Project, Path], None]] = {
    step.__name__: step
    for step in (
        handed_out,
        written_by_keyboard,
        sent_back_by_a_second,
        adjudicated_by_keyboard,
        told,
        every_page_opens,
        released,
    )
}


def taken(step: Callable[[Project, Path], None], folder: Path) -> None:
    project = Project.open(folder / "pairs.goldsmith")
    step(project, folder)
    project.close()


def main(folder: Path) -> dict[str, str]:
    """Walk through every step in a project of two who write and one who adjudicates."""
    make_application()
    pairs.pairs_project(folder).close()
    return walked({name: partial(taken, step, folder) for name, step in STEPS.items()})


if __name__ == "__main__":
    # What went wrong in each step of both walks, as JSON.
    print(json.dumps([main(Path(sys.argv[1])), paper_walk(Path(sys.argv[2]))]))
