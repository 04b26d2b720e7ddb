"""The sample project, made once for all tests that want to change a copy of it."""

from pathlib import Path

import pytest

from annotator.actions.project import Project


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample project; tests work on copies of it."""
    # Only tests of the sample need what makes it.
    from annotator.actions import samples

    path = tmp_path_factory.mktemp("sample") / "sample.goldsmith"
    samples.create(path).close()
    return path


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> Project:
    """A sample project of the test's own; whoever opens a window over it closes it."""
    path = tmp_path / "sample.goldsmith"
    path.write_bytes(sample_file.read_bytes())
    return Project.open(path)
