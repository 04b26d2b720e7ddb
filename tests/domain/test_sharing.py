"""Work is shared out among people; teams, and what each has to do."""

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.experts.assignment import Assignment, Purpose, Stage
from annotator.domain.experts.sharing import AssignmentPlan, SharedWork, TeamSlot, assignment_id, draw, share
from annotator.domain.material.item import CatalogueWork

AT = datetime(2026, 3, 1, tzinfo=UTC)
DUE = datetime(2026, 4, 1, tzinfo=UTC)
AUTHORING = (Stage.QUERY, Stage.RUBRIC, Stage.PLAN)
ITEMS = tuple(f"i{number:02}" for number in range(12))
FOUR, SENIORS = ("ann", "ben", "cai", "dee"), ("sue", "tom")


def plan(**fields: object) -> AssignmentPlan:
    usual = {"stages": AUTHORING, "overlap": 2, "annotators": FOUR, "items": ITEMS, "seed": 7}
    return AssignmentPlan(**usual | fields)  # type: ignore[arg-type]


def asked(item: str, person: str, stage: Stage = Stage.RUBRIC, **fields: object) -> Assignment:
    made = Assignment(id=assignment_id(item, person, stage), item_id=item, person_id=person, stage=stage)
    return made.model_copy(update=fields)


def on(made: SharedWork | tuple[Assignment, ...], stage: Stage) -> dict[str, set[str]]:
    """Item by item, who has a stage for the first time."""
    result: defaultdict[str, set[str]] = defaultdict(set)
    for one in made.made if isinstance(made, SharedWork) else made:
        if one.stage is stage and one.trial == 1:
            result[one.item_id].add(one.person_id)
    return dict(result)


def raters(assignments: object) -> dict[str, set[str]]:
    result: defaultdict[str, set[str]] = defaultdict(set)
    for assignment in assignments:  # type: ignore[attr-defined]
        if assignment.stage is not Stage.ADJUDICATION:
            result[assignment.item_id].add(assignment.person_id)
    return result


people = st.integers(2, 7).map(lambda n: tuple(f"p{number}" for number in range(n)))
stages = st.lists(st.sampled_from([s for s in Stage if s is not Stage.ADJUDICATION]), min_size=1, unique=True)


@st.composite
def plans(draw: st.DrawFn) -> AssignmentPlan:
    annotators = draw(people)
    return AssignmentPlan(
        stages=tuple(draw(stages)),
        overlap=draw(st.integers(1, len(annotators))),
        annotators=annotators,
        adjudicators=tuple(draw(st.sets(st.sampled_from([*annotators, "sue", "tom"]), max_size=4))),
        items=tuple(f"i{number}" for number in range(draw(st.integers(0, 14)))),
        pilot_items=tuple(draw(st.sets(st.sampled_from(["i1", "i3", "x"]), max_size=2))),
        seed=draw(st.integers(0, 10**9)),
        repeat_share=draw(st.sampled_from([0.0, 0.05, 0.5])),
        same_people=draw(st.booleans()),
    )


existing = st.lists(
    st.builds(
        asked,
        st.integers(0, 9).map(lambda number: f"i{number}"),
        st.sampled_from(["p0", "p1", "p2", "old"]),
        st.sampled_from([Stage.RUBRIC, Stage.PLAN, Stage.LABELLING]),
    ),
    max_size=12,
    unique_by=lambda one: one.id,
)


@settings(max_examples=60)
@given(plans(), existing)
def test_nobody_ever_adjudicates_what_they_answer(made_plan, held):
    answered = {"i0": {"sue"}, "i1": {"p0"}}
    everything = [*held, *share(made_plan, held, answered, AT).made]
    answering = raters(everything)
    for one in everything:
        if one.stage is Stage.ADJUDICATION:
            assert one.person_id not in answering[one.item_id] | answered.get(one.item_id, set())
    assert (
        max(Counter((o.item_id) for o in everything if o.stage is Stage.ADJUDICATION).values(), default=0) < 2
    )


@settings(max_examples=60)
@given(plans(), existing)
def test_what_is_assigned_is_kept_and_every_stage_gets_its_people_or_is_said_to_be_short(made_plan, held):
    shared = share(made_plan, held, {}, AT)
    ids = [one.id for one in (*held, *shared.made)]
    assert len(ids) == len(set(ids))
    for stage in made_plan.work:
        there = on((*held, *shared.made), stage)
        for item in set(made_plan.items) - set(made_plan.pilot_items):
            assert made_plan.overlap - len(there.get(item, ())) <= shared.short.get(item, 0)


