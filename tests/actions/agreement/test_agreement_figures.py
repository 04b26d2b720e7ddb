"""Pooled figures of agreement: every expectation is worked out by hand, in the comments."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from annotator.actions.agreement import agreement_figures, agreement_inputs
from annotator.actions.agreement.agreement_figures import FigureRow
from annotator.actions.assignments import agreements, submitting
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import label_tasks
from annotator.actions.labelling import labels as labelling
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import judgement_hash
from annotator.domain.experts.agreement import Agreement, Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.labels import Labels
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import JUDGEMENT, AgreementRow, AssignmentRow, ItemRow, table
from tests.projects.labelling_project import labelling_project, submit_labels
from tests.projects.paired_project import SENTENCES, labels, paired_project, person, rubric, sealed_by
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = paired_project(tmp_path, annotators=3, questions=3)
    yield project
    project.close()


def row(found: list[FigureRow], field: str, name: str | None = None) -> FigureRow:
    (only,) = [each for each in found if each.field == field and name in (None, each.name)]
    return only


def figure(of: FigureRow, name: str) -> Figure:
    found = of.figure(name)
    assert found is not None, of.figures
    return found


def assigned(project: Project, alias: str) -> None:
    row = {"item_id": items.ids(project)[0], "person_id": person(project, alias).id, "stage": "labelling"}
    with project.store.write() as db:
        db.execute(insert(table(AssignmentRow)).values(id=new_id(), trial=1, purpose="work", **row))


def both(project: Project, a: str, b: str, item: int = 0, raters: str = "AB") -> None:
    for alias, said in zip(raters, (a, b), strict=True):
        sealed_by(project, alias, labels(said), item)


@pytest.mark.usefixtures("small_cases")
def test_labels_are_pooled_over_items(project: Project) -> None:
    both(project, "yy", "yn", 0)
    both(project, "nn", "nn", 1)
    pooled = row(agreement_figures.rows(project), "value")
    # yy yn nn nn: seen ¾. Two items: Var = (½² + ½²) / 4² · 2 = 1/16, so they are worth 3/16 / (1/16) = 3 units, and
    # t = 12.7062 stands for z: (¾ + t²/6 ± t √(1/16 + t²/36)) / (1 + t²/3).
    t = 12.7062
    centre, half, whole = 3 / 4 + t**2 / 6, t * (1 / 16 + t**2 / 36) ** 0.5, 1 + t**2 / 3
    assert (pooled.stage, pooled.n, pooled.items) == (Stage.LABELLING, 4, tuple(items.ids(project)[:2]))
    agreement = figure(pooled, "agreement")
    assert (agreement.value, agreement.low, agreement.high) == (
        0.75, pytest.approx((centre - half) / whole, abs=1e-5), pytest.approx((centre + half) / whole, abs=1e-5),
    )  # fmt: skip
    # By chance ½·¼ + ½·¾ = ½ (whoever comes first), so κ = ½.
    kappa = figure(pooled, "kappa")
    assert kappa.value == pytest.approx(0.5)
    assert "1 of 2 clusters have any of the rarest class that it needs" in kappa.note


@pytest.mark.usefixtures("small_cases")
def test_pooled_kappa_draws_items_anew_and_one_item_gives_no_interval(project: Project) -> None:
    both(project, "yynn", "ynnn")
    kappa = figure(row(agreement_figures.rows(project), "value"), "kappa")
    assert (kappa.value, kappa.low, kappa.high) == (pytest.approx(0.5), None, None)
    assert "1 cluster is too few for an interval" in kappa.note


def test_ac1_stands_beside_kappa_with_its_sentence(project: Project) -> None:
    both(project, "yyyyyyyyyy", "yyyyyyyyyn")
    pooled = row(agreement_figures.rows(project), "value")
    # Seen .9; one rater never says no, so κ is 0. AC1: yes has .95, chance 2·.95·.05 = .095.
    assert figure(pooled, "kappa").value == pytest.approx(0)
    assert figure(pooled, "ac1").value == pytest.approx(0.805 / 0.905)
    assert "κ can be low" in figure(pooled, "ac1").note


def test_why_kappa_is_undefined_is_said(project: Project) -> None:
    both(project, "yy", "yy")
    kappa = figure(row(agreement_figures.rows(project), "value"), "kappa")
    assert (kappa.value, "one category only" in kappa.note) == (None, True)


def test_a_field_without_any_pair_keeps_a_row_that_says_why(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 2))
    sealed_by(project, "B", rubric(3, 3, sentences=SENTENCES[3:]))
    found = agreement_figures.rows(project)
    assert figure(row(found, "units"), "match_f1").value == 0
    weight = row(found, "weight")
    assert (weight.n, weight.items) == (0, (items.ids(project)[0],))
    assert "no unit was judged by both" in figure(weight, "kappa").note


@pytest.mark.usefixtures("small_cases")
def test_weights_are_pooled_with_linear_kappa_and_f1_is_averaged_over_items(project: Project) -> None:
    one, other = rubric(3, 2), rubric(3, 1)
    sealed_by(project, "A", one, 0)
    sealed_by(project, "B", other, 0)
    # Of two criteria each, one is the same: F1 = 2·1 / (2 + 2).
    sealed_by(project, "A", rubric(1, 1), 1)
    sealed_by(
        project, "B", Rubric(units=(rubric(1).units[0], rubric(1, sentences=SENTENCES[3:]).units[0])), 1
    )
    found = agreement_figures.rows(project)
    overlap = figure(row(found, "units"), "match_f1")
    assert (overlap.value, overlap.n) == (0.75, 2)
    # Variance (¼² + ¼²) / 2 = 1/16, as three units have; t = 12.7062.
    t = 12.7062
    centre, half, whole = 3 / 4 + t**2 / 6, t * (1 / 16 + t**2 / 36) ** 0.5, 1 + t**2 / 3
    bounds = (centre - half) / whole, (centre + half) / whole
    assert (overlap.low, overlap.high) == pytest.approx(bounds, abs=1e-5)
    weight = row(found, "weight")
    # (3,3) (2,1) (1,1): as in the comparison of two rubrics, seen 1/3, by chance 1, κ = 2/3.
    assert (weight.n, figure(weight, "kappa").value) == (3, pytest.approx(2 / 3))
    assert "linear weights" in figure(weight, "kappa").method


def test_the_order_of_plans_is_averaged_over_items_where_it_is_defined(project: Project) -> None:
    steps = tuple(Subtask(text=text) for text in SENTENCES)
    for item, (a, b) in enumerate((((0, 1, 2), (0, 1, 2)), ((0, 1, 2), (1, 0, 2)), ((0, 1), (0, 1)))):
        sealed_by(project, "A", Plan(units=tuple(steps[n] for n in a)), item)
        sealed_by(project, "B", Plan(units=tuple(steps[n] for n in b)), item)
    tau = figure(row(agreement_figures.rows(project), "units"), "order_tau")
    # 1 and (2 − 1)/3; two sub-tasks have no order to speak of.
    assert (tau.value, tau.n) == (pytest.approx(2 / 3), 2)
    assert "1 of 3 items left out" in tau.note


def test_item_scores_of_selection_are_correlated_over_items(project: Project) -> None:
    for item, (a, b) in enumerate((((2, 2), (1, 1)), ((3, 3), (3, 4)), ((5, 4), (4, 4)))):
        for alias, ratings in (("A", a), ("B", b)):
            units = tuple(DimensionRating(text=f"Dimension {n}", rating=r) for n, r in enumerate(ratings))
            sealed_by(project, alias, Selection(units=units), item)
    found = agreement_figures.rows(project)
    # Scores 2, 3, 4.5 and 1, 3.5, 4: six times the deviations are (−7, −1, 8) and (−11, 4, 7).
    r = figure(row(found, "item_score"), "pearson")
    assert r.value == pytest.approx((77 - 4 + 56) / ((49 + 1 + 64) * (121 + 16 + 49)) ** 0.5)
    # Exactly equal: (3,3), (4,4) of six.
    assert figure(row(found, "rating"), "agreement").value == pytest.approx(2 / 6)


def test_pairs_are_named_by_alias_and_counted_apart(project: Project) -> None:
    both(project, "yn", "yn", 0, "AB")
    both(project, "yn", "ny", 1, "AC")
    found = agreement_figures.rows(project, "pair")
    assert [(each.name, figure(each, "agreement").value) for each in found] == [
        ("A and B", 1),
        ("A and C", 0),
    ]
    assert {*found[0].group} == {person(project, alias).id for alias in "AB"}
    assert found[1].items == (items.ids(project)[1],)


def test_a_persons_figures_are_over_all_their_partners(project: Project) -> None:
    both(project, "yn", "yn", 0, "AB")
    both(project, "yn", "ny", 1, "AC")
    found = agreement_figures.rows(project, "person")
    shown = {each.name: (each.n, figure(each, "agreement").value) for each in found}
    assert shown == {"A": (4, 0.5), "B": (2, 1), "C": (2, 0)}
    assert "pooled over 2 pairs of raters" in figure(found[0], "kappa").note


def test_kappa_of_a_person_does_not_depend_on_the_order_of_ids(project: Project) -> None:
    both(project, "yyyn", "yynn", 0, "AB")
    both(project, "yyyn", "ynnn", 1, "AC")
    found = row(agreement_figures.rows(project, "person"), "value", "A")
    # A first: yes 6 of 8; the others: yes 3 of 8. Seen 5/8; chance 6/8·3/8 + 2/8·5/8 = 28/64. κ = (40 − 28)/(64 − 28).
    assert figure(found, "kappa").value == pytest.approx(1 / 3)


def test_criteria_are_named_by_their_words(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=2, reports=1, questions=1)
    (item,) = items.ids(project)
    wanted = labelling.sheet(project, label_tasks.queue(project)[0].response_id).units
    for alias in "AB":
        people.add_person(project, alias, alias=alias)
        said = labels("yn").units
        judged = tuple(
            one.model_copy(update={"unit_id": unit.id}) for one, unit in zip(said, wanted, strict=True)
        )
        sealed_by(project, alias, Labels(units=judged))
    found = agreement_figures.rows(project, "criterion")
    assert [(each.name, each.group) for each in found] == [(unit.text, (item, unit.id)) for unit in wanted]
    project.close()


def test_criteria_are_counted_over_reports(project: Project) -> None:
    for alias, said in (("A", ("yn", "yn")), ("B", ("yn", "yy"))):
        sealed_by(project, alias, labels(*said))
    found = agreement_figures.rows(project, "criterion")
    assert [(each.name, each.n, figure(each, "agreement").value) for each in found] == [
        ("c0", 2, 1), ("c1", 2, 0.5),
    ]  # fmt: skip
    assert found[1].group == (items.ids(project)[0], "c1")


def test_stages_without_reports_have_no_criteria(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert agreement_figures.rows(project, "criterion") == []


def test_items_come_in_the_projects_order(project: Project) -> None:
    both(project, "yn", "nn", 1)
    both(project, "yn", "yn", 0)
    found = agreement_figures.rows(project, "item")
    assert [(each.name, figure(each, "agreement").value) for each in found] == [("1", 1), ("2", 0.5)]


def rewritten(project: Project, item: int, **changes: object) -> None:
    """Another frozen record in the place of an item's: as if it had been frozen so."""
    (old,) = agreements.of_item(project, items.ids(project)[item])
    content = canonical_json(
        Agreement.model_validate({**old.model_dump(), **changes}).model_dump(mode="json")
    )
    kept = table(AgreementRow)
    with project.store.write() as db:
        values = {"content": content.decode(), "sha256": sha256(content)}
        db.execute(update(kept).where(kept.c.id == old.id).values(**values))


