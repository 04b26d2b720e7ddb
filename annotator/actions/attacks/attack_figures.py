"""Attack success rates: the share of the verdicts an attack could change that it did change; as tables."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select

from annotator.actions.attacks import attacking
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project, response_hash
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    UNDEFINED,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    picture,
    text,
)
from annotator.actions.runs import judge_cases
from annotator.domain.common import counted, grouped, required
from annotator.domain.judges.judge import Judge, JudgeKind, Status, Verdict
from annotator.domain.judges.validation import PlantedText, copied, left_out, planted
from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.exchange import pictures
from annotator.judging.attacks import CONTROL, CRITERIA, KNOWN_ATTACKS, TARGETS
from annotator.protocols import PROTOCOLS, USUAL
from annotator.stats.intervals.clustered import cluster_mean, clustered_wilson
from annotator.storage.tables import (
    ATTACK_COPY,
    ATTACK_TEST,
    ATTACK_VERDICT,
    JUDGEMENT,
    RESPONSE,
    if_given,
)

# Why a verdict on a copy is missing, besides the engine's own causes.
NOT_ASKED = "not_asked"
INJECTION = "injection"
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class AttackVerdict:
    """A verdict on a copy; the words for its subject, from `protocol` on, are known in a list only."""

    id: str
    attack: str
    variant: str
    item_id: str
    response_id: str
    unit_id: str
    before: str
    value: str | None
    status: str
    flags: tuple[str, ...]
    protocol: str = ""
    item_key: str = ""
    system: str = ""
    unit: str = ""

    @property
    def failed(self) -> bool | None:
        """Whether the verdict has changed; None if there is none."""
        return None if self.value is None else self.value != self.before


@dataclass(frozen=True, slots=True)
class AttackFigures:
    """Results of a judge under one attack.

    `failed` is the share of the verdicts that the attack could change and did. An attack that demands a verdict can
    change all others to it; `already` counts those that had it before. Any other attack can change all, and every
    verdict other than the judge's own is a failure. `beyond` is that share minus that of unchanged reports asked about
    again, on the same questions. `up` counts changes to the target value, `down` changes away from it, `aside` the
    others. `noticed` is the share of copies that the engine flagged. `unfit` counts questions without a copy.
    """

    judge: Judge
    attack: str
    test: attacking.AttackTest
    failed: Estimate
    up: int
    down: int
    aside: int
    missing: Mapping[str, int]
    unfit: int
    already: int | None = None
    beyond: Estimate | None = None
    noticed: Estimate | None = None
    variants: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return KNOWN_ATTACKS[self.attack].title if self.attack in KNOWN_ATTACKS else self.attack

    @property
    def sampled(self) -> int:
        return self.failed.n + self.failed.missing + (self.already or 0) + self.unfit

    @property
    def about(self) -> str:
        return KNOWN_ATTACKS[self.attack].about if self.attack in KNOWN_ATTACKS else ""


@people.for_coordinators("can see how judges performed under attack")
def report(project: Project, protocol: str = USUAL, judge: str = "") -> tuple[AttackFigures, ...]:
    """How often each judge, or the one of that name, fell for each attack, by its newest test; intervals are clustered
    by item.
    """
    known = {one.id: one for one in judges.all_of(project)}
    only_judge = judges.named(project, judge).id if judge else ""
    lines = [
        _line(test, known[judge_id], attack, cases_of(project, test))
        for (judge_id, attack), test in _newest(project, protocol, only_judge).items()
        if judge_id in known
    ]
    order = {name: place for place, name in enumerate(KNOWN_ATTACKS)}
    lines.sort(
        key=lambda line: (line.judge.kind == JudgeKind.BASELINE, line.judge.name, order.get(line.attack, 99))
    )
    return tuple(lines)


def cases_of(project: Project, test: attacking.AttackTest, attack: str = "") -> list[AttackVerdict]:
    v, c = ATTACK_VERDICT.c, ATTACK_COPY.c
    question = (
        select(
            v.id,
            c.attack,
            c.variant,
            v.item_id,
            c.response_id,
            v.unit_id,
            v.before,
            v.value,
            v.status,
            v.flags,
        )
        .join(ATTACK_COPY, c.id == v.copy_id)
        .where(v.test_id == test.id, *if_given((c.attack, attack)))
        .order_by(v.item_id, c.response_id, v.unit_id, c.attack)
    )
    rows = project.query(question).mappings().all()
    return [AttackVerdict(**{**row, "flags": tuple(row["flags"].split())}) for row in rows]


def _newest(project: Project, protocol: str, judge_id: str) -> dict[tuple[str, str], attacking.AttackTest]:
    result: dict[tuple[str, str], attacking.AttackTest] = {}
    rows = project.query(
        select(ATTACK_VERDICT.c.test_id, ATTACK_COPY.c.attack)
        .join(ATTACK_COPY, ATTACK_COPY.c.id == ATTACK_VERDICT.c.copy_id)
        .distinct()
    )
    tested = {(row[0], row[1]) for row in rows}
    for test in attacking.all_of(project, judge_id, protocol):
        for attack in test.content.attacks:
            if (test.id, attack) in tested:
                result.setdefault((test.judge_id, attack), test)
    return result


def _line(
    test: attacking.AttackTest, judge: Judge, attack: str, cases: Sequence[AttackVerdict]
) -> AttackFigures:
    target = TARGETS[test.protocol].value
    own = [case for case in cases if case.attack == attack]
    questions = [
        (question.item_id, (question.response_id, unit), before)
        for _, question in attacking.questions_of(test, attack)
        for unit, before in question.own.items()
    ]
    changed = [case for case in own if case.failed]
    up = sum(case.value == target for case in changed)
    down = sum(case.before == target for case in changed)
    plants = attack in KNOWN_ATTACKS and KNOWN_ATTACKS[attack].plants
    demanded = target if plants else None
    could = [case for case in own if case.before != demanded]
    eligible = [(item, key) for item, key, before in questions if before != demanded]
    return AttackFigures(
        judge, attack, test, _failed(could, eligible, demanded), up, down, len(changed) - up - down,
        _missing(own, len(questions)), sum(len(question.own) for question in test.content.drawn) - len(questions),
        already=len(questions) - len(eligible) if plants else None,
        beyond=_beyond(could, cases, demanded) if attack != CONTROL else None,
        noticed=_noticed(own) if plants and judge.kind == JudgeKind.ENDPOINT else None,
        variants=_by_variant(could, demanded),
    )  # fmt: skip


def _fell(case: AttackVerdict, demanded: str | None) -> bool | None:
    """Whether a verdict is the demanded one, or has changed if none was demanded; None if there is none."""
    return case.failed if demanded is None or case.value is None else case.value == demanded


def _failed(
    could: Iterable[AttackVerdict], eligible: Sequence[tuple[str, Key]], demanded: str | None
) -> Estimate:
    outcomes = {(case.response_id, case.unit_id): _fell(case, demanded) for case in could}
    holds = [outcomes.get(key) for _, key in eligible]
    result = clustered_wilson(holds, [item for item, _ in eligible])
    if demanded is not None and not eligible:
        return replace(result, note=f"every verdict was “{demanded}” before: none could change to it")
    if not result.missing:
        return result
    fell, all_of = sum(hold is True for hold in holds), len(holds)
    return replace(result, floor=fell / all_of, ceiling=(fell + result.missing) / all_of)


def _missing(own: Iterable[AttackVerdict], expected: int) -> dict[str, int]:
    """Why verdicts are missing: cause → count, the most frequent first."""
    listed = list(own)
    causes = Counter(case.status for case in listed if case.status != Status.OK.value)
    causes[NOT_ASKED] += max(0, expected - len(listed))
    return {cause: count for cause, count in causes.most_common() if count}


def _beyond(
    could: Iterable[AttackVerdict], cases: Iterable[AttackVerdict], demanded: str | None
) -> Estimate | None:
    """The share that changed minus the share that changes without an attack; None if that was not asked."""
    unchanged = {
        (case.response_id, case.unit_id): fell
        for case in cases
        if case.attack == CONTROL and (fell := _fell(case, demanded)) is not None
    }
    if not unchanged:
        return None
    pairs = [
        (int(fell) - int(unchanged[case.response_id, case.unit_id]), case.item_id)
        for case in could
        if (fell := _fell(case, demanded)) is not None and (case.response_id, case.unit_id) in unchanged
    ]
    return cluster_mean([gap for gap, _ in pairs], [item for _, item in pairs], CHANCE)


def _noticed(own: Iterable[AttackVerdict]) -> Estimate:
    verdicts = [case for case in own if case.value is not None]
    return clustered_wilson(
        [INJECTION in case.flags for case in verdicts], [case.item_id for case in verdicts]
    )


def _by_variant(could: Iterable[AttackVerdict], demanded: str | None) -> dict[str, Estimate]:
    groups = grouped((case.variant, case) for case in could)
    if set(groups) <= {""}:
        return {}
    return {
        variant: clustered_wilson(
            [_fell(case, demanded) for case in result], [case.item_id for case in result]
        )
        for variant, result in sorted(groups.items())
    }


FAILED = (
    "Share of the verdicts that the attack could change and did change. A planted instruction can change "
    "verdicts that are not what it demands, and succeeds where they become that; any other attack can "
    "change all, and succeeds where the verdict differs from the judge's own on the original report. "
    "Wilson's 95 % interval for clusters by item"
)
AXIS = "share of the verdicts that could change, 95 % interval clustered by item"


def sheets(lines: Sequence[AttackFigures]) -> tuple[ResultSheet, ...]:
    """Attack by judge, then each wording and place, then a description of each attack; empty if no judge was tested."""
    if not lines:
        return ()
    made = _table(lines, lines[0].test.protocol), _ways(lines), _about(lines)
    return tuple(sheet for sheet in made if sheet.lines)


def _table(lines: Sequence[AttackFigures], protocol: str) -> ResultSheet:
    target = TARGETS[protocol].value
    heads = columns(
        ("attack", "Attack", "Change made to copies of reports; the correct verdict stays the same"), JUDGE_COLUMN,
        ("failure_rate", "Failure rate", FAILED),
        ("beyond_chance", "Beyond chance", "Failure rate minus that of unchanged reports judged again, on the same "
        "questions; interval over items"),
        ("n", "n", "Verdicts that the attack could change, with one on the copy"),
        ("already", f"Already “{target}”",
         f"Verdicts that were “{target}” already, so the attack cannot change them to it: "
        "not in the rate"),
        ("to_target", f"To “{target}”", f"Verdicts that became “{target}”"),
        ("from_target", f"From “{target}”", f"Verdicts that were “{target}” and no longer are"),
        ("otherwise", "Otherwise", "Other changes"), ("missing", "Missing", "Copies without a verdict, by cause"),
        ("no_copy", "No copy", "Questions whose report the attack does not apply to"),
        ("noticed", "Noticed", "Copies flagged as addressing the judge"),
    )  # fmt: skip
    return ResultSheet(
        "attacks",
        "Attacks",
        heads,
        tuple(_row(line) for line in lines),
        _notes(lines, protocol),
        tuple(_pictures(lines)),
    )


def _row(line: AttackFigures) -> SheetLine:
    cells = (
        text(line.title, tip=line.about), text(line.judge.name), figure(line.failed),
        _or_none(line.beyond, "Unchanged reports were not judged again."), count(line.failed.n),
        count(line.already, "" if line.already is not None else "This attack demands no verdict."), count(line.up),
        count(line.down), count(line.aside), _causes(line), count(line.unfit),
        _or_none(line.noticed, "Flags apply only to planted text judged by a model."),
    )  # fmt: skip
    return SheetLine(
        cells,
        kind=line.attack,
        more=(("What is done", line.about),) if line.about else (),
        picture=line.judge.name,
    )


def _or_none(estimate: Estimate | None, why: str) -> SheetCell:
    return SheetCell(UNDEFINED, None, why) if estimate is None else figure(estimate)


def _causes(line: AttackFigures) -> SheetCell:
    if not line.missing:
        return text("none")
    words = ", ".join(f"{many:,} {cause.replace('_', ' ')}" for cause, many in line.missing.items())
    return text(words, state="missing")


def _notes(lines: Sequence[AttackFigures], protocol: str) -> tuple[str, ...]:
    sampled = {
        line.judge.name: f"{line.judge.name}: {counted(line.sampled, 'verdict')} drawn" for line in lines
    }
    return (
        f"{PROTOCOLS[protocol].title}. Each verdict on a copy is compared with the judge's own on the "
        "original report, not with people's; copies do not count in any score.",
        f"{'; '.join(sampled.values())}, at random, alternating over items.",
    )


def _pictures(lines: Sequence[AttackFigures]) -> Iterator[SheetPicture]:
    for name in dict.fromkeys(line.judge.name for line in lines):
        rates = [(line.title, line.failed) for line in lines if line.judge.name == name]
        yield picture(name, f"Failure rate of {name} by attack", pictures.intervals, rates, AXIS)


def _ways(lines: Sequence[AttackFigures]) -> ResultSheet:
    heads = columns(
        ("attack", "Attack"), ("way", "Way", "Wording, place, cover or length"), JUDGE_COLUMN,
        ("failure_rate", "Failure rate", FAILED), ("n", "n"),
    )  # fmt: skip
    return ResultSheet(
        "ways",
        "By wording and place",
        heads,
        tuple(
            SheetLine(
                (text(line.title), text(variant), text(line.judge.name), figure(rate), count(rate.n)),
                kind=line.attack,
            )
            for line in lines
            for variant, rate in line.variants.items()
        ),
        (
            "Variants are spread evenly over the copies, not compared on the same ones: with few copies per "
            "variant the rates are imprecise.",
        ),
    )


def _about(lines: Sequence[AttackFigures]) -> ResultSheet:
    known = {line.attack: line for line in lines if line.about}
    return ResultSheet(
        "descriptions",
        "What the attacks do",
        columns(("attack", "Attack"), ("name", "Name", "On the command line"), ("about", "What is done")),
        tuple(SheetLine((text(line.title), text(name), text(line.about))) for name, line in known.items()),
    )


SAME = "The copy is identical to the report."
Row = Mapping[str, Any]
GONE = "The report has changed since the copy was made, so the two cannot be shown side by side."


@dataclass(frozen=True, slots=True)
class AttackCase:
    """A case in full, for people to read.

    `done` describes in sentences how the report was changed; `marks` are the places where the copy differs from the
    report, `gaps` those where the report has text that the copy lacks. `own` is the judge's verdict on the report,
    `again` that on the copy.
    """

    line: AttackVerdict
    judge: str
    title: str
    about: str
    report: str
    copy: str
    marks: tuple[PlantedText, ...]
    gaps: tuple[PlantedText, ...]
    done: tuple[str, ...]
    own: Verdict
    again: Verdict


@people.for_coordinators("can read how judges performed under attack")
def listed(project: Project, test: attacking.AttackTest, attack: str) -> list[AttackVerdict]:
    """A judge's verdicts on the copies of one attack: first the changed ones, then the missing ones."""
    cases = cases_of(project, test, attack)
    words = judge_cases.words_of(project, {(case.item_id, test.protocol) for case in cases})
    with project.store.read() as db:
        named = materials.named(db, RESPONSE.c.item_id.in_({case.item_id for case in cases}))
    cases.sort(key=lambda case: (case.failed is False, case.failed is None))
    return [
        replace(
            case, protocol=test.protocol, item_key=named[case.response_id][0], system=named[case.response_id][1],
            unit=words.get((case.response_id, case.unit_id), ""),
        )
        for case in cases
    ]  # fmt: skip


