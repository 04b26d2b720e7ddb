"""Reasons for rejecting a judge's verdict, with their keys."""

from dataclasses import dataclass

from annotator.domain.judges.informed import Fault, InformedRuling, Review
from annotator.gui.review.kind_row import OF_VERDICT

FAULTS: tuple[tuple[str, Fault, str], ...] = (
    ("fault_missed", Fault.MISSED, "missed it"),
    ("fault_invented", Fault.INVENTED, "made it up"),
    ("fault_quote", Fault.QUOTE, "quote is no evidence"),
    ("fault_criterion", Fault.CRITERION, "misread the criterion"),
    ("fault_strict", Fault.STRICT, "too strict"),
    ("fault_lenient", Fault.LENIENT, "too lenient"),
    ("fault_other", Fault.OTHER, "other"),
)
# The acts of the key table whose keys answer, in the order of the answers.
ACTS = ("say_first", "say_second", "say_third")
# Whoever reviews is unsure by the key that says so everywhere.
REVIEW_ACTS = (*ACTS[:2], "unsure")
# A key held down says one of these of one verdict, not of one after the other.
ONCE = (*ACTS, *REVIEW_ACTS, *OF_VERDICT, *(act for act, _, _ in FAULTS))


@dataclass(frozen=True, slots=True)
class VerdictAnswer:
    """A possible answer: value, words, icon, colour, whether it needs a reason, and a hint."""

    value: str
    words: str
    icon: str
    state: str
    asks: bool = False
    hint: str = ""


RULINGS = (
    VerdictAnswer(InformedRuling.JUDGE_WRONG, "Judge wrong", "judges", "disagree", True, "The person's label is right"),
    VerdictAnswer(
        InformedRuling.PERSON_WRONG, "Person wrong", "annotator", "unconfirmed", False,
        "The judge's verdict is right",
    ),
    VerdictAnswer(
        InformedRuling.UNCLEAR, "Criterion unclear", "question", "incomplete", False,
        "Both can be right: the criterion needs rewording",
    ),
)  # fmt: skip
REVIEWS = (
    VerdictAnswer(Review.AGREE, "Agree", "check", "agreed", False, "The verdict is right"),
    VerdictAnswer(Review.DISAGREE, "Disagree", "cross", "disagree", True, "The verdict is wrong"),
    VerdictAnswer(Review.UNSURE, "Unsure", "question", "unconfirmed", False, "Cannot tell"),
)
