"""Judge validation in a release: locked sets, looks, reviews and rulings leave whole and come back the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from annotator.actions.imports import imports
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.sets import reviews, validation_sets
from annotator.actions.validation import disagreements, validation
from annotator.domain.judges.informed import InformedRuling, Review
from annotator.domain.texts.refusal import Refusal
from annotator.places import schemas
from tests.projects.validation_project import At, judge_says, person, person_says, places, validation_project


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = validation_project(tmp_path)
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    yield project
    project.close()


def labelled(project: Project) -> None:
    for alias in ("R2", "R3"):
        person_says(project, alias, ann)
    judge_says(project, "small", lambda _: "yes")


def validated(project: Project) -> None:
    """A locked set of which the test part was looked at, a review, and a ruling."""
    labelled(project)
    validation_sets.lock(project, "Spring")
    validation_sets.open_test(project, "Spring", ["small"])
    _, response, unit = places(project)[1, "Alpha", 1]
    reviews.review(project, "small", response, unit, Review.AGREE, note="As page 2 has it.")
    query = validation.ValidationQuery(against=("R2",))
    disagreements.rule(project, disagreements.queue(project, query)[0], InformedRuling.UNCLEAR)


def tree(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_was_validated_leaves_by_its_schema_and_comes_back_byte_for_byte(
    project: Project, tmp_path: Path
) -> None:
    validated(project)
    releases.export(project, tmp_path / "one")
    (found,) = tree(tmp_path / "one", "validation_sets")
    assert (found["name"], len(found["first_labels"]), found["looks"][0]["judges"]) == (
        "Spring",
        32,
        ["small"],
    )
    assert [one["kind"] for one in tree(tmp_path / "one", "informed")] == ["review", "ruling"]
    for name in ("validation_sets", "informed"):
        jsonschema.validate(
            tree(tmp_path / "one", name), json.loads((schemas() / f"{name}.json").read_text("utf-8"))
        )
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    assert imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)[1].problems == ()
    assert str(imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)[1]) == "nothing new"
    assert validation_sets.named(other, "Spring").openings == 1
    releases.export(other, tmp_path / "two")
    other.close()
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_set_whose_labels_are_not_locked_stays(project: Project, tmp_path: Path) -> None:
    labelled(project)
    releases.export(project, tmp_path / "one")
    assert not (tmp_path / "one" / "validation_sets.json").exists()
    assert tree(tmp_path / "one", "manifest")["counts"]["validation_sets"] == 0


def test_first_labels_that_were_touched_are_not_taken_in(project: Project, tmp_path: Path) -> None:
    validated(project)
    releases.export(project, tmp_path / "one")
    for name in ("manifest.json", "SHA256SUMS"):
        (tmp_path / "one" / name).unlink()
    (found,) = tree(tmp_path / "one", "validation_sets")
    found["first_labels"][0]["value"] = "no" if found["first_labels"][0]["value"] == "yes" else "yes"
    (tmp_path / "one" / "validation_sets.json").write_text(json.dumps([found]), "utf-8")
    other = Project.create(tmp_path / "other.goldsmith")
    with pytest.raises(Refusal, match="first labels are not those their checksum was made of"):
        imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    other.close()
