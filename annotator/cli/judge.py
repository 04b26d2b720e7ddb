"""Commands for the cost and drift of judges."""

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.project import Shown, carried_out, order_carried_out, say_forecast
from annotator.cli.results import Departures, print_sheets
from annotator.cli.saying import (
    REFUSED,
    Batch,
    Budget,
    CachedPrice,
    Card,
    Concurrency,
    File,
    InputPrice,
    Items,
    Json,
    Judge,
    KeyEnv,
    OfJudge,
    OutputPrice,
    Protocol,
    RequestsPerMinute,
    Systems,
    Timeout,
    Together,
    TokensPerMinute,
    Trials,
    changing,
    changing_by,
    console,
    how,
    opened,
    protocol_of,
    reach,
    reading,
    say,
)
from annotator.domain.common import Refusal, counted, visible

app = typer.Typer()

_SHOWN = 20


@app.command("costs")
@reading
def judge_costs_(
    project: Any,
    by: Annotated[str, typer.Option(help="purpose, judge, run, question, system or criterion")] = "judge",
    judge: OfJudge = "",
    json_: Json = False,
) -> None:
    """Cost of all model calls, most expensive first; every grouping adds up to the same total."""
    from annotator.actions.judging import forecasts
    from annotator.actions.runs.run_records import dollars

    result = forecasts.costs(project, by, judge=judge)
    whole = forecasts.total(result)
    words = [
        *(f"{cost.words(by)}: {dollars(cost.cost_usd)}{cost.remark()}" for cost in result[:_SHOWN]),
        *([f"… and {len(result) - _SHOWN:,} more; see all with --json."] if len(result) > _SHOWN else []),
        *([f"Total: {dollars(whole)}"] if result else []),
    ]
    tree = {"by": by, "total_usd": whole, "costs": [asdict(cost) for cost in result]}
    say(tree, json_, words or ["No costs yet."])


@app.command("anchor")
@changing
def judge_anchor(
    project: Any,
    judge: Judge,
    protocol: Protocol = "",
    size: Annotated[int, typer.Option(min=1, help="How many verdicts")] = 100,
    system: Systems = None,
    item: Items = None,
    again: Annotated[bool, typer.Option("--again", help="Replace the existing anchor set")] = False,
) -> None:
    """Freeze some of a judge's verdicts as an anchor set for later drift checks."""
    from annotator.actions.judging import drift

    result = drift.anchor(project, judge, protocol, size, again=again, **reach(system, item)).after
    console.print(
        f"{counted(len(result['units']), 'verdict is', 'verdicts are')} frozen. Check for drift with: "
        "goldsmith judge drift",
        markup=False,
    )


