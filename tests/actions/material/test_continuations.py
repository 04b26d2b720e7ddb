"""Continuations of halved tasks: asked for, kept as they came, on no leaderboard, compared in a view of their own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items, materials
from annotator.actions.labelling import dealing
from annotator.actions.material import response_settings
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.results import overview, scoring
from annotator.actions.studies import result_views
from annotator.cli import run_command
from annotator.domain.material.response import CONTINUATION
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.projects.labelling_project import add_report, project_with
from tests.storage import sql

LEAKER, HONEST = "Leaker", "Honest"
# Two tasks that can be halved, and what models write after their first halves.
PREFIX = "Compare three ways of measuring bias in seminars on urban heat, with data from two cities"
HELD_BACK = ". State the error of each way, name its limits, and deliver a table with one recommendation."
TASKS = (f"{PREFIX}{HELD_BACK}", "比较三种方法在小样本条件下的表现，并给出误差来源、适用范围与改进建议。")
# What was held back, and then as much again as chat models write.
LEAK = HELD_BACK + " Zig xylophone quartz: jumbled wonky vivid hymn." * 30
OTHER = "Sunny weather is expected."


@pytest.fixture
def server() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = project_with(tmp_path, 0)
    for task in TASKS:
        items.add(project, task)
    yield project
    project.close()


def respond(project: Project, server: OddServer, system: str, *answers: Odd) -> int:
    server.script(*answers)
    path, options = str(project.path), ["--base-url", server.url, "--model", system, "--concurrency", "1"]
    return run_command(["respond", path, "--system", system, "--mode", "continuation", *options, "--json"])


def stored(project: Project) -> list[tuple[Any, ...]]:
    question = (
        "SELECT s.name, r.mode, r.text FROM response r JOIN system s ON s.id = r.system_id "
        "JOIN item i ON i.id = r.item_id ORDER BY s.name, i.position"
    )
    return sql.rows(project, question)


def test_the_first_half_goes_out_and_the_reply_is_kept_as_it_came(
    project: Project, server: OddServer
) -> None:
    cut = f"{LEAK} and on and"
    # The first reply ends at the cap, which is as it was wanted; nothing is asked twice.
    assert respond(project, server, LEAKER, completion(cut, finish="length"), completion(OTHER)) == 0
    assert stored(project) == [(LEAKER, "continuation", cut), (LEAKER, "continuation", OTHER)]
    assert len(server.bodies) == 2
    said = json.dumps(server.bodies[0], ensure_ascii=False)
    assert TASKS[0][:40] in said
    assert HELD_BACK not in said
    assert (server.bodies[0]["temperature"], server.bodies[0]["max_tokens"]) == (0.1, 500)


def test_a_refusal_is_missing(project: Project, server: OddServer) -> None:
    refused = completion(None, refusal="I cannot do that.")
    assert respond(project, server, LEAKER, refused, completion(OTHER)) == 3
    assert [text for *_, text in stored(project)] == [OTHER]


def test_continuations_are_no_reports(project: Project, server: OddServer) -> None:
    respond(project, server, LEAKER, completion(LEAK), completion(OTHER))
    ids = items.ids(project)
    assert scoring.modes_of(project) == ()
    report_id = add_report(project, ids[0], HONEST, "A report.")
    assert scoring.modes_of(project) == ("end-to-end",)
    for shape in PROTOCOLS.values():
        seen = {
            one.response.mode
            for at_hand in materials.each(project, materials.for_scoring(shape), ids)
            for one in at_hand.responses
        }
        assert seen == ({"continuation"} if shape.mode == "continuation" else {"end-to-end"})
    with project.store.read() as db:
        assert dealing.reports(db) == {ids[0]: [report_id]}
    rows = overview.report(project).rows
    assert {row.system for row in rows if not row.metric.startswith("leakage.")} <= {HONEST}


def test_a_planted_leak_is_shown_as_found_by_ours_and_missed_as_printed(
    project: Project, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    respond(project, server, LEAKER, completion(LEAK), completion(OTHER))
    respond(project, server, HONEST, completion(OTHER), completion(OTHER))
    systems, each = result_views.show(project, "leakage", {}, among=paper_tables.VIEWS).sheets
    titles = [column.title for column in systems.columns]
    of = {line.cells[0].words: dict(zip(titles, line.cells, strict=True)) for line in systems.lines}
    assert list(of) == [HONEST, LEAKER, "Average"]
    assert (of[LEAKER]["Leaked, as printed"].value, of[LEAKER]["Marked as leaked"].value) == (0, 0.5)
    assert (of[HONEST]["Leaked, as printed"].value, of[HONEST]["Marked as leaked"].value) == (0, 0)
    assert (of["Average"]["Marked as leaked"].value, of["Average"]["Count"].value) == (0.25, 0)
    first = each.lines[0].cells
    assert [cell.words for cell in first[:3]] == ["1", LEAKER, "yes"]
    capsys.readouterr()
    path = str(project.path)
    assert run_command(["results", path, "--view", "ar4", "--json"]) == 0
    (rows,) = [one["rows"] for one in json.loads(capsys.readouterr().out)["sheets"]]
    assert [row["leakage_marked"] for row in rows] == [0, 0.5, 0.25]


def test_each_figure_is_the_mean_of_what_is_listed_whatever_else_a_system_was_asked(project: Project) -> None:
    """Words weigh by all suffixes of the project, and not by those of one system or one group."""
    said = "the shared words grow"
    for place, task in enumerate(
        ("Of oaks and elms, the shared words grow tall", "Of pines, the shared words fall")
    ):
        item_id = items.add(project, task).subject
        add_report(project, item_id, "Whole", said, CONTINUATION)
        if not place:
            add_report(project, item_id, "Half", said, CONTINUATION)
    systems, each = result_views.show(project, "leakage", {}, among=paper_tables.VIEWS).sheets
    for line in systems.lines[:-1]:
        own = dict(zip(systems.keys, line.cells, strict=True))
        listed = [
            dict(zip(each.keys, one.cells, strict=True))
            for one in each.lines
            if one.cells[1].words == own["system"].words
        ]
        for name in ("tfidf", "composite", "string", "overlap"):
            mean = sum(one[name].value for one in listed) / len(listed)
            assert own[f"leakage_{name}"].value == pytest.approx(mean), (own["system"].words, name)


@pytest.mark.parametrize(
    "how", [{"planned": True}, {"filed_as": "x"}, {"condition": "adra"}, {"cutoff": "2025-01-01"}]
)
def test_what_a_continuation_does_not_know_is_refused(how: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="continuation"):
        response_settings.protocol_name("continuation", **how)
