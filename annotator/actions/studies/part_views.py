"""Views of parts of reports: plans as matrices, matched references, and errors of a sample."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.labelling import label_sealing
from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    RUN_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    picture,
    text,
)
from annotator.domain.common import Change, Refusal, counted, grouped, nested
from annotator.domain.judges.judge import RaterKind, Review, Status
from annotator.domain.judges.paper import SUBTOTAL, LabelledResponse, Taxonomy, due, mean_counts
from annotator.domain.judges.protocol import Material, Matrix, MatrixSpec, Protocol, RatedResponse
from annotator.domain.kinds.artifact import Kind, cell_id
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.extract import Matching, ResponsePart, RetrievalComparison, RetrievalMatch
from annotator.domain.stored import InformedKind
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS, TAXONOMIES
from annotator.stats.matching.matching import maximum_pairs
from annotator.storage.tables import INFORMED, RESPONSE

# The protocols whose verdicts make a matrix.
FILLED: dict[str, MatrixSpec] = {
    name: protocol.matrix for name, protocol in PROTOCOLS.items() if protocol.matrix
}
USUAL_MATRIX = next(iter(FILLED))
STATES = {True: "agreed", False: "", None: "missing"}


@dataclass(frozen=True, slots=True)
class PlanMatch:
    """The plan of one response compared with the gold plan, as one rater filled the matrix; `scores` are by metric."""

    item_id: str
    item_key: str
    system: str
    trial: int
    response_id: str
    predicted: tuple[tuple[str, str], ...]
    gold: tuple[tuple[str, str], ...]
    cells: Matrix
    scores: Mapping[str, Estimate]
    source: FigureSource


@dataclass(frozen=True, slots=True)
class PlanMatricesReport:
    protocol: str
    rater: result_raters.ResultRater | None
    met: tuple[PlanMatch, ...]
    # The number of responses whose plan is unknown.
    unknown: int


def matrix_choices(project: Project) -> tuple[ViewChoice, ...]:
    names, systems = results.items_named(project), results.systems_named(project)
    choice = ViewChoice("protocol", "Matrix", tuple((PROTOCOLS[name].title, name) for name in FILLED))
    result = [choice] if len(FILLED) > 1 else []
    for name, spec in FILLED.items():
        only_if = ("protocol", (name,)) if len(FILLED) > 1 else None
        judges = results.rater_choice(project, name, single=True)
        matrices = tuple(
            (f"{names[hand.item.id].key}, {systems[material.response.system_id]}", material.response.id)
            for hand, material in _materials(project, PROTOCOLS[name], spec)
            if spec.rows in material.parts
        )
        result += [
            replace(judges, only_if=only_if),
            ViewChoice("of", "Matrix of", matrices, only_if),
        ]
    return tuple(result)


def _materials(
    project: Project, protocol: Protocol, spec: MatrixSpec
) -> Iterator[tuple[materials.MaterialAtHand, Material]]:
    mode = scoring.main_mode(project)
    for at_hand in materials.each(project, materials.for_counting(protocol), materials.item_ids(project)):
        for material in at_hand.responses if at_hand.own.units(spec.columns) else ():
            if material.response.mode == mode:
                yield at_hand, material


def matrix_report(project: Project, judge: str = "", protocol: str = USUAL_MATRIX) -> PlanMatricesReport:
    """Every response whose plan is known; a cell without a verdict is missing, not irrelevant."""
    definition, spec = PROTOCOLS[protocol], FILLED[protocol]
    # People are shown one by one: two people fill two matrices.
    each = (one for one in result_raters.everybody(project, protocol) if one.id != result_raters.PEOPLE)
    rater = result_raters.chosen(each, judge)
    verdicts = result_raters.spoken(project, definition, rater.id) if rater else ()
    values_of = nested((response_id, unit_id, value) for response_id, _, unit_id, value in verdicts)
    systems, result, unknown = results.systems_named(project), [], 0
    for at_hand, material in _materials(project, definition, spec):
        response, values = material.response, values_of.get(material.response.id, {})
        if spec.rows not in material.parts:
            unknown += 1
            continue
        result.append(
            PlanMatch(
                at_hand.item.id,
                at_hand.item.key,
                systems[response.system_id],
                response.trial,
                response.id,
                tuple((unit.id, unit.text) for unit in material.units(spec.rows)),
                tuple((unit.id, unit.text) for unit in material.units(spec.columns)),
                spec.cells(material.units(spec.rows), material.units(spec.columns), values),
                {
                    metric.name: metric.score(RatedResponse(material, values), True)
                    for metric in definition.metrics
                },
                FigureSource(
                    protocol, rater.id if rater else "", item_id=at_hand.item.id, response_id=response.id
                ),
            )
        )
    return PlanMatricesReport(protocol, rater, tuple(result), unknown)


def matrix_sheets(report: PlanMatricesReport, of: str = "") -> tuple[ResultSheet, ...]:
    if not report.met:
        return ()
    chosen = next((match for match in report.met if match.response_id == of), report.met[0])
    return (_readings(report), _matrix(chosen))


def _readings(report: PlanMatricesReport) -> ResultSheet:
    metrics = PROTOCOLS[report.protocol].metrics
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, RUN_COLUMN, ("predicted", "Predicted", "Sub-tasks of the report's plan"),
        ("gold", "Gold", "Sub-tasks of the gold plan"),
        *((key_of(metric.name), metric.title) for metric in metrics),
    )  # fmt: skip
    lines = [
        SheetLine(
            (
                text(match.item_key), text(match.system), count(match.trial), count(len(match.predicted)),
                count(len(match.gold)),
                *(replace(figure(match.scores[metric.name]), metric=metric.name) for metric in metrics),
            ),
            match.item_id, response_id=match.response_id, source=match.source, picture=match.response_id,
        )
        for match in report.met
    ]  # fmt: skip
    judge = f"Judged by {report.rater.name}. " if report.rater else ""
    unknown = f"Without a known plan, not counted as zero: {counted(report.unknown, 'report')}."
    notes = (f"{judge}{FILLED[report.protocol].about}", *([unknown] if report.unknown else []))
    return ResultSheet(
        "readings", "Both readings", heads, tuple(lines), notes, tuple(map(_picture, report.met))
    )


def _matrix(match: PlanMatch) -> ResultSheet:
    pairs = _matching(match)
    gold = [(f"G{place}", words) for place, (_, words) in enumerate(match.gold, start=1)]
    heads = columns(
        ("predicted", "Predicted sub-task"), *((place.lower(), place, words) for place, words in gold)
    )
    lines = []
    for i, (unit_id, words) in enumerate(match.predicted):
        cells = [_cell(match, i, j, (i, j) in pairs) for j in range(len(match.gold))]
        head = SheetCell(f"P{i + 1}  {words}", f"{i:04}", words, value=words)
        lines.append(SheetLine((head, *cells), match.item_id, unit_id, response_id=match.response_id))
    return ResultSheet(
        "matrix",
        "Matrix",
        heads,
        tuple(lines),
        (
            f"Item {match.item_key}, {match.system}: predicted sub-tasks down, gold ones across; "
            "◉ belongs to the matching.",
            "  ".join(f"{place} {words}" for place, words in gold),
        ),
        (_picture(match),),
    )


def _cell(match: PlanMatch, i: int, j: int, matched: bool) -> SheetCell:
    spec, held = FILLED[match.source.protocol], match.cells[i][j]
    words = {True: spec.match, False: spec.none, None: "missing"}[held]
    description = f"P{i + 1} and G{j + 1}: {words}{', matched' if matched else ''}\n"
    description += f"{match.predicted[i][1]}\n{match.gold[j][1]}"
    shown = f"◉ {words}" if matched else f"● {words}" if held else words
    source = replace(match.source, unit_id=cell_id(match.predicted[i][0], match.gold[j][0]))
    return SheetCell(shown, words, description, STATES[held], source, value=words)


def _matching(match: PlanMatch) -> list[tuple[int, int]]:
    return maximum_pairs([[bool(cell) for cell in row] for row in match.cells]) if match.cells else []


def _picture(match: PlanMatch) -> SheetPicture:
    return picture(
        match.response_id,
        f"{match.item_key}, {match.system}: full relevant, ringed matched, ? missing",
        pictures.matrix,
        [f"P{n} {words}" for n, (_, words) in enumerate(match.predicted, start=1)],
        [f"G{n} {words}" for n, (_, words) in enumerate(match.gold, start=1)],
        match.cells,
        _matching(match),
    )


# The protocols that match references with gold ones.
MATCHED_BY: dict[str, Matching] = {
    name: protocol.matching for name, protocol in PROTOCOLS.items() if protocol.matching
}
USUAL_MATCHING = next(iter(MATCHED_BY))
EVERY = "All"
WHY = {
    "doi": "the same DOI",
    "arxiv": "the same arXiv id, its version left out",
    "title": "the same first 20 characters of the title",
}
MATCHED, SUPERFLUOUS, LACKING = "match", "retrieved, not gold", "gold, not found"
NO_KEY = "no key of another reference equals one of its own"
CONFLICT = "no match: same title, another DOI or arXiv id"


@dataclass(frozen=True, slots=True)
class ResponseMatches:
    """One response's references matched with gold evidence; None while its references are unknown."""

    item_id: str
    item_key: str
    system: str
    trial: int
    response_id: str
    gold: int
    comparison: RetrievalComparison | None
    scores: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    protocol: str
    matched: tuple[ResponseMatches, ...]


