"""Attacks on judges, biases that figures show, and how consistent judges are."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import krippendorff
import pytest
from sqlalchemy import insert

from annotator.actions.attacks import attack_figures, attacking, biases
from annotator.actions.judges import judges, prompts
from annotator.actions.judging import derived_judges
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.actions.releases import releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import AttackRequest
from annotator.actions.sets import validation_sets
from annotator.actions.undo import history
from annotator.actions.validation import validation_views
from annotator.domain.common import derived_id, now
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Judgement, RaterKind
from annotator.domain.judges.protocol import FIGURES, Level, numbers
from annotator.judging.attacks import ATTACKS, KNOWN_ATTACKS
from annotator.storage.tables import JUDGEMENT
from tests.common import expect_refusal, fixture_of, once
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.validation_project import judge_says, person, person_says, rated, validation_project
from tests.servers.served import (
    JUDGE,
    answering,
    attacked,
    firm,
    gullible,
    judged,
    judged_project,
    say,
    two_judges,
    verdict_for_all as said,
)
from tests.storage import sql

# Two items, two systems, three criteria.
VERDICTS = 12


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = firm
    return server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return judged_project(tmp_path, server, "no")


def lines(project: Project, judge: str = JUDGE) -> dict[str, attack_figures.AttackFigures]:
    return {line.attack: line for line in attack_figures.report(project, judge=judge)}


def test_attacks_are_told_by_rate_case_and_notice(
    project: Project, small_cases: None, server: OddServer
) -> None:
    server.answer = gullible
    attacked(project, JUDGE, "injection")
    line = lines(project)["injection"]
    assert (line.failed.value, line.failed.n, line.up, line.down) == (1.0, VERDICTS, VERDICTS, 0)
    # All units are alike: then an item counts as one unit, and two items say little.
    assert line.failed.low < 0.5
    assert (line.already, line.noticed.value) == (0, 1.0)
    cases = attack_figures.listed(project, attacking.all_of(project)[0], "injection")
    for case in cases:
        told = attack_figures.attack_case(project, case)
        (mark,) = told.marks
        assert told.copy[: mark.start] + told.copy[mark.end :] == told.report
        assert "yes" in told.copy[mark.start : mark.end]
        assert (told.own.value, told.again.value, told.line.unit != "") == ("no", "yes", True)
    # A report that changed since is not shown beside its copy.
    sql.alter(project, "UPDATE response SET text = 'Another report.'")
    told = attack_figures.attack_case(project, cases[0])
    assert told.done == (attack_figures.GONE,)
    assert "yes" in told.copy
    judges.retire(project, judges.named(project, JUDGE).id)
    assert attack_figures.report(project) == ()


def test_what_is_demanded_already_cannot_fall(project: Project, server: OddServer) -> None:
    server.answer = answering(lambda words: "yes" if "residual" in words else "no")
    judges.add(project, "mixed", base_url=server.url, model="other-model")
    judged(project, "mixed")
    server.answer = gullible
    attacked(project, "mixed", "injection", "padding.filler")
    found = lines(project, "mixed")
    order, filler = found["injection"], found["padding.filler"]
    # Of three criteria one is a yes as it is: the order can change the others alone, padding all.
    assert (order.failed.value, order.failed.n, order.already, order.sampled) == (1.0, 8, 4, VERDICTS)
    assert (filler.failed.n, filler.already, filler.down, filler.failed.value) == (
        VERDICTS, None, 4, pytest.approx(1 / 3),
    )  # fmt: skip
    # Where all is demanded already there is no rate but a reason.
    server.answer = lambda body, number: said("yes", body)
    judges.add(project, "kind", base_url=server.url, model="third-model")
    judged(project, "kind")
    attacked(project, "kind", "injection")
    failed = lines(project, "kind")["injection"].failed
    assert (failed.value, failed.n, failed.note) == (
        None, 0, "every verdict was “yes” before: none could change to it",
    )  # fmt: skip


def test_what_changes_without_an_attack_is_taken_off(project: Project, server: OddServer) -> None:
    # Another verdict on everything now: no attack did that.
    server.answer = lambda body, number: said("yes", body)
    attacked(project)
    found = lines(project)
    assert [found[name].failed.value for name in ("padding.filler", "control")] == [1.0, 1.0]
    assert found["padding.filler"].beyond.value == 0.0


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
    assert not [words for words in ("attack.", "assessed beforehand") if words in told]


def test_the_same_order_asks_for_what_is_missing_and_for_nothing_else(
    project: Project, server: OddServer
) -> None:
    refusing = completion(None, refusal="No.")
    server.answer = lambda body, number: (
        refusing
        if "residual connections"
        in str(body["messages"][1]["content"]).split("The report:")[0].split("The criterion:")[1]
        else firm(body, number)
    )
    attacked(project, JUDGE, "padding.filler")
    line = lines(project)["padding.filler"]
    assert (line.failed.n, line.failed.missing, line.missing) == (8, 4, {"refused": 4})
    # Had the missing ones all changed, or none of them.
    assert (line.failed.floor, line.failed.ceiling) == (0.0, pytest.approx(4 / 12))
    server.answer, asked = firm, len(server.bodies)
    attacked(project, JUDGE, "padding.filler")
    assert (len(server.bodies) - asked, lines(project)["padding.filler"].missing) == (4, {})


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
    assert (len(server.bodies) - asked, len(attacking.all_of(project))) == (VERDICTS - 5, 1)


def test_another_seed_is_another_test(project: Project, server: OddServer) -> None:
    attacked(project, JUDGE, "padding", size=4)
    attacked(project, JUDGE, "padding", size=4, seed=3)
    one, other = (test.content.drawn for test in attacking.all_of(project))
    assert one != other
    assert len({struck.item_id for struck in one}) == 2


def test_the_baseline_is_put_to_the_test_without_a_network(project: Project) -> None:
    judged(project, "baseline")
    ended = attacked(project, "baseline")
    assert (ended["calls"], ended["state"]) == (0, "done")
    found = lines(project, "baseline")
    # It says the same every time, so that it need not be asked again; it is asked one criterion at a time.
    assert not {"control", "order.criteria"} & found.keys()
    assert found["injection"].noticed is None


def test_criteria_asked_together_are_asked_in_another_order(project: Project, server: OddServer) -> None:
    name = f"{JUDGE}, 3 together"
    judged(project, together=3)
    first: list[str] = []

    def by_place(body: dict[str, Any], _number: int) -> Odd:
        """Yes to whichever comes first."""
        tree = json.loads(json.loads(said("no", body).body)["choices"][0]["message"]["content"])
        tree["answers"][0]["covered"] = "yes"
        first.append(tree["answers"][0]["id"])
        return completion(json.dumps(tree))

    server.answer = by_place
    attacked(project, name, "order.criteria")
    line = lines(project, name)["order.criteria"]
    # Of three criteria of each of four reports one becomes a yes, and no other.
    assert (line.failed.n, line.up, line.failed.value) == (VERDICTS, 4, pytest.approx(1 / 3))
    (case, *_) = [one for one in attack_figures.cases_of(project, attacking.all_of(project)[0]) if one.failed]
    told = attack_figures.attack_case(project, case)
    assert ("another order" in told.done[0], told.copy) == (True, told.report)


def test_the_forecast_is_what_is_asked(project: Project, server: OddServer) -> None:
    found = asyncio.run(attacking.estimate(project, AttackRequest(JUDGE)))
    assert (server.bodies, attacking.all_of(project)) == ([], [])
    attacked(project)
    assert len(server.bodies) == found.judging.calls
    again = asyncio.run(attacking.estimate(project, AttackRequest(JUDGE)))
    assert (again.known, again.judging.calls) == (True, 0)


def test_what_cannot_be_tested_is_refused_in_words(project: Project) -> None:
    for wanted, words in (
        (AttackRequest("nobody"), "There is no judge"),
        (AttackRequest(JUDGE, attacks=("flattery",)), "There is no attack “flattery”"),
        (AttackRequest(JUDGE, attacks=("paraphrase",)), "There is no attack “paraphrase”"),
        (AttackRequest(JUDGE, attacks=("order.criteria",)), "cannot be tested with “order.criteria”"),
        (AttackRequest("baseline", attacks=("control",)), "cannot be tested with “control”"),
        (AttackRequest("baseline"), "has no verdict of its own"),
        (AttackRequest(JUDGE, "researcherbench.claims"), "This protocol reads no report"),
        (AttackRequest(JUDGE, size=0), "At least one verdict"),
    ):
        expect_refusal(words, asyncio.run, attacking.estimate(project, wanted))


def test_what_only_counts_or_was_asked_otherwise_is_not_tested_nor_told_to_who_labels(
    project: Project, server: OddServer
) -> None:
    expect_refusal("price", attacked, project, JUDGE, "padding", budget_usd=1.0)
    derived_judges.add(project, "vote", [JUDGE])
    expect_refusal("only counts", attacked, project, "vote")
    prompts.write(
        project,
        "researcherbench.coverage",
        prompts.shipped("researcherbench.coverage").replace("You check", "You verify"),
    )
    expect_refusal("has no verdict of its own", attacked, project, JUDGE, "padding")
    assert server.bodies == []
    people.add_person(project, "Ann", (Role.ANNOTATOR,))
    project.work_as(people.known(project, "R2"))
    for ask, *told in ((attack_figures.report,), (attacked,), (attack_figures.attack_case, "x")):
        expect_refusal("Only a coordinator", ask, project, *told)


@pytest.mark.parametrize("plants", [True, False])
def test_results_of_attacks_of_earlier_versions_stay_and_are_shown_by_name(
    project: Project, server: OddServer, plants: bool
) -> None:
    server.answer = gullible
    attacked(project, JUDGE, "injection" if plants else "padding")
    before = attack_figures.report(project)[0].failed
    earlier = [name for name in KNOWN_ATTACKS.keys() - ATTACKS if KNOWN_ATTACKS[name].plants == plants]
    assert earlier
    for name in sorted(earlier):
        sql.alter(project, "UPDATE attack_copy SET attack = ?, variant = 'wording 6, at the start'", [name])
        changed = (
            "UPDATE attack_test SET content = json_set(content, '$.attacks', json_array(?),"
            " '$.writer_id', 'w', '$.unfit', json_object('reformatting', json_array('r')))"
        )
        sql.alter(project, changed, [name])
        report = attack_figures.report(project)
        (line,) = report
        assert (line.attack, line.failed) == (name, before)
        assert attack_figures.sheets(report)[0].lines[0].cells[0].words == KNOWN_ATTACKS[name].title
        (case, *_) = attack_figures.listed(project, line.test, name)
        assert attack_figures.attack_case(project, case).title == KNOWN_ATTACKS[name].title
        # Of such a test nothing is asked any more.
        expect_refusal(f"There is no attack “{name}”", attacked, project, JUDGE, name)


CLAUDE, GPT = "Claude Research", "GPT Researcher"
# Judges compare reports by several protocols, so that each bias names its own.
OF_PAIRS = " (Which of two reports is better)"
VIEW = next(one for one in validation_views.VIEWS if one.name == "bias")


# Four items with two criteria and two systems, of which the second by name writes the longer reports.
biased = fixture_of(validation_project, systems=(CLAUDE, GPT))


@once
def labelled_project(folder: Path) -> Project:
    """One person says yes to the first criterion of every report, and no to the second."""
    biased = validation_project(folder, systems=(CLAUDE, GPT))
    validation_sets.make(
        biased,
        validation_sets.SetRequest(
            "Spring", (person(biased, "R2").id, person(biased, "R3").id), size=8, test_share=0.0
        ),
    )
    for alias in ("R2", "R3"):
        person_says(biased, alias, lambda at: "yes" if at[2] == 1 else "no")
    validation_sets.lock(biased, "Spring")
    return biased


labelled = fixture_of(labelled_project)


def found(biased: Project, about: str, judge: str = "") -> dict[str, biases.Bias]:
    return {one.name: one for one in biases.report(biased, judge=judge) if one.about == about}


def kind_to(system: str):
    """A judge that goes with people, but says yes to everything of one system."""
    return lambda at: "yes" if at[2] == 1 or at[1] == system else "no"


def test_who_says_yes_to_longer_reports_leans_to_them(labelled: Project, small_cases: None) -> None:
    judge_says(labelled, "long", kind_to(GPT))
    told = found(labelled, biases.LENGTH)
    # On longer reports one of two verdicts is a yes too many, on shorter ones none is.
    assert {name: bias.figure.value for name, bias in told.items()} == pytest.approx({
        "Leans to longer reports": 0.5, "Errs more on longer reports": 0.5,
        "“yes” where people disagree": 1.0, "Not “yes” where people say so": 0.0,
    })  # fmt: skip
    assert biases.verdict(told["Leans to longer reports"]) == "above it"
    judge_says(labelled, "fair", lambda at: "yes" if at[2] == 1 else "no")
    assert {one.figure.value for one in found(labelled, biases.LENGTH, "fair").values()} == {0.0}


def test_who_is_kind_to_its_own_family_leans_to_it_which_can_be_told_otherwise_and_taken_back(
    labelled: Project,
) -> None:
    for name in ("gpt-5", "claude-4", "house judge"):
        judge_says(labelled, name, kind_to(GPT))
    own = {one.judge: one.figure.value for one in biases.report(labelled) if one.about == biases.FAMILY}
    assert own == {"gpt-5": pytest.approx(0.5), "claude-4": pytest.approx(-0.5), "house judge": None}
    before = found(labelled, biases.FAMILY, "house judge")["Leans to its own family"].figure
    assert before.note == "the judge is of no known family"
    attacking.set_family(labelled, "house judge", "OpenAI")
    after = found(labelled, biases.FAMILY, "house judge")["Leans to its own family"].figure
    history.undo(labelled)
    again = found(labelled, biases.FAMILY, "house judge")["Leans to its own family"].figure
    assert (after.value, again) == (pytest.approx(0.5), before)
    for family, known in (("none", ("", True)), ("", ("OpenAI", False))):
        attacking.set_family(labelled, GPT, family)
        (gpt,) = [member for member in attacking.members(labelled) if member.name == GPT]
        assert (gpt.family, gpt.entered) == known


def test_a_bias_needs_labels_and_a_known_system(biased: Project) -> None:
    assert VIEW.sheets(VIEW.report(biased)) == ()
    expect_refusal("no system and no judge", attacking.set_family, biased, "Nobody", "OpenAI")
    judge_says(biased, "small", lambda at: "yes")
    for about in (biases.LENGTH, biases.FAMILY):
        (one,) = found(biased, about).values()
        assert (one.figure.value, "Nobody has submitted labels" in biases.verdict(one)) == (None, True)


@pytest.mark.usefixtures("small_cases")
def test_the_order_of_a_pair_shows_over_every_trial(biased: Project) -> None:
    judges.add(biased, "first", base_url="http://127.0.0.1:1/v1", model="m")
    changes, first = (f"{words}{OF_PAIRS}" for words in ("Verdict changes with the order", "First one named"))
    _compared(biased, 1, lambda one, other: "first")
    told = found(biased, biases.POSITION)
    # The first one shown wins on every item, in both orders.
    assert [told[name].figure.value for name in (changes, first)] == [1.0, 1.0]
    assert biases.verdict(told[first]) in ("above it", biases.NO_BIAS)
    _compared(biased, 2, lambda one, other: "first" if one < other else "second")
    told = found(biased, biases.POSITION)
    # Four pairs, each in both orders, twice: the order decides at the first trial alone, and the second names as many
    # that stand first as second.
    assert (told[changes].figure.value, told[changes].figure.n) == (0.5, 8)
    assert (told[first].figure.value, told[first].figure.n) == (0.75, 16)


def _compared(biased: Project, trial: int, value: Callable[[str, str], str]) -> None:
    """What the judge “first” says of two responses, in both orders."""
    pairs = sql.rows(
        biased,
        "SELECT a.item_id, a.id, b.id FROM response a JOIN response b ON a.item_id = b.item_id AND a.id != b.id",
    )
    judge_id = judges.named(biased, "first").id
    with biased.store.write() as db:
        for item, one, other in pairs:
            row = Judgement(
                id=derived_id(one, other, str(trial)), protocol="researcherbench.pairwise", item_id=item,
                response_id=one, unit_id=other, trial=trial, rater_kind=RaterKind.JUDGE, rater_id=judge_id,
                at=now(), value=value(one, other),
            ).model_dump()  # fmt: skip
            db.execute(insert(JUDGEMENT).values(**row, sha256=judgement_hash(row)))
        db.exec_driver_sql(
            "INSERT OR IGNORE INTO run SELECT 'r1', id, 'researcherbench.pairwise', 'done', '{}', '{}', '', 0, 0, "
            "'2026-01-01 00:00:00', NULL, NULL, '' FROM judge WHERE name = 'first'"
        )


two_judged = fixture_of(two_judges)


@pytest.mark.usefixtures("small_cases")
def test_a_flip_is_a_unit_on_which_not_all_trials_agree(two_judged: Project) -> None:
    say(two_judged, "a", "yyynnn")
    # Nothing was said twice: every figure is undefined, with its reason.
    alone = biases.within(two_judged, "a")
    said = [(one.value, bool(one.note)) for one in alone.figures.values()]
    assert (alone.about["units"], said) == (0, [(None, True)] * 3)
    say(two_judged, "a", "yynnny", trial=2)
    say(two_judged, "a", "yynnn-", trial=3)
    found = biases.within(two_judged, "a")
    # The third and the sixth unit flip: 2 of 6. Pairs that agree: 3, 3, 1 of 3 and 3, 3 of 3, and 0 of 1.
    flips, agreement = found.figures["flips"], found.figures["agreement"]
    assert (found.about["trials"], found.about["units"], flips.value, agreement.value) == (
        3, 6, 2 / 6, pytest.approx((1 + 1 + 1 / 3 + 1 + 1 + 0) / 6),
    )  # fmt: skip
    # Wilson's interval for 2 of 6 with t² = 161.45, of one degree of freedom: one flips on either of two items.
    # (.3333 + 13.4543 ± 12.706·√(.03704 + 1.12120)) / 27.9086.
    assert (flips.low, flips.high) == pytest.approx((0.0040, 0.9840), abs=1e-3)
    # A unit judged once counts for nothing: yy yy yn nn.
    say(two_judged, "b", "yyynnn")
    say(two_judged, "b", "yynn--", trial=2)
    # Krippendorff 2011: n = 8, n_yes = 5, n_no = 3, one unit of two values disagrees: α = 1 − 7·2 / (2·5·3).
    once = biases.within(two_judged, "b")
    assert (once.about["units"], once.figures["flips"].value, once.figures["alpha"].value) == (
        4, 1 / 4, pytest.approx(1 - 7 * 2 / 30),
    )  # fmt: skip


@pytest.mark.parametrize("level", [Level.ORDINAL, Level.INTERVAL])
def test_repeats_of_ordered_values_have_the_figures_of_their_level(
    two_judged: Project, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    rated(monkeypatch, numbers(0, 9, level=level))
    trials = ("158320", "258321", "15842-")
    for trial, values in enumerate(trials, 1):
        say(two_judged, "a", values, trial=trial)
    found = biases.within(two_judged, "a")
    given = [[float("nan") if value == "-" else int(value) for value in values] for values in trials]
    assert found.figures["alpha"].value == pytest.approx(
        krippendorff.alpha(given, level_of_measurement=level.value)
    )
    more = [name for name in FIGURES[level] if name not in ("alpha", "agreement")]
    assert [*found.figures] == ["flips", "agreement", "alpha", *more]
    # Three pairs of trials on each unit but the last, which has one.
    assert {found.figures[name].n for name in more} == {16}
    if level is Level.INTERVAL:
        # Apart by 1, 0, 1; 0, 0, 0; 0, 0, 0; 0, 1, 1; 0, 0, 0; and 1.
        assert found.figures["absolute_difference"].value == pytest.approx(5 / 16)
        assert found.figures["icc"].method.startswith("ICC(1,1)")
    assert found.tree().keys() >= found.figures.keys()


def test_two_judges_are_compared_on_the_units_that_both_judged(two_judged: Project) -> None:
    say(two_judged, "a", "yyynn-")
    say(two_judged, "b", "yynnyy")
    found = biases.between(two_judged, "a", "b")
    # yy yy yn nn ny: 3 of 5 agree; chance 3/5·3/5 + 2/5·2/5 = .52, so κ = (.6 − .52) / .48.
    assert (found.about["units"], found.figures["agreement"].value, found.figures["kappa"].value) == (
        5, 3 / 5, pytest.approx((0.6 - 0.52) / 0.48),
    )  # fmt: skip
    assert (found.figures["over_runs"].value, found.figures["spread"].value, found.figures["spread"].note) == (
        pytest.approx(3 / 5), None, "one run has no spread",
    )  # fmt: skip


def test_letter_17_the_agreement_of_two_judges_has_a_spread_over_runs(two_judged: Project) -> None:
    for trial, (one, other) in enumerate((("yyyyyy", "yyyyyn"), ("yyyyyy", "yyynnn")), 1):
        say(two_judged, "a", one, trial=trial)
        say(two_judged, "b", other, trial=trial)
    found = biases.between(two_judged, "a", "b")
    # 5/6 and 3/6: their mean, and √(2 · (1/6)² / 1) apart.
    assert (found.figures["over_runs"].value, found.figures["spread"].value) == pytest.approx(
        (4 / 6, (2 / 36) ** 0.5)
    )
    assert found.tree()["spread"]["n"] == 2
