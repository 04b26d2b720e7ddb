"""What each kind of artifact is called on the page, and the sentence that explains it to a newcomer."""

from dataclasses import dataclass

from annotator.domain.kinds.artifact import Kind


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one kind: its title, its unit's name, what it is, and what to write in an empty field."""

    title: str
    unit: str
    units: str
    what: str
    prompt: str

    def counted(self, number: int) -> str:
        """“1 criterion”, “12 criteria”."""
        return f"{number} {self.unit if number == 1 else self.units}"


# In the order in which the papers let experts write them.
WORDS: dict[Kind, Words] = {
    Kind.QUERY: Words(
        "Query",
        "wording",
        "wordings",
        "The query is the question as you would put it to a deep-research system: open-ended, and answerable "
        "without the source in hand.",
        "Ask the question as you would ask a well-read colleague.",
    ),
    Kind.INSIGHTS: Words(
        "Insights",
        "insight",
        "insights",
        "Key insights are what you draw from the source before writing criteria: what a reader must come away with.",
        "One thing a reader must come away with.",
    ),
    Kind.PLAN: Words(
        "Plan",
        "sub-task",
        "sub-tasks",
        "A gold plan is the list of sub-tasks, in order, that lead from the motivation to the conclusion of a "
        "good report.",
        "One sub-task, as a full sentence of 8 to 20 words.",
    ),
    Kind.EVIDENCE: Words(
        "Evidence",
        "reference",
        "references",
        "Gold evidence is the list of works that a good report must find.",
        "Title of the work",
    ),
    Kind.DIAGNOSTICS: Words(
        "Diagnostics",
        "statement",
        "statements",
        "Diagnostics are statements about the source, each true or false, that show whether a report has "
        "understood it.",
        "A declarative sentence that the source supports or contradicts.",
    ),
    Kind.RUBRIC: Words(
        "Rubric",
        "criterion",
        "criteria",
        "A rubric lists the criteria that a good report meets, each weighted 1 (nice to have), 2 (supporting) "
        "or 3 (core).",
        "One claim that a report meets or does not: explains …, compares …, identifies …",
    ),
    Kind.CHECKLIST: Words(
        "Checklist",
        "point",
        "points",
        "A checklist names 3 to 6 points on which a report is rated from 0 to 10; their shares sum to 1.",
        "One point on which a report is rated.",
    ),
    Kind.NUGGETS: Words(
        "Nuggets",
        "nugget",
        "nuggets",
        "Nuggets are the facts that a good text holds, each vital or merely okay.",
        "One fact, in a sentence that stands by itself.",
    ),
    Kind.SELECTION: Words(
        "Selection",
        "dimension",
        "dimensions",
        "Selection rates how well the question suits the benchmark, from 1 (poor) to 5 (excellent) on each dimension.",
        "",
    ),
}
