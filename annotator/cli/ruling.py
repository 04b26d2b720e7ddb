"""Commands for rulings on disagreements, reviews of verdicts, and rewording criteria."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.project import Shown, order_carried_out
from annotator.cli.saying import (
    Budget,
    Concurrency,
    File,
    Json,
    Protocol,
    Timeout,
    changing,
    changing_by,
    console,
    opened,
    protocol_of,
    reading,
    say,
)
from annotator.cli.validation import Against, PartName, SetName, counted_look, looks
from annotator.domain.common import Refusal, counted

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
Note = Annotated[str, typer.Option(help="Note on the ruling or review", show_default=False)]
From = Annotated[
    Path | None,
    typer.Option(
        "--from", help="A JSON list of {case, say, reason, note}: all are saved, or none", show_default=False
    ),
]
OpenOnly = Annotated[bool, typer.Option("--open", help="Only open cases")]
SEPARATOR = "/"
# The possible fields of an entry of --from.
FIELDS = {"case", "say", "reason", "note", "kind"}


@app.command()
def rule(
    file: File,
    judge: JudgeName = "",
    against: Against = None,
    set_name: SetName = "",
    part: PartName = "",
    case: CaseId = "",
    answer: Annotated[
        str, typer.Option("--say", help="judge wrong, person wrong or criterion unclear", show_default=False)
    ] = "",
    reason: Reason = "",
    note: Note = "",
    from_: From = None,
    open_: OpenOnly = False,
    protocol: Protocol = "",
    json_: Json = False,
) -> None:
    """List disagreements between judges and people, or rule on one. First labels stay the metric."""
    from annotator.actions.sets import validation_ground
    from annotator.actions.validation import disagreements, validation
    from annotator.domain.judges.judge import InformedRuling

    entries = _entries(case, answer, reason, note, from_)
    protocol = protocol_of(file, protocol, set_name)
    with opened(file, readonly=not entries and not looks(set_name, part)) as project:
        query = validation.ValidationQuery(
            protocol,
            set_name,
            part,
            tuple(against or ()),
            judge,
            opening=counted_look(project, set_name, part, judge),
        )
        result = {SEPARATOR.join(one.key): one for one in disagreements.queue(project, query)}

        def keep(entry: dict[str, str]) -> None:
            disagreements.rule(
                project, _of(result, entry["case"]), _value(InformedRuling, entry["say"]), reason=entry["reason"],
                note=entry["note"], protocol=protocol,
            )  # fmt: skip

        _keep_all(project, entries, keep)
        left = disagreements.queue(project, query)
        whose = {rater for one in left for rater in (one.judge_id, one.person_id)}
        sides = validation_ground.sides(project, protocol, whose)
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
    answer: Annotated[str, typer.Option("--say", help="agree, disagree or unsure", show_default=False)] = "",
    reason: Reason = "",
    note: Note = "",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="Kind of error in an accepted verdict; an invalid one lists all",
            show_default=False,
        ),
    ] = "",
    from_: From = None,
    open_: OpenOnly = False,
    protocol: Protocol = "",
    json_: Json = False,
) -> None:
    """List a judge's verdicts for open review, or review one. Systems are not named."""
    from annotator.actions.sets import reviews, validation_ground
    from annotator.domain.judges.judge import Review

    entries = _entries(case, answer, reason, note, from_, kind)
    chosen_order = _value(reviews.ReviewOrder, order)
    protocol = protocol_of(file, protocol)
    with opened(file, readonly=not entries) as project:
        before = reviews.outlook(project, judge, protocol, chosen_order, experts)
        result = {SEPARATOR.join(line.place.key): line for line in before.lines}

        def keep(entry: dict[str, str]) -> None:
            place = _of(result, entry["case"]).place
            reviews.review(
                project, judge, place.response_id, place.unit_id, _value(Review, entry["say"]), reason=entry["reason"],
                note=entry["note"], kind=entry["kind"], protocol=protocol,
            )  # fmt: skip

        _keep_all(project, entries, keep)
        left = reviews.outlook(project, judge, protocol, chosen_order, experts)
        sides = validation_ground.sides(project, protocol, {line.judge_id for line in left.lines})
    _say_reviews(judge, left, sides, json_, open_=open_)


