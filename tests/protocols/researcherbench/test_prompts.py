"""The prompts ask for what the replies hold, and tell nothing that a judge must not know."""

import re

import pytest

from annotator.judging.prompts.messages import load
from annotator.protocols.researcherbench.claims import CLAIMS, DrawnClaim
from annotator.protocols.researcherbench.coverage import PROMPTS as COVERAGE
from annotator.protocols.researcherbench.coverage import Coverage, CoverageOfOne
from annotator.protocols.researcherbench.factual import FACTUAL
from annotator.protocols.researcherbench.insights import INSIGHTS, REFERENCE, DrawnInsight, DrawnReference
from annotator.protocols.researcherbench.pairwise import PAIRWISE, Preference
from annotator.protocols.researcherbench.verification import Verified

ASKED = [
    (COVERAGE[0], Coverage, {"question", "criterion", "report"}),
    (COVERAGE[1], CoverageOfOne, {"question", "criteria", "report"}),
    *((name, DrawnClaim, {"question", "references", "section"}) for name in CLAIMS.prompts),
    *((name, Verified, {"claims", "extent", "page"}) for name in FACTUAL.prompts),
    *((name, Preference, {"question", "first", "second"}) for name in PAIRWISE.prompts),
    *((name, DrawnInsight, {"question", "extent", "focus", "sources"}) for name in INSIGHTS.prompts),
    *((name, DrawnReference, {"question", "extent", "insights", "sources"}) for name in REFERENCE.prompts),
]


@pytest.mark.parametrize(("name", "reply", "fields"), ASKED)
def test_a_prompt_names_every_field_of_its_reply_in_order(name, reply, fields):
    prompt = load(name)
    listed = [found for found in re.findall(r"^- (\w+): ", prompt.system, re.MULTILINE)]
    assert [found for found in listed if found in reply.model_fields] == list(reply.model_fields)
    assert prompt.placeholders == fields


@pytest.mark.parametrize(("name", "reply", "fields"), ASKED)
def test_a_prompt_says_nothing_of_weights_and_systems(name, reply, fields):
    prompt = load(name)
    assert not re.search(r"weight|model[ -]|OpenAI|assistant", prompt.system + prompt.user, re.IGNORECASE)


@pytest.mark.parametrize(("name", "reply", "fields"), ASKED)
def test_verdict_and_statement_come_after_the_evidence(name, reply, fields):
    order = list(reply.model_fields)
    evidence = next((field for field in order if field in ("quote", "context", "rationale")), None)
    decided = next((field for field in order if field in ("covered", "supported", "better", "text")), None)
    assert evidence is None or order.index(evidence) < order.index(decided)
