"""What is labelled and reviewed, as it goes into a task: reports under aliases with their parts and pages, drafts."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy.engine import Connection

from annotator.actions.assignments import reviewing
from annotator.actions.authoring import artifacts
from annotator.actions.items import materials
from annotator.actions.items.materials import WantedMaterial
from annotator.actions.labelling import dealing, label_cases
from annotator.actions.parcels import parcel_secrets
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Assignment, Purpose
from annotator.domain.experts.person import Person
from annotator.domain.judges.presentation import REPORT
from annotator.domain.judges.protocol import Material, Protocol
from annotator.domain.kinds.artifact import State
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import parcels
from annotator.protocols import PROTOCOLS, asked


@dataclass(frozen=True, slots=True)
class ServedAssignment:
    """An assignment with the id and key under which its item is sent."""

    assignment: Assignment
    item_id: str
    again: bool

    @property
    def shapes(self) -> list[Protocol]:
        return [PROTOCOLS[name] for name in asked(self.assignment.protocols)]


@dataclass(frozen=True, slots=True)
class LabelledMaterial:
    """The records of a task that raters read, in the order of aliases, so that no order tells anything."""

    reports: list[parcels.TaskReport] = field(default_factory=list)
    parts: list[parcels.TaskPart] = field(default_factory=list)
    pages: list[parcels.TaskPage] = field(default_factory=list)


def report_alias(project: Project, person_id: str, response_id: str, again: bool) -> str:
    """The id under which a report is served to a person, the second time another than the first."""
    return parcel_secrets.alias_of(project, person_id, f"{'again/' if again else ''}{response_id}")


def gathered(project: Project, person: Person, labelled: Sequence[ServedAssignment]) -> LabelledMaterial:
    """What a person needs to label what was handed out to them; Refusal where there is nothing to ask of an item."""
    found = LabelledMaterial()
    pages: dict[str, parcels.TaskPage] = {}
    for one in labelled:
        _add_item(project, person, one, found, pages)
    found.reports.sort(key=lambda report: (report.item_id, report.id))
    found.parts.sort(key=lambda part: (part.report_id, part.part))
    found.pages.extend(pages[url] for url in sorted(pages))
    return found


def _add_item(
    project: Project, person: Person, one: ServedAssignment, found: LabelledMaterial,
    pages: dict[str, parcels.TaskPage],
) -> None:  # fmt: skip
    wanted = {part for shape in one.shapes for part in shape.parts}
    needs = tuple(dict.fromkeys(kind for shape in one.shapes for kind in shape.needs))
    read = any(shape.presentation.read != REPORT for shape in one.shapes)
    reading = WantedMaterial(needs, pages=read, parts=bool(wanted))
    (at_hand,) = materials.each(project, reading, [one.assignment.item_id])
    of_shape = {shape.name: _dealt(project, person, shape, at_hand.responses) for shape in one.shapes}
    for shape in one.shapes if one.assignment.protocols else ():
        if not any(label_cases.asked(project, shape, each, person.id) for each in of_shape[shape.name]):
            raise Refusal(
                f"{shape.title}: item {at_hand.item.key} has nothing to label yet.",
                "Complete its gold, its extracts, cited pages or reports, or take it out of the plan.",
            )
    alias = partial(report_alias, project, person.id, again=one.again)
    chosen = {each.response.id: each for served in of_shape.values() for each in served}
    beside = {
        each.response.id: each
        for each in at_hand.responses
        if each.response.mode == EXEMPLAR and each.response.id not in chosen
    }
    chosen |= beside if any(shape.exemplar for shape in one.shapes) else {}
    groups: dict[tuple[int, str], int] = {}
    for response_id in sorted(chosen, key=alias):
        each, exemplar = chosen[response_id], chosen[response_id].response.mode == EXEMPLAR
        group = groups.setdefault((each.response.trial, each.response.mode), len(groups) + 1)
        found.reports.append(
            parcels.TaskReport(
                id=alias(response_id),
                item_id=one.item_id,
                text=each.response.text,
                group=group if one.assignment.protocols else 1,
                exemplar=exemplar,
            )
        )
        for part in wanted & each.parts.keys() if response_id not in beside else ():
            found.parts.append(_part(alias(response_id), part, each))
        pages.update((page.url, page) for page in _cited(each))


def _dealt(project: Project, person: Person, shape: Protocol, every: Iterable[Material]) -> list[Material]:
    listed = list(every)
    with project.store.read() as db:
        drawn = dealing.narrowed(db, person.id, shape.name)
    return [
        each
        for each in listed
        if each.response.id in drawn.get(each.item.id, {each.response.id})
        and shape.mode in ("", each.response.mode)
    ]


def _part(report_id: str, part: ResponsePart, each: Material) -> parcels.TaskPart:
    document: dict[str, Any] = each.parts[part].tree()
    units = [{**unit, "note": ""} for unit in document["units"]]
    return parcels.TaskPart(report_id=report_id, part=part, document={**document, "units": units})


def _cited(each: Material) -> Iterator[parcels.TaskPage]:
    for page in each.pages.values():
        fields = {name: getattr(page, name) for name in parcels.TaskPage.model_fields}
        yield parcels.TaskPage(**fields)


def drafts(project: Project, db: Connection, served: list[ServedAssignment]) -> list[parcels.TaskDraft]:
    """The drafts that a person reviews; of one that is not submitted the review waits."""
    aliases, made = {one.id: one.alias for one in people.people(project)}, []
    for one in served:
        kind = one.assignment.stage.kind
        if one.assignment.purpose is Purpose.REVIEW and kind is not None:
            found = reviewing.next_version(project, db, one.item_id, kind, one.assignment.person_id)
            if found is None:
                raise Refusal(
                    "A draft that they review is not submitted yet, or another review of it is not answered.",
                    "Write the task once it is.",
                )
            author, revision, tree = found
            alias = aliases.get(author, author)
            made.append(
                parcels.TaskDraft(
                    item_id=one.item_id, kind=kind, author=alias, revision=revision, document=tree
                )
            )
    return made


def reviews(db: Connection, person: Person, items: Collection[str]) -> list[parcels.TaskReview]:
    """What reviews made of a person's drafts, as far as these are submitted."""
    made = []
    for review in reviewing.all_kept(db):
        if review.author != person.id or review.item_id not in items:
            continue
        artifact = artifacts.read_newest(db, review.artifact_id).artifact
        if artifact.state is not State.DRAFT:
            told = review.model_copy(update={"author": person.alias})
            made.append(
                parcels.TaskReview(
                    artifact_id=artifact.id,
                    item_id=review.item_id,
                    review=told,
                    document=artifact.document.tree(),
                )
            )
    return made
