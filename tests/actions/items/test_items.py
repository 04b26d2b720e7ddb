"""Items are found, changed, retired and signed; what is said of them, of systems and of sources."""

import json
import shutil
from contextlib import closing, suppress
from pathlib import Path

import pytest

from annotator.actions.agreement import final_pass
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import items, materials, pages
from annotator.actions.items.items import Filter, ids
from annotator.actions.items.materials import Thing
from annotator.actions.labelling import label_tasks
from annotator.actions.papers import paper_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project, source_hash
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.studies import question_views, result_views
from annotator.actions.undo import history, undo_places
from annotator.cli.saying import app
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.experts.final_pass import CHECKS
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.item import SourceFormat
from annotator.domain.texts.refusal import Refusal
from tests.exchange.texts.test_rendering import pdf
from tests.projects import pairs_project as pairs
from tests.projects.labelled_protocols import DEAD, page
from tests.projects.labelling_project import add_report, project_with
from tests.projects.pairs_project import candidates
from tests.projects.refusals import expect_refusal
from tests.projects.small_project import empty_project
from tests.storage import sql


@pytest.fixture
def three(tmp_path: Path) -> Project:
    three = new_project(tmp_path / "items.goldsmith")
    items.add(three, "How do transformers scale with data?", "Technical Details", "Scaling laws")
    items.add(three, "Which catalysts split water?", "Literature Review", "Chemistry")
    items.add(three, "怎样规划海水淡化厂的选址？", "Open Consulting", "水资源", language="zh")
    return three


def keys(three: Project, **narrowed: str) -> list[str]:
    return [line.key for line in items.lines(three, items.ids(three, Filter(**narrowed)))]


def test_items_are_found_changed_and_retired(three: Project) -> None:
    assert keys(three, words="former") == ["1"]
    assert keys(three, words="chem") == ["2"]
    assert keys(three, words="water catalysts") == ["2"]
    assert keys(three, words="water transformers") == []
    assert keys(three, words="海水") == ["3"]
    assert keys(three, words="淡化厂") == ["3"]
    assert keys(three, words='water" OR "data') == []
    assert keys(three, words="100%") == []
    assert keys(three, question_type="Literature Review") == ["2"]
    assert keys(three, subject="水资源") == ["3"]
    assert keys(three, state="new") == ["1", "2", "3"]
    assert keys(three, state="settled") == []
    expect_refusal("question", items.add, three, "   ")
    assert items.count(three) == 3
    (first, *_) = items.ids(three)
    items.change(three, first, question="How do glaciers move?")
    assert keys(three, words="glaciers") == ["1"]
    history.undo(three)
    assert keys(three, words="glaciers") == []
    assert keys(three, words="transformers") == ["1"]
    (first, *_) = items.ids(three)
    items.change(three, first, retired=True)
    assert items.count(three) == 2
    history.undo(three)
    assert items.count(three) == 3


def test_sources_come_back_in_order_with_their_format(project: Project, tmp_path: Path) -> None:
    (tmp_path / "Übersicht.md").write_text("# Rain", "utf-8")
    (tmp_path / "talk.txt").write_text("A: why?", "utf-8")
    (item_id, _) = ids(project)
    for name in ("Übersicht.md", "talk.txt"):
        items.add_source(project, item_id, tmp_path / name)
    result = items.sources(project, item_id)
    assert [(s.title, s.format, s.text, s.position) for s in result] == [
        ("Übersicht", SourceFormat.MARKDOWN, "# Rain", 0),
        ("talk", SourceFormat.PLAIN, "A: why?", 1),
    ]
    assert items.file_bytes(project, result[0].id) is None


def test_a_pdf_is_kept_whole_and_a_damaged_one_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(pdf("Rain falls")[:200])
    item_id = ids(project)[0]
    expect_refusal("is damaged", items.add_source, project, item_id, tmp_path / "bad.pdf")
    assert items.sources(project, item_id) == []
    content = pdf("Rain falls")
    (tmp_path / "rain.PDF").write_bytes(content)
    item_id = ids(project)[0]
    change = items.add_source(project, item_id, tmp_path / "rain.PDF")
    (source,) = items.sources(project, item_id)
    assert (source.format, source.text.strip()) == (SourceFormat.PDF, "Rain falls")
    assert items.file_bytes(project, change.subject) == content
    with project.store.read() as db:
        stored = db.exec_driver_sql("SELECT sha256 FROM source").scalar()
    assert stored == source_hash(source.text)


