"""What can be asked for and what an order comes to, how it is handed on, orders that wait, votes, and costs."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from annotator.actions.attacks import attacking
from annotator.actions.items import items, pages
from annotator.actions.items.extracts import NewExtract
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, forecasts, judge_runs
from annotator.actions.judging.derived_judges import MemberVote, ProbeRequest, majority, middle
from annotator.actions.material import model_drafts
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import results
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import call_hash
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Call, Status
from annotator.domain.judges.protocol import Level, Scale, Value, numbers
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import IMPORT
from annotator.domain.texts.canonical import now
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import CALL, JUDGE, RUN
from tests.judging.odd_server import OddServer, completion
from tests.material import drawn_extracts
from tests.projects.filled_project import add_judgement
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import CRITERIA, small_project, units_of
from tests.servers.said_by_judges import places, say
from tests.servers.served import add_judge, answering
from tests.storage import sql


def test_orders_are_looked_at_first(project: Project) -> None:
    result = judge_runs.look(project, RunRequest("baseline", "researcherbench.claims.extract"))
    assert result.words == "4 of 4 reports are not processed yet."
    for order, words in (
        (RunRequest("baseline", "adra.efficiency"), "computed"),
        (RunRequest("baseline", trials=3), "calls no model"),
    ):
        result = judge_runs.look(project, order)
        assert (result.refused, words in result.words) == (True, True)
    before = judge_runs.look(project, RunRequest("baseline"))
    assert (before.total, before.to_do, before.refused) == (12, 12, False)
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    after = judge_runs.look(project, RunRequest("baseline"))
    assert (after.to_do, after.words) == (0, "All 12 criteria of 4 reports are judged.")


def test_items_are_named_by_keys_and_stretches(project: Project) -> None:
    items.add(project, "A third?")
    fourth = items.add(project, "A fourth?").subject
    sql.alter(project, "UPDATE item SET key = '4-a' WHERE id = ?", [fourth])
    for words, keys in (
        ("", ()),
        (" 2 ", ("2",)),
        ("2, 1,2", ("2", "1")),
        ("1–3", ("1", "2", "3")),
        ("1-2、4-a", ("1", "2", "4-a")),
        ("2 .. 3；1", "There is no item"),
        ("2–1", "2–1"),
    ):
        if isinstance(keys, str):
            expect_refusal(keys, judge_runs.keys_of, project, words)
        else:
            assert judge_runs.keys_of(project, words) == keys


def test_what_a_judge_came_to_is_summed_over_all_it_was_asked(project: Project) -> None:
    judges.add(project, "a", base_url="http://127.0.0.1:1/v1", model="m")
    say(project, "a", "yyn---")
    whole = run_records.summed(run_records.totals(project), judges.named(project, "a").id)
    assert (whole.verdicts, dict(whole.missing), whole.spent_usd) == (3, {"invalid": 3}, None)
    assert judges.has_judged(project, whole.judge_id)
    assert not judges.has_judged(project, judges.BASELINE.id)


def test_a_vote_has_members_and_needs_no_endpoint(project: Project) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    vote = judges.named(project, "vote")
    assert derived_judges.members(project, vote) == ["baseline"]
    assert asyncio.run(derived_judges.test(project, "vote"))["ok"]
    expect_refusal("no endpoint settings", judges.change, project, vote.id, {"name": "x"})
    expect_refusal("calls no model", run, project, "vote", trials=2)
    for words, name, members in (
        ("already exists", "vote", ["baseline"]),
        ("needs members", "panel", []),
        ("There is no judge", "panel", ["nobody"]),
        ("not other votes", "panel", ["baseline", "vote"]),
    ):
        expect_refusal(words, derived_judges.add, project, name, members)


def test_a_run_is_told_by_its_lock_and_an_extraction_may_wait(project: Project) -> None:
    assert not run_records.under_way(project)
    with run_records.alone(project):
        assert run_records.under_way(project)
    assert not run_records.under_way(project)
    judge_runs.add(project, RunRequest("baseline", DRAWING))
    assert len(judge_runs.waiting(project)) == 1


ALPHA = RunRequest("baseline", systems=("Alpha",), items=("1",), budget_usd=2.5)
BETA = RunRequest("baseline", systems=("Beta",))
DRAWING = "researcherbench.claims.extract"


def test_orders_wait_in_turn_each_once_and_outlive_the_window(project: Project) -> None:
    first, second = judge_runs.add(project, ALPHA), judge_runs.add(project, BETA)
    expect_refusal("is already queued", judge_runs.add, project, replace(ALPHA, budget_usd=None))
    judge_runs.move(project, second.id, -1)
    judge_runs.move(project, second.id, -1)
    assert [one.order for one in judge_runs.waiting(project)] == [BETA, ALPHA]
    judge_runs.remove(project, second.id)
    assert judge_runs.waiting(project) == [first]
    expect_refusal("is no longer queued", judge_runs.remove, project, second.id)
    judge_runs.add(project, BETA)
    again = Project.open(project.path)
    assert [judge_runs.take(again) for _ in range(3)] == [ALPHA, BETA, None]


def test_what_cannot_be_carried_out_does_not_wait(project: Project) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    for order, words in (
        (RunRequest("nobody"), "There is no judge “nobody”"),
        (RunRequest("baseline", systems=("Gamma",)), "There is no system “Gamma”"),
        (RunRequest("baseline", "adra.efficiency"), "is computed"),
        (RunRequest("baseline", DRAWING, systems=("Gamma",)), "There is no system “Gamma”"),
        (RunRequest("vote", DRAWING), "A vote cannot extract"),
    ):
        expect_refusal(words, judge_runs.add, project, order)
        assert judge_runs.waiting(project) == []


def test_orders_of_a_judge_that_is_held_back_wait_on(project: Project) -> None:
    judges.add(project, "far", base_url="http://127.0.0.1:9/v1", model="tiny")
    far = RunRequest("far")
    for order in (far, BETA):
        judge_runs.add(project, order)
    assert judge_runs.take(project, without={"far"}) == BETA
    assert (judge_runs.take(project, without={"far"}), judge_runs.take(project)) == (None, far)


def offer(project: Project, name: str) -> judge_runs.ProtocolOffer:
    return next(one for one in judge_runs.offers(project) if one.name == name)


def test_protocols_are_offered_with_what_lacks(project: Project) -> None:
    result = judge_runs.offers(project)
    assert [one.name for one in result] == [
        name for name, protocol in PROTOCOLS.items() if not protocol.by_people
    ]
    assert [one.name for one in result if not one.by_model] == [
        "adra.retrieval",
        "adra.efficiency",
        "deepscholar.references",
        "arena.references",
        "arena.leakage",
    ]
    assert {one.name for one in result if one.together} == {
        "researcherbench.coverage",
        "adra.reasoning",
        "deepscholar.nuggets",
        "arena.checklist",
        "arena.keypoints",
        "arena.keypoints.common",
    }
    assert offer(project, "researcherbench.coverage").words() == "All 2 items are ready."
    plan = offer(project, "adra.plan")
    assert (plan.words(), plan.lacks) == (
        "0 of 2 items are ready.", ("All 2 items lack a plan.", "All 2 items lack the plan of a response."),
    )  # fmt: skip
    (step,) = offer(project, "researcherbench.claims").steps
    assert (step.extraction, step.part, step.missing, step.alone, step.words()) == (
        DRAWING, ResponsePart.CLAIMS, 4, True, "4 of 4 reports are without their claims.",
    )  # fmt: skip
    items.add(project, "A third question without anything?")
    result = offer(project, "researcherbench.pairwise")
    assert (result.ready, result.items, result.lacks) == (2, 3, ("1 of 3 items lacks a response.",))


def test_drawn_parts_are_no_longer_missing(project: Project) -> None:
    item, response, _ = places(project)[0]
    claims = Claims(units=(Claim(text="Depth helps.", url="https://example.org/a"),))
    drawn_extracts.keep(project, NewExtract(item, response, ResponsePart.CLAIMS, claims, IMPORT))
    result = offer(project, "researcherbench.claims")
    # The item's other report has none yet.
    assert (result.steps[0].missing, result.ready) == (3, 0)
    words = {drawing.name: drawing.words() for drawing in judge_runs.drawings(project)}
    assert list(words) == list(EXTRACTIONS)
    assert (words[DRAWING], words["researcherbench.insights"]) == (
        "3 of 4 reports are without their claims.", "No item has a source with its text yet.",
    )  # fmt: skip


def test_an_empty_project_says_so(tmp_path: Path) -> None:
    empty = new_project(tmp_path / "empty.goldsmith")
    assert {one.words() for one in judge_runs.offers(empty)} == {"There are no items yet."}


def test_everything_that_runs_has_a_title() -> None:
    drafts = (model_drafts.protocol_name(kind) for kind in model_drafts.OFFERED)
    for name in (*PROTOCOLS, *EXTRACTIONS, "respond.isolated", "contest|rounds=3", *drafts):
        assert judge_runs.title(name) != name
    assert judge_runs.title("gone.protocol") == "gone.protocol"


def run(project: Project, judge: str, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(project, RunRequest(judge, **how)))


def cast(*values: str | None) -> list[MemberVote]:
    return [MemberVote(f"m{n}", value) for n, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("values", "members", "value", "cause"),
    [
        (("yes", "yes", "no"), 3, "yes", ""),
        (("no", "no", None), 3, "no", ""),
        (("first", "first", "first", "second", "tie"), 5, "first", ""),
        (("yes", "no"), 2, None, "A tie: m1 yes, m2 no."),
        (("first", "first", "second", "tie"), 4, None, "No majority"),
        (("first", "second", "tie"), 3, None, "A tie"),
        (("yes", None, None), 3, None, "Only 1 of 3 members gave a verdict: m1 yes, m2 nothing, m3 nothing."),
        (("yes",), 2, None, "Only 1 of 2"),
    ],
)
def test_the_value_of_more_than_half_of_the_votes_is_the_verdict_or_it_is_unclear_with_its_cause(
    values: tuple[str | None, ...], members: int, value: str | None, cause: str
) -> None:
    result = majority(cast(*values), members)
    assert (result.value, result.status) == (value, Status.OK if value else Status.UNCLEAR)
    assert result.cause.startswith(cause)
    assert all(vote.words() in result.rationale + result.cause for vote in cast(*values))


ORDINAL, NUMBER = numbers(0, 10, level=Level.ORDINAL), numbers(0, 10)


@pytest.mark.parametrize(
    ("scale", "values", "value"),
    [
        (ORDINAL, ("10", "2", "9"), "9"),
        (ORDINAL, ("2", "10", "10", "3"), None),
        (ORDINAL, ("2", "7", "7", "9"), "7"),
        (NUMBER, ("2", "10", None, "9"), "9"),
        (NUMBER, ("4", "6"), "5"),
        (NUMBER, ("4", "5"), None),
        (
            Scale(Level.ORDINAL, (Value("low", ""), Value("middle", ""), Value("high", ""))),
            ("high", "low", "middle"),
            "middle",
        ),
    ],
)
def test_the_median_of_ordered_votes_is_the_verdict(
    scale: Scale, values: tuple[str | None, ...], value: str | None
) -> None:
    result = middle(cast(*values), len(values), scale)
    assert (result.value, result.status) == (value, Status.OK if value else Status.UNCLEAR)
    assert ("the middle lies between" in result.cause.casefold()) is (value is None)
    assert all(vote.words() in result.rationale + result.cause for vote in cast(*values))


def test_a_median_and_a_majority_need_votes() -> None:
    assert middle(cast("3", None, None), 3, NUMBER).cause.startswith("Only 1 of 3 members")
    assert middle([], 3, NUMBER).status is Status.SKIPPED
    assert majority([], 3).status is Status.SKIPPED
    assert majority(cast(None, None), 2).status is Status.SKIPPED


def test_a_panel_counts_its_members_and_is_a_rater_like_any_other(
    project: Project, server: OddServer
) -> None:
    first, second, third = (text for text, _ in CRITERIA)
    for name, said in (("a", {first, second}), ("b", {first, third}), ("c", {first})):
        server.answer = answering(lambda words, said=said: "yes" if words in said else "no")
        add_judge(project, server, name, parameters=f'{{"user": "{name}"}}')
        run(project, name)
    asked = len(server.bodies)
    derived_judges.add(project, "panel", ["a", "b", "c"])
    ended = run(project, "panel")
    assert (ended["done"], ended["calls"], len(server.bodies)) == (12, 0, asked)
    rows = [row for row in results.rows(project, judges.named(project, "panel").id) if row.group == "all"]
    # Of the weights 3, 2 and 1 only the first is covered by a majority.
    assert [row.estimate.value for row in rows] == [0.5, 0.5]
    (rationale,) = sql.first(
        project, "SELECT rationale FROM judgement WHERE rationale LIKE '2 of 3%' ORDER BY rationale LIMIT 1"
    )
    assert rationale in ("2 of 3: a no, b yes, c no", "2 of 3: a yes, b no, c no")


def test_a_vote_is_counted_anew_when_its_members_have_said_more(project: Project, server: OddServer) -> None:
    for name in ("a", "b", "c"):
        add_judge(project, server, name)
    derived_judges.add(project, "panel", ["a", "b", "c"])
    run(project, "a")
    assert run(project, "panel")["missing"] == {"unclear": 12}
    run(project, "b")
    assert run(project, "panel")["missing"] == {}
    assert sql.first(project, "SELECT count(*) FROM judgement")[0] == 36


def test_the_trials_of_one_judge_vote_too(project: Project, server: OddServer) -> None:
    said = iter(["yes", "no", "yes"] * 12)
    server.answer = lambda body, number: answering(lambda words: next(said))(body, number)
    add_judge(project, server, "a")
    run(project, "a", trials=3, concurrency=1, systems=("Alpha",), items=("1",))
    derived_judges.add(project, "a, majority", ["a"])
    run(project, "a, majority", systems=("Alpha",), items=("1",))
    result = sql.rows(project, "SELECT value, rationale FROM judgement WHERE rationale LIKE '%trial%'")
    assert len(result) == 3
    assert all(words.count("trial") == 3 for _, words in result)


def test_a_vote_quotes_what_the_first_of_the_majority_quoted(project: Project, server: OddServer) -> None:
    quote = "compares the stability of training"
    server.script(completion(f'{{"quote": "{quote}", "rationale": "So.", "covered": "yes"}}'))
    for name in ("a", "b"):
        add_judge(project, server, name)
        run(project, name)
    derived_judges.add(project, "panel", ["a", "b"])
    run(project, "panel")
    question = "SELECT DISTINCT quote, quote_start FROM judgement WHERE rationale LIKE '2 of 2%'"
    assert [row[0] for row in sql.rows(project, question)] == [quote, quote]


@pytest.fixture
def charged(tmp_path: Path) -> Project:
    """Item 1: two criteria together in one call of 0.04, after one that failed and cost 0.02. Item 2: 0.01 and unknown.

    A second judge has used the first one's answer on item 2's first criterion.
    """
    charged = small_project(tmp_path)
    with charged.store.write() as db:
        for number in (1, 2):
            db.execute(
                insert(JUDGE).values(
                    id=f"judge-{number}", name=f"judge {number}", kind="endpoint", base_url="", model="m",
                    key_env="", parameters="{}", asking="{}", retired=False,
                )
            )  # fmt: skip
        db.execute(
            insert(RUN).values(
                id="run-1", judge_id="judge-1", protocol="researcherbench.coverage", state="done", scope="{}",
                snapshot="{}", prompt_sha256="", total=0, done=0, started_at=now(), by="",
            )
        )  # fmt: skip
    call(charged, "c-0", "k-1", 0.02, Status.API_ERROR)
    for number, cost in ((1, 0.04), (2, 0.01), (3, None)):
        call(charged, f"c-{number}", f"k-{number}", cost)
    first, second = items.ids(charged)
    for item, place, answer in ((first, 0, "c-1"), (first, 1, "c-1"), (second, 0, "c-2"), (second, 1, "c-3")):
        judged(charged, item, place, answer)
    judged(charged, second, 0, "c-2", "judge-2")
    return charged


def call(
    charged: Project,
    name: str,
    key: str,
    cost: float | None,
    status: Status = Status.OK,
    tokens: int | None = 5,
) -> None:
    row = Call(
        id=name, run_id="run-1", judge_id="judge-1", cache_key=key, status=status, cost_usd=cost,
        tokens_output=tokens,
    )  # fmt: skip
    tree = row.model_dump(mode="json")
    with charged.store.write() as db:
        db.execute(insert(CALL).values(**tree, at=now(), sha256=call_hash(tree)))


def judged(charged: Project, item: str, place: int, call_id: str, judge: str = "judge-1") -> None:
    question = (
        "SELECT r.id FROM response r JOIN system s ON s.id = r.system_id WHERE item_id = ? AND name = 'Alpha'"
    )
    (response,) = sql.first(charged, question, [item])
    # The row's id is made of what is judged; a second judge's needs another trial.
    add_judgement(
        charged, item_id=item, response_id=response, unit_id=units_of(charged, item)[place], call_id=call_id,
        artifact_id="", rater_id=judge, trial=int(judge[-1]),
    )  # fmt: skip


def by(charged: Project, what: str, **only: str) -> dict[str, tuple[int, float | None, int]]:
    result = forecasts.costs(charged, what, **only)
    return {one.name: (one.judgements, one.cost_usd, one.unpriced) for one in result}


def test_what_no_judgement_rests_on_is_a_line_of_its_own(charged: Project) -> None:
    call(charged, "c-9", "k-9", 0.5)
    for what in ("question", "system", "criterion"):
        assert by(charged, what)[""] == (0, pytest.approx(0.5), 0)


def test_a_request_without_an_answer_counts_at_the_usual_cost_and_one_without_tokens_is_unknown(
    charged: Project,
) -> None:
    call(charged, "c-9", "k-9", 9.0, Status.SKIPPED, None)
    (result,) = forecasts.costs(charged, "judge")
    # Three that were answered cost 0.07 together.
    assert (result.cost_usd, result.calls, result.guessed) == pytest.approx((0.07 + 0.07 / 3, 5, 1))
    assert "1 without an answer at the usual cost" in result.remark()
    call(charged, "c-10", "k-10", 9.0, tokens=None)
    (after,) = forecasts.costs(charged, "judge")
    assert (after.cost_usd, after.unpriced, after.guessed) == (result.cost_usd, result.unpriced + 1, 1)


def test_costs_are_shared_out(charged: Project) -> None:
    expect_refusal("purpose, judge, run, question, system, criterion", forecasts.costs, charged, "moon")
    result = forecasts.costs(charged, "criterion")
    words = forecasts.unit_words(charged, result)
    assert {(one.item, words[one.item, one.protocol, one.name]) for one in result} == {
        (item, text) for item in "12" for text, _ in CRITERIA[:2]
    }
    assert {each: by(charged, each) for each in ("judge", "run", "purpose", "question")} == {
        "judge": {"judge 1": (4, pytest.approx(0.07), 1)},
        "run": {"run-1": (5, pytest.approx(0.07), 1)},
        "purpose": {"judging": (4, pytest.approx(0.07), 1)},
        "question": {"1": (2, pytest.approx(0.06), 0), "2": (3, pytest.approx(0.01), 1)},
    }
    first, second = (units_of(charged, item) for item in items.ids(charged))
    assert {(cost.item, cost.name): cost.cost_usd for cost in result} == {
        ("1", first[0]): pytest.approx(0.03), ("1", first[1]): pytest.approx(0.03),
        ("2", second[0]): pytest.approx(0.01), ("2", second[1]): None,
    }  # fmt: skip
    assert by(charged, "system", judge="judge 2") == {"Alpha": (1, pytest.approx(0.005), 0)}


ORDERS = [
    RunRequest(
        "a “judge”\nof two lines", "adra.plan", ("Beta",), ("1", "—"), 3, 0.5, 1.25, batch=True, models=("m",)
    ),
    attacking.order(
        attacking.AttackRequest("distant", attacks=("padding", "injection"), size=4), concurrency=2
    ),
    pages.FetchRequest(refresh=True, reader="https://reader.example/"),
    pages.PagesFolder("pages of others"),
    ProbeRequest("distant"),
]


@pytest.mark.parametrize("order", ORDERS, ids=list(orders.KINDS))
def test_an_order_comes_out_of_its_line_as_it_went_in(order) -> None:
    asked = orders.ChildRequest(Path("a b.goldsmith"), order, "someone", estimate=True)
    assert "\n" not in asked.line()
    again = orders.read(asked.line())
    assert (again, type(again.order)) == (asked, type(order))


@pytest.mark.parametrize(
    "line", ["", "cancel\n", "[]", "{}", '{"kind": "run"}', '{"kind": "run", "order": {"trials": "x"}}']
)
def test_what_is_no_request_is_refused(line: str) -> None:
    expect_refusal("window's own", orders.read, line)
