"""Views specific to one paper, and tables made from views: some columns, or lines turned into columns."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from math import inf
from statistics import fmean, median

from annotator.actions.authoring import settings
from annotator.actions.items import materials
from annotator.actions.papers import human_agreement
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    no_choices,
    picture,
    text,
)
from annotator.actions.studies import result_views
from annotator.actions.validation import validation_views
from annotator.domain.common import counted, grouped, nested
from annotator.domain.judges.paper import ViewTable
from annotator.domain.judges.protocol import Metric, Over, Protocol, RatedResponse, ScoreAim
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.item import CONTINUATION, EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS, papers
from annotator.protocols.registry import (
    CitedWork,
    ReportFigures,
    cited_works,
    leakage,
    report_figures,
)
from annotator.stats.agreement.agreement import krippendorff_alpha
from annotator.stats.agreement.levels import MEASURES, over_items, within_items

WINDOWED, WINDOWED_METRIC = next(
    (protocol, metric) for protocol in PROTOCOLS.values() for metric in protocol.metrics if metric.by_window
)


def windows_choices(project: Project) -> tuple[ViewChoice, ...]:
    modes = [cut_choice for cut_choice in results.cut_choices(project) if cut_choice.name == "mode"]
    return (results.rater_choice(project, WINDOWED.name), *modes)


def windows(project: Project, judge: str = "", mode: str = "") -> tuple[ResultSheet, ...]:
    """A row for each system, a column for each window asked about, from one rater's set of verdicts.

    Empty while nobody has judged.
    """
    info = scoring.named(WINDOWED_METRIC.name)
    rater = result_raters.chosen(result_raters.everybody(project, WINDOWED.name), judge)
    if rater is None:
        return ()
    counts = mode or scoring.main_mode(project)
    responses = [
        response
        for response in scoring.judged_responses(project, WINDOWED, rater.id, mode=mode)
        if response.material.response.mode == counts and response.material.response.mode != EXEMPLAR
    ]
    named = results.systems_named(project)
    present = {response.material.response.system_id for response in responses}
    systems = [name for name in named if name in present]
    covered: dict[str, dict[int, Estimate]] = {named[one]: {} for one in systems}
    asked_about = range(settings.width(project) + 1)
    for window in asked_about:
        protocol = _within(window)
        result = [score for response in responses for score in scoring.scores_of(protocol, response)]
        for system, mean in zip(
            systems, results.estimates(result, systems, WINDOWED_METRIC.within), strict=True
        ):
            covered[named[system]][window] = mean
    if not covered:
        return ()
    title = f"{info.title} by window"
    return (
        ResultSheet(
            "windows",
            title,
            columns(
                SYSTEM_COLUMN,
                *(
                    (
                        f"w{w}",
                        f"w = {w}",
                        "Sources of the same sentence" if w == 0 else f"Sources up to {w:,} sentences away",
                    )
                    for w in asked_about
                ),
            ),
            tuple(
                SheetLine((text(system), *(figure(row[w]) for w in asked_about)))
                for system, row in covered.items()
            ),
            (
                "One set of verdicts gives every window: a wider one holds what the narrower ones hold, so no line "
                "falls.",
                *(
                    ("Wider windows can be asked about. Run: goldsmith judge window.",)
                    if len(asked_about) == 2
                    else ()
                ),
            ),
            (
                picture(
                    "windows",
                    title,
                    pictures.lines,
                    {system: list(row.items()) for system, row in covered.items()},
                    "w, in sentences",
                    info.title,
                ),
            ),
            rater=rater,
        ),
    )


def _within(window: int) -> Protocol:
    by_window = WINDOWED_METRIC.by_window or (lambda *_: Estimate(None))
    metric = replace(WINDOWED_METRIC, score=lambda scored, over_valid: by_window(scored, over_valid, window))
    return replace(WINDOWED, metrics=(metric,))


WINDOWS_VIEW = result_views.ResultView(
    "windows",
    "By window",
    result_views.SYSTEMS,
    "How far from a sentence the sources stand that bear it out.",
    "Have sentences drawn from the reports, and run a judge on the claims that their sources cover.",
    windows_choices,
    windows,
    rests_on=(WINDOWED.name,),
)


CONTINUED = next(protocol for protocol in PROTOCOLS.values() if protocol.mode == CONTINUATION)
AVERAGE = "Average"


def continuations(project: Project) -> tuple[ResultSheet, ...]:
    """Systems with their means, then the continuations, the most suspicious first."""
    figures = nested(
        (row.system, row.metric, row.estimate)
        for row in results.rows(project, protocol=CONTINUED.name)
        if row.group_by == scoring.ALL
    )
    pool = [
        RatedResponse(material, {})
        for at_hand in materials.each(project, materials.for_scoring(CONTINUED), materials.item_ids(project))
        for material in at_hand.responses
    ]
    named = results.systems_named(project)
    result = [continuation for continuation in leakage.compared(pool) if continuation is not None]
    rows = [
        (
            continuation.scored.material.item.key,
            named[continuation.scored.material.response.system_id],
            continuation,
        )
        for continuation in result
    ]
    rows.sort(key=lambda line: (not line[2].marked, -line[2].cut.composite, line[0], line[1]))
    if not rows:
        return ()
    heads = columns(
        SYSTEM_COLUMN,
        *((key_of(metric.name), metric.title) for metric in CONTINUED.metrics),
        ("count", "Count", "Continuations above the threshold, as printed"),
        ("continuations", "Continuations"),
    )
    systems = ResultSheet(
        "systems",
        "Similarity of continuations",
        heads,
        tuple(_systems(figures, rows)),
        (
            "Means over the continuations of a system; the last row is the mean of the rows above it.",
            "Marked and cut: what is as long as the half held back is compared, and ten words in a row are marked.",
        ),
    )
    heads = columns(
        ("item", "Item"), SYSTEM_COLUMN, ("marked", "To look at"), ("composite_cut", "Composite (cut)"),
        ("run", "Words in a row"), ("composite", "Composite"), ("string", "String"), ("tfidf", "TF-IDF"),
        ("overlap", "Overlap"), ("continuation", "Continuation"),
    )  # fmt: skip
    each = tuple(
        SheetLine((
            text(item), text(system), text("yes" if continuation.marked else "no"),
            _two(continuation.cut.composite), count(continuation.run),
            _two(continuation.whole.composite), _two(continuation.whole.string), _two(continuation.whole.tfidf),
            _two(continuation.whole.overlap),
            text(" ".join(continuation.scored.material.response.text.split())[:300],
                 continuation.scored.material.response.text),
        ))
        for item, system, continuation in rows
    )  # fmt: skip
    return systems, ResultSheet("continuations", "Continuations one by one", heads, each)


def _systems(
    figures: Mapping[str, Mapping[str, Estimate]],
    rows: Sequence[tuple[str, str, leakage.ComparedContinuation]],
) -> Iterator[SheetLine]:
    leaked = CONTINUED.metrics[0].name
    systems = {system: own for system, own in figures.items() if own[leaked].value is not None}
    counts = {
        system: sum(continuation.whole.leaked for _, name, continuation in rows if name == system)
        for system in systems
    }
    for system, own in systems.items():
        cells = (figure(own[metric.name]) for metric in CONTINUED.metrics)
        yield SheetLine((text(system), *cells, count(counts[system]), count(own[leaked].n)))
    means = (
        Estimate(
            fmean(own[metric.name].value or 0.0 for own in systems.values()), method="mean of the systems"
        )
        for metric in CONTINUED.metrics
    )
    sizes = [own[leaked].n for own in systems.values()]
    yield SheetLine((
        text(AVERAGE), *map(figure, means), count(fmean(counts.values()), form=".1f"), count(fmean(sizes), form=".1f"),
    ))  # fmt: skip


def _two(value: float) -> SheetCell:
    return count(value, form=".2f")


VIEW = result_views.ResultView(
    "leakage",
    "Leakage",
    result_views.SYSTEMS,
    "Whether systems write the second half of a task when they are given the first.",
    "Ask systems to continue tasks.",
    no_choices,
    continuations,
    page="Material",
    command="goldsmith respond FILE --system S --mode continuation",
    rests_on=(CONTINUATION,),
)


Means = dict[str, tuple[int, dict[str, float]]]
Cited = dict[str, list[CitedWork]]
NOTES = ("Means over the reports of a system, without their lists of references.", ReportFigures.PRINTED)


def statistics_report(project: Project) -> Means:
    """System → the number of its reports, and their means; of reports that count in the results."""
    modes = scoring.counted_modes(project)
    of = grouped(
        (material.response.system_id, report_figures(material))
        for at_hand in materials.each(project, materials.MaterialRequest(()), materials.item_ids(project))
        for material in at_hand.responses
        if material.response.mode in modes
    )
    named = results.systems_named(project)
    return {
        named[system]: (
            len(of[system]),
            {
                field.name: fmean(getattr(each, field.name) for each in of[system])
                for field in fields(ReportFigures)
            },
        )
        for system in named
        if system in of
    }


def statistics_sheets(statistics: Means) -> tuple[ResultSheet, ...]:
    sheet = ResultSheet(
        "report_statistics",
        "Report statistics",
        columns(
            SYSTEM_COLUMN,
            ("reports", "Reports"),
            ("characters", "Characters", "Without its lists of references"),
            ("words", "Words", "Separated by white space"),
            ("sentences", "Sentences", "Of its body: no headings, tables, code or lists of references"),
            ("references", "Different sources", "That its sentences cite"),
            ("citations", "Citations", "In its text, outside its lists of references"),
        ),
        tuple(
            SheetLine((text(system), count(many), *(count(mean, form=",.1f") for mean in means.values())))
            for system, (many, means) in statistics.items()
        ),
        NOTES,
        departures=ReportFigures.DEPARTURES,
    )
    return (sheet,) if statistics else ()


# The columns of works that an exemplar cites, and the condition for each.
SHARES: Mapping[tuple[str, str], Callable[[CitedWork], bool]] = {
    ("important_arxiv", "Important, on arXiv"): lambda one: one.importance == "important" and one.on_arxiv,
    ("important_other", "Important, not on arXiv"): lambda one: (
        one.importance == "important" and not one.on_arxiv
    ),
    ("not_essential", "Not essential"): lambda one: one.importance not in ("", "important"),
    ("not_marked", "Not marked"): lambda one: not one.importance,
}
# Two classes of citation counts are a factor of ten; the last one is open.
EDGES = (0, 1, 3, 10, 32, 100, 316, 1000, 3162, 10_000, 31_623)


def exemplars(project: Project) -> Cited:
    """The works that each item's exemplar cites, by item key; of items with gold references."""
    material = materials.MaterialRequest(
        (Kind.EVIDENCE,), texts=False, pages=True, page_texts=False, parts=False
    )
    result = {}
    for at_hand in materials.each(project, material, materials.item_ids(project)):
        own = next((response for response in at_hand.responses if response.response.mode == EXEMPLAR), None)
        if own is not None and (works := cited_works(own)):
            result[at_hand.item.key or at_hand.item.id] = works
    return result


