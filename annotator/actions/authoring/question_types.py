"""The project's question types, with the dimensions they are rated on: those of the selection's guideline."""

from annotator.actions.authoring import guidelines
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds import question_types
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal


def types(project: Project) -> tuple[QuestionType, ...]:
    """The types of the guideline in force; those that the program ships where it names none."""
    return question_types.read(guidelines.text_in_force(project, Stage.SELECTION)) or shipped()


def shipped() -> tuple[QuestionType, ...]:
    return question_types.read(guidelines.shipped(Stage.SELECTION))


def bar(project: Project) -> float:
    return question_types.bar_of(guidelines.text_in_force(project, Stage.SELECTION))


def set_bar(project: Project, words: str) -> Change:
    """Keep questions at another mean from now on, as the next version of the guideline; Refusal for no such mean."""
    try:
        text = question_types.with_bar(guidelines.text_in_force(project, Stage.SELECTION), words)
    except ValueError:
        raise Refusal(f"“{words}” is no bar for means of 1 to 5.", "Give a number such as 4.5.") from None
    return guidelines.write(project, Stage.SELECTION, text)
