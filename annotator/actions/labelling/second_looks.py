"""Second looks at labels: the kind of an error, or the origin of covered content."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.engine import Connection

from annotator.actions.labelling import label_cases, label_writing
from annotator.actions.labelling.label_rows import SAID, is_sealed, lock, mine, own_marks, to_give_again
from annotator.actions.labelling.label_writing import LabelPlace
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.judges.judgement import Judgement, RaterKind
from annotator.domain.judges.taxonomy import ErrorSample, Taxonomy
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import TAXONOMIES as TAXONOMIES
from annotator.storage.tables import JUDGEMENT

SAMPLE = "error_sample"
OF_JUDGE = "give kind of a judge's verdict"
# Unit → what was said on looking again.
Kinds = dict[str, str]


def offered(project: Project, protocol: str) -> bool:
    """Whether people are asked to look again at verdicts of a protocol; of a task, at those it asks for."""
    known = any(one.of == protocol for one in TAXONOMIES.values())
    return known and (not project.from_task or label_cases.handed_out(project, protocol))


def of_report(project: Project, response_id: str, taxonomy: str) -> Kinds:
    """What the person working said of a report's units under a taxonomy, whatever became of the verdicts since."""
    me = people.someone(project).id
    question = mine(me, taxonomy).where(JUDGEMENT.c.response_id == response_id, JUDGEMENT.c.status.in_(SAID))
    with project.store.read() as db:
        rows = db.execute(question.with_only_columns(JUDGEMENT.c.unit_id, JUDGEMENT.c.value))
        return {unit_id: value for unit_id, value in rows}


def sample(project: Project) -> ErrorSample | None:
    """The responses drawn to give kinds to, if any were."""
    found = project.get(SAMPLE)
    return ErrorSample.model_validate(found) if found else None


def after(protocol: str, value: str) -> Taxonomy | None:
    """What a verdict of a protocol is looked at again by, if by anything."""
    return next(
        (one for one in TAXONOMIES.values() if one.of == protocol and value in one.after and not one.beside),
        None,
    )


def kept(project: Project, protocol: str) -> dict[tuple[str, str], str]:
    """Response and unit → the kind that the person working gave of it, under any taxonomy of a protocol."""
    me, names = people.someone(project).id, [one.name for one in TAXONOMIES.values() if one.of == protocol]
    j = JUDGEMENT.c
    question = select(j.response_id, j.unit_id, j.value).where(
        j.rater_id == me, j.rater_kind == RaterKind.PERSON.value, j.protocol.in_(names), j.status.in_(SAID)
    )
    with project.store.read() as db:
        return {(response_id, unit_id): value for response_id, unit_id, value in db.execute(question)}


def give(
    project: Project, response_id: str, unit_id: str, taxonomy: str, value: str, judge_id: str = ""
) -> Change:
    """Say of what kind a verdict is, one's own or a judge's; an empty value takes that back.

    Refusal where there is no verdict that asks for it. It may be said of submitted labels too; in a project made from
    a task it travels with them, and they are reopened first.
    """
    shape = TAXONOMIES[taxonomy]
    if value and value not in shape.values:
        raise Refusal(
            f"“{value}” is not among {shape.title.lower()}.", f"Use one of {', '.join(shape.values)}."
        )
    if not offered(project, shape.of):
        raise Refusal(f"{shape.title} are not part of this task.", "Give them where the verdicts are given.")
    place, me = LabelPlace(taxonomy, response_id, unit_id), people.someone(project).id
    with project.store.write() as db:
        before = label_writing.kept(db, place, me)
        if not value:
            if before is None:
                raise Refusal("No kind is set.", "Nothing was changed.")
            sealed = is_sealed(db, before["item_id"], me, shape.of)
            if project.from_task and sealed:
                raise lock()
            if sealed or judge_id:
                db.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == before["id"]))
            else:
                label_writing.put(db, before, None)
            change = Change("judgement", before["id"], "take kind back", label_writing.image(before), {})
            return record(project, db, change)
        verdict = _verdict(db, shape, place, judge_id or me)
        if project.from_task and is_sealed(db, verdict["item_id"], me, shape.of):
            raise lock()
        said = {**asdict(place), "value": value, "at": now()}
        by = {"rater_kind": RaterKind.PERSON.value, "rater_id": me}
        blank = {name: verdict[name] for name in ("item_id", "artifact_id")} | by
        given = Judgement(**(before or {"id": new_id(), **blank, "flags": ""}) | said).model_dump()
        if judge_id or is_sealed(db, verdict["item_id"], me, shape.of):
            # There is nothing to submit any more: it counts as it is given.
            given["flags"] = " ".join(own_marks(given["flags"]))
            label_writing.write(db, given, new=before is None)
        else:
            given = label_writing.put(db, before, given) or given
        images = label_writing.image(before), label_writing.image(given)
        verb = OF_JUDGE if judge_id else "give kind"
        return record(project, db, Change("judgement", given["id"], verb, *images))


def _verdict(db: Connection, shape: Taxonomy, place: LabelPlace, rater: str) -> dict[str, Any]:
    """The verdict that is looked at again; Refusal when the person or judge came to none that asks for it."""
    question = select(JUDGEMENT).where(
        JUDGEMENT.c.protocol == shape.of,
        JUDGEMENT.c.rater_id == rater,
        JUDGEMENT.c.trial == 1,
        JUDGEMENT.c.response_id == place.response_id,
        JUDGEMENT.c.unit_id == place.unit_id,
        JUDGEMENT.c.value.in_(shape.after),
    )
    row = db.execute(question).mappings().first()
    if row is None or to_give_again(db, rater, shape.of, JUDGEMENT.c.id == row["id"]):
        raise Refusal(
            f"{shape.title}: the verdict here takes no kind.", "Label it first, or name another judge."
        )
    return dict(row)
