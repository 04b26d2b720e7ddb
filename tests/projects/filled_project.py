"""A project with a row in every table, for tests of what keeps, copies and checks them all."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from annotator.actions.agreement import assisting
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.actions.runs.journal import call_hash
from annotator.domain.experts.adjudication import Agreement, AssistedPair
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Call
from annotator.domain.judges.validation import Content, Draw
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.texts.canonical import canonical_json, derived_id, now, sha256
from annotator.storage.tables import metadata
from tests.projects.small_projects import small_project, units_of
from tests.storage import sql
from tests.templates import once


@once
def filled_project(folder: Path) -> Project:
    """Two items with sealed rubrics and four reports, one of each everything else."""
    project = small_project(folder)
    people.add_person(project, "Ada Rater", (Role.ANNOTATOR, Role.ADJUDICATOR))
    item = items.ids(project)[0]
    rubric = str(_one(project, "SELECT id FROM artifact WHERE item_id = ?", item))
    assignments.reopen(project, rubric)
    for text in ("Explains skip connections", "Explains residual connections in depth"):
        artifacts.change_unit(project, rubric, units_of(project, item)[0], text=text)
    artifacts.save_draft(project, rubric, units_of(project, item)[1], "text", "Compares stab")
    assignments.spend(project, rubric, 42.5)
    _add_source(project, item)
    _add_judging(project, item, rubric)
    _add_extracts(project, item)
    _add_rest(project, item)
    _add_pairs(project, item, rubric)
    _add_validation(project, item)
    return project


def _one(project: Project, question: str, *values: Any) -> Any:
    return sql.first(project, question, values)[0]


def _add(project: Project, table: str, **row: Any) -> None:
    with project.store.write() as db:
        db.execute(insert(metadata.tables[table]).values(**row))


def _add_source(project: Project, item: str) -> None:
    text = "Residual networks ease the training of networks that are substantially deeper."
    _add(
        project, "source", id="source-1", item_id=item, title="Deep residual learning", format="pdf", text=text,
        identifier="10.1109/CVPR.2016.90", position=0, sha256=sha256(text),
    )  # fmt: skip
    content = b"%PDF-1.7 " + bytes(range(256)) * 8
    _add(project, "source_file", source_id="source-1", content=content, sha256=sha256(content))


def _add_judging(project: Project, item: str, rubric: str) -> None:
    _add(
        project, "judge", id="judge-1", name="small model", kind="endpoint", base_url="http://localhost:1/v1",
        model="m-1", key_env="KEY", parameters='{"temperature":0}', retired=False,
    )  # fmt: skip
    _add(
        project, "run", id="run-1", judge_id="judge-1", protocol="researcherbench.coverage", state="done",
        scope="{}", snapshot="{}", prompt_sha256="p" * 64, total=3, done=3, started_at=now(), cost_usd=0.25,
        by=project.by,
    )  # fmt: skip
    _add(project, "batch", id="batch-1", run_id="run-1", stage="settled", content="{}", at=now())
    call = Call(
        id="call-1", run_id="run-1", judge_id="judge-1", cache_key="k" * 64, status="ok",
        raw='{"verdict":"yes","quote":"residual"}', requested_model="m-1", returned_model="m-1-2026",
        repaired=True, tokens_input=120, latency_s=2.0, cost_usd=0.001,
    )  # fmt: skip
    row = call.model_dump(mode="json")
    _add(project, "call", **row, at=now(), sha256=call_hash(row))
    response = _one(project, "SELECT id FROM response WHERE item_id = ?", item)
    for unit in units_of(project, item):
        add_judgement(project, item_id=item, response_id=response, artifact_id=rubric, unit_id=unit)


def add_judgement(project: Project, **named: Any) -> None:
    """A judge's “yes”; `named` says on what."""
    row = {
        "value": "yes", "status": "ok", "rationale": "It says so.", "quote": "residual", "quote_start": 4,
        "quote_end": 12, "note": "", "flags": "", "cause": "", "protocol": "researcherbench.coverage",
        "rater_kind": "judge", "rater_id": "judge-1", "trial": 1, "run_id": "run-1", "call_id": "call-1",
        "seconds": 3, "at": now(), **named,
    }  # fmt: skip
    row_id = derived_id("judgement", row["response_id"], row["unit_id"], row["trial"])
    _add(project, "judgement", **row, id=row_id, sha256=judgement_hash(row))


def _add_extracts(project: Project, item: str) -> None:
    response = _one(project, "SELECT id FROM response WHERE item_id = ?", item)
    plan = Plan(units=(Subtask(id="s1", text="Search the literature."),))
    content = canonical_json(plan.tree()).decode()
    _add(
        project, "extract", id="extract-1", item_id=item, response_id=response, kind="plan", origin="judge:judge-1",
        content=content, sha256=sha256(content), state="proposed", run_id="run-1", by="", at=now(),
    )  # fmt: skip
    _add(
        project, "page", url="https://example.org/paper", state="ok", text="Residual networks.", title="Paper",
        fetched_at=now(), sha256=sha256("Residual networks."),
    )  # fmt: skip


