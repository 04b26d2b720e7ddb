"""Submission of a person's labels on one item, as one sealed document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import materials
from annotator.actions.labelling import label_cases, labels
from annotator.actions.labelling.label_rows import (
    ANSWERED,
    TAKEN_BACK,
    WAITS,
    counting,
    is_given,
    is_sealed,
    labels_by,
    lock,
    marked,
    mine,
    own_marks,
    submits,
    submitted,
    to_give_again,
    to_submit,
)
from annotator.actions.labelling.labels import LabelPlace
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash, record
from annotator.domain.common import Change, Refusal, counted, grouped, new_id, now, required
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.judges.paper import ErrorSample, Taxonomy
from annotator.domain.kinds.artifact import Anchor, Kind, State
from annotator.domain.kinds.documents import UNSURE, Label, Labels, label_id
from annotator.protocols import PROTOCOLS, TAXONOMIES as TAXONOMIES, TO_SUBMIT, USUAL
from annotator.storage.tables import ARTIFACT, ITEM, JUDGEMENT, PERSON, RESPONSE, REVISION

# At most this many missing labels are listed one by one.
NAMED = 20
LONGEST_QUOTE = 20_000


@dataclass(frozen=True, slots=True)
class Unsubmitted:
    """A person's unsubmitted labels of an item: how many there are, and how many are missing."""

    person_id: str
    alias: str
    item_id: str
    item_key: str
    labelled: int
    missing: int
    protocol: str = USUAL


@dataclass(frozen=True, slots=True)
class _Work:
    """What one person is to label of an item, in their own order, and their labels so far.

    `units` holds the texts of units by protocol and report; `reports` each report's name, `kinds` the rows of
    error taxonomies.
    """

    reports: dict[str, str]
    units: dict[str, dict[str, dict[str, str]]]
    rows: dict[LabelPlace, Row[Any]]
    kinds: list[Row[Any]]

    def places(self) -> Iterator[LabelPlace]:
        for protocol, of_report in self.units.items():
            for response_id in self.reports:
                for unit_id in of_report.get(response_id, ()):
                    yield LabelPlace(protocol, response_id, unit_id)

    def missing(self) -> list[LabelPlace]:
        return [place for place in self.places() if place not in self.rows]

    def given(self) -> list[LabelPlace]:
        return [place for place in self.places() if place in self.rows]

    def words(self, place: LabelPlace) -> str:
        """A report and the text of its unit, after the protocol if there are several."""
        prefix = f"{PROTOCOLS[place.protocol].presentation.tab}, " if len(self.units) > 1 else ""
        text = self.units[place.protocol][place.response_id][place.unit_id]
        return f"{prefix}{self.reports[place.response_id]}: {text}"


def missing(project: Project, item_id: str, protocol: str = USUAL) -> list[tuple[str, str]]:
    """The report and unit of every label under a protocol that this person must still give before submitting."""
    with project.store.read() as db:
        work = _work(project, db, item_id, people.someone(project).id, protocol)
    return [(place.response_id, place.unit_id) for place in work.missing() if place.protocol == protocol]


def submission(project: Project, item_id: str) -> Row[Any] | None:
    """The artifact of this person's labels of an item, sealed or reopened since; None before they submit any."""
    with project.store.read() as db:
        return _stored(db, item_id, people.someone(project).id)


