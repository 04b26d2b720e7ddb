"""The place where an undone or redone change is visible: the page to show, and what to name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from annotator.actions.agreement import final_pass
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.items import items, materials
from annotator.actions.labelling import label_cases, label_sealing
from annotator.actions.labelling.labels import SEVERAL
from annotator.actions.project import people
from annotator.actions.project.file import USES, Project
from annotator.domain.common import Change, counted
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.publication import ERRATA, METADATA, WITHDRAWN
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.protocols import TAXONOMIES
from annotator.storage.tables import ADJUDICATION


@dataclass(frozen=True, slots=True)
class UndoneChange:
    words: str
    page: str
    place: dict[str, Any] = field(default_factory=dict)


def seen(project: Project, change: Change) -> UndoneChange:
    """The words and place of an undone or redone change, for a person who does not have it in view."""
    return _SEEN[change.kind](project, change)


def _artifact(project: Project, change: Change) -> UndoneChange:
    artifact = artifacts.read(project, change.subject)
    numbers = [image["revision"] for image in (change.before, change.after)]
    revisions = {
        revision.number: revision.content for revision in artifacts.revisions(project, artifact.id, numbers)
    }
    was, now = (document_of(artifact.kind, revisions[number]) for number in numbers)
    unit_id, words = _differing(was, now)
    place = {
        "item_id": artifact.item_id,
        "kind": artifact.kind.value,
        **({"unit_id": unit_id} if unit_id in {unit.id for unit in now.units} else {}),
    }
    return UndoneChange(f"{words or change.verb}, item {_key(project, artifact.item_id)}", "Author", place)


def _differing(was: Document[Any], now: Document[Any]) -> tuple[str, str]:
    """The id of the first unit in which two documents differ, and the difference in words; both empty if none does."""
    name = KINDS[was.KIND].unit
    longer = was if len(was.units) > len(now.units) else now
    others = {unit.id: unit for unit in (now if longer is was else was).units}
    for number, unit in enumerate(longer.units, start=1):
        other = others.get(unit.id)
        if other is None:
            return unit.id, f"{name} {number}"
        if other != unit:
            fields = [each for each in type(unit).model_fields if getattr(unit, each) != getattr(other, each)]
            return unit.id, f"{', '.join(fields)} of {name} {number}"
    return "", ""


def _label(project: Project, change: Change) -> UndoneChange:
    image = change.after or change.before
    first = next(iter(image[SEVERAL].values()), None) if SEVERAL in image else image
    if not first:
        first = next(iter(change.before[SEVERAL].values()))
    if change.verb == label_sealing.OF_JUDGE:
        words = f"{change.verb}, item {_key(project, first['item_id'])}"
        return UndoneChange(words, "Validate", {"part": "Reviews"})
    taxonomy = TAXONOMIES.get(first["protocol"])
    place = {
        "protocol": taxonomy.of if taxonomy else first["protocol"],
        **{name: first[name] for name in ("response_id", "unit_id")},
    }
    return UndoneChange(f"{change.verb}, item {_key(project, first['item_id'])}", "Label", place)


def _ruling(project: Project, change: Change) -> UndoneChange:
    result = project.query(
        select(ADJUDICATION).where(ADJUDICATION.c.id == change.before["adjudication"])
    ).one()
    place = {"item_id": result.item_id, "stage": result.stage, "ruling_id": change.subject}
    return UndoneChange(
        f"{change.verb}, {result.stage} of item {_key(project, result.item_id)}", "Adjudicate", place
    )


def _informed(_project: Project, change: Change) -> UndoneChange:
    part = "Disagreements" if (change.after or change.before).get("label_of") else "Reviews"
    return UndoneChange(change.verb, "Validate", {"part": part})


def _item(project: Project, change: Change) -> UndoneChange:
    if several := change.before.get(items.SEVERAL):
        return UndoneChange(f"{change.verb}, {counted(len(several), 'item')}", "Items")
    return UndoneChange(f"{', '.join(change.before)} of item {_key(project, change.subject)}", "Items")


def _person(project: Project, change: Change) -> UndoneChange:
    names = {person.id: person.name for person in people.people(project)}
    words = f"{', '.join(change.before)} of {names.get(change.subject, 'a person')}"
    return UndoneChange(words, "People", {"part": "Team"})


def _at(page: str, **place: Any) -> Callable[[Project, Change], UndoneChange]:
    """A describer of changes by their verb, always in one place."""
    return lambda _project, change: UndoneChange(change.verb, page, place)


def _setting(_project: Project, change: Change) -> UndoneChange:
    if change.subject.startswith(final_pass.PREFIX):
        return UndoneChange(change.verb, "Final pass")
    return UndoneChange(change.verb, *_OF_SETTINGS.get(change.subject, ("Results", {})))


def _key(project: Project, item_id: str) -> str:
    return items.read(project, item_id).key


# Setting → the page and place where it is seen; any other changes the results.
_OF_SETTINGS: Mapping[str, tuple[str, dict[str, Any]]] = {
    label_sealing.SAMPLE: ("Validate", {"part": "Reviews"}),
    **dict.fromkeys((materials.PAIRS, label_cases.BOTH_ORDERS), ("People", {"part": "Hand out"})),
    USES: ("Project", {"part": "uses"}),
    METADATA: ("Project", {}),
    **dict.fromkeys((ERRATA, WITHDRAWN), ("Release", {})),
    **dict.fromkeys((settings.SETTING, annotating.RUBRIC_SET), ("Guidelines", {"stage": Stage.RUBRIC.value})),
}
_SEEN: Mapping[str, Callable[[Project, Change], UndoneChange]] = {
    "artifact": _artifact,
    "assignment": _at("People", part="Progress"),
    "contest": _at("Contest", part="Rank"),
    "extract": _at("Material", part="Extracts"),
    "family": _at("Validate", part="Attacks", families=True),
    "informed": _informed,
    "item": _item,
    "judge": _at("Judges", part="Judges"),
    "judgement": _label,
    "metadata": _at("Material", part="Reports"),
    "person": _person,
    "review": _at("Reviews"),
    "ruling": _ruling,
    "setting": _setting,
    "transcript": _at("Material", part="Transcripts"),
}
