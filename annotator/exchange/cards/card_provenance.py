"""Validity card page: the judge, its labels, and a summary of both."""

from collections.abc import Iterator
from datetime import datetime

from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.level_figures import FIGURES
from annotator.domain.judges.validity_card import Identity, ValidityCard
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.counting import counted
from annotator.exchange.cards.card_parts import brief, digest, dollars, facts, lost, moment, plain, say, table

SHORT = (*(names[0] for names in FIGURES.values()), "accuracy", "f1")
NOBODY = "nobody to be held against"


def short(card: ValidityCard, *, begun: bool = False) -> str:
    """What most people look for, first; of a card that is only `begun`, before intervals and costs are counted."""
    judge, people = card.of("judge"), card.of("people")
    rows = [
        (
            plain(one.title),
            brief(judge.plain.get(name), begun=begun),
            brief(people.plain.get(name), begun=begun) if people else NOBODY,
        )
        for name in SHORT
        for one in card.definitions
        if one.name == name and judge
    ]
    cost = plain("being counted") if begun else dollars(card.cost)
    rest = [("Missing verdicts", plain(lost(card))), ("Cost per question", cost)]
    heads = ("Figure", "Judge", "People among themselves")
    return table(heads, rows, "In short") + facts(rest, "Missing verdicts and cost")


def judge(card: ValidityCard) -> str:
    """What makes the judge this judge."""
    return facts(_of_identity(card.judge, card), "The judge")


def _of_identity(one: Identity, card: ValidityCard) -> Iterator[tuple[str, str]]:
    asks = one.kind is JudgeKind.ENDPOINT
    yield "Kind", plain({JudgeKind.DERIVED: "vote"}.get(one.kind, one.kind.value))
    yield "Model", say(one.model) if one.model else ""
    yield "Model that answered", say(", ".join(one.returned_models) or "not known") if asks else ""
    yield "Endpoint", plain(f"on {card.reach.value}; its address is not told") if asks else ""
    yield "Request parameters", say(canonical_json(one.parameters).decode()) if asks else ""
    yield "Protocol", f"{say(one.protocol)}, which gives {plain(', '.join(one.values))}"
    yield "Units in one call", plain(f"{one.together}") if asks else ""
    yield "Told what units weigh", ("yes" if one.weights_shown else "no") if asks else ""
    yield "Form of its answers", plain(", ".join(one.forms) or "not known") if asks else ""
    if asks:
        yield (
            "Prompt",
            digest(one.prompt_sha256)
            + "".join(
                f"<br>{say(each.name)}, version {each.version}: {digest(each.sha256)}" for each in one.prompts
            ),
        )
    yield "Part of Goldsmith", plain(one.program)
    yield "Counts", plain({"judges": "several judges", "trials": "the trials of one judge"}.get(one.over, ""))
    for place, member in enumerate(one.members, 1):
        yield (
            f"Member {place}",
            "<br>".join(f"{plain(name)}: {value}" for name, value in _of_identity(member, card) if value),
        )
    yield (
        "Units count",
        plain("their weight, in weighted figures" if one.weighting == "by weight" else "alike"),
    )


def labels(card: ValidityCard) -> str:
    """Where the labels come from."""
    found = card.labels
    draw = found.draw
    whose = ", ".join(f"{say(one.alias)} ({counted(one.labels, 'label')})" for one in found.labellers)
    rows = [
        ("Labels", say(f"Set {found.set_name}, {found.part} part") if found.set_name else "all that were submitted"),
        ("Of", plain(
            f"{counted(found.units, 'unit')} of {counted(found.responses, 'response')} to "
            f"{counted(found.items, 'item')} by {counted(found.systems, 'system')}"
        )),
        ("Compared with", say(found.against)),
        ("Labelled by", whose),
        ("Drawn", plain(_drawn(card)) if draw else ""),
        ("Locked", moment(found.locked_at) if found.locked_at else ""),
        ("Test part looked at", plain(_looks(found.opened_at)) if found.set_name else ""),
        ("Hash of these labels", digest(found.labels_sha256) if found.labels_sha256 else ""),
        ("Hash of the set's labels", digest(found.locked_sha256) if found.locked_sha256 else ""),
    ]  # fmt: skip
    return facts(rows, "The labels")


def _drawn(card: ValidityCard) -> str:
    found = card.labels
    draw = found.draw
    assert draw is not None
    parts = ", ".join(f"{part.value} {many:,}" for part, many in sorted(found.set_responses.items()))
    how = [
        f"{found.drawn_at:%Y-%m-%d}" if found.drawn_at else "",
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
    return f"{counted(len(moments), 'time')}: " + ", ".join(f"{one:%Y-%m-%d %H:%M}" for one in moments)
