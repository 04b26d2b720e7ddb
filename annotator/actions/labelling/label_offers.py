"""Protocols by which reports can be labelled, and what each report still lacks."""

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import bindparam, exists, select

from annotator import places
from annotator.actions.authoring import guidelines
from annotator.actions.items import materials, roles
from annotator.actions.labelling import dealing, label_cases
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.domain.kinds.artifact import State, Unit
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.counting import counted
from annotator.protocols import PROTOCOLS, TO_SUBMIT, USUAL
from annotator.storage.tables import (
    ARTIFACT,
    EXTRACT,
    JUDGE,
    JUDGEMENT,
    PERSON,
    RESPONSE,
)

# What may be lacking, beside the kinds of artifact by their names and the parts of a report by those and “drawn”.
ITEMS, ASSIGNMENTS, RESPONSES, RIVALS, WRITING = "items", "assignments", "responses", "rivals", "writing"
CITATIONS, PAGES, NOTHING_ASKED = "citations", "pages", "nothing asked"
DRAWN = "drawn "


def offered(project: Project) -> list[str]:
    """The protocols that there is something to label by: gold, drawn parts or pairs.

    What is always submitted is among them; in a project made from a task it is what was handed out, and nothing else.
    """
    if project.from_task:
        with project.store.read() as db:
            of_items = dealing.asked_of(db, people.someone(project).id).values()
        return [name for name in PROTOCOLS if any(name in one for one in of_items)] or list(TO_SUBMIT)
    there = _there(project)
    return [name for name, shape in PROTOCOLS.items() if shape.values and (shape.submitted or there(shape))]


def usual(project: Project) -> str:
    """The protocol that is meant where none is named: the first of those that judges are asked by that fits best.

    Best fits one by which a judge judged here, then one by which people labelled, then one for which gold or drawn
    parts are there.
    """
    asked = [shape for shape in PROTOCOLS.values() if shape.values and not shape.by_people]
    with project.store.read() as db:
        for raters in (JUDGE, PERSON):
            own = (JUDGEMENT.c.rater_id == raters.c.id) & (JUDGEMENT.c.protocol == bindparam("name"))
            question = select(exists().where(own))
            for shape in asked:
                if db.execute(question, {"name": shape.name}).scalar():
                    return shape.name
    return next((shape.name for shape in filter(_there(project), asked)), USUAL)


def _there(project: Project) -> Callable[[Protocol], bool]:
    """Whether there is something to ask about by a protocol."""
    settled = (ARTIFACT.c.state != State.DRAFT.value) | (ARTIFACT.c.author_id == "")
    one, other = RESPONSE.alias("one"), RESPONSE.alias("other")
    met = exists().where(
        one.c.item_id == other.c.item_id,
        one.c.system_id != other.c.system_id,
        one.c.item_id.not_in(roles.SOURCES_ONLY),
    )
    with project.store.read() as db:
        kinds = set(db.execute(select(ARTIFACT.c.kind).where(settled).distinct()).scalars())
        parts = set(
            db.execute(
                select(EXTRACT.c.kind)
                .where(EXTRACT.c.response_id != "", EXTRACT.c.item_id.not_in(roles.SOURCES_ONLY))
                .distinct()
            ).scalars()
        )
        pairs = bool(db.execute(select(met)).scalar())
        exemplars = bool(db.execute(select(exists().where(RESPONSE.c.mode == EXEMPLAR))).scalar())

    def there(shape: Protocol) -> bool:
        own = [kind in kinds for kind in shape.needs] + [part.value in parts for part in shape.parts]
        if shape.exemplar and not exemplars:
            return False
        return pairs if shape.paired else any(own)

    return there


def gaps(shape: Protocol, found: Iterable[tuple[Material, Sequence[Case]]]) -> tuple[str, ...]:
    """What cannot be asked although the rest can, in sentences; `found` are the reports with what is asked of each."""
    settled = [
        (one, cases)
        for one, cases in found
        if all(one.units(kind) for kind in shape.needs)
        and (not shape.mode or shape.mode == one.response.mode)
    ]
    said, reports, shown = list[str](), counted(len(settled), "report"), shape.presentation
    for part in shape.parts:
        if undrawn := sum(part not in one.parts for one, _ in settled):
            said.append(f"No {part.drawn} from {undrawn:,} of {reports} yet.")
    if waiting := sum(_unasked([*_cited(shape, one), *_gold(shape, one)], cases) for one, cases in settled):
        said.append(f"{shown.counted(waiting)} cannot be labelled: {shown.waits}.")
    return tuple(said)


def _cited(shape: Protocol, material: Material) -> list[Unit]:
    return (
        [claim for claim in material.units(ResponsePart.CLAIMS) if claim.url]
        if ResponsePart.CLAIMS in shape.parts
        else []
    )


def _gold(shape: Protocol, material: Material) -> Sequence[Unit]:
    """The units of the gold where each is asked about by itself."""
    units = material.units(shape.unit_kind) if shape.unit_kind is not None and not shape.parts else ()
    return [unit for unit in units if getattr(unit, "kept", True)]


def _unasked(units: Iterable[Unit], cases: Sequence[Case]) -> int:
    asked = {unit.id for case in cases for unit in case.units}
    return sum(unit.id not in asked for unit in units)


def lack(project: Project, shape: Protocol) -> str:
    """What must come before anything can be asked under a protocol; empty when something can."""
    found = list(
        materials.each(project, materials.for_asking(shape), materials.item_ids(project, answered=True))
    )
    reports = [material for one in found for material in one.responses]
    if not reports:
        return RESPONSES if found else ITEMS
    for kind in shape.needs:
        reports = [material for material in reports if material.units(kind)]
        if not reports:
            return kind.value
    hidden = label_cases.withheld(project, shape)
    open_ = [material for material in reports if material.item.id not in hidden]
    if not open_:
        return WRITING
    return "" if any(label_cases.asked(project, shape, one) for one in open_) else _of_parts(shape, open_)


def _of_parts(shape: Protocol, reports: list[Material]) -> str:
    """What is lacking although there are reports and gold."""
    if shape.paired:
        return NOTHING_ASKED if shape.exemplar else RIVALS
    for part in shape.parts:
        if not any(material.units(part) for material in reports):
            return f"{DRAWN}{part}"
    if ResponsePart.CLAIMS not in shape.parts:
        return NOTHING_ASKED
    return PAGES if any(_cited(shape, material) for material in reports) else CITATIONS


def guide(project: Project, protocol: str) -> str:
    """Markdown: the protocol's own; where it ships none, of what is submitted the guideline in force in the project."""
    path = places.resources() / "guidelines" / "labelling" / f"{protocol}.md"
    if path.is_file():
        return path.read_text("utf-8")
    return guidelines.text_in_force(project, Stage.LABELLING) if protocol in TO_SUBMIT else ""
