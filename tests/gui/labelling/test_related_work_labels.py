"""People label every kind of DeepScholar-Bench's study by keyboard; beside a model's labels they make its table."""

import asyncio
import json
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import labels
from annotator.actions.orders import orders
from annotator.actions.papers import paper_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.runs import judge_cases
from annotator.actions.sets import validation_ground
from annotator.actions.studies import result_views
from annotator.actions.validation import validity_cards
from annotator.cli import run_command
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.refusal import Refusal
from annotator.gui.shell.window import Window
from annotator.protocols import PROTOCOLS
from tests.material.labelled_sections import (
    ABSTRACTS,
    COVERAGE,
    KINDS,
    NUGGET,
    NUGGETS,
    ORGANIZATION,
    PRECISION,
    REFERENCE,
    RELEVANCE,
    related_work_project,
)
from tests.projects.small_projects import submit_labels
from tests.windows.using import be_active, press

JUDGE = "mock"
# What the model says of everything of a kind; “first” whatever comes first, which is a flip.
SAYS = {
    ORGANIZATION: {"rationale": "So.", "better": "first"},
    NUGGETS: {"quote": "", "rationale": "So.", "support": "not_support"},
    RELEVANCE: {"rationale": "So.", "relevance": "2"},
    PRECISION: {"quote": "Of shade.", "rationale": "So.", "supported": "yes"},
    COVERAGE: {"quote": "", "rationale": "So.", "supported": "no"},
    NUGGET: {"rationale": "So.", "importance": "vital"},
    REFERENCE: {"rationale": "So.", "importance": "not-important"},
}
# Key → how often it is pressed, unit after unit: so many units has each kind.
KEYS = {
    # Three reports on each of two items: two pairs with the exemplar each, asked in one order.
    ORGANIZATION: ("3", 4),
    # The exemplar is not asked about what was kept because it holds it.
    NUGGETS: ("3", 2 * 2 * 2),
    RELEVANCE: ("0", 4),
    # One sentence of each report cites its one work, and one cites nothing.
    PRECISION: ("1", 4),
    # The first sentence by what it cites; the second by what the first cites, and by title and abstract alone.
    COVERAGE: ("2", 4 * 3),
    NUGGET: ("1", 4),
    REFERENCE: ("2", 4),
}


@pytest.fixture
def window(window_over, qtbot, tmp_path: Path) -> Window:
    """The real window over two papers."""
    return be_active(window_over(related_work_project(tmp_path)), qtbot)


def judged(project: Project, llmock: LLMock, *kinds: str) -> None:
    """Kinds of labels by a model that always says the same."""
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini", asking='{"together": 1}')
    for kind in kinds:
        # As many as are needed at most: what several reports share is asked once.
        for _ in (
            unit
            for case in judge_cases.cases(project, judge_cases.RunRequest(JUDGE, kind))
            for unit in case.units
        ):
            llmock.reply(json.dumps(SAYS[kind]))
        ended = asyncio.run(orders.carry_out(project, judge_cases.RunRequest(JUDGE, kind, concurrency=1)))
        assert ended["state"] == "done"
        llmock.reset()


def table_3(project: Project) -> dict[str, tuple[str, str, str, str]]:
    """Kind of label → n, agreement, κ and what the paper prints."""
    result = result_views.show(project, "tables", {"table": "human-agreement"}, among=paper_tables.VIEWS)
    (sheet,) = result.sheets
    keys = [sheet.keys.index(name) for name in ("n", "agreement", "kappa", "published")]
    return {line.cells[0].words: tuple(line.cells[key].words for key in keys) for line in sheet.lines}


