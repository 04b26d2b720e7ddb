"""More than two hundred marks that one annotator must not see: none reaches their package, their window or a log."""

import logging
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import insert

from annotator.actions import search
from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.consensus import consensus
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.parcels import known_keys, packing, shared_folder, tasking
from annotator.actions.project import people
from annotator.actions.project.file import Project, response_hash
from annotator.domain.experts.adjudication import DROP, Reason
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.kinds.artifact import Anchor, Document, stage_of
from annotator.domain.kinds.diagnostics import Diagnostics, Statement
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.exchange.parcels import packages
from annotator.gui.shell.navigation import PAGES
from annotator.gui.shell.window import Window
from annotator.storage.tables import RESPONSE, SYSTEM
from tests.common import once
from tests.storage import sql
from tests.windows.using import all_words, shut

STAGES = {Stage.RUBRIC: Rubric, Stage.PLAN: Plan, Stage.DIAGNOSTICS: Diagnostics, Stage.EVIDENCE: Evidence}
UNITS = {
    Stage.RUBRIC: Criterion,
    Stage.PLAN: Subtask,
    Stage.DIAGNOSTICS: Statement,
    Stage.EVIDENCE: Reference,
}
MANY = 245


def mark(number: int) -> str:
    """What stands nowhere else, in scripts that are packed and escaped in different ways."""
    return f"canary{number:03d}zq" if number % 3 else f"金丝雀{number:03d}号秘"


class Canaries:
    sung = 0

    def sing(self, prefix: str = "") -> str:
        self.sung += 1
        return f"{prefix} {mark(self.sung)}".strip()


def own(stage: Stage) -> Document:
    return STAGES[stage](units=(UNITS[stage](text=f"Explains the {stage.value} of gold in her own words"),))


def partners(stage: Stage, sing: Canaries) -> Document:
    units = tuple(
        UNITS[stage](
            text=sing.sing("Compares two alloys"), note=sing.sing(),
            anchor=Anchor(quote=sing.sing()), more_anchors=(Anchor(quote=sing.sing()),),
            **({"identifier": sing.sing()} if stage is Stage.EVIDENCE else {}),
        )
        for _ in range(9)
    )  # fmt: skip
    return STAGES[stage](units=units, remark=sing.sing())


def hand_in(project: Project, person: Person, item_id: str, document: Document) -> None:
    """A person is asked for a document, writes and submits it; then works whoever did before."""
    before = people.someone(project)
    assignments.assign_one(project, item_id, person.id, stage_of(document.KIND))
    project.work_as(person)
    assignments.seal(project, artifacts.start(project, item_id, document.KIND, document).subject)
    project.work_as(before)


@once
def planted_project(folder: Path) -> Project:
    """A project in which Ben, the systems and the adjudicator left marks everywhere that Ada must not see."""
    sing = Canaries()
    project = people.new_project(folder / "study.goldsmith")
    me = people.someone(project)
    ada = people.known(project, people.add_person(project, "Ada", alias="R2").subject)
    ben = people.known(project, people.add_person(project, sing.sing("Ben"), alias=sing.sing("B")).subject)
    senior = people.known(project, people.add_person(project, sing.sing("Sue"), (Role.ADJUDICATOR,)).subject)
    for question in ("What is the weight of gold?", "What do reports say of gold?"):
        items.add(project, question)
    written, labelled = items.ids(project)
    for stage, person in ((stage, person) for stage in STAGES for person in (ada, ben)):
        hand_in(project, person, written, own(stage) if person is ada else partners(stage, sing))
    adjudicate(project, senior, sing)
    project.work_as(me)
    label(project, labelled, (ada, ben), sing)
    project.work_as(me)
    items.add(project, sing.sing("A question that nobody gave to Ada:"))
    assert sing.sung == MANY
    return project


@pytest.fixture
def planted(tmp_path: Path) -> tuple[Project, Person, list[str]]:
    project = planted_project(tmp_path)
    return project, people.known(project, "R2"), [mark(number) for number in range(1, MANY + 1)]


def adjudicate(project: Project, senior: Person, sing: Canaries) -> None:
    """Ada's units stand, Ben's are dropped, and the adjudicator says what only adjudicators read."""
    project.work_as(senior)
    for line in adjudicating.queue(project):
        result = adjudicating.open_(project, line.item_id, line.stage)
        consensus.remark(project, result.id, sing.sing("Between us:"))
        for row in adjudicating.sheet(project, result.id).rows:
            kept = "own words" in next(iter(row.units.values())).text and len(row.units) == 1
            take = next(iter(row.units)) if kept else DROP
            explained = {} if kept else {"rationale": sing.sing(), "gap": sing.sing()}
            ruling.rule(project, row.ruling.id, take, reason=Reason.SCOPE, **explained)
        ruling.close(project, result.id)


