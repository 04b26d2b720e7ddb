"""Two rubric sets for the same items and responses: scores, gaps, weights and shared criteria."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlalchemy import select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import ARTIFACT, REVISION, artifact_of
from annotator.actions.items import extracts
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, result_raters, scoring
from annotator.actions.results.response_scores import RESPONSE
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    in_words,
    key_of,
    or_why,
    share,
    text,
)
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Rubric
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import USUAL_OF
from annotator.stats.validation.rubrics import Beside, RubricSet, side_by_side

JUDGED_BY = USUAL_OF[Kind.RUBRIC]
# Of a response only what was said of it counts here.
NO_ITEM, NO_RESPONSE = Item(id="", key="-", question="-"), Response(id="", item_id="", system_id="", text="")
SETTLED, IMPORTED, DRAFTED = "settled", "imported", "drafted"
# By key, so that items of another project are found again.
Rubrics = dict[str, Rubric]


@dataclass(frozen=True, slots=True)
class RubricSetsReport:
    """Two sets by name, their totals side by side, and their criteria by item."""

    names: tuple[str, str]
    raters: tuple[ResultRater | None, ResultRater | None]
    beside: Beside
    rubrics: tuple[Mapping[str, Rubric], Mapping[str, Rubric]]


def sets(project: Project) -> dict[str, Rubrics]:
    """The rubric sets of a project by name: the settled one, the imported one, each author's, and what was drafted."""
    found: dict[str, Rubrics] = {SETTLED: _settled(project)}
    keys = {item_id: item.key for item_id, item in response_scores.items_named(project).items()}
    aliases = {person.id: person.alias for person in people.people(project)}
    question = (
        select(ARTIFACT, REVISION.c.content)
        .join(
            REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
        )
        .where(ARTIFACT.c.kind == Kind.RUBRIC.value, ARTIFACT.c.state != State.DRAFT.value)
    )
    with project.store.read() as db:
        artifacts = [artifact_of(row) for row in db.execute(question)]
        drafts = extracts.standing(db, keys)
    for artifact in artifacts:
        name = aliases.get(artifact.author_id, IMPORTED)
        if (
            artifact.state is State.SEALED
            and artifact.item_id in keys
            and isinstance(artifact.document, Rubric)
        ):
            found.setdefault(name, {})[keys[artifact.item_id]] = artifact.document
    for (item_id, response_id), of in drafts.items():
        drafted = of.get(Kind.RUBRIC.value)
        if not response_id and drafted is not None and isinstance(drafted.document, Rubric):
            found.setdefault(DRAFTED, {})[keys[item_id]] = drafted.document
    return {name: rubrics for name, rubrics in found.items() if rubrics}


