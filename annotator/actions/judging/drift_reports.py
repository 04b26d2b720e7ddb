"""Results of a drift check: changed verdicts of the anchor set, and changes at the endpoint."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.items.materials import RESPONSE
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import or_why
from annotator.actions.runs.journal import CALL
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.scale import Level
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS

# Of the calls behind the verdicts: what is compared, and what it is called.
TRAITS = {
    "returned_model": "the model that answered",
    "fingerprint": "the fingerprint",
    "prompt_sha256": "the prompt",
    "parameters": "the parameters",
}
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class AnchoredVerdict:
    """A unit of an anchor set with its frozen verdict."""

    item_id: str
    response_id: str
    unit_id: str
    value: str
    call_id: str | None


@dataclass(frozen=True, slots=True)
class RecheckedVerdict:
    """The verdict of a check on a unit; without a value the status says why."""

    value: str | None
    status: str
    call_id: str | None


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """A changed verdict, with the calls behind the old and the new one."""

    item: str
    system: str
    response_id: str
    unit_id: str
    before: str
    after: str
    call_before: str | None = None
    call_after: str | None = None


@dataclass(frozen=True, slots=True)
class DriftReport:
    """A check compared with its anchor set: `compared` of its `units` have a new verdict, `missing` have none.

    `agreement` is the share of verdicts that stayed, with Wilson's interval, and `kappa` Cohen's, of ordered values
    with quadratic weights; both are over items. `differences` names what differs between the calls of then and of
    now, each with both lists of what was seen.
    """

    judge: str
    protocol: str
    anchored_at: str
    checked_at: str
    run_id: str
    units: int
    compared: int
    agreement: Estimate
    kappa: Estimate
    changed: tuple[ChangedVerdict, ...]
    missing: Mapping[str, int]
    differences: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

    def tree(self) -> dict[str, Any]:
        """The report as a JSON tree."""
        return asdict(self)

    def words(self) -> list[str]:
        """The report as a person reads it."""
        said = [
            f"{self.judge}, {self.protocol}: {self.compared:,} of {counted(self.units, 'anchored unit')} judged again; "
            f"{counted(len(self.changed), 'verdict')} changed."
        ]
        said += [f"agreement: {or_why(self.agreement)}", f"kappa: {or_why(self.kappa)}"]
        said += [
            f"Without a verdict now: {count:,} {name.replace('_', ' ')}."
            for name, count in self.missing.items()
        ]
        said += [
            f"Changed: {TRAITS[name]}, now {_listed(now)}, before {_listed(before)}."
            for name, (before, now) in self.differences.items()
        ]
        said += [
            f"item {one.item}, {one.system}, unit {one.unit_id}: {one.before} → {one.after}"
            for one in self.changed
        ]
        return said


def compared(
    project: Project,
    about: Mapping[str, str],
    units: Iterable[AnchoredVerdict],
    found: Mapping[tuple[str, str], RecheckedVerdict],
) -> DriftReport:
    """The report on a check; `about` gives its judge, protocol, run and moments by the names of a report's fields."""
    from annotator.stats.agreement.agreement import cohen_kappa
    from annotator.stats.intervals.sample_size import clustered_wilson

    anchored = list(units)
    pairs, changed, missing = [], list[tuple[AnchoredVerdict, RecheckedVerdict]](), dict[str, int]()
    for unit in anchored:
        again = found.get((unit.response_id, unit.unit_id))
        if again is not None and again.value is not None and again.status == Status.OK:
            pairs.append((unit, again.value))
            changed += [(unit, again)] if again.value != unit.value else []
        else:
            cause = "gone" if again is None else again.status
            missing[cause] = missing.get(cause, 0) + 1
    scale = PROTOCOLS[about["protocol"]].scale
    ordered = scale.level is not Level.NOMINAL
    stayed, items = [unit.value == value for unit, value in pairs], [unit.item_id for unit, _ in pairs]
    return DriftReport(
        **about,
        units=len(anchored),
        compared=len(pairs),
        agreement=clustered_wilson(stayed, items),
        kappa=cohen_kappa(
            [unit.value for unit, _ in pairs],
            [value for _, value in pairs],
            "quadratic" if ordered else "none",
            scale.names if ordered else None,
            clusters=items or None,
        ),
        changed=_changed(project, changed),
        missing=missing,
        differences=_differences(
            _traits(project, (unit.call_id for unit in anchored)),
            _traits(project, (again.call_id for again in found.values())),
        ),
    )


def _changed(
    project: Project, pairs: list[tuple[AnchoredVerdict, RecheckedVerdict]]
) -> tuple[ChangedVerdict, ...]:
    with project.store.read() as db:
        names = materials.named(db, RESPONSE.c.id.in_({unit.response_id for unit, _ in pairs}))
    return tuple(
        ChangedVerdict(
            *names[unit.response_id],
            unit.response_id,
            unit.unit_id,
            unit.value,
            str(again.value),
            unit.call_id,
            again.call_id,
        )
        for unit, again in pairs
    )


def _traits(project: Project, calls: Iterable[str | None]) -> dict[str, set[str]]:
    """What was seen of each trait in some calls; an endpoint that does not say is not taken to differ."""
    wanted, seen = sorted({call for call in calls if call}), {name: set[str]() for name in TRAITS}
    for start in range(0, len(wanted), _AT_ONCE):
        question = select(*(CALL.c[name] for name in TRAITS)).where(
            CALL.c.id.in_(wanted[start : start + _AT_ONCE])
        )
        with project.store.read() as db:
            for row in db.execute(question):
                for name, value in zip(TRAITS, row, strict=True):
                    seen[name] |= {value} if value else set()
    return seen


def _differences(
    before: Mapping[str, set[str]], now: Mapping[str, set[str]]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {
        name: (tuple(sorted(before[name])), tuple(sorted(now[name])))
        for name in TRAITS
        if before[name] and now[name] and before[name] != now[name]
    }


def _listed(seen: Iterable[str]) -> str:
    return ", ".join(value if len(value) < 80 else f"{value[:12]}…" for value in seen)
