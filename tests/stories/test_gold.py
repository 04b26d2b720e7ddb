"""How gold comes about: a question becomes an item; one gold is written twice apart, adjudicated, disputed, renewed."""

import json
import os
import random
import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_cases, label_sealing, labels
from annotator.actions.parcels import known_keys, packing, tasking, tray, unpacking
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_figures
from annotator.actions.studies import part_views, question_views
from annotator.actions.undo import history
from annotator.cli import run_command
from annotator.domain.common import Refusal, canonical_json, sha256
from annotator.domain.experts.adjudication import AdjudicationState, form_of
from annotator.domain.experts.assignment import ParcelOutcome, Purpose, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind, chain
from annotator.domain.kinds.documents import document_of
from annotator.domain.kinds.selection import Recommendation
from annotator.exchange.parcels import packages
from annotator.gui.shell.window import Window
from annotator.protocols import PROTOCOLS, USUAL
from tests.common import content_hash
from tests.projects.pairs_project import (
    ORIGINS,
    TYPE,
    annotators,
    edit_rubric,
    pairs_project,
    person,
    settled,
    task_for,
    write_rubric,
)
from tests.projects.small_projects import CLAIMS, PAGE, PAIRS, PLAN, REASONING, SYSTEMS, one_item
from tests.storage import sql
from tests.windows.story_hands import opened, rule, settle, submit, window_of
from tests.windows.using import Typed, focus, press, type_words

COUNT, GOOD, POOR = 6, 5, 2
# The alias of Cora, who made the project.
CORA = "R1"
# Rated below the bar: of one origin no candidate, of another half of them, of the third all.
LEFT_OUT = (2, 4, 5)
DRAFT = ("Explains how evidence is attributed", "Names a study of citations")
DOUBLES = {
    "Ada": ("Explains how evidence is attributed", "Compares two ways to attribute it"),
    "Ben": ("Explains how evidence is attributed", "States what attribution costs"),
}
ASKED = "How do research agents attribute what they say to sources?"
JUDGE, SUBJECT, REASON = "mock", "Attribution", "It asks how something is done."
WHY = "It says which part of a report it asks about."
SHOWN = "How do agents show where their evidence is from?"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(pairs_project(tmp_path, 0)) as project:
        return project.path


def collect(window: Window) -> None:
    page = window.show_page("Items")
    for number in range(COUNT):
        press("Ctrl+N", Typed(f"Candidate {number}: how is evidence attributed?"))
        press(Typed(ORIGINS[number % 3]), at=page.form.origin)
        press("Space", at=page.form.save)


def classify(path: Path, llmock: LLMock, qtbot) -> None:
    """A model proposes what each candidate is of, and Cora takes that over, one by one."""
    with opened(path, "Cora") as project:
        judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
        for _ in range(COUNT):
            llmock.reply(json.dumps({"reason": REASON, "question_type": TYPE, "subject": SUBJECT}))
        keys = [items.read(project, one).key for one in items.ids(project)]
    of_items = [word for key in keys for word in ("--item", key)]
    ask = ["draft", "ask", str(path), "--judge", JUDGE, "--kind", "classification", "--as", CORA]
    assert run_command([*ask, *of_items]) == 0
    with opened(path, "Cora") as project:
        assert {items.read(project, one).question_type for one in items.ids(project)} == {""}
    with window_of(path, "Cora", qtbot) as window:
        page = window.show_page("Items")
        for row in range(COUNT):
            page.table.selectRow(row)
            press("Ctrl+Shift+D", at=page.table)
            assert REASON in page.form.proposal.words.text()
            press("Space", "Space")
        project = window.session.project
        result = [items.read(project, one) for one in items.ids(project)]
        assert {(one.question_type, one.subject) for one in result} == {(TYPE, SUBJECT)}


def rating(number: int) -> int:
    return POOR if number in LEFT_OUT else GOOD


def rate(window: Window) -> None:
    """Each candidate on the form: every dimension with its reason, what to do with it, and the whole submitted."""
    for number, item_id in enumerate(items.ids(window.session.project)):
        page = window.show_page("Author", item_id=item_id, kind=Kind.SELECTION.value)
        press("Space")
        for editor in page.sheet.form.editors:
            editor.enter()
            press(str(rating(number)))
            press(Typed(WHY), at=editor.fields["note"])
        page.sheet.form.whole.fields["recommendation"].enter()
        press("1" if rating(number) == GOOD else "3")
        submit(page)
        (sealed,) = (
            artifact
            for artifact in annotating.artifacts_of(page.session.project, item_id)
            if artifact.author_id == page.session.project.by
        )
        advice = Recommendation.KEEP if rating(number) == GOOD else Recommendation.DROP
        assert sealed.document.recommendation == advice
        assert {unit.note for unit in sealed.document.units} == {WHY}


