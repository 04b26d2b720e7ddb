"""What is done with a planted paper and layout, step by step; run in a copy of the program."""

import asyncio
import csv
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.attacks import biases
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports, label_files, label_matching, samples
from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.orders import orders
from annotator.actions.project.file import Project, response_hash
from annotator.actions.project.people import new_project, someone
from annotator.actions.releases import checking, releases
from annotator.actions.results import overview, result_pictures, result_raters, results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.actions.validation import stand_in, validation, validation_views, validity_cards
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.storage.tables import RESPONSE, SYSTEM
from tests.house.planted import published
from tests.house.planted.by_keys import labelled_by_keys
from tests.house.planted.submitting_walk import submitted
from tests.projects.labelling_project import submit_labels

STANCE, RATING, DUEL = "planted.stance", "planted.rating", "planted.duel"
PLANTED = (STANCE, RATING)
REPORTS = 4
# What is said of the three points of a checklist, of shares .5, .3 and .2, on each of two items; one is unsure.
RATED = {"Alpha": ((10, 4, 0), (8, 7, 6)), "Beta": ((2, 2, 2), (8, None, 8))}
# Counted by hand: the mean over items of Σ share · rating, the median of all five or six ratings (of medians it were
# 5.5 and 5.0), and of eleven values the seven in use; with the range that the missing one leaves.
BY_HAND = {
    # Another paper counts the addresses in reports on tasks with a checklist: these give none.
    ("references", "Alpha"): (0.0, None, None),
    ("references", "Beta"): (0.0, None, None),
    ("planted.mean", "Alpha"): (6.75, None, None),
    ("planted.mean", "Beta"): (5.0, None, None),
    ("planted.spread", "Alpha"): (6.5, 6.5, 6.5),
    ("planted.spread", "Beta"): (2.0, 2.0, 5.0),
    ("planted.used", ""): (7 / 11, 7 / 11, 8 / 11),
    # The root of 6.75 · 6.5, and of 5 · 2; a mean without bounds leaves none.
    ("planted.overall", "Alpha"): (43.875**0.5, None, None),
    ("planted.overall", "Beta"): (10**0.5, None, None),
}
SHOWN = {
    "Alpha": ("0.000", "6.750", "6.500  n 6", "–", "6.624"),
    "Beta": (
        "0.000",
        "5.000  1 missing",
        "2.000  1 missing; with them 2.000 to 5.000  n 5",
        "–",
        "3.162  1 missing",
    ),
    overview.WHOLE: ("–", "–", "–", "0.636  1 missing; with them 0.636 to 0.727", "–"),
}


def figures(project: Project) -> list[tuple[object, ...]]:
    return [
        (rater.name, row.metric, row.system, row.group_by, row.group, row.estimate)
        for protocol in PLANTED
        for rater in result_raters.everybody(project, protocol)
        for row in results.rows(project, rater.id, protocol)
    ]


def content(release: Path) -> dict[str, bytes]:
    """What a release holds, file by file, beside what it says of the project as a whole."""
    whole = ("README.md", "croissant.json", "manifest.json", "SHA256SUMS")
    return {
        path.relative_to(release).as_posix(): path.read_bytes()
        for path in release.rglob("*")
        if path.is_file() and path.name not in whole
    }


def judged(project: Project, folder: Path) -> None:
    for protocol in PLANTED:
        order = RunRequest("baseline", protocol)
        assert judge_runs.plan(project, order).to_do > 0
        line = asyncio.run(orders.carry_out(project, order))
        assert line["done"] == line["total"] > 0
        assert judge_runs.plan(project, order).to_do == 0


def labelled(project: Project, folder: Path) -> None:
    for protocol in PLANTED:
        for task in labels.queue(project, protocol)[:REPORTS]:
            sheet = labels.sheet(project, task.response_id, protocol)
            units = [unit.id for group in sheet.groups for unit in group.units]
            for place, unit in enumerate(units):
                value = sheet.values[place % len(sheet.values)]
                labels.set_label(project, sheet.response_id, unit, value, protocol=protocol)
            labels.set_label(project, sheet.response_id, units[0], labels.UNSURE, protocol=protocol)


def unsure_is_missing(project: Project, folder: Path) -> None:
    submit_labels(project)
    for protocol in PLANTED:
        (me,) = (rater for rater in result_raters.raters(project, protocol) if rater.name != "baseline")
        row, *_ = results.rows(project, me.id, protocol)
        assert row.estimate.missing > 0


