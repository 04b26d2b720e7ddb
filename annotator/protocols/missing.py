"""Figures of which something is missing: what is said beside them, and how far what is missing could move them."""

from annotator.domain.texts.estimate import Estimate


def told_missing(
    missing: int, of: int, valued: bool, what: str = "judgements are missing", over: str = "the others"
) -> list[str]:
    """What must be said beside a figure, `valued` where it was made of what came; nothing where all came."""
    if not missing:
        return []
    return [f"{missing:,} of {of:,} {what}", *[f"over {over} only"] * valued]


def mean_of_known(
    worth: float, known: int, missing: int, over_valid: bool, what: str, method: str
) -> Estimate:
    """The mean of what is `known`, each worth from 0 to 1 and `worth` all together; `n` counts it.

    With anything missing the value is None unless `over_valid`; floor and ceiling take all of that as 0, then as 1.
    """
    valued = bool(known) and (over_valid or not missing)
    return Estimate(
        worth / known if valued else None,
        n=known,
        missing=missing,
        floor=worth / (known + missing),
        ceiling=(worth + missing) / (known + missing),
        method=method,
        note="; ".join(told_missing(missing, known + missing, valued, what)),
    )
