"""Studies of gold: criteria, rubric sets, selection, balance and references; counted by hand."""

from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures
from annotator.actions.studies import part_views, question_views, rubric_views
from annotator.actions.studies.question_views import balance, mean_plan_length
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Diagnostics
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.kinds.selection import DimensionRating, Recommendation, Selection
from annotator.domain.material.extract import ResponsePart
from tests.cli.commands import printed
from tests.projects import adra_project as adra, pairs_project as pairs
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.protocols.adra.adra_material import plan, statements
from tests.servers.said_by_judges import label, places, say, submit
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = small_project(tmp_path)
    judges.add(project, "a", base_url="http://127.0.0.1:1/v1", model="m")
    return project


def judge_id(project: Project) -> str:
    return judges.named(project, "a").id


def test_criteria_that_tell_nothing_apart_come_first_by_ceiling_and_floor(project: Project) -> None:
    # People say yes of all of Beta's reports; of Alpha's first: met, not met, not told.
    label(project, "yn-yyy")
    submit(project)
    criteria, _ = rubric_views.pilot(project, "people")
    # Pass rates 1 and 1; one with a gap; 0 and 1: a standard deviation of 1/2, the most there is.
    first = [row for row in result_pictures.rows(criteria) if row["item"] == "1"]
    assert [row["reach"] for row in first] == [
        "every system always meets it",
        "open: votes are missing",
        "tells systems apart",
    ]
    assert [first[place]["spread"] for place in (0, 2)] == [0.0, 0.5]
    assert criteria.notes[0].endswith(
        "1 of 6 criteria tell systems apart; 4 are met by all, 0 by none, 1 are open."
    )
    reaches = [line.cells[3].words for line in criteria.lines]
    assert reaches[:4] == ["every system always meets it"] * 4
    assert reaches[-1] == "tells systems apart"
    assert criteria.lines[0].cells[3].state == "flat"


