"""Commands for rulings on disagreements, reviews of verdicts, and rewording criteria."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.options import Protocol, protocol_of
from annotator.cli.saying import As, File, Json, opened, say
from annotator.cli.validation import (
    Against,
    PartName,
    SetName,
    counted_look,
    looks,
)
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()
rulings_app = typer.Typer(
    help="Criteria ruled unclear: list them, reword them, judge them again.", no_args_is_help=True
)
app.add_typer(rulings_app, name="rulings")
JudgeName = Annotated[str, typer.Option("--judge", help="The judge's name", show_default=False)]
CaseId = Annotated[str, typer.Option("--case", help="Case id from the list", show_default=False)]
Reason = Annotated[
    str,
    typer.Option(
        help="The judge's fault, e.g. “too strict”; an invalid value lists them all", show_default=False
    ),
]
ErrorKind = Annotated[
    str,
    typer.Option(
        "--kind",
        help="Kind of error in an accepted verdict; an invalid one lists all",
        show_default=False,
    ),
]
Note = Annotated[str, typer.Option(help="Note on the ruling or review", show_default=False)]
From = Annotated[
    Path | None,
    typer.Option(
        "--from", help="A JSON list of {case, say, reason, note}: all are saved, or none", show_default=False
    ),
]
OpenOnly = Annotated[bool, typer.Option("--open", help="Only open cases")]
SEPARATOR = "/"
# What one entry of --from may hold.
FIELDS = {"case", "say", "reason", "note", "kind"}


@app.command()
def rule(
    file: File,
    judge: JudgeName = "",
    against: Against = None,
    set_name: SetName = "",
    part: PartName = "",
    case: CaseId = "",
    said: Annotated[
        str, typer.Option("--say", help="judge wrong, person wrong or criterion unclear", show_default=False)
    ] = "",
    reason: Reason = "",
    note: Note = "",
    from_: From = None,
    open_: OpenOnly = False,
    protocol: Protocol = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """List disagreements between judges and people, or rule on one. First labels stay the metric."""
    from annotator.actions.sets import verdict_readings
    from annotator.actions.validation import disagreements, validation
    from annotator.domain.judges.informed import InformedRuling

    entries = _entries(case, said, reason, note, from_)
    protocol = protocol_of(file, protocol, set_name)
    with opened(file, readonly=not entries and not looks(set_name, part), person=as_) as project:
        query = validation.ValidationQuery(
            protocol,
            set_name,
            part,
            tuple(against or ()),
            judge,
            opening=counted_look(project, set_name, part, judge),
        )
        found = {SEPARATOR.join(one.case): one for one in disagreements.queue(project, query)}

        def keep(entry: dict[str, str]) -> None:
            disagreements.rule(
                project, _of(found, entry["case"]), _value(InformedRuling, entry["say"]), reason=entry["reason"],
                note=entry["note"], protocol=protocol,
            )  # fmt: skip

        _keep_all(project, entries, keep)
        left = disagreements.queue(project, query)
        whose = {rater for one in left for rater in (one.judge.id, one.person_id)}
        sides = verdict_readings.sides(project, protocol, whose)
    _say_rulings(left, sides, json_, open_=open_)


@app.command()
def review(
    file: File,
    judge: Annotated[str, typer.Option("--judge", help="Whose verdicts", show_default=False)],
    order: Annotated[
        str, typer.Option(help="uncertainty, weight, random or errors (of drawn reports)")
    ] = "uncertainty",
    experts: Annotated[int, typer.Option(min=1, max=2, help="How many experts review each verdict")] = 1,
    case: CaseId = "",
    said: Annotated[str, typer.Option("--say", help="agree, disagree or unsure", show_default=False)] = "",
    reason: Reason = "",
    note: Note = "",
    kind: ErrorKind = "",
    from_: From = None,
    open_: OpenOnly = False,
    protocol: Protocol = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """List a judge's verdicts for open review, or review one. Systems are not named."""
    from annotator.actions.sets import reviews, verdict_readings
    from annotator.domain.judges.informed import Review

    entries = _entries(case, said, reason, note, from_, kind)
    wanted = _value(reviews.ReviewOrder, order)
    protocol = protocol_of(file, protocol)
    with opened(file, readonly=not entries, person=as_) as project:
        before = reviews.outlook(project, judge, protocol, wanted, experts)
        found = {SEPARATOR.join(one.place.key): one for one in before.lines}

        def keep(entry: dict[str, str]) -> None:
            place = _of(found, entry["case"]).place
            reviews.review(
                project, judge, place.response_id, place.unit_id, _value(Review, entry["say"]), reason=entry["reason"],
                note=entry["note"], kind=entry["kind"], protocol=protocol,
            )  # fmt: skip

        _keep_all(project, entries, keep)
        left = reviews.outlook(project, judge, protocol, wanted, experts)
        sides = verdict_readings.sides(project, protocol, {one.judge_id for one in left.lines})
    _say_reviews(judge, left, sides, json_, open_=open_)


