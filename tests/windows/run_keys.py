"""What tests of every place that starts a run share: it is paused, resumed and stopped by the window's own keys."""

import threading
from collections.abc import Callable
from typing import Any

from annotator.gui.parts import below
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.session.run import BackgroundRun
from tests.judging.odd_server import Odd, OddServer
from tests.windows.using import press


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
    assert panel.isHidden()
    assert page.window().status.runs == {}


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
    assert ended.args[0]["state"] == "cancelled"
    assert panel.isHidden()