@settings(max_examples=60)
@given(plans(), existing, st.randoms(use_true_random=False))
def test_the_order_in_which_things_are_named_makes_no_difference(made_plan, held, random):
    def mixed(values: tuple) -> tuple:
        return tuple(random.sample(values, len(values)))

    names = ("stages", "annotators", "adjudicators", "items", "pilot_items")
    other = replace(made_plan, **{name: mixed(getattr(made_plan, name)) for name in names})
    assert share(made_plan, held, {}, AT) == share(other, random.sample(held, len(held)), {}, AT)


@settings(max_examples=40)
@given(people, st.integers(1, 40), st.integers(0, 10**6))
def test_load_and_pairings_differ_by_one_at_most(annotators, count, seed):
    items = tuple(f"i{number}" for number in range(count))
    there = on(share(plan(annotators=annotators, items=items, seed=seed), [], {}, AT), Stage.PLAN)
    load = Counter(person for team in there.values() for person in team)
    pairs = Counter(pair for team in there.values() for pair in combinations(sorted(team), 2))
    assert max(load.values()) - min(load[person] for person in annotators) <= 1
    assert max(pairs.values()) - min(pairs[pair] for pair in combinations(annotators, 2)) <= 1


def test_another_seed_shares_out_differently():
    assert share(plan(seed=1), [], {}, AT) != share(plan(seed=2), [], {}, AT)


def test_the_same_two_do_all_authoring_of_an_item_unless_stages_are_dealt_one_by_one():
    first, *others = (on(share(plan(), [], {}, AT), stage) for stage in AUTHORING)
    assert (others, {len(team) for team in first.values()}) == ([first, first], {2})
    apart = share(plan(same_people=False), [], {}, AT)
    assert on(apart, Stage.QUERY) != on(apart, Stage.RUBRIC)


def test_labelling_is_dealt_by_itself_and_evenly():
    shared = share(plan(stages=(Stage.RUBRIC, Stage.LABELLING)), [], {}, AT)
    assert on(shared, Stage.RUBRIC) != on(shared, Stage.LABELLING)
    load = Counter(person for team in on(shared, Stage.LABELLING).values() for person in team)
    assert set(load.values()) == {6}


def test_who_has_one_stage_of_an_item_goes_on_with_the_next():
    held = [asked("i00", "cai"), asked("i00", "dee"), asked("i01", "ann")]
    there = on(share(plan(stages=(Stage.PLAN,)), held, {}, AT), Stage.PLAN)
    assert there["i00"] == {"cai", "dee"}
    assert "ann" in there["i01"]


def test_who_has_left_keeps_their_stage_but_gets_no_other():
    held = [asked("i00", "gone"), asked("i00", "ann")]
    shared = share(plan(stages=(Stage.RUBRIC, Stage.PLAN), items=("i00",)), held, {}, AT)
    assert (on(shared, Stage.RUBRIC), on(shared, Stage.PLAN)["i00"] & {"gone", "ann"}) == ({}, {"ann"})


def test_existing_work_counts_so_that_a_newcomer_catches_up():
    held = [asked(f"old{number}", person) for number in range(3) for person in ("ann", "ben", "cai")]
    shared = share(plan(stages=(Stage.RUBRIC,), items=ITEMS[:3]), held, {}, AT)
    assert all("dee" in team for team in on(shared, Stage.RUBRIC).values())


def test_adjudicators_are_dealt_evenly_among_those_who_do_not_answer():
    shared = share(plan(adjudicators=SENIORS), [], {}, AT)
    load = Counter(person for team in on(shared, Stage.ADJUDICATION).values() for person in team)
    assert load == {"sue": 6, "tom": 6}
    assert all(one.due is None for one in shared.made if one.stage is Stage.ADJUDICATION)


def test_three_who_do_everything_adjudicate_what_the_other_two_answer():
    three = FOUR[:3]
    shared = share(plan(annotators=three, adjudicators=three), [], {}, AT)
    for item, (judge,) in on(shared, Stage.ADJUDICATION).items():
        assert on(shared, Stage.RUBRIC)[item] == set(three) - {judge}
    load = Counter(judge for (judge,) in on(shared, Stage.ADJUDICATION).values())
    assert load == dict.fromkeys(three, 4)


