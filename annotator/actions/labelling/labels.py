"""Labelling reports: unit by unit, blind to the system and to other raters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.items import materials
from annotator.actions.labelling import dealing, label_cases, wordings
from annotator.actions.labelling.label_origins import Origins
from annotator.actions.labelling.label_rows import FLAGGED as FLAGGED
from annotator.actions.labelling.label_rows import SAID as SAID
from annotator.actions.labelling.label_rows import UNSURE as UNSURE
from annotator.actions.labelling.label_rows import (
    is_given,
    is_sealed,
    labels_of,
    lock,
    taken_back,
    to_give_again,
)
from annotator.actions.labelling.label_tasks import lacking as lacking
from annotator.actions.labelling.label_tasks import outlook as outlook
from annotator.actions.labelling.label_tasks import queue as queue
from annotator.actions.labelling.label_tasks import recent as recent
from annotator.actions.labelling.label_tasks import seen as seen
from annotator.actions.labelling.label_tasks import task_id
from annotator.actions.labelling.label_writing import SEVERAL as SEVERAL
from annotator.actions.labelling.label_writing import Fields, LabelPlace, image, kept, put
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.judges.judgement import Judgement, RaterKind, Status
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import Item
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import JUDGEMENT, RESPONSE

# What becomes of what was kept beside a unit.
Make = Callable[[Fields], Fields]


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that are asked about together, with their context and possible values.

    `why` says why nothing else may be said, where values of the protocol are left out.
    """

    units: tuple[Unit, ...]
    given: Mapping[str, str]
    values: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """One report, or two side by side, with everything a blind rater may see and their labels so far.

    `name` is the report's stand-in for its system's name, dealt again for each person and item. While `sealed`, this
    person's labels of the item are submitted and cannot be changed. `values` are all that the protocol knows; a group
    may allow fewer. Of a pair `other` is shown second. `outdated` are, by unit, the labels given on other words than
    the unit has now: among `labels` they stand taken back, or as they are where they are submitted. `given` are, by
    unit, the labels that came in as finished work and cannot be changed either, each with the file it came from.
    """

    protocol: str
    response_id: str
    name: str
    item: Item
    report: str
    artifact_id: str
    groups: tuple[UnitGroup, ...]
    labels: dict[str, Judgement]
    values: tuple[str, ...]
    sealed: bool = False
    other_id: str = ""
    other_name: str = ""
    other: str = ""
    outdated: Mapping[str, Judgement] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return task_id(self.response_id, self.other_id)

    @property
    def units(self) -> tuple[Unit, ...]:
        return tuple(unit for group in self.groups for unit in group.units)

    def as_it_counts(self, label: Judgement) -> Judgement:
        """A label that was put back is taken back again where it was given on other words than its unit has now."""
        old = self.outdated.get(label.unit_id)
        return taken_back(label) if old and not self.sealed and label.at <= old.at else label


def sheet(project: Project, response_id: str, protocol: str = USUAL, other_id: str = "") -> LabelSheet:
    """All that is needed to label one report, or a pair; Refusal when there is nothing to label."""
    shape = label_cases.shape_of(project, protocol)
    cases = label_cases.of_report(project, shape, response_id, materials.for_judging(shape))
    if shape.paired:
        cases = [case for case in cases if case.unit.id == other_id]
    if not cases:
        raise _nothing(shape)
    me, first = people.someone(project).id, cases[0]
    with project.store.read() as db:
        reports = dealing.reports_for(db, me, [first.item.id], protocol)[first.item.id]
        found = {label.unit_id: label for label in labels_of(db, me, response_id, protocol)}
        submitted = is_sealed(db, first.item.id, me, protocol)
        own = JUDGEMENT.c.rater_id == me, JUDGEMENT.c.response_id == response_id
        late = wordings.outdated(db, *own, JUDGEMENT.c.status.in_(SAID))
        given = _given(db, found.values()) if any(is_given(one.flags) for one in found.values()) else {}
    if response_id not in reports:
        raise _nothing(shape)
    outdated = {unit_id: label for unit_id, label in found.items() if label.id in late}
    if not submitted:
        found |= {unit_id: taken_back(label) for unit_id, label in outdated.items()}
    names = {report_id: name for name, report_id in dealing.dealt(reports, me)}
    second = (
        {"other_id": other_id, "other_name": names[other_id], "other": first.other.text}
        if first.other
        else {}
    )
    return LabelSheet(
        protocol,
        response_id,
        names[response_id],
        first.item,
        label_cases.text_of(first),
        first.artifact_id,
        tuple(_grouped(shape, cases)),
        {unit.id: found[unit.id] for unit in _units(cases) if unit.id in found},
        shape.values,
        submitted,
        **second,
        outdated=outdated,
        given={unit_id: words for unit_id, words in given.items() if unit_id not in outdated},
    )


