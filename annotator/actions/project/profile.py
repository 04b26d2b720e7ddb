"""What a project uses: its profile, and what it holds beside it."""

from sqlalchemy import select

from annotator.actions.project import people
from annotator.actions.project.file import USES, Project, record
from annotator.domain.experts.adjudication import RECEIVED
from annotator.domain.experts.assignment import Purpose
from annotator.domain.kinds.artifact import Kind, Stage, State
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.domain.texts.canonical import Change
from annotator.protocols import PROTOCOLS
from annotator.protocols.profiles import CHOICES, USUAL, Profile, ProfileChoice, parsed
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, META, RUN

__all__ = ["CHOICES", "USUAL", "Profile", "ProfileChoice", "choose", "parsed", "parts", "profile"]


def parts() -> list[tuple[str, dict[str, str]]]:
    """What can be chosen one by one, in groups with a title: kinds of document, and protocols that need none."""
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


def profile(project: Project) -> Profile:
    """What the project uses: what was chosen for it, and whatever it holds.

    For a project of a version that asked no such question nothing was chosen; one that holds nothing has the usual.
    """
    chosen = project.get(USES)
    held = _held(project)
    if chosen is None:
        return held if held.kinds or held.protocols else parsed(USUAL)
    return parsed(chosen).with_(held.kinds, held.protocols)


def choose(project: Project, text: str) -> Change:
    """Use these from now on (see `profiles.parsed`); what the project holds stays in use."""
    people.refuse_others(project, "can decide what a project uses")
    chosen = parsed(text).text
    with project.store.write() as db:
        before = str(project.get(USES, ""))
        project.set(USES, chosen)
        return record(project, db, Change("setting", USES, "set what the project uses", before, chosen))


def _held(project: Project) -> Profile:
    with project.store.read() as db:
        kinds = {Kind(kind) for kind in db.execute(select(ARTIFACT.c.kind).distinct()).scalars()}
        asked = db.execute(select(ASSIGNMENT.c.stage, ASSIGNMENT.c.protocols).distinct()).all()
        protocols = {*db.execute(select(RUN.c.protocol).distinct()).scalars()}
    kinds |= {kind for stage, _ in asked if (kind := Stage(stage).kind)}
    protocols |= {name for _, names in asked for name in (names or "").split()}
    return Profile(frozenset(kinds - {Kind.LABELS}), frozenset(protocols))


def has_reviews(project: Project) -> bool:
    """Whether drafts are reviewed in this project, by the person working or of theirs."""
    question = select(ASSIGNMENT.c.id).where(ASSIGNMENT.c.purpose == Purpose.REVIEW.value).limit(1)
    return bool(project.query(question).all())


def has_settled(project: Project) -> bool:
    """Whether a document of the person working has gone into a consensus, or came back with one."""
    own = select(ARTIFACT.c.item_id).where(
        ARTIFACT.c.author_id == project.by, ARTIFACT.c.sealed_at.is_not(None)
    )
    settled = select(ARTIFACT.c.id).where(
        ARTIFACT.c.state == State.CONSENSUS.value, ARTIFACT.c.item_id.in_(own)
    )
    received = select(META.c.key).where(META.c.key.startswith(RECEIVED, autoescape=True)).limit(1)
    return bool(project.query(settled.limit(1)).all() or project.query(received).all())
