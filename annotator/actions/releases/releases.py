"""Export of a release: read in one snapshot, numbered by its content, written as a whole or not at all."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy import Connection, func, insert, select

from annotator.actions.agreement import agreement_figures, assisting, final_pass
from annotator.actions.authoring import annotating, settings
from annotator.actions.items import items
from annotator.actions.items.materials import PAIRS
from annotator.actions.judges import kept_keys
from annotator.actions.labelling import label_sealing
from annotator.actions.project import profile as uses
from annotator.actions.project.file import SUFFIX, Progress, Project, change_setting, record, silent
from annotator.actions.releases import checking, gathering
from annotator.actions.results import result_raters, results, scoring
from annotator.domain.common import (
    Change,
    Refusal,
    counted,
    local,
    now,
    refuse_other,
    well_formed,
    words_that_hold,
)
from annotator.domain.experts import publication
from annotator.domain.experts.adjudication import Agreement
from annotator.domain.experts.publication import (
    CANARY,
    ERRATA,
    METADATA,
    WITHDRAWN,
    Erratum,
    Publication,
    ReleaseMetadata,
    SplitAccess,
    Withdrawal,
)
from annotator.domain.judges.judge import RaterKind
from annotator.domain.judges.paper import DrawnPairs
from annotator.domain.judges.protocol import Over
from annotator.domain.kinds.kind import ItemRole, Kind, Stage, State
from annotator.domain.material.item import EXEMPLAR
from annotator.exchange.folders import Content, Files, records_in, staged, with_sums
from annotator.exchange.formats.layouts import LAYOUTS
from annotator.exchange.release import dataset, release, runnable, tables_csv
from annotator.exchange.release.bundle import Bundle, differences
from annotator.exchange.release.data_card import Drafted, ReleaseFacts, StageFigure
from annotator.exchange.release.encryption import tested_by
from annotator.exchange.release.records import MetricRecord, ScoreRecord
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, TAXONOMIES
from annotator.protocols.registry import RANKING
from annotator.storage.tables import (
    AGREEMENT,
    ARTIFACT,
    CONSENSUS_VERSION,
    ITEM,
    JUDGEMENT,
    RELEASE,
    RESPONSE,
    SYSTEM,
)

GOLDSMITH, CSV = "goldsmith", "csv"
PROFILES = (GOLDSMITH, *LAYOUTS, CSV)

# Files of what people and judges wrote here; reports, sources and pages are others' texts, and may mention keys.
_SETTINGS = (
    "judges.json",
    "runs.json",
    "prompts.json",
    "judgements.json",
    "guidelines.json",
    "contest_matches.json",
    "contest_decisions.json",
)

# Kinds written about an item by which reports are not judged.
_NO_GOLD = (Kind.LABELS, Kind.QUERY, Kind.SELECTION)
# At most this many items are named.
_NAMED = 8


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
    withdrawn: str = ""

    @property
    def words(self) -> str:
        head = f"Release {self.number}   {local(self.at):%Y-%m-%d %H:%M}   {self.profile}"
        withdrawn = f"   withdrawn: {self.withdrawn}" if self.withdrawn else ""
        return f"{head}   content {self.manifest_sha256[:12]}{withdrawn}"


def in_use(project: Project) -> list[str]:
    kinds = uses.profile(project).kinds
    return [name for name in PROFILES if name not in LAYOUTS or LAYOUTS[name].kind in (None, *kinds)]


def offered() -> dict[str, tuple[str, str]]:
    own = {
        name: (layout.title, f"{layout.holds}, as that project's tools read.")
        for name, layout in LAYOUTS.items()
    }
    ours = (
        "JSON with schemas and checksums, flat rows for datasets and Croissant, and a card for Hugging Face. Importing "
        "it back gives the same project."
    )
    tables = (
        "CSV files for pandas or a spreadsheet; cells that a spreadsheet would run as formulas are escaped."
    )
    return {GOLDSMITH: ("Release", ours), **own, CSV: ("Tables", tables)}


def written(project: Project) -> list[NumberedRelease]:
    question = select(RELEASE.c.number, RELEASE.c.profile, RELEASE.c.at, RELEASE.c.manifest_sha256)
    withdrawn = published(project).withdrawn
    return [
        NumberedRelease(*row, withdrawn[row.number].reason if row.number in withdrawn else "")
        for row in project.query(question.order_by(RELEASE.c.number.desc()))
    ]


def named(project: Project, number: int) -> NumberedRelease:
    """The release with that number; raises Refusal if there is none."""
    for each in written(project):
        if each.number == number:
            return each
    raise Refusal(f"There is no release {number}.", "“release list” names those that were written.")


def open_items(project: Project) -> tuple[dict[str, str], dict[str, str]]:
    """The items whose final pass is not signed, and those without settled gold: id → key."""
    item = ITEM.c
    used = select(item.id, item.key).where(item.retired.is_(False)).order_by(item.position, item.key)
    with project.store.read() as db:
        held = [annotating.judged_items(db, kind) for kind in Kind if kind not in _NO_GOLD]
        held.append(select(RESPONSE.c.item_id).where(RESPONSE.c.mode == EXEMPLAR))
        without = dict(db.execute(used.where(*(item.id.not_in(ids) for ids in held))).all())
        signed = final_pass.all_checks(db)
        keys = db.execute(used).all()
    return {own: key for own, key in keys if final_pass.unsigned(signed.get(own, {}))}, without


def open_points(project: Project) -> list[str]:
    """What a reader of a release would miss: signatures, gold, and answers; each with what to do about it."""
    unsigned, without = (list(keys.values()) for keys in open_items(project))
    unanswered_fields = unanswered(project)
    points = {
        f"The final pass is not signed for {_listed('item', unsigned)}: sign it (Final pass; “final sign”).": unsigned,
        f"There is no settled gold for {_listed('item', without)}: write, adjudicate or retire.": without,
        f"Readers will ask {unanswered_fields}: answer (Settings → Project; “release describe”).": unanswered_fields,
    }
    return [words for words, lacking in points.items() if lacking]


def open_questions(project: Project) -> list[str]:
    """The questions of readers that the release does not answer yet, each as title, colon, question."""
    return publication.open_questions(metadata(project))


def unanswered(project: Project) -> str:
    """The number of open questions of readers, and the first of them, in words; empty if none."""
    titles = [words.partition(":")[0] for words in open_questions(project)]
    return _listed("question", titles, 3) if titles else ""


def metadata(project: Project) -> ReleaseMetadata:
    """The project's release metadata; in older projects at most a licence and a description."""
    older = {name: project.get(name, "") for name in ("licence", "description")}
    return ReleaseMetadata.model_validate(project.get(METADATA, older))


