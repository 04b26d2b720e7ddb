"""Rubric sets for the same items and responses: scores, gaps, agreement with people, weights and shared criteria."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import extracts, named_rubrics
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, result_raters, scoring
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
    missing,
    or_why,
    share,
    text,
)
from annotator.domain.judges.judgement import YES
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Rubric
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PAPER_TITLES, USUAL_OF
from annotator.stats.validation.rubrics import OF_SETS, Beside, RubricSet, side_by_side
from annotator.storage.tables import ARTIFACT, RESPONSE

if TYPE_CHECKING:
    from annotator.stats.validation.classification import BothWays

JUDGED_BY = USUAL_OF[Kind.RUBRIC]
PAPER = PAPER_TITLES[JUDGED_BY.name]
# Of a response only what was said of it counts here.
NO_ITEM, NO_RESPONSE = Item(id="", key="-", question="-"), Response(id="", item_id="", system_id="", text="")
SETTLED, IMPORTED, DRAFTED = named_rubrics.OWN, "imported", "drafted"
# In the place of a second set: every set but those of single authors.
EVERY = "every"
ONE_SET = (
    "Scores and criteria stand here once there is a second set: goldsmith rubrics write, or rubrics keep."
)
# A mode and a cut of the items, as `cut_choices` offers them.
Cut = tuple[str, str]
# By key, so that items of another project are found again.
Rubrics = dict[str, Rubric]


@dataclass(frozen=True, slots=True)
class RubricSetsReport:
    """Sets by name, their totals side by side, their criteria by item, and how a judge agrees with people by each.

    `left_out` are sets by which this rater judged nothing; `validity` is None where no unit has both.
    """

    names: tuple[str, ...]
    raters: tuple[ResultRater | None, ...]
    beside: Beside
    rubrics: tuple[Mapping[str, Rubric], ...]
    validity: tuple["BothWays | None", ...]
    left_out: tuple[str, ...] = ()


def sets(project: Project) -> dict[str, Rubrics]:
    """The rubric sets of a project by name: the settled one, the named ones, the imported one, each author's, and what
    was drafted.
    """
    found: dict[str, Rubrics] = {SETTLED: named_rubrics.settled(project), **named_rubrics.sets(project)}
    keys = {item_id: item.key for item_id, item in response_scores.items_named(project).items()}
    aliases = {person.id: person.alias for person in people.people(project)}
    question = annotating.submitted_revisions().where(ARTIFACT.c.kind == Kind.RUBRIC.value).order_by(None)
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


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Which sets, and whose judgements. A coordinator alone tells one person's from another's."""
    names = tuple(
        (name.capitalize() if name in (SETTLED, IMPORTED, DRAFTED) else name, name) for name in sets(project)
    )
    every = (("All others", EVERY),) if named_rubrics.sets(project) else ()
    other = (*every, *names[1:], *names[:1])
    judges = response_scores.rater_choice(project, JUDGED_BY.name)
    single = tuple(value for value in judges.values if value[1] != result_raters.PEOPLE)
    return (
        ViewChoice("one", "Set", names),
        ViewChoice("other", "Beside", other),
        ViewChoice(judges.name, judges.words, single),
        *response_scores.cut_choices(project),
    )


def report(
    project: Project, one: str = "", other: str = "", judge: str = "", file: str = "", mode: str = "", among: str = ""
) -> RubricSetsReport:  # fmt: skip
    """Sets of a project, all or two, or one of it beside the settled set of another project's file.

    Without a second name those are compared that are not one author's, where there are named ones. Items are matched
    by key, responses by item and system, first run. Of another project the last judge counts, or the one of the same
    name.
    """
    people.refuse_others(project, "can compare one person's rubrics with another's")
    there, rater, cut = sets(project), _rater(project, judge), (mode, among)
    names = [name for name in (one, other) if name in there]
    names += [name for name in there if name not in names]
    names = names or [SETTLED]

    def of(name: str) -> RubricSet:
        return RubricSet(name, there.get(name, {}), _verdicts(project, there.get(name, {}), rater, cut))

    if file:
        beside, theirs = _of_file(Path(file), rater)
        return _report(project, [of(names[0]), beside], [rater, theirs], (), cut)
    known = named_rubrics.sets(project)
    if other == EVERY or (known and not other):
        apart = {names[0], SETTLED, DRAFTED, *known}
        wanted = [of(name) for name in names if name in apart]
        judged = [one for one in wanted if one.verdicts]
        chosen = judged if len(judged) > 1 else wanted[:2]
        left = tuple(one.name for one in wanted if one not in chosen)
    else:
        chosen, left = [of(names[0]), of(names[1] if len(names) > 1 else names[0])], ()
    chosen = chosen if len(chosen) > 1 else chosen * 2
    return _report(project, chosen, [rater] * len(chosen), left, cut)


