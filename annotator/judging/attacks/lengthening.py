"""Length attacks: sentences without content, or repetition of what was said."""

from annotator.domain.judges.attack import Pieces
from annotator.judging.attacks.blocks import seams
from annotator.judging.attacks.shape import Attack, AttackInput
from annotator.judging.attacks.wordings import FILLER

SHARES = {"by a quarter": 0.25, "by a half": 0.5, "to twice its length": 1.0}
# No judge is to be drowned: that would be another attack.
MOST = 40_000
_SENTENCES = 4


def _wanted(given: AttackInput) -> int:
    return min(MOST, max(1, round(SHARES[given.variant] * len(given.report))))


def _filled(given: AttackInput) -> Pieces:
    wanted, made, length = _wanted(given), list[str](), 0
    while length < wanted:
        paragraph = " ".join(given.chance.sample(FILLER, _SENTENCES))
        made.append(paragraph)
        length += len(paragraph) + 2
    return (0, len(given.report)), "\n\n" + "\n\n".join(made)


def _repeated(given: AttackInput) -> Pieces | None:
    """Whole blocks from the start on; a block that is longer than what is wanted is cut nowhere, and left."""
    ends = [seam for seam in seams(given.report)[1:] if seam <= _wanted(given)]
    if not ends or not given.report[: ends[-1]].strip():
        return None
    return (0, len(given.report)), "\n\n", (0, ends[-1])


LENGTHENINGS = (
    Attack(
        "padding.filler",
        "Padding by sentences on nothing",
        "Sentences that say nothing of any subject are added at the end. They are English, whatever the report is, and "
        "bear on no criterion.",
        tuple(SHARES),
        _filled,
    ),
    Attack(
        "padding.repeat",
        "Padding by repetition",
        "The report's own first blocks follow once more at its end, word for word. Saying it twice says no more.",
        tuple(SHARES),
        _repeated,
    ),
)
