"""Where a figure differs from its paper is told wherever the figure is told."""

import csv
import importlib
import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from annotator.actions.imports import samples
from annotator.actions.judging import judge_offers
from annotator.actions.material import draft_runs
from annotator.actions.papers import human_agreement, paper_tables
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import metrics, result_exports, result_pictures, result_raters
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.studies import result_views
from annotator.cli import run_command
from annotator.domain.judges.protocol import Extraction, Protocol
from annotator.domain.texts.refusal import Refusal
from annotator.gui.views.account import account
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, TAXONOMIES, papers
from annotator.protocols.lent import RANKING
from annotator.stats.validation import alt_test
from tests.house import reading
from tests.material.printed_project import printed_project
from tests.material.rated_tasks import rated_tasks

JUDGED = {shape.name for paper in papers() if paper.tables for shape in paper.protocols}


def constants() -> dict[str, tuple[str, ...]]:
    files = [path for path in reading.files("annotator") if "\nDEPARTURES = (" in path.read_text("utf-8")]
    names = [".".join(path.relative_to(reading.HERE).with_suffix("").parts) for path in files]
    return {name: importlib.import_module(name).DEPARTURES for name in names}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = printed_project(tmp_path_factory.mktemp("departures"))
    yield project
    project.close()


def told_by_views(project: Project) -> set[str]:
    asked = [(view.name, {}) for view in paper_tables.VIEWS]
    asked += [("tables", {"table": name}) for name in paper_tables.TABLES]
    # One rater stands in a table by default; what the others alone judged is read with the last of each.
    asked += [("overview", {"judge": result_raters.EACH})]
    trees = [
        result_exports.as_tree(sheet) for name, chosen in asked for sheet in shown(project, name, chosen)
    ]
    return {words for tree in trees for words in tree["departures"]}


def shown(project: Project, name: str, chosen: dict[str, str]) -> tuple[ResultSheet, ...]:
    """The tables of a view; none where it says what it lacks."""
    try:
        return result_views.show(project, name, chosen, among=paper_tables.VIEWS).sheets
    except Refusal:
        return ()


@pytest.mark.slow
def test_letter_20_every_departure_is_told_beside_a_figure_or_a_draft(
    made: Project, sample: Project, tmp_path: Path
) -> None:
    related = samples.create_small(tmp_path / "related.goldsmith", samples.RELATED_WORK)
    rated = rated_tasks(tmp_path)
    told = {words for one in (made, sample, related, rated) for words in told_by_views(one)}
    told |= set(alt_test.DEPARTURES)
    for one in (sample, related, rated):
        one.close()
    # What no project here is judged by is told by its metrics, as that of others is.
    told |= set(metrics.departures(info.name for info in metrics.described() if info.protocol not in JUDGED))
    told |= set(human_agreement.departures(PROTOCOLS.values()))
    seminar = samples.create_small(tmp_path / "seminar.goldsmith", samples.SEMINAR)
    standings, *_ = result_views.show(seminar, "contest", {}).sheets
    told |= set(standings.departures)
    seminar.close()
    ordered = (*EXTRACTIONS.values(), *draft_runs.OFFERED.values())
    offered = {words for one in ordered for words in one.departures}
    untold = {
        name: [words for words in said if words not in told | offered]
        for name, said in constants().items()
        if not set(said) <= told | offered and not name.endswith("validation_sheets")
    }
    assert untold == {}


def test_letter_20_no_constant_stands_unused() -> None:
    """Each belongs to a protocol, an extraction, a figure or a table of views."""
    carried: set[str] = set()
    extractions = (*EXTRACTIONS.values(), *draft_runs.OFFERED.values())
    carriers: tuple[object, ...] = (
        *PROTOCOLS.values(), RANKING, *TAXONOMIES.values(), *extractions, *(one for _, one in COMPOSITES.values()),
        *(table for paper in papers() for table in paper.tables),
    )  # fmt: skip
    for one in carriers:
        carried |= set(one.departures)  # type: ignore[attr-defined]
    for name, said in constants().items():
        if ".protocols." in name:
            assert set(said) <= carried, name


