"""Every kind of artifact can be adjudicated; what nobody disagrees on is confirmed; settled tasks become items."""

from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus
from annotator.actions.contests import contest_standings
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import AdjudicationState, Origin, Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Document, Kind, State, stage_of
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
from tests.projects import pairs_project as pairs
from tests.projects.refusals import expect_refusal

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
    result = annotating.artifacts_of(project, pairs.item(project))
    return next(each for each in result if each.state is State.CONSENSUS and each.kind is kind).document


def test_every_kind_is_tried() -> None:
    assert set(WRITTEN) | {Kind.LABELS} == set(DOCUMENTS)


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.value)
def test_a_kind_goes_all_the_way_to_its_consensus(project: Project, kind: Kind) -> None:
    ada, ben, differing = WRITTEN[kind]
    pairs.submit(project, {"Ada": ada, "Ben": ben})
    adjudication_id = pairs.opened(project, stage_of(kind))
    letter = pairs.letter_of(project, adjudication_id, "Ben")
    (contested,) = (row for row in adjudicating.sheet(project, adjudication_id).rows if row.contested)
    assert contested.differing == differing
    ruling.rule(project, contested.ruling.id, letter, reason=Reason.ERROR)
    ruling.close(project, adjudication_id)
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
    assignments.seal(project, rubric)
    report = pairs.add_report(project)
    pairs.submit(project, {name: pairs.labels(report, said) for name, said in values.items()})
    return pairs.opened(project, Stage.LABELLING)


def test_labels_meet_without_matching_and_keep_their_ids(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes", "c2": "no"}, Ben={"c1": "yes", "c2": "yes"})
    first, second = adjudicating.sheet(project, adjudication_id).rows
    assert (first.contested, second.contested) == (False, True)
    ruling.rule(project, first.ruling.id, "both")
    ruling.rule(
        project, second.ruling.id, pairs.letter_of(project, adjudication_id, "Ada"), reason=Reason.ERROR
    )
    ruling.close(project, adjudication_id)
    assert [(label.unit_id, label.value) for label in agreed(project, Kind.LABELS).units] == [
        ("c1", "yes"), ("c2", "no"),
    ]  # fmt: skip
    assert [label.id for label in agreed(project, Kind.LABELS).units] == [
        next(iter(row.units.values())).id for row in (first, second)
    ]


def test_a_row_of_labels_hides_its_system_and_takes_a_value_of_the_protocol(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes"}, Ben={"c1": "no"})
    (row,) = adjudicating.sheet(project, adjudication_id).rows
    assert (row.heading, row.report) == (pairs.ADA[0][0], "Report A")
    assert "Canary" not in repr(adjudicating.sheet(project, adjudication_id))
    expect_refusal(
        "“perhaps” is not a valid value here", ruling.write_own, project, row.ruling.id, value="perhaps"
    )
    ruling.write_own(project, row.ruling.id, value="no")
    assert "take" in ruling.missing(project, adjudication_id)[0].words
    ruling.write_own(project, row.ruling.id, value="unsure")
    ruling.explain(project, row.ruling.id, reason=Reason.OTHER)
    ruling.close(project, adjudication_id)
    assert agreed(project, Kind.LABELS).units[0].value == "unsure"


def test_labels_get_no_second_figure(project: Project) -> None:
    adjudication_id = labelled(project, Ada={"c1": "yes"}, Ben={"c1": "yes"})
    ruling.close(project, adjudication_id)
    with project.store.read() as db:
        assert consensus.versions(db, adjudication_id)[0].repaired == ()


def test_scores_of_single_raters_are_not_shown(project: Project) -> None:
    ada, ben, _ = WRITTEN[Kind.SELECTION]
    pairs.submit(project, {"Ada": ada, "Ben": ben})
    names = {
        each.name for each in adjudicating.sheet(project, pairs.opened(project, Stage.SELECTION)).figures
    }
    assert "rating_agreement" in names
    assert not any(name.startswith("item_score") for name in names)


def test_why_a_figure_is_undefined_is_told_of_both_alone(project: Project) -> None:
    ratings = [DimensionRating(text=text, rating=3) for text in ("Openness", "Depth", "Precision")]
    documents = {"Ada": Selection(units=tuple(ratings)), "Ben": Selection(units=tuple(ratings[:2]))}
    pairs.submit(project, documents)
    (kappa,) = (
        f
        for f in adjudicating.sheet(project, pairs.opened(project, Stage.SELECTION)).figures
        if "kappa" in f.name
    )
    assert kappa.value is None
    assert "one category only" in kappa.note
    assert "only A" not in kappa.note


def test_labels_submitted_on_the_label_page_are_adjudicated(project: Project) -> None:
    rubric = artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "c")).subject
    assignments.seal(project, rubric)
    report = pairs.add_report(project)
    for name, value in (("Ada", "yes"), ("Ben", "no")):
        pairs.work_as(project, name)
        for unit in ("c1", "c2", "c3", "c4", "c5"):
            labels.set_label(project, report, unit, "yes" if unit == "c1" else value)
        label_sealing.submit(project, pairs.item(project))
    rows = adjudicating.sheet(project, pairs.opened(project, Stage.LABELLING)).rows
    assert [row.contested for row in rows] == [False, True, True, True, True]
    assert [row.heading for row in rows] == [text for text, _ in pairs.ADA]


