"""Projects with a row in every table, with the gold of two papers, made by chance, or as large as one likes."""

import asyncio
import json
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.agreement import assisting
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import extracts, items
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.labelling.label_rows import IMPORTED
from annotator.actions.project import people
from annotator.actions.project.file import Project, insert_rows, judgement_hash
from annotator.actions.project.people import new_project
from annotator.actions.runs.journal import call_hash
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import Refusal, canonical_json, derived_id, now, sha256
from annotator.domain.experts.adjudication import Agreement, AssistedPair, Confidence, Reason
from annotator.domain.experts.assignment import Role, Stage, stage_of
from annotator.domain.judges.judge import Call, Judge, RaterKind, RunState, Status
from annotator.domain.judges.validation import Content, Draw
from annotator.domain.kinds.artifact import Anchor, Document, Kind, State
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.extract import Claim, Claims, ResponsePart, by_judge
from annotator.domain.stored import JudgementFields
from annotator.protocols import PROTOCOLS
from annotator.storage import store
from annotator.storage.connection import engine_over, raw_connection
from annotator.storage.tables import JUDGEMENT, RUN, metadata
from tests.common import COVERAGE, once
from tests.material import drawn_extracts
from tests.material.bundles import REAL, write_peer
from tests.projects.pairs_project import add_report, item, pairs_project, work_as
from tests.projects.small_projects import seal, small_project, units_of
from tests.storage import sql


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
    content = canonical_json(Plan(units=(Subtask(id="s1", text="Search the literature."),)).tree()).decode()
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


SYSTEMS, QUESTIONS = ("OpenAI", "Perplexity"), (1, 2)
STEPS = (
    "Define what the question asks and why it matters.",
    "Collect the methods that recent work proposes.",
    "Compare the methods on the evidence that is given.",
)
SUPPORTED, UNSUPPORTED = 3, 2
# With what each weighs.
FACTS = {"Methods differ.": "vital", "Data are scarce.": "vital", "Costs fall.": "okay"}
# With their shares.
POINTS = {"Methods are compared.": 0.5, "Data are named.": 0.3, "Costs are told.": 0.2}
# One of the public reports lists it.
FOUND = "arXiv:2409.02897"
SOURCE = "# Notes\n\nWhat was measured is reported below. The second method needs half of the data of the first one.\n"


def some_of(folder: Path) -> Path:
    """The public benchmark cut down to those questions and systems, in its own layout."""
    (folder / "responses").mkdir(parents=True)
    for name in ("questions.json", "rubric.json", *(f"responses/{system}.json" for system in SYSTEMS)):
        entries = json.loads((REAL / name).read_text(encoding="utf-8"))
        kept = [entry for entry in entries if entry["id"] in QUESTIONS]
        (folder / name).write_text(json.dumps(kept), encoding="utf-8")
    return folder


@once
def both_papers(folder: Path) -> Project:
    """The project: the public rubrics, and a plan, evidence and diagnostics for each question, all sealed."""
    project = people.new_project(folder / "both papers.goldsmith")
    people.someone(project)
    imports.run(project, "researcherbench", [some_of(folder / "public")])
    note = folder / "notes.md"
    note.write_text(SOURCE, encoding="utf-8")
    for item_id in items.ids(project):
        items.add_source(project, item_id, note)
        for document in gold_of_both():
            seal(project, item_id, document)
    return project


def gold_of_both() -> tuple[Document, ...]:
    said = [True] * SUPPORTED + [False] * UNSUPPORTED
    statements = [
        Statement(text=f"The report holds matter {n}.", label=label, aspect=list(Aspect)[n % 5])
        for n, label in enumerate(said)
    ]
    works = (
        Reference(text="LongCite", identifier=FOUND),
        Reference(text="A treatise that nobody retrieves at all"),
    )
    plan = Plan(units=tuple(Subtask(text=step) for step in STEPS))
    return plan, Evidence(units=works), Diagnostics(units=tuple(statements))


def add_nuggets(project: Project) -> None:
    units = [{"text": text, "importance": importance} for text, importance in FACTS.items()]
    facts = Nuggets(units=tuple(map(Nugget.model_validate, units)))
    for item_id in items.ids(project):
        seal(project, item_id, facts)


def add_checklist(project: Project) -> None:
    points = Checklist(units=tuple(CheckPoint(text=text, share=share) for text, share in POINTS.items()))
    for item_id in items.ids(project):
        seal(project, item_id, points)


