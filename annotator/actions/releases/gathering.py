"""From a project to release records: what may leave is selected, everything else is left alone."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson
from sqlalchemy import ColumnElement, Subquery, Table, or_, select
from sqlalchemy.engine import Connection, RowMapping

from annotator.actions.attacks import attack_tests
from annotator.actions.authoring import annotating, draft_provenance
from annotator.actions.judging.judge_identities import harmless
from annotator.actions.labelling import wordings
from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.releases import gathering_drawn, gathering_pairs
from annotator.actions.results.result_raters import CONSENSUS
from annotator.domain.judges.judge import Judge
from annotator.domain.judges.validation import Content
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.texts.redaction import redact
from annotator.exchange.release import release
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.records import (
    ArtifactRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    PersonRecord,
    ResponseRecord,
    RunRecord,
    SourceRecord,
    SystemRecord,
)
from annotator.exchange.release.spool import Spool, tally
from annotator.exchange.release.validation_records import InformedRecord, LookRecord, ValidationSetRecord
from annotator.storage.tables import (
    ARTIFACT,
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

# What a release says of itself as a whole; a project that says it already keeps its own.
STATED = ("licence", "description")
# By what the judgements of a response under a protocol are ordered.
_WITHIN = ("unit_id", "rater_kind", "rater_id", "trial")
# What one judgement is told from another by.
_PLACE = ("protocol", "response_id", "unit_id", "rater_id", "trial")


def gather(
    db: Connection, contest: Bundle | None = None, *, page_texts: bool = False, addresses: bool = False
) -> tuple[Bundle, list[str]]:
    """Everything a release holds but its scores, added to a bundle of its contest; and notes on what was left out.

    Retired items and all that belongs to them stay, and so do drafts, what is still being adjudicated, and judgements
    on units that do not leave. People's labels leave as judgements; the texts of cited pages, which are others' works,
    only with `page_texts`; the addresses of endpoints, which may be nobody else's to know, only with `addresses`.
    """
    bundle = contest or Bundle()
    bundle.items = [ItemRecord(**row) for row in _rows(db, ITEM, ItemRecord, ITEM.c.retired.is_(False))]
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
    bundle.artifacts = _artifacts(db, items)
    gathering_pairs.add(db, bundle)
    bundle.artifacts = _with_drafts(db, bundle)
    # What judges say of attacked copies is no result; neither are the runs in which they were asked.
    results = RUN.c.protocol.not_like(f"{attack_tests.PREFIX}%")
    bundle.runs = [RunRecord(**row) for row in _rows(db, RUN, RunRecord, results)]
    gathering_drawn.add(db, bundle, page_texts=page_texts)
    dropped = Counter[str]()
    bundle.judgements = Spool(_judgements(db, bundle, dropped, addresses=addresses))
    told = _causes(db, addresses=addresses)
    bundle.matches = [one.model_copy(update={"cause": told(one.cause, one.rater)}) for one in bundle.matches]
    raters = {rater for _, _, rater, _ in tally(bundle.judgements)} | {run.judge_id for run in bundle.runs}
    raters |= {one.rater for one in bundle.matches} | {one.by for one in bundle.decisions}
    _add(db, bundle)
    raters |= gathering_drawn.raters_of(bundle) | _raters_of(bundle)
    bundle.judges = [
        _judge(row, addresses=addresses) for row in _rows(db, JUDGE, JudgeRecord) if row["id"] in raters
    ]
    named = raters | {artifact.author_id for artifact in bundle.artifacts} | gathering_pairs.people_of(bundle)
    bundle.people = [_person(row) for row in _rows(db, PERSON, PersonRecord) if row["id"] in named]
    notes = [
        f"{many:,} judgements on units that {what} were left out." for what, many in sorted(dropped.items())
    ]
    bundle.rubric_set = annotating.set_in_force(db)
    return bundle, [*notes, *_reopened(db, bundle), *_faults(bundle)]


def _reopened(db: Connection, bundle: Bundle) -> Iterable[str]:
    """Which revision of a document that is being changed leaves and is scored."""
    newest = dict(db.execute(select(ARTIFACT.c.id, ARTIFACT.c.revision)).all())
    found = [_called(bundle, one) for one in bundle.artifacts if one.revision < newest[one.id]]
    if found:
        yield f"Reopened, and released and scored as last sealed: {', '.join(found)}."


def _called(bundle: Bundle, artifact: ArtifactRecord) -> str:
    key = next(item.key for item in bundle.items if item.id == artifact.item_id)
    return f"the {artifact.kind.value} of item {key} (revision {artifact.revision})"


def _faults(bundle: Bundle) -> Iterable[str]:
    """What could not be submitted today and leaves as it was submitted once."""
    for one in bundle.artifacts:
        if fault := DOCUMENTS[one.kind].model_validate(one.document).fault():
            yield f"In {_called(bundle, one)}: {fault} It is released unchanged."


def _rows(
    db: Connection, source: Table | Subquery, record: type[Any], condition: ColumnElement[bool] | None = None
) -> Iterable[dict[str, Any]]:
    """The rows of a table, narrowed to the fields of a record."""
    names = tuple(record.model_fields)
    question = select(*(source.c[name] for name in names)).order_by(*source.primary_key)
    rows = db.execute(question if condition is None else question.where(condition))
    return (dict(zip(names, row, strict=True)) for row in rows)


def _artifacts(db: Connection, items: set[str]) -> list[ArtifactRecord]:
    columns = (ARTIFACT.c.id, ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id)
    revision = (REVISION.c.number.label("revision"), REVISION.c.at, REVISION.c.sha256, REVISION.c.content)
    question = annotating.released_revisions(*columns, *revision).where(
        or_(ARTIFACT.c.kind != Kind.LABELS.value, ARTIFACT.c.state == State.CONSENSUS.value)
    )
    return [_artifact(row) for row in db.execute(question).mappings() if row["item_id"] in items]


def _artifact(row: RowMapping) -> ArtifactRecord:
    values = dict(row)
    return ArtifactRecord(document=json.loads(values.pop("content")), **values)


def _judgements(
    db: Connection, bundle: Bundle, dropped: Counter[str], *, addresses: bool
) -> Iterator[JudgementRecord]:
    """Those that leave; `dropped` counts the others by what is the matter with their units."""
    units = gathering_drawn.units_of(bundle)
    gone = {tuple(getattr(row, name) for name in _PLACE) for row in wordings.outdated(db).values()}
    told = _causes(db, addresses=addresses)
    for row in _in_order(db, bundle):
        of = row["artifact_id"]
        if of and not gathering_drawn.names_one(row["unit_id"], units.get(of, ())):
            dropped["are not part of the release"] += 1
        elif tuple(row[name] for name in _PLACE) in gone:
            dropped["were reworded since"] += 1
        else:
            cause = told(row["cause"], row["rater_id"])
            yield JudgementRecord(**{**row, "flags": row["flags"].split(), "cause": cause})


def _causes(db: Connection, *, addresses: bool) -> Callable[[str, str], str]:
    """How it is told why a rater gave no value: without keys and, unless wished, without addresses."""
    judges = {row["id"]: Judge(**row) for row in db.execute(select(JUDGE)).mappings()}
    return lambda cause, rater: redact(cause) if addresses else harmless(cause, judges.get(rater))


def _in_order(db: Connection, bundle: Bundle) -> Iterator[dict[str, Any]]:
    """The judgements of the responses that leave in a release's order, a response's under a protocol at a time."""
    counted, j = counted_rows(), JUDGEMENT.c
    protocols = db.execute(select(j.protocol).distinct()).scalars().all()
    rank = release.ranked(bundle.items)
    responses = sorted((rank[response.item_id], response.id) for response in bundle.responses)
    for protocol in sorted(protocols):
        for _, response_id in responses:
            of_it = (counted.c.protocol == protocol) & (counted.c.response_id == response_id)
            yield from sorted(_rows(db, counted, JudgementRecord, of_it), key=itemgetter(*_WITHIN))


def _judge(row: Mapping[str, Any], *, addresses: bool) -> JudgeRecord:
    asking = {
        name: value
        for name, value in json.loads(row["asking"]).items()
        if name not in ("price", "headers", "query")
    }
    values = {**row, "parameters": json.loads(row["parameters"] or "{}"), "asking": asking}
    return JudgeRecord(**{**values, "base_url": without_secrets(row["base_url"]) if addresses else ""})


def without_secrets(address: str) -> str:
    """An address without user, password, query and fragment, any of which may hold a key."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _person(row: Mapping[str, Any]) -> PersonRecord:
    return PersonRecord(**{**row, "roles": row["roles"].split()})


