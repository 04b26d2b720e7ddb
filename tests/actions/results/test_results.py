"""Scores and what is missing, whose judgements and gold they rest on, by what rule, and when they may be published.

Systems compared, judges' scores beside people's, and citations window by window.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import krippendorff
import pytest
from scipy.stats import spearmanr
from sqlalchemy import update

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, settings
from annotator.actions.items import items, pages
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.labelling import labels
from annotator.actions.material import extracting, model_drafts
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables, view_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import overview, result_raters, results, results_behind, scoring
from annotator.actions.results.result_sheets import FigureSource
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views, score_views
from annotator.actions.undo import history
from annotator.cli.saying import app
from annotator.domain.common import Refusal, now
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.documents import UNSURE
from annotator.domain.kinds.kind import Kind, Role, Stage
from annotator.domain.material.item import Page, PageState
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import USUAL
from annotator.storage.tables import CALL
from tests.common import expect_refusal, fixture_of, once
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.material.bundles import tree
from tests.projects import adra_project as adra, pairs_project as pairs
from tests.projects.small_projects import (
    CRITERIA,
    add_report,
    project_with,
    seal,
    submit_labels,
    units_of,
)
from tests.servers.served import JUDGE, asked_about
from tests.storage import sql


def label_all(project: Project, verdicts: dict[str, list[str]]) -> None:
    for task in labels.queue(project):
        for unit, verdict in zip(
            units_of(project, task.item_id), verdicts[system_of(project, task.response_id)], strict=True
        ):
            labels.set_label(project, task.response_id, unit, verdict)
    submit_labels(project)


def system_of(project: Project, response_id: str) -> str:
    question = "SELECT s.name FROM system s JOIN response r ON r.system_id = s.id WHERE r.id = ?"
    return str(sql.first(project, question, [response_id])[0])


def figure(project: Project, system: str, group: str = "all") -> results.ResultRow:
    return next(r for r in results.rows(project) if r.system == system and r.group == group)


def test_an_unsure_label_is_missing_and_bounds_the_score(project: Project) -> None:
    label_all(project, {"Alpha": ["yes", "no", "unsure"], "Beta": ["no", "no", "no"]})
    found = figure(project, "Alpha").estimate
    assert (found.missing, found.value) == (2, pytest.approx(3 / 5))
    assert (found.floor, found.ceiling) == (pytest.approx(3 / 6), pytest.approx(4 / 6))
    assert figure(project, "Beta").estimate.value == 0


def test_each_person_is_a_rater_of_their_own_beside_all_of_them(project: Project) -> None:
    label(project, "Ada", ["yes", "yes", "no"])
    label(project, "Ben", ["yes", "no", "no"])
    asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline")))
    assert [rater.name for rater in result_raters.raters(project)] == ["baseline", "people"]
    assert {row.rater for row in results.rows(project)} == {"baseline"}
    found = {rater.name: (rater.id, rater.judgements) for rater in result_raters.everybody(project, COVERAGE)}
    assert list(found) == ["baseline", "people", "R2", "R3"]
    assert [count for _, count in found.values()] == [12, 6, 3, 3]
    # Weights 3, 2 and 1: 5/6 and 3/6, and 4/6 on average.
    assert coverage(project, found["R2"][0]) == pytest.approx(5 / 6)
    assert coverage(project, found["R3"][0]) == pytest.approx(3 / 6)
    assert coverage(project, "people") == pytest.approx(4 / 6)


def test_scores_bound_what_is_missing(project: Project) -> None:
    assert results.rows(project) == []
    label_all(project, {"Alpha": ["yes", "no", "yes"], "Beta": ["no", "yes", "no"]})
    assert [figure(project, system).estimate.value for system in ("Alpha", "Beta")] == pytest.approx(
        [(3 + 1) / (3 + 2 + 1), 2 / 6]
    )
    alpha = [row for row in results.rows(project) if row.system == "Alpha"]
    assert {(row.group_by, row.group): row.estimate.n for row in alpha} == {
        ("all", "all"): 2,
        ("question_type", "Open Consulting"): 1,
        ("question_type", "Technical Details"): 1,
        ("subject", "Deep learning"): 2,
    }
    row = figure(project, "Alpha", "Technical Details")
    lines = results_behind.of_source(
        project, FigureSource(USUAL, row.rater_id, "", row.system_id, row.group_by, row.group)
    )
    assert [(line.unit, line.weight, line.judgement.value) for line in lines] == [
        ("Explains residual connections", 3, "yes"),
        ("Compares training stability", 2, "no"),
        ("Names one dataset", 1, "yes"),
    ]


PLAN = "adra.plan"


@pytest.fixture
def matrix(tmp_path: Path) -> Project:
    """Alpha and Beta on two items; Alpha's plans are judged, one cell of the second item is missing."""
    matrix = adra.adra_project(tmp_path, 2, ("Alpha", "Beta"))
    one, two = items.ids(matrix)
    adra.fill_matrix(matrix, one, adra.response_of(one), [[1, 0, 0, 0], [0, 1, 0, 0]])
    adra.fill_matrix(matrix, two, adra.response_of(two), [[1, 0, 0, None]])
    return matrix


