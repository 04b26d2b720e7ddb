"""Views of the results: their content, choices, and advice when there is nothing to show."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from sqlalchemy import func, select

from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.items.items import left_out
from annotator.actions.material import source_views
from annotator.actions.project import profile
from annotator.actions.project.file import Project
from annotator.actions.results import overview, result_raters, results, results_behind, scoring
from annotator.actions.results.result_sheets import ResultSheet, ViewChoice, no_choices
from annotator.actions.studies import pair_views, part_views, question_views, rubric_views, score_views
from annotator.domain.common import Refusal, one_of
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import CONTINUATION, EXEMPLAR
from annotator.protocols import EXTRACTIONS, PROTOCOLS, TAXONOMIES
from annotator.storage.tables import ARTIFACT, EXTRACT, ITEM, RESPONSE

SYSTEMS, REPORTS, BENCHMARK, AGREEMENT = "Systems", "Reports", "The benchmark", "Agreement"


@dataclass(frozen=True, slots=True)
class ResultView:
    """A view with its part of the page; `page` is where to go when there is nothing to show.

    `report` computes its sheets, or the input of `sheets`; `shown` names the choices that only affect the presentation
    of the computed data, `command` creates what is lacking, and `rests_on` is what a project must have (see `held`)
    before there is anything to show.
    """

    name: str
    title: str
    part: str
    about: str
    lacks: str
    choices: Callable[[Project], tuple[ViewChoice, ...]]
    report: Callable[..., Any]
    sheets: Callable[..., tuple[ResultSheet, ...]] = tuple
    page: str = "Judges"
    shown: tuple[str, ...] = ()
    command: str = "goldsmith judge run FILE --judge baseline"
    rests_on: tuple[str, ...] = ()

    def rests(self, on: Collection[str]) -> bool:
        return all(one in on for one in self.rests_on)

    @property
    def missing(self) -> str:
        return f"{self.lacks} Run: {self.command}"


# Things a project may have, besides protocols with verdicts, kinds of documents and parts of reports by name.
(
    JUDGED, COMPARED, PREFERRED, BESIDE, CHOSEN, LOOKED_AT, ITEMS, REPORTS_THERE, SEVERAL_MODES, SEVERAL_RUNS,
    SEVERAL_JUDGES, SOURCES, DATED, CUT_OFF, MATCHES,
) = (
    "scores", "wins", "preferences", "people beside judges", "ratings or origins of questions",
    "verdicts of a taxonomy", "items", "reports", "modes", "runs", "judges", "sources", "dated sources", "cut-off",
    "contest",
)  # fmt: skip


def held(project: Project) -> frozenset[str]:
    raters = {
        name: {rater.id for rater in of} for name, of in result_raters.raters_under(project).items() if of
    }
    modes = scoring.modes_of(project)
    items = results.items_named(project)
    sources = [
        source_line for source_line in source_views.source_lines(project) if source_line.item_id in items
    ]
    r, e, a = RESPONSE.c, EXTRACT.c, ARTIFACT.c
    with project.store.read() as db:
        runs = db.execute(select(func.max(r.trial))).scalar() or 0
        limited = db.execute(select(r.id).where(r.cutoff.is_not(None)).limit(1)).all()
        named = {*db.execute(select(r.mode).union(select(a.kind))).scalars()}
        origins = db.execute(select(ITEM.c.origin).where(ITEM.c.origin != "").limit(1)).all()
        extracts = {*db.execute(select(e.kind).distinct()).scalars()}
    extracted = {part.extraction for part in ResponsePart if part in extracts}
    available = {
        JUDGED: any(scoring.qualities(project)),
        COMPARED: any(raters.get(one, set()) - {result_raters.PEOPLE} for one in pair_views.JUDGED),
        PREFERRED: any(result_raters.PEOPLE in raters.get(one, ()) for one in pair_views.PAIRED),
        LOOKED_AT: any(taxonomy.of in raters for taxonomy in TAXONOMIES.values() if not taxonomy.beside),
        CHOSEN: Kind.SELECTION in named or bool(origins),
        BESIDE: any(result_raters.PEOPLE in of and len(of) > 1 for of in raters.values()),
        ITEMS: bool(items),
        REPORTS_THERE: bool(modes),
        SEVERAL_MODES: len(modes) > 1,
        SEVERAL_RUNS: runs > 1,
        SEVERAL_JUDGES: any(len(of - {result_raters.PEOPLE}) > 1 for of in raters.values()),
        CUT_OFF: bool(limited),
        SOURCES: bool(sources),
        DATED: any(source.published or source.citations is not None for source in sources),
        MATCHES: bool(contest_rows.raters(project)),
    }
    return frozenset({*raters, *named, *extracted, *(name for name, present in available.items() if present)})


def in_use(project: Project, among: "tuple[ResultView, ...]") -> dict[str, bool]:
    """The views about what the project uses, by name, each with whether its data exist here."""
    available, used, kinds = held(project), profile.protocols(project), profile.profile(project).kinds
    named = {*used, *kinds, *(part.extraction for protocol in used.values() for part in protocol.parts)}
    named |= {protocol.mode for protocol in used.values()}
    ways = {
        MATCHES: Kind.TASKS in kinds, CHOSEN: Kind.SELECTION in kinds,
        EXEMPLAR: any(protocol.exemplar for protocol in used.values()),
        COMPARED: not named.isdisjoint(pair_views.JUDGED), PREFERRED: not named.isdisjoint(pair_views.PAIRED),
        LOOKED_AT: any(taxonomy.of in used for taxonomy in TAXONOMIES.values()),
    }  # fmt: skip
    named |= {name for name, open_ in ways.items() if open_} | available
    every = {*PROTOCOLS, *Kind, *ways, CONTINUATION, *(part.extraction for part in ResponsePart)}
    return {
        view.name: view.rests(available)
        for view in among
        if named.issuperset(every.intersection(view.rests_on))
    }


def drawing(part: ResponsePart) -> str:
    name = next(extraction.name for extraction in EXTRACTIONS.values() if extraction.makes is part)
    return f"goldsmith judge extract FILE --judge NAME --extraction {name}"


NOBODY_JUDGED = "Run a judge (the baseline judge needs no key and no network), or label reports."
VIEWS: tuple[ResultView, ...] = (
    ResultView(
        "overview",
        "Overview",
        SYSTEMS,
        "Every figure of every system, with its interval, n, and what is missing.",
        NOBODY_JUDGED,
        overview.choices,
        overview.report,
        overview.sheets,
        shown=("metric", "by"),
        rests_on=(JUDGED,),
    ),
    ResultView(
        "items",
        "Item by item",
        SYSTEMS,
        "What each system scores on each item.",
        NOBODY_JUDGED,
        results.choices,
        results_behind.items,
        rests_on=(JUDGED,),
    ),
    ResultView(
        "wins",
        "Wins",
        SYSTEMS,
        "Systems compared in pairs, in both orders: who wins, and how far order and length decide.",
        "Have a judge compare reports in pairs.",
        pair_views.duels_choices,
        pair_views.duels,
        command=f"goldsmith judge run FILE --judge NAME --protocol {scoring.named('win_rate').protocol}",
        rests_on=(COMPARED,),
    ),
    ResultView(
        "preferences",
        "People's preferences",
        SYSTEMS,
        "Whether people prefer the report with the better score.",
        "Let people compare two reports blind, and have a metric judged.",
        pair_views.preferences_choices,
        pair_views.preferences,
        page="Label",
        command="goldsmith labels pairs FILE --draw 100",
        rests_on=(PREFERRED, JUDGED),
    ),
    ResultView(
        "efficiency",
        "Score against cost",
        SYSTEMS,
        "Scores compared with time, tokens and money spent.",
        NOBODY_JUDGED,
        results.choices,
        score_views.efficiency,
        rests_on=(JUDGED,),
    ),
    ResultView(
        "length",
        "Score against length",
        SYSTEMS,
        "Whether longer reports score higher.",
        NOBODY_JUDGED,
        score_views.lengths_choices,
        score_views.lengths,
        rests_on=(JUDGED,),
    ),
    ResultView(
        "domains",
        "Domains",
        SYSTEMS,
        "Means by subject or question type, with their margins.",
        NOBODY_JUDGED,
        score_views.domains_choices,
        score_views.domains,
        rests_on=(JUDGED,),
    ),
    ResultView(
        "modes",
        "Modes",
        SYSTEMS,
        "Gain in score when the system is given gold, item by item.",
        "Import responses of the same systems in two modes, such as end-to-end and isolated, and have them judged.",
        score_views.modes_choices,
        score_views.modes,
        page="Import",
        command="goldsmith respond FILE --mode isolated",
        rests_on=(SEVERAL_MODES, JUDGED),
    ),
    ResultView(
        "runs",
        "Several runs",
        SYSTEMS,
        "Pass@k: the expected best of k runs.",
        "Import two or more runs of a system on the same item, and have them judged.",
        results.choices,
        score_views.attempts,
        page="Import",
        command="goldsmith import FILE REPORTS.csv, whose column “trial” numbers the runs",
        rests_on=(SEVERAL_RUNS, JUDGED),
    ),
    ResultView(
        "over-time",
        "Over time",
        SYSTEMS,
        "The same system at different times of collection, or in different versions.",
        NOBODY_JUDGED,
        source_views.time_choices,
        source_views.over_time,
        command="goldsmith responses set FILE",
        rests_on=(JUDGED,),
    ),
    ResultView(
        "cut-off",
        "Cut-off",
        SYSTEMS,
        "Scores on items whose source is newer, or more cited, than a cut: leakage, and the long tail.",
        "It needs the publication dates or citations of sources (Material, Sources), and judged reports.",
        source_views.cut_choices,
        source_views.cut,
        page="Material",
        command="goldsmith sources describe FILE",
        rests_on=(JUDGED, DATED),
    ),
    ResultView(
        "plan",
        "Plan matrix",
        REPORTS,
        "Predicted sub-tasks compared with gold ones, in both readings.",
        "It needs a settled gold plan, and the plans of the reports: imported, or drawn by a model.",
        part_views.matrix_choices,
        part_views.matrix_report,
        part_views.matrix_sheets,
        shown=("of",),
        command=drawing(ResponsePart.PLAN),
        rests_on=(Kind.PLAN, ResponsePart.PLAN.extraction),
    ),
    ResultView(
        "retrieval",
        "References found",
        REPORTS,
        "Every match of a report's references with the gold ones, and why.",
        "It needs settled gold evidence, and the references of the reports: imported, or drawn from them.",
        part_views.matches_choices,
        part_views.matches_report,
        part_views.matches_sheets,
        shown=("item", "system"),
        command=drawing(ResponsePart.REFERENCES),
        rests_on=(Kind.EVIDENCE, ResponsePart.REFERENCES.extraction),
    ),
    ResultView(
        "errors",
        "Errors and modes",
        REPORTS,
        "Kinds of errors, and sources of covered criteria: mean counts per report.",
        NOBODY_JUDGED,
        part_views.error_choices,
        part_views.error_report,
        part_views.error_sheets,
        rests_on=(LOOKED_AT,),
    ),
    ResultView(
        "pilot",
        "Rubric pilot",
        BENCHMARK,
        "Which criteria separate systems, rater agreement, and weights.",
        NOBODY_JUDGED,
        rubric_views.pilot_choices,
        rubric_views.pilot,
        rests_on=(Kind.RUBRIC,),
    ),
    ResultView(
        "rubrics",
        "Rubric sets",
        BENCHMARK,
        "Rubric sets on the same reports: scores, gaps, agreement with people, weights, shared criteria.",
        "It needs two rubric sets for the same items: two authors', a named or drafted one, or another project's.",
        rubric_views.sets_choices,
        rubric_views.sets_report,
        rubric_views.sets_sheets,
        "Author",
        command="goldsmith rubrics keep FILE NAME --from SET.csv",
        rests_on=(Kind.RUBRIC,),
    ),
    ResultView(
        "selection",
        "Question selection",
        BENCHMARK,
        "Ratings of each question, selected questions, and agreement.",
        "Have two people rate the questions.",
        no_choices,
        question_views.selection_report,
        question_views.selection_sheets,
        "People",
        command="goldsmith assign FILE --stage selection",
        rests_on=(CHOSEN,),
    ),
    ResultView(
        "contest",
        "Contest of tasks",
        BENCHMARK,
        "Tasks of seminars by rating, how likely each is among the best, and a judge beside people.",
        "It needs settled tasks, compared in pairs by a judge or by people.",
        contest_standings.choices,
        contest_standings.view,
        contest_standings.sheets,
        "Judges",
        command="goldsmith contest run FILE --judge baseline",
        rests_on=(MATCHES,),
    ),
    ResultView(
        "collection",
        "Collection",
        BENCHMARK,
        "When each system's reports were collected, in which version, with which settings and by whom.",
        "Import reports, or have a model write them.",
        no_choices,
        source_views.collected,
        page="Material",
        command="goldsmith respond FILE",
        rests_on=(REPORTS_THERE,),
    ),
    ResultView(
        "sources",
        "Sources",
        BENCHMARK,
        "Research papers and reviews by discipline, and what is lacking for a balance.",
        "Add the papers that gold is written from as sources of their items.",
        source_views.balance_choices,
        source_views.balance,
        page="Material",
        command="goldsmith sources add FILE",
        rests_on=(SOURCES,),
    ),
    ResultView(
        "gold",
        "Gold",
        BENCHMARK,
        "How much gold there is, and how many questions of each kind there are.",
        "Add questions, and settle what is written for them.",
        no_choices,
        question_views.gold,
        page="Author",
        command="goldsmith items add FILE",
        rests_on=(ITEMS,),
    ),
)


@dataclass(frozen=True, slots=True)
class ChosenView:
    """A view with its choices and the values in force."""

    view: str
    chosen: Mapping[str, str]
    choices: tuple[ViewChoice, ...]


@dataclass(frozen=True, slots=True)
class CountedView(ChosenView):
    """A computed view; `count` is the computed data, for other presentations of it."""

    sheets: tuple[ResultSheet, ...]
    count: Any


def named(name: str, among: tuple[ResultView, ...] = VIEWS) -> ResultView:
    """The view of that name; the Refusal lists the known names."""
    return one_of(name, {view.name: view for view in among}, f"There is no view “{name}”.", "Available:")


def show(
    project: Project,
    name: str,
    chosen: Mapping[str, str],
    computed: Any = None,
    among: tuple[ResultView, ...] = VIEWS,
) -> CountedView:
    """A view with these choices; values that do not fit are replaced by its own. `computed` data are used again."""
    view = named(name, among)
    choices, fitting = offered(project, name, chosen, among)
    result = computed if computed is not None else view.report(project, **_counting(view, fitting))
    sheets = view.sheets(result, **{name: value for name, value in fitting.items() if name in view.shown})
    if sheets and view.name != "rubrics" and (by := rubric_views.in_force(project)):
        sheets = _with_note(sheets, f"Rubrics in force: “{by}”, not the experts' own.")
    if sheets and view.part not in (BENCHMARK, AGREEMENT) and (without := left_out(project).not_counted):
        sheets = _with_note(sheets, without)
    return CountedView(
        name, fitting, choices, tuple(_with_departures(result, sheets, fitting.get("metric", ""))), result
    )


def _with_note(sheets: tuple[ResultSheet, ...], words: str) -> tuple[ResultSheet, ...]:
    return replace(sheets[0], notes=tuple(dict.fromkeys((*sheets[0].notes, words)))), *sheets[1:]


def _with_departures(report: Any, sheets: Sequence[ResultSheet], metric: str) -> Iterator[ResultSheet]:
    """The sheets with departures and notes: all tables of a view depart from the paper alike, so one's departures apply
    to those without any.

    The first notes what must be known of the baseline's figures.
    """
    cells = (cell.metric for one in sheets for line in one.lines for cell in line.cells)
    named = (name for one in sheets for name in one.metrics)
    of = tuple(dict.fromkeys(name for name in (metric, *cells, *named) if name))
    differs = tuple(dict.fromkeys(words for one in sheets for words in one.departures))
    protocols = dict.fromkeys(scoring.named(name).protocol for name in of)
    judged = report if isinstance(report, tuple) else (report,)
    raters = [rater for one in judged if (rater := getattr(one, "rater", None)) is not None]
    floor = [words for kind in {one.kind for one in raters} for words in results.floor_notes(kind, protocols)]
    floor += dict.fromkeys(remark for one in raters if (remark := getattr(one, "remark", "")))
    for place, sheet in enumerate(sheets):
        notes = sheet.notes if place else (*sheet.notes, *floor)
        yield replace(
            sheet,
            metrics=sheet.metrics or of,
            departures=sheet.departures or differs,
            notes=notes,
            rater=None,
        )


def offered(
    project: Project, name: str, chosen: Mapping[str, str], among: tuple[ResultView, ...] = VIEWS
) -> tuple[tuple[ViewChoice, ...], dict[str, str]]:
    """The choices a view offers given these choices, and the values in force: the default for each choice not made.

    Other arguments of the view, such as a file, are passed through; raises Refusal for those it does not take.
    """
    view = named(name, among)
    choices = view.choices(project)
    _refuse_unknown(view, chosen)
    return fitted(choices, chosen)


def fitted(
    choices: Sequence[ViewChoice], chosen: Mapping[str, str]
) -> tuple[tuple[ViewChoice, ...], dict[str, str]]:
    """The choices that are offered given these values, and the values in force; other arguments are passed through."""
    known = {choice.name for choice in choices}
    fitting = {name: value for name, value in chosen.items() if name not in known and value}
    fit = []
    for choice in choices:
        if choice.only_if is not None and fitting.get(choice.only_if[0]) not in choice.only_if[1]:
            continue
        fit.append(choice)
        values = [value for _, value in choice.values]
        requested = chosen.get(choice.name)
        if requested in values or (choice.open and requested):
            fitting[choice.name] = str(requested)
        elif values:
            fitting[choice.name] = choice.usual or values[0]
    return tuple(fit), fitting


def _refuse_unknown(view: ResultView, chosen: Iterable[str]) -> None:
    taken = {one for act in (view.report, view.sheets) for one in list(signature(act).parameters)[1:]}
    unknown = sorted(set(chosen) - taken)
    if unknown:
        raise Refusal(
            f"“{view.title}” has no choice called “{', '.join(unknown)}”.",
            f"Its choices are: {', '.join(sorted(taken)) or 'none'}.",
        )


def same_count(view: ResultView, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two selections differ only in the presentation of the same computed data."""
    return _counting(view, one) == _counting(view, other)


def _counting(view: ResultView, chosen: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in chosen.items() if name not in view.shown}
