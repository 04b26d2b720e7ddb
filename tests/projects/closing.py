"""Projects that a test opened are closed after it."""

from collections.abc import Iterator
from typing import Any

import pytest

from annotator.actions.project.file import Project


@pytest.fixture(autouse=True)
def opened_projects_are_closed() -> Iterator[None]:
    opened: list[Project] = []
    make = Project.__init__

    def noted(self: Project, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        opened.append(self)

    # Not by `monkeypatch`: copies of projects are for tests that patch nothing.
    Project.__init__ = noted  # type: ignore[method-assign]
    yield
    Project.__init__ = make  # type: ignore[method-assign]
    for project in opened:
        project.close()
