"""One verdict on an attacked copy in full: report and copy side by side, the change, and both verdicts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from annotator.actions.attacks import attack_figures, attack_tests
from annotator.actions.attacks.attack_journal import read_pieces
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import response_hash
from annotator.actions.runs import asked_units
from annotator.domain.judges.attack import PlantedText, copied, left_out, planted
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import CRITERIA, KNOWN_ATTACKS, TARGETS
from annotator.storage.tables import (
    ATTACK_COPY,
    ATTACK_TEST,
    ATTACK_VERDICT,
    ITEM,
    JUDGEMENT,
    RESPONSE,
    SYSTEM,
)


@dataclass(frozen=True, slots=True)
class AttackCaseLine:
    """A verdict on a copy in a list: its subject, the variant of the attack, the verdict before and after."""

    id: str
    protocol: str
    item_key: str
    system: str
    unit: str
    variant: str
    before: str
    value: str | None
    status: str
    flags: tuple[str, ...]


SAME = "The copy is identical to the report."
Row = Mapping[str, Any]
GONE = "The report has changed since the copy was made, so the two cannot be shown side by side."


@dataclass(frozen=True, slots=True)
class AttackCase:
    """A case in full, for people to read.

    `done` says in sentences what was done to the report; `marks` where the copy is not the report, `gaps` where the
    report has what the copy has not. `own` is the judge's verdict on the report, `again` the one on the copy.
    """

    id: str
    judge: str
    protocol: str
    attack: str
    title: str
    about: str
    variant: str
    item_key: str
    question: str
    system: str
    unit: str
    report: str
    copy: str
    marks: tuple[PlantedText, ...]
    gaps: tuple[PlantedText, ...]
    done: tuple[str, ...]
    own: Verdict
    again: Verdict


def listed(project: Project, test_id: str, attack: str) -> list[AttackCaseLine]:
    """What a judge said of the copies of one attack: first where it said something else, then where nothing came."""
    people.refuse_others(project, "can read how judges performed under attack")
    test = next((one for one in attack_tests.all_of(project) if one.id == test_id), None)
    if test is None:
        return []
    cases = attack_figures.cases_of(project, test, attack)
    words = asked_units.words_of(project, {(case.item_id, test.protocol) for case in cases})
    with project.store.read() as db:
        keys = dict(db.execute(select(ITEM.c.id, ITEM.c.key)).all())
        systems = dict(
            db.execute(
                select(RESPONSE.c.id, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
            ).all()
        )
    cases.sort(key=lambda case: (case.failed is False, case.failed is None))
    return [
        AttackCaseLine(
            case.id, test.protocol, keys[case.item_id], systems[case.response_id],
            words.get((case.response_id, case.unit_id), ""), case.variant, case.before, case.value,
            case.status, case.flags,
        )
        for case in cases
    ]  # fmt: skip


def told(project: Project, case_id: str) -> AttackCase:
    """A verdict on a copy, by its id, in full."""
    people.refuse_others(project, "can read how judges performed under attack")
    v, c = ATTACK_VERDICT.c, ATTACK_COPY.c
    question = (
        select(
            ATTACK_VERDICT, c.attack, c.variant, c.response_id, c.text_sha256, c.pieces, ATTACK_TEST.c.judge_id,
            ATTACK_TEST.c.protocol, ITEM.c.key, ITEM.c.question, RESPONSE.c.text, SYSTEM.c.name,
        )
        .join(ATTACK_COPY, c.id == v.copy_id)
        .join(ATTACK_TEST, ATTACK_TEST.c.id == v.test_id)
        .join(ITEM, ITEM.c.id == v.item_id)
        .join(RESPONSE, RESPONSE.c.id == c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(v.id == case_id)
    )  # fmt: skip
    with project.store.read() as db:
        found = db.execute(question).mappings().first()
    if found is None:
        raise Refusal("That case no longer exists.", "Choose another.")
    row: Row = dict(found)
    key = row["response_id"], row["unit_id"]
    pieces, report = read_pieces(row["pieces"]), row["text"]
    stands = response_hash(report) == row["text_sha256"]
    copy = copied(report, pieces) if stands or not pieces else _alone(pieces)
    marks = planted(report, pieces) if stands else ()
    attack = KNOWN_ATTACKS.get(row["attack"])
    names = {one.id: one.name for one in judges.all_of(project)}
    words = asked_units.words_of(project, [(row["item_id"], row["protocol"])])
    return AttackCase(
        id=row["id"], judge=names.get(row["judge_id"], "a judge that was retired"), protocol=row["protocol"],
        attack=row["attack"], title=attack.title if attack else row["attack"], about=attack.about if attack else "",
        variant=row["variant"], item_key=row["key"], question=row["question"], system=row["name"],
        unit=words.get(key, ""), report=report, copy=copy, marks=marks,
        gaps=left_out(report, pieces) if stands else (),
        done=tuple(_done(row, report, copy, marks, stands=stands)), own=_own(project, row, key),
        again=_again(row),
    )  # fmt: skip


def _alone(pieces: tuple[object, ...]) -> str:
    """What of a copy can be shown without its report: the words that were put in."""
    return "\n\n".join(piece for piece in pieces if isinstance(piece, str))


def _done(row: Row, report: str, copy: str, marks: tuple[PlantedText, ...], *, stands: bool) -> list[str]:
    """What was done to the report, in sentences."""
    attack, said = row["attack"], list[str]()
    if not stands:
        return [GONE]
    if attack == CRITERIA:
        order = json.loads(row["asked"] or "[]")
        place = order.index(row["unit_id"]) + 1 if row["unit_id"] in order else 0
        criteria = counted(len(order), "criterion was", "criteria were")
        return [f"{SAME} Its {criteria} in another order; this one as number {place}."]
    if copy == report:
        return [SAME]
    put, moved = [one for one in marks if not one.moved], [one for one in marks if one.moved]
    if put:
        letters = sum(one.end - one.start for one in put)
        said.append(
            f"{counted(letters, 'character')} inserted at {counted(len(put), 'place')}, marked in the copy."
        )
    if moved:
        said.append(f"{counted(len(moved), 'passage')} of the report moved, also marked.")
    if attack in KNOWN_ATTACKS and KNOWN_ATTACKS[attack].plants:
        said.append(f"It demands the verdict “{TARGETS[row['protocol']].value}”.")
    return said


def _own(project: Project, row: Row, key: tuple[str, str]) -> Verdict:
    """The judge's verdict on the report; only its value where the judgement is there no more."""
    j = JUDGEMENT.c
    question = select(*(j[name] for name in Verdict.model_fields)).where(
        j.protocol == row["protocol"], j.response_id == key[0], j.unit_id == key[1],
        j.rater_id == row["judge_id"], j.value == row["before"],
    )  # fmt: skip
    with project.store.read() as db:
        found = db.execute(question).mappings().first()
    return Verdict(**{**found, "status": Status.OK}) if found else Verdict(value=row["before"])


def _again(row: Row) -> Verdict:
    fields = {name: row[name] for name in Verdict.model_fields}
    return Verdict(**{**fields, "status": Status(row["status"])})
