"""Labelling and adjudicating by keyboard alone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from sqlalchemy import select

from annotator.actions.adjudication import ruling
from annotator.actions.assignments import agreements
from annotator.actions.consensus import consensus
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Confidence, Origin, Reason
from annotator.domain.kinds.artifact import Kind
from annotator.gui.review.field_chips import about
from annotator.gui.shell.start import make_application
from annotator.gui.shell.window import Window
from annotator.storage.tables import ARTIFACT, CONSENSUS_VERSION, JUDGEMENT, REVISION
from tests.projects.adjudication_project import ADA, BEN, contested_project
from tests.projects.labelling_project import REPORT, labelling_project
from tests.projects.pairs_project import item, kept, letter_of
from tests.windows.labelling_keys import be_active, press, type_words


@pytest.fixture
def window_on(qapp, qtbot) -> Iterator[Callable[[Project], Window]]:
    """Opens the real window over a project, with the keyboard."""
    make_application()
    QSettings().clear()
    made: list[Window] = []

    def make(project: Project) -> Window:
        made.append(Window(project, "Items"))
        made[0].show()
        qtbot.waitExposed(made[0])
        be_active(made[0], qtbot)
        return made[0]

    yield make
    made[0].close()
    QSettings().clear()


def rows(path) -> list[dict]:
    project = Project.open(path, readonly=True)
    with project.store.read() as db:
        result = [dict(row) for row in db.execute(select(JUDGEMENT)).mappings()]
    project.close()
    return result


def test_two_reports_are_labelled_by_keyboard_alone(window_on, tmp_path: Path):
    window = window_on(labelling_project(tmp_path, criteria=3, reports=2, questions=1))
    press("Ctrl+3")
    page = window.page
    first, second = (task.response_id for task in page.queue.lines)

    # The first criterion is met; the words that show it are found, selected and marked.
    press("Ctrl+F")
    type_words("attribution ties")
    press("Return")
    press("Esc")
    press("Ctrl+Shift+Right", 3)
    press("Ctrl+E")
    press("Esc")
    press("1")

    # The second is not met, with a reason and a flag; a slip is taken back.
    press("Ctrl+M")
    type_words("Only named, 2 of 3 parts")
    press("Esc")
    press("Ctrl+G")
    press("1")
    press("Ctrl+Z")
    press("2")

    # Done is asked for too early, and leads to what is open.
    press("Ctrl+Return")
    assert page.criteria.open_list.said() == "One criterion is still open:"
    press("-")
    press("Ctrl+Return")
    assert page.bench.response_id == second

    # The second report: one look back at the first, then all met.
    press("1")
    press("Ctrl+PgUp")
    assert page.bench.response_id == first
    press("Ctrl+J")
    assert page.bench.response_id == second
    press("1")
    press("1")
    press("Ctrl+Return")
    assert page.done.isVisible()

    result = rows(window.session.project.path)
    labels = {(row["response_id"], row["unit_id"][-2:]): row for row in result}
    assert [(labels[first, unit]["value"], labels[first, unit]["status"]) for unit in ("c1", "c2", "c3")] == [
        ("yes", "ok"),
        ("no", "ok"),
        (None, "unclear"),
    ]
    assert [labels[second, unit]["value"] for unit in ("c1", "c2", "c3")] == ["yes", "yes", "yes"]
    evidence = labels[first, "c1"]
    assert evidence["quote"] == "Attribution ties each **claim"
    assert REPORT[evidence["quote_start"] : evidence["quote_end"]] == evidence["quote"]
    reason = labels[first, "c2"]
    assert (reason["note"], reason["flags"]) == ("Only named, 2 of 3 parts", "flagged until:no")
    assert all(row["seconds"] is not None for row in result)
    assert {row["rater_kind"] for row in result} == {"person"}


OWN = "Identifies verification by people as what limits the size of benchmarks"
POST_HOC, CONTRASTS = ADA[12][0], BEN[12][0]
# Row by row, by the words of its first letter: whose wording is taken, or what else is done, and why.
PLAN = {
    ADA[3][0]: ("Ben", "Alt+1"), BEN[3][0]: ("Ben", "Alt+1"),
    ADA[4][0]: ("Ada", "Alt+3"),
    ADA[5][0]: ("own", "Alt+1"), BEN[5][0]: ("own", "Alt+1"),
    ADA[6][0]: ("Ada", "Alt+4"), BEN[6][0]: ("Ada", "Alt+4"),
    ADA[7][0]: ("both", ""), BEN[7][0]: ("both", ""),
    ADA[8][0]: ("Ben", "Alt+8"), BEN[8][0]: ("Ben", "Alt+8"),
    ADA[9][0]: ("Ada", "Alt+3"),
    ADA[10][0]: ("drop", "Alt+2"),
    ADA[11][0]: ("Ada", ""), ADA[13][0]: ("Ada", ""), ADA[14][0]: ("Ada", ""),
    BEN[10][0]: ("Ben", ""), BEN[11][0]: ("Ben", ""), BEN[13][0]: ("Ben", ""),
    BEN[14][0]: ("Ben", ""), BEN[15][0]: ("Ben", ""), BEN[16][0]: ("drop", "Alt+7"),
}  # fmt: skip
# Nobody would write these as one; the senior does, and keeps Ada's words.
PAIRED = {POST_HOC, CONTRASTS}


def hands(window: Window, keys: dict[str, str]) -> None:
    """Do to the row in view what the plan says, by keys alone."""
    page = window.page
    row = page.bench.row
    words = about(row)
    if words in PAIRED and len(row.units) == 1:
        press("Ctrl+P")
        (partner,) = PAIRED - {words}
        while about(page.bench.rows[page.acts.pairing.partner]) != partner:
            press("Down")
        press("Return")
        press("Ctrl+M")
        type_words("1 idea, 2 wordings")
        press("Esc")
        press(keys["Ada"])
        press("Alt+Shift+3")
        press("Alt+5")
        return
    take, why = PLAN[words]
    press(keys[take])
    if take == "own":
        press("Ctrl+A")
        type_words(OWN)
        press("Esc")
    if why:
        press(why)
    if why == "Alt+7":
        type_words("Says nothing on combining")
        press("Esc")
        press("Ctrl+J")


def test_fifteen_against_seventeen_by_keyboard_alone(window_on, tmp_path: Path):
    """Fifteen criteria of Ada's against seventeen of Ben's, with Cleo at work."""
    window = window_on(contested_project(tmp_path))
    project = window.session.project
    before = [kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")]
    frozen = agreements.of_item(project, item(project))

    press("Ctrl+4")
    press("Return")
    page = window.page
    adjudication_id = page.bench.sheet.adjudication_id
    letter = {name: page.bench.ask(lambda *of, name=name: letter_of(*of, name)) for name in ("Ada", "Ben")}
    keys = {name: "1" if letter[name] == "A" else "2" for name in letter}
    keys |= {"both": "3", "own": "4", "drop": "0"}

    # Closing is asked for too early, and leads to the first conflict.
    press("Ctrl+Return")
    assert page.frame.close_panel.title.text().startswith("It cannot be closed yet: 19 things to do")
    press("Return")
    assert page.bench.row.number == 4
    # What nobody disputes is confirmed by itself; a slip there is taken back.
    press("Up")
    press("Alt+0")
    assert len(page.bench.unconfirmed) == 1
    press("Ctrl+Z")
    assert page.bench.unconfirmed == []
    press("Ctrl+J")

    for _ in range(19):
        if page.bench.unresolved(contested=True):
            hands(window, keys)
    assert page.messages.text() == "Every row of this item is settled."
    press("Ctrl+Return")
    assert page.frame.done.isVisible()
    assert page.messages.text().startswith("Rubric of item 1 is closed as version 1: 20 criteria.")

    check_consensus(project, letter)
    assert [kept(project, Kind.RUBRIC, name) for name in ("Ada", "Ben")] == before
    assert agreements.of_item(project, item(project)) == frozen
    (version,) = ruling.versions(project, adjudication_id)
    # 10 of 15 and 17 are matched by the program: 2·10/32; the senior's pairing makes it 11.
    assert frozen[0].pairs[0].figures[0].value == pytest.approx(20 / 32)
    assert version.repaired[0].value == pytest.approx(22 / 32)


def check_consensus(project: Project, letter: dict[str, str]) -> None:
    """The consensus as a second look into the file finds it: words, weights, origins, reasons."""
    second = Project.open(project.path, readonly=True)
    with second.store.read() as db:
        result = db.execute(select(ARTIFACT).where(ARTIFACT.c.state == "consensus")).one()
        content = db.execute(
            select(REVISION.c.content).where(REVISION.c.artifact_id == result.id)
        ).scalar_one()
        provenance = json.loads(db.execute(select(CONSENSUS_VERSION.c.content)).scalar_one())["provenance"]
    second.close()
    units = {unit["text"]: unit for unit in json.loads(content)["units"]}
    wanted = {
        **dict(ADA[:3]), BEN[3][0]: 2, ADA[4][0]: 1, OWN: 2, ADA[6][0]: 3, ADA[7][0]: 2, BEN[7][0]: 2,
        BEN[8][0]: 2, ADA[9][0]: 2, ADA[11][0]: 1, POST_HOC: 3, ADA[13][0]: 2, ADA[14][0]: 1,
        **dict(BEN[10:12]), **dict(BEN[13:16]),
    }  # fmt: skip
    assert {text: unit["weight"] for text, unit in units.items()} == wanted
    said = {each["unit_id"]: each for each in provenance}
    origin = {text: said[unit["id"]] for text, unit in units.items()}
    assert origin[ADA[0][0]]["origin"] == Origin.BOTH
    assert (origin[OWN]["origin"], origin[OWN]["reason"]) == (Origin.EDITED, Reason.WORDING)
    assert (origin[BEN[7][0]]["origin"], origin[BEN[7][0]]["letter"]) == (Origin.ONE, letter["Ben"])
    paired = origin[POST_HOC]
    assert (paired["letter"], set(paired["sources"].values())) == (letter["Ada"], {"a13", "b13"})
    assert (paired["reason"], paired["confidence"]) == (Reason.DUPLICATE, Confidence.HIGH)
    assert paired["rationale"] == "1 idea, 2 wordings"
    (gap,) = consensus.gaps(project)
    assert gap.text == "Says nothing on combining"
