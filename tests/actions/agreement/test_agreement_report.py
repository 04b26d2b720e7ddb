"""What the coordinator looks at: sections, words, what lies behind a figure, and the exact inputs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.agreement.agreement_figures import FigureRow
from annotator.actions.agreement.agreement_report import AgreementReport, LineBehind, LinesBehind
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import consensus, ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures
from annotator.domain.experts.adjudication import BOTH, Figure, Reason
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.rubric import Rubric
from tests.projects import pairs_project as pairs
from tests.projects.paired_project import (
    in_order,
    labels,
    paired_project,
    person,
    rubric,
    sealed_by,
)
from tests.projects.refusals import expect_refusal
from tests.storage import sql

# The first is the same. The second means the same in words that no matcher by likeness brings together.
ADA = (("Explains how carbon is priced", 1), ("Discusses what checking by people costs", 2))
BEN = (("Explains how carbon is priced", 1), ("Analyses expenses of manual review", 3))


@pytest.fixture
def reported(tmp_path: Path) -> Project:
    """Two items with the rubrics above; Cora works."""
    reported = pairs.pairs_project(tmp_path, 2)
    for place in range(2):
        pairs.submit(
            reported, {"Ada": pairs.rubric(ADA, f"a{place}"), "Ben": pairs.rubric(BEN, f"b{place}")}, place
        )
    return pairs.work_as(reported, "Cora")


def adjudicated(reported: Project) -> None:
    """Cleo votes on what the matcher left apart in the first item, joins it, and closes the item."""
    result = pairs.opened(reported)
    with reported.store.read() as db:
        same, *lone = ruling_rows.rulings(db, result)
    adjudicating.pair(reported, lone[0].id, lone[1].id)
    adjudicating.vote(reported, lone[0].id, "2")
    ruling.rule(reported, same.id, BOTH)
    ruling.rule(reported, lone[0].id, pairs.letter_of(reported, result, "Ada"), reason=Reason.WORDING)
    ruling.close(reported, result)
    pairs.work_as(reported, "Cora")


def row(report: AgreementReport, field: str) -> FigureRow:
    return next(each for each in report.rows if each.field == field)


def second(report: AgreementReport, of: FigureRow) -> tuple[FigureRow, FigureRow]:
    pair = report.seconds[0].of(of)
    assert pair is not None
    return pair


def figure(of: FigureRow | None, name: str) -> Figure:
    result = of.figure(name) if of else None
    assert result is not None, of
    return result


def test_a_report_has_the_frozen_rows_and_what_they_stand_on(reported: Project) -> None:
    report = agreement_report.report(reported)
    assert list(report.rows) == agreement_figures.rows(reported)
    (by_hand,) = report.seconds
    assert (by_hand.rows, report.repeats, report.votes, report.stages) == ({}, (), (), (Stage.RUBRIC,))
    result = agreement_report.provenance(report, row(report, "weight"))
    assert (result.records, result.guidelines, result.forms, result.matchers) == (2, ("1",), ("1",), ("2",))
    assert [report.alias(person) for person in result.raters] == [
        pairs.person(reported, name).alias for name in ("Ada", "Ben")
    ]
    assert dict(result.counts) == {(1, 1): 2}
    report = agreement_report.report(reported, "person")
    ben = pairs.person(reported, "Ben").id
    units = next(each for each in report.rows if each.group == (ben,) and each.field == "units")
    result = agreement_report.provenance(report, units)
    # In each of two items: one of both, one of Ben's alone, one of Ada's alone.
    assert dict(result.counts) == {(1, 1): 2, (1, 0): 2, (0, 1): 2}
    report = agreement_report.report(reported, stage=Stage.PLAN)
    assert (report.rows, report.stages) == ((), (Stage.RUBRIC,))


def test_second_figures_and_votes_stand_beside_the_frozen_ones(reported: Project) -> None:
    before = agreement_figures.rows(reported)
    adjudicated(reported)
    report = agreement_report.report(reported)
    assert list(report.rows) == before
    # Frozen: of two units each has one partner, 2·1/4. As paired: all of them.
    units = row(report, "units")
    assert (figure(units, "match_f1").value, figure(units, "match_f1").n) == (0.5, 2)
    again, _ = second(report, units)
    assert (figure(again, "match_f1").value, figure(again, "match_f1").n, again.items) == (
        1, 1, (pairs.item(reported),),
    )  # fmt: skip
    # Frozen pairs of weights of the first item: 1 1. As paired 1 1 and 2 3: half of them agree.
    again, beside = second(report, row(report, "weight"))
    assert (figure(beside, "agreement").value, beside.n) == (1, 1)
    assert (figure(again, "agreement").value, again.n) == (0.5, 2)
    with reported.store.read() as db:
        (closed,) = consensus.versions(db, adjudicating.id_of(pairs.item(reported), Stage.RUBRIC))
    kept = {result.name: result.value for result in closed.repaired}
    for field, name in (("units", "match_f1"), ("weight", "weight_agreement"), ("weight", "weight_kappa")):
        again = figure(second(report, row(report, field))[0], name.removeprefix("weight_"))
        assert again.value == pytest.approx(kept[f"repaired_{name}"])
    # The senior said 2 where Ada had 2 and Ben 3.
    (votes,) = report.votes
    assert (votes.stage, votes.field, votes.n, figure(votes, "agreement").value) == (
        Stage.RUBRIC, "weight", 2, 0.5,
    )  # fmt: skip
    assert agreement_report.inputs_of(report, votes) == []


def test_what_waits_for_a_second_seal_is_counted(tmp_path: Path) -> None:
    reported = pairs.pairs_project(tmp_path)
    assert agreement_report.half_sealed(reported) == 0
    pairs.submit(reported, {"Ada": pairs.rubric(ADA, "a")})
    assert agreement_report.half_sealed(pairs.work_as(reported, "Cora")) == 1
    pairs.submit(reported, {"Ben": pairs.rubric(BEN, "b")})
    assert agreement_report.half_sealed(pairs.work_as(reported, "Cora")) == 0


@pytest.fixture
def pair(tmp_path: Path) -> Project:
    return pairs.pairs_project(tmp_path)


def both(pair: Project, ada: str, ben: str) -> None:
    """Ada and Ben label the criteria c0, c1 … of a report: y or n."""
    said, report = {"y": "yes", "n": "no"}, pairs.add_report(pair)
    values = {
        name: {f"c{n}": said[letter] for n, letter in enumerate(of)}
        for name, of in (("Ada", ada), ("Ben", ben))
    }
    pairs.submit(pair, {name: pairs.labels(report, of) for name, of in values.items()})
    pairs.work_as(pair, "Cora")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Figure(name="kappa", value=0.5, low=0.25, high=0.755, n=9), "0.50 [0.25, 0.76]"),
        (Figure(name="kappa", value=-0.064, low=-1, high=0.3), "−0.06 [−1.00, 0.30]"),
        (Figure(name="kappa", value=-0.001), "0.00"),
        (Figure(name="agreement", value=0.928, low=0.916, high=1), "92.8 % [91.6, 100.0]"),
        (Figure(name="match_f1", value=1), "1.00"),
        (Figure(name="kappa", value=None, note="both said yes; 3 left out"), "–  both said yes"),
    ],
)
def test_a_figure_is_said_with_its_interval_or_its_reason(found: Figure, said: str) -> None:
    assert agreement_report.figure_words(found) == said


def test_remarks_leave_the_reason_out_and_speak_of_items() -> None:
    undefined = Figure(name="kappa", value=None, note="both said yes; one cluster gives no interval")
    assert agreement_report.remarks(undefined) == ["one item gives no interval"]
    assert agreement_report.remarks(undefined.model_copy(update={"value": 1.0})) == [
        "both said yes",
        "one item gives no interval",
    ]


def as_text(report: AgreementReport) -> str:
    return result_pictures.as_text(agreement_report.sheets(report)[0])


def copied(report: AgreementReport) -> dict[str, str]:
    """The cells of the first line by their heads."""
    head, line, *_ = (each.split("\t") for each in as_text(report).splitlines())
    return dict(zip(head, line, strict=True))


def test_what_is_copied_is_not_rounded_and_gives_reasons(pair: Project) -> None:
    both(pair, "yyn", "yyy")
    cells = copied(agreement_report.report(pair))
    assert (cells["Stage"], cells["n"], cells["Agreement, n"]) == ("labelling", "3", "3")
    assert (float(cells["Agreement"]), cells["Agreement, low"]) == (2 / 3, "")


def test_what_is_copied_names_people_by_alias_and_is_no_formula(pair: Project) -> None:
    people.add_person(pair, "Eve", alias="=1+1")
    report_id, ada = pairs.add_report(pair), pairs.person(pair, "Ada")
    pairs.submit(pair, {name: pairs.labels(report_id, {"c1": "yes"}) for name in ("Ada", "Eve")})
    people.rename_person(pairs.work_as(pair, "Cora"), ada.id, "Ada Canary")
    report = agreement_report.report(pair, "person", Stage.LABELLING)
    assert (report.people[ada.id].name, report.alias(ada.id)) == ("Ada Canary", ada.alias)
    names = {agreement_report.names(report, row).strip("\u2068\u2069") for row in report.rows}
    assert names == {"Eve", "Ada Canary"}
    assert {line.split("\t")[0] for line in as_text(report).splitlines()[1:]} == {ada.alias, "'=1+1"}


def test_without_a_figure_the_reason_is_given(pair: Project) -> None:
    both(pair, "yy", "yy")
    report = agreement_report.report(pair)
    cells = copied(report)
    assert cells["κ"] == ""
    assert "one category only" in cells["κ, note"]
    plain = agreement_report.plain(report, report.rows[0])
    kappa = next(result for result in plain["figures"] if result["name"] == "kappa")
    assert kappa["value"] is None
    assert "one category only" in kappa["reason"]
    assert (plain["items"], plain["n"], plain["by_adjudicators_pairing"]) == (["1"], 2, None)


ADAS = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2))
BENS = (("Explains how carbon is priced", 3), ("Lists species of moss", 2))


def rubrics(pair: Project) -> dict[str, str]:
    made = pairs.submit(pair, {"Ada": pairs.rubric(ADAS, "a"), "Ben": pairs.rubric(BENS, "b")})
    pairs.work_as(pair, "Cora")
    return made


def labelled(pair: Project) -> None:
    """Labels of a report by the first criteria of Ada's rubric: yes no unsure against yes yes no."""
    pairs.submit(pair, {"Ada": pairs.rubric((*ADAS, ("Weighs the costs", 1)), "a")})
    report = pairs.add_report(pair, "Canary")
    said = {"Ada": {"a1": "yes", "a2": "no", "a3": "unsure"}, "Ben": {"a1": "yes", "a2": "yes", "a3": "no"}}
    pairs.submit(pair, {name: pairs.labels(report, values) for name, values in said.items()})
    pairs.work_as(pair, "Cora")