def test_every_kind_is_labelled_by_keyboard_and_makes_the_papers_table(
    window: Window, llmock: LLMock
) -> None:
    project = window.session.project
    press("Ctrl+3")
    page = window.page
    # There is no rubric: the page opens on what can be labelled.
    assert page.bench.protocol == ORGANIZATION
    for kind in KINDS:
        page.navigate({"protocol": kind})
        key, times = KEYS[kind]
        left = [(task.id, task.units) for task in page.queue.lines]
        assert sum(units for _, units in left) == times
        for _, units in left:
            for _ in range(units):
                press(key)
            press("Ctrl+Return")
        assert page.done.isVisible(), kind
        assert all(task.labelled == task.units for task in labels.queue(project, kind))
    judged(project, llmock, *KINDS)
    result = table_3(project)
    assert list(result) == [PROTOCOLS[kind].presentation.tab for kind in KINDS]
    # A tie of the person beside a model that says “first” in both orders, which counts as a tie.
    assert result["Organization"][0::3] == ("4", "0.78")
    assert result["Organization"][1].startswith("1.000")
    assert result["Nuggets"][0] == "8"
    assert result["Nuggets"][1].startswith("1.000")
    assert result["Relevance"][1].startswith("0.000")
    assert (result["Citations"][0], result["Claims covered"][0]) == ("4", "12")
    assert result["Citations"][1].startswith("1.000")
    assert result["Claims covered"][1].startswith("1.000")
    assert result["Nugget importance"][1].startswith("1.000")
    assert result["Reference importance"][1].startswith("1.000")
    assert [one[3] for one in result.values()] == ["0.78", "0.70", "0.70", "0.80", "0.80", "0.72", "0.82"]
    for kind in KINDS[:3]:
        card = validity_cards.at_once(project, protocol=kind, judge=JUDGE)
        assert card.protocol_title == PROTOCOLS[kind].title
        assert PROTOCOLS[kind].title in validity_cards.body(card)


def test_whoever_says_what_follows_from_sources_has_them_in_view(window: Window) -> None:
    press("Ctrl+3")
    page = window.page
    page.navigate({"protocol": COVERAGE})
    beside = page.report_pane.beside
    assert beside.isVisible()
    # The first sentence cites one work; the second cites none, and is asked about at two places.
    assert beside.report.text().startswith("Its own sources:")
    assert any(abstract in beside.report.text() for abstract in ABSTRACTS.values())
    press("2")
    assert beside.report.text().startswith("Title and abstract of the paper alone:")
    assert "Sources of the sentence before it:" in beside.report.text()


def importance(project: Project) -> dict[str, str]:
    with project.store.read() as db:
        result = annotating.judged_rows(db, Kind.EVIDENCE)
    return {
        unit.id: unit.importance
        for row in result.values()
        for unit in artifacts.artifact_of(row).document.units
    }


def test_labels_become_the_golds_importance_in_one_act(tmp_path: Path) -> None:
    project = related_work_project(tmp_path)
    assert set(importance(project).values()) == {""}
    (task, other) = labels.queue(project, REFERENCE)
    first, second = labels.sheet(project, task.response_id, REFERENCE).units
    labels.set_label(project, task.response_id, first.id, "important", protocol=REFERENCE)
    labels.set_label(project, task.response_id, second.id, "not_important", protocol=REFERENCE)
    third = labels.sheet(project, other.response_id, REFERENCE).units[0]
    labels.set_label(project, other.response_id, third.id, "unsure", protocol=REFERENCE)
    submit_labels(project)
    (told,) = validation_ground.take_over(project, REFERENCE, "R1")
    # Someone's own sealed list is theirs; here the coordinator wrote it.
    assert (told.labelled, told.changed, told.why_not) == (2, 2, "")
    said = importance(project)
    assert (said.pop(first.id), said.pop(second.id)) == ("important", "not_important")
    # Of what nobody is sure, nothing is known: that is no “no”.
    assert set(said.values()) == {""}
    assert [one.changed for one in validation_ground.take_over(project, REFERENCE, "R1")] == [0]
    rows = results.rows(project, protocol="deepscholar.references")
    assert any(row.metric == "reference_coverage" and row.estimate.value is not None for row in rows)
    with pytest.raises(Refusal, match="no field of the gold"):
        validation_ground.take_over(project, RELEVANCE)
    with pytest.raises(Refusal, match="said nothing"):
        validation_ground.take_over(project, NUGGET, "R1")


def test_importance_is_marked_where_evidence_is_written_and_a_judges_marks_are_taken_over_in_one_act(
    window: Window, llmock: LLMock
) -> None:
    project = window.session.project
    first, _ = items.ids(project)
    judged(project, llmock, REFERENCE)
    window.session.go("Author", item_id=first, kind="evidence")
    page = window.page
    bar, form = page.sheet.bar, page.sheet.form
    assert not bar.marks.isVisible()
    press("Ctrl+R")
    marks = [editor.fields["importance"] for editor in form.editors]
    assert [mark.value() for mark in marks] == [None, None]
    assert "Nobody has said which references are important" in " ".join(
        one.words("reference", ()) for one in page.sheet.check()
    )
    # Nothing of the judge's is marked before it is taken over.
    assert bar.marks.text().startswith("Take over 2 marks of mock")
    assert "2 not important" in bar.marks.toolTip()
    for kind in ("rubric", "evidence"):
        page.tabs.picked.emit(Kind(kind))
        assert bar.marks.isVisible() is (kind == "evidence")
    form.go(form.editors[0].unit_id)
    press("Alt+1")
    assert bar.marks.text().startswith("Take over 1 mark of mock")
    assert [one.unit_id for one in page.sheet.check() if one.rule == "unmarked"] == ["g1b"]
    assert bar.counts.text() == "2 references · 1 important, 1 not marked"
    press("Ctrl+Shift+K")
    assert [mark.value() for mark in marks] == ["important", "not_important"]
    assert not bar.marks.isVisible()
    press("Ctrl+Z")
    assert [mark.value() for mark in marks] == ["important", None]
    assert bar.marks.isVisible()
    press("Ctrl+Shift+K", "Ctrl+Return")
    page.sheet.panel.overridden.emit("One reference has no identifier.")
    assert (importance(project)["g1a"], importance(project)["g1b"]) == ("important", "not_important")
    assert importance(project)["g2a"] == ""