@app.command("error-sample")
def error_sample(
    file: File,
    per_system: Annotated[
        int,
        typer.Option(
            min=0, max=1_000_000, help="Draw so many reports of each system; 0 shows those that were drawn"
        ),
    ] = 0,
    system: Annotated[list[str] | None, typer.Option(help="Only this system; repeatable")] = None,
    seed: Annotated[int, typer.Option(min=0, max=10_000_000, help="Seed of the draw")] = 1,
    as_: As = "",
    json_: Json = False,
) -> None:
    """Draw reports whose errors experts are to name, or show the draw; then: review --order errors --kind …"""
    from annotator.actions.labelling import second_looks
    from annotator.actions.studies import error_counts

    with opened(file, readonly=not per_system, person=as_) as project:
        if per_system:
            error_counts.draw(project, per_system, seed, system or ())
        found = second_looks.sample(project)
    many = len(found.responses) if found else 0
    words = (
        f"{counted(many, 'report')} drawn, {found.per_system} of each system (seed {found.seed})."
        if found
        else ""
    )
    tree = found.model_dump(mode="json") if found else {"responses": []}
    say(tree, json_, [words or "No reports were drawn yet; draw some with --per-system 10."])


@rulings_app.command("unclear")
def unclear(file: File, protocol: Protocol = "", as_: As = "", json_: Json = False) -> None:
    """Criteria ruled unclear and not reworded since, the most frequently ruled first."""
    from annotator.actions.validation import disagreements

    protocol = protocol_of(file, protocol)
    with opened(file, readonly=True, person=as_) as project:
        found = disagreements.unclear(project, protocol)
    trees = [
        {"criterion": one.unit_id, "item": one.item_key, "words": one.words, "times": one.times}
        for one in found
    ]
    words = [f"{one.times:,} × item {one.item_key}, {one.unit_id}: {one.words}" for one in found]
    say({"unclear": trees}, json_, words or ["No criterion was ruled unclear."])


