"""Pooled figures of agreement, of labels and of ratings: worked out by hand, in the comments, or by a peer.

What the coordinator looks at: sections, words, what lies behind a figure, and the exact inputs. How a judge is let
pair the units of two raters: which lists, and once for all that it is asked by.
"""

import asyncio
import csv
import io
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score
from sqlalchemy import insert, select

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import agreement_figures, agreement_report, assisting
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import consensus
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import labels as labelling
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_pictures
from annotator.actions.runs import run_records
from annotator.domain.common import canonical_json, new_id, sha256
from annotator.domain.experts.adjudication import BOTH, Agreement, Figure, Reason
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.judges.protocol import FIGURES, Level, numbers
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGEMENT
from tests.common import expect_refusal, fixture_of
from tests.judging.odd_server import Odd, OddServer
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import (
    SENTENCES,
    in_order,
    paired_project,
    person_of as person,
    sealed_by,
    signed_labels as labels,
    weighted_rubric as rubric,
)
from tests.projects.small_projects import REASONING, labelling_project, submit_labels
from tests.servers.served import JUDGE, add_judge
from tests.stats.agreement_oracles import icc
from tests.storage import sql

project = fixture_of(paired_project, annotators=3, questions=3)


def row(
    found: tuple[agreement_figures.FigureRow, ...], field: str, name: str | None = None
) -> agreement_figures.FigureRow:
    (only,) = [each for each in found if each.field == field and name in (None, each.name)]
    return only


def named(found: tuple[agreement_figures.FigureRow, ...], name: str) -> list[tuple[str, float | None]]:
    return [(each.name, figure(each, name).value) for each in found]


def assign(project: Project, raters: str, places: int = 1) -> None:
    for place in range(places):
        for alias in raters:
            pairs.assign(project, f"Expert {alias}", Stage.LABELLING, place)


def both_label(project: Project, a: str, b: str, item: int = 0, raters: str = "AB") -> None:
    for alias, said in zip(raters, (a, b), strict=True):
        sealed_by(project, alias, labels(said), item)


def plan(*order: int) -> Plan:
    return Plan(units=tuple(Subtask(text=SENTENCES[n]) for n in order))


def selection(*ratings: int) -> Selection:
    return Selection(
        units=tuple(
            (DimensionRating(text=f"Dimension {n}", rating=rating) for n, rating in enumerate(ratings))
        )
    )


LABELLED = ((labels("yy"), labels("yn")), (labels("nn"), labels("nn")))
# Of two criteria each, in the second item one is the same: F1 = 2·1 / (2 + 2).
HALF_SHARED = Rubric(units=(rubric(1).units[0], rubric(1, sentences=SENTENCES[3:]).units[0]))
WEIGHED = ((rubric(3, 2), rubric(3, 1)), (rubric(1, 1), HALF_SHARED))
PLANS = ((plan(0, 1, 2), plan(0, 1, 2)), (plan(0, 1, 2), plan(1, 0, 2)), (plan(0, 1), plan(0, 1)))
RATED = (
    (selection(2, 2), selection(1, 1)),
    (selection(3, 3), selection(3, 4)),
    (selection(5, 4), selection(4, 4)),
)
APART = ((rubric(1, 2), rubric(3, 3, sentences=SENTENCES[3:])),)
# Item by item what two wrote; of which field which figure; its value, of how many, and words of its note or method.
POOLED: tuple[tuple[Any, str, str, tuple[float | None, int, str]], ...] = (
    # yy yn nn nn: seen ¾. By chance ½·¼ + ½·¾ = ½ (whoever comes first), so κ = ½.
    (LABELLED, "value", "agreement", (3 / 4, 4, "")),
    (LABELLED, "value", "kappa", (1 / 2, 4, "1 of 2 clusters have any of the rarest class that it needs")),
    # Seen .9; one rater never says no, so κ is 0. AC1: yes has .95, chance 2·.95·.05 = .095.
    (((labels("yyyyyyyyyy"), labels("yyyyyyyyyn")),), "value", "kappa", (0, 10, "")),
    (((labels("yyyyyyyyyy"), labels("yyyyyyyyyn")),), "value", "ac1", (0.805 / 0.905, 10, "")),
    (WEIGHED, "units", "match_f1", (3 / 4, 2, "")),
    # (3,3) (2,1) (1,1): as in the comparison of two rubrics, seen 1/3, by chance 1, κ = 2/3.
    (WEIGHED, "weight", "kappa", (2 / 3, 3, "linear weights")),
    (APART, "units", "match_f1", (0, 1, "")),
    (APART, "weight", "kappa", (None, 0, "no unit was judged by both")),
    # 1 and (2 − 1)/3; two sub-tasks have no order to speak of.
    (PLANS, "units", "order_tau", (2 / 3, 2, "1 of 3 items left out")),
    # Scores 2, 3, 4.5 and 1, 3.5, 4: six times the deviations are (−7, −1, 8) and (−11, 4, 7).
    (RATED, "item_score", "pearson", ((77 - 4 + 56) / ((49 + 1 + 64) * (121 + 16 + 49)) ** 0.5, 3, "")),
    # Exactly equal: (3,3), (4,4) of six.
    (RATED, "rating", "agreement", (2 / 6, 6, "")),
)  # fmt: skip


