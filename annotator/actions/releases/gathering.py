"""From a project to release records: only what may leave is selected."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson
from sqlalchemy import ColumnElement, Connection, RowMapping, Subquery, Table, or_, select

from annotator.actions.agreement import assisting
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.items import extracts
from annotator.actions.items.materials import pages_at
from annotator.actions.judges import prompts
from annotator.actions.judging.derived_judges import harmless
from annotator.actions.labelling import label_rows
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.runs.judge_cases import ATTACK
from annotator.domain.common import counted, grouped
from annotator.domain.experts.adjudication import ConsensusVersion, Dispute
from annotator.domain.judges.judge import Asking, Judge, JudgeKind
from annotator.domain.judges.validation import Content
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import SET
from annotator.domain.stored import POOL, ContestFields
from annotator.domain.texts import identifier
from annotator.domain.texts.redaction import redact
from annotator.exchange.release import release
from annotator.exchange.release.bundle import Bundle, Spool, tally
from annotator.exchange.release.records import (
    AdjudicationRecord,
    AgreementRecord,
    ArtifactRecord,
    AssistedRecord,
    DecisionRecord,
    ExtractRecord,
    GuidelineRecord,
    InformedRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    LookRecord,
    MatchRecord,
    PageRecord,
    PersonRecord,
    PromptRecord,
    RatingRecord,
    ResponseRecord,
    RevisionRecord,
    RunRecord,
    SourceRecord,
    SystemRecord,
    ValidationSetRecord,
    WordingRecord,
    adjudication_record,
)
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import (
    ARTIFACT,
    CONSENSUS_VERSION,
    CONTEST,
    DISPUTE,
    EXTRACT,
    GUIDELINE,
    INFORMED,
    ITEM,
    JUDGE,
    JUDGEMENT,
    OPENING,
    PERSON,
    RESPONSE,
    REVISION,
    RUN,
    SOURCE,
    SYSTEM,
    VALIDATION_SET,
)


def gathered(project: Project) -> Bundle:
    """A bundle of the contest alone: matches of competing tasks, their ratings, and the decisions."""
    decided, known = contest_standings.decisions(project), contest_rows.raters(project)
    if not decided and not known:
        return Bundle()
    keys = {task.id: task.key for task in contest_rows.tasks(project)}
    names = {rater.id: rater.name for rater in known}
    rows = project.query(select(CONTEST).where(CONTEST.c.pool == POOL)).mappings().all()
    decisions = [
        DecisionRecord(
            task=keys[own], task_id=own, kept=one.kept, reason=one.reason, rank=one.rank, by=one.by, at=one.at,
            by_hand=one.by_hand,
        )
        for own, one in decided.items()
        if own in keys
    ]  # fmt: skip
    top = sum(decision.kept for decision in decisions) or contest_rows.usual_top(len(keys))
    rated = [rater for rater in (*known, *contest_rows.together(known)) if rater.showings and len(keys) > 1]
    return Bundle(
        matches=[_match(row, keys, names) for row in rows if {row["first"], row["second"]} <= keys.keys()],
        ratings=[rating for rater in rated for rating in _ratings(project, rater, keys, min(top, len(keys)))],
        decisions=decisions,
    )


def _match(row: RowMapping, keys: Mapping[str, str], names: Mapping[str, str]) -> MatchRecord:
    fields = {name: row[name] for name in ContestFields.model_fields if name != "call_id"}
    first, second = keys[row["first"]], keys[row["second"]]
    return MatchRecord(**fields, first_key=first, second_key=second, rater_name=names[row["rater"]])


def _ratings(
    project: Project, rater: contest_rows.ContestRater, keys: Mapping[str, str], top: int
) -> Iterator[RatingRecord]:
    from annotator.stats.ranking import standings

    played = contest_rows.played(contest_rows.meetings(project, rater.id, keys))
    for row in standings.ranking(keys, played, top).rows if played else ():
        yield RatingRecord(
            task=keys[row.id], task_id=row.id, rater=rater.name, rank=row.rank, elo=row.elo,
            bradley_terry=row.bradley_terry, low=row.low, high=row.high, p_top_k=row.p_top, k=top,
            certain=row.certain, matches=row.matches, note=row.note,
        )  # fmt: skip


def add(db: Connection, bundle: Bundle, *, page_texts: bool) -> None:
    """Add the extracts of released responses, and the pages they cite, whose texts only if requested.

    A model's drafts for one person stay, and so do extracts of items, on which no figure rests, except the rubrics of
    named sets and the common pools.
    """
    responses = {response.id for response in bundle.responses}
    items = {item.id for item in bundle.items}
    pools = EXTRACT.c.kind == ResponsePart.POOL.value
    condition = (EXTRACT.c.response_id != "") | EXTRACT.c.origin.like(f"{SET}%") | pools
    for row in db.execute(select(EXTRACT).where(condition).order_by(EXTRACT.c.id)).mappings():
        of = row["response_id"] in responses or (not row["response_id"] and row["item_id"] in items)
        if of and not extracts.is_personal(row["origin"]):
            fields = {name: row[name] for name in ExtractRecord.model_fields if name in row}
            fields |= {"flags": row["flags"].split(), "document": json.loads(row["content"])}
            bundle.extracts.append(ExtractRecord(**fields))
    pages = pages_at(db, set(_addresses(bundle.extracts)), texts=page_texts).values()
    bundle.pages += [PageRecord(**page.model_dump(include=set(PageRecord.model_fields))) for page in pages]


def of_prompts(project: Project, bundle: Bundle) -> list[PromptRecord]:
    """The prompts by which the bundle's runs asked a model, in all their versions."""
    judge_ids = {judge.id for judge in bundle.judges if judge.kind is JudgeKind.ENDPOINT}
    protocols = {run.protocol for run in bundle.runs if run.judge_id in judge_ids}
    tables = (PROTOCOLS, EXTRACTIONS)
    definitions = [protocol for table in tables for name, protocol in table.items() if name in protocols]
    names = sorted({name for protocol in definitions for name in protocol.prompts})
    fields = set(WordingRecord.model_fields)
    return [
        PromptRecord(
            name=name,
            versions=[
                WordingRecord(**version.model_dump(include=fields), sha256=version.sha256)
                for version in prompts.versions(project, name)
            ],
        )
        for name in names
    ]


