"""ResearcherBench's files, read with every fault named and written alike; and bibliographies in every form."""

import json
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.material.item import SourceKind
from annotator.exchange import folders
from annotator.exchange.formats import bibliographies, researcherbench
from annotator.exchange.formats.layout import ExistingItems
from annotator.exchange.formats.researcherbench import read
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.records import ItemRecord
from tests.common import expect_refusal
from tests.material.bundles import REAL, peer_files, rich_bundle, write_peer

needs_real_data = pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")


def write(bundle: Bundle, folder: Path) -> list[str]:
    made, notes = researcherbench.files(bundle)
    folders.write(folder, folders.with_sums(made))
    return notes


def content(bundle: Bundle) -> Any:
    keys = {
        item.id: (item.dataset, item.key, item.question, item.question_type, item.subject)
        for item in bundle.items
    }
    systems = {system.id: system.name for system in bundle.systems}
    rubrics = {
        keys[a.item_id]: [(unit["text"], unit["weight"]) for unit in a.document["units"]]
        for a in bundle.artifacts
        if a.kind is Kind.RUBRIC
    }
    return (
        list(keys.values()),
        rubrics,
        {(keys[r.item_id], systems[r.system_id]): r.text for r in bundle.responses},
    )


@needs_real_data
def test_the_published_data_has_the_published_figures() -> None:
    bundle, problems = read([REAL])
    weights = Counter(unit["weight"] for artifact in bundle.artifacts for unit in artifact.document["units"])
    # ResearcherBench, Table 10: 931 criteria, 35.45 % ones, 50.91 % twos, 13.64 % threes.
    assert (len(bundle.items), weights) == (65, {1: 330, 2: 474, 3: 127})
    assert (len(bundle.systems), len(bundle.responses)) == (5, 325)
    assert all(problem.note for problem in problems)


@needs_real_data
def test_the_published_data_comes_back_as_it_was(tmp_path: Path) -> None:
    bundle, _ = read([REAL])
    assert write(bundle, tmp_path / "out") == []
    again, problems = read([tmp_path / "out"])
    assert (problems, content(again)) == ([], content(bundle))
    for path in ("questions.json", "rubric.json"):
        assert json.loads((tmp_path / "out" / path).read_text("utf-8")) == json.loads(
            (REAL / path).read_text("utf-8")
        )


def test_reading_twice_gives_gold_without_author(tmp_path: Path) -> None:
    folder = write_peer(tmp_path)
    first, second = read([folder])[0], read([folder])[0]
    for thing in ("items", "systems", "responses", "artifacts"):
        assert [r.id for r in getattr(first, thing)] == [r.id for r in getattr(second, thing)]
    units, again = (
        [unit["id"] for artifact in bundle.artifacts for unit in artifact.document["units"]]
        for bundle in (first, second)
    )
    assert (units, len(set(units))) == (again, 4)
    assert {(a.kind, a.state, a.author_id, a.revision) for a in first.artifacts} == {
        (Kind.RUBRIC, State.CONSENSUS, "", 1)
    }
    assert [item.dataset for item in first.items] == ["researcherbench"] * 2
    bundle, problems = read([folder / "rubric.json", folder / "responses" / "Sys.json"])
    assert (bundle.counts()["items"], bundle.counts()["responses"], problems) == (2, 2, [])
    assert bundle.systems[0].name == "Sys"


