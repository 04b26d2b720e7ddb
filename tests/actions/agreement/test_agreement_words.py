"""How figures are said: numbers with intervals, reasons in the place of numbers, and tables that may leave."""

import pytest

from annotator.actions.agreement import agreement_report
from annotator.actions.agreement import agreement_words as words
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage
from tests.projects import pairs_project as pairs

PROJECT = pairs.pairs_project


def both(project: Project, ada: str, ben: str) -> None:
    """Ada and Ben label the criteria c0, c1 … of a report: y or n."""
    said = {"y": "yes", "n": "no"}
    report = pairs.add_report(project)
    pairs.submit(project, {
        name: pairs.labels(report, {f"c{n}": said[letter] for n, letter in enumerate(values)})
        for name, values in (("Ada", ada), ("Ben", ben))
    })  # fmt: skip
    pairs.work_as(project, "Cora")


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
    assert words.said(found) == said


def test_remarks_leave_the_reason_out_and_speak_of_items() -> None:
    undefined = Figure(name="kappa", value=None, note="both said yes; one cluster gives no interval")
    assert words.remarks(undefined) == ["one item gives no interval"]
    assert words.remarks(undefined.model_copy(update={"value": 1.0})) == [
        "both said yes",
        "one item gives no interval",
    ]


def test_the_sentence_on_a_low_kappa_stays_whole(project: Project) -> None:
    both(project, "yyyyyyyyyy", "yyyyyyyyyn")
    row = agreement_report.report(project).rows[0]
    ac1 = row.figure("ac1")
    assert ac1 is not None
    (paradox,) = [remark for remark in words.remarks(ac1) if "κ can be low" in remark]
    assert paradox.endswith("AC1 is less moved by this.")


def copied(project: Project) -> dict[str, str]:
    report = agreement_report.report(project)
    head, line = (each.split("\t") for each in words.copied(report, list(report.rows)).splitlines())
    return dict(zip(head, line, strict=True))


def test_what_is_copied_is_not_rounded(project: Project) -> None:
    both(project, "yyn", "yyy")
    cells = copied(project)
    assert (cells["Stage"], cells["Compared"], cells["n"]) == ("labelling", "value", "3")
    assert (float(cells["Agreement"]), cells["Agreement, low"]) == (2 / 3, "")


def test_what_is_copied_gives_reasons(project: Project) -> None:
    both(project, "yyy", "yyy")
    cells = copied(project)
    assert (cells["κ"], "one category only" in cells["κ, reason"]) == ("", True)


def test_what_is_copied_names_people_by_alias(project: Project) -> None:
    both(project, "yn", "yy")
    people.rename_person(project, pairs.person(project, "Ada").id, "Ada Canary")
    report = agreement_report.report(project, "pair")
    copied = words.copied(report, list(report.rows))
    assert "Canary" not in copied
    assert {pairs.person(project, name).alias for name in ("Ada Canary", "Ben")} <= set(copied.split())
    assert "Ada Canary" in words.names(report, report.rows[0])


def test_an_alias_that_looks_like_a_formula_is_made_harmless(project: Project) -> None:
    people.add_person(project, "Eve", alias="=1+1")
    report_id = pairs.add_report(project)
    pairs.submit(project, {name: pairs.labels(report_id, {"c1": "yes"}) for name in ("Ada", "Eve")})
    report = agreement_report.report(pairs.work_as(project, "Cora"), "person", Stage.LABELLING)
    groups = [line.split("\t")[1] for line in words.copied(report, list(report.rows)).splitlines()]
    assert "'=1+1" in groups


def test_json_has_null_and_the_reason(project: Project) -> None:
    both(project, "yy", "yy")
    report = agreement_report.report(project)
    plain = words.plain(report, report.rows[0])
    kappa = next(found for found in plain["figures"] if found["name"] == "kappa")
    assert (kappa["value"], "one category only" in kappa["reason"]) == (None, True)
    assert (plain["items"], plain["n"], plain["by_adjudicators_pairing"]) == (["1"], 2, None)
