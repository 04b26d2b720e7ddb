"""What an adjudicator has before them: the queue, the opening, and rows that say nothing of who is who."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from sqlalchemy import select, update

from annotator.actions.adjudication import adjudicating, adjudication_sheets, openings
from annotator.actions.assignments import agreements
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import aligning
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import AdjudicationState
from annotator.domain.experts.agreement import Agreement, Match, PairAgreement, SealedInput
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import AdjudicationRow, ItemRow, table
from tests.projects import pairs_project as pairs
from tests.storage import sql

PROJECT = pairs.rubrics_project


def texts(project: Project, adjudication_id: str) -> list[dict[str, str]]:
    """Row by row, the ids of the units by the name of who wrote them."""
    names = {pairs.letter_of(project, adjudication_id, name): name for name in ("Ada", "Ben")}
    rows = adjudication_sheets.sheet(project, adjudication_id).rows
    return [{names[letter]: unit.id for letter, unit in row.units.items()} for row in rows]


def plain(value: Any) -> Any:
    """A dataclass or model as the JSON tree of all that it holds."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value)


def test_opening_waits_until_the_agreement_is_frozen(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    pairs.work_as(project, "Ada")
    artifacts.start(project, pairs.item(project), Kind.RUBRIC, pairs.rubric(pairs.ADA, "a"))
    pairs.work_as(project, "Cleo")
    with pytest.raises(Refusal, match="not ready to be adjudicated"):
        openings.open_(project, pairs.item(project), Stage.RUBRIC)


def test_rows_follow_the_frozen_alignment(project: Project):
    rows = texts(project, pairs.opened(project))
    matched = [{"Ada": f"a{n}", "Ben": f"b{n}"} for n in (1, 2, 3, 4)]
    assert [row for row in rows if len(row) == 2] == matched
    assert sorted(next(iter(row.values())) for row in rows if len(row) == 1) == ["a5", "b5", "b6"]


def test_opening_again_changes_nothing(project: Project):
    first = openings.open_(project, pairs.item(project), Stage.RUBRIC)
    before = texts(project, first.id)
    assert openings.open_(project, pairs.item(project), Stage.RUBRIC) == first
    assert texts(project, first.id) == before


def test_what_opening_returns_keeps_the_letters_to_itself(project: Project):
    assert openings.open_(project, pairs.item(project), Stage.RUBRIC).letters == {}


def test_the_shuffle_is_recorded_and_can_be_drawn_again(project: Project):
    row = table(AdjudicationRow)
    pairs.opened(project)
    with project.store.read() as db:
        kept = db.execute(select(row.c.id, row.c.seed, row.c.letters)).one()
    raters = [pairs.person(project, name).id for name in ("Ben", "Ada")]
    assert kept.seed == aligning.seed_of(kept.id)
    assert json.loads(kept.letters) == aligning.dealt(raters, kept.seed)


def test_letters_fall_both_ways_over_items():
    firsts = {aligning.dealt(["one", "two"], aligning.seed_of(f"item {n}"))["A"] for n in range(20)}
    assert firsts == {"one", "two"}


def test_a_unit_that_only_the_second_wrote_follows_its_neighbour():
    orders = {"A": ["a1", "a2"], "B": ["b0", "b1", "bx", "b2"]}
    agreement = frozen(matched=[("a1", "b1"), ("a2", "b2")])
    rows = aligning.rows(agreement, {"A": "p", "B": "q"}, orders)
    assert rows == [{"B": "b0"}, {"A": "a1", "B": "b1"}, {"B": "bx"}, {"A": "a2", "B": "b2"}]


def frozen(matched: list[tuple[str, str]]) -> Agreement:
    inputs = tuple(
        SealedInput(
            person_id=name, artifact_id=name, revision=1, sha256="", chain="", guideline="1", form="1", sealed_at=now()
        )
        for name in "pq"
    )  # fmt: skip
    pair = PairAgreement(a="p", b="q", matched=tuple(Match(a=a, b=b, likeness=1) for a, b in matched))
    return Agreement(
        id="f", item_id="i", stage=Stage.RUBRIC, matcher="1", program="1", frozen_at=now(), inputs=inputs, pairs=(pair,)
    )  # fmt: skip


def test_a_row_says_which_fields_differ_and_how_the_words_do(project: Project):
    rows = {row.number: row for row in adjudication_sheets.sheet(project, pairs.opened(project)).rows}
    by_ada = {next((u.id for u in r.units.values() if u.id[0] == "a"), ""): r for r in rows.values()}
    assert [by_ada[f"a{n}"].differing for n in (1, 2, 3, 4)] == [
        (),
        ("text", "weight"),
        ("weight",),
        ("text",),
    ]
    assert not by_ada["a1"].contested
    assert by_ada["a5"].contested
    (pieces,) = by_ada["a4"].pieces.values()
    first = by_ada["a4"].units["A"]
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == first.text


def test_notes_travel_to_the_adjudicator_under_letters(tmp_path: Path):
    project = pairs.pairs_project(tmp_path)
    noted = Rubric(units=(Criterion(id="a1", text="Names a dataset", note="Not sure"),), remark="In haste")
    pairs.submit(project, {"Ada": noted, "Ben": pairs.rubric((("Names a dataset", 2),), "b")})
    adjudication_id = pairs.opened(project)
    sheet = adjudication_sheets.sheet(project, adjudication_id)
    letter = pairs.letter_of(project, adjudication_id, "Ada")
    assert sheet.rows[0].units[letter].note == "Not sure"
    assert sheet.remarks == {letter: "In haste"}
    assert not sheet.rows[0].contested


def test_sheet_and_queue_hold_nobodys_id_name_alias_or_time(project: Project):
    adjudication_id = pairs.opened(project)
    shown = json.dumps(
        [plain(adjudication_sheets.sheet(project, adjudication_id)), plain(adjudicating.queue(project))]
    )
    people = [pairs.person(project, name) for name in ("Ada", "Ben")]
    assert "Names at least one dataset" in shown
    for secret in [
        *(p.id for p in people),
        *(f'"{p.name}"' for p in people),
        *(f'"{p.alias}"' for p in people),
    ]:
        assert secret not in shown
    # A date, and not four digits of an id before its hyphen.
    assert not re.search(r"\d{4}-\d\d-\d\d", shown)


def test_the_frozen_figures_are_shown_without_notes_on_another_a_and_b(project: Project):
    figures = {f.name: f for f in adjudication_sheets.sheet(project, pairs.opened(project)).figures}
    assert figures["match_f1"].value == pytest.approx(8 / 11)
    assert figures["match_f1"].note == ""


def queued(project: Project) -> list[str]:
    return [line.item_key for line in adjudicating.queue(project)]


@pytest.fixture
def three(tmp_path):
    """Items 1 to 3: agreement 2/3, unanimous, and 0."""
    project = pairs.pairs_project(tmp_path, questions=3)
    one, two = ("Explains attribution", 3), ("Names a dataset", 2)
    pairs.submit(project, {"Ada": pairs.rubric((one, two), "a"), "Ben": pairs.rubric((one,), "b")}, 0)
    pairs.submit(project, {"Ada": pairs.rubric((one,), "a"), "Ben": pairs.rubric((one,), "b")}, 1)
    pairs.submit(project, {"Ada": pairs.rubric((one,), "a"), "Ben": pairs.rubric((two,), "b")}, 2)
    yield pairs.work_as(project, "Cleo")
    project.close()


def test_the_queue_has_conflicts_first_and_of_them_the_lowest_agreement(three: Project):
    lines = adjudicating.queue(three)
    assert [line.item_key for line in lines] == ["3", "1", "2"]
    assert [line.conflict for line in lines] == [True, True, False]
    assert [line.agreement.value for line in lines if line.agreement] == pytest.approx([0, 2 / 3, 1])
    assert [(line.rows, line.contested) for line in lines] == [(2, 2), (2, 1), (1, 0)]


def test_the_queue_ranks_by_the_worst_figure_of_a_pair(tmp_path: Path):
    """Of the second item all statements are matched, and three of five labels clash."""
    project = pairs.pairs_project(tmp_path, questions=2)
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a"), "Ben": pairs.rubric(pairs.BEN, "b")})
    said = {"Ada": (True, True, False, True, False), "Ben": (False, False, True, True, False)}
    pairs.submit(project, {name: pairs.diagnostics(own, name) for name, own in said.items()}, 1)
    lines = adjudicating.queue(pairs.work_as(project, "Cleo"))
    assert [line.item_key for line in lines] == ["2", "1"]
    assert lines[0].agreement is not None
    assert (lines[0].agreement.value or 0) < 0
    project.close()


def test_opening_and_ruling_show_in_the_queue(three: Project):
    adjudication_id = pairs.opened(three, place=2)
    line = adjudicating.queue(three)[0]
    assert (line.adjudication_id, line.state) == (adjudication_id, AdjudicationState.OPEN.value)
    assert (line.rows, line.contested, line.decided) == (2, 2, 0)


def test_retired_items_leave_the_queue(three: Project):
    rows = table(ItemRow)
    with three.store.write() as db:
        db.execute(update(rows).where(rows.c.key == "3").values(retired=True))
    assert queued(three) == ["1", "2"]


def test_an_agreement_is_laid_out_once(three: Project, monkeypatch: pytest.MonkeyPatch):
    adjudicating.queue(three)
    monkeypatch.setattr(openings, "layout", lambda *_: pytest.fail("laid out again"))
    assert queued(three) == ["3", "1", "2"]


def test_opening_leaves_the_frozen_row_as_it_is(project: Project):
    before = sql.rows(project, "SELECT * FROM agreement")
    pairs.opened(project)
    assert sql.rows(project, "SELECT * FROM agreement") == before
    assert len(agreements.of_item(project, pairs.item(project))) == 1
