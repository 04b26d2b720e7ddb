"""What Goldsmith promises about judges held against people."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotator.actions.attacks import biases
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import overview, result_raters, results, results_behind
from annotator.actions.sets import reviews
from annotator.actions.sets.validation_figures import TIED
from annotator.actions.studies import result_views
from annotator.actions.validation import corrected, disagreements, validation, validity_cards
from annotator.actions.validation.validation_views import VIEWS
from annotator.cli import run_command
from annotator.domain.common import derived_id
from annotator.domain.experts.assignment import Role
from annotator.protocols import PROTOCOLS
from tests.cli.commands import told as in_json
from tests.common import once
from tests.house import reading
from tests.projects import filled_project
from tests.projects.validation_project import (
    COVERAGE,
    judge_says,
    labelled_at_once,
    negative,
    person_says,
    places,
    validation_project,
)
from tests.promises.peaks import PROFILES
from tests.storage import sql

OTHER = {"yes": "no", "no": "yes"}


def test_the_width_that_a_plan_of_labels_starts_from_is_the_one_shown(tmp_path: Path) -> None:
    chance, project = Random(3), validation_project(tmp_path, 8)
    judge_says(project, "coin", lambda _: chance.choice(("yes", "no")))
    labelled_at_once(
        project, "R2", lambda at: "yes" if (at[0] * at[2]) % 3 else "no", list(places(project))[:24]
    )
    result = corrected.report(project, corrected.CorrectionQuery())
    for name, more in result.more.items():
        shown = result.standings.scores[name].corrected
        assert shown.low is not None
        assert shown.high is not None
        assert more.plan.width_now == shown.high - shown.low


def test_a_leaderboard_becomes_as_narrow_as_its_plan_of_labels_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each system is a simulation of its own: twelve reports labelled by chance, then those that the plan names."""
    number = count()
    monkeypatch.setattr(items, "new_id", lambda: derived_id("item", str(next(number))))
    chance, systems = Random(7), tuple(f"S{n:02}" for n in range(40))
    project = validation_project(tmp_path, 40, systems, (3, 2, 1))
    every = places(project)
    hard = {(item, name): chance.betavariate(3, 2) for item, name, _ in every}
    truth = {at: "yes" if chance.random() < hard[at[:2]] else "no" for at in every}
    judge_says(project, "kind", {at: said if chance.random() < 0.8 else "yes" for at, said in truth.items()})
    first = {(item, name) for name in systems for item in chance.sample(range(1, 41), 12)}
    labelled_at_once(project, "R2", truth.__getitem__, [at for at in every if at[:2] in first])
    before = corrected.report(project, corrected.CorrectionQuery(width=0.27))
    planned = {one.response_id for more in before.more.values() for one in more.responses}
    labelled_at_once(project, "R2", truth.__getitem__, [at for at in every if every[at][1] in planned])
    after = corrected.report(project, corrected.CorrectionQuery(width=0.27)).standings.scores
    widths = [
        (after[name].corrected.high or 0) - (after[name].corrected.low or 0)
        for name, more in before.more.items()
        if more.plan.more
    ]
    assert len(widths) >= 12
    assert sum(width <= 1.1 * 0.27 for width in widths) >= 0.8 * len(widths)


def test_every_trial_that_was_paid_for_counts_in_a_bias(tmp_path: Path) -> None:
    project = validation_project(tmp_path)
    labelled_at_once(project, "R2", lambda _: "no")
    judge_says(project, "small", lambda _: "no")
    for trial in (2, 3, 4):
        judge_says(project, "small", lambda at: "yes" if at[1] == "Beta" else "no", trial=trial)
    (lean,) = [one.figure for one in biases.report(project) if one.name == "Leans to longer reports"]
    # Four items, two reports, two criteria, four trials; at three of four it says yes to the longer one.
    assert (lean.value, lean.n) == (pytest.approx(0.75), 64)


def test_with_one_persons_labels_nothing_is_said_of_a_judge_but_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = validation_project(tmp_path)
    judge_says(project, "small", lambda _: "yes")
    labelled_at_once(project, "R2", lambda at: "yes" if at[0] % 2 else "no")
    result = in_json(capsys, "choose-judge", str(project.path))
    assert result["chosen"] is None
    assert any("Have a second person label" in words for words in result["reason"])