def both_seal(project: Project, documents: Any) -> None:
    for item, pair in enumerate(documents):
        for alias, document in zip("AB", pair, strict=True):
            sealed_by(project, alias, document, item)


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(("documents", "field", "name", "told"), POOLED)
def test_figures_are_pooled_or_averaged_over_items(
    project: Project, documents: Any, field: str, name: str, told: tuple[float | None, int, str]
) -> None:
    both_seal(project, documents)
    result = figure(row(agreement_report.report(project).rows, field), name)
    assert (result.value, result.n) == (pytest.approx(told[0]), told[1])
    assert told[2] in f"{result.method} {result.note}"


# The interval of ¾ over two items of variance 1/16, which are worth 3/16 / (1/16) = 3 units; t = 12.7062 stands for z:
# (¾ + t²/6 ± t √(1/16 + t²/36)) / (1 + t²/3).
T = 12.7062
CENTRE, HALF, WHOLE = 3 / 4 + T**2 / 6, T * (1 / 16 + T**2 / 36) ** 0.5, 1 + T**2 / 3
BOUNDS = pytest.approx(((CENTRE - HALF) / WHOLE, (CENTRE + HALF) / WHOLE), abs=1e-5)


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(
    ("documents", "field", "name", "stage"),
    [
        # Var = (½² + ½²) / 4² · 2 = 1/16.
        (LABELLED, "value", "agreement", Stage.LABELLING),
        # Var = (¼² + ¼²) / 2 = 1/16.
        (WEIGHED, "units", "match_f1", Stage.RUBRIC),
    ],
)
def test_an_interval_is_over_items(
    project: Project, documents: Any, field: str, name: str, stage: Stage
) -> None:
    both_seal(project, documents)
    result = row(agreement_report.report(project).rows, field)
    assert (result.stage, result.items) == (stage, tuple(items.ids(project)[:2]))
    assert (figure(result, name).low, figure(result, name).high) == BOUNDS


def test_pairs_and_persons_have_figures_of_their_own(project: Project) -> None:
    both_label(project, "yn", "yn", 0, "AB")
    both_label(project, "yn", "ny", 1, "AC")
    result = agreement_report.report(project, "pair").rows
    assert named(result, "agreement") == [("A and B", 1), ("A and C", 0)]
    assert {*result[0].group} == {person(project, alias).id for alias in "AB"}
    assert result[1].items == (items.ids(project)[1],)
    result = agreement_report.report(project, "person").rows
    assert {name: value for name, value in named(result, "agreement")} == {"A": 0.5, "B": 1, "C": 0}
    assert {each.name: each.n for each in result} == {"A": 4, "B": 2, "C": 2}
    assert "pooled over 2 pairs of raters" in figure(result[0], "kappa").note


def test_kappa_of_a_person_does_not_depend_on_the_order_of_ids(project: Project) -> None:
    both_label(project, "yyyn", "yynn", 0, "AB")
    both_label(project, "yyyn", "ynnn", 1, "AC")
    result = row(agreement_report.report(project, "person").rows, "value", "A")
    # A first: yes 6 of 8; the others: yes 3 of 8. Seen 5/8; chance 6/8·3/8 + 2/8·5/8 = 28/64. κ = (40 − 28)/(64 − 28).
    assert figure(result, "kappa").value == pytest.approx(1 / 3)