@rulings_app.command("reword")
def reword(
    file: File,
    criterion: Annotated[str, typer.Argument(help="Criterion id from “rulings unclear”", show_default=False)],
    text: Annotated[str, typer.Argument(help="The new words", show_default=False)],
    why: Annotated[str, typer.Option(help="Reason, for readers of the new version", show_default=False)] = "",
    protocol: Protocol = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Reword a criterion that was ruled unclear, in a new sealed version of its rubric."""
    from annotator.actions.sets import rejudging, rewording
    from annotator.actions.validation import disagreements

    protocol = protocol_of(file, protocol)
    with opened(file, person=as_) as project:
        listed = {one.unit_id: one for one in disagreements.unclear(project, protocol)}
        one = _of(listed, criterion)
        rewording.word(project, protocol, one.item_id, one.unit_id, text, why or rewording.WHY)
        again = rejudging.waiting(project, protocol)
    say(
        {"criterion": criterion, "words": text, "to_judge": [_tree(each) for each in again]}, json_,
        [f"The criterion of item {one.item_key} is reworded.", *(each.words() for each in again)],
    )  # fmt: skip


@rulings_app.command("again")
def again(
    file: File,
    judge: JudgeName = "",
    queue: Annotated[bool, typer.Option("--queue", help="Add a run for each judge to the queue")] = False,
    protocol: Protocol = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Reworded criteria that judges must judge again; all other verdicts stay valid and are not asked for."""
    from annotator.actions.sets import rejudging

    protocol = protocol_of(file, protocol)
    with opened(file, readonly=not queue, person=as_) as project:
        found = rejudging.waiting(project, protocol, judge)
        if queue:
            for one in found:
                rejudging.queue_up(project, one.order.judge, one.order.protocol)
    words = [one.words() for one in found] or ["Nothing needs to be judged again."]
    if queue and found:
        words.append("Queued; start it with: judge run, or in the window.")
    say({"again": [_tree(one) for one in found], "queued": queue and bool(found)}, json_, words)


def _say_rulings(left: Sequence[Any], sides: Mapping[Any, Any], json_: bool, *, open_: bool) -> None:
    def gave(rater: str, one: Any, what: str) -> str:
        side = sides.get((rater, one.place.key))
        return getattr(side, what) if side is not None else ""

    trees = [
        {
            "case": SEPARATOR.join(one.case), "item": one.place.item_key, "criterion": one.place.words,
            "weight": one.place.weight, "judge": one.judge.name, "judge_says": one.judge_value,
            "person": one.alias, "person_says": one.label_value, "ruling": one.ruling, "reason": one.reason,
            "note": one.note,
            **{
                f"{who}_{what}": gave(rater, one, what)
                for who, rater in (("judge", one.judge.id), ("person", one.person_id)) for what in ("why", "quote")
            },
        }
        for one in left if not (open_ and one.ruling)
    ]  # fmt: skip
    done = sum(bool(one.ruling) for one in left)
    words = [
        f"{tree['case']}\n  item {tree['item']}, weight {tree['weight']:g}: {tree['criterion']}\n"
        f"  {tree['judge']} says {tree['judge_says']}, {tree['person']} says {tree['person_says']}: "
        f"{tree['ruling'] or 'open'}"
        for tree in trees
    ]
    say(
        {"disagreements": trees, "ruled": done, "of": len(left)}, json_,
        [*words, f"{done:,} of {len(left):,} ruled. First labels stay the metric."],
    )  # fmt: skip


def _say_reviews(judge: str, left: Any, sides: Mapping[Any, Any], json_: bool, *, open_: bool) -> None:
    trees = [
        {
            "case": SEPARATOR.join(one.place.key), "item": one.place.item_key, "criterion": one.place.words,
            "weight": one.place.weight, "value": one.value, "why": side.why, "quote": side.quote,
            "flags": one.flags.split(), "uncertainty": one.uncertainty, "said": one.said, "reason": one.reason,
            "note": one.note, "kind": one.kind,
        }
        for one in left.lines if not (open_ and one.said)
        for side in [sides[one.judge_id, one.place.key]]
    ]  # fmt: skip
    done = sum(bool(one.said) for one in left.lines)
    words = [
        f"{tree['case']}\n  item {tree['item']}, weight {tree['weight']:g}: {tree['criterion']}\n"
        f"  {judge} says {tree['value']}: {tree['said'] or 'open'}"
        + (f", {tree['kind']}" if tree["kind"] else "")
        for tree in trees
    ]
    words.append(
        f"{done:,} of {len(left.lines):,} reviewed. Reviews do not count in figures of blind labels."
    )
    if left.blind:
        words.append(
            f"{counted(left.kept_back, 'more comes', 'more come')} once you have submitted your labels of these items."
        )
    more = {"reviewed": done, "of": len(left.lines), "blind": left.kept_back, "blind_items": list(left.blind)}
    say({"verdicts": trees, **more}, json_, words)


def _tree(one: Any) -> dict[str, Any]:
    order = one.order
    return {
        "judge": order.judge, "protocol": order.protocol, "judgements": one.judgements, "units": one.units,
        "items": list(order.items), "systems": list(order.systems),
    }  # fmt: skip


def _entries(
    case: str, said: str, reason: str, note: str, path: Path | None, kind: str = ""
) -> list[dict[str, str]]:
    """What is to be said: the one case, or those of a file."""
    if path is None:
        if bool(case) != bool(said):
            raise Refusal("--case and --say must be given together.", "Give both.")
        return [{"case": case, "say": said, "reason": reason, "note": note, "kind": kind}] if case else []
    try:
        listed = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal(f"“{path.name}” cannot be read: {error}.", "Give a JSON list.") from None
    for number, one in enumerate(listed if isinstance(listed, list) else [None], 1):
        known = isinstance(one, dict) and {"case", "say"} <= one.keys() <= FIELDS
        if not known or not all(isinstance(value, str) for value in one.values()):
            raise Refusal(
                f"Entry {number} of “{path.name}” does not fit.",
                "Give case, say, reason, note and kind as texts.",
            )
    return [{"reason": "", "note": "", "kind": "", **one} for one in listed]


def _keep_all(
    project: Any, entries: Sequence[dict[str, str]], keep: Callable[[dict[str, str]], None]
) -> None:
    """Keep every entry, or none."""
    if not entries:
        return
    with project.store.write():
        for entry in entries:
            keep(entry)


def _of(found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise Refusal(f"There is no “{name}” in the list.", "Use a case id from the list.")
    return found[name]


def _value(kind: Any, said: str) -> Any:
    try:
        return kind(said)
    except ValueError:
        raise Refusal(f"“{said}” is not a valid value here.", f"Use one of {', '.join(kind)}.") from None