def test_a_source_of_no_item_is_a_bug(project: Project, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x", "utf-8")
    with pytest.raises(KeyError):
        items.add_source(project, "nothing", tmp_path / "a.md")


def group_of(project: Project, name: str) -> str:
    return next(row["group"] for row in materials.systems(project) if row["name"] == name)


def test_letter_11_systems_have_a_group_and_a_footnote_in_one_act(project: Project) -> None:
    ids = [materials.system_named(project, name) for name in ("Alpha", "Beta")]
    materials.describe(
        project, Thing.SYSTEM, {key: {"group": "deep research", "footnote": "in July"} for key in ids}
    )
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["deep research"] * 2
    assert materials.group_names(materials.systems(project))[:2] == ["deep research", "LLM + search"]
    history.undo(project)
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["", ""]
    history.redo(project)
    assert group_of(project, "Beta") == "deep research"


def test_letter_11_a_release_carries_groups_and_is_read_back(project: Project, tmp_path: Path) -> None:
    alpha = materials.system_named(project, "Alpha")
    materials.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM + search"}})
    releases.export(project, tmp_path / "release")
    (other := tmp_path / "other").mkdir()
    with closing(empty_project(other)) as fresh:
        imports.run(fresh, "goldsmith", [tmp_path / "release"])
        assert (group_of(fresh, "Alpha"), group_of(fresh, "Beta")) == ("LLM + search", "")


def test_a_value_that_does_not_fit_or_is_said_already_changes_nothing(project: Project) -> None:
    alpha = materials.system_named(project, "Alpha")
    expect_refusal(
        r"group .* does not fit", materials.describe, project, Thing.SYSTEM, {alpha: {"group": "x" * 121}}
    )
    expect_refusal(
        "no “name” that can be changed", materials.describe, project, Thing.SYSTEM, {alpha: {"name": "Omega"}}
    )
    assert group_of(project, "Alpha") == ""
    materials.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}})
    assert not materials.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}}).after


def test_letter_11_a_group_changed_meanwhile_is_not_undone(project: Project) -> None:
    alpha = materials.system_named(project, "Alpha")
    change = materials.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}})
    with project.store.write() as db, pytest.raises(Refusal, match="changed elsewhere"):
        materials.restore(project, db, Thing.SYSTEM, {alpha: {"group": "other"}}, change.before)


def dated(project: Project, days: dict[tuple[str, str], str]) -> None:
    """Give the report of each system on each item its day of collection."""
    for (system, item), day in days.items():
        (report,) = materials.responses_of(project, system, items=[item])
        materials.describe(project, Thing.RESPONSE, {report: {"collected_on": day}})


def test_letter_11_responses_know_where_they_come_from(project: Project, tmp_path: Path) -> None:
    told = {
        "collected_on": "2025-03-24", "product_version": "o3", "settings": "defaults", "collected_by": "R1",
        "cutoff": "2025-02-28",
    }  # fmt: skip
    reports = materials.responses_of(project, "Alpha")
    materials.describe(project, Thing.RESPONSE, {report: told for report in reports})
    releases.export(project, tmp_path / "release")
    (result,) = [path for path in (tmp_path / "release" / "responses").iterdir() if "lpha" in path.name]
    assert [{name: load[name] for name in told} for load in json.loads(result.read_text("utf-8"))] == [
        told
    ] * 2
    history.undo(project)
    assert materials.reports(project).lines
    assert {line.collected_on for line in each_line(project)} == {None}
    expect_refusal(
        "collected on “March” does not fit",
        materials.describe,
        project,
        Thing.RESPONSE,
        {reports[0]: {"collected_on": "March"}},
    )
    expect_refusal("no such reports", materials.responses_of, project, "Alpha", trial=7)


def each_line(project: Project) -> list[materials.ReportLine]:
    return [line for lines in materials.reports(project).lines.values() for line in lines]


