"""Views of questions: ratings and selection, and the balance of their gold."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Any

from sqlalchemy import select

from annotator.actions.authoring import annotating, settings
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    P_COLUMN,
    QUESTION_COLUMN,
    UNDEFINED,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    chance,
    columns,
    count,
    figure,
    in_words,
    key_of,
    missing,
    or_why,
    picture,
    share,
    text,
)
from annotator.domain.common import Change, counted, grouped, nested, required
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.diagnostics import Diagnostics
from annotator.domain.kinds.plan import Plan
from annotator.domain.kinds.selection import Recommendation, Selection
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.stats.agreement.levels import (
    DEPARTURES,
    FEWEST_RATERS,
    RatedQuestion,
    agreement,
    item_score,
    p_of,
    pooled,
    rater_score,
)
from annotator.stats.intervals.student import mean_interval
from annotator.storage.tables import ARTIFACT, ITEM

NO_ORIGIN, ALL_ORIGINS = "not stated", "All"
DECISIONS = {True: ("kept", "agreed"), False: ("left out", "disagree"), None: ("open", "incomplete")}


@dataclass(frozen=True, slots=True)
class SelectionReport:
    """Each rater's ratings of each item and the decision; r of every two raters."""

    bar: float
    raters: tuple[str, ...]
    items: Mapping[str, scoring.ItemRow]
    chosen: Mapping[str, RatedQuestion]
    scores: Mapping[str, Mapping[str, Estimate]]
    agreement: Mapping[tuple[str, str], Estimate]
    pooled: Estimate
    selections: Mapping[str, Mapping[str, Selection]]
    unreadable: int
    retired: frozenset[str] = frozenset()
    funnel: tuple["FunnelLine", ...] = ()


@dataclass(frozen=True, slots=True)
class FunnelLine:
    """The number of items of one origin at each stage; the stages are counted independently."""

    origin: str
    collected: int
    classified: int
    rated: int
    reached: int
    in_use: int
    settled: int


@people.for_coordinators("can see how questions were rated")
def selection_report(project: Project) -> SelectionReport:
    """All submitted ratings; only a coordinator may see how each rater answered."""
    collected = _collected(project)
    named = {row.id: row for row in collected}
    given, unreadable, bar = _given(project), 0, settings.bar(project)
    dimensions = {one.name: tuple(each.name for each in one.dimensions) for one in settings.types(project)}
    scores: dict[str, dict[str, Estimate]] = {}
    for item_id, of_item in given.items():
        for who, ratings in of_item.items():
            try:
                result = rater_score(ratings, dimensions.get(named[item_id].question_type, ()))
            except ValueError:
                # Ratings of dimensions that the type, changed since, no longer has.
                unreadable += 1
                continue
            scores.setdefault(item_id, {})[who] = result
    by_rater = nested(
        (who, item_id, score.value)
        for item_id, own in scores.items()
        for who, score in own.items()
        if score.value is not None
    )
    chosen = {item_id: item_score(list(own.values()), bar) for item_id, own in scores.items()}
    return SelectionReport(
        bar,
        tuple(sorted({who for own in scores.values() for who in own})),
        named,
        {item_id: chosen[item_id] for item_id in named if item_id in chosen},
        scores,
        agreement(by_rater),
        pooled(by_rater),
        given,
        unreadable,
        frozenset(row.id for row in collected if row.retired),
        tuple(_funnel(project, collected, chosen)),
    )


def apply(project: Project) -> Change:
    """Retire every item rated below the bar, in one change that can be undone; undecided ones stay.

    Raises Refusal if there is none.
    """
    result = selection_report(project)
    below = required(
        [one for one, rated in result.chosen.items() if rated.is_kept is False and one not in result.retired],
        f"No item in use was rated below {result.bar:g}.",
        "Nothing was changed; open ratings count for neither.",
    )
    return items.change_all(project, {one: {"retired": True} for one in below}, "apply selection")


