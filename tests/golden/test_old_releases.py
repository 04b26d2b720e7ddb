"""A release of every layout that ever left the house can still be taken in, whole and only once."""

import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.exchange.release import release

FILES = sorted(Path(__file__).parent.glob("release-*.zip"))


@pytest.mark.parametrize("packed", FILES, ids=lambda path: path.name)
def test_an_old_release_comes_in_whole_and_leaves_in_the_layout_of_today(
    packed: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "in")
    (folder,) = (tmp_path / "in").iterdir()
    bundle, problems = release.read([folder])
    assert (problems, len(bundle.items)) == ([], 3)
    with closing(Project.create(tmp_path / "p.goldsmith", "Sample")) as project:
        report = imports.run(project, "goldsmith", [folder], warm=False)[1]
        assert (report.new, report.problems) == (sum(bundle.counts().values()) - len(bundle.scores), ())
        assert str(imports.run(project, "goldsmith", [folder], warm=False)[1]) == "nothing new"
        assert checking.check(project).problems == []
        releases.export(project, tmp_path / "out")
    again, _ = release.read([tmp_path / "out"])
    assert (again.artifacts, again.judgements, again.people) == (
        bundle.artifacts, bundle.judgements, bundle.people,
    )  # fmt: skip
