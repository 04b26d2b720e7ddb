"""How reports are asked for: prompt versions, presets, a cut-off and modes of one's own, all kept with the report."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import metadata
from annotator.actions.items.metadata import Thing
from annotator.actions.judges import writers
from annotator.actions.judges.writers import WriterSettings
from annotator.actions.material import responding, response_settings
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer
from tests.servers.writing_server import GOLD_STEPS, asking_project, writing
from tests.storage import sql

ORIGIN = "mode, collected_on, product_version, settings, collected_by, cutoff"


@pytest.fixture
def server() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = asking_project(tmp_path)
    yield project
    project.close()


def respond(
    project: Project, server: OddServer, *, preset: str = "", parameters: str = "", **how: Any
) -> dict[str, Any]:
    settings = WriterSettings(base_url=server.url, model="test-model", parameters=parameters, preset=preset)
    writer = writers.prepared(project, "Scribe", settings)
    manner = response_settings.protocol_name(how.pop("mode", "end-to-end"), **how)
    order = RunRequest(writer.name, manner, systems=("Scribe",), items=("1",), timeout_s=5.0)
    return asyncio.run(responding.run(project, order))


def origins(project: Project) -> list[tuple[Any, ...]]:
    return sql.rows(project, f"SELECT {ORIGIN} FROM response ORDER BY mode")


def messages(server: OddServer) -> tuple[str, str]:
    system, user = server.bodies[-1]["messages"]
    return str(system["content"]), str(user["content"])


def test_letter_21_the_comprehensive_prompt_asks_for_numbered_citations(
    project: Project, server: OddServer
) -> None:
    respond(project, server, condition="researcherbench")
    assert "comprehensive report" in messages(server)[0]
    assert "a number in square brackets" in messages(server)[0]
    assert origins(project)[0][3] == "prompts respond.report.researcherbench"


@pytest.mark.parametrize("mode", ["isolated", "gold-plan-injection"])
def test_letter_21_it_holds_where_gold_is_given_too(project: Project, server: OddServer, mode: str) -> None:
    respond(project, server, mode=mode, condition="researcherbench")
    system, user = messages(server)
    assert "comprehensive report" in system
    assert GOLD_STEPS[0] in user


def test_letter_21_a_cut_off_is_asked_for_and_kept(project: Project, server: OddServer) -> None:
    respond(project, server, cutoff="2025-03-24")
    assert messages(server)[1].endswith(
        "Rest the report on what was published by 2025-03-24 only, and name no work that appeared later."
    )
    today = now().astimezone().date().isoformat()
    assert origins(project) == [
        ("end-to-end", today, "test-model-2026", "prompts respond.report", "R1", "2025-03-24")
    ]


def test_letter_21_a_plan_of_its_own_keeps_to_the_cut_off(project: Project, server: OddServer) -> None:
    respond(project, server, planned=True, cutoff="2025-03-24")
    assert all("published by 2025-03-24" in str(body["messages"][1]["content"]) for body in server.bodies)


def test_letter_21_the_preset_puts_temperature_0_beside_other_parameters(
    project: Project, server: OddServer
) -> None:
    preset = response_settings.settings_of(
        response_settings.protocol_name(condition="adra")
    ).condition.parameters
    respond(
        project, server, condition="adra", preset=preset, parameters='{"max_tokens": 900, "temperature": 1}'
    )
    assert (server.bodies[-1]["temperature"], server.bodies[-1]["max_tokens"]) == (0, 900)
    assert json.loads(origins(project)[0][3].partition("parameters ")[2]) == {
        "max_tokens": 900,
        "temperature": 0,
    }


def test_letter_21_reports_are_filed_under_a_mode_of_ones_own(project: Project, server: OddServer) -> None:
    respond(project, server)
    respond(project, server, filed_as="high context", cutoff="2025-03-24")
    assert [row[0] for row in origins(project)] == ["end-to-end", "high context"]
    run = sql.first(project, "SELECT protocol FROM run ORDER BY started_at DESC")[0]
    kept = response_settings.settings_of(str(run))
    assert kept is not None
    assert (kept.mode, str(kept.cutoff)) == ("high context", "2025-03-24")


def test_letter_21_one_mode_of_a_system_has_one_prompt_and_one_cut_off(
    project: Project, server: OddServer
) -> None:
    respond(project, server)
    for how in ({"cutoff": "2025-03-24"}, {"condition": "researcherbench"}):
        with pytest.raises(Refusal, match="by other prompts or with another cut-off"):
            respond(project, server, **how)
    assert len(origins(project)) == 1
    (report,) = metadata.responses_of(project, "Scribe")
    metadata.describe(project, Thing.RESPONSE, {report: {"settings": "asked by hand"}})
    respond(project, server, cutoff="2025-03-24")


def test_letter_21_what_does_not_fit_is_refused_before_anything_is_asked() -> None:
    for how, words in (
        ({"condition": "none"}, "There is no condition “none”"),
        ({"cutoff": "March"}, "“March” is not a day"),
        ({"filed_as": "x" * 41}, "cannot name a mode"),
    ):
        with pytest.raises(Refusal, match=words):
            response_settings.protocol_name(**how)
    assert response_settings.protocol_name(condition="brief") == "respond.end-to-end"
    assert response_settings.settings_of("researcherbench.coverage") is None
    with pytest.raises(Refusal, match="Use 17 characters fewer"):
        response_settings.protocol_name(
            "gold-plan-injection", condition="researcherbench", cutoff="2025-03-24", filed_as="x" * 30
        )