def units_of(bundle: Bundle) -> dict[str, set[str]]:
    documents: list[tuple[str, Mapping[str, Any]]] = [
        (artifact.id, artifact.document) for artifact in bundle.artifacts
    ]
    documents += [(extract.id, extract.document) for extract in bundle.extracts]
    return {name: {unit["id"] for unit in document["units"]} for name, document in documents}


def names_one(unit_id: str, units: Iterable[str]) -> bool:
    """Whether a judged unit is one of these, or a cell of a matrix named by one of them."""
    return not {unit_id, *unit_id.split("~")}.isdisjoint(units)


def _addresses(records: Iterable[ExtractRecord]) -> Iterable[str]:
    """The normalised addresses that the units cite or are identified by, and of the pages they were extracted from."""
    for record in records:
        yield from (page["address"] for page in record.document.get("pages", ()))
        for unit in record.document["units"]:
            for name in ("url", "identifier"):
                cited = unit.get(name) or ""
                if cited and (parsed := identifier.parse(cited)):
                    yield str(parsed)


# The number of ids in one query, which any database accepts.
AT_ONCE = 500
# An artifact's id and a revision's number.
Named = tuple[str, int]


def add_pairs(db: Connection, bundle: Bundle) -> None:
    items = {item.id for item in bundle.items}
    frozen = [agreement for agreement in assignments.frozen(db) if agreement.item_id in items]
    columns = (GUIDELINE.c[name] for name in GuidelineRecord.model_fields)
    rows = db.execute(select(*columns).order_by(GUIDELINE.c.stage, GUIDELINE.c.version)).mappings()
    bundle.guidelines = [GuidelineRecord(**row) for row in rows]
    paired = grouped(
        (pair.agreement_id, AssistedRecord(**dict(pair)))
        for pair in assisting.stored(db, {agreement.id for agreement in frozen})
    )
    bundle.agreements = [
        AgreementRecord(**dict(agreement), assisted=tuple(paired.get(agreement.id, ())))
        for agreement in frozen
    ]
    bundle.adjudications = _adjudications(db, items)
    bundle.revisions = _revisions(db, bundle)