def test_letter_11_the_collection_table_has_a_line_for_each_system(project: Project) -> None:
    dated(project, {("Alpha", "1"): "2025-04-29", ("Alpha", "2"): "2025-03-24", ("Beta", "1"): "2024-12-30"})
    beta = materials.system_named(project, "Beta")
    materials.describe(
        project, Thing.SYSTEM, {beta: {"group": "LLM + search", "footnote": "Search size: high."}}
    )
    (sheet,) = result_views.show(project, "collection", {}).sheets
    rows = [[cell.words for cell in line.cells[:5]] for line in sheet.lines]
    assert rows == [
        ["Beta", "30 December 2024", "2", "1", "LLM + search"], ["Alpha", "24 March – 29 April 2025", "2", "0", ""],
    ]  # fmt: skip
    assert sheet.lines[1].cells[1].value == "2025-03-24/2025-04-29"
    assert sheet.told == ("Beta: Search size: high.",)
    (printed,) = result_views.show(project, *paper_tables.found_as("r5"), among=paper_tables.VIEWS).sheets
    assert [column.title for column in printed.columns] == ["DARS", "Data collection timeframe"]
    assert [line.cells[0].words for line in printed.lines] == ["Beta", "Alpha"]


def test_letter_8_sources_have_kind_date_venue_and_citations(project: Project, tmp_path: Path) -> None:
    (path := tmp_path / "Rivers.md").write_text("Words.", "utf-8")
    source = items.add_source(project, items.ids(project)[0], path).subject
    told = {
        "kind": "review",
        "published": "2024-05",
        "venue": "Water",
        "citations": 0,
        "citations_on": "2025-01-01",
    }
    materials.describe(project, Thing.SOURCE, {source: told})
    releases.export(project, tmp_path / "release")
    (record,) = json.loads((tmp_path / "release" / "sources.json").read_text("utf-8"))
    assert {name: record[name] for name in told} == told
    for value in ("May 2024", "2024-13", "24"):
        expect_refusal(
            f"published “{value}” does not fit",
            materials.describe,
            project,
            Thing.SOURCE,
            {source: {"published": value}},
        )


def sourced(project: Project, folder: Path, told: dict[str, str | int], item: int) -> None:
    (path := folder / f"source {item}.md").write_text("Words.", "utf-8")
    source = items.add_source(project, items.ids(project)[item], path).subject
    materials.describe(project, Thing.SOURCE, {source: told})


def test_letter_8_the_balance_says_what_is_lacking(project: Project, tmp_path: Path) -> None:
    sourced(project, tmp_path, {"kind": "research", "published": "2024-05", "citations": 12}, 0)
    sourced(project, tmp_path, {"kind": "review", "published": "2023", "citations": 3}, 1)

    def cells(**chosen: str) -> list[str]:
        sheet, _ = result_views.show(project, "sources", chosen).sheets
        return [cell.words for cell in sheet.lines[0].cells]

    assert cells() == ["Deep learning", "1", "1", "0", "0", "0"]
    assert cells(target="5") == ["Deep learning", "1", "1", "0", "4", "4"]
    assert cells(since="2024", least="10") == ["Deep learning", "1", "0", "1", "0", "1"]
    unmet = result_views.show(project, "sources", {"since": "2024", "least": "10"}).sheets[1]
    assert [line.cells[-1].words for line in unmet.lines if line.cells[-1].words] == [
        "published before 2024, fewer than 10 citations"
    ]


@pytest.fixture
def rated(tmp_path: Path) -> Project:
    return pairs.pairs_project(tmp_path, 0)


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> Project:
    shutil.copy(sample_file, path := tmp_path / "sample.goldsmith")
    return Project.open(path)


def test_letter_2_several_items_change_in_one_act_that_is_undone(rated: Project) -> None:
    one, two, three = candidates(rated, None, None, None)
    items.change_all(rated, {one: {"subject": "NLP", "origin": "forum"}, two: {"question_type": "Survey"}})
    assert (items.read(rated, one).subject, items.read(rated, two).question_type) == ("NLP", "Survey")
    taken_back = history.undo(rated)
    assert undo_places.seen(rated, taken_back).words == "change subject, origin, question_type, 2 items"
    assert [items.read(rated, each).subject for each in (one, two, three)] == ["AI"] * 3
    assert items.read(rated, one).origin == "laboratory"
    history.redo(rated)
    assert items.read(rated, one).origin == "forum"
    assert checking.check(rated).problems == []


def test_several_items_change_in_one_act(rated: Project) -> None:
    (one,) = candidates(rated, None)
    change = items.change_all(rated, {one: {"subject": "AI"}})
    assert items.changed_by(change) == {}
    assert change.seq == 0
    expect_refusal("collected does not fit", items.change_all, rated, {one: {"collected": "last May"}})
    pairs.work_as(rated, "Ada")
    expect_refusal("Only a coordinator", items.change_all, rated, {one: {"subject": "NLP"}})
    assert items.read(rated, one).collected == "2025-03"


