"""How biases of judges are set out: attacks they were put to, what shows in what they said anyway, and families."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.actions.attacks import attack_figures, attack_sheets, biases
from annotator.actions.attacks.attack_figures import Report
from annotator.actions.attacks.biases import Bias
from annotator.actions.items import families
from annotator.actions.items.families import Member
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import COVERAGE
from annotator.actions.sheets.result_sheets import Choice, Line, Sheet, columns, count, figure, text
from annotator.judging.attacks import AIMS
from annotator.protocols import PROTOCOLS

ANY = ""
NO_BIAS = "spans no bias"


@dataclass(frozen=True, slots=True)
class Panel:
    """All that is known of judges' biases."""

    attacks: Report
    seen: Sequence[Bias]
    families: Sequence[Member]


def choices(project: Project) -> tuple[Choice, ...]:
    """Under which protocol, and which judge."""
    shapes = tuple((PROTOCOLS[name].title, name) for name in AIMS)
    names = tuple((one.name, one.name) for one in judges.all_of(project))
    return Choice("protocol", "What was judged", shapes), Choice(
        "judge", "Judge", (("all judges", ANY), *names)
    )


def report(project: Project, protocol: str = COVERAGE, judge: str = "") -> Panel:
    """The panel of every judge, or of the one of that name."""
    return Panel(
        attack_figures.report(project, protocol, judge),
        biases.report(project, protocol, judge),
        families.members(project),
    )


def sheets(found: Panel) -> tuple[Sheet, ...]:
    """Attacks first, then biases that show anyway, then who is taken for whose family; none where nothing is known."""
    made = attack_sheets.sheets(found.attacks)
    if not made and not found.seen:
        return ()
    return (*made[:1], *(sheet for sheet in (_seen(found.seen), _families(found)) if sheet.lines), *made[1:])


def _seen(found: Sequence[Bias]) -> Sheet:
    heads = columns(
        "Judge", ("Bias", "By what"), "Figure", ("Value", "With its 95 % interval, clustered by item"),
        ("n", "Verdicts, or pairs of them, of all trials"), ("No bias", "The value that means none"),
        ("Verdict", "Whether the interval holds the value that means no bias"), "What it is",
    )  # fmt: skip
    lines = tuple(
        Line((
            text(one.judge), text(one.about), text(one.name), figure(one.figure), count(one.figure.n),
            count(one.none, form="g"), text(verdict(one), tip=one.figure.note), text(one.definition),
        ))
        for one in found
    )  # fmt: skip
    told = (
        "These show in what judges said of reports as they are; all trials count, items being clusters. Length and "
        "family are held against people's labels: a judge that goes with people leans nowhere.",
    )
    return Sheet("Biases that show", heads, lines, told)


def verdict(one: Bias) -> str:
    """In words, whether the figure tells of a bias."""
    found = one.figure
    if found.value is None:
        return f"not known: {found.note}"
    if found.low is None or found.high is None:
        return "no interval"
    if found.low <= one.none <= found.high:
        # A rate that changes of its own accord is never below nothing.
        return NO_BIAS if one.about != biases.POSITION or one.none else "none was seen"
    return "above it" if found.low > one.none else "below it"


def _families(found: Panel) -> Sheet:
    heads = columns(
        "Name", "Kind", "Model", ("Family", "The developer whose models are behind it"), "Told by"
    )
    lines = tuple(
        Line((
            text(one.name), text("judge" if one.judge else "system"), text(one.model or "–"),
            text(one.family or "none known"), text("somebody here" if one.said else "its name"),
        ))
        for one in found.families
    )  # fmt: skip
    return Sheet("Families", heads, lines, ("Whoever knows better says so; the figures follow.",))