def test_weeks_are_those_of_the_freeze(project: Project) -> None:
    both(project, "yn", "yn", 0)
    both(project, "yn", "ny", 1)
    # 1 January 2027 is a Friday of the last ISO week of 2026.
    rewritten(project, 0, frozen_at=datetime(2027, 1, 1, tzinfo=UTC))
    rewritten(project, 1, frozen_at=datetime(2027, 1, 4, tzinfo=UTC))
    found = agreement_figures.rows(project, "week")
    assert [(each.name, figure(each, "agreement").value) for each in found] == [
        ("2026-W53", 1),
        ("2027-W01", 0),
    ]


def test_guideline_versions_are_told_apart(project: Project) -> None:
    for item in range(3):
        both(project, "yn", "yn", item)
    for item, versions in ((1, ("1", "2")), (2, ("10", "9"))):
        (old,) = agreements.of_item(project, items.ids(project)[item])
        given = [one.model_copy(update={"guideline": v}) for one, v in zip(old.inputs, versions, strict=True)]
        rewritten(project, item, inputs=given)
    assert [each.name for each in agreement_figures.rows(project, "guideline")] == [
        "1",
        "1 and 2",
        "9 and 10",
    ]


def test_alpha_is_shown_where_three_people_rated(project: Project) -> None:
    for alias in "ABC":
        assigned(project, alias)
    for alias, said in zip("ABC", ("yynn", "yynn", "ynn?"), strict=True):
        sealed_by(project, alias, labels(said))
    pooled = row(agreement_figures.rows(project), "value")
    # yyy, yyn, nnn, nn?: α = 1 − 10·1/(5·6), as in the comparison.
    assert figure(pooled, "alpha").value == pytest.approx(2 / 3)
    # Pairs of raters: 4 + 3 + 3, of which A and B agree on 4, each of them with C on 2.
    assert (pooled.n, figure(pooled, "agreement").value) == (10, 0.8)


