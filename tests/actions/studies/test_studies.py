"""Studies of systems: cuts, wins, preferences, errors and plans, counted by hand; what every view can show.

Studies of gold: criteria, rubric sets, selection, balance and references; counted by hand."""

from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.labelling import label_cases
from annotator.actions.papers import paper_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures, results, scoring
from annotator.actions.studies import pair_views, part_views, question_views, result_views, rubric_views
from annotator.actions.validation import validation_views
from annotator.cli import run_command
from annotator.domain.kinds.diagnostics import Diagnostics
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.kinds.kind import Kind, Role, Stage
from annotator.domain.kinds.selection import DimensionRating, Recommendation, Selection
from annotator.domain.material.extract import ResponsePart
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench.taxonomy import MISSES, MODES
from annotator.stats.agreement.levels import p_of, pearson
from tests.common import expect_refusal, fixture_of
from tests.material.labelled_sections import cited_sections, rated_tasks
from tests.projects import adra_project as adra, pairs_project as pairs
from tests.projects.adra_project import printed_project
from tests.projects.small_projects import project_with, small_project, small_sample
from tests.protocols.adra.test_retrieval import plan, statements
from tests.servers.served import label, places, say, submit
from tests.storage import sql

ALONE, INJECTED = "end-to-end", "gold-plan injection"
TRUE, FALSE = "true", "false"
# Of the four statements s1 and s3 are true.
ALL_RIGHT = {"s1": TRUE, "s2": FALSE, "s3": TRUE, "s4": FALSE}
HALF_RIGHT = {"s1": TRUE, "s2": TRUE, "s3": TRUE, "s4": TRUE}
NONE_RIGHT = {"s1": FALSE, "s2": TRUE, "s3": FALSE, "s4": TRUE}


@pytest.fixture
def given(tmp_path: Path) -> Project:
    """Two research papers and two reviews; given a plan, Alpha is right on both reviews, else on half of a paper."""
    made = adra.adra_project(tmp_path, 4, ("Alpha", "Beta"))
    for place, item in enumerate(items.ids(made)):
        kind = "Research" if place < 2 else "Review"
        sql.alter(made, f"UPDATE item SET question_type = '{kind}' WHERE id = '{item}'")
        given = adra.answer(made, item, "Alpha", mode=INJECTED, tokens=100 * (place + 1), latency_s=10.0)
        adra.say(made, "adra.reasoning", item, given, ALL_RIGHT if kind == "Review" else HALF_RIGHT)
        adra.say(made, "adra.reasoning", item, adra.response_of(item), HALF_RIGHT)
        adra.say(made, "adra.reasoning", item, adra.response_of(item, "Beta"), NONE_RIGHT)
    return made


def rows_of(given: Project, view: str, sheet: int = 0, **chosen: str) -> list[dict]:  # type: ignore[type-arg]
    return result_pictures.rows(result_views.show(given, view, chosen).sheets[sheet])


def test_the_papers_table_shown_first_is_one_for_whose_mode_there_are_reports(given: Project) -> None:
    counted = result_views.show(given, "tables", {}, among=paper_tables.VIEWS)
    assert counted.sheets, counted.chosen


