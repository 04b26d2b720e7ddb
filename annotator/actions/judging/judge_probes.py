"""Test of a judge: one call to its endpoint, and the result in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from annotator.actions.judges import endpoint_memory, kept_keys
from annotator.actions.judges.judges import named
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import RunJournal
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.counting import usd
from annotator.storage.tables import RESPONSE

FORMS = {
    "json_schema": "JSON with a schema",
    "json_object": "JSON without a schema",
    "text": "plain text only",
}


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A request for a test call to a judge's endpoint, by name."""

    judge: str


async def test(project: Project, name: str) -> dict[str, Any]:
    """One call to the judge's endpoint: whether and how it answers, how fast, at what price, in words too.

    The page it is to read is as long as the longest report, so that an endpoint that cuts what is long is found out.
    """
    judge = named(project, name)
    if judge.kind == JudgeKind.BASELINE:
        return {"ok": True, "words": "The baseline judge needs no endpoint; it is always ready."}
    if judge.kind == JudgeKind.DERIVED:
        return {"ok": True, "words": "A vote is counted from its members' verdicts; it makes no calls."}
    from annotator.judging.calls.prices import prices
    from annotator.judging.calls.probe import FILLER_CHARACTERS, probe

    length = max(FILLER_CHARACTERS, _longest_report(project))
    found = await probe(kept_keys.endpoint_to_ask(project, judge), prices(judge), judge.id, length)
    endpoint_memory.keep_latency(project, judge, found.latency_s if found.ok else None)
    endpoint_memory.keep_test(project, judge, "" if found.ok else found.sentence)
    if not project.store.readonly:
        RunJournal(project, "", judge.id, "").record_calls(found.calls)
    return {
        "ok": found.ok,
        "words": found.sentence,
        "status": found.status.value,
        "form": found.form.value if found.form else None,
        "enforced": found.enforced,
        "first_arrived": found.first_arrived,
        "last_arrived": found.last_arrived,
        "model": found.returned_model,
        "latency_s": found.latency_s,
        "tokens_input": found.tokens_input,
        "cost_usd": found.cost_usd,
        "rejected_parameters": list(found.rejected),
        "attempts": sum(call.attempts for call in found.calls),
        "raw": found.calls[-1].raw if found.calls else "",
        "price": price_words(project, judge),
    }


def _longest_report(project: Project) -> int:
    """The characters of the longest report; 0 without any."""
    with project.store.read() as db:
        return int(db.execute(select(func.max(func.length(RESPONSE.c.text)))).scalar() or 0)


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
    return f"the {' and the '.join(lost)} of a long prompt is cut off silently"


def price_words(_project: Project, judge: Judge) -> str:
    """A judge's price with the day it was true; where it is not known, where to enter it."""
    from annotator.judging.calls.prices import prices

    known = prices(judge).of(judge.model)
    if known is None:
        return "not known; enter it, or its runs have no budget and their cost is unknown"
    where = f"as of {known.as_of} ({known.table})" if known.as_of else "as entered for this judge"
    return f"{known.price.words()}, {where}"
