"""The work in pairs in a release, and what judges paired: whole, under pseudonyms, and back again."""

import asyncio
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.agreement import agreement_report, assisting
from annotator.actions.assignments import assignments
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.domain.kinds.documents import UNSURE
from tests.actions.releases.released_pairs import CANARY, paired_project, released
from tests.material.bundles import change_json, found, without_manifest
from tests.projects.assisted_project import AGREEMENT, F1, assisted_project, pairing
from tests.projects.pairs_project import item, person
from tests.servers.served import JUDGE, add_judge


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    """The project and a release of it; nothing of either is changed."""
    folder = tmp_path_factory.mktemp("pairs")
    project = paired_project(folder)
    return project, released(project, folder / "release")


def tree(made: tuple[Project, Path], path: str) -> Any:
    return json.loads((made[1] / path).read_text("utf-8"))


def whose(project: Project, name: str) -> str:
    return person(project, f"{CANARY}-{name}").id


def test_agreement_leaves_as_it_was_frozen_with_people_by_alias_and_labels_as_judgements(made):
    assert all(CANARY.encode() not in path.read_bytes() for path in made[1].rglob("*") if path.is_file())
    aliases = {one["id"]: one["alias"] for one in tree(made, "people.json")}
    assert aliases == {whose(made[0], "Ada"): "R2", whose(made[0], "Ben"): "R3", whose(made[0], "Cleo"): "R4"}
    result = {one["stage"]: one for one in tree(made, "agreement.json")}
    assert result.keys() == {"rubric", "diagnostics", "labelling"}
    frozen = {one.stage.value: one for one in assignments.of_item(made[0], item(made[0]))}
    assert {stage: one.model_dump(mode="json") for stage, one in frozen.items()} == result
    assert {given["guideline"] for given in result["rubric"]["inputs"]} == {"2"}
    assert not (made[1] / "artifacts" / "labels.json").exists()
    kept = [one for one in tree(made, "revisions.json") if one["kind"] == "labels"]
    assert [len(one["document"]["units"]) for one in kept] == [2, 2]
    assert UNSURE in {unit["value"] for one in kept for unit in one["document"]["units"]}


def test_every_version_of_a_consensus_says_where_its_units_come_from(made):
    ada, ben = (whose(made[0], name) for name in ("Ada", "Ben"))
    first, second = tree(made, "adjudications.json")
    both = first["provenance"][0]
    edited = next(one for one in second["provenance"] if one["origin"] == "edited")
    dropped = next(one for one in first["rulings"] if one["take"] == "drop")
    assert (both["origin"], both["sources"], both["wording_of"]) == ("both", {ada: "a1", ben: "b1"}, "")
    assert (edited["origin"], edited["sources"], edited["gap"]) == (
        "edited", {ada: "a5"}, "Whether costs count is left open.",
    )  # fmt: skip
    assert {one["wording_of"] for one in first["provenance"][1:]} == {ben}
    assert dropped["members"] == {ada: "a5"}
    assert {(one["reason"], one["rationale"], one["confidence"]) for one in first["provenance"]} == {
        ("wording", "Said better.", "high")
    }


def test_a_second_figure_an_objection_and_a_guideline_leave(made):
    (frozen,) = (one for one in tree(made, "agreement.json") if one["stage"] == "rubric")
    names = {figure["name"] for figure in frozen["pairs"][0]["figures"]}
    repaired = {figure["name"] for figure in tree(made, "adjudications.json")[0]["repaired"]}
    assert repaired == {f"repaired_{name}" for name in names}
    first, second = tree(made, "adjudications.json")
    (dispute,) = first["disputes"]
    assert (second["disputes"], dispute["text"]) == ([], "The cost of checking is missing.")
    (guideline,) = tree(made, "guidelines.json")
    assert (guideline["version"], guideline["text"]) == (2, "One claim in each criterion.")


def test_nothing_of_an_item_that_is_set_aside_leaves(tmp_path):
    project = paired_project(tmp_path)
    items.change(project, item(project), retired=True)
    bundle, _ = releases.gather(project)
    assert (bundle.agreements, bundle.adjudications, bundle.revisions, bundle.people) == ([], [], [], [])
    assert len(bundle.guidelines) == 1


def test_the_card_tells_how_the_gold_came_about(made):
    card = (made[1] / "README.md").read_text("utf-8")
    # Ada wrote 5 criteria and 3 statements, Ben 6 and 3; the first version of 6 units has become one of 7.
    for line in (
        "| R2 | 2 | 8 | 0 | 0 |",
        "| R3 | 2 | 9 | 0 | 0 |",
        "| R4 | 0 | 0 | 0 | 1 |",
        "| reworded by the adjudicator | 1 | 14.3 % |",
        "| wording | 7 | 100.0 % |",
    ):
        assert line in card.splitlines()
    assert "1 of these 3 was adjudicated" in card
    assert "1 objection came back from annotators; 1 was answered." in card
    assert "1 row showed a gap in the guideline." in card
    # 4 pairs of 5 and 6 criteria.
    assert "| rubric | units | automatic | 1 | 1 | match_f1 | 0.73 | – |" in card


