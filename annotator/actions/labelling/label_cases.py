"""The cases people are asked about reports: blind names, and pairs in an order of each person's own."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set as AbstractSet
from random import Random
from typing import Any

import orjson
from sqlalchemy import Connection, and_, bindparam, exists, select

from annotator import places
from annotator.actions.authoring import annotating, settings
from annotator.actions.items import items, materials
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, change_setting
from annotator.domain.common import Change, Refusal, counted, grouped, required, sha256
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import NO_VALUES, Case, Material, Presentation, Protocol, Scale
from annotator.domain.kinds.artifact import Kind, State, Unit
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import CONTINUATION, EXEMPLAR, by_set
from annotator.protocols import PROTOCOLS, TO_SUBMIT, USUAL, assigned_protocols
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    EXTRACT,
    ITEM,
    JUDGE,
    JUDGEMENT,
    PERSON,
    RESPONSE,
    REVISION,
    SYSTEM,
    VALIDATION_SET,
)

BOTH_ORDERS = "both_orders"
PAGE_STATE = "page_state"
# The fields of a case of claims that describe its page.
PAGE_FIELDS = ("address", "page", PAGE_STATE, "page_cause")


def protocol_of(project: Project, protocol: str) -> Protocol:
    """The protocol of that name; raises Refusal if people do not label by it, or not in this project."""
    definition = PROTOCOLS[protocol]
    if not definition.values:
        raise Refusal(f"{definition.title} is computed; it is not labelled.", "Choose another to label by.")
    if project.from_task and not handed_out(project, protocol):
        raise Refusal(f"{definition.title} is not part of this task.", "Label what was handed out with it.")
    return definition


def handed_out(project: Project, protocol: str) -> bool:
    """Whether the person working labels by a protocol as assigned work, to be submitted."""
    with project.store.read() as db:
        return is_handed_out(db, people.someone(project).id, protocol)


def scale_of(protocol: str) -> Scale:
    """The values of a protocol; none for an unknown one, as in a file of a later version."""
    known = PROTOCOLS.get(protocol)
    return known.scale if known else NO_VALUES


def presentation_of(protocol: str) -> Presentation:
    return PROTOCOLS[protocol].presentation


def judged_by(protocol: str) -> Kind | None:
    """The kind of gold by which reports are labelled, if nothing else is needed; otherwise None."""
    definition = PROTOCOLS[protocol]
    return None if definition.parts else definition.unit_kind


def cases_of(project: Project, protocol: Protocol, material: Material, person_id: str = "") -> list[Case]:
    """The cases a person is asked of a response: each pair in the one order chosen for them, or in both if so set."""
    cases = list(protocol.cases(material))
    if not protocol.paired or both_orders(project, protocol.name):
        return cases
    me = person_id or people.someone(project).id
    return [case for case in cases if comes_first(me, case)]


def labelled(project: Project | None = None) -> list[str]:
    """The names of the protocols that people can label by, in a project or in any."""
    used = profile.protocols(project) if project else PROTOCOLS
    return [name for name, protocol in used.items() if protocol.values]


def paired(project: Project | None = None) -> list[tuple[str, str]]:
    """The names and titles of the protocols of pairs, in a project or in any."""
    used = profile.protocols(project) if project else PROTOCOLS
    return [(protocol.name, protocol.title) for protocol in used.values() if protocol.paired]


def both_orders(project: Project, protocol: str) -> bool:
    """Whether people are asked every pair in both orders; otherwise one verdict stands for both."""
    return protocol in project.get(BOTH_ORDERS, [])


@people.for_coordinators("can decide how often a pair is labelled")
def ask_both_orders(project: Project, protocol: str, wished: bool) -> Change:
    """Ask people every pair in both orders from now on, or in one; existing labels stay."""
    before = sorted(project.get(BOTH_ORDERS, []))
    after = sorted({*before, protocol} if wished else {*before} - {protocol})
    return change_setting(project, BOTH_ORDERS, "ask pairs in both orders", before, after)


def sampling(project: Project, protocol: str) -> dict[str, Any]:
    """How pairs were sampled for a protocol: `seed` and `pairs`; empty if every pair is asked."""
    return dict(project.get(materials.PAIRS, {}).get(protocol, {}))


def can_draw(protocol: str) -> bool:
    """Whether pairs can be sampled for a protocol: it compares systems' reports with each other."""
    return PROTOCOLS[protocol].paired and not PROTOCOLS[protocol].exemplar


