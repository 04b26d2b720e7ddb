"""Ranking tasks: which of two is the better research task (DeepResearch Arena, equations 1–3 and appendix D)."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from annotator.domain.common import Refusal
from annotator.domain.judges.contest import FIRST, SCORES_DISAGREE, SECOND, checked_confidence
from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import PAIR, Ask, Case, Protocol, Verdicts
from annotator.domain.texts.words import term_counts
from annotator.protocols.several import ModelReply, Word, of_one

PROMPT = "arena.ranking"
# The maximum words of a task, and the baseline's confidence.
WORDS, SURE = 100, 0.55

DEPARTURES = (
    "Each pair is asked in both orders unless one is chosen, and C is (C_ab + 1 − C_ba) / 2, so that the two together "
    "can turn the winner. The paper asks once.",
    "A confidence below .5 makes a reply invalid: it would reward the loser. The paper's prompt allows 0 to 1, its "
    "equation .5 to 1.",
    "The judge gives the five scores of each task and the means are computed; the paper has the model compute them. "
    "Where they disagree with the winner the match counts and is flagged.",
    "Weighed are the five dimensions of the prompt. The paper's text names originality, clarity and scientific "
    "relevance; appendix D also names clarity, specificity, feasibility and academic value.",
    "Who sits out where the number of tasks is odd is not said; nobody does twice running.",
    "Beside Elo ratings stand Bradley–Terry strengths with a weak prior, which count a match as won, lost or left open "
    "and take no confidence, intervals over pairs for tasks with five independent matches or more, the chance to be "
    "among the best and whether that is certain; they are not the paper's.",
)

Score = Annotated[int, Field(ge=1, le=5)]


class TaskScores(ModelReply):
    """The five scores of a task, from 1 to 5."""

    clarity: Score
    actionability: Score
    novelty: Score
    depth_fit: Score
    consistency: Score

    @property
    def overall(self) -> float:
        """Their mean with two decimals."""
        given = (self.clarity, self.actionability, self.novelty, self.depth_fit, self.consistency)
        return round(sum(given) / len(given), 2)


class TaskPreference(ModelReply):
    """What a judge replies about two tasks; the scores come before the choice."""

    first: TaskScores = Field(description="The five scores of the first task")
    second: TaskScores = Field(description="The five scores of the second task")
    reason: str = Field(description="What decided it, in at most 40 words")
    better: Annotated[Literal["first", "second"], Word] = Field(description="Which task is better")
    confidence: float = Field(description="How sure you are of it, from 0.5 to 1")

    @field_validator("confidence")
    @classmethod
    def _between(cls, value: float) -> float:
        try:
            return checked_confidence(value)
        except Refusal as refusal:
            raise ValueError(str(refusal)) from None

    @property
    def agrees(self) -> bool:
        """Whether the task with the higher mean is the better one; equal means agree with either."""
        apart = self.first.overall - self.second.overall
        return not apart or (apart > 0) == (self.better == FIRST)


def preference_words(better: str, confidence: float) -> str:
    return f"{better} {confidence:g}"


def read(value: str) -> tuple[str, float]:
    better, _, sure = value.partition(" ")
    return better, float(sure)


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Both tasks are shown with their difficulty and nothing else; ValueError for a case without a second one."""
    if case.other is None:
        raise ValueError("a comparison needs a second task")
    fields = {"first": case.response.text, "second": case.other.text}
    return of_one(case, await ask(PROMPT, fields, TaskPreference, fenced=("first", "second")), _verdict)


def _verdict(reply: TaskPreference, _case: Case, flags: tuple[str, ...]) -> Verdict:
    flags = flags if reply.agrees else (*flags, SCORES_DISAGREE)
    return Verdict(
        value=preference_words(reply.better, reply.confidence), rationale=reply.reason, flags=" ".join(flags)
    )


def baseline(case: Case) -> Verdicts:
    """The task with more distinct words is better, unless it has too many in all; with low confidence."""
    if case.other is None:
        raise ValueError("a comparison needs a second task")
    first, second = _richness(case.response.text), _richness(case.other.text)
    rationale = f"baseline: {first} against {second} different words"
    better, sure = (FIRST if first >= second else SECOND), (0.5 if first == second else SURE)
    return {case.unit.id: Verdict(value=preference_words(better, sure), rationale=rationale)}


def _richness(text: str) -> int:
    return len(term_counts(text)) if len(text.split()) <= WORDS else 0


RANKING = Protocol(
    name="contest",
    title="Contest of tasks",
    citation="DeepResearch Arena, equations 1–3 and appendix D",
    needs=(),
    metrics=(),
    scale=PAIR,
    judge=judge,
    baseline=baseline,
    floor="Of two tasks it prefers the one with more different words, and understands neither.",
    prompts=(PROMPT,),
    departures=DEPARTURES,
)
