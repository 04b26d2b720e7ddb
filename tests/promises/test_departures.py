"""Where a figure differs from its paper is told wherever it is told; and references."""

import csv
import importlib
import json
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import product
from pathlib import Path

import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.material import model_drafts
from annotator.actions.papers import human_agreement, paper_tables
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import result_pictures, result_raters, scoring
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.studies import result_views
from annotator.domain.kinds.evidence import Reference
from annotator.domain.texts.refusal import Refusal
from annotator.gui.views.view_pane import account
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, TAXONOMIES, papers
from annotator.protocols.adra.reading import references
from annotator.protocols.adra.retrieval import compare
from annotator.protocols.registry import RANKING
from annotator.stats.validation import comparison
from tests.cli.commands import printed, told
from tests.house import reading
from tests.material.printed_project import printed_project
from tests.material.rated_tasks import rated_tasks
from tests.projects.small_projects import small_sample

JUDGED = {protocol.name for paper in papers() if paper.tables for protocol in paper.protocols}


def constants() -> dict[str, tuple[str, ...]]:
    files = [path for path in reading.files("annotator") if "\nDEPARTURES = (" in path.read_text("utf-8")]
    names = [".".join(path.relative_to(reading.HERE).with_suffix("").parts) for path in files]
    return {name: importlib.import_module(name).DEPARTURES for name in names}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = printed_project(tmp_path_factory.mktemp("departures"))
    yield project
    project.close()


# The views whose tables tell all of it, of all raters in the first.
TELLING = ("overview", "runs", "score-agreement", "tables", "errors", "pilot", "selection")


def told_by(projects: Sequence[Project]) -> set[str]:
    """What tables of these projects say."""
    told: set[str] = set()
    for name, project in product(TELLING, projects):
        for sheet in shown(project, name, {"judge": result_raters.EACH} if name == "overview" else {}):
            told |= {*result_pictures.as_tree(sheet)["departures"]}
    return told


def shown(project: Project, name: str, chosen: dict[str, str]) -> tuple[ResultSheet, ...]:
    """The tables of a view; none where it says what it lacks."""
    try:
        return result_views.show(project, name, chosen, among=paper_tables.VIEWS).sheets
    except Refusal:
        return ()


@pytest.mark.slow
def test_letter_20_every_departure_is_told_beside_a_figure_or_a_draft(
    made: Project, sample: Project, tmp_path: Path
) -> None:
    # What no project here is judged by is told by its metrics, as that of others is.
    told = {*scoring.departures(info.name for info in scoring.described() if info.protocol not in JUDGED)}
    told |= {*human_agreement.departures(PROTOCOLS.values()), *comparison.DEPARTURES}
    told |= {
        words for one in (*EXTRACTIONS.values(), *model_drafts.OFFERED.values()) for words in one.departures
    }
    standings, *_ = result_views.show(small_sample(tmp_path, "seminar"), "contest", {}).sheets
    told |= {*standings.departures}
    said = {name: words for name, words in constants().items() if not name.endswith("validation_sheets")}
    related, rated = small_sample(tmp_path, "related-work"), rated_tasks(tmp_path)
    told |= told_by((made, sample, related, rated))
    assert {name: untold for name, words in said.items() if (untold := {*words} - told)} == {}


def test_letter_20_no_constant_stands_unused() -> None:
    """Each belongs to a protocol, an extraction, a figure or a table of views; every protocol has some."""
    assert [one.name for one in (*PROTOCOLS.values(), *EXTRACTIONS.values()) if not one.departures] == []
    carried: set[str] = set()
    extractions = (*EXTRACTIONS.values(), *model_drafts.OFFERED.values())
    carriers: tuple[object, ...] = (
        *PROTOCOLS.values(), RANKING, *TAXONOMIES.values(), *extractions, *(one for _, one in COMPOSITES.values()),
        *(table for paper in papers() for table in paper.tables),
    )  # fmt: skip
    for carrier in carriers:
        carried |= set(carrier.departures)  # type: ignore[attr-defined]
    for name, said in constants().items():
        if ".protocols." in name:
            assert set(said) <= carried, name


