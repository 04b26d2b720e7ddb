"""What people say is scored on the path a judge's verdicts take; every figure is worked out by hand."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_rows, label_tasks, labels
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.runs import judge_cases
from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL
from tests.projects.labelled_protocols import CLAIMS, PAIRS, PLAN, PREFERENCE, REASONING, one_item, reports
from tests.projects.labelling_project import submit_labels

# Response by its place, unit → what is said; of pairs the better one by its place, or None for neither.
COVERED = {0: {"c1": "yes", "c2": "no"}, 1: {"c1": "no", "c2": "no"}, 2: {"c1": "yes", "c2": "yes"}}
CLAIMED = {0: {"c1": "yes", "c2": "no", "c3": "unknown"}}
CELLS = {0: {"p1~g1": "relevant", "p1~g2": "not", "p1~g3": "not",
             "p2~g1": "not", "p2~g2": "relevant", "p2~g3": "relevant"}}  # fmt: skip
STATED = {
    0: {"s1": "true", "s2": "true", "s3": "cannot-tell"},
    1: {"s1": "false", "s2": "false", "s3": "false"},
    2: {"s1": "true", "s2": "false", "s3": "true"},
}
BETTER = {(0, 1): 0, (0, 2): 0, (1, 2): None}
Said = Mapping[tuple[str, str], str]
# Metric → system → what it must be.
EXPECTED = {
    # Both criteria weigh 2: S_c = 2·covered / 4.
    USUAL: {"coverage": (0.5, 0.0, 1.0)},
    # 1 yes, 1 no, 1 unknown: 1 / (1 + 1); all three claims cite.
    CLAIMS: {"faithfulness": (0.5, None, None), "groundedness": (1.0, None, None)},
    # The first wins both of its two comparisons; the others tie with each other and lose to it.
    PAIRS: {"win_rate": (1.0, 0.0, 0.0)},
    PREFERENCE: {"preference": (1.0, 0.0, 0.0)},
    # One-to-one 2 of 2 predicted, 2 of 3 gold; any-match 2 of 2 and 3 of 3.
    PLAN: {
        "plan.precision": (1.0, None, None), "plan.recall": (2 / 3, None, None), "plan.f1": (0.8, None, None),
        "plan.jaccard": (2 / 3, None, None), "plan_any.recall": (1.0, None, None), "plan_any.f1": (1.0, None, None),
    },
    # Gold true, false, true. First: TP 1, FP 1, FN 1. Second: TN 1, FN 2. Third: all right.
    REASONING: {
        "reasoning.accuracy": (1 / 3, 1 / 3, 1.0), "reasoning.precision": (0.5, None, 1.0),
        "reasoning.recall": (0.5, 0.0, 1.0), "reasoning.f1": (0.5, 0.0, 1.0),
    },
}  # fmt: skip
SAID = {USUAL: COVERED, CLAIMS: CLAIMED, PLAN: CELLS, REASONING: STATED}


@pytest.fixture
def project(tmp_path):
    opened = one_item(tmp_path, reports=3)
    yield opened
    opened.close()


def verdicts(project: Project, protocol: str) -> Said:
    """(response, unit) → what is said of it, of pairs in both orders."""
    ids = reports(project)
    if protocol in SAID:
        item_id = label_tasks.queue(project)[0].item_id
        prefix = f"{item_id}/" if protocol == USUAL else ""
        return {
            (ids[n], f"{prefix}{unit}"): value
            for n, row in SAID[protocol].items()
            for unit, value in row.items()
        }
    found = {}
    for (one, other), best in BETTER.items():
        for first, second in ((one, other), (other, one)):
            value = "tie" if best is None else "first" if best == first else "second"
            found[ids[first], ids[second]] = value
    return found


def label_all(project: Project, protocol: str) -> None:
    said = verdicts(project, protocol)
    for task in label_tasks.queue(project, protocol):
        for unit in labels.sheet(project, task.response_id, protocol, task.other_id).units:
            value = said[task.response_id, unit.id]
            labels.set_label(project, task.response_id, unit.id, value, protocol=protocol)
    submit_labels(project)


def figures(project: Project, protocol: str, rater_id: str = "") -> dict[str, tuple]:
    """Metric → its values in the order of the reports' systems."""
    found: dict[str, list] = {}
    for row in results.rows(project, rater_id, protocol):
        if row.group_by == "all":
            found.setdefault(row.metric, []).append((row.system, row.estimate.value))
    order = ("Canary-Alpha-9000", "Canary-Beta-9000", "Canary-Gamma-9000")
    return {name: tuple(dict(values).get(system) for system in order) for name, values in found.items()}