def _given(db: Connection, found: Iterable[Judgement]) -> dict[str, str]:
    """Unit → the file that its label came from, of those that were given elsewhere."""
    origins = Origins(db)
    return {one.unit_id: origins.of(one.flags, one.at) for one in found if is_given(one.flags)}


def _grouped(shape: Protocol, cases: Sequence[Case]) -> list[UnitGroup]:
    """What each case is given stays by its units; units of which nothing but the report is to be read are one group."""
    plain = [not case.given for case in cases]
    found = []
    for together, run in groupby(zip(plain, cases, strict=True), key=lambda one: one[0]):
        of_run = [case for _, case in run]
        for some in [of_run] if together else [[case] for case in of_run]:
            values = label_cases.values_of(shape, some[0])
            found.append(UnitGroup(tuple(_units(some)), some[0].given, values, some[0].why))
    return found


def _units(cases: Sequence[Case]) -> list[Unit]:
    return [unit for case in cases for unit in case.units]


def _nothing(shape: Protocol) -> Refusal:
    if shape.submitted:
        gold = KINDS[dealing.labelled_by(shape.name)].title.lower()
        return Refusal(f"This item has no sealed {gold} to label by.", "Submit one on the Author page first.")
    return Refusal(f"{shape.title}: nothing can be asked about this report.", "Choose another one.")


def set_label(
    project: Project,
    response_id: str,
    unit_id: str,
    value: str,
    *,
    protocol: str = USUAL,
    seconds: float | None = None,
) -> Change:
    """Say a value of the protocol, or “unsure”, of one unit of a report; of a pair the unit is the one shown second."""
    cases = _cases(project, protocol, response_id, [unit_id])
    fields = _checked(protocol, value, cases)
    if seconds is not None:
        fields["seconds"] = round(seconds, 1)
    place = LabelPlace(protocol, response_id, unit_id)
    return _say(project, place, f"label {value}", _marked(fields), cases)


def set_labels(
    project: Project, response_id: str, unit_ids: Sequence[str], value: str, *, protocol: str = USUAL
) -> Change:
    """Say one value of several units of a report in one go, which is undone in one go."""
    if not unit_ids:
        raise Refusal("None of them is open.", "Nothing was changed.")
    cases = _cases(project, protocol, response_id, unit_ids)
    make = _marked(_checked(protocol, value, cases))
    before, after = dict[str, Fields](), dict[str, Fields]()
    with project.store.write() as db:
        for unit_id in unit_ids:
            there, row = _put(project, db, LabelPlace(protocol, response_id, unit_id), make, cases)
            before[row["id"]], after[row["id"]] = there, image(row)
        change = Change("judgement", next(iter(after)), f"label {value}", {SEVERAL: before}, {SEVERAL: after})
        return record(project, db, change)


def set_evidence(
    project: Project, response_id: str, unit_id: str, quote: str, start: int | None, end: int | None,
    protocol: str = USUAL,
) -> Change:  # fmt: skip
    """Mark the passage that decides the unit; offsets are characters of the report's own text, None for a page's."""
    fields = {"quote": quote, "quote_start": start, "quote_end": end}
    return _say(project, LabelPlace(protocol, response_id, unit_id), "mark evidence", lambda _: fields)


def set_note(project: Project, response_id: str, unit_id: str, note: str, protocol: str = USUAL) -> Change:
    """A note beside the label; it travels to the adjudicator and never counts as disagreement."""
    return _say(project, LabelPlace(protocol, response_id, unit_id), "note", lambda _: {"note": note})


def set_flag(
    project: Project,
    response_id: str,
    unit_id: str,
    flagged: bool,
    protocol: str = USUAL,
) -> Change:
    """Flag a unit for a second look, or take the flag away."""

    def fields(before: Fields) -> Fields:
        others = [flag for flag in before["flags"].split() if flag != FLAGGED]
        return {"flags": " ".join([*others, FLAGGED] if flagged else others)}

    return _say(project, LabelPlace(protocol, response_id, unit_id), "flag", fields)


# Unit → the case in which it is asked about.
Cases = Mapping[str, Case]