@app.command("error-sample")
@changing_by("per_system")
def error_sample(
    project: Any,
    per_system: Annotated[
        int,
        typer.Option(
            min=0, max=1_000_000, help="Draw so many reports of each system; 0 shows those that were drawn"
        ),
    ] = 0,
    system: Annotated[list[str] | None, typer.Option(help="Only this system; repeatable")] = None,
    seed: Annotated[int, typer.Option(min=0, max=10_000_000, help="Seed of the draw")] = 1,
    json_: Json = False,
) -> None:
    """Draw reports whose errors experts are to name, or show the draw; then: review --order errors --kind …"""
    from annotator.actions.labelling import label_sealing
    from annotator.actions.studies import part_views

    if per_system:
        part_views.draw_responses(project, per_system, seed, system or ())
    result = label_sealing.sample(project)
    many = len(result.responses) if result else 0
    words = (
        f"{counted(many, 'report')} drawn, {result.per_system} of each system (seed {result.seed})."
        if result
        else ""
    )
    tree = result.model_dump(mode="json") if result else {"responses": []}
    say(tree, json_, [words or "No reports were drawn yet; draw some with --per-system 10."])


@rulings_app.command("unclear")
@reading
def unclear(project: Any, protocol: Protocol = "", json_: Json = False) -> None:
    """Criteria ruled unclear and not reworded since, the most frequently ruled first."""
    from annotator.actions.validation import disagreements

    result = disagreements.unclear(project, protocol)
    trees = [
        {
            "criterion": criterion.unit_id,
            "item": criterion.item_key,
            "words": criterion.words,
            "times": criterion.times,
        }
        for criterion in result
    ]
    words = [
        f"{criterion.times:,} × item {criterion.item_key}, {criterion.unit_id}: {criterion.words}"
        for criterion in result
    ]
    say({"unclear": trees}, json_, words or ["No criterion was ruled unclear."])


@rulings_app.command("reword")
@changing
def reword(
    project: Any,
    criterion: Annotated[str, typer.Argument(help="Criterion id from “rulings unclear”", show_default=False)],
    text: Annotated[str, typer.Argument(help="The new words", show_default=False)],
    why: Annotated[str, typer.Option(help="Reason, for readers of the new version", show_default=False)] = "",
    protocol: Protocol = "",
    json_: Json = False,
) -> None:
    """Reword a criterion that was ruled unclear, in a new sealed version of its rubric."""
    from annotator.actions.sets import reviews
    from annotator.actions.validation import disagreements

    listed = {one.unit_id: one for one in disagreements.unclear(project, protocol)}
    one = _of(listed, criterion)
    reviews.word(project, protocol, one.item_id, one.unit_id, text, why or reviews.WHY)
    again = reviews.waiting(project, protocol)
    say(
        {"criterion": criterion, "words": text, "to_judge": [_tree(each) for each in again]}, json_,
        [f"The criterion of item {one.item_key} is reworded.", *(each.words() for each in again)],
    )  # fmt: skip


@rulings_app.command("again")
@changing_by("queue")
def again(
    project: Any,
    judge: JudgeName = "",
    queue: Annotated[bool, typer.Option("--queue", help="Add a run for each judge to the queue")] = False,
    protocol: Protocol = "",
    json_: Json = False,
) -> None:
    """Reworded criteria that judges must judge again; all other verdicts stay valid and are not asked for."""
    from annotator.actions.sets import reviews

    result = reviews.waiting(project, protocol, judge)
    if queue:
        for judgements in result:
            reviews.queue_up(project, judgements.order.judge, judgements.order.protocol)
    words = [one.words() for one in result] or ["Nothing needs to be judged again."]
    if queue and result:
        words.append("Queued; start it with: judge run, or in the window.")
    say({"again": [_tree(one) for one in result], "queued": queue and bool(result)}, json_, words)


