"""The samples of single papers fit their window as the large one does, where they have what that lacks."""

from functools import partial

import pytest

from annotator.actions.imports import samples
from tests.gui.shell.test_fits import LAPTOP, SMALL, check, views

THEIR_OWN = ("Author", "Label", "Results", "Material", "Guidelines", "Contest")


@pytest.mark.parametrize("name", [samples.RELATED_WORK, samples.SEMINAR])
def test_pages_of_the_sample_of_a_paper_fit(name, tmp_path, window_over):
    window = window_over(samples.create_small(tmp_path / "small.goldsmith", name))
    for size, percent in ((SMALL, 100), (LAPTOP, 150), (SMALL, 200)):
        found = check(window, [size], percent, partial(views, pages=THEIR_OWN))
        assert not found, "\n".join(found)
