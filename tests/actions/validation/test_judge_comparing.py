"""How far judges agree with one another and with people: figures counted by hand."""

import pytest

from annotator.actions.attacks import consistency
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.validation import judge_comparing
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import derived_id
from annotator.domain.texts.refusal import Refusal
from tests.servers.said_by_judges import COVERAGE, label, places, say, submit, two_judges

PROJECT = two_judges


def pairing(project: Project, a: str, b: str, **how: bool) -> judge_comparing.RaterPair:
    found = judge_comparing.compare(project, COVERAGE, **how)
    return next(one for one in found.pairings if (one.a.name, one.b.name) == (a, b))


def as_another(project: Project, name: str, role: Role) -> None:
    people.add_person(project, name, (role,))
    project.work_as(next(person for person in people.people(project) if person.name == name))


def test_two_judges_are_held_against_each_other_on_the_units_both_judged(project: Project) -> None:
    say(project, "a", "yyynn-")
    say(project, "b", "yynnyy")
    found = pairing(project, "a", "b")
    assert (found.units, found.pairs) == (5, 5)
    # Same on units 1, 2 and 4. Chance by the shares of yes, 3/5 and 3/5: 9/25 + 4/25 = 13/25.
    assert found.figure("agreement").value == pytest.approx(3 / 5)
    assert found.figure("kappa").value == pytest.approx((3 / 5 - 13 / 25) / (12 / 25))


def test_the_figures_are_those_of_the_command_line(project: Project) -> None:
    say(project, "a", "yyynny")
    say(project, "b", "yynnyy")
    found, between = pairing(project, "a", "b"), consistency.between(project, "a", "b")
    for name, estimate in (("agreement", between.agreement), ("kappa", between.more["kappa"])):
        figure = found.figure(name)
        assert (figure.value, figure.low, figure.high) == (estimate.value, estimate.low, estimate.high)


def test_people_count_once_they_have_submitted(project: Project) -> None:
    say(project, "a", "yyynnn")
    label(project, "yyynny")
    assert [rater.name for rater in judge_comparing.raters(project, COVERAGE)] == ["a"]
    submit(project)
    assert [rater.name for rater in judge_comparing.raters(project, COVERAGE)] == ["a", "people"]
    assert pairing(project, "a", "people").figure("agreement").value == pytest.approx(5 / 6)


def test_each_person_is_one_pair_and_people_are_held_against_one_another(project: Project) -> None:
    say(project, "a", "yyynnn")
    label(project, "yyynny")
    submit(project)
    as_another(project, "Ada", Role.ANNOTATOR)
    label(project, "yyynyy")
    submit(project)
    project.work_as(people.people(project)[0])
    with_people, among = pairing(project, "a", "people"), pairing(project, "people", "people")
    # Five of six with the one, four of six with the other.
    assert (with_people.units, with_people.pairs) == (6, 12)
    assert with_people.figure("agreement").value == pytest.approx(9 / 12)
    # They differ on one of the six; of Beta's six they say the same.
    assert (among.units, among.figure("agreement").value) == (12, pytest.approx(11 / 12))


def test_on_shared_units_only_what_all_judged_is_counted(project: Project) -> None:
    say(project, "a", "yyyyyy")
    say(project, "b", "yynnnn")
    judges.add(project, "c", base_url="http://127.0.0.1:1/v1", model="m")
    say(project, "c", "yyn---")
    found = judge_comparing.compare(project, COVERAGE, shared=True)
    assert found.shared == 3
    assert {one.units for one in found.pairings} == {3}
    assert pairing(project, "a", "b", shared=True).figure("agreement").value == pytest.approx(2 / 3)


def test_what_two_raters_differ_on_is_listed_with_their_grounds(project: Project) -> None:
    say(project, "a", "yyyyyy", rationale="It says so.")
    say(project, "b", "yynyyy", rationale="Nothing on it.")
    ids = [judges.named(project, name).id for name in ("a", "b")]
    (found,) = judge_comparing.differing(project, COVERAGE, *ids).rows
    assert (found.item_key, found.system, found.unit) == ("1", "Alpha", "Names one dataset")
    assert (found.value_a, found.why_a, found.value_b, found.why_b) == (
        "yes", "It says so.", "no", "Nothing on it.",
    )  # fmt: skip
    _, response, unit = places(project)[2]
    assert (found.id_a, found.id_b) == tuple(derived_id(name, 1, response, unit) for name in ("a", "b"))


def test_units_nobody_shares_leave_figures_undefined_with_a_reason(project: Project) -> None:
    say(project, "a", "yyy---")
    say(project, "b", "---yyy")
    found = pairing(project, "a", "b")
    assert (found.units, found.figure("kappa").value) == (0, None)
    assert "no unit was judged by both raters" in found.figure("kappa").note


def test_an_annotator_is_not_told_how_judges_compare(project: Project) -> None:
    as_another(project, "Ada", Role.ANNOTATOR)
    with pytest.raises(Refusal, match="Only a coordinator"):
        judge_comparing.compare(project, COVERAGE)
    with pytest.raises(Refusal, match="Only a coordinator"):
        judge_comparing.differing(project, COVERAGE, "x", "y")
