"""Qt model of answers given under an older guideline."""

from collections.abc import Mapping, Sequence

from annotator.actions.authoring.guidelines import StaleAnswer
from annotator.domain.kinds.artifact import State
from annotator.gui.tables.cells import Column

LOOKS = {State.DRAFT: ("clock", "state-incomplete"), State.SEALED: ("lock", "state-unconfirmed")}
_, WHOSE, _, THEN, NOW = range(5)


def columns(names: Mapping[str, str]) -> Sequence[Column[StaleAnswer]]:
    """What is shown of each answer; `names` by the id of the person."""
    return (
        Column("Item", lambda answer: answer.item_key, 90),
        Column("Whose", lambda answer: names.get(answer.person_id, ""), 220),
        Column(
            "State",
            lambda answer: "submitted" if answer.state is State.SEALED else answer.state.value,
            130,
            look=lambda answer: LOOKS.get(answer.state),
        ),
        Column("Given under", lambda answer: _version(answer, answer.then, answer.form_then), 170),
        Column("Current version", lambda answer: _version(answer, answer.now, answer.form_now), 170),
    )


def _version(answer: StaleAnswer, text: str, form: str) -> str:
    return f"version {text}, form {form}" if answer.form_then != answer.form_now else f"version {text}"
