"""Which parameters are sent, and which are given up."""

import pytest

from annotator.domain.judges.judge import Judge
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.outcome import CallOutcome, CallTrouble
from annotator.judging.calls.parameters import Learned, of_judge, rejected_part

SENT = {"temperature": 0, "max_tokens": 50, "response_format": {"type": "json_object"}}


def rejected(message: str, parameter: str = "", trouble: CallTrouble = CallTrouble.REJECTED) -> str | None:
    return rejected_part(CallOutcome(trouble, message=message, parameter=parameter), SENT)


def test_a_judge_that_sets_nothing_sends_nothing() -> None:
    assert of_judge(Judge(id="j", name="j")) == {}
    assert of_judge(Judge(id="j", name="j", parameters='{"temperature": 0}')) == {"temperature": 0}


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{",
        '"x"',
        '{"seed": 99999999999999999999}',
        '{"user": "\\ud800"}',
        '{"temperature": NaN}',
        '{"stream": true}',
        '{"model": "m"}',
    ],
)
def test_parameters_the_program_cannot_send_are_refused(text: str) -> None:
    with pytest.raises(Refusal):
        of_judge(Judge(id="j", name="j", parameters=text))


def test_the_rejected_parameter_is_the_one_the_server_names() -> None:
    assert rejected("x", "temperature") == "temperature"
    assert rejected("Unsupported value: 'temperature' does not support 0") == "temperature"
    assert rejected("x", "response_format.json_schema") == "response_format"
    assert rejected("This model does not support structured outputs") == "response_format"
    assert rejected("'max_tokens' is too large", "max_tokens", CallTrouble.TOO_LONG) == "max_tokens"


def test_a_rejection_that_names_nothing_we_sent_names_nothing() -> None:
    assert rejected("Bad request") is None
    assert rejected("x", "messages") is None
    assert rejected("unknown field top_p") is None
    assert rejected("temperature sensor failed", "", CallTrouble.SERVER) is None
    assert rejected("temperature", "", CallTrouble.RATE) is None


def test_what_was_rejected_once_is_not_sent_again() -> None:
    learned = Learned()
    learned.reject("temperature", "not supported")
    assert learned.fit({"temperature": 0, "seed": 1}) == {"seed": 1}


def test_a_token_cap_takes_the_name_the_server_asks_for_and_no_third() -> None:
    learned = Learned()
    learned.reject("max_tokens", "Use 'max_completion_tokens' instead.")
    assert learned.fit({"max_tokens": 50}) == {"max_completion_tokens": 50}
    learned.reject("max_completion_tokens", "Use max_tokens instead.")
    assert learned.fit({"max_tokens": 50}) == {}