def proposals(project: Project) -> dict[str, str]:
    """Proposed answers, from People and the project, to unanswered questions; not confirmed by anybody."""
    counts, answers, today = items.content_counts(project), metadata(project), now().date().isoformat()
    authors = ", ".join(author.name for author in answers.authors)
    used = ITEM.c.retired.is_(False)
    by_people = JUDGEMENT.c.rater_kind == RaterKind.PERSON.value
    with project.store.read() as db:
        writers, labellers, languages, subjects, systems = (
            sorted(set(db.execute(question.distinct()).scalars()) - {""})
            for question in (
                select(ARTIFACT.c.author_id), select(JUDGEMENT.c.rater_id).where(by_people),
                select(ITEM.c.language).where(used), select(ITEM.c.subject).where(used), select(SYSTEM.c.name),
            )
        )  # fmt: skip
        compared, adjudicated = (
            int(db.execute(select(func.count()).select_from(table)).scalar() or 0)
            for table in (AGREEMENT, CONSENSUS_VERSION)
        )
    questions, reports = counted(counts["items"], "item"), counted(counts["responses"], "report")
    by_judges = counts["judgements"] - counts["labels"]
    about = f" on {_first(subjects)}" if subjects else ""
    material = f"{questions} and {reports} of {counted(counts['systems'], 'system')}"
    proposed = {
        "title": project.title,
        "version": "1.0.0",
        "published": today,
        "citation": f"{authors} ({today[:4]}). {answers.title or project.title}." if authors else "",
        "languages": ", ".join(languages),
        "collection": _true({
            f"{material} were collected.": counts["items"],
            "Experts wrote the gold without sight of one another's work.": len(writers) > 1,
            "Where they differed, an adjudicator settled it.": adjudicated,
        }),
        "annotators": _true({
            f"{counted(len(writers), 'person', 'people')} wrote gold.": writers,
            f"{counted(len(labellers), 'person', 'people')} labelled reports.": labellers,
        }),
        "limits": _true({
            f"The figures rest on {material}; where intervals overlap, no system is shown to be better.": by_judges
            or labellers,
            "The gold is that of one person, so how far experts agree on it is not known.": len(writers) == 1,
            "No two experts' work on the same item was compared.": len(writers) > 1 and not compared,
            f"{counted(by_judges, 'verdict')} {'is' if by_judges == 1 else 'are'} those of judges.": by_judges,
            "No person labelled what they judged.": by_judges and not labellers,
        }),
        "biases": _true({
            f"The questions are in {_first(languages)}{about}.": languages,
            f"The reports are by {_first(systems)}.": systems,
            "What is not among these is not represented.": languages,
        }),
        "social_impact": "It may help those who build or choose such systems. It may harm those who rely on a system "
        "beyond what was tested: its figures do not show that a report is safe to act on.",
        "maintenance": "Mistakes are reported to the contact. Corrections and withdrawn releases stand in CHANGELOG.md "
        "with their reasons. No end is set.",
    }  # fmt: skip
    return {name: words for name, words in proposed.items() if words and not getattr(answers, name)}


