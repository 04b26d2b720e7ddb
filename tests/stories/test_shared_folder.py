"""Two windows and forty files: half-written, renamed, twice, in any order, while both sides work."""

import json
import random
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, shared_folder, tasking, tray, unpacking
from annotator.actions.project import shared
from annotator.actions.releases import checking
from annotator.domain.experts.assignment import Stage
from annotator.exchange.parcels import packages, sealing
from annotator.gui.shell.window import Window
from tests.gui.conftest import fresh_settings, window_over
from tests.material.sent_apart import annotators, coordinated, write_rubric
from tests.storage import sql
from tests.windows.settling import settle

__all__ = ["fresh_settings", "window_over"]
ROUNDS, TIMES = 6, 3


class Carrier:
    """Brings files from one computer's folder to the other's: in pieces, renamed, three times, in any order."""

    def __init__(self, here: Path, there: Path, ways: int) -> None:
        self._here, self._there, self._chance = here, there, random.Random(ways)
        self._seen: dict[bytes, None] = {}
        self._begun: list[tuple[Path, bytes]] = []
        self.delivered = 0

    def collect(self) -> None:
        for path in sorted(self._here.rglob(f"*{sealing.SUFFIX}")):
            self._seen.setdefault(path.read_bytes())

    def begin(self) -> None:
        """Write the beginnings of some files that have not been begun often enough yet."""
        begun = [content for _, content in self._begun]
        waiting = [content for content in self._seen if begun.count(content) < TIMES]
        for content in self._chance.sample(waiting, min(4, len(waiting))):
            number = len(self._begun)
            names = (
                f"{number}{sealing.SUFFIX}",
                f"R2 ({number} conflicted copy)",
                f".{number}.tmp",
                f"名{number}",
            )
            place = self._there / self._chance.choice(("", "R2", "new folder")) / self._chance.choice(names)
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content[: self._chance.randrange(len(content))])
            self._begun.append((place, content))

    def finish(self) -> None:
        """Write what was begun to its end, and give some of it another name."""
        for number, (place, content) in enumerate(self._begun):
            if place.exists() and place.stat().st_size < len(content):
                place.write_bytes(content)
                self.delivered += 1
                if self._chance.random() < 0.5:
                    self._begun[number] = place.rename(place.with_name(f"renamed {number}")), content

    @property
    def left(self) -> bool:
        return len(self._begun) < TIMES * len(self._seen)


def look(window: Window) -> None:
    window._folder.look()
    settle(window.page)


@pytest.mark.slow
def test_each_file_is_taken_once_and_whole(tmp_path: Path, window_over) -> None:
    """The coordinator adds questions and sends, the annotator writes and submits, and nobody touches a file."""
    hers, ours = tmp_path / "annotator's computer/synced", tmp_path / "coordinator's computer/synced"
    for folder in (hers, ours):
        folder.mkdir(parents=True)
    project = coordinated(tmp_path / "home", names=("Ana Silva",), questions=("Question 0?",))
    ana = annotators(project)[0].id
    home = window_over(project, "Exchange", part="Hand out")
    home.session.do(shared_folder.choose, ours)
    home.session.do(shared_folder.send, [ana])
    (task,) = ours.glob("*/*-task")
    annotator = window_over(tasking.take_task(task, tmp_path / "own/ana.goldsmith").project, "Author")
    theirs = annotator.session.project
    home.session.do(known_keys.replace, ana, packages.public_key(known_keys.signing_key(theirs)))
    shared.keep(theirs, None)
    annotator.session.do(shared_folder.choose, hers)

    out, back = Carrier(ours, hers, 1), Carrier(hers, ours, 2)
    for number in range(1, ROUNDS + 1):
        settle(home.page)
        key = home.session.do(items.add, f"Question {number}?").subject
        home.session.do(assignments.assign_one, key, ana, Stage.RUBRIC)
        home.session.do(shared_folder.send, [ana])
        written = {row[0] for row in sql.rows(theirs, "SELECT item_id FROM artifact WHERE author_id <> ''")}
        open_ = [item_id for item_id in items.ids(theirs) if item_id not in written]
        if open_:
            annotator.session.do(write_rubric, open_[0], f"Criterion {number}")
        look(home), look(annotator)
        for carrier in (out, back):
            carrier.collect()
            carrier.begin()
        look(home), look(annotator)
        out.finish(), back.finish()
    while out.left or back.left or set(items.ids(theirs)) != set(items.ids(project)):
        written = {row[0] for row in sql.rows(theirs, "SELECT item_id FROM artifact WHERE author_id <> ''")}
        for item_id in set(items.ids(theirs)) - written:
            annotator.session.do(write_rubric, item_id, "A last criterion")
        look(annotator)
        for carrier in (out, back):
            carrier.collect()
            carrier.begin()
            carrier.finish()
        look(home), look(annotator)
    look(annotator)
    back.collect(), back.begin(), back.finish()
    look(home)

    assert out.delivered + back.delivered >= 40
    returned = [one.receipt for one in unpacking.received(project)]
    assert len(returned) == len({*returned})
    assert {tray.outlook(theirs).sent[0].receipt} <= {*returned}
    for one in (project, theirs):
        taken = "SELECT subject FROM audit WHERE kind = 'parcel' AND verb IN ('take in', 'open task')"
        subjects = [subject for (subject,) in sql.rows(one, taken)]
        assert len(subjects) == len({*subjects}) > 3
        assert checking.check(one).problems == []
    question = "SELECT content FROM revision WHERE sealed ORDER BY sha256"
    assert [json.loads(row[0]) for row in sql.rows(project, question)] == [
        json.loads(row[0]) for row in sql.rows(theirs, question)
    ]
    assert len(sql.rows(project, question)) == len(items.ids(project)) == ROUNDS + 1
    assert [
        path for folder in (hers, ours) for path in folder.rglob("*.goldsmith*") if "-" not in path.suffix
    ] == []