def test_criteria_are_named_by_their_words(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=2, reports=1, questions=1)
    (item,) = items.ids(project)
    wanted = labelling.sheet(project, labelling.queue(project)[0].response_id).units
    for alias in "AB":
        people.add_person(project, alias, alias=alias)
        judged = tuple(
            one.model_copy(update={"unit_id": unit.id})
            for one, unit in zip(labels("yn").units, wanted, strict=True)
        )
        sealed_by(project, alias, Labels(units=judged))
    result = agreement_report.report(project, "criterion").rows
    assert [(each.name, each.group) for each in result] == [(unit.text, (item, unit.id)) for unit in wanted]


def test_criteria_are_counted_over_reports_and_only_where_reports_are(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert agreement_report.report(project, "criterion").rows == ()
    for alias, said in (("A", ("yn", "yn")), ("B", ("yn", "yy"))):
        sealed_by(project, alias, labels(*said))
    result = agreement_report.report(project, "criterion").rows
    assert (named(result, "agreement"), [each.n for each in result], result[1].group) == (
        [("c0", 1), ("c1", 0.5)], [2, 2], (items.ids(project)[0], "c1"),
    )  # fmt: skip


def test_items_weeks_of_the_freeze_and_guideline_versions_are_told_apart(project: Project) -> None:
    both_label(project, "yn", "nn", 1)
    both_label(project, "yn", "yn", 0)
    assert named(agreement_report.report(project, "item").rows, "agreement") == [("1", 1), ("2", 0.5)]
    # 1 January 2027 is a Friday of the last ISO week of 2026.
    rewritten(project, 0, frozen_at=datetime(2027, 1, 1, tzinfo=UTC))
    rewritten(project, 1, frozen_at=datetime(2027, 1, 4, tzinfo=UTC))
    assert named(agreement_report.report(project, "week").rows, "agreement") == [
        ("2026-W53", 1),
        ("2027-W01", 0.5),
    ]
    both_label(project, "yn", "yn", 2)
    for item, versions in ((1, ("1", "2")), (2, ("10", "9"))):
        (old,) = assignments.of_item(project, items.ids(project)[item])
        given = [one.model_copy(update={"guideline": v}) for one, v in zip(old.inputs, versions, strict=True)]
        rewritten(project, item, inputs=given)
    assert [each.name for each in agreement_report.report(project, "guideline").rows] == [
        "1",
        "1 and 2",
        "9 and 10",
    ]


def rewritten(project: Project, item: int, **changes: object) -> None:
    """Another frozen record in the place of an item's: as if it had been frozen so."""
    (old,) = assignments.of_item(project, items.ids(project)[item])
    content = canonical_json(
        Agreement.model_validate({**old.model_dump(), **changes}).model_dump(mode="json")
    )
    values = [content.decode(), sha256(content), old.id]
    sql.alter(project, "UPDATE agreement SET content = ?, sha256 = ? WHERE id = ?", values)


def test_frozen_figures_stand_whatever_is_written_since(project: Project) -> None:
    both_label(project, "yn", "yn")
    assert row(agreement_report.report(project).rows, "value").figure("alpha") is None
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert {each.stage for each in agreement_report.report(project).rows} == {Stage.RUBRIC, Stage.LABELLING}
    assert {each.stage for each in agreement_report.report(project, stage=Stage.RUBRIC).rows} == {
        Stage.RUBRIC
    }
    expect_refusal("cannot be grouped by “moon”", agreement_report.report, project, "moon")
    sql.alter(project, "UPDATE item SET retired = 1")
    assert agreement_report.report(project).rows == ()


def repeated(project: Project, alias: str, *said: tuple[str, str]) -> None:
    """The person labels the first units of the first reports, and at a later trial again: y, n or ?."""
    values = {"y": "yes", "n": "no", "?": "unsure"}
    project.work_as(person(project, alias))
    for task, (first, again) in zip(labelling.queue(project), said, strict=False):
        for unit, one, other in zip(
            labelling.sheet(project, task.response_id).units, first, again, strict=False
        ):
            made = labelling.set_label(project, task.response_id, unit.id, values[one]).subject
            told = {"value": None, "status": "unclear"} if other == "?" else {"value": values[other]}
            with project.store.write() as db:
                old = db.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == made)).mappings().one()
                new = {**old, "id": new_id(), "trial": 2, **told}
                db.execute(insert(JUDGEMENT).values(**new | {"sha256": judgement_hash(new)}))
    project.work_as(person(project, "R1"))
    submit_labels(project)