def exemplar_sheets(works: Cited) -> tuple[ResultSheet, ...]:
    """The importance of each exemplar's works, the citations of all of them, and the resulting statistics."""
    if not works:
        return ()
    return (_shares(works), *([_citations(works)] if _known(works) else []), _statistics(works))


def _shares(cited_works: Cited) -> ResultSheet:
    order = sorted(cited_works, key=lambda key: (-len(cited_works[key]), key))
    counts = {
        title: [sum(map(holds, cited_works[key])) for key in order] for (_, title), holds in SHARES.items()
    }
    open_ = sum(not work.importance for works in cited_works.values() for work in works)
    notes = (
        "Every work counts once; the exemplar that cites the most stands first.",
        f"{counted(open_, 'work')} not marked: Author, the item's evidence, or a judge, says which are important.",
    )
    return _sheet(
        "exemplar_references",
        "References of each exemplar by importance",
        columns(ITEM_COLUMN, ("works", "Cited works"), *SHARES),
        tuple(
            SheetLine((text(key), *map(count, (len(cited_works[key]), *own))))
            for key, *own in zip(order, *counts.values(), strict=True)
        ),
        notes[: 2 if open_ else 1],
        (order, counts),
        stacked=True,
    )


def _sheet(
    key: str,
    title: str,
    heads: tuple[SheetColumn, ...],
    lines: tuple[SheetLine, ...],
    notes: tuple[str, ...],
    bars: tuple[Sequence[str], Mapping[str, Sequence[int]]],
    *,
    stacked: bool = False,
) -> ResultSheet:
    return ResultSheet(
        key,
        title,
        heads,
        lines,
        notes,
        (picture("bars", title, pictures.bars, *bars, "Works", stacked=stacked),),
    )


