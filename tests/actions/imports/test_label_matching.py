"""How labels of a file find their place: by ids and exact words, under every protocol, and never by position."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.imports.label_files import LabelImportOptions
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.change import derived_id
from tests.material.bundles import write_peer
from tests.material.labels_in_files import (
    ANN,
    SECOND,
    look,
    project_of_two,
    refused,
    report_of,
    stored,
    take,
    unit_of,
    written,
)
from tests.projects.labelled_protocols import CLAIMS, PAIRS, PLAN, one_item
from tests.projects.small_project import answer
from tests.storage import sql

PROJECT = project_of_two


def test_a_number_decides_between_equal_words_and_never_by_itself(project: Project, tmp_path: Path) -> None:
    item_id = items.add(project, "Twice?").subject
    units = (Criterion(id="a", text="Both"), Criterion(id="b", text="Other"), Criterion(id="c", text="Both"))
    submitting.seal(project, artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject)
    answer(project, "Gamma")
    one = {"item": "3", "system": "Gamma", "unit": "Both"}
    take(project, written(tmp_path, one | {"number": "3"}))
    assert [row["unit_id"] for row in stored(project)] == ["c"]
    for number in ("", "2"):
        assert "2 units read “Both”" in refused(
            project, written(tmp_path, one | {"number": number, "value": "no"})
        )
    # Where the words stand once, a number from another order of the rubric does no harm.
    assert take(project, written(tmp_path, one | {"unit": "Other", "number": "1"})).new == 1


@pytest.mark.parametrize(
    "words", ["explains  residual\nconnections.", "“Explains residual connections”"[1:-1]]
)
def test_words_may_differ_in_case_and_white_space_alone(project: Project, tmp_path: Path, words: str) -> None:
    assert take(project, written(tmp_path, {"unit": words})).new == 1


def test_an_id_with_the_words_of_another_unit_is_refused(project: Project, tmp_path: Path) -> None:
    unit_id = unit_of(project, report_of(project))
    assert "not those of the unit" in refused(
        project, written(tmp_path, {"unit_id": unit_id, "unit": SECOND})
    )
    assert take(project, written(tmp_path, {"unit_id": unit_id})).new == 1


def peer_beside(project: Project, folder: Path) -> str:
    """ResearcherBench's two questions in the project; the id of the first, whose key was taken."""
    imports.run(project, "researcherbench", [write_peer(folder / "peer")], warm=False)
    return derived_id("researcherbench", 1)


def test_items_of_one_key_are_told_apart_by_their_dataset(project: Project, tmp_path: Path) -> None:
    # As projects of older programs have them.
    items.change(project, peer_beside(project, tmp_path), key="1")
    assert "2 items are called “1”: say of which dataset" in refused(project, written(tmp_path, {}))
    both = written(tmp_path, {"dataset": "researcherbench", "system": "Sys", "unit": "Point 1"})
    assert take(project, both).new == 1


def test_a_question_is_known_by_its_number_in_its_dataset_and_by_its_key_here(
    project: Project, tmp_path: Path
) -> None:
    question = peer_beside(project, tmp_path)
    told = {"system": "Sys", "unit": "Point 1"}
    assert take(project, written(tmp_path, told | {"item": "1", "dataset": "researcherbench"})).new == 1
    assert take(project, written(tmp_path, told | {"item": items.read(project, question).key})).same == 1


# ResearcherBench's files


def human(folder: Path, number: int, annotator: str, *points: tuple[str, bool]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [{"point": point, "covered": covered} for point, covered in points]
    (folder / f"Q{number}_result_{annotator}.json").write_text(json.dumps({"rubric_eval": lines}), "utf-8")


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Project]:
    """ResearcherBench's two questions, and the reports of Sys and Other."""
    folder = write_peer(tmp_path / "peer")
    (folder / "responses/Other.json").write_bytes((folder / "responses/Sys.json").read_bytes())
    project = new_project(tmp_path / "peer.goldsmith")
    people.someone(project)
    imports.run(project, "researcherbench", [folder], warm=False)
    yield project
    project.close()


def test_its_human_files_come_in_by_number_and_words(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both", True), ("Point 1", False))
    human(tmp_path / "h", 2, "A", ("Point 2", True))
    human(tmp_path / "h", 2, "B", ("Point 2", False))
    report = take(peer, tmp_path / "h", LabelImportOptions({"A": "E1", "B": "E2"}, system="Sys"))
    assert (report.new, report.problems) == (4, ())
    assert Counter(row["value"] for row in stored(peer)) == {"yes": 2, "no": 2}


def test_each_question_may_be_of_another_system(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both", True))
    human(tmp_path / "h", 2, "A", ("Both", False))
    take(peer, tmp_path / "h", LabelImportOptions({"A": "E1"}, systems={"1": "Sys", "2": "Other"}))
    names = dict(sql.rows(peer, "SELECT r.id, s.name FROM response r JOIN system s ON s.id = r.system_id"))
    assert {(names[row["response_id"]], row["value"]) for row in stored(peer)} == {
        ("Sys", "yes"),
        ("Other", "no"),
    }


def test_without_a_system_its_files_are_refused(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both", True))
    assert "does not say which system's report" in refused(
        peer, tmp_path / "h", LabelImportOptions({"A": "E1"})
    )


def test_its_annotators_are_nobody_until_somebody_says_who_they_are(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "R1", ("Both", True))
    assert "choose who that is" in refused(peer, tmp_path / "h", LabelImportOptions(system="Sys"))


def test_its_points_are_never_matched_by_place_or_likeness(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both of them", True), ("Point 2", True))
    report = look(peer, tmp_path / "h", LabelImportOptions({"A": "E1"}, system="Sys"))
    assert [one.trouble for one in report.problems] == ["unknown unit", "unknown unit"]


# Other protocols


def rows_of(project: Project, protocol: str, ask: Iterable[str], value: str) -> list[dict[str, Any]]:
    return [
        {"protocol": protocol, "system": "Canary-Alpha-9000", "unit": words, "value": value} for words in ask
    ]


def test_labels_of_other_protocols_find_their_units_too(tmp_path: Path) -> None:
    project = one_item(tmp_path)
    cells = [
        f"Collect the reports of every system. → {gold}" for gold in ("Gather reports from all systems.",)
    ]
    path = written(
        tmp_path,
        *rows_of(project, PLAN, cells, "relevant"),
        *rows_of(project, CLAIMS, ["Cost doubled."], "no"),
        *rows_of(project, PAIRS, ["Canary-Beta-9000"], "first"),
    )
    assert take(project, path, LabelImportOptions({"Ann": ANN})).new == 3
    for protocol, words, value in ((PLAN, cells[0], "TRUE"), (PAIRS, "Canary-Beta-9000", "1")):
        # Yes and no answer no such question.
        assert "is not a valid value here: use one of" in refused(
            project, written(tmp_path, *rows_of(project, protocol, [words], value))
        )
    assert {(row["protocol"], row["unit_id"]) for row in stored(project)} >= {(PLAN, "p1~g1"), (CLAIMS, "c2")}
    project.close()


def test_a_page_that_could_not_be_read_supports_nothing(tmp_path: Path) -> None:
    project = one_item(tmp_path)
    path = written(tmp_path, *rows_of(project, CLAIMS, ["Nobody reads it."], "yes"))
    assert "use one of unknown, unsure" in refused(project, path)
    take(project, written(tmp_path, *rows_of(project, CLAIMS, ["Nobody reads it."], "unknown")))
    assert [row["flags"] for row in stored(project)] == ["page_dead imported"]
    project.close()