def people_of(bundle: Bundle) -> set[str]:
    return {
        *(revision.author_id for revision in bundle.revisions),
        *(given.person_id for record in bundle.agreements for given in record.inputs),
        *(
            name
            for adjudication in bundle.adjudications
            for name in (adjudication.adjudicator_id, *adjudication.letters.values())
        ),
        *(dispute.person_id for record in bundle.adjudications for dispute in record.disputes),
    }


def _adjudications(db: Connection, items: Collection[str]) -> list[AdjudicationRecord]:
    """Every closed version; a reopened adjudication is released as of its last version."""
    rows = db.execute(select(CONSENSUS_VERSION).order_by(CONSENSUS_VERSION.c.version))
    versions = grouped((row.adjudication_id, consensus.version_of(row)) for row in rows)
    disputes = db.execute(select(DISPUTE).order_by(DISPUTE.c.at, DISPUTE.c.id)).mappings()
    objections = grouped(((one["item_id"], one["stage"]), Dispute(**one)) for one in disputes)
    return [
        adjudication_record(adjudication, version, raised)
        for adjudication in ruling_rows.adjudications(db)
        if adjudication.item_id in items
        for version, raised in _with_disputes(
            versions.get(adjudication.id, ()), objections.get((adjudication.item_id, adjudication.stage), ())
        )
    ]


def _with_disputes(
    versions: Sequence[ConsensusVersion], objections: Iterable[Dispute]
) -> Iterator[tuple[ConsensusVersion, list[Dispute]]]:
    raised: defaultdict[int, list[Dispute]] = defaultdict(list)
    for dispute in objections if versions else ():
        standing = [version.version for version in versions if version.at <= dispute.at]
        raised[max(standing, default=versions[0].version)].append(dispute)
    for version in versions:
        yield version, raised[version.version]


def _revisions(db: Connection, bundle: Bundle) -> list[RevisionRecord]:
    """The released revision of each artifact, and those that agreement and consensus rest on."""
    released = {(artifact.id, artifact.revision) for artifact in bundle.artifacts}
    needed = released | {
        (given.artifact_id, given.revision) for record in bundle.agreements for given in record.inputs
    }
    needed |= {(adjudication.artifact_id, adjudication.revision) for adjudication in bundle.adjudications}
    needed |= _newest_labels(db, {name for name, _ in needed})
    documents = _documents(db, needed - released)
    return [
        RevisionRecord(
            **{**row, "skipped": skipped}, document=documents.get((row["artifact_id"], row["revision"]))
        )
        for row, skipped in _needed_revisions(db, needed)
    ]


def _newest_labels(db: Connection, artifacts: Collection[str]) -> set[Named]:
    """The newest sealed documents of people's labels, which leave as judgements, if an earlier one must leave."""
    question = (
        select(REVISION.c.artifact_id, REVISION.c.number)
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .where(
            ARTIFACT.c.kind == Kind.LABELS.value,
            ARTIFACT.c.state != State.CONSENSUS.value,
            REVISION.c.sealed.is_(True),
        )
    )
    newest = dict(db.execute(question.order_by(REVISION.c.artifact_id, REVISION.c.number)).all())
    return {(artifact_id, number) for artifact_id, number in newest.items() if artifact_id in artifacts}