def _cases(project: Project, protocol: str, response_id: str, unit_ids: Sequence[str]) -> Cases:
    """Where these units are asked about; Refusal when one no longer is. Of what is submitted nothing is looked up."""
    shape = label_cases.shape_of(project, protocol)
    if shape.submitted:
        return {}
    # What may be said hangs on whether a page has words, never on those of a report.
    wanted = replace(materials.for_judging(shape), texts=False)
    asked = label_cases.of_report(project, shape, response_id, wanted)
    found = {unit.id: case for case in asked for unit in case.units}
    if not set(unit_ids) <= found.keys():
        raise _gone(protocol)
    return {unit_id: found[unit_id] for unit_id in unit_ids}


def _checked(protocol: str, value: str, cases: Cases) -> Fields:
    """What a value sets; Refusal where it may not be said. `flags` are the marks of the cases themselves."""
    shape = PROTOCOLS[protocol]
    if value not in (*shape.values, UNSURE):
        raise Refusal(f"“{value}” is not a value of {shape.title}.", f"Use one of {', '.join(shape.values)}.")
    for case in cases.values():
        if value not in (allowed := (*label_cases.values_of(shape, case), UNSURE)):
            raise Refusal(case.why, f"Use one of {', '.join(allowed)}.")
    if value == UNSURE:
        return {"value": None, "status": Status.UNCLEAR.value, "cause": "the rater is unsure", "flags": ""}
    flags = " ".join(sorted({label_cases.flags_of(case) for case in cases.values()} - {""}))
    return {"value": value, "status": Status.OK.value, "cause": "", "flags": flags}


def _marked(fields: Fields) -> Make:
    """The fields with the marks of the case, and the person's own flag where there is one."""

    def make(before: Fields) -> Fields:
        own = FLAGGED if FLAGGED in before["flags"].split() else ""
        return fields | {"flags": " ".join(filter(None, (fields["flags"], own)))}

    return make


def _gone(protocol: str) -> Refusal:
    one = label_cases.presentation_of(protocol).one
    return Refusal(f"That {one} is no longer part of what is labelled.", "Open the report again.")


def _say(project: Project, place: LabelPlace, verb: str, make: Make, cases: Cases | None = None) -> Change:
    with project.store.write() as db:
        before, after = _put(project, db, place, make, cases)
        return record(project, db, Change("judgement", after["id"], verb, before, image(after)))


def _put(
    project: Project, db: Connection, place: LabelPlace, make: Make, cases: Cases | None
) -> tuple[Fields, Fields]:
    """Write what is now said of a unit; the image of what was there, and the row."""
    me = people.someone(project).id
    before = kept(db, place, me)
    # What is said now is said of the present words: what was said of others before neither stays nor counts on.
    there = _as_it_counts(db, before, place) if before else _blank(project, db, place, me, cases)
    after = put(db, there if before else None, there | make(before or there) | {"at": now()})
    return image(before), after or {}


def _as_it_counts(db: Connection, label: Fields, place: LabelPlace) -> Fields:
    """What is kept: a note beside old words must not make what was said of them count for the new ones."""
    if not to_give_again(db, label["rater_id"], place.protocol, JUDGEMENT.c.id == label["id"]):
        return label
    return taken_back(Judgement(**label)).model_dump()


def _blank(project: Project, db: Connection, place: LabelPlace, rater: str, cases: Cases | None) -> Fields:
    item_id = db.execute(select(RESPONSE.c.item_id).where(RESPONSE.c.id == place.response_id)).scalar()
    if item_id is None:
        raise Refusal("That report is no longer in the project.", "Open another one.")
    if is_sealed(db, item_id, rater, place.protocol):
        raise lock()
    if PROTOCOLS[place.protocol].submitted:
        artifact_id = _of_gold(db, item_id, place)
    else:
        known = cases or _cases(project, place.protocol, place.response_id, [place.unit_id])
        artifact_id = known[place.unit_id].artifact_id
    return {
        "id": new_id(), **asdict(place), "item_id": item_id, "artifact_id": artifact_id,
        "rater_kind": RaterKind.PERSON.value, "rater_id": rater, "value": None,
        "status": Status.SKIPPED.value, "cause": "not yet labelled", "flags": "",
    }  # fmt: skip


def _of_gold(db: Connection, item_id: str, place: LabelPlace) -> str:
    """The gold that has a unit; Refusal when none does any more."""
    artifact = annotating.judged_artifact(db, item_id, dealing.labelled_by(place.protocol))
    if artifact is None or place.unit_id not in {unit.id for unit in artifact.document.units}:
        raise _gone(place.protocol)
    return artifact.id
