"""The data card: a plain-language description of a release, next to its files."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotator.domain.common import counted, grouped
from annotator.domain.experts.adjudication import DROP, DisputeState, Figure, Origin, Reason, bound_of
from annotator.domain.experts.publication import (
    RESPONSIBLE_USE,
    ItemChecks,
    Publication,
    ReleaseMetadata,
    SplitAccess,
)
from annotator.domain.judges.judge import SETTLED, RaterKind
from annotator.domain.judges.paper import DrawnPairs, ErrorSample
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.material.item import PageState
from annotator.domain.texts.estimate import decimal, interval
from annotator.exchange.release.bundle import Bundle, tally
from annotator.exchange.release.encryption import Encryption
from annotator.exchange.release.records import AdjudicationRecord, RulingRecord


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(line(cell).replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def shares(counts: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """Rows of a name, its count, and its share of them all, by name."""
    total = sum(counts.values())
    return [(name, str(count), f"{100 * count / total:.1f} %") for name, count in sorted(counts.items())]


def line(words: str) -> str:
    return " ".join(words.split())


ORIGINS = {
    Origin.ONE: "one person's words",
    Origin.BOTH: "what all of them wrote",
    Origin.EDITED: "reworded by the adjudicator",
    Origin.NEW: "added by the adjudicator",
}
ALONE = "No two people's work on the same stage of an item was compared for this release."


@dataclass(frozen=True, slots=True)
class StageFigure:
    """A figure over all items of one stage; `pairing` names the pairing of units behind it, if not the matcher's."""

    stage: str
    field: str
    items: int
    figure: Figure
    pairing: str = ""


@dataclass(frozen=True, slots=True)
class Drafted:
    """The number of an artifact's units from models' drafts, the total, and the models."""

    artifact_id: str
    kind: str
    author: str
    units: int
    of: int
    models: tuple[str, ...]


def gold_card(bundle: Bundle, figures: Sequence[StageFigure], drafted: Sequence[Drafted] = ()) -> str:
    """The section as Markdown: a table of who wrote how much and what models drafted, agreement, adjudication."""
    parts = [_people(bundle), *_drafts(drafted), *_material(bundle)]
    if not bundle.agreements:
        return "\n\n".join([*parts, ALONE])
    head = ("stage", "of", "pairing", "items", "n", "figure", "value", "95 % interval", "remark")
    parts += [_agreement(bundle), table(head, map(_line, figures))]
    last = {
        one.adjudication_id: one for one in sorted(bundle.adjudications, key=lambda record: record.version)
    }
    return "\n\n".join([*parts, *_adjudication(bundle, list(last.values()))])


def _people(bundle: Bundle) -> str:
    documents, units, settled = Counter[str](), Counter[str](), Counter[str]()
    for artifact in bundle.artifacts:
        if artifact.state is State.CONSENSUS:
            settled[artifact.author_id] += 1
            continue
        documents[artifact.author_id] += 1
        units[artifact.author_id] += len(artifact.document["units"])
    labels = Counter[str]()
    for (_, kind, rater, _), many in tally(bundle.judgements).items():
        labels[rater] += many * (kind is RaterKind.PERSON)
    counts = (documents, units, labels, settled)
    rows = [(record.alias, *(str(count[record.id]) for count in counts)) for record in bundle.people]
    head = ("person", "documents written", "units in them", "labels given", "consensus made")
    return table(head, rows) if rows else "Nobody's work is in it."


def _drafts(drafted: Sequence[Drafted]) -> Iterator[str]:
    """How much of each author's documents of a kind came from a model's draft; empty if there was none."""
    if not drafted:
        return
    units = sum(one.units for one in drafted)
    models = sorted({model for one in drafted for model in one.models})
    yield (
        f"{counted(units, 'unit')} of {counted(len(drafted), 'document')} came from a model's draft: it was shown to "
        "one person alone, who took each of these units and answers for it. What was changed afterwards still counts. "
        f"Models: {', '.join(line(model) for model in models)}. `manifest.json` says under `drafted` how many units of "
        "each document they are."
    )
    groups = grouped(((one.kind, one.author), (one.units, one.of)) for one in drafted)
    rows = [
        (*group, *(str(sum(n)) for n in zip(*counts, strict=True)))
        for group, counts in sorted(groups.items())
    ]
    yield table(("kind", "by", "units from a draft", "of units"), rows)