@pytest.mark.usefixtures("small_cases")
def test_self_agreement_compares_a_persons_two_trials(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=3, reports=1, questions=2)
    people.add_person(project, "A", alias="A")
    # Whoever said everything once has none.
    first = labelling.queue(project)[0].response_id
    labelling.set_label(project, first, labelling.sheet(project, first).units[0].id, "yes")
    # yy yn n? and nn nn yy: five units said twice, of which four alike.
    repeated(project, "A", ("yyn", "yn?"), ("nny", "nny"))
    (mine,) = agreement_figures.self_agreement(project)
    assert (mine.name, mine.by, mine.n, mine.items, figure(mine, "agreement").value) == (
        "A", "self", 5, tuple(items.ids(project)), 0.8,
    )  # fmt: skip
    # First yes 3 of 5, again yes 2 of 5: chance 6/25 + 6/25 = 12/25. κ = (20 − 12)/(25 − 12).
    assert figure(mine, "kappa").value == pytest.approx(8 / 13)
    assert "1 of 2 clusters have any of the rarest class" in figure(mine, "kappa").note
    assert "1 judgement of “unsure”" in figure(mine, "kappa").note
    # A repeat that was only noted is missing.
    sql.alter(
        project, "UPDATE judgement SET value = NULL, status = 'skipped' WHERE trial = 2 AND value = 'no'"
    )
    (mine,) = agreement_figures.self_agreement(project)
    assert (mine.n, figure(mine, "agreement").value) == (2, 1)
    assert "4 of 6 units left out" in figure(mine, "agreement").note


# Item by item what A, B and C say of three units.
SAID = {
    "A": ("8 7 0", "10 3 2", "5 5 9"),
    "B": ("8 5 1", "9 3 2", "5 6 unsure"),
    "C": ("7 5 0", "10 2 4", "6 6 9"),
}


@pytest.fixture(params=[Level.ORDINAL, Level.INTERVAL])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Level:
    """Reasoning is rated from 0 to 10, as an order or as numbers."""
    level: Level = request.param
    monkeypatch.setitem(
        PROTOCOLS, REASONING, replace(PROTOCOLS[REASONING], scale=numbers(0, 10, level=level))
    )
    return level


def ratings(said: str) -> tuple[Label, ...]:
    return tuple(
        Label(
            id=label_id(REASONING, "report 0", f"s{place}"), protocol=REASONING, response_id="report 0",
            unit_id=f"s{place}", value=value,
        )
        for place, value in enumerate(said.split())
    )  # fmt: skip


def rate(project: Project, raters: str = "ABC", *, beside: bool = True) -> None:
    """The ratings of these people, beside which they say yes and no to two criteria."""
    assign(project, raters, 3)
    for place in range(3):
        for rater in raters:
            own = labels("yn" if rater == "A" else "yy").units if beside else ()
            sealed_by(project, rater, Labels(units=(*own, *ratings(SAID[rater][place]))), place)


def known_pairs(a: str, b: str) -> tuple[list[int], list[int]]:
    whole = zip(" ".join(SAID[a]).split(), " ".join(SAID[b]).split(), strict=True)
    known = [(int(x), int(y)) for x, y in whole if "unsure" not in (x, y)]
    return [x for x, _ in known], [y for _, y in known]


