"""By whose gold reports are scored, and whether what several wrote counts before it is adjudicated."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating, draft_provenance
from annotator.actions.authoring.annotating import AWAITED as AWAITED
from annotator.actions.authoring.annotating import UNADJUDICATED as UNADJUDICATED
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM, JUDGE, PERSON

REVIEWED = "draft reviewed, not blind"
CONSENSUS, IMPORTED, LEFT_OUT = "consensus", "imported", "left out: written by several, not adjudicated"
FIRST_ALIAS = "the document that scored first, else that of the first alias"
AGAIN = "what was submitted counts until it is submitted again"
TAKES_SCORES = "takes the item's scores away until both documents are adjudicated"
SECOND = f"submitting it {TAKES_SCORES}"
# Item → by whose gold of a kind it is scored.
Whose = dict[str, str]


def unadjudicated_counts(project: Project) -> bool:
    """Whether what several wrote of an item scores before it is adjudicated, by one of them (`FIRST_ALIAS`)."""
    return bool(project.get(UNADJUDICATED, False))


def count_unadjudicated(project: Project, wished: bool) -> Change:
    """Say whether what several wrote scores before it is adjudicated; each figure then names whose it is."""
    people.refuse_others(project, "can decide whose gold counts")
    before = unadjudicated_counts(project)
    with project.store.write() as db:
        project.set(UNADJUDICATED, wished)
        return record(
            project, db, Change("setting", UNADJUDICATED, "count unadjudicated gold", before, wished)
        )


def whose(db: Connection, kind: Kind) -> Whose:
    """Item by item, by whose document of a kind it is scored, or that it is left out until it is adjudicated."""
    aliases = dict(db.execute(select(PERSON.c.id, PERSON.c.alias)).all())
    doubles, reviews = annotating.doubles(db, kind), annotating.reviews(db, kind)
    found = {}
    named = annotating.set_in_force(db) if kind is Kind.RUBRIC else ""
    for item_id, row in annotating.judged_rows(db, kind).items():
        alias = aliases.get(row.author_id, row.author_id)
        if named:
            found[item_id] = f"rubric set “{named}”"
        elif row.state == State.CONSENSUS.value:
            found[item_id] = REVIEWED if (item_id, row.author_id) in reviews else CONSENSUS
        elif not row.author_id:
            found[item_id] = IMPORTED
        else:
            found[item_id] = f"{alias}, not adjudicated" if item_id in doubles else f"{alias} alone"
    left = set() if named else annotating.sealed_of_several(db, kind) - found.keys()
    return found | dict.fromkeys(left, LEFT_OUT)


def words(
    db: Connection,
    kinds: Iterable[Kind],
    items: Iterable[str] = (),
    *,
    rater: str = "",
) -> str:
    """By whose gold of these kinds the items are scored, and what is left out; empty where there is none.

    Where a judge is the rater, it is also said how much of it that judge's own model drafted.
    """
    wanted = set(items)
    used = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
    said = []
    for kind in kinds:
        of_items: defaultdict[str, int] = defaultdict(int)
        for item_id, who in whose(db, kind).items():
            if item_id in used and (who == LEFT_OUT or not wanted or item_id in wanted):
                of_items[who] += 1
        counts = Counter(of_items).most_common()
        if counts:
            told = "; ".join(f"{who} ({counted(n, 'item')})" for who, n in sorted(counts, key=_place))
            said.append(f"{KINDS[kind].title}: {told}")
            said += _own(db, kind, rater) if rater else ()
    return ". ".join(said)


def _own(db: Connection, kind: Kind, judge_id: str) -> Iterator[str]:
    """How many units of the gold were taken from drafts of the model that judges by them, if any were."""
    model = db.execute(select(JUDGE.c.model).where(JUDGE.c.id == judge_id)).scalar()
    if not model:
        return
    drafts = draft_provenance.with_consensus(db)
    theirs = {unit for of in drafts.values() for unit, source in of.items() if source.model == model}
    if not theirs:
        return
    rows = annotating.judged_rows(db, kind).values()
    own = sum(unit.id in theirs for row in rows for unit in artifact_of(row).document.units)
    if own:
        yield f"{counted(own, KINDS[kind].unit, KINDS[kind].units)} drafted by the judge's own model, {model}"


def alone(project: Project, kind: Kind, items: Iterable[str]) -> Whose:
    """Item → who alone wrote the gold that scores it, so that a second author takes its scores away."""
    if unadjudicated_counts(project) or not any(kind in protocol.needs for protocol in PROTOCOLS.values()):
        return {}
    with project.store.read() as db:
        rows = annotating.judged_rows(db, kind, items)
    return {
        item_id: row.author_id
        for item_id, row in rows.items()
        if row.author_id and row.state != State.CONSENSUS.value
    }


def consequence(project: Project, artifact: Artifact) -> str:
    """What submitting an open document changes in its item's scores; empty where nothing scored the item before."""
    if artifact.state is not State.CONSENSUS and not artifact.sealed_at:
        second = is_second(project, artifact.kind, artifact.item_id, artifact.author_id)
        return SECOND if second else ""
    return AGAIN


def is_second(project: Project, kind: Kind, item_id: str, author_id: str) -> bool:
    """Whether a document of this author takes an item's scores away, because somebody else's alone gives them."""
    return alone(project, kind, [item_id]).get(item_id, author_id) != author_id


def awaited(db: Connection) -> dict[str, list[str]]:
    """Kind → the items of which one document is sealed, alone, and others are still to be written."""
    found = {}
    for kind in KINDS:
        if kind is not Kind.LABELS and (
            items := annotating.sealed_once(db, kind) & annotating.doubles(db, kind)
        ):
            found[kind.value] = sorted(items)
    return found


def _place(one: tuple[str, int]) -> tuple[int, int, str]:
    who, n = one
    order = {CONSENSUS: 0, IMPORTED: 1, LEFT_OUT: 3}
    return order.get(who, 2), -n, who
