"""Commands for judge validation: sets, figures, choice of a judge, corrected scores."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.options import Protocol, protocol_of
from annotator.cli.saying import As, File, Json, opened, said, say
from annotator.cli.tables import show
from annotator.domain.texts.counting import counted

app = typer.Typer()
sets_app = typer.Typer(
    help="Validation sets: randomly drawn responses for people to label.", no_args_is_help=True
)
app.add_typer(sets_app, name="sets")
Judge = Annotated[str, typer.Option(help="Judge's name; by default all judges", show_default=False)]
Against = Annotated[
    list[str] | None,
    typer.Option(help="Raters to compare judges with: one or more aliases, or “consensus”; by default "
    "everyone",
                 show_default=False),
]  # fmt: skip
SetName = Annotated[
    str, typer.Option("--set", help="Validation set; by default all submitted labels", show_default=False)
]
PartName = Annotated[
    str,
    typer.Option(
        "--part", help="dev, test or whole; each view of the test part is counted", show_default=False
    ),
]
Positive = Annotated[
    str, typer.Option(help="Positive value, if there are more than two values", show_default=False)
]
Delta = Annotated[
    float, typer.Option(help="Margin by which a judge may be worse than people, or than the reference")
]
Epsilon = Annotated[
    float,
    typer.Option(help="ε of the alternative annotator test: 0.2 for experts, 0.15 for skilled annotators, "
    "0.1 for crowd workers"),
]  # fmt: skip
Least = Annotated[
    float,
    typer.Option(help="Agreement beyond chance (κ or ICC) that a judge must be shown to pass, such as 0.4"),
]
Card = Annotated[
    Path | None,
    typer.Option(help="Validity card: nothing is done unless the judge matches it", show_default=False),
]
To = Annotated[Path | None, typer.Option(help="File for the tables, .csv or .json", show_default=False)]


@app.command()
def validate(
    file: File,
    judge: Judge = "",
    against: Against = None,
    set_name: SetName = "",
    part: PartName = "",
    by: Annotated[str, typer.Option(help="all, type, weight, system, length or criterion")] = "all",
    positive: Positive = "",
    delta: Delta = 0.05,
    epsilon: Epsilon = 0.2,
    least: Least = 0.0,
    protocol: Protocol = "",
    to: To = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Compare judges with people: may each stand in for people, its agreement, errors and cost.

    Yes if it is shown not to be worse than people with one another by more than --delta (of Cohen's κ), to agree with
    them beyond chance, as they do, and passes the alternative annotator test, which needs three people; no if it is
    shown to be worse. Of several judges and looks at a test part, at most 3 in 100 are said to be better or worse by
    chance.
    """
    from annotator.actions.sets import validation_units
    from annotator.actions.validation import stand_in, validation, validation_sheets

    protocol = protocol_of(file, protocol, set_name)
    with opened(file, readonly=not looks(set_name, part), person=as_) as project:
        query = validation.ValidationQuery(
            protocol, set_name, part, tuple(against or ()), judge, positive, by,
            counted_look(project, set_name, part, judge),
        )  # fmt: skip
        ground = validation.ground_of(project, query)
        found = validation.of_ground(project, ground, query)
        asked = stand_in.StandInQuery(query, delta=delta, epsilon=epsilon, least=least)
        answers = stand_in.of_ground(project, ground, asked) if by == validation_units.ALL else None
    told = stand_in.sheets(answers) if answers else ()
    if to or json_:
        more = {"answers": stand_in.trees(answers) if answers else []}
        show((*told, *validation_sheets.sheets(found)), to, json_, more)
        return
    show((*told[:1], *validation_sheets.brief(found)), None, json_)
    said.print("All figures, weighted figures and confusion matrices: --to FILE.csv or --json", markup=False)


def looks(set_name: str, part: str) -> bool:
    """Whether the test part of a set is asked for."""
    return bool(set_name) and part not in ("", "dev")


def counted_look(project: Any, set_name: str, part: str, judge: str) -> str:
    """The id of a counted look, where the test part is to be shown."""
    from annotator.actions.judges import judges
    from annotator.actions.sets import validation_sets

    if not looks(set_name, part):
        return ""
    names = [judge] if judge else [one.name for one in judges.all_of(project)]
    return str(validation_sets.open_test(project, set_name, names).id)