def write(window: Window, kind: Kind, item_id: str, *lines: str) -> None:
    page = window.show_page("Author", item_id=item_id, kind=kind.value)
    press("Space")
    for number, words in enumerate(lines):
        if number:
            press("Ctrl+N")
        type_words(words)
        if kind is Kind.RUBRIC:
            press("Alt+3")
    submit(page)


def review(window: Window, item_id: str, qtbot) -> None:
    """Ben takes the draft over as it is, adds a criterion, answers the form and hands it back."""
    project = window.session.project
    press("Space", at=window.show_page("Reviews", item_id=item_id).begin)
    page = window.page
    assert page.NAME == "Author"
    page.sheet.form.editors[-1].text.setFocus()
    press("Ctrl+N", Typed("Describes what cannot be attributed"), "Alt+2")
    page.leave()
    answers = window.show_page("Reviews", item_id=item_id).boxes
    qtbot.waitUntil(lambda: all(box.isVisible() for box, _ in answers.values()))
    answers["completeness"][0].setFocus()
    for question in form_of(Kind.RUBRIC):
        assert focus() is answers[question][0]
        press("Y", "Tab", 2)
    (review_line,) = reviewing.lines(project)
    assert review_line.review.form == dict.fromkeys(form_of(Kind.RUBRIC), "yes")
    submit(window.show_page("Author", item_id=item_id, kind=Kind.RUBRIC.value))


def label(window: Window, item_id: str, response_id: str, criteria: int) -> None:
    page = window.show_page("Label", item_id=item_id, response_id=response_id)
    assert page.report_pane.question.text() == items.read(window.session.project, item_id).question
    press("1", criteria, "Ctrl+Return")


def test_a_question_becomes_an_item(path: Path, qtbot, llmock: LLMock) -> None:
    with window_of(path, "Cora", qtbot) as window:
        collect(window)
    classify(path, llmock, qtbot)
    for name in ("Ada", "Ben"):
        with window_of(path, name, qtbot) as window:
            rate(window)
    with window_of(path, "Cora", qtbot) as window:
        first, second = select(window)
    query_and_rubric_are_settled(path, first, second, qtbot)
    rubric_is_reviewed(path, second, qtbot)
    settled_query_is_asked(path, first, llmock)
    reports_are_labelled(path, (first, second), qtbot)


def select(window: Window) -> list[str]:
    """What is below the bar is left out; the first item is for doubles, the second for a draft and its review."""
    window.show_page("Items")
    press("Ctrl+Shift+A")
    project = window.session.project
    assert items.count(project) == COUNT - len(LEFT_OUT)
    lines = {line.origin: line for line in question_views.selection_report(project).funnel}
    for place, origin in enumerate((*ORIGINS, question_views.ALL_ORIGINS)):
        of = [number for number in range(COUNT) if origin not in ORIGINS or number % 3 == place]
        kept = [number for number in of if number not in LEFT_OUT]
        line = lines[origin]
        assert (line.collected, line.classified, line.rated) == (len(of), len(of), len(of))
        assert (line.reached, line.in_use, line.settled) == (len(kept), len(kept), 0)
    chosen = items.ids(project)[:2]
    ids = {name: person(project, name).id for name in ("Ada", "Ben")}
    for name, purpose in (("Ada", Purpose.WORK), ("Ben", Purpose.REVIEW)):
        assignments.assign_one(project, chosen[1], ids[name], Stage.RUBRIC, purpose=purpose)
    return chosen