def lines_of(pair: Project, field: str, by: str = "stage", section: str = "rows") -> LinesBehind:
    report = agreement_report.report(pair, by)
    row = next(each for each in getattr(report, section) if each.field == field)
    return agreement_report.behind(pair, report, row)


def of(pair: Project, line: LineBehind, name: str) -> tuple[str, object]:
    """What that person wrote and said, whichever side of the record is theirs."""
    side = line.a if line.a.who == pairs.person(pair, name).id else line.b
    return side.words, side.value


def test_values_and_units_come_with_their_words_and_who_has_them(pair: Project) -> None:
    rubrics(pair)
    (line,) = lines_of(pair, "weight").lines
    assert (of(pair, line, "Ada"), of(pair, line, "Ben")) == (
        ("Explains how carbon is priced", 1), ("Explains how carbon is priced", 3),
    )  # fmt: skip
    assert (line.item_key, line.same) == ("1", False)
    first, *lines = lines_of(pair, "units").lines
    assert (of(pair, first, "Ada")[1], of(pair, first, "Ben")[1], first.same) == (1, 1, True)
    assert first.likeness == pytest.approx(1)
    assert {(of(pair, line, "Ada"), of(pair, line, "Ben")) for line in lines} == {
        (("Names a court that ruled on it", 2), ("", None)),
        (("", None), ("Lists species of moss", 2)),
    }


