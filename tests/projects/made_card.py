"""A validity card made by hand, with words of every kind of script and markup in it."""

from datetime import UTC, datetime

from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.validation import (
    Attacked,
    Confused,
    Corrected,
    CorrectedSystem,
    Definition,
    Figure,
    Identity,
    Labeller,
    Labels,
    Line,
    Reach,
    Reviews,
    ValidityCard,
    Wording,
)
from annotator.domain.texts.estimate import Estimate

HASH = "ab" * 32
HOSTILE = '<script>alert("x")</script>'
IDENTITY = Identity(
    kind=JudgeKind.ENDPOINT, model="o3-mini", parameters={"temperature": 0}, protocol="researcherbench.coverage",
    values=("yes", "no"), weighting="by weight", prompt_sha256=HASH,
    prompts=(Wording(name="researcherbench.coverage", sha256=HASH, version=2),), together=1, weights_shown=False,
    forms=("json_schema",), returned_models=("o3-mini-2026-01-31",),
)  # fmt: skip


def made_card(**more: object) -> ValidityCard:
    """A card of a judge beside two people, with a figure that is undefined."""
    figures = {
        "accuracy": Figure.of(Estimate(0.75, 0.5, 0.9, n=16, method="mean over units")),
        "kappa": Figure.of(Estimate(None, n=16, note="undefined: both used one value")),
    }
    judge = Line(
        by="all", group="all", who="judge", name="קל وسريع", units=16, plain=figures, weighted=figures,
        confusion=tuple(
            Confused(truth=true, said=said, units=4, weight=8) for true in ("yes", "no") for said in ("yes", "no")
        ),
        missing={"not asked": 1},
    )  # fmt: skip
    people = judge.model_copy(update={"who": "people", "name": "people", "missing": {}, "confusion": ()})
    of_type = judge.model_copy(update={"by": "type", "group": HOSTILE})
    fields: dict[str, object] = {
        "app_version": "1.0", "made_at": datetime(2026, 10, 2, 9, 30, tzinfo=UTC), "project": "秋の計画",
        "name": "קל وسريع", "protocol_title": "Coverage", "reach": Reach.FAR, "judge": IDENTITY, "positive": "yes",
        "labels": Labels(
            source="submitted", labels_sha256=HASH, against="R2 and R3", units=16, responses=8, items=4, systems=2,
            labellers=(Labeller(alias="R2", labels=16), Labeller(alias=HOSTILE, labels=12)),
        ),
        "definitions": (
            Definition(name="accuracy", title="Accuracy", words="the share on which both say the same"),
            Definition(name="kappa", title="Cohen's κ", words="agreement beyond chance"),
        ),
        "lines": (judge, people, of_type), "cost": Figure.of(Estimate(0.0021, 0.0019, 0.0024, n=4)),
        "missing_limit": 0.05,
        "reviews": Reviews(accepted=Figure.of(Estimate(0.9, n=10)), said={"agree": 9, "disagree": 1}),
        "corrected": Corrected(systems=(
            CorrectedSystem(
                system=HOSTILE, raw=Figure.of(Estimate(0.6)), corrected=Figure.of(Estimate(0.5)), tuning=0.7, labels=8,
                units=8,
            ),
        )),
        "attacks": (Attacked(name="order", title="Another order", failures=Figure.of(Estimate(0.25, n=8))),),
        "notes": (f"Mind this: {HOSTILE}",),
    }  # fmt: skip
    return ValidityCard.model_validate(fields | more).sealed()