Record = dict[str, Any]


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project, and its release before and after a judge paired what it holds."""
    folder = tmp_path_factory.mktemp("assisted")
    with pairing() as server, closing(assisted_project(folder, server)) as project:
        releases.export(project, folder / "before")
        asyncio.run(assisting.run(project, assisting.order(JUDGE)))
        releases.export(project, folder / "release")
    return folder


def agreement_of(folder: Path) -> list[Record]:
    return json.loads((folder / "agreement.json").read_text("utf-8"))


def taken_in(folder: Path, source: Path) -> Project:
    project = people.new_project(folder / "taken.goldsmith", "pairs")
    imports.run(project, "goldsmith", [source], warm=False)
    return project


def test_it_has_a_field_of_its_own_and_what_was_frozen_leaves_as_before(paired: Path) -> None:
    before, after = agreement_of(paired / "before"), agreement_of(paired / "release")
    assert all("assisted" not in one for one in before)
    assisted = [one.pop("assisted") for one in after]
    assert after == before
    result = [{each["name"]: each["value"] for each in one["figures"]} for (one,) in assisted]
    assert sorted(one["assisted_match_f1"] for one in result) == pytest.approx(sorted(F1))
    assert all(name.startswith("assisted_") for one in result for name in one)
    assert {(one["model"], one["answered_by"], len(one["prompt_sha256"])) for (one,) in assisted} == {
        ("test-model", "test-model-2026", 64)
    }
    (judge,) = json.loads((paired / "release" / "judges.json").read_text("utf-8"))
    assert {one["judge_id"] for (one,) in assisted} == {judge["id"]}


def test_the_data_card_tells_it_after_the_frozen_figures_under_its_own_name(paired: Path) -> None:
    card = (paired / "release" / "README.md").read_text("utf-8")
    lines = [line for line in card.splitlines() if "match_f1" in line]
    assert [("automatic" in line, "model-assisted: test-model, prompt" in line) for line in lines] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert "| 0.79 |" in lines[1]
    assert ("lower bound" in lines[0], "lower bound" in lines[1]) == (True, False)
    shares = [line for line in card.splitlines() if "| agreement |" in line and "model-assisted" in line]
    assert [f"| {AGREEMENT:.2f} |" in line for line in shares] == [True]


def test_two_judges_of_one_model_are_told_apart_in_the_data_card(tmp_path: Path) -> None:
    with pairing() as server, closing(assisted_project(tmp_path, server, 1)) as project:
        add_judge(project, server, "near")
        for name in (JUDGE, "near"):
            asyncio.run(assisting.run(project, assisting.order(name)))
        releases.export(project, tmp_path / "release")
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    lines = [
        line for line in card.splitlines() if "match_f1" in line and "model-assisted: test-model" in line
    ]
    assert sorted([name for name in (JUDGE, "near") if f"judge “{name}”" in line] for line in lines) == [
        [JUDGE], ["near"],
    ]  # fmt: skip


def test_it_is_read_back_and_leaves_again_byte_for_byte(paired: Path, tmp_path: Path) -> None:
    with closing(taken_in(tmp_path, paired / "release")) as project:
        assert checking.check(project).problems == []
        releases.export(project, tmp_path / "again")
        given = agreement_report.report(project, assisted_by=JUDGE).assistance
        assert (given.lists, given.there) == (2, 2)
        assert str(imports.run(project, "goldsmith", [paired / "release"], warm=False)[1]) == "nothing new"
    one, two = found(paired / "release"), found(tmp_path / "again")
    # It was the first project's second release.
    assert [json.loads(each.pop("manifest.json")).pop("number") for each in (one, two)] == [2, 1]
    assert one.pop("SHA256SUMS") != two.pop("SHA256SUMS")
    assert one == two


def test_a_project_that_has_the_agreement_learns_what_was_paired_since(paired: Path, tmp_path: Path) -> None:
    with closing(taken_in(tmp_path, paired / "before")) as project:
        report = imports.run(project, "goldsmith", [paired / "release"], warm=False)[1]
        assert (report.problems, report.counts["pairings"].new, report.counts["agreements"].new) == ((), 2, 0)
        assert agreement_report.report(project, assisted_by=JUDGE).assistance.there == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda one: one["only_a"].append("strange"), "not over all units of its raters"),
        (lambda one: one.update(b=one["a"]), "not of two raters of its agreement"),
        (lambda one: one.update(judge_id="nobody"), "its judge nobody was not imported"),
        (lambda one: one.pop("prompt_sha256"), "“assisted.0.prompt_sha256” is missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    spoil: Callable[[Record], Any], why: str, paired: Path, tmp_path: Path
) -> None:
    folder = without_manifest(shutil.copytree(paired / "release", tmp_path / "in"))
    change_json(folder / "agreement.json", lambda tree: spoil(tree[0]["assisted"][0]))
    with closing(Project.create(tmp_path / "p.goldsmith")) as project:
        problems = imports.preview(project, "goldsmith", [folder]).problems
    (told,) = [str(problem) for problem in problems if why in problem.reason]
    assert told.startswith("agreement.json[0]: ")