def query_and_rubric_are_settled(path: Path, first: str, second: str, qtbot) -> None:
    """One query is settled, and from now on it is what is asked; its rubric was written twice."""
    with window_of(path, "Ada", qtbot) as window:
        write(window, Kind.QUERY, first, ASKED)
        write(window, Kind.RUBRIC, first, *DOUBLES["Ada"])
        write(window, Kind.RUBRIC, second, *DRAFT)
    with window_of(path, "Ben", qtbot) as window:
        write(window, Kind.QUERY, first, SHOWN)
        write(window, Kind.RUBRIC, first, *DOUBLES["Ben"])
    with window_of(path, "Cleo", qtbot) as window:
        for stage in (Stage.QUERY, Stage.RUBRIC):
            settle(window, first, stage, qtbot)
        queue = adjudicating.queue(window.session.project)
        states = {line.stage: line.state for line in queue if line.item_id == first}
        assert (states[Stage.QUERY], states[Stage.RUBRIC]) == ("closed", "closed")
        asked = items.read(window.session.project, first)
        assert asked.question in (ASKED, SHOWN)
        assert asked.working_title.startswith("Candidate 0")


def rubric_is_reviewed(path: Path, second: str, qtbot) -> None:
    """The other rubric was drafted by one and is reviewed by another, and its author agrees."""
    with window_of(path, "Ben", qtbot) as window:
        review(window, second, qtbot)
    with window_of(path, "Ada", qtbot) as window:
        press("Space", at=window.show_page("Reviews", item_id=second).agree)
        (line,) = reviewing.lines(window.session.project)
        assert line.state == reviewing.AGREED


def settled_query_is_asked(path: Path, first: str, llmock: LLMock) -> None:
    """A model that writes reports is sent the wording that was settled, and no working title."""
    llmock.reset()
    for _ in range(COUNT - len(LEFT_OUT)):
        llmock.reply("Agents attribute what they say by numbered citations, which readers can follow.")
    assert run_command(["respond", str(path), "--system", "Larkmoor", "--judge", JUDGE]) == 0
    with opened(path, "Cora") as project:
        asked = items.read(project, first)
    sent = [json.dumps(request.body) for request in llmock.requests]
    assert (len(sent), sum(asked.question in one for one in sent)) == (COUNT - len(LEFT_OUT), 1)
    assert not any(asked.working_title in one for one in sent)


def reports_are_labelled(path: Path, chosen: tuple[str, ...], qtbot) -> None:
    """The report on each is labelled under its settled wording, which stands on the page."""
    with opened(path, "Cora") as project:
        for item_id in chosen:
            assignments.assign_one(project, item_id, person(project, "Ada").id, Stage.LABELLING)
    with window_of(path, "Ada", qtbot) as window:
        project = window.session.project
        for item_id in chosen:
            (report,) = (task for task in labels.queue(project) if task.item_id == item_id)
            label(window, item_id, report.response_id, report.units)
            assert label_sealing.submission(project, item_id).state == "sealed"
    with opened(path, "Cora") as project:
        assert items.count(project) == COUNT - len(LEFT_OUT)


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
    items.add(Project.open(Path(home)), "How does gold keep its shine?")
    ids = {
        name: told(capsys, "people", "add", home, "--name", name, "--role", role)["id"]
        for name, role in {"Ada": "annotator", "Ben": "annotator", "Cleo": "adjudicator"}.items()
    }
    people_of = [word for name in ("Ada", "Ben") for word in ("--annotator", ids[name])]
    run("assign", home, "--stage", "rubric", "--overlap", "2", *people_of, "--adjudicator", ids["Cleo"])
    return home, ids


def write_in_the_window(task: str, qtbot) -> Path:
    with closing(tasking.take_task(Path(task)).project) as project:
        path, (item_id,) = project.path, items.ids(project)
    with window_of(path, "Ada", qtbot) as window:
        page = window.show_page("Author", item_id=item_id, kind=Kind.RUBRIC.value)
        press("Space")
        for number, words in enumerate(ADA):
            if number:
                press("Ctrl+N")
            press(Typed(words), "Alt+3")
        submit(page)
    return path


