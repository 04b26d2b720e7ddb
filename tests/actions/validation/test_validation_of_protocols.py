"""Every protocol that people answer is validated: two values by their cells, more by agreement, pairs in one order."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert

from annotator.actions.adjudication import adjudication_sheets, closing, ruling
from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.judges import judges
from annotator.actions.labelling import label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_units
from annotator.actions.sets.validation_units import UnitPlace
from annotator.actions.validation import validation, validation_sheets
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.judges.scale import PAIR
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.change import derived_id, now
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import JUDGEMENT
from tests.projects import pairs_project as pairs
from tests.projects.labelled_protocols import ALL, CLAIMS, PAIRS, REASONING, one_item
from tests.projects.labelling_project import submit_labels

FEW = 100


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = one_item(tmp_path, reports=3)
    judges.add(project, "small", base_url="http://127.0.0.1:1/v1", model="m")
    yield project
    project.close()


def places(project: Project, protocol: str) -> list[UnitPlace]:
    return list(validation_units.places(project, PROTOCOLS[protocol]).values())


def judge_says(
    project: Project, protocol: str, place: UnitPlace, value: str, *, turned: bool = False
) -> None:
    first, second = place.key[::-1] if turned else place.key
    with project.store.write() as db:
        db.execute(
            insert(JUDGEMENT).values(
                id=derived_id(first, second), protocol=protocol, item_id=place.item_id, response_id=first,
                unit_id=second, rater_kind="judge", rater_id=judges.named(project, "small").id, trial=1, at=now(),
                sha256="h", value=value, status="ok",
            )
        )  # fmt: skip


def person_says(project: Project, protocol: str, value: str) -> int:
    """The first value that may be said of every unit that the person working is asked about; how many there are."""
    said = 0
    for task in label_tasks.queue(project, protocol):
        sheet = labels.sheet(project, task.response_id, protocol, task.other_id)
        for group in sheet.groups:
            for unit in group.units:
                labels.set_label(
                    project,
                    task.response_id,
                    unit.id,
                    value if value in group.values else group.values[0],
                    protocol=protocol,
                )
                said += 1
    submit_labels(project)
    return said


@pytest.mark.parametrize("protocol", ALL)
def test_every_protocol_is_validated(project: Project, protocol: str) -> None:
    shape = PROTOCOLS[protocol]
    asked = person_says(project, protocol, shape.values[0])
    for place in places(project, protocol):
        judge_says(project, protocol, place, shape.values[0])
    found = validation.report(project, ValidationQuery(protocol))
    line = found.of("small")
    assert line.units == asked == len(places(project, protocol))
    assert set(line.told.plain) >= {"accuracy", "kappa", "ac1"}
    assert bool(found.positive) == (len(shape.values) == 2)
    assert validation_sheets.sheets(found)


def test_more_than_two_values_have_agreement_and_a_named_positive_has_all(project: Project) -> None:
    """Two statements a report, three reports: people say true of all six; the judge errs once, and cannot tell once."""
    units = places(project, REASONING)
    person_says(project, REASONING, "true")
    for n, place in enumerate(units):
        judge_says(
            project,
            REASONING,
            place,
            "false" if n == 0 else PROTOCOLS[REASONING].values[2] if n == 1 else "true",
        )
    line = validation.report(project, ValidationQuery(REASONING)).of("small")
    assert (set(line.told.plain), set(line.told.weighted)) == ({"accuracy", "kappa", "ac1"}, {"accuracy"})
    assert line.told.plain["accuracy"].value == pytest.approx(1 - 2 / len(units))
    assert "one category" not in line.told.plain["accuracy"].note
    named = validation.report(project, ValidationQuery(REASONING, positive="true")).of("small")
    assert named.told.plain["recall"].value == pytest.approx(1 - 2 / len(units))
    assert named.told.confusion["true", "false"] == 1


def test_a_page_that_could_not_be_read_is_unknown_to_both(project: Project) -> None:
    person_says(project, CLAIMS, "yes")
    for place in places(project, CLAIMS):
        judge_says(project, CLAIMS, place, "yes")
    line = validation.report(project, ValidationQuery(CLAIMS)).of("small")
    # Of three claims one cites a page that is gone, of which people can only say that it is unknown.
    assert line.told.confusion == {("yes", "yes"): 2, ("unknown", "yes"): 1}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_pairs_are_compared_in_one_order(
    project: Project, monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]
) -> None:
    """People asked in the other order are turned, in whichever order the values stand: the better report stays it."""
    (first, second, _), shape = PAIR.names, PROTOCOLS[PAIRS]
    scale = replace(PAIR, values=tuple(PAIR.values[place] for place in order))
    monkeypatch.setitem(PROTOCOLS, PAIRS, replace(shape, scale=scale))
    asked = {(task.response_id, task.other_id) for task in label_tasks.queue(project, PAIRS)}
    for response_id, other_id in asked:
        # Always the report whose id sorts first.
        labels.set_label(
            project, response_id, other_id, first if response_id < other_id else second, protocol=PAIRS
        )
    submit_labels(project)
    for place in places(project, PAIRS):
        judge_says(project, PAIRS, place, first)
        judge_says(project, PAIRS, place, first, turned=True)
    line = validation.report(project, ValidationQuery(PAIRS)).of("small")
    assert (line.units, line.told.confusion) == (3, {(first, first): 3})


def test_the_consensus_may_be_what_is_true(tmp_path: Path) -> None:
    """Two criteria, of which adjudication settled a yes and a no; the judge says yes of both."""
    project = pairs.pairs_project(tmp_path)
    rubric = pairs.rubric((("Explains it", 3), ("Names it", 1)), "c")
    submitting.seal(project, artifacts.start(project, pairs.item(project), Kind.RUBRIC, rubric).subject)
    report = pairs.add_report(project, "Alpha")
    said = {"Ada": {"c1": "yes", "c2": "yes"}, "Ben": {"c1": "yes", "c2": "no"}}
    pairs.submit(project, {name: pairs.labels(report, values) for name, values in said.items()})
    adjudication_id = pairs.opened(project, Stage.LABELLING)
    first, second = adjudication_sheets.sheet(project, adjudication_id).rows
    ruling.rule(project, first.ruling.id, "both")
    letter = pairs.letter_of(project, adjudication_id, "Ben")
    ruling.rule(project, second.ruling.id, letter, reason=Reason.ERROR)
    closing.close(project, adjudication_id)
    project.work_as(next(one for one in people.people(project) if one.has(Role.COORDINATOR)))
    judges.add(project, "small", base_url="http://127.0.0.1:1/v1", model="m")
    for place in places(project, USUAL):
        judge_says(project, USUAL, place, "yes")
    found = validation.report(project, ValidationQuery(against=("consensus",)))
    assert found.against == "consensus"
    told = found.of("small").told
    assert (told.plain["accuracy"].value, told.weighted["accuracy"].value) == (0.5, 0.75)
    assert any("flatters the people" in note for note in found.notes)
    project.close()