def _known(cited_works: Cited, *, arxiv: bool = False) -> list[int]:
    works = (one for of in cited_works.values() for one in of if one.on_arxiv or not arxiv)
    return [work.citations for work in works if work.citations is not None]


def _citations(cited_works: Cited) -> ResultSheet:
    heads = columns(("citations", "Citations"), ("all", "All references"), ("arxiv", "References on arXiv"))
    ranges = (f"{low:,} to {high - 1:,}" for low, high in pairwise(EDGES[1:]))
    names = ["0", *ranges, f"{EDGES[-1]:,} and more"]
    bins = {
        head.title: [
            sum(low <= one < high for one in _known(cited_works, arxiv=head.key == "arxiv"))
            for low, high in pairwise((*EDGES, inf))
        ]
        for head in heads[1:]
    }
    lines = (
        SheetLine((text(name), *map(count, row))) for name, *row in zip(names, *bins.values(), strict=True)
    )
    unknown = sum(work.citations is None for works in cited_works.values() for work in works)
    note = f"Of {counted(unknown, 'work')} the citations are not known. Run: goldsmith sources works."
    return _sheet(
        "citation_counts",
        "Citations of the exemplars' references",
        heads,
        tuple(lines),
        (note,) if unknown else (),
        (names, bins),
    )


