"""The work in pairs in a release: what is frozen and closed leaves, whole and under pseudonyms; the rest stays."""

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import agreements
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.domain.kinds.artifact import chain
from annotator.domain.kinds.labels import UNSURE
from tests.actions.releases.released_pairs import CANARY, LATER, paired_project, released
from tests.projects.pairs_project import item, person


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


def test_people_leave_under_their_alias_alone(made):
    assert all(CANARY.encode() not in path.read_bytes() for path in made[1].rglob("*") if path.is_file())
    aliases = {one["id"]: one["alias"] for one in tree(made, "people.json")}
    assert aliases == {whose(made[0], "Ada"): "R2", whose(made[0], "Ben"): "R3", whose(made[0], "Cleo"): "R4"}


def test_agreement_leaves_as_it_was_frozen(made):
    found = {one["stage"]: one for one in tree(made, "agreement.json")}
    assert found.keys() == {"rubric", "diagnostics", "labelling"}
    frozen = {one.stage.value: one for one in agreements.of_item(made[0], item(made[0]))}
    assert {stage: one.model_dump(mode="json") for stage, one in frozen.items()} == found
    assert {given["guideline"] for given in found["rubric"]["inputs"]} == {"2"}


def test_the_document_that_agreement_rests_on_leaves_beside_the_later_one(made):
    ada = [one for one in tree(made, "revisions.json") if one["author_id"] == whose(made[0], "Ada")]
    earlier, later = [one for one in ada if one["kind"] == "rubric"]
    assert earlier["document"]["units"][4]["text"] == "Discusses the cost of verification by people"
    assert (later["document"], later["reason"]) == (None, "meant so")
    own = next(
        one for one in tree(made, "artifacts/rubric.json") if one["author_id"] == whose(made[0], "Ada")
    )
    assert own["document"]["units"][4]["text"] == LATER
    assert (own["revision"], own["sha256"]) == (later["revision"], later["sha256"])


def test_each_revision_is_chained_to_the_one_before(made):
    links: dict[str, str] = {}
    for one in tree(made, "revisions.json"):
        link = reduce(chain, [*one["skipped"], one["sha256"]], links.get(one["artifact_id"], ""))
        assert one["chain"] == link
        links[one["artifact_id"]] = link
    assert len(links) == 7


def test_labels_leave_as_judgements_and_as_what_agreement_rests_on_never_as_artifacts(made):
    assert not (made[1] / "artifacts" / "labels.json").exists()
    kept = [one for one in tree(made, "revisions.json") if one["kind"] == "labels"]
    assert [len(one["document"]["units"]) for one in kept] == [2, 2]
    assert UNSURE in {unit["value"] for one in kept for unit in one["document"]["units"]}


def test_every_version_of_a_consensus_says_where_its_units_come_from(made):
    ada, ben, cleo = (whose(made[0], name) for name in ("Ada", "Ben", "Cleo"))
    first, second = tree(made, "adjudications.json")
    assert [one["version"] for one in (first, second)] == [1, 2]
    assert {one["adjudicator_id"] for one in (first, second)} == {cleo}
    assert sorted(first["letters"].values()) == sorted([ada, ben])
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


def test_the_units_of_a_version_are_those_of_the_revision_it_names(made):
    documents = {
        (one["artifact_id"], one["revision"]): one["document"] for one in tree(made, "revisions.json")
    } | {(one["id"], one["revision"]): one["document"] for one in tree(made, "artifacts/rubric.json")}
    for one in tree(made, "adjudications.json"):
        units = documents[one["artifact_id"], one["revision"]]["units"]
        assert [unit["id"] for unit in units] == [each["unit_id"] for each in one["provenance"]]


def test_the_second_figure_goes_by_a_name_of_its_own(made):
    (frozen,) = (one for one in tree(made, "agreement.json") if one["stage"] == "rubric")
    names = {figure["name"] for figure in frozen["pairs"][0]["figures"]}
    repaired = {figure["name"] for figure in tree(made, "adjudications.json")[0]["repaired"]}
    assert repaired == {f"repaired_{name}" for name in names}


def test_an_objection_stands_with_the_version_it_is_about_and_its_answer(made):
    first, second = tree(made, "adjudications.json")
    (dispute,) = first["disputes"]
    assert second["disputes"] == []
    assert (dispute["person_id"], dispute["text"]) == (
        whose(made[0], "Ada"), "The cost of checking is missing.",
    )  # fmt: skip
    assert (dispute["state"], dispute["answered_version"]) == ("answered", 2)


def test_what_is_still_being_adjudicated_stays(made):
    assert {one["stage"] for one in tree(made, "adjudications.json")} == {"rubric"}
    states = {one["state"] for one in tree(made, "artifacts/diagnostics.json")}
    assert states == {"sealed"}


def test_guidelines_leave_with_what_was_written_under_them(made):
    (guideline,) = tree(made, "guidelines.json")
    assert (guideline["stage"], guideline["version"], guideline["text"]) == (
        "rubric", 2, "One claim in each criterion.",
    )  # fmt: skip


def test_nothing_of_an_item_that_is_set_aside_leaves(tmp_path):
    project = paired_project(tmp_path)
    items.change(project, item(project), retired=True)
    bundle, _ = releases.gather(project)
    assert (bundle.agreements, bundle.adjudications, bundle.revisions, bundle.people) == ([], [], [], [])
    assert len(bundle.guidelines) == 1


def test_the_card_tells_how_the_gold_came_about(made):
    card = (made[1] / "data_card.md").read_text("utf-8")
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


def test_whoever_looks_at_a_file_that_may_only_be_read_can_release_it(made, tmp_path):
    project = Project.open(made[0].path, readonly=True)
    assert people.someone(project) is not None
    releases.export(project, tmp_path / "again")
    project.close()
    assert (tmp_path / "again" / "agreement.json").read_bytes() == (made[1] / "agreement.json").read_bytes()
