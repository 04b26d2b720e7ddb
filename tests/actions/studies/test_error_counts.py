"""What goes wrong per response, by question type; counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.studies import error_counts
from annotator.protocols.researcherbench.taxonomy import MISSES, MODES
from tests.projects import adra_project as adra
from tests.projects.small_project import small_project
from tests.servers.said_by_judges import places, say


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A judge says yes, no, no of Alpha's first report and yes, yes, no of its second."""
    project = small_project(tmp_path)
    judges.add(project, "a", base_url="http://127.0.0.1:1/v1", model="m")
    say(project, "a", "ynnyyn")
    yield project
    project.close()


def label(project: Project, taxonomy: str, place: int, value: str) -> None:
    item, response, unit = places(project)[place]
    me = people.someone(project).id
    adra.say(project, taxonomy, item, response, {unit: value}, rater_kind="person", rater_id=me)


def means(project: Project, taxonomy: str, kind: str, **how: str) -> dict[str, float | None]:
    report = error_counts.report(project, **how)
    (counted,) = (one for one in report.counted if one.taxonomy.name == taxonomy)
    return {label: found.value for label, found in counted.means[kind].items()}


def test_what_was_labelled_is_counted_per_response(project: Project) -> None:
    for place, value in ((1, "incompleteness"), (2, "partial_missing"), (5, "incompleteness")):
        label(project, MISSES.name, place, value)
    assert means(project, MISSES.name, "Technical Details") == {
        "incompleteness": 1.0, "partial_missing": 1.0, "subtotal": 2.0,
    }  # fmt: skip
    assert means(project, MISSES.name, "Open Consulting")["incompleteness"] == 1.0


def test_without_a_label_only_the_subtotal_stands(project: Project) -> None:
    label(project, MISSES.name, 1, "incompleteness")
    (counted,) = (one for one in error_counts.report(project).counted if one.taxonomy is MISSES)
    found = counted.means["Technical Details"]
    assert found["incompleteness"].value is None
    # One is labelled; the other may be of this kind or not.
    assert (found["incompleteness"].floor, found["incompleteness"].ceiling) == (1.0, 2.0)
    assert found["subtotal"].value == 2.0


def test_where_covered_criteria_came_from(project: Project) -> None:
    label(project, MODES.name, 0, "retrieval")
    label(project, MODES.name, 3, "internal_knowledge")
    assert means(project, MODES.name, "Technical Details")["retrieval"] == 1.0
    assert means(project, MODES.name, "Open Consulting")["internal_knowledge"] == 1.0


def test_one_system_is_counted_alone(project: Project) -> None:
    report = error_counts.report(project, system="Beta")
    assert all(not one.means for one in report.counted)
    assert error_counts.sheets(report) == ()


def test_the_table_says_what_waits_for_a_label(project: Project) -> None:
    misses, modes = error_counts.sheets(error_counts.report(project))
    assert misses.told[1].startswith("3 units wait for a label")
    assert [line.cells[-1].value for line in misses.lines] == [2, 1]
    assert (len(misses.pictures), modes.pictures) == (1, ())


def test_of_people_each_ones_labels_are_of_their_own_verdicts(project: Project) -> None:
    item, response, unit = places(project)[1]
    for name, value in (("ada", "incompleteness"), ("ben", None)):
        how = {"rater_kind": "person", "rater_id": name}
        adra.say(project, MISSES.of, item, response, {unit: "no"}, **how)
        if value is not None:
            adra.say(project, MISSES.name, item, response, {unit: value}, **how)
    (counted,) = (one for one in error_counts.report(project, "people").counted if one.taxonomy is MISSES)
    found = counted.means["Technical Details"]["incompleteness"]
    # Two readings, one without a label: between 1 of 2 and 2 of 2.
    assert (found.n, found.missing, found.floor, found.ceiling) == (2, 1, 0.5, 1.0)