KINDS = tuple(kind for kind in DOCUMENTS if kind is not Kind.LABELS)
WORDS = (
    "Explains residual connections", "Compares training stability", "Names one dataset", "解释残差连接为何有效",
    "Łódź, Ørsted & “quotes”", "=SUM(A1:A9)", "يشرح الإحالات", "A line\nand another", "Depth — of analysis",
    "e\u0301tude",
)  # fmt: skip
ACTS_OF = {
    Kind.RUBRIC: "researcherbench.coverage",
    Kind.DIAGNOSTICS: "adra.reasoning",
    Kind.PLAN: "adra.plan",
}
MORE: dict[Kind, Callable[[Random], dict[str, Any]]] = {
    Kind.EVIDENCE: lambda rng: {
        "identifier": rng.choice(("", "10.1000/182", "arXiv:2301.00001", "https://example.org/a")),
        "year": rng.choice((None, 1999)),
        "authors": rng.choice(("", "Ł. Ø.")),
    },
    Kind.DIAGNOSTICS: lambda rng: {"label": rng.random() < 0.6, "aspect": rng.choice(list(Aspect))},
    Kind.NUGGETS: lambda rng: {"importance": rng.choice(("vital", "okay"))},
    Kind.SELECTION: lambda rng: {"rating": rng.randint(1, 5)},
}
# What shares are typed like: thirds, quarters, and those of the paper.
SHARES = (
    (0.33, 0.33, 0.33),
    (0.25, 0.25, 0.25, 0.25),
    (0.45, 0.3, 0.15, 0.1),
    (0.17,) * 6,
    (0.34, 0.33, 0.33),
)


def document(rng: Random, kind: Kind, weights: Sequence[float] = (1, 2, 3)) -> Document[Any]:
    """A document of a kind that may be sealed where criteria may have these weights."""
    shares = rng.choice(SHARES)
    count = len(shares) if kind is Kind.CHECKLIST else rng.randint(1, 4)
    units = []
    for place, text in enumerate(rng.sample(WORDS, count)):
        fields = MORE.get(kind, lambda _: {})(rng)
        fields |= {"share": shares[place]} if kind is Kind.CHECKLIST else {}
        fields |= {"weight": rng.choice(weights)} if kind is Kind.RUBRIC else {}
        anchor = (
            Anchor(quote=text[:5], start=0, end=5, page=rng.choice((None, 2))) if rng.random() < 0.3 else None
        )
        units.append(
            DOCUMENTS[kind].UNIT(text=text, note=rng.choice(("", "for me")), anchor=anchor, **fields)
        )
    return DOCUMENTS[kind](units=tuple(units), remark=rng.choice(("", "A remark")))


@once
def generated_project(folder: Path, seed: int) -> Project:
    rng = Random(seed)
    project = pairs_project(folder, 2)
    people.add_person(project, "Eve", (Role.ANNOTATOR, Role.ADJUDICATOR))
    for _ in range(rng.randint(0, 2)):
        settings.write(
            project, rng.choice((Stage.RUBRIC, Stage.CHECKLIST)), f"One claim each, {rng.random()}."
        )
    for place in range(2):
        for kind in rng.sample(KINDS, rng.randint(3, 5)):
            write(rng, project, place, kind)
        for system in ("Alpha", "Beta/β")[: rng.randint(0, 2)]:
            add_report(project, system, place)
    if rng.random() < 0.5:
        imports.run(work_as(project, "Cora"), "researcherbench", [write_peer(folder / "peer")], warm=False)
    _judge(rng, project)
    for _ in range(rng.randint(2, 8)):
        _attempt(lambda: rng.choice(LATER)(rng, project))
    work_as(project, "Cora")
    if rng.random() < 0.2:
        items.change(project, item(project), retired=True)
    return project


def _attempt(act: Callable[[], Any]) -> None:
    try:
        act()
    except Refusal:
        return