def test_labels_come_with_their_criterion_which_outlives_its_rubric(pair: Project) -> None:
    labelled(pair)
    lines = lines_of(pair, "value").lines
    assert (lines[0].report, lines[0].about, [of(pair, line, "Ada")[1] for line in lines]) == (
        "Canary", "Explains how carbon is priced", ["yes", "no", "unsure"],
    )  # fmt: skip
    # “Unsure” is no disagreement: it is missing.
    assert [line.same for line in lines] == [True, False, None]
    report = agreement_report.report(pair, "criterion")
    row = next(each for each in report.rows if each.group[1] == "a2")
    (line,) = agreement_report.behind(pair, report, row).lines
    assert line.about == "Names a court that ruled on it"
    pairs.submit(pair, {"Ben": pairs.rubric(BENS, "b")})
    rule_all(pair)
    assert {line.about for line in lines_of(pair, "value").lines} == {
        "Explains how carbon is priced", "Names a court that ruled on it", "Weighs the costs",
    }  # fmt: skip


def test_the_words_are_those_that_were_sealed(pair: Project) -> None:
    made = rubrics(pair)
    assignments.reopen(pairs.work_as(pair, "Ada"), made["Ada"])
    artifacts.change_unit(pair, made["Ada"], "a1", text="Something else altogether")
    assignments.seal(pair, made["Ada"])
    (line,) = lines_of(pairs.work_as(pair, "Cora"), "weight").lines
    assert of(pair, line, "Ada") == ("Explains how carbon is priced", 1)


