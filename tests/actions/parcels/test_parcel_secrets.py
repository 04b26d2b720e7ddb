"""The secret of a project is the one in its file, whoever asks and whatever was taken back."""

from contextlib import suppress
from pathlib import Path

from annotator.actions.parcels import parcel_secrets
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project


def test_two_connections_to_one_file_agree(tmp_path: Path) -> None:
    first = new_project(tmp_path / "study.goldsmith")
    second = Project.open(first.path)
    assert parcel_secrets.of_person(first, "ana") == parcel_secrets.of_person(second, "ana")


def test_a_secret_that_was_taken_back_is_not_used(tmp_path: Path) -> None:
    project = new_project(tmp_path / "study.goldsmith")
    with suppress(KeyError), project.store.write():
        lost = parcel_secrets.of_person(project, "ana")
        raise KeyError
    kept = parcel_secrets.of_person(project, "ana")
    assert kept != lost
    assert kept == parcel_secrets.of_person(Project.open(project.path), "ana")
