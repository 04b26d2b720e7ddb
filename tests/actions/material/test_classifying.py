"""Type and subject of an item: drafted by a model with a reason, and set only once a person confirmed them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.material import classifying, draft_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.material.writer_aid import WriterAid
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer, completion
from tests.servers.drafting_server import FILED, JUDGE, REASON, ben, drafting, drafting_project, first_item

RIDDLE = '{"reason": "It is one.", "question_type": "Riddle", "subject": "Sphinx"}'


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    project = drafting_project(tmp_path, server)
    items.change_all(project, {item: {"question_type": "", "subject": ""} for item in items.ids(project)})
    items.change(project, items.ids(project)[1], subject="Scaling")
    yield project
    project.close()


def ask(project: Project, judge: str = JUDGE, item: str = "1") -> list[dict[str, Any]]:
    order = RunRequest(
        judge, draft_runs.protocol_name(WriterAid.CLASSIFICATION), items=(item,), timeout_s=5.0
    )
    return list(asyncio.run(draft_runs.run(project, order))["failed"])


def filed(project: Project) -> tuple[str, str]:
    item = items.read(project, first_item(project))
    return item.question_type, item.subject


def waiting(project: Project) -> str:
    found = classifying.waiting(project, first_item(project))
    assert found is not None
    return found.id


def test_letter_3_a_model_drafts_type_and_subject_and_nothing_is_set(
    project: Project, server: OddServer
) -> None:
    assert ask(project) == []
    found = classifying.waiting(project, first_item(project))
    assert found is not None
    drawn = classifying.proposed(found)
    assert (drawn.question_type, drawn.subject, drawn.text) == (*FILED, REASON)
    assert filed(project) == ("", "")
    sent = server.bodies[-1]["messages"][1]["content"]
    assert "- Literature Review: The question asks what has been written" in sent
    assert "- Scaling" in sent


def test_letter_3_what_a_person_confirms_is_set_names_the_model_and_can_be_undone(project: Project) -> None:
    ask(project)
    change = classifying.confirm(project, waiting(project))
    assert filed(project) == FILED
    assert change.verb.startswith("from a model's draft: test-model")
    assert classifying.waiting(project, first_item(project)) is None
    history.undo(project)
    assert filed(project) == ("", "")


def test_letter_3_a_person_may_confirm_another_type(project: Project) -> None:
    ask(project)
    classifying.confirm(project, draft := waiting(project), {"question_type": "Open Consulting"})
    assert filed(project) == ("Open Consulting", FILED[1])
    with pytest.raises(Refusal, match="no longer exists"):
        classifying.confirm(project, draft)


def test_letter_3_only_who_may_change_items_confirms(project: Project) -> None:
    project.work_as(ben(project))
    ask(project)
    with pytest.raises(Refusal, match="change items"):
        classifying.confirm(project, waiting(project))
    assert filed(project) == ("", "")
    assert waiting(project)


def test_letter_3_a_type_that_the_project_does_not_have_is_no_draft(
    project: Project, server: OddServer
) -> None:
    server.answer = lambda *_: completion(RIDDLE)
    (failed,) = ask(project)
    assert (failed["status"], "“Riddle”" in failed["cause"]) == ("unclear", True)
    assert classifying.waiting(project, first_item(project)) is None


def test_letter_3_nobody_classifies_without_a_model(project: Project) -> None:
    with pytest.raises(Refusal, match="A model is needed to draft a classification"):
        ask(project, "baseline")
