"""Type and subject of a question, drafted with a reason from what the project says its types are.

ResearcherBench: a model classified the questions collected, and people reviewed what it said (§3.1, appendix B.2).
"""

from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.material.part import ItemClassification, ProposedType, WriterAid
from annotator.protocols.several import ModelReply, blocks

NAME = "researcherbench.classification"
NO_TYPES = "The project defines no question types."
NO_SUBJECTS = "There are none yet."

DEPARTURES = (
    "The paper does not print its prompt: this one is in our own words, with the project's own definitions of types.",
    "The subjects in use are shown to the model, so that one subject keeps one name; it may name another.",
    "Nothing is set before a person confirms it, item by item.",
)


class DrawnType(ModelReply):
    """How the model files a question: first why."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, in three lines that begin with REASON:, TYPE: and SUBJECT:, and nothing else."
    )
    reason: str = Field(min_length=1, max_length=2000, description="Why, in one or two sentences")
    question_type: str = Field(min_length=1, max_length=120, description="The name of the type")
    subject: str = Field(min_length=1, max_length=200, description="The subject, in one to four words")

    @classmethod
    def from_text(cls, text: str) -> Self:
        (values,) = blocks(text, reason="REASON", question_type="TYPE", subject="SUBJECT")
        return cls.model_validate(values)


async def extract(material: Material, ask: Ask) -> Extracted:
    """The type and the subject; unclear where the model names a type that the project does not have."""
    if not material.types:
        return Extracted(None, Status.SKIPPED, NO_TYPES)
    fields = {
        "question": material.item.question,
        "types": "\n".join(f"- {one.name}: {' '.join(one.definition.split())}" for one in material.types),
        "subjects": "\n".join(f"- {subject}" for subject in material.subjects) or NO_SUBJECTS,
    }
    answer = await ask(NAME, fields, DrawnType, fenced=("question", "types", "subjects"))
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    reply: DrawnType = answer.reply
    known = {one.name.casefold(): one.name for one in material.types}
    name = known.get(reply.question_type.strip().casefold())
    if name is None:
        cause = f"The model named “{reply.question_type.strip()}”, which is none of the project's types."
        return Extracted(None, Status.UNCLEAR, cause, answer.flags)
    unit = ProposedType(text=reply.reason.strip(), question_type=name, subject=reply.subject.strip())
    return Extracted(ItemClassification(units=(unit,)), flags=answer.flags)


CLASSIFICATION = Extraction(
    name=NAME,
    title="Type and subject of a question",
    citation="ResearcherBench, §3.1 and appendix B.2",
    makes=WriterAid.CLASSIFICATION,
    prompts=(NAME,),
    extract=extract,
    sources=False,
    departures=DEPARTURES,
)