def test_every_mode_has_its_cuts(given: Project) -> None:
    result = rows_of(given, "overview", metric="reasoning.accuracy", by="question_type", mode=INJECTED)
    assert {(row["group"], row["system"]): row["reasoning_accuracy"] for row in result} == {
        ("Research", "Alpha"): 0.5,
        ("Review", "Alpha"): 1.0,
    }
    of_all = rows_of(given, "overview", metric="reasoning.accuracy", by="question_type")
    assert {row["reasoning_accuracy"] for row in of_all if row["system"] == "Alpha"} == {0.5}
    sheet = result_views.show(
        given, "overview", {"metric": "reasoning.accuracy", "by": "question_type", "mode": INJECTED}
    ).sheets[0]
    assert next(cell.source for cell in sheet.lines[-1].cells if cell.source is not None).mode == INJECTED
    result = rows_of(given, "domains", metric="reasoning.accuracy", by="question_type", mode=INJECTED)
    assert [(row["domain"], row["all_systems"], row["items"]) for row in result] == [
        ("Review", 1.0, 2),
        ("Research", 0.5, 2),
    ]
    alone = rows_of(given, "domains", metric="reasoning.accuracy", by="question_type")
    # Alpha's 0.5 and Beta's 0.
    assert [row["all_systems"] for row in alone] == [0.25, 0.25]
    result = rows_of(given, "length", of="tokens", metric="latency", mode=INJECTED)
    assert [(row["system"], row["mean_length"], row["latency"]) for row in result] == [("Alpha", 250.0, 10.0)]
    plans = rows_of(given, "length", of="plan", metric="reasoning.accuracy", mode=INJECTED)
    assert (plans[0]["mean_length"], plans[0]["reports"]) == (4.0, 4)
    assert [row["over"] for row in rows_of(given, "length", 1, of="plan")][-1] == "means of subjects"


def test_letter_16_every_view_of_systems_is_cut_by_mode_type_and_subject(given: Project) -> None:
    among = ["", "question_type:Research", "question_type:Review", "subject:NLP", "subject:Vision"]
    for view in ("items", "domains", "efficiency", "length", "runs", "errors", "wins", "pilot", "rubrics"):
        offered = {
            choice.name: [value for _, value in choice.values]
            for choice in result_views.named(view).choices(given)
        }
        assert (offered["mode"], offered["among"]) == ([ALONE, INJECTED], among), view


def test_letter_16_best_of_runs_is_cut_by_type(given: Project) -> None:
    second = {"Research": NONE_RIGHT, "Review": ALL_RIGHT}
    for item, name in results.items_named(given).items():
        adra.say(
            given,
            "adra.reasoning",
            item,
            adra.answer(given, item, "Alpha", trial=2),
            second[name.question_type],
        )
    for kind, one_run, best in (("Research", 0.25, 0.5), ("Review", 0.75, 1.0)):
        alpha = next(
            row
            for row in rows_of(given, "runs", metric="reasoning.accuracy", among=f"question_type:{kind}")
            if row["system"] == "Alpha"
        )
        assert (alpha["best_of_1"], alpha["best_of_2"]) == (one_run, best)


def test_letter_19_p_stands_beside_r() -> None:
    # n = 4 and r = 0.8: t = 0.8 √(2 / 0.36) = 1.8856; beyond ±t lies 1 − t / √(2 + t²) = 0.2 with 2 degrees of freedom.
    assert p_of(pearson([1, 2, 3, 4], [1, 3, 2, 4])) == pytest.approx(0.2)
    assert p_of(pearson([1, 2, 3], [1, 1, 1])) is None


PAIRWISE = "researcherbench.pairwise"


@pytest.fixture
def compared(tmp_path: Path) -> Project:
    """Four items: Alpha wins, the order decides, a tie, and one order that did not come."""
    compared = adra.adra_project(tmp_path, 4, ("Alpha", "Beta"))
    said = (("first", "second"), ("first", "first"), ("tie", "tie"), ("first", None))
    for item, (shown_first, shown_second) in zip(items.ids(compared), said, strict=True):
        a, b = adra.response_of(item), adra.response_of(item, "Beta")
        adra.say(compared, PAIRWISE, item, a, {b: shown_first})
        adra.say(compared, PAIRWISE, item, b, {a: shown_second})
    return compared