def test_letter_2_selection_is_applied_in_one_act_and_open_ratings_stay(rated: Project) -> None:
    kept, below, open_, late = candidates(rated, (5, 5), (4, 4), None, (3, 3))
    assert set(items.changed_by(question_views.apply(rated))) == {below, late}
    assert items.ids(rated) == [kept, open_]
    assert items.ids(rated, Filter(retired=True)) == [below, late]
    expect_refusal("No item in use was rated below", question_views.apply, rated)
    history.undo(rated)
    assert items.count(rated) == 4


def test_letter_2_who_was_left_out_still_counts_for_how_far_raters_agree(rated: Project) -> None:
    candidates(rated, (5, 5), (1, 2), (3, 3))
    before = question_views.selection_report(rated)
    question_views.apply(rated)
    after = question_views.selection_report(rated)
    assert after.agreement == before.agreement
    words = [line.cells[4].words for line in question_views.selection_sheets(after)[0].lines]
    assert words == ["kept", "left out, retired", "left out, retired"]


def test_letter_2_the_funnel_counts_by_origin_and_stage(rated: Project) -> None:
    candidates(rated, (5, 5), (4, 4), None, (5, 5))
    question_views.apply(rated)
    (sheet,) = (
        selection_sheet
        for selection_sheet in question_views.selection_sheets(question_views.selection_report(rated))
        if selection_sheet.key == "funnel"
    )
    assert sheet.keys == ["origin", "collected", "classified", "rated", "reached", "in_use", "settled"]
    assert [[cell.words for cell in line.cells] for line in sheet.lines] == [
        ["forum", "1", "1", "0", "0", "1", "0"],
        ["interviews", "1", "1", "1", "0", "0", "0"],
        ["laboratory", "2", "2", "2", "2", "2", "0"],
        ["All", "4", "4", "3", "2", "3", "0"],
    ]


def test_letter_2_a_retired_item_is_in_nothing_that_is_scored_handed_out_or_released(
    sample: Project, tmp_path: Path
) -> None:
    (first,) = items.ids_of(sample, ["norm-placement"])
    assert "norm-placement" in said_by_views(sample)
    rows = sql.rows(sample, "SELECT (SELECT count(*) FROM judgement), (SELECT count(*) FROM revision)")
    items.change(sample, first, retired=True)
    said = said_by_views(sample)
    assert "early-warning" in said
    assert "norm-placement" not in said
    assert items.content_counts(sample)["items"] == 2
    assert first not in {task.item_id for task in label_tasks.queue(sample)}
    releases.export(sample, tmp_path / "release")
    assert not [path for path in (tmp_path / "release").rglob("*.json") if first in path.read_text("utf-8")]
    assert (
        sql.rows(sample, "SELECT (SELECT count(*) FROM judgement), (SELECT count(*) FROM revision)") == rows
    )
    history.undo(sample)
    assert "norm-placement" in said_by_views(sample)


def said_by_views(rated: Project) -> str:
    """All that the views of the results say, but that of the selection, which tells of retired items too."""
    result = []
    for view in result_views.VIEWS:
        if view.name == "selection":
            continue
        with suppress(Refusal):
            for sheet in view.sheets(view.report(rated)):
                result += [cell.words for line in sheet.lines for cell in line.cells] + list(sheet.told)
    return "\n".join(result)


def test_letter_2_what_is_known_of_an_item_leaves_with_a_release_and_comes_back(
    rated: Project, tmp_path: Path
) -> None:
    candidates(rated, None)
    releases.export(rated, tmp_path / "release")
    with closing(new_project(tmp_path / "again.goldsmith")) as again:
        imports.run(again, "goldsmith", [tmp_path / "release"])
        (result,) = (items.read(again, each) for each in items.ids(again))
    assert (result.origin, result.contributor, result.collected) == ("laboratory", "K", "2025-03")


QUESTION = "How far do automated citations agree with what their sources say?"


