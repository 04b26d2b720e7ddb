"""Commands for judges: list, add, test."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from annotator.cli.judging import judge_checks, judge_review, judge_running
from annotator.cli.options import (
    CachedPrice,
    InputPrice,
    KeyEnv,
    OutputPrice,
    RequestsPerMinute,
    TokensPerMinute,
)
from annotator.cli.saying import File, Json, opened, said, say
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.well_formed import visible

app = typer.Typer(help="Judges and their runs.", no_args_is_help=True)
keys_app = typer.Typer(
    help="Which key may go to which address from this machine; kept in no project.", no_args_is_help=True
)
KeyName = Annotated[str, typer.Argument(help="An environment variable, or keyring:ENTRY", show_default=False)]
Address = Annotated[
    str, typer.Argument(help="Address of an endpoint; scheme, host and port count", show_default=False)
]
app.add_typer(judge_running.app)
app.add_typer(judge_review.app)
app.add_typer(judge_checks.app)


@app.command("list")
def judge_list(file: File, json_: Json = False) -> None:
    """The project's judges."""
    from annotator.actions.judges import judges

    with opened(file, readonly=True) as project:
        found = [judge.model_dump(mode="json", exclude={"id"}) for judge in judges.all_of(project)]
    say({"judges": found}, json_, [f"{judge['name']}: {judge['kind']} {judge['model']}" for judge in found])


@app.command("add")
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

    asking: dict[str, Any] = {"weights_shown": True} if show_weight else {}
    asking |= {"requests_per_minute": rpm} if rpm else {}
    asking |= {"tokens_per_minute": tpm} if tpm else {}
    asking |= {"headers": _pairs(header, ":")} if header else {}
    asking |= {"query": _pairs(query, "=")} if query else {}
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
        said.print(words, markup=False)
    said.print(f"Added the judge “{name}”. Try it with: goldsmith judge test {file} {name}", markup=False)


def _typed(*prices: float | None) -> tuple[str, ...]:
    return tuple("" if price is None else str(price) for price in prices)


def _pairs(given: list[str], mark: str) -> dict[str, str]:
    found = [one.partition(mark) for one in given]
    if wrong := [name for name, between, value in found if not (name.strip() and between and value.strip())]:
        raise Refusal(f"“{wrong[0]}” has no value.", f"Write it like name{mark} value. Nothing was added.")
    return {name.strip(): value.strip() for name, _, value in found}


@app.command("retire")
def judge_retire(file: File, name: str) -> None:
    """Take a judge out of the lists; its verdicts stay."""
    from annotator.actions.judges import judges

    with opened(file) as project:
        judges.retire(project, judges.named(project, name).id)
    said.print(f"Retired “{name}”; its verdicts stay.", markup=False)


@app.command("presets")
def judge_presets(json_: Json = False) -> None:
    """The usual providers: the address of each, the variable that usually holds its key, and what is to be known."""
    from annotator.actions.judges.judges import PRESETS

    found = [asdict(one) for one in PRESETS]
    words = ["  ".join(filter(None, (one.name, one.base_url, one.variable, one.note))) for one in PRESETS]
    say({"presets": found}, json_, words)


@app.command("price")
def judge_price(
    file: File,
    name: str,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    cached_price: CachedPrice = None,
    forget: Annotated[bool, typer.Option("--forget", help="Use the listed price again")] = False,
    json_: Json = False,
) -> None:
    """Set what a judge's tokens cost, so that its runs have a cost and a budget; or tell the price in use."""
    from annotator.actions.judges import judges
    from annotator.actions.judging import judge_probes

    typed = _typed(input_price, output_price, cached_price)
    with opened(file, readonly=not (forget or any(typed))) as project:
        judge = judges.named(project, name)
        if forget or any(typed):
            judges.change(project, judge.id, {}, typed if any(typed) else ())
            judge = judges.named(project, name)
        own = judge.asked.price
        words = judge_probes.price_words(project, judge)
    say(
        {"judge": name, "price": own.model_dump(exclude_none=True) if own else None, "words": words},
        json_,
        [f"{name}: {words}."],
    )