def test_letter_20_the_command_line_says_them_in_words_and_as_json(
    made: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("results", made.path, "--metric", "reasoning.accuracy")
    wanted = scoring.departures(["reasoning.accuracy"])
    assert told(capsys, *command)["departures"] == list(wanted)
    for more in ([], ["--view", "overview"]):
        out = printed(capsys, *command, *more)
        assert out.count("from the paper: --departures") == 1
        assert not any(words in out for words in wanted)
    assert "Differences from the paper:" in printed(capsys, *command, "--departures")
    out = " ".join(printed(capsys, *command, "--view", "overview", "--departures").split())
    assert all(" ".join(words.split()) in out for words in wanted)


def test_letter_20_saved_tables_and_pictures_carry_them(made: Project, tmp_path: Path) -> None:
    sheet = result_views.show(made, "domains", {"metric": "coverage"}).sheets[0]
    wanted = scoring.departures(["coverage"])
    result_pictures.save_exports(sheet, tmp_path / "table.csv")
    first, *rest = csv.DictReader((tmp_path / "table.csv").read_text("utf-8-sig").splitlines())
    assert all(words in first["departures"] for words in wanted)
    assert [row["departures"] for row in rest] == [""] * len(rest)
    result_pictures.save_exports(sheet, tmp_path / "table.json")
    assert set(wanted) <= set(json.loads((tmp_path / "table.json").read_text("utf-8"))["departures"])
    differs = result_pictures.departures(sheet)
    figure = result_pictures.printed(sheet.pictures[0], differs)
    caption = " ".join(figure.texts[-1].get_text().split())
    assert all(words in caption for words in wanted)
    bare, whole = (
        result_pictures.save(result_pictures.printed(sheet.pictures[0], own), tmp_path / name).stat().st_size
        for own, name in (((), "bare.png"), (differs, "whole.png"))
    )
    assert whole > bare


def test_letter_20_the_page_shows_them_beside_the_figure_and_the_order(made: Project) -> None:
    sheet = result_views.show(made, "wins", {}).sheets[0]
    words_shown = unescape(account(sheet, sheet.lines[0], sheet.lines[0].cells[1], 1, ""))
    assert all(words in words_shown for words in scoring.departures(["win_rate"]))
    offered = {offer.name: offer.departures for offer in judge_runs.drawings(made)}
    assert offered == {name: one.departures for name, one in EXTRACTIONS.items()}


def test_letter_20_a_release_says_them_of_every_score(sample: Project, tmp_path: Path) -> None:
    releases.export(sample, tmp_path / "release")
    described, scores = (
        json.loads((tmp_path / "release" / name).read_text("utf-8"))
        for name in ("metrics.json", "scores.json")
    )
    said = {one["metric"]: tuple(one["departures"]) for one in described}
    assert said == {one["metric"]: scoring.named(one["metric"]).departures for one in scores}
    card = " ".join((tmp_path / "release" / "README.md").read_text("utf-8").split())
    assert "## Differences from the papers" in card
    assert [words for departures in said.values() for words in departures if words not in card] == []


OTHER_TITLE = "Something that shares no word with it"


def found(gold: Reference, report: str) -> bool:
    """Whether a report finds a gold reference."""
    return len(compare(references(report).units, [gold]).matches) == 1


@pytest.mark.parametrize(
    ("typed", "in_report"),
    [
        ("https://aclanthology.org/2020.acl-main.747/", "https://doi.org/10.18653/v1/2020.acl-main.747"),
        ("https://aclanthology.org/2020.acl-main.747.pdf", "https://aclanthology.org/2020.acl-main.747"),
        ("https://aclanthology.org/P19-1001", "10.18653/v1/P19-1001"),
        ("https://www.aclweb.org/anthology/P19-1001.pdf", "https://aclanthology.org/P19-1001/"),
        ("https://www.nature.com/articles/nature14539", "https://doi.org/10.1038/nature14539"),
        ("https://link.springer.com/article/10.1007/s11263-015-0816-y", "10.1007/s11263-015-0816-y"),
        ("dl.acm.org/doi/10.1145/3292500.3330701", "https://dl.acm.org/doi/pdf/10.1145/3292500.3330701"),
        (
            "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000217",
            "10.1371/journal.pone.0000217",
        ),
        ("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2.full", "10.1101/2020.01.01.123456"),
        ("https://huggingface.co/papers/2301.00001", "arXiv:2301.00001"),
        ("https://www.alphaxiv.org/abs/2301.00001v2", "https://arxiv.org/abs/2301.00001"),
        ("https://ar5iv.labs.arxiv.org/html/2301.00001", "https://arxiv.org/pdf/2301.00001v3"),
        ("arXiv:2301.00001 [cs.CL]", "https://arxiv.org/abs/2301.00001"),
        ("arXiv preprint arXiv:2301.00001v2.", "https://huggingface.co/papers/2301.00001"),
        ("DOI: https://doi.org/10.1000/182", "10.1000/182"),
        ("doi: 10.1000/182.", "https://doi.org/10.1000/182"),
        ("info:doi/10.1000/182", "https://doi.org/10.1000/182"),
        ("https://doi.org/10.1000/182.", "10.1000/182"),
    ],
)
def test_a_gold_reference_is_found_however_its_identifier_was_typed(typed: str, in_report: str) -> None:
    gold = Reference(text=OTHER_TITLE, identifier=typed)
    assert found(gold, f"# Report\n\nAs shown before.\n\n## References\n\n1. {in_report}\n")
    assert not found(gold, "# Report\n\n## References\n\n1. https://doi.org/10.9999/another\n")


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("Łukasz and the Øresund: a study", "Lukasz and the Oresund: a study"),
        ("Ægir, þing and Đakovo revisited again", "Aegir, thing and Dakovo revisited again"),
        ("Straße und Höhe: Messungen im Tal", "Strasse und Hohe: Messungen im Tal"),
        ("GPT-4 in the classroom of today", "GPT4 in the classroom of today"),
        ("GPT\u20114 in the classroom of today", "GPT-4 in the classroom of today"),
        ("Re\u00adtrieval with long con\u200btexts measured", "Retrieval with long contexts measured"),
        ("\ufb01ne-tuning of large models, at length", "Fine-tuning of large models, at length"),
        ("Depth – breadth and the limits of both", "Depth-breadth and the limits of both"),
        ("Short Ł", "short l"),
    ],
)
def test_titles_are_the_same_as_unicode_folds_them(typed: str, written: str) -> None:
    comparison = compare([Reference(text=written)], [Reference(text=typed)])
    assert [match.by for match in comparison.matches] == ["title"]
