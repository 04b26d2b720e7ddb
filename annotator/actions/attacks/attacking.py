"""Runs that test a judge: its own questions, asked again about attacked copies of reports."""

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, zip_longest
from random import Random
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, insert, select

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project, record, response_hash
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.journal import RunJournal, by_cause
from annotator.actions.runs.judge_cases import ATTACK, AttackRequest, AttackRunRequest, RunRequest
from annotator.actions.runs.run_kind import RunKind, RunWork
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    counted,
    derived_id,
    grouped,
    new_id,
    now,
    required,
)
from annotator.domain.judges.judge import Judge, JudgeKind, RunState, Status, family_of
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.domain.judges.validation import UNTOUCHED, AttackContent, AttackedQuestion, Pieces, copied
from annotator.domain.stored import AttackCopyFields, AttackTestFields, AttackVerdictFields, Stored
from annotator.judging.attacks import (
    ATTACKS,
    CONTROL,
    CRITERIA,
    TARGETS,
    Attack,
    AttackInput,
    AttackNeeds,
    disordered,
)
from annotator.judging.runner import Finished
from annotator.protocols import PROTOCOLS
from annotator.storage import tables
from annotator.storage.tables import (
    ATTACK_COPY,
    ATTACK_TEST,
    ATTACK_VERDICT,
    JUDGEMENT,
    RUN,
    SYSTEM,
    if_given,
)

if TYPE_CHECKING:
    from annotator.actions.sets.validation_figures import Key