Fault = tuple[str, Callable[[Any], Any], str, str]
FAULTS: dict[str, Fault] = {
    "no id": ("questions.json", lambda t: t[1].pop("id"), "questions.json[1]", "“id” is missing"),
    "text as id": (
        "questions.json",
        lambda t: t[1].update(id="2"),
        "questions.json[1]",
        "“id” should be a valid integer",
    ),
    "true as id": (
        "rubric.json",
        lambda t: t[0].update(id=True),
        "rubric.json[0]",
        "“id” should be a valid integer",
    ),
    "repeated id": (
        "questions.json",
        lambda t: t[1].update(id=1),
        "questions.json[1]",
        "was used before, by entry [0]",
    ),
    "empty question": (
        "questions.json",
        lambda t: t[0].update(question=" "),
        "questions.json[0]",
        "“question” is empty",
    ),
    "no category": (
        "questions.json",
        lambda t: t[0].pop("category"),
        "questions.json[0]",
        "“category” is missing",
    ),
    "foreign field": (
        "questions.json",
        lambda t: t[0].update(__class__="os"),
        "questions.json[0]",
        "“__class__” is not a field",
    ),
    "text as weight": (
        "rubric.json",
        lambda t: t[1]["rubric"][0].update(weight="1"),
        "rubric.json[1]",
        "(id 2) criterion 1: “weight” should be a valid number",
    ),
    "true as weight": (
        "rubric.json",
        lambda t: t[1]["rubric"][0].update(weight=True),
        "rubric.json[1]",
        "should be a valid number",
    ),
    "empty point": (
        "rubric.json",
        lambda t: t[1]["rubric"][0].update(point=""),
        "rubric.json[1]",
        "(id 2) criterion 1: “point”",
    ),
    "no criteria": ("rubric.json", lambda t: t[1].update(rubric=[]), "rubric.json[1]", "“rubric”"),
    "rubric of no question": (
        "rubric.json",
        lambda t: t[1].update(id=9),
        "rubric.json[1]",
        "no question with the id 9",
    ),
    "response to no question": (
        "responses/Sys.json",
        lambda t: t[0].update(id=9),
        "responses/Sys.json[0]",
        "no question with the id 9",
    ),
    "number as response": (
        "responses/Sys.json",
        lambda t: t[1].update(response=5),
        "responses/Sys.json[1]",
        "“response” should be",
    ),
    "entry of another shape": ("rubric.json", lambda t: t.append(7), "rubric.json[2]", "should be"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_entry_is_listed_by_file_index_and_reason(tmp_path: Path, name: str) -> None:
    path, spoil, place, reason = FAULTS[name]
    files = peer_files()
    spoil(files[path])
    _, problems = read([write_peer(tmp_path, files)])
    (problem,) = [one for one in problems if f"{one.file}[{one.index}]" == place]
    assert reason in str(problem)


def test_every_fault_of_every_file_is_listed_at_once(tmp_path: Path) -> None:
    files = peer_files()
    files["questions.json"][0].pop("Subject")
    files["rubric.json"][1]["rubric"][0]["weight"] = "7"
    folder = write_peer(tmp_path, files)
    (folder / "responses" / "Sys.json").write_text("[{", "utf-8")
    _, problems = read([folder])
    assert {problem.file for problem in problems} == {"questions.json", "rubric.json", "responses/Sys.json"}


def test_another_wording_of_a_question_is_only_noted(tmp_path: Path) -> None:
    files = peer_files()
    files["responses/Sys.json"][0]["question"] += "\n"
    bundle, problems = read([write_peer(tmp_path, files)])
    assert [(p.file, p.index, p.note) for p in problems] == [("responses/Sys.json", 0, True)]
    assert len(bundle.responses) == 2


def test_responses_alone_find_the_questions_the_project_knows(tmp_path: Path) -> None:
    folder = write_peer(tmp_path)
    known = ExistingItems({1: ItemRecord(id="mine", key="1", question="What is known?")}, {"Sys": "system-9"})
    bundle, problems = read([folder / "responses" / "Sys.json"], known)
    assert [(r.item_id, r.system_id) for r in bundle.responses] == [("mine", "system-9")]
    assert [str(p) for p in problems] == ["responses/Sys.json[1]: there is no question with the id 2"]


def test_a_folder_without_any_of_the_files_is_refused(tmp_path: Path) -> None:
    expect_refusal("neither", read, [tmp_path])


def test_items_of_other_origin_get_running_numbers_and_come_back_as_themselves(tmp_path: Path) -> None:
    bundle = rich_bundle()
    bundle.systems[0] = bundle.systems[0].model_copy(update={"name": "Alpha/β"})
    notes = write(bundle, tmp_path / "out")
    questions = json.loads((tmp_path / "out" / "questions.json").read_text("utf-8"))
    assert ([entry["id"] for entry in questions], notes) == ([1, 2], [])
    again, problems = read([tmp_path / "out"])
    known = [(item.id, item.dataset, item.key) for item in again.items]
    assert (problems, known) == ([], [("item-1", "", "one"), ("item-2", "d", "two")])
    assert sorted(system.name for system in again.systems) == ["Alpha/β", "NUL"]
    assert content(again)[1:] == content(bundle)[1:]


def test_numbers_of_the_benchmark_are_kept_and_others_follow_them() -> None:
    bundle = rich_bundle()
    bundle.items[1] = bundle.items[1].model_copy(update={"dataset": "researcherbench", "key": "65"})
    made, _ = researcherbench.files(bundle)
    assert [entry["id"] for entry in json.loads(made["questions.json"])] == [66, 65]


def test_what_the_layout_cannot_hold_is_said(tmp_path: Path) -> None:
    bundle = rich_bundle()
    bundle.responses[1] = bundle.responses[1].model_copy(update={"trial": 2})
    rubric = bundle.artifacts[0].model_copy(update={"state": State.SEALED, "author_id": "person-1"})
    bundle.artifacts = [rubric, rubric.model_copy(update={"id": "other", "author_id": "person-2"})]
    notes = write(bundle, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "rubric.json").read_text("utf-8")) == []
    assert [note.split()[0] for note in notes] == ["Item", "1"]


def test_the_consensus_of_an_adjudicator_leaves_before_one_that_was_imported() -> None:
    bundle = rich_bundle()
    imported = bundle.artifacts[0]
    document = {**imported.document, "units": imported.document["units"][:1]}
    agreed = {"id": "z", "author_id": "person-2", "document": document}
    bundle.artifacts.append(imported.model_copy(update=agreed))
    (rubric,) = json.loads(researcherbench.files(bundle)[0]["rubric.json"])
    assert [line["point"] for line in rubric["rubric"]] == ["Names the cause"]


def read_from(found: bibliographies.Bibliography) -> list[tuple[str, str, int | None]]:
    return [(one.text, one.identifier, one.year) for entry in found.entries if (one := entry.reference)]


def whys(found: bibliographies.Bibliography) -> list[str]:
    return [f"{entry.place}: {entry.why}" for entry in found.entries if entry.why]


NOTHING = "Neither a title nor an identifier was found in it."


def test_bibtex_is_read_or_told() -> None:
    text = """@string{nat = "Nature"}
@article{a, title={{Deep} rivers of M{\\"u}nster}, author={Doe, Jane}, year=2024, eprint={2301.00001}, journal=nat}
@article{broken, title={No end
@book{a, title="Same key", date={2021-03-01}, isbn={978-3-16-148410-0}}
"""
    result = bibliographies.read(text)
    assert result.form == "BibTeX"
    assert read_from(result) == [
        ("Deep rivers of Münster", "arxiv:2301.00001", 2024), ("Same key", "isbn:9783161484100", 2021),
    ]  # fmt: skip
    (why,) = whys(result)
    assert why.startswith("line 3: This is no complete BibTeX entry. Unexpected block start")
    text = """% made by a program
10.1126/sciadv.aaq0504
arXiv:2002.04745, 10.1000/y
Doe, J. A work in words
@article{a, title={On trees}, year={2020}, doi={10.1000/x}}
@comment{kept by a program}
10.1000/after
"""
    result = bibliographies.read(text)
    assert [one.identifier for entry in result.entries if (one := entry.reference)] == [
        "doi:10.1126/sciadv.aaq0504", "arxiv:2002.04745", "doi:10.1000/y", "doi:10.1000/x", "doi:10.1000/after",
    ]  # fmt: skip
    assert whys(result) == ["line 4: It stands outside of the BibTeX entries."]


def test_records_are_read_one_by_one() -> None:
    whole = "TY  - JOUR\nTI  - Deep rivers\nAU  - Doe, J\nPY  - 2020/03/01\nDO  - 10.1234/x\nER  - \n"
    result = bibliographies.read(f"{whole}\nTY  - BOOK\nER  -\n")
    assert (result.form, read_from(result)) == ("RIS", [("Deep rivers", "doi:10.1234/x", 2020)])
    assert whys(result) == [f"line 8: {NOTHING}"]
    text = r"""\begin{thebibliography}{9}
\bibitem{a} J. Doe. \newblock {\em Deep rivers of the north}. \newblock Water, 2020.
\bibitem[Roe]{b} A. Roe. \newblock M\"uller's lakes. 2021. \url{https://doi.org/10.1234/lake}
\end{thebibliography} After it."""
    assert read_from(bibliographies.read(text)) == [
        ("Deep rivers of the north", "", 2020), ("Müller's lakes", "doi:10.1234/lake", 2021),
    ]  # fmt: skip


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_letter_7_csv_is_read_by_its_columns(sign: str) -> None:
    rows = [
        ("Title", "Author", "DOI", "Year"),
        ("Deep rivers", "Doe", "10.1234/x", "2020"),
        ("", "Roe", "", ""),
    ]
    result = bibliographies.read("\r\n".join(sign.join(row) for row in rows))
    assert (result.form, read_from(result)) == ("CSV", [("Deep rivers", "doi:10.1234/x", 2020)])
    assert whys(result) == [f"line 3: {NOTHING}"]


def test_lists_hold_identifiers_and_entries() -> None:
    result = bibliographies.read("10.1234/a, arXiv:2301.00001\n10.1234/b")
    assert [(entry.place, entry.reference and entry.reference.identifier) for entry in result.entries] == [
        ("line 1", "doi:10.1234/a"), ("line 1", "arxiv:2301.00001"), ("line 2", "doi:10.1234/b"),
    ]  # fmt: skip
    text = "10.1234/a\n10.1234/b\nsee above\n[3] J. Smith. Deep rivers of the north. Water, 2020.\nhttps://doi.org/10.1234/c\n"
    result = bibliographies.read(text)
    assert read_from(result) == [
        ("", "doi:10.1234/a", None), ("", "doi:10.1234/b", None), ("Deep rivers of the north", "doi:10.1234/c", 2020),
    ]  # fmt: skip
    assert whys(result) == [f"line 3: {NOTHING}"]


def test_letter_7_a_papers_own_list_is_read_across_lines_and_pages() -> None:
    text = (
        "Intro.\nReferences\nSmith, J. (2020). Deep rivers and\nseas. Water, 3, 1-2.\n"
        "Doe, A., & Roe, B. (2021). A long ti-\ntle. Lakes, 2. https://doi.org/10.1234/\nabc\n\n\f\n12\n"
        "Zorn, C. (2019). A third thing. Cell 4.\n"
    )
    assert read_from(bibliographies.own_list(text)) == [
        ("Deep rivers and seas", "", 2020), ("A long title", "doi:10.1234/abc", 2021), ("A third thing", "", 2019),
    ]  # fmt: skip


def test_letter_7_the_record_of_a_source_at_crossref_gives_its_references() -> None:
    listed = [{"DOI": "10.1234/R", "article-title": "Rivers", "author": "Roe", "year": "2019a"}, {"key": "x"}]
    result = bibliographies.read(
        json.dumps({"message": {"DOI": "10.1234/s", "title": ["S"], "reference": listed}})
    )
    assert read_from(result) == [("Rivers", "doi:10.1234/r", 2019)]
    assert whys(result) == [f"entry 2: {NOTHING}"]


def test_letter_8_openalex_tells_date_venue_citations_and_kind() -> None:
    told = {
        "doi": "https://doi.org/10.1234/A", "title": "Rivers", "publication_date": "2024-05-01", "type": "review",
        "primary_location": {"source": {"display_name": "Water"}}, "cited_by_count": 0,
        "authorships": [{"author": {"display_name": "Jane Doe"}}], "publication_year": 2024,
    }  # fmt: skip
    (work,) = bibliographies.works_of({"results": [told]})
    assert work.metadata() == {
        "kind": SourceKind.REVIEW, "published": "2024-05-01", "venue": "Water", "citations": 0,
    }  # fmt: skip
    assert (work.reference.identifier, work.reference.authors) == ("doi:10.1234/a", "Jane Doe")


def test_what_may_be_read_wrongly_in_a_list_says_why() -> None:
    doubts = {
        "J. Smith. Deep rivers of the north. Water, 2019.": "",
        "J. Smith. Deep rivers of the north. Water.": "no year was found",
        "Deep rivers of the north. Water, 2019.": "no authors were found",
        "Jane Doe, John Roe, and Ann Lee.": "the title looks like names",
        "Stanford Institute. The 2025 report. URL https://a.org/report": "no title was found",
        "J. Smith, Ann Lee, Carl Doe. https://doi.org/10.1234/a": "the title looks like names",
        "supervision of rivers by means of lakes, 2019.": bibliographies.CUT,
        "We have seen that this is what they were told, and it was not so (Smith, 2019).": bibliographies.PROSE,
        "J. Smith. Deep rivers of the north. Water, 2019." + " More words." * 90: bibliographies.LONG,
        "301 Q0 clueweb09-en0000-00-00150 1 12.300 bm25run": bibliographies.ROW,
    }
    first = "A. Adler. Shallow lakes and what lives in them. Water, 2018."
    for said, doubt in doubts.items():
        result = bibliographies.read(f"{first}\n{first.replace('Shallow', 'Salt')}\n{said}")
        assert [entry.doubt for entry in result.entries] == ["", "", doubt], said


PAPER_LIST = """## References

[1] J. Smith. Deep rivers of the north. Water, 2019.
[2] A. Doe and B. Roe. Shallow lakes and what lives
in them. Lakes, 2020.
[4] C. Poe. Salt lakes and what lives in them. Lakes, 2021.

[1] We begin with what was not said in the text.
[2] There are other things.

## Supplementary references

## References

[1] D. Moe. Deltas of the south and their birds. Water, 2018.
"""


def test_a_numbered_list_ends_where_its_numbers_end_and_gaps_and_second_lists_are_doubtful() -> None:
    result = bibliographies.own_list(PAPER_LIST)
    assert [(entry.reference and entry.reference.text, entry.doubt) for entry in result.entries] == [
        ("Deep rivers of the north", ""),
        ("Shallow lakes and what lives in them", "number 3 is missing after it, so it may hold two"),
        ("Salt lakes and what lives in them", ""),
        ("Deltas of the south and their birds", "it stands in another list further on in the text"),
    ]


SENTENCE = (
    "We describe here how this is done, since it was not easy and they were told that it would be long. "
)
OTHER_THINGS = {
    "qrels.txt": "\n".join(f"{300 + n // 10} 0 FR94{n:05}-2-00150 {n % 2}" for n in range(199)),
    "qrels.tsv": "query-id\tcorpus-id\tscore\n"
    + "\n".join(f"q{n // 10}\tdoc{n}\t{n % 2}" for n in range(199)),
    "run.txt": "\n".join(
        f"{300 + n // 10} Q0 clueweb09-en{n:05}-00 {n} {n / 7:.3f} bm25run" for n in range(199)
    ),
    "labels.csv": "query,response,score\n"
    + "\n".join(f"q{n},it runs deep in the north,{n % 5}" for n in range(50)),
    "people.csv": "name,age\n" + "\n".join(f"Person Number {n} of us,{n}" for n in range(50)),
    "items.csv": "id,text,label\n" + "\n".join(f"{n},some words,{n % 5}" for n in range(50)),
    "prose.txt": "\n\n".join([SENTENCE * 3] * 9),
    "wrapped.txt": textwrap.fill(SENTENCE * 30, 60),
    "reader.py": Path(bibliographies.__file__).read_text("utf-8"),
    "notes.yaml": "a: 1\nb:\n  - c\n  - d\n" * 20,
}


@pytest.mark.parametrize("name", OTHER_THINGS)
def test_a_file_of_other_things_is_no_list_of_references(name: str) -> None:
    refused = expect_refusal(
        rf"“{name}” holds no list of references: of \d+ lines or entries",
        bibliographies.read,
        OTHER_THINGS[name],
        name,
    )
    assert "Looked for were a title with authors" in refused.todo


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Nothing is listed"),
        ("   \n", "Nothing is listed"),
        ("[]", "Nothing is listed"),
        # Quotes swallow rows.
        ('title,doi\n"Deep,10.1234/x\nWide,10.1234/y\n', "line 3: unexpected end of data"),
    ],
)
def test_letter_7_an_empty_or_broken_list_is_refused(text: str, reason: str) -> None:
    expect_refusal(reason, bibliographies.read, text)