def _collected(project: Project) -> Sequence[Any]:
    """All items ever collected, in the project's order: retired ones were rated too."""
    i = ITEM.c
    listed = select(i.id, i.key, i.question, i.question_type, i.subject, i.origin, i.retired)
    return project.query(listed.order_by(i.position, i.key, i.id)).all()


def _funnel(
    project: Project, collected: Sequence[Any], chosen: Mapping[str, RatedQuestion]
) -> Iterator[FunnelLine]:
    """One line for each origin, alphabetically, and for all together; empty if nothing is rated and no origin known."""
    with project.store.read() as db:
        settled = annotating.settled(db, [row.id for row in collected])
    origins = sorted({row.origin for row in collected}, key=lambda origin: (not origin, origin))
    for origin in [*origins, None] if chosen or any(origins) else ():
        rows = [row for row in collected if origin in (None, row.origin)]
        decisions = [chosen[row.id].is_kept for row in rows if row.id in chosen]
        yield FunnelLine(
            ALL_ORIGINS if origin is None else origin or NO_ORIGIN,
            len(rows),
            sum(bool(row.question_type and row.subject) for row in rows),
            len(decisions) - decisions.count(None),
            decisions.count(True),
            sum(not row.retired for row in rows),
            sum(not row.retired and row.id in settled for row in rows),
        )


def _given(project: Project) -> dict[str, dict[str, Selection]]:
    """Item → rater's alias → ratings, of retired items too."""
    aliases = {person.id: person.alias for person in people.people(project)}
    question = annotating.submitted_revisions().where(
        ARTIFACT.c.kind == Kind.SELECTION.value,
        ARTIFACT.c.state != State.CONSENSUS.value,
        ARTIFACT.c.author_id != "",
    )
    result = nested(
        (artifact.item_id, aliases.get(artifact.author_id, artifact.author_id), artifact.document)
        for artifact in map(artifact_of, project.query(question))
        if isinstance(artifact.document, Selection)
    )
    return {item_id: dict(sorted(own.items())) for item_id, own in result.items()}


def selection_sheets(report: SelectionReport) -> tuple[ResultSheet, ...]:
    funnel = (_funnel_sheet(report.funnel),) if report.funnel else ()
    if not report.chosen:
        return funnel
    heads = columns(
        ITEM_COLUMN, QUESTION_COLUMN, ("type", "Type"),
        ("score", "Score", "Mean over raters of the mean over the dimensions of the type"),
        ("kept", "Kept", f"At {report.bar:g} or more, once {FEWEST_RATERS} raters have rated every dimension"),
        *((key_of("rater", name), name) for name in report.raters),
        ("recommended", "Recommended", "What each rater would do with the question"),
    )  # fmt: skip
    lines = []
    for item_id, chosen in report.chosen.items():
        name, (words, state) = report.items[item_id], DECISIONS[chosen.is_kept]
        words = f"{words}, retired" if item_id in report.retired else words
        cells = (
            text(name.key), text(name.question, tip=name.question), text(name.question_type), figure(chosen.score),
            text(words, chosen.score.note, state), *(_given_by(report, item_id, who) for who in report.raters),
            text(", ".join(_recommended(report.selections[item_id]))),
        )  # fmt: skip
        lines.append(
            SheetLine(
                cells,
                item_id=item_id,
                kind=Kind.SELECTION.value,
                more=tuple(_reasons(report.selections[item_id])),
            )
        )
    sheet = ResultSheet(
        "questions",
        "Questions",
        heads,
        tuple(lines),
        tuple(_notes(report)),
        tuple(_pictures(report)),
        DEPARTURES,
    )
    return (sheet, _agreement(report), *funnel) if report.agreement else (sheet, *funnel)


def _recommended(selections: Mapping[str, Selection]) -> list[str]:
    many = Counter(selection.recommendation for selection in selections.values() if selection.recommendation)
    return [f"{advised.value} {many[advised]}" for advised in Recommendation if many[advised]]


