"""Pooled figures of agreement, of labels and of ratings: worked out by hand, in the comments, or by a peer."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score
from sqlalchemy import insert, select

from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import labels as labelling
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.domain.experts.adjudication import Agreement, Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import FIGURES, IN_UNITS, Level, numbers
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.texts.canonical import canonical_json, new_id, sha256
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGEMENT
from tests.projects import pairs_project
from tests.projects.paired_project import SENTENCES, labels, paired_project, person, rubric, sealed_by
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import REASONING, labelling_project, submit_labels
from tests.stats.agreement_oracles import icc
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return paired_project(tmp_path, annotators=3, questions=3)


def row(
    found: list[agreement_figures.FigureRow], field: str, name: str | None = None
) -> agreement_figures.FigureRow:
    (only,) = [each for each in found if each.field == field and name in (None, each.name)]
    return only


def named(found: list[agreement_figures.FigureRow], name: str) -> list[tuple[str, float | None]]:
    """Of each row its name and one of its figures."""
    return [(each.name, figure(each, name).value) for each in found]


def assign(project: Project, raters: str, places: int = 1) -> None:
    """These people are assigned to label the first items."""
    for place in range(places):
        for alias in raters:
            pairs_project.assign(project, f"Expert {alias}", Stage.LABELLING, place)


def figure(of: agreement_figures.FigureRow, name: str) -> Figure:
    result = of.figure(name)
    assert result is not None, of.figures
    return result


def both(project: Project, a: str, b: str, item: int = 0, raters: str = "AB") -> None:
    for alias, said in zip(raters, (a, b), strict=True):
        sealed_by(project, alias, labels(said), item)


# The interval of ¾ over two items of variance 1/16, which are worth 3/16 / (1/16) = 3 units; t = 12.7062 stands for z:
# (¾ + t²/6 ± t √(1/16 + t²/36)) / (1 + t²/3).
T = 12.7062
CENTRE, HALF, WHOLE = 3 / 4 + T**2 / 6, T * (1 / 16 + T**2 / 36) ** 0.5, 1 + T**2 / 3
BOUNDS = pytest.approx(((CENTRE - HALF) / WHOLE, (CENTRE + HALF) / WHOLE), abs=1e-5)


@pytest.mark.usefixtures("small_cases")
def test_labels_are_pooled_over_items(project: Project) -> None:
    both(project, "yy", "yn", 0)
    both(project, "nn", "nn", 1)
    pooled = row(agreement_figures.rows(project), "value")
    # yy yn nn nn: seen ¾. Two items: Var = (½² + ½²) / 4² · 2 = 1/16.
    assert (pooled.stage, pooled.n, pooled.items) == (Stage.LABELLING, 4, tuple(items.ids(project)[:2]))
    agreement = figure(pooled, "agreement")
    assert (agreement.value, (agreement.low, agreement.high)) == (0.75, BOUNDS)
    # By chance ½·¼ + ½·¾ = ½ (whoever comes first), so κ = ½.
    kappa = figure(pooled, "kappa")
    assert kappa.value == pytest.approx(0.5)
    assert "1 of 2 clusters have any of the rarest class that it needs" in kappa.note


@pytest.mark.usefixtures("small_cases")
def test_one_item_gives_no_interval(project: Project) -> None:
    both(project, "yynn", "ynnn")
    kappa = figure(row(agreement_figures.rows(project), "value"), "kappa")
    assert (kappa.value, kappa.low, kappa.high) == (pytest.approx(0.5), None, None)
    assert "1 cluster is too few for an interval" in kappa.note


def test_ac1_stands_beside_kappa_with_its_sentence(project: Project) -> None:
    both(project, "yyyyyyyyyy", "yyyyyyyyyn")
    pooled = row(agreement_figures.rows(project), "value")
    # Seen .9; one rater never says no, so κ is 0. AC1: yes has .95, chance 2·.95·.05 = .095.
    assert (figure(pooled, "kappa").value, figure(pooled, "ac1").value) == pytest.approx((0, 0.805 / 0.905))
    (paradox,) = [
        remark for remark in agreement_report.remarks(figure(pooled, "ac1")) if "κ can be low" in remark
    ]
    assert paradox.endswith("AC1 is less moved by this.")


def test_a_field_without_any_pair_keeps_a_row_that_says_why(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 2))
    sealed_by(project, "B", rubric(3, 3, sentences=SENTENCES[3:]))
    result = agreement_figures.rows(project)
    assert figure(row(result, "units"), "match_f1").value == 0
    weight = row(result, "weight")
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
    result = agreement_figures.rows(project)
    overlap = figure(row(result, "units"), "match_f1")
    # Variance (¼² + ¼²) / 2 = 1/16, as three units have.
    assert (overlap.value, overlap.n, (overlap.low, overlap.high)) == (0.75, 2, BOUNDS)
    weight = row(result, "weight")
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
    result = agreement_figures.rows(project)
    # Scores 2, 3, 4.5 and 1, 3.5, 4: six times the deviations are (−7, −1, 8) and (−11, 4, 7).
    r = figure(row(result, "item_score"), "pearson")
    assert r.value == pytest.approx((77 - 4 + 56) / ((49 + 1 + 64) * (121 + 16 + 49)) ** 0.5)
    # Exactly equal: (3,3), (4,4) of six.
    assert figure(row(result, "rating"), "agreement").value == pytest.approx(2 / 6)


def test_pairs_and_persons_have_figures_of_their_own(project: Project) -> None:
    both(project, "yn", "yn", 0, "AB")
    both(project, "yn", "ny", 1, "AC")
    result = agreement_figures.rows(project, "pair")
    assert named(result, "agreement") == [("A and B", 1), ("A and C", 0)]
    assert {*result[0].group} == {person(project, alias).id for alias in "AB"}
    assert result[1].items == (items.ids(project)[1],)
    result = agreement_figures.rows(project, "person")
    assert {name: value for name, value in named(result, "agreement")} == {"A": 0.5, "B": 1, "C": 0}
    assert {each.name: each.n for each in result} == {"A": 4, "B": 2, "C": 2}
    assert "pooled over 2 pairs of raters" in figure(result[0], "kappa").note


def test_kappa_of_a_person_does_not_depend_on_the_order_of_ids(project: Project) -> None:
    both(project, "yyyn", "yynn", 0, "AB")
    both(project, "yyyn", "ynnn", 1, "AC")
    result = row(agreement_figures.rows(project, "person"), "value", "A")
    # A first: yes 6 of 8; the others: yes 3 of 8. Seen 5/8; chance 6/8·3/8 + 2/8·5/8 = 28/64. κ = (40 − 28)/(64 − 28).
    assert figure(result, "kappa").value == pytest.approx(1 / 3)


def test_criteria_are_named_by_their_words(tmp_path: Path) -> None:
    project = labelling_project(tmp_path, criteria=2, reports=1, questions=1)
    (item,) = items.ids(project)
    wanted = labelling.sheet(project, labelling.queue(project)[0].response_id).units
    for alias in "AB":
        people.add_person(project, alias, alias=alias)
        said = labels("yn").units
        judged = tuple(
            one.model_copy(update={"unit_id": unit.id}) for one, unit in zip(said, wanted, strict=True)
        )
        sealed_by(project, alias, Labels(units=judged))
    result = agreement_figures.rows(project, "criterion")
    assert [(each.name, each.group) for each in result] == [(unit.text, (item, unit.id)) for unit in wanted]


def test_criteria_are_counted_over_reports_and_only_where_reports_are(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert agreement_figures.rows(project, "criterion") == []
    for alias, said in (("A", ("yn", "yn")), ("B", ("yn", "yy"))):
        sealed_by(project, alias, labels(*said))
    result = agreement_figures.rows(project, "criterion")
    assert (named(result, "agreement"), [each.n for each in result], result[1].group) == (
        [("c0", 1), ("c1", 0.5)], [2, 2], (items.ids(project)[0], "c1"),
    )  # fmt: skip


def test_items_weeks_of_the_freeze_and_guideline_versions_are_told_apart(project: Project) -> None:
    both(project, "yn", "nn", 1)
    both(project, "yn", "yn", 0)
    assert named(agreement_figures.rows(project, "item"), "agreement") == [("1", 1), ("2", 0.5)]
    # 1 January 2027 is a Friday of the last ISO week of 2026.
    rewritten(project, 0, frozen_at=datetime(2027, 1, 1, tzinfo=UTC))
    rewritten(project, 1, frozen_at=datetime(2027, 1, 4, tzinfo=UTC))
    assert named(agreement_figures.rows(project, "week"), "agreement") == [("2026-W53", 1), ("2027-W01", 0.5)]
    both(project, "yn", "yn", 2)
    for item, versions in ((1, ("1", "2")), (2, ("10", "9"))):
        (old,) = assignments.of_item(project, items.ids(project)[item])
        given = [one.model_copy(update={"guideline": v}) for one, v in zip(old.inputs, versions, strict=True)]
        rewritten(project, item, inputs=given)
    result = [each.name for each in agreement_figures.rows(project, "guideline")]
    assert result == ["1", "1 and 2", "9 and 10"]


def rewritten(project: Project, item: int, **changes: object) -> None:
    """Another frozen record in the place of an item's: as if it had been frozen so."""
    (old,) = assignments.of_item(project, items.ids(project)[item])
    content = canonical_json(
        Agreement.model_validate({**old.model_dump(), **changes}).model_dump(mode="json")
    )
    values = [content.decode(), sha256(content), old.id]
    sql.alter(project, "UPDATE agreement SET content = ?, sha256 = ? WHERE id = ?", values)


