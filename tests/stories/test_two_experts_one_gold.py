"""The whole way of one gold: written twice and blind in files apart, frozen, adjudicated, disputed, renewed."""

import json
import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.assignments import agreements
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, tasking, tray
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.domain.experts.adjudication import AdjudicationState
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.kinds.artifact import Kind, chain
from annotator.domain.kinds.documents import document_of
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.exchange.parcels import packages
from tests.material.sent_apart import settled, write_rubric
from tests.storage import sql
from tests.windows.labelling_keys import press, type_words
from tests.windows.story_hands import rule, submit, window_of

QUESTION = "How does gold keep its shine?"
ADA = ("Explains why gold does not react with oxygen", "Compares the price of gold with silver")
BEN = ("Explains why gold does not react with oxygen", "Describes how alloys change the colour")


def run(*words: str) -> None:
    assert run_command(list(words)) == 0


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    capsys.readouterr()
    run(*words, "--json")
    return json.loads(capsys.readouterr().out)


def begin(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, dict[str, str]]:
    """A coordinator's project of one question, two annotators and an adjudicator, all made on the command line."""
    home = str(folder / "home.goldsmith")
    run("new", home, "--title", "Shine")
    with closing(Project.open(Path(home))) as project:
        items.add(project, QUESTION)
    roles = {"Ada": "annotator", "Ben": "annotator", "Cleo": "adjudicator"}
    ids = {
        name: told(capsys, "people", "add", home, "--name", name, "--role", role)["id"]
        for name, role in roles.items()
    }
    people_of = [word for name in ("Ada", "Ben") for word in ("--annotator", ids[name])]
    run("assign", home, "--stage", "rubric", "--overlap", "2", *people_of, "--adjudicator", ids["Cleo"])
    return home, ids


def write_in_the_window(task: str, qtbot) -> Path:
    """Ada opens her task and writes her rubric by keyboard alone."""
    with closing(tasking.take_task(Path(task)).project) as project:
        path, (item_id,) = project.path, items.ids(project)
    with window_of(path, "Ada", qtbot) as window:
        page = window.show_page("Author", item_id=item_id, kind=Kind.RUBRIC.value)
        press("Space")
        for number, words in enumerate(ADA):
            if number:
                press("Ctrl+N")
            type_words(words)
            press("Alt+3")
        submit(page)
    return path


def edited_by_hand(work: Path, key: bytes) -> Path:
    """The package again with other words in its first criterion, every hash made to fit, signed with that key."""
    package = packages.read_package(work)
    artifacts = json.loads(package.entries["artifacts.json"])
    revision = artifacts[0]["revisions"][0]
    revision["content"]["units"][0]["text"] = "Says that gold is pretty"
    tree = document_of(Kind.RUBRIC, revision["content"]).tree()
    revision["sha256"] = sha256(canonical_json(tree))
    link = ""
    for digest in (*revision["skipped"], revision["sha256"]):
        link = chain(link, digest)
    revision["chain"] = link
    entries = {**package.entries, "artifacts.json": json.dumps(artifacts).encode()}
    facts = packages.PackageFacts(
        **package.manifest.model_dump(include=set(packages.PackageFacts.model_fields))
    )
    path = work.with_name("by-hand.goldsmith-work")
    path.write_bytes(packages.package_bytes(facts, entries, key))
    return path


def adjudicate_in_the_window(home: str, qtbot) -> None:
    """Cleo takes A wherever there is one, drops what only B wrote, gives a reason each time, and closes."""
    with window_of(Path(home), "Cleo", qtbot) as window:
        page = window.show_page("Adjudicate")
        if adjudicating.queue(window.session.project)[0].disputes:
            page.frame.standing.reason.setPlainText("The objection is right.")
            page.frame.standing.reopen.click()
            press("2")
            press("Alt+1")
        else:
            press("Return")
        rule(page, qtbot)
        assert adjudicating.queue(window.session.project)[0].state == AdjudicationState.CLOSED.value


@pytest.fixture
def study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> "Study":
    """The coordinator's project with its people, and a task for each annotator."""
    home, ids = begin(tmp_path, capsys)
    made = Study(home, ids, tmp_path)
    for name in ("Ada", "Ben"):
        made.task(name).parent.mkdir()
        made.hand_out(name)
    return made


@dataclass(frozen=True)
class Study:
    """Where everything lies."""

    home: str
    ids: dict[str, str]
    folder: Path

    def task(self, name: str) -> Path:
        return self.folder / name / f"{name}.goldsmith-task"

    def work(self, name: str) -> Path:
        return self.folder / f"{name}.goldsmith-work"

    def hand_out(self, name: str) -> None:
        run("pack", self.home, "--as", "R1", "--person", self.ids[name], "--to", str(self.task(name)))

    def frozen(self) -> list[tuple]:
        with closing(Project.open(Path(self.home))) as project:
            return sql.rows(project, "SELECT * FROM agreement")


