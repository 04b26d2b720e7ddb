"""What becomes of a batch when the provider, the network or the answers are not as they should be."""

from pathlib import Path
from typing import Any

import pytest

from annotator.domain.judges.judge import RunState, Status
from annotator.domain.texts.refusal import Refusal
from annotator.judging.batches.batch_results import QuestionFate
from annotator.judging.calls.reply_parts import UnreadableReply, reread
from tests.judging.batch_server import BatchServer, Results, Shelf, answered, batched, failed, values
from tests.judging.odd_server import KEY, NO_JSON, YES_JSON, Odd, Reply, at_work, completion, error

pytestmark = pytest.mark.anyio


def odd_lines(requests: list[dict[str, Any]]) -> Results:
    """Ten questions, of which the last but one alone is answered as it should be, and the first twice."""
    names = [request["custom_id"] for request in requests]
    output = [
        answered(names[0]),
        answered(names[0], completion(NO_JSON)),
        answered("0" * 56 + "-1"),
        answered(names[1], completion("Yes, I think so.")),
        answered(names[2], completion('{"reason": "lo', "length")),
        answered(names[3], completion(None, refusal="I will not.")),
        answered(names[4], error(400, "filtered", code="content_filter")),
        '{"custom_id": 7, "response": null}',
        answered(names[5])[:100],
        answered(names[9]),
    ]
    errors = [
        failed(names[0]),
        failed(names[6], "batch_expired"),
        failed(names[7]),
        failed(names[7]),
        answered(names[8], error(429, "slow down")),
    ]
    return Results(output, errors)


async def test_every_odd_line_has_its_outcome_and_every_question_one_fate(
    provider: BatchServer, folder: Path
) -> None:
    provider.work = odd_lines
    shelf = Shelf()
    result, ended, finished = await batched(provider, folder, shelf, cases=11)
    assert result.fates == {
        QuestionFate.ANSWERED: 1, QuestionFate.DECLINED: 2, QuestionFate.SPOILED: 3,
        QuestionFate.FAILED: 2, QuestionFate.EXPIRED: 1, QuestionFate.MISSING: 1,
        QuestionFate.DUPLICATE: 3, QuestionFate.UNKNOWN: 1, QuestionFate.DAMAGED: 2,
    }  # fmt: skip
    assert ended.progress.by_status == {"ok": 9, "refused": 1, "filtered": 1}
    assert values(finished)["response-1"] == "yes"
    # The first question of all, and the seven that the batch left over.
    assert len(provider.bodies) == 1 + 7
    assert len(result.live) == 7


@pytest.mark.parametrize("second", [YES_JSON, NO_JSON], ids=["equal", "opposite"])
async def test_of_two_replies_to_one_question_none_counts_and_both_are_kept(
    provider: BatchServer, folder: Path, second: str
) -> None:
    provider.work = lambda requests: Results(
        [answered(request["custom_id"]) for request in requests]
        + [answered(requests[0]["custom_id"], completion(second))]
    )
    shelf = Shelf()
    result, ended, _ = await batched(provider, folder, shelf, cases=3)
    assert result.fates == {QuestionFate.ANSWERED: 1, QuestionFate.SPOILED: 1, QuestionFate.DUPLICATE: 1}
    (spoiled,) = [call for call in shelf.calls.values() if call.status is Status.INVALID]
    assert "answers this question more than once" in spoiled.cause
    assert spoiled.raw.endswith(f"{YES_JSON}\n\n{second}")
    # The first of all, and the one that was answered twice.
    assert (len(provider.bodies), ended.progress.by_status) == (2, {"ok": 3})
    with pytest.raises(UnreadableReply):
        reread(spoiled, Reply)


async def test_a_refusal_is_not_asked_again_not_even_after_a_restart(
    provider: BatchServer, folder: Path
) -> None:
    provider.work = lambda requests: Results(
        [answered(request["custom_id"], completion(None, refusal="No.")) for request in requests]
    )
    shelf = Shelf()
    await batched(provider, folder, shelf, cases=3)
    _, ended, _ = await batched(provider, folder, shelf, cases=3)
    assert ended.progress.by_status == {"ok": 1, "refused": 2}
    assert (len(provider.bodies), len(provider.made)) == (1, 1)


async def test_a_batch_turned_down_whole_ends_the_run_and_costs_nothing(
    provider: BatchServer, folder: Path
) -> None:
    cause = {"code": "model_not_found", "message": "This model cannot be used in batches."}
    provider.work = lambda requests: Results(status="failed", causes=[cause])
    result, ended, _ = await batched(provider, folder, Shelf())
    assert (ended.state, ended.progress.by_status) == (RunState.INTERRUPTED, {"ok": 1})
    assert "cannot be used in batches" in ended.cause
    assert (result.spent_usd, len(provider.bodies)) == (0.0, 1)


