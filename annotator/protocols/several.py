"""What a judge's reply on one unit or several of a case comes to, and how those of several are separated."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Answer, Ask, Case, Verdicts, missing_verdicts
from annotator.domain.kinds.artifact import Unit
from annotator.protocols.replies import ModelReply, QuotingReply

# The verdict that the reply on one unit of a case comes to, with the flags of the call.
Read = Callable[[Any, Case, tuple[str, ...]], Verdict]
# What stands before a unit's name in a prompt.
ID = "id: "


def of_empty(case: Case, value: str) -> dict[str, Verdict]:
    """Of an empty report every unit's verdict, which nobody need be asked for; empty for any other report."""
    if case.response.text.strip():
        return {}
    return {unit.id: Verdict(value=value, rationale="The report is empty.") for unit in case.units}


def of_one(case: Case, answer: Answer, read: Read) -> Verdicts:
    """The verdict on the only unit of a case; a missing one, with its cause, where no reply came."""
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    return {case.unit.id: read(answer.reply, case, answer.flags)}


def by_id(units: Sequence[Unit]) -> dict[str, Unit]:
    """The units by the ids they have."""
    return {unit.id: unit for unit in units}


def by_letter(units: Sequence[Unit], letter: str) -> dict[str, Unit]:
    """The units by short names for one call: an id of 36 characters costs tokens and is copied wrongly."""
    return {f"{letter}{number}": unit for number, unit in enumerate(units, start=1)}


def listed(names: Mapping[str, Unit]) -> str:
    """A line for each unit: its name and its words."""
    return "\n".join(f"{name}: {' '.join(unit.text.split())}" for name, unit in names.items())


def numbered(texts: Iterable[str]) -> str:
    """A line for each text, behind its number."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def of_several(case: Case, names: Mapping[str, Unit], answer: Answer, read: Read) -> Verdicts:
    """A verdict of each unit that is named exactly once; of the others an invalid one, with its cause.

    The reply's `answers` each have the `id` of a unit in the call; none is matched by its place or by similarity.
    """
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    said = answer.reply.answers
    beside = " It answers for what was not asked." if {one.id for one in said} - set(names) else ""
    found = {}
    for name, unit in names.items():
        own = [one for one in said if one.id == name]
        if len(own) == 1:
            found[unit.id] = read(own[0], case, answer.flags)
            continue
        cause = "The reply answers this more than once." if own else "The reply leaves this out."
        found[unit.id] = Verdict(status=Status.INVALID, cause=cause + beside, flags=" ".join(answer.flags))
    return found


def question(case: Case) -> dict[str, str]:
    """The item's question, as a prompt shows it."""
    return {"question": case.item.question}


@dataclass(frozen=True, slots=True)
class UnitQuestion:
    """What a judge is asked about the units of a report, one in a call or several together."""

    prompts: tuple[str, str]
    """Of one unit, and of several; so are `replies` and `names`."""
    replies: tuple[type[QuotingReply], type[ModelReply]]
    names: tuple[str, str]
    """The field of the prompt in which they are shown."""
    shown: Callable[[Case], dict[str, str]] = question
    """What is shown beside them and the report."""
    fenced: tuple[str, ...] = ()
    """The fields that hold foreign text; all of them where none is named."""
    letter: str = ""
    """Several have short names of this letter and a number in their call; without it they have their ids."""
    empty: str = ""
    """The value of each unit of an empty report, about which nothing is asked."""
    words: Callable[[Case, Unit], str] = lambda _, unit: unit.text

    async def judge(self, case: Case, ask: Ask) -> Verdicts:
        if self.empty and (empty := of_empty(case, self.empty)):
            return empty
        answer = await self._answer(case, ask, 0, self.words(case, case.unit))
        return of_one(case, answer, _as_verdict)

    async def judge_together(self, case: Case, ask: Ask) -> Verdicts:
        """Several units in one call, in the order of the case; what is answered on each is known by its name alone."""
        if self.empty and (empty := of_empty(case, self.empty)):
            return empty
        names = by_letter(case.units, self.letter) if self.letter else by_id(case.units)
        described = (f"{ID}{name}\n{self.words(case, unit)}" for name, unit in names.items())
        words = listed(names) if self.letter else "\n\n".join(described)
        return of_several(case, names, await self._answer(case, ask, 1, words), _as_verdict)

    def _answer(self, case: Case, ask: Ask, number: int, words: str) -> Awaitable[Answer]:
        fields = {**self.shown(case), self.names[number]: words, "report": case.response.text}
        return ask(self.prompts[number], fields, self.replies[number], fenced=self.fenced or tuple(fields))


def _as_verdict(reply: Any, case: Case, flags: tuple[str, ...]) -> Verdict:
    verdict: Verdict = reply.as_verdict(case, flags)
    return verdict
