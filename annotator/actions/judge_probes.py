"""How it is said what a test of a judge showed."""

from collections.abc import Mapping
from typing import Any

from annotator.domain.counting import usd

FORMS = {
    "json_schema": "JSON by schema",
    "json_object": "JSON, but not by a schema",
    "text": "plain text only",
}


def facts(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was learnt, name by name; what is not known is left out, never 0."""
    ends = [found.get("first_arrived"), found.get("last_arrived")]
    seconds, cost, tokens = (found.get(name) for name in ("latency_s", "cost_usd", "tokens_input"))
    form = FORMS.get(str(found.get("form")), "")
    rejected = ", ".join(found.get("rejected_parameters") or ())
    told = {
        "Replies in": f"{form}{'' if found.get('enforced') else ', which it did not keep to at once'}"
        if form
        else "",
        "Long prompts": _ends(ends) if form else "",
        "Answered as": str(found.get("model") or ""),
        "Took": f"{seconds:.1f} s" if seconds is not None else "",
        "Prompt": f"{tokens:,} tokens" if tokens is not None else "",
        "This call": usd(cost) if cost is not None else "",
        "Price": str(found.get("price") or ""),
        "Turned down": rejected,
        "Attempts": str(found["attempts"]) if found.get("attempts", 1) > 1 else "",
    }
    return [(name, words) for name, words in told.items() if words]


def _ends(arrived: list[Any]) -> str:
    if all(arrived):
        return "both ends arrive"
    lost = [end for end, came in zip(("beginning", "end"), arrived, strict=True) if not came]
    return f"the {' and the '.join(lost)} of a long one is cut off without a word"