@pytest.mark.parametrize("shape", [*PROTOCOLS.values(), *EXTRACTIONS.values()], ids=lambda one: one.name)
def test_letter_20_every_protocol_and_extraction_says_where_it_differs(shape: Protocol | Extraction) -> None:
    assert shape.departures


def test_letter_20_the_command_line_says_them_in_words_and_as_json(
    made: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path, wanted = str(made.path), metrics.departures(["reasoning.accuracy"])
    assert run_command(["results", path, "--metric", "reasoning.accuracy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["departures"] == list(wanted)
    for more in ([], ["--view", "overview"]):
        assert run_command(["results", path, "--metric", "reasoning.accuracy", *more]) == 0
        out = capsys.readouterr().out
        assert out.count("from the paper: --departures") == 1
        assert not any(words in out for words in wanted)
    assert run_command(["results", path, "--metric", "reasoning.accuracy", "--departures"]) == 0
    assert "Differences from the paper:" in capsys.readouterr().out
    overview = ["results", path, "--view", "overview", "--metric", "reasoning.accuracy", "--departures"]
    assert run_command(overview) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(words.split()) in out for words in wanted)


def test_letter_20_saved_tables_and_pictures_carry_them(made: Project, tmp_path: Path) -> None:
    sheet = result_views.show(made, "domains", {"metric": "coverage"}).sheets[0]
    wanted = metrics.departures(["coverage"])
    result_exports.save(sheet, tmp_path / "table.csv")
    first, *rest = csv.DictReader((tmp_path / "table.csv").read_text("utf-8-sig").splitlines())
    assert all(words in first["departures"] for words in wanted)
    assert [row["departures"] for row in rest] == [""] * len(rest)
    result_exports.save(sheet, tmp_path / "table.json")
    saved = json.loads((tmp_path / "table.json").read_text("utf-8"))
    assert set(wanted) <= set(saved["departures"])
    differs = result_exports.departures(sheet)
    figure = result_pictures.printed(sheet.pictures[0], differs)
    caption = " ".join(figure.texts[-1].get_text().split())
    assert all(words in caption for words in wanted)
    bare, whole = (
        result_pictures.save(result_pictures.printed(sheet.pictures[0], own), tmp_path / name).stat().st_size
        for own, name in (((), "bare.png"), (differs, "whole.png"))
    )
    assert whole > bare


def test_letter_20_the_page_shows_them_beside_the_figure(made: Project) -> None:
    sheet = result_views.show(made, "wins", {}).sheets[0]
    words_shown = unescape(account(sheet, sheet.lines[0], sheet.lines[0].cells[1], 1, ""))
    assert all(words in words_shown for words in metrics.departures(["win_rate"]))


def test_letter_20_a_release_says_them_of_every_score(sample: Project, tmp_path: Path) -> None:
    releases.export(sample, tmp_path / "release")
    sample.close()
    read = {
        name: json.loads((tmp_path / "release" / f"{name}.json").read_text("utf-8"))
        for name in ("metrics", "scores")
    }
    described = {one["metric"]: tuple(one["departures"]) for one in read["metrics"]}
    assert set(described) == {one["metric"] for one in read["scores"]}
    assert all(departures == metrics.named(name).departures for name, departures in described.items())
    card = " ".join((tmp_path / "release" / "data_card.md").read_text("utf-8").split())
    assert "## Differences from the papers" in card
    untold = {words for departures in described.values() for words in departures} - {
        words for departures in described.values() for words in departures if words in card
    }
    assert untold == set()


def test_letter_20_what_is_drawn_says_them_where_it_is_ordered(made: Project) -> None:
    offered = {offer.name: offer.departures for offer in judge_offers.drawings(made)}
    assert offered == {name: one.departures for name, one in EXTRACTIONS.items()}
