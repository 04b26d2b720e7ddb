"""Question types are the project's own: a further one is a section of the selection's guideline."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.authoring import guidelines, question_types
from annotator.actions.imports import imports
from annotator.actions.items import items, materials, sources
from annotator.actions.items.materials import WantedMaterial
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import releases
from annotator.cli import run_command
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.texts.refusal import Refusal
from annotator.gui.pages.authoring.drafting import fresh
from tests.projects import pairs_project as pairs

FORECAST = """
## Question type: Forecast

The question asks what will be the case at a named date.

### Resolvability

Whether it will be clear at that date who was right.

- **5** – one figure of a named source decides
- **4** – a named source decides, with a little judgement
- **3** – most experts would agree
- **2** – experts would quarrel
- **1** – nobody could ever tell

### Key insights

- base rates, and what speaks for leaving them
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = pairs.pairs_project(tmp_path, 0)
    yield project
    project.close()


def named(project: Project, name: str) -> QuestionType | None:
    return next((one for one in question_types.types(project) if one.name == name), None)


def publish(project: Project, more: str) -> None:
    guidelines.write(project, Stage.SELECTION, guidelines.shipped(Stage.SELECTION) + more)


def test_letter_3_three_types_come_with_definitions_dimensions_and_five_anchors_each() -> None:
    found = question_types.shipped()
    assert [len(one.dimensions) for one in found] == [4, 3, 4]
    assert all(one.definition and len(one.focus) >= 5 for one in found)
    anchors = [words for one in found for each in one.dimensions for words in each.anchors.values()]
    assert len(anchors) == len(set(anchors)) == 11 * 5


def test_letter_3_a_fourth_type_is_a_section_and_is_rated_and_drafted_by(
    project: Project, tmp_path: Path
) -> None:
    publish(project, FORECAST)
    assert [one.name for one in question_types.types(project)][-1] == "Forecast"
    forecast = named(project, "Forecast")
    assert [unit.text for unit in fresh(Kind.SELECTION, forecast).units] == ["Resolvability"]
    item = items.add(project, "How many will there be in 2030?", "Forecast").subject
    (tmp_path / "almanac.md").write_text("There were nine.", "utf-8")
    sources.add_source(project, item, tmp_path / "almanac.md")
    (at_hand,) = materials.each(project, WantedMaterial((), sources=True), [item])
    (own,) = (one for one in at_hand.own.types if one.name == at_hand.item.question_type)
    assert own.focus == ("base rates, and what speaks for leaving them",)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (
            FORECAST.replace("- **3** – most experts would agree\n", ""),
            "lacks its definition, or one of the points",
        ),
        (
            FORECAST.replace("The question asks what will be the case at a named date.", ""),
            "without a name or a def",
        ),
        (FORECAST.replace("Forecast", "Literature Review"), "there twice"),
        ("\n## Question type: Riddle\n\nIt has an answer.\n", "no dimension to rate it on"),
    ],
)
def test_letter_3_a_type_that_could_not_be_rated_is_not_published(
    project: Project, more: str, why: str
) -> None:
    with pytest.raises(Refusal, match=why):
        publish(project, more)
    assert guidelines.current(project, Stage.SELECTION) is None


def test_letter_3_a_guideline_without_types_leaves_those_that_are_shipped(project: Project) -> None:
    guidelines.write(project, Stage.SELECTION, "# Selection\n\nBe strict.")
    assert question_types.types(project) == question_types.shipped()


def test_letter_3_types_leave_with_a_release(project: Project, tmp_path: Path) -> None:
    publish(project, FORECAST)
    items.add(project, "How many will there be in 2030?", "Forecast")
    releases.export(project, tmp_path / "release")
    with closing(new_project(tmp_path / "again.goldsmith")) as again:
        imports.run(again, "goldsmith", [tmp_path / "release"])
        assert named(again, "Forecast") == named(project, "Forecast")


def test_letter_3_types_are_shown_on_the_command_line(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(project, FORECAST)
    assert run_command(["items", "types", str(project.path)]) == 0
    assert "The question asks what will be the case at a named date." in capsys.readouterr().out
