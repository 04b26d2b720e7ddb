"""Every kind of artifact can be adjudicated, labels too, by two raters or more."""

from typing import Any

import pytest

from annotator.actions.adjudication import (
    adjudication_sheets,
    closing,
    pairing,
    ruling,
)
from annotator.actions.assignments import submitting
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus, consensus_versions
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Origin, Reason
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import DOCUMENTS, Query, Wording
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.kinds.tasks import Task, Tasks
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

PROJECT = pairs.pairs_project
SAME, OTHER = "Attribution ties claims to sources", "Retrieval finds passages of evidence"


def two(document: type[Document[Any]], unit: type[Any], **second: Any) -> Document[Any]:
    return document(units=(unit(text=SAME), unit(text=OTHER, **second)))


# Kind by kind, what Ada and Ben wrote: the first units agree, the second ones differ in these fields.
WRITTEN: dict[Kind, tuple[Document[Any], Document[Any], tuple[str, ...]]] = {
    Kind.QUERY: (
        two(Query, Wording), Query(units=(Wording(text=SAME), Wording(text=f"{OTHER} today"))), ("text",)
    ),
    Kind.INSIGHTS: (
        two(Insights, Insight), Insights(units=(Insight(text=SAME), Insight(text=f"{OTHER} now"))), ("text",)
    ),
    Kind.INSPIRATIONS: (
        two(Inspirations, Inspiration, type="limitation", qualities=("challenge", "explorability")),
        two(Inspirations, Inspiration, type="hypothesis", qualities=("explorability", "verifiability")),
        ("type", "qualities"),
    ),
    Kind.TASKS: (
        two(Tasks, Task, phase="design", family="Hypothesis Generation", difficulty="basic"),
        two(Tasks, Task, phase="evaluate", family="Comparative Analysis", difficulty="basic"),
        ("phase", "family"),
    ),
    Kind.PLAN: (
        two(Plan, Subtask), Plan(units=(Subtask(text=SAME), Subtask(text=f"{OTHER} now"))), ("text",)
    ),
    Kind.RUBRIC: (two(Rubric, Criterion, weight=1), two(Rubric, Criterion, weight=3), ("weight",)),
    Kind.EVIDENCE: (
        two(Evidence, Reference, identifier="10.1000/one"), two(Evidence, Reference), ("identifier",),
    ),
    Kind.DIAGNOSTICS: (
        two(Diagnostics, Statement, label=True, aspect=Aspect.RESULTS),
        two(Diagnostics, Statement, label=False, aspect=Aspect.FUTURE),
        ("label", "aspect"),
    ),
    Kind.NUGGETS: (
        two(Nuggets, Nugget, importance="vital"), two(Nuggets, Nugget, importance="okay"), ("importance",)
    ),
    Kind.CHECKLIST: (
        Checklist(units=(CheckPoint(text=SAME, share=0.5), CheckPoint(text=OTHER, share=0.5))),
        Checklist(units=(CheckPoint(text=SAME, share=0.5), CheckPoint(text=OTHER, share=0.49))),
        ("share",),
    ),
    Kind.SELECTION: (
        two(Selection, DimensionRating, rating=5), two(Selection, DimensionRating, rating=2), ("rating",)
    ),
}  # fmt: skip


def agreed(project: Project, kind: Kind) -> Document[Any]:
    found = annotating.artifacts_of(project, pairs.item(project))
    return next(each for each in found if each.state is State.CONSENSUS and each.kind is kind).document


def test_every_kind_is_tried() -> None:
    assert set(WRITTEN) | {Kind.LABELS} == set(DOCUMENTS)


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.value)
def test_a_kind_goes_all_the_way_to_its_consensus(project: Project, kind: Kind) -> None:
    ada, ben, differing = WRITTEN[kind]
    pairs.submit(project, {"Ada": ada, "Ben": ben})
    adjudication_id = pairs.opened(project, stage_of(kind))
    letter = pairs.letter_of(project, adjudication_id, "Ben")
    (contested,) = (row for row in adjudication_sheets.sheet(project, adjudication_id).rows if row.contested)
    assert contested.differing == differing
    ruling.rule(project, contested.ruling.id, letter, reason=Reason.ERROR)
    closing.close(project, adjudication_id)
    document = agreed(project, kind)
    fields = set(consensus.writable(kind)) | {"text"}
    assert type(document) is DOCUMENTS[kind]
    assert [unit.model_dump(include=fields) for unit in document.units] == [
        unit.model_dump(include=fields) for unit in ben.units
    ]