def return_both(study: Study, qtbot) -> Path:
    """Ada writes in the window and Ben without; each packs; Ada's project."""
    ada = write_in_the_window(str(study.task("Ada")), qtbot)
    ben = study.folder / "Ben" / "ben.goldsmith"
    run("unpack", str(ben), str(study.task("Ben")))
    with closing(Project.open(ben)) as project:
        write_rubric(project, items.ids(project)[0], *BEN)
    for name, file in (("Ada", ada), ("Ben", ben)):
        run("pack", str(file), "--to", str(study.work(name)))
    return ada


def take_in_all(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything arrives, B before A, A twice, and B once more as somebody edited it by hand."""
    again = study.folder / "again.goldsmith-work"
    shutil.copy(study.work("Ada"), again)
    arrived = [str(path) for path in (study.work("Ben"), again, study.work("Ada"))]
    outcomes = [one["outcome"] for one in told(capsys, "unpack", study.home, *arrived)["arrivals"]]
    assert (outcomes[0], sorted(outcomes)) == ("new", ["duplicate", "new", "new"])
    stranger = edited_by_hand(study.work("Ben"), packages.new_key())
    assert run_command(["unpack", study.home, str(stranger)]) == 1
    assert "signed with a different key" in capsys.readouterr().out
    with closing(Project.open(study.folder / "Ben" / "ben.goldsmith")) as project:
        by_ben = edited_by_hand(study.work("Ben"), known_keys.signing_key(project))
    assert told(capsys, "unpack", study.home, str(by_ben))["arrivals"][0]["outcome"] == "conflicting"


def object_to_it(study: Study, ada: Path) -> None:
    """Ada learns in her own file what became of her work, and objects."""
    study.hand_out("Ada")
    with closing(tasking.take_task(study.task("Ada"), ada).project) as project:
        item_id = items.ids(project)[0]
        (told_of,) = feedback.digest(project, item_id).stages
        assert ADA[0] in {row.own["text"] for row in told_of.rows if row.own}
        feedback.dispute(project, item_id, Stage.RUBRIC, "The price is what people ask about.")
    run("pack", str(ada), "--to", str(study.work("Ada")))


def come_home(study: Study, qtbot, capsys: pytest.CaptureFixture[str]) -> str:
    """Both annotators' work comes home, and Cleo opens her task; her project."""
    return_both(study, qtbot)
    told(capsys, "unpack", study.home, str(study.work("Ada")), str(study.work("Ben")))
    study.task("Cleo").parent.mkdir()
    study.hand_out("Cleo")
    run("unpack", cleo := str(study.folder / "Cleo/cleo.goldsmith"), str(study.task("Cleo")))
    return cleo


def brought_home(study: Study, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What Cleo wrote to be sent back is imported; the criteria of the consensus."""
    (came,) = told(capsys, "unpack", study.home, "--as", "R1", str(study.work("Cleo")))["arrivals"]
    assert [piece["outcome"] for piece in came["pieces"]] == ["new"]
    with closing(Project.open(Path(study.home))) as project:
        return settled(project)


def test_a_senior_rules_elsewhere_by_command(study: Study, qtbot, capsys: pytest.CaptureFixture[str]) -> None:
    cleo = come_home(study, qtbot, capsys)
    (line,) = told(capsys, "adjudicate", cleo)["rows"]
    rows = told(capsys, "adjudicate", cleo, "--item", line["item_key"])["rows"]
    assert {row[letter]["text"] for row in rows for letter in "AB" if letter in row} == {*ADA, *BEN}
    takes = [word for row in rows for word in ("--take", f"{row['row']}={'A' if 'A' in row else 'drop'}")]
    run("adjudicate", cleo, "--item", line["item_key"], "--reason", "scope", *takes)
    run("pack", cleo, "--to", str(study.work("Cleo")))
    assert brought_home(study, capsys) == [row["A"]["text"] for row in rows if "A" in row]


def test_a_gold_is_made_by_two_experts_and_a_senior(
    study: Study, qtbot, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = return_both(study, qtbot)
    take_in_all(study, capsys)
    before = study.frozen()
    with closing(Project.open(Path(study.home))) as project:
        (result,) = agreements.of_item(project, items.ids(project)[0])
        assert (result.pairs[0].figures[0].name, result.pairs[0].figures[0].value) == ("match_f1", 0.5)
        assert [entry.reason for entry in tray.entries(project)] == [ParcelOutcome.CONFLICT]
    adjudicate_in_the_window(study.home, qtbot)
    object_to_it(study, ada)
    arrival = told(capsys, "unpack", study.home, "--as", "R1", str(study.work("Ada")))["arrivals"][0]
    assert [piece["outcome"] for piece in arrival["pieces"]] == ["duplicate", "new"]
    adjudicate_in_the_window(study.home, qtbot)
    with closing(Project.open(Path(study.home))) as project:
        consensus = "SELECT count(*), max(revision) FROM artifact WHERE state = 'consensus'"
        assert sql.first(project, consensus) == (1, 2)
    study.hand_out("Ada")
    with closing(tasking.take_task(study.task("Ada"), ada).project) as project:
        (answered,) = feedback.digest(project, items.ids(project)[0]).stages
        assert (answered.version, answered.dispute.answered_version) == (2, 2)
    assert study.frozen() == before
