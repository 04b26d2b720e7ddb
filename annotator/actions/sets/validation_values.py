"""Values of the units in a validation: by person, by consensus, by judge and prompt."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, select
from sqlalchemy.engine import Connection

from annotator.actions.judges import judges
from annotator.actions.labelling import wordings
from annotator.actions.labelling.label_rows import SAID, counted_rows
from annotator.actions.project.file import Project
from annotator.actions.project.keeping import kept
from annotator.actions.results import result_raters
from annotator.actions.sets.validation_units import Key, in_order
from annotator.domain.judges.judge import Judge
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.pairs import preferred
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import INFORMED, JUDGEMENT, RUN

COUNTED = counted_rows()
# Why a pair has no value where both orders count, and a unit where no value is that of most trials.
ONE_ORDER, TIED = "one order", "trials tie"
# So many items are named in one question; any database takes as many.
AT_ONCE = 500
# Unit → value, None where the rater is unsure.
Own = dict[Key, str | None]


@dataclass(frozen=True, slots=True)
class JudgeVersion:
    """A judge under one prompt: its values, and the status of each missing judgement.

    Of several trials the values are what these come to; `trials` has those of each unit.
    """

    judge: Judge
    prompt_sha256: str
    said: dict[Key, str] = field(default_factory=dict)
    missing: dict[Key, str] = field(default_factory=dict)
    trials: dict[Key, list[str]] = field(default_factory=dict)


def of_people(
    db: Connection, shape: Protocol, items: Sequence[str] | None = None, *, submitted: bool = False
) -> dict[str, Own]:
    """Person → what they say blind; with `submitted` only what is finished, where labels are submitted.

    What someone said after they were shown a judge's verdict on the same unit is no blind label, and is left out; so
    is what they said of another wording.
    """
    every = JUDGEMENT.c
    by_people = (every.protocol == shape.name, every.rater_kind == RaterKind.PERSON.value, every.trial == 1)
    left_out = {*wordings.outdated(db, *by_people), *_informed(db, *by_people)}
    chosen: FromClause = COUNTED if submitted else JUDGEMENT
    j = chosen.c
    question = select(j.id, j.response_id, j.unit_id, j.rater_id, j.value).where(
        j.protocol == shape.name, j.rater_kind == RaterKind.PERSON.value, j.trial == 1, j.status.in_(SAID)
    )
    found: dict[str, Own] = defaultdict(dict)
    for rows in _stretches(db, question, j.item_id, items):
        if shape.paired:
            # Where someone was asked both ways, what they said of the order that is compared stands.
            rows.sort(key=lambda row: in_order(row.response_id, row.unit_id))
        for label_id, response_id, unit_id, person_id, value in rows:
            if label_id not in left_out:
                key, said = _folded(shape, (response_id, unit_id), value)
                found[person_id][key] = said
    return dict(found)


def _informed(db: Connection, *by_people: ColumnElement[bool]) -> Iterable[str]:
    """The labels that were given after the person was shown a judge's verdict on the unit."""
    j, i = JUDGEMENT.c, INFORMED.c
    same = (getattr(j, name) == getattr(i, name) for name in ("protocol", "response_id", "unit_id"))
    shown = select(j.id).join(INFORMED, and_(*same, i.by == j.rater_id, i.at < j.at))
    return db.execute(shown.where(*by_people)).scalars()


def _stretches(
    db: Connection, question: Any, item_id: ColumnElement[str], items: Sequence[str] | None
) -> Iterable[list[Any]]:
    if items is None:
        yield list(db.execute(question).all())
        return
    for start in range(0, len(items), AT_ONCE):
        narrowed = question.where(item_id.in_(items[start : start + AT_ONCE]))
        yield list(db.execute(narrowed).all())


def _folded(shape: Protocol, key: Key, value: str | None) -> tuple[Key, str | None]:
    """A verdict on a pair in the order that is compared: the same report is better, whichever comes first."""
    if not shape.paired or in_order(*key):
        return key, value
    return (key[1], key[0]), shape.scale.mirrored.get(value or "", value)


