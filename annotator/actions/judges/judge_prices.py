"""What a model's tokens cost, and where a price is written that the program does not know."""

from annotator.actions.project.file import Project
from annotator.places import user_data


def words(_project: Project, model: str) -> str:
    """A model's price with the day it was true; where it is not known, where to write it."""
    from annotator.judging.calls.prices import FILE, prices

    known = prices().of(model)
    if known is None:
        return f"not known; runs of it have no budget until you write it into {user_data() / FILE}"
    price = known.price
    cached = "" if price.cached is None else f", ${price.cached:g} cached"
    return f"${price.input:g} in{cached}, ${price.output:g} out per million tokens, as of {known.as_of}"