SETTING = "families"
NONE = "none"
LONGEST = 80


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A system or judge with its model family, empty if unknown; `entered` if a person entered it."""

    id: str
    name: str
    judge: bool
    model: str
    family: str
    entered: bool


def members(project: Project) -> list[FamilyMember]:
    families: dict[str, str] = project.get(SETTING, {})
    systems = project.query(select(SYSTEM.c.id, SYSTEM.c.name).order_by(SYSTEM.c.name)).all()
    every = [(row.id, row.name, False, "") for row in systems]
    every += [
        (judge.id, judge.name, True, judge.model)
        for judge in judges.all_of(project)
        if judge.kind == JudgeKind.ENDPOINT
    ]
    return [
        FamilyMember(id_, name, judge, model, "" if family == NONE else family, id_ in families)
        for id_, name, judge, model in every
        for family in [families.get(id_, family_of(model) or family_of(name))]
    ]


@people.for_coordinators("can set the family of a model")
def set_family(project: Project, name: str, family: str) -> Change:
    """Set the family of a system or judge by name: “none”, or empty for the family its name suggests."""
    chosen = [member for member in members(project) if member.name == name]
    if not chosen:
        known = ", ".join(f"“{member.name}”" for member in members(project))
        raise Refusal(f"There is no system and no judge “{name}”.", f"Available: {known}.")
    family = " ".join(family.split())
    if len(family) > LONGEST:
        raise Refusal("That is not a developer's name.", f"Use at most {LONGEST} characters.")
    families: dict[str, str] = dict(project.get(SETTING, {}))
    changed = {one.id for one in chosen}
    after = {id_: value for id_, value in families.items() if id_ not in changed}
    after |= dict.fromkeys(changed, family) if family else {}
    with project.store.write() as db:
        project.set(SETTING, after)
        return record(project, db, Change("family", SETTING, "set family", families, after))


def restore(project: Project, _: Connection, subject: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    if project.get(subject, {}) != present:
        raise Refusal("Families were changed elsewhere since.", "Look again; nothing was undone.")
    project.set(subject, goal)


def order(request: AttackRequest, **how: Any) -> AttackRunRequest:
    """The order of a test; `how` gives concurrency, timeout_s, budget_usd and the rates."""
    return AttackRunRequest(request.judge, ATTACK + request.protocol, request=request, **how)


class AttackTest(Stored, AttackTestFields):
    content: AttackContent


def checked(project: Project, request: AttackRequest) -> tuple[Judge, Protocol, tuple[str, ...]]:
    """The judge, protocol and attacks of a request; raises Refusal for what cannot be tested, naming what can."""
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
    selected = set[str]()
    for words in request.attacks:
        result = required(
            {name for name in ATTACKS if name == words or name.startswith(f"{words}.")},
            f"There is no attack “{words}”.",
            f"Available: {', '.join(ATTACKS)}.",
        )
        if not result & able:
            raise Refusal(
                f"“{judge.name}” cannot be tested with “{words}”.", LACKS[ATTACKS[min(result)].needs]
            )
        selected |= result & able
    return tuple(name for name in ATTACKS if name in selected)


LACKS = {
    AttackNeeds.MODEL: "It calls no model and always gives the same verdict.",
    AttackNeeds.TOGETHER: "It is asked one criterion at a time; choose a judge that is asked several together.",
    AttackNeeds.NOTHING: "Choose another attack.",
}


def can(needs: AttackNeeds, judge: Judge, protocol: str) -> bool:
    return {
        AttackNeeds.NOTHING: True,
        AttackNeeds.MODEL: judge.kind == JudgeKind.ENDPOINT,
        AttackNeeds.TOGETHER: judge_cases.units_a_call(judge, protocol) > 1,
    }[needs]


def all_of(project: Project, judge_id: str = "", protocol: str = "") -> list[AttackTest]:
    """All tests, or those of a judge and under a protocol, the newest first."""
    t = ATTACK_TEST.c
    question = select(ATTACK_TEST).where(*if_given((t.judge_id, judge_id), (t.protocol, protocol)))
    rows = project.query(question.order_by(t.at.desc(), t.id)).mappings().all()
    return [
        AttackTest(**{**row, "content": AttackContent.model_validate_json(row["content"])}) for row in rows
    ]


def alike(
    project: Project, request: AttackRequest, judge: Judge, protocol: Protocol, attacks: tuple[str, ...]
) -> AttackTest | None:
    """The newest test ordered with the same request while the judge was asked with the present prompts."""
    asked_by = run_records.prompts_hash(project, protocol.prompts)
    expected = attacks, request.size, request.width, request.seed
    by = dict(project.query(select(RUN.c.id, RUN.c.prompt_sha256)).all())
    for test in all_of(project, judge.id, request.protocol):
        content = test.content
        if (content.attacks, content.size, content.width, content.seed) == expected and by.get(
            test.run_id
        ) == asked_by:
            return test
    return None


def keep(project: Project, judge: Judge, protocol: Protocol, content: AttackContent) -> AttackTest:
    """Store a new test with the run that is to carry it out."""
    run_order = RunRequest(judge.name, ATTACK + protocol.name)
    with project.store.write() as db:
        run = run_records.new_run(project, judge, run_order, protocol.prompts)
        test = AttackTest(
            id=new_id(), judge_id=judge.id, run_id=run.id, protocol=protocol.name, by=project.by, at=now(),
            content=content,
        )  # fmt: skip
        tree = content.model_dump(mode="json")
        db.execute(insert(ATTACK_TEST), {**dict(test), "content": canonical_json(tree).decode()})
        settings = {name: tree[name] for name in ("attacks", "size", "width", "seed")}
        record(
            project, db, Change("attack", test.id, "begin attacks", None, {"judge": judge.name, **settings})
        )
    return test


# Copy and unit; copy and units in the order asked.
UnitKey = tuple[str, str]
Name = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AttackCopy:
    """A copy with the question about it; `fields` are what is stored of it."""

    fields: AttackCopyFields
    struck: AttackedQuestion
    case: Case

    def row(self) -> dict[str, Any]:
        return {
            "id": self.case.response.id, **self.fields.model_dump(), "status": self.fields.status.value
        }  # fmt: skip


def copy_id(test_id: str, attack: str, variant: str, response_id: str) -> str:
    return derived_id("attack copy", test_id, attack, variant, response_id)


class AttackJournal(RunJournal):
    """A journal that stores verdicts with the test; `made` holds each copy until it is judged."""

    def __init__(self, project: Project, judge_id: str, test: AttackTest) -> None:
        super().__init__(project, test.run_id, judge_id, test.protocol)
        self.made: dict[Name, AttackCopy] = {}
        self._test = test

    def put(self, made: AttackCopy) -> Case:
        """Remember the copy that a case is about, and return the case."""
        self.made[_name(made.case)] = made
        return made.case

    def done(self, *, only_ok: bool) -> set[UnitKey]:
        """The copies and units with a verdict stored; with `only_ok`, valid ones only."""
        v = ATTACK_VERDICT.c
        question = select(v.copy_id, v.unit_id).where(v.test_id == self._test.id)
        question = question.where(v.status == Status.OK.value) if only_ok else question
        return {(row[0], row[1]) for row in self._project.query(question)}

    def without(self) -> dict[str, int]:
        return by_cause(self._project, ATTACK_VERDICT, ATTACK_VERDICT.c.test_id == self._test.id)

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write the copies and the verdicts on them, in the transaction of the calls."""
        known = [(self.made.pop(_name(one.case), None), one) for one in done]
        rows = [row for made, one in known if made for row in self._verdicts(made, one, at)]
        if rows:
            tables.add_missing(db, ATTACK_COPY, [made.row() for made, _ in known if made])
            tables.put(db, ATTACK_VERDICT, rows)
        return len(rows)

    def _verdicts(self, made: AttackCopy, finished: Finished, at: datetime) -> Iterator[dict[str, Any]]:
        of_copy, unit_ids = finished.case.response.id, [unit.id for unit in finished.case.units]
        for unit_id, verdict in finished.verdicts.items():
            fields = AttackVerdictFields(
                **verdict.model_dump(), test_id=self._test.id, copy_id=of_copy, item_id=made.struck.item_id,
                unit_id=unit_id, before=made.struck.own[unit_id], call_id=finished.call_id, at=at,
                asked=json.dumps(unit_ids) if len(unit_ids) > 1 else "",
            )  # fmt: skip
            row = {"id": derived_id("attack verdict", of_copy, unit_id), **fields.model_dump()}
            yield row | {"status": verdict.status.value}


