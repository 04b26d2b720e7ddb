"""How a judge is let pair the units of two raters: which lists, and once for all that it is asked by."""

import asyncio
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.agreement import agreement_report, assisting
from annotator.actions.imports import imports
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_pictures
from annotator.actions.runs import run_records
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.evidence import Evidence, Reference
from tests.judging.odd_server import Odd, OddServer
from tests.projects import pairs_project as pairs
from tests.projects.assisted_project import ADA, BEN, assisted_project, knowing, pairing
from tests.projects.refusals import expect_refusal
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql

ORDER = assisting.order(JUDGE)


@pytest.fixture
def server() -> Iterator[OddServer]:
    with pairing() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return assisted_project(tmp_path, server, 1)


def ran(project: Project) -> dict[str, Any]:
    return asyncio.run(assisting.run(project, ORDER))


def assisted(
    report: agreement_report.AgreementReport, field: str = "units"
) -> tuple[float | None, float | None, int]:
    """The main model-assisted figure of a field, the frozen one beside it, and of how many values."""
    row = next(each for each in report.rows if each.field == field)
    (second,) = [one for one in report.seconds if one.name == agreement_report.BY_MODEL]
    again, beside = second.of(row) or pytest.fail("nothing was paired")
    return again.figures[0].value, beside.figures[0].value, again.n


def test_what_was_paired_is_whole_and_a_flipped_bit_is_found(project: Project) -> None:
    ran(project)
    assert checking.check(project).problems == []
    assert sql.first(project, "SELECT count(*) FROM assisted_pair") == (1,)
    sql.alter(project, "UPDATE assisted_pair SET content = replace(content, 'a1', 'a2')")
    result = [
        (problem.table, problem.happened.endswith("was altered."))
        for problem in checking.check(project).problems
    ]
    assert ("assisted_pair", True) in result


def test_another_model_or_other_settings_are_asked_anew_and_the_former_pairs_stay(
    project: Project, server: OddServer
) -> None:
    ran(project)
    judge = judges.named(project, JUDGE)
    judges.change(project, judge.id, {"parameters": '{"temperature": 0.5}'})
    assert agreement_report.report(project, assisted_by=JUDGE).assistance.there == 0  # type: ignore[union-attr]
    assert (ran(project)["calls"], len(server.bodies)) == (1, 2)
    judges.change(project, judge.id, {"parameters": "{}"})
    assert (ran(project)["calls"], len(server.bodies)) == (0, 2)


def test_of_three_raters_the_pairs_without_a_reply_count_nowhere_not_even_beside(
    tmp_path: Path, server: OddServer
) -> None:
    project = pairs.pairs_project(tmp_path)
    lists = {"Ada": ADA[0], "Ben": BEN[0], "Dan": (("Explains attribution of claims", 1), ("Waits", 2))}
    pairs.submit(project, {name: pairs.rubric(said, name) for name, said in lists.items()})
    add_judge(pairs.work_as(project, "Cora"), server)
    server.answer = knowing(lambda entries: "Well." if {"Waits", "Cites law"} <= entries else "")
    assert ran(project)["missing"] == {"invalid": 1}
    report = agreement_report.report(project, assisted_by=JUDGE)
    assert (report.assistance.lists, report.assistance.there) == (3, 2)
    # Ada and Ben 4/7 as paired, 0 frozen; the judge finds no pair of Ada and Dan, who have one: frozen 2/5.
    assert assisted(report) == (pytest.approx((4 / 7 + 0) / 2), pytest.approx((0 + 2 / 5) / 2), 1)
    assert "Without a reply: 1, excluded" in report.assistance.words()
    # One item, of which two of three pairs of raters were paired: that is not all of it.
    (by_judge,) = [second for second in report.seconds if second.name == agreement_report.BY_MODEL]
    assert agreement_report.second(by_judge, report.rows[0]).endswith("(2 of 3 pairs of lists)")
    told = agreement_report.plain(report, report.rows[0])[agreement_report.BY_MODEL]
    assert (told["items"], told["lists"], told["there"]) == (["1"], 3, 2)
    assert [one["value"] for one in told["frozen_figures_of_these_lists"]] == [pytest.approx(1 / 5)]
    table = result_pictures.as_text(agreement_report.sheets(report)[0]).splitlines()
    note = table[1].split("\t")[table[0].split("\t").index("Model-assisted, note")]
    assert note.endswith("2 of 3 pairs of lists")


def test_where_nothing_is_to_be_paired_or_nobody_coordinates_no_judge_is_asked(
    tmp_path: Path, server: OddServer
) -> None:
    project = pairs.pairs_project(tmp_path)
    one = Reference(id="r1", text="A paper", identifier="10.1000/182")
    pairs.submit(project, dict.fromkeys(("Ada", "Ben"), Evidence(units=(one,))))
    add_judge(pairs.work_as(project, "Cora"), server)
    expect_refusal("nothing to pair by meaning", ran, project)
    expect_refusal("shown to a coordinator", ran, pairs.work_as(project, "Cleo"))
    assert server.bodies == []


def test_a_run_that_left_something_is_gone_on_with_and_keeps_to_its_stage(
    project: Project, server: OddServer
) -> None:
    server.answer = knowing(lambda _: "Well.")
    one_stage = assisting.order(JUDGE, Stage.RUBRIC)
    assert asyncio.run(assisting.run(project, one_stage))["missing"] == {"invalid": 1}
    (run,) = run_records.runs(project)
    assert (run.open, run.order().protocol) == (True, one_stage.protocol)
    assert judge_runs.title(run.protocol) == "Units paired by meaning"
    server.answer = knowing(lambda _: "")
    ended = asyncio.run(orders.carry_out(project, run.order()))
    assert (ended["state"], ended["judged"], ended["failed"]) == ("done", 1, [])
    assert assisted(agreement_report.report(project, assisted_by=JUDGE))[0] == pytest.approx(4 / 7)


def test_what_another_run_paired_while_this_one_waited_its_turn_is_not_asked_again(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run_records.alone

    @contextmanager
    def after_another(held: Project) -> Iterator[None]:
        monkeypatch.setattr(run_records, "alone", alone)
        with closing(Project.open(project.path)) as other, ThreadPoolExecutor(1) as pool:
            other.person = project.person
            pool.submit(ran, other).result()
        with alone(held):
            yield

    monkeypatch.setattr(run_records, "alone", after_another)
    ended = ran(project)
    assert (ended["state"], ended["calls"], ended["failed"], len(server.bodies)) == ("done", 0, [], 1)
    assert sql.first(project, "SELECT count(*) FROM assisted_pair") == (1,)


def test_what_an_import_brings_while_the_same_is_asked_stays(
    project: Project, server: OddServer, tmp_path: Path
) -> None:
    twin = Path(shutil.copytree(project.path.parent, tmp_path.with_name(f"{tmp_path.name}-twin")))
    with closing(Project.open(twin / project.path.name)) as other:
        other.person = project.person
        ran(other)
        releases.export(other, twin / "release")
    told = server.answer

    def meanwhile(body: dict[str, Any], number: int) -> Odd:
        with closing(Project.open(project.path)) as other:
            other.person = project.person
            assert (
                imports.run(other, "goldsmith", [twin / "release"], warm=False)[1].counts["pairings"].new == 1
            )
        return told(body, number)

    server.answer = meanwhile
    assert ran(project)["state"] == "done"
    assert sql.first(project, "SELECT count(*) FROM assisted_pair") == (1,)
    assert checking.check(project).problems == []
