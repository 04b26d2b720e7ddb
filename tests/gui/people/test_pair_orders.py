"""Whether pairs are asked in both orders: chosen where labelling is handed out, kept at once, taken back by a key."""

from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from tests.windows.labelling_keys import press

PAIRS = "researcherbench.pairwise"


def box_of(page):
    return page.out.form.pairs.boxes[PAIRS]


def test_pairs_are_asked_in_one_order_until_it_is_wished_otherwise(small, page_over):
    page = page_over(small, "People", part="Hand out")
    assert not box_of(page).isChecked()
    box_of(page).click()
    assert label_cases.both_orders(small, PAIRS)
    assert "now asked in both orders" in page.out.answer.text()


def test_the_choice_is_there_after_a_restart(small, page_over):
    label_cases.ask_both_orders(small, PAIRS, True)
    again = Project.open(small.path)
    assert label_cases.both_orders(again, PAIRS)
    again.close()
    assert box_of(page_over(small, "People", part="Hand out")).isChecked()


def test_undo_takes_it_back_and_redo_does_it_again(small, page_over):
    page = page_over(small, "People", part="Hand out")
    box_of(page).click()
    press("Ctrl+Z")
    assert not label_cases.both_orders(small, PAIRS)
    assert not box_of(page).isChecked()
    press("Ctrl+Shift+Z")
    assert label_cases.both_orders(small, PAIRS)
    assert box_of(page).isChecked()


def test_a_box_is_reached_and_pressed_by_the_keyboard(small, page_over):
    page = page_over(small, "People", part="Hand out")
    box_of(page).setFocus()
    press("Space")
    assert label_cases.both_orders(small, PAIRS)


def test_what_it_costs_and_gains_is_told_to_those_who_do_not_see_it(small, page_over):
    box = box_of(page_over(small, "People", part="Hand out"))
    assert "twice as many verdicts" in box.accessibleDescription()
