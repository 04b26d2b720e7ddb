"""What a project uses: its profile, and what it holds beside it."""

from sqlalchemy import select

from annotator.actions.project import people
from annotator.actions.project.file import USES, Project, record
from annotator.domain.kinds.artifact import Kind, Stage
from annotator.domain.texts.canonical import Change
from annotator.protocols import profiles
from annotator.protocols.profiles import Profile
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, RUN


def profile(project: Project) -> Profile:
    """What the project uses: what was chosen for it, and whatever it holds.

    For a project of a version that asked no such question nothing was chosen; one that holds nothing has the usual.
    """
    chosen = project.get(USES)
    held = _held(project)
    if chosen is None:
        return held if held.kinds or held.protocols else profiles.parsed(profiles.USUAL)
    return profiles.parsed(chosen).with_(held.kinds, held.protocols)


def choose(project: Project, text: str) -> Change:
    """Use these from now on (see `profiles.parsed`); what the project holds stays in use."""
    people.refuse_others(project, "can decide what a project uses")
    chosen = profiles.parsed(text).text
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
