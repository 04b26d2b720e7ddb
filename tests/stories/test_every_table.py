"""Every table and figure of the papers comes from one command, with the paper's rows and columns."""

import asyncio
import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import labels
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.cli import run_command
from annotator.places import resources
from annotator.protocols import papers
from tests.house.test_schemas import KEY
from tests.material.labelled_sections import (
    COVERAGE,
    ORACLE,
    PEOPLE,
    RELEVANCE,
    cited_sections,
    rated_tasks,
    related_work_project,
)
from tests.projects import adra_project as adra
from tests.projects.adra_project import LIMITED, UNTIL, printed_project
from tests.projects.small_projects import SYSTEMS, small_sample, submit_labels
from tests.storage import sql

FOUR = ("Accuracy", "Precision", "Recall", "F1")
PAPERS = Path(__file__).parents[2] / "../shared/papers"
Row = dict[str, Any]


@pytest.fixture(scope="module")
def told(projects: dict[str, str]) -> Callable[..., list[Row]]:
    """Runs the command on the project that is made by hand; the tables it printed."""
    return lambda capsys, *words: _told(capsys, projects["made"], *words)


def _told(capsys: pytest.CaptureFixture[str], path: str, *words: str) -> list[Row]:
    assert run_command(["results", path, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["sheets"]  # type: ignore[no-any-return]


def titles(sheet: Row) -> list[str]:
    parts = tuple(f", {part}" for part in ("low", "high", "n", "missing", "floor", "ceiling", "note", "sd"))
    return [column["title"] for column in sheet["columns"] if not column["title"].endswith(parts)]


def row(sheet: Row, **wanted: str) -> Row:
    (result,) = (one for one in sheet["rows"] if all(one[key] == value for key, value in wanted.items()))
    return result


def test_letter_19_end_to_end_stands_wide_research_review_and_average(told, capsys):
    (sheet,) = told(capsys, "--view", "end-to-end")
    plan = row(sheet, module="Planning", system="Alpha")
    # TP 3 of 3 predicted and 4 gold.
    assert [plan[f"avg_{name.lower()}"] for name in FOUR] == [0.75, 1.0, 0.75, pytest.approx(6 / 7)]
    result = row(sheet, module="Retrieval", system="Alpha")
    # The one source of a paper is found; of a review 1 of 3, with one that is superfluous: 1 / (3 + 2 − 1).
    assert [result[f"{group}_accuracy"] for group in ("research", "review", "avg")] == [1.0, 0.25, 0.625]
    right = row(sheet, module="Reasoning", system="Alpha")
    # Three runs of 1/2, 1 and 0: their mean, and √(2 · ¼ / 2) apart.
    assert (right["review_accuracy"], right["review_accuracy_sd"]) == (0.5, 0.5)
    assert "Alpha: Asked in July." in sheet["told"]
    assert any(words.startswith("Gold: Diagnostics") for words in sheet["told"])


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
    assert (alpha["research_pass_1"], alpha["research_pass_3"], alpha["avg_pass_3"]) == (0.5, 1.0, 1.0)


def test_letter_16_domains_are_over_all_systems_and_costs_are_summed(told, capsys):
    (means,) = told(capsys, "--view", "domain-means")
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
    assert row(by_type, system="Beta")["review_coverage"] == pytest.approx(1 / 6)


def test_letter_19_wins_have_one_column_of_ties_and_a_p_beside_r(told, capsys):
    wins, biases = told(capsys, "--view", "wins-table")
    alpha = row(wins, system="Alpha")
    assert [alpha[key] for key in ("wins", "tie", "losses", "win_rate", "mean_length")] == [4, 0, 0, 1.0, 300]
    assert [one["figure"] for one in biases["rows"]][2:4] == ["Pearson's r", "Spearman's ρ"]


def test_letter_19_errors_stand_down_and_types_across(told, capsys):
    missed, cited = told(capsys, "--view", "error-counts")
    # On each item Alpha misses a part of one criterion and Beta two whole ones: over two systems 1/2 and 1.
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


def test_letter_19_the_baseline_costs_nothing_in_the_sample(sample, capsys):
    (judges,) = _told(capsys, str(sample.path), "--view", "r2")
    assert row(judges, rater="baseline")["cost"] == 0


def test_letter_19_every_name_and_number_leads_to_a_table():
    named = [table for paper in papers() for table in paper.tables]
    assert len({table.name for table in named}) == len(named)
    assert len(paper_tables.aliases()) == sum(
        place.startswith(("Table", "Figure")) for table in named for place in table.printed
    )
    assert not {view.name for view in paper_tables.VIEWS} & {table.name for table in named}
    assert paper_tables.view_of("A3") == ("tables", {"table": "gold-plan"})


def test_the_help_page_is_what_the_generator_makes():
    assert (resources() / "help" / "tables.md").read_text(encoding="utf-8") == paper_tables.page(), (
        "run `python -m annotator.actions.papers.paper_tables`"
    )


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("ResearcherBench", "001_e6d88f000e4f46e0"),
        ("ADRA", "003_41efe317d84ccbbc"),
        ("DeepScholar-Bench", "004_71c0ffee4738b49e"),
        ("DeepResearch Arena", "000_1b5ad26b64ded8dc"),
    ],
)
def test_the_help_page_lists_every_table_and_figure_of_the_papers(title: str, text: str):
    paper = PAPERS / f"{text}.txt"
    if not paper.is_file():
        pytest.skip("the papers' texts are not beside this checkout")
    words = paper.read_text(encoding="utf-8")
    named = {" ".join(one) for one in re.findall(r"\b(Table|Figure) (\d+)\b", words)}
    assert len(named) > 9
    _, _, part = paper_tables.page().partition(f"## {title}\n")
    lines = [line for line in part.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    listed = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert named - {place.strip() for cells in listed for place in cells[0].split(",")} == set()
    for _, shown, command, _ in listed:
        assert command
        assert (shown == "–") is not command.startswith("`goldsmith results FILE --view ")


def _weighed(folder: Path) -> Project:
    """The project made by hand, of which a person has judged the criteria as the judge has."""
    made = printed_project(folder)
    me = {"rater_kind": "person", "rater_id": people.someone(made).id}
    for item in items.ids(made):
        values = {"c1": "no", "c2": "yes", "c3": "yes"}
        adra.say(made, "researcherbench.coverage", item, adra.response_of(item), values, **me)
    return made


def _rated_works(folder: Path) -> Project:
    """Two papers whose reports' works a person and the baseline have graded."""
    made = related_work_project(folder)
    for (response_id,) in sql.rows(made, "SELECT id FROM response WHERE mode = 'end-to-end'"):
        for group in labels.sheet(made, response_id, RELEVANCE).groups:
            for unit in group.units:
                labels.set_label(made, response_id, unit.id, "2", protocol=RELEVANCE)
    submit_labels(made)
    asyncio.run(orders.carry_out(made, RunRequest("baseline", RELEVANCE)))
    asyncio.run(orders.carry_out(made, RunRequest("baseline", COVERAGE)))
    return made


def _checked(folder: Path) -> Project:
    """Rated tasks of two disciplines and types, whose checklists the baseline went through, too."""
    made = rated_tasks(folder)
    for item, (subject, kind) in zip(items.ids(made), DISCIPLINES, strict=True):
        items.change(made, item, subject=subject, question_type=kind)
    asyncio.run(orders.carry_out(made, RunRequest("baseline", "arena.checklist")))
    return made


BOTH, MODULES = ("Alpha", "Beta"), ("Planning", "Retrieval", "Reasoning")
DISCIPLINES = (("Art", "Trend Scan"), ("Finance", "Method Blueprint"))
WIDE = tuple(f"{group}: {name}" for group in ("Research", "Review", "Avg.") for name in FOUR)
TWICE = tuple(f"{group}: pass@{k}" for group in ("Research", "Review", "Avg.") for k in (1, 3))
CORRELATED = (("Figure", "Value", "p", "n"), ("Pearson's r", "Spearman's ρ") * 4)
SEVEN = ("Org.", "Nug. Cov.", "Rel. Rate", "Ref. Cov.", "Doc. Imp.", "Cite-P", "Claim Cov.")
ARENA = ("KSR", "KCR", "KOR", "ACE", "Avg. Token", "Avg. references")
BY_DOMAIN = (("Domain", *BOTH), ("Biology", "Finance"))
LENGTHS = (("System", "Mean length"), BOTH)
MISSES = (("Error type", "Research", "Review"), ("Incompleteness", "Partial missing", "Subtotal"))
CITED_WRONG = (MISSES[0], ("Invalid attribution", "Unsupported answer", "Subtotal"))
JUDGES = ("baseline", "people", "Annotator A", "Annotator B")
KINDS_OF_LABELS = (
    "Organization", "Nuggets", "Relevance", "Citations", "Claims covered", "Nugget importance",
    "Reference importance",
)  # fmt: skip
CLASSES = (
    "0", "1 to 2", "3 to 9", "10 to 31", "32 to 99", "100 to 315", "316 to 999", "1,000 to 3,161", "3,162 to 9,999",
    "10,000 to 31,622", "31,623 and more",
)  # fmt: skip
# Of each table the project that has the data, and of each of its sheets the paper's columns and, under the first of
# them, its rows. Where the paper has systems, domains or types, those of the project stand.
AS_PRINTED: dict[str, tuple[str, list[tuple[tuple[str, ...], tuple[object, ...]]]]] = {
    "judge-selection": ("sample", [(("Judge model", "Acc.", "Prec.", "Rec.", "F1", "Cost"), JUDGES)]),
    "systems": ("made", [(("System", "Coverage", "Faithfulness", "Groundedness"), BOTH)]),
    "coverage-by-type": (
        "made",
        [(("System", "Research: Coverage", "Review: Coverage", "All: Coverage"), BOTH)],
    ),
    "question-types": ("made", [(("Question type", "Definition", "Example"), ("Research", "Review"))]),
    "subjects": ("made", [(("Subject", "Share", "Example"), ("Biology", "Finance"))]),
    "timeframes": ("made", [(("DARS", "Data collection timeframe"), BOTH)]),
    "error-counts": ("made", [MISSES, CITED_WRONG]),
    "wins-table": (
        "made",
        [
            (("Model", "Win", "Tie", "Lose", "Win rate", "Average length (characters)"), BOTH),
            (
                ("Figure", "Value", "p"),
                ("Order decides", "First one named", "Pearson's r", "Spearman's ρ", "R²"),
            ),
        ],
    ),
    "rubric-scores": ("weighed", [(("System", "settled", "R1"), BOTH)]),
    "rubric-validity": ("weighed", [(("Rubric type", "Acc.", "Prec.", "Rec.", "F1"), ("settled", "R1"))]),
    "rubric-weights": ("made", [(("Weight", "settled", "R1"), (1, 2, 3))]),
    "selection-agreement": (
        "sample",
        [(("Rater", "Other rater", "Pearson's r", "p"), (*JUDGES[2:3] * 2, *JUDGES[3:], "All"))],
    ),
    "end-to-end": ("made", [(("Module", "System", *WIDE), tuple(one for one in MODULES for _ in BOTH))]),
    "domain-profile": ("made", [BY_DOMAIN, BY_DOMAIN]),
    "trade-offs": ("made", [(("Model", "Accuracy", cost), BOTH) for cost in ("Time", "Time", "Length")]),
    "gold-plan": ("made", [(("Module", "System", *WIDE), ("Reasoning",))]),
    "isolated-planning": ("made", [(("System", *WIDE), BOTH)]),
    "isolated-reasoning": ("made", [(("System", *WIDE), BOTH)]),
    "time-limit": ("made", [(("Counted", *WIDE), ("Temporally constrained", "Unrestricted"))]),
    "best-of-runs": ("made", [(("Module", "System", *TWICE), tuple(one for one in MODULES for _ in BOTH))]),
    "recent-sources": (
        "made",
        [(("Module", "System", "Counted", *FOUR), tuple(one for one in MODULES[1:] for _ in range(4)))],
    ),
    "domain-means": ("made", [(("Domain", "Mean accuracy", "95 % CI margin"), ("Biology", "Finance"))]),
    "costs": ("made", [(("System", "Average cost per task", "Total cost"), ("Alpha",))]),
    "isolated-domains": ("made", [BY_DOMAIN]),
    "tokens-and-time": ("made", [LENGTHS, CORRELATED]),
    "gold-statistics": ("made", [(("Item", "True", "Sub-tasks"), ("1", "2", "3", "4"))]),
    "preference-judges": (
        "made",
        [(("Judge", "Other judge", "Same verdict", "Standard deviation", "Runs"), ("one",))],
    ),
    "plan-length": ("made", [CORRELATED]),
    "human-agreement": ("graded", [(("Kind of label", "Agreement"), KINDS_OF_LABELS)]),
    "retrieval-apis": ("cited", [(("Counted", *SEVEN), ("end-to-end", "oracle-arxiv"))]),
    "report-lengths": (
        "graded",
        [
            (
                ("System", "Chars", "Words", "Sentences", "# Unique Refs", "# Inline Citations"),
                (*SYSTEMS[:2], PEOPLE),
            )
        ],
    ),
    "exemplar-statistics": (
        "cited",
        [
            (
                ("Statistic", "Avg. value over human-written exemplars", "Relevant Metric"),
                (
                    "# Important References from ArXiv.org",
                    "Median number of citations per reference from ArXiv.org",
                    *(
                        f"{name} over all references from {where} at once"
                        for where in ("ArXiv.org", "anywhere")
                        for name in ("Median", "Mean")
                    ),
                ),
            )
        ],
    ),
    "exemplar-importance": (
        "cited",
        [(("Item", "Important, on arXiv", "Important, not on arXiv", "Not essential"), ("1", "2"))],
    ),
    "citation-window": ("graded", [(("System", "w = 0", "w = 1"), SYSTEMS[:2])]),
    "citation-counts": ("cited", [(("Citations", "All references", "References on arXiv"), CLASSES)]),
    "arena": (
        "checked",
        [
            (("System", *(f"{language}: {name}" for language in ("en", "zh") for name in ARENA)), BOTH),
            (
                ("Model", "Leak", "Avg. Comp.", "Avg. StrSim", "Avg. TFIDF", "Avg. Overlap", "Count"),
                ("Alpha again", "Average"),
            ),
        ],
    ),
    "scores-of-people": (
        "checked",
        [(("Score", "Spearman's ρ", "Pearson's r", "Kendall's τ-b"), ("ACE",))],
    ),
    "ace-length": ("checked", [LENGTHS, CORRELATED, LENGTHS, CORRELATED]),
    "ace-domains": ("checked", [(("Domain", *BOTH), named) for named in zip(*DISCIPLINES, strict=True)]),
    "ace-reports": ("checked", [(("Item", *BOTH), ("1", "2"))] * 2),
}
# Rows of these are systems and metrics, and metrics: what a program reads is long.
LONG = {"deepscholar", "preference-agreement"}
COMMANDS = re.findall(r"`goldsmith (results FILE --view ([\w-]+))`", paper_tables.page())


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory, sample_file: Path) -> dict[str, str]:
    """Projects that hold the data of the papers' tables, made by hand or by the program itself."""
    made = {"sample": str(sample_file)}
    making = {
        "made": printed_project, "weighed": _weighed, "graded": _rated_works, "cited": cited_sections,
        "checked": _checked,
    }  # fmt: skip
    for name, make in making.items():
        project = make(tmp_path_factory.mktemp(name))
        made[name] = str(project.path)
        project.close()
    return made