@people.for_coordinators("can draw the pairs that are compared")
def draw_pairs(project: Project, protocol: str, many: int, seed: int = 1) -> Change:
    """Ask people and judges about `many` pairs from now on, sampled at random over all items; about all for 0.

    Verdicts on other pairs stay. Only the first trial of each system takes part.
    """
    if not can_draw(protocol) or many < 0:
        raise Refusal("No pairs can be drawn for this.", "Name a protocol of pairs, and 1 pair or more.")
    r, other = RESPONSE.alias(), RESPONSE.alias()
    pair = r.c.item_id == other.c.item_id, r.c.mode == other.c.mode, r.c.trial == 1, other.c.trial == 1
    question = (
        select(r.c.id, other.c.id, ITEM.c.key, r.c.mode, r.c.system_id, other.c.system_id)
        .join(other, and_(*pair, r.c.system_id < other.c.system_id))
        .join(ITEM, ITEM.c.id == r.c.item_id)
        .where(ITEM.c.retired.is_(False), items.ANSWERED)
    )
    with project.store.write() as db:
        names = dict(db.execute(select(SYSTEM.c.id, SYSTEM.c.name)).all())
        result = sorted(
            (key, mode, *sorted(((names[x], a), (names[y], b))))
            for a, b, key, mode, x, y in db.execute(question)
        )
        chosen = Random(seed).sample(result, min(many, len(result)))
        pairs = [[first[1], second[1]] for _, _, first, second in chosen]
        before = project.get(materials.PAIRS, {})
        after = {
            **{name: of for name, of in before.items() if name != protocol},
            **({protocol: {"seed": seed, "pairs": pairs}} if many else {}),
        }
        return change_setting(project, materials.PAIRS, "draw pairs", before, after)


def values_of(protocol: Protocol, case: Case) -> tuple[str, ...]:
    return case.allowed or protocol.values


def beside(case: Case) -> list[str]:
    """The texts that a unit is compared with, such as a plan's other sub-task; without the text to be read."""
    read = (*PAGE_FIELDS, presentation_of(case.protocol).text)
    return [words for name, words in case.given.items() if name not in read]


def text_of(case: Case) -> str:
    return case.given.get(presentation_of(case.protocol).text) or case.response.text


def flags_of(case: Case) -> str:
    """The flag of every judgement of a case: the state of a page that could not be read."""
    return f"page_{case.given[PAGE_STATE]}" if PAGE_STATE in case.given else ""


def walk(project: Project, protocol: Protocol, ids: Sequence[str] = ()) -> Iterator[materials.MaterialAtHand]:
    """The material that people can be asked about, item by item, without the texts of reports and pages.

    Leaves out items whose gold the person may not see yet because they are still writing their own.
    """
    hidden = withheld(project, protocol)
    chosen = [one for one in ids or materials.item_ids(project) if one not in hidden]
    return materials.each(project, materials.for_asking(protocol), chosen)


def withheld(project: Project, protocol: Protocol) -> set[str]:
    me = people.someone(project).id
    with project.store.read() as db:
        return {item_id for kind in protocol.needs for item_id in annotating.withheld(db, me, kind)}


def of_report(
    project: Project, protocol: Protocol, response_id: str, wanted_material: materials.MaterialRequest
) -> list[Case]:
    """The cases the person working is asked about one report; none if it is withheld."""
    material = materials.of_response(project, wanted_material, response_id)
    if material is None or material.item.id in withheld(project, protocol):
        return []
    return cases_of(project, protocol, material)


def in_order(labels: Labels) -> Labels:
    """The labels with each pair in the same order for everybody; a pair asked both ways stays as it is."""
    return labels.model_copy(
        update={"units": tuple(_turned(labels.units, lambda label: min(label.response_id, label.unit_id)))}
    )


def as_dealt(labels: Iterable[Label], person_id: str) -> list[Label]:
    """The labels with each pair in the order in which a person is asked about it."""
    return _turned(
        list(labels),
        lambda label: shown_first(person_id, label.protocol, label.response_id, label.unit_id),
    )


def _turned(units: Iterable[Label], first: Callable[[Label], str]) -> list[Label]:
    listed = list(units)
    present = {label.id for label in listed}
    return [
        _mirrored(label)
        if label.protocol in PROTOCOLS
        and PROTOCOLS[label.protocol].paired
        and first(label) != label.response_id
        and _mirrored(label).id not in present
        else label
        for label in listed
    ]


def _mirrored(label: Label) -> Label:
    value = PROTOCOLS[label.protocol].scale.mirrored.get(label.value, label.value)
    about = {"response_id": label.unit_id, "unit_id": label.response_id, "value": value}
    return label.model_copy(
        update={**about, "id": label_id(label.protocol, about["response_id"], about["unit_id"])}
    )


