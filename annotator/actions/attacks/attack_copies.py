"""Questions of an attack test: the judge's own questions over attacked copies of reports."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random

from sqlalchemy import select

from annotator.actions.attacks import attack_drawing
from annotator.actions.attacks.attack_journal import AttackCopy, Said, copy_id, read_pieces
from annotator.actions.attacks.attack_tests import COPY, AttackTest
from annotator.actions.items import materials
from annotator.actions.project.file import Project
from annotator.domain.judges.attack import UNTOUCHED, AttackedQuestion, Pieces, copied
from annotator.domain.judges.judge import Judge
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.judging.attacks import ATTACKS, CONTROL, AttackNeeds
from annotator.judging.attacks.reordering import CRITERIA, disordered

Reworded = Callable[[str], Pieces | None]
"""From a response to the pieces of its copy in other words; None where there is none."""


@dataclass(frozen=True, slots=True)
class TestSize:
    """The number of verdicts in a test, and how many of them exist."""

    total: int
    done: int


def amount(test: AttackTest, done: Container[Said]) -> TestSize:
    """How much a test comes to."""
    total = there = 0
    for attack in test.content.attacks:
        for place, one in attack_drawing.questions_of(test, attack):
            total += len(one.own)
            there += sum(
                any((copy, unit) in done for copy in copy_ids(test, attack, place, one)) for unit in one.own
            )
    return TestSize(total, there)


def copy_ids(test: AttackTest, attack: str, place: int, one: AttackedQuestion) -> list[str]:
    """By what the copy of a question may be known: by its variant, or the next that could make one."""
    variants = ATTACKS[attack].variants
    turned = [variants[(place + turn) % len(variants)] for turn in range(len(variants))]
    return [copy_id(test.id, attack, variant, one.response_id) for variant in turned]


def reworded(project: Project, test: AttackTest) -> dict[str, Pieces]:
    """Response → its copy in other words, of those that a model wrote."""
    return {
        response_id: pieces for response_id, (status, pieces) in _written(project, test).items()
        if status == Status.OK.value
    }  # fmt: skip


def _written(project: Project, test: AttackTest) -> dict[str, tuple[str, Pieces]]:
    written = [name for name, attack in ATTACKS.items() if attack.needs is AttackNeeds.WRITER]
    c = COPY.c
    question = select(c.response_id, c.status, c.pieces).where(c.test_id == test.id, c.attack.in_(written))
    with project.store.read() as db:
        return {row[0]: (row[1], read_pieces(row[2])) for row in db.execute(question)}


def cases(
    project: Project, test: AttackTest, judge: Judge, shape: Protocol, words: Reworded,
    done: Container[Said] = frozenset(),
) -> Iterator[AttackCopy]:  # fmt: skip
    """Every question of a test, but those of which all is done; report by report, one attack after the other.

    A unit that is there no more, or of which the judge says something else by now, is asked about no more.
    """
    stand = attack_drawing.standing(project, judge, shape)
    numbered = list(enumerate(test.content.drawn))
    items = list(dict.fromkeys(one.item_id for one in test.content.drawn))
    by_response = {
        response_id: list(group) for response_id, group in groupby(numbered, lambda pair: pair[1].response_id)
    }
    for at_hand in materials.each(project, materials.for_judging(shape), items):
        for material in at_hand.responses:
            for place, one in by_response.get(material.response.id, ()):
                if all(stand.get((one.response_id, unit)) == value for unit, value in one.own.items()):
                    yield from _of_question(test, judge, shape, material, place, one, words, done)


def _of_question(
    test: AttackTest, judge: Judge, shape: Protocol, material: Material, place: int, one: AttackedQuestion,
    words: Reworded, done: Container[Said],
) -> Iterator[AttackCopy]:  # fmt: skip
    asked = _asked(shape, material, one)
    if asked is None:
        return
    asked = replace(asked, weights_shown=judge.asked.weights_shown)
    for attack in test.content.attacks:
        found = _copy(test, shape, material.response.text, attack, place, one, words)
        if found is None:
            continue
        variant, pieces = found
        of_copy = copy_id(test.id, attack, variant, one.response_id)
        if all((of_copy, unit) in done for unit in one.own):
            continue
        report = material.response.text
        shown = material.response.model_copy(update={"id": of_copy, "text": copied(report, pieces)})
        trial = test.content.trial if attack == CONTROL else 1
        case = replace(asked, response=shown, trial=trial)
        if attack == CRITERIA:
            chance = Random(f"{test.content.seed}/{attack}/{one.response_id}")
            case = replace(case, units=tuple(disordered(asked.units, chance)))
        yield AttackCopy(attack, variant, pieces, one, report, case)


def _copy(
    test: AttackTest,
    shape: Protocol,
    report: str,
    attack: str,
    place: int,
    one: AttackedQuestion,
    words: Reworded,
) -> tuple[str, Pieces] | None:
    needs, seed = ATTACKS[attack].needs, test.content.seed
    if needs is AttackNeeds.WRITER:
        written = words(one.response_id)
        return None if written is None else ("", written)
    if ATTACKS[attack].copy is None:
        return "", UNTOUCHED
    return attack_drawing.copy_of(report, attack, shape.name, place, seed, one.response_id)


def _asked(shape: Protocol, material: Material, one: AttackedQuestion) -> Case | None:
    """The question as the judge was asked it; None when one of its units is gone."""
    by_unit = {unit.id: (case, unit) for case in shape.cases(material) for unit in case.units}
    if not all(unit in by_unit for unit in one.asked):
        return None
    first = by_unit[one.asked[0]][0]
    return replace(first, units=tuple(by_unit[unit][1] for unit in one.asked))