def _documents(db: Connection, needed: Collection[Named]) -> dict[Named, Any]:
    ids, r = sorted({artifact_id for artifact_id, _ in needed}), REVISION.c
    question = select(r.artifact_id, r.number, r.content).where(r.sealed.is_(True))
    return {
        (artifact_id, number): json.loads(content)
        for start in range(0, len(ids), AT_ONCE)
        for artifact_id, number, content in db.execute(
            question.where(r.artifact_id.in_(ids[start : start + AT_ONCE]))
        )
        if (artifact_id, number) in needed
    }


def _needed_revisions(db: Connection, needed: Collection[Named]) -> Iterator[tuple[RowMapping, list[str]]]:
    """Each needed revision, and the hashes of those between it and the needed one before."""
    columns = ("artifact_id", "sealed", "at", "sha256", "chain", "guideline", "form", "reason", "skipped")
    question = (
        select(
            REVISION.c.number.label("revision"), *(REVISION.c[name] for name in columns),
            ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id,
        )
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .order_by(REVISION.c.artifact_id, REVISION.c.number)
    )  # fmt: skip
    needed_of = {artifact_id for artifact_id, _ in needed}
    artifact_id, between = "", list[str]()
    for row in db.execute(question).mappings():
        if row["artifact_id"] not in needed_of:
            continue
        if row["artifact_id"] != artifact_id:
            artifact_id, between = row["artifact_id"], []
        between += (row["skipped"] or "").split()
        if (row["artifact_id"], row["revision"]) in needed:
            yield row, between
            between = []
        else:
            between.append(row["sha256"])


# The order of the judgements of a response under a protocol.
_WITHIN = ("unit_id", "rater_kind", "rater_id", "trial")
# The key of a judgement.
_PLACE = ("protocol", "response_id", "unit_id", "rater_id", "trial")


def gather(
    db: Connection,
    contest: Bundle | None = None,
    *,
    page_texts: bool = False,
    addresses: bool = False,
    without: Collection[str] = (),
) -> tuple[Bundle, list[str]]:
    """Everything in a release but its scores, added to a bundle of its contest; and notes on what was left out.

    Items whose ids are in `without` are left out with all that belongs to them, and a contest that involves one of
    them.

    Also left out: retired items and all that belongs to them, drafts, open adjudications, and judgements on units that
    are not released. People's labels leave as judgements; the texts of cited pages, which are others' works, only with
    `page_texts`; the addresses of endpoints, which may be confidential, only with `addresses`.
    """
    bundle = contest or Bundle()
    tasks = {decision.task_id for decision in bundle.decisions}
    if tasks.union(*((match.first, match.second) for match in bundle.matches)).intersection(without):
        bundle = Bundle()
    used = ITEM.c.retired.is_(False) & ITEM.c.id.not_in(without)
    bundle.items = [ItemRecord(**row) for row in _rows(db, ITEM, ItemRecord, used)]
    items = {item.id for item in bundle.items}
    bundle.sources = [
        SourceRecord(**row) for row in _rows(db, SOURCE, SourceRecord) if row["item_id"] in items
    ]
    bundle.responses = [
        ResponseRecord(**row) for row in _rows(db, RESPONSE, ResponseRecord) if row["item_id"] in items
    ]
    answering = {response.system_id for response in bundle.responses}
    bundle.systems = [
        SystemRecord(**row) for row in _rows(db, SYSTEM, SystemRecord) if row["id"] in answering
    ]
    question = annotating.released_revisions(
        *(ARTIFACT.c.id, ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id),
        *(REVISION.c.number.label("revision"), REVISION.c.at, REVISION.c.sha256, REVISION.c.content),
    ).where(or_(ARTIFACT.c.kind != Kind.LABELS.value, ARTIFACT.c.state == State.CONSENSUS.value))
    bundle.artifacts = [_artifact(row) for row in db.execute(question).mappings() if row["item_id"] in items]
    add_pairs(db, bundle)
    taken = artifacts.with_consensus(db)
    bundle.artifacts = [
        record.model_copy(
            update={
                "drafted": artifacts.standing(
                    taken[record.id], (unit["id"] for unit in record.document["units"])
                )
            }
        )
        if record.id in taken
        else record
        for record in bundle.artifacts
    ]
    # Verdicts on attacked copies are no results; neither are the runs in which they were given.
    results = RUN.c.protocol.not_like(f"{ATTACK}%")
    bundle.runs = [RunRecord(**row) for row in _rows(db, RUN, RunRecord, results)]
    add(db, bundle, page_texts=page_texts)
    dropped = Counter[str]()
    bundle.judgements = Spool(_judgements(db, bundle, dropped, addresses=addresses))
    cause_of = _causes(db, addresses=addresses)
    bundle.matches = [
        match.model_copy(update={"cause": cause_of(match.cause, match.rater)}) for match in bundle.matches
    ]
    _add(db, bundle)
    raters = _raters_of(bundle)
    bundle.judges = [
        _judge(row, addresses=addresses) for row in _rows(db, JUDGE, JudgeRecord) if row["id"] in raters
    ]
    named = raters | {artifact.author_id for artifact in bundle.artifacts} | people_of(bundle)
    bundle.people = [
        PersonRecord(**{**row, "roles": row["roles"].split()})
        for row in _rows(db, PERSON, PersonRecord)
        if row["id"] in named
    ]
    notes = [
        f"Left out: {counted(many, 'judgement')} on units that {what}."
        for what, many in sorted(dropped.items())
    ]
    bundle.rubric_set = annotating.set_in_force(db)
    return bundle, [*notes, *_reopened(db, bundle), *_faults(bundle)]