def test_what_stands_behind_a_figure_leads_to_its_judgements(matrix: Project) -> None:
    alpha, one = adra.derived_id("system", "Alpha"), items.ids(matrix)[0]
    sheet = results_behind.behind(matrix, FigureSource(PLAN, adra.JUDGE, "plan.recall", alpha))
    found = [[cell.words for cell in line.cells] for line in sheet.lines]
    # Two of four gold sub-tasks; of the second item the one row that is whole has none to count.
    assert [(row[0], row[2], row[5], row[6]) for row in found] == [
        ("1", "Alpha", "8", "0"),
        ("2", "Alpha", "3", "1"),
    ]
    # All missing not relevant: one of four found; relevant: still one row, so one of four.
    assert (found[0][4], found[1][7]) == ("0.500", "0.250 – 0.250")
    assert [(line.unit, line.judgement.value) for line in results_behind.of_source(matrix, sheet.lines[1].source)] == [
        (adra.GOLD_PLAN[0], "relevant"), (adra.GOLD_PLAN[1], "not"), (adra.GOLD_PLAN[2], "not"),
        (adra.GOLD_PLAN[3], None),
    ]  # fmt: skip
    source = FigureSource(PLAN, adra.JUDGE, item_id=one, response_id=adra.response_of(one), unit_id="p2~g2")
    assert [line.judgement.value for line in results_behind.of_source(matrix, source)] == ["relevant"]
    computed = results_behind.behind(matrix, FigureSource("adra.efficiency", "computed", "tokens"))
    assert [line.source for line in computed.lines] == [None] * 4
    assert "0 of 4 reports have a score" in computed.notes[0]
    matrix.work_as(people.known(matrix, people.add_person(matrix, "Ada", (Role.ANNOTATOR,)).subject))
    expect_refusal(
        "Only a coordinator", results_behind.behind, matrix, FigureSource(PLAN, adra.JUDGE, "plan.recall")
    )


def test_of_a_pair_both_orders_are_behind_it(matrix: Project) -> None:
    one = items.ids(matrix)[0]
    a, b = adra.response_of(one), adra.response_of(one, "Beta")
    adra.say(matrix, "researcherbench.pairwise", one, a, {b: "first"})
    adra.say(matrix, "researcherbench.pairwise", one, b, {a: "second"})
    source = FigureSource("researcherbench.pairwise", adra.JUDGE, item_id=one, response_id=a, unit_id=b)
    assert [(line.system, line.unit, line.judgement.value) for line in results_behind.of_source(matrix, source)] == [
        ("Alpha", "Beta", "first"), ("Beta", "Alpha", "second"),
    ]  # fmt: skip


COVERAGE = "researcherbench.coverage"


def label(project: Project, who: str, verdicts: list[str]) -> None:
    me, item = people.someone(project), items.ids(project)[0]
    units = units_of(project, item)
    of_alpha = "system_id IN (SELECT id FROM system WHERE name = 'Alpha')"
    (report,) = sql.first(project, f"SELECT id FROM response WHERE item_id = ? AND {of_alpha}", [item])
    project.work_as(people.known(project, people.add_person(project, who, (Role.ANNOTATOR,)).subject))
    for unit, verdict in zip(units, verdicts, strict=True):
        labels.set_label(project, report, unit, verdict)
    submit_labels(project)
    project.work_as(me)


def coverage(project: Project, rater_id: str) -> float | None:
    return next(
        row.estimate.value
        for row in results.rows(project, rater_id)
        if row.system == "Alpha" and row.group == "all"
    )


