"""What the guideline objects to in a task (Arena, task generation)."""

from collections.abc import Iterator

from annotator.domain.lint.finding import Finding, warning
from annotator.domain.lint.wording import english, phrases
from annotator.domain.texts.words import unspaced, word_count

MOST_WORDS = 100
_SEMINAR = phrases(r"(?:the|this|our) (?:seminar|lecture|talk|transcript|webinar|speakers?|presenters?)")
_DELIVERABLE = phrases(
    r"deliver\w*|reports?|proposals?|protocols?|prototypes?|designs?|frameworks?|models?|algorithms?|datasets?|reviews?|"
    r"surveys?|plans?|pipelines?|taxonom\w+|roadmaps?|briefs?|papers?|essays?|tables?|diagrams?|benchmarks?|codebases?|"
    r"implementations?|documents?|summar(?:y|ies)|analys[ei]s|checklists?|guidelines?|matri(?:x|ces)|maps?|lists?|tools?"
)


def lint_task(text: str, language: str = "en") -> list[Finding]:
    """Every remark on a task's text."""
    return list(_findings(text, english(language, [text])))


def _findings(text: str, in_english: bool) -> Iterator[Finding]:
    count = word_count(text)
    if count > MOST_WORDS * (2 if unspaced(text) else 1):
        yield warning("length", f"{count} words; the guideline allows {MOST_WORDS}.", "Say it shorter.")
    if not in_english:
        return
    if found := _SEMINAR.search(text):
        yield warning(
            "seminar", f"“{found.group()}” is unknown to the reader.", "Let the task stand on its own."
        )
    if text.strip() and not _DELIVERABLE.search(text):
        yield warning(
            "no-deliverable", "Nothing is to be handed in.", "Name the outcome: a report, a design, a plan …"
        )
