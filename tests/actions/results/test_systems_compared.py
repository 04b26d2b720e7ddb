"""Systems compared, judges' scores beside people's, and citations window by window: counted by hand."""

import asyncio
from pathlib import Path
from statistics import fmean

import krippendorff
import pytest
from scipy.stats import spearmanr

from annotator.actions.assignments import assignments
from annotator.actions.authoring import settings
from annotator.actions.items import items, pages
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.judging.judge_runs import JudgeRun
from annotator.actions.labelling import labels
from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables, view_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import results, scoring
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views, score_views
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.material.item import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.canonical import now
from annotator.domain.texts.refusal import Refusal
from tests.projects import adra_project as adra
from tests.projects.small_projects import add_report, project_with, seal, submit_labels

RECALL = "plan.recall"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return adra.adra_project(tmp_path, 0)


def item(project: Project, subject: str = "NLP") -> str:
    item_id = items.add(
        project, f"Question on {subject}, {len(items.ids(project))}?", "Technical Details", subject
    ).subject
    for document in adra.gold():
        assignments.seal(project, adra.artifacts.start(project, item_id, document.KIND, document).subject)
    return item_id


def recall(project: Project, item_id: str, system: str, found: int, **how: object) -> str:
    response_id = adra.answer(project, item_id, system, **how)  # type: ignore[arg-type]
    rows = [[int(i == j) for j in range(4)] for i in range(found)] or [[0, 0, 0, 0]]
    adra.fill_matrix(project, item_id, response_id, rows)
    return response_id


def test_who_is_on_the_front_and_who_is_beaten(project: Project) -> None:
    one = item(project)
    recall(project, one, "Good", 3, latency_s=10.0, tokens=100)
    recall(project, one, "Cheap", 1, latency_s=2.0, tokens=100)
    recall(project, one, "Bad", 1, latency_s=20.0)
    (sheet,) = score_views.efficiency(project, RECALL)
    worth = {line.cells[0].words: (line.cells[3], line.cells[5]) for line in sheet.lines}
    assert {name: latency.words for name, (latency, _) in worth.items()} == {
        "Good": "on the front", "Cheap": "on the front", "Bad": "beaten by Cheap, Good",
    }  # fmt: skip
    # At equal tokens the higher score wins; of Bad nothing is known.
    assert {name: tokens.words for name, (_, tokens) in worth.items()} == {
        "Good": "on the front", "Cheap": "beaten by Good", "Bad": "not known",
    }  # fmt: skip
    assert [picture.name for picture in sheet.pictures] == ["latency", "tokens"]
    assert any(words.startswith("Cost is not known") for words in sheet.notes)


def test_length_goes_with_the_score(project: Project) -> None:
    for result, letters in ((1, 10), (2, 20), (3, 30)):
        recall(project, item(project), "Alpha", result, text="x" * letters)
    sheet, correlations = score_views.lengths(project, RECALL)
    # Scores 1/4, 2/4, 3/4 rise on a line with lengths 10, 20, 30.
    assert sheet.pictures[0].draw.args[1] == {"Alpha": [(10.0, 0.25), (20.0, 0.5), (30.0, 0.75)]}
    assert sheet.lines[0].cells[6].value == pytest.approx(1.0)
    assert [cell.words for cell in correlations.lines[1].cells[:2]] == ["Spearman's ρ", "all reports"]
    assert correlations.lines[1].cells[2].value == pytest.approx(1.0)
    assert [line.cells[4].value for line in correlations.lines] == [3, 3, 1, 1, 3, 3, 1, 1]
    assert [cell.value for cell in sheet.lines[0].cells[1:5]] == [3, 20.0, 10.0, 30.0]
    # One system is none to hold against another.
    assert "undefined" in sheet.notes[1]


@pytest.mark.usefixtures("small_cases")
def test_a_domain_has_its_mean_and_its_interval(project: Project) -> None:
    for result in (1, 2, 3):
        recall(project, item(project, "NLP"), "Alpha", result)
    recall(project, item(project, "Vision"), "Alpha", 4)
    (sheet,) = score_views.domains(project, "subject", RECALL)
    assert [line.cells[0].words for line in sheet.lines] == ["Vision", "NLP"]
    vision, nlp = (line.cells[4].estimate for line in sheet.lines)
    assert nlp is not None
    assert vision is not None
    # Mean 1/2, variance 1/16 / 3, which 12 units have; t(0.975, 2) = 4.3027 (any table).
    half = 4.3027 / (1 + 4.3027**2 / 12) * (1 / 48 + 4.3027**2 / (4 * 12**2)) ** 0.5
    assert nlp.value == pytest.approx(0.5)
    assert nlp.high is not None
    assert nlp.high == pytest.approx(0.5 + half, abs=1e-5)
    assert (vision.value, vision.high) == (1.0, None)
    assert [line.cells[4].words for line in sheet.lines] == ["1.000", "0.500  [0.111, 0.889] rough"]


def test_what_gold_gives_is_paired_item_by_item(project: Project) -> None:
    one, two, three = item(project), item(project), item(project)
    for item_id, before, after in ((one, 1, 3), (two, 2, 2)):
        recall(project, item_id, "Alpha", before)
        recall(project, item_id, "Alpha", after, mode="isolated")
    recall(project, three, "Alpha", 4)
    gain, each = score_views.modes(project, metric=RECALL)
    assert gain.keys[1:3] == ["mode_end_to_end", "mode_isolated"]
    # 3/4 − 1/4 and 2/4 − 2/4; the third item has one mode only.
    assert [line.cells[4].value for line in each.lines] == [0.5, 0.0]
    assert gain.lines[0].cells[3].value == pytest.approx(0.25)
    assert [cell.value for cell in gain.lines[0].cells[4:]] == [2, 1]


