"""What things are called under each protocol: its tab, the units that are asked about, and the question itself."""

from dataclasses import dataclass

from annotator.domain.texts.counting import counted


@dataclass(frozen=True, slots=True)
class Words:
    """`tab` names the protocol, `one` and `many` its units; `ask` is the question where units have no words.

    `done` names what a line of the queue is, `over` stands over the units, `needs` says what an
    item lacks that nothing is asked about.
    """

    tab: str
    about: str
    one: str
    many: str
    ask: str = ""
    done: str = "report"
    over: str = ""
    needs: str = "Choose another kind of question above."

    @property
    def title(self) -> str:
        """The heading over the units."""
        return self.over or self.ask or self.many.capitalize()

    def counted(self, number: int) -> str:
        """So many units, in words."""
        return counted(number, self.one, self.many)


WORDS: dict[str, Words] = {
    "researcherbench.coverage": Words(
        "Criteria", "Does the report meet each criterion? (ResearcherBench)", "criterion", "criteria",
        needs="It needs a report and a submitted rubric.",
    ),
    "researcherbench.claims": Words(
        "Claims", "Does the cited page bear each claim out? (ResearcherBench)", "claim", "claims"
    ),
    "researcherbench.pairwise": Words(
        "Better of two", "Which of two reports is better? (ResearcherBench)", "pair", "pairs",
        "Which report would help a researcher in the field more?", "pair",
    ),
    "adra.plan": Words(
        "Plans", "Does each predicted sub-task do the work of a gold one? (ADRA)", "cell", "cells",
        over="Plan against gold plan",
    ),
    "adra.reasoning": Words(
        "Statements", "Going by the report alone, is each statement true? (ADRA)", "statement", "statements"
    ),
    "adra.preference": Words(
        "Preferred of two", "Which of two reports do you prefer? (ADRA)", "pair", "pairs",
        "Which report do you prefer?", "pair",
    ),
}  # fmt: skip
