"""The project that tests of actions work on, and a judge for it behind a real server."""

from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from tests.judging.odd_server import OddServer
from tests.projects.small_projects import small_project
from tests.servers.served import add_judge


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """What PROJECT of the file makes in a folder; a small project where the file says nothing."""
    made: Project = getattr(request.module, "PROJECT", small_project)(tmp_path)
    return made


@pytest.fixture
def distant_judge(server: OddServer, project: Project) -> None:
    add_judge(project, server)
