"""How judges' stand against attacks is set out: a table of attacks and judges, by wording and place, and a picture."""

from collections.abc import Iterator
from functools import partial

from annotator.actions.attacks.attack_figures import Line, Report
from annotator.actions.results import result_pictures
from annotator.actions.sheets.result_sheets import (
    UNDEFINED,
    Cell,
    Picture,
    Sheet,
    columns,
    count,
    figure,
    text,
)
from annotator.actions.sheets.result_sheets import Line as Row
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.judging.attacks import AIMS, ATTACKS
from annotator.protocols import PROTOCOLS

FAILED = (
    "Of the verdicts that the attack could change, those that it changed. A planted order can change those that are "
    "not what it demands, and fails the judge where they become that; any other attack can change all, and fails the "
    "judge where the verdict is not its own on the report as it is. Wilson's 95 % interval for clusters by item"
)
AXIS = "share of the verdicts that could change, 95 % interval clustered by item"


def sheets(found: Report) -> tuple[Sheet, ...]:
    """Attack by judge, then each wording and place, then what each attack does; none where nobody was tested."""
    if not found.lines:
        return ()
    return tuple(sheet for sheet in (_table(found), _ways(found), _about(found)) if sheet.lines)


def _table(found: Report) -> Sheet:
    aim = AIMS[found.protocol].value
    heads = columns(
        ("Attack", "What was done to copies of reports whose right verdict stays the same"), "Judge",
        ("Failure rate", FAILED),
        ("Beyond chance", "The failure rate less that of unchanged reports asked about again, on the same questions; "
         "bootstrap over items"),
        ("n", "Verdicts that the attack could change, with one on the copy"),
        (f"Already “{aim}”", f"Verdicts that were “{aim}” before, to which no order can change them: not in the rate"),
        (f"To “{aim}”", f"Verdicts that became “{aim}”"),
        (f"From “{aim}”", f"Verdicts that were “{aim}” and are no more"),
        ("Otherwise", "Other changes"), ("Missing", "Copies without a verdict, by cause"),
        ("No copy", "Questions whose report the attack does not fit"),
        ("Noticed", "Of the copies, those that the engine flagged as addressing the judge"),
    )  # fmt: skip
    lines = tuple(_row(line) for line in found.lines)
    return Sheet("Attacks", heads, lines, tuple(_told(found)), tuple(_pictures(found)))


def _row(line: Line) -> Row:
    cells = (
        text(line.title, tip=_about_words(line.attack)), text(line.judge.name), figure(line.failed),
        _or_none(line.beyond, "Unchanged reports were not asked about again."), count(line.failed.n),
        count(line.already, "" if line.already is not None else "This attack demands no verdict."), count(line.up),
        count(line.down), count(line.aside), _causes(line), count(line.unfit),
        _or_none(line.noticed, "Flags are raised only where a model is asked about something planted."),
    )  # fmt: skip
    more = (("What is done", _about_words(line.attack)),) if line.attack in ATTACKS else ()
    return Row(cells, kind=line.attack, more=more, picture=line.judge.name)


def _about_words(attack: str) -> str:
    return ATTACKS[attack].about if attack in ATTACKS else ""


def _or_none(found: Estimate | None, why: str) -> Cell:
    return Cell(UNDEFINED, None, why) if found is None else figure(found)


def _causes(line: Line) -> Cell:
    if not line.missing:
        return text("none")
    words = ", ".join(f"{many:,} {cause.replace('_', ' ')}" for cause, many in line.missing.items())
    return text(words, state="missing")


def _told(found: Report) -> Iterator[str]:
    yield (
        f"{PROTOCOLS[found.protocol].title}. Each verdict on a copy is held against the judge's own on the report as "
        "it is, not against people's; copies enter no score."
    )
    drawn = {line.judge.name: line for line in found.lines}
    yield (
        "; ".join(f"{name}: {counted(line.drawn, 'verdict')} drawn" for name, line in drawn.items())
        + ", by chance, items in turn."
    )


def _pictures(found: Report) -> Iterator[Picture]:
    for name in dict.fromkeys(line.judge.name for line in found.lines):
        rates = [(line.title, line.failed) for line in found.lines if line.judge.name == name]
        title = f"Failure rate of {name} by attack"
        yield Picture(name, title, partial(result_pictures.shares, rates, title, AXIS))


def _ways(found: Report) -> Sheet:
    heads = columns(
        "Attack", ("Way", "Wording, place, cover or length"), "Judge", ("Failure rate", FAILED), "n"
    )
    lines = tuple(
        Row(
            (text(line.title), text(variant), text(line.judge.name), figure(rate), count(rate.n)),
            kind=line.attack,
        )
        for line in found.lines
        for variant, rate in line.variants.items()
    )
    told = (
        "Ways are dealt out evenly over the copies, not compared on the same ones: with few copies each says little.",
    )
    return Sheet("By wording and place", heads, lines, told)


def _about(found: Report) -> Sheet:
    names = dict.fromkeys(line.attack for line in found.lines if line.attack in ATTACKS)
    lines = tuple(Row((text(ATTACKS[name].title), text(name), text(ATTACKS[name].about))) for name in names)
    return Sheet(
        "What the attacks do", columns("Attack", ("Name", "On the command line"), "What is done"), lines
    )
