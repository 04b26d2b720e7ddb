"""A project shows what it uses and nothing else: no page says a word of another benchmark's documents."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar, QWidget

from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import profile
from annotator.actions.project.people import new_project
from annotator.domain.kinds.artifact import Stage, stage_of
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.gui.shell.navigation import PlaceTab
from annotator.protocols import PROTOCOLS, profiles
from tests.projects.judged_project import judge_everything, label_everything, peer_folder
from tests.templates import once
from tests.windows.settling import settle
from tests.windows.words_shown import seen_words

# Of other papers: their documents, what they are made of, what is judged by them, and their names.
FOREIGN = re.compile(
    r"(?i)\b(contests?|transcripts?|nuggets?|seminars?|inspirations?|diagnostics?|exemplars?|key points?|checklists?"
    r"|KAE|ACE|gold plans?|gold evidence|gold statements?|sub-?tasks?|rank(ed|ing)? tasks?|ADRA|DeepScholar\S*"
    r"|DeepResearch Arena|related[- ]work|preferred (report|of two)|efficiency|organization"
    r"|candidate questions?|(?-i:Plans?))\b"
)
# Here every benchmark may be told of.
TOLD_OF_ALL = ("Project",)


@once
def rubrics_only(folder):
    project = new_project(folder / "rubrics.goldsmith", "Rubrics", uses="rubrics")
    imports.run(project, "researcherbench", [peer_folder(folder / "peer", 3, 3, 2)], warm=False)
    judge_everything(project, 1)
    for name in ("Ada", "Ben"):
        label_everything(project, name, 0.7, 0.8)
    return project


def nothing_yet(folder):
    return new_project(folder / "empty.goldsmith", "Nothing yet", uses="rubrics")


def places_in(window) -> Iterator[str]:
    """Every tab of every place, and of each every tab of its own, one after the other in view."""
    for place, tab in [*window.offered(), (None, PlaceTab("Import", "Import"))]:
        if tab.page in TOLD_OF_ALL:
            continue
        window.show_part(tab.page, tab.part)
        settle(window.page)
        if window.page.press("all_views"):
            settle(window.page)
        if (tab.page, tab.part) == ("People", "Hand out"):
            window.page.out.form.more.setChecked(True)
        name = f"{place.name if place else ''} {tab.words}"
        yield name
        yield from tabs_of(window.page, name)


def tabs_of(page: QWidget, name: str) -> Iterator[str]:
    for bar in page.findChildren(QTabBar):
        for place in range(bar.count()):
            if bar.isVisible() and bar.isTabVisible(place) and place != bar.currentIndex():
                bar.setCurrentIndex(place)
                settle(page)
                yield f"{name}, {bar.tabText(place)}"


@pytest.mark.slow
@pytest.mark.parametrize("make", [nothing_yet, rubrics_only])
def test_under_rubrics_no_page_says_a_word_of_another_benchmark(make, tmp_path, window_over):
    window = window_over(make(tmp_path))
    window.resize(1366, 768)
    met = {
        (place, word, text[:110]) for place in places_in(window) for text in seen_words(window)
        for word in {found[0] for found in FOREIGN.finditer(text)}
    }  # fmt: skip
    assert not met, "\n".join(f"{place}: {word}: {text!r}" for place, word, text in sorted(met))


@pytest.mark.parametrize("choice", profiles.CHOICES, ids=lambda choice: choice.name)
def test_written_and_handed_out_is_what_the_project_uses(choice, tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses=choice.name)
    items.add(project, "Why?")
    window = window_over(project, "Author")
    tabs = window.page.tabs
    shown = [tabs.tabText(place) for place in range(tabs.count()) if tabs.isTabVisible(place)]
    assert shown == [KINDS[kind].title for kind in WRITTEN if kind in choice.kinds]
    form = window.show_page("People", part="Hand out").out.form
    settle(window.page)
    assert set(form._stages.values()) == {Stage.LABELLING, *(stage_of(kind) for kind in choice.kinds)}
    assert set(form._labels.values()) == {name for name in choice.protocols if PROTOCOLS[name].values}
    assert (form.stages.count(), form.labels.count()) == (len(form._stages), len(form._labels))


def test_another_choice_is_offered_at_once(tmp_path, window_over):
    project = new_project(tmp_path / "p.goldsmith", uses="rubrics")
    items.add(project, "Why?")
    window = window_over(project, "People", part="Hand out")
    window.session.do(profile.choose, "rubrics, plan")
    settle(window.page)
    form = window.page.out.form
    assert set(form._stages.values()) == {Stage.RUBRIC, Stage.PLAN, Stage.LABELLING}
    assert form.plan().stages == (Stage.RUBRIC,)
    assert "adra.plan" in form._labels.values()
    assert not form.labels.isVisible()
    form.stages.item(2).setCheckState(Qt.CheckState.Checked)
    assert Stage.LABELLING in form.plan().stages
    assert form.labels.isVisible()