def test_alpha_is_shown_where_three_people_rated(project: Project) -> None:
    assign(project, "ABC")
    for alias, said in zip("ABC", ("yynn", "yynn", "ynn?"), strict=True):
        sealed_by(project, alias, labels(said))
    pooled = row(agreement_figures.rows(project), "value")
    # yyy, yyn, nnn, nn?: α = 1 − 10·1/(5·6), as in the comparison.
    assert figure(pooled, "alpha").value == pytest.approx(2 / 3)
    # Pairs of raters: 4 + 3 + 3, of which A and B agree on 4, each of them with C on 2.
    assert (pooled.n, figure(pooled, "agreement").value) == (10, 0.8)


def test_frozen_figures_stand_whatever_is_written_since(project: Project) -> None:
    both(project, "yn", "yn")
    assert row(agreement_figures.rows(project), "value").figure("alpha") is None
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert {each.stage for each in agreement_figures.rows(project)} == {Stage.RUBRIC, Stage.LABELLING}
    assert {each.stage for each in agreement_figures.rows(project, stage=Stage.RUBRIC)} == {Stage.RUBRIC}
    expect_refusal("cannot be grouped by “moon”", agreement_figures.rows, project, "moon")
    sql.alter(project, "UPDATE item SET retired = 1")
    assert agreement_figures.rows(project) == []


