"""What a mock model replies to a case, by protocol."""

from collections.abc import Callable
from typing import Any

from annotator.domain.judges.protocol import Case
from tests.material import key_points
from tests.projects.both_papers import FACTS, FOUND, POINTS

PRECISION, COVERAGE = "deepscholar.precision", "deepscholar.coverage"
RELEVANCE = "deepscholar.relevance"
OF_POINTS = "arena.keypoints", "arena.keypoints.common"


def covered(case: Case) -> dict[str, Any]:
    """Yes to the criteria of weight 3."""
    return {"quote": "", "rationale": "By weight.", "covered": "yes" if case.unit.weight == 3 else "no"}


def verified(case: Case) -> dict[str, Any]:
    """Of each page the first claim is supported, the second is not, and of the others it is not known."""
    said = ("yes", "no", *["unknown"] * len(case.units))
    told = [
        {"id": unit.id, "quote": "", "rationale": "By place.", "supported": value}
        for unit, value in zip(case.units, said, strict=False)
    ]
    return {"claims": told}


def preferred(case: Case) -> dict[str, Any]:
    longer = len(case.response.text) > len(case.other.text)
    return {"rationale": "By length.", "better": "first" if longer else "second"}


def chosen(case: Case) -> dict[str, Any]:
    return preferred(case) | dict.fromkeys(("factuality", "comprehensiveness", "coherence"), "tie")


def told(_: Case) -> dict[str, Any]:
    return {"quote": "", "rationale": "As always.", "verdict": "true"}


def crossed(case: Case) -> dict[str, Any]:
    """Every sub-task of a report does the work of the first gold one, and of no other."""
    verdicts = ("relevant", *["not"] * (len(case.units) - 1))
    cells = [{"id": f"g{n}", "reason": "As ever.", "verdict": one} for n, one in enumerate(verdicts, start=1)]
    return {"cells": cells}


def supported(case: Case) -> dict[str, Any]:
    said = dict(zip(FACTS, ("support", "partial_support", "not_support"), strict=True))
    told = {"quote": "", "rationale": "By place."}
    return {"answers": [told | {"id": unit.id, "support": said[unit.text]} for unit in case.units]}


def graded(case: Case) -> dict[str, Any]:
    """The best of one work, and 0 of any other."""
    return {"rationale": "By name.", "relevance": "2" if case.given["address"] == FOUND.lower() else "0"}


def rated(case: Case) -> dict[str, Any]:
    said = dict(zip(POINTS, ("9", "5", "0"), strict=True))
    return {"quote": "", "rationale": "By place.", "rating": said[case.unit.text]}


def related(case: Case) -> dict[str, Any]:
    said = {"aspects": [], "relation": key_points.relation(case.unit.text), "confidence": 0.9}
    return {"quote": "", "rationale": "By length."} | said


BORNE_OUT = {"quote": "", "rationale": "As ever.", "supported": "yes"}


REPLIES: dict[str, Callable[[Case], dict[str, Any]]] = {
    "researcherbench.coverage": covered,
    "researcherbench.claims": verified,
    "researcherbench.pairwise": preferred,
    "adra.plan": crossed,
    "adra.reasoning": told,
    "adra.preference": chosen,
    "deepscholar.organization": preferred,
    "deepscholar.nuggets": supported,
    RELEVANCE: graded,
    PRECISION: lambda _: BORNE_OUT,
    COVERAGE: lambda _: BORNE_OUT,
    "deepscholar.nugget_importance": lambda _: {"rationale": "", "importance": "vital"},
    "deepscholar.reference_importance": lambda _: {"rationale": "", "importance": "important"},
    "arena.checklist": rated,
    **dict.fromkeys(OF_POINTS, related),
}
