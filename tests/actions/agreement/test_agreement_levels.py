"""Agreement on ratings of 0 to 10, beside labels without an order: a row and figures of their own."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score
from sqlalchemy import insert

from annotator.actions.agreement import (
    agreement_behind,
    agreement_figures,
    agreement_inputs,
    agreement_report,
    agreement_sheets,
    agreement_words,
)
from annotator.actions.agreement.agreement_figures import FigureRow
from annotator.actions.assignments import agreements
from annotator.actions.items.items import ids as items_of
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.level_figures import FIGURES, IN_UNITS
from annotator.domain.judges.scale import Level, numbers
from annotator.domain.kinds.labels import Label, Labels, label_id
from annotator.domain.texts.change import new_id
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import AssignmentRow, table
from tests.projects.labelled_protocols import REASONING
from tests.projects.paired_project import labels, paired_project, person, sealed_by
from tests.stats.intraclass import icc

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
    shape = replace(PROTOCOLS[REASONING], scale=numbers(0, 10, level=level))
    monkeypatch.setitem(PROTOCOLS, REASONING, shape)
    return level


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = paired_project(tmp_path, annotators=3, questions=3)
    yield project
    project.close()


def ratings(said: str) -> tuple[Label, ...]:
    return tuple(
        Label(
            id=label_id(REASONING, "report 0", f"s{place}"), protocol=REASONING, response_id="report 0",
            unit_id=f"s{place}", value=value,
        )
        for place, value in enumerate(said.split())
    )  # fmt: skip


def rate(project: Project, raters: str = "ABC", items: int = 3, *, beside: bool = True) -> None:
    """The ratings of these people, beside which they say yes and no to two criteria."""
    whose = [
        (items_of(project)[place], person(project, rater).id) for place in range(items) for rater in raters
    ]
    with project.store.write() as db:
        for item_id, person_id in whose:
            row = {"item_id": item_id, "person_id": person_id, "stage": "labelling"}
            db.execute(insert(table(AssignmentRow)).values(id=new_id(), trial=1, purpose="work", **row))
    for place in range(items):
        for rater in raters:
            own = labels("yn" if rater == "A" else "yy").units if beside else ()
            sealed_by(project, rater, Labels(units=(*own, *ratings(SAID[rater][place]))), place)


def of_ratings(found: list[FigureRow]) -> FigureRow:
    (row,) = [row for row in found if row.field == REASONING]
    return row


def pairs(a: str, b: str) -> tuple[list[int], list[int]]:
    whole = zip(" ".join(SAID[a]).split(), " ".join(SAID[b]).split(), strict=True)
    known = [(int(x), int(y)) for x, y in whole if "unsure" not in (x, y)]
    return [x for x, _ in known], [y for _, y in known]


@pytest.mark.usefixtures("small_cases")
def test_two_raters_have_the_figures_of_the_level(project: Project, level: Level) -> None:
    rate(project, "AB")
    # By person, that person comes first in each pair.
    row = of_ratings([row for row in agreement_figures.rows(project, "person") if row.name == "A"])
    assert [figure.name for figure in row.figures] == list(FIGURES[level])
    figures = {figure.name: figure for figure in row.figures}
    a, b = pairs("A", "B")
    assert (figures["alpha"].n, row.n, len(row.items)) == (8, 8, 3)
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
        assert figures["mean_difference"].value == pytest.approx(-1 / 8)
        assert figures["absolute_difference"].value == pytest.approx(5 / 8)
    assert all("1 judgement of “unsure”, counted as missing" in one.note for one in row.figures)


@pytest.mark.usefixtures("small_cases")
def test_labels_without_an_order_have_the_figures_they_had(project: Project, level: Level) -> None:
    rate(project, "AB")
    (beside,) = [row for row in agreement_figures.rows(project) if row.field == "value"]
    folder = project.path.parent / "other"
    folder.mkdir()
    other = paired_project(folder, annotators=3, questions=3)
    for place in range(3):
        for rater, said in (("A", "yn"), ("B", "yy")):
            sealed_by(other, rater, labels(said), place)
    (alone,) = agreement_figures.rows(other)
    assert beside.figures == alone.figures
    other.close()


@pytest.mark.usefixtures("small_cases")
def test_of_three_raters_alpha_is_over_all_and_icc_of_raters_of_their_own(
    project: Project, level: Level
) -> None:
    rate(project)
    row = of_ratings(agreement_figures.rows(project))
    given = [
        [float("nan") if x == "unsure" else int(x) for x in " ".join(SAID[who]).split()] for who in "ABC"
    ]
    peer = krippendorff.alpha(given, level_of_measurement=level.value)
    assert row.figure("alpha").value == pytest.approx(peer)
    assert [figure.name for figure in row.figures].count("alpha") == 1
    assert "pooled over 3 pairs of raters" in row.figures[0].note
    if level is Level.INTERVAL:
        assert row.figure("icc").method.startswith("ICC(1,1)")


@pytest.mark.usefixtures("small_cases")
def test_what_is_frozen_of_an_item_names_the_protocol(project: Project, level: Level) -> None:
    rate(project, items=1)
    with project.store.read() as db:
        (frozen,) = agreements.all_frozen(project, db)
    names = {figure.name for figure in frozen.pairs[0].figures}
    assert {f"{REASONING}_{name}" for name in FIGURES[level]} <= names
    assert {"value_agreement", "value_kappa", "value_ac1"} <= names
    assert [figure.name for figure in frozen.figures] == ["value_alpha", f"{REASONING}_alpha"]


@pytest.mark.usefixtures("small_cases")
def test_only_ratings_have_only_their_row(project: Project, level: Level) -> None:
    rate(project, "AB", beside=False)
    assert [row.field for row in agreement_figures.rows(project)] == [REASONING]


@pytest.mark.usefixtures("small_cases")
def test_a_value_off_the_scale_is_missing_and_said(
    project: Project, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate(project, "AB")
    shape = replace(PROTOCOLS[REASONING], scale=numbers(0, 9, level=level))
    monkeypatch.setitem(PROTOCOLS, REASONING, shape)
    row = of_ratings(agreement_figures.rows(project))
    # One 10 of A, and one unsure of B.
    assert row.n == 7
    assert "1 judgement not on the scale, counted as missing" in row.figures[0].note


@pytest.mark.usefixtures("small_cases")
def test_the_page_and_the_inputs_show_them_under_the_title_of_the_protocol(
    project: Project, level: Level
) -> None:
    rate(project, "AB")
    report = agreement_report.report(project)
    (sheet,) = agreement_sheets.sheets(report)
    titles = [column.title for column in sheet.columns]
    assert {agreement_words.TITLES[name] for name in FIGURES[level]} <= set(titles)
    line = next(line for line in sheet.lines if line.row.field == REASONING)
    assert line.cells[titles.index("Compared")].words == f"judgement: {PROTOCOLS[REASONING].title}"
    main = line.cells[titles.index(agreement_words.TITLES[FIGURES[level][0]])]
    assert main.worth == line.row.figures[0].value
    for picture in sheet.pictures:
        assert picture.draw() is not None
    plain = agreement_words.plain(report, line.row)
    assert [one["name"] for one in plain["figures"]] == list(FIGURES[level])
    assert agreement_words.copied(report, [line.row]).count("\n") == 2
    given = [one for one in agreement_inputs.inputs(project) if one["field"] == REASONING]
    first = {one[side] for one in given if one["judged_unit"] == "s0" for side in ("value_a", "value_b")}
    assert (len(given), first) == (9, {"8", "9", "10", "5"})
    behind = agreement_behind.behind(project, report, line.row)
    assert len(behind.lines) == 9
    assert agreement_words.scale_of(line.row).names[-1] == "10"


def test_figures_in_units_of_a_scale_are_drawn_beyond_one(project: Project, level: Level) -> None:
    rate(project, "AB")
    if level is Level.ORDINAL:
        assert not IN_UNITS & set(FIGURES[level])
        return
    report = agreement_report.report(project)
    row = of_ratings(list(report.rows))
    drawn = agreement_words.picture(report, [row], "upper_limit")
    low, high = drawn.axes[0].get_xlim()
    assert low <= 0 < row.figure("upper_limit").value < high
    assert row.stage is Stage.LABELLING