def matches_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of item and system, and of the protocol if several match references."""
    items = results.items_named(project).values()
    systems = results.systems_named(project).values()
    choice = ViewChoice("protocol", "Matched by", tuple((PROTOCOLS[name].title, name) for name in MATCHED_BY))
    return (
        *([choice] if len(MATCHED_BY) > 1 else []),
        ViewChoice("item", "Item", ((EVERY, ""), *((item.key, item.key) for item in items))),
        ViewChoice("system", "System", ((EVERY, ""), *((name, name) for name in systems))),
        *(cut_choice for cut_choice in results.cut_choices(project) if cut_choice.name == "mode"),
    )


def matches_report(project: Project, protocol: str = USUAL_MATCHING, mode: str = "") -> RetrievalReport:
    """All responses in one mode, by default the one that counts in the results."""
    systems, mode = results.systems_named(project), mode or scoring.main_mode(project)
    result = []
    definition = PROTOCOLS[protocol]
    for at_hand in materials.each(project, materials.for_scoring(definition), materials.item_ids(project)):
        gold = at_hand.own.units(Kind.EVIDENCE)
        for material in at_hand.responses if gold else ():
            response = material.response
            if response.mode != mode:
                continue
            result.append(
                ResponseMatches(
                    at_hand.item.id,
                    at_hand.item.key,
                    systems[response.system_id],
                    response.trial,
                    response.id,
                    len(gold),
                    MATCHED_BY[protocol].compare(material.units(ResponsePart.REFERENCES), gold)
                    if ResponsePart.REFERENCES in material.parts
                    else None,
                    tuple(metric.score(RatedResponse(material, {}), False) for metric in definition.metrics),
                )
            )
    return RetrievalReport(protocol, tuple(result))


def matches_sheets(report: RetrievalReport, item: str = "", system: str = "") -> tuple[ResultSheet, ...]:
    """Every match and every reference without one, and the figures of each report."""
    shown = [
        matches
        for matches in report.matched
        if item in ("", matches.item_key) and system in ("", matches.system)
    ]
    if all(matches.comparison is None for matches in shown):
        return ()
    return (_matches(report.protocol, shown), _reports(report.protocol, shown))


def _matches(protocol: str, shown: list[ResponseMatches]) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN,
        ("what", "What", "A match, a reference that is not gold, or a gold one that was not found"),
        ("why", "Why", "The key by which two references are known to be the same work: DOI, then arXiv id, then title"),
        ("key", "Key"), ("in_report", "In the report"), ("gold", "Gold"),
    )  # fmt: skip
    lines = [line for matches in shown for line in _lines(matches)]
    unknown = sum(matches.comparison is None for matches in shown)
    notes = [MATCHED_BY[protocol].about]
    if unknown:
        notes.append(
            f"The references of {unknown:,} of {len(shown):,} reports are not known; they are no zero."
        )
    return ResultSheet("matches", "Matches", heads, tuple(lines), tuple(notes))


def _lines(matches: ResponseMatches) -> Iterator[SheetLine]:
    if matches.comparison is None:
        return
    for match in matches.comparison.matches:
        yield _line(matches, text(MATCHED, state="agreed"), match, match.retrieved, match.gold)
    for ours, gold in matches.comparison.conflicts:
        yield _line(matches, text(CONFLICT, state="disagree"), None, ours, gold)
    for reference in matches.comparison.superfluous:
        yield _line(matches, text(SUPERFLUOUS), None, reference, None)
    for reference in matches.comparison.lacking:
        yield _line(matches, text(LACKING, state="disagree"), None, None, reference)


def _line(
    matches: ResponseMatches,
    what: SheetCell,
    match: RetrievalMatch | None,
    ours: Reference | None,
    gold: Reference | None,
) -> SheetLine:
    why = WHY[match.by] if match else CONFLICT if ours and gold else NO_KEY
    sides = [("In the report", ours), ("Gold", gold)]
    more = [(head, _whole(reference)) for head, reference in sides if reference is not None]
    cells = (
        text(matches.item_key), text(matches.system), what, text(WHY[match.by] if match else ""),
        text(match.key if match else ""),
        *(text(one.text or one.identifier, tip=_whole(one)) if one else text("") for _, one in sides),
    )  # fmt: skip
    return SheetLine(cells, matches.item_id, response_id=matches.response_id, more=(("Why", why), *more))


def _whole(reference: Reference) -> str:
    year = str(reference.year) if reference.year else ""
    return "\n".join(filter(None, (reference.text, reference.authors, year, reference.identifier)))


def _reports(protocol: str, shown: list[ResponseMatches]) -> ResultSheet:
    metrics = PROTOCOLS[protocol].metrics
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, RUN_COLUMN, ("retrieved", "Retrieved", "References of the report"),
        ("gold", "Gold", "References of the gold evidence"), ("found", "Found", "Gold references found among them"),
        *((key_of(metric.name), metric.title) for metric in metrics),
    )  # fmt: skip
    lines = []
    for matches in shown:
        own = matches.comparison
        retrieved = None if own is None else len(own.matches) + len(own.superfluous)
        cells = (
            text(matches.item_key), text(matches.system), count(matches.trial), count(retrieved), count(matches.gold),
            count(None if own is None else len(own.matches)),
            *(replace(figure(own), metric=metric.name) for own, metric in zip(matches.scores, metrics, strict=True)),
        )  # fmt: skip
        lines.append(SheetLine(cells, matches.item_id, response_id=matches.response_id))
    return ResultSheet("reports", "Report by report", heads, tuple(lines))


NONE, ANY_SYSTEM = "(no type)", "All systems"
LOOKED_AT, JUDGED = "", "judged"


@dataclass(frozen=True, slots=True)
class TaxonomyCounts:
    """A taxonomy's mean label counts per response by question type, the rater, and which responses were counted."""

    taxonomy: Taxonomy
    rater: result_raters.ResultRater | None
    means: Mapping[str, Mapping[str, Estimate]]
    taken: str


