"""What all tests share: garbage collected in order, and the sample project, made once and copied."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.project import Project
from annotator.gui.tidying import tidy


@pytest.fixture(autouse=True)
def collected_on_this_thread() -> Iterator[None]:
    """What a window of a test leaves dies between tests, and never on the thread of a server or an errand."""
    gc.disable()
    yield
    tidy()


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
