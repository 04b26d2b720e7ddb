"""The validity card as one self-contained page, for reading, printing and importing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from annotator.domain.common import Refusal, canonical_json, counted, refuse_other, sha256
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.protocol import FIGURES
from annotator.domain.judges.validation import (
    FORMAT,
    FORMAT_VERSION,
    Corrected,
    Figure,
    Identity,
    Line,
    Reviews,
    ValidityCard,
    tree_sha256,
)
from annotator.domain.texts.estimate import decimal, interval
from annotator.exchange.folders import decoded, parse, pretty, read_bytes
from annotator.exchange.release.bundle import in_words

UNDEFINED = "–"
# Text between these keeps its own direction, even for readers that do not know <bdi>.
_OPEN, _CLOSE = "\u2068", "\u2069"

LISTED = (*(names[0] for names in FIGURES.values()), "accuracy", "f1")
NOBODY = "nobody to be held against"

GROUPS = {
    "type": "By question type",
    "weight": "By weight",
    "system": "By system",
    "length": "By length of the report, in quarters from the shortest",
}
# With so many figures side by side, full titles have no room.
SHORT = {
    "accuracy": "Acc.", "precision": "Prec.", "recall": "Rec.", "f1": "F1", "specificity": "Spec.",
    "balanced_accuracy": "Bal. acc.", "kappa": "κ", "ac1": "AC1", "mcc": "MCC",
}  # fmt: skip
ALIKE = "; "

CARRIED = "goldsmith-card"
_STYLE = """\
@page { size: A4; margin: 15mm; }
body { font-family: system-ui, 'Segoe UI', 'Noto Sans', sans-serif; font-size: 10pt; line-height: 1.35;
  color: #000; background: #fff; max-width: 190mm; margin: 6mm auto; padding: 0 4mm; }
h1 { font-size: 17pt; margin: 0 0 1mm; }
h2 { font-size: 12pt; margin: 6mm 0 1.5mm; border-bottom: 1px solid #000; break-after: avoid; }
h3 { font-size: 10.5pt; margin: 4mm 0 1mm; break-after: avoid; }
p { margin: 1.5mm 0; }
ul { margin: 1mm 0 1mm 5mm; padding: 0; }
table { border-collapse: collapse; margin: 1.5mm 0 3mm; }
th, td { border: 1px solid #555; padding: 0.8mm 1.6mm; text-align: start; vertical-align: top; }
th { font-weight: 600; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
.facts th { width: 42mm; }
small { font-size: 8pt; }
.warn { border: 2px solid #000; padding: 1.5mm 2.5mm; font-weight: 600; }
code, pre { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 7.5pt; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; }
@media print { body { margin: 0; padding: 0; max-width: none; } details { display: none; } }
"""
_SEAL = re.compile(r'<meta name="goldsmith-page" content="([0-9a-f]{64})">')


def page(card: ValidityCard, carried: str) -> str:
    text = f"""\
<!DOCTYPE html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="goldsmith-page" content="">
<meta name="viewport" content="width=device-width">
<title>Validity card: {escape(card.name)}</title>
<style>
{_STYLE}</style>
</head>
<body>
{body(card)}<details><summary>The card as JSON, for programs</summary>
<pre id="{CARRIED}" dir="ltr">{escape(carried)}</pre>
</details>
</body>
</html>
"""
    return text.replace(
        'name="goldsmith-page" content=""', f'name="goldsmith-page" content="{sha256(text)}"', 1
    )


def is_whole(text: str) -> bool:
    """Whether a page is unchanged since it was written."""
    result = _SEAL.search(text)
    return result is not None and sha256(text.replace(result[1], "", 1)) == result[1]


def body(card: ValidityCard) -> str:
    """The visible part of the page, without the JSON: tables and sentences that any reader of simple HTML can show."""
    where = f" in the project {say(card.project)}" if card.project else ""
    return "".join((
        f"<h1>Validity card: {say(card.name)}</h1>\n",
        f"<p>{say(card.protocol_title)}. Made on {moment(card.made_at)} with Goldsmith {escape(card.app_version)}",
        f"{where}.</p>\n",
        f'<p class="warn">Not publishable: {escape(lost(card))}</p>\n' if card.unfit else "",
        "<h2>In short</h2>\n", short(card), "<h2>The judge</h2>\n", judge(card), "<h2>The labels</h2>\n", labels(card),
        "<h2>The judge beside people</h2>\n", figures(card), confusion(card), *groups(card),
        "<h2>Missing verdicts, and cost</h2>\n", missing(card),
        "<h2>Reviews: informed, apart from all figures above</h2>\n", reviews(card.reviews),
        "<h2>Scores corrected by people's labels</h2>\n", corrected(card.corrected),
        "<h2>Attacks</h2>\n", attacks(card), "<h2>Notes</h2>\n", listed(card.notes),
        "<h2>Where this card holds</h2>\n"
        "<p>The card speaks of this judge as it is described above, and of no other: another model, other parameters, "
        "another wording of the prompt, another form of answers, more units in a call or another protocol make "
        "another judge. Checked against a project by “goldsmith card PROJECT --check FILE” it says what differs.</p>\n"
        f"<p>SHA-256 of the card: {digest(card.sha256)}<br>It shows that the card was not changed by accident; it is "
        "no signature.</p>\n",
    ))  # fmt: skip


def sketch(card: ValidityCard) -> str:
    return (
        f"<h1>Validity card: {say(card.name)}</h1>\n"
        "<p>It is still being made: intervals, groups, corrected scores and the rest are being counted.</p>\n"
        f"<h2>In short</h2>\n{short(card, begun=True)}<h2>The judge</h2>\n{judge(card)}"
        f"<h2>The labels</h2>\n{labels(card)}"
    )


def missing(card: ValidityCard) -> str:
    """The missing verdicts, by cause, and the cost of a question."""
    judge = card.of("judge")
    rows = [
        (
            escape(cause.replace("_", " ")),
            f"{many:,}",
            f"{100 * many / max(1, judge.units if judge else 1):.1f} %",
        )
        for cause, many in (judge.missing.items() if judge else ())
    ]
    html = f"<p>Missing: {escape(lost(card))}</p>\n<p>Cost per question: {dollars(card.cost)}</p>\n"
    return html + (table(("Cause", "Units", "Share"), rows, "Missing by cause") if rows else "")


def reviews(reviewed: Reviews | None) -> str:
    if reviewed is None:
        return "<p>Nobody reviewed its verdicts.</p>\n"
    rows = [
        ("Accepted", brief(reviewed.accepted)),
        ("Said", escape(", ".join(f"{opinion} {many:,}" for opinion, many in sorted(reviewed.said.items())))),
        ("Faults", escape(", ".join(f"{reason} {many:,}" for reason, many in reviewed.reasons.items()))),
        ("Outdated", escape(counted(reviewed.outdated, "review")) if reviewed.outdated else ""),
    ]
    return "<p>Experts saw the verdict, its reasons and its quote.</p>\n" + facts(rows, "Reviews")


def corrected(scores: Corrected) -> str:
    rows = [
        (
            say(system.system), system.raw, system.corrected,
            "–" if system.tuning is None else decimal(system.tuning, 2), f"{system.labels:,} of {system.units:,}",
        )
        for system in scores.systems
    ]  # fmt: skip
    heads = ("System", "Coverage by the judge", "Corrected", "λ", "Labelled units")
    return (table(heads, rows, "Corrected scores") if rows else "") + listed(scores.notes)


def attacks(card: ValidityCard) -> str:
    """How often the judge fell for attacks, if it was tested."""
    if not card.attacks:
        return "<p>This card tells of no attack.</p>\n"
    rows = [
        (say(attack.title), attack.failures, say(attack.note) if attack.note else "")
        for attack in card.attacks
    ]
    return table(("Attack", "Share it fell for", "Note"), rows, "Attacks", count=True)


def figures(card: ValidityCard) -> str:
    """Every figure of the judge and of people, weighting units equally and by weight, with its definition."""
    judge, people = card.of("judge"), card.of("people")
    if judge is None:
        return "<p>There are no figures.</p>\n"
    rows: list[list[Cell]] = [
        [
            escape(definition.title),
            *(
                getattr(line, side).get(definition.name) if line else None
                for side in ("plain", "weighted")
                for line in (judge, people)
            ),
        ]
        for definition in card.definitions
    ]
    heads = ("Figure", "Judge", "People", "Judge, by weight", "People, by weight")
    about = f", “{card.positive}” being positive" if card.positive else ""
    against = f"{say(card.labels.against)}{escape(about)}"
    html = f"<p>Compared with {against}. People: everybody against everybody else.</p>\n"
    persons = [line for line in card.lines if line.who == "person"]
    return (
        html + table(heads, rows, "The judge beside people", count=True) + _meant(card, judge)
        + _lines("Each person beside the others", persons, card)
    )  # fmt: skip


def _meant(card: ValidityCard, judge: Line) -> str:
    """The definition of each figure and the method of its interval; a method shared by all is stated once."""
    there = [definition for definition in card.definitions if definition.name in judge.plain]
    how = {judge.plain[one.name].method.partition(ALIKE)[2] for one in there}
    shared = how.pop() if len(how) == 1 else ""
    sentences = [f"{one.title}: {one.words}." for one in there]
    if not shared:
        methods = (judge.plain[one.name].method for one in there)
        sentences = [
            f"{one} {method}.".removesuffix(" .") for one, method in zip(sentences, methods, strict=True)
        ]
    return listed([*sentences, f"Intervals of all of these: {shared}."] if shared else sentences)


def confusion(card: ValidityCard) -> str:
    judge = card.of("judge")
    if judge is None or not judge.confusion:
        return ""
    there = {(one.truth, one.said): one for one in judge.confusion}
    values = card.judge.values
    rows = [
        [
            escape(true),
            *(_confused(there[true, predicted].units, there[true, predicted].weight) for predicted in values),
        ]
        for true in values
        if all((true, predicted) in there for predicted in values)
    ]
    heads = ("By people", *(escape(f"Judge: {predicted}") for predicted in values))
    return "<h3>What is taken for what: units, and what they weigh</h3>\n" + table(heads, rows, "Confusion")


def _confused(units: float, weight: float) -> str:
    return f"{units:,.0f}<br><small>{weight:,g}</small>"


def groups(card: ValidityCard) -> Iterator[str]:
    for by, title in GROUPS.items():
        yield _lines(title, [line for line in card.lines if line.by == by], card, weighted=by != "weight")


def _lines(title: str, lines: list[Line], card: ValidityCard, *, weighted: bool = True) -> str:
    """Lines with all their figures, each followed by its weighted version."""
    if not lines:
        return ""
    shown = [
        definition for definition in card.definitions if any(definition.name in line.plain for line in lines)
    ]
    names = [one.name for one in shown]
    sides = ("plain", "weighted") if weighted else ("plain",)
    rows: list[list[Cell]] = [
        row
        for group, of_group in groupby(lines, key=_of)
        for row in (list[Cell]([group]), *(_row(line, side, names) for line in of_group for side in sides))
    ]
    heads = ("Who", *(escape(SHORT.get(one.name, one.title)) for one in shown))
    return f"<h3>{escape(title)}</h3>\n" + table(heads, rows, title, places=2)


def say(text: str) -> str:
    """A text escaped as HTML, with its own direction."""
    return f"<bdi>{_OPEN}{escape(text)}{_CLOSE}</bdi>"


# Text that is HTML already, or a figure to be written.
Cell = str | Figure | None


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Cell]], about: str, *, count: bool = False, places: int = 3
) -> str:
    """A table; the first cell of a row is its head, and a row of one cell the heading of those below it.

    `about` is its accessible name. Figures have their intervals below them in so many `places` and, if `count` is set,
    their n. Below the table stands why figures are undefined: each reason once, numbered in order of appearance.
    """
    reasons = list[str]()
    first = "".join(f'<th scope="col" align="left">{head}</th>' for head in heads)
    written = ([_cell(one, reasons, count, places) for one in row] for row in rows)
    body = "".join(_cells(row, len(heads)) for row in written)
    html = (
        f'<table border="1" cellspacing="0" cellpadding="4" aria-label="{escape(about)}">\n'
        f"<thead><tr>{first}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"
    )
    why = "; ".join(f"<sup>{place}</sup> {say(one)}" for place, one in enumerate(reasons, 1))
    return html + (f"<p><small>{UNDEFINED} is undefined: {why}.</small></p>\n" if why else "")


def _cell(figure: Cell, reasons: list[str], count: bool, places: int) -> str:
    if figure is None or isinstance(figure, str):
        return UNDEFINED if figure is None else figure
    if figure.value is None:
        if figure.note and figure.note not in reasons:
            reasons.append(figure.note)
        return f"{UNDEFINED}<sup>{reasons.index(figure.note) + 1}</sup>" if figure.note else UNDEFINED
    below = [interval(figure, partial(decimal, places=places)), f"n\u00a0{figure.n:,}" if count else ""]
    small = "<br>".join(escape(one) for one in below if one)
    return f"<b>{decimal(figure.value)}</b>" + (f"<br><small>{small}</small>" if small else "")


def _cells(row: Sequence[str], width: int) -> str:
    if len(row) == 1:
        return f'<tr><th scope="colgroup" colspan="{width}" align="left">{row[0]}</th></tr>\n'
    rest = "".join(f"<td>{one}</td>" for one in row[1:])
    return f'<tr><th scope="row" align="left">{row[0]}</th>{rest}</tr>\n'


def facts(rows: Iterable[tuple[str, str]], about: str) -> str:
    """A table of names (our words) and values (HTML); rows with empty values are left out."""
    body = "".join(
        f'<tr><th scope="row" align="left">{escape(name)}</th><td>{value}</td></tr>\n'
        for name, value in rows
        if value
    )
    return (
        f'<table border="1" cellspacing="0" cellpadding="4" class="facts" aria-label="{escape(about)}">\n'
        f"<tbody>\n{body}</tbody></table>\n"
    )


def moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def digest(sha: str) -> str:
    return f"<small><code>{escape(sha or 'not known')}</code></small>"


def brief(figure: Figure | None, *, begun: bool = False) -> str:
    """A figure for a line of text; on a card that is only `begun`, its interval is still to come."""
    if figure is None:
        return UNDEFINED
    if figure.value is None:
        return f"{UNDEFINED} ({say(figure.note)})"
    bounds = "[…]" if begun else interval(figure) or "no interval"
    return f"<b>{decimal(figure.value)}</b> {bounds}, n\u00a0{figure.n:,}"


def dollars(cost: Figure) -> str:
    note = f" ({say(cost.note)})" if cost.note else ""
    return (
        f"not known{note}"
        if cost.value is None
        else f"US$ {decimal(cost.value, 4)} {interval(cost, partial(decimal, places=4))}".rstrip() + note
    )


def lost(card: ValidityCard) -> str:
    judge = card.of("judge")
    rate = judge.missing_rate if judge else None
    if judge is None or rate is None:
        return "There is no unit that people labelled."
    limit = f"publishable up to {100 * card.missing_limit:.1f} %"
    return f"{sum(judge.missing.values()):,} of {judge.units:,} ({100 * rate:.1f} %; {limit})"


def listed(lines: Iterable[str]) -> str:
    """Sentences as a bulleted list; empty if there are none."""
    points = "".join(f"<li>{say(line)}</li>\n" for line in lines)
    return f"<ul>\n{points}</ul>\n" if points else ""


def _row(line: Line, side: str, names: list[str]) -> list[Cell]:
    result: dict[str, Figure] = getattr(line, side)
    who = "units alike" if line.who == "person" else line.who
    if side == "weighted":
        first = "by weight" if line.who == "person" else f"{who}, by weight"
    else:
        first = f"{who}<br><small>{escape(_counts(line))}</small>"
    return [first, *(result.get(name) for name in names)]


def _of(line: Line) -> str:
    """The subject of a line: a group or a person, with the number of units that have a true value."""
    name = line.name if line.who == "person" else line.group
    return f"{say(name)} <small>{escape(counted(line.units, 'unit'))}</small>"


def _counts(line: Line) -> str:
    n = next((f"n\u00a0{result.n:,}" for result in line.plain.values()), "")
    return n + (f", {sum(line.missing.values()):,} missing" if line.who == "judge" else "")


def short(card: ValidityCard, *, begun: bool = False) -> str:
    """The most wanted facts, first; on a card that is only `begun`, before intervals and costs are computed."""
    judge, people = card.of("judge"), card.of("people")
    rows = [
        (
            escape(definition.title),
            brief(judge.plain.get(name), begun=begun),
            brief(people.plain.get(name), begun=begun) if people else NOBODY,
        )
        for name in LISTED
        for definition in card.definitions
        if definition.name == name and judge
    ]
    cost = escape("being counted") if begun else dollars(card.cost)
    rest = [("Missing verdicts", escape(lost(card))), ("Cost per question", cost)]
    heads = ("Figure", "Judge", "People among themselves")
    return table(heads, rows, "In short") + facts(rest, "Missing verdicts and cost")


def judge(card: ValidityCard) -> str:
    return facts(_of_identity(card.judge, card), "The judge")


def _of_identity(identity: Identity, card: ValidityCard) -> list[tuple[str, str]]:
    asks = identity.kind is JudgeKind.ENDPOINT
    wordings = (
        f"<br>{say(each.name)}, version {each.version}: {digest(each.sha256)}" for each in identity.prompts
    )
    asked = [
        ("Model that answered", say(", ".join(identity.returned_models) or "not known")),
        ("Endpoint", escape(f"on {card.reach.value}; its address is not told")),
        ("Request parameters", say(canonical_json(identity.parameters).decode())),
    ]
    how = [
        ("Units in one call", escape(f"{identity.together}")),
        ("Told what units weigh", "yes" if identity.weights_shown else "no"),
        ("Form of its answers", escape(", ".join(identity.forms) or "not known")),
        ("Prompt", digest(identity.prompt_sha256) + "".join(wordings)),
    ]
    several = {"judges": "several judges", "trials": "the trials of one judge"}
    weights = "their weight, in weighted figures" if identity.weighting == "by weight" else "alike"
    return [
        ("Kind", escape({JudgeKind.DERIVED: "vote"}.get(identity.kind, identity.kind.value))),
        ("Model", say(identity.model) if identity.model else ""),
        *(asked if asks else ()),
        ("Protocol", f"{say(identity.protocol)}, which gives {escape(', '.join(identity.values))}"),
        *(how if asks else ()),
        ("Part of Goldsmith", escape(identity.program)),
        ("Counts", escape(several.get(identity.over, ""))),
        *(
            (f"Member {place}", "<br>".join(f"{escape(name)}: {value}" for name, value in own if value))
            for place, member in enumerate(identity.members, 1)
            for own in [_of_identity(member, card)]
        ),
        ("Units count", escape(weights)),
    ]


def labels(card: ValidityCard) -> str:
    result = card.labels
    draw = result.draw
    whose = ", ".join(
        f"{say(labeller.alias)} ({counted(labeller.labels, 'label')})" for labeller in result.labellers
    )
    rows = [
        ("Labels", say(f"Set {result.set_name}, {result.part} part") if result.set_name else "all that were submitted"),
        ("Of", escape(
            f"{counted(result.units, 'unit')} of {counted(result.responses, 'response')} to "
            f"{counted(result.items, 'item')} by {counted(result.systems, 'system')}"
        )),
        ("Compared with", say(result.against)),
        ("Labelled by", whose),
        ("Drawn", escape(_picture(card)) if draw else ""),
        ("Locked", moment(result.locked_at) if result.locked_at else ""),
        ("Test part looked at", escape(_looks(result.opened_at)) if result.set_name else ""),
        ("Hash of these labels", digest(result.labels_sha256) if result.labels_sha256 else ""),
        ("Hash of the set's labels", digest(result.locked_sha256) if result.locked_sha256 else ""),
    ]  # fmt: skip
    return facts(rows, "The labels")


def _picture(card: ValidityCard) -> str:
    result = card.labels
    draw = result.draw
    assert draw is not None
    parts = ", ".join(f"{part.value} {many:,}" for part, many in sorted(result.set_responses.items()))
    how = [
        f"{result.drawn_at:%Y-%m-%d}" if result.drawn_at else "",
        f"seed {draw.seed}",
        f"share of items in the test part {draw.test_share:g}",
        f"{draw.raters} people to an item",
        f"for an interval {draw.width:g} wide" if draw.width else "",
        f"responses: {parts}" if parts else "",
    ]
    return ", ".join(one for one in how if one)


def _looks(moments: tuple[datetime, ...]) -> str:
    if not moments:
        return "never"
    return f"{counted(len(moments), 'time')}: " + ", ".join(f"{moment:%Y-%m-%d %H:%M}" for moment in moments)


JSON, HTML = ENDINGS = (".json", ".html")
LARGEST = 16 * 1024 * 1024
ANOTHER = "Choose a card that Goldsmith wrote, as .json or .html; nothing was changed."
AGAIN = "Ask the card's author for it again; nothing was changed."
_CARRIED = re.compile(rf"<pre[^<>]*\bid=\"{CARRIED}\"[^<>]*>([^<]*)</pre>")
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")


def content(card: ValidityCard, ending: str) -> bytes:
    """The bytes of a card's file, by its ending; Refusal for an unknown one."""
    refuse_ending(ending)
    text = pretty(card.tree())
    return text if ending.lower() == JSON else page(card, text.decode()).encode()


def refuse_ending(ending: str) -> None:
    """Refusal for an ending that no card has."""
    refuse_other(ending.lower(), ENDINGS, f"A card is not written as “{ending or 'a file without ending'}”.")


def read(path: Path) -> ValidityCard:
    """The card of a file, whole and unchanged; Refusal if it is none, is newer, or was changed."""
    name = path.name
    data = read_bytes(path, name, LARGEST)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        data = _carried(decoded(data, name), name).encode()
    return of_tree(parse(data, name, LARGEST), name)


def of_tree(tree: Any, name: str) -> ValidityCard:
    """The card of a JSON tree; Refusal as in `read`."""
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise Refusal(f"“{name}” is no validity card.", ANOTHER)
    _refuse_newer(str(tree.get("format_version")), name)
    if tree.get("sha256") != tree_sha256(tree):
        raise Refusal(f"“{name}” was changed since it was written: its hash is another.", AGAIN)
    try:
        card = ValidityCard.model_validate_json(orjson.dumps(tree))
    except ValidationError as error:
        raise Refusal(f"“{name}” is no whole validity card: {in_words(error)}.", AGAIN) from None
    if card.sealed().sha256 != card.sha256:
        raise Refusal(f"“{name}” is no whole validity card: something is left out of it.", AGAIN)
    return card


def _carried(text: str, name: str) -> str:
    """The JSON within a page; Refusal if there is none, or if the page was changed."""
    text = text.replace("\r\n", "\n")
    result = _CARRIED.search(text)
    if result is None:
        raise Refusal(f"“{name}” is a page, but carries no validity card.", ANOTHER)
    if not is_whole(text):
        raise Refusal(f"“{name}” was changed since it was written: the page is another.", AGAIN)
    return unescape(result[1])


def _refuse_newer(version: str, name: str) -> None:
    numbers, ours = _VERSION.fullmatch(version), _VERSION.fullmatch(FORMAT_VERSION)
    if numbers is None or ours is None:
        raise Refusal(f"“{name}” is a card of an unknown format, “{version[:20]}”.", AGAIN)
    if tuple(map(int, numbers.groups())) > tuple(map(int, ours.groups())):
        raise Refusal(
            f"“{name}” is a card of format {version}; it needs a newer Goldsmith.",
            f"This one reads cards up to {FORMAT_VERSION}; nothing was changed.",
        )
