"""A tiny extraction: every line of a report is a step of its plan; a model is asked once for each line."""

from pydantic import BaseModel, ConfigDict

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ResponsePart

# Any prompt that is shipped will do.
PROMPT = "researcherbench.coverage"


class Step(BaseModel):
    """What the model of these tests replies."""

    model_config = ConfigDict(extra="forbid")
    step: str


def lines(material: Material) -> list[str]:
    return [line for line in material.response.text.splitlines() if line.strip()]


async def extract(material: Material, ask: Ask) -> Extracted:
    steps = []
    for line in lines(material):
        answer = await ask(
            PROMPT,
            {"question": material.response.id, "criterion": line, "report": line},
            Step,
            fenced=("report",),
        )
        if answer.status is not Status.OK:
            return Extracted(None, answer.status, answer.cause, answer.flags)
        steps.append(Subtask(text=answer.reply.step))
    return Extracted(Plan(units=tuple(steps)), flags=("noted",))


def baseline(material: Material) -> Extracted:
    return Extracted(Plan(units=tuple(Subtask(text=line) for line in lines(material))))


TINY_PLAN = Extraction(
    name="tiny.plan",
    title="Steps",
    citation="",
    makes=ResponsePart.PLAN,
    prompts=(),
    extract=extract,
    baseline=baseline,
)