def rule_all(pair: Project) -> None:
    """Cleo takes everything, A's where they differ, and closes."""
    adjudication = pairs.opened(pair)
    with pair.store.read() as db:
        rows = ruling_rows.rulings(db, adjudication)
    for row in rows:
        ruling.rule(pair, row.id, BOTH if row.unanimous else min(row.members), reason=Reason.OTHER)
    ruling.close(pair, adjudication)
    pairs.work_as(pair, "Cora")


def test_lines_behind_are_held_back_until_adjudicated(pair: Project) -> None:
    rubrics(pair)
    people.set_roles(pair, pair.by, (Role.COORDINATOR, Role.ADJUDICATOR))
    kept_back = lines_of(pair, "weight")
    assert (kept_back.lines, kept_back.held_back) == ((), 1)
    assert "1 item is left out" in agreement_report.held_back_words(kept_back)
    rule_all(pair)
    shown = lines_of(pair, "weight")
    assert (len(shown.lines), shown.held_back, agreement_report.held_back_words(shown)) == (1, 0, "")


@pytest.mark.parametrize("name", ["Ada", "Cleo"])
def test_whoever_does_not_coordinate_is_refused(pair: Project, tmp_path: Path, name: str) -> None:
    rubrics(pair)
    report = agreement_report.report(pair)
    pairs.work_as(pair, name)
    for question in (
        agreement_figures.rows, agreement_figures.inputs, agreement_figures.self_agreement,
        agreement_report.report, agreement_report.half_sealed,
    ):  # fmt: skip
        expect_refusal("coordinator", question, pair)
    expect_refusal("coordinator", agreement_figures.write_inputs, pair, tmp_path / "out")
    expect_refusal("coordinator", agreement_report.behind, pair, report, report.rows[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "not given"), (True, "true"), (False, "false"), (3, "3"), (0.25, "0.25"), ("unsure", "unsure")],
)
def test_values_are_said_in_words(value: object, said: str) -> None:
    assert agreement_report.value_words(value) == said


@pytest.fixture
def sealed(tmp_path: Path) -> Project:
    return paired_project(tmp_path)


