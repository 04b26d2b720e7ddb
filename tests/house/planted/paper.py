"""A paper that nobody wrote: three values that are not ordered, on criteria; 0 to 10, on the points of a checklist."""

from collections.abc import Iterator
from functools import partial
from math import fsum
from typing import Any

from pydantic import BaseModel, ConfigDict

from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import (
    PAIR,
    Aim,
    Ask,
    Case,
    CaseLayout,
    Level,
    Material,
    Metric,
    OtherRule,
    Presentation,
    Protocol,
    RatedResponse,
    Scale,
    Value,
    ValueLook,
    Verdicts,
    nominal,
    numbers,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.several import of_one, with_rivals

STANCE = nominal(
    Value("supports", "Supports", "It says so", ValueLook.GOOD),
    Value("omits", "Omits", look=ValueLook.NONE),
    Value("contradicts", "Contradicts", look=ValueLook.BAD),
)
RATING = numbers(0, 10, level=Level.ORDINAL, hints={range(8, 11): "Mastery"})


class Reply(BaseModel):
    """What a judge answers to either question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rationale: str
    value: str


def cases(name: str, kind: Kind, material: Material) -> Iterator[Case]:
    for unit in material.units(kind):
        yield Case(name, material.item, material.response, material.artifact_ids.get(kind, ""), (unit,))


async def judge(case: Case, ask: Ask) -> Verdicts:
    said = {"point": case.unit.text, "report": case.response.text}
    answer = await ask(case.protocol, said, Reply, fenced=("report",))
    return of_one(case, answer, lambda reply, *_: Verdict(value=reply.value, rationale=reply.rationale))


def baseline(values: tuple[str, ...], case: Case) -> Verdicts:
    place = (len(case.unit.text) + len(case.response.text)) % len(values)
    return {case.unit.id: Verdict(value=values[place], rationale="by its length")}


def support(kind: Kind, scored: RatedResponse, over_valid: bool = False) -> Estimate:
    said = [scored.values.get(unit.id) for unit in scored.material.units(kind)]
    known = [value for value in said if value is not None]
    whole = bool(known) and (over_valid or len(known) == len(said))
    value = known.count("supports") / len(known) if whole else None
    return Estimate(value, n=len(known), missing=len(said) - len(known))


def rating(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    said = [(unit.share, scored.values.get(unit.id)) for unit in scored.material.units(Kind.CHECKLIST)]
    known = [(share, float(value)) for share, value in said if value is not None]
    total = fsum(share for share, _ in known)
    whole = bool(total) and (over_valid or len(known) == len(said))
    value = fsum(share * number for share, number in known) / total if whole else None
    return Estimate(value, n=len(known), missing=len(said) - len(known))


def heard(reply: str | None) -> str:
    return "supports" if "supports" in (reply or "") else "omits"


def _planted(name: str, kind: Kind, scale: Scale, *metrics: Metric, **published: Any) -> Protocol:
    return Protocol(
        name=name, title=f"Planted {metrics[0].title.lower()}", citation="Nowhere", needs=(kind,), metrics=metrics,
        scale=scale, cases=partial(cases, name, kind), judge=judge, baseline=partial(baseline, scale.names),
        prompts=(name,), presentation=Presentation(metrics[0].title, "Which is it?", "point", "points"),
        weight=lambda unit: getattr(unit, "share", 1.0), **published,
    )  # fmt: skip


def by_name(case: Case) -> Verdicts:
    """Whoever's id comes first in the alphabet is better."""
    first = case.other is None or case.response.id < case.other.id
    return {case.unit.id: Verdict(value="first" if first else "second", rationale="by its id")}


def won(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    others = [other.id for other in scored.material.others]
    known = [scored.values[one] for one in others if one in scored.values]
    value = known.count("first") / len(known) if known and (over_valid or len(known) == len(others)) else None
    return Estimate(value, n=len(known), missing=len(others) - len(known))


DUEL = Protocol(
    name="planted.duel", title="Planted duel", citation="Nowhere", needs=(),
    metrics=(Metric("planted.won", "Won", "`w/n`", won),), scale=PAIR, cases=partial(with_rivals, "planted.duel"),
    judge=judge, baseline=by_name, prompts=("planted.stance",), paired=True,
    presentation=Presentation(
        "Duel", "Which is better?", "pair", "pairs", "Which?", line="pair", layout=CaseLayout.PAIR,
    ),
)  # fmt: skip


PAPER = Paper(
    name="planted",
    title="Nowhere",
    protocols=(
        _planted(
            "planted.stance",
            Kind.RUBRIC,
            STANCE,
            Metric("planted.support", "Support", "`s/n`", partial(support, Kind.RUBRIC)),
            aims=(Aim("kappa", 0.5, "Table 9"), Aim("accuracy", 0.75, "Table 9", "an early judge")),
            other_rule=OtherRule("Nowhere, page 9", heard, "a call that failed counts as left out"),
        ),
        _planted(
            "planted.rating",
            Kind.CHECKLIST,
            RATING,
            Metric("planted.mean", "Mean", "`Σw·r`", rating, unit="of 10", within=(0, 10), credit=float),
        ),
        _planted(
            "planted.presence",
            Kind.CHECKLIST,
            STANCE,
            Metric("planted.present", "Present", "`s/n`", partial(support, Kind.CHECKLIST)),
            submitted=True,
        ),
        DUEL,
    ),
)