def test_what_a_person_was_not_given_is_not_missing_and_only_a_coordinator_is_told_how_they_answered(
    project: Project,
) -> None:
    label(project, "Ada", ["yes", "yes", UNSURE])
    (rater,) = (one for one in result_raters.everybody(project, COVERAGE) if one.name == "R2")
    found = next(row for row in results.rows(project, rater.id) if row.group == "all")
    assert (found.system, found.estimate.n, found.estimate.missing) == ("Alpha", 1, 1)
    assert found.missing_rate == pytest.approx(1 / 3)
    assert len(result_raters.named_people(project, COVERAGE)) == 1
    project.work_as(next(person for person in people.people(project) if person.name == "Ada"))
    assert [one.name for one in result_raters.everybody(project, COVERAGE)] == ["people"]
    assert result_raters.named_people(project, COVERAGE) == []
    expect_refusal(
        "Only a coordinator can read the judgements behind a figure",
        results_behind.of_source,
        project,
        FigureSource(COVERAGE, "people"),
    )


def test_settled_labels_are_a_rater_too(tmp_path: Path) -> None:
    project = pairs.settled_labels(tmp_path)
    rater = next(
        one for one in result_raters.everybody(project, COVERAGE) if one.id == result_raters.CONSENSUS
    )
    assert rater.judgements == 2
    # Met is what weighs 3 of 4.
    assert coverage(project, rater.id) == pytest.approx(3 / 4)
    lines = results_behind.of_source(project, FigureSource(COVERAGE, rater.id))
    assert [(line.rater, line.unit, line.judgement.value) for line in lines] == [
        ("consensus", "Explains it", "yes"), ("consensus", "Names it", "no"),
    ]  # fmt: skip