def labelled(project: Project, **values: dict[str, str]) -> str:
    """The adjudication of labels of one report, which is judged by a sealed rubric; rater → unit → value."""
    pairs.work_as(project, "Cora")
    rubric = artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "c")).subject
    submitting.seal(project, rubric)
    report = pairs.add_report(project)
    pairs.submit(project, {name: pairs.labels(report, said) for name, said in values.items()})
    return pairs.opened(project, Stage.LABELLING)


def test_labels_meet_without_matching_and_keep_their_ids(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes", "c2": "no"}, Ben={"c1": "yes", "c2": "yes"})
    first, second = adjudication_sheets.sheet(project, adjudication_id).rows
    assert (first.contested, second.contested) == (False, True)
    ruling.rule(project, first.ruling.id, "both")
    ruling.rule(
        project, second.ruling.id, pairs.letter_of(project, adjudication_id, "Ada"), reason=Reason.ERROR
    )
    closing.close(project, adjudication_id)
    assert [(label.unit_id, label.value) for label in agreed(project, Kind.LABELS).units] == [
        ("c1", "yes"), ("c2", "no"),
    ]  # fmt: skip
    assert [label.id for label in agreed(project, Kind.LABELS).units] == [
        next(iter(row.units.values())).id for row in (first, second)
    ]


def test_a_row_of_labels_says_what_it_is_about_and_hides_the_system(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes"}, Ben={"c1": "no"})
    (row,) = adjudication_sheets.sheet(project, adjudication_id).rows
    assert (row.heading, row.report) == (pairs.ADA[0][0], "Report A")
    assert "Canary" not in repr(adjudication_sheets.sheet(project, adjudication_id))


def test_an_own_label_is_another_value_of_the_protocol(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes"}, Ben={"c1": "no"})
    (row,) = adjudication_sheets.sheet(project, adjudication_id).rows
    with pytest.raises(Refusal, match="“perhaps” is not a valid value here"):
        ruling.write_own(project, row.ruling.id, value="perhaps")
    ruling.write_own(project, row.ruling.id, value="no")
    assert "take" in closing.missing(project, adjudication_id)[0].words
    ruling.write_own(project, row.ruling.id, value="unsure")
    ruling.explain(project, row.ruling.id, reason=Reason.OTHER)
    closing.close(project, adjudication_id)
    assert agreed(project, Kind.LABELS).units[0].value == "unsure"


def test_labels_get_no_second_figure(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes"}, Ben={"c1": "yes"})
    closing.close(project, adjudication_id)
    with project.store.read() as db:
        assert consensus_versions.versions(db, adjudication_id)[0].repaired == ()


def test_scores_of_single_raters_are_not_shown(project: Project) -> None:
    ada, ben, _ = WRITTEN[Kind.SELECTION]
    pairs.submit(project, {"Ada": ada, "Ben": ben})
    names = {
        each.name
        for each in adjudication_sheets.sheet(project, pairs.opened(project, Stage.SELECTION)).figures
    }
    assert "rating_agreement" in names
    assert not any(name.startswith("item_score") for name in names)


def test_why_a_figure_is_undefined_is_told_of_both_alone(project: Project) -> None:
    ratings = [DimensionRating(text=text, rating=3) for text in ("Openness", "Depth", "Precision")]
    documents = {"Ada": Selection(units=tuple(ratings)), "Ben": Selection(units=tuple(ratings[:2]))}
    pairs.submit(project, documents)
    (kappa,) = (
        f
        for f in adjudication_sheets.sheet(project, pairs.opened(project, Stage.SELECTION)).figures
        if "kappa" in f.name
    )
    assert kappa.value is None
    assert "one category only" in kappa.note
    assert "only A" not in kappa.note


def test_labels_submitted_on_the_label_page_are_adjudicated(project: Project) -> None:
    rubric = artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "c")).subject
    submitting.seal(project, rubric)
    report = pairs.add_report(project)
    for name, value in (("Ada", "yes"), ("Ben", "no")):
        pairs.work_as(project, name)
        for unit in ("c1", "c2", "c3", "c4", "c5"):
            labels.set_label(project, report, unit, "yes" if unit == "c1" else value)
        label_sealing.submit(project, pairs.item(project))
    rows = adjudication_sheets.sheet(project, pairs.opened(project, Stage.LABELLING)).rows
    assert [row.contested for row in rows] == [False, True, True, True, True]
    assert [row.heading for row in rows] == [text for text, _ in pairs.ADA]


def test_criteria_name_the_insights_of_the_consensus(project: Project) -> None:
    insights = {name: Insights(units=(Insight(id=f"i-{name}", text=SAME),)) for name in ("Ada", "Ben")}
    pairs.submit(project, insights)
    kept = Rubric(units=(Criterion(text=OTHER, insight_id="i-Ada"),))
    pairs.submit(project, {"Ada": kept, "Ben": Rubric(units=(Criterion(text=OTHER, insight_id="i-Ben"),))})
    for stage in (Stage.INSIGHTS, Stage.RUBRIC):
        adjudication_id = pairs.opened(project, stage)
        closing.close(project, adjudication_id)
    (criterion,) = agreed(project, Kind.RUBRIC).units
    assert criterion.insight_id == agreed(project, Kind.INSIGHTS).units[0].id


CRITERIA = ("Explains attribution of claims", "Names a dataset of answers", "Discusses what review costs")


@pytest.fixture
def three(project: Project) -> str:
    """Ada, Ben and Dan all wrote the first criterion, two of them the second, Dan alone the third."""
    written = {"Ada": ((0, 3), (1, 2)), "Ben": ((0, 3),), "Dan": ((2, 1), (1, 3), (0, 3))}
    documents = {
        name: pairs.rubric(tuple((CRITERIA[n], weight) for n, weight in chosen), name[0].lower())
        for name, chosen in written.items()
    }
    pairs.submit(project, documents)
    return pairs.opened(project)


def written(project: Project, adjudication_id: str) -> list[list[str]]:
    rows = adjudication_sheets.sheet(project, adjudication_id).rows
    return sorted(sorted(unit.id for unit in row.units.values()) for row in rows)


def test_three_raters_share_rows(project: Project, three: str) -> None:
    sheet = adjudication_sheets.sheet(project, three)
    assert sheet.letters == ("A", "B", "C")
    assert written(project, three) == [["a1", "b1", "d3"], ["a2", "d2"], ["d1"]]
    assert [row.contested for row in sheet.rows].count(False) == 1


def test_both_of_three_keeps_those_that_agree_as_one(project: Project, three: str) -> None:
    rows = {len(row.units): row for row in adjudication_sheets.sheet(project, three).rows}
    for size in (3, 2):
        ruling.rule(project, rows[size].ruling.id, "both")
    made = {len(row.units): row.made for row in adjudication_sheets.sheet(project, three).rows}
    assert [provenance.origin for _, provenance in made[3]] == [Origin.BOTH]
    assert {(unit.weight, provenance.origin) for unit, provenance in made[2]} == {
        (2, Origin.ONE),
        (3, Origin.ONE),
    }


def test_three_raters_get_one_second_figure_over_all(project: Project, three: str) -> None:
    rows = {tuple(sorted(unit.id for unit in row.units.values())): row for row in _rows(project, three)}
    pairing.split(project, rows["a2", "d2"].ruling.id, pairs.letter_of(project, three, "Dan"))
    for row in _rows(project, three):
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.OTHER)
    closing.close(project, three)
    with project.store.read() as db:
        repaired = {each.name: each for each in consensus_versions.versions(db, three)[0].repaired}
    # Only the first criterion is shared now: F1 of Ada and Ben 2/3, of Ada and Dan 2/5, of Ben and Dan 2/4.
    assert repaired["repaired_match_f1"].value == pytest.approx((2 / 3 + 2 / 5 + 2 / 4) / 3)


def _rows(project: Project, adjudication_id: str) -> Any:
    return adjudication_sheets.sheet(project, adjudication_id).rows
