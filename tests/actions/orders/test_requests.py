"""What the window asks of its child: every order comes out of its line as it went in."""

from pathlib import Path

import pytest

from annotator.actions.attacks import attacking
from annotator.actions.attacks.attacking import AttackRequest
from annotator.actions.items import pages
from annotator.actions.items.pages import PagesFolder
from annotator.actions.judging.derived_judges import ProbeRequest
from annotator.actions.orders import orders
from annotator.actions.orders.orders import KINDS, ChildRequest
from annotator.actions.runs.judge_cases import RunRequest
from tests.projects.refusals import expect_refusal

ORDERS = [
    RunRequest(
        "a “judge”\nof two lines", "adra.plan", ("Beta",), ("1", "—"), 3, 0.5, 1.25, batch=True, models=("m",)
    ),
    attacking.order(AttackRequest("distant", attacks=("padding", "injection"), size=4), concurrency=2),
    pages.FetchRequest(refresh=True, reader="https://reader.example/"),
    PagesFolder("pages of others"),
    ProbeRequest("distant"),
]


@pytest.mark.parametrize("order", ORDERS, ids=list(KINDS))
def test_an_order_comes_out_of_its_line_as_it_went_in(order) -> None:
    asked = ChildRequest(Path("a b.goldsmith"), order, "someone", estimate=True)
    assert "\n" not in asked.line()
    assert orders.read(asked.line()) == asked
    assert type(orders.read(asked.line()).order) is type(order)


@pytest.mark.parametrize(
    "line", ["", "cancel\n", "[]", "{}", '{"kind": "run"}', '{"kind": "run", "order": {"trials": "x"}}']
)
def test_what_is_no_request_is_refused(line: str) -> None:
    expect_refusal("window's own", orders.read, line)
