"""Request parameters: the judge's settings without those that its endpoint has rejected."""

import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, NoReturn

from annotator.domain.judges.judge import Judge
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.outcome import CallOutcome, CallTrouble
from annotator.judging.prompts.messages import Messages

CAPS = ("max_completion_tokens", "max_tokens")
FORMAT = "response_format"
# How a server wants to be asked, beside the parameters: remembered among what it has turned down.
SYSTEM, AT_ONCE = "system role", "replies in one piece"
_STREAM = {"stream": True, "stream_options": {"include_usage": True}}
_REFUSING = r"(?=.*(?:not|n't|unsupported|invalid|unknown|only|must|should|expect|requires?|enable))"
_MANNERS = {
    SYSTEM: re.compile(
        _REFUSING
        + r".*(?:\bsystem\b.{0,60}\b(?:role|message|prompt|instruction)s?\b|\brole\b.{0,80}\bsystem\b"
        r"|developer instruction|\broles? must alternate|\broles?\b.{0,80}\buser\W"
        r"|\buser\W{1,3}(?:and |or )?\W?assistant\b.{0,40}\broles?\b)",
        re.IGNORECASE | re.DOTALL,
    ),
    AT_ONCE: re.compile(_REFUSING + r".*\b(?:non-?)?stream(?:ing|ed)?\b", re.IGNORECASE | re.DOTALL),
}
_OURS = {"model", "messages", "stream", "n", "tools", "tool_choice", "functions", FORMAT}
_FORMAT_WORDS = re.compile(
    r"response_?format|json_?schema|json_?object|structured[ _]outputs?|\bgrammar\b|guided", re.IGNORECASE
)


def of_judge(judge: Judge) -> dict[str, Any]:
    """A judge's request parameters; Refusal unless they are a JSON object free of what the program sets itself."""
    try:
        parameters = json.loads(judge.parameters or "{}", parse_constant=_no_constant)
        canonical_json(parameters)
    except (ValueError, TypeError, RecursionError):
        # No JSON, or none that can be written again: numbers of more than 64 bits, halves of surrogate pairs.
        parameters = None
    if not isinstance(parameters, dict):
        raise Refusal(
            f"The parameters of the judge {judge.name} are not a JSON object.",
            'Write them like {"temperature": 0}.',
        )
    ours = sorted(_OURS & set(parameters))
    if ours:
        raise Refusal(
            f"The judge {judge.name} sets {', '.join(ours)}.", "Remove it: the program sets it itself."
        )
    return parameters


def cap_of(parameters: Mapping[str, Any]) -> int | None:
    """The most tokens that a reply may have by these parameters; None where they set no cap."""
    caps = [parameters[cap] for cap in CAPS if cap in parameters]
    return max(caps) if caps and all(type(cap) is int for cap in caps) else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def rejected_part(outcome: CallOutcome, sent: Mapping[str, Any]) -> str | None:
    """The name of the parameter a rejection is about, `response_format` among them; None when it names none."""
    if outcome.trouble not in (CallTrouble.REJECTED, CallTrouble.TOO_LONG, CallTrouble.SERVER):
        return None
    names = [name for name in sent if name not in ("model", "messages")]
    top = re.split(r"[.\[]", outcome.parameter)[0]
    if top in names:
        return top
    if outcome.trouble is CallTrouble.TOO_LONG:
        return None
    if FORMAT in names and _FORMAT_WORDS.search(f"{outcome.parameter} {outcome.message}"):
        return FORMAT
    if outcome.trouble is not CallTrouble.REJECTED:
        return None
    return next((name for name in names if re.search(rf"\b{re.escape(name)}\b", outcome.message)), None)


@dataclass
class Learned:
    """What one endpoint and model have turned down; shared by all calls to them.

    `dropped` holds names of parameters, and SYSTEM or AT_ONCE where they are asked in another manner.
    """

    dropped: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)

    def arranged(self, messages: Messages) -> Messages:
        """The messages in the roles that the server takes: without its own, the system's text begins the user's."""
        if SYSTEM not in self.dropped or messages[0]["role"] != "system":
            return messages
        first, second, *rest = messages
        return [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest]

    def other_manner(self, outcome: CallOutcome, dropped: Set[str]) -> bool:
        """Learn of a rejection that is about the manner of asking; whether there is another manner to try.

        `dropped` is what had been dropped when the request was made: others under way may have learned the same since.
        """
        if outcome.trouble is not CallTrouble.REJECTED and outcome.http not in (500, 501):
            return False
        words = f"{outcome.parameter} {outcome.message}"
        found = [name for name, form in _MANNERS.items() if name not in dropped and form.match(words)][:1]
        self.dropped.update(found)
        return bool(found)

    def fit(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters worth sending."""
        parameters = {**parameters, **(_STREAM if AT_ONCE in self.dropped else {})}
        fitted = {self.renamed.get(name, name): value for name, value in parameters.items()}
        return {name: value for name, value in fitted.items() if name not in self.dropped}

    def reject(self, name: str, message: str) -> None:
        """Remember a parameter that was turned down; a token cap takes its other name if the server names it."""
        other = next((cap for cap in CAPS if cap != name), "") if name in CAPS else ""
        given_up = other in self.dropped or name in self.renamed.values()
        if other and not given_up and re.search(rf"\b{other}\b", message):
            self.renamed[name] = other
        else:
            self.dropped.add(name)