def read_pieces(text: str) -> Pieces:
    return tuple(piece if isinstance(piece, str) else (piece[0], piece[1]) for piece in json.loads(text))


def _name(case: Case) -> Name:
    return case.response.id, tuple(unit.id for unit in case.units)


# The assumed correlation of verdicts on one item, if the number is computed from the requested width.
LIKENESS = 0.1
# Questions under this trial are asked anew by every test; it has no other effect.
_FIRST_TRIAL = 2_000_000


def draw(
    project: Project, request: AttackRequest, judge: Judge, protocol: Protocol, attacks: tuple[str, ...]
) -> AttackContent:
    """The content of a new test; raises Refusal if the judge has no verdict that still counts."""
    questions = required(
        _questions(project, judge, protocol, standing(project, judge, protocol)),
        f"“{judge.name}” has no verdict of its own by “{protocol.title}” as it is worded now.",
        "Run it on some reports first.",
    )
    demanded = (
        TARGETS[protocol.name].value
        if request.size is None and any(ATTACKS[name].plants for name in attacks)
        else ""
    )
    attacked_questions = tuple(
        _in_turn(questions, request.size or _size(questions, request.width), request.seed, demanded)
    )
    return AttackContent(
        attacks=attacks, size=request.size, width=request.width, seed=request.seed,
        trial=_FIRST_TRIAL + len(all_of(project, judge.id, protocol.name)), drawn=attacked_questions,
        available=sum(len(question.own) for question in questions),
    )  # fmt: skip


def standing(project: Project, judge: Judge, protocol: Protocol) -> dict["Key", str]:
    """A judge's verdicts with the present prompts, on units as now worded."""
    from annotator.actions.sets import validation_figures

    by = run_records.prompts_hash(project, protocol.prompts)
    return {
        key: verdict
        for version in validation_figures.of_judges(project, protocol)
        if version.judge.id == judge.id and (judge.kind == JudgeKind.BASELINE or version.prompt_sha256 == by)
        for key, verdict in version.verdicts.items()
    }


def _questions(
    project: Project, judge: Judge, protocol: Protocol, verdicts: dict["Key", str]
) -> list[AttackedQuestion]:
    """The verdicts by question, as they were asked: one by one, or several together."""
    from annotator.actions.sets import validation_figures

    places = validation_figures.places(project, protocol)
    stand = {key: value for key, value in verdicts.items() if key in places}
    if judge_cases.units_a_call(judge, protocol.name) == 1:
        return [
            AttackedQuestion(
                item_id=places[key].item_id, response_id=key[0], asked=(key[1],), own={key[1]: value}
            )
            for key, value in stand.items()
        ]
    return list(_together(project, judge, protocol, stand))