def test_criteria_name_the_insights_of_the_consensus(project: Project) -> None:
    insights = {name: Insights(units=(Insight(id=f"i-{name}", text=SAME),)) for name in ("Ada", "Ben")}
    pairs.submit(project, insights)
    kept = Rubric(units=(Criterion(text=OTHER, insight_id="i-Ada"),))
    pairs.submit(project, {"Ada": kept, "Ben": Rubric(units=(Criterion(text=OTHER, insight_id="i-Ben"),))})
    for stage in (Stage.INSIGHTS, Stage.RUBRIC):
        ruling.close(project, pairs.opened(project, stage))
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
    rows = adjudicating.sheet(project, adjudication_id).rows
    return sorted(sorted(unit.id for unit in row.units.values()) for row in rows)


def test_three_raters_share_rows_and_both_keeps_what_agrees_as_one(project: Project, three: str) -> None:
    sheet = adjudicating.sheet(project, three)
    assert sheet.letters == ("A", "B", "C")
    assert written(project, three) == [["a1", "b1", "d3"], ["a2", "d2"], ["d1"]]
    assert [row.contested for row in sheet.rows].count(False) == 1
    rows = {len(row.units): row for row in adjudicating.sheet(project, three).rows}
    for size in (3, 2):
        ruling.rule(project, rows[size].ruling.id, "both")
    made = {len(row.units): row.made for row in adjudicating.sheet(project, three).rows}
    assert [provenance.origin for _, provenance in made[3]] == [Origin.BOTH]
    assert {(unit.weight, provenance.origin) for unit, provenance in made[2]} == {
        (2, Origin.ONE),
        (3, Origin.ONE),
    }


def test_three_raters_get_one_second_figure_over_all(project: Project, three: str) -> None:
    rows = {tuple(sorted(unit.id for unit in row.units.values())): row for row in _rows(project, three)}
    adjudicating.split(project, rows["a2", "d2"].ruling.id, pairs.letter_of(project, three, "Dan"))
    for row in _rows(project, three):
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.OTHER)
    ruling.close(project, three)
    with project.store.read() as db:
        repaired = {each.name: each for each in consensus.versions(db, three)[0].repaired}
    # Only the first criterion is shared now: F1 of Ada and Ben 2/3, of Ada and Dan 2/5, of Ben and Dan 2/4.
    assert repaired["repaired_match_f1"].value == pytest.approx((2 / 3 + 2 / 5 + 2 / 4) / 3)


def _rows(project: Project, adjudication_id: str) -> Any:
    return adjudicating.sheet(project, adjudication_id).rows


TRAITS = {"phase": "design", "difficulty": "basic"}
TASKS = Tasks(
    units=(
        Task(
            id="t-a",
            text="Survey stations and deliver a table.",
            phase="synthesize",
            family="Literature Survey",
        ),
        Task(
            id="t-b", text="Write a protocol.", phase="design", family="Method Blueprint", difficulty="basic"
        ),
    )
)


def test_a_settled_task_becomes_an_item_once(project: Project) -> None:
    seminar = pairs.item(project)
    items.change(project, seminar, key="s012", subject="Seismology", dataset="seminars")
    pairs.submit(project, {"Ada": TASKS})
    pairs.work_as(project, "Cora")
    assert {name: [task.id for task in of] for name, of in contest_standings.settled(project).items()} == {
        seminar: ["t-a", "t-b"]
    }
    made = items.read(project, contest_standings.keep(project, seminar, "t-b").subject)
    assert (made.key, made.question, made.question_type) == (
        "s012-t02",
        "Write a protocol.",
        "Method / Experiment Blueprint",
    )
    assert (made.subject, made.origin, made.traits, made.made_from) == ("Seismology", "s012", TRAITS, "t-b")
    assert contest_standings.made(project) == {"t-b": made.id}
    again = contest_standings.keep(project, seminar, "t-b")
    assert (again.seq, again.subject, items.count(project)) == (0, made.id, 2)
    assert items.read(project, contest_standings.keep(project, seminar, "t-a").subject).key == "s012-t01"
    (result,) = items.ids(project, items.Filter(words="protocol"))
    assert result == made.id
    assert not checking.check(project).problems