def write(rng: Random, project: Project, place: int, kind: Kind, names: Sequence[str] = ()) -> None:
    names = names or rng.choice((("Dan",), ("Ada", "Ben"), ("Ada", "Ben")))
    weights = settings.allowed(project).values
    first = document(rng, kind, weights)
    made = {}
    for name in names:
        own = first if rng.random() < 0.4 else document(rng, kind, weights)
        made[name] = artifacts.start(work_as(project, name), item(project, place), kind, own).subject
    for name, artifact_id in made.items():
        if rng.random() < 0.9:
            assignments.seal(work_as(project, name), artifact_id, reason=rng.choice(("", "meant so")))
    if len(made) > 1:
        _attempt(lambda: _adjudicate(rng, project, place, kind))


def _adjudicate(rng: Random, project: Project, place: int, kind: Kind) -> None:
    result = adjudicating.open_(work_as(project, "Cleo"), item(project, place), stage_of(kind)).id
    if rng.random() < 0.2:
        return
    same = rng.random() < 0.5
    for row in adjudicating.sheet(project, result).rows:
        takes = [*row.units, "drop", *(("both",) if len(row.units) > 1 else ())]
        take = "A" if same and "A" in row.units else "drop" if same else rng.choice(takes)
        _attempt(lambda row=row, take=take: _rule(rng, project, row.ruling.id, take))  # type: ignore[misc]
    ruling.close(project, result)
    if rng.random() < 0.4:
        _attempt(
            lambda: feedback.dispute(work_as(project, "Ada"), item(project, place), stage_of(kind), "Not so.")
        )
        ruling.reopen(work_as(project, "Cleo"), result, "It may be.")
        if rng.random() < 0.6:
            row = rng.choice(adjudicating.sheet(project, result).rows)
            _attempt(lambda: ruling.write_own(project, row.ruling.id, text="Reworded"))
            ruling.close(project, result)


def _rule(rng: Random, project: Project, ruling_id: str, take: str) -> None:
    ruling.rule(
        project, ruling_id, take, reason=rng.choice(list(Reason)), rationale=rng.choice(("", "Said better.")),
        confidence=rng.choice((None, *Confidence)) or Confidence.LOW,
    )  # fmt: skip


def _judge(rng: Random, project: Project) -> None:
    work_as(project, "Cora")
    judges.stored(project, judges.BASELINE)
    for item_id, response_id in responses(project):
        if rng.random() < 0.5:
            claims = Claims(units=(Claim(id="c0", text="Depth helps.", url="https://example.org/a"),))
            drawn_extracts.keep(
                project,
                (item_id, response_id),
                ResponsePart.CLAIMS,
                claims,
                by_judge(judges.BASELINE.id),
            )
    for protocol in rng.sample(list(ACTS_OF.values()), 2):
        _attempt(
            lambda protocol=protocol: asyncio.run(judge_runs.run(project, RunRequest("baseline", protocol)))
        )  # type: ignore[misc]
    for protocol in ("researcherbench.coverage", "adra.reasoning"):
        _attempt(lambda protocol=protocol: label(rng, project, protocol))  # type: ignore[misc]


def label(rng: Random, project: Project, protocol: str) -> None:
    work_as(project, rng.choice(("Dan", "Eve")))
    for _, response_id in responses(project):
        for group in labels.sheet(project, response_id, protocol).groups:
            for unit in group.units:
                value = rng.choice((*PROTOCOLS[protocol].values, "unsure"))
                labels.set_label(
                    project, response_id, unit.id, value, protocol=protocol, seconds=rng.random() * 9
                )


def responses(project: Project) -> list[tuple[str, str]]:
    result = sql.rows(project, "SELECT item_id, id FROM response ORDER BY rowid")
    return [(item_id, response_id) for item_id, response_id in result]


def _own(rng: Random, project: Project, state: State) -> str:
    """Somebody's document in that state, who then works."""
    question = "SELECT id, author_id FROM artifact WHERE state = ? AND kind != 'labels' AND author_id != '' ORDER BY id"
    result = sql.rows(project, question, [state.value])
    if not result:
        raise Refusal("There is none.")
    artifact_id, author = rng.choice(result)
    project.work_as(next(each for each in people.people(project) if each.id == author))
    return str(artifact_id)


def _reopen(rng: Random, project: Project) -> None:
    assignments.reopen(project, _own(rng, project, State.SEALED))


def _change(rng: Random, project: Project) -> None:
    artifact_id = _own(rng, project, State.DRAFT)
    unit = rng.choice(artifacts.read(project, artifact_id).document.units)
    artifacts.change_unit(project, artifact_id, unit.id, text=rng.choice(WORDS))


