"""What nobody disagrees on is confirmed in one go, all but a sample that is looked at all the same."""

from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudicating, adjudication_sheets, closing, ruling, unanimity
from annotator.actions.authoring import annotating
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import AdjudicationState, Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

SAME = (("Explains attribution", 3), ("Names a dataset", 2))


@pytest.fixture
def project(tmp_path: Path):
    """Three items on which the rubrics are the same, and a fourth with Ada's and Ben's usual ones."""
    project = pairs.pairs_project(tmp_path, questions=4)
    for place in range(3):
        pairs.submit(project, {"Ada": pairs.rubric(SAME, "a"), "Ben": pairs.rubric(SAME, "b")}, place)
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")}, 3)
    yield pairs.work_as(project, "Cleo")
    project.close()


def states(project: Project) -> dict[str, str]:
    return {line.item_key: line.state for line in adjudicating.queue(project)}


def test_unanimous_items_are_closed_but_for_a_sample(project: Project):
    report = unanimity.auto_unanimous(project, share=0.4, seed=7)
    assert (len(report.closed), len(report.spot_check), report.seed) == (1, 2, 7)
    found = states(project)
    assert {found[line.item_key] for line in report.closed} == {"closed"}
    assert {found[line.item_key] for line in report.spot_check} == {"open"}
    assert found["4"] == "not begun"
    marked = {line.item_key for line in adjudicating.queue(project) if line.spot_check}
    assert marked == {line.item_key for line in report.spot_check}


def test_a_consensus_of_unanimous_rows_is_what_both_wrote(project: Project):
    line = unanimity.auto_unanimous(project).closed[0]
    agreed = [a for a in annotating.artifacts_of(project, line.item_id) if a.state is State.CONSENSUS]
    assert [(unit.text, unit.weight) for unit in agreed[0].document.units] == list(SAME)


def test_undo_passes_over_what_was_closed_in_one_go(project: Project):
    adjudication_id = pairs.opened(project, place=3)
    first = adjudication_sheets.sheet(project, adjudication_id).rows[1].ruling
    ruling.rule(project, first.id, "both")
    unanimity.auto_unanimous(project)
    assert history.undo(project).subject == first.id


@pytest.mark.parametrize(("share", "kept"), [(0.01, 1), (0, 0)])
def test_at_least_one_is_drawn_but_by_a_share_of_0(tmp_path: Path, share: float, kept: int):
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.rubric(SAME, "a"), "Ben": pairs.rubric(SAME, "b")})
    report = unanimity.auto_unanimous(pairs.work_as(project, "Cleo"), share=share)
    assert (len(report.closed), len(report.spot_check)) == (1 - kept, kept)


def test_the_same_items_and_seed_give_the_same_draw(project: Project, tmp_path: Path):
    reports = []
    for name in ("one", "two"):
        copy = Project.open(backups.save_copy(project, tmp_path / f"{name}.goldsmith"))
        reports.append(unanimity.auto_unanimous(pairs.work_as(copy, "Cleo")))
        copy.close()
    assert reports[0] == reports[1]
    assert reports[0].seed != 0


def test_asked_again_it_finds_nothing_more(project: Project):
    unanimity.auto_unanimous(project)
    before = states(project)
    report = unanimity.auto_unanimous(project)
    assert (report.closed, report.spot_check) == ((), ())
    assert states(project) == before


def test_what_somebody_has_begun_to_rule_on_is_left_to_them(project: Project):
    adjudication_id = pairs.opened(project)
    first = adjudication_sheets.sheet(project, adjudication_id).rows[0].ruling
    ruling.rule(project, first.id, "drop", reason=Reason.SCOPE)
    report = unanimity.auto_unanimous(project, share=0)
    assert "1" not in {line.item_key for line in (*report.closed, *report.spot_check)}
    assert states(project)["1"] == "open"


def test_nobody_confirms_items_they_may_not_adjudicate(project: Project):
    pairs.work_as(project, "Ada")
    assert unanimity.auto_unanimous(project).closed == ()
    pairs.work_as(project, "Cleo")
    assert set(states(project).values()) == {"not begun"}


def test_a_backup_is_made_before_and_progress_told(project: Project):
    told: list[tuple[str, int, int]] = []
    unanimity.auto_unanimous(project, progress=lambda *words: told.append(words))
    assert [done for _, done, _ in told] == [1, 2, 3]
    assert backups.listing(project.path)[0].why == "before confirming unanimous items"


def test_a_share_is_between_none_and_all(project: Project):
    with pytest.raises(Refusal, match="not a share"):
        unanimity.auto_unanimous(project, share=10)


def test_a_plan_in_another_order_is_not_unanimous(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    steps = (
        "Motivate the study of attribution",
        "Collect long answers by experts",
        "Measure citation accuracy",
    )

    def plan(prefix: str, order: tuple[int, ...]) -> Plan:
        return Plan(units=tuple(Subtask(id=f"{prefix}{n}", text=steps[n]) for n in order))

    pairs.submit(project, {"Ada": plan("a", (0, 1, 2)), "Ben": plan("b", (0, 2, 1))})
    pairs.work_as(project, "Cleo")
    (line,) = adjudicating.queue(project)
    assert (line.contested, line.order_differs, line.conflict) == (0, True, True)
    assert unanimity.auto_unanimous(project).spot_check == ()
    sheet = adjudication_sheets.sheet(project, pairs.opened(project, Stage.PLAN))
    assert sheet.order_differs
    assert sheet.kind is Kind.PLAN


def test_a_row_on_which_all_agree_is_confirmed_by_itself_and_no_reason_is_asked(project: Project):
    adjudication_id = pairs.opened(project, place=3)
    rows = adjudication_sheets.sheet(project, adjudication_id).rows
    assert [row.ruling.take for row in rows if not row.contested] == ["both"]
    assert {row.ruling.take for row in rows if row.contested} == {""}
    assert {lacking.number for lacking in closing.missing(project, adjudication_id)} == {
        number for number, row in enumerate(rows, 1) if row.contested
    }


def test_a_confirmed_row_that_is_open_again_is_confirmed_with_one_verb(project: Project):
    adjudication_id = pairs.opened(project, place=3)
    (agreed,) = (row for row in adjudication_sheets.sheet(project, adjudication_id).rows if not row.contested)
    ruling.undecide(project, agreed.ruling.id)
    assert unanimity.confirm_unanimous(project, adjudication_id).seq
    (again,) = (row for row in adjudication_sheets.sheet(project, adjudication_id).rows if not row.contested)
    assert again.ruling.take == "both"


def test_a_spot_check_is_closed_by_hand(project: Project):
    line = unanimity.auto_unanimous(project).spot_check[0]
    unanimity.confirm_unanimous(project, line.adjudication_id)
    closing.close(project, line.adjudication_id)
    found = next(each for each in adjudicating.queue(project) if each.item_key == line.item_key)
    assert (found.state, found.spot_check) == (AdjudicationState.CLOSED.value, True)