def _reopened(db: Connection, bundle: Bundle) -> Iterable[str]:
    """A note on documents being changed: which revision is released and scored."""
    newest = dict(db.execute(select(ARTIFACT.c.id, ARTIFACT.c.revision)).all())
    result = [
        _called(bundle, artifact) for artifact in bundle.artifacts if artifact.revision < newest[artifact.id]
    ]
    if result:
        yield f"Reopened, and released and scored as last sealed: {', '.join(result)}."


def _called(bundle: Bundle, artifact: ArtifactRecord) -> str:
    key = next(item.key for item in bundle.items if item.id == artifact.item_id)
    return f"the {artifact.kind.value} of item {key} (revision {artifact.revision})"


def _faults(bundle: Bundle) -> Iterable[str]:
    """Notes on documents that could not be submitted today and are released as once submitted."""
    for artifact in bundle.artifacts:
        if fault := DOCUMENTS[artifact.kind].model_validate(artifact.document).fault():
            yield f"In {_called(bundle, artifact)}: {fault} It is released unchanged."


def _rows(
    db: Connection, source: Table | Subquery, record: type[Any], condition: ColumnElement[bool] | None = None
) -> Iterable[dict[str, Any]]:
    names = tuple(record.model_fields)
    question = select(*(source.c[name] for name in names)).order_by(*source.primary_key)
    rows = db.execute(question if condition is None else question.where(condition))
    return (dict(zip(names, row, strict=True)) for row in rows)


def _artifact(row: RowMapping) -> ArtifactRecord:
    values = dict(row)
    return ArtifactRecord(document=json.loads(values.pop("content")), **values)


def _judgements(
    db: Connection, bundle: Bundle, dropped: Counter[str], *, addresses: bool
) -> Iterator[JudgementRecord]:
    units = units_of(bundle)
    gone = set(map(attrgetter(*_PLACE), label_rows.outdated(db).values()))
    cause_of, place_of = _causes(db, addresses=addresses), itemgetter(*_PLACE)
    for row in _in_order(db, bundle):
        of = row["artifact_id"]
        if of and not names_one(row["unit_id"], units.get(of, ())):
            dropped["are not part of the release"] += 1
        elif place_of(row) in gone:
            dropped["were reworded since"] += 1
        else:
            cause = row["cause"] and cause_of(row["cause"], row["rater_id"])
            yield JudgementRecord(**{**row, "flags": row["flags"].split(), "cause": cause})


