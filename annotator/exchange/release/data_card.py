"""The data card: a plain-language description of a release, next to its files."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from annotator.domain.experts.final_pass import ItemChecks
from annotator.domain.judges.judgement import SETTLED, RaterKind
from annotator.domain.judges.taxonomy import DrawnPairs, ErrorSample
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.page import PageState
from annotator.domain.texts.counting import counted
from annotator.exchange.release import gold_card
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.gold_card import Drafted, StageFigure
from annotator.exchange.release.markdown_tables import line, shares, table
from annotator.exchange.release.spool import tally

NO_LICENCE = "Not stated yet. Ask the project's coordinator before using these files."


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """Facts of the project about the release beyond its records.

    `agreement` are figures over all items of a stage, `drafted` the documents with units from models' drafts, `weights`
    those that criteria may have where they are not 1 to 3, `roles` how many items there are of each role where some are
    seminars, `without` that reports on those do not count.
    """

    title: str
    number: int = 1
    licence: str = ""
    description: str = ""
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
    """By what was judged or drawn, where that differs from its paper."""
    drawn_pairs: Mapping[str, DrawnPairs] = field(default_factory=dict)


def text(bundle: Bundle, facts: ReleaseFacts) -> str:
    """The card as Markdown. The release's number is left to the manifest, so that the card does not change with it."""
    parts = [f"# {line(facts.title)}", facts.description.strip() or "No description was given."]
    for heading, body in _sections(bundle, facts):
        parts += [f"## {heading}", body]
    return "\n\n".join(parts) + "\n"


def _sections(bundle: Bundle, facts: ReleaseFacts) -> Iterable[tuple[str, str]]:
    yield "What is in it", _counts(bundle)
    roles = table(("role", "items", "share"), shares(facts.roles)) if facts.roles else ""
    yield "Items", "\n\n".join(filter(None, (_items(bundle), roles, facts.without)))
    yield "Weights", _weights(bundle)
    yield "How the gold came about", gold_card.text(bundle, facts.agreement, facts.drafted)
    yield "Raters", _raters(bundle)
    if bundle.matches or bundle.decisions:
        yield "Contest of tasks", _contest(bundle)
    yield "Missing judgements", _missing(bundle)
    if bundle.pages:
        yield "Cited pages", _cited_pages(bundle)
    scores = _SCORES if not facts.weights else _scores(facts.weights)
    scores += _of_set(facts.rubric_set) if facts.rubric_set else ""
    yield "How the scores are computed", "\n\n".join((scores, *map(line, facts.repeats)))
    if facts.departures:
        yield "Differences from the papers", _departures(facts.departures)
    yield "Licence", facts.licence.strip() or NO_LICENCE
    yield "Checking the files", _CHECKSUMS


def _departures(known: Mapping[str, Sequence[str]]) -> str:
    parts = (
        "\n".join([f"{line(title)}:", "", *(f"- {line(one)}" for one in own)]) for title, own in known.items()
    )
    return "\n\n".join(parts)


_SCORES = """\
The coverage of a report is the sum of the weights of the criteria it meets, divided by the sum of the weights of
all criteria of its item: Σ wᵢ·bᵢ / Σ wᵢ, with weights of 1, 2 or 3 and bᵢ of 0 or 1. A system's figure is the mean
over items. Intervals are 95 % intervals over items: Wilson's score interval for as many yes/no units as the items
are worth, or Student's t where a figure has no bounds; `method` in `scores.json` names it, and the definition of every
other figure too. What is scored is what is here: each document in the revision that its file under `artifacts/` names.

A judgement that did not come is missing, with its cause; it never counts as a “no”. `missing` in `scores.json` says
how many were lacking behind a figure, and a figure without a value says why in `note`."""


def _scores(weights: str) -> str:
    """The same under other weights, of which some may be below 0."""
    whole = "all criteria of its item: Σ wᵢ·bᵢ / Σ wᵢ, with weights of 1, 2 or 3 and bᵢ of 0 or 1."
    reached = (
        "all criteria of its item that are above 0: Σ wᵢ·bᵢ / Σ max(wᵢ, 0), with bᵢ of 0 or 1. The project allows "
        f"these weights: {line(weights)}. A criterion of negative weight says what a report must not do."
    )
    return _SCORES.replace(whole, reached)


def _of_set(name: str) -> str:
    return (
        f"\n\nReports are scored by the criteria of the rubric set “{line(name)}” in `extracts.json`, and not by the "
        "experts' own rubrics under `artifacts/`."
    )


_CHECKSUMS = """\
`manifest.json` lists every file with its size and SHA-256; `SHA256SUMS` holds the same sums for `sha256sum -c`. The
same content gives the same bytes on every machine, so two releases can be compared file by file. People appear under
pseudonyms only."""


def _counts(bundle: Bundle) -> str:
    kinds = Counter(artifact.kind for artifact in bundle.artifacts)
    units = Counter[Kind]()
    for artifact in bundle.artifacts:
        units[artifact.kind] += len(artifact.document["units"])
    rows = [(thing, str(count), "–") for thing, count in bundle.counts().items() if thing != "artifacts"]
    rows += [(f"{kind.value} (artifact)", str(kinds[kind]), str(units[kind])) for kind in sorted(kinds)]
    return table(("thing", "how many", "units in them"), rows)


def _items(bundle: Bundle) -> str:
    if not bundle.items:
        return "There are none."
    types = shares(Counter(item.question_type or "(no type)" for item in bundle.items))
    languages = shares(Counter(item.language for item in bundle.items))
    tables = (
        table(("question type", "items", "share"), types),
        table(("language", "items", "share"), languages),
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
        (person.alias, "person", str(written[person.id]), str(given[RaterKind.PERSON, person.id]))
        for person in bundle.people
    ]
    rows += [
        (judge.name, f"judge, {judge.model or judge.kind.value}", "0", str(given[RaterKind.JUDGE, judge.id]))
        for judge in bundle.judges
    ]
    return table(("rater", "kind", "artifacts", "judgements"), rows) if rows else "There are none."


def _contest(bundle: Bundle) -> str:
    said = Counter(one.rater_name for one in bundle.matches if one.value is not None)
    held = Counter(f"held back: {one.reason}" for one in bundle.decisions if not one.kept)
    decided = held + Counter(kept=sum(one.kept for one in bundle.decisions))
    raters = table(("rater", "comparisons"), [(name, str(many)) for name, many in sorted(said.items())])
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
