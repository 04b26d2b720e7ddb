"""Attacks on judges: changed copies of reports whose correct verdict is known to stay the same."""

from annotator.domain.judges.protocol import Target
from annotator.judging.attacks.injecting import INJECTIONS
from annotator.judging.attacks.lengthening import LENGTHENINGS
from annotator.judging.attacks.reformatting import REFORMATTING
from annotator.judging.attacks.reordering import REORDERINGS
from annotator.judging.attacks.rewording import REWORDING
from annotator.judging.attacks.shape import Attack, AttackNeeds
from annotator.protocols import PROTOCOLS

CONTROL = "control"
ATTACKS: dict[str, Attack] = {
    one.name: one
    for one in (
        Attack(
            CONTROL,
            "Asked again, unchanged",
            "The same question over the same report, asked afresh. What changes here changes without any attack: the "
            "other rates are read beside this one.",
            needs=AttackNeeds.MODEL,
        ),
        *INJECTIONS,
        *LENGTHENINGS,
        *REORDERINGS,
        REFORMATTING,
        REWORDING,
    )
}
# What an injection demands, by protocol: those whose judges read the report itself say so.
TARGETS: dict[str, Target] = {name: shape.target for name, shape in PROTOCOLS.items() if shape.target}

__all__ = ["ATTACKS", "CONTROL", "TARGETS", "Attack", "AttackNeeds", "Target"]
