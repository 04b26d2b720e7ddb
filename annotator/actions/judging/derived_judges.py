"""What judge carries out an order: the one that is named, or one made from it that is asked several units together."""

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import Order
from annotator.domain.judges.judge import Asking, Judge, JudgeKind
from annotator.domain.texts.identity import derived_id
from annotator.domain.texts.refusal import Refusal

_ROOM_FOR_A_NAME = 100


def asked(project: Project, order: Order) -> Judge:
    """The judge of an order; Refusal where it cannot be asked that way. It need not be in the file yet."""
    judge = judges.named(project, order.judge)
    if judge.kind != JudgeKind.ENDPOINT and (order.together > 1 or order.trials > 1):
        raise Refusal(
            f"“{judge.name}” asks no model: it says the same every time, of every unit by itself.",
            "Choose a judge with an endpoint.",
        )
    if order.together in (1, judge.asked.together):
        return judge
    if judge.asked.of:
        raise Refusal(
            f"“{judge.name}” is asked {judge.asked.together} together.",
            "Order from the judge that it was made from.",
        )
    return together(judge, order.together)


def together(judge: Judge, units: int) -> Judge:
    """The same model asked so many units in one call: a judge of its own, so that the two can be compared."""
    asking = judge.asked.model_copy(update={"together": units, "of": judge.id})
    return Judge(
        **judge.model_dump(exclude={"id", "name", "asking"}),
        id=derived_id("judge", judge.id, "together", units),
        name=f"{judge.name[:_ROOM_FOR_A_NAME]}, {units} together",
        asking=Asking.model_dump_json(asking, exclude_defaults=True),
    )