def _add_rest(project: Project, item: str) -> None:
    _add(project, "assignment", id="task-1", item_id=item, person_id=project.by, stage="labelling")
    _add(project, "rendering", text_sha256="r" * 64, version=1, html="<p>Shown</p>", plain=False, reason="")
    _add(project, "release", number=1, manifest_sha256="m" * 64, profile="goldsmith", by=project.by, at=now())
    project.set("note", json.dumps({"colour": "grün"}))
    _add(
        project, "contest", id="showing-1", pool="tasks", round=1, first="t1", second="t2", rater_kind="judge",
        rater="judge-1", value="first", confidence=0.8, status="ok", cause="", rationale="", flags="", at=now(),
    )  # fmt: skip


def _add_pairs(project: Project, item: str, rubric: str) -> None:
    of_item = {"item_id": item, "stage": "rubric"}
    frozen = Agreement(
        id="agreement-1", **of_item, matcher="1", program="1", frozen_at=now(), inputs=(), pairs=()
    )
    _add(
        project,
        "guideline",
        id="guide-1",
        stage="rubric",
        version=2,
        text="One claim each.",
        by=project.by,
        at=now(),
    )
    _add(
        project,
        "agreement",
        id="agreement-1",
        **of_item,
        **record(frozen.model_dump(mode="json")),
        frozen_at=now(),
    )
    paired = AssistedPair(
        id="paired-1", agreement_id="agreement-1", judge_id="judge-1", a="p1", b="p2", model="m-1", run_id="run-1",
        prompt_sha256="p" * 64, at=now(),
    )  # fmt: skip
    _add(project, "assisted_pair", **assisting.row(paired))
    _add(
        project, "adjudication", id="adjudication-1", **of_item, agreement_id="agreement-1", seed=7, state="closed",
        adjudicator_id=project.by, letters='{"A":"p1","B":"p2"}', version=1, spot_check=False, consensus_id=rubric,
        opened_at=now(), closed_at=now(),
    )  # fmt: skip
    _add(project, "ruling", id="ruling-1", adjudication_id="adjudication-1", position=0, **record({}))
    _add(
        project, "consensus_version", id="version-1", adjudication_id="adjudication-1", version=1, revision=1,
        artifact_id=rubric, **record({"provenance": [], "rulings": []}), by=project.by, at=now(),
    )  # fmt: skip
    _add(
        project, "remark", id="remark-1", subject="ruling-1", person_id=project.by, text="Too wide?", at=now()
    )
    _add(
        project, "dispute", id="dispute-1", **of_item, person_id=project.by, text="The paper says so.", at=now(),
        state="open", answer="", answered_version=0,
    )  # fmt: skip
    _add(
        project, "parcel", sha256="s" * 64, direction="in", person_id=project.by, package_id="package-1",
        receipt="K7QF-2M9D", content="{}", at=now(),
    )  # fmt: skip
    _add(
        project, "tray", id="tray-1", reason="late", person_id=project.by, item_id=item, stage="rubric", revision=3,
        **record(Rubric().tree()), state="waiting", at=now(),
    )  # fmt: skip


def record(tree: Any) -> dict[str, str]:
    content = canonical_json(tree).decode()
    return {"content": content, "sha256": sha256(content)}


def _add_validation(project: Project, item: str) -> None:
    drawn = Content(draw=Draw(seed=1, test_share=0.5, raters=2), responses=(), dealt={})
    _add(
        project, "validation_set", id="set-1", name="Spring", protocol="researcherbench.coverage",
        **record(drawn.model_dump(mode="json")), labels="[]", labels_sha256=sha256("[]"), by=project.by, at=now(),
        locked_at=now(),
    )  # fmt: skip
    _add(project, "opening", id="opening-1", set_id="set-1", judges="[]", by=project.by, at=now())
    _add(
        project, "informed", id="informed-1", kind="review", protocol="researcherbench.coverage", item_id=item,
        response_id=_one(project, "SELECT id FROM response WHERE item_id = ?", item), unit_id="u", judge_id="judge-1",
        judge_value="yes", said="agree", by=project.by, at=now(),
    )  # fmt: skip
    _add_attack(project, item)


def _add_attack(project: Project, item: str) -> None:
    response = _one(project, "SELECT id FROM response WHERE item_id = ?", item)
    _add(
        project, "attack_test", id="test-1", judge_id="judge-1", run_id="run-1", protocol="researcherbench.coverage",
        by=project.by, at=now(), content='{"attacks":["padding.filler"]}',
    )  # fmt: skip
    _add(
        project, "attack_copy", id="copy-1", test_id="test-1", response_id=response, attack="padding.filler",
        variant="by a half", text_sha256="t" * 64, pieces='[[0, 10], "More."]', status="ok", cause="",
    )  # fmt: skip
    _add(
        project, "attack_verdict", id="verdict-1", test_id="test-1", copy_id="copy-1", item_id=item, unit_id="u",
        before="yes", asked="", call_id="call-1", at=now(), value="no", status="ok", rationale="", quote="",
        quote_start=None, quote_end=None, note="", flags="", cause="",
    )  # fmt: skip
