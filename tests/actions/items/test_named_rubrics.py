"""Named rubric sets: kept beside the experts' rubrics, chosen to judge by, undone, and carried by a release."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import materials, named_rubrics
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.studies import rubric_sets
from annotator.actions.undo import history
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from tests.projects.small_project import small_project

LAX = {"1": Rubric(units=(Criterion(text="Is a report", weight=1), Criterion(text="Is a report", weight=3)))}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = small_project(tmp_path)
    yield project
    project.close()


def asked(project: Project) -> list[list[str]]:
    wanted = materials.for_judging(PROTOCOLS["researcherbench.coverage"])
    found = materials.each(project, wanted, materials.item_ids(project))
    return [[unit.text for unit in one.own.units(Kind.RUBRIC)] for one in found]


def test_a_set_in_force_takes_the_place_of_the_experts_rubrics_until_that_is_undone(project: Project) -> None:
    before = asked(project)
    named_rubrics.keep(project, "lax", LAX)
    assert asked(project) == before
    named_rubrics.use(project, "lax")
    # An item that the set lacks is judged by nothing.
    assert asked(project) == [["Is a report", "Is a report"], []]
    history.undo(project)
    assert asked(project) == before
    assert checking.check(project).problems == []


def test_a_criterion_keeps_its_id_as_long_as_its_words_stay(project: Project) -> None:
    named_rubrics.keep(project, "lax", LAX)
    first = [unit.id for unit in named_rubrics.sets(project)["lax"]["1"].units]
    assert len(set(first)) == 2
    changed = Rubric(units=(*LAX["1"].units[:1], Criterion(text="Is long", weight=2)))
    named_rubrics.keep(project, "lax", {"1": changed})
    second = [unit.id for unit in named_rubrics.sets(project)["lax"]["1"].units]
    assert [one in first for one in second] == [True, False]


def test_what_cannot_be_kept_or_used_is_refused(project: Project) -> None:
    for name, rubrics in (("", LAX), ("settled", LAX), ("a:b", LAX), ("x", {"9": LAX["1"]})):
        with pytest.raises(Refusal):
            named_rubrics.keep(project, name, rubrics)
    odd = {"1": Rubric(units=(Criterion(text="Is a report", weight=7),))}
    with pytest.raises(Refusal, match="weight 7"):
        named_rubrics.keep(project, "odd", odd)
    with pytest.raises(Refusal, match="There is no rubric set “odd”"):
        named_rubrics.use(project, "odd")
    assert named_rubrics.sets(project) == {}


def test_a_release_carries_the_sets_and_scores_by_the_experts_rubrics(
    project: Project, tmp_path: Path
) -> None:
    rubric_sets.keep(project, "as it was", "settled")
    releases.export(project, tmp_path / "one")
    named_rubrics.use(project, "as it was")
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    assert named_rubrics.sets(other) == named_rubrics.sets(project)
    releases.export(other, tmp_path / "two")
    names = sorted(path.name for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert "extracts.json" in names
    for path in (tmp_path / "one").rglob("*.json"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
    other.close()


def test_a_set_comes_from_a_file_on_the_command_line(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "lax.json"
    path.write_text(json.dumps({"1": [{"text": "Is a report", "weight": 1}]}), "utf-8")
    file = str(project.path)
    assert run_command(["rubrics", "keep", file, "lax", "--from", str(path)]) == 0
    assert run_command(["rubrics", "keep", file, "copy", "--of", "settled"]) == 0
    assert {name: len(of) for name, of in named_rubrics.sets(project).items()} == {"copy": 2, "lax": 1}
    path.write_text("[]", "utf-8")
    assert run_command(["rubrics", "keep", file, "lax", "--from", str(path)]) == 1


def test_letter_18_people_weigh_a_set_in_a_table_and_it_is_kept_beside_the_first(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named_rubrics.keep(project, "lax", {"1": Rubric(units=(Criterion(text="=Is, a “report”", weight=1),))})
    file, path = str(project.path), tmp_path / "weighed.csv"
    assert run_command(["rubrics", "write", file, "lax", "--to", str(path)]) == 0
    table = path.read_text("utf-8-sig")
    assert table.splitlines()[1].endswith(",1")
    path.write_text(table.replace(",1\r\n", ",3\r\n").replace(",1\n", ",3\n"), "utf-8", newline="")
    assert run_command(["rubrics", "keep", file, "weighed", "--from", str(path)]) == 0
    (unit,) = named_rubrics.sets(project)["weighed"]["1"].units
    assert (unit.text, unit.weight) == ("=Is, a “report”", 3)
    assert [one.weight for one in named_rubrics.sets(project)["lax"]["1"].units] == [1]
    assert run_command(["rubrics", "write", file, "none", "--to", str(path)]) == 1
    path.write_text("item,criterion,weight\n1,Is a report,much\n", "utf-8")
    assert run_command(["rubrics", "keep", file, "weighed", "--from", str(path)]) == 1
    assert "“much” is no weight" in capsys.readouterr().err
