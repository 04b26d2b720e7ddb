"""Questions to people about reports: a protocol's cases, pairs in an order of the person's own."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from sqlalchemy import and_, select

from annotator.actions.authoring import annotating
from annotator.actions.items import materials, roles
from annotator.actions.items.materials import PAIRS, MaterialAtHand, WantedMaterial
from annotator.actions.labelling import dealing
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.judges.presentation import Presentation
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.domain.judges.scale import NO_VALUES, Scale
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM

BOTH_ORDERS = "both_orders"
PAGE_STATE = "page_state"
# What a case of claims is given of its page.
PAGE_FIELDS = ("address", "page", PAGE_STATE, "page_cause")


def shape_of(project: Project, protocol: str) -> Protocol:
    """The protocol of that name; Refusal where people say nothing under it, or not in this project."""
    shape = PROTOCOLS[protocol]
    if not shape.values:
        raise Refusal(f"{shape.title} is computed; it is not labelled.", "Choose another to label by.")
    if project.from_task and not handed_out(project, protocol):
        raise Refusal(f"{shape.title} is not part of this task.", "Label what was handed out with it.")
    return shape


def handed_out(project: Project, protocol: str) -> bool:
    """Whether the person working labels by a protocol what was handed out to them, and submits it."""
    with project.store.read() as db:
        return dealing.is_handed_out(db, people.someone(project).id, protocol)


def scale_of(protocol: str) -> Scale:
    """The values of a protocol; none of one that is not known, as in a file of a later version."""
    known = PROTOCOLS.get(protocol)
    return known.scale if known else NO_VALUES


def presentation_of(protocol: str) -> Presentation:
    """What a protocol is called where people label by it."""
    return PROTOCOLS[protocol].presentation


def judged_by(protocol: str) -> Kind | None:
    """The gold that reports are labelled by, where that is all that it takes."""
    shape = PROTOCOLS[protocol]
    return None if shape.parts else shape.unit_kind


def asked(project: Project, shape: Protocol, material: Material, person_id: str = "") -> list[Case]:
    """What a person is asked of a response: of each pair the one order dealt to them, or both if wished."""
    cases = list(shape.cases(material))
    if not shape.paired or both_orders(project, shape.name):
        return cases
    me = person_id or people.someone(project).id
    return [case for case in cases if dealing.comes_first(me, case)]


def labelled() -> list[str]:
    """The protocols by which people can be asked to label."""
    return [name for name, shape in PROTOCOLS.items() if shape.values]


def paired() -> list[tuple[str, str]]:
    """The protocols by which two reports are compared with each other, each with its title."""
    return [(shape.name, shape.title) for shape in PROTOCOLS.values() if shape.paired]


def both_orders(project: Project, protocol: str) -> bool:
    """Whether people are asked every pair in both orders; otherwise one verdict stands for both."""
    return protocol in project.get(BOTH_ORDERS, [])


def ask_both_orders(project: Project, protocol: str, wished: bool) -> Change:
    """Have people asked every pair in both orders from now on, or in one; what they said stays."""
    people.refuse_others(project, "can decide how often a pair is labelled")
    before = sorted(project.get(BOTH_ORDERS, []))
    after = sorted({*before, protocol} if wished else {*before} - {protocol})
    with project.store.write() as db:
        project.set(BOTH_ORDERS, after)
        return record(project, db, Change("setting", BOTH_ORDERS, "ask pairs in both orders", before, after))


def drawn(project: Project, protocol: str) -> dict[str, Any]:
    """How pairs were drawn for a protocol: `seed` and `pairs`; empty where every pair is asked."""
    return dict(project.get(PAIRS, {}).get(protocol, {}))


def can_draw(protocol: str) -> bool:
    """Whether pairs can be drawn for a protocol: systems' reports are compared with each other."""
    return PROTOCOLS[protocol].paired and not PROTOCOLS[protocol].exemplar


def draw_pairs(project: Project, protocol: str, many: int, seed: int = 1) -> Change:
    """Ask people and judges about so many pairs from now on, drawn at random over all items; about all for 0.

    What was said of other pairs stays. Of several runs only the first takes part.
    """
    people.refuse_others(project, "can draw the pairs that are compared")
    if not can_draw(protocol) or many < 0:
        raise Refusal("No pairs can be drawn for this.", "Name a protocol of pairs, and 1 pair or more.")
    r, other = RESPONSE.alias(), RESPONSE.alias()
    pair = r.c.item_id == other.c.item_id, r.c.mode == other.c.mode, r.c.trial == 1, other.c.trial == 1
    question = (
        select(r.c.id, other.c.id, ITEM.c.key, r.c.mode, r.c.system_id, other.c.system_id)
        .join(other, and_(*pair, r.c.system_id < other.c.system_id))
        .join(ITEM, ITEM.c.id == r.c.item_id)
        .where(ITEM.c.retired.is_(False), roles.ANSWERED)
    )
    with project.store.write() as db:
        names = dict(db.execute(select(SYSTEM.c.id, SYSTEM.c.name)).all())
        found = sorted(
            (key, mode, *sorted(((names[x], a), (names[y], b))))
            for a, b, key, mode, x, y in db.execute(question)
        )
        chosen = Random(seed).sample(found, min(many, len(found)))
        pairs = [[first[1], second[1]] for _, _, first, second in chosen]
        before = project.get(PAIRS, {})
        after = {name: of for name, of in before.items() if name != protocol}
        after |= {protocol: {"seed": seed, "pairs": pairs}} if many else {}
        project.set(PAIRS, after)
        return record(project, db, Change("setting", PAIRS, "draw pairs", before, after))


def values_of(shape: Protocol, case: Case) -> tuple[str, ...]:
    return case.allowed or shape.values


def beside(case: Case) -> list[str]:
    """The words that a unit is compared with, such as a plan's other sub-task; what is read is none of them."""
    read = (*PAGE_FIELDS, presentation_of(case.protocol).text)
    return [words for name, words in case.given.items() if name not in read]


def text_of(case: Case) -> str:
    """What people read of a case: the report, or what is given in its place."""
    return case.given.get(presentation_of(case.protocol).text) or case.response.text


def flags_of(case: Case) -> str:
    """The mark of every judgement of a case: the state of a page that could not be read."""
    return f"page_{case.given[PAGE_STATE]}" if PAGE_STATE in case.given else ""


def walk(project: Project, shape: Protocol, ids: Sequence[str] = ()) -> Iterator[MaterialAtHand]:
    """Item by item what people can be asked about, without the words of reports and pages.

    An item is left out that the person may not see the gold of yet, as long as they write their own.
    """
    hidden = withheld(project, shape)
    chosen = [one for one in ids or materials.item_ids(project) if one not in hidden]
    return materials.each(project, materials.for_asking(shape), chosen)


def withheld(project: Project, shape: Protocol) -> set[str]:
    """The items whose gold this person may not see yet."""
    me = people.someone(project).id
    with project.store.read() as db:
        return {item_id for kind in shape.needs for item_id in annotating.withheld(db, me, kind)}


def of_report(project: Project, shape: Protocol, response_id: str, wanted: WantedMaterial) -> list[Case]:
    """What the person working is asked about one report; nothing where it is withheld."""
    material = materials.of_response(project, wanted, response_id)
    if material is None or material.item.id in withheld(project, shape):
        return []
    return asked(project, shape, material)