def test_every_line_of_the_page_has_a_command_and_every_table_one_line():
    assert [name for _, name in COMMANDS] == list(paper_tables.TABLES)
    assert AS_PRINTED.keys() | LONG == paper_tables.TABLES.keys()


@pytest.mark.parametrize(
    ("command", "name"), [one for one in COMMANDS if one[1] in AS_PRINTED], ids=lambda one: one
)
def test_the_command_prints_the_papers_rows_and_columns(command: str, name: str, projects, capsys):
    whose, wanted = AS_PRINTED[name]
    words = [projects[whose] if word == "FILE" else word for word in command.split()]
    assert run_command([*words, "--json"]) == 0
    sheets = json.loads(capsys.readouterr().out)["sheets"]
    assert len(sheets) == len(wanted)
    for sheet, (columns, rows) in zip(sheets, wanted, strict=True):
        keys = {column["title"]: column["key"] for column in sheet["columns"]}
        assert all(map(KEY.fullmatch, keys.values()))
        assert all([*one] == [*keys.values()] for one in sheet["rows"])
        assert [title for title in keys if title in columns] == list(columns)
        assert sorted(map(str, (one[keys[columns[0]]] for one in sheet["rows"]))) == sorted(map(str, rows))


def test_the_table_of_all_metrics_has_the_papers_columns(projects):
    table, *_ = result_views.show(
        Project.open(Path(projects["graded"])), *paper_tables.view_of("d2"), among=paper_tables.VIEWS
    ).sheets
    # The paper's row of the exemplars stands first.
    assert [column.title for column in table.columns] == ["System", *SEVEN, "Overall"]
    assert [line.cells[0].words for line in table.lines] == [PEOPLE, *SYSTEMS[:2]]


