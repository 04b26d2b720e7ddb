"""Cases of a judge run: items and systems under a protocol, one item at a time."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.items.items import refuse_seminars
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, nested, one_of, refuse_other
from annotator.domain.judges.judge import Judge
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ITEM, SYSTEM

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A person's request to a judge. Empty `systems` and `items` (by key) mean all of them.

    `together` is the number of units per call (0: the judge's setting), `trials` how often each is asked. With `batch`,
    the provider answers overnight at half price. The rates, per minute, replace the judge's own. If `models` are given,
    the run ends when another one answers. Works are searched in the `corpus`, a file or folder, if given. Drafts read a
    transcript in pieces of about `piece_words`, 0 for the default size.
    """

    judge: str
    protocol: str = USUAL
    systems: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    concurrency: int = 8
    timeout_s: float = 120.0
    budget_usd: float | None = None
    together: int = 0
    trials: int = 1
    batch: bool = False
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    models: tuple[str, ...] = ()
    corpus: str = ""
    piece_words: int = 0


# The prefixes of the names of runs that test a judge (verdicts on copies enter no result), and of runs that draft for
# one person.
ATTACK, DRAFT = "attack.", "proposal."
WIDTH = 0.2


@dataclass(frozen=True, slots=True)
class AttackRequest:
    """A request for a test: the judge and the attacks (names or their beginnings; all that apply by default).

    `size` verdicts are sampled with `seed`; by default as many as an interval of that `width` needs.
    """

    judge: str
    protocol: str = USUAL
    attacks: tuple[str, ...] = ()
    size: int | None = None
    width: float = WIDTH
    seed: int = 1