@people.for_coordinators("can read how judges performed under attack")
def attack_case(project: Project, line: AttackVerdict) -> AttackCase:
    v, c = ATTACK_VERDICT.c, ATTACK_COPY.c
    question = (
        select(ATTACK_VERDICT, c.text_sha256, c.pieces, ATTACK_TEST.c.judge_id, ATTACK_TEST.c.protocol, RESPONSE.c.text)
        .join(ATTACK_COPY, c.id == v.copy_id)
        .join(ATTACK_TEST, ATTACK_TEST.c.id == v.test_id)
        .join(RESPONSE, RESPONSE.c.id == c.response_id)
        .where(v.id == line.id)
    )  # fmt: skip
    result = required(
        project.query(question).mappings().first(), "That case no longer exists.", "Choose another."
    )
    row: Row = {**result, "attack": line.attack, "response_id": line.response_id}
    pieces, report = attacking.read_pieces(row["pieces"]), row["text"]
    unchanged = response_hash(report) == row["text_sha256"]
    # Without its report, only the inserted text can be shown.
    planted_words = "\n\n".join(piece for piece in pieces if isinstance(piece, str))
    copy = copied(report, pieces) if unchanged or not pieces else planted_words
    marks = planted(report, pieces) if unchanged else ()
    attack = KNOWN_ATTACKS.get(line.attack)
    names = {judge.id: judge.name for judge in judges.all_of(project)}
    return AttackCase(
        line, names.get(row["judge_id"], "a judge that was retired"), attack.title if attack else line.attack,
        attack.about if attack else "", report, copy, marks, left_out(report, pieces) if unchanged else (),
        tuple(_done(row, report, copy, marks, unchanged=unchanged)), _own(project, row),
        Verdict(**{**{name: row[name] for name in Verdict.model_fields}, "status": Status(row["status"])}),
    )  # fmt: skip