def _together(
    project: Project, judge: Judge, protocol: Protocol, verdicts: dict["Key", str]
) -> Iterator[AttackedQuestion]:
    """Whole questions, all of whose units have a verdict: among other units a unit might be judged otherwise."""
    seeds = run_records.seeds(project, judge.id, protocol.name)
    for seed in sorted(set(seeds.values())):
        settings = judge_cases.settings_of(judge, protocol.name, seed)
        for case in judge_cases.cases(project, RunRequest(judge.name, protocol.name), settings=settings):
            response_id, unit_ids = case.response.id, tuple(unit.id for unit in case.units)
            own = {
                unit_id: verdicts[response_id, unit_id]
                for unit_id in unit_ids
                if (response_id, unit_id) in verdicts
            }
            if seeds.get(response_id) == seed and len(own) == len(unit_ids):
                yield AttackedQuestion(item_id=case.item.id, response_id=response_id, asked=unit_ids, own=own)


def _size(questions: Sequence[AttackedQuestion], width: float) -> int:
    """The number of verdicts an interval of this width needs at worst, spread over the items (Kish's design effect)."""
    from annotator.stats.intervals.student import kish_effect, wilson_size

    items, available = (
        len({question.item_id for question in questions}),
        sum(len(question.own) for question in questions),
    )
    for size in range(1, available):
        share, more = divmod(size, items)
        spread = [share + 1] * more + [share] * (items - more)
        if size >= wilson_size(width, design_effect=kish_effect([one for one in spread if one], LIKENESS)):
            return size
    return available


def _in_turn(
    questions: Iterable[AttackedQuestion], size: int, seed: int, demanded: str
) -> list[AttackedQuestion]:
    """Questions at random, items in turn, until `size` verdicts are sampled; then sorted by item.

    Verdicts that are the `demanded` one already cannot be changed by it: they are sampled, but not counted.
    """
    chance = Random(seed)
    ordered = sorted(questions, key=lambda one: (one.item_id, one.response_id, one.asked))
    items = list(grouped((question.item_id, question) for question in ordered).values())
    for own in items:
        chance.shuffle(own)
    chance.shuffle(items)
    chosen, counted = list[AttackedQuestion](), 0
    for one in (one for turn in zip_longest(*items) for one in turn if one is not None):
        if counted >= size:
            break
        chosen.append(one)
        counted += sum(value != demanded for value in one.own.values())
    return sorted(chosen, key=lambda one: (one.item_id, one.response_id, one.asked))


def copy_of(
    report: str, attack: str, protocol: str, place: int, seed: int, response_id: str
) -> tuple[str, Pieces]:
    """The variant whose turn it is at this place, and its pieces; the same for the same arguments."""
    made, variant = ATTACKS[attack], variant_at(attack, place)
    if made.copy is None:
        return variant, UNTOUCHED
    chance = Random(f"{seed}/{attack}/{variant}/{response_id}")
    return variant, made.copy(AttackInput(report, variant, TARGETS[protocol], chance))


def variant_at(attack: str, place: int) -> str:
    variants = ATTACKS[attack].variants
    return variants[place % len(variants)]


def questions_of(test: AttackTest, attack: str) -> list[tuple[int, AttackedQuestion]]:
    unfit = set(test.content.unfit.get(attack, ()))
    return [
        (place, question)
        for place, question in enumerate(test.content.drawn)
        if question.response_id not in unfit
    ]


DEED = "attacked copies judged"


