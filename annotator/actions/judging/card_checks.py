"""Validity cards compared with a project: differences in the judge, and what they rule out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from annotator import __version__
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_identities
from annotator.actions.labelling import label_cases
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Asking, Judge, JudgeKind
from annotator.domain.judges.validity_card import SEEN, Difference, Identity, ValidityCard, differences
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS

# The setting that holds what judges are bound to: judge's id and protocol → the pinned part of a card.
SETTING = "cards"


@dataclass(frozen=True, slots=True)
class CardComparison:
    """A card compared with a judge of the project; `judge` is empty where none matches.

    `remarks` are differences that do not make it another judge, and what cannot be known yet.
    """

    card: ValidityCard
    judge: str
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the card speaks of that judge as it is now."""
        return bool(self.judge) and not self.differences

    def words(self) -> list[str]:
        said = [_verdict(self), *(one.words() for one in self.differences), *self.remarks]
        return said if self.judge else [*said, to_define(self.card)]


@dataclass(frozen=True, slots=True)
class BoundCard:
    """The card that a judge of the project is bound to: its basis, date and hash."""

    judge_id: str
    protocol: str
    name: str
    made_at: datetime
    sha256: str
    pinned: Identity


def check(project: Project, card: ValidityCard, name: str = "") -> CardComparison:
    """The card beside the judge of that name; without one, beside the judge of this project that it is most like."""
    if card.judge.protocol not in PROTOCOLS:
        raise Refusal(
            f"The card is about “{card.judge.protocol}”, a protocol that this Goldsmith does not know.",
            "Use the version that the card names.",
        )
    shape = label_cases.shape_of(project, card.judge.protocol)
    there = [_asked_as(card, judges.named(project, name))] if name else _candidates(project, card)
    found = [
        (differences(card.judge, now), place, judge, now)
        for place, judge in enumerate(there)
        for now in [judge_identities.as_now(project, judge, shape)]
    ]
    if not found:
        return CardComparison(card, "", (), ())
    differing, _, judge, now = min(found, key=lambda one: (len(one[0]), one[1]))
    return CardComparison(card, judge.name, differing, tuple(_remarks(card, judge, now)))


def refuse_order(project: Project, card: ValidityCard, order: RunRequest) -> None:
    """Refusal unless the judge of an order, as it would be asked now, is the one of the card. No call is made."""
    judge = derived_judges.asked(project, order)
    shape = judge_cases.shape_of(order.protocol)
    _refuse(judge.name, card.name, differences(card.judge, judge_identities.as_now(project, judge, shape)))


def refuse_verdicts(project: Project, card: ValidityCard, name: str, protocol: str) -> None:
    """Refusal unless a judge's verdicts in this project were given by the judge of the card."""
    judge, shape = judges.named(project, name), judge_cases.shape_of(protocol)
    _refuse(judge.name, card.name, differences(card.judge, judge_identities.as_judged(project, judge, shape)))


def bind(project: Project, card: ValidityCard, name: str) -> Change:
    """From now on a judge judges only as its card says: a run by another model, prompt … is refused before any call.

    Refusal where it is not the judge of the card now.
    """
    people.refuse_others(project, "can bind a judge to a card")
    found = check(project, card, name)
    _refuse(found.judge, card.name, found.differences)
    judge = _asked_as(card, judges.named(project, name))
    kept = {
        "name": card.name, "made_at": card.made_at.isoformat(), "sha256": card.sha256,
        "pinned": card.judge.model_dump(mode="json"),
    }  # fmt: skip
    with project.store.write() as db:
        before = dict(project.get(SETTING, {}))
        project.set(SETTING, before | {_key(judge.id, card.judge.protocol): kept})
        after = {"card": card.sha256, "protocol": card.judge.protocol}
        return record(project, db, Change("judge", judge.id, "bind to card", None, after))


def define(project: Project, card: ValidityCard, base_url: str, name: str = "", key_env: str = "") -> Change:
    """Add the judge that a card is about, at an address that the card does not tell; by its own name unless given."""
    one = card.judge
    if one.kind != JudgeKind.ENDPOINT:
        raise Refusal(f"The card is about a {one.kind.value}, not a model.", "Add it on the Judges page.")
    if judge_identities.HIDDEN in str(one.parameters) or judge_identities.ADDRESS in str(one.parameters):
        raise Refusal(
            "A key or address was left out of the card's parameters.",
            "Add the judge by hand on the Judges page.",
        )
    asking = Asking(weights_shown=one.weights_shown).model_dump_json(exclude_defaults=True)
    return judges.add(
        project, name or card.name, base_url=base_url, model=one.model, key_env=key_env,
        parameters=canonical_json(one.parameters).decode(), asking=asking,
    )  # fmt: skip


def release(project: Project, judge_id: str, protocol: str) -> Change:
    """Let a judge run as it is set, whatever a card says; Refusal where it is bound to none."""
    people.refuse_others(project, "can release a judge from its card")
    known = dict(project.get(SETTING, {}))
    if known.pop(_key(judge_id, protocol), None) is None:
        raise Refusal("This judge is not bound to a card.", "Nothing was changed.")
    with project.store.write() as db:
        project.set(SETTING, known)
        after = {"card": "", "protocol": protocol}
        return record(project, db, Change("judge", judge_id, "release from card", None, after))