def _statistics(cited_works: Cited) -> ResultSheet:
    important, *_ = SHARES.values()
    marked = [
        sum(map(important, works)) for works in cited_works.values() if any(work.importance for work in works)
    ]
    each = [median(own) for works in cited_works.items() if (own := _known(dict([works]), arxiv=True))]
    rows: list[tuple[str, str, Callable[..., float], Sequence[float]]] = [
        ("# Important References from ArXiv.org", "Ref. Cov.", fmean, marked),
        ("Median number of citations per reference from ArXiv.org", "Doc. Imp.", fmean, each),
    ]
    rows += [
        (
            f"{name} over all references from {where} at once",
            "Doc. Imp.",
            over,
            _known(cited_works, arxiv=arxiv),
        )
        for arxiv, where in ((True, "ArXiv.org"), (False, "anywhere"))
        for name, over in (("Median", median), ("Mean", fmean))
    ]
    return ResultSheet(
        "exemplar_statistics",
        "References of the exemplars",
        columns(
            ("statistic", "Statistic"),
            ("value", "Avg. value over human-written exemplars"),
            ("metric", "Relevant Metric"),
            ("n", "n"),
        ),
        tuple(
            SheetLine((
                text(name), count(float(over(values)) if values else None, form=",.2f"), text(metric),
                count(len(values)),
            ))
            for name, metric, over, values in rows
        ),
        ("The first two are means over exemplars, and n counts these; n of the others counts references.",),
    )  # fmt: skip


EXEMPLARS = result_views.ResultView(
    "exemplar-references",
    "Exemplars' references",
    result_views.BENCHMARK,
    "Which of the works that exemplars cite are important, and how often all of them are cited.",
    "It needs sections that people wrote, with the works that they cite as gold evidence and, for citations, a look-up "
    "of these works.",
    no_choices,
    exemplars,
    exemplar_sheets,
    "Import",
    command="goldsmith import FILE FOLDER, then goldsmith sources works FILE",
    rests_on=(EXEMPLAR, Kind.EVIDENCE),
)
STATISTICS_VIEW = result_views.ResultView(
    "report-statistics",
    "Report statistics",
    result_views.SYSTEMS,
    "How long each system's reports are, and how much they cite.",
    "Import reports, or have a model write them.",
    no_choices,
    statistics_report,
    statistics_sheets,
    "Import",
    rests_on=(result_views.REPORTS_THERE,),
)