def label(project: Project, item_id: str, raters: tuple[Person, ...], sing: Canaries) -> None:
    """Both label two reports of systems with telling names by a settled rubric; Ben leaves marks beside."""
    rubric = artifacts.start(
        project, item_id, Rubric.KIND, Rubric(units=(Criterion(text="Names a metal"),))
    ).subject
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE artifact SET author_id = '', state = 'consensus' WHERE id = ?", (rubric,))
        for place, text in enumerate(("Gold is dense, and that is all.", "Lead is soft.")):
            db.execute(insert(SYSTEM).values(id=f"s{place}", name=sing.sing("System"), notes=sing.sing()))
            db.execute(
                insert(RESPONSE).values(
                    id=f"r{place}", item_id=item_id, system_id=f"s{place}", text=text, mode="end-to-end", trial=1,
                    sha256=response_hash(text),
                )
            )  # fmt: skip
    for person in raters:
        assignments.assign_one(project, item_id, person.id, Stage.LABELLING)
    project.work_as(raters[1])
    for task in labels.queue(project):
        for unit_id in labels.sheet(project, task.response_id).units:
            labels.set_label(project, task.response_id, unit_id.id, "no")
            labels.set_note(project, task.response_id, unit_id.id, sing.sing())
            labels.set_evidence(project, task.response_id, unit_id.id, sing.sing(), 0, 4)
    label_sealing.submit(project, item_id)


def found_in(content: bytes, marks: list[str]) -> list[str]:
    """The marks that stand in bytes: as they are, in UTF-16 either way round, or escaped as in JSON."""
    spellings = ("utf-8", "utf-16-le", "utf-16-be", "unicode_escape")
    return [mark for mark in marks if any(mark.encode(spelling) in content for spelling in spellings)]


def test_no_mark_is_in_the_package(planted: tuple[Project, Person, list[str]], tmp_path: Path) -> None:
    project, ada, marks = planted
    path = packing.task(project, ada.id, tmp_path).path
    assert found_in(project.path.read_bytes(), marks) == marks
    assert found_in(path.read_bytes(), marks) == []
    with zipfile.ZipFile(path) as package:
        assert found_in("\n".join(package.namelist()).encode(), marks) == []
        contents = {name: package.read(name) for name in package.namelist()}
    assert {name: result for name, content in contents.items() if (result := found_in(content, marks))} == {}
    assert b"her own words" in contents["feedback.json"]


def readable(folder: Path, key: bytes) -> bytes:
    """All that someone with this key can read in the files of a folder: bytes as they lie, and what opens to them."""
    seen = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        opened = known_keys.unsealed(content, key) if content.startswith(known_keys.SEALED_MAGIC) else content
        seen += [content, path.name.encode(), opened or b""]
        if (opened or b"").startswith(b"PK"):
            with zipfile.ZipFile(BytesIO(opened or b"")) as package:
                seen += [package.read(name) for name in package.namelist()]
    return b"\n".join(seen)


def joined(project: Project, folder: Path, own: Path) -> list[Project]:
    """The projects of everyone whose task lies open in a shared folder, their keys compared and their tasks whole."""
    theirs = [tasking.take_task(task, folder=own).project for task in folder.glob("*/*.goldsmith-task")]
    for one in theirs:
        shared_folder.sync(one)
        shared_folder.trust(project, known_keys.own_words(one))
    shared_folder.sync(project)
    for one in theirs:
        shared_folder.sync(one)
    return theirs


def test_each_person_who_reads_the_whole_shared_folder_reads_nobody_elses_marks(
    planted: tuple[Project, Person, list[str]], tmp_path: Path
) -> None:
    """First while tasks lie open, then once every key is known and everyone has sent something back."""
    project, ada, marks = planted
    (folder := tmp_path / "synced").mkdir()
    items.add(project, "A question for both")
    new = items.ids(project)[-1]
    for person in people.people(project):
        if person.alias != "R1" and not person.has(Role.ADJUDICATOR):
            assignments.assign_one(project, new, person.id, Stage.RUBRIC)
    shared_folder.choose(project, folder)
    assert [one.problem for one in shared_folder.send(project)] == [None, None]
    aliases = [person.alias for person in people.people(project)]
    secret = [mark for mark in marks if not any(mark in alias for alias in aliases)]
    assert len(secret) >= 198
    judges.add(project, "canaryjudgezq", base_url="http://127.0.0.1:1/v1", model="canarymodelzq")
    secret += ["canaryjudgezq", "canarymodelzq"]
    assert found_in(readable(folder, packages.new_key()), secret) == []

    theirs = joined(project, folder, tmp_path / "own")
    assert len(theirs) == 2
    for one in theirs:
        document = Rubric(units=(Criterion(text=f"mark of {people.someone(one).id} alone"),))
        assignments.seal(one, artifacts.start(one, new, Rubric.KIND, document).subject)
        shared_folder.sync(one)
    (hers,) = (one for one in theirs if one.by == ada.id)
    assert found_in(readable(folder, known_keys.signing_key(hers)), secret) == []
    assert b"her own words" in readable(folder, known_keys.signing_key(hers))
    for reader in (hers, *(one for one in theirs if one is not hers)):
        seen = readable(folder, known_keys.signing_key(reader))
        assert found_in(seen, [f"mark of {one.by} alone" for one in theirs]) == []
    coordinator = readable(folder, known_keys.signing_key(project))
    assert len(found_in(coordinator, [f"mark of {one.by} alone" for one in theirs])) == 2
    for one in theirs:
        one.close()