def submit(
    project: Project, item_id: str, protocol: str = USUAL, *, person_id: str = "", partial: bool = False
) -> Change:
    """Seal a person's labels of all reports of an item; a Refusal lists what is missing in its details.

    By default for the person working; a coordinator may submit for others. `partial` allows missing labels. Labels
    begun under several protocols are submitted together; `protocol` counts if none is begun. Labels that were not
    handed out are submitted protocol by protocol, for every report without missing labels, and are not locked: later
    changes count once submitted again.
    """
    me = person_id or people.someone(project).id
    if me != people.someone(project).id:
        people.refuse_others(project, "can submit other people's labels")
    with project.store.write() as db:
        if not submits(protocol) and protocol not in label_cases.protocols_by_item(db, me).get(item_id, ()):
            return _submit_own(project, db, item_id, me, protocol, partial=partial)
        row, work = _stored(db, item_id, me), _work(project, db, item_id, me, protocol)
        if row is not None and row.state == State.SEALED.value:
            raise Refusal("Your labels of this item are submitted already.", "Reopen them to change any.")
        _refuse_unfinished(work, partial=partial)
        document = _document(work)
        artifact_id = row.id if row is not None else _begun(db, item_id, me)
        image = artifacts.write_revision(
            project, db, artifact_id, document, "seal", sealed=True,
            number=row.revision + 1 if row is not None else 1, previous=row.chain if row is not None else "",
        )  # fmt: skip
        at = now()
        db.execute(
            update(ARTIFACT)
            .where(ARTIFACT.c.id == artifact_id)
            .values(state=State.SEALED.value, sealed_at=at)
        )
        _count(db, me, JUDGEMENT.c.item_id == item_id, JUDGEMENT.c.protocol.in_(_with_kinds(work.units)))
        assignments.mark_submitted(db, item_id, me, Stage.LABELLING, at)
        after = {**image, "item_id": item_id, "kind": Kind.LABELS.value}
        change = record(project, db, Change("artifact", artifact_id, "seal", None, after))
        assignments.freeze_when_ready(project, db, item_id, Stage.LABELLING)
        return change


def _submit_own(
    project: Project, db: Connection, item_id: str, person_id: str, protocol: str, *, partial: bool
) -> Change:
    """Submit labels that were not handed out: those of complete reports or pairs; with `partial`, all."""
    j, within = JUDGEMENT.c, JUDGEMENT.c.protocol.in_(_with_kinds([protocol]))
    rows = required(
        db.execute(
            select(j.id, j.response_id).where(*_waiting_of([person_id]), j.item_id == item_id, within)
        ).all(),
        "There is nothing to submit.",
        "What you labelled of this item counts already.",
    )
    missing = {} if partial else _missing_beside(project, db, item_id, person_id, protocol)
    ready = [row.id for row in rows if not missing.get(row.response_id)]
    if not ready:
        lacking = [words for response in missing.values() for words in response]
        raise Refusal(
            f"{counted(len(lacking), 'label is', 'labels are')} still missing.",
            "Give them, or say “unsure” where you cannot.",
            tuple(lacking[:NAMED]),
        )
    submitted = _count(db, person_id, j.id.in_(ready))
    about = {"protocol": protocol, "person_id": person_id, "labels": submitted}
    return record(project, db, Change("labels", item_id, "submit", None, about))


def _with_kinds(protocols: Iterable[str]) -> list[str]:
    """The protocols together with the error taxonomies of their verdicts."""
    return [*protocols, *(name for name, taxonomy in TAXONOMIES.items() if taxonomy.of in set(protocols))]


def _waiting_of(person_ids: Sequence[str]) -> tuple[ColumnElement[bool], ...]:
    j = JUDGEMENT.c
    return (
        j.rater_kind == RaterKind.PERSON.value,
        j.rater_id.in_(list(person_ids)),
        j.trial == 1,
        marked(WAITS),
    )


def _missing_beside(
    project: Project, db: Connection, item_id: str, person_id: str, protocol: str
) -> dict[str, list[str]]:
    """Report → the texts of units that a person has not labelled yet; empty for pairs, each of which is complete."""
    if PROTOCOLS[protocol].paired:
        return {}
    statuses = labels_by(db, person_id, protocol)
    units = _units(project, db, item_id, person_id, protocol)
    return {
        response: [words for unit, words in of.items() if unit not in statuses.get(response, {})]
        for response, of in units.items()
    }