def _settled(project: Project) -> Rubrics:
    keys = {item_id: item.key for item_id, item in response_scores.items_named(project).items()}
    with project.store.read() as db:
        rows = annotating.judged_rows(db, Kind.RUBRIC, list(keys))
        documents = {item_id: artifact_of(row).document for item_id, row in rows.items()}
    return {keys[item_id]: one for item_id, one in documents.items() if isinstance(one, Rubric) and one.units}


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Which two sets, and whose judgements. A coordinator alone tells one person's from another's."""
    names = tuple(
        (name.capitalize() if name in (SETTLED, IMPORTED, DRAFTED) else name, name) for name in sets(project)
    )
    other = (*names[1:], *names[:1])
    judges = response_scores.rater_choice(project, JUDGED_BY.name)
    single = tuple(value for value in judges.values if value[1] != result_raters.PEOPLE)
    return (
        ViewChoice("one", "Set", names),
        ViewChoice("other", "Beside", other),
        ViewChoice(judges.name, judges.words, single),
    )


def report(
    project: Project, one: str = "", other: str = "", judge: str = "", file: str = ""
) -> RubricSetsReport:
    """Two sets of a project, or one of it beside the settled set of another project's file.

    Items are matched by key, responses by item and system, first run. Of another project the last judge counts,
    or the one of the same name.
    """
    people.refuse_others(project, "can compare one person's rubrics with another's")
    there = sets(project)
    names = [name for name in (one, other) if name in there]
    names += [name for name in there if name not in names]
    first = names[0] if names else SETTLED
    rater = _rater(project, judge)
    own = RubricSet(first, there.get(first, {}), _verdicts(project, there.get(first, {}), rater))
    if file:
        beside, their_rater = _of_file(Path(file), rater)
    else:
        second = names[1] if len(names) > 1 else first
        beside = RubricSet(second, there.get(second, {}), _verdicts(project, there.get(second, {}), rater))
        their_rater = rater
    return RubricSetsReport(
        (own.name, beside.name),
        (rater, their_rater),
        side_by_side(own, beside, _score),
        (own.rubrics, beside.rubrics),
    )


def _score(rubric: Rubric, said: Mapping[str, str]) -> float | None:
    """What a response is worth by a rubric and what was said of its criteria."""
    material = Material(NO_ITEM, NO_RESPONSE, {Kind.RUBRIC: rubric})
    return JUDGED_BY.metrics[0].score(RatedResponse(material, said), False).value


def _of_file(path: Path, rater: ResultRater | None) -> tuple[RubricSet, ResultRater | None]:
    project = Project.open(path, readonly=True)
    try:
        there = result_raters.raters(project, JUDGED_BY.name)
        same = next((one for one in there if rater is not None and one.name == rater.name), None)
        theirs = same or next(iter(there), None)
        rubrics = _settled(project)
        return RubricSet(path.stem, rubrics, _verdicts(project, rubrics, theirs)), theirs
    finally:
        project.close()


def _rater(project: Project, judge: str) -> ResultRater | None:
    # Of people each one by themselves: what several said of a criterion is no verdict.
    there = (
        one for one in result_raters.everybody(project, JUDGED_BY.name) if one.id != result_raters.PEOPLE
    )
    return result_raters.chosen(there, judge)


def _verdicts(
    project: Project, rubrics: Rubrics, rater: ResultRater | None
) -> dict[tuple[str, str], dict[str, str]]:
    """Item and system → criterion → value, by these rubrics; responses nobody judged by them are out."""
    if rater is None:
        return {}
    places = dict(_places(project))
    units = {key: {unit.id for unit in rubric.units} for key, rubric in rubrics.items()}
    found: dict[tuple[str, str], dict[str, str]] = {}
    for response_id, _, unit_id, value in result_raters.spoken(project, JUDGED_BY, rater.id):
        place = places.get(response_id)
        if place is not None and unit_id in units.get(place[0], ()):
            found.setdefault(place, {})[unit_id] = value
    return found


def _places(project: Project) -> Iterator[tuple[str, tuple[str, str]]]:
    items, systems = response_scores.items_named(project), response_scores.systems_named(project)
    r = RESPONSE.c
    question = select(r.id, r.item_id, r.system_id).where(r.mode == scoring.main_mode(project), r.trial == 1)
    with project.store.read() as db:
        for response_id, item_id, system_id in db.execute(question):
            if item_id in items:
                yield response_id, (items[item_id].key, systems[system_id])


def sheets(found: RubricSetsReport) -> tuple[ResultSheet, ...]:
    """Scores under both sets, weights of both, and their criteria side by side."""
    if not found.beside.items or found.names[0] == found.names[1]:
        return ()
    rest = (_weights(found), _alignment(found))
    return (
        (_scores(found), *rest)
        if found.beside.scores
        else (replace(rest[0], told=tuple(_told(found))), rest[1])
    )


def _sides(found: RubricSetsReport) -> list[tuple[str, str]]:
    return [(key_of("set", name), name) for name in found.names]


def _scores(found: RubricSetsReport) -> ResultSheet:
    one, other = found.names
    heads = columns(
        SYSTEM_COLUMN, *_sides(found), ("difference", "Difference", f"{other} less {one}"),
        ("items", "Items", "Judged completely under both sets"),
    )  # fmt: skip
    lines = []
    for system, (a, b) in found.beside.scores.items():
        apart = b.value - a.value if a.value is not None and b.value is not None else None
        lines.append(SheetLine((text(system), figure(a), figure(b), count(apart, form="+.3f"), count(a.n))))
    what = JUDGED_BY.metrics[0].title
    title = f"{what} under “{one}” and under “{other}”"
    rows = [(system, *pair) for system, pair in found.beside.scores.items()]
    axis = f"{what.lower()}, mean over items judged under both, 95 % interval"
    picture = SheetPicture("scores", title, partial(result_pictures.pairs, title, rows, found.names, axis))
    return ResultSheet(
        "scores", "Scores", heads, tuple(lines), tuple(_told(found)), (picture,) if rows else ()
    )


def _told(found: RubricSetsReport) -> Iterator[str]:
    beside, (one, other) = found.beside, found.names
    yield (
        f"{counted(len(beside.items), 'item has', 'items have')} both sets; {in_words(beside.matched)} of their "
        f"criteria say the same (F1, {beside.matched.note})."
    )
    for name, gap in zip(found.names, beside.gaps, strict=True):
        yield f"Gap between the best and the worst system under “{name}”: {or_why(gap, f' ({gap.note})')}."
    if not beside.scores:
        yield f"No report was judged by both “{one}” and “{other}”: only weights and criteria can be compared."


def _weights(found: RubricSetsReport) -> ResultSheet:
    heads = columns(("weight", "Weight"), *_sides(found), ("experts", "Experts", "Of the paper, Table 10"))
    weights = sorted({weight for own in found.beside.weights for weight in own})
    norms = [EXPERT_WEIGHT_SHARES.get(weight) for weight in weights]
    shares = [[_share(own, weight) for weight in weights] for own in found.beside.weights]
    lines = [
        SheetLine((count(weight, form="g"), *(share(own[place]) for own in shares), share(norms[place])))
        for place, weight in enumerate(weights)
    ]
    title = "Weights of both sets"
    rows = [f"weight {weight}" for weight in weights]
    series = dict(zip(found.names, shares, strict=True)) | {"experts (Table 10)": norms}
    draw = partial(result_pictures.bars, title, rows, series, "share of criteria")
    return ResultSheet("weights", "Weights", heads, tuple(lines), (), (SheetPicture("weights", title, draw),))


def _share(own: Mapping[int | float, Estimate], weight: float) -> float | None:
    """The share of a weight in one of the sets; 0 where only the other has it."""
    return own[weight].value if weight in own else 0.0 if any(one.n for one in own.values()) else None


def _alignment(found: RubricSetsReport) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, *_sides(found),
        ("likeness", "Likeness", "Of the two wordings, 1 for equal ones; pairs below 0.36 are not matched"),
        ("weights", "Weights", "Of both criteria"),
    )  # fmt: skip
    lines = [line for item in found.beside.items for line in _lines(found, item)]
    return ResultSheet("criteria", "Criteria", heads, tuple(lines))


def _lines(found: RubricSetsReport, item: str) -> Iterator[SheetLine]:
    a, b = (own[item].units for own in found.rubrics)
    alignment = found.beside.alignments[item]
    for i, j, alike in alignment.pairs:
        yield _row(item, a[i].text, b[j].text, alike, f"{a[i].weight} and {b[j].weight}")
    for i in alignment.only_a:
        yield _row(item, a[i].text, "", None, f"{a[i].weight} and –")
    for j in alignment.only_b:
        yield _row(item, "", b[j].text, None, f"– and {b[j].weight}")


def _row(item: str, one: str, other: str, alike: float | None, weights: str) -> SheetLine:
    likeness = (
        SheetCell("only one has it")
        if alike is None
        else SheetCell(f"{alike:.2f}", alike, state="agreed", value=alike)
    )
    return SheetLine((text(item), text(one, tip=one), text(other, tip=other), likeness, text(weights)))
