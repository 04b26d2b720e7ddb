"""A project of four items with five people, and the coordinator's page over it."""

import pytest

from annotator.actions.project.file import Project
from tests.projects import pairs_project as pairs


@pytest.fixture
def project(tmp_path) -> Project:
    """Cora R1 coordinates, Ada R2, Ben R3 and Dan R5 annotate, Cleo R4 adjudicates; four items."""
    return pairs.pairs_project(tmp_path, 4)


@pytest.fixture
def show(project, page_over):

    def make(part: str = "Team"):
        page = page_over(project, "People", part=part)
        page.focus_first()
        return page

    return make
