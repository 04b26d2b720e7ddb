"""Small content for tests of what enters and leaves: a release with one of everything, and a peer's folder."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotator.domain.judges.judge import JudgeKind, RaterKind, RunState, Status
from annotator.domain.kinds.artifact import Anchor, Document, State
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.exchange import folders
from annotator.exchange.release import release
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.data_card import ReleaseFacts
from annotator.exchange.release.records import (
    ArtifactRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    PersonRecord,
    ResponseRecord,
    RunRecord,
    SourceRecord,
    SystemRecord,
)

REAL = Path(__file__).parents[2] / "../shared/data/researcherbench"
AT = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)
RUBRIC = Rubric(
    units=(
        Criterion(
            id="c1", text="Names the cause", weight=3, anchor=Anchor(quote="the cause", start=0, end=9)
        ),
        Criterion(id="c2", text="=Compares “two”, with commas", weight=1, note="二つ"),
    )
)
STATEMENTS = Diagnostics(
    units=(Statement(id="s1", text="It rains.", label=True, aspect=Aspect.RESULTS),), remark="short"
)


def artifact(name: str, item: str, document: Document[Any], author: str, state: State) -> ArtifactRecord:
    return ArtifactRecord(
        id=name, item_id=item, kind=document.KIND, author_id=author, state=state, revision=2, at=AT,
        sha256=document.sha256(), document=document.tree(),
    )  # fmt: skip


def judgement(unit: str, rater: tuple[RaterKind, str], value: str | None, **more: Any) -> JudgementRecord:
    fields = {
        "protocol": "researcherbench.coverage",
        "item_id": "item-1",
        "response_id": "response-1",
        "artifact_id": "rubric-1",
        "unit_id": unit,
        "rater_kind": rater[0],
        "rater_id": rater[1],
        "value": value,
        "status": Status.OK if value else Status.TIMEOUT,
        "at": AT,
    }
    return JudgementRecord(**{**fields, **more})


def rich_bundle() -> Bundle:
    """Two people, two items, a source, two systems, three responses, two artifacts, a judge's run, judgements."""
    person, judge = (RaterKind.PERSON, "person-1"), (RaterKind.JUDGE, "judge-1")
    return Bundle(
        people=[
            PersonRecord(id="person-1", alias="R1", roles=["annotator"]),
            PersonRecord(id="person-2", alias="R2", roles=["adjudicator", "annotator"]),
        ],
        items=[
            ItemRecord(id="item-1", key="one", question="Why does it rain?", question_type="Open Consulting"),
            ItemRecord(id="item-2", key="two", dataset="d", question="なぜ?", language="ja", position=1),
        ],
        sources=[SourceRecord(id="source-1", item_id="item-1", title="Rain", text="the cause of rain")],
        systems=[SystemRecord(id="system-1", name="Alpha"), SystemRecord(id="system-2", name="NUL")],
        responses=[
            ResponseRecord(id="response-1", item_id="item-1", system_id="system-1", text="Rain.\r\nAnd\u2028more"),
            ResponseRecord(id="response-2", item_id="item-2", system_id="system-1", text="雨", tokens=2, latency_s=1.5),
            ResponseRecord(id="response-3", item_id="item-1", system_id="system-2", text="# No"),
        ],
        artifacts=[
            artifact("rubric-1", "item-1", RUBRIC, "", State.CONSENSUS),
            artifact("statements-1", "item-1", STATEMENTS, "person-2", State.SEALED),
        ],
        judges=[JudgeRecord(id="judge-1", name="J", kind=JudgeKind.ENDPOINT, model="m", parameters={"t": 0.5})],
        runs=[
            RunRecord(
                id="run-1", judge_id="judge-1", protocol="researcherbench.coverage", state=RunState.DONE,
                total=2, done=2, started_at=AT,
            )
        ],
        judgements=[
            judgement("c1", person, "yes", seconds=4.0, flags=["flagged"]),
            judgement("c1", judge, "no", run_id="run-1", rationale="not said"),
            judgement("c2", judge, None, run_id="run-1", cause="no answer in 60 s"),
        ],
    )  # fmt: skip


def write_release(folder: Path, bundle: Bundle | None = None, title: str = "T") -> Path:
    made = release.content(bundle or rich_bundle(), ReleaseFacts(title=title))
    folders.write(folder, release.complete(*made))
    return folder


def tree(folder: Path, path: str) -> Any:
    return json.loads((folder / path).read_text("utf-8"))


def change_json(path: Path, change: Any) -> None:
    tree = json.loads(path.read_text("utf-8"))
    change(tree)
    path.write_text(json.dumps(tree), "utf-8")


def found(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def without_manifest(folder: Path) -> Path:
    for name in ("manifest.json", "SHA256SUMS"):
        (folder / name).unlink()
    return folder


def peer_files() -> dict[str, Any]:
    """Two questions, one rubric each, one system that answers both: the trees of the files by path."""
    asked = {1: "What is known?", 2: "Who knew it?"}
    return {
        "questions.json": [
            {"id": n, "question": q, "category": "Literature Review", "Subject": "S"}
            for n, q in asked.items()
        ],
        "rubric.json": [
            {
                "id": n,
                "question": q,
                "rubric": [{"point": f"Point {n}", "weight": 2}, {"point": "Both", "weight": 1}],
            }
            for n, q in asked.items()
        ],
        "responses/Sys.json": [{"id": n, "question": q, "response": f"Report {n}"} for n, q in asked.items()],
    }


def write_peer(folder: Path, files: dict[str, Any] | None = None) -> Path:
    for path, tree in (files or peer_files()).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(tree), "utf-8")
    return folder


# What a publisher answers before a release may be strict.
ANSWERS = {
    "description": "Two questions on deep learning.",
    "licence": "cc by 4.0",
    "authors": "Ada Lovelace, 0000-0002-1825-0097, Analytical Society\nCharles Babbage",
    "contact": "ada@example.org",
    "collection": "Written by experts.",
    "annotators": "Two experts.",
    "consent": "Both hold a doctorate, were paid by the hour and consented.",
    "uses": "To compare research agents.",
    "limits": "Two questions show little.",
    "biases": "English only.",
    "personal": "None.",
    "social_impact": "Better reports.",
    "maintenance": "Mistakes are corrected until 2028.",
}