@pytest.mark.parametrize(
    ("held", "adjudicators", "adjudicated"),
    [
        ([], ("ann",), {"ann"}),
        # Who adjudicates an item already is not put on it.
        ([asked(item, "ann", Stage.ADJUDICATION) for item in ITEMS], SENIORS, set()),
    ],
)
def test_a_team_leaves_the_adjudicator_outside(held, adjudicators, adjudicated):
    shared = share(plan(adjudicators=adjudicators), held, {}, AT)
    assert "ann" not in set().union(*on(shared, Stage.RUBRIC).values())
    assert set().union(*on(shared, Stage.ADJUDICATION).values()) == adjudicated
    assert not shared.unadjudicated


def test_items_that_nobody_is_left_to_adjudicate_are_named():
    shared = share(plan(annotators=FOUR[:2], adjudicators=FOUR[:2], items=("i00",)), [], {}, AT)
    assert (shared.unadjudicated, on(shared, Stage.RUBRIC)) == (("i00",), {"i00": {"ann", "ben"}})


def test_an_item_of_one_rater_gets_no_adjudicator():
    assert on(share(plan(overlap=1, adjudicators=SENIORS), [], {}, AT), Stage.ADJUDICATION) == {}


def test_too_few_people_are_said_to_be_short():
    held = [asked("i00", "ann", Stage.ADJUDICATION)]
    assert share(plan(annotators=("ann", "ben"), items=("i00", "i01")), held, {}, AT).short == {"i00": 1}


def test_pilot_items_go_to_everybody_and_do_not_count():
    shared = share(plan(pilot_items=("i00",), stages=(Stage.RUBRIC,)), [], {}, AT)
    pilots = {(one.person_id, one.purpose) for one in shared.made if one.item_id == "i00"}
    assert pilots == {(name, Purpose.PILOT) for name in FOUR}
    load = Counter(one.person_id for one in shared.made if one.purpose is Purpose.WORK)
    assert sorted(load.values()) == [5, 5, 6, 6]


def test_having_done_a_pilot_does_not_spare_anybody_work():
    held = [asked(f"pilot{number}", "ann", purpose=Purpose.PILOT) for number in range(3)]
    shared = share(plan(stages=(Stage.RUBRIC,), items=ITEMS[:4], overlap=1), held, {}, AT)
    assert Counter(one.person_id for one in shared.made) == dict.fromkeys(FOUR, 1)


def repeats(shared: SharedWork) -> list[Assignment]:
    return [one for one in shared.made if one.trial == 2]


@pytest.mark.parametrize(("due", "begins"), [(DUE, DUE), (None, AT)])
@pytest.mark.parametrize(
    ("again", "many"),
    [
        (0.5, 3),
        # Who labels little still gets one.
        (0.05, 1),
    ],
)
def test_a_share_of_what_each_labels_comes_again_some_days_later(due, begins, again, many):
    shared = share(plan(**LABELLING | {"repeat_share": again}, due=due), [], {}, AT)
    assert Counter(repeat.person_id for repeat in repeats(shared)) == dict.fromkeys(FOUR, many)
    facts = {(repeat.stage, repeat.purpose, repeat.due, repeat.not_before) for repeat in repeats(shared)}
    assert facts == {(Stage.LABELLING, Purpose.REPEAT, None, begins + timedelta(days=10))}
    labelling = on(shared, Stage.LABELLING)
    assert all(repeat.person_id in labelling[repeat.item_id] for repeat in repeats(shared))


LABELLING = {"stages": (Stage.RUBRIC, Stage.LABELLING), "repeat_share": 0.5, "repeat_after_days": 10}


def test_the_same_plan_again_adds_nothing():
    full = plan(**LABELLING, adjudicators=SENIORS, pilot_items=("i00",))
    assert share(full, share(full, [], {}, AT).made, {}, AT).made == ()


PEOPLE = [f"p{number:02}" for number in range(12)]


def slots(count: int, wanted: int, people: list[str]) -> list[TeamSlot]:
    return [TeamSlot(f"i{number:03}", frozenset(), wanted, frozenset(people)) for number in range(count)]


def loads(drawn: dict[str, list[str]], people: list[str]) -> list[int]:
    counted = Counter(person for team in drawn.values() for person in team)
    return [counted[person] for person in people]