def test_only_settled_tasks_of_a_coordinator_become_items(project: Project) -> None:
    seminar = pairs.item(project)
    pairs.submit(project, {"Ada": TASKS, "Ben": TASKS})
    pairs.work_as(project, "Cora")
    assert contest_standings.settled(project) == {}
    expect_refusal("not among the settled ones", contest_standings.keep, project, seminar, "t-a")
    pairs.work_as(project, "Ada")
    expect_refusal("can make items of tasks", contest_standings.keep, project, seminar, "t-a")
    assert items.count(project) == 1


ALIKE = (("Explains attribution", 3), ("Names a dataset", 2))


@pytest.fixture
def unanimous(tmp_path: Path):
    """Three items on which the rubrics are the same, and a fourth with Ada's and Ben's usual ones."""
    unanimous = pairs.pairs_project(tmp_path, questions=4)
    for place in range(3):
        pairs.submit(unanimous, {"Ada": pairs.rubric(ALIKE, "a"), "Ben": pairs.rubric(ALIKE, "b")}, place)
    pairs.submit(unanimous, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")}, 3)
    return pairs.work_as(unanimous, "Cleo")


def states(unanimous: Project) -> dict[str, str]:
    return {line.item_key: line.state for line in adjudicating.queue(unanimous)}


def test_unanimous_items_are_closed_but_for_a_sample(unanimous: Project):
    report = adjudicating.auto_unanimous(unanimous, share=0.4, seed=7)
    assert (len(report.closed), len(report.spot_check), report.seed) == (1, 2, 7)
    result = states(unanimous)
    assert {result[line.item_key] for line in report.closed} == {"closed"}
    assert {result[line.item_key] for line in report.spot_check} == {"open"}
    assert result["4"] == "not begun"
    marked = {line.item_key for line in adjudicating.queue(unanimous) if line.spot_check}
    assert marked == {line.item_key for line in report.spot_check}


def test_a_consensus_of_unanimous_rows_is_what_both_wrote(unanimous: Project):
    line = adjudicating.auto_unanimous(unanimous).closed[0]
    agreed = [a for a in annotating.artifacts_of(unanimous, line.item_id) if a.state is State.CONSENSUS]
    assert [(unit.text, unit.weight) for unit in agreed[0].document.units] == list(ALIKE)


def test_undo_passes_over_what_was_closed_in_one_go(unanimous: Project):
    first = adjudicating.sheet(unanimous, pairs.opened(unanimous, place=3)).rows[1].ruling
    ruling.rule(unanimous, first.id, "both")
    adjudicating.auto_unanimous(unanimous)
    assert history.undo(unanimous).subject == first.id


@pytest.mark.parametrize(("share", "kept"), [(0.01, 1), (0, 0)])
def test_at_least_one_is_drawn_but_by_a_share_of_0(tmp_path: Path, share: float, kept: int):
    unanimous = pairs.pairs_project(tmp_path)
    pairs.submit(unanimous, {"Ada": pairs.rubric(ALIKE, "a"), "Ben": pairs.rubric(ALIKE, "b")})
    report = adjudicating.auto_unanimous(pairs.work_as(unanimous, "Cleo"), share=share)
    assert (len(report.closed), len(report.spot_check)) == (1 - kept, kept)


def test_the_same_items_and_seed_give_the_same_draw(unanimous: Project, tmp_path: Path):
    reports = []
    for name in ("one", "two"):
        copy = Project.open(backups.save_copy(unanimous, tmp_path / f"{name}.goldsmith"))
        reports.append(adjudicating.auto_unanimous(pairs.work_as(copy, "Cleo")))
        copy.close()
    assert reports[0] == reports[1]
    assert reports[0].seed != 0


def test_what_somebody_has_begun_to_rule_on_is_left_to_them(unanimous: Project):
    first = adjudicating.sheet(unanimous, pairs.opened(unanimous)).rows[0].ruling
    ruling.rule(unanimous, first.id, "drop", reason=Reason.SCOPE)
    report = adjudicating.auto_unanimous(unanimous, share=0)
    assert "1" not in {line.item_key for line in (*report.closed, *report.spot_check)}
    assert states(unanimous)["1"] == "open"


def test_nobody_confirms_items_they_may_not_adjudicate(unanimous: Project):
    pairs.work_as(unanimous, "Ada")
    assert adjudicating.auto_unanimous(unanimous).closed == ()
    pairs.work_as(unanimous, "Cleo")
    assert set(states(unanimous).values()) == {"not begun"}


def test_a_backup_is_made_before_and_progress_told(unanimous: Project):
    told: list[tuple[str, int, int]] = []
    adjudicating.auto_unanimous(unanimous, progress=lambda *words: told.append(words))
    assert [done for _, done, _ in told] == [1, 2, 3]
    assert backups.listing(unanimous.path)[0].why == "before confirming unanimous items"


def test_unanimous_items_are_confirmed_once_by_a_share(unanimous: Project):
    expect_refusal("not a share", adjudicating.auto_unanimous, unanimous, share=10)
    adjudicating.auto_unanimous(unanimous)
    before = states(unanimous)
    report = adjudicating.auto_unanimous(unanimous)
    assert (report.closed, report.spot_check) == ((), ())
    assert states(unanimous) == before


def test_a_plan_in_another_order_is_not_unanimous(tmp_path: Path):
    unanimous = pairs.pairs_project(tmp_path)
    steps = (
        "Motivate the study of attribution",
        "Collect long answers by experts",
        "Measure citation accuracy",
    )

    def plan(prefix: str, order: tuple[int, ...]) -> Plan:
        return Plan(units=tuple(Subtask(id=f"{prefix}{n}", text=steps[n]) for n in order))

    pairs.submit(unanimous, {"Ada": plan("a", (0, 1, 2)), "Ben": plan("b", (0, 2, 1))})
    pairs.work_as(unanimous, "Cleo")
    (line,) = adjudicating.queue(unanimous)
    assert (line.contested, line.order_differs, line.conflict) == (0, True, True)
    assert adjudicating.auto_unanimous(unanimous).spot_check == ()
    sheet = adjudicating.sheet(unanimous, pairs.opened(unanimous, Stage.PLAN))
    assert sheet.order_differs
    assert sheet.kind is Kind.PLAN


def test_confirmed_rows_need_no_reason_and_are_opened_and_confirmed_again(unanimous: Project):
    adjudication_id = pairs.opened(unanimous, place=3)
    rows = adjudicating.sheet(unanimous, adjudication_id).rows
    assert [row.ruling.take for row in rows if not row.contested] == ["both"]
    assert {row.ruling.take for row in rows if row.contested} == {""}
    assert {lacking.number for lacking in ruling.missing(unanimous, adjudication_id)} == {
        number for number, row in enumerate(rows, 1) if row.contested
    }
    (agreed,) = (row for row in adjudicating.sheet(unanimous, adjudication_id).rows if not row.contested)
    ruling.undecide(unanimous, agreed.ruling.id)
    assert adjudicating.confirm_unanimous(unanimous, adjudication_id).seq
    (again,) = (row for row in adjudicating.sheet(unanimous, adjudication_id).rows if not row.contested)
    assert again.ruling.take == "both"


def test_a_spot_check_is_closed_by_hand(unanimous: Project):
    line = adjudicating.auto_unanimous(unanimous).spot_check[0]
    adjudicating.confirm_unanimous(unanimous, line.adjudication_id)
    ruling.close(unanimous, line.adjudication_id)
    result = next(each for each in adjudicating.queue(unanimous) if each.item_key == line.item_key)
    assert (result.state, result.spot_check) == (AdjudicationState.CLOSED.value, True)


OPEN = "The blind zone around the epicentre is still an unsolved problem for every network."
NEW = "We propose a new framework that listens to the motion sensors of phones near the fault."
INSPIRATIONS = [
    {"quotes": [OPEN], "text": OPEN, "type": "limitation", "qualities": ["challenge", "explorability"]},
    {"quotes": [NEW], "text": NEW, "type": "transdisciplinary", "qualities": ["novelty", "explorability"]},
]
FAMILIES = (
    ("synthesize", "Literature Survey"), ("synthesize", "Trend / Market Scan"),
    ("design", "Prototype / System Specification"), ("design", "Hypothesis Generation"),
    ("evaluate", "Comparative Analysis"),
)  # fmt: skip


def tasks() -> list[dict[str, Any]]:
    return [
        {"inspirations": ["i1"], "phase": phase, "family": family, "difficulty": "basic",
         "task": f"Write a {family.lower()} on blind zones near epicentres and deliver a table."}
        for phase, family in FAMILIES
    ]  # fmt: skip
