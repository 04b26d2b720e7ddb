"""The reply rule of ResearcherBench's published evaluator: the beginning of a reply, otherwise its letters.

The paper asks for a reply that begins with yes or no (appendix E.3). What happens to any other reply is in the
evaluator that is published with it (its `code/rubric_eval/evaluator.py`): “yes” anywhere in the reply counts as
covered, also within a word; without it, and when the call failed, the criterion counts as not covered. This is kept
here to show what the rule does. No score of ours goes by it.
"""

import re
from enum import StrEnum

from annotator.domain.judges.judgement import NO, YES
from annotator.domain.judges.published import OtherRule, RuleReading

# After yes or no at the beginning only these two count as its end: “No, …” is not a beginning.
_ENDS = (":", " ")
_LONGEST_WORD = 40


class RulePart(StrEnum):
    """The part of the rule by which a reply was read."""

    BEGINNING = "it begins so"
    YES_INSIDE = "it holds the letters y-e-s"
    NO_INSIDE = "it holds the letters n-o and nowhere y-e-s"
    NEITHER = "it holds neither, which counts as not covered"
    FAILED = "the call failed, which counts as not covered"


def read(reply: str | None) -> RuleReading:
    """b_i as the published evaluator finds it; None stands for a call that brought no reply.

    A word that merely holds the letters is shown with them set apart: Ba-yes-ian.
    """
    if reply is None:
        return RuleReading(NO, RulePart.FAILED)
    text = reply.strip()
    start = reply.index(text) if text else 0
    for word in (YES, NO):
        if text.lower().startswith(tuple(word + end for end in _ENDS)):
            return RuleReading(word, RulePart.BEGINNING, text[: len(word)], start)
    for word, how in ((YES, RulePart.YES_INSIDE), (NO, RulePart.NO_INSIDE)):
        found = re.search(word, reply, re.IGNORECASE | re.ASCII)
        if found:
            return RuleReading(word, how, _set_apart(reply, *found.span()), found.start())
    return RuleReading(NO, RulePart.NEITHER)


def _set_apart(reply: str, start: int, end: int) -> str:
    """The word around some letters, with hyphens where they begin and end within it; a very long one is cut."""
    before = re.search(r"\w*\Z", reply[max(0, start - _LONGEST_WORD) : start])
    after = re.match(r"\w*", reply[end : end + _LONGEST_WORD])
    parts = (before[0] if before else "", reply[start:end], after[0] if after else "")
    return "-".join(part for part in parts if part)


PUBLIC_RULE = OtherRule(
    citation="ResearcherBench, appendix E.3, and its published evaluator",
    read=read,
    failed="a call that failed counts as not covered",
    plain_text=True,
)