def test_wins_are_counted_over_pairs_in_both_orders(compared: Project) -> None:
    table, _, pairs = pair_views.duels(compared)
    alpha, beta = result_pictures.rows(table)
    assert [alpha[name] for name in ("system", "wins", "losses", "ties", "order_decides", "missing")] == [
        "Alpha",
        1,
        0,
        1,
        1,
        1,
    ]
    assert (alpha["win_rate"], beta["win_rate"]) == (pytest.approx(1 / 3), 0)
    assert [line.cells[3].words for line in pairs.lines] == [
        "Alpha wins",
        "the order decides",
        "a tie",
        "missing",
    ]
    source = pairs.lines[0].source
    item = items.ids(compared)[0]
    assert (source.response_id, source.unit_id) == (adra.response_of(item), adra.response_of(item, "Beta"))
    adra.answer(compared, items.ids(compared)[0], "Gamma")
    table, *_ = pair_views.duels(compared)
    assert table.notes[-1] == "3 pairs were not judged in both orders; of 2 of them nobody was asked."
    gamma = next(row for row in result_pictures.rows(table) if row["system"] == "Gamma")
    assert (gamma["missing"], gamma["win_rate"]) == (2, None)


def test_the_order_decides_one_of_three_and_the_first_place_three_of_four(compared: Project) -> None:
    flips, first_named = (line.cells[1].estimate for line in pair_views.duels(compared)[1].lines[:2])
    assert (flips.value, flips.missing) == (pytest.approx(1 / 3), 1)
    # Verdicts that name a winner: first, second; first, first.
    assert first_named.value == pytest.approx(3 / 4)


PREFERENCE = "adra.preference"


@pytest.fixture
def preferred(tmp_path: Path) -> Project:
    """Four items on which Alpha's plan finds more than Beta's, but on the last, where both find as much."""
    preferred = adra.adra_project(tmp_path, 4, ("Alpha", "Beta"))
    for place, item in enumerate(items.ids(preferred)):
        both = [[1, 0, 0, 0], [0, 1, 0, 0]]
        adra.fill_matrix(preferred, item, adra.response_of(item), both)
        adra.fill_matrix(preferred, item, adra.response_of(item, "Beta"), both if place == 3 else both[:1])
    return preferred


def prefer(
    preferred: Project, place: int, value: str, protocol: str = PREFERENCE, turned: bool = False
) -> None:
    item = items.ids(preferred)[place]
    a, b = adra.response_of(item), adra.response_of(item, "Beta")
    first, second = (b, a) if turned else (a, b)
    adra.say(
        preferred,
        protocol,
        item,
        first,
        {second: value},
        rater_kind="person",
        rater_id=people.someone(preferred).id,
    )


def agreed(preferred: Project) -> dict[str, Any]:
    title = scoring.named("plan.recall").title
    first = pair_views.preferences(preferred, metric="plan.recall")[:1]
    return next((row for one in first for row in result_pictures.rows(one) if row["metric"] == title), {})


def test_agreement_is_counted_over_pairs_where_neither_ties_and_every_pair_is_listed(
    preferred: Project,
) -> None:
    for place, value in enumerate(("first", "second", "tie", "first")):
        prefer(preferred, place, value)
    row = agreed(preferred)
    assert [row[name] for name in ("agreed", "disagreed", "people_tie", "scores_tie")] == [1, 1, 1, 1]
    assert row["agreement"] == pytest.approx(1 / 2)
    _, pairs = pair_views.preferences(preferred, metric="plan.recall")
    assert [line.cells[-1].words for line in pairs.lines[:2]] == ["agrees", "disagrees"]


def test_both_protocols_in_which_people_compare_count(preferred: Project) -> None:
    prefer(preferred, 0, "first", PAIRWISE)
    prefer(preferred, 1, "first", PREFERENCE)
    assert agreed(preferred)["agreed"] == 2


def test_whoever_is_asked_both_ways_round_has_one_preference(preferred: Project) -> None:
    for place, turned in ((0, "second"), (1, "first")):
        prefer(preferred, place, "first")
        prefer(preferred, place, turned, turned=True)
    *_, pairs = pair_views.preferences(preferred, metric="plan.recall")
    assert [row["preferred"] for row in result_pictures.rows(pairs)] == ["Alpha", "neither"]