def _report(
    project: Project, chosen: Sequence[RubricSet], raters: Sequence[ResultRater | None], left: tuple[str, ...], cut: Cut
) -> RubricSetsReport:  # fmt: skip
    return RubricSetsReport(
        tuple(one.name for one in chosen),
        tuple(raters),
        side_by_side(chosen, _score),
        tuple(one.rubrics for one in chosen),
        tuple(_validity(project, one, rater, cut) for one, rater in zip(chosen, raters, strict=True)),
        left,
    )


def _validity(project: Project, own: RubricSet, rater: ResultRater | None, cut: Cut) -> "BothWays | None":
    """How a judge agrees with people's labels by the criteria of a set, each label of a person one pair."""
    if rater is None or result_raters.are_people(rater.id):
        return None
    from annotator.stats.validation.classification import both_ways

    weights = {(key, unit.id): unit.weight for key, rubric in own.rubrics.items() for unit in rubric.units}
    places, pairs = dict(_places(project, cut)), list[tuple[str, str, float, str]]()
    for response_id, _, unit_id, value in result_raters.spoken(project, JUDGED_BY, result_raters.PEOPLE):
        place = places.get(response_id, ("", ""))
        said = own.verdicts.get(place, {}).get(unit_id)
        if said is not None and (place[0], unit_id) in weights:
            pairs.append((value, said, abs(float(weights[place[0], unit_id])), place[0]))
    if not pairs:
        return None
    truth, said_, heavy, items = zip(*pairs, strict=True)
    return both_ways(truth, said_, YES, heavy, items)


def keep(project: Project, name: str, of: str) -> Change:
    """Keep a set of the project under a name of its own, as it is now; Refusal where there is no such set."""
    there = sets(project)
    if of not in there:
        raise Refusal(f"There is no rubric set “{of}”.", f"There are: {', '.join(there) or 'none'}.")
    return named_rubrics.keep(project, name, there[of])


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
        rubrics = named_rubrics.settled(project)
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
    project: Project, rubrics: Rubrics, rater: ResultRater | None, cut: Cut = ("", "")
) -> dict[tuple[str, str], dict[str, str]]:
    """Item and system → criterion → value, by these rubrics; responses nobody judged by them are out."""
    if rater is None:
        return {}
    places = dict(_places(project, cut))
    units = {key: {unit.id for unit in rubric.units} for key, rubric in rubrics.items()}
    found: dict[tuple[str, str], dict[str, str]] = {}
    for response_id, _, unit_id, value in result_raters.spoken(project, JUDGED_BY, rater.id):
        place = places.get(response_id)
        if place is not None and unit_id in units.get(place[0], ()):
            found.setdefault(place, {})[unit_id] = value
    return found


def _places(project: Project, cut: Cut) -> Iterator[tuple[str, tuple[str, str]]]:
    mode, among = cut
    items, systems = response_scores.items_named(project, among), response_scores.systems_named(project)
    r, counts = RESPONSE.c, mode or scoring.main_mode(project)
    question = select(r.id, r.item_id, r.system_id).where(r.mode == counts, r.trial == 1)
    with project.store.read() as db:
        for response_id, item_id, system_id in db.execute(question):
            if item_id in items:
                yield response_id, (items[item_id].key, systems[system_id])


def sheets(found: RubricSetsReport) -> tuple[ResultSheet, ...]:
    """Scores under both sets, weights of both, and their criteria side by side; of one set alone its weights."""
    if not found.beside.items:
        return ()
    if found.names[0] == found.names[1]:
        own = replace(found.beside, weights=found.beside.weights[:1])
        return (replace(_weights(replace(found, names=found.names[:1], beside=own)), told=(ONE_SET,)),)
    rest = (_weights(found), _alignment(found))
    if not found.beside.scores:
        return (replace(rest[0], told=tuple(_told(found))), rest[1])
    judged = [_validities(found)] if any(found.validity) else []
    return (_scores(found), *judged, *rest)


def _sides(found: RubricSetsReport) -> list[tuple[str, str]]:
    return [(key_of("set", name), name) for name in found.names]


def _scores(found: RubricSetsReport) -> ResultSheet:
    two = len(found.names) == 2
    apart = [("difference", "Difference", f"{found.names[1]} less {found.names[0]}")] * two
    heads = columns(
        SYSTEM_COLUMN, *_sides(found), *apart, ("items", "Items", "Judged completely under all these sets"),
    )  # fmt: skip
    lines = []
    for system, scores in found.beside.scores.items():
        cells = [text(system), *map(figure, scores)]
        cells += [count(_difference(*scores), form="+.3f")] if two else []
        lines.append(SheetLine((*cells, count(scores[0].n))))
    what = JUDGED_BY.metrics[0].title
    title = f"{what} under {' and under '.join(f'“{name}”' for name in found.names)}"
    picture = SheetPicture("scores", title, _picture(found, title, what))
    return ResultSheet(
        "scores", "Scores", heads, tuple(lines), tuple(_told(found)), (picture,) if lines else (), OF_SETS,
        metrics=(JUDGED_BY.metrics[0].name,),
    )  # fmt: skip