def pairings(drawn: dict[str, list[str]], people: list[str]) -> list[int]:
    counted = Counter(pair for team in drawn.values() for pair in combinations(sorted(team), 2))
    return [counted[pair] for pair in combinations(people, 2)]


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 4), st.integers(0, 10**6))
def test_teams_of_any_size_have_even_loads(size, items, wanted, seed):
    people = PEOPLE[:size]
    drawn = draw(slots(items, wanted, people), {}, {}, Random(seed))
    assert {len(team) for team in drawn.values()} == {min(size, wanted)}
    assert max(loads(drawn, people)) - min(loads(drawn, people)) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_seven_teams_of_three_among_seven_hold_nobody_more_often_and_no_two_much_more_often(seed):
    drawn = draw(slots(7, 3, PEOPLE[:7]), {}, {}, Random(seed))
    assert loads(drawn, PEOPLE[:7]) == [3] * 7
    # 7 teams hold 21 pairs, as many as there are.
    assert max(pairings(drawn, PEOPLE[:7])) <= 2


def test_who_was_drawn_before_waits_until_the_others_have_caught_up():
    assert loads(draw(slots(4, 1, ["a", "b", "c"]), {"a": 3}, {}, Random(0)), ["a", "b", "c"]) == [0, 2, 2]


def test_two_who_met_before_meet_again_only_when_everybody_else_has_met():
    met = {frozenset("ab"): 1, frozenset("cd"): 1}
    drawn = draw(slots(4, 2, ["a", "b", "c", "d"]), {}, met, Random(0))
    assert sorted(tuple(team) for team in drawn.values()) == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]


def test_a_load_is_handed_on_along_a_chain():
    # Only a may take the first, a or b the second and third, b or c the last two: a 1, b 2, c 2.
    made = [
        TeamSlot("1", frozenset(), 1, frozenset("a")),
        *(TeamSlot(key, frozenset(), 1, frozenset("ab")) for key in "23"),
        *(TeamSlot(key, frozenset(), 1, frozenset("bc")) for key in "45"),
    ]
    for seed in range(20):
        assert sorted(loads(draw(made, {}, {}, Random(seed)), ["a", "b", "c"])) == [1, 2, 2]


@pytest.mark.parametrize("seed", range(10))
def test_one_of_the_spared_stays_outside_as_long_as_the_team_is_filled_without(seed):
    spared = frozenset("ab")
    made = [TeamSlot(str(n), frozenset(), 2, frozenset("abc"), spared) for n in range(9)]
    drawn = draw(made, {}, {}, Random(seed))
    assert all(not spared <= set(team) for team in drawn.values())
    assert draw([TeamSlot("x", frozenset(), 2, frozenset("ab"), spared)], {}, {}, Random(seed)) == {
        "x": ["a", "b"]
    }


def test_members_are_not_drawn_again_and_count_as_met():
    made = [
        TeamSlot("1", frozenset("a"), 1, frozenset("abc")),
        TeamSlot("2", frozenset("a"), 1, frozenset("abc")),
    ]
    assert sorted(person for team in draw(made, {}, {}, Random(5)).values() for person in team) == ["b", "c"]


def test_a_slot_nobody_may_fill_stays_short():
    assert draw([TeamSlot("1", frozenset("a"), 2, frozenset("ab"))], {}, {}, Random(0)) == {"1": ["b"]}
    assert draw([], {}, {}, Random(0)) == {}


DAY = date(2025, 6, 3)


@pytest.mark.parametrize(
    ("published", "older"),
    [
        ("2025-06-02", True),
        ("2025-06-03", False),
        ("2025-05", True),
        ("2025-06", False),
        ("2024", True),
        ("2025", False),
        ("", False),
        ("soon", False),
        ("2025-02-30", False),
    ],
)
def test_only_what_surely_appeared_before_a_day_is_older(published: str, older: bool) -> None:
    assert CatalogueWork("", "On oak", published=published).is_older(DAY) is older


@pytest.mark.parametrize(
    ("identifier", "title", "key"),
    [
        ("https://arxiv.org/abs/2401.00001v3", "On oak", "arxiv:2401.00001"),
        ("arXiv:2401.00001", "On oak", "arxiv:2401.00001"),
        ("https://doi.org/10.48550/arXiv.2401.00001", "On oak", "arxiv:2401.00001"),
        ("", "On  Oak!", "title on oak"),
        ("", "on oak", "title on oak"),
    ],
)
def test_a_work_is_known_by_its_identifier_or_its_whole_title(identifier: str, title: str, key: str) -> None:
    assert CatalogueWork(identifier, title).key == key