def _material(bundle: Bundle) -> Iterator[str]:
    drafted = [source for source in bundle.sources if source.drafted]
    if drafted:
        yield (
            f"{counted(len(drafted), 'source')} {_were(len(drafted))} drafted by a model as reference material for the "
            "experts, and confirmed by a person before anybody was shown it; `drafted` in `sources.json` says by which "
            "model, by whom and when."
        )


def _agreement(bundle: Bundle) -> str:
    items = {agreement.item_id for agreement in bundle.agreements}
    raters = {given.person_id for record in bundle.agreements for given in record.inputs}
    matchers, programs, guidelines = (
        ", ".join(sorted(result))
        for result in (
            {agreement.matcher for agreement in bundle.agreements},
            {agreement.program for agreement in bundle.agreements},
            {
                f"{record.stage.value} {given.guideline}"
                for record in bundle.agreements
                for given in record.inputs
            },
        )
    )
    stages = len(bundle.agreements)
    return (
        f"{counted(stages, 'stage')} on {counted(len(items), 'item')} {_were(stages)} answered by two or more of "
        f"{counted(len(raters), 'person', 'people')} without sight of one another's work. How far they agreed was "
        "computed once, from the first documents that all of them had submitted, and before anybody adjudicated: "
        "an automatic matcher paired their units without knowing who wrote them. Nothing that happened later has "
        f"changed these figures; `agreement.json` holds them with their inputs. Matcher: {matchers}. Program: "
        f"{programs}. Guidelines by version: {guidelines}. `–` stands for a figure that is undefined; the remark "
        "says why."
    )


def _line(figure: StageFigure) -> tuple[str, ...]:
    result = figure.figure
    span = interval(result, lambda bound: decimal(bound, 2)) or "–"
    value = "–" if result.value is None else decimal(result.value, 2)
    head = (figure.stage, figure.field, figure.pairing or "automatic", str(figure.items), str(result.n))
    remarks = (result.note, "" if figure.pairing else bound_of(result))
    return (*head, result.name, value, span, "; ".join(filter(None, remarks)))


def _adjudication(bundle: Bundle, last: Sequence[AdjudicationRecord]) -> Iterator[str]:
    if not last:
        yield "None of it has been adjudicated yet."
        return
    rows = [row for record in last for row in record.rulings]
    unanimous = sum(row.unanimous for row in rows)
    dropped = sum(row.take == DROP for row in rows)
    yield (
        f"{len(last):,} of these {len(bundle.agreements):,} {_were(len(last))} adjudicated by somebody who was none "
        f"of the raters and saw their answers under letters. Of {counted(len(rows), 'row')}, {unanimous:,} "
        f"({100 * unanimous / max(1, len(rows)):.0f} %) {_were(unanimous)} unanimous and {dropped:,} {_were(dropped)} "
        f"dropped. {_checked(last)} {_gaps(rows)} {_disputes(bundle)} `adjudications.json` says of every unit of a "
        "consensus where it comes from and why."
    )
    origins = Counter(ORIGINS[unit.origin] for record in last for unit in record.provenance)
    yield table(("origin of a consensus unit", "units", "share"), shares(origins))
    reasons = Counter(row.reason.value for row in rows if row.reason is not None)
    if reasons:
        yield table(("reason for departing from an answer", "rows", "share"), shares(reasons))


def _checked(last: Sequence[AdjudicationRecord]) -> str:
    spot_checked = sum(record.spot_check for record in last)
    if not spot_checked:
        return "None of them was drawn for a spot check."
    many = counted(spot_checked, "unanimous stage")
    return f"{many} {_were(spot_checked)} drawn for a spot check and looked at all the same."


def _gaps(rows: Sequence[RulingRecord]) -> str:
    gaps = sum(bool(row.gap) or row.reason is Reason.GUIDELINE_GAP for row in rows)
    return (
        f"{counted(gaps, 'row')} showed a gap in the guideline."
        if gaps
        else "No row showed a gap in the guideline."
    )


def _disputes(bundle: Bundle) -> str:
    disputes = [each for record in bundle.adjudications for each in record.disputes]
    if not disputes:
        return "Nobody has objected."
    answered = sum(each.state is DisputeState.ANSWERED for each in disputes)
    return f"{counted(len(disputes), 'objection')} came back from annotators; {answered} {_were(answered)} answered."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