@pytest.mark.usefixtures("small_cases")
def test_two_raters_have_the_figures_of_the_level(project: Project, level: Level) -> None:
    rate(project, "AB")
    # By person, that person comes first in each pair.
    found = agreement_report.report(project, "person").rows
    # What has no order has the figures it had.
    assert figure(row(found, "value", "A"), "agreement").value == 1 / 2
    own = row(found, REASONING, "A")
    assert [figure.name for figure in own.figures] == list(FIGURES[level])
    figures = {figure.name: figure for figure in own.figures}
    a, b = known_pairs("A", "B")
    assert (figures["alpha"].n, own.n, len(own.items)) == (8, 8, 3)
    peer = krippendorff.alpha([a, b], level_of_measurement=level.value)
    assert figures["alpha"].value == pytest.approx(peer)
    if level is Level.ORDINAL:
        for weights in ("linear", "quadratic"):
            peer = cohen_kappa_score(a, b, labels=range(11), weights=weights)
            assert figures[f"kappa_{weights}"].value == pytest.approx(peer)
        # 8, 0 … are the same four times of eight.
        assert figures["agreement"].value == pytest.approx(4 / 8)
    else:
        assert figures["icc"].value == pytest.approx(icc([a, b], "2,1"))
        assert figures["icc"].method.startswith("ICC(2,1)")
        # B less A: 0, −2, 1, −1, 0, 0, 0, 1.
        assert (figures["mean_difference"].value, figures["absolute_difference"].value) == (
            pytest.approx(-1 / 8), pytest.approx(5 / 8),
        )  # fmt: skip
    assert all("1 judgement of “unsure”, counted as missing" in one.note for one in own.figures)


@pytest.mark.usefixtures("small_cases")
def test_of_three_raters_alpha_is_over_all_and_icc_of_raters_of_their_own(
    project: Project, level: Level
) -> None:
    rate(project)
    own = row(agreement_report.report(project).rows, REASONING)
    given = [
        [float("nan") if x == "unsure" else int(x) for x in " ".join(SAID[who]).split()] for who in "ABC"
    ]
    peer = krippendorff.alpha(given, level_of_measurement=level.value)
    assert [each.value for each in own.figures if each.name == "alpha"] == [pytest.approx(peer)]
    assert "pooled over 3 pairs of raters" in own.figures[0].note
    if level is Level.INTERVAL:
        assert figure(own, "icc").method.startswith("ICC(1,1)")
    # What is frozen of an item names the protocol.
    frozen = assignments.all_frozen(project)[0]
    names = {figure.name for figure in frozen.pairs[0].figures}
    assert names >= {f"{REASONING}_{name}" for name in FIGURES[level]}
    assert names >= {"value_agreement", "value_kappa", "value_ac1"}
    assert [figure.name for figure in frozen.figures] == ["value_alpha", f"{REASONING}_alpha"]


