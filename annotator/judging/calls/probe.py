"""Test of a judge: one long call that shows the abilities of its endpoint, or why it fails."""

import json
import secrets
from dataclasses import dataclass
from typing import ClassVar, Self

from pydantic import BaseModel

from annotator.domain.judges.judge import Call, Status
from annotator.judging.calls.asking import Asker, CaseAsk
from annotator.judging.calls.client import Client, Endpoint, Sender
from annotator.judging.calls.limits import Limits, RunHalt
from annotator.judging.calls.prices import Prices
from annotator.judging.calls.reply_parts import FORMAT, ReplyForm

PROMPT = "probe"
FILLER_CHARACTERS = 40_000
# Someone is waiting for the result: no long pauses.
LONGEST_WAIT_S = 20.0
BACKOFF_S = 0.2
_FILLER = "Line {number} of this page is filler: it only makes the page long and means nothing. "
_FORMS = {
    ReplyForm.SCHEMA: "replies by JSON Schema",
    ReplyForm.OBJECT: "replies in JSON, but not by a schema",
    ReplyForm.TEXT: "replies in plain text only",
}


class Ends(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The code words a model saw at the two ends of a long page."""

    TEXT_FORM: ClassVar[str] = (
        "Reply with the two code words on one line, the beginning's first, and nothing else."
    )
    first_word: str
    last_word: str

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Two words on one line; ValueError otherwise."""
        words = text.split()
        if len(words) != 2:
            raise ValueError("the reply is not two words")
        return cls(first_word=words[0], last_word=words[1])


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of a test call. `sentence` states it in plain words, without the key.

    `form` is the strictest response format the server took; `enforced` whether the reply fitted it at once.
    `rejected` names the parameters that the endpoint rejected. None means unknown.
    """

    ok: bool
    sentence: str
    status: Status
    form: ReplyForm | None = None
    enforced: bool = False
    first_arrived: bool = False
    last_arrived: bool = False
    returned_model: str = ""
    latency_s: float | None = None
    tokens_input: int | None = None
    cost_usd: float | None = None
    rejected: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()


async def probe(
    endpoint: Endpoint, prices: Prices, judge_id: str = "", length: int = FILLER_CHARACTERS
) -> Probe:
    """Send an endpoint one page of `length` characters with a code word at each end; never raises for the endpoint's
    faults.
    """
    first, last = (f"{word}-{secrets.token_hex(3)}" for word in ("amber", "cobalt"))
    async with Client(endpoint) as client:
        sender = Sender(client, Limits(1, longest_wait_s=LONGEST_WAIT_S, backoff_s=BACKOFF_S), prices)
        ask = CaseAsk(Asker(sender, judge_id))
        try:
            lines = (
                _FILLER.format(number=number)
                for number in range(1, length // len(_FILLER.format(number=1)) + 2)
            )
            answer = await ask(
                PROMPT, {"first": first, "filler": "".join(lines)[:length], "last": last}, Ends
            )
        except RunHalt as halt:
            return Probe(False, halt.cause, Status.API_ERROR, calls=tuple(ask.calls))
    ends = answer.reply if isinstance(answer.reply, Ends) else Ends(first_word="", last_word="")
    return _shown(ask.calls, sender, (ends.first_word == first, ends.last_word == last))


def _shown(calls: list[Call], sender: Sender, arrived: tuple[bool, bool]) -> Probe:
    call = calls[-1]
    form = ReplyForm(json.loads(call.parameters)[FORMAT])
    ok = call.status is Status.OK
    return Probe(
        ok=ok and all(arrived),
        sentence=_sentence(call, form, arrived) if ok else call.cause,
        status=call.status,
        form=form if ok else None,
        enforced=ok and not call.repaired,
        first_arrived=arrived[0],
        last_arrived=arrived[1],
        returned_model=call.returned_model,
        latency_s=call.latency_s,
        tokens_input=call.tokens_input,
        cost_usd=call.bill_usd,
        rejected=tuple(sorted(sender.learned.dropped | set(sender.learned.renamed))),
        calls=tuple(calls),
    )


def _sentence(call: Call, form: ReplyForm, arrived: tuple[bool, bool]) -> str:
    lost = [end for end, came in zip(("beginning", "end"), arrived, strict=True) if not came]
    if lost:
        return f"The model answers, but the {' and the '.join(lost)} of a long prompt did not reach it."
    cost = "an unknown price" if call.bill_usd is None else f"{call.bill_usd:.4f} US dollars"
    return f"The model answers in {call.latency_s or 0:.1f} s and {_FORMS[form]}; this call cost {cost}."