@pytest.fixture
def final(tmp_path: Path) -> Project:
    """One item with evidence of which one address is gone and one identifier is none, and a rubric that tells."""
    final = project_with(tmp_path, 2)
    item_id = items.add(final, QUESTION).subject
    works = (
        Reference(id="r1", text="A page that is gone", identifier=DEAD),
        Reference(id="r2", text="A work without a number", identifier="see the shelf"),
    )
    criteria = (
        Criterion(id="k1", text=f"Explains {QUESTION[:-1].lower()}", weight=3),
        Criterion(id="k2", text="Write to ada@example.org for more", weight=1),
    )
    for document in (Evidence(units=works), Rubric(units=criteria)):
        assignments.seal(final, artifacts.start(final, item_id, document.KIND, document).subject)
    pages.take_in(final, page(DEAD, ""))
    add_report(final, item_id)
    return final


def test_the_final_pass_notices_and_annotators_do_not_sign(final: Project) -> None:
    (one,) = final_pass.overview(final)
    assert set(one.hints) == {"links", "identifiers", "content", "leak"}
    assert "see the shelf" in one.hints["identifiers"]
    assert "ada@example.org" in one.hints["content"]
    assert one.open == list(CHECKS)
    final.work_as(next(one for one in people.people(final) if one.name == "Rater 2"))
    expect_refusal("Only coordinators", final_pass.sign, final, items.ids(final)[0], "links", "passed")


def test_letter_9_a_check_is_signed_taken_back_and_undone(final: Project) -> None:
    item_id = items.ids(final)[0]
    final_pass.sign(final, item_id, "links", "passed")
    me = people.someone(final)
    assert final_pass.of_item(final, item_id)["links"].signed == me.alias
    expect_refusal("what the problem is", final_pass.sign, final, item_id, "leak", "problem")
    final_pass.sign(final, item_id, "leak", "problem", "The first criterion repeats the question.")
    expect_refusal(
        "The note does not fit: string should have at most 2000 characters",
        final_pass.sign,
        final,
        item_id,
        "content",
        "passed",
        "x" * 2001,
    )
    (one,) = final_pass.overview(final)
    assert one.open == ["identifiers", "content", "leak", "corrigenda"]
    history.undo(final)
    assert set(final_pass.of_item(final, item_id)) == {"links"}
    final_pass.sign(final, item_id, "links", "open")
    assert final_pass.of_item(final, item_id) == {}


def test_letter_9_what_is_signed_leaves_with_a_release_and_comes_back(final: Project, tmp_path: Path) -> None:
    item_id = items.ids(final)[0]
    final_pass.sign(final, item_id, "corrigenda", "not applicable", "Both are pages.")
    releases.export(final, tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text("utf-8"))
    assert manifest["final_pass"][item_id]["corrigenda"]["state"] == "not applicable"
    other = Project.create(tmp_path / "other.goldsmith", "Other")
    imports.run(other, "goldsmith", [tmp_path / "release"])
    assert final_pass.of_item(other, item_id) == final_pass.of_item(final, item_id)


def test_letter_9_the_pilot_is_summarized(final: Project, tmp_path: Path) -> None:
    expect_refusal("No pilot", final_pass.summary, final)
    item_id = items.add(final, "A pilot question").subject
    settings.write(final, Stage.RUBRIC, "Write one claim in each criterion.")
    coordinator = people.someone(final)
    raters = [one for one in people.people(final) if one.name.startswith("Rater")]
    for person in raters:
        assignments.assign_one(final, item_id, person.id, Stage.RUBRIC, purpose=Purpose.PILOT)
    for person in raters:
        final.work_as(person)
        document = Rubric(
            units=(Criterion(id=f"{person.alias}1", text="Names a study", weight=2, note="Which?"),)
        )
        assignments.seal(final, artifacts.start(final, item_id, Kind.RUBRIC, document).subject)
    final.work_as(coordinator)
    path = str(final.path)
    app(["pilot", path, "--to", str(tmp_path / "pilot.md"), "--as", coordinator.id], standalone_mode=False)
    told = (tmp_path / "pilot.md").read_text("utf-8")
    assert "1 item (2) by 2 people; 2 of 2 pieces of work handed in." in told
    assert "Match F1 1" in told
    assert "item 2, rubric: Which?" in told
    # The shipped text is the first version.
    assert "rubric, version 2" in told


def test_letter_9_the_command_line_lists_and_signs(
    final: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    path, me = str(final.path), people.someone(final).id
    app(["final", "sign", path, "1", "--check", "content", "--as", me], standalone_mode=False)
    capsys.readouterr()
    app(["final", "list", path, "--open", "--json"], standalone_mode=False)
    (one,) = json.loads(capsys.readouterr().out)["items"]
    assert one["checks"]["content"]["state"] == "passed"
    assert "content" not in one["open"]