# Names of what may be missing, besides kinds of artifact and, after EXTRACT_PREFIX, parts of a report.
ITEMS, ASSIGNMENTS, RESPONSES, RIVALS, WRITING = "items", "assignments", "responses", "rivals", "writing"
CITATIONS, PAGES, NO_QUESTION = "citations", "pages", "nothing asked"
EXTRACT_PREFIX = "drawn "


def offered(project: Project) -> list[str]:
    """The protocols with something to label by: gold, extracted parts or pairs.

    Always includes those that are submitted; in a project made from a task, only what was handed out.
    """
    if project.from_task:
        with project.store.read() as db:
            of_items = protocols_by_item(db, people.someone(project).id).values()
        return [name for name in PROTOCOLS if any(name in of_item for of_item in of_items)] or list(TO_SUBMIT)
    has_material = _has_material(project)
    return [
        name
        for name, protocol in profile.protocols(project).items()
        if protocol.values and (protocol.submitted or has_material(protocol))
    ]


def usual(project: Project) -> str:
    """The protocol used if none is named: of those that judges use, the first that fits best.

    One by which a judge has judged here fits best, then one by which people have labelled, then one for which gold or
    extracted parts exist.
    """
    used = profile.protocols(project)
    protocols = [protocol for protocol in used.values() if protocol.values and not protocol.by_people]
    with project.store.read() as db:
        for raters in (JUDGE, PERSON):
            own = (JUDGEMENT.c.rater_id == raters.c.id) & (JUDGEMENT.c.protocol == bindparam("name"))
            question = select(exists().where(own))
            for protocol in protocols:
                if db.execute(question, {"name": protocol.name}).scalar():
                    return protocol.name
    first = protocols[0].name if protocols and USUAL not in used else USUAL
    return next((protocol.name for protocol in filter(_has_material(project), protocols)), first)


def _has_material(project: Project) -> Callable[[Protocol], bool]:
    settled = (ARTIFACT.c.state != State.DRAFT.value) | (ARTIFACT.c.author_id == "")
    clause, other = RESPONSE.alias("one"), RESPONSE.alias("other")
    rivals = exists().where(
        clause.c.item_id == other.c.item_id,
        clause.c.system_id != other.c.system_id,
        clause.c.item_id.not_in(items.SOURCES_ONLY),
    )
    with project.store.read() as db:
        kinds = set(db.execute(select(ARTIFACT.c.kind).where(settled).distinct()).scalars())
        parts = set(
            db.execute(
                select(EXTRACT.c.kind)
                .where(EXTRACT.c.response_id != "", EXTRACT.c.item_id.not_in(items.SOURCES_ONLY))
                .distinct()
            ).scalars()
        )
        pairs = bool(db.execute(select(rivals)).scalar())
        exemplars = bool(db.execute(select(exists().where(RESPONSE.c.mode == EXEMPLAR))).scalar())

    def has_material(protocol: Protocol) -> bool:
        own = [kind in kinds for kind in protocol.needs] + [part.value in parts for part in protocol.parts]
        if protocol.exemplar and not exemplars:
            return False
        return pairs if protocol.paired else any(own)

    return has_material


def gaps(protocol: Protocol, report_cases: Iterable[tuple[Material, Sequence[Case]]]) -> tuple[str, ...]:
    """Sentences on what cannot be asked although the rest can; `report_cases` are the reports with their cases."""
    settled = [
        (material, cases)
        for material, cases in report_cases
        if all(material.units(kind) for kind in protocol.needs)
        and (not protocol.mode or protocol.mode == material.response.mode)
    ]
    sentences, reports, shown = list[str](), counted(len(settled), "report"), protocol.presentation
    for part in protocol.parts:
        if unextracted := sum(part not in material.parts for material, _ in settled):
            sentences.append(f"No {part.extraction} from {unextracted:,} of {reports} yet.")
    if waiting := sum(
        _unasked([*_cited(protocol, material), *_gold(protocol, material)], cases)
        for material, cases in settled
    ):
        sentences.append(f"{shown.counted(waiting)} cannot be labelled: {shown.waits}.")
    return tuple(sentences)


def _cited(protocol: Protocol, material: Material) -> list[Unit]:
    return (
        [claim for claim in material.units(ResponsePart.CLAIMS) if claim.url]
        if ResponsePart.CLAIMS in protocol.parts
        else []
    )