@fixture_of
@once
def doubled(folder: Path) -> pairs.Project:
    """Ada and Ben wrote a rubric of the first item, Ada alone one of the second; a judge judged both by Ada's."""
    doubled = pairs.pairs_project(folder, 2)
    pairs.submit(doubled, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")})
    pairs.submit(doubled, {"Ada": pairs.rubric(pairs.ADA, "c")}, place=1)
    pairs.work_as(doubled, "Cora")
    adra.add_judge(doubled)
    for place, prefix, said in ((0, "a", "yynyn"), (1, "c", "nnynn")):
        report = pairs.add_report(doubled, "Alpha", place)
        values = {f"{prefix}{n}": {"y": "yes", "n": "no"}[one] for n, one in enumerate(said, 1)}
        adra.say(doubled, COVERAGE, pairs.item(doubled, place), report, values)
    return doubled


def coverage_row(doubled: pairs.Project) -> results.ResultRow:
    return next(
        row for row in results.rows(doubled) if row.metric == "coverage" and row.group_by == scoring.ALL
    )


def test_doubles_count_only_where_asked(doubled: pairs.Project) -> None:
    found = coverage_row(doubled)
    # Ada's weights are 3, 2, 1, 2, 1: of the second item the third criterion is met, of the first nothing counts.
    assert (found.estimate.value, found.estimate.n) == (pytest.approx(1 / 9), 1)
    assert ("R2 alone (1 item)" in found.gold, "not adjudicated (1 item)" in found.gold) == (True, True)
    annotating.count_unadjudicated(doubled, True)
    found = coverage_row(doubled)
    assert (found.estimate.value, found.estimate.n) == (pytest.approx((7 / 9 + 1 / 9) / 2), 2)
    assert "R2, not adjudicated (1 item)" in found.gold
    assert any("R2, not adjudicated" in line for line in overview.sheets(overview.report(doubled))[0].notes)
    history.undo(doubled)
    assert coverage_row(doubled).estimate.n == 1


def test_letter_12_one_of_two_who_are_asked_is_no_gold_yet(doubled: pairs.Project) -> None:
    item = pairs.item(doubled, 1)
    for name in ("Ada", "Ben"):
        assignments.assign_one(doubled, item, pairs.person(doubled, name).id, Stage.RUBRIC)
    with doubled.store.read() as db:
        assert list(annotating.whose(db, pairs.Kind.RUBRIC).values()) == [annotating.LEFT_OUT] * 2
        assert annotating.LEFT_OUT in annotating.words(db, [pairs.Kind.RUBRIC])
    pairs.work_as(doubled, "Ada")
    expect_refusal("", annotating.count_unadjudicated, doubled, True)


def test_letter_12_the_command_and_the_release_say_whose(
    doubled: pairs.Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cora = pairs.person(doubled, "Cora").id
    app(["gold", str(doubled.path), "--unadjudicated", "--as", cora, "--json"], standalone_mode=False)
    told = json.loads(capsys.readouterr().out)
    assert (told["unadjudicated"], "R2, not adjudicated" in told["gold"]["rubric"]) == (True, True)
    releases.export(pairs.Project.open(doubled.path), out := tmp_path / "out")
    assert all(
        "not adjudicated" in one["gold"] for one in tree(out, "scores.json") if one["metric"] == "coverage"
    )
    whose = "the document that scored first, else that of the first alias"
    assert tree(out, "manifest.json")["unadjudicated"] == whose


def test_a_release_says_nothing_of_who_is_awaited_for_an_item_that_was_retired(
    doubled: pairs.Project, tmp_path: Path
) -> None:
    second = pairs.item(doubled, 1)
    for name in ("Ada", "Ben"):
        assignments.assign_one(doubled, second, pairs.person(doubled, name).id, Stage.RUBRIC)
    for retired, awaited in ((False, {"rubric": [second]}), (True, None)):
        items.change(doubled, second, retired=retired)
        releases.export(doubled, out := tmp_path / "out")
        assert tree(out, "manifest.json").get("awaited") == awaited


def result(value: float | None, judged: int, missing: int, note: str = "") -> results.ResultRow:
    return results.ResultRow(
        "m", "p", "r", "r", "s", "s", "all", "all", Estimate(value, missing=missing, note=note), judged=judged
    )


def test_limits_and_formulas(project: Project) -> None:
    assert results.limit(project) == 0.05
    missing = "6.0 % of the judgements are missing, more than 5.0 %"
    for row, limit, reason in (
        (result(0.5, 95, 5), 0.05, ""),
        (result(0.5, 94, 6), 0.05, missing),
        (result(None, 10, 0, "no claim was cited"), 0.05, "no claim was cited"),
        (result(0.5, 0, 0), 0.0, ""),
    ):
        assert results.why_not(row, limit) == reason
    change = results.set_limit(project, 0.2)
    assert (change.before, change.after, results.limit(project)) == (0.05, 0.2, 0.2)
    for share in (-0.1, 1.5):
        expect_refusal("between 0 and 1", results.set_limit, project, share)


@pytest.mark.parametrize("info", scoring.described(), ids=lambda info: info.name)
def test_every_metric_says_what_it_is_and_where_it_comes_from(info: scoring.MetricInfo) -> None:
    shown = scoring.html(info.definition)
    assert "ndefined" in shown
    assert info.citation
    assert not {"$$", "\\frac", "\\text", "`"} & set(shown.split())
    assert "\\" not in shown


def test_formulas_are_set_in_one_line_and_signs_are_no_markup() -> None:
    assert scoring.formula(r"\frac{\sum_i w_i b_i}{\sum_i w_i}") == (
        "Σ<sub>i</sub> w<sub>i</sub> b<sub>i</sub> / Σ<sub>i</sub> w<sub>i</sub>"
    )
    assert scoring.formula(r"\frac{TP}{TP + FP}") == "TP / (TP + FP)"
    assert "&lt;b&gt;" in scoring.html("a <b> sign")
    assert "coverage" in expect_refusal("no metric “speed”", scoring.named, "speed").todo


NAME = "arena.checklist"
DRAFT = {
    "points": [
        {"title": f"Point {n}", "description": "Sources are cited.", "weight": one}
        for n, one in enumerate((0.5, 0.3, 0.2))
    ]
}


def test_a_figure_says_that_its_judges_model_drafted_the_checklist(tmp_path: Path, server: OddServer) -> None:
    project = project_with(tmp_path, 0)
    for name, model in (("writer", "gpt-4o-mini"), ("other", "gemini-2.5-flash")):
        judges.add(project, name, base_url=server.url, model=model)
    item_id = items.add(project, "How are sources cited?").subject
    add_report(project, item_id, "Alpha", "Sources are cited.")
    server.script(completion(json.dumps(DRAFT)))
    asyncio.run(
        model_drafts.run(
            project, RunRequest("writer", model_drafts.protocol_name(Kind.CHECKLIST), items=("1",))
        )
    )
    (proposal,) = model_drafts.proposals(project)
    model_drafts.take(project, proposal.id)
    (artifact,) = annotating.artifacts_of(project, item_id)
    assignments.seal(project, artifact.id)
    gold = {}
    for name in ("writer", "other"):
        server.script(*[completion(json.dumps({"quote": "", "rationale": "Basic.", "rating": 6}))] * 3)
        asyncio.run(orders.carry_out(project, RunRequest(name, NAME, concurrency=1)))
        gold[name] = results.rows(project, judges.named(project, name).id, protocol=NAME)[0].gold
    assert "3 points drafted by the judge's own model, gpt-4o-mini" in gold["writer"]
    assert "drafted" not in gold["other"]


FIRST, SECOND, _ = (text for text, _ in CRITERIA)


def reply(criterion: str, alpha: bool, repair: bool) -> Odd:
    """Of Alpha: no to the first, in words that hold y-e-s; yes to the rest. Of Beta: yes to all."""
    return completion(
        "No\nNothing on Bayesian analysis." if alpha and criterion == FIRST else "yes\nIt does."
    )


def refused_once(criterion: str, alpha: bool, repair: bool) -> Odd:
    if criterion == SECOND:
        return completion(None, refusal="I would rather not say yes.")
    return completion("yes\nIt does.")


def unclear(criterion: str, alpha: bool, repair: bool) -> Odd:
    """A repair is asked for here; the evaluator asks for none."""
    return completion("no\nIt does not." if repair else "Covered, yes.")


def judged_in_words(
    project: Project, server: OddServer, said: Callable[[str, bool, bool], Odd], **how: Any
) -> None:

    def answer(body: dict[str, Any], number: int) -> Odd:
        if "response_format" in body:
            return error(400, "response_format is not supported", param="response_format")
        messages = body["messages"]
        return said(asked_about(body)[0][1], "# Alpha" in messages[1]["content"], len(messages) > 2)

    server.answer = answer
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))


