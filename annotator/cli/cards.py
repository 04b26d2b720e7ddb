"""Command for validity cards: making, checking and binding them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from annotator.cli.options import Protocol, protocol_of
from annotator.cli.saying import As, File, Json, opened, print_json, said
from annotator.cli.tables import print_sheets
from annotator.cli.validation import (
    Against,
    PartName,
    Positive,
    SetName,
    counted_look,
    looks,
)
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()


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
    as_: As = "",
    json_: Json = False,
) -> None:  # fmt: skip
    """Write or check a validity card: one file with all results on one validated judge, for readers and programs."""
    if check is not None:
        _check(file, check, judge, define_at, bind, as_, json_)
        return
    if not judge:
        raise Refusal("A card describes one judge.", "Name it with --judge, or a card with --check.")
    from annotator.actions.judges import judges
    from annotator.actions.validation import cards, validity_cards

    protocol = protocol_of(file, protocol, set_name)
    if to is not None:
        cards.refuse_place(to)
    with opened(file, readonly=not looks(set_name, part), person=as_) as project:
        judges.named(project, judge)
        opening = counted_look(project, set_name, part, judge)
        query = validity_cards.CardQuery(
            judge, protocol, set_name, part, tuple(against or ()), positive, prompt, opening
        )
        made = validity_cards.card(project, query)
    written = [cards.save(made, to).name] if to is not None else []
    if json_:
        print_json({"card": made.tree(), "files": written})
        return
    print_sheets([validity_cards.brief(made)])
    said.print(
        f"Wrote {written[0]}" if written else "Nothing was written: --to FILE.json or FILE.html", markup=False
    )


def _check(file: Path, path: Path, judge: str, define_at: str, bind: bool, as_: str, json_: bool) -> None:
    """Exits with 1 where the card does not hold."""
    from annotator.actions.judging import card_checks
    from annotator.actions.validation import cards

    held = cards.read(path)
    with opened(file, readonly=not (bind or define_at), person=as_) as project:
        if define_at and not card_checks.check(project, held).judge:
            card_checks.define(project, held, define_at, judge)
        found = card_checks.check(project, held, judge)
        if bind and found.holds:
            card_checks.bind(project, found.card, found.judge)
    if json_:
        print_json(_tree(found, bind))
    else:
        for line in found.words():
            said.print(line, markup=False)
        if bind and found.holds:
            said.print(f"From now on “{found.judge}” runs only with the settings on the card.", markup=False)
    if not found.holds:
        raise typer.Exit(1)


def _tree(found: Any, bind: bool) -> dict[str, Any]:
    return {
        "card": found.card.name, "sha256": found.card.sha256, "judge": found.judge or None, "holds": found.holds,
        "bound": bind and found.holds, "differences": [one.model_dump() for one in found.differences],
        "remarks": list(found.remarks),
    }  # fmt: skip