NO_LICENCE = "Not stated yet. Ask the project's coordinator before using these files."


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """Facts of the project about the release beyond its records.

    `gold` are the ids of the documents by which reports are judged, `agreement` are figures over all items of a
    stage, `drafted` the documents with units from models' drafts, `weights` those that criteria may have if not 1 to
    3, `roles` the number of items of each role if some are seminars, `without` states that reports on those do not
    count.
    """

    title: str
    number: int = 1
    publication: Publication = field(default_factory=Publication)
    gold: Collection[str] = ()
    agreement: tuple[StageFigure, ...] = ()
    drafted: tuple[Drafted, ...] = ()
    weights: str = ""
    error_sample: ErrorSample | None = None
    unadjudicated: str = ""
    rubric_set: str = ""
    repeats: Sequence[str] = ()
    roles: Mapping[str, int] = field(default_factory=dict)
    without: str = ""
    awaited: Mapping[str, list[str]] = field(default_factory=dict)
    final_pass: Mapping[str, ItemChecks] = field(default_factory=dict)
    departures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The departures from the papers, by protocol or extraction."""
    drawn_pairs: Mapping[str, DrawnPairs] = field(default_factory=dict)
    access: SplitAccess = SplitAccess.AS_IS
    """How test items can be read."""
    tested: Collection[str] = ()
    """Ids of the test items."""

    @property
    def encryption(self) -> Encryption | None:
        encrypted = self.access is SplitAccess.ENCRYPTED
        return Encryption(self.tested, self.publication.canary) if encrypted else None


def text(bundle: Bundle, facts: ReleaseFacts, loading: str = "") -> str:
    """The card as Markdown. The release's number is left to the manifest, so that the card does not change with it.

    `loading` describes the flat files and how to load them.
    """
    parts = [f"# {line(facts.title)}", facts.publication.metadata.description or "No description was given."]
    for heading, body in _sections(bundle, facts, loading):
        parts += [f"## {heading}", body]
    return "\n\n".join(parts) + "\n"


def _sections(bundle: Bundle, facts: ReleaseFacts, loading: str) -> Iterable[tuple[str, str]]:
    metadata = facts.publication.metadata
    if changes := corrections(facts.publication, quoted=facts.access is SplitAccess.AS_IS):
        yield "Corrections", changes
    if loading:
        yield "Loading it", loading
    if facts.access is not SplitAccess.AS_IS:
        many = counted(len(facts.tested), "test item")
        yield "Test items", (_ENCRYPTED if facts.encryption else _LEFT_OUT).format(items=many)
    if patterns := blocked_sources(metadata):
        yield "Blocked sources", _BLOCKED.format(patterns=counted(len(patterns), "pattern"))
    if about := _about(metadata):
        yield "Who made it", about
    for name in RESPONSIBLE_USE:
        if answer := getattr(metadata, name):
            yield _title(name), answer
    yield "What is in it", _counts(bundle)
    roles = table(("role", "items", "share"), shares(facts.roles)) if facts.roles else ""
    yield "Items", "\n\n".join(filter(None, (_items(bundle), roles, facts.without)))
    yield "Weights", _weights(bundle)
    yield "How the gold came about", gold_card(bundle, facts.agreement, facts.drafted)
    yield "Raters", _raters(bundle)
    if bundle.matches or bundle.decisions:
        yield "Contest of tasks", _contest(bundle)
    yield "Missing judgements", _missing(bundle)
    if bundle.pages:
        yield "Cited pages", _cited_pages(bundle)
    scores = _SCORES if not facts.weights else _scores(facts.weights)
    scores += _OF_SET.format(name=line(facts.rubric_set)) if facts.rubric_set else ""
    yield "How the scores are computed", "\n\n".join((scores, *map(line, facts.repeats)))
    if facts.departures:
        parts = (
            "\n".join([f"{line(title)}:", "", *(f"- {line(one)}" for one in own)])
            for title, own in facts.departures.items()
        )
        yield "Differences from the papers", "\n\n".join(parts)
    if metadata.citation:
        yield "Citation", f"```\n{metadata.citation}\n```"
    yield "Licence", metadata.licence or NO_LICENCE
    yield "Checking the files", _CHECKSUMS


def corrections(publication: Publication, *, quoted: bool = True) -> str:
    """The corrections and withdrawals, the newest first, as Markdown; empty if there are none.

    The changes quote items and gold: unless `quoted`, only the reasons are given.
    """
    parts = [
        f"**Release {number} was withdrawn** on {withdrawal.at}: {line(withdrawal.reason)}"
        for number, withdrawal in sorted(publication.withdrawn.items(), reverse=True)
    ]
    for erratum in reversed(publication.errata):
        head = f"{erratum.version}, {erratum.at}" if erratum.version else erratum.at
        shown = erratum.changes if quoted else ()
        since = f" Since release {erratum.since}:" if shown and erratum.since else ""
        changes = "".join(f"\n- {line(change)}" for change in shown)
        parts.append(f"**{head}** {line(erratum.reason)}{since}{chr(10) if changes else ''}{changes}")
    return "\n\n".join(parts)


def _about(metadata: ReleaseMetadata) -> str:
    authors = "; ".join(map(str, metadata.authors))
    named = {name: metadata.text(name) for name in ("version", "published", "contact", "funding", "homepage")}
    values = {"Authors": authors} | {_title(name): value for name, value in named.items()}
    return "\n".join(f"- {title}: {line(value)}" for title, value in values.items() if value)


def _title(name: str) -> str:
    return str(ReleaseMetadata.model_fields[name].title)


_SCORES = """\
The coverage of a report is the sum of the weights of the criteria it meets, divided by the sum of the weights of
all criteria of its item: Σ wᵢ·bᵢ / Σ wᵢ, with weights of 1, 2 or 3 and bᵢ of 0 or 1. A system's figure is the mean
over items. Intervals are 95 % intervals over items: Wilson's score interval for as many yes/no units as the items
are worth, or Student's t where a figure has no bounds; `method` in `scores.json` names it, and the definition of every
other figure too. What is scored is what is here: each document in the revision that its file under `artifacts/` names.

