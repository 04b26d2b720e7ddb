"""Attack tests: how each was ordered, what was drawn for it, and its progress."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from annotator.actions.judges import judges
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.attack import AttackContent, AttackTestFields
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import ATTACKS, TARGETS, AttackNeeds
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ATTACK_TEST, RUN

# Under this the run of a test is kept: what it says of copies enters no result.
PREFIX = "attack."
WIDTH = 0.2


@dataclass(frozen=True, slots=True)
class AttackRequest:
    """A request for a test: the judge and the attacks (names or their beginnings; all that apply by default).

    `size` verdicts are drawn by the chance of `seed`; without it as many as an interval of that `width` takes.
    """

    judge: str
    protocol: str = USUAL
    attacks: tuple[str, ...] = ()
    size: int | None = None
    width: float = WIDTH
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AttackRunRequest(RunRequest):
    """The run request of a test; its `protocol` begins with `PREFIX`."""

    request: AttackRequest = AttackRequest("")


def order(request: AttackRequest, **how: Any) -> AttackRunRequest:
    """The order of a test; `how` gives concurrency, timeout_s, budget_usd and the rates."""
    return AttackRunRequest(request.judge, PREFIX + request.protocol, request=request, **how)


@dataclass(frozen=True, slots=True)
class AttackTest:
    """A stored test."""

    id: str
    judge_id: str
    run_id: str
    protocol: str
    at: datetime
    content: AttackContent


def checked(project: Project, request: AttackRequest) -> tuple[Judge, Protocol, tuple[str, ...]]:
    """The judge, the protocol and the attacks of a request; Refusal for what cannot be tested, saying what can."""
    judge = judges.named(project, request.judge)
    if judge.kind == JudgeKind.DERIVED:
        raise Refusal(
            f"“{judge.name}” only counts other judges' verdicts.", "Test the judges whose verdicts it counts."
        )
    if request.protocol not in TARGETS:
        known = ", ".join(TARGETS)
        raise Refusal(
            "This protocol reads no report; attacks on reports have no effect.", f"Use one of {known}."
        )
    if (request.size is not None and request.size < 1) or not 0 < request.width < 1:
        raise Refusal("At least one verdict is drawn, for an interval between 0 and 1.", "Give another size.")
    return judge, PROTOCOLS[request.protocol], _chosen(request, judge)


def _chosen(request: AttackRequest, judge: Judge) -> tuple[str, ...]:
    able = {name for name, attack in ATTACKS.items() if can(attack.needs, judge, request.protocol)}
    if not request.attacks:
        return tuple(name for name in ATTACKS if name in able)
    wanted = set[str]()
    for words in request.attacks:
        found = {name for name in ATTACKS if name == words or name.startswith(f"{words}.")}
        if not found:
            raise Refusal(f"There is no attack “{words}”.", f"Available: {', '.join(ATTACKS)}.")
        if not found & able:
            raise Refusal(
                f"“{judge.name}” cannot be tested with “{words}”.", LACKS[ATTACKS[min(found)].needs]
            )
        wanted |= found & able
    return tuple(name for name in ATTACKS if name in wanted)


LACKS = {
    AttackNeeds.MODEL: "It calls no model and always gives the same verdict.",
    AttackNeeds.TOGETHER: "It is asked one criterion at a time; choose a judge that is asked several together.",
    AttackNeeds.NOTHING: "Choose another attack.",
}


def can(needs: AttackNeeds, judge: Judge, protocol: str) -> bool:
    """Whether a judge has what an attack on its verdicts under a protocol needs."""
    return {
        AttackNeeds.NOTHING: True,
        AttackNeeds.MODEL: judge.kind == JudgeKind.ENDPOINT,
        AttackNeeds.TOGETHER: judge_cases.units_a_call(judge, protocol) > 1,
    }[needs]


def all_of(project: Project, judge_id: str = "", protocol: str = "") -> list[AttackTest]:
    """All tests, or those of a judge and under a protocol, the newest first."""
    question = select(ATTACK_TEST).order_by(ATTACK_TEST.c.at.desc(), ATTACK_TEST.c.id)
    question = question.where(ATTACK_TEST.c.judge_id == judge_id) if judge_id else question
    question = question.where(ATTACK_TEST.c.protocol == protocol) if protocol else question
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return [
        AttackTest(
            row["id"], row["judge_id"], row["run_id"], row["protocol"], row["at"],
            AttackContent.model_validate_json(row["content"]),
        )
        for row in rows
    ]  # fmt: skip


def alike(
    project: Project, request: AttackRequest, judge: Judge, shape: Protocol, attacks: tuple[str, ...]
) -> AttackTest | None:
    """The newest test that was ordered with the same request while the judge was asked by the wording in force."""
    asked_by = run_records.prompts_hash(project, shape.prompts)
    wanted = attacks, request.size, request.width, request.seed
    with project.store.read() as db:
        by = dict(db.execute(select(RUN.c.id, RUN.c.prompt_sha256)).all())
    for test in all_of(project, judge.id, request.protocol):
        one = test.content
        had = one.attacks, one.size, one.width, one.seed
        if had == wanted and by.get(test.run_id) == asked_by:
            return test
    return None


def keep(project: Project, judge: Judge, shape: Protocol, content: AttackContent) -> AttackTest:
    """Keep a new test with the run that is to carry it out."""
    run_order = RunRequest(judge.name, PREFIX + shape.name)
    with project.store.write() as db:
        run = run_records.new_run(project, judge, run_order, shape.prompts)
        fields = AttackTestFields(
            judge_id=judge.id, run_id=run.id, protocol=shape.name, by=project.by, at=now()
        )
        test_id, tree = new_id(), content.model_dump(mode="json")
        db.execute(
            insert(ATTACK_TEST),
            {"id": test_id, **fields.model_dump(), "content": canonical_json(tree).decode()},
        )
        told = {name: tree[name] for name in ("attacks", "size", "width", "seed")}
        record(project, db, Change("attack", test_id, "begin attacks", None, {"judge": judge.name, **told}))
    return AttackTest(test_id, judge.id, run.id, shape.name, fields.at, content)
