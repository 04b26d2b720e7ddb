"""What Goldsmith promises about references held against gold evidence."""

from pathlib import Path

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.studies import retrieval_matches
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.protocols.adra.reading import references
from annotator.protocols.adra.retrieval import compare
from tests.projects.small_project import small_project
from tests.storage import sql

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


TITLE = "A survey of deep research agents"


@pytest.mark.parametrize(
    ("ours", "gold", "same"),
    [
        ("10.1000/1", "10.1000/2", False),
        ("arXiv:2301.00001", "arXiv:2301.00002", False),
        ("https://doi.org/10.1000/1", "10.1000/1", True),
        ("arXiv:2301.00001", "10.1000/1", True),
        ("", "10.1000/1", True),
        ("https://example.org/a", "10.1000/1", True),
    ],
)
def test_different_identifiers_beat_an_equal_title(ours: str, gold: str, same: bool) -> None:
    comparison = compare(
        [Reference(text=f"{TITLE}, part one", identifier=ours)],
        [Reference(text=f"{TITLE}: two", identifier=gold)],
    )
    assert bool(comparison.matches) is same


def retrieved(project: Project, report: Reference, gold: Reference) -> retrieval_matches.RetrievalReport:
    """What comes of one reference in every report and one in the gold evidence of the first item."""
    from annotator.domain.material.part import ResponsePart
    from tests.material import drawn_extracts

    item = items.ids(project)[0]
    submitting.seal(project, artifacts.start(project, item, Kind.EVIDENCE, Evidence(units=(gold,))).subject)
    for (response,) in sql.rows(project, "SELECT id FROM response WHERE item_id = ?", [item]):
        drawn_extracts.write(project, response, ResponsePart.REFERENCES, Evidence(units=(report,)))
    return retrieval_matches.report(project)


def test_references_of_one_title_and_two_dois_are_shown_as_such(tmp_path: Path) -> None:
    one, other = (Reference(text=TITLE, identifier=f"10.1000/{n}") for n in (1, 2))
    report = retrieved(small_project(tmp_path), one, other)
    shown = [cell.words for line in retrieval_matches.sheets(report)[0].lines for cell in line.cells]
    assert [words for words in shown if "same title" in words] == [
        "no match: same title, another DOI or arXiv id"
    ] * 2
    assert "match" not in shown