A judgement that did not come is missing, with its cause; it never counts as a “no”. `missing` in `scores.json` says
how many were lacking behind a figure, and a figure without a value says why in `note`."""


def _scores(weights: str) -> str:
    """The description of scores under other weights, some of which may be below 0."""
    whole = "all criteria of its item: Σ wᵢ·bᵢ / Σ wᵢ, with weights of 1, 2 or 3 and bᵢ of 0 or 1."
    reached = (
        "all criteria of its item that are above 0: Σ wᵢ·bᵢ / Σ max(wᵢ, 0), with bᵢ of 0 or 1. The project allows "
        f"these weights: {line(weights)}. A criterion of negative weight says what a report must not do."
    )
    return _SCORES.replace(whole, reached)


_OF_SET = (
    "\n\nReports are scored by the criteria of the rubric set “{name}” in `extracts.json`, and not by the experts' own "
    "rubrics under `artifacts/`."
)


def blocked_sources(metadata: ReleaseMetadata) -> list[str]:
    """Patterns of the addresses that a system under test must not read: the homepage, and those of the project."""
    home = re.sub(r"^https?://", "", metadata.homepage).rstrip("/")
    return list(dict.fromkeys(filter(None, (home, home and f"{home}/*", *metadata.blocked_sources))))


_BLOCKED = """\
`blocked_sources.txt` lists {patterns} of addresses, one on a line, with `*` for any letters. Questions or gold stand
there: a system under test that reads them answers from the gold, so keep them from its search and its browser, and
count no report that cites them."""

_ENCRYPTED = """\
The texts of {items} are encrypted, here and in every other file: questions, gold, reports and what was said of them.
`python decode.py FOLDER` writes this release with its texts as they were and needs nothing but Python. Do so before
`inspect_task.py` or the LM Evaluation Harness runs; Goldsmith's own `import` reads the folder as it is.