@app.command("test")
def judge_test(
    file: File,
    name: str,
    use_anyway: Annotated[
        bool, typer.Option("--use-anyway", help="Make no call: let it run although its last test failed")
    ] = False,
    json_: Json = False,
) -> None:
    """Make one call that shows what the endpoint supports, how fast it answers, and what it costs.

    A judge that fails does not run until it passes, or is let run.
    """
    from annotator.actions.judges import endpoint_memory, judges
    from annotator.actions.judging import judge_probes

    with opened(file) as project:
        if use_anyway:
            endpoint_memory.accept(project, judges.named(project, name))
            say({"accepted": name}, json_, [f"“{name}” may run; its figures say that it failed its test."])
            return
        found = asyncio.run(judge_probes.test(project, name))
    say(found, json_, [found["words"], *(": ".join(fact) for fact in judge_probes.facts(found))])
    if not found["ok"]:
        raise typer.Exit(1)


@app.command("key")
def judge_key(file: File, name: str, key_env: KeyEnv = "") -> None:
    """Store a judge's key in the system's keyring (hidden input), or name the environment variable with the key.

    A key is stored for the scheme, host and port of the judge's endpoint and is sent nowhere else.
    """
    from annotator.actions.judges import judges, kept_keys

    with opened(file) as project:
        judge = judges.named(project, name)
        if key_env:
            judges.change(project, judge.id, {"key_env": key_env})
            # The file gives the address: it is shown beside the variable before the one may go to the other.
            if why := kept_keys.not_allowed(project, judges.named(project, name)):
                raise why
            words = f"The key is read from {key_env}."
        else:
            secret = typer.prompt(visible(f"Key for {judge.base_url}"), hide_input=True)
            words = kept_keys.remember_key(project, name, secret)
    said.print(words, markup=False)


@keys_app.command("allow")
def keys_allow(key: KeyName, address: Address) -> None:
    """Let a key go to an address from this machine, whichever project asks for it; the project's file is not asked."""
    from annotator.actions.judges import kept_keys

    said.print(kept_keys.allow(key, address), markup=False)


@keys_app.command("list")
def keys_list(json_: Json = False) -> None:
    """Which keys may go to which addresses; the keys themselves are not shown."""
    from annotator.actions.judges import kept_keys

    found = [asdict(one) for one in kept_keys.grants()]
    words = [f"{one['key']}  {one['address']}{'' if one['allowed'] else '  not allowed'}" for one in found]
    say({"keys": found}, json_, words or ["No key is allowed for any address."])


@keys_app.command("withdraw")
def keys_withdraw(key: KeyName, address: Address) -> None:
    """Take back what was allowed: the next use asks again. The key stays where it is."""
    from annotator.actions.judges import kept_keys

    said.print(kept_keys.withdraw(key, address), markup=False)


@app.command("vote")
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
    said.print(f"Added “{name}”. Count it with: goldsmith judge run {file} --judge “{name}”", markup=False)


@app.command("prompts")
def judge_prompts(
    file: File,
    use: Annotated[
        str,
        typer.Option(help="NAME=WORDING: ask by another wording that the program ships", show_default=False),
    ] = "",
    json_: Json = False,
) -> None:
    """List prompts with their version and shipped wordings, or choose a wording; earlier verdicts keep theirs."""
    from annotator.actions.judges import prompts

    name, _, wording = use.partition("=")
    with opened(file, readonly=not use) as project:
        if use:
            prompts.use(project, name, wording)
        found: list[dict[str, Any]] = []
        for line in prompts.listed(project):
            there, now = prompts.wordings(line.name), prompts.in_force(project, line.name).text
            held = next((words for words, text in there.items() if text == now), "own")
            of = {"prompt": line.name, "protocol": line.protocol, "version": line.version}
            found.append({**of, "wording": held, "wordings": list(there)})
    words = [
        f"{one['prompt']}: version {one['version']}, {one['wording']}"
        + (f" (of {', '.join(one['wordings'])})" if len(one["wordings"]) > 1 else "")
        for one in found
    ]
    say({"prompts": found}, json_, words)