def test_an_exemplar_is_read_and_quoted_as_text_and_not_as_latex(window: Window, tmp_path: Path) -> None:
    project = window.session.project
    item_id = items.ids(project)[0]
    raw = tmp_path / "section.tex"
    raw.write_text(r"Trees cool streets \citep{ash2019}.", "utf-8")
    items.add_source(project, item_id, raw, "Related work (LaTeX)")
    window.session.go("Author", item_id=item_id, kind="nuggets")
    pane = window.page.source
    assert [source.title for source in pane.sources] == ["Exemplar", "Related work (LaTeX)"]
    assert pane.text.text().startswith("Trees cool streets by 3.5 K [1]. Parks help too [2].")
    pane.text.select(0, pane.text.text().index(" help"))
    quoted = pane.quote()
    assert quoted.quote == "Trees cool streets by 3.5 K [1]. Parks"
    exemplar = next(one for one in items.beside(project, item_id) if one.title == "Exemplar")
    assert (quoted.source_id, exemplar.text[quoted.start : quoted.end]) == (exemplar.id, quoted.quote)
    pane.tabs.setCurrentIndex(1)
    assert pane.show_anchor(quoted)
    assert pane.tabs.currentIndex() == 0


def test_results_say_which_step_is_missing_until_importance_is_marked(tmp_path: Path, capsys) -> None:
    project = related_work_project(tmp_path)
    file, item_id = str(project.path), items.ids(project)[0]
    step = "no value, as nobody has said which references are important. Mark them on the Author page under Evidence"

    def told() -> list[str]:
        views = (("overview", {"metric": "reference_coverage"}), ("overview", {}))
        sheets = [result_views.show(project, view, chosen).sheets for view, chosen in views]
        return [line for (sheet,) in sheets for line in sheet.notes if step in line]

    one, all_ = told()
    assert one.startswith("Reference coverage: no value")
    assert all_.startswith("Reference coverage, Reference coverage (on arXiv or not): no value")
    assert one.endswith("goldsmith labels into-gold FILE deepscholar.reference_importance --rater NAME")
    with project.store.read() as db:
        gold = annotating.judged_artifact(db, item_id, Kind.EVIDENCE)
    assignments.reopen(project, gold.id)
    artifacts.change_unit(project, gold.id, "g1a", importance="important")
    assignments.seal(project, gold.id)
    assert told() == []
    project.close()
    assert run_command(["results", file, "--metric", "reference_coverage.all"]) == 0
    assert step not in capsys.readouterr().out


def test_a_judges_marks_are_not_offered_to_who_is_to_be_blind(tmp_path: Path, llmock: LLMock) -> None:
    project = related_work_project(tmp_path)
    judged(project, llmock, REFERENCE)
    item_id = items.ids(project)[0]
    with project.store.read() as db:
        artifact = annotating.judged_artifact(db, item_id, Kind.EVIDENCE)
    assert validation_ground.offered(project, artifact) is None
    assignments.reopen(project, artifact.id)
    artifact = artifacts.read(project, artifact.id)
    assert validation_ground.offered(project, artifact).judge == JUDGE
    me = people.someone(project).id
    another = people.add_person(project, "Another", (Role.ANNOTATOR,)).subject
    for raters, stage in (((me,), Stage.LABELLING), ((me, another), Stage.EVIDENCE)):
        for person in raters:
            assignments.assign_one(project, item_id, person, stage)
        assert validation_ground.offered(project, artifact) is None
        own = [one.id for one in assignments.of_person(project, me) if one.stage is stage]
        if stage is Stage.LABELLING:
            assignments.withdraw_all(project, own)
            assert validation_ground.offered(project, artifact) is not None
