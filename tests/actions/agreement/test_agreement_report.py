"""What the coordinator looks at: sections, words, what lies behind a figure, and the exact inputs.

How a judge is let pair the units of two raters: which lists, and once for all that it is asked by.
"""

import asyncio
import csv
import io
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import agreement_figures, agreement_report, assisting
from annotator.actions.agreement.agreement_figures import FigureRow
from annotator.actions.agreement.agreement_report import AgreementReport, LineBehind, LinesBehind
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import consensus
from annotator.actions.imports import imports
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_pictures
from annotator.actions.runs import run_records
from annotator.domain.experts.adjudication import BOTH, Figure, Reason
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.rubric import Rubric
from tests.judging.odd_server import Odd, OddServer
from tests.projects import assisted_project as lists, pairs_project as pairs
from tests.projects.assisted_project import assisted_project, knowing, pairing
from tests.projects.paired_project import (
    in_order,
    labels,
    paired_project,
    person,
    rubric,
    sealed_by,
)
from tests.projects.refusals import expect_refusal
from tests.servers.served import JUDGE, add_judge
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
    same, *lone = (each.ruling for each in adjudicating.sheet(reported, result).rows)
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
    assert [line.about for line in agreement_report.behind(pair, report, row).lines] == [ADAS[1][0]]
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
    for row in (each.ruling for each in adjudicating.sheet(pair, adjudication).rows):
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
    assert (weight["item"], weight["stage"], weight["guideline_a"], weight["guideline_b"]) == (
        "1", "rubric", "1", "1",
    )  # fmt: skip
    for side, wanted in (("a", first), ("b", second)):
        assert tuple(weight[f"{name}_{side}"] for name in ("rater", "unit", "value")) == wanted
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


ORDER = assisting.order(JUDGE)


@pytest.fixture
def server() -> Iterator[OddServer]:
    with pairing() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return assisted_project(tmp_path, server, 1)


def ran(project: Project) -> dict[str, Any]:
    return asyncio.run(assisting.run(project, ORDER))


def assisted(
    report: agreement_report.AgreementReport, field: str = "units"
) -> tuple[float | None, float | None, int]:
    """The main model-assisted figure of a field, the frozen one beside it, and of how many values."""
    row = next(each for each in report.rows if each.field == field)
    (second,) = [one for one in report.seconds if one.name == agreement_report.BY_MODEL]
    again, beside = second.of(row) or pytest.fail("nothing was paired")
    return again.figures[0].value, beside.figures[0].value, again.n


def test_what_was_paired_is_whole_and_a_flipped_bit_is_found(project: Project) -> None:
    ran(project)
    assert checking.check(project).problems == []
    assert sql.first(project, "SELECT count(*) FROM assisted_pair") == (1,)
    sql.alter(project, "UPDATE assisted_pair SET content = replace(content, 'a1', 'a2')")
    result = [
        (problem.table, problem.happened.endswith("was altered."))
        for problem in checking.check(project).problems
    ]
    assert ("assisted_pair", True) in result


def test_another_model_or_other_settings_are_asked_anew_and_the_former_pairs_stay(
    project: Project, server: OddServer
) -> None:
    ran(project)
    judge = judges.named(project, JUDGE)
    judges.change(project, judge.id, {"parameters": '{"temperature": 0.5}'})
    assert agreement_report.report(project, assisted_by=JUDGE).assistance.there == 0  # type: ignore[union-attr]
    assert (ran(project)["calls"], len(server.bodies)) == (1, 2)
    judges.change(project, judge.id, {"parameters": "{}"})
    assert (ran(project)["calls"], len(server.bodies)) == (0, 2)