SIGNS = "https://x.org/~jane/a%20b_c#d$e&f--g%3C"


@pytest.mark.parametrize(
    ("field", "title", "identifier"),
    [
        (f"url = {{{SIGNS}}}", "T", "https://x.org/~jane/a%20b_c"),
        (r"url = {https://x.org/{\textasciitilde}jane/a\%20b\_c}", "T", "https://x.org/~jane/a%20b_c"),
        (r'url = "https://x.org/$\sim$jane/a{\%}20b{\_}c"', "T", "https://x.org/~jane/a%20b_c"),
        (
            r"howpublished = {\url{https://x.org/~jane/a%20b_c?d=1&e=$2}}",
            "T",
            "https://x.org/~jane/a%20b_c?d=1&e=$2",
        ),
        (
            "doi = {10.1002/1097-0258%3C1661::AID%3E3.0.CO;2-2}",
            "T",
            "doi:10.1002/1097-0258<1661::aid>3.0.co;2-2",
        ),
        (r"doi = {10.1002/1097{\textless}1661::AID{\textgreater}3.0}", "T", "doi:10.1002/1097<1661::aid>3.0"),
        ("doi = {https://doi.org/10.1002/1097%3C1661}, eprint={2301.00001}", "T", "doi:10.1002/1097<1661"),
        ("eprint = {https://arxiv.org/abs/2301.00001#$~}", "T", "arxiv:2301.00001"),
        (
            "title = {Growth of 5 % a year, at 3% in R&D and C#}",
            "Growth of 5 % a year, at 3% in R&D and C#",
            "",
        ),
        (
            r"title = {Growth of 5\,\% in \texttt{rivers}, \textsf{x} \mbox{and} seas}",
            "Growth of 5 % in rivers, x and seas",
            "",
        ),
        ("title = {One}, note = {x}, note = {y}, Title = {Two}", "One", ""),
    ],
)
def test_a_field_of_bibtex_keeps_every_sign_of_its_words_and_addresses(
    field: str, title: str, identifier: str
) -> None:
    more = "" if field.startswith("title") else "title = {T}, "
    assert read_from(bibliographies.read(f"@misc{{a, {field}, {more}year = 2020}}")) == [
        (title, identifier, 2020)
    ]


