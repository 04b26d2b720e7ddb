"""What tests of judges by attacks there are: how each was ordered, what was drawn for it, and how far it is."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.project.recording import record
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import RUN
from annotator.actions.runs.judge_cases import Order
from annotator.domain.judges.attack import AttackContent, AttackTestFields
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import Change
from annotator.domain.texts.identity import new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import ATTACKS, TARGETS, Needs
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import AttackCopyRow, AttackTestRow, AttackVerdictRow, table

TEST, COPY, VERDICT = table(AttackTestRow), table(AttackCopyRow), table(AttackVerdictRow)
# Under this the run of a test is kept: what it says of copies enters no result.
PREFIX = "attack."
WIDTH = 0.2


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be tested: a judge, by these attacks (their names, or how these begin; all that it can be put to).

    `size` verdicts are drawn by the chance of `seed`; without it as many as an interval of that `width` takes. `writer`
    names the judge whose model says reports in other words.
    """

    judge: str
    protocol: str = USUAL
    attacks: tuple[str, ...] = ()
    size: int | None = None
    width: float = WIDTH
    seed: int = 1
    writer: str = ""


@dataclass(frozen=True, slots=True)
class AttackOrder(Order):
    """What is asked of a judge that is put to the test; its `protocol` begins with `PREFIX`."""

    wish: Wish = Wish("")


def order(wish: Wish, **how: Any) -> AttackOrder:
    """The order of a test; `how` gives concurrency, timeout_s, budget_usd and the rates."""
    return AttackOrder(wish.judge, PREFIX + wish.protocol, wish=wish, **how)


@dataclass(frozen=True, slots=True)
class AttackTest:
    """A test as it is kept."""

    id: str
    judge_id: str
    run_id: str
    protocol: str
    at: datetime
    content: AttackContent


def checked(project: Project, wish: Wish) -> tuple[Judge, Protocol, tuple[str, ...]]:
    """The judge, the protocol and the attacks of a wish; Refusal for what cannot be tested, saying what can."""
    judge = judges.named(project, wish.judge)
    if judge.kind == JudgeKind.DERIVED:
        raise Refusal(
            f"“{judge.name}” only counts other judges' verdicts.", "Test the judges whose verdicts it counts."
        )
    if wish.protocol not in TARGETS:
        known = ", ".join(TARGETS)
        raise Refusal(
            "This protocol reads no report; attacks on reports have no effect.", f"Use one of {known}."
        )
    if (wish.size is not None and wish.size < 1) or not 0 < wish.width < 1:
        raise Refusal("At least one verdict is drawn, for an interval between 0 and 1.", "Give another size.")
    return judge, PROTOCOLS[wish.protocol], _chosen(project, wish, judge)


def _chosen(project: Project, wish: Wish, judge: Judge) -> tuple[str, ...]:
    able = {name for name, attack in ATTACKS.items() if _can(attack.needs, judge, wish.writer)}
    if wish.writer and judges.named(project, wish.writer).kind != JudgeKind.ENDPOINT:
        raise Refusal(f"“{wish.writer}” asks no model.", "Name a judge with an endpoint to reword reports.")
    if not wish.attacks:
        return tuple(name for name in ATTACKS if name in able)
    wanted = set[str]()
    for words in wish.attacks:
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
    Needs.MODEL: "It calls no model and always gives the same verdict.",
    Needs.TOGETHER: "It is asked one criterion at a time; choose a judge that is asked several together.",
    Needs.WRITER: "Name the judge whose model paraphrases the reports.",
    Needs.NOTHING: "Choose another attack.",
}


def _can(needs: Needs, judge: Judge, writer: str) -> bool:
    return {
        Needs.NOTHING: True,
        Needs.MODEL: judge.kind == JudgeKind.ENDPOINT,
        Needs.TOGETHER: judge.asked.together > 1,
        Needs.WRITER: bool(writer),
    }[needs]


def all_of(project: Project, judge_id: str = "", protocol: str = "") -> list[AttackTest]:
    """All tests, or those of a judge and under a protocol, the newest first."""
    question = select(TEST).order_by(TEST.c.at.desc(), TEST.c.id)
    question = question.where(TEST.c.judge_id == judge_id) if judge_id else question
    question = question.where(TEST.c.protocol == protocol) if protocol else question
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
    project: Project, wish: Wish, judge: Judge, shape: Protocol, attacks: tuple[str, ...]
) -> AttackTest | None:
    """The newest test that was ordered with the same wish while the judge was asked by the wording in force."""
    asked_by = run_records.prompts_hash(project, shape.prompts)
    writer = judges.named(project, wish.writer).id if wish.writer else ""
    wanted = attacks, wish.size, wish.width, wish.seed, writer
    with project.store.read() as db:
        by = dict(db.execute(select(RUN.c.id, RUN.c.prompt_sha256)).all())
    for test in all_of(project, judge.id, wish.protocol):
        one = test.content
        had = one.attacks, one.size, one.width, one.seed, one.writer_id
        if had == wanted and by.get(test.run_id) == asked_by:
            return test
    return None


def keep(project: Project, judge: Judge, shape: Protocol, content: AttackContent) -> AttackTest:
    """Keep a new test with the run that is to carry it out."""
    run_order = Order(judge.name, PREFIX + shape.name)
    with project.store.write() as db:
        run = run_records.new_run(project, judge, run_order, shape.prompts)
        fields = AttackTestFields(
            judge_id=judge.id, run_id=run.id, protocol=shape.name, by=project.by, at=now()
        )
        test_id, tree = new_id(), content.model_dump(mode="json")
        db.execute(
            insert(TEST),
            {"id": test_id, **fields.model_dump(), "content": canonical_json(tree).decode()},
        )
        told = {name: tree[name] for name in ("attacks", "size", "width", "seed")}
        record(project, db, Change("attack", test_id, "begin attacks", None, {"judge": judge.name, **told}))
    return AttackTest(test_id, judge.id, run.id, shape.name, fields.at, content)