@app.command("drift")
def judge_drift(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    show: Annotated[bool, typer.Option("--show", help="List earlier checks, without making a call")] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Judge the anchor set again and report which verdicts changed, and what else changed at the endpoint."""
    from annotator.actions.judging import drift
    from annotator.actions.runs.judge_cases import RunRequest

    protocol = protocol_of(file, protocol)
    if show:
        with opened(file, readonly=True) as project:
            result = drift.reports(project, judge, protocol)
        words = [
            line for report in result for line in (f"Checked {report.checked_at[:16]}:", *report.words())
        ]
        say({"checks": [asdict(report) for report in result]}, json_, words or ["Not checked yet."])
        return
    order = RunRequest(judge, drift.PREFIX + protocol, **how(concurrency, timeout, budget, rpm, tpm))
    order_carried_out(file, order, progress=progress, json_=json_)


@app.command("runs")
@reading
def judge_runs_(project: Any, json_: Json = False) -> None:
    """All runs, newest first: judged, missing by cause, not asked."""
    from annotator.actions.runs import run_records
    from annotator.actions.runs.run_records import causes

    result = run_records.runs(project)
    words = [
        f"{run.id[:8]}  {run.started_at:%Y-%m-%d %H:%M}  {run.judge}, {run.protocol}: {run.judged:,} of {run.total:,} "
        f"judged, {run.state}{_help(causes(run.lacking))}"
        for run in result
    ]
    tree = [asdict(run) | {"judged": run.judged, "lacking": run.lacking} for run in result]
    say({"runs": tree}, json_, words or ["No judge has run yet."])


@app.command("missing")
@reading
def judge_missing(
    project: Any,
    judge: OfJudge = "",
    run: Annotated[str, typer.Option(help="Only this run: its id, or its first characters")] = "",
    cause: Annotated[str, typer.Option(help="Only this cause: refused, timeout, not_asked …")] = "",
    json_: Json = False,
) -> None:
    """Judgements without a verdict, by cause, including those that a stopped run never asked for.

    Comparisons of tasks are among them: the item is the task shown first, the unit that shown second.
    """
    from annotator.actions.judging import reparse
    from annotator.actions.runs.run_records import causes

    result = reparse.lines(project, judge=judge, run=run, status=cause)
    counts = reparse.by_cause(result)
    words = [
        f"{len(result):,} judgements have no verdict{_help(causes(counts))}.",
        *(
            f"{line.status}: {line.judge}, item {line.item}, {line.system or line.protocol}, unit {line.unit_id}: "
            f"{line.cause}"
            for line in result
        ),
    ]
    say({"by_cause": counts, "missing": [asdict(line) for line in result]}, json_, words)


@app.command("reread")
@changing
def judge_reread(
    project: Any,
    judge: Judge,
    protocol: Protocol = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Also change verdicts that are now read differently")
    ] = False,
    json_: Json = False,
) -> None:
    """Parse stored replies again with the current rules, without a call; replies and earlier verdicts are kept."""
    from annotator.actions.judging import reparse

    result = asyncio.run(reparse.again(project, judge, protocol, everything=everything))
    offer = f"{result.offer()} Change them with: judge reread --all." if result.otherwise else ""
    say(asdict(result), json_, [result.words(), *([offer] if offer else [])])


@app.command("consistency")
@reading
def judge_consistency(
    project: Any,
    judge: Judge,
    other: Annotated[
        str, typer.Option("--with", help="Judge to compare with; by default the judge's own repeated trials")
    ] = "",
    protocol: Protocol = "",
    json_: Json = False,
) -> None:
    """How often a judge contradicts itself over repeated trials, or agrees with another judge."""
    from annotator.actions.attacks import biases

    result = (
        biases.between(project, judge, other, protocol) if other else biases.within(project, judge, protocol)
    )
    say(result.tree(), json_, result.words())


def _help(more: str) -> str:
    return f": {more}" if more else ""


@app.command("window")
@changing
def judge_window(
    project: Any,
    sentences: Annotated[int, typer.Argument(help="How many sentences on either side, 1 to 5")],
    json_: Json = False,
) -> None:
    """Set within how many sentences of a sentence a cited source counts for it; 1 unless you change it."""
    from annotator.actions.authoring import settings

    settings.widen(project, sentences)
    say({"window": sentences}, json_, [f"Sentences are asked about with sources up to {sentences} away."])


@app.command("run")
def judge_run(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    system: Systems = None,
    item: Items = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    together: Together = 0,
    trials: Trials = 1,
    batch: Batch = False,
    card: Card = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Judge what is not yet judged; what was finished before is never asked again."""
    from annotator.actions.orders import orders
    from annotator.actions.runs.judge_cases import RunRequest

    protocol = protocol_of(file, protocol)
    order = RunRequest(
        judge=judge, protocol=protocol, together=together, trials=trials, batch=batch, **reach(system, item),
        **how(concurrency, timeout, budget, rpm, tpm),
    )  # fmt: skip

    async def run(project: Any, **callbacks: Any) -> dict[str, Any]:
        request = order
        if card is not None:
            from annotator.actions.judging import derived_judges
            from annotator.actions.validation import validity_cards

            on_card = validity_cards.read(card)
            derived_judges.refuse_order(project, on_card, order)
            request = replace(order, models=on_card.judge.returned_models)
        return await orders.carry_out(project, request, **callbacks)

    kind = orders.of_judge(protocol)
    carried_out(file, run, kind.words, doing=kind.doing, progress=progress, json_=json_)


@app.command("extract")
def judge_extract(
    file: File,
    judge: Judge,
    extraction: Annotated[str, typer.Option(help="What is drawn")],
    system: Systems = None,
    item: Items = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Extract claims, plans, references or insights where this has not been done yet."""
    from annotator.actions.material import extracting
    from annotator.actions.runs.judge_cases import RunRequest

    extracting.named(extraction)
    order = RunRequest(
        judge, extraction, **reach(system, item), **how(concurrency, timeout, budget, rpm, tpm)
    )
    order_carried_out(file, order, progress=progress, json_=json_)


@app.command("confirm")
def judge_confirm(
    file: File,
    extraction: Annotated[str, typer.Option(help="What was drawn")],
    system: Systems = None,
    item: Items = None,
    json_: Json = False,
) -> None:
    """Confirm all unreviewed extracts without changes; to correct them, use the window."""
    from annotator.actions.material import extracting

    makes = extracting.named(extraction).makes
    with opened(file) as project:
        result = extracting.confirm_all(project, makes, **reach(system, item))
    say({"confirmed": result}, json_, [f"Confirmed: {makes.value} of {result:,}."])


@app.command("pool")
@changing
def judge_pool(project: Any, item: Items = None, json_: Json = False) -> None:
    """Freeze one pool of key points for each item: those of all its reports' pages that people accepted, each once."""
    from annotator.actions.papers import human_agreement

    result = human_agreement.freeze(project, item or ())
    summary = {
        "frozen": result.items,
        "points": result.points,
        "before": result.before,
        "without": result.without,
    }
    say(summary, json_, [result.words()])


@app.command("resume")
def judge_resume(
    file: File,
    judge: Annotated[str, typer.Option(help="Only a run of this judge")] = "",
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Resume the last run that was cancelled, interrupted or killed; its batches are fetched first."""
    from annotator.actions.orders import orders
    from annotator.actions.runs import run_records

    async def run(project: Any, **callbacks: Any) -> dict[str, Any]:
        order = orders.unfinished(project, judge, **how(concurrency, timeout, budget, rpm, tpm))
        return await orders.carry_out(project, order, **callbacks)

    carried_out(file, run, run_records.words, doing="judging", progress=progress, json_=json_)


@app.command("batches")
@changing_by("withdraw", "forget")
def judge_batches(
    project: Any,
    judge: OfJudge = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Ask the provider to cancel them")] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget them, if the provider can no longer be reached")
    ] = False,
    json_: Json = False,
) -> None:
    """Batches still at a provider; “judge resume” fetches their answers."""
    from annotator.actions.judges import judges
    from annotator.actions.runs import run_kind

    forgotten = run_kind.forget(project, judge) if forget else 0
    stopped = asyncio.run(run_kind.withdraw(project, judge)) if withdraw else 0
    out = run_kind.out(project, judges.named(project, judge).id if judge else "")
    words = [
        *([f"{forgotten:,} batches forgotten."] if forget else []),
        *(
            [f"{stopped:,} batches are being cancelled; fetch their answers with: judge resume."]
            if withdraw
            else []
        ),
        *([batch.words() for batch in out] or ["No open batches."]),
    ]
    tree = [
        asdict(batch) | {"expires_at": batch.expires_at and batch.expires_at.isoformat()} for batch in out
    ]
    say({"stopped": stopped, "forgotten": forgotten, "batches": tree}, json_, words)


@app.command("estimate")
def judge_estimate(
    file: File,
    judge: Judge,
    protocol: Protocol = "",
    system: Systems = None,
    item: Items = None,
    concurrency: Concurrency = 8,
    together: Together = 0,
    trials: Trials = 1,
    batch: Batch = False,
    json_: Json = False,
) -> None:
    """Estimate calls, tokens and cost of a run, for a protocol, an extraction or a whole paper, without a call."""
    from annotator.actions.orders import orders
    from annotator.actions.runs.judge_cases import RunRequest

    protocol = protocol_of(file, protocol)
    orders.of_judge(protocol)
    order = RunRequest(
        judge=judge, protocol=protocol, concurrency=concurrency, together=together, trials=trials, batch=batch,
        **reach(system, item),
    )  # fmt: skip
    say_forecast(file, order, json_=json_)


judge_app = typer.Typer(help="Judges and their runs.", no_args_is_help=True)
keys_app = typer.Typer(
    help="Which key may go to which address from this machine; kept in no project.", no_args_is_help=True
)
KeyName = Annotated[str, typer.Argument(help="An environment variable, or keyring:ENTRY", show_default=False)]
Address = Annotated[
    str, typer.Argument(help="Address of an endpoint; scheme, host and port count", show_default=False)
]
judge_app.add_typer(app)


@judge_app.command("list")
@reading
def judge_list(project: Any, json_: Json = False) -> None:
    """The project's judges."""
    from annotator.actions.judges import judges

    result = [judge.model_dump(mode="json", exclude={"id"}) for judge in judges.all_of(project)]
    say({"judges": result}, json_, [f"{judge['name']}: {judge['kind']} {judge['model']}" for judge in result])


@judge_app.command("add")
def judge_add(
    file: File,
    name: Annotated[str, typer.Option(help="The judge's name in this project")],
    model: Annotated[str, typer.Option(help="The model's name at the endpoint")],
    base_url: Annotated[
        str, typer.Option(help="The endpoint's base URL, including /v1; by default the preset's")
    ] = "",
    preset: Annotated[str, typer.Option(help="A usual provider; see “judge presets”")] = "",
    key_env: KeyEnv = "",
    header: Annotated[
        list[str] | None,
        typer.Option(
            help="“name: value” of a header; {key} stands for the key, {NAME} for a variable; repeatable"
        ),
    ] = None,
    query: Annotated[
        list[str] | None,
        typer.Option(help="name=value of a query parameter, as in api-version=…; repeatable"),
    ] = None,
    parameters: Annotated[
        str,
        typer.Option(
            help="Request parameters as a JSON object; by default only a token cap, if there is a budget"
        ),
    ] = "{}",
    show_weight: Annotated[
        bool, typer.Option("--show-weight", help="Show the judge the weight of each criterion")
    ] = False,
    rpm: RequestsPerMinute = None,
    tpm: TokensPerMinute = None,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    cached_price: CachedPrice = None,
) -> None:
    """Add a judge behind an OpenAI-compatible endpoint."""
    from annotator.actions.judges import judges

    asking: dict[str, Any] = {
        **({"weights_shown": True} if show_weight else {}),
        **({"requests_per_minute": rpm} if rpm else {}),
        **({"tokens_per_minute": tpm} if tpm else {}),
        **({"headers": _pairs(header, ":")} if header else {}),
        **({"query": _pairs(query, "=")} if query else {}),
    }
    with opened(file) as project:
        judges.add(
            project,
            name,
            base_url=base_url,
            model=model,
            key_env=key_env,
            parameters=parameters,
            asking=json.dumps(asking),
            price=_typed(input_price, output_price, cached_price),
            preset=preset,
        )
    if preset and not key_env and (variable := judges.preset_of(preset).variable):
        words = f"Its key is usually in {variable}: goldsmith judge key {file} {name} --key-env {variable}"
        console.print(words, markup=False)
    console.print(f"Added the judge “{name}”. Try it with: goldsmith judge test {file} {name}", markup=False)


def _typed(*prices: float | None) -> tuple[str, ...]:
    return tuple("" if price is None else str(price) for price in prices)


def _pairs(given: list[str], mark: str) -> dict[str, str]:
    result = [one.partition(mark) for one in given]
    if wrong := [name for name, between, value in result if not (name.strip() and between and value.strip())]:
        raise Refusal(f"“{wrong[0]}” has no value.", f"Write it like name{mark} value. Nothing was added.")
    return {name.strip(): value.strip() for name, _, value in result}


@judge_app.command("retire")
@changing
def judge_retire(project: Any, name: str) -> None:
    """Take a judge out of the lists; its verdicts stay."""
    from annotator.actions.judges import judges

    judges.retire(project, judges.named(project, name).id)
    console.print(f"Retired “{name}”; its verdicts stay.", markup=False)


@judge_app.command("presets")
def judge_presets(json_: Json = False) -> None:
    """The usual providers: the address of each, the variable that usually holds its key, and what is to be known."""
    from annotator.actions.judges.judges import PRESETS

    result = [asdict(preset) for preset in PRESETS]
    words = [
        "  ".join(filter(None, (preset.name, preset.base_url, preset.variable, preset.note)))
        for preset in PRESETS
    ]
    say({"presets": result}, json_, words)


@judge_app.command("price")
@changing_by("forget", "input_price", "output_price", "cached_price")
def judge_price(
    project: Any,
    name: str,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    cached_price: CachedPrice = None,
    forget: Annotated[bool, typer.Option("--forget", help="Use the listed price again")] = False,
    json_: Json = False,
) -> None:
    """Set what a judge's tokens cost, so that its runs have a cost and a budget; or tell the price in use."""
    from annotator.actions.judges import judges
    from annotator.actions.judging import derived_judges

    typed = _typed(input_price, output_price, cached_price)
    judge = judges.named(project, name)
    if forget or any(typed):
        judges.change(project, judge.id, {}, typed if any(typed) else ())
        judge = judges.named(project, name)
    own = judge.settings.price
    words = derived_judges.price_words(project, judge)
    say(
        {"judge": name, "price": own.model_dump(exclude_none=True) if own else None, "words": words},
        json_,
        [f"{name}: {words}."],
    )


@judge_app.command("test")
@changing
def judge_test(
    project: Any,
    name: str,
    use_anyway: Annotated[
        bool, typer.Option("--use-anyway", help="Make no call: let it run although its last test failed")
    ] = False,
    json_: Json = False,
) -> None:
    """Make one call that shows what the endpoint supports, how fast it answers, and what it costs.

    A judge that fails does not run until it passes, or is let run.
    """
    from annotator.actions.judges import judges, kept_keys
    from annotator.actions.judging import derived_judges

    if use_anyway:
        kept_keys.accept(project, judges.named(project, name))
        say({"accepted": name}, json_, [f"“{name}” may run; its figures say that it failed its test."])
        return
    result = asyncio.run(derived_judges.test(project, name))
    say(
        result,
        json_,
        [result["words"], *(": ".join(fact) for fact in derived_judges.facts(result))],
        lacking=not result["ok"],
        code=REFUSED,
    )


@judge_app.command("key")
def judge_key(file: File, name: str, key_env: KeyEnv = "") -> None:
    """Store a judge's key in the system's keyring (hidden input), or name the environment variable with the key.

    A key is stored for the scheme, host and port of the judge's endpoint and is sent nowhere else.
    """
    from annotator.actions.judges import judges, kept_keys

    with opened(file, readonly=not key_env) as project:
        judge = judges.named(project, name)
        if key_env:
            judges.change(project, judge.id, {"key_env": key_env})
            # The address comes from the file: it is shown beside the variable before its value may be sent there.
            if why := kept_keys.not_allowed(project, judges.named(project, name)):
                raise why
    if key_env:
        words = f"The key is read from {key_env}."
    else:
        # Prompted while the project is closed: the user may take long to find it.
        secret = typer.prompt(visible(f"Key for {judge.base_url}"), hide_input=True)
        with opened(file) as project:
            words = kept_keys.remember_key(project, judge, secret)
    console.print(words, markup=False)


@keys_app.command("allow")
def keys_allow(key: KeyName, address: Address) -> None:
    """Let a key go to an address from this machine, whichever project asks for it; the project's file is not asked."""
    from annotator.actions.judges import kept_keys

    console.print(kept_keys.allow(key, address), markup=False)


@keys_app.command("list")
def keys_list(json_: Json = False) -> None:
    """Which keys may go to which addresses; the keys themselves are not shown."""
    from annotator.actions.judges import kept_keys

    result = [asdict(grant) for grant in kept_keys.grants()]
    words = [f"{one['key']}  {one['address']}{'' if one['allowed'] else '  not allowed'}" for one in result]
    say({"keys": result}, json_, words or ["No key is allowed for any address."])


@keys_app.command("withdraw")
def keys_withdraw(key: KeyName, address: Address) -> None:
    """Take back what was allowed: the next use asks again. The key stays where it is."""
    from annotator.actions.judges import kept_keys

    console.print(kept_keys.withdraw(key, address), markup=False)


@judge_app.command("vote")
def judge_vote(
    file: File,
    name: Annotated[str, typer.Option(help="Name of the new judge")],
    of: Annotated[
        list[str],
        typer.Option(help="Judge whose verdicts count: several for a panel, one for its repeated trials"),
    ],
) -> None:
    """Add a judge whose verdict is the majority of others, or of one judge's trials. Count it with “judge run”."""
    from annotator.actions.judging import derived_judges

    with opened(file) as project:
        derived_judges.add(project, name, of)
    console.print(f"Added “{name}”. Count it with: goldsmith judge run {file} --judge “{name}”", markup=False)


@judge_app.command("prompts")
@changing_by("use")
def judge_prompts(
    project: Any,
    use: Annotated[
        str,
        typer.Option(help="NAME=WORDING: ask by another wording that the program ships", show_default=False),
    ] = "",
    json_: Json = False,
) -> None:
    """List prompts with their version and shipped wordings, or choose a wording; earlier verdicts keep theirs."""
    from annotator.actions.judges import prompts

    name, _, wording = use.partition("=")
    if use:
        prompts.use(project, name, wording)
    result: list[dict[str, Any]] = []
    for line in prompts.listed(project):
        there, now = prompts.wordings(line.name), prompts.in_force(project, line.name).text
        held = next((words for words, text in there.items() if text == now), "own")
        of = {"prompt": line.name, "protocol": line.protocol, "version": line.version}
        result.append({**of, "wording": held, "wordings": list(there)})
    words = [
        f"{one['prompt']}: version {one['version']}, {one['wording']}"
        + (f" (of {', '.join(one['wordings'])})" if len(one["wordings"]) > 1 else "")
        for one in result
    ]
    say({"prompts": result}, json_, words)


contests_app = typer.Typer(help="The ranking of tasks by pairs.", no_args_is_help=True)


@contests_app.command("run")
def run(
    file: File,
    judge: Annotated[str, typer.Option("--judge", help="The judge that compares; “baseline” asks no model")],
    rounds: Annotated[int, typer.Option(min=1, help="Rounds in all; those that were held count")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of who meets whom")] = 1,
    one_order: Annotated[
        bool, typer.Option("--one-order", help="Ask each pair once, not in both orders: half the calls")
    ] = False,
    near_cut: Annotated[
        int,
        typer.Option(
            "--near-cut", min=0, help="Let only tasks meet that are within 40 points of the cut below so many"
        ),
    ] = 0,
    concurrency: Concurrency = 8,
    timeout: Timeout = 120.0,
    budget: Budget = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate calls, tokens and cost, without making a call")
    ] = False,
    progress: Shown = "bar",
    json_: Json = False,
) -> None:
    """Have a judge compare tasks, each with one other a round, up to so many rounds in all.

    Pairs are kept before anyone is asked; run the same command again to resume, which repeats no answered comparison.
    """
    from annotator.actions.contests.contest_rows import ContestSettings
    from annotator.actions.runs.judge_cases import RunRequest

    settings = ContestSettings(rounds, seed, one_order, near_cut)
    order = RunRequest(
        judge=judge, protocol=settings.name, concurrency=concurrency, timeout_s=timeout, budget_usd=budget
    )
    order_carried_out(file, order, progress=progress, json_=json_, estimate=estimate)


@contests_app.command("import")
@changing
def import_(
    project: Any,
    matches: Annotated[Path, typer.Argument(help="Table with first, second, winner, confidence, rater")],
    json_: Json = False,
) -> None:
    """Import matches played elsewhere, in the order of their lines, all or none; tasks are named by key or id."""
    from annotator.actions.contests import contest_rows

    result = contest_rows.import_matches(project, matches)
    say(
        {"matches": result.matches, "raters": dict(result.raters), "again": result.again},
        json_,
        result.words(),
    )


@contests_app.command("export")
@reading
def export(
    project: Any,
    to: Annotated[Path, typer.Option("--to", help="The CSV to write")],
    rater: Annotated[str, typer.Option(help="Whose comparisons; by default everybody's")] = "",
    json_: Json = False,
) -> None:
    """Write the matches, round by round, in the columns that import takes: anyone can compute the ratings again."""
    from annotator.actions.contests import contest_rows

    result = contest_rows.write_matches(project, to, rater)
    say({"matches": result, "file": str(to)}, json_, [f"Wrote {counted(result, 'match', 'matches')} to {to}"])


@contests_app.command("standings")
@reading
def show_standings(
    project: Any,
    rater: Annotated[str, typer.Option(help="Whose comparisons; by default who compared most")] = "",
    top: Annotated[
        int | None, typer.Option(min=1, help="How many are to be kept; a tenth, at most 100, unless given")
    ] = None,
    departures: Departures = False,
    json_: Json = False,
) -> None:
    """Show ratings, strengths with intervals, the chance to be among those kept, and which of these are certain."""
    from annotator.actions.contests import contest_standings

    result = contest_standings.report(project, rater, str(top or ""))
    if json_:
        say(result.tree(), json_, [])
        return
    print_sheets(contest_standings.sheets(result), departures=departures)


@contests_app.command("keep")
@changing
def keep(
    project: Any,
    top: Annotated[int, typer.Option(min=1, help="How many tasks to keep")],
    per_seminar: Annotated[int | None, typer.Option(min=1, help="At most so many of each seminar")] = None,
    quota: Annotated[
        list[str] | None,
        typer.Option(help="At most so many, such as phase=40 or discipline:Physics=10; repeatable"),
    ] = None,
    rater: Annotated[str, typer.Option(help="By whose standings; by default who compared most")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be kept, without keeping")
    ] = False,
    json_: Json = False,
) -> None:
    """Make items of the best tasks; near-duplicates and what is beyond a quota are held back with their reason."""
    from annotator.actions.contests import contest_standings

    limits = contest_standings.quotas(per_seminar, quota or ())
    result = contest_standings.report(project, rater, str(top))
    chosen = contest_standings.chosen(result.ranking, result.tasks, top, limits, result.decided)
    _, new = (None, []) if dry_run else contest_standings.keep_tasks(project, chosen, result.tasks)
    keys = {task.task: result.tasks[task.task].key for task in chosen}
    number = sum(task.kept for task in chosen)
    lines = [
        *(f"{task.rank}. {keys[task.task]}: {task.words}" for task in chosen),
        f"{counted(number, 'task')} of {top} kept; {counted(len(new), 'new item')}.",
    ]
    tree: dict[str, Any] = {
        "kept": [keys[task.task] for task in chosen if task.kept],
        "held_back": {keys[task.task]: task.reason for task in chosen if not task.kept},
        "items": new,
    }
    say(tree, json_, lines)


@contests_app.command("hold")
@changing
def hold(
    project: Any,
    task: Annotated[str, typer.Argument(help="Key or id of the task")],
    reason: Annotated[str, typer.Option(help="Why it is held back; empty lets it be kept again")],
    json_: Json = False,
) -> None:
    """Hold a task back, whatever its rank."""
    from annotator.actions.contests import contest_rows, contest_standings

    _, one = contest_standings.hold(project, contest_rows.named(project, task).id, reason)
    words = one.words if one.reason else "may be kept again"
    say({"task": task, "reason": one.reason}, json_, [f"{task}: {words.removesuffix('.')}."])