def _true(sentences: Mapping[str, object]) -> str:
    return " ".join(words_that_hold(sentences))


def _first(names: Sequence[str], most: int = _NAMED) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def describe(project: Project, values: Mapping[str, str]) -> Change:
    """Answer questions about the benchmark, by their names in ReleaseMetadata; the Refusal names an invalid one.

    An empty text removes an answer.
    """
    before = metadata(project).model_dump(mode="json")
    after = well_formed(ReleaseMetadata, {**before, **values}).model_dump(mode="json")
    return change_setting(project, METADATA, "describe the benchmark", before, after)


def published(project: Project) -> Publication:
    """The publication record of a release of the project as it now is."""
    return Publication(
        metadata=metadata(project),
        canary=checking.canary(project),
        errata=project.get(ERRATA, ()),
        withdrawn=project.get(WITHDRAWN, {}),
    )


def keep(project: Project, publication: Publication, *, alone: bool) -> None:
    """Store the publication record of an imported release in settings unset here; `alone` if it has all the items."""
    tree = publication.model_dump(mode="json")
    if "metadata" in tree and metadata(project) == ReleaseMetadata():
        project.set(METADATA, tree["metadata"])
    for name, setting in (("canary", CANARY), ("errata", ERRATA), ("withdrawn", WITHDRAWN)):
        if alone and name in tree and not project.get(setting):
            project.set(setting, tree[name])


def add_erratum(project: Project, reason: str, since: Path | None = None) -> Change:
    """Record a correction and its reason, for the list of changes; with a released folder, what changed since then."""
    number, changes = (0, dict[str, list[str]]()) if since is None else changes_since(project, since)
    version = metadata(project).version
    values = {"at": now().date().isoformat(), "reason": reason.strip(), "version": version, "since": number}
    sentences = tuple(words for of_kind in changes.values() for words in of_kind)
    erratum = well_formed(Erratum, {**values, "changes": sentences})
    before = project.get(ERRATA, [])
    return change_setting(
        project, ERRATA, "note a correction", before, [*before, erratum.model_dump(mode="json")]
    )


def changes_since(project: Project, folder: Path) -> tuple[int, dict[str, list[str]]]:
    """The number of a released folder, and by kind what differs in the project as it now is."""
    older, _ = release.read([folder])
    return older.manifest.number, differences(older, gather(project)[0])