def _count(db: Connection, person_id: str, *which: ColumnElement[bool]) -> dict[str, str]:
    """Make the present values of these rows count; return each row's hash, by its id."""
    written = {}
    for row in db.execute(select(JUDGEMENT).where(*_waiting_of([person_id]), *which)).mappings().all():
        values = counting({name: value for name, value in row.items() if name != "sha256"})
        labels.write(db, values, new=False)
        written[row["id"]] = judgement_hash(values)
    return written


def waiting(project: Project, person_ids: Sequence[str]) -> list[Unsubmitted]:
    """The items on which these people have unsubmitted labels, in the project's order, then by alias.

    Leaves out items with imported labels only, which count already, even if others are missing.
    """
    result = []
    aliases = {person.id: person.alias for person in people.people(project)}
    with project.store.read() as db:
        j = JUDGEMENT.c
        for item_id, key, person_id in db.execute(
            select(j.item_id, ITEM.c.key, j.rater_id)
            .join(ITEM, ITEM.c.id == j.item_id)
            .join(PERSON, PERSON.c.id == j.rater_id)
            .where(
                j.rater_kind == RaterKind.PERSON.value,
                j.rater_id.in_(list(person_ids)),
                to_submit(),
                j.trial == 1,
                j.status.in_(ANSWERED),
                ITEM.c.retired.is_(False),
                ~submitted(),
            )
            .group_by(j.item_id, ITEM.c.key, ITEM.c.position, j.rater_id, PERSON.c.alias)
            .order_by(ITEM.c.position, ITEM.c.key, j.item_id, PERSON.c.alias)
        ).all():
            work = _work(project, db, item_id, person_id, USUAL)
            given, missing = work.given(), len(work.missing())
            own = any(not is_given(work.rows[place].flags) for place in given)
            if given and (own or not missing):
                result.append(Unsubmitted(person_id, aliases[person_id], item_id, key, len(given), missing))
        result += _waiting_own(project, db, aliases, person_ids)
    return result


def _waiting_own(
    project: Project, db: Connection, aliases: Mapping[str, str], person_ids: Sequence[str]
) -> Iterator[Unsubmitted]:
    """The same for labels that were not handed out, protocol by protocol."""
    j, of_kinds = JUDGEMENT.c, {name: taxonomy.of for name, taxonomy in TAXONOMIES.items()}
    question = (
        select(j.item_id, ITEM.c.key, j.rater_id, j.protocol, j.response_id)
        .join(ITEM, ITEM.c.id == j.item_id)
        .where(*_waiting_of(person_ids), ~to_submit(), ITEM.c.retired.is_(False))
        .where(j.status.in_(ANSWERED) | (j.cause == TAKEN_BACK))
        .order_by(ITEM.c.position, ITEM.c.key, j.item_id)
    )
    waiting = grouped(
        ((item_id, key, person_id, protocol), response_id)
        for item_id, key, person_id, name, response_id in db.execute(question)
        if not submits(protocol := of_kinds.get(name, name))
    )
    for (item_id, key, person_id, protocol), of in waiting.items():
        missing = _missing_beside(project, db, item_id, person_id, protocol)
        lacking = sum(len(missing.get(response_id, ())) for response_id in set(of))
        yield Unsubmitted(person_id, aliases[person_id], item_id, key, len(of), lacking, protocol)


def submit_all(
    project: Project, person_ids: Sequence[str], *, partial: bool = False
) -> tuple[list[Unsubmitted], list[Unsubmitted]]:
    """Submit all unsubmitted labels of these people; return those submitted and those left because some are missing."""
    done, left = [], []
    for one in waiting(project, person_ids):
        if one.missing and not partial:
            left.append(one)
        else:
            submit(project, one.item_id, one.protocol, person_id=one.person_id, partial=partial)
            done.append(one)
    return done, left