def _retire(rng: Random, project: Project) -> None:
    artifact_id = _own(rng, project, State.DRAFT)
    result = artifacts.read(project, artifact_id).document
    if not isinstance(result, Checklist) and len(result.units) > 1:
        artifacts.remove_unit(project, artifact_id, rng.choice(result.units).id)


def _seal(rng: Random, project: Project) -> None:
    assignments.seal(project, _own(rng, project, State.DRAFT), reason="Again.")


def _correct_claims(rng: Random, project: Project) -> None:
    work_as(project, "Dan")
    reports = responses(project)
    if not reports:
        return
    claims = Claims(units=(Claim(id="c0", text="Depth helps much.", url="https://example.org/a"),))
    extracts.write_own(project, rng.choice(reports), ResponsePart.CLAIMS, claims)


def _edit_gold(rng: Random, project: Project) -> None:
    work_as(project, "Cora")
    for (artifact_id,) in sql.rows(project, "SELECT id FROM artifact WHERE author_id = '' ORDER BY id")[:1]:
        assignments.reopen(project, artifact_id)
        unit = rng.choice(artifacts.read(project, artifact_id).document.units)
        artifacts.change_unit(project, artifact_id, unit.id, text=rng.choice(WORDS))
        if rng.random() < 0.5:
            assignments.seal(project, artifact_id)


LATER = (_edit_gold, _reopen, _reopen, _reopen, _change, _change, _retire, _seal, _correct_claims)


TYPES = ("Technical Details", "Literature Review", "Open Consulting")
AT = datetime(2090, 1, 1, tzinfo=UTC)
BATCH = 20_000
WHY = "The report says so in its second part, where it speaks of this point at some length."
# An item's id, a report's, the rubric's and a criterion's.
Place = tuple[str, str, str, str]


