"""A project's profile: what it uses, chosen or because it holds it."""

from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, func, select, union

from annotator.actions.project import people
from annotator.actions.project.file import USES, Project, cached, change_setting
from annotator.domain.common import Change
from annotator.domain.kinds.kind import FOLLOWS, ItemRole, Kind, Stage, State
from annotator.domain.stored import Purpose
from annotator.protocols import EXTRACTIONS, PROTOCOLS, profiles
from annotator.protocols.profiles import CHOICES, USUAL, Profile, ProfileChoice, parsed
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, EXTRACT, JUDGE, JUDGEMENT, META, PERSON, RUN

if TYPE_CHECKING:
    from annotator.domain.judges.protocol import Extraction, Protocol

__all__ = ["CHOICES", "USUAL", "Profile", "ProfileChoice", "choose", "parsed", "parts", "profile"]


def parts() -> list[tuple[str, dict[str, str]]]:
    """The parts of a profile, in groups with a title: kinds of document, and protocols that need none."""
    from annotator.domain.kinds.documents import KINDS, WRITTEN

    groups: list[tuple[str, tuple[Kind, ...], tuple[str, ...]]] = [
        (choice.title, choice.kinds, choice.protocols) for choice in CHOICES
    ]
    named = {name for _, kinds, protocols in groups for name in (*kinds, *protocols)}
    others = tuple(kind for kind in WRITTEN if kind not in named)
    groups.append(("Others", others, tuple(name for name in PROTOCOLS if name not in named)))
    known = set[str]()
    result = []
    for title, kinds, protocols in groups:
        words = {kind.value: KINDS[kind].title for kind in kinds}
        words |= {name: PROTOCOLS[name].title for name in protocols if not PROTOCOLS[name].needs}
        result.append((title, {name: called for name, called in words.items() if name not in known}))
        known |= words.keys()
    return [(title, words) for title, words in result if words]


@cached
def profile(project: Project) -> Profile:
    """The profile: what was chosen for the project, plus everything it holds.

    A project from a version without profiles has no choice: if it holds nothing, it gets the usual profile.
    """
    held, text = _held(project), project.get(USES)
    if text is None:
        text = profiles.HELD if held.kinds or held.protocols else profiles.USUAL
    chosen = parsed(text)
    return chosen.with_(held.kinds, held.protocols, held.bring - chosen.kinds)


def kinds(project: Project, role: ItemRole = ItemRole.QUESTION) -> tuple[Kind, ...]:
    """The kinds of document that experts write here for an item of that role, in the order of the work.

    All kinds written for that role if none of them is in use.
    """
    from annotator.domain.kinds.documents import WRITTEN

    used = profile(project).kinds & FOLLOWS[role].kinds or FOLLOWS[role].kinds
    return tuple(kind for kind in WRITTEN if kind in used)


def stages(project: Project) -> tuple[Stage, ...]:
    """The stages in which annotators work here, in the order of the work."""
    used = profile(project).kinds | {Kind.LABELS}
    return tuple(stage for stage in Stage if stage.kind in used)


def protocols(project: Project) -> "dict[str, Protocol]":
    """The protocols by which reports are labelled and judged here, by name."""
    used = profile(project)
    return {name: protocol for name, protocol in PROTOCOLS.items() if used.judges(name)}


def extractions(project: Project) -> "dict[str, Extraction]":
    """What models extract here, by name: the documents of the project, and the parts its protocols judge by."""
    used = profile(project)
    made = {*used.kinds, *(part for protocol in protocols(project).values() for part in protocol.parts)}
    return {
        name: extraction
        for name, extraction in EXTRACTIONS.items()
        if extraction.makes in made or name in used.protocols
    }


@people.for_coordinators("can decide what a project uses")
def choose(project: Project, text: str) -> Change:
    """Set the profile (see `profiles.parsed`); what the project holds stays in use."""
    before = str(project.get(USES, ""))
    return change_setting(project, USES, "set what the project uses", before, parsed(text).text)


def _held(project: Project) -> Profile:
    with project.store.read() as db:
        kinds = {Kind(kind) for kind in db.execute(select(ARTIFACT.c.kind).distinct()).scalars()}
        rows = db.execute(select(ASSIGNMENT.c.stage, ASSIGNMENT.c.protocols).distinct()).all()
        protocols = {*db.execute(select(RUN.c.protocol).distinct()).scalars()}
        protocols |= {*db.execute(_judged()).scalars()}
        parts = {*db.execute(select(EXTRACT.c.kind).distinct()).scalars()}
    kinds |= {kind for stage, _ in rows if (kind := Stage(stage).kind)}
    protocols |= {name for _, names in rows for name in (names or "").split()}
    kinds -= {Kind.LABELS}
    return Profile(frozenset(kinds), frozenset(protocols), bring=frozenset(kinds | parts))


def _judged() -> Select[Any]:
    """Protocols with judgements, by skip scan: each rater's first, then the next, not reading every judgement."""
    own, first = union(select(PERSON.c.id), select(JUDGE.c.id)).subquery(), func.min(JUDGEMENT.c.protocol)
    least = select(first).where(JUDGEMENT.c.rater_id == own.c.id).scalar_subquery()
    seen = select(own.c.id, least.label("protocol")).cte(recursive=True)
    after = (JUDGEMENT.c.rater_id == seen.c.id) & (JUDGEMENT.c.protocol > seen.c.protocol)
    more = select(first).where(after).scalar_subquery()
    seen = seen.union_all(select(seen.c.id, more).where(seen.c.protocol.is_not(None)))
    return select(seen.c.protocol).where(seen.c.protocol.is_not(None)).distinct()


def has_reviews(project: Project) -> bool:
    """Whether this project has an assignment to review drafts."""
    question = select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.purpose == Purpose.REVIEW.value).limit(1)
    return bool(project.query(question).all())


def assigned_stages(project: Project) -> set[Stage]:
    """The stages assigned to the person working, of any item."""
    question = select(ASSIGNMENT.c.stage).where(ASSIGNMENT.c.person_id == project.by)
    return {Stage(stage) for stage in project.query(question.distinct()).scalars()}


def has_settled(project: Project) -> bool:
    """Whether a sealed document of the person working has led to a consensus, or a consensus was received for it."""
    from annotator.domain.experts.assignment import RECEIVED

    own = select(ARTIFACT.c.item_id).where(
        ARTIFACT.c.author_id == project.by, ARTIFACT.c.sealed_at.is_not(None)
    )
    settled = select(ARTIFACT.c.id).where(
        ARTIFACT.c.state == State.CONSENSUS.value, ARTIFACT.c.item_id.in_(own)
    )
    received = select(META.c.key).where(META.c.key.startswith(RECEIVED, autoescape=True)).limit(1)
    return bool(project.query(settled.limit(1)).all() or project.query(received).all())