def _gold(protocol: Protocol, material: Material) -> Sequence[Unit]:
    """The units of the gold if each is asked about on its own."""
    units = (
        material.units(protocol.unit_kind) if protocol.unit_kind is not None and not protocol.parts else ()
    )
    return [unit for unit in units if getattr(unit, "counts", True)]


def _unasked(units: Iterable[Unit], cases: Sequence[Case]) -> int:
    unit_ids = {unit.id for case in cases for unit in case.units}
    return sum(unit.id not in unit_ids for unit in units)


def lack(project: Project, protocol: Protocol) -> str:
    """What must exist before anything can be asked under a protocol; empty if something can."""
    result = list(
        materials.each(project, materials.for_asking(protocol), materials.item_ids(project, answered=True))
    )
    reports = [material for hand in result for material in hand.responses]
    if not reports:
        return RESPONSES if result else ITEMS
    for kind in protocol.needs:
        reports = [material for material in reports if material.units(kind)]
        if not reports:
            return kind.value
    hidden = withheld(project, protocol)
    open_ = [material for material in reports if material.item.id not in hidden]
    if not open_:
        return WRITING
    return "" if any(cases_of(project, protocol, one) for one in open_) else _of_parts(protocol, open_)


def _of_parts(protocol: Protocol, reports: list[Material]) -> str:
    if protocol.paired:
        return NO_QUESTION if protocol.exemplar else RIVALS
    for part in protocol.parts:
        if not any(material.units(part) for material in reports):
            return f"{EXTRACT_PREFIX}{part}"
    if ResponsePart.CLAIMS not in protocol.parts:
        return NO_QUESTION
    return PAGES if any(_cited(protocol, material) for material in reports) else CITATIONS


def guide(project: Project, protocol: str) -> str:
    """The guideline in Markdown: the protocol's own or, for a submitted protocol without one, the project's."""
    path = places.resources() / "guidelines" / "labelling" / f"{protocol}.md"
    if path.is_file():
        return path.read_text("utf-8")
    return settings.text_in_force(project, Stage.LABELLING) if protocol in TO_SUBMIT else ""


# The reports that people label, without those of items that systems do not answer.
LABELLED = select(RESPONSE.c.item_id, RESPONSE.c.id).where(
    RESPONSE.c.mode != CONTINUATION, RESPONSE.c.item_id.not_in(items.SOURCES_ONLY)
)


def labelled_by(protocol: str) -> Kind:
    """The kind of artifact whose units are labelled under a protocol; raises Refusal if they are not an artifact's."""
    return required(
        PROTOCOLS[protocol].unit_kind,
        f"{PROTOCOLS[protocol].title} is not labelled unit by unit.",
        "Choose another protocol to label by.",
    )


def labelled_kinds() -> list[Kind]:
    return sorted({protocol.unit_kind for protocol in PROTOCOLS.values() if protocol.unit_kind is not None})


def judged_units(db: Connection, kind: Kind, items: Iterable[str] | None = None) -> dict[str, dict[str, str]]:
    return {
        item_id: {unit["id"]: unit["text"] for unit in orjson.loads(row.content)["units"]}
        for item_id, row in annotating.judged_rows(db, kind, items).items()
    }


def written_units(db: Connection, item_id: str) -> dict[str, str]:
    """The ids and newest texts of all units by which an item's reports were ever judged, whoever wrote them."""
    contents = [
        *db.execute(
            select(EXTRACT.c.content).where(
                EXTRACT.c.item_id == item_id,
                EXTRACT.c.kind == Kind.RUBRIC.value,
                EXTRACT.c.origin.startswith(by_set("")),
            )
        ).scalars(),
        *db.execute(
            select(REVISION.c.content)
            .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
            .where(ARTIFACT.c.item_id == item_id, ARTIFACT.c.kind.in_(labelled_kinds()))
            .order_by(REVISION.c.number)
        ).scalars(),
    ]
    return {unit["id"]: unit["text"] for content in contents for unit in orjson.loads(content)["units"]}


def reports(db: Connection, items: Iterable[str] | None = None) -> defaultdict[str, list[str]]:
    """Item → the ids of its reports, without items that systems do not answer."""
    question = LABELLED if items is None else LABELLED.where(RESPONSE.c.item_id.in_(items))
    return defaultdict(list, grouped((row.item_id, row.id) for row in db.execute(question)))


def protocols_by_item(db: Connection, person_id: str) -> dict[str, tuple[str, ...]]:
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.protocols).where(
        ASSIGNMENT.c.person_id == person_id,
        ASSIGNMENT.c.stage == Stage.LABELLING.value,
        ASSIGNMENT.c.trial == 1,
    )
    return {item_id: assigned_protocols(protocols) for item_id, protocols in db.execute(question)}


