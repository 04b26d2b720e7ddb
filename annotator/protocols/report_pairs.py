"""Two reports on an item side by side: which they are, what a judge is shown, and what its reply comes to."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Ask, Case, Material, Verdicts
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.response import Response
from annotator.protocols.several import of_one


def with_rivals(protocol: str, material: Material) -> Iterator[Case]:
    """One case for each rival, this response shown first; the other order comes when it is the rival's turn.

    The unit of a case has the rival's id.
    """
    yield from _pairs(protocol, material, material.rivals(protocol))


def with_exemplars(protocol: str, material: Material) -> Iterator[Case]:
    """One case for each exemplar beside this response, or for each response beside this exemplar."""
    yield from _pairs(protocol, material, material.facing)


def _pairs(protocol: str, material: Material, others: Sequence[Response]) -> Iterator[Case]:
    for other in others:
        yield Case(protocol, material.item, material.response, "", (Unit(id=other.id),), other=other)


def both_texts(case: Case) -> tuple[str, str]:
    """The two reports in the order of the case; ValueError for a case without a second one."""
    if case.other is None:
        raise ValueError("a comparison needs a second report")
    return case.response.text, case.other.text


async def judged(
    prompt: str, shape: type, case: Case, ask: Ask, reason: Callable[[Any], str] = attrgetter("rationale")
) -> Verdicts:
    """Question and both reports are shown, no name; the reply has the shape, and names one as `better`."""
    first, second = both_texts(case)
    fields = {"question": case.item.question, "first": first, "second": second}
    answer = await ask(prompt, fields, shape, fenced=tuple(fields))
    return of_one(
        case,
        answer,
        lambda reply, _, flags: Verdict(value=reply.better, rationale=reason(reply), flags=" ".join(flags)),
    )