def _difference(one: Estimate, other: Estimate) -> float | None:
    return None if one.value is None or other.value is None else other.value - one.value


def _picture(found: RubricSetsReport, title: str, what: str) -> Callable[[Any], Any]:
    axis = f"{what.lower()}, mean over items judged under all, 95 % interval"
    if len(found.names) == 2:
        rows = [(system, pair[0], pair[1]) for system, pair in found.beside.scores.items()]
        return partial(result_pictures.pairs, title, rows, (found.names[0], found.names[1]), axis)
    series = {
        name: [scores[place].value for scores in found.beside.scores.values()]
        for place, name in enumerate(found.names)
    }
    return partial(result_pictures.bars, title, list(found.beside.scores), series, what.lower())


# Table 9, and the gap that the text beside Table 8 tells.
_FIGURES = ("accuracy", "precision", "recall", "f1")


def _validities(found: RubricSetsReport) -> ResultSheet:
    names = [(name, name.upper() if name == "f1" else name.capitalize()) for name in _FIGURES]
    heads = columns(
        ("set", "Set"),
        ("gap", "Gap", "Best system less worst"),
        *((name, words, "Of the judge against people, covered is positive") for name, words in names),
        *((f"weighted_{name}", f"{words}, weighted", "A pair counts as its criterion weighs") for name, words in names),
        ("pairs", "Pairs", "Labels of people that the judge has a verdict beside"),
    )  # fmt: skip
    lines = []
    for name, gap, both in zip(found.names, found.beside.gaps, found.validity, strict=True):
        told = [
            getattr(way, one) for way in ((both.plain, both.weighted) if both else ()) for one in _FIGURES
        ]
        cells = list(map(figure, told)) or [missing("Nobody labelled by these criteria")] * (
            2 * len(_FIGURES)
        )
        pairs = both.plain.accuracy.n if both else 0
        lines.append(SheetLine((text(name), figure(gap), *cells, count(pairs))))
    return ResultSheet("validity", "Agreement with people", heads, tuple(lines))


def _told(found: RubricSetsReport) -> Iterator[str]:
    beside, all_of = found.beside, "both" if len(found.names) == 2 else f"all {len(found.names):,}"
    first = "their" if len(found.names) == 2 else f"the criteria of “{found.names[0]}” and “{found.names[1]}”"
    yield (
        f"{counted(len(beside.items), 'item has', 'items have')} {all_of} sets; {in_words(beside.matched)} of {first} "
        f"{'criteria ' if len(found.names) == 2 else ''}say the same (F1, {beside.matched.note})."
    )
    if found.left_out:
        yield f"Nothing was judged by {', '.join(f'“{name}”' for name in found.left_out)}, left out here."
    for name, gap in zip(found.names, beside.gaps, strict=True):
        yield f"Gap between the best and the worst system under “{name}”: {or_why(gap, f' ({gap.note})')}."
    if not beside.scores:
        named = " and ".join(f"“{name}”" for name in found.names)
        both = "both " * (len(found.names) == 2)
        yield f"No report was judged by {both}{named}: only weights and criteria can be compared."


def _weights(found: RubricSetsReport) -> ResultSheet:
    theirs = "experts", PAPER, "Weights by its experts (Table 10): for comparison, not a norm"
    heads = columns(("weight", "Weight"), *_sides(found), theirs)
    weights = sorted({one for own in found.beside.weights for one in own})
    norms = [EXPERT_WEIGHT_SHARES.get(weight) for weight in weights]
    shares = [[_share(own, weight) for weight in weights] for own in found.beside.weights]
    lines = [
        SheetLine((count(weight, form="g"), *(share(own[place]) for own in shares), share(norms[place])))
        for place, weight in enumerate(weights)
    ]
    title = "Weights of the sets"
    series = dict(zip(found.names, shares, strict=True)) | {"experts (Table 10)": norms}
    draw = partial(
        result_pictures.bars, title, [f"weight {one}" for one in weights], series, "share of criteria"
    )
    return ResultSheet("weights", "Weights", heads, tuple(lines), (), (SheetPicture("weights", title, draw),))


def _share(own: Mapping[int | float, Estimate], weight: float) -> float | None:
    """The share of a weight in one of the sets; 0 where only the other has it."""
    return own[weight].value if weight in own else 0.0 if any(one.n for one in own.values()) else None


def _alignment(found: RubricSetsReport) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, *_sides(found)[:2],
        ("likeness", "Likeness", "Of the two wordings, 1 for equal ones; pairs below 0.36 are not matched"),
        ("weights", "Weights", "Of both criteria"),
    )  # fmt: skip
    lines = [line for item in found.beside.items for line in _lines(found, item)]
    return ResultSheet("criteria", "Criteria", heads, tuple(lines))


def _lines(found: RubricSetsReport, item: str) -> Iterator[SheetLine]:
    a, b = (own[item].units for own in found.rubrics[:2])
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