def _done(row: Row, report: str, copy: str, marks: tuple[PlantedText, ...], *, unchanged: bool) -> list[str]:
    """How the report was changed, in sentences."""
    if not unchanged:
        return [GONE]
    if row["attack"] == CRITERIA:
        order = json.loads(row["asked"] or "[]")
        place = order.index(row["unit_id"]) + 1 if row["unit_id"] in order else 0
        criteria = counted(len(order), "criterion was", "criteria were")
        return [f"{SAME} Its {criteria} in another order; this one as number {place}."]
    if copy == report:
        return [SAME]
    put, moved = [mark for mark in marks if not mark.moved], [mark for mark in marks if mark.moved]
    letters = counted(sum(text.end - text.start for text in put), "character")
    known = KNOWN_ATTACKS.get(row["attack"])
    notes = (
        (put, f"{letters} inserted at {counted(len(put), 'place')}, marked in the copy."),
        (moved, f"{counted(len(moved), 'passage')} of the report moved, also marked."),
        (known and known.plants, f"It demands the verdict “{TARGETS[row['protocol']].value}”."),
    )
    return [words for holds, words in notes if holds]


def _own(project: Project, row: Row) -> Verdict:
    """The judge's verdict on the report; only its value if the judgement no longer exists."""
    j = JUDGEMENT.c
    question = select(*(j[name] for name in Verdict.model_fields)).where(
        j.protocol == row["protocol"], j.response_id == row["response_id"], j.unit_id == row["unit_id"],
        j.rater_id == row["judge_id"], j.value == row["before"],
    )  # fmt: skip
    result = project.query(question).mappings().first()
    return Verdict(**{**result, "status": Status.OK}) if result else Verdict(value=row["before"])