def _causes(db: Connection, *, addresses: bool) -> Callable[[str, str], str]:
    """A function for the cause of a missing value: without keys and, unless `addresses`, without addresses."""
    judges = {row["id"]: Judge(**row) for row in db.execute(select(JUDGE)).mappings()}
    return lambda cause, rater: redact(cause) if addresses else harmless(cause, judges.get(rater))


def _in_order(db: Connection, bundle: Bundle) -> Iterator[dict[str, Any]]:
    """The judgements of released responses in a release's order, one response under one protocol at a time."""
    counted = label_rows.counted_rows()
    rank = release.ranked(bundle.items)
    responses = sorted((rank[response.item_id], response.id) for response in bundle.responses)
    for protocol in sorted(db.execute(select(JUDGEMENT.c.protocol).distinct()).scalars().all()):
        for _, response_id in responses:
            of_it = (counted.c.protocol == protocol) & (counted.c.response_id == response_id)
            yield from sorted(_rows(db, counted, JudgementRecord, of_it), key=itemgetter(*_WITHIN))


def _judge(row: Mapping[str, Any], *, addresses: bool) -> JudgeRecord:
    asking = Asking.model_validate_json(row["asking"], extra="ignore")
    values = {**row, "parameters": json.loads(row["parameters"] or "{}"), "asking": asking}
    return JudgeRecord(**{**values, "base_url": without_secrets(row["base_url"]) if addresses else ""})


def without_secrets(address: str) -> str:
    """An address without user, password, query and fragment, any of which may contain a key."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _add(db: Connection, bundle: Bundle) -> None:
    responses = {response.id for response in bundle.responses}
    for row in db.execute(
        select(VALIDATION_SET).where(VALIDATION_SET.c.locked_at.is_not(None)).order_by(VALIDATION_SET.c.id)
    ).mappings():
        content = Content.model_validate_json(row["content"])
        if {one.response_id for one in content.responses} <= responses:
            question = (
                select(OPENING).where(OPENING.c.set_id == row["id"]).order_by(OPENING.c.at, OPENING.c.id)
            )
            names = ("id", "name", "protocol", "by", "at", "locked_at", "sha256", "labels_sha256")
            bundle.validation_sets.append(
                ValidationSetRecord(
                    **{name: row[name] for name in names},
                    content=content,
                    first_labels=orjson.loads(row["labels"]),
                    looks=[
                        LookRecord(**{**look, "judges": json.loads(look["judges"])})
                        for look in (
                            {name: value for name, value in result.items() if name != "set_id"}
                            for result in db.execute(question).mappings()
                        )
                    ],
                )
            )
    bundle.informed += [
        InformedRecord(**row)
        for row in db.execute(select(INFORMED).order_by(INFORMED.c.id)).mappings()
        if row["response_id"] in responses
    ]


def _raters_of(bundle: Bundle) -> set[str]:
    """The ids of all who judged, drew or decided something in a release, or are named in its sets and rulings."""
    sets = bundle.validation_sets
    result = {
        *(rater for _, _, rater, _ in tally(bundle.judgements)),
        *(run.judge_id for run in bundle.runs),
        *(match.rater for match in bundle.matches),
        *(decision.by for decision in bundle.decisions),
        *(extract.by for extract in bundle.extracts),
        *(
            extract.origin.partition(":")[2]
            for extract in bundle.extracts
            if not extract.origin.startswith(SET)
        ),
        *(one.by for one in sets),
        *(person for one in sets for who in one.content.dealt.values() for person in who),
        *(label.person_id for one in sets for label in one.first_labels),
        *(look.by for one in sets for look in one.looks),
        *(name for record in bundle.informed for name in (record.judge_id, record.label_of, record.by)),
    }
    return result - {"", CONSENSUS}