def test_best_of_k_runs_takes_more_than_one(project: Project) -> None:
    one = item(project)
    recall(project, one, "Alpha", 1)
    assert score_views.attempts(project, RECALL) == ()
    assert score_views.modes(project, metric=RECALL) == ()
    for trial, result in ((2, 2), (3, 4)):
        recall(project, one, "Alpha", result, trial=trial)
    (sheet,) = score_views.attempts(project, RECALL)
    passed = [cell.value for cell in sheet.lines[0].cells[2:]]
    # Of 1/4, 2/4 and 4/4: the mean; of the three pairs the best are 2/4, 4/4, 4/4; and the best of all.
    assert passed[0] == pytest.approx((0.25 + 0.5 + 1) / 3)
    assert passed[1] == pytest.approx((0.5 + 1 + 1) / 3)
    assert passed[2] == 1.0


def test_a_mean_of_runs_keeps_what_is_missing(project: Project) -> None:
    one = item(project)
    recall(project, one, "Alpha", 2)
    adra.fill_matrix(project, one, adra.answer(project, one, "Alpha", trial=2), [[1, None, 0, 0]])
    (scores,) = (of[one] for of in results.by_item(results.of_metric(project, RECALL).of_mode()).values())
    mean = results.item_means_of_runs(scores)
    assert (mean.n, mean.missing, mean.method) == (1, 1, "mean of 2 runs")
    assert mean.note == "1 of 2 left out: no defined score"


def test_a_part_that_is_not_known_is_no_zero(project: Project) -> None:
    one = item(project)
    adra.answer(project, one, "Alpha")
    adra.give(project, one, adra.answer(project, one, "Beta"), ResponsePart.REFERENCES, Evidence())
    means = results.system_means(results.of_metric(project, "retrieval.recall"))
    # Alpha's references were never drawn, Beta has none.
    assert {name: mean.value for name, mean in means.items()} == {"Alpha": None, "Beta": 0.0}


NAME = "arena.checklist"
WORDS = ("sources", "limits", "methods", "costs")
TEXTS = {"Alpha": " ".join(WORDS), "Beta": "sources limits", "Gamma": "Nothing of it."}
# Ratings by each of three people, by system; of the last item Gamma has two.
RATINGS = {"Alpha": (9, 8, 10), "Beta": (6, 5, 4), "Gamma": (0, 1, 2)}
ITEMS = 6


@pytest.fixture
def rated(tmp_path: Path) -> Project:
    made = project_with(tmp_path, 2)
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
    assert result.within().value == pytest.approx(1.0)
    assert result.within().n == ITEMS
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
    aims = view_tables.AIMS
    assert (aims["ksr"].spearman, aims["kcr"].pearson, aims["kor"].kendall) == (0.84, 0.79, 0.68)
    assert (of["raters"].words, of["place"].words) == ("2–3", "Table 5, ACE")
    assert "ACE, baseline: 1 of 18 responses were rated by fewer than 3 people." in sheet.notes
    assert any(words.startswith("Floor: the baseline") for words in sheet.notes)
    item_id = items.add(rated, "Two points?").subject
    points = tuple(CheckPoint(id=f"q{n}", text=WORDS[n], share=0.5) for n in range(2))
    seal(rated, item_id, Checklist(units=points))
    response_id = add_report(rated, item_id, "Alpha", TEXTS["Alpha"])
    # Of two points the second was never rated.
    labels.set_label(rated, response_id, "q0", "7", protocol=NAME)
    submit_labels(rated)
    asyncio.run(orders.carry_out(rated, RunRequest("baseline", NAME)))
    (result,) = view_tables.agreement_report(rated)
    assert (len(result.items), result.left_out) == (3 * ITEMS, 1)
    (sheet,) = view_tables.agreement_sheets([result])
    assert any("ACE, baseline: 1 response left out" in words for words in sheet.notes)


def test_without_people_there_is_no_table(tmp_path: Path) -> None:
    assert view_tables.agreement_sheets(view_tables.agreement_report(project_with(tmp_path, 0))) == ()


COVERAGE = "deepscholar.coverage"
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
    made = new_project(tmp_path / "windows.gold")
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
    order = RunRequest("baseline", COVERAGE)
    assert asyncio.run(judge_runs.run(cited, order))["state"] == "done"
    assert covered(cited) == {"w0": 1 / 4, "w1": 2 / 4}
    rows = results.rows(cited, protocol=COVERAGE)
    value = {row.metric: row.estimate.value for row in rows if row.group_by == scoring.ALL}
    assert value["claim_coverage"] == 2 / 4
    assert judge_runs.plan(cited, order).to_do == 0
    assert not any(run_records.runs(cited)[0].lacking.values())
    settings.widen(cited, 2)
    # The first and the third sentence with each other's sources.
    assert judge_runs.plan(cited, order).to_do == 2
    asyncio.run(judge_runs.run(cited, order))
    assert judge_runs.plan(cited, order).to_do == 0
    assert list(covered(cited)) == ["w0", "w1", "w2"]


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
    result = asyncio.run(forecasts.of(JudgeRun(cited, RunRequest("model", COVERAGE))))
    # One and two places of four sentences: its own sources or the task, and those of the sentence beside it that cites.
    assert result.calls == 1 + 3 + 1 + 2
    assert "by at most 7 calls" in result.words()[0]


def test_views_of_one_part_stand_together() -> None:
    parts = [view.part for view in paper_tables.VIEWS]
    assert len([at for at, part in enumerate(parts) if not at or parts[at - 1] != part]) == len(set(parts))