def coverage_read(project: Project, reading: str = "") -> dict[str, float | None]:
    return {
        row.system: row.estimate.value
        for row in overview.report(project, reading=reading).rows
        if (row.metric, row.group) == ("coverage", "all")
    }


@pytest.mark.usefixtures("distant_judge")
@pytest.mark.parametrize(
    ("said", "here", "by_rule"),
    [
        (reply, (0.5, 1), (1, 1)),
        # Ours over the judgements that came; theirs without the weight of 2.
        (refused_once, (1, 1), (4 / 6, 4 / 6)),
        (unclear, (0, 0), (1, 1)),
        (lambda *_: completion(""), (None, None), (0, 0)),
    ],
    ids=["letters inside", "refused_once", "before the repair", "empty"],
)
def test_coverage_is_also_computed_by_the_published_rule_where_that_is_chosen(
    project: Project, server: OddServer, said: Any, here: Any, by_rule: Any
) -> None:
    for _ in range(2):
        # A run that gets nowhere stops before its end; the second one goes on from there.
        judged_in_words(project, server, said)
    calls = len(server.bodies)
    assert tuple(coverage_read(project).values()) == pytest.approx(here)
    assert tuple(coverage_read(project, overview.PUBLIC).values()) == pytest.approx(by_rule)
    assert tuple(coverage_read(project).values()) == pytest.approx(here)
    assert len(server.bodies) == calls


@pytest.mark.usefixtures("distant_judge")
@pytest.mark.parametrize(
    ("statement", "by_rule"),
    [
        (update(CALL).values(status="api_error", raw="yes, this key is yesterday's"), (0, 0)),
        ("UPDATE judgement SET call_id = NULL", (0.5, 1)),
    ],
    ids=["the body of an error is no reply", "no call is stored"],
)
def test_what_brought_no_reply_is_read_as_the_evaluator_would(
    project: Project, server: OddServer, statement: Any, by_rule: Any
) -> None:
    judged_in_words(project, server, reply)
    with project.store.write() as db:
        db.exec_driver_sql(statement) if isinstance(statement, str) else db.execute(statement)
    assert tuple(coverage_read(project, overview.PUBLIC).values()) == pytest.approx(by_rule)


