"""The pilot's summary and the final pass: what is looked for in each item, who signed, and what a release holds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.agreement import pilot_summary
from annotator.actions.assignments import assignments, submitting
from annotator.actions.authoring import artifacts, guidelines
from annotator.actions.imports import imports
from annotator.actions.items import final_pass, items, pages
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.undo import history
from annotator.cli.commands import app
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.experts.final_pass import CHECKS
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from tests.projects.labelled_protocols import DEAD, page
from tests.projects.labelling_project import add_report, project_with

QUESTION = "How far do automated citations agree with what their sources say?"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """One item with evidence of which one address is gone and one identifier is none, and a rubric that tells."""
    project = project_with(tmp_path, 2)
    item_id = items.add(project, QUESTION).subject
    works = (
        Reference(id="r1", text="A page that is gone", identifier=DEAD),
        Reference(id="r2", text="A work without a number", identifier="see the shelf"),
    )
    criteria = (
        Criterion(id="k1", text=f"Explains {QUESTION[:-1].lower()}", weight=3),
        Criterion(id="k2", text="Write to ada@example.org for more", weight=1),
    )
    for document in (Evidence(units=works), Rubric(units=criteria)):
        submitting.seal(project, artifacts.start(project, item_id, document.KIND, document).subject)
    pages.take_in(project, page(DEAD, ""))
    add_report(project, item_id)
    yield project
    project.close()


def test_letter_9_the_final_pass_tells_what_the_program_notices(project: Project) -> None:
    (one,) = final_pass.overview(project)
    assert set(one.hints) == {"links", "identifiers", "content", "leak"}
    assert "see the shelf" in one.hints["identifiers"]
    assert "ada@example.org" in one.hints["content"]
    assert one.open == list(CHECKS)


def test_letter_9_a_check_is_signed_taken_back_and_undone(project: Project) -> None:
    item_id = items.ids(project)[0]
    final_pass.sign(project, item_id, "links", "passed")
    me = people.someone(project)
    assert final_pass.of_item(project, item_id)["links"].signed == me.alias
    with pytest.raises(Refusal, match="what the problem is"):
        final_pass.sign(project, item_id, "leak", "problem")
    final_pass.sign(project, item_id, "leak", "problem", "The first criterion repeats the question.")
    with pytest.raises(Refusal, match="The note does not fit: string should have at most 2000 characters"):
        final_pass.sign(project, item_id, "content", "passed", "x" * 2001)
    (one,) = final_pass.overview(project)
    assert one.open == ["identifiers", "content", "leak", "corrigenda"]
    history.undo(project)
    assert set(final_pass.of_item(project, item_id)) == {"links"}
    final_pass.sign(project, item_id, "links", "open")
    assert final_pass.of_item(project, item_id) == {}


def test_letter_9_an_annotator_does_not_sign(project: Project) -> None:
    project.work_as(next(one for one in people.people(project) if one.name == "Rater 2"))
    with pytest.raises(Refusal, match="Only coordinators"):
        final_pass.sign(project, items.ids(project)[0], "links", "passed")


def test_letter_9_what_is_signed_leaves_with_a_release_and_comes_back(
    project: Project, tmp_path: Path
) -> None:
    item_id = items.ids(project)[0]
    final_pass.sign(project, item_id, "corrigenda", "not applicable", "Both are pages.")
    releases.export(project, tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text("utf-8"))
    assert manifest["final_pass"][item_id]["corrigenda"]["state"] == "not applicable"
    other = Project.create(tmp_path / "other.goldsmith", "Other")
    imports.run(other, "goldsmith", [tmp_path / "release"])
    assert final_pass.of_item(other, item_id) == final_pass.of_item(project, item_id)
    other.close()


def test_letter_9_the_pilot_is_summarized(project: Project, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="No pilot"):
        pilot_summary.summary(project)
    item_id = items.add(project, "A pilot question").subject
    guidelines.write(project, Stage.RUBRIC, "Write one claim in each criterion.")
    coordinator = people.someone(project)
    raters = [one for one in people.people(project) if one.name.startswith("Rater")]
    for person in raters:
        assignments.assign_one(project, item_id, person.id, Stage.RUBRIC, purpose=Purpose.PILOT)
    for person in raters:
        project.work_as(person)
        document = Rubric(
            units=(Criterion(id=f"{person.alias}1", text="Names a study", weight=2, note="Which?"),)
        )
        submitting.seal(project, artifacts.start(project, item_id, Kind.RUBRIC, document).subject)
    project.work_as(coordinator)
    path = str(project.path)
    app(["pilot", path, "--to", str(tmp_path / "pilot.md"), "--as", coordinator.id], standalone_mode=False)
    told = (tmp_path / "pilot.md").read_text("utf-8")
    assert "1 item (2) by 2 people; 2 of 2 pieces of work handed in." in told
    assert "Match F1 1" in told
    assert "item 2, rubric: Which?" in told
    # The shipped text is the first version.
    assert "rubric, version 2" in told


def test_letter_9_the_command_line_lists_and_signs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path, me = str(project.path), people.someone(project).id
    app(["final", "sign", path, "1", "--check", "content", "--as", me], standalone_mode=False)
    capsys.readouterr()
    app(["final", "list", path, "--open", "--json"], standalone_mode=False)
    (one,) = json.loads(capsys.readouterr().out)["items"]
    assert one["checks"]["content"]["state"] == "passed"
    assert "content" not in one["open"]
