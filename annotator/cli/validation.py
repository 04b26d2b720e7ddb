"""Commands for judge validation: sets, figures, choice of a judge, corrected scores."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.project import Shown, order_carried_out
from annotator.cli.results import print_sheets, show
from annotator.cli.saying import (
    REFUSED,
    Budget,
    Concurrency,
    File,
    Json,
    Protocol,
    RequestsPerMinute,
    Timeout,
    TokensPerMinute,
    changing,
    console,
    how,
    opened,
    print_json,
    protocol_of,
    reading,
    say,
)
from annotator.domain.common import Refusal, counted

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
    json_: Json = False,
) -> None:
    """Compare judges with people: may each stand in for people, its agreement, errors and cost.

    Yes if it is shown not to be worse than people with one another by more than --delta (of Cohen's κ), to agree with
    them beyond chance, as they do, and passes the alternative annotator test, which needs three people; no if it is
    shown to be worse. Of several judges and looks at a test part, at most 3 in 100 are said to be better or worse by
    chance.
    """
    from annotator.actions.sets import validation_figures
    from annotator.actions.validation import stand_in, validation

    protocol = protocol_of(file, protocol, set_name)
    with opened(file, readonly=not looks(set_name, part)) as project:
        query = validation.ValidationQuery(
            protocol, set_name, part, tuple(against or ()), judge, positive, by,
            counted_look(project, set_name, part, judge),
        )  # fmt: skip
        ground = validation.ground_of(project, query)
        result = validation.of_ground(project, ground, query)
        in_query = stand_in.StandInQuery(query, delta=delta, epsilon=epsilon, least=least)
        answers = stand_in.of_ground(project, ground, in_query) if by == validation_figures.ALL else None
    sheets = stand_in.sheets(answers) if answers else ()
    if to or json_:
        more = {"answers": [stand_in.tree(answer) for answer in answers.answers] if answers else []}
        show((*sheets, *validation.sheets(result)), to, json_, more)
        return
    show((*sheets[:1], *validation.brief(result)), None, json_)
    console.print(
        "All figures, weighted figures and confusion matrices: --to FILE.csv or --json", markup=False
    )


def looks(set_name: str, part: str) -> bool:
    return bool(set_name) and part not in ("", "dev")


def counted_look(project: Any, set_name: str, part: str, judge: str) -> str:
    """The id of a counted look, if the test part is to be shown; empty otherwise."""
    from annotator.actions.judges import judges
    from annotator.actions.sets import validation_sets

    if not looks(set_name, part):
        return ""
    names = [judge] if judge else [one.name for one in judges.all_of(project)]
    return str(validation_sets.open_test(project, set_name, names).id)


@sets_app.command("draw")
@changing
def draw(
    project: Any,
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
    json_: Json = False,
) -> None:  # fmt: skip
    """Draw a random sample of responses, stratified by type, system and length, and assign it for blind labelling."""
    from annotator.actions.project import people as everybody
    from annotator.actions.sets import validation_sets

    whose = tuple(everybody.known(project, person).id for person in people)
    query = validation_sets.SetRequest(
        name, whose, protocol, width, share, likeness, size, test, raters, seed, apart
    )
    result = validation_sets.preview(project, query)
    if not dry_run:
        validation_sets.make(project, query)
    tree = {
        "name": name, "dry_run": dry_run, "units": result.units, "told": list(result.sentences),
        "responses": [response.model_dump(mode="json") for response in result.content.responses],
    }  # fmt: skip
    say(tree, json_, list(result.sentences))


@sets_app.command("list")
@reading
def list_sets(project: Any, json_: Json = False) -> None:
    """List validation sets: size, labels still missing, and how often the test part was viewed."""
    from annotator.actions.sets import validation_sets

    result = [(one, validation_sets.lacking(project, one)) for one in validation_sets.sets(project)]
    trees = [
        {
            "name": one.name, "protocol": one.protocol, "responses": len(one.content.responses),
            "items": len(one.content.dealt), "locked_at": one.locked_at, "openings": one.openings, "lacking": missing,
        }
        for one, missing in result
    ]  # fmt: skip
    say({"sets": trees}, json_, [*map(_summary, trees)] or ["No validation sets yet."])


def _summary(tree: dict[str, Any]) -> str:
    locked, left = tree["locked_at"], len(tree["lacking"])
    state = f"locked {locked:%Y-%m-%d}" if locked else f"{counted(left, 'share')} of work open"
    size = f"{counted(tree['responses'], 'response')} of {counted(tree['items'], 'item')}"
    return f"{tree['name']}: {size}, {state}, test part viewed {counted(tree['openings'], 'time')}"


@sets_app.command("lock")
@changing
def lock(
    project: Any,
    name: Annotated[str, typer.Argument(help="Name of the set", show_default=False)],
    json_: Json = False,
) -> None:
    """Lock the labels of a set: from now on they are the metric, and judges may be shown."""
    from annotator.actions.sets import validation_sets

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
    json_: Json = False,
) -> None:
    """The cheapest judge that may stand in for people, or is not worse than another judge by more than a margin."""
    from annotator.actions.validation import stand_in, validation

    protocol = protocol_of(file, protocol, set_name)
    with opened(file, readonly=not looks(set_name, part)) as project:
        of = validation.ValidationQuery(
            protocol, set_name, part, tuple(against or ()), positive=positive,
            opening=counted_look(project, set_name, part, ""),
        )  # fmt: skip
        result = stand_in.choose(
            project, stand_in.JudgeChoiceQuery(of, figure, weighted, delta, epsilon, least, reference)
        )
    answers = [offer.answer for offer in result.offers if offer.answer]
    more = {
        "chosen": result.chosen.name if result.chosen else None, "reason": list(result.reason),
        "answers": [stand_in.tree(answer) for answer in answers],
    }  # fmt: skip
    show(stand_in.choice_sheets(result), to, json_, more)


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
    json_: Json = False,
) -> None:
    """Score of each system, raw and corrected by people's labels; certainty of the ranking; what to label next."""
    from annotator.actions.judging import derived_judges
    from annotator.actions.results import scoring
    from annotator.actions.validation import corrected, validity_cards

    metric = metric or scoring.USUAL_METRIC
    query = corrected.CorrectionQuery(
        set_name=set_name, part=part, against=tuple(against or ()), judge=judge, width=width, metric=metric
    )
    # Refused before the test part is opened.
    info = query.info
    with opened(file, readonly=not looks(set_name, part)) as project:
        if card is not None:
            held = validity_cards.read(card)
            judge = judge or held.name
            derived_judges.refuse_verdicts(project, held, judge, info.protocol)
        opening = counted_look(project, set_name, part, judge)
        result = corrected.report(project, replace(query, judge=judge, opening=opening))
    more = {"judge": result.rater.name, "against": result.against}
    show(corrected.sheets(result), to, json_, more)


@app.command()
def card(
    file: File,
    judge: Annotated[
        str, typer.Option(help="Judge of the card; with --check the judge to compare with "
        "it", show_default=False)
    ] = "",
    to: Annotated[
        Path | None, typer.Option(help="File to write the card to, .json or .html", show_default=False)
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Report where a judge differs from this card", show_default=False)
    ] = None,
    bind: Annotated[
        bool, typer.Option("--bind", help="With --check: refuse runs of the judge if it differs from the "
        "card")
    ] = False,
    define_at: Annotated[
        str,
        typer.Option(help="With --check: add the card's judge at this address if it is not here", show_default=False),
    ] = "",
    set_name: SetName = "",
    part: PartName = "",
    against: Against = None,
    positive: Positive = "",
    prompt: Annotated[
        str, typer.Option(help="First characters of the prompt's hash, if the judge used several "
        "prompts", show_default=False)
    ] = "",
    protocol: Protocol = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Write or check a validity card: one file with all results on one validated judge, for readers and programs."""
    if check is not None:
        _check(file, check, judge, define_at, bind, json_)
        return
    if not judge:
        raise Refusal("A card describes one judge.", "Name it with --judge, or a card with --check.")
    from annotator.actions.judges import judges
    from annotator.actions.validation import validity_cards

    protocol = protocol_of(file, protocol, set_name)
    if to is not None:
        validity_cards.refuse_place(to)
    with opened(file, readonly=not looks(set_name, part)) as project:
        judges.named(project, judge)
        opening = counted_look(project, set_name, part, judge)
        query = validity_cards.CardQuery(
            protocol, set_name, part, tuple(against or ()), judge, positive, opening=opening, prompt=prompt
        )
        made = validity_cards.card(project, query)
    written = [validity_cards.save(made, to).name] if to is not None else []
    if json_:
        print_json({"card": made.tree(), "files": written})
        return
    print_sheets([validity_cards.brief(made)])
    console.print(
        f"Wrote {written[0]}" if written else "Nothing was written: --to FILE.json or FILE.html", markup=False
    )


def _check(file: Path, path: Path, judge: str, define_at: str, bind: bool, json_: bool) -> None:
    """Check a card against a judge, and define or bind the judge if asked to; exit code 1 if the card does not hold."""
    from annotator.actions.judging import derived_judges
    from annotator.actions.validation import validity_cards

    held = validity_cards.read(path)
    with opened(file, readonly=not (bind or define_at)) as project:
        if define_at and not derived_judges.check(project, held).judge:
            derived_judges.define(project, held, define_at, judge)
        result = derived_judges.check(project, held, judge)
        if bind and result.holds:
            derived_judges.bind(project, result.card, result.judge)
    tree = {
        "card": result.card.name, "sha256": result.card.sha256, "judge": result.judge or None,
        "holds": result.holds,
        "bound": bind and result.holds,
        "differences": [difference.model_dump() for difference in result.differences],
        "remarks": list(result.remarks),
    }  # fmt: skip
    bound = f"From now on “{result.judge}” runs only with the settings on the card."
    words = [*result.words(), *([bound] if bind and result.holds else [])]
    say(tree, json_, words, lacking=not result.holds, code=REFUSED)


@app.command()
def attack(
    file: File,
    judge: Annotated[str, typer.Option(help="The judge to test")],
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", help="control, injection, padding, order; by default all that apply to the judge",
                     show_default=False),
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=1, help="Number of the judge's verdicts to draw, instead of a "
        "width", show_default=False)
    ] = None,
    width: Annotated[float, typer.Option(help="Largest width of a rate's 95 % interval")] = 0.2,
    seed: Annotated[int, typer.Option(help="The same seed draws the same verdicts")] = 1,
    protocol: Protocol = "",
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate calls and cost only")] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:  # fmt: skip
    """Test a judge on attacked copies of reports, and report how often each attack succeeds.

    Run the same command again to resume a stopped test; no question is asked twice.
    """
    from annotator.actions.attacks import attacking
    from annotator.actions.runs.judge_cases import AttackRequest

    protocol = protocol_of(file, protocol)
    request = AttackRequest(judge, protocol, tuple(attacks or ()), size, width, seed)
    order = attacking.order(request, **how(concurrency, timeout, budget, rpm, tpm))
    after = partial(_say_figures, file, judge, protocol)
    order_carried_out(file, order, progress=progress, json_=json_, estimate=estimate, after=after)


def _say_figures(file: Any, judge: str, protocol: str) -> None:
    from annotator.actions.attacks import attack_figures

    with opened(file, readonly=True) as project:
        result = attack_figures.sheets(attack_figures.report(project, protocol, judge))
    show(result[:1], None, json_=False)


@app.command()
def bias(
    file: File,
    judge: Annotated[str, typer.Option(help="Judge's name; by default all judges", show_default=False)] = "",
    protocol: Protocol = "",
    family: Annotated[
        list[str] | None,
        typer.Option(help="NAME=DEVELOPER: the developer of the model behind a system or judge; saved. "
        "“none” for no developer",
                     show_default=False),
    ] = None,
    to: To = None,
    json_: Json = False,
) -> None:  # fmt: skip
    """Judges' biases (position, length, model family) and how they performed under attack."""
    from annotator.actions.attacks import attacking, biases

    if unclear := [words for words in family or () if "=" not in words]:
        raise Refusal(f"“{unclear[0]}” does not name a developer.", "Write it as NAME=DEVELOPER.")
    protocol = protocol_of(file, protocol)
    with opened(file, readonly=not family) as project:
        if family:
            with project.store.write():
                for words in family:
                    name, _, developer = words.rpartition("=")
                    attacking.set_family(project, name, developer)
        result = biases.panel(project, protocol, judge)
    if not result and not json_:
        say(
            {},
            json_,
            ["No results yet: run a judge, then test it with: goldsmith attack"],
        )
        return
    show(result, to, json_=json_)