@pytest.mark.usefixtures("distant_judge")
def test_the_choice_is_offered_where_replies_can_be_read_and_says_what_it_did(
    project: Project, server: OddServer
) -> None:
    assert "reading" not in {choice.name for choice in overview.choices(project)}
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    assert "reading" not in {choice.name for choice in overview.choices(project)}
    judged_in_words(project, server, reply)
    shown = result_views.show(project, "overview", {"reading": overview.PUBLIC, "metric": "coverage"})
    assert any("read by the rule of ResearcherBench" in words for words in shown.sheets[0].notes)
    (sheet,) = overview.sheets(
        overview.report(project, judges.named(project, "baseline").id, reading=overview.PUBLIC), "coverage"
    )
    assert any("the rule cannot read what baseline said" in words for words in sheet.notes)


@pytest.mark.usefixtures("distant_judge")
def test_a_judge_that_is_asked_several_criteria_in_one_call_cannot_be_read(
    project: Project, server: OddServer
) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, together=3)))
    assert "reading" not in {choice.name for choice in overview.choices(project)}
    assert overview.everything(project, reading="public") == overview.everything(project)


RECALL = "plan.recall"


compared = fixture_of(adra.adra_project, 0)


def item(compared: Project, subject: str = "NLP") -> str:
    item_id = items.add(
        compared, f"Question on {subject}, {len(items.ids(compared))}?", "Technical Details", subject
    ).subject
    for document in adra.gold():
        assignments.seal(compared, adra.artifacts.start(compared, item_id, document.KIND, document).subject)
    return item_id


def recall(compared: Project, item_id: str, system: str, found: int, **how: object) -> str:
    response_id = adra.answer(compared, item_id, system, **how)  # type: ignore[arg-type]
    rows = [[int(i == j) for j in range(4)] for i in range(found)] or [[0, 0, 0, 0]]
    adra.fill_matrix(compared, item_id, response_id, rows)
    return response_id


def test_who_is_on_the_front_and_who_is_beaten(compared: Project) -> None:
    one = item(compared)
    recall(compared, one, "Good", 3, latency_s=10.0, tokens=100)
    recall(compared, one, "Cheap", 1, latency_s=2.0, tokens=100)
    recall(compared, one, "Bad", 1, latency_s=20.0)
    (sheet,) = score_views.efficiency(compared, RECALL)
    worth = {line.cells[0].words: (line.cells[3], line.cells[5]) for line in sheet.lines}
    assert {name: latency.words for name, (latency, _) in worth.items()} == {
        "Good": "on the front", "Cheap": "on the front", "Bad": "beaten by Cheap, Good",
    }  # fmt: skip
    # At equal tokens the higher score wins; of Bad nothing is known.
    assert {name: tokens.words for name, (_, tokens) in worth.items()} == {
        "Good": "on the front", "Cheap": "beaten by Good", "Bad": "not known",
    }  # fmt: skip


def test_length_goes_with_the_score(compared: Project) -> None:
    for result, letters in ((1, 10), (2, 20), (3, 30)):
        recall(compared, item(compared), "Alpha", result, text="x" * letters)
    sheet, correlations = score_views.lengths(compared, RECALL)
    # Scores 1/4, 2/4, 3/4 rise on a line with lengths 10, 20, 30.
    assert sheet.pictures[0].draw.args[1] == {"Alpha": [(10.0, 0.25), (20.0, 0.5), (30.0, 0.75)]}
    assert sheet.lines[0].cells[6].value == pytest.approx(1.0)
    assert [line.cells[4].value for line in correlations.lines] == [3, 3, 1, 1, 3, 3, 1, 1]
    assert [cell.value for cell in sheet.lines[0].cells[1:5]] == [3, 20.0, 10.0, 30.0]


def test_what_gold_gives_is_paired_item_by_item(compared: Project) -> None:
    for before, after in ((1, 3), (2, 2), (4, None)):
        one = item(compared)
        recall(compared, one, "Alpha", before)
        if after is not None:
            recall(compared, one, "Alpha", after, mode="isolated")
    gain, each = score_views.modes(compared, metric=RECALL)
    assert gain.keys[1:3] == ["mode_end_to_end", "mode_isolated"]
    # 3/4 − 1/4 and 2/4 − 2/4; the third item has one mode only.
    assert [line.cells[4].value for line in each.lines] == [0.5, 0.0]
    assert [cell.value for cell in gain.lines[0].cells[3:]] == [pytest.approx(0.25), 2, 1]