def reopen(project: Project, item_id: str) -> Change:
    """Let this person change their labels of an item again; the submitted version stays."""
    with project.store.write() as db:
        row = required(
            _stored(db, item_id, people.someone(project).id),
            "Your labels of this item are not submitted.",
            "You can continue labelling.",
        )
        return assignments.reopen(project, row.id)


def _work(project: Project, db: Connection, item_id: str, person_id: str, protocol: str) -> _Work:
    """A person's work on protocols handed out to them and submitted ones they have begun, or else the given one."""
    assigned = label_cases.protocols_by_item(db, person_id).get(item_id, ())
    handed = tuple(name for name in assigned if not submits(name))
    rows = db.execute(
        select(JUDGEMENT, RESPONSE.c.sha256.label("report_sha256"))
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .where(
            JUDGEMENT.c.item_id == item_id,
            JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
            JUDGEMENT.c.rater_id == person_id,
            JUDGEMENT.c.trial == 1,
            JUDGEMENT.c.status.in_(ANSWERED),
        )
        .order_by(JUDGEMENT.c.at, JUDGEMENT.c.id)
    ).all()
    begun = [name for name in TO_SUBMIT if any(row.protocol == name for row in rows)]
    # Submitted protocols may be skipped if another was handed out.
    due = [name for name in assigned if submits(name)][:1] if handed else [protocol]
    whole = dict.fromkeys([*(begun or due), *handed])
    begun = [name for name in PROTOCOLS if name in whole]
    reports = label_cases.dealt(label_cases.reports(db, [item_id])[item_id], person_id)
    if all(submits(name) for name in begun):
        reports = label_cases.dealt(
            label_cases.reports_for(db, person_id, [item_id], begun[0])[item_id], person_id
        )
    units = {name: _units(project, db, item_id, person_id, name) for name in begun}
    gone = {
        label_id
        for name in begun
        for label_id in to_give_again(db, person_id, name, JUDGEMENT.c.item_id == item_id)
    }
    labelled = {
        LabelPlace(row.protocol, row.response_id, row.unit_id): row for row in rows if row.id not in gone
    }
    kinds = [
        row for row in rows if row.protocol in TAXONOMIES and _is_of(TAXONOMIES[row.protocol], row, labelled)
    ]
    return _Work(reports, units, labelled, kinds)


def _units(
    project: Project, db: Connection, item_id: str, person_id: str, protocol: str
) -> dict[str, dict[str, str]]:
    reports = label_cases.reports_for(db, person_id, [item_id], protocol)[item_id]
    if submits(protocol):
        judged = label_cases.judged_units(db, label_cases.labelled_by(protocol), [item_id]).get(item_id, {})
        return dict.fromkeys(reports, judged)
    result: dict[str, dict[str, str]] = {}
    definition = PROTOCOLS[protocol]
    for at_hand in materials.each(project, materials.for_asking(definition), [item_id]):
        for material in at_hand.responses:
            if material.response.id in reports:
                cases = label_cases.cases_of(project, definition, material, person_id)
                result[material.response.id] = {unit.id: unit.text for case in cases for unit in case.units}
    return result


def _is_of(taxonomy: Taxonomy, kind: Row[Any], labelled: Mapping[LabelPlace, Row[Any]]) -> bool:
    """Whether an error kind belongs to a verdict that still asks for one."""
    verdict = labelled.get(LabelPlace(taxonomy.of, kind.response_id, kind.unit_id))
    return verdict is not None and verdict.value in taxonomy.after


def _stored(db: Connection, item_id: str, person_id: str) -> Row[Any] | None:
    return db.execute(
        select(ARTIFACT, REVISION.c.chain)
        .join(
            REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
        )
        .where(
            ARTIFACT.c.item_id == item_id,
            ARTIFACT.c.kind == Kind.LABELS.value,
            ARTIFACT.c.author_id == person_id,
        )
    ).first()