def test_criteria_that_tell_nothing_apart_and_weights_beside_the_experts(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    label(project, "ynnyyn")
    submit(project)
    criteria, weights = rubric_views.pilot(project, "people")
    # Two rubrics of the weights 3, 2 and 1; Table 10 has 35.45, 50.91 and 13.64 %.
    assert [[cell.words for cell in line.cells] for line in weights.lines] == [
        ["1", "2", "33.3 %", "35.4 %", "−2.1 points"],
        ["2", "2", "33.3 %", "50.9 %", "−17.6 points"],
        ["3", "2", "33.3 %", "13.6 %", "+19.7 points"],
    ]
    rates = [row["system_alpha"] for row in result_pictures.rows(criteria) if row["item"] == "1"]
    assert sorted(rates) == [0.0, 0.0, 1.0]
    differs = "κ is given for each criterion without an interval"
    assert not any(words.startswith(differs) for words in criteria.notes)
    assert [words.startswith(differs) for words in result_pictures.as_tree(criteria)["departures"]].count(
        True
    ) == 1
    assert differs in printed(
        capsys, "results", str(project.path), "--view", "pilot", "--choose", "judge=people", "--departures"
    )


def test_kappa_is_given_criterion_by_criterion(project: Project) -> None:
    label(project, "yn-yyy")
    submit(project)
    say(project, "a", "yyyyyy")
    criteria, _ = rubric_views.pilot(project)
    agreement = [column.title for column in criteria.columns].index("Agreement")
    line = next(one for one in criteria.lines if one.cells[0].words == "1" and one.cells[2].value == 2)
    # The judge judged Alpha's report only: one pair, on which they differ.
    result = line.cells[agreement].estimate
    assert (result.value, result.missing) == (0.0, 1)


def test_criteria_lead_to_their_judgements(project: Project) -> None:
    say(project, "a", "ynyyny")
    criteria, _ = rubric_views.pilot(project)
    assert "κ" not in [column.title for column in criteria.columns]
    line = next(one for one in criteria.lines if one.unit_id == places(project)[1][2])
    assert (line.source.rater_id, line.source.unit_id) == (judge_id(project), places(project)[1][2])


COVERAGE = "researcherbench.coverage"


@pytest.fixture
def two_sets(tmp_path: Path) -> Project:
    """Ada's and Ben's rubrics for one item, two systems, and a judge that judged both by both."""
    two_sets = pairs.pairs_project(tmp_path)
    pairs.submit(two_sets, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")})
    pairs.work_as(two_sets, "Cora")
    adra.add_judge(two_sets)
    item = pairs.item(two_sets)
    for system, of_ada, of_ben in (("Alpha", "yynyn", "ynnnnn"), ("Beta", "nnynn", "yynnnn")):
        report = pairs.add_report(two_sets, system)
        for prefix, said in (("a", of_ada), ("b", of_ben)):
            values = {f"{prefix}{n}": {"y": "yes", "n": "no"}[one] for n, one in enumerate(said, 1)}
            adra.say(two_sets, COVERAGE, item, report, values)
    return two_sets


def test_two_sets_score_the_same_reports(two_sets: Project) -> None:
    result = rubric_views.sets_report(two_sets, "R2", "R3")
    scores = {system: tuple(one.value for one in pair) for system, pair in result.beside.scores.items()}
    # Ada's weights are 3, 2, 1, 2, 1 (9 in all), Ben's 3, 3, 2, 2, 2, 1 (13 in all).
    assert scores["Alpha"] == (pytest.approx(7 / 9), pytest.approx(3 / 13))
    assert scores["Beta"] == (pytest.approx(1 / 9), pytest.approx(6 / 13))
    assert [gap.value for gap in result.beside.gaps] == [pytest.approx(6 / 9), pytest.approx(3 / 13)]
    # 2 · 4 / (5 + 6).
    assert result.beside.matched.value == pytest.approx(8 / 11)
    scores, weights, criteria = rubric_views.sets_sheets(result)
    assert [line.cells[4].words for line in criteria.lines].count("1 and –") == 1
    assert sum(line.cells[3].words == "only one has it" for line in criteria.lines) == 3
    # Ada: two ones, two twos, one three of five.
    assert [line.cells[1].words for line in weights.lines] == ["40.0 %", "40.0 %", "20.0 %"]
    assert scores.lines[0].cells[3].words == "−0.547"
    assert list(rubric_views.sets(two_sets)) == ["R2", "R3"]
    annotating.count_unadjudicated(two_sets, True)
    assert list(rubric_views.sets(two_sets)) == ["settled", "R2", "R3"]
    pairs.work_as(two_sets, "Ada")
    expect_refusal("Only a coordinator", rubric_views.sets_report, two_sets)


def test_sets_that_nobody_judged_by_still_show_weights_and_criteria(two_sets: Project) -> None:
    sql.alter(two_sets, "DELETE FROM judgement WHERE unit_id LIKE 'b%'")
    weights, criteria = rubric_views.sets_sheets(rubric_views.sets_report(two_sets, "R2", "R3"))
    assert (weights.title, criteria.title) == ("Weights", "Criteria")
    assert any(words.startswith("No report was judged by both") for words in weights.notes)


def test_another_project_can_be_the_other_set(two_sets: Project, tmp_path: Path) -> None:
    (folder := tmp_path / "other").mkdir()
    other = pairs.pairs_project(folder)
    made = artifacts.start(other, pairs.item(other), Kind.RUBRIC, pairs.rubric(pairs.BEN, "m")).subject
    assignments.seal(other, made)
    adra.add_judge(other)
    report = pairs.add_report(other, "Alpha")
    adra.say(other, COVERAGE, pairs.item(other), report, {f"m{n}": "yes" for n in range(1, 7)})
    result = rubric_views.sets_report(two_sets, "R2", file=str(folder / "pairs.goldsmith"))
    assert result.names == ("R2", "pairs")
    assert [score.value for score in result.beside.scores["Alpha"]] == [pytest.approx(7 / 9), 1.0]
    assert "Beta" not in result.beside.scores


TECHNICAL, REVIEW = "Technical Details", "Literature Review"


@pytest.fixture
def chosen(tmp_path: Path) -> Project:
    return pairs.pairs_project(tmp_path, 0)


def rated(chosen: Project, question_type: str, **ratings: tuple[int | None, ...]) -> str:
    """A question that each person rates on the dimensions of its type; its id."""
    pairs.work_as(chosen, "Cora")
    item = items.add(chosen, f"Question {len(items.ids(chosen))}?", question_type).subject
    for name, given in ratings.items():
        units = tuple(
            DimensionRating(text=text, rating=rating)
            for text, rating in zip(pairs.DIMENSIONS[question_type], given, strict=True)
        )
        pairs.work_as(chosen, name)
        assignments.seal(
            chosen, artifacts.start(chosen, item, Selection.KIND, Selection(units=units)).subject
        )
    pairs.work_as(chosen, "Cora")
    return item


def test_a_question_is_kept_at_the_bar(chosen: Project) -> None:
    # ResearcherBench, appendix B.5: 2, 2, 3, 2 is 2.25, and 4, 5, 3 is 4.
    left_out = rated(chosen, TECHNICAL, Ada=(2, 2, 3, 2), Ben=(2, 2, 3, 2))
    open_ = rated(chosen, REVIEW, Ada=(4, 5, 3))
    kept = rated(chosen, REVIEW, Ada=(4, 5, 4), Ben=(5, 5, 4))
    result = question_views.selection_report(chosen)
    assert result.chosen[left_out].score.value == 2.25
    assert result.scores[open_]["R2"].value == 4.0
    assert {item: one.is_kept for item, one in result.chosen.items()} == {
        left_out: False,
        open_: None,
        kept: True,
    }
    # (13/3 + 14/3) / 2 = 4.5, which is the bar.
    assert result.chosen[kept].score.value == pytest.approx(4.5)


def test_letter_4_one_bar_of_the_project_decides_in_the_view_and_when_it_is_applied(chosen: Project) -> None:
    item = rated(chosen, REVIEW, Ada=(4, 5, 3), Ben=(4, 4, 4))
    assert question_views.selection_report(chosen).chosen[item].is_kept is False
    settings.set_bar(chosen, "4")
    assert settings.bar(chosen) == 4
    assert question_views.selection_report(chosen).chosen[item].is_kept is True
    expect_refusal("No item in use was rated below 4", question_views.apply, chosen)
    expect_refusal("“six” is no bar", settings.set_bar, chosen, "six")
    expect_refusal(
        r"“5\.5” is no bar", settings.write, chosen, Stage.SELECTION, "# Selection\n\n## Bar: 5.5\n"
    )


def test_letter_4_reasons_and_recommendations_stand_beside_the_scores(chosen: Project) -> None:
    item = rated(chosen, REVIEW, Ada=(2, 2, 2), Ben=(5, 5, 5))
    pairs.work_as(chosen, "Dan")
    units = tuple(
        DimensionRating(text=text, rating=3, note="Two readings.") for text in pairs.DIMENSIONS[REVIEW]
    )
    document = Selection(
        units=units, remark="Unclear.", recommendation=Recommendation.REWORK, improve="Name the field."
    )
    assignments.seal(chosen, artifacts.start(chosen, item, Selection.KIND, document).subject)
    pairs.work_as(chosen, "Cora")
    questions = question_views.selection_sheets(question_views.selection_report(chosen))[0]
    assert questions.lines[0].cells[-1].words == "rework 1"
    said = dict(questions.lines[0].more)
    assert said["R5"].splitlines()[0] == "Direction clarity and survey scope: 3. Two readings."
    assert said["R5"].splitlines()[-2:] == ["Unclear.", "To improve: Name the field."]


def test_letter_4_agreement_is_pearsons_r_of_each_pair_and_of_all_together(chosen: Project) -> None:
    for ada, ben in ((1, 2), (3, 4), (5, 3)):
        rated(chosen, REVIEW, Ada=(ada,) * 3, Ben=(ben,) * 3)
    result = question_views.selection_report(chosen)
    # Both ways round 1 2, 3 4, 5 3, 2 1, 4 3, 3 5: Σ dx·dy = 4 and Σ dx² = Σ dy² = 10.
    assert (result.pooled.value, result.pooled.n, result.pooled.low) == (pytest.approx(0.4), 3, None)
    assert [line.cells[0].words for line in question_views.selection_sheets(result)[1].lines] == ["R2", "All"]
    # Of 1, 3, 5 and 2, 4, 3: covariance 2 / √(8 · 2) = 1/2.
    assert result.agreement["R2", "R3"].value == pytest.approx(0.5)
    questions, raters, _funnel = question_views.selection_sheets(result)
    # With one degree of freedom, p = 1 − 2/π · arctan(0.5 / √0.75) = 2/3.
    assert [cell.value for cell in raters.lines[0].cells[3:]] == [pytest.approx(2 / 3), 3]
    assert len(questions.pictures) == 1


def test_ratings_of_dimensions_the_type_no_longer_has_are_counted_for_a_coordinator(chosen: Project) -> None:
    item = rated(chosen, REVIEW, Ada=(4, 5, 3))
    sql.alter(chosen, "UPDATE item SET question_type = ? WHERE id = ?", [TECHNICAL, item])
    result = question_views.selection_report(chosen)
    assert (result.unreadable, result.chosen) == (1, {})
    assert not people.someone(pairs.work_as(chosen, "Ada")).has(Role.COORDINATOR)
    expect_refusal(
        "Only a coordinator can see how questions were rated", question_views.selection_report, chosen
    )


def test_the_share_of_true_statements_and_the_mean_plan_length(tmp_path: Path) -> None:
    sheet, types, subjects = question_views.gold(adra.adra_project(tmp_path, 2))
    # Two of four statements of each item are true; both plans have four steps.
    assert sheet.notes[0].startswith("True statements, over all: 0.500")
    assert " of 8 (" in sheet.notes[0]
    assert sheet.notes[1].startswith("Mean plan length: 4.000")
    # Beside each type stands what it is; of the other two there is no question.
    assert [line.cells[2].value for line in types.lines] == [2, 0, 0]
    assert [types.lines[0].cells[place].value for place in (0, 3)] == ["Technical Details", 1.0]
    assert [line.cells[0].value for line in subjects.lines] == ["NLP", "Vision"]
    assert [cell.words for cell in sheet.lines[0].cells[2:]] == ["4", "0.500", "4"]


def test_shares_of_true_statements():
    # H.1: 3 400 statements over 200 items, 17 each; 2 200 are true, 11 each: 64.71 %.
    result = balance({str(n): statements(*[True] * 11, *[False] * 6) for n in range(200)})
    assert (result.overall.value, result.overall.n) == (2200 / 3400, 3400)
    assert result.overall.value == pytest.approx(0.6471, abs=5e-5)
    assert {one.value for one in result.of_item.values()} == {11 / 17}
    # 1/1 and 0/3: overall 1/4, not 1/2.
    result = balance({"a": statements(True), "b": statements(False, False, False)})
    assert (result.of_item["a"].value, result.of_item["b"].value, result.overall.value) == (1, 0, 1 / 4)
    # Of the others 1/2; with the two undecided 1/4 … 3/4.
    one = balance({"a": statements(True, False, None, None)}).of_item["a"]
    assert (one.value, one.n, one.missing, one.floor, one.ceiling) == (1 / 2, 2, 2, 1 / 4, 3 / 4)
    assert one.note == "2 of 4 statements have no label"
    result = balance({"a": statements(None), "b": Diagnostics()})
    assert (result.of_item["a"].value, result.of_item["a"].floor, result.of_item["a"].ceiling) == (None, 0, 1)
    assert (result.of_item["b"].value, result.of_item["b"].floor) == (None, None)
    assert result.overall.note == "no statement has a label"
    assert balance({}).overall.value is None


def test_the_mean_plan_length_of_the_paper():
    # H.1: 9.01 steps; 198 plans of nine and two of ten are 1 802 steps over 200.
    plans = {str(n): plan("g", ["x"] * (10 if n < 2 else 9)) for n in range(200)}
    assert mean_plan_length(plans).value == pytest.approx(1802 / 200) == pytest.approx(9.01)


@pytest.mark.usefixtures("small_cases")
def test_plans_of_five_and_ten_steps_are_seven_and_a_half_long():
    result = mean_plan_length({"a": plan("g", ["x"] * 5), "b": plan("h", ["x"] * 10)})
    # s = 5/√2, margin 12.7062 · 2.5.
    assert (result.value, result.n) == (7.5, 2)
    assert result.high == pytest.approx(7.5 + 12.7062 * 2.5, abs=1e-3)


GIVEN = (
    ("https://doi.org/10.1000/ONE", "Another title altogether"),
    ("https://arxiv.org/abs/2401.00002", "Planning, with language models!"),
    ("", "On the Evaluation of Reports by Experts: a survey"),
    ("10.1000/elsewhere", "Something that is no gold reference"),
)


def given(folder: Path, references: tuple[tuple[str, str], ...] = GIVEN) -> Project:
    project = adra.adra_project(folder, 1, ("Alpha", "Beta"))
    item = items.ids(project)[0]
    adra.give(
        project, item, adra.response_of(item), ResponsePart.REFERENCES, Evidence(units=adra.works(references))
    )
    return project


def test_every_match_says_by_what_key_and_references_that_are_not_known_are_no_zero(tmp_path: Path) -> None:
    result = part_views.matches_report(given(tmp_path))
    matches, reports = part_views.matches_sheets(result)
    assert [[cell.words for cell in line.cells[2:5]] for line in matches.lines] == [
        ["match", "the same DOI", "10.1000/one"],
        ["match", "the same arXiv id, its version left out", "2401.00002"],
        ["match", "the same first 20 characters of the title", "on the evaluation of"],
        ["retrieved, not gold", "", ""],
    ]
    assert "The references of 1 of 2 reports are not known; they are no zero." in matches.notes
    assert [cell.words for cell in reports.lines[1].cells[3:7]] == ["–", "3", "–", "–"]
    _, alone = part_views.matches_sheets(result, system="Alpha")
    assert [line.cells[1].words for line in alone.lines] == ["Alpha"]
    assert part_views.matches_sheets(result, item="9") == ()


def test_what_was_not_found_is_listed_and_says_why(tmp_path: Path) -> None:
    matches, reports = part_views.matches_sheets(part_views.matches_report(given(tmp_path, GIVEN[:1])))
    assert [line.cells[2].words for line in matches.lines] == ["match", *["gold, not found"] * 2]
    assert dict(matches.lines[1].more)["Why"] == "no key of another reference equals one of its own"
    values = {
        column.title: cell.value for column, cell in zip(reports.columns, reports.lines[0].cells, strict=True)
    }
    # 1 of 3 gold references found, 1 retrieved: J = 1/3, P = 1, R = 1/3, F1 = 2/4.
    assert (values["Retrieval Jaccard index"], values["Retrieval precision"]) == (1 / 3, 1.0)
    assert (values["Retrieval recall"], values["Retrieval F1"]) == (1 / 3, 0.5)
