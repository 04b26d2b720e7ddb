"""Every page and command that tells how far raters agree on the planted ratings, which are ordered from 0 to 10."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.attacks import biases
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.actions.validation import judge_comparing, validation, validation_views, validity_cards
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.protocol import FIGURES, WORDS, Level
from annotator.domain.kinds.labels import Label, Labels, label_id
from tests.projects.paired_project import paired_project, sealed_by

RATING = "planted.rating"
NAMES = FIGURES[Level.ORDINAL]
TITLES = {WORDS[name][0] for name in NAMES if name in WORDS}
# Item by item what two people say of three points; five of nine pairs are the same.
SAID = {"A": ("8 7 0", "10 3 2", "5 5 9"), "B": ("8 5 1", "9 3 2", "5 5 6")}


def agreed(folder: Path) -> Project:
    """A project in which two people rated three reports, and sealed it."""
    folder.mkdir()
    project = paired_project(folder, annotators=2, questions=3)
    for alias, items in SAID.items():
        for place, said in enumerate(items):
            units = (
                Label(
                    id=label_id(RATING, "report", f"s{n}"), protocol=RATING, response_id="report",
                    unit_id=f"s{n}", value=value,
                )
                for n, value in enumerate(said.split())
            )  # fmt: skip
            sealed_by(project, alias, Labels(units=tuple(units)), place)
    return project


def people_agree(project: Project, folder: Path, printed: Callable[[list[str]], str]) -> None:
    """The Agreement page and its command."""
    own = agreed(folder / "agreed")
    (row,) = agreement_figures.rows(own)
    assert (row.stage, row.field, row.n) == (Stage.LABELLING, RATING, 9)
    assert [figure.name for figure in row.figures] == list(NAMES)
    share = row.figure("agreement")
    assert share is not None
    assert share.value == 5 / 9
    (sheet,) = agreement_report.sheets(agreement_report.report(own))
    titles = {column.title for column in sheet.columns}
    assert titles >= TITLES | {"Agreement"}
    assert "judgement: Planted mean" in {cell.words for cell in sheet.lines[0].cells}
    (told,) = json.loads(printed(["agreement", str(own.path), "--json"]))["rows"]
    assert [one["name"] for one in told["figures"]] == list(NAMES)
    assert all(one["value"] is not None for one in told["figures"])
    assert "κ quadratic" in printed(["agreement", str(own.path)])
    own.close()


def judges_are_validated(project: Project, folder: Path, printed: Callable[[list[str]], str]) -> None:
    """Validate's pages and commands, without any positive value."""
    query = validation.ValidationQuery(RATING)
    told = validation.report(project, query).of("baseline").told
    assert told.plain.keys() == {"accuracy" if name == "agreement" else name for name in NAMES}
    for view, title in (("judges", "Judges beside people"), ("answer", "May a judge stand in for people?")):
        shown = result_views.show(project, view, {"protocol": RATING}, among=validation_views.VIEWS)
        sheet = next(each for each in shown.sheets if each.title == title)
        words = " ".join(column.title for column in sheet.columns)
        assert "κ quadratic" in words, view
        assert all(picture.draw() is not None for each in shown.sheets for picture in each.pictures)
    confusion = next(
        each
        for each in result_views.show(
            project, "judges", {"protocol": RATING}, among=validation_views.VIEWS
        ).sheets
        if each.title == "Confusion"
    )
    assert [line.cells[3].words for line in confusion.lines[:11]] == [str(value) for value in range(11)]
    card = validity_cards.card(project, validity_cards.CardQuery(RATING, judge="baseline"))
    assert {definition.title for definition in card.definitions} >= TITLES
    file = str(project.path)
    for words in (["validate", file], ["choose-judge", file, "--reference", "best"]):
        result = printed([*words, "--protocol", RATING, "--json"])
        assert "κ quadratic" in result, words


def judges_are_compared(project: Project, folder: Path, printed: Callable[[list[str]], str]) -> None:
    """Judges with one another, a panel, a judge's bias."""
    names = [judge.name for judge in judges.all_of(project)]
    assert "baseline" in names
    derived_judges.add(project, "middle", ["baseline"])
    line: dict[str, Any] = asyncio.run(orders.carry_out(project, RunRequest("middle", RATING)))
    assert line["done"] == line["total"] > 0
    for pairing in judge_comparing.compare(project, RATING).pairings:
        assert [figure.name for figure in pairing.figures] == list(NAMES)
    leans = {bias.name: bias.figure for bias in biases.report(project, RATING, "baseline")}
    assert leans["Leans to higher values"].value is not None
    file = ["--protocol", RATING, "--json"]
    between = ["judge", "consistency", str(project.path), "--judge", "baseline", "--with", "middle"]
    told = json.loads(printed([*between, *file]))
    # One member's median is what it says.
    assert told["kappa_quadratic"]["value"] == told["alpha"]["value"] == told["agreement"]["value"] == 1
    within = printed(["judge", "consistency", str(project.path), "--judge", "baseline", *file])
    assert set(json.loads(within)) >= {"flips", "alpha", "kappa_linear", "spearman"}


def steps(printed: Callable[[list[str]], str]) -> Iterator[tuple[str, Callable[[Project, Path], None]]]:
    """What is done, by name; a window that was closed has closed the project."""
    for step in (people_agree, judges_are_validated, judges_are_compared):

        def done(project: Project, folder: Path, step: Any = step) -> None:
            own = Project.open(project.path)
            step(own, folder, printed)
            own.close()

        yield step.__name__, done