def test_no_mark_is_in_what_an_adjudicator_elsewhere_is_sent(
    planted: tuple[Project, Person, list[str]], tmp_path: Path
) -> None:
    """Eve gets what Ada and Ben wrote of her item, and of nobody who they are; before her key is known nothing."""
    project, ada, marks = planted
    ben = next(one for one in people.people(project) if "Ben" in one.name)
    eve = people.add_person(project, "Eve", (Role.ADJUDICATOR,)).subject
    new = items.add(project, "A question for Eve").subject
    # What another has adjudicated is not for a second one.
    for item_id in (new, items.ids(project)[0]):
        assignments.assign_one(project, item_id, eve, Stage.ADJUDICATION)
    for stage, person in ((stage, person) for stage in STAGES for person in (ada, ben)):
        hand_in(project, person, new, own(stage))
    secret = [*marks, ada.id, ben.id, *(row[0] for row in sql.rows(project, "SELECT id FROM artifact"))]
    (folder := tmp_path / "synced").mkdir()
    shared_folder.choose(project, folder)
    (sent,) = shared_folder.send(project, [eve])
    assert "2 pieces of work wait until the key of R4 is known." in sent.packed.notes
    assert found_in(readable(folder, packages.new_key()), [*secret, "her own words"]) == []
    (theirs,) = joined(project, folder, tmp_path / "own")
    for seen in (readable(folder, known_keys.signing_key(theirs)), theirs.path.read_bytes()):
        assert (found_in(seen, secret), b"Explains the rubric of gold" in seen) == ([], True)
    assert found_in(readable(folder, packages.new_key()), ["her own words"]) == []
    assert {(line.item_id, line.stage) for line in adjudicating.queue(theirs)} == {
        (new, stage) for stage in STAGES
    }
    assert (items.ids(theirs), sql.rows(theirs, "SELECT name FROM person")) == ([new], [("Eve",)])


def test_the_search_would_find_a_mark_in_every_spelling() -> None:
    for spelling in ("utf-8", "utf-16-le", "utf-16-be"):
        assert found_in("a 金丝雀003号秘 b".encode(spelling), ["金丝雀003号秘"]) == ["金丝雀003号秘"]
    assert found_in(b'"\\u91d1\\u4e1d"', ["金丝"]) == ["金丝"]


def found(texts: search.SearchIndex, typed: str) -> set[str]:
    """All that a search tells: the hits, each with its words, title and place."""
    return {f"{hit.kind}: {hit.title} {hit.words} {hit.place}" for hit in texts.hits(typed)}


def test_no_mark_is_found_or_counted_by_a_search(
    planted: tuple[Project, Person, list[str]], tmp_path: Path
) -> None:
    project, ada, marks = planted
    theirs = tasking.take_task(packing.task(project, ada.id, tmp_path).path).project
    project.work_as(ada)
    for mine in (theirs, project):
        texts = search.gather(mine)
        assert found(texts, "weight of gold"), "the search finds nothing"
        assert {hit.split(" ")[0] for hit in found(texts, "gold is dense")} == {"Reports:"}
        # Nine such units are her partner's.
        assert found(texts, "compares two alloys") == set()
        hits = {mark: found(texts, mark) for mark in marks}
        # In one file with everybody the page Items lists all questions to all; her own file has none of the others.
        lines = [line for of_mark in hits.values() for line in of_mark]
        assert [line for line in lines if mine is theirs or "nobody gave to Ada" not in line] == []
    assert found(search.gather(project), "her own words")


def test_no_mark_is_in_the_annotators_file_window_or_log(
    planted: tuple[Project, Person, list[str]], tmp_path: Path, qtbot, caplog: pytest.LogCaptureFixture
) -> None:
    project, ada, marks = planted
    with caplog.at_level(logging.DEBUG):
        theirs = tasking.take_task(packing.task(project, ada.id, tmp_path).path).project
        path = theirs.path
        window = Window(theirs)
        window.show()
        words = []
        for name in PAGES:
            window.show_page(name)
            qtbot.wait(50)
            qtbot.waitUntil(lambda: not window.session._tasks_behind)
            for part in (window.page, window.bar, window.messages):
                words += all_words(part)
        words += all_words(window)
        window.find_anything()
        window._palette.field.setText("a")
        qtbot.waitUntil(lambda: not window.session._tasks_behind)
        words += all_words(window._palette)
        shut(window)
    assert any("What is the weight of gold?" in word for word in words), "the walk sees nothing"
    assert found_in("\n".join(words).encode(), marks) == []
    assert found_in(path.read_bytes(), marks) == []
    assert found_in(caplog.text.encode(), marks) == []
