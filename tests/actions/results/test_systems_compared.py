"""Efficiency, length, domains, modes and several runs: every figure counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores
from annotator.actions.studies import attempts, domains, efficiency, lengths, modes
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.material.part import ResponsePart
from tests.projects import adra_project as adra

RECALL = "plan.recall"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = adra.adra_project(tmp_path, 0)
    yield project
    project.close()


def item(project: Project, subject: str = "NLP") -> str:
    item_id = items.add(
        project, f"Question on {subject}, {len(items.ids(project))}?", "Technical Details", subject
    ).subject
    for document in adra.gold():
        submitting.seal(project, adra.artifacts.start(project, item_id, document.KIND, document).subject)
    return item_id


def recall(project: Project, item_id: str, system: str, found: int, **how: object) -> str:
    response_id = adra.answer(project, item_id, system, **how)  # type: ignore[arg-type]
    rows = [[int(i == j) for j in range(4)] for i in range(found)] or [[0, 0, 0, 0]]
    adra.fill_matrix(project, item_id, response_id, rows)
    return response_id


def test_who_is_on_the_front_and_who_is_beaten(project: Project) -> None:
    one = item(project)
    recall(project, one, "Good", 3, latency_s=10.0, tokens=100)
    recall(project, one, "Cheap", 1, latency_s=2.0, tokens=100)
    recall(project, one, "Bad", 1, latency_s=20.0)
    found = efficiency.report(project, RECALL)
    latency = {row.system: row.beaten_by for row in found.standings["latency"]}
    assert latency == {"Good": (), "Cheap": (), "Bad": ("Cheap", "Good")}
    tokens = {row.system: (row.known, row.beaten_by) for row in found.standings["tokens"]}
    # At equal tokens the higher score wins; of Bad nothing is known.
    assert tokens == {"Good": (True, ()), "Cheap": (True, ("Good",)), "Bad": (False, ())}
    assert found.known == ("latency", "tokens")
    (sheet,) = efficiency.sheets(found)
    assert [picture.name for picture in sheet.pictures] == ["latency", "tokens"]
    assert any(words.startswith("Cost is not known") for words in sheet.told)


def test_length_goes_with_the_score(project: Project) -> None:
    for found, letters in ((1, 10), (2, 20), (3, 30)):
        recall(project, item(project), "Alpha", found, text="x" * letters)
    found = lengths.report(project, RECALL)
    # Scores 1/4, 2/4, 3/4 rise on a line with lengths 10, 20, 30.
    assert found.points["Alpha"] == ((10.0, 0.25), (20.0, 0.5), (30.0, 0.75))
    assert found.within["Alpha"].value == pytest.approx(1.0)
    assert found.over["all reports"][1].value == pytest.approx(1.0)
    sheet, correlations = lengths.sheets(found)
    assert [line.cells[4].value for line in correlations.lines] == [3, 3, 1, 1, 3, 3, 1, 1]
    assert [cell.value for cell in sheet.lines[0].cells[1:5]] == [3, 20.0, 10.0, 30.0]
    # One system is none to hold against another.
    assert "undefined" in sheet.told[1]


@pytest.mark.usefixtures("small_cases")
def test_a_domain_has_its_mean_and_its_interval(project: Project) -> None:
    for found in (1, 2, 3):
        recall(project, item(project, "NLP"), "Alpha", found)
    recall(project, item(project, "Vision"), "Alpha", 4)
    report = domains.report(project, "subject", RECALL)
    nlp, vision = report.means["Alpha"]["NLP"], report.means["Alpha"]["Vision"]
    # Mean 1/2, variance 1/16 / 3, which 12 units have; t(0.975, 2) = 4.3027 (any table).
    half = 4.3027 / (1 + 4.3027**2 / 12) * (1 / 48 + 4.3027**2 / (4 * 12**2)) ** 0.5
    assert nlp.value == pytest.approx(0.5)
    assert nlp.high is not None
    assert nlp.high == pytest.approx(0.5 + half, abs=1e-5)
    assert (vision.value, vision.high) == (1.0, None)
    (sheet,) = domains.sheets(report)
    assert [line.cells[0].words for line in sheet.lines] == ["Vision", "NLP"]
    assert [line.cells[4].words for line in sheet.lines] == ["1.000", "0.500  [0.111, 0.889] rough"]


def test_what_gold_gives_is_paired_item_by_item(project: Project) -> None:
    one, two, three = item(project), item(project), item(project)
    for item_id, before, after in ((one, 1, 3), (two, 2, 2)):
        recall(project, item_id, "Alpha", before)
        recall(project, item_id, "Alpha", after, mode="isolated")
    recall(project, three, "Alpha", 4)
    found = modes.report(project, metric=RECALL)
    compared = found.comparisons["Alpha"]
    # 3/4 − 1/4 and 2/4 − 2/4; the third item has one mode only.
    assert [one.value for one in compared.differences.values()] == [0.5, 0.0]
    assert compared.mean.value == pytest.approx(0.25)
    assert (len(compared.only_one), len(compared.only_other)) == (1, 0)
    assert (found.one, found.other) == ("end-to-end", "isolated")
    gain, each = modes.sheets(found)
    assert [cell.value for cell in gain.lines[0].cells[4:]] == [2, 1]
    assert len(each.lines) == 2


def test_best_of_k_runs(project: Project) -> None:
    one = item(project)
    for trial, found in enumerate((1, 2, 4), start=1):
        recall(project, one, "Alpha", found, trial=trial)
    passed = attempts.report(project, RECALL).passed["Alpha"]
    # Of 1/4, 2/4 and 4/4: the mean; of the three pairs the best are 2/4, 4/4, 4/4; and the best of all.
    assert passed[1].value == pytest.approx((0.25 + 0.5 + 1) / 3)
    assert passed[2].value == pytest.approx((0.5 + 1 + 1) / 3)
    assert passed[3].value == 1.0


def test_one_run_is_no_several(project: Project) -> None:
    recall(project, item(project), "Alpha", 2)
    assert attempts.sheets(attempts.report(project, RECALL)) == ()
    assert modes.sheets(modes.report(project, metric=RECALL)) == ()


def test_a_mean_of_runs_keeps_what_is_missing(project: Project) -> None:
    one = item(project)
    recall(project, one, "Alpha", 2)
    second = adra.answer(project, one, "Alpha", trial=2)
    adra.fill_matrix(project, one, second, [[1, None, 0, 0]])
    runs = response_scores.by_item(response_scores.of_metric(project, RECALL).of_mode())
    (scores,) = (of[one] for of in runs.values())
    mean = response_scores.mean_of_runs(scores)
    assert (mean.n, mean.missing, mean.method) == (1, 1, "mean of 2 runs")
    assert mean.note == "1 of 2 left out: no defined score"


def test_a_part_that_is_not_known_is_no_zero(project: Project) -> None:
    one = item(project)
    adra.answer(project, one, "Alpha")
    known = adra.answer(project, one, "Beta")
    adra.give(project, one, known, ResponsePart.REFERENCES, Evidence())
    means = response_scores.system_means(response_scores.of_metric(project, "retrieval.recall"))
    # Alpha's references were never drawn, Beta has none.
    assert {name: mean.value for name, mean in means.items()} == {"Alpha": None, "Beta": 0.0}