def withdraw(project: Project, number: int, reason: str) -> Change:
    """Withdraw a release; its number is not used again, and later releases say so."""
    named(project, number)
    before = project.get(WITHDRAWN, {})
    withdrawal = well_formed(Withdrawal, {"at": now().date().isoformat(), "reason": reason.strip()})
    after = {**before, str(number): withdrawal.model_dump(mode="json")}
    return change_setting(project, WITHDRAWN, f"withdraw release {number}", before, after)


def compared(older: Path, newer: Path) -> dict[str, list[str]]:
    """What changed between two releases by kind; each is a released folder, or a project as it now is."""
    return differences(_bundle_at(older), _bundle_at(newer))


def _bundle_at(path: Path) -> Bundle:
    if path.suffix != SUFFIX:
        return release.read([path])[0]
    project = Project.open(path, readonly=True)
    try:
        return gather(project)[0]
    finally:
        project.close()


def _listed(what: str, names: Sequence[str], most: int = _NAMED) -> str:
    return f"{counted(len(names), what)} ({_first(names, most)})"


def gather(
    project: Project, *, page_texts: bool = False, addresses: bool = False, without: Collection[str] = ()
) -> tuple[Bundle, list[str]]:
    with project.store.read() as db:
        contest = gathering.gathered(project)
        bundle, notes = gathering.gather(
            db, contest, page_texts=page_texts, addresses=addresses, without=without
        )
        bundle.scores = _scores(project)

        scored = {score.metric for score in bundle.scores}
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
            if info.name in scored
        ]
    bundle.prompts = gathering.of_prompts(project, bundle)
    return bundle, [*notes, *filter(None, [items.left_out(project).not_counted])]


def _open_points_checked(project: Project, *, strict: bool) -> list[str]:
    """What is open; raises Refusal if a row is damaged, or if anything is open with `strict`."""
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
            (*points, *open_questions(project)),
        )
    return points


def export(
    project: Project,
    folder: Path,
    profile: str = GOLDSMITH,
    progress: Progress | None = None,
    *,
    page_texts: bool = False,
    addresses: bool = False,
    parquet: bool = False,
    eval_records: bool = False,
    test_items: SplitAccess | None = None,
    strict: bool = False,
) -> ExportReport:
    """Write a release into a folder; raises Refusal if the folder holds anything else or the disk fails.

    Also raises Refusal if a row of the project is not as it was written: nothing damaged is published. Content released
    before gets the same number again and, byte for byte, the same files; other content the next number. The number is
    the same for every profile. The texts of cited pages leave only with `page_texts`: they belong to others. The
    addresses of judges' endpoints leave only with `addresses`. Raises Refusal if a file would contain a key in use, or
    something that looks like one among the settings. `parquet` adds the flat rows as Parquet, `eval_records` the scores
    as records of Every Eval Ever. `test_items` are those whose trait `split` is `test`, or all if none has it: released
    as they are, encrypted or left out; by default encrypted if they are marked. With `strict`, open points (see
    `open_points`) are refused; otherwise they become notes.
    """
    refuse_other(profile, PROFILES, f"“{profile}” is not a profile.", "Choose one of")
    tell = progress or silent
    tell("checking every row", 0, 4)
    points = _open_points_checked(project, strict=strict)
    tell("gathering", 1, 4)
    access, test_ids, of_access = _split_access(project, profile, test_items)
    try:
        bundle, notes = gather(
            project, page_texts=page_texts, addresses=addresses,
            without=test_ids if access is SplitAccess.LEFT_OUT else (),
        )  # fmt: skip
    except ValidationError as error:
        raise Refusal(
            "Some data in the project cannot be read. Nothing was released.",
            "Check the project (check); restore it from a backup.",
            (str(error.title),),
        ) from None
    notes = [*points, *notes, *of_access]
    if not bundle.items and test_ids:
        raise Refusal(
            "Every item is a test item, so nothing would be released.",
            "Mark the test items by a trait “split”.",
        )
    if not bundle.items:
        raise Refusal("There is nothing to release yet.", "Import or write items first.")
    tell("making files", 2, 4)
    facts = _facts(project, bundle, access, test_ids)
    parts, manifest = release.content(bundle, facts)
    checksum = release.content_sha256(manifest)
    with project.store.read() as db:
        number = _released(project, checksum) or _next_number(project, db)
    numbered = manifest.model_copy(update={"number": number})
    made = dict[str, Content]()
    if profile == GOLDSMITH:
        made = dataset.files(bundle, facts, parquet=parquet)
        made |= runnable.files(bundle, facts)
        made |= runnable.eval_records(bundle, facts) if eval_records else {}
    elif profile in LAYOUTS:
        if LAYOUTS[profile].scored:
            bundle.report_scores = _report_scores(project, notes)
        written, further = LAYOUTS[profile].files(bundle)
        made, notes = {**written}, notes + further
    elif profile == CSV:
        made = tables_csv.files(bundle)
    files = release.complete({**parts, **made}, numbered) if profile == GOLDSMITH else with_sums(made)
    kept_keys.refuse_in_files(project, {**parts, **files}, _SETTINGS)
    if facts.encryption:
        plain, _ = release.content(bundle, replace(facts, access=SplitAccess.AS_IS))
        kept_keys.refuse_in_files(project, plain, _SETTINGS)
    tell("writing", 3, 4)
    _publish(project, folder, files, number, checksum, profile)
    tell("writing", 4, 4)
    records = bundle.counts().values() if profile == GOLDSMITH else (records_in(*one) for one in made.items())
    return ExportReport(folder, tuple(sorted(files)), sum(records), number, tuple(notes))


