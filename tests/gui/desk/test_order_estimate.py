"""The estimate of an order: told of what the fields say, and never of what they said before."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget

from annotator.actions.orders import orders
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.desk.order_estimate import OrderEstimate

ORDER = RunRequest("baseline", items=("1",))


class Desk:
    """Keeps what is asked, so that it can be answered late."""

    def __init__(self):
        self.asked = []

    def ask_later(self, then, question, order):
        assert question is orders.forecast
        self.asked.append((then, order))


@pytest.fixture
def owner(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    widget.order = ORDER
    return widget


@pytest.fixture
def estimate(owner):
    made = OrderEstimate(Desk(), owner, lambda: owner.order)
    made.seen = []
    made.told.connect(made.seen.append)
    return made


def answer(estimate):
    for then, order in estimate._desk.asked:
        then(f"of {','.join(order.items)}")
    return estimate.seen


def test_what_the_fields_said_before_is_not_told(estimate, owner):
    estimate.count()
    owner.order = replace(ORDER, items=("1", "2"))
    estimate.count()
    assert answer(estimate) == ["of 1,2"]


def test_another_budget_is_no_other_order_and_no_order_is(estimate, owner):
    estimate.count()
    owner.order = replace(ORDER, budget_usd=3.0)
    assert answer(estimate) == ["of 1"]
    owner.order = None
    assert answer(estimate) == ["of 1"]


def test_nothing_is_asked_unseen_or_told_once_it_has_stopped(estimate, owner):
    estimate.count()
    estimate.stop()
    assert answer(estimate) == []
    owner.hide()
    estimate.count()
    assert len(estimate._desk.asked) == 1


def test_fields_that_settle_are_counted_once(estimate, qtbot):
    for _ in range(3):
        estimate.count_soon()
    qtbot.waitUntil(lambda: bool(estimate._desk.asked))
    assert [order for _, order in estimate._desk.asked] == [ORDER]