def edited_by_hand(work: Path, key: bytes) -> Path:
    """The package again with other words in its first criterion, every hash made to fit, signed with that key."""
    package = packages.read_package(work)
    artifacts = json.loads(package.entries["artifacts.json"])
    revision = artifacts[0]["revisions"][0]
    revision["content"]["units"][0]["text"] = "Says that gold is pretty"
    revision["sha256"] = sha256(canonical_json(document_of(Kind.RUBRIC, revision["content"]).tree()))
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
            press("2", "Alt+1")
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
        return sql.rows(Project.open(Path(self.home)), "SELECT * FROM agreement")


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
    by_ben = edited_by_hand(
        study.work("Ben"), known_keys.signing_key(Project.open(study.folder / "Ben" / "ben.goldsmith"))
    )
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
    return settled(Project.open(Path(study.home)))


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
        (result,) = assignments.of_item(project, items.ids(project)[0])
        assert (result.pairs[0].figures[0].name, result.pairs[0].figures[0].value) == ("match_f1", 0.5)
        assert [entry.reason for entry in tray.entries(project)] == [ParcelOutcome.CONFLICT]
    adjudicate_in_the_window(study.home, qtbot)
    object_to_it(study, ada)
    arrival = told(capsys, "unpack", study.home, "--as", "R1", str(study.work("Ada")))["arrivals"][0]
    assert [piece["outcome"] for piece in arrival["pieces"]] == ["duplicate", "new"]
    adjudicate_in_the_window(study.home, qtbot)
    with closing(Project.open(Path(study.home))) as project:
        assert sql.first(
            project, "SELECT count(*), max(revision) FROM artifact WHERE state = 'consensus'"
        ) == (1, 2)
    study.hand_out("Ada")
    with closing(tasking.take_task(study.task("Ada"), ada).project) as project:
        (answered,) = feedback.digest(project, items.ids(project)[0]).stages
        assert (answered.version, answered.dispute.answered_version) == (2, 2)
    assert study.frozen() == before


APART = (CLAIMS, PAIRS, PLAN, REASONING)
KIND = "researcherbench.citation_errors"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """One item with settled gold of every kind and three reports; two people may label it."""
    project = one_item(tmp_path, 3, 2)
    sql.alter(project, "UPDATE artifact SET author_id = '', state = 'consensus'")
    return project


def raters(project: Project) -> list[str]:
    return [one.id for one in people.people(project) if one.name.startswith("Rater")]


def hand_out(project: Project, *protocols: str) -> None:
    plan = AssignmentPlan(
        (Stage.LABELLING,), 2, tuple(raters(project)), items=tuple(items.ids(project)), protocols=protocols
    )
    assignments.assign(project, plan)


def say(theirs: Project, protocol: str, place: int) -> None:
    """The first value everywhere, but at one place the last that is allowed."""
    for task in labels.queue(theirs, protocol):
        sheet = labels.sheet(theirs, task.response_id, protocol, task.other_id)
        for group in sheet.groups:
            for unit in group.units:
                value = group.values[-1 if unit is sheet.units[min(place, len(sheet.units) - 1)] else 0]
                labels.set_label(theirs, task.response_id, unit.id, value, protocol=protocol)


def labelled_apart(project: Project, person: str, folder: Path, place: int) -> Path:
    """The work of one person, who opened their task and labelled everything in it."""
    theirs = tasking.take_task(packing.task(project, person, folder).path).project
    for protocol in label_cases.offered(theirs):
        say(theirs, protocol, place)
    no_ = sql.rows(
        theirs, "SELECT response_id, unit_id FROM judgement WHERE protocol = ? AND value = 'no'", (CLAIMS,)
    )
    for response_id, unit_id in no_:
        label_sealing.give(theirs, response_id, unit_id, KIND, label_sealing.TAXONOMIES[KIND].values[0])
    label_sealing.submit(theirs, items.ids(theirs)[0], CLAIMS)
    work = tray.work(theirs, folder).path
    theirs.close()
    return work


def test_letter_10_labels_of_every_kind_are_given_apart_and_come_home(
    project: Project, tmp_path: Path
) -> None:
    hand_out(project, *APART)
    first, second = raters(project)
    work = [
        labelled_apart(project, first, tmp_path / "a", 0),
        labelled_apart(project, second, tmp_path / "b", 1),
    ]
    assert {one.outcome for one in unpacking.take_in(project, work)} == {ParcelOutcome.NEW}
    with project.store.read() as db:
        said = {name: validation_figures.of_people(db, PROTOCOLS[name], submitted=True) for name in APART}
    # Three claims, three statements in three reports, 2 × 3 cells, three pairs; both spoke of every one.
    counts = {name: {len(said[name][person]) for person in (first, second)} for name in APART}
    assert counts == {CLAIMS: {3}, REASONING: {9}, PLAN: {6}, PAIRS: {3}}
    assert said[CLAIMS][first].keys() == said[CLAIMS][second].keys()
    assert said[PAIRS][first].keys() == said[PAIRS][second].keys()
    fields = {row.field for row in agreement_report.report(project).rows if row.figure("kappa") is not None}
    assert set(APART) <= fields
    errors = next(one for one in part_views.error_report(project, "people") if one.taxonomy.name == KIND)
    assert sum(own.value or 0 for means in errors.means.values() for own in means.values()) > 0