@pytest.mark.usefixtures("small_cases")
def test_a_value_off_the_scale_is_missing_and_said(
    project: Project, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate(project, "AB")
    monkeypatch.setitem(PROTOCOLS, REASONING, replace(PROTOCOLS[REASONING], scale=numbers(0, 9, level=level)))
    own = row(agreement_report.report(project).rows, REASONING)
    # One 10 of A, and one unsure of B.
    assert own.n == 7
    assert "1 judgement not on the scale, counted as missing" in own.figures[0].note


@pytest.mark.usefixtures("small_cases")
def test_the_page_and_the_inputs_show_them_under_the_title_of_the_protocol(
    project: Project, level: Level
) -> None:
    rate(project, "AB", beside=False)
    report = agreement_report.report(project)
    (own,) = report.rows
    assert (own.field, own.stage) == (REASONING, Stage.LABELLING)
    (sheet,) = agreement_report.sheets(report)
    titles = [column.title for column in sheet.columns]
    (line,) = sheet.lines
    assert line.cells[titles.index(agreement_report.TITLES[FIGURES[level][0]])].worth == own.figures[0].value
    assert all(picture.draw() is not None for picture in sheet.pictures)
    assert [one["name"] for one in agreement_report.plain(report, own)["figures"]] == list(FIGURES[level])
    given = [
        one
        for one in agreement_figures.records(*agreement_figures.frozen_inputs(project))
        if one["field"] == REASONING
    ]
    first = {one[side] for one in given if one["judged_unit"] == "s0" for side in ("value_a", "value_b")}
    assert (len(given), first) == (9, {"8", "9", "10", "5"})
    assert len(agreement_report.behind(project, report, own).lines) == 9
    assert agreement_report.scale_of(own).names[-1] == "10"
    # What is in units of the scale is drawn beyond 1.
    if level is Level.INTERVAL:
        low, high = agreement_report.picture(report, [own], "upper_limit").axes[0].get_xlim()
        assert low <= 0 < figure(own, "upper_limit").value < high


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


def row_of(report: agreement_report.AgreementReport, field: str) -> agreement_figures.FigureRow:
    return next(each for each in report.rows if each.field == field)


def second(
    report: agreement_report.AgreementReport, of: agreement_figures.FigureRow
) -> tuple[agreement_figures.FigureRow, agreement_figures.FigureRow]:
    pair = report.seconds[0].of(of)
    assert pair is not None
    return pair


def figure(of: agreement_figures.FigureRow | None, name: str) -> Figure:
    result = of.figure(name) if of else None
    assert result is not None, of
    return result


def test_a_report_has_the_frozen_rows_and_what_they_stand_on(reported: Project) -> None:
    report = agreement_report.report(reported)
    (by_hand,) = report.seconds
    assert (by_hand.rows, report.repeats, report.votes, report.stages) == ({}, (), (), (Stage.RUBRIC,))
    result = agreement_report.provenance(report, row_of(report, "weight"))
    assert [
        (one.matcher, {(given.guideline, given.form) for given in one.inputs}) for one in result.records
    ] == [("2", {("1", "1")})] * 2
    assert [report.names.alias(person) for person in result.raters] == [
        pairs.person(reported, name).alias for name in ("Ada", "Ben")
    ]
    assert dict(result.counts) == {(1, 1): 2}
    report = agreement_report.report(reported, "person")
    ben = pairs.person(reported, "Ben").id
    result = agreement_report.provenance(
        report, next(each for each in report.rows if each.group == (ben,) and each.field == "units")
    )
    # In each of two items: one of both, one of Ben's alone, one of Ada's alone.
    assert dict(result.counts) == {(1, 1): 2, (1, 0): 2, (0, 1): 2}
    report = agreement_report.report(reported, stage=Stage.PLAN)
    assert (report.rows, report.stages) == ((), (Stage.RUBRIC,))


def test_second_figures_and_votes_stand_beside_the_frozen_ones(reported: Project) -> None:
    before = agreement_report.report(reported).rows
    adjudicated(reported)
    report = agreement_report.report(reported)
    assert report.rows == before
    # Frozen: of two units each has one partner, 2·1/4. As paired: all of them.
    units = row_of(report, "units")
    assert (figure(units, "match_f1").value, figure(units, "match_f1").n) == (0.5, 2)
    again, _ = second(report, units)
    assert (figure(again, "match_f1").value, figure(again, "match_f1").n, again.items) == (
        1, 1, (pairs.item(reported),),
    )  # fmt: skip
    # Frozen pairs of weights of the first item: 1 1. As paired 1 1 and 2 3: half of them agree.
    again, beside = second(report, row_of(report, "weight"))
    assert (figure(beside, "agreement").value, beside.n) == (1, 1)
    assert (figure(again, "agreement").value, again.n) == (0.5, 2)
    with reported.store.read() as db:
        (closed,) = consensus.versions(db, adjudicating.id_of(pairs.item(reported), Stage.RUBRIC))
    kept = {result.name: result.value for result in closed.repaired}
    for field, name in (("units", "match_f1"), ("weight", "weight_agreement"), ("weight", "weight_kappa")):
        again = figure(second(report, row_of(report, field))[0], name.removeprefix("weight_"))
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


pair = fixture_of(pairs.pairs_project)


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


def as_text(report: agreement_report.AgreementReport) -> str:
    return result_pictures.as_text(agreement_report.sheets(report)[0])


def copied(report: agreement_report.AgreementReport) -> dict[str, str]:
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
    assert (report.names.people[ada.id].name, report.names.alias(ada.id)) == ("Ada Canary", ada.alias)
    assert {agreement_report.names(report, row).strip("\u2068\u2069") for row in report.rows} == {
        "Eve",
        "Ada Canary",
    }
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


def lines_of(
    pair: Project, field: str, by: str = "stage", section: str = "rows"
) -> agreement_report.LinesBehind:
    report = agreement_report.report(pair, by)
    return agreement_report.behind(
        pair, report, next(each for each in getattr(report, section) if each.field == field)
    )


def of(pair: Project, line: agreement_report.LineBehind, name: str) -> tuple[str, object]:
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
        agreement_figures.frozen_inputs, agreement_figures.self_agreement,
        agreement_report.report, agreement_report.half_sealed,
    ):  # fmt: skip
        expect_refusal("coordinator", question, pair)
    expect_refusal("coordinator", agreement_figures.write_inputs, pair, tmp_path / "out")
    expect_refusal("coordinator", agreement_report.behind, pair, report, report.rows[0])


