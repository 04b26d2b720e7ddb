"""Command for reading stored replies by another evaluator's rule."""

from typing import Annotated

import typer

from annotator.cli.saying import As, File, Json, opened, say

app = typer.Typer()
# So many changed verdicts are shown to a person; a machine gets them all.
SHOWN = 20


@app.command()
def replay(
    file: File,
    judge: Annotated[
        str, typer.Option(help="The judge's name; by default the endpoint judge that ran last")
    ] = "",
    protocol: Annotated[
        str, typer.Option(help="What was judged; by default the first that has another published rule")
    ] = "",
    as_: As = "",
    json_: Json = False,
) -> None:
    """Parse a judge's replies with another published rule: which scores change, and why. Makes no call."""
    from annotator.actions.validation import rule_replay

    with opened(file, readonly=True, person=as_) as project:
        found = rule_replay.replay(project, judge, protocol)
    words = found.words()
    for one in found.changed[:SHOWN]:
        because = f"{one.how}: {one.shown}" if one.shown else one.how
        words.append(f"item {one.item}, {one.system}, “{one.unit[:60]}”: {one.direction}, for {because}")
    if len(found.changed) > SHOWN:
        words.append(f"… and {len(found.changed) - SHOWN:,} more; --json has them all with their replies.")
    say(found.tree(), json_, words)