def tested(project: Project) -> tuple[set[str], bool]:
    """The ids of the test items, and whether they are marked."""
    traits = project.query(select(ITEM.c.id, ITEM.c.traits).where(ITEM.c.retired.is_(False)))
    return tested_by({row.id: row.traits for row in traits})


def _split_access(
    project: Project, profile: str, chosen: SplitAccess | None
) -> tuple[SplitAccess, set[str], list[str]]:
    """How the test items are released, their ids, and a note if they are marked and released as they are."""
    ids, marked = tested(project)
    if chosen is SplitAccess.ENCRYPTED and profile != GOLDSMITH:
        raise Refusal(
            f"The files of “{profile}” cannot hold encrypted items.", f"Leave them out, or write {GOLDSMITH}."
        )
    usual = SplitAccess.ENCRYPTED if marked and profile == GOLDSMITH else SplitAccess.AS_IS
    access = chosen or usual
    words = f"{counted(len(ids), 'item')} marked as test can be read by everybody in these files."
    return access, ids, [words] * (marked and access is SplitAccess.AS_IS)


def _publish(project: Project, folder: Path, files: Files, number: int, checksum: str, profile: str) -> None:
    """Write the files, then in one step record the release and put the folder in its place."""
    with staged(folder, files) as put_in_place:
        if project.readonly or _released(project, checksum):
            put_in_place()
            return
        with project.store.write() as db:
            if _next_number(project, db) != number:
                raise Refusal("Another release was made at the same time.", "Export again.")
            row = {"number": number, "manifest_sha256": checksum, "profile": profile}
            db.execute(insert(RELEASE).values(**row, by=project.by, at=now()))
            record(project, db, Change("release", str(number), "release", after={"sha256": checksum}))
            put_in_place()


def _released(project: Project, checksum: str) -> int:
    """The number under which this content was released before; 0 if it was not."""
    result = project.query(select(RELEASE.c.number).where(RELEASE.c.manifest_sha256 == checksum)).scalar()
    return int(result or 0)


def _next_number(project: Project, db: Connection) -> int:
    """The number after all that were given, including withdrawn releases."""
    last = int(db.execute(select(func.max(RELEASE.c.number))).scalar() or 0)
    return max(last, *map(int, project.get(WITHDRAWN, {})), 0) + 1


