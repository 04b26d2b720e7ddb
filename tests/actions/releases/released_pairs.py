"""A project with every step of the work in pairs in it: what is frozen, closed twice, objected to, and still open."""

from pathlib import Path

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.domain.experts.adjudication import Confidence, Reason
from annotator.domain.experts.assignment import Stage
from tests.projects.pairs_project import (
    ADA,
    BEN,
    add_report,
    diagnostics,
    item,
    labels,
    letter_of,
    opened,
    pairs_project,
    rubric,
    submit,
    work_as,
)

CANARY = "Canary-Name"
LATER = "Discusses what verification by people costs"


def paired_project(folder: Path) -> Project:
    """Ada and Ben have written rubrics, diagnostics and labels for the first item; Cora works.

    The rubric's consensus has two versions, an objection between them; since then Ada has sealed her rubric anew.
    The diagnostics are opened and not closed. Everybody's name is a canary.
    """
    project = pairs_project(folder, 2)
    settings.write(project, Stage.RUBRIC, "One claim in each criterion.")
    made = submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")})
    submit(
        project, {"Ada": diagnostics((True, True, False), "s"), "Ben": diagnostics((True, False, False), "t")}
    )
    report = add_report(project)
    submit(
        project,
        {
            "Ada": labels(report, {"a1": "yes", "a2": "no"}),
            "Ben": labels(report, {"a1": "yes", "a2": "unsure"}),
        },
    )
    _adjudicate(project)
    assignments.reopen(work_as(project, "Ada"), made["Ada"])
    artifacts.change_unit(project, made["Ada"], "a5", text=LATER)
    assignments.seal(project, made["Ada"], reason="meant so")
    opened(project, Stage.DIAGNOSTICS)
    work_as(project, "Cora")
    for each in people.people(project):
        people.rename_person(project, each.id, f"{CANARY}-{each.name}")
    return project


def _adjudicate(project: Project) -> None:
    adjudication = opened(project)
    taken = letter_of(project, adjudication, "Ben")
    for row in adjudicating.sheet(project, adjudication).rows:
        take = "both" if row.ruling.unanimous else taken if taken in row.units else "drop"
        ruling.rule(
            project,
            row.ruling.id,
            take,
            reason=Reason.WORDING,
            rationale="Said better.",
            confidence=Confidence.HIGH,
        )
    ruling.close(project, adjudication)
    feedback.dispute(work_as(project, "Ada"), item(project), Stage.RUBRIC, "The cost of checking is missing.")
    ruling.reopen(work_as(project, "Cleo"), adjudication, "It is.")
    dropped = next(
        row.ruling for row in adjudicating.sheet(project, adjudication).rows if row.ruling.take == "drop"
    )
    ruling.write_own(project, dropped.id, text="Discusses the cost of verification")
    ruling.explain(project, dropped.id, gap="Whether costs count is left open.")
    ruling.close(project, adjudication)


def released(project: Project, folder: Path) -> Path:
    releases.export(project, folder)
    return folder


def taken_in(folder: Path, source: Path, title: str = "pairs") -> Project:
    folder.mkdir(parents=True, exist_ok=True)
    project = Project.create(folder / "taken.goldsmith", title)
    imports.run(project, "goldsmith", [source], warm=False)
    return project