def validated(project: Project, folder: Path) -> None:
    for protocol, positive, words in ((STANCE, "supports", published.AIM), (RATING, "10", published.NONE)):
        query = validation.ValidationQuery(protocol, positive=positive)
        assert validation.report(project, query).of("baseline").units > 0
        assert [
            answer.rater.name for answer in stand_in.report(project, stand_in.StandInQuery(query)).answers
        ] == ["baseline"]
        assert validity_cards.card(project, validity_cards.CardQuery(protocol, judge="baseline")).sha256
        assert words in published.said(["validate", str(project.path), "--protocol", protocol])


def corrected_by_labels(project: Project, folder: Path) -> None:
    chosen = {"metric": "planted.mean", "judge": "baseline"}
    offered, fitting = result_views.offered(project, "corrected", chosen, validation_views.VIEWS)
    assert [choice.name for choice in offered][:2] == ["metric", "judge"]
    view = result_views.named("corrected", validation_views.VIEWS)
    board, *_ = view.sheets(view.report(project, **fitting))
    (by_results,) = (
        [row.estimate.value for row in results.rows(project, rater.id, RATING) if _is_mean(row)]
        for rater in result_raters.raters(project, RATING)
        if rater.name == "baseline"
    )
    assert sorted(round(line.cells[1].value, 9) for line in board.lines) == sorted(
        round(value, 9) for value in by_results
    )


def _is_mean(row: results.ResultRow) -> bool:
    return (row.metric, row.group_by) == ("planted.mean", "all")


def labels_leave_and_return(project: Project, folder: Path) -> None:
    choice = label_matching.LabelSelection(PLANTED, everything=True)
    written = label_matching.export(project, folder / "labels.csv", choice=choice)
    result = label_files.preview(project, [written.path])
    assert (result.same, result.new, result.problems) == (written.labels, 0, ())


def released(project: Project, folder: Path) -> None:
    for profile in releases.PROFILES:
        releases.export(project, folder / profile, profile)
    other = new_project(folder / "other.goldsmith")
    imports.run(other, releases.GOLDSMITH, [folder / releases.GOLDSMITH], warm=False)
    assert figures(other) == figures(project)
    assert not checking.check(other).problems
    releases.export(other, folder / "again")
    assert content(folder / "again") == content(folder / releases.GOLDSMITH)
    other.close()


def compared_in_pairs(project: Project, folder: Path) -> None:
    asyncio.run(orders.carry_out(project, RunRequest("baseline", DUEL)))
    shown = result_views.show(project, "wins", {"protocol": DUEL})
    table, *_, pairs = shown.sheets
    assert table.lines
    assert {line.source.protocol for line in pairs.lines if line.source} == {DUEL}
    # Whose id comes first is better in both orders.
    counted = [(row["order_decides"], row["missing"], row["ties"]) for row in result_pictures.rows(table)]
    assert set(counted) == {(0, 0, 0)}
    assert "First one named (Planted duel)" in {one.name for one in biases.report(project)}


def layout_comes_and_goes(project: Project, folder: Path) -> None:
    other = new_project(folder / "planted.goldsmith")
    for again in (False, True):
        _, report = imports.run(other, "planted", [folder / "planted"], warm=False)
        assert (report.new == 0) is again
    other.close()
    written = label_matching.export(
        project, folder / "theirs", "planted", label_matching.LabelSelection(everything=True)
    )
    result = label_files.preview(project, [written.path], label_files.LabelImportOptions(protocol=STANCE))
    assert (result.same, result.new, result.problems) == (written.labels, 0, ())


def layout_offered(project: Project, folder: Path) -> None:
    from annotator.gui.shell.start import make_application
    from annotator.gui.shell.window import Window

    application = make_application()
    window = Window(project)
    window.show()
    for page, words in (
        ("Import", "Planted bench (one file"),
        ("Release", "Planted bench"),
        ("Validate", ""),
    ):
        window.show_page(page)
        assert words in "".join(published.shown(window)), page
    window.show_page("Validate", part="Sets")
    assert "Planted bench's files (labels.planted …)" in "".join(published.shown(window))
    window.close()
    application.processEvents()
    assert "Planted bench's layout, a folder (*)" in label_matching.offered().values()
    for words in (["import"], ["export"], ["labels", "import"], ["labels", "export"]):
        assert "planted" in published.said([*words, "--help"])