async def test_a_full_queue_is_tried_later_with_smaller_batches(provider: BatchServer, folder: Path) -> None:
    full = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}

    def work(requests: list[dict[str, Any]]) -> Results:
        if len(requests) > 15:
            return Results(status="failed", causes=[full])
        return Results([answered(request["custom_id"]) for request in requests])

    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    provider.work = work
    _, ended, _ = await batched(provider, folder, Shelf(), cases=41, nap=nap)
    assert [len(made.requests) for made in provider.made.values()] == [40, 20, 20, 10, 10, 10, 10]
    assert naps.count(300.0) == 3
    assert ended.progress.by_status == {"ok": 41}
    assert len(provider.bodies) == 1


async def test_an_endpoint_without_batches_says_so(provider: BatchServer, folder: Path) -> None:
    provider.fault = lambda method, path, number: error(404, "no such ")
    with pytest.raises(Refusal, match=r"takes no batches\. The server answered 404: no such\. Run the judge"):
        await batched(provider, folder, Shelf())


async def test_a_refused_key_ends_the_run_without_showing_it(provider: BatchServer, folder: Path) -> None:
    provider.fault = lambda method, path, number: error(401, f"Incorrect API key provided: {KEY}")
    shelf = Shelf()
    result, ended, _ = await batched(provider, folder, shelf)
    assert ended.state is RunState.INTERRUPTED
    assert "401" in ended.cause
    assert KEY not in f"{result.halt!r}{ended.cause}{shelf.states}{shelf.calls}"


@pytest.mark.parametrize(
    "step",
    ["POST /v1/files", "POST /v1/batches", "GET /v1/batches/batch_1", "GET /v1/files/file-2/content"],
)
async def test_a_redirect_ends_the_run_and_no_file_goes_elsewhere(
    provider: BatchServer, folder: Path, step: str
) -> None:
    with at_work(BatchServer()) as other:
        away = Odd("", 307, {"location": f"{other.url}/away"})
        provider.fault = lambda method, path, number: away if f"{method} {path}" == step else None
        _, ended, _ = await batched(provider, folder, Shelf())
        assert ended.state is RunState.INTERRUPTED
        assert f"{other.url}/away" in ended.cause
        assert other.headers == []


async def test_neither_texts_nor_the_key_are_in_what_is_kept_of_a_batch(
    provider: BatchServer, folder: Path
) -> None:
    shelf = Shelf()
    provider.work = lambda requests: Results(
        [
            answered(request["custom_id"], completion(f'{{"reason": "{KEY}", "covered": "yes"}}'))
            for request in requests
        ]
    )
    await batched(provider, folder, shelf)
    assert "Bayesian" not in repr(shelf.states)
    assert KEY not in repr(shelf.states) + repr(shelf.calls)


async def test_a_batch_the_provider_has_forgotten_ends_the_run(provider: BatchServer, folder: Path) -> None:
    provider.fault = lambda method, path, number: (
        error(404, "no such batch") if path == "/v1/batches/batch_1" else None
    )
    shelf = Shelf()
    _, ended, _ = await batched(provider, folder, shelf)
    assert (ended.state, shelf.batches()) == (RunState.INTERRUPTED, [])
    assert "does not know the batch" in ended.cause


async def test_results_that_were_cut_without_a_word_are_fetched_again(
    provider: BatchServer, folder: Path
) -> None:
    def fault(method: str, path: str, number: int) -> Odd | None:
        cut = (method, path, number) == ("GET", "/v1/files/file-2/content", 0)
        return Odd(provider.files["file-2"][:-400]) if cut else None

    provider.fault = fault
    result, _, _ = await batched(provider, folder, Shelf())
    assert result.fates == {QuestionFate.ANSWERED: 5}


async def test_a_wait_the_provider_asks_for_is_kept(provider: BatchServer, folder: Path) -> None:
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    busy = Odd("{}", 429, {"retry-after": "77"})
    provider.fault = lambda method, path, number: busy if (path, number) == ("/v1/files", 0) else None
    await batched(provider, folder, Shelf(), nap=nap)
    assert naps[0] == 77


async def test_nothing_meant_for_another_endpoint_goes_along_with_a_batch(
    provider: BatchServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "for-another-endpoint")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Key: for-another-endpoint")
    await batched(provider, folder, Shelf())
    assert len(provider.headers) > 5
    assert "for-another-endpoint" not in repr(provider.headers)
