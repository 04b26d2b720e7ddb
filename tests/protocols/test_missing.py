"""What is missing is told beside a figure, and bounds it."""

from annotator.protocols.missing import mean_of_known, told_missing


def test_missing_judgements_are_spoken_of():
    assert told_missing(0, 9, valued=True) == []
    assert told_missing(2, 9, valued=False) == ["2 of 9 judgements are missing"]
    assert told_missing(2, 9, valued=True) == ["2 of 9 judgements are missing", "over the others only"]


def test_a_mean_is_open_between_all_that_is_missing_as_nothing_and_as_whole():
    # Two of four came, worth 1 and 1/2; the others are worth 0 to 1 each.
    found = mean_of_known(1.5, 2, 2, False, "labels are missing", "m")
    assert (found.value, found.floor, found.ceiling, found.n, found.missing) == (None, 0.375, 0.875, 2, 2)
    assert found.note == "2 of 4 labels are missing"
    assert mean_of_known(1.5, 2, 2, True, "labels are missing", "m").value == 0.75


def test_a_mean_of_all_is_bounded_by_itself():
    found = mean_of_known(1.5, 2, 0, False, "labels are missing", "m")
    assert (found.value, found.floor, found.ceiling, found.note) == (0.75, 0.75, 0.75, "")


def test_where_nothing_came_there_is_no_mean():
    found = mean_of_known(0, 0, 3, True, "labels are missing", "m")
    assert (found.value, found.floor, found.ceiling, found.note) == (
        None,
        0.0,
        1.0,
        "3 of 3 labels are missing",
    )
