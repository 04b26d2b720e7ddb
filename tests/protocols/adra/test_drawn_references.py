"""How the references of a report are drawn from it."""

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.material.part import ResponsePart
from annotator.protocols.adra import REFERENCES_OF_REPORT
from annotator.protocols.adra.drawn_references import Listed, References, baseline, extract
from annotator.protocols.adra.reading import LONGEST_QUOTE
from annotator.protocols.works import LONGEST_IDENTIFIER
from tests.material.anchors import stands_in
from tests.protocols.adra.adra_material import Ask, material, run

REPORT = "It helps (Lee 2020).\n\n## References\n1. Lee, A. (2020). Long texts read. arXiv:2001.00001.\n"
ENTRY = "Lee, A. (2020). Long texts read. arXiv:2001.00001."


def one(quote=ENTRY, title="Long texts read", identifier="arXiv:2001.00001", authors="Lee, A.", year=2020):
    return Listed(quote=quote, title=title, identifier=identifier, authors=authors, year=year)


def drawn(*listed, flags=()):
    return run(extract(material(REPORT), Ask(References(references=list(listed)), flags=flags)))


def test_the_model_sees_the_report_behind_a_fence():
    ask = Ask(References(references=[]))
    run(extract(material(REPORT), ask))
    assert ask.asked == [("adra.references", {"report": REPORT}, References, ("report",))]


def test_a_reference_is_kept_with_its_place_in_the_report():
    found = drawn(one())
    (unit,) = found.document.units
    assert (unit.text, unit.identifier, unit.authors, unit.year) == (
        "Long texts read",
        "arxiv:2001.00001",
        "Lee, A.",
        2020,
    )
    assert stands_in(unit.anchor, REPORT)
    assert (found.status, found.flags) == (Status.OK, ())


def test_a_work_the_report_does_not_name_is_left_out_and_flagged():
    found = drawn(one(quote="Doe, B. (2021). Never cited."), flags=("injection",))
    assert (found.document, found.flags) == (Evidence(), ("injection", "quote_missing"))


def test_an_identifier_the_report_does_not_hold_is_left_out_and_flagged():
    found = drawn(one(identifier="10.1000/invented"))
    assert [(unit.identifier, unit.text) for unit in found.document.units] == [("", "Long texts read")]
    assert found.flags == ("identifier_missing",)


def test_a_title_the_report_does_not_give_is_left_out_and_flagged():
    found = drawn(one(title="Attention is all you need"))
    assert [(unit.identifier, unit.text) for unit in found.document.units] == [("arxiv:2001.00001", "")]
    assert found.flags == ("title_missing",)
    nothing_left = drawn(one(title="Attention is all you need", identifier=""))
    assert (nothing_left.document, nothing_left.flags) == (Evidence(), ("title_missing",))


def test_a_title_in_other_letters_or_over_a_line_break_is_the_reports():
    report = "It helps [1].\n\n[1] Lee, A. *Long texts\n  read*. 2020.\n"
    listed = one(quote="Lee, A. Long texts read. 2020.", title="Long Texts Read", identifier="")
    found = run(extract(material(report), Ask(References(references=[listed]))))
    assert [unit.text for unit in found.document.units] == ["Long Texts Read"]
    assert found.flags == ()


def test_the_same_work_twice_is_one_and_an_impossible_year_none():
    found = drawn(one(), one(), one(title="", identifier=""))
    assert len(found.document.units) == 1
    assert drawn(one(year=20)).document.units[0].year is None


def test_a_quote_and_an_address_too_long_to_keep_spoil_no_reference():
    address = f"https://a.org/{'x' * LONGEST_IDENTIFIER}"
    report = f"{ENTRY} {address} {'word ' * LONGEST_QUOTE}"
    listed = one(quote=report, identifier=address)
    (unit,) = run(extract(material(report), Ask(References(references=[listed])))).document.units
    assert (unit.text, unit.identifier) == ("Long texts read", "")
    assert unit.anchor.quote == report[:LONGEST_QUOTE]


def test_an_empty_list_is_an_answer():
    assert (drawn().document, drawn().status) == (Evidence(), Status.OK)


def test_what_did_not_come_is_no_empty_list():
    found = run(extract(material(REPORT), Ask(status=Status.TOO_LONG, cause="too long")))
    assert (found.document, found.status, found.cause) == (None, Status.TOO_LONG, "too long")


def test_the_plain_text_form_has_four_fields_a_line():
    (found,) = References.from_text(f"{ENTRY} || Long texts read || - || Lee, A.\n\n").references
    assert (found.quote, found.title, found.identifier, found.authors) == (
        ENTRY,
        "Long texts read",
        "",
        "Lee, A.",
    )
    for text in ("", "a || b", "There are none."):
        with pytest.raises(ValueError, match="4 fields"):
            References.from_text(text)


def test_the_baseline_reads_by_rule_and_says_so():
    found = baseline(material(REPORT))
    assert [(unit.identifier, unit.text) for unit in found.document.units] == [
        ("arxiv:2001.00001", "Long texts read")
    ]
    assert found.document.remark.startswith("baseline: ")
    assert found.document.units[0].id == drawn(one()).document.units[0].id


def test_the_baseline_gives_an_empty_list_for_a_report_that_cites_nothing():
    found = baseline(material("Nothing."))
    assert (found.document.units, found.status) == ((), Status.OK)


def test_it_makes_the_references_of_a_response():
    assert (REFERENCES_OF_REPORT.name, REFERENCES_OF_REPORT.makes) == (
        "adra.references",
        ResponsePart.REFERENCES,
    )
