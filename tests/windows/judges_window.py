"""What tests of judges and of runs share: hands for lists and choices, and the window's keys for a run."""

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt

from annotator.gui.parts import below
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.session.run import BackgroundRun
from annotator.gui.widgets.basics import PlainLabel
from tests.judging.odd_server import Odd, OddServer
from tests.windows.using import press


def choose(combo: Any, value: str) -> None:
    row = combo.findData(value)
    assert row >= 0, value
    combo.setCurrentIndex(row)


def tick(entries: Any, *names: str) -> None:
    for row in range(entries.count()):
        entry = entries.item(row)
        entry.setCheckState(Qt.CheckState.Checked if entry.text() in names else Qt.CheckState.Unchecked)


def cells(view: Any, column: int) -> list[str]:
    model = view.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def said_in(card: Any) -> str:
    return "\n".join(label.text() for label in card.findChildren(PlainLabel))


def run_panel(page: Any, run: BackgroundRun) -> RunPanel:
    (panel,) = (one for one in below(page, RunPanel) if one.run is run and one.isVisible())
    return panel


def paused_and_resumed(
    page: Any, qtbot: Any, server: OddServer, run: BackgroundRun, start: Callable[[], object]
) -> None:
    """Start a run of one question at a time, pause it while the second is asked, and let it go on to its end."""
    answer, let_go = server.answer, threading.Event()
    before = len(server.bodies)

    def late(body: dict[str, Any], number: int) -> Odd:
        if number == before + 1:
            let_go.wait(60)
        return answer(body, number)

    server.answer = late
    start()
    qtbot.waitUntil(lambda: len(server.bodies) == before + 2)
    press("Ctrl+H")
    panel, (button,) = run_panel(page, run), page.window().status.runs.values()
    assert panel.hold.text().startswith("Resume")
    assert button.text().endswith("paused")
    qtbot.waitUntil(lambda: "Paused" in panel.progress._what.text())
    let_go.set()
    qtbot.waitUntil(lambda: run.line["judged_now"] == 2)
    # A paused run tells so once a second; by then it would have asked again.
    with qtbot.waitSignal(run.progressed):
        pass
    assert len(server.bodies) == before + 2
    with qtbot.waitSignal(run.ended) as ended:
        panel.hold.click()
    assert ended.args[0]["state"] == "done"
    assert len(server.bodies) > before + 2
    assert (panel.isHidden(), page.window().status.runs) == (True, {})


def stopped_by_key(
    page: Any, qtbot: Any, server: OddServer, run: BackgroundRun, start: Callable[[], object]
) -> None:
    """Start a run whose questions are never answered, and stop it by the key once it has asked."""
    before = len(server.bodies)
    server.answer = lambda body, number: Odd(held=True)
    start()
    qtbot.waitUntil(lambda: len(server.bodies) > before and bool(run.line))
    with qtbot.waitSignal(run.ended) as ended:
        press("Ctrl+.")
        panel = run_panel(page, run)
        assert "Stopping" in panel.progress._what.text()
        assert not panel.cancel.isEnabled()
    assert (ended.args[0]["state"], panel.isHidden()) == ("cancelled", True)
