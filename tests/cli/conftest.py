"""Projects that tests of commands leave open are closed."""

from tests.projects.closing import opened_projects_are_closed  # noqa: F401