def repeated(project: Project, alias: str, *said: tuple[str, str]) -> None:
    """The person labels the first units of the first reports, and at a later trial again: y, n or ?."""
    values = {"y": "yes", "n": "no", "?": "unsure"}
    project.work_as(person(project, alias))
    for task, (first, again) in zip(labelling.queue(project), said, strict=False):
        units = labelling.sheet(project, task.response_id).units
        for unit, one, other in zip(units, first, again, strict=False):
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
    protocol = replace(PROTOCOLS[REASONING], scale=numbers(0, 10, level=level))
    monkeypatch.setitem(PROTOCOLS, REASONING, protocol)
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


def pairs(a: str, b: str) -> tuple[list[int], list[int]]:
    whole = zip(" ".join(SAID[a]).split(), " ".join(SAID[b]).split(), strict=True)
    known = [(int(x), int(y)) for x, y in whole if "unsure" not in (x, y)]
    return [x for x, _ in known], [y for _, y in known]


@pytest.mark.usefixtures("small_cases")
def test_two_raters_have_the_figures_of_the_level(project: Project, level: Level) -> None:
    rate(project, "AB")
    # By person, that person comes first in each pair.
    found = agreement_figures.rows(project, "person")
    # What has no order has the figures it had.
    assert figure(row(found, "value", "A"), "agreement").value == 1 / 2
    own = row(found, REASONING, "A")
    assert [figure.name for figure in own.figures] == list(FIGURES[level])
    figures = {figure.name: figure for figure in own.figures}
    a, b = pairs("A", "B")
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
    own = row(agreement_figures.rows(project), REASONING)
    given = [
        [float("nan") if x == "unsure" else int(x) for x in " ".join(SAID[who]).split()] for who in "ABC"
    ]
    peer = krippendorff.alpha(given, level_of_measurement=level.value)
    assert (figure(own, "alpha").value, [figure.name for figure in own.figures].count("alpha")) == (
        pytest.approx(peer), 1,
    )  # fmt: skip
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
    protocol = replace(PROTOCOLS[REASONING], scale=numbers(0, 9, level=level))
    monkeypatch.setitem(PROTOCOLS, REASONING, protocol)
    own = row(agreement_figures.rows(project), REASONING)
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
    assert {agreement_report.TITLES[name] for name in FIGURES[level]} <= set(titles)
    (line,) = sheet.lines
    assert line.cells[titles.index("Compared")].words == f"judgement: {PROTOCOLS[REASONING].title}"
    main = line.cells[titles.index(agreement_report.TITLES[FIGURES[level][0]])]
    assert main.worth == own.figures[0].value
    assert all(picture.draw() is not None for picture in sheet.pictures)
    plain = agreement_report.plain(report, own)
    assert [one["name"] for one in plain["figures"]] == list(FIGURES[level])
    given = [one for one in agreement_figures.inputs(project) if one["field"] == REASONING]
    first = {one[side] for one in given if one["judged_unit"] == "s0" for side in ("value_a", "value_b")}
    assert (len(given), first) == (9, {"8", "9", "10", "5"})
    assert len(agreement_report.behind(project, report, own).lines) == 9
    assert agreement_report.scale_of(own).names[-1] == "10"
    # What is in units of the scale is drawn beyond 1.
    assert bool(IN_UNITS & set(FIGURES[level])) == (level is Level.INTERVAL)
    if level is Level.INTERVAL:
        low, high = agreement_report.picture(report, [own], "upper_limit").axes[0].get_xlim()
        assert low <= 0 < figure(own, "upper_limit").value < high