sealed = fixture_of(paired_project)


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
    inputs = agreement_figures.records(*agreement_figures.frozen_inputs(sealed))
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
        for each in agreement_figures.records(*agreement_figures.frozen_inputs(sealed))
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


@pytest.fixture
def server() -> Iterator[OddServer]:
    with pairs.pairing() as server:
        yield server


@pytest.fixture
def listed(tmp_path: Path, server: OddServer) -> Project:
    return pairs.assisted_project(tmp_path, server, 1)


def ran(listed: Project) -> dict[str, Any]:
    return asyncio.run(assisting.PairingRun.run(listed, assisting.order(JUDGE)))


def assisted(
    report: agreement_report.AgreementReport, field: str = "units"
) -> tuple[float | None, float | None, int]:
    """The main model-assisted figure of a field, the frozen one beside it, and of how many values."""
    row = next(each for each in report.rows if each.field == field)
    (second,) = [one for one in report.seconds if one.name == agreement_report.BY_MODEL]
    again, beside = second.of(row) or pytest.fail("nothing was paired")
    return again.figures[0].value, beside.figures[0].value, again.n


def test_what_was_paired_is_whole_and_a_flipped_bit_is_found(listed: Project) -> None:
    ran(listed)
    assert checking.check(listed).problems == []
    assert sql.first(listed, "SELECT count(*) FROM assisted_pair") == (1,)
    sql.alter(listed, "UPDATE assisted_pair SET content = replace(content, 'a1', 'a2')")
    result = [
        (problem.table, problem.happened.endswith("was altered."))
        for problem in checking.check(listed).problems
    ]
    assert ("assisted_pair", True) in result


def test_another_model_or_other_settings_are_asked_anew_and_the_former_pairs_stay(
    listed: Project, server: OddServer
) -> None:
    ran(listed)
    judge = judges.named(listed, JUDGE)
    judges.change(listed, judge.id, {"parameters": '{"temperature": 0.5}'})
    assert agreement_report.report(listed, assisted_by=JUDGE).assistance.there == 0  # type: ignore[union-attr]
    assert (ran(listed)["calls"], len(server.bodies)) == (1, 2)
    judges.change(listed, judge.id, {"parameters": "{}"})
    assert (ran(listed)["calls"], len(server.bodies)) == (0, 2)


def test_of_three_raters_the_pairs_without_a_reply_count_nowhere_not_even_beside(
    tmp_path: Path, server: OddServer
) -> None:
    listed = pairs.pairs_project(tmp_path)
    wrote = {
        "Ada": pairs.ADAS_LISTS[0],
        "Ben": pairs.BENS_LISTS[0],
        "Dan": (("Explains attribution of claims", 1), ("Waits", 2)),
    }
    pairs.submit(listed, {name: pairs.rubric(said, name) for name, said in wrote.items()})
    add_judge(pairs.work_as(listed, "Cora"), server)
    server.answer = pairs.knowing(lambda entries: "Well." if {"Waits", "Cites law"} <= entries else "")
    assert ran(listed)["missing"] == {"invalid": 1}
    report = agreement_report.report(listed, assisted_by=JUDGE)
    assert (report.assistance.lists, report.assistance.there) == (3, 2)
    # Ada and Ben 4/7 as paired, 0 frozen; the judge finds no pair of Ada and Dan, who have one: frozen 2/5.
    assert assisted(report) == (pytest.approx((4 / 7 + 0) / 2), pytest.approx((0 + 2 / 5) / 2), 1)
    # One item, of which two of three pairs of raters were paired: that is not all of it.
    (by_judge,) = [second for second in report.seconds if second.name == agreement_report.BY_MODEL]
    assert agreement_report.second(by_judge, report.rows[0]).endswith("(2 of 3 pairs of lists)")
    told = agreement_report.plain(report, report.rows[0])[agreement_report.BY_MODEL]
    assert (told["items"], told["lists"], told["there"]) == (["1"], 3, 2)
    assert [one["value"] for one in told["frozen_figures_of_these_lists"]] == [pytest.approx(1 / 5)]
    table = result_pictures.as_text(agreement_report.sheets(report)[0]).splitlines()
    assert (
        table[1]
        .split("\t")[table[0].split("\t").index("Model-assisted, note")]
        .endswith("2 of 3 pairs of lists")
    )