class AttackRun(RunKind):
    """A run that tests a judge or continues a test; nothing is asked twice.

    Without a request of its own, an order continues the newest interrupted test, or asks for what the newest one lacks.
    The last line names the test.
    """

    doing = "attacking"
    things = "verdicts on copies"

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The judge, and the protocol whose verdicts are attacked."""
        people.refuse_others(project, "can test judges")
        request = order.request if isinstance(order, AttackRunRequest) else _newest(project, order)
        judge, protocol, self._attacks = checked(project, request)
        self._wish = request
        return judge, protocol

    def known(self) -> AttackTest | None:
        return alike(self.project, self._wish, self.judge, self.protocol, self._attacks)

    def new(self) -> AttackTest:
        content = draw(self.project, self._wish, self.judge, self.protocol, self._attacks)
        return AttackTest(
            id="", judge_id=self.judge.id, run_id="", protocol=self.protocol.name, at=now(), content=content
        )

    def opened(self) -> run_records.OpenRun:
        # Only under the lock is it known whether a run was interrupted: one that died is marked there.
        test = self.known()
        self._resumed = test is not None and _is_open(self.project, test)
        if test is None:
            test = keep(self.project, self.judge, self.protocol, self.new().content)
        else:
            run_records.reopen(self.project, test.run_id)
        self._test = test
        self.protocol = self._protocol_asked()
        return run_records.OpenRun(test.run_id, 0)

    def _protocol_asked(self) -> Protocol:
        return judge_runs.protocol_of(
            self.project, RunRequest(self.judge.name, self.protocol.name), self.judge
        )

    def ended(self, line: run_records.RunEvent, journal: RunJournal) -> run_records.RunEvent:
        return {**line, "test": self._test.id}

    def journal(self, run_id: str) -> AttackJournal:
        return AttackJournal(self.project, self.judge.id, self._test)

    def work(self, run: run_records.OpenRun, journal: RunJournal) -> RunWork:
        assert isinstance(journal, AttackJournal)
        return self._work(self._test, journal, only_ok=not self._resumed)

    def _work(self, test: AttackTest, journal: AttackJournal, *, only_ok: bool) -> RunWork:
        done = journal.done(only_ok=only_ok)
        total, n_done = amount(test, done)

        def made() -> Iterator[Case]:
            return map(journal.put, cases(self.project, test, self.judge, self.protocol, done))

        return RunWork(self.protocol, made, total, n_done, DEED)

    async def forecast(self, test: AttackTest) -> forecasts.CostEstimate:
        name, self.protocol = self.protocol.name, self._protocol_asked()
        work = self._work(test, AttackJournal(self.project, self.judge.id, test), only_ok=True)
        return replace(await forecasts.of_work(self, work, work.cases()), protocol=name)


run = AttackRun.run


def _newest(project: Project, order: RunRequest) -> AttackRequest:
    """The request of the newest interrupted test of a judge, or of the newest of all."""
    protocol = order.protocol.removeprefix(ATTACK)
    judge = judges.named(project, order.judge)
    tests = required(
        all_of(project, judge.id, protocol),
        f"“{judge.name}” was not tested.",
        "Test it first. Run: goldsmith attack.",
    )
    content = next((test for test in tests if _is_open(project, test)), tests[0]).content
    return AttackRequest(judge.name, protocol, content.attacks, content.size, content.width, content.seed)


def _is_open(project: Project, test: AttackTest) -> bool:
    return run_records.state_of(project, test.run_id) != RunState.DONE.value


def amount(test: AttackTest, done: Container[UnitKey]) -> tuple[int, int]:
    """The number of verdicts that a test asks for, and of those that are done."""
    asked = [
        (of_copy, unit)
        for attack in test.content.attacks
        for place, question in questions_of(test, attack)
        for of_copy in [copy_id(test.id, attack, variant_at(attack, place), question.response_id)]
        for unit in question.own
    ]
    return len(asked), sum(one in done for one in asked)


def cases(
    project: Project, test: AttackTest, judge: Judge, protocol: Protocol, done: Container[UnitKey] = frozenset(),
) -> Iterator[AttackCopy]:  # fmt: skip
    """Every question of a test except the finished ones; report by report, one attack after the other.

    A unit that no longer exists, or whose verdict by the judge has changed, is not asked about again.
    """
    stand = standing(project, judge, protocol)
    numbered = list(enumerate(test.content.drawn))
    items = list(dict.fromkeys(one.item_id for one in test.content.drawn))
    by_response = {
        response_id: list(group) for response_id, group in groupby(numbered, lambda pair: pair[1].response_id)
    }
    for at_hand in materials.each(project, materials.for_judging(protocol), items):
        for material in at_hand.responses:
            for place, question in by_response.get(material.response.id, ()):
                if all(
                    stand.get((question.response_id, unit)) == value for unit, value in question.own.items()
                ):
                    yield from _of_question(test, judge, protocol, material, place, question, done)


def _of_question(
    test: AttackTest, judge: Judge, protocol: Protocol, material: Material, place: int, question: AttackedQuestion,
    done: Container[UnitKey],
) -> Iterator[AttackCopy]:  # fmt: skip
    base = _case_of(protocol, material, question)
    if base is None:
        return
    base = replace(base, weights_shown=judge.settings.weights_shown)
    for attack in test.content.attacks:
        report = material.response.text
        variant, pieces = copy_of(
            report, attack, protocol.name, place, test.content.seed, question.response_id
        )
        of_copy = copy_id(test.id, attack, variant, question.response_id)
        if all((of_copy, unit) in done for unit in question.own):
            continue
        shown = material.response.model_copy(update={"id": of_copy, "text": copied(report, pieces)})
        case = replace(base, response=shown, trial=test.content.trial if attack == CONTROL else 1)
        if attack == CRITERIA:
            chance = Random(f"{test.content.seed}/{attack}/{question.response_id}")
            case = replace(case, units=tuple(disordered(base.units, chance)))
        fields = AttackCopyFields(
            test_id=test.id, response_id=question.response_id, attack=attack, variant=variant,
            text_sha256=response_hash(report), pieces=json.dumps(pieces, ensure_ascii=False),
        )  # fmt: skip
        yield AttackCopy(fields, question, case)


def _case_of(protocol: Protocol, material: Material, question: AttackedQuestion) -> Case | None:
    """The question as the judge was asked it; None if one of its units no longer exists."""
    by_unit = {unit.id: (case, unit) for case in protocol.cases(material) for unit in case.units}
    if not all(unit in by_unit for unit in question.asked):
        return None
    return replace(by_unit[question.asked[0]][0], units=tuple(by_unit[unit][1] for unit in question.asked))


@dataclass(frozen=True, slots=True)
class AttackEstimate:
    """The estimate of a test, of whose verdicts those drawn are used for each attack.

    `known` if such a test exists already, and is resumed.
    """

    judging: forecasts.CostEstimate
    content: AttackContent
    known: bool

    def tree(self) -> dict[str, Any]:
        drawn = self.content.drawn
        return {
            "judging": self.judging.tree(), "drawn": sum(len(question.own) for question in drawn),
            "available": self.content.available, "items": len({question.item_id for question in drawn}),
            "attacks": len(self.content.attacks), "known": self.known, "cost_usd": self.judging.cost_usd,
            "words": self.words(),
        }  # fmt: skip

    def words(self) -> list[str]:
        drawn = self.content.drawn
        sentences = [
            f"{counted(sum(len(question.own) for question in drawn), 'verdict')} of {self.content.available:,} on "
            f"{counted(len({question.item_id for question in drawn}), 'item')}, drawn at random; each is used for "
            f"{counted(len(self.content.attacks), 'attack')}."
        ]
        if self.known:
            sentences.append("This test exists already: only its missing verdicts are asked for.")
        return sentences + self.judging.words()


async def estimate(project: Project, request: AttackRequest) -> AttackEstimate:
    """The estimate of the test; nothing is asked or written."""
    kind = AttackRun(project, order(request))
    known = kind.known()
    test = known or kind.new()
    return AttackEstimate(await kind.forecast(test), test.content, known is not None)


@dataclass(frozen=True, slots=True)
class AttackableJudge:
    """A judge with its protocols: name, title and number of verdicts on reports."""

    judge: Judge
    protocols: tuple[tuple[str, str, int], ...]

    @property
    def asks(self) -> bool:
        return self.judge.kind == JudgeKind.ENDPOINT


def offers(project: Project) -> list[AttackableJudge]:
    j = JUDGEMENT.c
    question = (
        select(j.rater_id, j.protocol, func.count())
        .where(j.protocol.in_(TARGETS), j.status == Status.OK.value, j.trial == 1)
        .group_by(j.rater_id, j.protocol)
    )
    counts = {(row[0], row[1]): row[2] for row in project.query(question)}
    return [
        AttackableJudge(judge, judged)
        for judge in judges.all_of(project)
        if judge.kind != JudgeKind.DERIVED
        and (
            judged := tuple(
                (name, PROTOCOLS[name].title, counts[judge.id, name])
                for name in TARGETS
                if (judge.id, name) in counts
            )
        )
    ]


def protocols(project: Project) -> list[str]:
    tested = set(project.query(select(ATTACK_TEST.c.protocol).distinct()).scalars())
    return [name for name in TARGETS if name in tested]


def attacks_on(judge: Judge, protocol: str) -> list[tuple[Attack, str]]:
    """Each attack with the reason why it cannot be used on a judge; empty if it can."""
    return [
        (attack, "" if can(attack.needs, judge, protocol) else LACKS[attack.needs])
        for attack in ATTACKS.values()
    ]