def error_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the rater whose verdicts determine what is to be labelled, of the system, and of the responses."""
    systems = results.systems_named(project).values()
    return (
        results.rater_choice(project),
        ViewChoice("system", "System", ((ANY_SYSTEM, ""), *((name, name) for name in systems))),
        ViewChoice("of", "Responses", (("Looked at", LOOKED_AT), ("All judged", JUDGED))),
        *results.cut_choices(project),
    )


@people.for_coordinators("can draw the responses whose errors are looked at")
def draw_responses(project: Project, per_system: int, seed: int = 1, systems: Sequence[str] = ()) -> Change:
    """Sample this many responses of each system at random, to look again at their verdicts; replaces an earlier sample.

    For each system, responses of the mode that counts in the results; the same seed gives the same sample.
    """
    names = results.systems_named(project)
    if unknown := set(systems) - set(names.values()):
        raise Refusal(f"There is no system “{min(unknown)}”.", f"There are: {', '.join(names.values())}.")
    if per_system < 1:
        raise Refusal("At least one response of each system must be drawn.", "Nothing was drawn.")
    items, r = results.items_named(project), RESPONSE.c
    question = select(r.id, r.item_id, r.system_id).where(r.mode == scoring.main_mode(project), r.trial == 1)
    result = grouped(
        (names[row.system_id], (items[row.item_id].key, row.id))
        for row in project.query(question)
        if row.item_id in items and (not systems or names[row.system_id] in systems)
    )
    chance = Random(seed)
    sample = [
        one
        for name in sorted(result)
        for one in chance.sample(sorted(result[name]), min(per_system, len(result[name])))
    ]
    after = {"seed": seed, "per_system": per_system, "responses": [response_id for _, response_id in sample]}
    return change_setting(
        project, label_sealing.SAMPLE, "draw responses", project.get(label_sealing.SAMPLE), after
    )


def error_report(
    project: Project, judge: str = "", system: str = "", of: str = LOOKED_AT, mode: str = "", among: str = ""
) -> tuple[TaxonomyCounts, ...]:
    """Every taxonomy over the responses that people looked at, with the latest label of each.

    For a judge's verdicts these are the sampled responses, or without a sample those with any label; for people's, the
    responses they labelled. If nobody looked at any, or for `of` JUDGED, all that were judged. By default in the mode
    that counts in the results; a response without any error counts as having none.
    """
    kinds = dict(_responses(project, system, mode, among))
    return tuple(
        _counted(project, taxonomy, judge, kinds, of)
        for taxonomy in TAXONOMIES.values()
        if not taxonomy.beside
    )


def _counted(
    project: Project, taxonomy: Taxonomy, judge: str, kinds: Mapping[str, str], of: str
) -> TaxonomyCounts:
    raters = [
        one for one in result_raters.everybody(project, taxonomy.of) if one.id != result_raters.COMPUTED
    ]
    rater = result_raters.chosen(raters, judge)
    verdicts = nested(
        ((response_id, who), unit_id, value)
        for response_id, who, unit_id, value in (
            result_raters.spoken(project, PROTOCOLS[taxonomy.of], rater.id) if rater else ()
        )
    )
    labels = _labels(project, taxonomy)
    taken, seen = _taken(project, rater, {response_id for response_id, _ in labels.get("", ())}, of)
    rejected = _rejected(project, taxonomy, rater)
    looked = []
    for (response_id, who), values in sorted(verdicts.items()):
        if response_id not in kinds or (seen and response_id not in seen):
            continue
        # A person's label is of their own verdict; a judge's verdict takes whatever label people gave the unit.
        own = labels.get(who) if rater is not None and result_raters.are_people(rater.id) else labels.get("")
        given = {
            unit: (own or {}).get((response_id, unit))
            for unit in due(taxonomy, values)
            if (response_id, unit) not in rejected
        }
        looked.append(LabelledResponse(response_id, kinds[response_id] or NONE, given))
    return TaxonomyCounts(taxonomy, rater, mean_counts(looked, taxonomy), taken)


def _rejected(
    project: Project, taxonomy: Taxonomy, rater: result_raters.ResultRater | None
) -> set[tuple[str, str]]:
    i = INFORMED.c
    question = select(i.response_id, i.unit_id).where(
        i.protocol == taxonomy.of, i.judge_id == (rater.id if rater else ""), i.kind == InformedKind.REVIEW.value,
        i.said == Review.DISAGREE.value, i.judge_value.in_(taxonomy.after),
    )  # fmt: skip
    return {(response_id, unit_id) for response_id, unit_id in project.query(question)}


def _taken(
    project: Project, rater: result_raters.ResultRater | None, labelled: Collection[str], of: str
) -> tuple[str, Collection[str]]:
    """The description and ids of the responses counted; no ids for all that were judged."""
    if of == JUDGED:
        return "all judged responses", ()
    if rater is not None and result_raters.are_people(rater.id):
        return "the responses that people labelled", ()
    if sample := label_sealing.sample(project):
        return (
            f"a draw of {sample.per_system} responses of each system (seed {sample.seed})",
            sample.responses,
        )
    if labelled:
        return (
            "the responses of which a verdict was given a kind; none without errors is among them",
            labelled,
        )
    return "all judged responses, as nobody has looked at any yet", ()


def _responses(project: Project, system: str, mode: str, among: str) -> list[tuple[str, str]]:
    items = results.items_named(project, among)
    names = results.systems_named(project)
    r = RESPONSE.c
    question = select(r.id, r.item_id, r.system_id).where(r.mode == (mode or scoring.main_mode(project)))
    rows = project.query(question).all()
    return [
        (row.id, items[row.item_id].question_type)
        for row in rows
        if row.item_id in items and system in ("", names[row.system_id])
    ]


def _labels(project: Project, taxonomy: Taxonomy) -> dict[str, dict[tuple[str, str], str]]:
    """Each person's label of each unit; under the empty name and the consensus's, the latest label of it."""
    j = counted_rows().c
    question = select(j.rater_id, j.response_id, j.unit_id, j.value).where(
        j.protocol == taxonomy.name, j.rater_kind == RaterKind.PERSON.value, j.status == Status.OK.value
    )
    with project.store.read() as db:
        return nested(
            (who, (response_id, unit_id), value)
            for rater, response_id, unit_id, value in db.execute(question.order_by(j.at, j.id))
            for who in (rater, "", result_raters.CONSENSUS)
        )


def error_sheets(countses: tuple[TaxonomyCounts, ...]) -> tuple[ResultSheet, ...]:
    """A sheet for each taxonomy with anything judged: question types down, labels across."""
    return tuple(_sheet(counts) for counts in countses if counts.means)


def _sheet(counts: TaxonomyCounts) -> ResultSheet:
    labels = [*counts.taxonomy.values, *([SUBTOTAL] if counts.taxonomy.whole else [])]
    heads = columns(
        ("question_type", "Question type"),
        ("responses", "Responses", "Looked at, with or without errors; of people, once for each who labelled"),
        *((key_of(label), _words(label)) for label in labels),
        *([("without_a_label", "Without a label", "Units whose verdict needs a label that nobody "
        "gave")] if counts.taxonomy.whole else []),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(kind), count(first.n), *(figure(means[label]) for label in labels),
            *([count(first.missing)] if counts.taxonomy.whole else []),
        ))
        for kind, means in counts.means.items()
        for first in [next(iter(means.values()))]
    ]  # fmt: skip
    judge = counts.rater.name if counts.rater else ""
    printed = f" ({counts.taxonomy.printed})" if counts.taxonomy.printed else ""
    notes = [
        f"Mean number per response{printed}; judged by {judge}, labelled by people. Counted: {counts.taken}."
    ]
    if missing := sum(next(iter(means.values())).missing for means in counts.means.values()):
        notes.append(
            f"{counted(missing, 'unit waits', 'units wait')} for a label; until then a label's mean has only a range, "
            "and the subtotal stands."
        )
    return ResultSheet(
        key_of(counts.taxonomy.name),
        counts.taxonomy.title,
        heads,
        tuple(lines),
        tuple(notes),
        (_bars(counts, labels),)
        if any(own.value for means in counts.means.values() for own in means.values())
        else (),
        counts.taxonomy.departures,
    )


def _words(label: str) -> str:
    return label.replace("_", " ").capitalize()


def _bars(counts: TaxonomyCounts, labels: list[str]) -> SheetPicture:
    kinds = list(counts.means)
    return picture(
        counts.taxonomy.name,
        f"{counts.taxonomy.title}: mean number per response",
        pictures.bars,
        kinds,
        {_words(label): [counts.means[kind][label].value for kind in kinds] for label in labels},
        "per response",
    )