def test_validate_says_first_and_in_words_whether_a_judge_may_stand_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, chance = validation_project(tmp_path, 20, weights=(2, 1)), Random(5)
    people.add_person(project, "Cleo", (Role.ANNOTATOR,))
    truth = {at: chance.choice(("yes", "no")) for at in places(project)}
    for alias in ("R2", "R3", "R4"):
        noisy = {at: OTHER[value] if chance.random() < 0.1 else value for at, value in truth.items()}
        labelled_at_once(project, alias, noisy.__getitem__)
    judge_says(project, "right", truth)
    judge_says(project, "coin", lambda _: chance.choice(("yes", "no")))
    first = VIEWS[0]
    words = "\n".join(first.sheets(first.report(project))[0].notes)
    assert "“right”: Yes, because Δ Cohen's κ" in words
    assert "“coin”: No, because Δ Cohen's κ" in words
    for figure in ("ω 1.00 of 3 people", "ρ ", "ε 0.2", "20 items"):
        assert figure in words
    assert {
        one["judge"]: one["answer"] for one in in_json(capsys, "validate", str(project.path))["answers"]
    } == {"right": "Yes", "coin": "No"}


@once
def flipping(folder: Path) -> Project:
    """A judge of three trials that flips on every second criterion, of weight 1: the first trial says no to what people
    and the other trials call met. What weighs 3 is always met, so that the first trial alone scores 3/4, the mean of
    all 11/12, and what most of them say is always yes.
    """
    project = validation_project(folder, 6)
    for trial in (1, 2, 3):
        judge_says(project, "three", lambda at: "no" if (at[2], trial) == (2, 1) else "yes", trial=trial)  # noqa: B023
    judge_says(project, "one", lambda at: "yes")
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes")
    return project


FLIPS = "three was asked up to 3 times: scores are means over its trials, labels what most of them say."
RATE = "(flip rate) on 0.500"


@pytest.mark.parametrize("view", ["overview", "items", "length", "answer", "judges", "choice", "corrected"])
def test_every_view_tells_of_a_judges_trials_and_its_flip_rate(tmp_path: Path, view: str) -> None:
    project = flipping(tmp_path)
    among = VIEWS if view in {one.name for one in VIEWS} else result_views.VIEWS
    judge = {"judge": judges.named(project, "three").id if among is result_views.VIEWS else "three"}
    offered = {choice.name for choice in result_views.named(view, among).choices(project)}
    result = result_views.show(project, view, judge if "judge" in offered else {}, among=among)
    told = [words for words in result.sheets[0].notes if words.startswith(FLIPS)]
    assert [RATE in words for words in told] == [True]