def test_a_system_with_several_ways_to_find_works_has_a_row_for_each(projects, capsys):
    (sheet,) = _told(capsys, projects["cited"], "--view", "d5")
    # One of two and one of one; with the oracle all.
    assert [(one["scope"], one["ref_cov"]) for one in sheet["rows"]] == [("end-to-end", 0.75), (ORACLE, 1.0)]


def test_what_exemplars_cite_is_counted_by_importance_and_by_citations(projects, capsys):
    (shares,) = _told(capsys, projects["cited"], "--view", "df3")
    assert [list(one.values())[1:] for one in shares["rows"]] == [[4, 2, 1, 1, 0], [2, 1, 0, 0, 1]]
    (values,) = _told(capsys, projects["cited"], "--view", "d7")
    # Two important ones on arXiv and one; medians 30 and 100; then 10, 30, 100 and 1000 at once, and 4 with them.
    assert [one["value"] for one in values["rows"]] == [1.5, 65.0, 65.0, 285.0, 30.0, 228.8]
    (counts,) = _told(capsys, projects["cited"], "--view", "df6")
    there = {one["citations"]: (one["all"], one["arxiv"]) for one in counts["rows"] if one["all"]}
    assert there == {"3 to 9": (1, 0), "10 to 31": (2, 2), "100 to 315": (1, 1), "1,000 to 3,161": (1, 1)}
    assert counts["told"][0].startswith("Of 1 work")