def _reasons(selections: Mapping[str, Selection]) -> Iterator[tuple[str, str]]:
    for who, selection in selections.items():
        points = [f"{unit.text}: {unit.rating or UNDEFINED}. {unit.note}".strip() for unit in selection.units]
        whole = (("", selection.remark), ("To improve: ", selection.improve))
        yield who, "\n".join([*points, *(f"{head}{words}" for head, words in whole if words)])


def _funnel_sheet(lines: Sequence[FunnelLine]) -> ResultSheet:
    heads = columns(
        ("origin", "Origin"),
        ("collected", "Collected", "Retired items too"),
        ("classified", "Classified", "With a type and a subject"),
        ("rated", "Rated", "By enough people to decide"),
        ("reached", "At the bar", "Rated at the bar or above it"),
        ("in_use", "In use", "Not retired"),
        ("settled", "Query settled", "In use, and its query is settled"),
    )
    made = (
        SheetLine((text(line.origin), *map(count, astuple(line)[1:])), kind=Kind.SELECTION.value)
        for line in lines
    )
    return ResultSheet("funnel", "Funnel", heads, tuple(made))


def _given_by(report: SelectionReport, item_id: str, who: str) -> SheetCell:
    own = report.scores[item_id].get(who)
    return SheetCell("", None, "Has not rated it") if own is None else figure(own)


def _notes(report: SelectionReport) -> Iterator[str]:
    decisions = [chosen.is_kept for chosen in report.chosen.values()]
    yield (
        f"{decisions.count(True):,} of {len(decisions):,} questions are kept at {report.bar:g} or more, "
        f"{decisions.count(False):,} are left out, {decisions.count(None):,} are open."
    )
    for (a, b), r in islice(report.agreement.items(), 3):
        yield f"Pearson's r of {a} and {b}: {or_why(r, f' (n = {r.n})')}."
    if len(report.agreement) > 1:
        yield f"Pearson's r, all pairs together: {or_why(report.pooled, f' (n = {report.pooled.n})')}."
    if report.unreadable:
        yield (
            f"{counted(report.unreadable, 'rating')} left out: of a dimension that the question's type does not have."
        )


def _agreement(report: SelectionReport) -> ResultSheet:
    heads = columns(
        ("rater", "Rater"),
        ("other_rater", "Other rater"),
        ("pearson", "Pearson's r", "Of the two raters' item scores"),
        P_COLUMN,
        ("items", "Items", "That both rated"),
    )
    lines = [
        SheetLine((text(a), text(b), figure(r), chance(p_of(r)), count(r.n)))
        for (a, b), r in report.agreement.items()
    ]
    if report.pooled.value is not None:
        p = missing("Pairs share raters")
        lines.append(
            SheetLine((text(ALL_ORIGINS), text(""), figure(report.pooled), p, count(report.pooled.n)))
        )
    return ResultSheet("raters", "Raters", heads, tuple(lines))


def _pictures(report: SelectionReport) -> list[SheetPicture]:
    made = []
    for a, b in report.agreement:
        both = [item for item, own in report.scores.items() if a in own and b in own]
        points = [
            pictures.PicturePoint(report.items[item].key, x, y, strong=report.chosen[item].is_kept is True)
            for item in both
            if (x := report.scores[item][a].value) is not None
            and (y := report.scores[item][b].value) is not None
        ]
        if len(points) < 2:
            continue
        title = f"Scores by {a} and by {b}; those kept are full"
        made.append(picture(f"{a}/{b}", title, pictures.plane, points, a, b))
    return made


def gold(project: Project) -> tuple[ResultSheet, ...]:
    """The gold that reports are judged by, of items in use.

    A row for each item with gold statements or a gold plan; then the number of items of each type and subject.
    """
    questions = results.items_named(project)
    if not questions:
        return ()
    with project.store.read() as db:
        result = {
            kind: {
                row.item_id: artifact_of(row).document
                for row in annotating.judged_rows(db, kind, list(questions)).values()
            }
            for kind in (Kind.DIAGNOSTICS, Kind.PLAN)
        }
    diagnostics = {
        i: document for i, document in result[Kind.DIAGNOSTICS].items() if isinstance(document, Diagnostics)
    }
    plans = {i: document for i, document in result[Kind.PLAN].items() if isinstance(document, Plan)}
    settled = {i: name for i, name in questions.items() if i in diagnostics or i in plans}
    definitions = {one.name: one.definition for one in settings.types(project)}
    return (
        *([_gold(settled, diagnostics, plans)] if settled else []),
        _filed(questions, "question_type", "Question type", definitions),
        _filed(questions, "subject", "Subject", {}),
    )


