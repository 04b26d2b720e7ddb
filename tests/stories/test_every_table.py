"""Every table and figure of the papers comes from one command, with the paper's rows and columns."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.authoring import annotating, question_types
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import items
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.places import resources
from annotator.protocols import papers
from tests.material.printed_project import LIMITED, UNTIL, printed_project
from tests.projects.small_project import small_project
from tests.storage import sql

ACCURACY, FOUR = "Accuracy", ("Accuracy", "Precision", "Recall", "F1")
# What rests on nothing that a project can hold: pictures of the method, and comparisons with other benchmarks.
WITHOUT_DATA = ("Figure 1", "Table 1")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[Row]]:
    """Runs the command on the project that is made by hand; the tables it printed."""
    project = printed_project(tmp_path_factory.mktemp("printed"))
    path = str(project.path)
    project.close()
    return lambda capsys, *words: _told(capsys, path, *words)


def _told(capsys: pytest.CaptureFixture[str], path: str, *words: str) -> list[Row]:
    assert run_command(["results", path, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["sheets"]  # type: ignore[no-any-return]


def titles(sheet: Row) -> list[str]:
    """The titles of its columns, without those of what belongs to a figure."""
    parts = tuple(f", {part}" for part in ("low", "high", "n", "missing", "floor", "ceiling", "note", "sd"))
    return [column["title"] for column in sheet["columns"] if not column["title"].endswith(parts)]


def row(sheet: Row, **wanted: str) -> Row:
    (found,) = (one for one in sheet["rows"] if all(one[key] == value for key, value in wanted.items()))
    return found


def test_letter_19_end_to_end_stands_wide_research_review_and_average(told, capsys):
    (sheet,) = told(capsys, "--view", "end-to-end")
    wide = [f"{group}: {name}" for group in ("Research", "Review", "Avg.") for name in FOUR]
    assert titles(sheet) == ["Module", "Group", "System", *wide]
    assert [(one["module"], one["system"]) for one in sheet["rows"]] == [
        (module, system) for module in ("Planning", "Retrieval", "Reasoning") for system in ("Alpha", "Beta")
    ]
    plan = row(sheet, module="Planning", system="Alpha")
    # TP 3 of 3 predicted and 4 gold.
    assert [plan[f"avg_{name.lower()}"] for name in FOUR] == [0.75, 1.0, 0.75, pytest.approx(6 / 7)]
    found = row(sheet, module="Retrieval", system="Alpha")
    # The one source of a paper is found; of a review 1 of 3, with one that is superfluous: 1 / (3 + 2 − 1).
    assert [found[f"{group}_accuracy"] for group in ("research", "review", "avg")] == [1.0, 0.25, 0.625]
    right = row(sheet, module="Reasoning", system="Alpha")
    # Three runs of 1/2, 1 and 0: their mean, and √(2 · ¼ / 2) apart.
    assert (right["review_accuracy"], right["review_accuracy_sd"]) == (0.5, 0.5)
    assert "Alpha: Asked in July." in sheet["told"]
    assert any(words.startswith("Gold: Diagnostics") for words in sheet["told"])


def test_precision_counts_a_report_that_cites_nothing_as_0_and_the_other_reading_leaves_it_out(told, capsys):
    sheets = [told(capsys, "--view", "a2", "--choose", f"reading={one}")[0] for one in ("", "citing")]
    assert [titles(one) for one in sheets] == [titles(sheets[0])] * 2
    assert "Precision of reports that cite: retrieval.precision.citing." in sheets[1]["told"]
    # Of Alpha's three runs on each item the references of the first alone are known.
    assert [row(one, module="Retrieval", system="Alpha")["avg_precision"] for one in sheets] == [0.5, 0.5]


def test_letter_16_the_gold_plan_and_models_alone_have_every_column(told, capsys):
    (given,) = told(capsys, "--view", "a3")
    alpha = row(given, module="Reasoning", system="Alpha")
    assert [alpha[f"{group}_accuracy"] for group in ("research", "review", "avg")] == [0.5, 1.0, 0.75]
    (reasoning,) = told(capsys, "--view", "isolated-reasoning")
    assert [(one["system"], one["avg_accuracy"], one["review_f1"]) for one in reasoning["rows"]] == [
        ("Alpha", 1.0, 1.0), ("Beta", 0.5, pytest.approx(2 / 3)),
    ]  # fmt: skip
    (planning,) = told(capsys, "--view", "a12")
    assert [one["system_group"] for one in planning["rows"]] == ["deep research", "LLM + search"]
    assert [one["research_recall"] for one in planning["rows"]] == [0.75, 0.25]


def test_letter_16_a_limit_on_sources_and_recent_sources_are_rows(told, capsys):
    (limits,) = told(capsys, "--view", "time-limit")
    assert [(one["module"], one["system"], one["scope"]) for one in limits["rows"]] == [
        ("Reasoning", "Alpha", "Temporally constrained"), ("Reasoning", "Alpha", "Unrestricted"),
    ]  # fmt: skip
    both = [[one[f"{group}_accuracy"] for group in ("research", "review", "avg")] for one in limits["rows"]]
    assert both == [[1.0, 0.0, 0.5], [0.5, 0.5, 0.5]]
    assert f"Temporally constrained: the mode “{LIMITED}”, until {UNTIL}." in limits["told"]
    assert any(words.startswith("Left out") and "Reasoning Beta" in words for words in limits["told"])
    (recent,) = told(capsys, "--view", "recent-sources")
    named = "Published after 2024-05"
    # The reviews are of 2025: retrieval 1/4 there, 5/8 over all.
    assert [row(recent, module="Retrieval", system="Alpha", scope=scope)["accuracy"] for scope in (named, "All")] == [
        0.25, 0.625,
    ]  # fmt: skip


def test_letter_16_best_of_runs_stands_by_type(told, capsys):
    (sheet,) = told(capsys, "--view", "a7")
    alpha = row(sheet, module="Reasoning", system="Alpha")
    assert titles(sheet)[3:] == [
        f"{group}: pass@{k}" for group in ("Research", "Review", "Avg.") for k in (1, 3)
    ]
    assert (alpha["research_pass_1"], alpha["research_pass_3"], alpha["avg_pass_3"]) == (0.5, 1.0, 1.0)


def test_letter_16_domains_are_over_all_systems_and_costs_are_summed(told, capsys):
    (means,) = told(capsys, "--view", "domain-means")
    assert titles(means) == ["Domain", "Mean accuracy", "95 % CI margin"]
    # Of each item the mean of Alpha's 1/2 and Beta's 0.
    assert {one["domain"]: one["all_systems"] for one in means["rows"]} == {"Biology": 0.25, "Finance": 0.25}
    retrieval, reasoning = told(capsys, "--view", "domain-profile")
    assert [row(retrieval, domain="Biology")[f"system_{name}"] for name in ("alpha", "beta")] == [0.625, 0.0]
    assert row(reasoning, domain="Finance")["system_alpha"] == 0.5
    (alone,) = told(capsys, "--view", "af5")
    assert row(alone, domain="Finance")["system_beta"] == 0.5
    (costs,) = told(capsys, "--view", "costs")
    assert [row(costs, system="Alpha")[key] for key in ("average_cost_per_task", "total_cost")] == [0.5, 2.0]


def test_letter_16_time_tokens_and_plans_stand_beside_scores(told, capsys):
    fronts = told(capsys, "--view", "trade-offs")
    assert [titles(front)[1:3] for front in fronts] == [
        ["Accuracy", "Time"],
        ["Accuracy", "Time"],
        ["Accuracy", "Length"],
    ]
    assert row(fronts[0], system="Alpha") | {"latency": 100.0} == row(fronts[0], system="Alpha")
    length, correlations = told(capsys, "--view", "tokens-and-time")
    assert [row(length, system="Beta")[key] for key in ("mean_length", "latency")] == [500, 10.0]
    # Twelve reports of 1000 tokens in 100 s and four of 500 in 10 s lie on one line.
    whole = next(one for one in correlations["rows"] if one["over"] == "all reports")
    assert (whole["value"], whole["p"], whole["n"]) == (pytest.approx(1.0), 0.0, 16)
    (plans,) = told(capsys, "--view", "plan-length")
    assert "constant" in plans["rows"][0]["value_note"] or "the same" in plans["rows"][0]["value_note"]


def test_letter_19_preferences_and_gold_are_counted(told, capsys):
    (agreed,) = told(capsys, "--view", "preference-agreement")
    assert row(agreed, metric="Reasoning F1")["agreed"] == 4
    (judged,) = told(capsys, "--view", "preference-judges")
    # Alike on four of four pairs in one run and on one in the other: their mean, and √(2 · (3/8)²) apart.
    (one,) = judged["rows"]
    assert (one["agreement"], one["spread"], one["runs"]) == (0.625, pytest.approx((2 * 0.375**2) ** 0.5), 2)
    (gold,) = told(capsys, "--view", "gold-statistics")
    assert [(one["true"], one["subtasks"]) for one in gold["rows"]] == [(0.5, 4)] * 4


def test_letter_19_coverage_faithfulness_and_groundedness_stand_in_one_table(told, capsys):
    (sheet,) = told(capsys, "--view", "r3", "--offsets")
    assert [one["system"] for one in sheet["rows"]] == ["Alpha", "Beta"]
    alpha = row(sheet, system="Alpha")
    # Weights 2 and 3 of 6; 2 of 3 judged claims borne out; 3 of 4 claims cited. Only first runs were judged.
    assert [alpha[key] for key in ("coverage", "faithfulness", "groundedness")] == [
        pytest.approx(5 / 6), pytest.approx(2 / 3), 0.75,
    ]  # fmt: skip
    (released,) = told(capsys, "--view", "r3", "--choose", "reading=released")
    # Claims that were never drawn are 0 by neither reading.
    both = [
        [row(one, system="Beta")[key] for key in ("faithfulness", "groundedness")]
        for one in (sheet, released)
    ]
    assert both == [[None, None], [None, None]]
    assert "As the public code counts: faithfulness.released, groundedness.released." in released["told"]
    (by_type,) = told(capsys, "--view", "rf2")
    assert titles(by_type) == ["Group", "System", "Research: Coverage", "Review: Coverage", "All: Coverage"]
    assert row(by_type, system="Beta")["review_coverage"] == pytest.approx(1 / 6)


def test_letter_19_wins_have_one_column_of_ties_and_a_p_beside_r(told, capsys):
    wins, biases = told(capsys, "--view", "wins-table")
    assert titles(wins) == ["Model", "Win", "Tie", "Lose", "Win rate", "Average length (characters)"]
    alpha = row(wins, system="Alpha")
    assert [alpha[key] for key in ("wins", "tie", "losses", "win_rate", "mean_length")] == [4, 0, 0, 1.0, 300]
    assert [one["figure"] for one in biases["rows"]][2:4] == ["Pearson's r", "Spearman's ρ"]
    assert titles(biases) == ["Figure", "Value", "p"]


def test_letter_19_errors_stand_down_and_types_across(told, capsys):
    missed, cited = told(capsys, "--view", "error-counts")
    assert titles(missed) == ["Error type", "Research", "Review"]
    # On each item Alpha misses a part of one criterion and Beta two whole ones: over two systems 1/2 and 1.
    assert [one["error_type"] for one in missed["rows"]] == ["Incompleteness", "Partial missing", "Subtotal"]
    assert [one["of_review"] for one in missed["rows"]] == [1.0, 0.5, 1.5]
    assert row(cited, error_type="Unsupported answer")["of_research"] == 1.0


def test_the_types_of_errors_stand_in_the_papers_order(tmp_path, capsys):
    project = printed_project(tmp_path)
    kinds = ("Technical Details", "Literature Review", "Open Consulting", "Literature Review")
    items.change_all(
        project,
        {item: {"question_type": kind} for item, kind in zip(items.ids(project), kinds, strict=True)},
    )
    path = str(project.path)
    project.close()
    for sheet in _told(capsys, path, "--view", "r6"):
        assert titles(sheet) == ["Error type", "Open Consulting", "Literature Review", "Technical Details"]
    # The rubrics are the only ones: each weight is one of three criteria.
    (weights,) = _told(capsys, path, "--view", "r10")
    assert [one["set_settled"] for one in weights["rows"]] == [pytest.approx(1 / 3)] * 3


def test_letter_19_questions_are_counted_by_type_and_subject(told, capsys):
    (types,) = told(capsys, "--view", "question-types")
    assert [(one["question_type"], one["questions"], one["share"]) for one in types["rows"]] == [
        ("Research", 2, 0.5), ("Review", 2, 0.5),
    ]  # fmt: skip
    (subjects,) = told(capsys, "--view", "subjects")
    assert row(subjects, subject="Biology")["example"] == "Question 1?"


def test_letter_19_what_raters_authors_and_judges_did_comes_from_the_sample(sample, capsys):
    path, accuracy = str(sample.path), _weighted_accuracy(sample)
    sample.close()
    (judges,) = _told(capsys, path, "--view", "r2")
    assert titles(judges) == ["Judge model", "Acc.", "Prec.", "Rec.", "F1", "Cost"]
    assert row(judges, rater="baseline")["accuracy"] == pytest.approx(accuracy)
    assert row(judges, rater="baseline")["cost"] == 0
    (weights,) = _told(capsys, path, "--view", "r10")
    assert sum(one["set_settled"] for one in weights["rows"]) == pytest.approx(1.0)
    (raters,) = _told(capsys, path, "--view", "selection-agreement")
    assert {"pearson", "p"} <= set(raters["rows"][0])


def test_letter_3_table_4_defines_every_type_and_counts_its_questions(tmp_path, capsys):
    small = small_project(tmp_path)
    defined = question_types.types(small)
    items.change_all(small, {item: {"question_type": "Open Consulting"} for item in items.ids(small)})
    path = str(small.path)
    small.close()
    (types,) = _told(capsys, path, "--view", "r4")
    assert titles(types) == ["Question type", "Definition", "Questions", "Share", "Example"]
    assert {one["question_type"]: one["questions"] for one in types["rows"]} == {
        "Open Consulting": 2, "Literature Review": 0, "Technical Details": 0,
    }  # fmt: skip
    assert {one["question_type"]: one["definition"] for one in types["rows"]} == {
        one.name: one.definition for one in defined
    }


def _weighted_accuracy(project: Project) -> float:
    """The weight on which the baseline says what a person submitted, over all weight that both judged."""
    judged = "SELECT response_id, unit_id, value FROM judgement WHERE rater_kind = 'judge' AND protocol = ?"
    judge = {row[:2]: row[2] for row in sql.rows(project, judged, ["researcherbench.coverage"])}
    labels = (
        "SELECT content FROM artifact JOIN revision ON artifact_id = artifact.id AND number = revision "
        "WHERE kind = 'labels' AND state = 'sealed'"
    )
    units = [unit for (content,) in sql.rows(project, labels) for unit in json.loads(content)["units"]]
    with project.store.read() as db:
        rubrics = annotating.judged_rows(db, Kind.RUBRIC).values()
        weights = {unit.id: unit.weight for row in rubrics for unit in artifact_of(row).document.units}
    both = [
        (weights[unit["unit_id"]], unit["value"] == judge[unit["response_id"], unit["unit_id"]])
        for unit in units
        if unit["unit_id"] in weights and unit["value"] in ("yes", "no")
    ]
    return sum(weight for weight, same in both if same) / sum(weight for weight, _ in both)


def test_letter_19_every_name_and_number_leads_to_a_table():
    named = [table for paper in papers() for table in paper.tables]
    assert len({table.name for table in named}) == len(named)
    assert len(paper_tables.aliases()) == sum(
        place.startswith(("Table", "Figure")) for table in named for place in table.printed
    )
    views = {view.name for view in paper_tables.VIEWS}
    assert not views & {table.name for table in named}
    assert paper_tables.found_as("A3") == ("tables", {"table": "gold-plan"})


def test_letter_19_the_help_page_maps_every_table_and_figure():
    page = (resources() / "help" / "tables.md").read_text(encoding="utf-8")
    for paper in (paper for paper in papers() if paper.tables):
        _, _, part = page.partition(f"## {paper.title}")
        part = part.partition("\n## ")[0]
        for table in paper.tables:
            line = next(line for line in part.splitlines() if f"`{table.name}`" in line)
            assert all(place in line for place in table.printed), table.name
        for place in WITHOUT_DATA:
            assert place in part


def test_letter_19_the_command_and_the_window_name_a_view_alike(tmp_path: Path) -> None:
    from annotator.gui.pages.help import TOPICS

    assert ("Which view makes which table", "tables") in TOPICS
