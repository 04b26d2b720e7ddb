"""Scores of a judge beside those of three people: correlations by hand and by a peer, α, and what is published."""

import asyncio
from pathlib import Path
from statistics import fmean

import krippendorff
import pytest
from scipy.stats import spearmanr

from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables, score_agreement
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from tests.projects.labelled_protocols import seal
from tests.projects.labelling_project import add_report, project_with, submit_labels

NAME = "arena.checklist"
WORDS = ("sources", "limits", "methods", "costs")
TEXTS = {"Alpha": " ".join(WORDS), "Beta": "sources limits", "Gamma": "Nothing of it."}
# Ratings by each of three people, by system; of the last item Gamma has two.
RATINGS = {"Alpha": (9, 8, 10), "Beta": (6, 5, 4), "Gamma": (0, 1, 2)}
ITEMS = 6


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = project_with(tmp_path, 2)
    raters, first = people.people(made), made.person
    assert first is not None
    for number in range(ITEMS):
        item_id = items.add(made, f"Question {number}?").subject
        point = CheckPoint(id=f"p{number}", text=" ".join(WORDS), share=1.0)
        seal(made, item_id, Checklist(units=(point,)))
        for system, text in TEXTS.items():
            response_id = add_report(made, item_id, system, text)
            last = number == ITEMS - 1 and system == "Gamma"
            for person, rating in zip(raters[: 2 if last else 3], RATINGS[system], strict=False):
                made.work_as(person)
                labels.set_label(made, response_id, point.id, str(rating), protocol=NAME)
            made.work_as(first)
    submit_labels(made)
    asyncio.run(orders.carry_out(made, RunRequest("baseline", NAME)))
    return made


def test_a_judges_scores_are_correlated_with_the_mean_of_peoples(project: Project) -> None:
    (found,) = score_agreement.report(project)
    assert (found.title, len(found.items), sorted(set(found.raters))) == ("ACE", 3 * ITEMS, [2, 3])
    # The baseline gives 10 for four words of four, 5 for two and 0 for none, on each item alike.
    assert set(found.by_judge) == {10.0, 5.0, 0.0}
    means = [fmean(of.values()) for of in found.by_people]
    peer = spearmanr(found.by_judge, means).statistic
    assert found.over("spearman").value == pytest.approx(peer)
    assert found.within().value == pytest.approx(1.0)
    assert found.within().n == ITEMS


def test_people_agree_by_alpha_of_their_own_scores(project: Project) -> None:
    (found,) = score_agreement.report(project)
    names = sorted({rater for of in found.by_people for rater in of})
    rows = [[of.get(name, float("nan")) for of in found.by_people] for name in names]
    assert found.alpha().value == pytest.approx(krippendorff.alpha(rows, level_of_measurement="interval"))


def test_the_table_tells_what_is_published_and_who_rated_too_few(project: Project) -> None:
    (sheet,) = result_views.show(
        project, "tables", {"table": "scores-of-people"}, among=paper_tables.VIEWS
    ).sheets
    (line,) = sheet.lines
    of = dict(zip(sheet.keys, line.cells, strict=True))
    assert [of[f"published_{name}"].value for name in ("spearman", "pearson", "kendall")] == [
        0.81,
        0.76,
        0.65,
    ]
    assert (of["raters"].words, of["place"].words) == ("2–3", "Table 5, ACE")
    assert "ACE, baseline: 1 of 18 responses were rated by fewer than 3 people." in sheet.told
    assert any(words.startswith("Floor: the baseline") for words in sheet.told)


def test_what_is_left_out_is_counted(project: Project) -> None:
    item_id = items.add(project, "Two points?").subject
    seal(
        project,
        item_id,
        Checklist(units=tuple(CheckPoint(id=f"q{n}", text=WORDS[n], share=0.5) for n in range(2))),
    )
    response_id = add_report(project, item_id, "Alpha", TEXTS["Alpha"])
    # Of two points the second was never rated.
    labels.set_label(project, response_id, "q0", "7", protocol=NAME)
    submit_labels(project)
    asyncio.run(orders.carry_out(project, RunRequest("baseline", NAME)))
    (found,) = score_agreement.report(project)
    assert (len(found.items), found.left_out) == (3 * ITEMS, 1)
    (sheet,) = score_agreement.sheets([found])
    assert any("ACE, baseline: 1 response left out" in words for words in sheet.told)


def test_each_rate_of_key_points_has_the_published_figures() -> None:
    aims = score_agreement.AIMS
    assert (aims["ksr"].spearman, aims["kcr"].pearson, aims["kor"].kendall) == (0.84, 0.79, 0.68)


def test_without_people_there_is_no_table(tmp_path: Path) -> None:
    assert score_agreement.sheets(score_agreement.report(project_with(tmp_path, 0))) == ()