@sets_app.command("draw")
def draw(
    file: File,
    name: Annotated[str, typer.Argument(help="Name of the set", show_default=False)],
    people: Annotated[
        list[str], typer.Option("--person", help="Annotator: an alias; two or more", show_default=False)
    ],
    width: Annotated[float, typer.Option(help="Width of a share's 95 % interval")] = 0.1,
    size: Annotated[int | None, typer.Option(help="Number of responses, or of pairs where pairs are labelled, "
    "instead of a width", show_default=False)] = None,
    share: Annotated[float, typer.Option(help="Expected agreement; 0.5 needs the most labels")] = 0.5,
    likeness: Annotated[float, typer.Option(help="Intra-item correlation (ICC), 0 to 1")] = 0.1,
    test: Annotated[float, typer.Option(help="Share of items in the test part")] = 0.5,
    raters: Annotated[int, typer.Option(help="People per item")] = 2,
    seed: Annotated[int, typer.Option(help="The same seed draws the same set")] = 1,
    protocol: Protocol = "",
    apart: Annotated[bool, typer.Option("--apart", help="Hand out whatever the protocol: it goes into tasks and "
    "counts once submitted")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be drawn, without "
    "drawing")] = False,
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Draw a random sample of responses, stratified by type, system and length, and assign it for blind labelling."""
    from annotator.actions.project import people as everybody
    from annotator.actions.sets import validation_sets

    protocol = protocol_of(file, protocol)
    with opened(file, readonly=dry_run, person=as_) as project:
        whose = tuple(everybody.known(project, one).id for one in people)
        query = validation_sets.SetRequest(
            name, whose, protocol, width, share, likeness, size, test, raters, seed, apart
        )
        found = validation_sets.preview(project, query)
        if not dry_run:
            validation_sets.make(project, query)
    tree = {
        "name": name, "dry_run": dry_run, "units": found.units, "told": list(found.told),
        "responses": [one.model_dump(mode="json") for one in found.content.responses],
    }  # fmt: skip
    say(tree, json_, list(found.told))


@sets_app.command("list")
def list_sets(file: File, as_: As = "", json_: Json = False) -> None:
    """List validation sets: size, labels still missing, and how often the test part was viewed."""
    from annotator.actions.sets import validation_sets

    with opened(file, readonly=True, person=as_) as project:
        found = [(one, validation_sets.lacking(project, one)) for one in validation_sets.sets(project)]
    trees = [
        {
            "name": one.name, "protocol": one.protocol, "responses": len(one.content.responses),
            "items": len(one.content.dealt), "locked_at": one.locked_at, "openings": one.openings, "lacking": missing,
        }
        for one, missing in found
    ]  # fmt: skip
    say({"sets": trees}, json_, [*map(_told, trees)] or ["No validation sets yet."])


def _told(tree: dict[str, Any]) -> str:
    locked, left = tree["locked_at"], len(tree["lacking"])
    state = f"locked {locked:%Y-%m-%d}" if locked else f"{counted(left, 'share')} of work open"
    drawn = f"{counted(tree['responses'], 'response')} of {counted(tree['items'], 'item')}"
    return f"{tree['name']}: {drawn}, {state}, test part viewed {counted(tree['openings'], 'time')}"


@sets_app.command("lock")
def lock(
    file: File,
    name: Annotated[str, typer.Argument(help="Name of the set", show_default=False)],
    as_: As = "",
    json_: Json = False,
) -> None:
    """Lock the labels of a set: from now on they are the metric, and judges may be shown."""
    from annotator.actions.sets import validation_sets

    with opened(file, person=as_) as project:
        change = validation_sets.lock(project, name)
    say(
        {"name": name, **change.after},
        json_,
        [f"Locked {counted(change.after['labels'], 'label')} of “{name}”."],
    )


@app.command("choose-judge")
def choose_judge(
    file: File,
    figure: Annotated[
        str,
        typer.Option(
            help="Figure to choose by: kappa, f1, accuracy, mcc …; by default what fits the values: kappa, "
            "kappa_quadratic or icc",
            show_default=False,
        ),
    ] = "",
    delta: Delta = 0.05,
    epsilon: Epsilon = 0.2,
    least: Least = 0.0,
    reference: Annotated[
        str, typer.Option(help="“people” (with one another), a judge's name, or “best”")
    ] = "people",
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Count each unit with its criterion's weight")
    ] = False,
    against: Against = None,
    set_name: SetName = "",
    part: PartName = "",
    positive: Positive = "",
    protocol: Protocol = "",
    to: To = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """The cheapest judge that may stand in for people, or is not worse than another judge by more than a margin."""
    from annotator.actions.validation import judge_choice, stand_in, validation

    protocol = protocol_of(file, protocol, set_name)
    with opened(file, readonly=not looks(set_name, part), person=as_) as project:
        of = validation.ValidationQuery(
            protocol, set_name, part, tuple(against or ()), positive=positive,
            opening=counted_look(project, set_name, part, ""),
        )  # fmt: skip
        found = judge_choice.choose(
            project, judge_choice.JudgeChoiceQuery(of, figure, weighted, delta, reference, epsilon, least)
        )
    answers = [one.answer for one in found.offers if one.answer]
    more = {
        "chosen": found.chosen.name if found.chosen else None, "reason": list(found.reason),
        "answers": [stand_in.tree(one) for one in answers],
    }  # fmt: skip
    show(judge_choice.sheets(found), to, json_, more)


@app.command()
def correct(
    file: File,
    judge: Annotated[
        str,
        typer.Option(
            help="Judge whose scores are corrected; by default the first by name", show_default=False
        ),
    ] = "",
    against: Against = None,
    set_name: SetName = "",
    part: PartName = "",
    width: Annotated[
        float,
        typer.Option(help="Target width of a score's interval, for the plan; 0.1 is a tenth of its range"),
    ] = 0.1,
    metric: Annotated[
        str, typer.Option(help="Metric that is corrected; by default the usual one", show_default=False)
    ] = "",
    card: Card = None,
    to: To = None,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Score of each system, raw and corrected by people's labels; certainty of the ranking; what to label next."""
    from annotator.actions.judging import card_checks
    from annotator.actions.results import metrics
    from annotator.actions.validation import cards, corrected, corrected_sheets

    metric = metric or metrics.USUAL_METRIC
    query = corrected.CorrectionQuery(judge, tuple(against or ()), set_name, part, width=width, metric=metric)
    # Refused before anyone looks at a test part.
    info = query.info
    with opened(file, readonly=not looks(set_name, part), person=as_) as project:
        if card is not None:
            held = cards.read(card)
            judge = judge or held.name
            card_checks.refuse_verdicts(project, held, judge, info.protocol)
        opening = counted_look(project, set_name, part, judge)
        found = corrected.report(project, replace(query, judge=judge, opening=opening))
    more = {"judge": found.rater.name, "against": found.against}
    show(corrected_sheets.sheets(found), to, json_, more)
