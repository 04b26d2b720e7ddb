"""What is said of systems, reports and sources beside their words."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import metadata
from annotator.actions.items.metadata import Thing
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.undo import history
from annotator.domain.texts.refusal import Refusal
from tests.projects.small_project import empty_project, small_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = small_project(tmp_path)
    yield project
    project.close()


def group_of(project: Project, name: str) -> str:
    return next(row["group"] for row in metadata.systems(project) if row["name"] == name)


def test_letter_11_systems_have_a_group_and_a_footnote_in_one_act(project: Project) -> None:
    ids = [metadata.system_named(project, name) for name in ("Alpha", "Beta")]
    metadata.describe(
        project, Thing.SYSTEM, {key: {"group": "deep research", "footnote": "in July"} for key in ids}
    )
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["deep research"] * 2
    assert metadata.groups(project, ("deep research", "LLM")) == ["deep research", "LLM"]
    history.undo(project)
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["", ""]
    history.redo(project)
    assert group_of(project, "Beta") == "deep research"


def test_letter_11_a_release_carries_groups_and_is_read_back(project: Project, tmp_path: Path) -> None:
    alpha = metadata.system_named(project, "Alpha")
    metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM + search"}})
    releases.export(project, tmp_path / "release")
    (other := tmp_path / "other").mkdir()
    with closing(empty_project(other)) as fresh:
        imports.run(fresh, "goldsmith", [tmp_path / "release"])
        assert (group_of(fresh, "Alpha"), group_of(fresh, "Beta")) == ("LLM + search", "")


def test_letter_11_a_value_that_does_not_fit_changes_nothing(project: Project) -> None:
    alpha = metadata.system_named(project, "Alpha")
    with pytest.raises(Refusal, match=r"group .* does not fit"):
        metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "x" * 121}})
    with pytest.raises(Refusal, match="no “name” that can be changed"):
        metadata.describe(project, Thing.SYSTEM, {alpha: {"name": "Omega"}})
    assert group_of(project, "Alpha") == ""


def test_letter_11_what_is_said_already_is_no_change(project: Project) -> None:
    alpha = metadata.system_named(project, "Alpha")
    metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}})
    assert not metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}}).after


def test_letter_11_a_group_changed_meanwhile_is_not_undone(project: Project) -> None:
    alpha = metadata.system_named(project, "Alpha")
    change = metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}})
    with project.store.write() as db, pytest.raises(Refusal, match="changed elsewhere"):
        metadata.restore(project, db, Thing.SYSTEM, {alpha: {"group": "other"}}, change.before)
