"""What the baseline's figures are: a floor, said wherever they stand, and never publishable."""

import json
from pathlib import Path

import pytest

from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import publishing, result_exports
from annotator.actions.studies import result_views
from annotator.actions.validation import validation_views
from annotator.cli import run_command
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS

SET_BY, NEVER_FALSE = "five public systems average the 0.52", "It never says False"


def told(project: Project, view: str, **chosen: str) -> str:
    sheets = result_views.show(
        project, view, chosen, among=(*paper_tables.VIEWS, *validation_views.VIEWS)
    ).sheets
    return " ".join(words for sheet in sheets for words in sheet.told)


@pytest.mark.parametrize(
    ("view", "chosen"),
    [
        ("overview", {"metric": "coverage"}), ("items", {"metric": "coverage"}), ("domains", {"metric": "coverage"}),
        ("efficiency", {"metric": "coverage"}), ("length", {"metric": "coverage"}), ("pilot", {}),
        ("tables", {"table": "systems"}), ("judges", {}),
    ],
)  # fmt: skip
def test_letter_22_where_coverage_stands_its_threshold_is_told(
    sample: Project, view: str, chosen: dict[str, str]
) -> None:
    assert SET_BY in told(sample, view, **chosen)
    sample.close()


def test_letter_22_where_reasoning_stands_it_is_told_that_false_is_never_said(sample: Project) -> None:
    assert NEVER_FALSE in told(sample, "overview", metric="reasoning.accuracy")
    assert NEVER_FALSE in told(sample, "tables", table="end-to-end")
    assert SET_BY not in told(sample, "items", metric="reasoning.accuracy")
    sample.close()


def test_letter_22_a_figure_of_the_baseline_is_a_floor_and_never_publishable(sample: Project) -> None:
    chosen = {"metric": "coverage", "judge": _baseline(sample)}
    (sheet,) = result_views.show(sample, "overview", chosen).sheets
    rows = result_exports.rows(sheet)
    assert {row["publishable"] for row in rows} == {"floor"}
    (wide,) = result_views.show(sample, "overview", {"judge": _baseline(sample)}).sheets
    place = wide.keys.index("coverage")
    assert all(
        line.cells[place].words.endswith("floor")
        for line in wide.lines
        if line.cells[0].words != "The whole project"
    )
    sample.close()


def _baseline(project: Project) -> str:
    (judge,) = result_views.named("overview").choices(project)[:1]
    return next(value for name, value in judge.values if name == "baseline")


@pytest.mark.slow
def test_letter_22_no_view_shows_a_baseline_as_publishable(sample: Project) -> None:
    judge = _baseline(sample)
    asked = [(view.name, {}) for view in paper_tables.VIEWS]
    asked += [("tables", {"table": name}) for name in paper_tables.TABLES]
    for name, chosen in asked:
        whole = {**chosen, **_judged(sample, name, judge)}
        try:
            sheets = result_views.show(sample, name, whole, among=paper_tables.VIEWS).sheets
        except Refusal:
            continue
        rows = [row for sheet in sheets for row in result_exports.rows(sheet)]
        assert not any(row.get("publishable") in ("yes", 0.0) for row in rows)
    sample.close()


def _judged(project: Project, view: str, judge: str) -> dict[str, str]:
    offered = {one.name for one in result_views.named(view, paper_tables.VIEWS).choices(project)}
    return {"judge": judge} if "judge" in offered else {}


def test_letter_22_the_command_and_a_release_say_floor(
    sample: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(sample.path)
    releases.export(sample, tmp_path / "release")
    sample.close()
    assert run_command(["results", path, "--rater", "baseline", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["publishable"] for row in found["rows"]} == {False}
    assert SET_BY in found["told"][0]
    assert run_command(["results", path, "--rater", "baseline"]) == 0
    assert SET_BY in " ".join(capsys.readouterr().out.split())
    scores = json.loads((tmp_path / "release" / "scores.json").read_text("utf-8"))
    own = {one["unfit"] for one in scores if one["rater"] == "baseline" and one["value"] is not None}
    assert own == {publishing.FLOOR}
    card = " ".join((tmp_path / "release" / "data_card.md").read_text("utf-8").split())
    assert SET_BY in card
    assert NEVER_FALSE in card


def test_letter_22_the_notes_say_what_the_baselines_do() -> None:
    assert "0.42" in PROTOCOLS["researcherbench.coverage"].floor
    assert not any(shape.floor for shape in PROTOCOLS.values() if shape.baseline is None)