def test_a_mean_of_runs_keeps_what_is_missing(compared: Project) -> None:
    one = item(compared)
    recall(compared, one, "Alpha", 2)
    adra.fill_matrix(compared, one, adra.answer(compared, one, "Alpha", trial=2), [[1, None, 0, 0]])
    (scores,) = (of[one] for of in results.by_item(results.of_metric(compared, RECALL).of_mode()).values())
    mean = results.item_means_of_runs(scores)
    assert (mean.n, mean.missing, mean.method) == (1, 1, "mean of 2 runs")
    assert mean.note == "1 of 2 left out: no defined score"


WORDS = ("sources", "limits", "methods", "costs")
TEXTS = {"Alpha": " ".join(WORDS), "Beta": "sources limits", "Gamma": "Nothing of it."}
# Ratings by each of three people, by system; of the last item Gamma has two.
RATINGS = {"Alpha": (9, 8, 10), "Beta": (6, 5, 4), "Gamma": (0, 1, 2)}
ITEMS = 6


@fixture_of
@once
def rated(folder: Path) -> Project:
    made = project_with(folder, 2)
    raters, first = people.people(made), made.person
    assert first is not None
    for number in range(ITEMS):
        item_id = items.add(made, f"Question {number}?").subject
        point = CheckPoint(id=f"p{number}", text=" ".join(WORDS), share=1.0)
        seal(made, item_id, Checklist(units=(point,)))
        for system, text in TEXTS.items():
            response_id = add_report(made, item_id, system, text)
            last = number == ITEMS - 1 and system == "Gamma"
            for person, rating in zip(raters[: 2 if last else 3], RATINGS[system], strict=False):
                made.work_as(person)
                labels.set_label(made, response_id, point.id, str(rating), protocol=NAME)
            made.work_as(first)
    submit_labels(made)
    asyncio.run(orders.carry_out(made, RunRequest("baseline", NAME)))
    return made


def test_a_judges_scores_are_correlated_with_the_mean_of_peoples_who_agree_by_alpha(rated: Project) -> None:
    (result,) = view_tables.agreement_report(rated)
    assert (result.title, len(result.items), sorted(set(result.raters))) == ("ACE", 3 * ITEMS, [2, 3])
    # The baseline gives 10 for four words of four, 5 for two and 0 for none, on each item alike.
    assert set(result.by_judge) == {10.0, 5.0, 0.0}
    peer = spearmanr(result.by_judge, [fmean(of.values()) for of in result.by_people]).statistic
    assert result.over("spearman").value == pytest.approx(peer)
    assert (result.within().value, result.within().n) == (pytest.approx(1.0), ITEMS)
    names = sorted({rater for of in result.by_people for rater in of})
    rows = [[of.get(name, float("nan")) for of in result.by_people] for name in names]
    assert result.alpha().value == pytest.approx(krippendorff.alpha(rows, level_of_measurement="interval"))


def test_the_table_tells_what_is_published_who_rated_too_few_and_what_is_left_out(rated: Project) -> None:
    (sheet,) = result_views.show(
        rated, "tables", {"table": "scores-of-people"}, among=paper_tables.VIEWS
    ).sheets
    (line,) = sheet.lines
    of = dict(zip(sheet.keys, line.cells, strict=True))
    assert [of[f"published_{name}"].value for name in ("spearman", "pearson", "kendall")] == [
        0.81,
        0.76,
        0.65,
    ]
    assert (
        view_tables.AIMS["ksr"].spearman, view_tables.AIMS["kcr"].pearson, view_tables.AIMS["kor"].kendall,
    ) == (0.84, 0.79, 0.68)  # fmt: skip
    assert (of["raters"].words, of["place"].words) == ("2–3", "Table 5, ACE")
    assert "ACE, baseline: 1 of 18 responses were rated by fewer than 3 people." in sheet.notes
    assert any(words.startswith("Floor: the baseline") for words in sheet.notes)
    item_id = items.add(rated, "Two points?").subject
    seal(
        rated,
        item_id,
        Checklist(units=tuple(CheckPoint(id=f"q{n}", text=WORDS[n], share=0.5) for n in range(2))),
    )
    response_id = add_report(rated, item_id, "Alpha", TEXTS["Alpha"])
    # Of two points the second was never rated.
    labels.set_label(rated, response_id, "q0", "7", protocol=NAME)
    submit_labels(rated)
    asyncio.run(orders.carry_out(rated, RunRequest("baseline", NAME)))
    (result,) = view_tables.agreement_report(rated)
    assert (len(result.items), result.left_out) == (3 * ITEMS, 1)
    (sheet,) = view_tables.agreement_sheets([result])
    assert any("ACE, baseline: 1 response left out" in words for words in sheet.notes)