def of_consensus(project: Project, shape: Protocol) -> Own:
    spoken = result_raters.spoken(project, shape, result_raters.CONSENSUS)
    return {(response_id, unit_id): value for response_id, _, unit_id, value in spoken}


def trials(project: Project, shape: Protocol) -> list[int]:
    """The trials at which judges judged; the first one where none did."""
    j = JUDGEMENT.c
    question = select(j.trial).where(j.protocol == shape.name, j.rater_kind == RaterKind.JUDGE.value)
    with project.store.read() as db:
        return sorted(set(db.execute(question.distinct()).scalars()) | {1})


@kept
def of_judges(
    project: Project, shape: Protocol, judge: str = "", trial: int = 0, *, together: bool = False
) -> list[JudgeVersion]:
    """Every judge, or the one of that name, under each wording it judged by: what its trials come to, or one trial.

    Of pairs the order that is compared; the other one is asked for bias, not for agreement. With `together` it is what
    both orders come to: a tie where they differ, and missing where one is. What was said of another wording of a unit
    is missing.
    """
    j = JUDGEMENT.c
    wanted = [j.protocol == shape.name, wordings.BY_JUDGES, *([j.trial == trial] if trial else [])]
    wanted += [j.rater_id == judges.named(project, judge).id] if judge else []
    columns = j.id, j.response_id, j.unit_id, j.rater_id, j.trial, j.value, j.status, j.run_id
    known = {one.id: one for one in judges.all_of(project)}
    with project.store.read() as db:
        rows = db.execute(select(*columns).where(*wanted).order_by(j.trial)).all()
        gone = wordings.outdated(db, *wanted)
        prompts = dict(db.execute(select(RUN.c.id, RUN.c.prompt_sha256)).all())
    found: dict[tuple[str, str, int], JudgeVersion] = {}
    turned: dict[tuple[str, str, int], dict[Key, str]] = defaultdict(dict)
    for verdict_id, response_id, unit_id, judge_id, at, value, status, run_id in rows:
        key, whose = (response_id, unit_id), (judge_id, prompts.get(run_id) or "", at)
        if judge_id not in known:
            continue
        if shape.paired and not in_order(*key):
            if status == Status.OK.value and verdict_id not in gone:
                turned[whose][key[::-1]] = value
            continue
        if whose not in found:
            found[whose] = JudgeVersion(known[judge_id], whose[1])
        version = found[whose]
        if status == Status.OK.value and verdict_id not in gone:
            version.said[key] = value
        else:
            version.missing[key] = wordings.REWORDED if verdict_id in gone else status
    if judge and not found:
        raise Refusal(f"“{judge}” has no judgements of this kind.", "Run it first.")
    for whose, version in found.items() if together and shape.paired else ():
        _put_together(version, turned[whose])
    of_trials: dict[tuple[str, str], list[JudgeVersion]] = defaultdict(list)
    for (judge_id, prompt, _), version in found.items():
        of_trials[judge_id, prompt].append(version)
    made = [
        versions[0] if len(versions) == 1 else _come_to(shape, versions) for versions in of_trials.values()
    ]
    return sorted(made, key=lambda one: (one.judge.name, one.prompt_sha256))


def _come_to(shape: Protocol, versions: Sequence[JudgeVersion]) -> JudgeVersion:
    """A judge whose values are what its trials come to."""
    whole = JudgeVersion(versions[0].judge, versions[0].prompt_sha256)
    for one in versions:
        whole.missing.update(one.missing)
        for key, value in one.said.items():
            whole.trials.setdefault(key, []).append(value)
    for key, values in whole.trials.items():
        most = shape.scale.agreed(values)
        if most is None:
            whole.missing[key] = TIED
        else:
            whole.said[key] = most
            whole.missing.pop(key, None)
    return whole


def _put_together(version: JudgeVersion, turned: Mapping[Key, str]) -> None:
    """Make of each verdict what it comes to with that of the other order."""
    for key, value in list(version.said.items()):
        if key in turned:
            version.said[key] = str(preferred(value, turned[key]))
        else:
            version.missing[key] = ONE_ORDER
            del version.said[key]