WORK = ("Deep rivers of the north", "doi:10.1234/x", 2020)
CSL = {"id": "a", "type": "book", "title": "Deep rivers of the north"}
DATES: dict[str, Any] = {
    "numbers": {"date-parts": [[2020, 3, 1]]}, "text": {"date-parts": [["2020", "3"]]},
    "a range": {"date-parts": [[2020], [2021, 2]]}, "raw": {"raw": "1 March 2020"},
    "literal": {"literal": "Spring 2020"}, "a day": "2020-03-01",
}  # fmt: skip
ROWS = (
    '"TITLE","Deep rivers of the north"\n"AUTHOR NAMES","Doe J.","Roe A."\n'
    '"PUBLICATION YEAR","2020"\n"DOI","10.1234/x"\n'
)
MANAGERS = {
    "refs.nbib": "\nPMID- 123\nDP  - 2020 Mar\nTI  - Deep rivers\n      of the north\n"
    "LID - 10.5 [pii]\nLID - 10.1234/x [doi]\nFAU - Doe, J\n",
    "refs.enw": "%0 Journal Article\n%T Deep rivers of the north\n%A Doe, J\n%A Roe, A\n%D 2020\n%R 10.1234/x\n",
    "refs.ciw": "FN Clarivate\nVR 1.0\nPT J\nAU Doe, J\n   Roe, A\n"
    "TI Deep rivers\n   of the north\nPY 2020\nDI 10.1234/x\nER\n\nEF\n",
    "one space.ris": "TY - JOUR\nTI - Deep rivers of the north\nAU - Doe, J\nPY - 2020\nDO - 10.1234/x\nER -\n",
    "mark.ris": "\ufeffTY  - JOUR\r\nT1  - Deep rivers of the north\r\n"
    "Y1  - 2020/03//\r\nL3  - 10.1234/x\r\nER  - \r\n",
    "returns.ris": "TY  - JOUR\rTI  - Deep rivers of the north\rPY  - 2020\rDO  - 10.1234/x\rER  - \r",
    "returns.bib": "@article{a,\r title={Deep rivers of the north},\r year=2020,\r doi={10.1234/x}\r}\r",
    "returns.csv": "title,doi,year\rDeep rivers of the north,10.1234/x,2020\r",
    "sep.csv": "sep=|\ntitle|doi|year\nDeep rivers of the north|10.1234/x|2020\n",
    "long.csv": f"title,doi,year,abstract\nDeep rivers of the north,10.1234/x,2020,{'a' * 200_000}\n",
    "embase rows.csv": f'"SEARCH QUERY","rivers"\n\n{ROWS}"FULL TEXT LINK","http://dx.doi.org/10.1234/x"\n',
    "embase columns.csv": '"Title","Author Names","Publication Year","DOI"\n'
    '"Deep rivers of the north","Doe J.","2020","10.1234/x"',
    **{f"csl {name}.json": json.dumps([CSL | {"DOI": "10.1234/x", "issued": of}]) for name, of in DATES.items()},
    "crossref.json": json.dumps({"message": {"DOI": "10.1234/s", "title": ["S"], "reference": [
        {"DOI": "10.1234/x", "article-title": "Deep rivers of the north", "year": "in press, 2020"},
    ]}}),
}  # fmt: skip


