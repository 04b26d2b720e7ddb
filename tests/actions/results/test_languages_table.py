"""The table by language: rates, ACE, tokens and references of each system on English and on Chinese tasks."""

import json
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from annotator.actions.items import items
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.results import overview, result_items, result_raters, results_behind
from annotator.actions.studies import result_views
from annotator.cli import run_command
from tests.material.rated_tasks import rated_tasks


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return rated_tasks(tmp_path)


def test_each_language_has_its_columns_and_each_system_its_row(project: Project) -> None:
    shown = result_views.show(project, "tables", {"table": "arena"}, among=paper_tables.VIEWS)
    sheet, leakage = shown.sheets
    assert [line.cells[0].words for line in leakage.lines] == ["Alpha again", "Average"]
    titles = [column.title for column in sheet.columns]
    assert [title for title in titles if title.startswith("en")][-3:] == [
        "en: ACE",
        "en: Avg. Token",
        "en: Avg. references",
    ]
    assert len([title for title in titles if title.startswith("zh")]) == len(titles) // 2
    of = {line.cells[0].words: dict(zip(titles, line.cells, strict=True)) for line in sheet.lines}
    # .5 · 8 + .3 · 6 + .2 · 1; .5 · 5 + .3 · 5; .5 · 2 + .2 · 10.
    assert of["Alpha"]["en: ACE"].value == pytest.approx(6.0)
    assert of["Alpha"]["zh: ACE"].value == pytest.approx(4.0)
    assert of["Beta"]["en: ACE"].value == pytest.approx(3.0)
    assert of["Beta"]["zh: ACE"].value is None
    assert (of["Alpha"]["en: Avg. Token"].value, of["Alpha"]["en: Avg. references"].value) == (1000, 2)


def test_the_table_comes_from_one_command_by_name_or_number(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(project.path)
    project.close()
    for name in ("arena", "ar3"):
        assert run_command(["results", path, "--view", name, "--json"]) == 0
        sheet, _ = json.loads(capsys.readouterr().out)["sheets"]
        assert sheet["title"] == "Systems by language"
        assert [row["en_ace"] for row in sheet["rows"]] == pytest.approx([6.0, 3.0])


def test_every_figure_of_every_group_can_be_asked_where_it_comes_from(project: Project) -> None:
    for place, item_id in enumerate(items.ids(project)):
        traits = {"phase": ("Design", "Evaluate")[place], "difficulty": "Basic"}
        items.change(project, item_id, traits=traits, question_type="Survey", subject="Physics")
    rater = result_raters.raters(project, "arena.checklist")[0].id
    (sheet, _) = result_views.show(project, "tables", {"table": "arena"}, among=paper_tables.VIEWS).sheets
    asked = [(cell, 1) for line in sheet.lines for cell in line.cells if cell.metric == "ace"]
    for _, by in overview.GROUPED:
        for one in result_views.show(project, "overview", {"metric": "ace", "by": by, "judge": rater}).sheets:
            asked += [(cell, 0) for line in one.lines for cell in line.cells if cell.metric == "ace"]
    there = [(cell, many) for cell, many in asked if cell.estimate and cell.estimate.value is not None]
    assert {cell.source.group_by for cell, _ in there} >= {
        "language",
        "phase",
        "difficulty",
        "subject",
        "all",
    }
    for cell, many in there:
        lines = result_items.behind(project, cell.source).lines
        assert len(lines) == (many or cell.estimate.n), cell.source
        assert all(results_behind.of_source(project, line.source) for line in lines)
        assert results_behind.of_source(project, cell.source)


def test_ace_against_length_is_a_table_of_its_own(project: Project) -> None:
    shown = result_views.show(project, "tables", {"table": "ace-length"}, among=paper_tables.VIEWS)
    assert [sheet.title for sheet in shown.sheets if "characters" in sheet.title]
    assert {line.cells[0].words for line in shown.sheets[0].lines} == {"Alpha", "Beta"}


def test_short_names_stay_with_the_papers_that_had_them() -> None:
    known = paper_tables.aliases()
    assert known["ar4"] == "arena"
    assert [known["r3"], known["a3"], known["d2"]] == ["systems", "gold-plan", "deepscholar"]


# Table 3: KSR, KCR, KOR, ACE, tokens (k), references; English, then Chinese.
PUBLISHED = {
    "gpt-4o-search": ((50.0, 8.9, 41.1, 2.41, 1.21, 4.24), (85.0, 5.0, 10.0, 2.00, 2.85, 3.49)),
    "gpt-4o-mini": ((78.7, 8.5, 12.8, 2.23, 1.07, 3.83), (55.6, 16.7, 27.8, 2.05, 2.23, 2.07)),
    "gpt-4.1-mini": ((62.5, 10.9, 26.6, 2.21, 1.10, 4.75), (76.5, 5.9, 17.6, 1.87, 2.02, 2.39)),
    "gpt-4.1": ((77.8, 2.8, 19.4, 2.43, 1.20, 3.51), (60.6, 6.1, 33.3, 2.22, 2.43, 2.44)),
    "o4-mini": ((77.2, 4.3, 18.5, 4.03, 5.59, 29.66), (75.8, 18.2, 6.1, 3.88, 12.5, 37.27)),
    "gemini-2.5-pro": ((65.1, 14.3, 20.6, 2.97, 4.29, 23.86), (76.0, 12.0, 12.0, 4.03, 9.14, 21.39)),
    "gemini-2.5-flash": ((78.7, 3.4, 18.0, 3.81, 64.09, 29.54), (80.0, 16.0, 4.0, 3.58, 19.78, 28.07)),
    "grok-4": ((83.3, 7.5, 9.2, 2.97, 3.16, 20.59), (50.0, 13.8, 36.2, 2.97, 6.60, 19.95)),
}
EN, ZH = zip(*PUBLISHED.values(), strict=True)


def test_published_rates_sum_to_one_but_for_rounding() -> None:
    sums = [round(sum(cells[:3]), 1) for cells in (*EN, *ZH)]
    assert (sums.count(100.0), sums.count(100.1)) == (13, 3)


def test_the_lowest_published_conflict_rate_in_chinese_is_not_the_bold_one() -> None:
    lowest = min(PUBLISHED, key=lambda name: PUBLISHED[name][1][1])
    assert (lowest, PUBLISHED[lowest][1][1]) == ("gpt-4o-search", 5.0)


@pytest.mark.parametrize(
    ("rows", "column", "rho"), [(EN, 4, 0.922), (ZH, 4, 0.833), (EN, 5, 0.778), (ZH, 5, 0.810)]
)
def test_published_ace_goes_with_length_and_references(
    rows: tuple[tuple[float, ...], ...], column: int, rho: float
) -> None:
    found = spearmanr([row[3] for row in rows], [row[column] for row in rows]).statistic
    assert round(found, 3) == rho