def test_the_mean_over_trials_is_the_score_and_the_majority_the_label_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = flipping(tmp_path)
    judge = judges.named(project, "three").id
    releases.export(project, tmp_path / "out")
    released = [
        score
        for score in json.loads((tmp_path / "out" / "scores.json").read_bytes())
        if (score["rater"], score["metric"], score["group"]) == ("three", "coverage", "all")
    ]
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert FLIPS in card
    assert RATE in card
    means = {
        "results": [one.estimate.value for one in coverage(results.rows(project, judge))],
        "release": [one["value"] for one in released],
        "items": [
            cell.value
            for line in results_behind.items(project, judge=judge)[0].lines
            for cell in line.cells
            if cell.estimate is not None
        ],
        "correct": [
            score.raw.value
            for score in corrected.report(
                project, corrected.CorrectionQuery(judge="three")
            ).standings.scores.values()
        ],
    }
    assert {round(value or 0, 9) for of in means.values() for value in of} == {round(11 / 12, 9)}
    assert [(one["trials"], one["flip_rate"]) for one in released] == [(3, 0.5)] * 2
    assert ["mean over up to 3 trials" in one["method"] for one in released] == [True] * 2
    (line,) = (
        one
        for one in validation.report(project, validation.ValidationQuery()).lines
        if one.rater.name == "three"
    )
    pairs = disagreements.compare(project, COVERAGE).pairings
    labels = {
        "validate": line.result.plain["accuracy"].value,
        "card": validity_cards.card(project, validity_cards.CardQuery(judge="three"))
        .of("judge")
        .plain["accuracy"]
        .value,  # type: ignore[union-attr]
        "two judges": biases.between(project, "three", "one").figures["agreement"].value,
        **{
            f"agreement of {pair.a.name} and {pair.b.name}": next(
                each.value for each in pair.figures if each.name == "agreement"
            )
            for pair in pairs
        },
        "reviews": float({one.judge_value for one in reviews.queue(project, "three")} == {"yes"}),
        "spoken": float(
            {one[-1] for one in result_raters.spoken(project, PROTOCOLS[COVERAGE], judge)} == {"yes"}
        ),
    }
    assert labels == dict.fromkeys(labels, 1.0)
    first = overview.report(project, judge, reading="first")
    assert {one.estimate.value for one in coverage(first.rows)} == {0.75}
    assert any("the first counts alone" in words for words in overview.sheets(first)[0].notes)
    assert run_command(["results", str(project.path), "--rater", "three", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {(row["trials"], row["flip_rate"]) for row in shown["rows"]} == {(3, 0.5)}
    assert [words.startswith(FLIPS) for words in shown["told"]] == [True]
    assert run_command(["results", str(project.path), "--rater", "three"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert RATE in said
    assert "Judged by three. Gold: Rubric: R1 alone" in said


def coverage(rows: Iterable[results.ResultRow]) -> list[results.ResultRow]:
    return [row for row in rows if (row.metric, row.group) == ("coverage", "all")]


def test_trials_that_tie_are_missing_among_labels_and_half_in_the_score(tmp_path: Path) -> None:
    project = validation_project(tmp_path, 6)
    for trial, value in enumerate(("yes", "no"), 1):
        judge_says(project, "two", lambda _: value, trial=trial)  # noqa: B023
    labelled_at_once(project, "R2", lambda at: "yes")
    (line,) = (
        one
        for one in validation.report(project, validation.ValidationQuery()).lines
        if one.rater.name == "two"
    )
    assert line.missing == {TIED: 24}
    (row, _) = coverage(results.rows(project, judges.named(project, "two").id))
    assert (row.estimate.value, row.estimate.missing) == (0.5, 0)


SPAN = ("value", "low", "high")


@once
def gappy_project(folder: Path) -> Project:
    """Ten items of weights 3 and 1; two people unsure of some, a judge with three trials that lacks some verdicts."""
    project, chance = validation_project(folder, 10), Random(5)
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda _: chance.choice(("yes", "yes", "no", "unsure")))
    for trial in (1, 2, 3):
        judge_says(project, "small", lambda _: chance.choice(("yes", "no", "-")), trial=trial)
    return project


@pytest.fixture
def gappy(tmp_path: Path) -> Project:
    return gappy_project(tmp_path)


def spans(row: Mapping[str, Any], name: str = "") -> tuple[Any, ...]:
    """Value and interval of a figure in a row of JSON, or of a column of that name."""
    keys = (name, f"{name}_low", f"{name}_high") if name else SPAN
    return tuple(row[key] for key in keys)


def of(found: Any) -> tuple[Any, ...]:
    return tuple(getattr(found, key) for key in SPAN)


def sheets_of(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {sheet["key"]: sheet["rows"] for sheet in tree["sheets"]}


@pytest.mark.parametrize("signed", [False, True])
def test_a_score_has_one_value_and_one_interval_wherever_it_stands(
    gappy: Project, tmp_path: Path, capsys, monkeypatch, signed: bool
) -> None:
    if signed:
        negative(monkeypatch)
    shown = in_json(capsys, "results", gappy.path, "--rater", "small")["rows"]
    one = {row["system"]: spans(row) for row in shown if (row["metric"], row["group"]) == ("coverage", "all")}
    assert one.keys() == {"Alpha", "Beta"}
    query = corrected.CorrectionQuery(judge="small")
    board = corrected.report(gappy, query)
    scored = results.of_metric(gappy, "coverage", judges.named(gappy, "small").id)
    card = validity_cards.card(gappy, validity_cards.CardQuery(judge="small")).corrected
    _, drawn, *_ = corrected.sheets(board)[0].pictures[0].draw.args
    releases.export(gappy, tmp_path / "release")
    released = json.loads((tmp_path / "release" / "scores.json").read_bytes())
    raw = sheets_of(in_json(capsys, "correct", gappy.path, "--judge", "small"))["leaderboard"]
    places_of = {
        "correct": {row["system"]: spans(row, "raw") for row in raw},
        "card": {row.system: of(row.raw) for row in card.systems},
        "picture": {name: of(result) for name, result, _ in drawn},
        "views": {name: of(result) for name, result in results.system_means(scored).items()},
        "release": {
            row["system"]: spans(row)
            for row in released
            if (row["metric"], row["group"], row["rater"]) == ("coverage", "all", "small")
        },
    }
    assert places_of == dict.fromkeys(places_of, one)
    # What is corrected is that very score: the mean over units that the correction takes is the same.
    monkeypatch.setattr(results, "system_means", lambda _: {})
    units = corrected.report(gappy, query).standings.scores
    assert {name: of(result.raw) for name, result in units.items()} == {
        name: pytest.approx(span, abs=1e-12) for name, span in one.items()
    }


def test_an_agreement_has_one_value_and_one_interval_wherever_it_stands(gappy: Project, capsys) -> None:
    lines = {row["rater"]: row for row in sheets_of(in_json(capsys, "validate", gappy.path))["judges"]}
    card = validity_cards.card(gappy, validity_cards.CardQuery(judge="small"))
    chosen = sheets_of(in_json(capsys, "choose-judge", gappy.path))["choice"]
    for who, name in (("judge", "small"), ("people", "people")):
        figures = {key: of(result) for key, result in card.of(who).plain.items()}
        assert figures == {key: spans(lines[name], key) for key in figures}
        (row,) = (row for row in chosen if row["judge"] == name)
        assert spans(row, "kappa") == figures["kappa"]
    (stage,) = (
        row for row in in_json(capsys, "agreement", gappy.path)["rows"] if row["stage"] == "labelling"
    )
    between = {result["name"]: result for result in stage["figures"]}
    for name, key in (("agreement", "accuracy"), ("kappa", "kappa"), ("ac1", "ac1")):
        assert spans(lines["R2"], key) == pytest.approx(spans(between[name]), abs=1e-9)
    assert spans(lines["people"], "accuracy") == pytest.approx(spans(between["agreement"]), abs=1e-9)


def test_peoples_mean_of_units_and_of_reports_are_named_apart_and_are_one_where_all_is_labelled(
    gappy: Project, tmp_path: Path
) -> None:
    complete, chance = validation_project(tmp_path / "complete", 10), Random(6)
    for alias in ("R2", "R3"):
        labelled_at_once(complete, alias, lambda _: chance.choice(("yes", "no")))
    judge_says(complete, "small", lambda _: "yes")
    for project, same in ((gappy, False), (complete, True)):
        board = corrected.report(project, corrected.CorrectionQuery(judge="small"))
        means = {row.system: of(row.estimate) for row in coverage(results.rows(project, "people"))}
        labelled = {name: of(result.labelled) for name, result in board.standings.scores.items()}
        assert (labelled == {name: pytest.approx(span, abs=1e-9) for name, span in means.items()}) is same
        heads = {column.key: column.head for column in corrected.sheets(board)[0].columns}
        assert heads["labelled_units"] == "People, unit by unit"


def judged(folder: Path, judges: int, items: int = 10) -> Project:
    folder.mkdir()
    source = filled_project.peer_folder(folder / "peer", items, 100, 1)
    project = filled_project.imported(folder / "judged.goldsmith", source)
    filled_project.judge_everything(project, judges)
    return project


@pytest.mark.slow
def test_the_memory_of_an_export_does_not_grow_with_its_judgements(tmp_path: Path) -> None:
    few, many = (str(judged(tmp_path / str(judges), judges).path) for judges in (1, 2))
    first = str(judged(tmp_path / "first", 1, 1).path)
    # A process that has run thousands of tests follows its memory ten times as slowly as a fresh one.
    peaks = subprocess.check_output(
        [sys.executable, "-m", "tests.promises.peaks", first, few, many], cwd=reading.HERE, encoding="utf-8"
    )
    _, of_few, of_many = json.loads(peaks)
    # What another judge and its scores take, and nothing for each of its 1 000 judgements.
    assert {name: (of_many[name] - of_few[name]) / 1_000 < 500 for name in of_many} == dict.fromkeys(
        PROFILES, True
    )


def test_a_release_is_the_same_to_the_byte_however_its_judgements_came_in(tmp_path: Path) -> None:
    project = judged(tmp_path / "made", 2, 2)
    releases.export(project, tmp_path / "before")
    with project.store.write():
        sql.alter(project, "CREATE TEMP TABLE turned AS SELECT * FROM judgement ORDER BY random()")
        sql.alter(project, "DELETE FROM judgement")
        sql.alter(project, "INSERT INTO judgement SELECT * FROM turned")
    releases.export(project, tmp_path / "after")
    sums = [
        hashlib.sha256((tmp_path / name / "judgements.json").read_bytes()) for name in ("before", "after")
    ]
    assert sums[0].digest() == sums[1].digest()
