"""Once an item's query is settled, its first wording is the question that everybody is asked."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing as closed
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudication_sheets, closing, ruling
from annotator.actions.authoring import asked
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.judges import writers
from annotator.actions.judges.writers import WriterSettings
from annotator.actions.material import responding, response_settings
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import wording_hash
from annotator.actions.releases import checking, releases
from annotator.actions.results import overview
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.documents import Query, Wording
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.adra_project import adra_project, answer
from tests.servers.writing_server import writing
from tests.storage import sql

TITLE = "Question 1: how is evidence attributed?"
FIRST = "How do long answers say which passage bears out which claim?"
SECOND = "Which ways of attributing evidence do experts trust, and why?"


def query(*wordings: str, prefix: str) -> Query:
    return Query(units=tuple(Wording(id=f"{prefix}{n}", text=text) for n, text in enumerate(wordings)))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """One item that a report was written on before both experts put its query."""
    project = pairs.pairs_project(tmp_path)
    pairs.add_report(project)
    pairs.submit(project, {"Ada": query(FIRST, prefix="a"), "Ben": query(SECOND, prefix="b")})
    yield project
    project.close()


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def settle(project: Project, keep: str) -> None:
    pairs.work_as(project, "Cleo")
    stage = pairs.opened(project, Stage.QUERY)
    for row in adjudication_sheets.sheet(project, stage).rows:
        letter = next((letter for letter, unit in row.units.items() if unit.text == keep), None)
        ruling.rule(project, row.ruling.id, letter or "drop", reason="wording")
    closing.close(project, stage)


def test_letter_1_before_a_query_is_settled_the_question_is_a_working_title(project: Project) -> None:
    found = items.read(project, pairs.item(project))
    assert (found.question, found.working_title) == (TITLE, "")
    assert asked.answered_otherwise(project) == []


def test_letter_1_the_first_wording_of_a_settled_query_is_the_question(project: Project) -> None:
    settle(project, SECOND)
    found = items.read(project, pairs.item(project))
    assert (found.question, found.working_title) == (SECOND, TITLE)
    assert [line.key for line in items.lines(project, items.ids(project, items.Filter(words="trust")))] == [
        "1"
    ]
    assert checking.check(project).problems == []
    pairs.work_as(project, "Cora")
    with pytest.raises(Refusal, match="query of item 1 is settled"):
        items.change(project, found.id, question="Something else?")


def test_letter_1_a_response_to_another_wording_is_flagged_in_the_results(tmp_path: Path) -> None:
    with closed(adra_project(tmp_path, questions=2)) as project:
        answer(project, items.ids(project)[0], "Beta", latency_s=2.0)
        items.change(project, items.ids(project)[1], question="What do reports leave out?")
        told = [words for sheet in overview.sheets(overview.report(project)) for words in sheet.told]
        assert [words for words in told if "another wording" in words] == [
            "1 response to another wording of the question than is asked now: item 2 (Alpha)."
        ]
        history.undo(project)
        assert asked.answered_otherwise(project) == []


def test_letter_1_another_wording_after_reopening_keeps_the_working_title(project: Project) -> None:
    settle(project, FIRST)
    stage = pairs.opened(project, Stage.QUERY)
    closing.reopen(project, stage, "The other is broader.")
    for row in adjudication_sheets.sheet(project, stage).rows:
        letter = next((letter for letter, unit in row.units.items() if unit.text == SECOND), None)
        ruling.rule(project, row.ruling.id, letter or "drop", reason="wording")
    closing.close(project, stage)
    found = items.read(project, pairs.item(project))
    assert (found.question, found.working_title) == (SECOND, TITLE)
    assert sql.rows(project, "SELECT asked FROM response") == [(wording_hash(TITLE),)]


def test_letter_1_a_model_is_sent_the_settled_wording_and_its_report_says_so(project: Project) -> None:
    settle(project, SECOND)
    pairs.work_as(project, "Cora")
    with writing() as server:
        settings = WriterSettings(base_url=server.url, model="test-model")
        writer = writers.prepared(project, "Scribe", settings)
        order = RunRequest(writer.name, response_settings.protocol_name(), systems=("Scribe",), timeout_s=5.0)
        asyncio.run(responding.run(project, order))
        sent = str(server.bodies[0]["messages"])
    assert SECOND in sent
    assert TITLE not in sent
    assert sql.rows(
        project, "SELECT asked FROM response r JOIN system s ON s.id = r.system_id WHERE s.name = 'Scribe'"
    ) == [(wording_hash(SECOND),)]
    assert {one.system for one in asked.answered_otherwise(project)} == {"Canary-System-9000"}


def test_letter_1_a_release_asks_the_wording_and_comes_back_to_the_byte(
    project: Project, tmp_path: Path
) -> None:
    settle(project, SECOND)
    pairs.work_as(project, "Cora")
    releases.export(project, tmp_path / "one")
    (item,) = json.loads((tmp_path / "one" / "items.json").read_text("utf-8"))
    assert (item["question"], item["working_title"]) == (SECOND, TITLE)
    imports.run(project, "goldsmith", [tmp_path / "one"])
    with closed(people.new_project(tmp_path / "again.goldsmith", project.title)) as again:
        imports.run(again, "goldsmith", [tmp_path / "one"])
        releases.export(again, tmp_path / "two")
        assert len(asked.answered_otherwise(again)) == 1
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_letter_1_an_older_release_with_a_settled_query_asks_its_wording(
    project: Project, tmp_path: Path
) -> None:
    settle(project, FIRST)
    pairs.work_as(project, "Cora")
    releases.export(project, tmp_path / "older")
    path = tmp_path / "older" / "items.json"
    (tmp_path / "older" / "manifest.json").unlink()
    path.write_text(
        path.read_text("utf-8")
        .replace(FIRST, TITLE)
        .replace(f'"working_title": "{TITLE}"', '"working_title": ""'),
        "utf-8",
    )
    with closed(people.new_project(tmp_path / "again.goldsmith")) as again:
        imports.run(again, "goldsmith", [tmp_path / "older"])
        (found,) = (items.read(again, item_id) for item_id in items.ids(again))
    assert (found.question, found.working_title) == (FIRST, TITLE)