AIMS: dict[str, ScoreAim] = {aim.metric: aim for paper in papers() for aim in paper.score_aims}
# The number of people who rate each response in the paper.
LEAST = 3
DEPARTURES = (
    "Rates are correlated one by one, those of which less is better as 1 − rate: the paper does not say which of its "
    "three rates stands for KAE, nor n, the sample, the scale that people rated on, or how far they agreed.",
    "ρ is r of mean ranks and τ is τ-b, so that ties count; Eq. 16 holds only where there are none. Intervals are over "
    "items. Within items ρ tells whether systems are ranked alike on one task, whatever the spread between tasks.",
)


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """One metric by one judge beside people: the scores of each response that both have, and its item."""

    protocol: Protocol
    metric: Metric
    judge: result_raters.ResultRater
    items: Sequence[str]
    by_judge: Sequence[float]
    by_people: Sequence[Mapping[str, float]]
    # Responses judged by both, for which one has no complete score.
    left_out: int = 0

    @property
    def title(self) -> str:
        return self.metric.title if self.metric.higher_is_better else f"1 − {self.metric.title}"

    @property
    def raters(self) -> Sequence[int]:
        return [len(of) for of in self.by_people]

    def over(self, name: str) -> Estimate:
        return over_items(name, self.by_judge, self._means(), self.items)

    def within(self) -> Estimate:
        return within_items(self.by_judge, self._means(), self.items)

    def alpha(self) -> Estimate:
        """People's agreement with one another on the score."""
        people = sorted({rater for of in self.by_people for rater in of})
        rows = [[of.get(rater) for of in self.by_people] for rater in people]
        return krippendorff_alpha(rows, "interval", clusters=list(self.items))

    def _means(self) -> list[float]:
        return [fmean(of.values()) for of in self.by_people]


def agreement_report(project: Project) -> list[ScoreAgreement]:
    """Every quality metric on which a judge and people scored the same responses."""
    known = {info.name for info in scoring.qualities(project)}
    result = []
    for protocol in PROTOCOLS.values():
        own = [one for one in protocol.metrics if one.name in known and one.over is Over.RESPONSE]
        raters = result_raters.raters(project, protocol.name) if own and protocol.values else []
        if result_raters.PEOPLE not in {rater.id for rater in raters}:
            continue
        people, labelled = _scores(project, protocol, own, result_raters.PEOPLE)
        for judge in (rater for rater in raters if rater.id != result_raters.PEOPLE):
            theirs, judged = _scores(project, protocol, own, judge.id)
            for metric in own:
                lines = [
                    (item, next(iter(of.values())), people[metric.name][item, response])
                    for (item, response), of in theirs[metric.name].items()
                    if (item, response) in people[metric.name]
                ]
                if lines:
                    of_items, by_judge, by_people = zip(*lines, strict=True)
                    out = len(labelled & judged) - len(lines)
                    result.append(ScoreAgreement(protocol, metric, judge, of_items, by_judge, by_people, out))
    return result


Place = tuple[str, str]
Scored = dict[Place, dict[str, float]]


def _scores(
    project: Project, protocol: Protocol, own: Sequence[Metric], rater: str
) -> tuple[dict[str, Scored], set[Place]]:
    """Metric → (item, response) → rater → score, where more is better; and the responses with any verdict.

    Incomplete scores are left out.
    """
    judged: set[Place] = set()
    result: dict[str, Scored] = {metric.name: defaultdict(dict) for metric in own}
    for response in scoring.judged_responses(project, protocol, rater):
        if (scoring.ALL, scoring.ALL) not in response.groups:
            continue
        place = response.material.item.id, response.material.response.id
        for who, scored in response.ratings.items():
            if scored.values or scored.reverse:
                judged.add(place)
            for metric in own:
                value = metric.score(scored, False).value
                if value is not None:
                    result[metric.name][place][who] = (
                        value if metric.higher_is_better else sum(metric.within) - value
                    )
    return result, judged


def agreement_sheets(agreements: list[ScoreAgreement]) -> tuple[ResultSheet, ...]:
    if not agreements:
        return ()
    heads = columns(
        ("metric", "Score"), ("judge", "Judge"), ("responses", "Responses"), ("items", "Items"),
        ("raters", "People a response"),
        *((name, title) for name, (_, _, title) in MEASURES.items()),
        ("within", "ρ within items", "Spearman's ρ within each item, averaged over items"),
        ("alpha", "α of people", "Krippendorff's α between people, of the score, by squared differences"),
        *((f"published_{name}", f"Published {title}") for name, (_, _, title) in MEASURES.items()),
        ("place", "Place", "Where the paper prints it"),
    )  # fmt: skip
    floors = dict.fromkeys(
        words
        for agreement in agreements
        for words in results.floor_notes(agreement.judge.kind, [agreement.protocol.name])
    )
    few = (
        f"{agreement.title}, {agreement.judge.name}: {sum(n < LEAST for n in agreement.raters):,} of "
        f"{len(agreement.raters):,} responses were rated by fewer than {LEAST} people."
        for agreement in agreements
        if min(agreement.raters) < LEAST
    )
    left_out = (
        f"{agreement.title}, {agreement.judge.name}: {counted(agreement.left_out, 'response')} left out, of which a "
        "judgement is missing or the score is undefined."
        for agreement in agreements
        if agreement.left_out
    )
    remarks = dict.fromkeys(agreement.judge.remark for agreement in agreements if agreement.judge.remark)
    return (
        ResultSheet(
            "score_agreement",
            "Scores beside people's",
            heads,
            tuple(SheetLine(tuple(_cells(agreement))) for agreement in agreements),
            (
                "People's scores of a response are averaged. Intervals are over items.",
                *few,
                *left_out,
                *floors,
                *remarks,
            ),
            departures=DEPARTURES,
        ),
    )