def is_handed_out(db: Connection, person_id: str, protocol: str) -> bool:
    """Whether a person labels by a protocol as assigned work, to be submitted."""
    return protocol in TO_SUBMIT or any(protocol in one for one in protocols_by_item(db, person_id).values())


def reports_for(
    db: Connection, person_id: str, items: Iterable[str] | None = None, protocol: str = USUAL
) -> defaultdict[str, list[str]]:
    """Item → the ids of the reports that a person is to label: for a validation set, those sampled."""
    result, sampled = reports(db, items), narrowed(db, person_id, protocol)
    for item_id in result.keys() & sampled.keys():
        result[item_id] = [response_id for response_id in result[item_id] if response_id in sampled[item_id]]
    return result


def narrowed(db: Connection, person_id: str, protocol: str = USUAL) -> dict[str, set[str]]:
    """Item → the reports that a person labels, for items of which they label only some, for validation sets.

    Empty for pairs, as each report may be paired with any.
    """
    result: defaultdict[str, set[str]] = defaultdict(set)
    if PROTOCOLS[protocol].paired:
        return {}
    validation_sets = select(VALIDATION_SET.c.content).where(VALIDATION_SET.c.protocol == protocol)
    contents = [orjson.loads(text) for text in db.execute(validation_sets).scalars()]
    raters = labelling(db, person_id, protocol) if contents else {}
    for content in contents:
        dealt = content.get("dealt", {})
        items = {item for item, people in content.get("narrowed", {}).items() if person_id in people}
        items |= {
            item for item in raters.keys() & dealt.keys() if replaces(person_id, dealt[item], raters[item])
        }
        for one in content.get("responses", ()) if items else ():
            if one["item_id"] in items:
                result[one["item_id"]].add(one["response_id"])
    return dict(result)


def labelling(db: Connection, person_id: str = "", protocol: str = USUAL) -> dict[str, set[str]]:
    """Item → the people asked to label it; with `person_id`, only the items that this person is asked to label."""
    labels = (ASSIGNMENT.c.stage == Stage.LABELLING.value, ASSIGNMENT.c.trial == 1)
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id, ASSIGNMENT.c.protocols).where(*labels)
    if person_id:
        mine = select(ASSIGNMENT.c.item_id).where(*labels, ASSIGNMENT.c.person_id == person_id)
        question = question.where(ASSIGNMENT.c.item_id.in_(mine))
    asked = grouped(
        (item_id, person)
        for item_id, person, protocols in db.execute(question)
        if protocol in assigned_protocols(protocols)
    )
    return {item_id: set(who) for item_id, who in asked.items()}


def replaces(person_id: str, dealt: Iterable[str], raters: AbstractSet[str]) -> bool:
    """Whether this person now labels an item in place of someone to whom the validation set assigned it."""
    dealt = set(dealt)
    return person_id in raters - dealt and not dealt <= raters


def dealt(reports: Iterable[str], person_id: str) -> dict[str, str]:
    """An item's reports in an order of this person's own, each with its name: “Report A”, “Report B” …

    The order depends only on the person and the reports, so a report added later does not reshuffle the rest.
    """
    order = sorted(reports, key=lambda response_id: sha256(f"{person_id}/{response_id}"))
    return {
        response_id: f"Report {chr(ord('A') + place) if place < 26 else place + 1}"
        for place, response_id in enumerate(order)
    }


def together(one: str, other: str) -> str:
    """The name of two reports of an item: “Reports A and B”."""
    return f"Reports {one.removeprefix('Report ')} and {other.removeprefix('Report ')}"


def shuffled(pairs: "Iterable[Case]", person_id: str) -> "list[Case]":
    """Pairs in an order of this person's own; of one asked both ways, the chosen order comes long before the other."""
    return sorted(
        pairs,
        key=lambda case: (
            not comes_first(person_id, case),
            sha256("/".join([person_id, case.protocol, *sorted(_both(case))])),
        ),
    )


def comes_first(person_id: str, case: Case) -> bool:
    """Whether a pair stands in the order in which this person is asked about it: random, but always the same."""
    return shown_first(person_id, case.protocol, *_both(case)) == case.response.id


def shown_first(person_id: str, protocol: str, *pair: str) -> str:
    """The report of a pair that a person is shown first, if one order is asked."""
    first, second = sorted(pair)
    toss = int(sha256("/".join([person_id, protocol, first, second, "toss"]))[:8], 16) % 2
    return second if toss else first


def _both(case: Case) -> tuple[str, str]:
    return case.response.id, case.unit.id