def test_the_command_lists_what_rests_on_something_and_the_rest_on_demand(projects, capsys):
    assert run_command(["results", projects["cited"], "--views", "--json"]) == 0
    there = json.loads(capsys.readouterr().out)
    assert {"exemplar-references", "retrieval-apis"} <= {one["name"] for one in there}
    assert not any(one["missing"] for one in there)
    assert run_command(["results", projects["cited"], "--views", "--all"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "contest: Contest of tasks. It needs settled tasks" in printed
    assert "time-limit: With and without a limit" in printed


def test_a_figure_is_drawn_by_the_command(projects, tmp_path, capsys):
    path = tmp_path / "ace.png"
    assert run_command(["results", projects["checked"], "--view", "arf3", "--to", str(path)]) == 0
    assert "Wrote ace.png, ace1.png" in capsys.readouterr().out
    drawn = [one.read_bytes() for one in (path, tmp_path / "ace1.png")]
    assert [one[:4] for one in drawn] == [b"\x89PNG"] * 2
    assert drawn[0] != drawn[1]
    for name in ("df3", "df6"):
        alone = tmp_path / f"{name}.svg"
        assert run_command(["results", projects["cited"], "--view", name, "--to", str(alone)]) == 0
        assert "Works" in alone.read_text(encoding="utf-8")
    assert run_command(["results", projects["made"], "--view", "r5", "--to", str(path)]) != 0


HEAD = "System Name,lm,System Type,Org.,Nugget<br>Cov.,Rel.<br>Rate.,Doc.<br>Imp.,Ref.<br>Cov.,Cite-P,Claim<br>Cov.\n"


def test_the_leaderboards_file_stands_below_the_table_with_the_overall_figure(projects, tmp_path, capsys):
    path = tmp_path / "board.csv"
    # Rows of the paper's Table 2, where the overall figures stand, too.
    path.write_text(
        HEAD + "OpenAI DeepResearch,,closed,.857,.392,.629,.124,.187,.399,.138\n"
        "Search AI,o3,open,.849,.348,.610,.026,.165,.425,.495\n",
        "utf-8",
    )
    words = ("--view", "d2", "--choose", f"file={path}")
    board = _told(capsys, projects["graded"], *words)[-1]
    assert [one["system"] for one in board["rows"]] == ["OpenAI DeepResearch", "Search AI, o3"]
    # Printed to three places, of figures that were rounded themselves.
    assert [one["overall"] for one in board["rows"]] == pytest.approx([0.309, 0.287], abs=0.001)
    assert [one["ref_cov"] for one in board["rows"]] == [0.187, 0.165]
    path.write_text(HEAD + "A,,closed,.857,much,.629,.124,.187,.399,.138\n", "utf-8")
    assert run_command(["results", projects["graded"], *words]) != 0
    assert "row 2: a figure is no number" in capsys.readouterr().err
    assert run_command(["results", projects["made"], "--view", "a2", "--choose", f"file={path}"]) != 0
    assert "takes no file" in capsys.readouterr().err


def _rows(path: Path) -> list[dict[str, str]]:
    return [*csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


def test_results_leave_in_the_files_of_the_papers_repository(tmp_path, capsys):
    """What is computed leaves; the baseline's figures do not, and the export says so."""
    project = small_sample(tmp_path, "related-work")
    recorded = judges.named(project, samples.RECORDED).id
    sql.alter(project, "DELETE FROM judgement WHERE rater_id = ?", [recorded])
    path, folder = str(project.path), tmp_path / "out"
    (long,) = _told(capsys, path, "--view", "d2")[:1]
    shown = {one["system"]: one["value"] for one in long["rows"] if one["metric"] == "reference_coverage"}
    assert run_command(["export", path, "--to", str(folder), "--profile", "deepscholar"]) == 0
    assert "Left out: the baseline's figures" in " ".join(capsys.readouterr().out.split())
    rows = {one["baseline_name"]: one for one in _rows(folder / "results/results.csv")}
    assert [*rows] == ["larkmoor", "quarrow"]
    assert list(rows["larkmoor"])[1:] == [
        "organization", "nugget_coverage", "reference_coverage", "document_importance", "cite_p", "claim_coverage",
        "coverage_relevance_rate",
    ]  # fmt: skip
    assert {one["cite_p"] for one in rows.values()} == {""}
    for name, row in rows.items():
        own = _rows(folder / f"results/reference_coverage/{name}.csv")
        assert sorted(one["folder_path"] for one in own) == [f"systems/{name}/{n}" for n in range(5)]
        assert fmean(float(one["reference_coverage"]) for one in own) == pytest.approx(shown[name])
        assert shown[name] == float(row["reference_coverage"])
    whole = _rows(folder / "results/reference_coverage/aggregated_results.csv")
    assert {one["baseline_name"]: one["reference_coverage"] for one in whole} == {
        name: row["reference_coverage"] for name, row in rows.items()
    }
    again = tmp_path / "again.goldsmith"
    assert run_command(["new", str(again)]) == 0
    assert run_command(["import", str(again), str(folder)]) == 0