def _cells(agreement: ScoreAgreement) -> Iterator[SheetCell]:
    aim, least, most = AIMS.get(agreement.metric.name), min(agreement.raters), max(agreement.raters)
    yield text(agreement.title, tip=agreement.protocol.title)
    yield text(agreement.judge.name)
    yield from (count(len(agreement.items)), count(len(set(agreement.items))))
    yield text(f"{least}" if least == most else f"{least}–{most}")
    yield from (figure(agreement.over(name)) for name in MEASURES)
    yield from (figure(agreement.within()), figure(agreement.alpha()))
    yield from (count(getattr(aim, name, None), form=".2f") for name in MEASURES)
    yield text(aim.place if aim else "–")


AGREEMENT_VIEW = result_views.ResultView(
    "score-agreement",
    "Scores beside people's",
    "Papers' tables",
    "Whether a judge's scores of responses rise and fall with those that people give.",
    "Let people label reports, three of them each report where you can, and have a judge judge the same ones.",
    no_choices,
    agreement_report,
    agreement_sheets,
    "Label",
    command="goldsmith assign FILE --stage labelling",
    rests_on=(result_views.BESIDE,),
)


VIEWS: tuple[result_views.ResultView, ...] = (
    *result_views.VIEWS,
    *validation_views.VIEWS,
    human_agreement.VIEW,
    WINDOWS_VIEW,
    STATISTICS_VIEW,
    EXEMPLARS,
    VIEW,
    AGREEMENT_VIEW,
)


def sheet(project: Project, table: ViewTable, judge: str = "") -> ResultSheet | None:
    """The table; None if the view has nothing for it with these choices."""
    choices = dict(table.chosen)
    if choices.get("mode") and scoring.modes_of(project) == (choices["mode"],):
        # If there is only one mode, it is not a choice.
        del choices["mode"]
    offered = {
        choice.name: {value for _, value in choice.values}
        for choice in result_views.named(table.view, VIEWS).choices(project)
    }
    if any(value not in offered.get(name, ()) for name, value in choices.items()):
        return None
    whose = {"judge": judge} if judge in offered.get("judge", ()) else {}
    result = result_views.show(project, table.view, {**whose, **choices}, among=VIEWS)
    whole = next((one for one in result.sheets if one.key == table.sheet), None)
    if whole is None:
        return None
    made = _picked(whole, table.columns)
    made = _turned(made, *table.turned) if table.turned else made
    made = replace(made, title=table.title or made.title)
    return (
        made
        if made.pictures
        else replace(made, pictures=next((one.pictures for one in result.sheets if one.pictures), ()))
    )


def _picked(whole: ResultSheet, columns: Sequence[tuple[str, str]]) -> ResultSheet:
    """Some columns, under other titles; columns that the view lacks, as it has no rater for them, are left out."""
    if not columns:
        return whole
    places = {whole.keys.index(key): title for key, title in columns if key in whole.keys}
    return replace(
        whole,
        columns=tuple(replace(whole.columns[place], title=title) for place, title in places.items()),
        lines=tuple(
            replace(line, cells=tuple(line.cells[place] for place in places)) for line in whole.lines
        ),
    )


def _turned(whole: ResultSheet, title: str, *first: str) -> ResultSheet:
    """Columns down and lines across, each line under the words of its first cell, the `first` ones in that order."""
    of = {line.cells[0].words: line for line in whole.lines}
    of = {name: of[name] for name in dict.fromkeys((*first, *of)) if name in of}
    heads = (SheetColumn(key_of(title), title), *(SheetColumn(key_of("of", name), name) for name in of))
    lines = (
        SheetLine((text(column.title, column.tip), *(line.cells[place] for line in of.values())))
        for place, column in enumerate(whole.columns[1:], start=1)
    )
    return replace(whole, columns=heads, lines=tuple(lines))