def _say_rulings(left: Sequence[Any], sides: Mapping[Any, Any], json_: bool, *, open_: bool) -> None:
    def gave(rater: str, one: Any, what: str) -> str:
        side = sides.get((rater, one.place.key))
        return getattr(side, what) if side is not None else ""

    trees = [
        {
            "case": SEPARATOR.join(one.key), "item": one.place.item_key, "criterion": one.place.words,
            "weight": one.place.weight, "judge": one.judge, "judge_says": one.judge_value,
            "person": one.alias, "person_says": one.label_value, "ruling": one.ruling, "reason": one.reason,
            "note": one.note,
            **{
                f"{who}_{what}": gave(rater, one, what)
                for who, rater in (("judge", one.judge_id), ("person", one.person_id)) for what in ("why", "quote")
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
            "weight": one.place.weight, "value": one.judge_value, "why": side.why, "quote": side.quote,
            "flags": one.flags.split(), "uncertainty": one.uncertainty, "said": one.ruling, "reason": one.reason,
            "note": one.note, "kind": one.kind,
        }
        for one in left.lines if not (open_ and one.ruling)
        for side in [sides[one.judge_id, one.place.key]]
    ]  # fmt: skip
    done = sum(bool(line.ruling) for line in left.lines)
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
            f"{counted(left.held_back, 'more comes', 'more come')} once you have submitted your labels of these items."
        )
    more = {"reviewed": done, "of": len(left.lines), "blind": left.held_back, "blind_items": list(left.blind)}
    say({"verdicts": trees, **more}, json_, words)


def _tree(one: Any) -> dict[str, Any]:
    order = one.order
    return {
        "judge": order.judge, "protocol": order.protocol, "judgements": one.judgements, "units": one.units,
        "items": list(order.items), "systems": list(order.systems),
    }  # fmt: skip


def _entries(
    case: str, answer: str, reason: str, note: str, path: Path | None, kind: str = ""
) -> list[dict[str, str]]:
    if path is None:
        if bool(case) != bool(answer):
            raise Refusal("--case and --say must be given together.", "Give both.")
        return [{"case": case, "say": answer, "reason": reason, "note": note, "kind": kind}] if case else []
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
    if not entries:
        return
    with project.store.write():
        for entry in entries:
            keep(entry)


def _of(entry: dict[str, Any], name: str) -> Any:
    if name not in entry:
        raise Refusal(f"There is no “{name}” in the list.", "Use a case id from the list.")
    return entry[name]


