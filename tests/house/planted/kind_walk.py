"""What is done with a planted kind of document, and a paper, step by step; run in a copy of the program."""

import csv
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.undo import history, undo_places
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.gui.shell.navigation import PAGES
from annotator.gui.shell.start import make_application
from tests.house.planted import walk
from tests.house.planted.walk import at_work, content, walked
from tests.projects import pairs_project as pairs
from tests.windows.using import press, type_words

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
        seen = undo_places.seen(project, history.undo(project))
        assert seen.words == "strength of motive 2, item 1"
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
    assert (votes.stage, votes.field, votes.votes) == (MOTIVES, "strength", 1)
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
    print(json.dumps([main(Path(sys.argv[1])), walk.main(Path(sys.argv[2]))]))