def test_two_people_have_no_alpha(project: Project) -> None:
    both(project, "yn", "yn")
    assert row(agreement_figures.rows(project), "value").figure("alpha") is None


def test_live_content_moves_no_figure(project: Project) -> None:
    both(project, "yynn", "ynnn")
    before = agreement_figures.rows(project)
    (mine,) = sql.first(project, "SELECT id FROM artifact WHERE author_id = ?", [person(project, "A").id])
    project.work_as(person(project, "A"))
    submitting.reopen(project, mine)
    artifacts.change_unit(project, mine, artifacts.read(project, mine).document.units[0].id, value="no")
    submitting.seal(project, mine)
    project.work_as(person(project, "R1"))
    assert agreement_figures.rows(project) == before


def test_one_stage_can_be_asked_for_alone(project: Project) -> None:
    both(project, "yn", "yn")
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert {each.stage for each in agreement_figures.rows(project)} == {Stage.RUBRIC, Stage.LABELLING}
    assert {each.stage for each in agreement_figures.rows(project, stage=Stage.RUBRIC)} == {Stage.RUBRIC}


def test_retired_items_are_left_out(project: Project) -> None:
    both(project, "yn", "yn")
    with project.store.write() as db:
        db.execute(update(table(ItemRow)).values(retired=True))
    assert agreement_figures.rows(project) == []