Each text is XORed with the SHA-256 of the canary, repeated to the length of the text, and written in base64 behind
`goldsmith-encrypted:`, as in BrowseComp. This keeps the texts out of what crawlers and training sets collect by
machine, and out of the searches of an agent under test. It is no secret: the key is in this folder, and anyone can
read them. Do not publish the decoded files. Ids, keys, languages, question types, verdicts and scores are not
encrypted."""

_LEFT_OUT = """\
{items} and all that belongs to them are left out of these files, so nobody can read them here. The scores are those of
the whole benchmark, with these items among them, and cannot be computed again from these files."""

_CHECKSUMS = """\
`manifest.json` lists every file of records with its size and SHA-256; `SHA256SUMS` holds the sums of all files for
`sha256sum -c`. The same content gives the same bytes on every machine, so two releases can be compared file by file.
People appear under pseudonyms only."""


def _counts(bundle: Bundle) -> str:
    kinds = Counter(artifact.kind for artifact in bundle.artifacts)
    units = Counter(artifact.kind for artifact in bundle.artifacts for _ in artifact.document["units"])
    rows = [
        *((thing, str(count), "–") for thing, count in bundle.counts().items() if thing != "artifacts"),
        *((f"{kind.value} (artifact)", str(kinds[kind]), str(units[kind])) for kind in sorted(kinds)),
    ]
    return table(("thing", "how many", "units in them"), rows)


def _items(bundle: Bundle) -> str:
    if not bundle.items:
        return "There are none."
    types = shares(Counter(item.question_type or "(no type)" for item in bundle.items))
    tables = (
        table(("question type", "items", "share"), types),
        table(("language", "items", "share"), shares(Counter(item.language for item in bundle.items))),
    )
    return "\n\n".join(tables)


def _weights(bundle: Bundle) -> str:
    weights = Counter(
        str(unit["weight"])
        for artifact in bundle.artifacts
        if artifact.kind is Kind.RUBRIC
        for unit in artifact.document["units"]
    )
    if not weights:
        return "There are no rubrics."
    return table(("weight of a criterion", "criteria", "share"), shares(weights))


def _raters(bundle: Bundle) -> str:
    given = Counter[tuple[RaterKind, str]]()
    for (_, kind, rater, _), many in tally(bundle.judgements).items():
        given[kind, rater] += many
    written = Counter(artifact.author_id for artifact in bundle.artifacts)
    rows = [
        *(
            (person.alias, "person", str(written[person.id]), str(given[RaterKind.PERSON, person.id]))
            for person in bundle.people
        ),
        *(
            (
                judge.name,
                f"judge, {judge.model or judge.kind.value}",
                "0",
                str(given[RaterKind.JUDGE, judge.id]),
            )
            for judge in bundle.judges
        ),
    ]
    return table(("rater", "kind", "artifacts", "judgements"), rows) if rows else "There are none."


def _contest(bundle: Bundle) -> str:
    comparisons = Counter(match.rater_name for match in bundle.matches if match.value is not None)
    held = Counter(f"held back: {decision.reason}" for decision in bundle.decisions if not decision.kept)
    decided = held + Counter(kept=sum(decision.kept for decision in bundle.decisions))
    raters = table(
        ("rater", "comparisons"), [(name, str(many)) for name, many in sorted(comparisons.items())]
    )
    tasks = table(("decision", "tasks"), [(why, str(many)) for why, many in sorted(decided.items())])
    return "\n\n".join((_CONTEST, raters, tasks))


_CONTEST = """\
Tasks were compared in pairs; `contest_matches.json` holds every comparison, `contest_ratings.json` what follows from
them: Elo from 1200 with K = 32 and the stated confidence as outcome, and Bradley–Terry strengths by matches won, lost
or left open, with 95 % intervals over pairs. `contest_decisions.json` says which tasks were kept and why others were
not."""


def _cited_pages(bundle: Bundle) -> str:
    read = [page for page in bundle.pages if page.state is PageState.OK]
    there = sum(bool(page.text) for page in read)
    known = (
        f"`pages.json` gives {counted(len(bundle.pages), 'cited page')} with address, title, state, the day it was "
        f"fetched and the SHA-256 of its text; {len(read):,} of them could be read."
    )
    if there:
        return (
            f"{known} The texts of {there} of these are included, as judges read them. They are the works of others: "
            "the licence below is not theirs, so mind their owners' terms before passing them on."
        )
    return (
        f"{known} Their texts are not included, since they are the works of others. A page that is fetched again can "
        "be compared with the checksum."
    )


def _missing(bundle: Bundle) -> str:
    if not bundle.judgements:
        return "There are no judgements yet."
    missing = Counter[tuple[str, str]]()
    for (protocol, _, _, status), many in tally(bundle.judgements).items():
        if status not in SETTLED:
            missing[protocol, status.value] += many
    if not missing:
        return "None: every judgement in the release has a value."
    rows = [(protocol, status, str(count)) for (protocol, status), count in sorted(missing.items())]
    return table(("protocol", "cause", "judgements"), rows)
