"""Sampling of verdicts to attack: at random, evenly over items, current ones only."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from random import Random

from annotator.actions.attacks import attack_tests
from annotator.actions.attacks.attack_tests import AttackRequest, AttackTest
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import validation_units, validation_values
from annotator.actions.sets.validation_units import Key
from annotator.domain.judges.attack import UNTOUCHED, AttackContent, AttackedQuestion, Pieces
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import ATTACKS, TARGETS, AttackInput

# How alike verdicts on one item are taken to be, where the number is to be told from the wanted width.
LIKENESS = 0.1
# Questions under this trial are asked afresh by every test; nothing else goes by it.
_FIRST_TRIAL = 2_000_000


def draw(
    project: Project, request: AttackRequest, judge: Judge, shape: Protocol, attacks: tuple[str, ...]
) -> AttackContent:
    """What a test is made with; Refusal where the judge has no verdict that stands."""
    questions = _questions(project, judge, shape, standing(project, judge, shape))
    if not questions:
        raise Refusal(
            f"“{judge.name}” has no verdict of its own by “{shape.title}” as it is worded now.",
            "Run it on some reports first.",
        )
    available = sum(len(one.own) for one in questions)
    demanded = (
        TARGETS[shape.name].value
        if request.size is None and any(ATTACKS[name].plants for name in attacks)
        else ""
    )
    drawn = tuple(
        _in_turn(questions, request.size or _size(questions, request.width), request.seed, demanded)
    )
    return AttackContent(
        attacks=attacks, size=request.size, width=request.width, seed=request.seed,
        trial=_FIRST_TRIAL + len(attack_tests.all_of(project, judge.id, shape.name)), drawn=drawn,
        available=available,
    )  # fmt: skip


def standing(project: Project, judge: Judge, shape: Protocol) -> dict[Key, str]:
    """A judge's verdicts by the wording that is in force, on units as they now are."""
    by = run_records.prompts_hash(project, shape.prompts)
    found: dict[Key, str] = {}
    for version in validation_values.of_judges(project, shape):
        words_alone = judge.kind == JudgeKind.BASELINE
        if version.judge.id == judge.id and (words_alone or version.prompt_sha256 == by):
            found |= version.said
    return found


def _questions(
    project: Project, judge: Judge, shape: Protocol, said: dict[Key, str]
) -> list[AttackedQuestion]:
    """The verdicts question by question, as they were asked: one by one, or several together."""
    places = validation_units.places(project, shape)
    stand = {key: value for key, value in said.items() if key in places}
    if judge_cases.units_a_call(judge, shape.name) == 1:
        return [
            AttackedQuestion(
                item_id=places[key].item_id, response_id=key[0], asked=(key[1],), own={key[1]: value}
            )
            for key, value in stand.items()
        ]
    return list(_together(project, judge, shape, stand))


def _together(
    project: Project, judge: Judge, shape: Protocol, said: dict[Key, str]
) -> Iterator[AttackedQuestion]:
    """Whole questions, all of whose units have a verdict: in other company a unit might be judged otherwise."""
    seeds = run_records.seeds(project, judge.id, shape.name)
    for seed in sorted(set(seeds.values())):
        settings = judge_cases.settings_of(judge, shape.name, seed)
        for case in judge_cases.cases(project, RunRequest(judge.name, shape.name), settings=settings):
            response_id, asked = case.response.id, tuple(unit.id for unit in case.units)
            own = {unit_id: said[response_id, unit_id] for unit_id in asked if (response_id, unit_id) in said}
            if seeds.get(response_id) == seed and len(own) == len(asked):
                yield AttackedQuestion(item_id=case.item.id, response_id=response_id, asked=asked, own=own)


def _size(questions: Sequence[AttackedQuestion], width: float) -> int:
    """How many verdicts an interval so wide takes at worst, spread over the items (Kish's design effect)."""
    from annotator.stats.intervals.sample_size import kish_effect, wilson_size

    items, available = len({one.item_id for one in questions}), sum(len(one.own) for one in questions)
    for size in range(1, available):
        share, more = divmod(size, items)
        spread = [share + 1] * more + [share] * (items - more)
        effect = kish_effect([one for one in spread if one], LIKENESS)
        if size >= wilson_size(width, design_effect=effect):
            return size
    return available


def _in_turn(
    questions: Iterable[AttackedQuestion], size: int, seed: int, demanded: str
) -> list[AttackedQuestion]:
    """Questions at random, items in turn, until so many verdicts are drawn; then in the order of their items.

    What is `demanded` of a judge cannot change those of its verdicts that are that: they are drawn, but not counted.
    """
    chance, waiting = Random(seed), defaultdict[str, list[AttackedQuestion]](list)
    for one in sorted(questions, key=lambda one: (one.item_id, one.response_id, one.asked)):
        waiting[one.item_id].append(one)
    items = list(waiting.values())
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
    made = ATTACKS[attack]
    variant = made.variants[place % len(made.variants)]
    if made.copy is None:
        return variant, UNTOUCHED
    chance = Random(f"{seed}/{attack}/{variant}/{response_id}")
    return variant, made.copy(AttackInput(report, variant, TARGETS[protocol], chance))


def questions_of(test: AttackTest, attack: str) -> list[tuple[int, AttackedQuestion]]:
    """The questions that an attack is made on, each with its place in the draw."""
    unfit = set(test.content.unfit.get(attack, ()))
    return [(place, one) for place, one in enumerate(test.content.drawn) if one.response_id not in unfit]
