"""Why a judge's verdict is not accepted, each with its key and in few words, and the answers that ask for it."""

from dataclasses import dataclass

from annotator.domain.judges.informed import Fault, Review, Ruling

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
# A key held down says one of these of one verdict, not of one after the other.
ONCE = (*ACTS, *(act for act, _, _ in FAULTS))


@dataclass(frozen=True, slots=True)
class Answer:
    """What can be said of a verdict: its value, its words, its icon and colour, whether it asks why, and a hint."""

    value: str
    words: str
    icon: str
    state: str
    asks: bool = False
    hint: str = ""


RULINGS = (
    Answer(Ruling.JUDGE_WRONG, "Judge wrong", "judges", "disagree", True, "The person's label is right"),
    Answer(Ruling.PERSON_WRONG, "Person wrong", "annotator", "unconfirmed", False, "The judge's verdict is right"),
    Answer(
        Ruling.UNCLEAR, "Criterion unclear", "question", "incomplete", False,
        "Both can be right: the criterion needs rewording",
    ),
)  # fmt: skip
REVIEWS = (
    Answer(Review.AGREE, "Agree", "check", "agreed", False, "The verdict is right"),
    Answer(Review.DISAGREE, "Disagree", "cross", "disagree", True, "The verdict is wrong"),
    Answer(Review.UNSURE, "Unsure", "question", "unconfirmed", False, "Cannot tell"),
)
