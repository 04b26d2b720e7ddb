"""How a replay under the public rule is set out, on the replies of a judge at work: “Bayesian” holds a y-e-s."""

import asyncio
from pathlib import Path

import pytest

from annotator.actions.attacks.validation_views import VIEWS
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import Order
from annotator.actions.sheets.result_sheets import Sheet
from annotator.actions.studies import result_views
from annotator.domain.texts.refusal import Refusal
from tests.actions.validation.test_rule_replay import BAYES, FIRST, bayesian, in_words
from tests.judging.odd_server import OddServer
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE


@pytest.fixture
def sheets(project: Project, server: OddServer, distant_judge: None) -> tuple[Sheet, ...]:
    server.answer = in_words(bayesian)
    asyncio.run(judge_runs.run(project, Order(JUDGE)))
    return result_views.show(project, "replay", {}, among=VIEWS).sheets


def test_systems_reports_and_verdicts_are_told_apart(sheets: tuple[Sheet, ...]) -> None:
    assert [(sheet.title, len(sheet.lines)) for sheet in sheets] == [
        ("Systems", 2), ("Reports whose score changes", 2), ("Verdicts that change", 2),
    ]  # fmt: skip
    assert all(len(line.cells) == len(sheet.columns) for sheet in sheets for line in sheet.lines)


def test_a_system_stands_with_both_scores_and_both_places(sheets: tuple[Sheet, ...]) -> None:
    alpha = next(line for line in sheets[0].lines if line.cells[0].words == "Alpha")
    assert [alpha.cells[n].value for n in (1, 2, 3)] == [0.5, 1.0, 0.5]
    assert [alpha.cells[n].words for n in (4, 5)] == ["2", "1, was 2"]
    assert "read by the rule of" in sheets[0].told[0]


def test_a_verdict_stands_with_the_reply_that_decided_it(sheets: tuple[Sheet, ...]) -> None:
    line = sheets[2].lines[0]
    assert [line.cells[n].words for n in (2, 4, 5, 7)] == [FIRST, "no", "yes", "Ba-yes-ian"]
    assert line.more == (("The reply as it came", BAYES),)
    assert line.source is not None
    assert line.source.unit_id


def test_without_replies_the_view_says_so(tmp_path: Path) -> None:
    project: Project = small_project(tmp_path)
    with pytest.raises(Refusal, match="No judge behind an endpoint"):
        result_views.show(project, "replay", {}, among=VIEWS)
    project.close()
