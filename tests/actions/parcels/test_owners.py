"""Where a package belongs that somebody opened by itself."""

from pathlib import Path

import pytest

from annotator.actions.parcels import origins
from annotator.domain.texts.refusal import Refusal
from tests.material.sent_apart import annotators, coordinated, returned


def test_returned_work_belongs_to_the_project_whose_task_it_answers(tmp_path: Path) -> None:
    study, other = coordinated(tmp_path / "study"), coordinated(tmp_path / "other")
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    (own,) = work.parent.glob("*.goldsmith")
    found = origins.owner_of_work(work, [other.path, own, study.path])
    assert (found.project, found.title, found.sent_from_here) == (study.path, "Study of gold", False)


def test_without_that_project_it_is_known_where_it_was_sent_from(tmp_path: Path) -> None:
    study = coordinated(tmp_path / "study")
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    (own,) = work.parent.glob("*.goldsmith")
    assert origins.owner_of_work(work, [own]).sent_from_here
    assert origins.owner_of_work(work, []).project is None


def test_files_that_are_no_projects_are_passed_over(tmp_path: Path) -> None:
    study = coordinated(tmp_path / "study")
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    (tmp_path / "junk.goldsmith").write_text("junk", "utf-8")
    found = origins.owner_of_work(
        work, [tmp_path / "junk.goldsmith", tmp_path / "gone.goldsmith", study.path]
    )
    assert found.project == study.path


def test_damaged_work_is_refused(tmp_path: Path) -> None:
    (tmp_path / "junk.goldsmith-work").write_text("junk", "utf-8")
    with pytest.raises(Refusal, match="junk"):
        origins.owner_of_work(tmp_path / "junk.goldsmith-work", [])