def test_a_score_with_gaps_is_left_out(preferred: Project) -> None:
    prefer(preferred, 0, "first")
    prefer(preferred, 1, "first")
    of_alpha = adra.response_of(items.ids(preferred)[0])
    lost = "UPDATE judgement SET value = NULL, status = 'timeout' WHERE unit_id = 'p1~g1'"
    sql.alter(preferred, f"{lost} AND response_id = ?", [of_alpha])
    row = agreed(preferred)
    assert (row["agreed"], row["left_out"]) == (1, 1)
    # With a gap in every report there is no score to hold against anybody's preference.
    sql.alter(preferred, lost)
    assert agreed(preferred) == {}


def test_letter_17_respects_are_counted_beside_the_overall_choice(preferred: Project) -> None:
    for place, (value, factuality) in enumerate(
        (("first", "first"), ("first", "second"), ("tie", "tie"), ("second", "tie"))
    ):
        prefer(preferred, place, value)
        prefer(preferred, place, factuality, "adra.preference.factuality")
    sheet = next(
        one for one in pair_views.preferences(preferred, metric="plan.recall") if one.key == "respects"
    )
    assert [cell.value for cell in sheet.lines[0].cells] == ["Factuality", 2, 1, 1, 4]


def test_letter_17_so_many_pairs_are_drawn_and_only_those_are_asked(preferred: Project) -> None:
    protocol = PROTOCOLS[PREFERENCE]

    def asked() -> list[frozenset[str]]:
        result = materials.each(preferred, materials.for_asking(protocol), materials.item_ids(preferred))
        cases = (case for one in result for material in one.responses for case in protocol.cases(material))
        return [frozenset((case.response.id, case.unit.id)) for case in cases]

    assert len(set(asked())) == 4
    label_cases.draw_pairs(preferred, PREFERENCE, 2, 7)
    pairs = {frozenset(pair) for pair in label_cases.sampling(preferred, PREFERENCE)["pairs"]}
    assert (len(pairs), set(asked()), len(asked())) == (2, pairs, 4)
    again = label_cases.draw_pairs(preferred, PREFERENCE, 2, 7).after[PREFERENCE]["pairs"]
    assert {frozenset(pair) for pair in again} == pairs
    assert run_command(["labels", "pairs", str(preferred.path), "--draw", "0"]) == 0
    assert label_cases.sampling(Project.open(preferred.path), PREFERENCE) == {}


@pytest.fixture
def piloted(tmp_path: Path) -> Project:
    piloted = small_project(tmp_path)
    judges.add(piloted, "a", base_url="http://127.0.0.1:1/v1", model="m")
    return piloted


@pytest.fixture
def judged(piloted: Project) -> Project:
    """A judge says yes, no, no of Alpha's first report and yes, yes, no of its second."""
    say(piloted, "a", "ynnyyn")
    return piloted


def classify(judged: Project, taxonomy: str, place: int, value: str) -> None:
    item, response, unit = places(judged)[place]
    adra.say(
        judged,
        taxonomy,
        item,
        response,
        {unit: value},
        rater_kind="person",
        rater_id=people.someone(judged).id,
    )


def means(judged: Project, taxonomy: str, kind: str, **how: str) -> dict[str, float | None]:
    (counted,) = (one for one in part_views.error_report(judged, **how) if one.taxonomy.name == taxonomy)
    return {label: result.value for label, result in counted.means[kind].items()}


def test_without_a_label_only_the_subtotal_stands_and_covered_criteria_say_where_they_came_from(
    judged: Project,
) -> None:
    classify(judged, MISSES.name, 1, "incompleteness")
    (counted,) = (one for one in part_views.error_report(judged) if one.taxonomy is MISSES)
    result = counted.means["Technical Details"]
    assert result["incompleteness"].value is None
    # One is labelled; the other may be of this kind or not.
    assert (result["incompleteness"].floor, result["incompleteness"].ceiling) == (1.0, 2.0)
    assert result["subtotal"].value == 2.0
    classify(judged, MODES.name, 0, "retrieval")
    classify(judged, MODES.name, 3, "internal_knowledge")
    assert means(judged, MODES.name, "Technical Details")["retrieval"] == 1.0
    assert means(judged, MODES.name, "Open Consulting")["internal_knowledge"] == 1.0