@dataclass(frozen=True, slots=True)
class AttackRunRequest(RunRequest):
    """The run request of a test; its `protocol` begins with `ATTACK`."""

    request: AttackRequest = AttackRequest("")


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The settings for putting units to a judge: units per case, shuffle seed, weights shown or not."""

    together: int = 1
    weights_shown: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RequestOverview:
    """The size of a request: judgements, existing ones, reports, and items with missing ones."""

    total: int
    done: int
    reports: int
    items: tuple[str, ...]


def checked(project: Project, order: RunRequest) -> None:
    """Refuse an order that cannot be run, naming what is available."""
    protocol = protocol_of(order.protocol)
    if not protocol.values:
        raise Refusal(f"{protocol.title} is computed; it is not judged.", "See the results.")
    if protocol.by_people:
        raise Refusal(f"{protocol.title}: only people are asked.", "Label the pairs on the Label page.")
    if order.together < 0 or order.trials < 1:
        raise Refusal("There must be at least one trial, and at least one unit per call.", "Give 1 or more.")
    if min(order.requests_per_minute or 1, order.tokens_per_minute or 1) <= 0:
        raise Refusal("A rate per minute must be above 0.", "Give another, or none.")
    if order.together > 1 and protocol.judge_together is None:
        raise Refusal(
            f"{protocol.title} cannot be asked several units together.", "Ask for one unit per call."
        )
    checked_scope(project, order)
    refuse_seminars(project, order.items)


def protocol_of(protocol: str) -> Protocol:
    """The protocol of that name; the Refusal lists the existing names."""
    return one_of(protocol, PROTOCOLS, f"There is no protocol “{protocol}”.", "Available:")


def units_a_call(judge: Judge, protocol: str) -> int:
    definition = PROTOCOLS.get(protocol)
    return judge.settings.together or (definition.units_a_call if definition is not None else 1)


def settings_of(judge: Judge, protocol: str, seed: int) -> JudgeSettings:
    return JudgeSettings(units_a_call(judge, protocol), judge.settings.weights_shown, seed)


def checked_scope(project: Project, order: RunRequest) -> None:
    """Refuse an unknown system or item, naming what exists."""
    keys = set(project.query(select(ITEM.c.key).where(ITEM.c.retired.is_(False))).scalars())
    named = systems(project)
    for name in order.systems:
        refuse_other(name, named, f"There is no system “{name}” in this project.", "Available:")
    for key in order.items:
        if key not in keys:
            raise Refusal(f"There is no item “{key}” in this project.", "See the keys on the Items page.")


def outlook(project: Project, order: RunRequest, answered: Container[Key]) -> RequestOverview:
    """The size of an order and what is unanswered of it; the texts of reports are read only if necessary."""
    protocol = protocol_of(order.protocol)
    total, done, reports, waiting = 0, 0, set[str](), []
    for item_id, result in _by_item(project, order, materials.for_counting(protocol)):
        keys = {
            (case.response.id, unit.id, trial)
            for case in result
            for unit in case.units
            for trial in range(1, order.trials + 1)
        }
        answered_count = sum(key in answered for key in keys)
        reports.update(key[0] for key in keys)
        total, done = total + len(keys), done + answered_count
        waiting += [item_id] if answered_count < len(keys) else []
    return RequestOverview(total, done, len(reports), tuple(waiting))


def cases(
    project: Project,
    order: RunRequest,
    items: Sequence[str] | None = None,
    settings: JudgeSettings = JudgeSettings(),
) -> Iterator[Case]:
    """The cases of an order, or of some of its items (by id), read from the file a batch of items at a time."""
    for _, result in _by_item(project, order, materials.for_judging(protocol_of(order.protocol)), items):
        for _, of_response in groupby(result, key=lambda case: case.response.id):
            yield from _arranged(list(of_response), order.trials, settings)


def _by_item(
    project: Project,
    order: RunRequest,
    material: materials.MaterialRequest,
    items: Sequence[str] | None = None,
) -> Iterator[tuple[str, list[Case]]]:
    """Item by item, the cases that the order covers, each once."""
    protocol, chosen = protocol_of(order.protocol), system_ids(project, order.systems)
    ids = materials.item_ids(project, order.items) if items is None else items
    for at_hand in materials.each(project, material, ids):
        yield at_hand.item.id, [case for case in at_hand.cases(protocol) if _is_meant(case, chosen)]


def _is_meant(case: Case, chosen: frozenset[str]) -> bool:
    """Whether a case is about the chosen systems: both of a pair, or one of it if only one is chosen."""
    if not chosen:
        return True
    shown = {case.response.system_id} | ({case.other.system_id} if case.other is not None else set())
    return bool(shown & chosen) if len(chosen) == 1 else shown <= chosen


def _arranged(cases: list[Case], trials: int, settings: JudgeSettings) -> Iterator[Case]:
    """The cases of one response, trial by trial, combined if several units are asked together."""
    for trial in range(1, trials + 1):
        repeated = [replace(case, trial=trial, weights_shown=settings.weights_shown) for case in cases]
        yield from repeated if settings.together == 1 else _together(repeated, settings)


def _together(cases: list[Case], settings: JudgeSettings) -> Iterator[Case]:
    """Units of one artifact, shuffled, `together` to a case; the same seed gives the same cases."""
    for _, alike in groupby(cases, key=lambda case: (case.artifact_id, dict(case.given), case.other)):
        of_artifact = list(alike)
        first = of_artifact[0]
        units: list[Unit] = [unit for case in of_artifact for unit in case.units]
        Random(f"{settings.seed}/{first.response.id}/{first.trial}").shuffle(units)
        for start in range(0, len(units), settings.together):
            yield replace(first, units=tuple(units[start : start + settings.together]))


def system_ids(project: Project, names: Iterable[str]) -> frozenset[str]:
    """The ids of the systems with these names; empty for no names."""
    chosen = set(names)
    return frozenset(system_id for system_id, name in systems_named(project).items() if name in chosen)


def systems(project: Project) -> list[str]:
    """The names of the systems, for choosing among them. Not for pages where people label blind."""
    return list(systems_named(project).values())


def systems_named(project: Project) -> dict[str, str]:
    return dict(project.query(select(SYSTEM.c.id, SYSTEM.c.name).order_by(SYSTEM.c.name)).all())


def things(protocol: str) -> str:
    return "criteria" if protocol_of(protocol).unit_kind is Kind.RUBRIC else "judgements"


# Response, unit.
UnitKey = tuple[str, str]


def words_of(project: Project, pairs: Iterable[tuple[str, str]]) -> dict[UnitKey, str]:
    """(response, unit) → the subject in words, for pairs of an item's id and a protocol's name."""
    by_protocol = nested((protocol, item_id, None) for item_id, protocol in pairs)
    names, result = systems_named(project), dict[UnitKey, str]()
    for protocol, ids in by_protocol.items():
        for case in _cases(project, PROTOCOLS[protocol], list(ids)):
            result |= _words(case, names)
    return result


def words_of_case(project: Project, case: Case | None) -> dict[UnitKey, str]:
    return _words(case, systems_named(project)) if case is not None else {}


def case_of(project: Project, protocol: str, item_id: str, key: UnitKey) -> Case | None:
    """The case that a judgement was about, as its item is now; None if its unit is gone."""
    definition = PROTOCOLS[protocol]
    for at_hand in materials.each(project, materials.for_judging(definition), [item_id]):
        for material in at_hand.responses:
            for case in definition.cases(material) if material.response.id == key[0] else ():
                if any(unit.id == key[1] for unit in case.units):
                    return case
    return None


def _cases(project: Project, protocol: Protocol, item_ids: list[str]) -> Iterator[Case]:
    # The texts of reports are read only if units come from them.
    wanted_material = (
        materials.for_judging(protocol) if protocol.unit_kind is None else materials.for_counting(protocol)
    )
    for at_hand in materials.each(project, wanted_material, item_ids):
        yield from at_hand.cases(protocol)


def _words(case: Case, systems: Mapping[str, str]) -> dict[UnitKey, str]:
    return {(case.response.id, unit.id): _unit_words(case, unit, systems) for unit in case.units}


def _unit_words(case: Case, unit: Unit, systems: Mapping[str, str]) -> str:
    """A unit's text; for a pair, the system shown second; for a plan, both sub-tasks."""
    if case.other is not None:
        return f"Against {systems.get(case.other.system_id, 'another report')}, which is shown second"
    return "\u2002↔\u2002".join([*label_cases.beside(case), unit.text])
