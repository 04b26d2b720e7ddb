"""Projects to open, break and copy."""

from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from tests.projects.filled_project import filled_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled_project(tmp_path)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    project = filled_project(tmp_path)
    project.close()
    return project.path