def _value(kind: Any, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise Refusal(f"“{text}” is not a valid value here.", f"Use one of {', '.join(kind)}.") from None


drafting_app = typer.Typer(help="A model's drafts for you; nobody else sees them.", no_args_is_help=True)

rubrics_app = typer.Typer(
    help="Rubric sets: other rubrics for the same items, to judge by and to compare.", no_args_is_help=True
)

Draft = Annotated[
    str, typer.Argument(help="The draft, by the key of its item or the first letters of its id")
]
OfKind = Annotated[str, typer.Option("--kind", help="Which draft, where an item has drafts of several kinds")]


@drafting_app.command()
def ask(
    file: File,
    judge: Annotated[str, typer.Option("--judge", help="The judge whose endpoint writes the draft")],
    kind: Annotated[
        str,
        typer.Option(
            help="classification, insights, reference, rubric, diagnostics, nuggets, checklist, inspirations or tasks"
        ),
    ],
    item: Annotated[list[str], typer.Option("--item", help="Item key; repeatable")],
    concurrency: Concurrency = 4,
    timeout: Timeout = 600.0,
    budget: Budget = None,
    piece_words: Annotated[
        int, typer.Option(help="Of inspirations: words of a piece of the transcript; 0 for the usual 1500")
    ] = 0,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate calls, tokens and cost, without making a call")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Have a model draft from an item's sources; the draft is a proposal until you take it, unit by unit.

    A checklist is drafted from the task alone: settle it before you look at any report. A classification is drafted
    from the question and the project's types: it proposes a type and a subject.
    """
    from annotator.actions.material import model_drafts
    from annotator.actions.runs.judge_cases import RunRequest

    order = RunRequest(
        judge=judge, protocol=model_drafts.protocol_name(model_drafts.kind_of(kind)), items=tuple(item),
        concurrency=concurrency, timeout_s=timeout, budget_usd=budget, piece_words=piece_words,
    )  # fmt: skip

    order_carried_out(file, order, progress=progress, json_=json_, estimate=estimate)


@drafting_app.command("list")
@reading
def list_(project: Any, json_: Json = False) -> None:
    """List your open drafts and their units."""
    from annotator.actions.items import items
    from annotator.actions.material import model_drafts

    result = [
        {
            "id": proposal.id,
            "kind": proposal.kind.value,
            "judge": proposal.source.judge,
            "model": proposal.source.model,
            "at": proposal.at.isoformat(),
            "units": [
                {"number": number, "taken": unit.id in proposal.taken, **unit.model_dump(mode="json")}
                for number, unit in enumerate(proposal.document.units, start=1)
            ],
            "item": items.read(project, proposal.item_id).key,
        }
        for proposal in model_drafts.proposals(project)
    ]
    words = [line for one in result for line in _lines(one)]
    say({"drafts": result}, json_, words or ["You have no open drafts."])


@drafting_app.command()
@changing
def take(
    project: Any,
    draft: Draft,
    unit: Annotated[
        list[int] | None, typer.Option("--unit", help="Number of a unit; by default all remaining units")
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(help="For reference material: file with your edited text on what the sources say"),
    ] = None,
    beyond: Annotated[
        Path | None,
        typer.Option(
            help="For reference material: file with your edited text on what goes beyond the sources"
        ),
    ] = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="For a classification: this type instead")
    ] = None,
    subject: Annotated[str | None, typer.Option(help="For a classification: this subject instead")] = None,
    kind: OfKind = "",
) -> None:
    """Copy units of a draft into your document, whose history records their origin.

    Reference material is taken as a whole and becomes a source of its item; of a classification the item gets the type
    and the subject.
    """
    from annotator.actions.material import model_drafts
    from annotator.domain.material.extract import WriterAid

    result = model_drafts.waiting_proposal(project, draft, kind)
    whole = result.kind is WriterAid.REFERENCE
    filed = result.kind is WriterAid.CLASSIFICATION
    if unit and (whole or filed):
        raise Refusal("That draft is taken as a whole.", "Leave --unit out.")
    if (type_ or subject) and not filed:
        raise Refusal("Only a classification has a type and subject.", "Leave --type and --subject out.")
    if (text or beyond) and not whole:
        raise Refusal("Only reference material is taken from a file.", "Leave --text and --beyond out.")
    if filed:
        console.print(_classified(project, result, type_, subject), markup=False)
        return
    if whole:
        made = model_drafts.confirm_material(project, result.id, _read(text), _read(beyond))
        console.print(f"“{made.after['title']}” is now a source of the item.", markup=False)
        return
    change = model_drafts.take(project, result.id, model_drafts.numbered(result, unit or []))
    count = len(change.after["from_draft"]["units"])
    console.print(f"{count} of the draft's units are now in your {result.kind.value}.", markup=False)


def _classified(project: Any, draft: Any, type_: str | None, subject: str | None) -> str:
    """Apply a draft's proposal, or the given values instead, and return the item's new ones in words."""
    from annotator.actions.items import items
    from annotator.actions.material import model_drafts

    named = {"question_type": type_, "subject": subject}
    model_drafts.confirm_class(
        project, draft.id, {name: words for name, words in named.items() if words is not None}
    )
    item = items.read(project, draft.item_id)
    return f"Item {item.key}: {item.question_type}, {item.subject}."


@drafting_app.command()
@changing
def refuse(project: Any, draft: Draft, kind: OfKind = "") -> None:
    """Dismiss the rest of a draft."""
    from annotator.actions.material import model_drafts

    model_drafts.refuse(project, model_drafts.waiting_proposal(project, draft, kind).id)
    console.print("The draft is dismissed.", markup=False)


def _read(path: Path | None) -> str | None:
    """The text of a file, which may be empty; None if none is named."""
    from annotator.exchange.texts import documents

    if path is None:
        return None
    if path.is_file() and not path.stat().st_size:
        return ""
    return documents.plain_text(documents.read(path), path.name)


def _lines(case: dict[str, Any]) -> list[str]:
    head = f"{case['id'][:8]}  {case['kind']} of item {case['item']} by {case['model'] or case['judge']}"
    units = [
        f"  {unit['number']}. {_filed(unit)}{unit['text']}{' (taken)' if unit['taken'] else ''}"
        for unit in case["units"]
    ]
    return [head, *units]


def _filed(unit: dict[str, Any]) -> str:
    return f"{unit['question_type']}, {unit['subject']}: " if "question_type" in unit else ""


@rubrics_app.command("list")
@reading
def rubrics_list(project: Any, json_: Json = False) -> None:
    """List all rubric sets with their items and criteria; the one that reports are judged by is marked.

    A model writes one by: judge extract --extraction researcherbench.rubric.dimensions (or ….reference).
    """
    from annotator.actions.studies import rubric_views

    now = rubric_views.in_force(project) or rubric_views.OWN
    result: list[dict[str, Any]] = [
        {
            "set": name, "items": len(of), "criteria": sum(len(rubric.units) for rubric in of.values()),
            "in_force": name == now,
        }
        for name, of in rubric_views.sets(project).items()
    ]  # fmt: skip
    words = [
        f"{one['set']}: {counted(one['items'], 'item')}, {counted(one['criteria'], 'criterion', 'criteria')}"
        + (", in force" if one["in_force"] else "")
        for one in result
    ]
    say({"sets": result}, json_, words or ["There are no rubrics yet."])


@rubrics_app.command("use")
@changing
def rubrics_use(
    project: Any,
    name: Annotated[str, typer.Argument(help="A named set, or “settled” for the experts' own rubrics")],
    json_: Json = False,
) -> None:
    """Have reports judged, labelled and scored by a set from now on; all verdicts by others stay."""
    from annotator.actions.studies import rubric_views

    rubric_views.use(project, name)
    say({"in_force": name}, json_, [f"Reports are now judged, labelled and scored by “{name}”."])


@rubrics_app.command("keep")
def rubrics_keep(
    file: File,
    name: Annotated[str, typer.Argument(help="The name of the set")],
    of: Annotated[
        str, typer.Option("--of", help="Copy this set: settled, drafted, or an author's alias")
    ] = "",
    path: Annotated[
        Path | None,
        typer.Option(
            "--from", help="CSV with item, criterion and weight; or JSON: item key → list of {text, weight}"
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Keep a rubric set under a name: a copy of another one, or from a file."""
    from annotator.actions.studies import rubric_views

    if bool(of) == bool(path):
        raise Refusal("A set is either copied or read from a file.", "Give --of or --from.")
    with opened(file) as project:
        made = rubric_views.keep_file(project, name, path) if path else rubric_views.keep(project, name, of)
    say(made.after, json_, [f"Kept “{name}”: {counted(made.after['items'], 'item')}."])


@rubrics_app.command("write")
@reading
def rubrics_write(
    project: Any,
    name: Annotated[str, typer.Argument(help="The set: settled, drafted, an author's alias, or a named one")],
    to: Annotated[Path, typer.Option("--to", help="The file: NAME.csv or NAME.json")],
) -> None:
    """Write a rubric set into a file, so that people can weigh its criteria; keep --from takes it back."""
    from annotator.actions.studies import rubric_views

    many = rubric_views.write_set(project, name, to)
    console.print(f"{counted(many, 'criterion', 'criteria')} of “{name}” are in {to.name}.", markup=False)