@pytest.mark.parametrize("protocol", EXPECTED)
def test_labels_by_hand_give_the_figures_worked_out_by_hand(project, protocol):
    label_all(project, protocol)
    found = figures(project, protocol, result_raters.PEOPLE)
    for metric, values in EXPECTED[protocol].items():
        assert found[metric] == pytest.approx(values), metric


@pytest.mark.parametrize("protocol", EXPECTED)
def test_a_judge_with_the_same_verdicts_gets_the_same_figures(project, protocol, monkeypatch):
    label_all(project, protocol)
    said = verdicts(project, protocol)

    def answer(case: Case) -> dict[str, Verdict]:
        return {unit.id: Verdict(value=said[case.response.id, unit.id]) for unit in case.units}

    monkeypatch.setitem(PROTOCOLS, protocol, replace(PROTOCOLS[protocol], baseline=answer))
    asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline", protocol)))
    judge = next(
        rater.id for rater in result_raters.raters(project, protocol) if rater.id != result_raters.PEOPLE
    )
    theirs = figures(project, protocol, judge)
    mine = figures(project, protocol, result_raters.PEOPLE)
    assert theirs == mine
    assert set(EXPECTED[protocol]) <= set(mine)


def test_a_person_who_is_unsure_leaves_a_judgement_missing_and_never_says_no(project):
    response_id = reports(project)[0]
    for unit_id, value in (("s1", "true"), ("s2", "false"), ("s3", label_rows.UNSURE)):
        labels.set_label(project, response_id, unit_id, value, protocol=REASONING)
    submit_labels(project)
    row = next(
        row
        for row in results.rows(project, result_raters.PEOPLE, REASONING)
        if row.metric == "reasoning.accuracy" and row.system == "Canary-Alpha-9000" and row.group_by == "all"
    )
    # Of the two that were judged both are right; of three it is two at least, and all at most.
    assert (row.estimate.value, row.estimate.missing) == (1.0, 1)
    assert (row.estimate.floor, row.estimate.ceiling) == pytest.approx((2 / 3, 1.0))


def test_a_pair_asked_in_one_order_stands_for_both_until_the_other_is_asked(project):
    ids = reports(project)
    task = label_tasks.queue(project, PAIRS)[0]
    labels.set_label(project, task.response_id, task.other_id, "first", protocol=PAIRS)
    submit_labels(project)
    found = figures(project, PAIRS, result_raters.PEOPLE)["win_rate"]
    order = dict(zip(ids, found, strict=True))
    assert (order[task.response_id], order[task.other_id]) == (1.0, 0.0)


def test_a_mean_of_raters_counts_whom_it_is_over_and_says_why_there_is_none() -> None:
    one, open_ = (
        Estimate(0.4, n=1, floor=0.4, ceiling=0.4),
        Estimate(None, floor=0.0, ceiling=1.0, note="2 of 2 missing"),
    )
    some = scoring.mean_of_raters({"a": one, "b": one, "c": open_})
    assert (some.value, some.n, some.note) == (pytest.approx(0.4), 2, "1 of 3 left out: no defined score")
    none = scoring.mean_of_raters({"a": open_, "b": open_})
    assert (none.value, none.n, none.note) == (None, 0, "2 of 2 missing")