def peer_folder(folder: Path, items: int, criteria: int, systems: int, letters: int = 2_000) -> Path:
    """Questions, rubrics and reports in ResearcherBench's layout."""
    questions = [
        {"id": n, "category": TYPES[n % 3], "Subject": "AI", "question": f"What is known of matter {n}?"}
        for n in range(1, items + 1)
    ]
    rubrics = [
        {
            "id": q["id"],
            "question": q["question"],
            "rubric": [
                {"point": f"Explains point {c} of matter {q['id']}", "weight": c % 3 + 1}
                for c in range(criteria)
            ],
        }
        for q in questions
    ]
    (folder / "responses").mkdir(parents=True)
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    (folder / "rubric.json").write_text(json.dumps(rubrics), encoding="utf-8")
    for system in range(systems):
        reports = [
            {
                "id": q["id"],
                "question": q["question"],
                "response": (f"System {system} on it: {q['question']} " * (letters // 50 + 1)),
            }
            for q in questions
        ]
        (folder / "responses" / f"system-{system}.json").write_text(json.dumps(reports), encoding="utf-8")
    return folder


def imported(path: Path, source: Path) -> Project:
    project = people.new_project(path, "Judged")
    imports.run(project, "researcherbench", [source], warm=False)
    return project


def places(project: Project) -> list[Place]:
    rubrics = {
        item_id: (artifact_id, [unit["id"] for unit in json.loads(content)["units"]])
        for item_id, artifact_id, content in sql.rows(
            project,
            "SELECT a.item_id, a.id, r.content FROM artifact a JOIN revision r ON r.artifact_id = a.id "
            "AND r.number = a.revision WHERE a.kind = 'rubric'",
        )
    }
    reports = sql.rows(project, "SELECT item_id, id FROM response ORDER BY item_id, id")
    return [
        (item_id, response_id, rubrics[item_id][0], unit)
        for item_id, response_id in reports
        for unit in rubrics[item_id][1]
    ]


def judge_everything(project: Project, count: int, limit: int | None = None) -> int:
    """Verdicts of so many judges on every criterion of every report, or the first so many; how many there are now."""
    rows = _verdicts(project, count)
    written, batch = 0, list[dict[str, Any]]()
    for row in rows:
        if limit is not None and written + len(batch) == limit:
            break
        batch.append(row)
        if len(batch) == BATCH:
            written += _write(project, batch)
            batch = []
    return written + _write(project, batch)


def _write(project: Project, rows: list[dict[str, Any]]) -> int:
    with project.store.write() as db:
        insert_rows(db, JUDGEMENT, rows, lambda *_: None)
    return len(rows)


def _verdicts(project: Project, count: int) -> Iterator[dict[str, Any]]:
    where, rng = places(project), Random(7)
    for number in range(count):
        judge_id, run_id = _add_judge_and_run(project, number, len(where))
        for place in where:
            value = "yes" if rng.random() < 0.6 else "no"
            yield _row(
                place, judge_id, run_id=run_id, value=value, rater_kind=RaterKind.JUDGE.value, rationale=WHY
            )


def _add_judge_and_run(project: Project, number: int, asked: int) -> tuple[str, str]:
    name = f"judge {number:03}"
    judge = Judge(id=derived_id("judge", name), name=name, base_url="http://127.0.0.1:1/v1", model="m")
    judges.stored(project, judge)
    run = {
        "id": derived_id("run", name), "judge_id": judge.id, "protocol": COVERAGE, "state": RunState.DONE.value,
        "prompt_sha256": "p1", "total": asked, "done": asked, "started_at": AT, "by": "",
    }  # fmt: skip
    with project.store.write() as db:
        db.execute(RUN.insert().values(**run))
    return judge.id, str(run["id"])


def _row(place: Place, rater_id: str, **said: Any) -> dict[str, Any]:
    item_id, response_id, artifact_id, unit_id = place
    made = JudgementFields.model_construct(
        protocol=COVERAGE, item_id=item_id, response_id=response_id, artifact_id=artifact_id, unit_id=unit_id,
        rater_id=rater_id, status=Status.OK.value, at=AT, **said,
    ).model_dump(warnings=False)  # fmt: skip
    return {**made, "id": derived_id(rater_id, response_id, unit_id), "sha256": judgement_hash(made)}


def label_everything(project: Project, name: str, share: float, alike: float) -> int:
    """What a new annotator says of that share of what a judge judged, and how much of it is as the judge has it.

    The labels came in by a file and count; how many there are.
    """
    person_id, rng = people.add_person(project, name, (Role.ANNOTATOR,)).subject, Random(name)
    said = {
        (response_id, unit_id): value
        for response_id, unit_id, value in sql.rows(
            project,
            "SELECT response_id, unit_id, value FROM judgement WHERE rater_kind = 'judge' ORDER BY id",
        )
    }
    rows = []
    for place in places(project):
        judged = said.get((place[1], place[3]))
        if judged is not None and rng.random() < share:
            value = judged if rng.random() < alike else {"yes": "no", "no": "yes"}[judged]
            rows.append(
                _row(
                    place,
                    person_id,
                    value=value,
                    run_id=None,
                    rater_kind=RaterKind.PERSON.value,
                    flags=IMPORTED,
                )
            )
    return _write(project, rows)


SEARCHED_WORDS = """
evidence claim reproduce ablation retrieval corpus annotator criterion weight statement judge report system
benchmark survey latency robust gradient entropy protein membrane catalyst polymer orbit magnet plasma
tensor citation passage quotation agreement interval bootstrap kappa confusion baseline prompt token context
memory
""".split()  # noqa: SIM905 - forty lines otherwise
SUBJECTS = tuple(f"Subject {number}" for number in range(40))


def create(path: Path, count: int, *, searchable: bool = True) -> None:
    """A project file with so many made-up items of about thirty words; one in a thousand speaks of lanthanum."""
    new_project(path).close()
    with closing(raw_connection(path)) as raw, engine_over(raw).connect() as db:
        raw.execute("BEGIN")
        raw.executemany(
            "INSERT INTO item (key, dataset, question, question_type, subject, language, position, retired, id, sha256)"
            " VALUES (:key, '', :question, :type, :subject, 'en', :number, 0, :id, '')",
            rows(count),
        )
        if searchable:
            store.rebuild(db)
        raw.execute("COMMIT")


def rows(count: int) -> Iterator[dict[str, object]]:
    chance = random.Random(7)
    for number in range(count):
        words = chance.choices(SEARCHED_WORDS, k=30)
        if number % 1000 == 500:
            words[3] = "lanthanum"
        yield {
            "key": str(number + 1),
            "question": f"How does {' '.join(words)} compare?",
            "type": ("Technical Details", "Literature Review", "Open Consulting")[number % 3],
            "subject": SUBJECTS[number % 40],
            "number": number,
            "id": str(uuid.UUID(int=chance.getrandbits(128))),
        }