def _filed(
    questions: Mapping[str, scoring.ItemRow], by: str, title: str, definitions: Mapping[str, str]
) -> ResultSheet:
    """The number of questions of each kind, the most frequent first, with the first question of each as an example.

    Defined kinds have their definition; if any defined kind has a question, those without one are listed too.
    """
    groups = grouped((str(getattr(question, by)), question) for question in questions.values())
    if groups.keys() & definitions.keys():
        groups |= {name: [] for name in definitions if name not in groups}
    heads = columns(
        (by, title),
        *([("definition", "Definition")] if definitions else []),
        ("questions", "Questions"),
        ("share", "Share", "Of all questions"),
        ("example", "Example"),
    )
    lines = [
        SheetLine((
            text(group or "(none)"),
            *([text(what, tip=what)] if definitions else []),
            count(len(of)), share(len(of) / len(questions)), text(example, tip=example),
        ))
        for group, of in sorted(groups.items(), key=lambda entry: (-len(entry[1]), entry[0]))
        for what, example in [(definitions.get(group, ""), of[0].question if of else "")]
    ]  # fmt: skip
    return ResultSheet(f"{by}s", f"{title}s", heads, tuple(lines))


def _gold(
    settled: Mapping[str, scoring.ItemRow],
    diagnostics: Mapping[str, Diagnostics],
    plans: Mapping[str, Plan],
) -> ResultSheet:
    true, length = true_share(diagnostics.values()), mean_plan_length(plans)
    return ResultSheet(
        "gold",
        "Gold",
        columns(
            ITEM_COLUMN, QUESTION_COLUMN, ("statements", "Statements", "Of the settled diagnostics"),
            ("true", "True", "Share of true statements"), ("subtasks", "Sub-tasks", "Of the settled plan"),
        ),
        tuple(
            SheetLine((
                text(name.key), text(name.question, tip=name.question),
                count(len(diagnostics[item_id].units) if item_id in diagnostics else None),
                figure(true_share([diagnostics[item_id]])) if item_id in diagnostics else missing("No diagnostics"),
                count(len(plans[item_id].units) if item_id in plans else None),
            ), item_id=item_id, kind=Kind.DIAGNOSTICS.value)
            for item_id, name in settled.items()
        ),
        (
            f"True statements, over all: {in_words(true)} of {true.n:,} (the paper's: 0.647 of 3,400).",
            f"Mean plan length: {in_words(length)} over {length.n:,} items (the paper's: 9.01).",
        ),
    )  # fmt: skip


def true_share(documents: Iterable[Diagnostics]) -> Estimate:
    """The share of true statements, those of all items pooled (2 200 of 3 400 in the paper).

    Statements without a label count as missing: the share is that of the others, with the range they leave.
    """
    units = [unit for document in documents for unit in document.units]
    true, n = sum(unit.label is True for unit in units), sum(unit.label is not None for unit in units)
    missing = len(units) - n
    floor, ceiling = (true / len(units), (true + missing) / len(units)) if units else (None, None)
    note = "" if n else "no statement has a label"
    return Estimate(
        true / n if n else None,
        n=n,
        missing=missing,
        floor=floor,
        ceiling=ceiling,
        method="true / statements with a label",
        note=note or (f"{missing:,} of {len(units):,} statements have no label" if missing else ""),
    )


def mean_plan_length(plans: Mapping[str, Plan]) -> Estimate:
    """The mean number of sub-tasks (9.01 in the paper) with Student's t interval over items."""
    return mean_interval([float(len(plan.units)) for plan in plans.values()])