def _begun(db: Connection, item_id: str, person_id: str) -> str:
    artifact_id = new_id()
    row = {"id": artifact_id, "item_id": item_id, "kind": Kind.LABELS.value, "author_id": person_id}
    db.execute(insert(ARTIFACT).values(**row, state=State.DRAFT.value, revision=0))
    return artifact_id


def _refuse_unfinished(work: _Work, *, partial: bool) -> None:
    if not any(work.places()):
        raise Refusal(
            "There is nothing to label on this item.", "It needs a report and settled gold to label by."
        )
    lacking = work.missing()
    if lacking and not (partial and work.given()):
        named = [work.words(place) for place in lacking[:NAMED]]
        rest = [f"… and {len(lacking) - NAMED:,} more"] if len(lacking) > NAMED else []
        raise Refusal(
            f"{counted(len(lacking), 'label is', 'labels are')} still missing.",
            "Give them, or say “unsure” where you cannot.",
            (*named, *rest),
        )


def _document(work: _Work) -> Labels:
    """The labels by protocol, report and unit: an order independent of the person."""
    order = list(PROTOCOLS)
    given = sorted(work.given(), key=lambda place: (order.index(place.protocol), place.response_id))
    of_places = [work.rows[place] for place in given]
    kinds = [row for row in work.kinds if TAXONOMIES[row.protocol].of in work.units]
    try:
        return label_cases.in_order(Labels(units=tuple(map(_label, [*of_places, *kinds]))))
    except ValidationError as error:
        first = error.errors()[0]
        raise Refusal(
            f"A label does not fit: its {first['loc'][-1]} {first['msg'].lower()}.",
            "Shorten it, then submit.",
        ) from None


def _label(row: Row[Any]) -> Label:
    return Label(
        id=label_id(row.protocol, row.response_id, row.unit_id),
        protocol=row.protocol,
        response_id=row.response_id,
        unit_id=row.unit_id,
        value=UNSURE if row.status == Status.UNCLEAR.value else row.value,
        quote=row.quote,
        anchor=_anchor(row),
        note=row.note,
        flags=" ".join(own_marks(row.flags)),
    )


def _anchor(row: Row[Any]) -> Anchor | None:
    """The position of the quotation in the report, by which it is restored when the labels come back in a file."""
    if row.quote_start is None or row.quote_end is None or not 0 < len(row.quote) <= LONGEST_QUOTE:
        return None
    return Anchor(quote=row.quote, start=row.quote_start, end=row.quote_end, text_sha256=row.report_sha256)


SAMPLE = "error_sample"
OF_JUDGE = "give kind of a judge's verdict"
# Unit → its error kind.
Kinds = dict[str, str]


def offered(project: Project, protocol: str) -> bool:
    """Whether people are asked for error kinds of a protocol's verdicts; in a task, only if it asks for them."""
    known = any(taxonomy.of == protocol for taxonomy in TAXONOMIES.values())
    return known and (not project.from_task or label_cases.handed_out(project, protocol))


def of_report(project: Project, response_id: str, taxonomy: str) -> Kinds:
    """The kinds the person working gave a report's units under a taxonomy, even if the verdicts changed since."""
    me = people.someone(project).id
    question = mine(me, taxonomy).where(
        JUDGEMENT.c.response_id == response_id, JUDGEMENT.c.status.in_(ANSWERED)
    )
    rows = project.query(question.with_only_columns(JUDGEMENT.c.unit_id, JUDGEMENT.c.value))
    return {unit_id: value for unit_id, value in rows}


def sample(project: Project) -> ErrorSample | None:
    result = project.get(SAMPLE)
    return ErrorSample.model_validate(result) if result else None


def after(protocol: str, value: str) -> Taxonomy | None:
    """The taxonomy by which a verdict of a protocol is classified; None if there is none."""
    return next(
        (
            taxonomy
            for taxonomy in TAXONOMIES.values()
            if taxonomy.of == protocol and value in taxonomy.after and not taxonomy.beside
        ),
        None,
    )


