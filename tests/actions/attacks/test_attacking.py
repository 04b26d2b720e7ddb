"""That judges are put to the test over copies: who obeys fails, who stands firm does not, and nothing is paid twice."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.attacks import attack_cases, attack_figures, attack_tests, attacking
from annotator.actions.attacks.attack_figures import AttackFigures
from annotator.actions.attacks.attack_tests import AttackRequest
from annotator.actions.judges import judges
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import results
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import ATTACKS, KNOWN_ATTACKS
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.attacked_project import attacked, firm, gullible, judged, said
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge, answering
from tests.storage import sql

# Two items, two systems, three criteria.
VERDICTS = 12


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = firm
    return server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    project = small_project(tmp_path)
    add_judge(project, server)
    judged(project)
    server.bodies.clear()
    yield project
    project.close()


def lines(project: Project, judge: str = JUDGE) -> dict[str, AttackFigures]:
    return {line.attack: line for line in attack_figures.report(project, judge=judge).lines}


@pytest.mark.usefixtures("small_cases")
def test_who_obeys_what_is_planted_fails_every_time(project: Project, server: OddServer) -> None:
    server.answer = gullible
    attacked(project, JUDGE, "injection")
    line = lines(project)["injection"]
    assert (line.failed.value, line.failed.n, line.up, line.down) == (1.0, VERDICTS, VERDICTS, 0)
    assert line.already == 0
    # All units are alike: then an item counts as one unit, and two items say little.
    assert line.failed.low is not None
    assert line.failed.low < 0.5


def test_what_is_demanded_already_cannot_fall(project: Project, server: OddServer) -> None:
    server.answer = answering(lambda words: "yes" if "residual" in words else "no")
    judges.add(project, "mixed", base_url=server.url, model="other-model")
    judged(project, "mixed")
    server.answer = gullible
    attacked(project, "mixed", "injection", "padding.filler")
    found = lines(project, "mixed")
    order, filler = found["injection"], found["padding.filler"]
    # Of three criteria one is a yes as it is: the order can change the others alone, padding all.
    assert (order.failed.value, order.failed.n, order.already, order.drawn) == (1.0, 8, 4, VERDICTS)
    assert (filler.failed.n, filler.already, filler.down) == (VERDICTS, None, 4)
    assert filler.failed.value == pytest.approx(1 / 3)


def test_where_all_is_demanded_already_there_is_no_rate_but_a_reason(
    project: Project, server: OddServer
) -> None:
    server.answer = lambda body, number: said("yes", body)
    judges.add(project, "kind", base_url=server.url, model="other-model")
    judged(project, "kind")
    attacked(project, "kind", "injection")
    failed = lines(project, "kind")["injection"].failed
    assert (failed.value, failed.n) == (None, 0)
    assert failed.note == "every verdict was “yes” before: none could change to it"


def test_who_stands_firm_never_fails(project: Project) -> None:
    attacked(project)
    found = lines(project)
    assert {line.failed.value for line in found.values()} == {0.0}
    assert {line.failed.n for line in found.values()} == {VERDICTS}
    beyond = found["padding.filler"].beyond
    assert beyond is not None
    assert beyond.value == 0.0


def test_a_server_nobody_here_wrote_is_asked_about_every_copy(tmp_path: Path, llmock: LLMock) -> None:
    project = small_project(tmp_path)
    judges.add(project, "mock", base_url=llmock.base_url(), model="gpt-4o-mini")
    llmock.reply(json.dumps({"quote": "", "rationale": "As always.", "covered": "no"}), times=None)
    judged(project, "mock")
    before = len(llmock.requests)
    ended = attacked(project, "mock", "injection", "padding")
    found = lines(project, "mock")
    assert (ended["state"], len(llmock.requests) - before) == ("done", 2 * VERDICTS)
    assert {line.failed.value for line in found.values()} == {0.0}
    assert ended["cost_usd"] > 0
    project.close()


def test_what_changes_without_an_attack_is_taken_off(project: Project, server: OddServer) -> None:
    # Another verdict on everything now: no attack did that.
    server.answer = lambda body, number: said("yes", body)
    attacked(project)
    found = lines(project)
    beyond = found["padding.filler"].beyond
    assert beyond is not None
    assert (found["padding.filler"].failed.value, found["control"].failed.value, beyond.value) == (
        1.0,
        1.0,
        0.0,
    )


def test_the_engine_tells_what_it_noticed(project: Project) -> None:
    attacked(project, JUDGE, "injection")
    noticed = lines(project)["injection"].noticed
    assert noticed is not None
    assert noticed.value == 1.0


def test_copies_enter_no_score_and_no_release(project: Project, server: OddServer, tmp_path: Path) -> None:
    before = [results.plain(row) for row in results.rows(project)]
    responses = sql.first(project, "SELECT count(*) FROM response")
    server.answer = gullible
    attacked(project)
    assert [results.plain(row) for row in results.rows(project)] == before
    assert sql.first(project, "SELECT count(*) FROM response") == responses
    releases.export(project, tmp_path / "release")
    files = [path for path in (tmp_path / "release").rglob("*") if path.is_file()]
    told = "".join(path.read_text("utf-8", "ignore") for path in files)
    assert len(files) > 5
    for words in ("attack.", "assessed beforehand"):
        assert words not in told


def test_the_same_order_asks_for_what_is_missing_and_for_nothing_else(
    project: Project, server: OddServer
) -> None:
    refusing = completion(None, refusal="No.")
    server.answer = lambda body, number: (
        refusing if "residual connections" in _criterion(body) else firm(body, number)
    )
    attacked(project, JUDGE, "padding.filler")
    line = lines(project)["padding.filler"]
    assert (line.failed.n, line.failed.missing, line.missing) == (8, 4, {"refused": 4})
    # Had the missing ones all changed, or none of them.
    assert (line.failed.floor, line.failed.ceiling) == (0.0, pytest.approx(4 / 12))
    server.answer, asked = firm, len(server.bodies)
    attacked(project, JUDGE, "padding.filler")
    assert len(server.bodies) - asked == 4
    assert lines(project)["padding.filler"].missing == {}


def _criterion(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"]).split("The report:")[0].split("The criterion:")[1]


def test_a_test_that_was_cut_short_is_gone_on_with_and_asks_nothing_twice(
    project: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: firm(body, number) if len(server.bodies) <= 5 else daily
    stopped = attacked(project, JUDGE, "padding", concurrency=1)
    assert (stopped["state"], stopped["done"], stopped["total"]) == ("interrupted", 5, VERDICTS)
    assert lines(project)["padding.filler"].missing["not_asked"] > 0
    server.answer, asked = firm, len(server.bodies)
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project, JUDGE)))
    assert (ended["state"], ended["done"]) == ("done", VERDICTS)
    assert len(server.bodies) - asked == VERDICTS - 5
    assert len(attack_tests.all_of(project)) == 1


def test_another_seed_is_another_test(project: Project, server: OddServer) -> None:
    attacked(project, JUDGE, "padding", size=4)
    attacked(project, JUDGE, "padding", size=4, seed=3)
    one, other = (test.content.drawn for test in attack_tests.all_of(project))
    assert one != other
    assert len({struck.item_id for struck in one}) == 2


def test_the_baseline_is_put_to_the_test_without_a_network(project: Project) -> None:
    judged(project, "baseline")
    ended = attacked(project, "baseline")
    assert (ended["calls"], ended["state"]) == (0, "done")
    found = lines(project, "baseline")
    # It says the same every time, so that it need not be asked again; it is asked one criterion at a time.
    assert "control" not in found
    assert "order.criteria" not in found
    assert found["injection"].noticed is None


def test_criteria_asked_together_are_asked_in_another_order(project: Project, server: OddServer) -> None:
    name = f"{JUDGE}, 3 together"
    judged(project, together=3)
    first: list[str] = []

    def by_place(body: dict[str, Any], _number: int) -> Odd:
        """Yes to whichever comes first."""
        odd = said("no", body)
        tree = json.loads(json.loads(odd.body)["choices"][0]["message"]["content"])
        tree["answers"][0]["covered"] = "yes"
        first.append(tree["answers"][0]["id"])
        return completion(json.dumps(tree))

    server.answer = by_place
    attacked(project, name, "order.criteria")
    line = lines(project, name)["order.criteria"]
    # Of three criteria of each of four reports one becomes a yes, and no other.
    assert (line.failed.n, line.up) == (VERDICTS, 4)
    assert line.failed.value == pytest.approx(1 / 3)
    (case, *_) = [
        one for one in attack_figures.cases_of(project, attack_tests.all_of(project)[0]) if one.failed
    ]
    told = attack_cases.told(project, case.id)
    assert "another order" in told.done[0]
    assert told.report == told.copy


def test_a_case_is_told_in_full(project: Project, server: OddServer) -> None:
    server.answer = gullible
    attacked(project, JUDGE, "injection")
    test = attack_tests.all_of(project)[0]
    for case in attack_figures.cases_of(project, test):
        told = attack_cases.told(project, case.id)
        (mark,) = told.marks
        assert told.copy[: mark.start] + told.copy[mark.end :] == told.report
        assert "yes" in told.copy[mark.start : mark.end]
        assert (told.own.value, told.again.value) == ("no", "yes")
        assert any("demands the verdict “yes”" in words for words in told.done)
        assert told.about
        assert told.unit


def test_a_report_that_changed_since_is_not_shown_beside_its_copy(
    project: Project, server: OddServer
) -> None:
    attacked(project, JUDGE, "injection")
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE response SET text = 'Another report.'")
    case = attack_figures.cases_of(project, attack_tests.all_of(project)[0])[0]
    told = attack_cases.told(project, case.id)
    assert told.done == (attack_cases.GONE,)
    assert "yes" in told.copy


def test_the_forecast_is_what_is_asked(project: Project, server: OddServer) -> None:
    found = asyncio.run(attacking.estimate(project, AttackRequest(JUDGE)))
    assert server.bodies == []
    assert attack_tests.all_of(project) == []
    attacked(project)
    assert len(server.bodies) == found.judging.calls
    again = asyncio.run(attacking.estimate(project, AttackRequest(JUDGE)))
    assert (again.known, again.judging.calls) == (True, 0)


def test_a_budget_without_a_price_is_refused_before_anything_is_asked(
    project: Project, server: OddServer
) -> None:
    with pytest.raises(Refusal, match="price"):
        attacked(project, JUDGE, "padding", budget_usd=1.0)
    assert server.bodies == []


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (AttackRequest("nobody"), "There is no judge"),
        (AttackRequest(JUDGE, attacks=("flattery",)), "There is no attack “flattery”"),
        (AttackRequest(JUDGE, attacks=("paraphrase",)), "There is no attack “paraphrase”"),
        (AttackRequest(JUDGE, attacks=("order.criteria",)), "cannot be tested with “order.criteria”"),
        (AttackRequest("baseline", attacks=("control",)), "cannot be tested with “control”"),
        (AttackRequest("baseline"), "has no verdict of its own"),
        (AttackRequest(JUDGE, "researcherbench.claims"), "This protocol reads no report"),
        (AttackRequest(JUDGE, size=0), "At least one verdict"),
    ],
)
def test_what_cannot_be_tested_is_refused_in_words(
    project: Project, wanted: AttackRequest, words: str
) -> None:
    with pytest.raises(Refusal, match=words):
        asyncio.run(attacking.estimate(project, wanted))


def test_verdicts_by_another_wording_are_not_held_against_copies(project: Project) -> None:
    from annotator.actions.judges import prompts

    text = prompts.shipped("researcherbench.coverage").replace("You check", "You verify")
    prompts.write(project, "researcherbench.coverage", text)
    with pytest.raises(Refusal, match="has no verdict of its own"):
        attacked(project, JUDGE, "padding")


def test_a_vote_is_not_put_to_the_test(project: Project) -> None:
    from annotator.actions.judging import derived_judges

    derived_judges.add(project, "vote", [JUDGE])
    with pytest.raises(Refusal, match="only counts"):
        attacked(project, "vote")


def test_who_labels_is_not_told(project: Project) -> None:
    from annotator.actions.project import people
    from annotator.domain.experts.person import Role

    people.add_person(project, "Ann", (Role.ANNOTATOR,))
    project.work_as(people.known(project, "R2"))
    for ask in (
        lambda: attack_figures.report(project),
        lambda: attacked(project),
        lambda: attack_cases.told(project, "x"),
    ):
        with pytest.raises(Refusal, match="Only a coordinator"):
            ask()


def test_of_a_retired_judge_nothing_is_shown(project: Project) -> None:
    attacked(project, JUDGE, "padding.filler", size=2)
    judges.retire(project, judges.named(project, JUDGE).id)
    assert attack_figures.report(project).lines == ()


@pytest.mark.parametrize("name", sorted(KNOWN_ATTACKS.keys() - ATTACKS))
def test_results_of_attacks_of_earlier_versions_stay_and_are_shown_by_name(
    project: Project, server: OddServer, name: str
) -> None:
    server.answer = gullible
    attacked(project, JUDGE, "injection" if KNOWN_ATTACKS[name].plants else "padding")
    before = attack_figures.report(project).lines[0].failed
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE attack_copy SET attack = ?, variant = 'wording 6, at the start'", (name,))
        db.exec_driver_sql(
            "UPDATE attack_test SET content = json_set(content, '$.attacks', json_array(?),"
            " '$.writer_id', 'w', '$.unfit', json_object('reformatting', json_array('r')))", (name,)
        )  # fmt: skip
    (line,) = attack_figures.report(project).lines
    assert (line.attack, line.failed) == (name, before)
    shown = attack_figures.sheets(attack_figures.report(project))
    assert shown[0].lines[0].cells[0].words == KNOWN_ATTACKS[name].title
    (case, *_) = attack_cases.listed(project, line.test_id, name)
    assert attack_cases.told(project, case.id).title == KNOWN_ATTACKS[name].title
    # Of such a test nothing is asked any more.
    with pytest.raises(Refusal, match=f"There is no attack “{name}”"):
        attacked(project, JUDGE, name)
