"""How reports are asked for: gold given, prompts, cut-off and mode, all in the name under which a run is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any

from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.response import CONTINUATION, END_TO_END, INJECTION, ISOLATED, spelled
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import reports
from annotator.protocols.lent import continuations, reference_system
from annotator.protocols.reports import CONDITIONS, Condition

__all__ = [
    "CONDITIONS",
    "MANNERS",
    "MODES",
    "PREFIX",
    "RESEARCH",
    "ResearchSettings",
    "ResponseSettings",
    "protocol_name",
    "research_name",
    "settings_of",
]

SystemSettings = reference_system.SystemSettings
ORACLES = reference_system.ORACLES
_USUAL = SystemSettings()
# As much as a run's name may have, and a mode.
LONGEST_NAME, LONGEST_MODE = 80, 40


@dataclass(frozen=True, slots=True)
class ResponseSettings:
    """How reports are asked for: which gold is given (`needs`), or whether the model plans first.

    `mode` is what they are filed under; the `condition` gives prompts and parameters, the `cutoff` the last day of
    publication to keep to.
    """

    mode: str
    needs: tuple[Kind, ...] = ()
    planned: bool = False
    condition: Condition = CONDITIONS[0]
    cutoff: date | None = None

    @property
    def continued(self) -> bool:
        """Whether no report is asked for, but how the first half of a task goes on."""
        return self.mode == CONTINUATION

    @property
    def prompts(self) -> tuple[str, ...]:
        """The prompts it takes."""
        if self.continued:
            return (continuations.PROMPT,)
        if Kind.EVIDENCE in self.needs:
            return (self.condition.prompt(reports.GROUNDED),)
        if self.needs:
            return (self.condition.prompt(reports.PLANNED),)
        if self.planned:
            return (reports.PLAN, self.condition.prompt(reports.PLANNED))
        return (self.condition.prompt(reports.REPORT),)


@dataclass(frozen=True, slots=True)
class ResearchSettings(ResponseSettings):
    """The same where the works that reports rest on are searched, or given, by a system of several steps."""

    system: SystemSettings = _USUAL

    @property
    def prompts(self) -> tuple[str, ...]:
        return self.system.prompts


PREFIX, RESEARCH = "respond.", "respond.research"
# By the name under which a run of it is kept.
MANNERS: dict[str, ResponseSettings] = {
    "respond.end-to-end": ResponseSettings(END_TO_END),
    "respond.end-to-end.planned": ResponseSettings(END_TO_END, planned=True),
    "respond.isolated": ResponseSettings(ISOLATED, (Kind.PLAN, Kind.EVIDENCE)),
    "respond.gold-plan-injection": ResponseSettings(INJECTION, (Kind.PLAN,)),
    "respond.continuation": ResponseSettings(
        CONTINUATION, condition=Condition("", "", parameters=continuations.PARAMETERS)
    ),
}
# As they are said on the command line.
MODES = {mode.replace(" ", "-"): mode for mode in (END_TO_END, ISOLATED, INJECTION, CONTINUATION)}
_BETWEEN, _CONDITION, _UNTIL, _FILED = "|", "by=", "until=", "as="


def protocol_name(
    mode: str = END_TO_END,
    *,
    planned: bool = False,
    condition: str = "",
    cutoff: str = "",
    filed_as: str = "",
) -> str:
    """The name of the manner in which an order asks for reports; Refusal for a mode or condition there is not."""
    wanted = spelled(mode)
    if wanted not in MODES.values():
        raise Refusal(f"There is no mode “{mode}”.", f"Available: {', '.join(MODES)}.")
    if planned and wanted != END_TO_END:
        given = "there is no plan" if wanted == CONTINUATION else "the gold plan is given"
        raise Refusal(f"In the mode {wanted} {given}.", "Omit the separate plan.")
    if wanted == CONTINUATION and (filed_as or cutoff or condition not in ("", CONDITIONS[0].name)):
        raise Refusal(
            "A continuation is asked for in one way only.",
            "Omit the condition, the cut-off and the mode's name.",
        )
    name = next(name for name, one in MANNERS.items() if (one.mode, one.planned) == (wanted, planned))
    named = _BETWEEN.join([name, *_more(condition, cutoff.strip(), spelled(filed_as))])
    if len(named) > LONGEST_NAME:
        too_long = len(named) - LONGEST_NAME
        raise Refusal("The mode's name is too long.", f"Use {too_long} characters fewer.")
    return named


def _more(condition: str, cutoff: str, filed_as: str) -> Iterator[str]:
    if condition and _condition(condition) != CONDITIONS[0]:
        yield f"{_CONDITION}{condition}"
    if cutoff:
        try:
            yield f"{_UNTIL}{date.fromisoformat(cutoff).isoformat()}"
        except ValueError:
            raise Refusal(f"“{cutoff}” is not a day.", "Write it as 2025-03-24.") from None
    if filed_as:
        if len(filed_as) > LONGEST_MODE or _BETWEEN in filed_as:
            raise Refusal(
                f"“{filed_as}” cannot name a mode.", f"Use at most {LONGEST_MODE} characters, without |."
            )
        yield f"{_FILED}{filed_as}"


def research_name(**how: Any) -> str:
    """The name of the manner in which the system of several steps is asked; what is usual is left out.

    Refusal for an oracle there is not. Where one is, nothing is searched, and how does not matter.
    """
    oracle = how.get("oracle", "")
    if oracle and oracle not in ORACLES:
        raise Refusal(f"There is no oracle “{oracle}”.", f"Available: {', '.join(ORACLES)}.")
    system = SystemSettings(**how)
    if oracle:
        system = SystemSettings(oracle=oracle, words=system.words)
    told = {one.name: getattr(system, one.name) for one in fields(system)}
    changed = [f"{name}={value}" for name, value in told.items() if value != getattr(_USUAL, name)]
    return _BETWEEN.join([RESEARCH, *changed])


def _research(more: Sequence[str]) -> ResearchSettings:
    told = dict(part.split("=", 1) for part in more)
    oracle = told.pop("oracle", "")
    system = SystemSettings(oracle=oracle, **{name: int(value) for name, value in told.items()})
    return ResearchSettings(system.mode, (Kind.EVIDENCE,) if oracle else (), system=system)


def settings_of(name: str) -> ResponseSettings | None:
    """The manner of that name; None when it is none."""
    base, *more = name.split(_BETWEEN)
    if base == RESEARCH:
        return _research(more)
    if base not in MANNERS:
        return None
    found = MANNERS[base]
    for part in more:
        if part.startswith(_CONDITION):
            found = replace(found, condition=_condition(part.removeprefix(_CONDITION)))
        elif part.startswith(_UNTIL):
            found = replace(found, cutoff=date.fromisoformat(part.removeprefix(_UNTIL)))
        else:
            found = replace(found, mode=part.removeprefix(_FILED))
    return found


def _condition(name: str) -> Condition:
    found = next((one for one in CONDITIONS if one.name == name), None)
    if found is None:
        raise Refusal(
            f"There is no condition “{name}”.", f"Available: {', '.join(one.name for one in CONDITIONS)}."
        )
    return found