def test_errors_are_counted_per_response(judged: Project) -> None:
    report = part_views.error_report(judged, system="Beta")
    assert all(not one.means for one in report)
    assert part_views.error_sheets(report) == ()
    misses, _ = part_views.error_sheets(part_views.error_report(judged))
    assert [line.cells[-1].value for line in misses.lines] == [2, 1]
    for place, value in ((1, "incompleteness"), (2, "partial_missing"), (5, "incompleteness")):
        classify(judged, MISSES.name, place, value)
    assert means(judged, MISSES.name, "Technical Details") == {
        "incompleteness": 1.0, "partial_missing": 1.0, "subtotal": 2.0,
    }  # fmt: skip
    assert means(judged, MISSES.name, "Open Consulting")["incompleteness"] == 1.0


def test_of_people_each_ones_labels_are_of_their_own_verdicts(judged: Project) -> None:
    item, response, unit = places(judged)[1]
    for name, value in (("ada", "incompleteness"), ("ben", None)):
        how = {"rater_kind": "person", "rater_id": name}
        adra.say(judged, MISSES.of, item, response, {unit: "no"}, **how)
        if value is not None:
            adra.say(judged, MISSES.name, item, response, {unit: value}, **how)
    (counted,) = (one for one in part_views.error_report(judged, "people") if one.taxonomy is MISSES)
    result = counted.means["Technical Details"]["incompleteness"]
    # Two readings, one without a label: between 1 of 2 and 2 of 2.
    assert (result.n, result.missing, result.floor, result.ceiling) == (2, 1, 0.5, 1.0)


