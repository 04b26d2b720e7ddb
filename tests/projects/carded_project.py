"""A project whose judge has a validity card: a judge behind a server on loopback, two people, four labelled reports."""

import asyncio
from pathlib import Path

from sqlalchemy import update

from annotator.actions.judging import judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.validation import validity_cards
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.validation import ValidityCard
from annotator.storage import tables
from tests.judging.odd_server import OddServer
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, add_judge, answering, serving
from tests.templates import once

KEY = "sk-planted-0123456789abcdef"
# What a careless hand may have put among the parameters.
PLANTED = (
    '{"temperature": 0, "user": "http://secret.example/v1?key=hidden", "extra": {"api_key": "abcd1234efgh"}, '
    f'"note": "{KEY}", "template": "/home/ann/secret place/judge.jinja"}}'
)
MODEL = "/srv/models of ann/judge-7b.gguf"


def said(words: str) -> str:
    return "yes" if "residual" in words else "no"


def carded_project(path: Path, server: OddServer, **settings: str) -> Project:
    """Everything of the small project judged by a judge that says yes of one criterion in three; labelled by two.

    The judge is behind the test's own server, though another answered when the first of these projects was made.
    """
    path.mkdir(exist_ok=True)
    server.answer = answering(said)
    project = _carded(path, **settings)
    # As no verb does: a judge that has judged keeps its endpoint.
    with project.store.write() as db:
        db.execute(update(tables.JUDGE).values(base_url=server.url).where(tables.JUDGE.c.base_url != ""))
    return project


@once
def _carded(path: Path, **settings: str) -> Project:
    from annotator.actions.labelling import label_sealing, labels

    project = small_project(path)
    for name in ("Ann", "Ben"):
        people.add_person(project, name, (Role.ANNOTATOR,))
    with serving() as server:
        server.answer = answering(said)
        add_judge(project, server, **settings)
        judged(project)
    before = project.person
    assert before is not None
    for alias in ("R2", "R3"):
        project.work_as(people.known(project, alias))
        for task in labels.queue(project):
            for place, unit in enumerate(labels.sheet(project, task.response_id).units):
                wrong = alias == "R3" and place == 1
                labels.set_label(project, task.response_id, unit.id, "yes" if place == 0 or wrong else "no")
        for item_id in dict.fromkeys(task.item_id for task in labels.queue(project)):
            label_sealing.submit(project, item_id)
    project.work_as(before)
    return project


def judged(project: Project, judge: str = JUDGE, together: int = 1) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(judge, together=together)))


def card_of(project: Project, judge: str = JUDGE, **more: object) -> ValidityCard:
    return validity_cards.card(project, validity_cards.CardQuery(judge=judge, **more))  # type: ignore[arg-type]
