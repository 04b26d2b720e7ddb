"""Units are merged and split in one revision each, and what came from a draft stays known for it."""

from pathlib import Path

import pytest

from annotator.actions.authoring import artifacts, draft_provenance
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.kinds.artifact import Anchor, DraftSource, Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

LEAD, MORE = Anchor(quote="an open problem"), Anchor(quote="nobody knows")
DRAFT = DraftSource("d1", "judge", "model-x")
UPPER = Inspiration(
    id="a", text="It is open.", type="limitation", qualities=("challenge",), anchor=LEAD, note="one"
)
LOWER = Inspiration(
    id="b", text="Nobody knows.", type="hypothesis", qualities=("explorability", "challenge"), anchor=MORE,
    more_anchors=(LEAD,), note="two", piece=3,
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return pairs.work_as(pairs.pairs_project(tmp_path), "Ada")


@pytest.fixture
def own(project: Project) -> str:
    document = Inspirations(units=(UPPER, LOWER))
    return artifacts.start(project, pairs.item(project), Kind.INSPIRATIONS, document).subject


def units(project: Project, own: str) -> tuple[Inspiration, ...]:
    return artifacts.read(project, own).document.units


def test_a_unit_joins_the_one_above_with_all_it_has(project: Project, own: str) -> None:
    artifacts.merge_unit(project, own, "b")
    (unit,) = units(project, own)
    assert (unit.id, unit.text, unit.note) == ("a", "It is open. Nobody knows.", "one\ntwo")
    assert (unit.type, unit.qualities, unit.piece) == ("limitation", ("challenge", "explorability"), 3)
    assert unit.anchors == (LEAD, MORE)
    history.undo(project)
    assert units(project, own) == (UPPER, LOWER)
    with pytest.raises(Refusal, match="no unit above"):
        artifacts.merge_unit(project, own, "a")


def test_a_point_that_joins_one_with_a_title_keeps_its_own_in_its_words(project: Project) -> None:
    points = (
        CheckPoint(id="a", title="Rigour", text="Is it sound?"),
        CheckPoint(id="b", title="Wit", text="Is it?"),
    )
    begun = artifacts.start(project, pairs.item(project), Kind.CHECKLIST, Checklist(units=points)).subject
    artifacts.merge_unit(project, begun, "b")
    (point,) = artifacts.read(project, begun).document.units
    assert (point.title, point.text) == ("Rigour", "Is it sound? Wit: Is it?")


def test_a_unit_is_split_where_the_cursor_stands(project: Project, own: str) -> None:
    artifacts.merge_unit(project, own, "b")
    artifacts.split_unit(project, own, "a", len("It is open."))
    first, second = units(project, own)
    assert (first.id, first.text, second.text) == ("a", "It is open.", "Nobody knows.")
    assert second.id not in ("a", "b")
    assert second.qualities == first.qualities
    for at in (0, 11, 99):
        with pytest.raises(Refusal, match="half would be empty"):
            artifacts.split_unit(project, own, "a", at)


def test_what_was_drafted_stays_known_in_the_unit_it_joins_and_in_both_halves(
    project: Project, own: str
) -> None:
    with project.store.write() as db:
        draft_provenance.remember(project, db, own, {"b": DRAFT})
    artifacts.merge_unit(project, own, "b")
    with project.store.read() as db:
        assert draft_provenance.of_artifacts(db, [own])[own]["a"] == DRAFT
    artifacts.split_unit(project, own, "a", len("It is open."))
    with project.store.read() as db:
        known = draft_provenance.of_artifacts(db, [own])[own]
    assert {unit.id for unit in units(project, own)} <= known.keys()
