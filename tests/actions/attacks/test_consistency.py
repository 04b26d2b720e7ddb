"""How far a judge agrees with itself, and with another: figures counted by hand."""

import krippendorff
import pytest
from sqlalchemy import insert

from annotator.actions.attacks import consistency
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.domain.judges.level_figures import FIGURES, WORDS
from annotator.domain.judges.scale import Level, numbers
from annotator.domain.texts.change import derived_id, now
from annotator.storage.tables import JudgementRow, table
from tests.projects.small_project import units_of
from tests.projects.validation_project import rated
from tests.servers.said_by_judges import two_judges
from tests.storage import sql

PROJECT = two_judges
COVERAGE = "researcherbench.coverage"


def say(project: Project, judge: str, trial: int, values: str) -> None:
    """What a judge says of the units of both items of the first system, in their order: y, n, or - for nothing."""
    rows = []
    known = {"y": "yes", "n": "no"}
    units = [(item, unit) for item in items.ids(project) for unit in units_of(project, item)]
    for (item, unit), value in zip(units, values, strict=True):
        (response,) = sql.first(
            project, "SELECT id FROM response WHERE item_id = ? ORDER BY rowid LIMIT 1", [item]
        )
        said = {
            "value": None if value == "-" else known.get(value, value),
            "status": "invalid" if value == "-" else "ok",
        }
        row = {
            "id": derived_id(judge, trial, unit), "protocol": COVERAGE, "item_id": item, "response_id": response,
            "unit_id": unit, "rater_kind": "judge", "rater_id": judges.named(project, judge).id, "trial": trial,
            "at": now(), "sha256": "h", **said,
        }  # fmt: skip
        rows.append(row)
    with project.store.write() as db:
        db.execute(insert(table(JudgementRow)), rows)


@pytest.mark.usefixtures("small_cases")
def test_a_flip_is_a_unit_on_which_not_all_trials_agree(project: Project) -> None:
    say(project, "a", 1, "yyynnn")
    say(project, "a", 2, "yynnny")
    say(project, "a", 3, "yynnn-")
    found = consistency.within(project, "a")
    # The third and the sixth unit flip: 2 of 6. Pairs that agree: 3, 3, 1 of 3 and 3, 3 of 3, and 0 of 1.
    assert (found.trials, found.units, found.flips.value) == (3, 6, 2 / 6)
    assert found.agreement.value == pytest.approx((1 + 1 + 1 / 3 + 1 + 1 + 0) / 6)
    # Wilson's interval for 2 of 6 with t² = 161.45, of one degree of freedom: one flips on either of two items.
    # (.3333 + 13.4543 ± 12.706·√(.03704 + 1.12120)) / 27.9086.
    assert (found.flips.low, found.flips.high) == (
        pytest.approx(0.0040, abs=1e-3),
        pytest.approx(0.9840, abs=1e-3),
    )


def test_alpha_takes_the_trials_as_raters(project: Project) -> None:
    say(project, "a", 1, "yyynnn")
    say(project, "a", 2, "yyynnn")
    assert consistency.within(project, "a").alpha.value == 1
    say(project, "b", 1, "yyyynn")
    say(project, "b", 2, "yyynnn")
    # Krippendorff 2011: n = 12, n_yes = 7, n_no = 5, one unit of two values disagrees: 1 - 11·2 / (2·7·5).
    assert consistency.within(project, "b").alpha.value == pytest.approx(1 - 11 * 2 / 70)


def test_a_unit_judged_once_counts_for_nothing(project: Project) -> None:
    say(project, "a", 1, "yyynnn")
    say(project, "a", 2, "y-----")
    found = consistency.within(project, "a")
    assert (found.units, found.flips.value, found.agreement.value) == (1, 0, 1)


@pytest.mark.parametrize("level", [Level.ORDINAL, Level.INTERVAL])
def test_repeats_of_ordered_values_have_the_figures_of_their_level(
    project: Project, monkeypatch: pytest.MonkeyPatch, level: Level
) -> None:
    rated(monkeypatch, numbers(0, 9, level=level))
    trials = ("158320", "258321", "15842-")
    for trial, values in enumerate(trials, 1):
        say(project, "a", trial, values)
    found = consistency.within(project, "a")
    given = [[float("nan") if value == "-" else int(value) for value in values] for values in trials]
    peer = krippendorff.alpha(given, level_of_measurement=level.value)
    assert found.alpha.value == pytest.approx(peer)
    assert list(found.more) == [name for name in FIGURES[level] if name not in ("alpha", "agreement")]
    # Three pairs of trials on each unit but the last, which has one.
    assert {one.n for one in found.more.values()} == {16}
    if level is Level.INTERVAL:
        # Apart by 1, 0, 1; 0, 0, 0; 0, 0, 0; 0, 1, 1; 0, 0, 0; and 1.
        assert found.more["absolute_difference"].value == pytest.approx(5 / 16)
        assert found.more["icc"].method.startswith("ICC(1,1)")
    assert found.tree().keys() >= {"flips", "agreement", "alpha", *found.more}
    assert any(WORDS[next(iter(found.more))][0] in line for line in found.words())


def test_without_repeats_every_figure_is_undefined_with_its_reason(project: Project) -> None:
    say(project, "a", 1, "yyynnn")
    found = consistency.within(project, "a")
    assert found.units == 0
    for figure in (found.flips, found.agreement, found.alpha):
        assert figure.value is None
        assert figure.note


def test_two_judges_are_compared_on_the_units_that_both_judged(project: Project) -> None:
    say(project, "a", 1, "yyynn-")
    say(project, "b", 1, "yynnyy")
    found = consistency.between(project, "a", "b")
    # yy yy yn nn ny: 3 of 5 agree; chance 3/5·3/5 + 2/5·2/5 = .52, so κ = (.6 − .52) / .48.
    assert (found.units, found.agreement.value) == (5, 3 / 5)
    assert found.more["kappa"].value == pytest.approx((0.6 - 0.52) / 0.48)
    assert found.tree()["agreement"]["n"] == 5


def test_letter_17_the_agreement_of_two_judges_has_a_spread_over_runs(project: Project) -> None:
    for trial, (one, other) in enumerate((("yyyyyy", "yyyyyn"), ("yyyyyy", "yyynnn")), 1):
        say(project, "a", trial, one)
        say(project, "b", trial, other)
    found = consistency.between(project, "a", "b")
    # 5/6 and 3/6: their mean, and √(2 · (1/6)² / 1) apart.
    assert found.over_runs.value == pytest.approx(4 / 6)
    assert found.spread.value == pytest.approx((2 / 36) ** 0.5)
    assert any(line.startswith("standard deviation over runs: ") for line in found.words())
    assert found.tree()["spread"]["n"] == 2


def test_one_run_has_no_spread(project: Project) -> None:
    say(project, "a", 1, "yyy---")
    say(project, "b", 1, "yyn---")
    found = consistency.between(project, "a", "b")
    assert (found.over_runs.value, found.spread.value, found.spread.note) == (
        pytest.approx(2 / 3), None, "one run has no spread",
    )  # fmt: skip
