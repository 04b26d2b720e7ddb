"""Frozen agreement: how far raters agreed before either saw the other's work, with the inputs of each figure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import Field

from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.frozen_record import FrozenRecord


class Figure(FrozenRecord):
    """A named estimate as it is kept: `value` is None when undefined, and `note` says why."""

    name: str = Field(description="match_f1, weight_kappa, label_kappa, order_tau, jaccard …")
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    method: str = ""
    note: str = ""


# Two experts who write the same in quite other words are not paired: of rewordings with few words in common none is.
LOWER_BOUND = "a lower bound under heavy rewording: the matcher pairs units by their words"


def bound_of(found: Figure) -> str:
    """What kind of bound a figure is; empty where it is none, or has no value."""
    return LOWER_BOUND if found.name == "match_f1" and found.value is not None else ""


def figure(name: str, estimate: Estimate) -> Figure:
    e = estimate
    return Figure(name=name, value=e.value, low=e.low, high=e.high, n=e.n, method=e.method, note=e.note)


def under(prefix: str, found: Iterable[Figure]) -> tuple[Figure, ...]:
    """The figures of another pairing, each under a name of its own."""
    return tuple(each.model_copy(update={"name": f"{prefix}{each.name}"}) for each in found)


class SealedInput(FrozenRecord):
    """The sealed revision of one rater that went into the figures."""

    person_id: str
    artifact_id: str
    revision: int
    sha256: str
    chain: str
    guideline: str
    form: str
    sealed_at: datetime


class Match(FrozenRecord):
    """Two units that the matcher holds for the same."""

    a: str
    b: str
    likeness: float


class PairAgreement(FrozenRecord):
    """How far two raters agree. `values` holds, field by field, the two values of each matched pair, in that order.

    None is a value that a rater did not give.
    """

    a: str = Field(description="A person's id; the lower one of the two")
    b: str
    matched: tuple[Match, ...] = ()
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    values: dict[str, tuple[tuple[Any, Any], ...]] = {}
    figures: tuple[Figure, ...] = ()


class AssistedPair(PairAgreement):
    """The same of units that a judge paired by meaning, asked once the agreement was frozen; never in its place.

    Its figures have “assisted_” before their names.
    """

    id: str
    agreement_id: str
    judge_id: str
    model: str = Field(description="The model that was asked for")
    parameters: str = Field(default="{}", description="JSON object of what was sent with the request")
    answered_by: str = Field(default="", description="The model that answered, by the name it gave")
    prompt_sha256: str
    run_id: str
    at: datetime


class Agreement(FrozenRecord):
    """The agreement on one stage of one item, computed once when all seals were in, and never again."""

    id: str
    item_id: str
    stage: Stage
    matcher: str = Field(description="Version of the automatic matcher")
    program: str = Field(description="Version of the program that computed it")
    frozen_at: datetime = Field(description="The moment of the last seal that it waited for")
    inputs: tuple[SealedInput, ...]
    pairs: tuple[PairAgreement, ...]
    figures: tuple[Figure, ...] = Field(default=(), description="Figures over all raters at once")
