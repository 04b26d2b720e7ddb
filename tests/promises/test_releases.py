"""What Goldsmith promises about releases."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import error_counts
from annotator.cli import run_command
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.documents import lint
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from tests.material.bundles import found
from tests.projects.generated_project import generated_project
from tests.projects.pairs_project import ADA, BEN, item, opened, pairs_project, rubric, submit, work_as
from tests.projects.small_project import small_project
from tests.storage import sql


@pytest.mark.parametrize("seed", range(12))
def test_what_is_exported_is_imported_and_exported_again_byte_for_byte(tmp_path: Path, seed: int) -> None:
    project = generated_project(tmp_path, seed)
    releases.export(project, tmp_path / "one", page_texts=True)
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    assert checking.check(other).problems == []
    releases.export(other, tmp_path / "two", page_texts=True)
    one, two = found(tmp_path / "one"), found(tmp_path / "two")
    assert {path for path in one.keys() | two.keys() if one.get(path) != two.get(path)} == set()
    assert one != {}


POINTS = ("Depth of analysis", "Use of sources", "Clarity of structure", "Open questions")


def checklist(*shares: float) -> Checklist:
    return Checklist(units=tuple(CheckPoint(text=t, share=s) for t, s in zip(POINTS, shares, strict=False)))


@pytest.mark.parametrize("shares", [(0.33, 0.33, 0.33), (1 / 3, 1 / 3, 1 / 3), (0.34, 0.33, 0.33)])
def test_a_checklist_of_thirds_is_fine_from_writing_to_reading(
    tmp_path: Path, shares: tuple[float, ...]
) -> None:
    assert not [finding for finding in lint(checklist(*shares)) if finding.rule == "sum"]
    project = pairs_project(tmp_path)
    submit(project, {"Ada": checklist(*shares)})
    releases.export(project, tmp_path / "out")
    other = Project.create(tmp_path / "other.goldsmith")
    _, report = imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
    assert (report.problems, report.counts["artifacts"].new) == ((), 1)


@pytest.mark.parametrize("shares", [(0.5, 0.5, 0.5), (0.5, 0.3, 0.1)])
def test_a_checklist_that_does_not_sum_to_one_is_refused_in_words_when_sealed(
    tmp_path: Path, shares: tuple[float, ...]
) -> None:
    total = f"{sum(shares):.2f}"
    assert [total in finding.message for finding in lint(checklist(*shares)) if finding.rule == "sum"] == [
        True
    ]
    project = pairs_project(tmp_path)
    artifact = artifacts.start(project, item(project), Kind.CHECKLIST, checklist(*shares)).subject
    with pytest.raises(Refusal, match=f"sum to {total} and not to 1"):
        assignments.seal(project, artifact)


def test_a_consensus_whose_shares_do_not_sum_to_one_is_not_closed(tmp_path: Path) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": checklist(0.5, 0.25, 0.25), "Ben": checklist(0.25, 0.5, 0.25)})
    adjudication = opened(project, Stage.CHECKLIST)
    for row in adjudicating.sheet(project, adjudication).rows:
        taken = max(row.units, key=lambda letter: row.units[letter].share)
        ruling.rule(project, row.ruling.id, taken, reason=Reason.ERROR)
    with pytest.raises(Refusal, match=r"sum to 1\.25 and not to 1"):
        ruling.close(project, adjudication)
    for row in adjudicating.sheet(project, adjudication).rows[:2]:
        ruling.write_own(project, row.ruling.id, share=0.375)
    assert ruling.close(project, adjudication).after["version"] == 1


def tree(folder: Path, path: str) -> Any:
    return json.loads((folder / path).read_text("utf-8"))


def test_a_release_made_while_a_judged_rubric_is_open_again_scores_the_revision_it_holds(
    tmp_path: Path,
) -> None:
    project = small_project(tmp_path)
    asyncio.run(judge_runs.run(project, RunRequest("baseline", "researcherbench.coverage")))
    releases.export(project, tmp_path / "before")
    sealed = tree(tmp_path / "before", "artifacts/rubric.json")[0]
    assignments.reopen(project, sealed["id"])
    unit = sealed["document"]["units"][0]["id"]
    artifacts.change_unit(project, sealed["id"], unit, text="Says something else altogether", weight=1)
    report = releases.export(project, tmp_path / "meanwhile")
    assert tree(tmp_path / "before", "scores.json") != []
    for path in ("artifacts/rubric.json", "judgements.json", "scores.json"):
        assert tree(tmp_path / "meanwhile", path) == tree(tmp_path / "before", path)
    assert f"the rubric of item 1 (revision {sealed['revision']})" in report.notes[-1]


LICENCE, DESCRIPTION = "CC BY 4.0", "What *experts* ask of deep research.\n\nSecond paragraph."


def test_licence_and_description_come_back_from_a_release(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with project.store.write():
        project.set("licence", LICENCE)
        project.set("description", DESCRIPTION)
    drawn = error_counts.draw(project, 1, seed=2).after
    releases.export(project, tmp_path / "one")
    said = tree(tmp_path / "one", "manifest.json")
    assert (said.get("licence"), said.get("description")) == ("CC-BY-4.0", DESCRIPTION)
    assert said.get("error_sample") == drawn
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    assert releases.metadata(other) == releases.metadata(project)
    releases.export(other, tmp_path / "two")
    assert found(tmp_path / "one") == found(tmp_path / "two")


@pytest.mark.parametrize("content", ["{}", "[]", "not JSON", '{"id": 1}'])
def test_a_damaged_agreement_is_told_by_the_check_and_refused_in_words_by_the_export(
    tmp_path: Path, content: str
) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": checklist(0.5, 0.25, 0.25), "Ben": checklist(0.25, 0.5, 0.25)})
    with project.store.write():
        sql.alter(project, "UPDATE agreement SET content = ?, sha256 = ?", [content, sha256(content)])
    problems = checking.check(project).problems
    assert [finding.table for finding in problems] == ["agreement"]
    assert problems[0].happened.endswith("cannot be read: it is not what it should be.")
    with pytest.raises(Refusal, match=r"cannot be read.*Nothing was released"):
        releases.export(project, tmp_path / "out")
    assert not (tmp_path / "out").exists()


BOUND = "a lower bound under heavy rewording"


def test_beside_every_match_f1_stands_that_it_is_a_lower_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")})
    releases.export(project, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text("utf-8").splitlines()
    assert [BOUND in line for line in card if "| match_f1 |" in line] == [True]
    assert [BOUND in line for line in card if "kappa |" in line] == [False]
    work_as(project, "Cora").close()
    assert run_command(["agreement", str(project.path), "--as", "R1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("Match F1") == said.count(BOUND) == 1