def two_rubrics(sealed: Project) -> tuple[Rubric, Rubric]:
    """Two sealed rubrics that share their first criterion, weighted 3 by A and 1 by B; A has one more."""
    a, b = rubric(3, 2), rubric(1)
    sealed_by(sealed, "A", a)
    sealed_by(sealed, "B", b)
    return a, b


def of_field(found: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    return [each for each in found if each["field"] == field]


def test_every_pair_of_values_and_who_wrote_which_unit_is_a_record(sealed: Project) -> None:
    a, b = two_rubrics(sealed)
    inputs = agreement_figures.inputs(sealed)
    (weight,) = of_field(inputs, "weight")
    first, second = in_order(sealed, ("A", a.units[0].id, 3), ("B", b.units[0].id, 1))
    assert (weight["item"], weight["stage"]) == ("1", "rubric")
    assert (weight["rater_a"], weight["unit_a"], weight["value_a"]) == first
    assert (weight["rater_b"], weight["unit_b"], weight["value_b"]) == second
    assert (weight["guideline_a"], weight["guideline_b"]) == ("1", "1")
    shared, alone = of_field(inputs, "written")
    assert (shared["value_a"], shared["value_b"], shared["likeness"]) == (1, 1, 1.0)
    assert ((alone["unit_a"], alone["unit_b"]), (alone["value_a"], alone["value_b"])) == (
        in_order(sealed, a.units[1].id, ""), in_order(sealed, 1, 0),
    )  # fmt: skip


def test_labels_name_their_report_and_unit_and_keep_unsure(sealed: Project) -> None:
    sealed_by(sealed, "A", labels("y", "?"))
    sealed_by(sealed, "B", labels("y", "n"))
    last = of_field(agreement_figures.inputs(sealed), "value")[-1]
    assert (last["response_id"], last["judged_unit"], (last["value_a"], last["value_b"])) == (
        "report 1", "c0", in_order(sealed, "unsure", "no"),
    )  # fmt: skip
    assert {each["field"] for each in agreement_figures.inputs(sealed)} == {"written", "value"}


def test_the_files_hold_the_records_with_people_by_alias_the_same_each_time(
    sealed: Project, tmp_path: Path
) -> None:
    two_rubrics(sealed)
    sql.alter(sealed, "UPDATE person SET alias = '=1+1' WHERE alias = 'B'")
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second, second):
        written = agreement_figures.write_inputs(sealed, folder)
    assert written == ("SHA256SUMS", "agreement-inputs.csv", "agreement.json")
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in written)
    table = (first / "agreement-inputs.csv").read_text("utf-8-sig")
    asked = [
        {name: "" if v is None else str(v) for name, v in each.items()}
        for each in agreement_figures.inputs(sealed)
    ]
    # In a table an alias that looks like a formula is inert.
    assert list(csv.DictReader(io.StringIO(table.replace("'=1+1", "=1+1")))) == asked
    assert not [cell for line in csv.reader(io.StringIO(table)) for cell in line if cell.startswith("=")]
    text = (first / "agreement.json").read_text("utf-8")
    (frozen,) = json.loads(text)["agreements"]
    assert {given["person_id"] for given in frozen["inputs"]} == {"A", "=1+1"}
    assert (frozen["item"], {frozen["pairs"][0]["a"], frozen["pairs"][0]["b"]}) == ("1", {"A", "=1+1"})
    assert not [name for name in ("A", "=1+1") if person(sealed, name).id in text]
    assert "Expert" not in text
    kept = assignments.all_frozen(sealed)[0].model_dump(mode="json")
    assert frozen["pairs"][0]["figures"] == kept["pairs"][0]["figures"]
    for name in ("id", "matcher", "program", "frozen_at"):
        assert frozen[name] == kept[name]


def test_where_nothing_is_frozen_or_other_files_are_nothing_is_written(
    sealed: Project, tmp_path: Path
) -> None:
    sealed_by(sealed, "A", rubric(1))
    expect_refusal("frozen yet", agreement_figures.write_inputs, sealed, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    sealed_by(sealed, "B", rubric(1))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine", "utf-8")
    expect_refusal("", agreement_figures.write_inputs, sealed, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]
