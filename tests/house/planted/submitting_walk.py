"""A planted protocol whose labels are submitted: handed out, labelled in the window and by file, and counted."""

from pathlib import Path

import pytest
from sqlalchemy import update

from annotator.actions.assignments import agreements, assignments
from annotator.actions.authoring import artifacts
from annotator.actions.imports import label_matching
from annotator.actions.labelling import label_cases, label_sealing, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT
from tests.house.planted.by_keys import at_work
from tests.projects import pairs_project as pairs
from tests.projects.labelling_project import add_report
from tests.windows.labelling_keys import press

PRESENCE = "planted.presence"
POINTS = (0.5, 0.3, 0.2)
REPORTS = ("Alpha", "Beta")
ASKED = len(POINTS) * len(REPORTS)


def handed_out(folder: Path) -> Project:
    """A project without rubrics, whose checklist came from elsewhere; Ada and Ben are to label by it."""
    folder.mkdir()
    project = pairs.pairs_project(folder)
    units = tuple(CheckPoint(text=f"Point {share}", share=share) for share in POINTS)
    begun = artifacts.start(project, pairs.item(project), Kind.CHECKLIST, Checklist(units=units)).subject
    assignments.seal(project, begun)
    with project.store.write() as db:
        db.execute(update(ARTIFACT).values(author_id=""))
    for system in REPORTS:
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
    """Ada labels what was packed for her, and sends it back."""
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
    with at_work(Project.open(project.path), "Ben") as window:
        page = window.show_page("Label", protocol=PRESENCE)
        for _ in REPORTS:
            for place, unit in enumerate(page.bench.units):
                page.bench.move_to(unit.id)
                press("1" if place else "3")
            press("Ctrl+Return")
        # Nothing is left to label, and that is said.
        assert page.middle.currentWidget() is page.done
        assert "6 points in 2 reports" in page.done._words.text()
    state = label_sealing.state(pairs.work_as(project, "Ben"), pairs.item(project), PRESENCE)
    assert (state.state, state.labelled, state.units) == (label_sealing.SEALED, ASKED, ASKED)


def submitted(_project: Project, folder: Path) -> None:
    """The whole walk."""
    project = handed_out(folder / "submitted")
    labelled_by_file(project, folder / "submitted")
    assert counted(project) == [1, 1]
    labelled_by_keyboard(project)
    # Ada finds every point, Ben all but one: people's figure is the mean of theirs.
    assert counted(pairs.work_as(project, "Cora")) == pytest.approx([5 / 6] * 2)
    assert len(agreements.of_item(project, pairs.item(project))) == 1
    written = label_matching.export(
        project, folder / "presence.csv", choice=label_matching.LabelSelection((PRESENCE,))
    )
    assert written.labels == 2 * ASKED
    project.close()
