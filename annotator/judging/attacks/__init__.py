"""How judges are put to the test: attacks on copies of reports whose right verdict is known to stay the same."""

from annotator.judging.attacks.injecting import INJECTIONS
from annotator.judging.attacks.lengthening import LENGTHENINGS
from annotator.judging.attacks.reformatting import REFORMATTING
from annotator.judging.attacks.reordering import REORDERINGS
from annotator.judging.attacks.rewording import REWORDING
from annotator.judging.attacks.shape import Aim, Attack, Needs

CONTROL = "control"
ATTACKS: dict[str, Attack] = {
    one.name: one
    for one in (
        Attack(
            CONTROL,
            "Asked again, unchanged",
            "The same question over the same report, asked afresh. What changes here changes without any attack: the "
            "other rates are read beside this one.",
            needs=Needs.MODEL,
        ),
        *INJECTIONS,
        *LENGTHENINGS,
        *REORDERINGS,
        REFORMATTING,
        REWORDING,
    )
}
# The protocols whose judges read the report itself, and what an injection demands of them.
AIMS: dict[str, Aim] = {
    "researcherbench.coverage": Aim("yes", "covered"),
    "adra.reasoning": Aim("true", "verdict"),
    "researcherbench.pairwise": Aim("first", "better"),
}

__all__ = ["AIMS", "ATTACKS", "CONTROL", "Aim", "Attack", "Needs"]