def rated(file: Path) -> Project:
    """A project in which one person rated what is counted by hand."""
    project = new_project(file)
    someone(project)
    for question in ("Which?", "Why?"):
        points = tuple(CheckPoint(text=f"Point {share}", share=share) for share in (0.5, 0.3, 0.2))
        item_id = items.add(project, question).subject
        assignments.seal(
            project, artifacts.start(project, item_id, Kind.CHECKLIST, Checklist(units=points)).subject
        )
    with project.store.write() as db:
        for name in RATED:
            db.execute(insert(SYSTEM).values(id=name, name=name, notes=""))
            for place, item_id in enumerate(items.ids(project)):
                text, names = f"# {name}", {"item_id": item_id, "system_id": name, "id": f"{name}-{place}"}
                whole = {"text": text, "trial": 1, "mode": "end-to-end", "sha256": response_hash(text)}
                db.execute(insert(RESPONSE).values(**names, **whole))
    for name, of_items in RATED.items():
        for place, ratings in enumerate(of_items):
            sheet = labels.sheet(project, f"{name}-{place}", RATING)
            units = [unit.id for group in sheet.groups for unit in group.units]
            for unit, rating in zip(units, ratings, strict=True):
                value = labels.UNSURE if rating is None else str(rating)
                labels.set_label(project, f"{name}-{place}", unit, value, protocol=RATING)
    submit_labels(project)
    return project


def counted(project: Project, folder: Path) -> None:
    own = rated(folder / "rated.goldsmith")
    result = {
        (row.metric, row.system): (row.estimate.value, row.estimate.floor, row.estimate.ceiling)
        for row in overview.everything(own)
        if row.group_by == "all"
    }
    assert result.keys() == BY_HAND.keys()
    for name, (value, floor, ceiling) in BY_HAND.items():
        assert abs((result[name][0] or 0.0) - value) < 1e-12, name
        assert floor is None or result[name][1:] == (floor, ceiling), name
    own.close()
    lines = json.loads(published.said(["results", str(own.path), "--metric", "planted.overall", "--json"]))[
        "rows"
    ]
    assert [(line["system"], line["over"]) for line in lines] == [("Alpha", "system"), ("Beta", "system")]


def set_out(project: Project, folder: Path) -> None:
    own = Project.open(folder / "rated.goldsmith")
    (sheet,) = overview.sheets(overview.report(own))
    assert {
        line.cells[0].words: tuple(cell.words for cell in line.cells[1:]) for line in sheet.lines
    } == SHOWN
    lines = list(csv.DictReader(result_pictures.as_csv(sheet).decode("utf-8-sig").splitlines()))
    assert [line["planted_spread"] for line in lines] == ["6.5", "2.0", ""]
    assert json.loads(result_pictures.as_json(sheet))["rows"][2]["planted_used"] == 7 / 11
    releases.export(own, folder / "rated")
    scores = json.loads((folder / "rated/scores.json").read_bytes())
    over = {(score["metric"], score["system"]): score.get("over", "response") for score in scores}
    assert over["planted.mean", "Alpha"] == "response"
    assert (over["planted.spread", "Alpha"], over["planted.used", ""]) == ("system", "project")
    assert over["planted.overall", "Beta"] == "system"
    other = new_project(folder / "rated-again.goldsmith")
    imports.run(other, releases.GOLDSMITH, [folder / "rated"], warm=False)
    assert figures(other) == figures(own)
    releases.export(other, folder / "rated-again")
    assert (folder / "rated-again/scores.json").read_bytes() == (folder / "rated/scores.json").read_bytes()
    releases.export(own, folder / "tables", "csv")
    assert "project" in (folder / "tables/scores.csv").read_text("utf-8-sig")
    own.close()
    other.close()


STEPS: dict[str, Callable[[Project, Path], None]] = {
    step.__name__: step
    for step in (
        judged,
        labelled,
        labelled_by_keys,
        unsure_is_missing,
        submitted,
        validated,
        corrected_by_labels,
        labels_leave_and_return,
        released,
        compared_in_pairs,
        layout_comes_and_goes,
        layout_offered,
        counted,
        set_out,
    )
}


def walked(steps: Mapping[str, Callable[[], None]]) -> None:
    """Take every step and print, as JSON, what went wrong in each; nothing is \"\"."""
    wrong = {}
    for name, step in steps.items():
        try:
            step()
            wrong[name] = ""
        except Exception:  # noqa: BLE001
            wrong[name] = traceback.format_exc()
    print(json.dumps(wrong))


def main(folder: Path) -> None:
    project = samples.create(folder / "sample.goldsmith", to_work_in=False)
    walked({name: partial(step, project, folder) for name, step in STEPS.items()})
    project.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
