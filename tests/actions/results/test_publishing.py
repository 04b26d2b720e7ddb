"""When a figure is fit to be published."""

import pytest

from annotator.actions.project.file import Project
from annotator.actions.results import publishing
from annotator.actions.results.results import ResultRow
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from tests.projects.small_project import empty_project

PROJECT = empty_project


def row(value: float | None, judged: int, missing: int, note: str = "") -> ResultRow:
    estimate = Estimate(value, missing=missing, note=note)
    return ResultRow("m", "p", "r", "r", "s", "s", "all", "all", estimate, judged=judged)


def test_one_in_twenty_may_be_missing_and_no_more(project: Project) -> None:
    assert publishing.limit(project) == 0.05
    assert publishing.why_not(row(0.5, 95, 5), 0.05) == ""
    assert publishing.why_not(row(0.5, 94, 6), 0.05) == "6.0 % of the judgements are missing, more than 5.0 %"


def test_what_is_undefined_is_never_fit(project: Project) -> None:
    assert publishing.why_not(row(None, 10, 0, "no claim was cited"), 0.05) == "no claim was cited"


def test_what_no_judgement_is_needed_for_is_fit(project: Project) -> None:
    assert publishing.why_not(row(0.5, 0, 0), 0.0) == ""


def test_the_limit_is_kept_in_the_project(project: Project) -> None:
    change = publishing.set_limit(project, 0.2)
    assert (change.before, change.after, publishing.limit(project)) == (0.05, 0.2, 0.2)
    for share in (-0.1, 1.5):
        with pytest.raises(Refusal, match="between 0 and 1"):
            publishing.set_limit(project, share)