def _facts(project: Project, bundle: Bundle, access: SplitAccess, test_ids: Collection[str]) -> ReleaseFacts:
    own, weights = published(project), settings.allowed(project)
    with project.store.read() as db:
        gold = {row.id for kind in Kind for row in annotating.judged_rows(db, kind).values()}
        ids = {item.id for item in bundle.items}
        awaited = {
            kind: still_awaited
            for kind, of in annotating.awaited(db).items()
            if (still_awaited := [one for one in of if one in ids])
        }
        signed = {
            item_id: checks
            for item_id, checks in final_pass.all_checks(db).items()
            if item_id in ids and checks
        }
        of_roles = items.counts(db)
    aliases = {person.id: person.alias for person in bundle.people}
    return ReleaseFacts(
        title=own.metadata.title or project.title, publication=own, gold=gold, agreement=_agreement(project, bundle),
        drafted=tuple(
        Drafted(
            one.id,
            one.kind.value,
            CONSENSUS if one.state is State.CONSENSUS else aliases.get(one.author_id, one.author_id),
            len(one.drafted),
            len(one.document["units"]),
            tuple(sorted({source.name for source in one.drafted.values()})),
        )
        for one in sorted(bundle.artifacts, key=lambda record: record.id)
        if one.drafted
    ), weights="" if weights.usual else weights.text,
        error_sample=label_sealing.sample(project),
        unadjudicated=annotating.FIRST_ALIAS if annotating.unadjudicated_counts(project) else "",
        rubric_set=bundle.rubric_set, repeats=_repeats(project, bundle), awaited=awaited, final_pass=signed,
        departures=_departures(bundle), roles=of_roles if ItemRole.SEMINAR in of_roles else {},
        without=items.left_out(project).not_counted,
        access=access, tested=test_ids,
        drawn_pairs={name: DrawnPairs.model_validate(of) for name, of in project.get(PAIRS, {}).items()},
    )  # fmt: skip


def _agreement(project: Project, bundle: Bundle) -> tuple[StageFigure, ...]:
    """The figures of each stage over all items: the frozen ones, then those by other pairings of the units."""
    from annotator.actions.agreement.agreement_figures import Names
    from annotator.actions.consensus import consensus

    places = {
        item.id: place for place, item in enumerate(sorted(bundle.items, key=lambda record: record.position))
    }
    order = list(Stage)
    frozen = sorted(bundle.agreements, key=lambda one: (places[one.item_id], order.index(one.stage)))
    with project.store.read() as db:
        by_hand = consensus.records(db, frozen)
    ways: list[tuple[str, Sequence[Agreement]]] = [("", frozen), ("the adjudicator's", by_hand)]
    judges = {judge.id: judge.name for judge in bundle.judges}
    return tuple(
        StageFigure(row.stage.value, row.field, len(row.items), figure, pairing)
        for pairing, result in (*ways, *assisting.ways(frozen, judges))
        for row in agreement_figures.pooled(project, "stage", result, Names({}, {}, {}))
        for figure in row.figures
    )


def _repeats(project: Project, bundle: Bundle) -> tuple[str, ...]:
    scored = {score.protocol for score in bundle.scores if score.trials}
    return tuple(
        f"{PROTOCOLS[name].title}: {rater.repeats.words}"
        for name, of in result_raters.raters_under(project, sorted(scored)).items()
        for rater in of
        if rater.repeats
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
    """Each report's score by each metric, as in Results; without the baseline's, which a note mentions."""
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
    """The departures from their papers of all that was scored, extracted or classified, by title."""
    scored = {score.protocol for score in bundle.scores}
    judged = {score.protocol for score in bundle.scores if score.unfit == results.FLOOR}
    extracted = {extract.kind for extract in bundle.extracts}
    departures: list[tuple[str, tuple[str, ...]]] = [
        *((protocol.title, protocol.departures) for name, protocol in PROTOCOLS.items() if name in scored),
        *(
            (paper.title, composite.departures)
            for paper, composite in COMPOSITES.values()
            if paper.name in scored
        ),
        *((one.title, one.departures) for one in EXTRACTIONS.values() if one.makes.value in extracted),
        *((taxonomy.title, taxonomy.departures) for taxonomy in TAXONOMIES.values() if taxonomy.of in scored),
        *(
            (f"{protocol.title}, by the baseline", (protocol.floor,))
            for name, protocol in PROTOCOLS.items()
            if name in judged and protocol.floor
        ),
        *([(RANKING.title, RANKING.departures)] if bundle.matches else []),
    ]
    return {title: words for title, words in dict(departures).items() if words}


CONSENSUS = "consensus"
