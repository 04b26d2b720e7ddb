"""What lies behind a figure: frozen values with the words they stand on, held back from who may yet adjudicate."""

import pytest

from annotator.actions.adjudication import closing, ruling
from annotator.actions.agreement import agreement_behind, agreement_report
from annotator.actions.agreement.agreement_behind import LineBehind, LinesBehind
from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import BOTH, Reason
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

PROJECT = pairs.pairs_project
ADA = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2))
BEN = (("Explains how carbon is priced", 3), ("Lists species of moss", 2))


def rubrics(project: Project) -> dict[str, str]:
    made = pairs.submit(project, {"Ada": pairs.rubric(ADA, "a"), "Ben": pairs.rubric(BEN, "b")})
    pairs.work_as(project, "Cora")
    return made


def labelled(project: Project) -> str:
    """Labels of a report by the first criteria of Ada's rubric: yes no unsure against yes yes no."""
    pairs.submit(project, {"Ada": pairs.rubric((*ADA, ("Weighs the costs", 1)), "a")})
    report = pairs.add_report(project, "Canary")
    said = {"Ada": ("yes", "no", "unsure"), "Ben": ("yes", "yes", "no")}
    documents = {
        name: pairs.labels(report, dict(zip(("a1", "a2", "a3"), values, strict=True)))
        for name, values in said.items()
    }
    pairs.submit(project, documents)
    pairs.work_as(project, "Cora")
    return report


def found(project: Project, field: str, by: str = "stage", section: str = "rows") -> LinesBehind:
    report = agreement_report.report(project, by)
    row = next(each for each in getattr(report, section) if each.field == field)
    return agreement_behind.behind(project, report, row)


def of(project: Project, line: LineBehind, name: str) -> tuple[str, object]:
    """What that person wrote and said, whichever side of the record is theirs."""
    side = line.a if line.a.who == pairs.person(project, name).id else line.b
    return side.words, side.value


def test_values_come_with_the_words_of_both_units(project: Project) -> None:
    rubrics(project)
    (line,) = found(project, "weight").lines
    assert of(project, line, "Ada") == ("Explains how carbon is priced", 1)
    assert of(project, line, "Ben") == ("Explains how carbon is priced", 3)
    assert (line.item_key, line.same) == ("1", False)


def test_units_are_listed_with_their_numbers_and_who_has_them(project: Project) -> None:
    rubrics(project)
    lines = found(project, "units").lines
    first = lines[0]
    assert (of(project, first, "Ada")[1], of(project, first, "Ben")[1], first.same) == (1, 1, True)
    alone = {(of(project, line, "Ada"), of(project, line, "Ben")) for line in lines[1:]}
    assert alone == {
        (("Names a court that ruled on it", 2), ("", None)),
        (("", None), ("Lists species of moss", 2)),
    }
    assert lines[0].likeness == pytest.approx(1)


def test_labels_come_with_the_report_and_the_criterion(project: Project) -> None:
    labelled(project)
    lines = found(project, "value").lines
    assert (lines[0].report, lines[0].about) == ("Canary", "Explains how carbon is priced")
    assert [of(project, line, "Ada")[1] for line in lines] == ["yes", "no", "unsure"]
    # “Unsure” is no disagreement: it is missing.
    assert [line.same for line in lines] == [True, False, None]


def test_one_criterion_has_its_own_lines(project: Project) -> None:
    labelled(project)
    report = agreement_report.report(project, "criterion")
    row = next(each for each in report.rows if each.group[1] == "a2")
    (line,) = agreement_behind.behind(project, report, row).lines
    assert line.about == "Names a court that ruled on it"


def test_the_words_are_those_that_were_sealed(project: Project) -> None:
    made = rubrics(project)
    submitting.reopen(pairs.work_as(project, "Ada"), made["Ada"])
    artifacts.change_unit(project, made["Ada"], "a1", text="Something else altogether")
    submitting.seal(project, made["Ada"])
    (line,) = found(pairs.work_as(project, "Cora"), "weight").lines
    assert of(project, line, "Ada") == ("Explains how carbon is priced", 1)


def rule_all(project: Project, by: str = "Cleo") -> None:
    """That adjudicator takes everything, A's where they differ, and closes."""
    pairs.work_as(project, by)
    adjudication = pairs.opened(project)
    pairs.work_as(project, by)
    with project.store.read() as db:
        rows = ruling_rows.rulings(db, adjudication)
    for row in rows:
        take = BOTH if row.unanimous else min(row.members)
        ruling.rule(project, row.id, take, **({} if row.unanimous else {"reason": Reason.OTHER}))
    closing.close(project, adjudication)
    pairs.work_as(project, "Cora")


def test_the_words_of_a_criterion_outlive_its_rubric(project: Project) -> None:
    labelled(project)
    pairs.submit(project, {"Ben": pairs.rubric(BEN, "b")})
    rule_all(project)
    assert {line.about for line in found(project, "value").lines} == {
        "Explains how carbon is priced", "Names a court that ruled on it", "Weighs the costs",
    }  # fmt: skip


def test_who_may_yet_adjudicate_does_not_learn_who_wrote_what(project: Project) -> None:
    rubrics(project)
    people.set_roles(project, project.by, (Role.COORDINATOR, Role.ADJUDICATOR))
    kept_back = found(project, "weight")
    assert (kept_back.lines, kept_back.held_back) == ((), 1)
    assert "1 item is left out" in agreement_behind.held_back_words(kept_back)


def test_once_it_is_adjudicated_the_lines_are_shown(project: Project) -> None:
    rubrics(project)
    people.set_roles(project, project.by, (Role.COORDINATOR, Role.ADJUDICATOR))
    rule_all(project)
    shown = found(project, "weight")
    assert (len(shown.lines), shown.held_back, agreement_behind.held_back_words(shown)) == (1, 0, "")


@pytest.mark.parametrize("name", ["Ada", "Cleo"])
def test_whoever_does_not_coordinate_is_refused(project: Project, name: str) -> None:
    rubrics(project)
    report = agreement_report.report(project)
    pairs.work_as(project, name)
    with pytest.raises(Refusal, match="coordinator"):
        agreement_behind.behind(project, report, report.rows[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "not given"), (True, "true"), (False, "false"), (3, "3"), (0.25, "0.25"), ("unsure", "unsure")],
)
def test_values_are_said_in_words(value: object, said: str) -> None:
    assert agreement_behind.value_words(value) == said