REFERENCE_COVERAGE = "deepscholar.coverage"
# The second sentence is borne out by the source of the first, the last by that two sentences away.
REPORT = """\
Oaks shade pavements [1]. Oaks cool playgrounds. Quarks collide [2]. Pigeons nest everywhere.

[1]: http://a.org/oaks
[2]: http://a.org/elms
"""
SOURCES = {
    "http://a.org/oaks": "Oaks shade pavements and cool playgrounds.",
    "http://a.org/elms": "Elms rustle.",
}


@pytest.fixture
def cited(tmp_path: Path) -> Project:
    made = people.new_project(tmp_path / "windows.gold")
    add_report(made, items.add(made, "Write on trees.").subject, "Alpha", REPORT)
    for url, text in SOURCES.items():
        pages.take_in(made, Page(url=url, state=PageState.OK, text=text, fetched_at=now()))
    asyncio.run(extracting.run(made, RunRequest("baseline", "deepscholar.sentences")))
    return made


def covered(cited: Project) -> dict[str, float | None]:
    (sheet,) = result_views.show(cited, "windows", {}, among=paper_tables.VIEWS).sheets
    (line,) = sheet.lines
    return dict(zip(sheet.keys[1:], (cell.worth for cell in line.cells[1:]), strict=True))


def test_what_is_judged_once_is_shown_for_every_window_and_a_wider_one_asks_only_for_what_is_new(
    cited: Project,
) -> None:
    order = RunRequest("baseline", REFERENCE_COVERAGE)
    assert asyncio.run(judge_runs.run(cited, order))["state"] == "done"
    assert covered(cited) == {"w0": 1 / 4, "w1": 2 / 4}
    value = {
        row.metric: row.estimate.value
        for row in results.rows(cited, protocol=REFERENCE_COVERAGE)
        if row.group_by == scoring.ALL
    }
    assert value["claim_coverage"] == 2 / 4
    assert judge_runs.plan(cited, order).to_do == 0
    assert not any(run_records.runs(cited)[0].lacking.values())
    settings.widen(cited, 2)
    # The first and the third sentence with each other's sources.
    assert judge_runs.plan(cited, order).to_do == 2
    asyncio.run(judge_runs.run(cited, order))
    assert (judge_runs.plan(cited, order).to_do, list(covered(cited))) == (0, ["w0", "w1", "w2"])


def test_reports_are_counted_by_system(cited: Project) -> None:
    (sheet,) = result_views.show(cited, "report-statistics", {}, among=paper_tables.VIEWS).sheets
    (line,) = sheet.lines
    assert [cell.worth for cell in line.cells[3:]] == [len(REPORT.partition("\n\n")[0].split()), 4, 2, 2]


@pytest.mark.parametrize("width", [0, 6])
def test_no_other_window_is_taken(cited: Project, width: int) -> None:
    with pytest.raises(Refusal, match="1 to 5"):
        settings.widen(cited, width)
    assert settings.width(cited) == 1


def test_a_forecast_says_that_fewer_calls_may_do(cited: Project) -> None:
    judges.add(cited, "model", base_url="http://127.0.0.1:9/v1", model="gpt-4o-mini")
    result = asyncio.run(forecasts.of(judge_runs.JudgeRun(cited, RunRequest("model", REFERENCE_COVERAGE))))
    # One and two places of four sentences: its own sources or the task, and those of the sentence beside it that cites.
    assert (result.calls, "by at most 7 calls" in result.words()[0]) == (1 + 3 + 1 + 2, True)


def test_views_of_one_part_stand_together() -> None:
    parts = [view.part for view in paper_tables.VIEWS]
    assert len([at for at, part in enumerate(parts) if not at or parts[at - 1] != part]) == len(set(parts))
