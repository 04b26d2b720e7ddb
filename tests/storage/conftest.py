"""Projects to open, break and copy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from tests.projects.filled_project import filled_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = filled_project(tmp_path)
    yield project
    project.close()


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    project = filled_project(tmp_path)
    project.close()
    return project.path
