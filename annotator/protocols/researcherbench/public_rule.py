"""The reply rule of ResearcherBench's published evaluator: the beginning of a reply, otherwise its letters.

The paper asks for a reply that begins with yes or no (appendix E.3). What happens to any other reply is in the
evaluator that is published with it (its `code/rubric_eval/evaluator.py`): “yes” anywhere in the reply counts as
covered, also within a word; without it, and when the call failed, the criterion counts as not covered. This is kept
here to show what the rule does. No score of ours goes by it unless it is chosen.
"""

import re

from annotator.domain.judges.judgement import NO, YES
from annotator.domain.judges.published import OtherRule


def read(reply: str | None) -> str:
    """b_i as the published evaluator finds it; None stands for a call that brought no reply."""
    text = (reply or "").strip().lower()
    for word in (YES, NO):
        # Only these two count as its end: “No, …” is not a beginning.
        if text.startswith((f"{word}:", f"{word} ")):
            return word
    return YES if re.search(YES, reply or "", re.IGNORECASE | re.ASCII) else NO


PUBLIC_RULE = OtherRule(
    citation="ResearcherBench, appendix E.3, and its published evaluator",
    read=read,
    failed="a call that failed counts as not covered",
)