def _add(db: Connection, bundle: Bundle) -> None:
    """Put them in; the responses that leave must be there already."""
    responses = {response.id for response in bundle.responses}
    for row in db.execute(
        select(VALIDATION_SET).where(VALIDATION_SET.c.locked_at.is_not(None)).order_by(VALIDATION_SET.c.id)
    ).mappings():
        content = Content.model_validate_json(row["content"])
        if {one.response_id for one in content.responses} <= responses:
            bundle.validation_sets.append(_set(db, row, content))
    for row in db.execute(select(INFORMED).order_by(INFORMED.c.id)).mappings():
        if row["response_id"] in responses:
            bundle.informed.append(InformedRecord(**row))


def _raters_of(bundle: Bundle) -> set[str]:
    """The judges and people whom these name."""
    found = {person for one in bundle.validation_sets for who in one.content.dealt.values() for person in who}
    found |= {label.person_id for one in bundle.validation_sets for label in one.first_labels}
    found |= {one.by for one in bundle.validation_sets}
    found |= {look.by for one in bundle.validation_sets for look in one.looks}
    found |= {name for one in bundle.informed for name in (one.judge_id, one.label_of, one.by)}
    return found - {"", CONSENSUS}


def _set(db: Connection, row: Any, content: Content) -> ValidationSetRecord:
    question = select(OPENING).where(OPENING.c.set_id == row["id"]).order_by(OPENING.c.at, OPENING.c.id)
    looks = [
        LookRecord(**{**look, "judges": json.loads(look["judges"])})
        for look in (
            {name: value for name, value in found.items() if name != "set_id"}
            for found in db.execute(question).mappings()
        )
    ]
    names = ("id", "name", "protocol", "by", "at", "locked_at", "sha256", "labels_sha256")
    return ValidationSetRecord(
        **{name: row[name] for name in names},
        content=content,
        first_labels=orjson.loads(row["labels"]),
        looks=looks,
    )


def _with_drafts(db: Connection, bundle: Bundle) -> list[ArtifactRecord]:
    """The artifacts, each with those of its units that came from a model's draft."""
    taken = draft_provenance.with_consensus(db)
    return [
        one.model_copy(
            update={
                "drafted": draft_provenance.standing(
                    taken[one.id], (unit["id"] for unit in one.document["units"])
                )
            }
        )
        if one.id in taken
        else one
        for one in bundle.artifacts
    ]