def kinds_given(project: Project, protocol: str) -> dict[tuple[str, str], str]:
    """Response and unit → the kind given by the person working under any taxonomy of a protocol."""
    me, names = (
        people.someone(project).id,
        [taxonomy.name for taxonomy in TAXONOMIES.values() if taxonomy.of == protocol],
    )
    j = JUDGEMENT.c
    question = select(j.response_id, j.unit_id, j.value).where(
        j.rater_id == me,
        j.rater_kind == RaterKind.PERSON.value,
        j.protocol.in_(names),
        j.status.in_(ANSWERED),
    )
    return {(response_id, unit_id): value for response_id, unit_id, value in project.query(question)}


def give(
    project: Project, response_id: str, unit_id: str, taxonomy: str, value: str, judge_id: str = ""
) -> Change:
    """Set the error kind of a verdict, one's own or a judge's; an empty value removes it.

    Raises Refusal if no verdict asks for a kind. Submitted labels can be given one too; in a project made from a task,
    where kinds travel with the labels, these must be reopened first.
    """
    protocol = TAXONOMIES[taxonomy]
    if value and value not in protocol.values:
        raise Refusal(
            f"“{value}” is not among {protocol.title.lower()}.", f"Use one of {', '.join(protocol.values)}."
        )
    if not offered(project, protocol.of):
        raise Refusal(
            f"{protocol.title} are not part of this task.", "Give them where the verdicts are given."
        )
    place, me = LabelPlace(taxonomy, response_id, unit_id), people.someone(project).id
    with project.store.write() as db:
        before, _ = labels.stored(db, place, me)
        if not value:
            if before is None:
                raise Refusal("No kind is set.", "Nothing was changed.")
            sealed = is_sealed(db, before["item_id"], me, protocol.of)
            if project.from_task and sealed:
                raise lock()
            if sealed or judge_id:
                db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == before["id"]))
            else:
                labels.put(db, before, None)
            change = Change("judgement", before["id"], "take kind back", labels.image(before), {})
            return record(project, db, change)
        verdict = _verdict(db, protocol, place, judge_id or me)
        if project.from_task and is_sealed(db, verdict["item_id"], me, protocol.of):
            raise lock()
        answer = {**place._asdict(), "value": value, "at": now()}
        by = {"rater_kind": RaterKind.PERSON.value, "rater_id": me}
        blank = {name: verdict[name] for name in ("item_id", "artifact_id")} | by
        given = Judgement(**(before or {"id": new_id(), **blank, "flags": ""}) | answer).model_dump()
        if judge_id or is_sealed(db, verdict["item_id"], me, protocol.of):
            # Nothing is left to submit: it counts at once.
            given["flags"] = " ".join(own_marks(given["flags"]))
            labels.write(db, given, new=before is None)
        else:
            given = labels.put(db, before, given) or given
        images = labels.image(before), labels.image(given)
        verb = OF_JUDGE if judge_id else "give kind"
        return record(project, db, Change("judgement", given["id"], verb, *images))


def _verdict(db: Connection, protocol: Taxonomy, place: LabelPlace, rater: str) -> dict[str, Any]:
    """The verdict to classify; raises Refusal if the person or judge has none that asks for it."""
    row = (
        db.execute(
            select(JUDGEMENT).where(
                JUDGEMENT.c.protocol == protocol.of,
                JUDGEMENT.c.rater_id == rater,
                JUDGEMENT.c.trial == 1,
                JUDGEMENT.c.response_id == place.response_id,
                JUDGEMENT.c.unit_id == place.unit_id,
                JUDGEMENT.c.value.in_(protocol.after),
            )
        )
        .mappings()
        .first()
    )
    if row is None or to_give_again(db, rater, protocol.of, JUDGEMENT.c.id == row["id"]):
        raise Refusal(
            f"{protocol.title}: the verdict here takes no kind.", "Label it first, or name another judge."
        )
    return dict(row)
