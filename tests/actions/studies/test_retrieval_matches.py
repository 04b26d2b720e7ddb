"""Every reference that is a gold one and why, and all the others."""

from pathlib import Path

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.studies import retrieval_matches
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.material.part import ResponsePart
from tests.projects import adra_project as adra

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


def test_every_match_says_by_what_key(tmp_path: Path) -> None:
    project = given(tmp_path)
    matches, _ = retrieval_matches.sheets(retrieval_matches.report(project))
    found = [[cell.words for cell in line.cells[2:5]] for line in matches.lines]
    assert found == [
        ["match", "the same DOI", "10.1000/one"],
        ["match", "the same arXiv id, its version left out", "2401.00002"],
        ["match", "the same first 20 characters of the title", "on the evaluation of"],
        ["retrieved, not gold", "", ""],
    ]
    project.close()


def test_what_was_not_found_is_listed_and_says_why(tmp_path: Path) -> None:
    project = given(tmp_path, GIVEN[:1])
    matches, reports = retrieval_matches.sheets(retrieval_matches.report(project))
    assert [line.cells[2].words for line in matches.lines] == ["match", *["gold, not found"] * 2]
    assert dict(matches.lines[1].more)["Why"] == "no key of another reference equals one of its own"
    values = {
        column.title: cell.value for column, cell in zip(reports.columns, reports.lines[0].cells, strict=True)
    }
    # 1 of 3 gold references found, 1 retrieved: J = 1/3, P = 1, R = 1/3, F1 = 2/4.
    assert (values["Retrieval Jaccard index"], values["Retrieval precision"]) == (1 / 3, 1.0)
    assert (values["Retrieval recall"], values["Retrieval F1"]) == (1 / 3, 0.5)
    project.close()


def test_references_that_are_not_known_are_no_zero(tmp_path: Path) -> None:
    project = given(tmp_path)
    matches, reports = retrieval_matches.sheets(retrieval_matches.report(project))
    assert "The references of 1 of 2 reports are not known; they are no zero." in matches.told
    beta = reports.lines[1]
    assert [cell.words for cell in beta.cells[3:7]] == ["–", "3", "–", "–"]
    project.close()


def test_where_no_references_are_known_there_is_nothing_to_show(tmp_path: Path) -> None:
    project = adra.adra_project(tmp_path)
    assert retrieval_matches.sheets(retrieval_matches.report(project)) == ()
    project.close()


def test_one_system_is_looked_at_alone(tmp_path: Path) -> None:
    project = given(tmp_path)
    _, reports = retrieval_matches.sheets(retrieval_matches.report(project), system="Alpha")
    assert [line.cells[1].words for line in reports.lines] == ["Alpha"]
    assert retrieval_matches.sheets(retrieval_matches.report(project), item="9") == ()
    project.close()
