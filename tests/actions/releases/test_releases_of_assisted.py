"""What judges paired in a release: beside what was frozen, read back whole, and refused where it does not fit."""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.agreement import agreement_report, assisting
from annotator.actions.imports import imports
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.exchange.schemas import all_schemas
from tests.projects.assisted_project import AGREEMENT, F1, assisted_project, pairing
from tests.servers.served import JUDGE, add_judge

Record = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project, and its release before and after a judge paired what it holds."""
    folder = tmp_path_factory.mktemp("assisted")
    with pairing() as server, closing(assisted_project(folder, server)) as project:
        releases.export(project, folder / "before")
        asyncio.run(assisting.run(project, assisting.order(JUDGE)))
        releases.export(project, folder / "release")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def tree(folder: Path) -> list[Record]:
    return json.loads((folder / "agreement.json").read_text("utf-8"))


def taken_in(folder: Path, source: Path) -> Project:
    project = new_project(folder / "taken.goldsmith", "pairs")
    imports.run(project, "goldsmith", [source], warm=False)
    return project


def test_it_has_a_field_of_its_own_and_what_was_frozen_leaves_as_before(made: Path) -> None:
    before, after = tree(made / "before"), tree(made / "release")
    assert all("assisted" not in one for one in before)
    paired = [one.pop("assisted") for one in after]
    assert after == before
    found = [{each["name"]: each["value"] for each in one["figures"]} for (one,) in paired]
    assert sorted(one["assisted_match_f1"] for one in found) == pytest.approx(sorted(F1))
    assert all(name.startswith("assisted_") for one in found for name in one)
    assert {(one["model"], one["answered_by"], len(one["prompt_sha256"])) for (one,) in paired} == {
        ("test-model", "test-model-2026", 64)
    }
    (judge,) = json.loads((made / "release" / "judges.json").read_text("utf-8"))
    assert {one["judge_id"] for (one,) in paired} == {judge["id"]}


def test_the_data_card_tells_it_after_the_frozen_figures_under_its_own_name(made: Path) -> None:
    card = (made / "release" / "data_card.md").read_text("utf-8")
    lines = [line for line in card.splitlines() if "match_f1" in line]
    assert [("automatic" in line, "model-assisted: test-model, prompt" in line) for line in lines] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert "| 0.79 |" in lines[1]
    assert ("lower bound" in lines[0], "lower bound" in lines[1]) == (True, False)
    shares = [line for line in card.splitlines() if "| agreement |" in line and "model-assisted" in line]
    assert [f"| {AGREEMENT:.2f} |" in line for line in shares] == [True]


def test_two_judges_of_one_model_are_told_apart_in_the_data_card(tmp_path: Path) -> None:
    with pairing() as server, closing(assisted_project(tmp_path, server, 1)) as project:
        add_judge(project, server, "near")
        for name in (JUDGE, "near"):
            asyncio.run(assisting.run(project, assisting.order(name)))
        releases.export(project, tmp_path / "release")
    card = (tmp_path / "release" / "data_card.md").read_text("utf-8")
    lines = [
        line for line in card.splitlines() if "match_f1" in line and "model-assisted: test-model" in line
    ]
    assert sorted([name for name in (JUDGE, "near") if f"judge “{name}”" in line] for line in lines) == [
        [JUDGE], ["near"],
    ]  # fmt: skip


def test_it_is_read_back_and_leaves_again_byte_for_byte(made: Path, tmp_path: Path) -> None:
    with closing(taken_in(tmp_path, made / "release")) as project:
        assert checking.check(project).problems == []
        releases.export(project, tmp_path / "again")
        given = agreement_report.report(project, assisted_by=JUDGE).assistance
        assert given is not None
        assert (given.lists, given.there) == (2, 2)
        assert str(imports.run(project, "goldsmith", [made / "release"], warm=False)[1]) == "nothing new"
    one, two = files(made / "release"), files(tmp_path / "again")
    # It was the first project's second release.
    numbers = [json.loads(each.pop("manifest.json")).pop("number") for each in (one, two)]
    assert numbers == [2, 1]
    assert one.pop("SHA256SUMS") != two.pop("SHA256SUMS")
    assert one == two


def test_a_project_that_has_the_agreement_learns_what_was_paired_since(made: Path, tmp_path: Path) -> None:
    with closing(taken_in(tmp_path, made / "before")) as project:
        report = imports.run(project, "goldsmith", [made / "release"], warm=False)[1]
        assert (report.problems, report.counts["pairings"].new, report.counts["agreements"].new) == ((), 2, 0)
        assert agreement_report.report(project, assisted_by=JUDGE).assistance.there == 2  # type: ignore[union-attr]


def _another_unit(one: Record) -> None:
    one["only_a"].append("strange")


def _another_rater(one: Record) -> None:
    one["b"] = one["a"]


def _another_judge(one: Record) -> None:
    one["judge_id"] = "nobody"


def _no_hash(one: Record) -> None:
    del one["prompt_sha256"]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_another_unit, "not over all units of its raters"),
        (_another_rater, "not of two raters of its agreement"),
        (_another_judge, "its judge nobody was not imported"),
        (_no_hash, "“assisted.0.prompt_sha256” is missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    spoil: Callable[[Record], None], why: str, made: Path, tmp_path: Path
) -> None:
    found = tree(made / "release")
    spoil(found[0]["assisted"][0])
    (tmp_path / "in").mkdir()
    for name, content in files(made / "release").items():
        if name not in ("manifest.json", "SHA256SUMS"):
            (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
            (tmp_path / "in" / name).write_bytes(content)
    (tmp_path / "in" / "agreement.json").write_text(json.dumps(found), "utf-8")
    with closing(Project.create(tmp_path / "p.goldsmith")) as project:
        problems = imports.preview(project, "goldsmith", [tmp_path / "in"]).problems
    (told,) = [str(one) for one in problems if why in one.reason]
    assert told.startswith("agreement.json[0]: ")


def test_the_schema_knows_the_field() -> None:
    schema = json.loads(all_schemas()["agreement.json"])
    assert "assisted" in schema["$defs"]["AgreementRecord"]["properties"]
    assert "assisted" not in schema["$defs"]["AgreementRecord"]["required"]
