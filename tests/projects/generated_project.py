"""Projects made by chance from a seed: every kind of artifact, alone, in pairs, adjudicated, reopened and judged."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import extracts, items
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.adjudication import Confidence, Reason
from annotator.domain.experts.assignment import Role, Stage, stage_of
from annotator.domain.kinds.artifact import Anchor, Document, Kind, State
from annotator.domain.kinds.checklist import Checklist
from annotator.domain.kinds.diagnostics import Aspect
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.material.extract import Claim, Claims, ResponsePart, by_judge
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from tests.material import drawn_extracts
from tests.material.bundles import write_peer
from tests.projects.pairs_project import add_report, item, pairs_project, work_as
from tests.storage import sql
from tests.templates import once

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
    """The project of a seed; Cora works."""
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
                extracts.NewExtract(
                    item_id, response_id, ResponsePart.CLAIMS, claims, by_judge(judges.BASELINE.id)
                ),
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
    result = sql.rows(project, "SELECT id FROM artifact WHERE author_id = '' ORDER BY id")
    for (artifact_id,) in result[:1]:
        assignments.reopen(project, artifact_id)
        unit = rng.choice(artifacts.read(project, artifact_id).document.units)
        artifacts.change_unit(project, artifact_id, unit.id, text=rng.choice(WORDS))
        if rng.random() < 0.5:
            assignments.seal(project, artifact_id)


LATER = (_edit_gold, _reopen, _reopen, _reopen, _change, _change, _retire, _seal, _correct_claims)