def test_an_unknown_grouping_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="cannot be grouped by “moon”"):
        agreement_figures.rows(project, "moon")


@pytest.mark.parametrize("ask", [
    agreement_figures.rows, agreement_inputs.inputs, agreement_figures.self_agreement,
    lambda project: agreement_inputs.write_inputs(project, project.path.parent / "out"),
])  # fmt: skip
def test_whoever_does_not_coordinate_is_refused(project: Project, ask: Callable[[Project], object]) -> None:
    both(project, "yn", "yn")
    project.work_as(person(project, "A"))
    with pytest.raises(Refusal, match="coordinator"):
        ask(project)


def repeated(project: Project, alias: str, *said: tuple[str, str]) -> None:
    """The person labels the first units of the first reports, and at a later trial again: y, n or ?."""
    values = {"y": "yes", "n": "no", "?": "unsure"}
    project.work_as(person(project, alias))
    for task, (first, again) in zip(label_tasks.queue(project), said, strict=False):
        units = labelling.sheet(project, task.response_id).units
        for unit, one, other in zip(units, first, again, strict=False):
            made = labelling.set_label(project, task.response_id, unit.id, values[one]).subject
            serve_again(project, made, values[other])
    project.work_as(person(project, "R1"))
    submit_labels(project)


def serve_again(project: Project, judgement_id: str, value: str) -> None:
    unsure = value == "unsure"
    with project.store.write() as db:
        old = dict(db.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == judgement_id)).mappings().one())
        new = old | {
            "id": new_id(), "trial": 2, "value": None if unsure else value, "status": "unclear" if unsure else "ok",
        }  # fmt: skip
        db.execute(insert(JUDGEMENT).values(**new | {"sha256": judgement_hash(new)}))


@pytest.mark.usefixtures("small_cases")
def test_self_agreement_compares_a_persons_two_trials(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=3, reports=1, questions=2)
    people.add_person(project, "A", alias="A")
    # yy yn n? and nn nn yy: five units said twice, of which four alike.
    repeated(project, "A", ("yyn", "yn?"), ("nny", "nny"))
    (mine,) = agreement_figures.self_agreement(project)
    assert (mine.name, mine.by, mine.n, mine.items) == ("A", "self", 5, tuple(items.ids(project)))
    assert figure(mine, "agreement").value == 0.8
    # First yes 3 of 5, again yes 2 of 5: chance 6/25 + 6/25 = 12/25. κ = (20 − 12)/(25 − 12).
    assert figure(mine, "kappa").value == pytest.approx(8 / 13)
    assert "1 of 2 clusters have any of the rarest class" in figure(mine, "kappa").note
    assert "1 judgement of “unsure”" in figure(mine, "kappa").note
    project.close()


def test_people_without_repeats_have_no_self_agreement(tmp_path: Path) -> None:
    project = labelling_project(tmp_path)
    task = label_tasks.queue(project)[0]
    unit = labelling.sheet(project, task.response_id).units[0]
    labelling.set_label(project, task.response_id, unit.id, "yes")
    assert agreement_figures.self_agreement(project) == []
    project.close()


def test_a_repeat_that_was_only_noted_is_missing(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=2, reports=1, questions=1)
    people.add_person(project, "A", alias="A")
    repeated(project, "A", ("yn", "yn"))
    with project.store.write() as db:
        noted = JUDGEMENT.c.trial == 2, JUDGEMENT.c.value == "no"
        db.execute(update(JUDGEMENT).where(*noted).values(value=None, status="skipped"))
    (mine,) = agreement_figures.self_agreement(project)
    assert (mine.n, figure(mine, "agreement").value) == (1, 1)
    assert "1 of 2 units left out" in figure(mine, "agreement").note
    project.close()