def test_of_three_raters_the_pairs_without_a_reply_count_nowhere_not_even_beside(
    tmp_path: Path, server: OddServer
) -> None:
    project = pairs.pairs_project(tmp_path)
    wrote = {
        "Ada": lists.ADA[0],
        "Ben": lists.BEN[0],
        "Dan": (("Explains attribution of claims", 1), ("Waits", 2)),
    }
    pairs.submit(project, {name: pairs.rubric(said, name) for name, said in wrote.items()})
    add_judge(pairs.work_as(project, "Cora"), server)
    server.answer = knowing(lambda entries: "Well." if {"Waits", "Cites law"} <= entries else "")
    assert ran(project)["missing"] == {"invalid": 1}
    report = agreement_report.report(project, assisted_by=JUDGE)
    assert (report.assistance.lists, report.assistance.there) == (3, 2)
    # Ada and Ben 4/7 as paired, 0 frozen; the judge finds no pair of Ada and Dan, who have one: frozen 2/5.
    assert assisted(report) == (pytest.approx((4 / 7 + 0) / 2), pytest.approx((0 + 2 / 5) / 2), 1)
    assert "Without a reply: 1, excluded" in report.assistance.words()
    # One item, of which two of three pairs of raters were paired: that is not all of it.
    (by_judge,) = [second for second in report.seconds if second.name == agreement_report.BY_MODEL]
    assert agreement_report.second(by_judge, report.rows[0]).endswith("(2 of 3 pairs of lists)")
    told = agreement_report.plain(report, report.rows[0])[agreement_report.BY_MODEL]
    assert (told["items"], told["lists"], told["there"]) == (["1"], 3, 2)
    assert [one["value"] for one in told["frozen_figures_of_these_lists"]] == [pytest.approx(1 / 5)]
    table = result_pictures.as_text(agreement_report.sheets(report)[0]).splitlines()
    note = table[1].split("\t")[table[0].split("\t").index("Model-assisted, note")]
    assert note.endswith("2 of 3 pairs of lists")


def test_where_nothing_is_to_be_paired_or_nobody_coordinates_no_judge_is_asked(
    tmp_path: Path, server: OddServer
) -> None:
    project = pairs.pairs_project(tmp_path)
    one = Reference(id="r1", text="A paper", identifier="10.1000/182")
    pairs.submit(project, dict.fromkeys(("Ada", "Ben"), Evidence(units=(one,))))
    add_judge(pairs.work_as(project, "Cora"), server)
    expect_refusal("nothing to pair by meaning", ran, project)
    expect_refusal("shown to a coordinator", ran, pairs.work_as(project, "Cleo"))
    assert server.bodies == []


def test_a_run_that_left_something_is_gone_on_with_and_keeps_to_its_stage(
    project: Project, server: OddServer
) -> None:
    server.answer = knowing(lambda _: "Well.")
    one_stage = assisting.order(JUDGE, Stage.RUBRIC)
    assert asyncio.run(assisting.run(project, one_stage))["missing"] == {"invalid": 1}
    (run,) = run_records.runs(project)
    assert (run.open, run.order().protocol) == (True, one_stage.protocol)
    assert judge_runs.title(run.protocol) == "Units paired by meaning"
    server.answer = knowing(lambda _: "")
    ended = asyncio.run(orders.carry_out(project, run.order()))
    assert (ended["state"], ended["judged"], ended["failed"]) == ("done", 1, [])
    assert assisted(agreement_report.report(project, assisted_by=JUDGE))[0] == pytest.approx(4 / 7)


def test_what_another_run_paired_while_this_one_waited_its_turn_is_not_asked_again(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run_records.alone

    @contextmanager
    def after_another(held: Project) -> Iterator[None]:
        monkeypatch.setattr(run_records, "alone", alone)
        with closing(Project.open(project.path)) as other, ThreadPoolExecutor(1) as pool:
            other.person = project.person
            pool.submit(ran, other).result()
        with alone(held):
            yield

    monkeypatch.setattr(run_records, "alone", after_another)
    ended = ran(project)
    assert (ended["state"], ended["calls"], ended["failed"], len(server.bodies)) == ("done", 0, [], 1)
    assert sql.first(project, "SELECT count(*) FROM assisted_pair") == (1,)


def test_what_an_import_brings_while_the_same_is_asked_stays(
    project: Project, server: OddServer, tmp_path: Path
) -> None:
    twin = Path(shutil.copytree(project.path.parent, tmp_path.with_name(f"{tmp_path.name}-twin")))
    with closing(Project.open(twin / project.path.name)) as other:
        other.person = project.person
        ran(other)
        releases.export(other, twin / "release")
    told = server.answer

    def meanwhile(body: dict[str, Any], number: int) -> Odd:
        with closing(Project.open(project.path)) as other:
            other.person = project.person
            assert (
                imports.run(other, "goldsmith", [twin / "release"], warm=False)[1].counts["pairings"].new == 1
            )
        return told(body, number)

    server.answer = meanwhile
    assert ran(project)["state"] == "done"
    assert sql.first(project, "SELECT count(*) FROM assisted_pair") == (1,)
    assert checking.check(project).problems == []