@pytest.fixture
def planned(tmp_path: Path) -> Project:
    """Three predicted sub-tasks against four gold ones; Beta shows no plan."""
    planned = adra.adra_project(tmp_path, 1, ("Alpha", "Beta"))
    item = items.ids(planned)[0]
    adra.fill_matrix(planned, item, adra.response_of(item), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    return planned


def test_both_readings_of_a_matrix(planned: Project) -> None:
    (met,) = part_views.matrix_report(planned).met
    # A matching of 3: P = 3/3, R = 3/4, F1 = 6/7, J = 3/4. Any match: 3 rows and 3 columns, the same here.
    assert {name: result.value for name, result in met.scores.items()} == pytest.approx({
        "plan.precision": 1.0, "plan.recall": 0.75, "plan.f1": 6 / 7, "plan.jaccard": 0.75,
        "plan_any.precision": 1.0, "plan_any.recall": 0.75, "plan_any.f1": 6 / 7, "plan_any.jaccard": 0.75,
    })  # fmt: skip
    readings, matrix = part_views.matrix_sheets(part_views.matrix_report(planned))
    # The first row must leave the first column to the second, or only two would match.
    assert [[cell.words for cell in line.cells[1:]] for line in matrix.lines] == [
        ["● relevant", "◉ relevant", "not", "not"],
        ["◉ relevant", "not", "not", "not"],
        ["not", "not", "not", "◉ relevant"],
    ]
    assert "Without a known plan, not counted as zero: 1 report." in readings.notes
    source = matrix.lines[1].cells[1].source
    assert (source.unit_id, source.rater_id) == ("p2~g1", adra.JUDGE)
    assert readings.lines[0].picture == matrix.pictures[0].name
    sql.alter(planned, "DELETE FROM judgement WHERE unit_id = 'p3~g3'")
    report = part_views.matrix_report(planned)
    _, matrix = part_views.matrix_sheets(report)
    recall = report.met[0].scores["plan.recall"]
    assert (matrix.lines[2].cells[3].words, recall.floor, recall.ceiling) == ("missing", 0.75, 0.75)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = adra.adra_project(tmp_path, 2, ("Alpha", "Beta"))
    for item in items.ids(project):
        adra.fill_matrix(project, item, adra.response_of(item), [[1, 0, 0, 0]])
    return project


def test_a_view_of_an_empty_project_says_what_to_do(tmp_path: Path) -> None:
    empty = people.new_project(tmp_path / "none.goldsmith")
    for view in result_views.VIEWS:
        assert result_views.show(empty, view.name, {}).sheets == (), view.name
        assert view.lacks.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("view", result_views.VIEWS, ids=lambda view: view.name)
def test_every_choice_of_a_view_can_be_made(view: result_views.ResultView, sample: Project) -> None:
    first = result_views.show(sample, view.name, {})
    for choice in view.choices(sample):
        # Of a list, of metrics or items, the last and one within.
        for _, value in choice.values[:: -max(1, len(choice.values) // 2)][:2]:
            same = result_views.same_count(view, first.chosen, {**first.chosen, choice.name: value})
            shown = result_views.show(sample, view.name, {choice.name: value}, first.count if same else None)
            assert shown.chosen[choice.name] == value
            for sheet in shown.sheets:
                assert all(len(line.cells) == len(sheet.columns) for line in sheet.lines)
                assert b"NaN" not in result_pictures.as_json(sheet)


def test_choices_that_do_not_fit_give_way(project: Project) -> None:
    assert (
        "overview, items, wins"
        in expect_refusal("no view “nonsense”", result_views.show, project, "nonsense", {}).todo
    )
    shown = result_views.show(project, "overview", {"metric": "nonsense", "by": "subject"})
    assert (shown.chosen["metric"], shown.chosen["by"]) == ("", "subject")
    view = result_views.named("overview")
    first = result_views.show(project, "overview", {})
    wanted = {**first.chosen, "by": "subject"}
    assert result_views.same_count(view, first.chosen, wanted)
    assert not result_views.same_count(view, first.chosen, {**first.chosen, "judge": "other"})
    sql.alter(project, "DELETE FROM judgement")
    again = result_views.show(project, "overview", wanted, first.count)
    assert again.count is first.count
    assert again.sheets[0].columns[0].title == "Subject"


@pytest.mark.parametrize("among", [result_views.VIEWS, validation_views.VIEWS], ids=["results", "validate"])
def test_a_choice_that_no_view_has_is_refused(
    among: tuple[result_views.ResultView, ...], project: Project
) -> None:
    for view in among:
        expect_refusal(
            "has no choice called “colour”",
            result_views.show,
            project,
            view.name,
            {"colour": "red"},
            among=among,
        )


@pytest.mark.parametrize(
    "make", [lambda folder: project_with(folder, 0), printed_project, rated_tasks, cited_sections]
)
def test_a_view_is_listed_where_it_has_something_to_show(make, tmp_path: Path) -> None:
    made = make(tmp_path)
    held = result_views.held(made)
    resting = {view.name for view in paper_tables.VIEWS if view.rests(held)}
    # A table of a paper is asked for by its name; a cut lies between dates that are known.
    views = [view.name for view in paper_tables.VIEWS if view.name not in ("tables", "cut-off")]
    assert resting - {"tables", "cut-off"} == {
        name for name in views if result_views.show(made, name, {}, among=paper_tables.VIEWS).sheets
    }


def test_a_table_is_listed_where_it_has_figures(tmp_path: Path) -> None:
    made = printed_project(tmp_path)
    result = {one["name"]: one for one in paper_tables.listed(made, every=True)}
    assert not result["end-to-end"]["missing"]
    assert result["retrieval-apis"]["short"] == "d5"
    # Nobody has continued a task or written an exemplar.
    assert "goldsmith respond FILE --system S --mode continuation" in result["leakage"]["missing"]
    assert "goldsmith sources works FILE" in result["exemplar-statistics"]["missing"]
    assert [one["name"] for one in paper_tables.listed(made)] == [
        name for name, one in result.items() if not one["missing"]
    ]


def test_sources_of_a_seminar_are_no_cell_of_the_balance(tmp_path: Path) -> None:
    assert result_views.show(small_sample(tmp_path, "seminar"), "sources", {}).sheets == ()


def test_criteria_that_tell_nothing_apart_come_first_by_ceiling_and_floor(piloted: Project) -> None:
    # People say yes of all of Beta's reports; of Alpha's first: met, not met, not told.
    label(piloted, "yn-yyy")
    submit(piloted)
    criteria, _ = rubric_views.pilot(piloted, "people")
    # Pass rates 1 and 1; one with a gap; 0 and 1: a standard deviation of 1/2, the most there is.
    first = [(row["reach"], row["spread"]) for row in result_pictures.rows(criteria) if row["item"] == "1"]
    assert [reach for reach, _ in first] == [
        "every system always meets it", "open: votes are missing", "tells systems apart",
    ]  # fmt: skip
    assert (first[0][1], first[2][1]) == (0.0, 0.5)
    told = "1 of 6 criteria tell systems apart; 4 are met by all, 0 by none, 1 are open."
    assert criteria.notes[0].endswith(told)
    reaches = [line.cells[3].words for line in criteria.lines]
    assert (reaches[:4], reaches[-1]) == (["every system always meets it"] * 4, "tells systems apart")
    assert criteria.lines[0].cells[3].state == "flat"
    # The judge judges Alpha's report only: one pair, on which they differ.
    say(piloted, "a", "yyyyyy")
    criteria, _ = rubric_views.pilot(piloted)
    agreement = [column.title for column in criteria.columns].index("Agreement")
    line = next(one for one in criteria.lines if one.cells[0].words == "1" and one.cells[2].value == 2)
    assert (line.cells[agreement].estimate.value, line.cells[agreement].estimate.missing) == (0.0, 1)


def test_criteria_that_tell_nothing_apart_and_weights_beside_the_experts(piloted: Project) -> None:
    label(piloted, "ynnyyn")
    submit(piloted)
    criteria, weights = rubric_views.pilot(piloted, "people")
    # Two rubrics of the weights 3, 2 and 1; Table 10 has 35.45, 50.91 and 13.64 %.
    assert [[cell.words for cell in line.cells] for line in weights.lines] == [
        ["1", "2", "33.3 %", "35.4 %", "−2.1 points"],
        ["2", "2", "33.3 %", "50.9 %", "−17.6 points"],
        ["3", "2", "33.3 %", "13.6 %", "+19.7 points"],
    ]
    rates = [row["system_alpha"] for row in result_pictures.rows(criteria) if row["item"] == "1"]
    assert sorted(rates) == [0.0, 0.0, 1.0]


def test_criteria_lead_to_their_judgements(piloted: Project) -> None:
    say(piloted, "a", "ynyyny")
    criteria, _ = rubric_views.pilot(piloted)
    assert "κ" not in [column.title for column in criteria.columns]
    _, _, unit_id = places(piloted)[1]
    line = next(one for one in criteria.lines if one.unit_id == unit_id)
    assert (line.source.rater_id, line.source.unit_id) == (judges.named(piloted, "a").id, unit_id)


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
    scores, _, criteria = rubric_views.sets_sheets(result)
    assert sum(line.cells[3].words == "only one has it" for line in criteria.lines) == 3
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
    assignments.seal(
        other, artifacts.start(other, pairs.item(other), Kind.RUBRIC, pairs.rubric(pairs.BEN, "m")).subject
    )
    adra.add_judge(other)
    report = pairs.add_report(other, "Alpha")
    adra.say(other, COVERAGE, pairs.item(other), report, {f"m{n}": "yes" for n in range(1, 7)})
    result = rubric_views.sets_report(two_sets, "R2", file=str(folder / "pairs.goldsmith"))
    assert result.names == ("R2", "pairs")
    assert [score.value for score in result.beside.scores["Alpha"]] == [pytest.approx(7 / 9), 1.0]
    assert "Beta" not in result.beside.scores


TECHNICAL, REVIEW = "Technical Details", "Literature Review"


chosen = fixture_of(pairs.pairs_project, 0)


def rated(chosen: Project, question_type: str, **ratings: tuple[int | None, ...]) -> str:
    pairs.work_as(chosen, "Cora")
    item = items.add(chosen, f"Question {len(items.ids(chosen))}?", question_type).subject
    for name, referenced in ratings.items():
        units = tuple(
            DimensionRating(text=text, rating=rating)
            for text, rating in zip(pairs.DIMENSIONS[question_type], referenced, strict=True)
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
    assert (result.chosen[left_out].score.value, result.scores[open_]["R2"].value) == (2.25, 4.0)
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
    assert (settings.bar(chosen), question_views.selection_report(chosen).chosen[item].is_kept) == (4, True)
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
    sql.alter(
        chosen,
        "UPDATE item SET question_type = ? WHERE id = ?",
        [TECHNICAL, rated(chosen, REVIEW, Ada=(4, 5, 3))],
    )
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
    each = [statements(*[True] * 11, *[False] * 6) for _ in range(200)]
    overall = question_views.true_share(each)
    assert (overall.value, overall.n) == (2200 / 3400, 3400)
    assert overall.value == pytest.approx(0.6471, abs=5e-5)
    assert question_views.true_share(each[:1]).value == 11 / 17
    # 1/1 and 0/3: overall 1/4, not 1/2.
    two = [statements(True), statements(False, False, False)]
    assert [question_views.true_share(of).value for of in (two[:1], two[1:], two)] == [1, 0, 1 / 4]
    # Of the others 1/2; with the two undecided 1/4 … 3/4.
    one = question_views.true_share([statements(True, False, None, None)])
    assert (one.value, one.n, one.missing, one.floor, one.ceiling, one.note) == (
        1 / 2, 2, 2, 1 / 4, 3 / 4, "2 of 4 statements have no label",
    )  # fmt: skip
    result = [question_views.true_share([of]) for of in (statements(None), Diagnostics())]
    assert [(of.value, of.floor, of.ceiling) for of in result] == [(None, 0, 1), (None, None, None)]
    assert (result[0].note, question_views.true_share([]).value) == ("no statement has a label", None)


def test_the_mean_plan_length_of_the_paper():
    # H.1: 9.01 steps; 198 plans of nine and two of ten are 1 802 steps over 200.
    plans = {str(n): plan("g", ["x"] * (10 if n < 2 else 9)) for n in range(200)}
    assert question_views.mean_plan_length(plans).value == pytest.approx(1802 / 200) == pytest.approx(9.01)


GIVEN = (
    ("https://doi.org/10.1000/ONE", "Another title altogether"),
    ("https://arxiv.org/abs/2401.00002", "Planning, with language models!"),
    ("", "On the Evaluation of Reports by Experts: a survey"),
    ("10.1000/elsewhere", "Something that is no gold reference"),
)


def referenced(folder: Path, references: tuple[tuple[str, str], ...] = GIVEN) -> Project:
    piloted = adra.adra_project(folder, 1, ("Alpha", "Beta"))
    item = items.ids(piloted)[0]
    adra.give(
        piloted, item, adra.response_of(item), ResponsePart.REFERENCES, Evidence(units=adra.works(references))
    )
    return piloted


def test_every_match_says_by_what_key_and_references_that_are_not_known_are_no_zero(tmp_path: Path) -> None:
    result = part_views.matches_report(referenced(tmp_path))
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
    matches, reports = part_views.matches_sheets(part_views.matches_report(referenced(tmp_path, GIVEN[:1])))
    assert [line.cells[2].words for line in matches.lines] == ["match", *["gold, not found"] * 2]
    assert dict(matches.lines[1].more)["Why"] == "no key of another reference equals one of its own"
    values = {
        column.title: cell.value for column, cell in zip(reports.columns, reports.lines[0].cells, strict=True)
    }
    # 1 of 3 gold references found, 1 retrieved: J = 1/3, P = 1, R = 1/3, F1 = 2/4.
    assert (values["Retrieval Jaccard index"], values["Retrieval precision"]) == (1 / 3, 1.0)
    assert (values["Retrieval recall"], values["Retrieval F1"]) == (1 / 3, 0.5)