def test_where_nothing_is_to_be_paired_or_nobody_coordinates_no_judge_is_asked(
    tmp_path: Path, server: OddServer
) -> None:
    listed = pairs.pairs_project(tmp_path)
    one = Reference(id="r1", text="A paper", identifier="10.1000/182")
    pairs.submit(listed, dict.fromkeys(("Ada", "Ben"), Evidence(units=(one,))))
    add_judge(pairs.work_as(listed, "Cora"), server)
    expect_refusal("nothing to pair by meaning", ran, listed)
    expect_refusal("shown to a coordinator", ran, pairs.work_as(listed, "Cleo"))
    assert server.bodies == []


def test_a_run_that_left_something_is_gone_on_with_and_keeps_to_its_stage(
    listed: Project, server: OddServer
) -> None:
    server.answer = pairs.knowing(lambda _: "Well.")
    one_stage = assisting.order(JUDGE, Stage.RUBRIC)
    assert asyncio.run(assisting.PairingRun.run(listed, one_stage))["missing"] == {"invalid": 1}
    (run,) = run_records.runs(listed)
    assert (run.open, run.order().protocol) == (True, one_stage.protocol)
    server.answer = pairs.knowing(lambda _: "")
    ended = asyncio.run(orders.carry_out(listed, run.order()))
    assert (ended["state"], ended["judged"], ended["failed"]) == ("done", 1, [])
    assert assisted(agreement_report.report(listed, assisted_by=JUDGE))[0] == pytest.approx(4 / 7)


def test_what_another_run_paired_while_this_one_waited_its_turn_is_not_asked_again(
    listed: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run_records.alone

    @contextmanager
    def after_another(held: Project) -> Iterator[None]:
        monkeypatch.setattr(run_records, "alone", alone)
        with closing(Project.open(listed.path)) as other, ThreadPoolExecutor(1) as pool:
            other.person = listed.person
            pool.submit(ran, other).result()
        with alone(held):
            yield

    monkeypatch.setattr(run_records, "alone", after_another)
    ended = ran(listed)
    assert (ended["state"], ended["calls"], ended["failed"], len(server.bodies)) == ("done", 0, [], 1)
    assert sql.first(listed, "SELECT count(*) FROM assisted_pair") == (1,)


def test_what_an_import_brings_while_the_same_is_asked_stays(
    listed: Project, server: OddServer, tmp_path: Path
) -> None:
    twin = Path(shutil.copytree(listed.path.parent, tmp_path.with_name(f"{tmp_path.name}-twin")))
    with closing(Project.open(twin / listed.path.name)) as other:
        other.person = listed.person
        ran(other)
        releases.export(other, twin / "release")
    told = server.answer

    def meanwhile(body: dict[str, Any], number: int) -> Odd:
        with closing(Project.open(listed.path)) as other:
            other.person = listed.person
            assert (
                imports.run(other, "goldsmith", [twin / "release"], warm=False)[1].counts["pairings"].new == 1
            )
        return told(body, number)

    server.answer = meanwhile
    assert ran(listed)["state"] == "done"
    assert sql.first(listed, "SELECT count(*) FROM assisted_pair") == (1,)
    assert checking.check(listed).problems == []