def bound(project: Project) -> list[BoundCard]:
    """The cards that judges are bound to."""
    found = []
    for key, kept in project.get(SETTING, {}).items():
        judge_id, _, protocol = key.partition("/")
        found.append(
            BoundCard(
                judge_id, protocol, kept["name"], datetime.fromisoformat(kept["made_at"]), kept["sha256"],
                Identity.model_validate(kept["pinned"]),
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (one.name, one.protocol))


def refuse_unbound(project: Project, judge: Judge, protocol: str) -> None:
    """Refusal where a judge is bound to a card under a protocol and is not as that says; nothing otherwise."""
    for one in bound(project):
        if (one.judge_id, one.protocol) == (judge.id, protocol):
            now = judge_identities.as_now(project, judge, judge_cases.shape_of(protocol))
            _refuse(judge.name, one.name, differences(one.pinned, now))


def refused_models(project: Project, judge: Judge, order: RunRequest) -> Callable[[str], str]:
    """What says why a model may not answer for a judge: a card, or the order, names those that may. “” when it may."""
    pinned = [
        one.pinned for one in bound(project) if (one.judge_id, one.protocol) == (judge.id, order.protocol)
    ]
    named = {*order.models, *(model for one in pinned for model in one.returned_models)}

    @cache
    def why(returned: str) -> str:
        shown = judge_identities.nameless(judge_identities.harmless(returned, judge))
        if not named or not returned or shown in named:
            return ""
        return f"The endpoint answered as “{shown}”; the card of “{judge.name}” is about {_listed(named)}."

    return why


def _listed(names: Iterable[str]) -> str:
    return " or ".join(f"“{name}”" for name in sorted(names))


def to_define(card: ValidityCard) -> str:
    """What judge must be there for the card to be of use, in a sentence."""
    one = card.judge
    if one.kind != JudgeKind.ENDPOINT:
        return f"The card is about a {'vote' if one.kind == JudgeKind.DERIVED else one.kind.value} that is not here."
    parameters = ", ".join(f"{name} {value}" for name, value in one.parameters.items()) or "no parameters"
    return f"Define a judge that asks for “{one.model}” with {parameters}; the card does not say at which address."


def _key(judge_id: str, protocol: str) -> str:
    return f"{judge_id}/{protocol}"


def _candidates(project: Project, card: ValidityCard) -> list[Judge]:
    """The judges that it could be about: of its kind, the one of its name first."""
    alike = [judge for judge in judges.all_of(project) if judge.kind == card.judge.kind]
    if card.judge.kind == JudgeKind.ENDPOINT:
        alike = [
            judge
            for judge in alike
            if judge.name == card.name
            or judge_identities.nameless(judge_identities.harmless(judge.model, judge)) == card.judge.model
        ]
    found = {judge.id: judge for judge in (*alike, *(_asked_as(card, judge) for judge in alike))}
    return sorted(found.values(), key=lambda judge: (judge.name != card.name, judge.name))


def _asked_as(card: ValidityCard, judge: Judge) -> Judge:
    """The judge, or the one that is made of it where the card is about several units in one call."""
    together = card.judge.together
    as_now = judge_cases.units_a_call(judge, card.judge.protocol)
    if judge.kind != JudgeKind.ENDPOINT or together == as_now or judge.asked.together > 1 or judge.asked.of:
        return judge
    return derived_judges.together(judge, together)


def _remarks(card: ValidityCard, judge: Judge, now: Identity) -> list[str]:
    said = []
    for part in SEEN:
        if getattr(card.judge, part) and not getattr(now, part):
            what = "which model answers" if part == "returned_models" else "in which form it answers"
            said.append(f"It is not known yet {what}: “{judge.name}” was not asked here.")
    reach = judge_identities.reach(judge)
    if reach != card.reach:
        said.append(
            f"Its endpoint is on {reach.value}, that of the card on {card.reach.value}: whether both serve "
            "the same model cannot be checked."
        )
    if card.app_version != __version__:
        said.append(f"The card was made with Goldsmith {card.app_version}; this is {__version__}.")
    if card.unfit:
        said.append(
            "By its own count the figures of this card are not publishable: too many verdicts are missing."
        )
    return sorted(said)


def _refuse(judge: str, card: str, found: tuple[Difference, ...]) -> None:
    if not found:
        return
    parts = ", ".join(one.part for one in found)
    raise Refusal(
        f"“{judge}” is not the judge of the card “{card}”: {parts}.",
        found[0].todo if len(found) == 1 else "No call was made.",
        tuple(one.words() for one in found),
    )


def _verdict(found: CardComparison) -> str:
    if not found.judge:
        return f"No judge of this project matches the card “{found.card.name}”."
    if found.differences:
        return f"“{found.judge}” differs from the card “{found.card.name}”."
    return f"The card “{found.card.name}” matches “{found.judge}”."