@pytest.mark.parametrize("name", MANAGERS)
def test_what_reference_managers_write_is_read_whole(name: str) -> None:
    result = bibliographies.read(MANAGERS[name], name)
    assert (read_from(result), whys(result)) == ([WORK], [])


def test_a_work_in_csl_json_needs_no_doi_and_what_is_no_work_is_named() -> None:
    told = [CSL | {"issued": {"date-parts": [[2020]]}}, CSL | {"URL": "https://x.org/a"}, {"id": "c"}, "d"]
    result = bibliographies.read(json.dumps({"items": told}))
    assert read_from(result) == [
        ("Deep rivers of the north", "", 2020), ("Deep rivers of the north", "https://x.org/a", None),
    ]  # fmt: skip
    assert whys(result) == [f"entry {number}: {bibliographies.NO_RECORD}" for number in (3, 4)]


def test_several_records_by_rows_are_parted_by_an_empty_one() -> None:
    result = bibliographies.read(f"{ROWS}\n{ROWS.replace('10.1234/x', '10.1234/y')}")
    assert [entry.place for entry in result.entries] == ["line 1", "line 6"]
    works = [(one.identifier, one.authors) for entry in result.entries if (one := entry.reference)]
    assert works == [(f"doi:10.1234/{letter}", "Doe J., Roe A.") for letter in "xy"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "@misc{a,\n title={One}\n year=2020,\n doi={10.1234/x}}",
            "line 2: A comma is missing between “title” and “year”.",
        ),
        ('@misc{a, title="One" year={2020}}', "line 1: A comma is missing between “title” and “year”."),
        (
            "@misc{a title={One}, year={2020}}",
            "line 1: This is no complete BibTeX entry. Expected comma after entry key",
        ),
        ("title,doi\nDeep, wide,10.1234/x\n", "line 2: It has 3 cells, the head has 2."),
    ],
)
def test_what_cannot_be_read_is_named_with_line_and_reason_and_never_cut(text: str, why: str) -> None:
    result = bibliographies.read(text)
    assert (read_from(result), whys(result)[0][: len(why)]) == ([], why)
