"""Export of a release: read in one snapshot, numbered by its content, written as a whole or not at all."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import func, insert, select
from sqlalchemy.engine import Connection

from annotator.actions.agreement import final_pass
from annotator.actions.authoring import annotating, settings
from annotator.actions.items import items
from annotator.actions.items.materials import PAIRS
from annotator.actions.judges import kept_keys
from annotator.actions.labelling import label_sealing
from annotator.actions.project import profile as uses
from annotator.actions.project.file import Project, record
from annotator.actions.releases import checking, gathering
from annotator.domain.experts.adjudication import Agreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.paper import DrawnPairs
from annotator.domain.judges.protocol import Over
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.material.item import EXEMPLAR, ItemRole
from annotator.domain.texts.canonical import Change, checked_text, now
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import counted
from annotator.exchange.folders import Content, Files, records_in, staged, with_sums
from annotator.exchange.formats.layouts import LAYOUTS
from annotator.exchange.release import release, runnable, tables_csv
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.data_card import Drafted, ReleaseFacts, StageFigure
from annotator.exchange.release.records import MetricRecord, ScoreRecord
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, TAXONOMIES
from annotator.protocols.registry import RANKING
from annotator.storage.tables import ITEM, RELEASE, RESPONSE

GOLDSMITH, CSV = "goldsmith", "csv"
PROFILES = (GOLDSMITH, *LAYOUTS, CSV)

# What people and judges wrote here; reports, sources and pages are others' texts, and may speak of keys.
_SETTINGS = (
    "judges.json",
    "runs.json",
    "prompts.json",
    "judgements.json",
    "guidelines.json",
    "contest_matches.json",
    "contest_decisions.json",
)

# What is written about an item, and reports are not judged by.
_NO_GOLD = (Kind.LABELS, Kind.QUERY, Kind.SELECTION)
# So many items are named.
_NAMED = 8
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ExportReport:
    folder: Path
    files: tuple[str, ...]
    records: int
    number: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NumberedRelease:
    number: int
    profile: str
    at: datetime
    manifest_sha256: str


def in_use(project: Project) -> list[str]:
    """The formats of what the project uses."""
    kinds = uses.profile(project).kinds
    return [name for name in PROFILES if name not in LAYOUTS or LAYOUTS[name].kind in (None, *kinds)]


def offered() -> dict[str, tuple[str, str]]:
    own = {name: (one.title, f"{one.holds}, as that project's tools read.") for name, one in LAYOUTS.items()}
    ours = "JSON with schemas, checksums and a data card. Importing it back gives the same project."
    tables = (
        "CSV files for pandas or a spreadsheet; cells that a spreadsheet would run as formulas are escaped."
    )
    return {GOLDSMITH: ("Release", ours), **own, CSV: ("Tables", tables)}


def written(project: Project) -> list[NumberedRelease]:
    question = select(RELEASE.c.number, RELEASE.c.profile, RELEASE.c.at, RELEASE.c.manifest_sha256)
    with project.store.read() as db:
        return [NumberedRelease(*row) for row in db.execute(question.order_by(RELEASE.c.number.desc()))]


def open_items(project: Project) -> tuple[dict[str, str], dict[str, str]]:
    """The items whose final pass is not signed, and those without settled gold: id and key."""
    item = ITEM.c
    used = select(item.id, item.key).where(item.retired.is_(False)).order_by(item.position, item.key)
    with project.store.read() as db:
        held = [annotating.judged_items(db, kind) for kind in Kind if kind not in _NO_GOLD]
        held.append(select(RESPONSE.c.item_id).where(RESPONSE.c.mode == EXEMPLAR))
        without = dict(db.execute(used.where(*(item.id.not_in(ids) for ids in held))).all())
        signed = final_pass.all_kept(db)
        keys = db.execute(used).all()
    return {own: key for own, key in keys if final_pass.unsigned(signed.get(own, {}))}, without


def open_points(project: Project) -> list[str]:
    """What a reader of a release would miss: signatures, gold, and a description; each with what to do about it."""
    unsigned, without = (list(keys.values()) for keys in open_items(project))
    told = {
        f"The final pass is not signed for {_listed(unsigned)}: sign it (Final pass; “final sign”).": unsigned,
        f"There is no settled gold for {_listed(without)}: write, adjudicate or retire.": without,
        "The description is empty: state it (“export --description TEXT”).": not project.get(
            "description", ""
        ),
    }
    return [words for words, result in told.items() if result]


def _listed(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
    return f"{counted(len(keys), 'item')} ({', '.join(keys[:_NAMED])}{more})"


def gather(
    project: Project, *, page_texts: bool = False, addresses: bool = False
) -> tuple[Bundle, list[str]]:
    with project.store.read() as db:
        contest = gathering.gathered(project)
        bundle, notes = gathering.gather(db, contest, page_texts=page_texts, addresses=addresses)
        bundle.scores = _scores(project)
        from annotator.actions.results import scoring

        there = {score.metric for score in bundle.scores}
        bundle.metrics = [
            MetricRecord(
                metric=info.name,
                protocol=info.protocol,
                title=info.title,
                unit=info.unit,
                higher_is_better=info.higher_is_better,
                definition=info.definition,
                citation=info.citation,
                departures=list(info.departures),
            )
            for info in scoring.described()
            if info.name in there
        ]
    bundle.prompts = gathering.of_prompts(project, bundle)
    return bundle, [*notes, *filter(None, [items.left_out(project).not_counted])]


def export(
    project: Project,
    folder: Path,
    profile: str = GOLDSMITH,
    progress: Progress | None = None,
    *,
    page_texts: bool = False,
    addresses: bool = False,
    strict: bool = False,
) -> ExportReport:
    """Write a release into a folder; Refusal when the folder holds anything else or the disk fails.

    Refusal too when a row of the project is not as it was written: nothing damaged is published.
    Content that was released before gets its number again and, byte for byte, its files; other content the
    next number. The number is the same for every profile. The texts of cited pages leave only with `page_texts`:
    they belong to others. The addresses of judges' endpoints leave only with `addresses`. Refusal when a key that is in
    use would stand in a file, or something that looks like one among the settings. With `strict` what is open (see
    `open_points`), of which a note tells otherwise, is refused.
    """
    if profile not in PROFILES:
        raise Refusal(f"“{profile}” is not a profile.", f"Choose one of {', '.join(PROFILES)}.")
    tell = progress or _silent
    tell("checking every row", 0, 4)
    damage = [finding for finding in checking.check(project).problems if finding.todo == checking.FROM_BACKUP]
    if damage:
        raise Refusal(
            f"{damage[0].happened} Nothing was released.",
            f"{len(damage):,} such findings in all; restore the project from a backup.",
            tuple(str(finding) for finding in damage),
        )
    points = open_points(project)
    if strict and points:
        raise Refusal(
            f"{points[0]} Nothing was released.",
            f"{counted(len(points), 'point')} open in all; without --strict they are only told.",
            tuple(points),
        )
    tell("gathering", 1, 4)
    try:
        bundle, notes = gather(project, page_texts=page_texts, addresses=addresses)
    except ValidationError as error:
        raise Refusal(
            "Some data in the project cannot be read. Nothing was released.",
            "Check the project (check); restore it from a backup.",
            (str(error.title),),
        ) from None
    notes = [*points, *notes]
    if not bundle.items:
        raise Refusal("There is nothing to release yet.", "Import or write items first.")
    tell("making files", 2, 4)
    parts, manifest = release.content(bundle, _facts(project, bundle))
    checksum = release.content_sha256(manifest)
    number = _number(project, checksum)
    numbered = manifest.model_copy(update={"number": number})
    files, made = release.complete({**parts, **_runnable(project, bundle)}, numbered), dict[str, Content]()
    if profile in LAYOUTS:
        if LAYOUTS[profile].scored:
            bundle.report_scores = _report_scores(project, notes)
        written, further = LAYOUTS[profile].files(bundle)
        made, notes = {**written}, notes + further
    elif profile == CSV:
        made = tables_csv.files(bundle)
    files = files if profile == GOLDSMITH else with_sums(made)
    kept_keys.refuse_in_files(project, {**parts, **files}, _SETTINGS)
    tell("writing", 3, 4)
    _publish(project, folder, files, number, checksum, profile)
    tell("writing", 4, 4)
    records = bundle.counts().values() if profile == GOLDSMITH else (records_in(*one) for one in made.items())
    return ExportReport(folder, tuple(sorted(files)), sum(records), number, tuple(notes))


def _runnable(project: Project, bundle: Bundle) -> dict[str, Content]:
    """What runs the release in harnesses; the manifest does not list it, so that its number is that of its records."""
    with project.store.read() as db:
        rubrics = annotating.judged_rows(db, Kind.RUBRIC).values()
    return runnable.files(bundle, {row.id for row in rubrics})


def _publish(project: Project, folder: Path, files: Files, number: int, checksum: str, profile: str) -> None:
    """Write the files, then in one breath enter the release and put the folder in its place."""
    with staged(folder, files) as put_in_place:
        if project.readonly or _released(project, checksum):
            put_in_place()
            return
        with project.store.write() as db:
            if _next_number(db) != number:
                raise Refusal("Another release was made at the same time.", "Export again.")
            row = {"number": number, "manifest_sha256": checksum, "profile": profile}
            db.execute(insert(RELEASE).values(**row, by=project.by, at=now()))
            record(project, db, Change("release", str(number), "release", after={"sha256": checksum}))
            put_in_place()


def _number(project: Project, checksum: str) -> int:
    with project.store.read() as db:
        return _released(project, checksum) or _next_number(db)


def _released(project: Project, checksum: str) -> int:
    """The number under which this content was released before; 0 when it was not."""
    with project.store.read() as db:
        result = db.execute(select(RELEASE.c.number).where(RELEASE.c.manifest_sha256 == checksum)).scalar()
    return int(result or 0)


def _next_number(db: Connection) -> int:
    return int(db.execute(select(func.max(RELEASE.c.number))).scalar() or 0) + 1


def state(project: Project, name: str, text: str) -> Change:
    """Say under which licence the releases may be used, or what the project is; `name` is one of `gathering.STATED`."""
    try:
        said = checked_text(text).strip()
    except ValueError as error:
        raise Refusal(f"The {name} {error}.", "Take that character out; nothing was changed.") from None
    before = str(project.get(name, ""))
    with project.store.write() as db:
        project.set(name, said)
        return record(project, db, Change("setting", name, f"state the {name}", before, said))


def _facts(project: Project, bundle: Bundle) -> ReleaseFacts:
    licence, description = (str(project.get(name, "")) for name in gathering.STATED)
    weights = settings.allowed(project)
    with project.store.read() as db:
        ids = {item.id for item in bundle.items}
        awaited = {
            kind: kept
            for kind, of in annotating.awaited(db).items()
            if (kept := [one for one in of if one in ids])
        }
        signed = {
            item_id: checks
            for item_id, checks in final_pass.all_kept(db).items()
            if item_id in ids and checks
        }
        of_roles = items.counts(db)
    aliases = {person.id: person.alias for person in bundle.people}
    return ReleaseFacts(
        title=project.title, licence=licence, description=description, agreement=_agreement(project, bundle),
        drafted=tuple(
        Drafted(
            one.id,
            one.kind.value,
            CONSENSUS if one.state is State.CONSENSUS else aliases.get(one.author_id, one.author_id),
            len(one.drafted),
            len(one.document["units"]),
            tuple(sorted({source.name for source in one.drafted.values()})),
        )
        for one in sorted(bundle.artifacts, key=lambda one: one.id)
        if one.drafted
    ), weights="" if weights.usual else weights.text,
        error_sample=label_sealing.sample(project),
        unadjudicated=annotating.FIRST_ALIAS if annotating.unadjudicated_counts(project) else "",
        rubric_set=bundle.rubric_set, repeats=_repeats(project, bundle), awaited=awaited, final_pass=signed,
        departures=_departures(bundle), roles=of_roles if ItemRole.SEMINAR in of_roles else {},
        without=items.left_out(project).not_counted,
        drawn_pairs={name: DrawnPairs.model_validate(of) for name, of in project.get(PAIRS, {}).items()},
    )  # fmt: skip


def _agreement(project: Project, bundle: Bundle) -> tuple[StageFigure, ...]:
    """The figures of each stage over all items: the frozen ones, then those by other pairings of the units."""
    from annotator.actions.agreement import agreement_figures, assisting
    from annotator.actions.agreement.agreement_figures import Names
    from annotator.actions.consensus import consensus

    places = {item.id: place for place, item in enumerate(sorted(bundle.items, key=lambda one: one.position))}
    order = list(Stage)
    frozen = sorted(bundle.agreements, key=lambda one: (places[one.item_id], order.index(one.stage)))
    with project.store.read() as db:
        by_hand = consensus.records(db, frozen)
    ways: list[tuple[str, Sequence[Agreement]]] = [("", frozen), ("the adjudicator's", by_hand)]
    judges = {judge.id: judge.name for judge in bundle.judges}
    return tuple(
        StageFigure(row.stage.value, row.field, len(row.items), figure, pairing)
        for pairing, result in (*ways, *assisting.ways(frozen, judges))
        for row in agreement_figures.pooled(project, "stage", result, Names({}, {}))
        for figure in row.figures
    )


def _repeats(project: Project, bundle: Bundle) -> tuple[str, ...]:
    from annotator.actions.results import result_raters

    scored = {score.protocol for score in bundle.scores if score.trials}
    return tuple(
        f"{PROTOCOLS[name].title}: {one.repeats.words}"
        for name, of in result_raters.raters_under(project, sorted(scored)).items()
        for one in of
        if one.repeats
    )


def _scores(project: Project) -> list[ScoreRecord]:
    from annotator.actions.results import overview, results

    limit = results.limit(project)
    rows = list(overview.released(project))
    alike = Counter((row.metric, row.rater, row.system, row.group) for row in rows)
    return [
        ScoreRecord(
            **{name: getattr(row, name) for name in ("metric", "protocol", "rater", "system", "group")},
            group_by=row.group_by if alike[row.metric, row.rater, row.system, row.group] > 1 else "",
            **{
                name: getattr(row.estimate, name)
                for name in ("value", "low", "high", "n", "missing", "method", "note")
            },
            **{name: getattr(row.estimate, name) for name in ("floor", "ceiling") if row.estimate.missing},
            trials=row.repeats.trials if row.repeats else None,
            flip_rate=row.repeats.flips.value if row.repeats else None,
            unfit=results.why_not(row, limit) if row.estimate.value is not None else "",
            over="" if row.over is Over.RESPONSE else row.over.value,
            gold=row.gold,
        )
        for row in rows
    ]


def _report_scores(project: Project, notes: list[str]) -> dict[tuple[str, str], float]:
    """What each report comes to by each metric, as Results has it; without the baseline's, of which a note tells."""
    from annotator.actions.results import overview, results

    counts = overview.gathered(project).values()
    if any(count.rater.floor for count in counts):
        notes.append("Left out: the baseline's figures, which are a floor and no result.")
    return {
        (score.metric, score.response_id): score.estimate.value
        for one in counts
        for score in one.scores
        if not one.rater.floor and score.estimate.value is not None and not results.is_part(score)
    }


def _departures(bundle: Bundle) -> dict[str, tuple[str, ...]]:
    """Where what was scored, drawn or looked at again differs from its paper, by its title."""
    from annotator.actions.results import results

    scored = {score.protocol for score in bundle.scores}
    drawn = {extract.kind for extract in bundle.extracts}
    result = {one.title: one.departures for name, one in PROTOCOLS.items() if name in scored}
    result |= {paper.title: one.departures for paper, one in COMPOSITES.values() if paper.name in scored}
    result |= {one.title: one.departures for one in EXTRACTIONS.values() if one.makes.value in drawn}
    result |= {one.title: one.departures for one in TAXONOMIES.values() if one.of in scored}
    judged = {score.protocol for score in bundle.scores if score.unfit == results.FLOOR}
    floors = {one.title: one.floor for name, one in PROTOCOLS.items() if name in judged and one.floor}
    result |= {f"{title}, by the baseline": (floor,) for title, floor in floors.items()}
    result |= {RANKING.title: RANKING.departures} if bundle.matches else {}
    return {title: departures for title, departures in result.items() if departures}


def _silent(_stage: str, _done: int, _total: int) -> None:
    """Progress that nobody listens to."""


CONSENSUS = "consensus"