def test_letter_10_a_task_holds_no_gold_label_and_no_system(project: Project, tmp_path: Path) -> None:
    hand_out(project, *APART)
    package = packages.read_package(packing.task(project, raters(project)[0], tmp_path).path, packages.TASK)
    whole = b"\n".join(package.entries.values()).decode()
    assert PAGE.splitlines()[0] in whole
    assert not [name for name in SYSTEMS if name in whole]
    statements = next(
        load["document"]["units"]
        for load in orjson.loads(package.entries["documents.json"])
        if load["kind"] == "diagnostics"
    )
    assert [statement["label"] for statement in statements] == [None] * 3


def test_letter_10_more_may_be_asked_of_those_who_label_an_item_already(project: Project) -> None:
    hand_out(project)
    hand_out(project, USUAL, REASONING)
    assert [one.protocols for one in assignments.of_person(project, raters(project)[0])] == [
        f"{USUAL} {REASONING}"
    ]
    history.undo(project)
    assert [one.protocols for one in assignments.of_person(project, raters(project)[0])] == [""]


def test_letter_10_an_item_without_anything_to_ask_is_not_packed(project: Project, tmp_path: Path) -> None:
    sql.alter(project, "DELETE FROM page")
    hand_out(project, CLAIMS)
    with pytest.raises(Refusal, match="nothing to label yet"):
        packing.task(project, raters(project)[0], tmp_path)


PEOPLE = 10
ORDERS = int(os.environ.get("GOLDSMITH_ORDERS", "8"))
TOPICS = (
    "residual connections",
    "gold's weight",
    "the treaty on quotas",
    "地震预警的评价",
    "تكلفة تخزين الهيدروجين",
)


def ring(folder: Path) -> Project:
    """A coordinator's project of as many people and items, in which each item is two neighbours' to write."""
    folder.mkdir()
    project = people.new_project(folder / "study.goldsmith")
    for number in range(PEOPLE):
        items.add(project, f"Question {number} of many?")
        people.add_person(project, f"Expert {number}")
    experts = annotators(project)
    for place, item_id in enumerate(items.ids(project)):
        for expert in (experts[place], experts[place - 1]):
            assignments.assign_one(project, item_id, expert.id, Stage.RUBRIC)
    return project


def returned_twice(project: Project, person_id: str, folder: Path, random_: random.Random) -> list[Path]:
    """What one person sends back: a first package, and for every other person a second with one rubric reworded."""
    theirs = tasking.take_task(task_for(project, person_id, folder)).project
    for item_id in items.ids(theirs):
        write_rubric(theirs, item_id, *(f"Explains {topic}" for topic in random_.sample(TOPICS, 3)))
    sent = [tray.work(theirs, folder / "first.goldsmith-work").path]
    if random_.random() < 0.5:
        edit_rubric(theirs, items.ids(theirs)[0], "Compares two ways of measuring density")
        sent.append(tray.work(theirs, folder / "second.goldsmith-work").path)
    theirs.close()
    return sent


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_order_of_arrival_gives_one_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(20)
    home = ring(tmp_path / "home")
    sent = [
        path
        for person in annotators(home)
        for path in returned_twice(home, person.id, tmp_path / person.alias, chance)
    ]
    home.close()
    # Backups and reading the same files again, thousands of times, would test the disk and not the order.
    monkeypatch.setattr(backups, "make", lambda *_: None)
    read = {path: packages.read_package(path) for path in sent}
    monkeypatch.setattr(packages, "read_package", lambda path, *_: read[path])
    hashes = set()
    for number in range(ORDERS):
        copy = tmp_path / "copy.goldsmith"
        shutil.copy(home.path, copy)
        project = Project.open(copy)
        order = chance.sample(sent, len(sent)) + chance.sample(sent, 3)
        batches = chance.randint(1, 4)
        for start in range(batches):
            unpacking.take_in(project, order[start::batches])
        hashes.add(content_hash(project))
        project.close()
        assert len(hashes) == 1, f"order {number} came out otherwise"
